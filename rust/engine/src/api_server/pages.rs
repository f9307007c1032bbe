//! Snapshots that lists still have pages of, and versions of the past.

use super::store::{KindId, Snapshot, Store};
use crate::clock::now_ns;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How long a continue token lives.
const KEPT_NS: u64 = 5 * 60 * 1_000_000_000;
/// Snapshots that are kept at once; beyond them the oldest is made again from the history, or expires.
const KEPT: usize = 64;

struct Kept {
    kind: KindId,
    snapshot: Snapshot,
    since_ns: u64,
}

/// The snapshots of lists that are being paged through.
#[derive(Default)]
pub(crate) struct Pages {
    kept: Mutex<VecDeque<Kept>>,
}

impl Pages {
    /// Keeps a snapshot for the pages to come.
    pub(crate) fn keep(&self, kind: KindId, snapshot: &Snapshot) {
        let now = now_ns();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|page| page.since_ns + KEPT_NS > now);
        if kept.iter().any(|page| page.kind == kind && page.snapshot.rv == snapshot.rv) {
            return;
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept { kind, snapshot: snapshot.clone(), since_ns: now });
    }

    /// Drops the snapshots of a kind: its tokens expire.
    pub(crate) fn forget(&self, kind: KindId) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).retain(|page| page.kind != kind);
    }

    /// The objects of a kind exactly at a version: kept, or told from the history. `None` where the
    /// version is too old.
    pub(crate) fn at(&self, store: &Store, kind: KindId, rv: u64) -> Option<Snapshot> {
        let now = now_ns();
        {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let live = kept.iter().find(|page| page.kind == kind && page.snapshot.rv == rv);
            if let Some(page) = live.filter(|page| page.since_ns + KEPT_NS > now) {
                return Some(page.snapshot.clone());
            }
        }
        let (mut snapshot, events) = store.snapshot_and_events(kind, rv)?;
        for event in events.iter().rev() {
            match &event.former {
                Some(former) => drop(snapshot.objects.put(std::sync::Arc::clone(former))),
                None => drop(snapshot.objects.remove(&event.object.key)),
            }
        }
        snapshot.rv = rv;
        Some(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::object_of;
    use super::super::store::Write;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::convert::Infallible;

    fn step(store: &Store, kind: KindId, name: &str, put: bool) {
        let _ = store.commit(kind, name, |current| {
            let rv = current.rv;
            Ok::<_, Infallible>(if put {
                let value = json!({"metadata": {"name": name, "resourceVersion": rv.to_string()}});
                Write::Put(object_of(kind.kind(), value, rv, current.interned))
            } else {
                current.object.map_or(Write::Nothing, |object| Write::Delete(object.with_rv(rv)))
            })
        });
    }

    proptest! {
        #[test]
        fn a_past_version_is_told_from_the_history(
            steps in prop::collection::vec((0u8..12, any::<bool>()), 1..60), at in 0usize..60
        ) {
            let (store, pages, kind) = (Store::new(), Pages::default(), KindId::core("namespaces"));
            let mut expected = store.snapshot(kind);
            for (i, (name, put)) in steps.iter().enumerate() {
                step(&store, kind, &format!("n{name}"), *put);
                if i == at {
                    expected = store.snapshot(kind);
                }
            }
            let told = pages.at(&store, kind, expected.rv).unwrap();
            let rows = |s: &Snapshot| s.objects.rows().map(|r| (r.object.key.clone(), r.object.rv)).collect::<Vec<_>>();
            prop_assert_eq!(rows(&told), rows(&expected));
        }
    }

    #[test]
    fn a_forgotten_version_is_found_only_while_it_is_kept() {
        let (store, pages, kind) = (Store::new(), Pages::default(), KindId::core("namespaces"));
        let before = store.snapshot(kind);
        pages.keep(kind, &before);
        step(&store, kind, "a", true);
        store.compact(kind);
        assert!(pages.at(&store, kind, before.rv).is_some());
        pages.forget(kind);
        assert!(pages.at(&store, kind, before.rv).is_none());
    }
}
