//! How many requests, of which verbs, over how long.

use super::request::{Request, Verb, WatchEnd};
use serde::Serialize;
use std::collections::BTreeMap;

/// A fold over requests in the order of their due instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub requests: u64,
    verbs: BTreeMap<Verb, u64>,
    /// Bytes of all bodies, each as often as it is sent.
    pub body_bytes: u64,
    /// Watches that live as long as the run.
    pub endless_watches: u64,
    /// The last due instant, microseconds after T0.
    pub last_due_us: u64,
    /// The last due instant or the end of the last watch with a length.
    pub span_us: u64,
}

/// What stands in a trace's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountsText {
    /// All of them.
    pub requests: u64,
    /// By verb, those that occur.
    pub verbs: BTreeMap<&'static str, u64>,
    /// Bytes of all bodies, each as often as it is sent.
    pub body_bytes: u64,
    /// Watches without a length.
    pub endless_watches: u64,
    /// The last due instant or the end of the last watch with a length.
    pub span_us: u64,
}

impl Counts {
    /// Counts one request.
    pub fn add(&mut self, request: &Request) {
        self.requests += 1;
        *self.verbs.entry(request.verb).or_default() += 1;
        self.body_bytes += request.body.as_ref().map_or(0, |body| body.len() as u64);
        let due = request.due_us.unwrap_or(0);
        self.last_due_us = self.last_due_us.max(due);
        let end = match request.watch {
            Some(WatchEnd::After(us)) => due.saturating_add(us),
            Some(WatchEnd::WithTheRun) => {
                self.endless_watches += 1;
                due
            }
            _ => due,
        };
        self.span_us = self.span_us.max(end);
    }

    /// How many of a verb.
    pub fn of(&self, verb: Verb) -> u64 {
        self.verbs.get(&verb).copied().unwrap_or(0)
    }

    /// As a header or a report has them.
    pub fn text(&self) -> CountsText {
        CountsText {
            requests: self.requests,
            verbs: self.verbs.iter().map(|(verb, count)| (verb.name(), *count)).collect(),
            body_bytes: self.body_bytes,
            endless_watches: self.endless_watches,
            span_us: self.span_us,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_ends_with_the_last_request_or_the_last_watch_that_has_a_length() {
        let mut counts = Counts::default();
        let mut watch = Request::new(Verb::Watch, "/api/v1/pods");
        watch.due_us = Some(10);
        counts.add(&watch);
        watch.watch = Some(WatchEnd::After(100));
        counts.add(&watch);
        let mut get = Request::new(Verb::Get, "/api/v1/pods");
        get.due_us = Some(50);
        counts.add(&get);
        assert_eq!((counts.last_due_us, counts.span_us, counts.endless_watches), (50, 110, 1));
        assert_eq!((counts.of(Verb::Watch), counts.of(Verb::List), counts.requests), (2, 0, 3));
    }
}
