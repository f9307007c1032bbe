//! What happened to the objects of one kind, as far back as a watch may start.
//!
//! Kept: the last 10,000 events or the last five minutes, whichever is more.

use super::object::Object;
use std::collections::VecDeque;
use std::sync::Arc;

/// Events that are kept whatever their age.
pub(crate) const KEPT_EVENTS: usize = 10_000;
/// Age up to which events are kept whatever their number.
pub(crate) const KEPT_NS: u64 = 5 * 60 * 1_000_000_000;

/// What a watch calls a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A new object.
    Added,
    /// Another version of it.
    Modified,
    /// It is gone.
    Deleted,
}

impl Change {
    /// As it stands in a watch event.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One committed change, shared by the history and every watcher.
pub(crate) struct Event {
    /// What happened.
    pub(crate) change: Change,
    /// The object after it; for a deletion its last state with the deletion's resourceVersion.
    pub(crate) object: Arc<Object>,
    /// The object before it.
    pub(crate) former: Option<Arc<Object>>,
    /// When it was committed.
    pub(crate) committed_ns: u64,
}

impl Event {
    /// The resourceVersion that this change made.
    pub(crate) fn rv(&self) -> u64 {
        self.object.rv
    }
}

/// The events of one kind in order.
#[derive(Default)]
pub(crate) struct History {
    events: VecDeque<Arc<Event>>,
    /// Watches may start at this version or later.
    oldest: u64,
}

impl History {
    /// An empty history: watches may start at `rv`.
    pub(crate) fn starting_at(rv: u64) -> Self {
        Self { events: VecDeque::new(), oldest: rv }
    }

    /// The oldest version that a watch may start from.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Appends an event and forgets what is beyond the kept window.
    pub(crate) fn push(&mut self, event: Arc<Event>) {
        let now = event.committed_ns;
        self.events.push_back(event);
        while self.events.len() > KEPT_EVENTS
            && self.events.front().is_some_and(|first| first.committed_ns.saturating_add(KEPT_NS) < now)
        {
            if let Some(first) = self.events.pop_front() {
                self.oldest = first.rv();
            }
        }
    }

    /// Forgets everything up to `rv`.
    pub(crate) fn compact(&mut self, rv: u64) {
        self.events.clear();
        self.oldest = self.oldest.max(rv);
    }

    /// The events after `rv` in order, or `None` where some of them are forgotten.
    pub(crate) fn since(&self, rv: u64) -> Option<impl Iterator<Item = &Arc<Event>>> {
        if rv < self.oldest {
            return None;
        }
        let first = self.events.partition_point(|event| event.rv() <= rv);
        Some(self.events.range(first..))
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::Shared;
    use super::*;

    fn event(rv: u64, committed_ns: u64) -> Arc<Event> {
        let object = Arc::new(Object {
            key: "a".into(),
            namespace_len: 0,
            rv,
            uid: "".into(),
            text: Box::default(),
            labels: Shared { number: 0, set: Arc::from([]) },
            fields: Shared { number: 0, set: Arc::from([]) },
            planned: None,
        });
        Arc::new(Event { change: Change::Modified, object, former: None, committed_ns })
    }

    #[test]
    fn a_watch_may_start_inside_the_window_and_not_before_it() {
        let mut history = History::starting_at(100);
        (101..=110).for_each(|rv| history.push(event(rv, rv)));
        assert_eq!(history.since(105).unwrap().map(|e| e.rv()).collect::<Vec<_>>(), [106, 107, 108, 109, 110]);
        assert_eq!(history.since(100).unwrap().count(), 10);
        assert!(history.since(99).is_none());
        assert_eq!(history.since(500).unwrap().count(), 0);
    }

    #[test]
    fn young_events_are_kept_beyond_the_count_and_old_ones_within_it() {
        let count = KEPT_EVENTS as u64;
        let mut history = History::starting_at(0);
        (1..=count + 50).for_each(|rv| history.push(event(rv, rv)));
        assert_eq!(history.oldest(), 0);
        history.push(event(count + 51, KEPT_NS + 40));
        assert_eq!(history.oldest(), 39, "events 1 to 39 are older than five minutes");
        history.push(event(count + 52, 10 * KEPT_NS));
        assert_eq!(history.since(history.oldest()).unwrap().count(), KEPT_EVENTS);
    }

    #[test]
    fn after_a_compaction_only_later_versions_are_known() {
        let mut history = History::starting_at(0);
        (1..=5).for_each(|rv| history.push(event(rv, rv)));
        history.compact(5);
        assert!(history.since(4).is_none());
        assert_eq!(history.since(5).unwrap().count(), 0);
    }
}
