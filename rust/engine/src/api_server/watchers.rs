//! One open watch as the store sees it: a bounded queue of events, and a wake-up.
//!
//! A commit only appends to the queue and wakes; writing is the watch's own business, so a slow
//! watcher delays nobody. A full queue ends the watch, as kube-apiserver does.

use super::history::Event;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Events that may wait for a watcher.
pub(crate) const QUEUE_EVENTS: usize = 4_096;
/// Bytes of objects that may wait for a watcher.
pub(crate) const QUEUE_BYTES: usize = 16 << 20;

/// Why a watch ended; the names are those of the `watch` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// The client went away.
    Client,
    /// `timeoutSeconds` passed.
    Timeout,
    /// Its version is older than what is kept.
    Expired,
    /// Its queue was full.
    Slow,
    /// An injected failure ended it.
    Fault,
    /// The server stops.
    Shutdown,
}

impl End {
    /// As it stands in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Timeout => "timeout",
            Self::Expired => "expired",
            Self::Slow => "slow",
            Self::Fault => "fault",
            Self::Shutdown => "shutdown",
        }
    }
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    ended: Option<End>,
    waker: Option<Waker>,
}

/// What the watch finds in its queue.
pub(crate) enum Taken {
    /// Events in order, at most as many as asked for.
    Events(Vec<Arc<Event>>),
    /// No more will come.
    Ended(End),
}

/// A watch's end of the store.
pub(crate) struct Watcher {
    /// Number of the watch.
    pub(crate) id: u64,
    /// Only objects of this namespace; `None` for all.
    pub(crate) namespace: Option<Box<str>>,
    queue: Mutex<Queue>,
    ended_ns: AtomicU64,
}

impl Watcher {
    /// A watcher with the events that it missed so far; these may be more than the queue takes.
    pub(crate) fn new(id: u64, namespace: Option<Box<str>>, missed: Vec<Arc<Event>>) -> Self {
        let bytes = missed.iter().map(|event| event.object.text.len()).sum();
        let queue = Queue { events: missed.into(), bytes, ..Queue::default() };
        Self { id, namespace, queue: Mutex::new(queue), ended_ns: AtomicU64::new(0) }
    }

    /// Appends an event where it is in the watcher's namespace. A full queue ends the watch instead.
    pub(crate) fn push(&self, event: &Arc<Event>) {
        if self.namespace.as_deref().is_some_and(|namespace| namespace != event.object.namespace()) {
            return;
        }
        let waker = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.ended.is_some() {
                return;
            }
            let bytes = event.object.text.len();
            if queue.events.len() >= QUEUE_EVENTS || queue.bytes + bytes > QUEUE_BYTES {
                queue.ended = Some(End::Slow);
                queue.events.clear();
                self.ended_ns.store(event.committed_ns, Ordering::Relaxed);
            } else {
                queue.bytes += bytes;
                queue.events.push_back(Arc::clone(event));
            }
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the watch; what is queued is still written, unless `at_once`.
    pub(crate) fn end(&self, why: End, at_once: bool) {
        let waker = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.ended.is_none() {
                queue.ended = Some(why);
                self.ended_ns.store(crate::clock::now_ns(), Ordering::Relaxed);
            }
            if at_once {
                queue.events.clear();
            }
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// When and why it was ended from this side, if it was.
    pub(crate) fn ended(&self) -> Option<(u64, End)> {
        let why = self.queue.lock().unwrap_or_else(PoisonError::into_inner).ended?;
        Some((self.ended_ns.load(Ordering::Relaxed), why))
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).events.is_empty()
    }

    /// Takes what waits, at most `limit` events; pending while there is nothing.
    pub(crate) fn poll_take(&self, cx: &Context<'_>, limit: usize) -> Poll<Taken> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.events.is_empty() {
            if let Some(why) = queue.ended {
                return Poll::Ready(Taken::Ended(why));
            }
            queue.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = limit.min(queue.events.len());
        let taken: Vec<_> = queue.events.drain(..count).collect();
        queue.bytes = queue.bytes.saturating_sub(taken.iter().map(|event| event.object.text.len()).sum());
        Poll::Ready(Taken::Events(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::Change;
    use super::super::object::{Object, Shared};
    use super::*;

    fn event(key: &str, bytes: usize) -> Arc<Event> {
        let object = Arc::new(Object {
            key: key.into(),
            namespace_len: key.find('/').unwrap_or(0),
            rv: 1,
            uid: "".into(),
            text: vec![0; bytes].into(),
            labels: Shared { number: 0, set: Arc::from([]) },
            fields: Shared { number: 0, set: Arc::from([]) },
            planned: None,
        });
        Arc::new(Event { change: Change::Modified, object, former: None, committed_ns: 7 })
    }

    fn take(watcher: &Watcher, limit: usize) -> Poll<Taken> {
        watcher.poll_take(&Context::from_waker(Waker::noop()), limit)
    }

    #[test]
    fn a_full_queue_ends_the_watch_and_frees_its_memory() {
        let watcher = Watcher::new(1, None, Vec::new());
        let event = event("a/b", 10);
        (0..QUEUE_EVENTS).for_each(|_| watcher.push(&event));
        assert_eq!(watcher.ended(), None);
        assert_eq!(Arc::strong_count(&event), QUEUE_EVENTS + 1);
        watcher.push(&event);
        assert_eq!(watcher.ended(), Some((7, End::Slow)));
        assert_eq!(Arc::strong_count(&event), 1);
        assert!(matches!(take(&watcher, 10), Poll::Ready(Taken::Ended(End::Slow))));
    }

    #[test]
    fn sixteen_mebibytes_are_full_too() {
        let watcher = Watcher::new(1, None, Vec::new());
        let event = event("a/b", 8 << 20);
        watcher.push(&event);
        watcher.push(&event);
        assert_eq!(watcher.ended(), None);
        watcher.push(&event);
        assert_eq!(watcher.ended().map(|(_, why)| why), Some(End::Slow));
    }

    #[test]
    fn events_of_other_namespaces_do_not_enter_and_the_rest_keeps_its_order() {
        let watcher = Watcher::new(1, Some("a".into()), Vec::new());
        watcher.push(&event("a/1", 1));
        watcher.push(&event("b/1", 1));
        watcher.push(&event("a/2", 1));
        let Poll::Ready(Taken::Events(taken)) = take(&watcher, 10) else { panic!("nothing was taken") };
        assert_eq!(taken.iter().map(|e| e.object.name().to_owned()).collect::<Vec<_>>(), ["1", "2"]);
        assert!(take(&watcher, 10).is_pending());
    }

    #[test]
    fn what_was_queued_before_an_end_is_still_taken() {
        let watcher = Watcher::new(1, None, vec![event("a/1", 1)]);
        watcher.end(End::Fault, false);
        assert!(matches!(take(&watcher, 10), Poll::Ready(Taken::Events(_))));
        assert!(matches!(take(&watcher, 10), Poll::Ready(Taken::Ended(End::Fault))));
    }
}
