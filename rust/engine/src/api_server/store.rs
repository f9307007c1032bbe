//! All objects of all kinds, one resourceVersion for all of them, and the commit.
//!
//! The lock is held for a map operation and a push to each watcher, never while anything is written,
//! serialized or compared; a LIST takes a snapshot and leaves.

use super::collection::Collection;
use super::history::{Change, Event, History};
use super::interned::Interned;
use super::object::Object;
use super::semantics::kinds::{self, Kind};
use super::watchers::{End, Watcher};
use crate::clock::now_ns;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Position of a kind in the table of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KindId(pub(crate) usize);

impl KindId {
    /// Its row in the table.
    pub(crate) fn kind(self) -> &'static Kind {
        &kinds::all()[self.0]
    }

    /// The kind served at a path.
    pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<Self> {
        let kind = kinds::find(group, version, plural)?;
        kinds::all().iter().position(|other| std::ptr::eq(kind, other)).map(Self)
    }

    /// A kind of the core group that is always there.
    pub(crate) fn core(plural: &str) -> Self {
        Self::find("", "v1", plural).unwrap_or(Self(0))
    }
}

#[derive(Default)]
struct KindState {
    objects: Collection,
    history: History,
    watchers: Vec<Arc<Watcher>>,
    interned: Interned,
}

struct State {
    rv: u64,
    kinds: Vec<KindState>,
}

/// The store.
pub(crate) struct Store {
    state: Mutex<State>,
}

/// A consistent view of one kind.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The objects.
    pub(crate) objects: Collection,
    /// The version of this view.
    pub(crate) rv: u64,
}

/// What a write decides to do, under the lock.
pub(crate) enum Write {
    /// Store this version.
    Put(Object),
    /// Remove the object; this is its last state, with the deletion's resourceVersion.
    Delete(Object),
    /// Leave everything as it is.
    Nothing,
}

/// What a write is decided on.
pub(crate) struct Current<'a> {
    /// The object as it is, if there is one.
    pub(crate) object: Option<&'a Arc<Object>>,
    /// The version that the write will make.
    pub(crate) rv: u64,
    /// For the sets of the new version.
    pub(crate) interned: &'a mut Interned,
}

/// Where a watch starts.
pub(crate) enum WatchFrom {
    /// With the events after this version.
    Version(u64),
    /// With the objects as they are now.
    Now,
    /// With the objects as they are now, if the server has come as far as this version.
    NotOlderThan(u64),
}

/// Why a watch could not start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WatchRefused {
    /// Older than what is kept: wanted, oldest.
    TooOld(u64, u64),
    /// Ahead of the server: wanted, current.
    TooLarge(u64, u64),
}

impl Store {
    /// An empty store whose versions start from the clock (microseconds since 1970), so that a restart
    /// does not go back as long as fewer than a million changes a second are made.
    pub(crate) fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let rv = u64::try_from(since.as_micros()).unwrap_or(1);
        let kinds = kinds::all()
            .iter()
            .map(|_| KindState { history: History::starting_at(rv), ..KindState::default() })
            .collect();
        Self { state: Mutex::new(State { rv, kinds }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills a kind at once, before anyone can see it: `make` is given the first version to use and
    /// returns objects in key order, each with a version of its own.
    pub(crate) fn fill(&self, kind: KindId, make: impl FnOnce(u64, &mut Interned) -> Vec<Arc<Object>>) {
        let mut state = self.state();
        let first = state.rv + 1;
        let kind = &mut state.kinds[kind.0];
        let objects = make(first, &mut kind.interned);
        let last = objects.iter().map(|object| object.rv).max().unwrap_or(first);
        kind.objects = Collection::from_sorted(objects.into_iter());
        state.rv = last;
        // Nothing before this is known of any kind.
        state.kinds.iter_mut().for_each(|kind| kind.history.compact(last));
    }

    /// The objects of a kind as they are now.
    pub(crate) fn snapshot(&self, kind: KindId) -> Snapshot {
        let state = self.state();
        Snapshot { objects: state.kinds[kind.0].objects.clone(), rv: state.rv }
    }

    /// The objects as they are now and the events since `rv`, or `None` where these are forgotten.
    pub(crate) fn snapshot_and_events(&self, kind: KindId, rv: u64) -> Option<(Snapshot, Vec<Arc<Event>>)> {
        let state = self.state();
        let slot = &state.kinds[kind.0];
        let events = slot.history.since(rv)?.cloned().collect();
        Some((Snapshot { objects: slot.objects.clone(), rv: state.rv }, events))
    }

    /// One object as it is now.
    pub(crate) fn get(&self, kind: KindId, key: &str) -> Option<Arc<Object>> {
        self.state().kinds[kind.0].objects.get(key).cloned()
    }

    /// Decides and makes one change. `decide` runs under the lock: it must be short. The event is
    /// committed (stamped) before any watcher hears of it.
    pub(crate) fn commit<E>(
        &self,
        kind: KindId,
        key: &str,
        decide: impl FnOnce(Current<'_>) -> Result<Write, E>,
    ) -> Result<Option<Arc<Event>>, E> {
        let mut state = self.state();
        let rv = state.rv + 1;
        let slot = &mut state.kinds[kind.0];
        let write = decide(Current { object: slot.objects.get(key), rv, interned: &mut slot.interned })?;
        let (change, object, former) = match write {
            Write::Nothing => return Ok(None),
            Write::Put(object) => {
                let object = Arc::new(object);
                let former = slot.objects.put(Arc::clone(&object));
                (if former.is_some() { Change::Modified } else { Change::Added }, object, former)
            }
            Write::Delete(object) => {
                let Some(former) = slot.objects.remove(key) else { return Ok(None) };
                (Change::Deleted, Arc::new(object), Some(former))
            }
        };
        let event = Arc::new(Event { change, object, former, committed_ns: now_ns() });
        slot.history.push(Arc::clone(&event));
        slot.watchers.iter().for_each(|watcher| watcher.push(&event));
        state.rv = rv;
        Ok(Some(event))
    }

    /// Opens a watch: what it has missed and what comes are one gapless sequence. The snapshot is the
    /// view after the missed events.
    pub(crate) fn watch(
        &self,
        kind: KindId,
        id: u64,
        namespace: Option<&str>,
        from: &WatchFrom,
    ) -> Result<(Arc<Watcher>, Snapshot), WatchRefused> {
        let mut state = self.state();
        let current = state.rv;
        let slot = &mut state.kinds[kind.0];
        let missed = match *from {
            WatchFrom::Version(rv) | WatchFrom::NotOlderThan(rv) if rv > current => {
                return Err(WatchRefused::TooLarge(rv, current));
            }
            WatchFrom::Now | WatchFrom::NotOlderThan(_) => Vec::new(),
            WatchFrom::Version(rv) => {
                let Some(events) = slot.history.since(rv) else {
                    return Err(WatchRefused::TooOld(rv, slot.history.oldest()));
                };
                events.filter(|e| namespace.is_none_or(|n| n == e.object.namespace())).cloned().collect()
            }
        };
        let watcher = Arc::new(Watcher::new(id, namespace.map(Into::into), missed));
        slot.watchers.push(Arc::clone(&watcher));
        Ok((watcher, Snapshot { objects: slot.objects.clone(), rv: current }))
    }

    /// Forgets a watch.
    pub(crate) fn unwatch(&self, kind: KindId, watcher: &Arc<Watcher>) {
        self.state().kinds[kind.0].watchers.retain(|other| !Arc::ptr_eq(other, watcher));
    }

    /// The current version, if the watcher has been told of everything up to it: what a bookmark says.
    pub(crate) fn bookmark(&self, watcher: &Watcher) -> Option<u64> {
        let state = self.state();
        watcher.is_empty().then_some(state.rv)
    }

    /// Ends all watches of a kind and returns how many there were.
    pub(crate) fn end_watches(&self, kind: KindId, why: End, at_once: bool) -> usize {
        let watchers = std::mem::take(&mut self.state().kinds[kind.0].watchers);
        for watcher in &watchers {
            watcher.end(why, at_once);
        }
        watchers.len()
    }

    /// Ends all watches of all kinds.
    pub(crate) fn end_all_watches(&self, why: End) {
        for kind in 0..kinds::all().len() {
            self.end_watches(KindId(kind), why, true);
        }
    }

    /// Forgets the history of a kind: watches from before now are too old.
    pub(crate) fn compact(&self, kind: KindId) {
        let mut state = self.state();
        let rv = state.rv;
        state.kinds[kind.0].history.compact(rv);
    }
}
