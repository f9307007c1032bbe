//! Events become requests: the stages of one request stand together once events are in their order.
//!
//! All stages of a request carry the same instant of its receipt, audit ID, URI and verb. An audit ID alone
//! is no key: a client may set it and send it again.

use super::event::{Event, Stage};
use super::loss::Place;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A request as the log shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its last event.
    pub event: Event,
    /// When the headers of the answer were sent, where the log shows it.
    pub started_ns: Option<i64>,
    /// When it ended; `None` where the log does not show it.
    pub ended_ns: Option<i64>,
}

/// What an event turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paired {
    /// A request.
    Exchange(Box<Exchange>),
    /// One more stage of a request.
    Stage,
    /// An event that was there before.
    Duplicate(Place),
}

/// What tells an event from the next one: what makes a request, and what makes it the same event.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    received_ns: i64,
    audit_id: Box<str>,
    uri: Box<str>,
    verb: Box<str>,
    stage: Stage,
    stage_ns: i64,
    rest: u64,
}

impl Mark {
    fn of(event: &Event) -> Self {
        let mut rest = DefaultHasher::new();
        (event.status, &event.written, &event.generated, &event.object_name).hash(&mut rest);
        (&event.user_agent, event.hops, event.whys).hash(&mut rest);
        Self {
            received_ns: event.received_ns,
            audit_id: event.audit_id.clone(),
            uri: event.uri.clone(),
            verb: event.verb.clone(),
            stage: event.stage,
            stage_ns: event.stage_ns,
            rest: rest.finish(),
        }
    }

    fn is_same_request(&self, other: &Self) -> bool {
        (self.received_ns, &self.audit_id, &self.uri, &self.verb)
            == (other.received_ns, &other.audit_id, &other.uri, &other.verb)
    }
}

/// Puts stages together. Events must come in their order.
#[derive(Debug, Default)]
pub struct Pairing {
    last: Option<Mark>,
    /// The request's event of the stage `RequestReceived`, until a later stage is seen.
    received: Option<Event>,
    /// Its events of the stage `ResponseStarted` whose end was not seen yet. Several where a client sent
    /// several requests with one audit ID in one microsecond.
    started: VecDeque<Event>,
}

impl Pairing {
    /// Takes the next event.
    pub fn push(&mut self, event: Event, out: &mut impl FnMut(Paired)) {
        let mark = Mark::of(&event);
        match &self.last {
            Some(last) if *last == mark => return out(Paired::Duplicate(event.place)),
            Some(last) if !last.is_same_request(&mark) => self.finish(out),
            _ => {}
        }
        self.last = Some(mark);
        match event.stage {
            Stage::RequestReceived => {
                if self.received.replace(event).is_some() {
                    out(Paired::Stage);
                }
            }
            Stage::ResponseStarted => self.started.push_back(event),
            Stage::ResponseComplete | Stage::Panic => {
                let started = self.started.pop_front();
                for _ in self.received.take().iter().chain(&started) {
                    out(Paired::Stage);
                }
                out(Paired::Exchange(Box::new(Exchange {
                    started_ns: started.map(|started| started.stage_ns),
                    ended_ns: Some(event.stage_ns),
                    event,
                })));
            }
        }
    }

    /// Ends the request at hand. To be called after the last event.
    pub fn finish(&mut self, out: &mut impl FnMut(Paired)) {
        match self.received.take() {
            Some(_) if !self.started.is_empty() => out(Paired::Stage),
            Some(event) => out(Paired::Exchange(Box::new(Exchange { event, started_ns: None, ended_ns: None }))),
            None => {}
        }
        for event in self.started.drain(..) {
            let started_ns = Some(event.stage_ns);
            out(Paired::Exchange(Box::new(Exchange { event, started_ns, ended_ns: None })));
        }
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Reading;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn event(id: &str, received: u32, stage: &str, at: u32, place: u64) -> Event {
        let time = |micros: u32| format!("2024-05-01T10:00:00.{micros:06}Z");
        let line = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": id, "stage": stage,
            "requestURI": "/api/v1/pods", "verb": "list", "requestReceivedTimestamp": time(received),
            "stageTimestamp": time(at),
        });
        let mut found = None;
        let place = Place { file: 0, line: place };
        Reading::default().line(line.to_string().as_bytes(), place, &mut |event| found = Some(event.unwrap()));
        found.unwrap()
    }

    type StartAndEnd = (Option<i64>, Option<i64>);

    /// (started, ended) of each request in microseconds, stages, duplicates.
    fn paired(mut events: Vec<Event>) -> (Vec<StartAndEnd>, usize, usize) {
        events.sort();
        let (mut exchanges, mut stages, mut duplicates) = (Vec::new(), 0, 0);
        let micros = |ns: i64| ns / 1_000 % 1_000_000;
        let mut out = |paired| match paired {
            Paired::Exchange(one) => exchanges.push((one.started_ns.map(micros), one.ended_ns.map(micros))),
            Paired::Stage => stages += 1,
            Paired::Duplicate(_) => duplicates += 1,
        };
        let mut pairing = Pairing::default();
        for event in events {
            pairing.push(event, &mut out);
        }
        pairing.finish(&mut out);
        (exchanges, stages, duplicates)
    }

    #[test]
    fn one_request_has_one_to_four_events() {
        let all = |stages: &[(&str, u32)]| {
            paired(stages.iter().zip(0..).map(|((stage, at), line)| event("a", 10, stage, *at, line)).collect())
        };
        let (received, started, complete) =
            (("RequestReceived", 10), ("ResponseStarted", 20), ("ResponseComplete", 30));
        assert_eq!(all(&[complete]), (vec![(None, Some(30))], 0, 0));
        assert_eq!(all(&[complete, received]), (vec![(None, Some(30))], 1, 0));
        assert_eq!(all(&[started, complete, received]), (vec![(Some(20), Some(30))], 2, 0));
        assert_eq!(all(&[received, started, ("Panic", 25)]), (vec![(Some(20), Some(25))], 2, 0));
        assert_eq!(all(&[received]), (vec![(None, None)], 0, 0));
        assert_eq!(all(&[received, started]), (vec![(Some(20), None)], 1, 0));
        assert_eq!(all(&[complete, complete, received, received]), (vec![(None, Some(30))], 1, 2));
    }

    #[test]
    fn an_audit_id_alone_is_no_key() {
        let events = vec![
            event("a", 10, "RequestReceived", 10, 1),
            event("a", 11, "RequestReceived", 11, 2),
            event("a", 11, "ResponseComplete", 15, 3),
            event("a", 10, "ResponseComplete", 20, 4),
            event("a", 30, "ResponseStarted", 31, 5),
            event("a", 30, "ResponseStarted", 32, 6),
            event("a", 30, "ResponseComplete", 40, 7),
            event("a", 30, "ResponseComplete", 41, 8),
        ];
        let exchanges = vec![(None, Some(20)), (None, Some(15)), (Some(31), Some(40)), (Some(32), Some(41))];
        assert_eq!(paired(events), (exchanges, 4, 0));
    }

    proptest! {
        #[test]
        fn every_event_is_a_request_a_stage_or_a_duplicate(
            picks in prop::collection::vec((0_u32..3, 0_usize..4, 0_u32..3), 0..40)
        ) {
            let stages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];
            let events: Vec<Event> = picks.iter().zip(0..)
                .map(|((received, stage, at), line)| event("a", *received, stages[*stage], received + at, line))
                .collect();
            let all = events.len();
            let (exchanges, stages, duplicates) = paired(events);
            prop_assert_eq!(exchanges.len() + stages + duplicates, all);
        }
    }
}
