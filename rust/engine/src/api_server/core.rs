//! What all requests, the churn and the driver share.

use super::accounting::Accounting;
use super::churn::Churn;
use super::content::PodWriter;
use super::faults::Faults;
use super::history::Event;
use super::limit::Limit;
use super::options::Options;
use super::pages::Pages;
use super::records::{CommitRecord, Source};
use super::semantics::discovery::Served;
use super::store::{KindId, Store};
use super::watch_info::WatchInfo;
use crate::recorder::RecordSink;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Watches that have ended and are still listed.
const ENDED_WATCHES: usize = 1_000;

/// One server's state.
pub(crate) struct Core {
    pub(crate) options: Options,
    pub(crate) store: Store,
    pub(crate) pods: PodWriter,
    pub(crate) faults: Faults,
    pub(crate) accounting: Arc<Accounting>,
    pub(crate) churn: Churn,
    pub(crate) watches: Watches,
    pub(crate) pages: Pages,
    pub(crate) sink: Option<RecordSink>,
    /// The bearer token; `None` over plain HTTP.
    pub(crate) token: Option<String>,
    /// `HOST:PORT` of this server.
    pub(crate) address: String,
    pub(crate) byte_limit: Option<Arc<Limit>>,
    pub(crate) request_limit: Option<Limit>,
    /// For uids of objects that clients create.
    pub(crate) nonce: u64,
    pub(crate) next_uid: AtomicU64,
}

impl Core {
    /// What is served besides the objects.
    pub(crate) fn served(&self) -> Served {
        Served { metrics: self.options.metrics }
    }

    /// Records a committed change of a Pod. Other kinds leave no record: nothing is measured on them.
    pub(crate) fn record_commit(&self, event: &Event, src: Source, seq: Option<u64>, due: Option<u64>) {
        self.record_commit_of(event, src, seq, due, None);
    }

    /// The same with the restart count that the change made.
    pub(crate) fn record_commit_of(
        &self,
        event: &Event,
        src: Source,
        seq: Option<u64>,
        due: Option<u64>,
        restarts: Option<u64>,
    ) {
        if let Some(sink) = &self.sink {
            sink.write(&CommitRecord {
                k: "commit",
                t: event.committed_ns,
                due,
                seq,
                src,
                rv: event.rv(),
                ns: event.object.namespace(),
                name: event.object.name(),
                change: event.change.name(),
                restarts,
            });
        }
    }

    /// A uid that no other object has.
    pub(crate) fn new_uid(&self) -> String {
        // Planned objects use the lower numbers.
        super::content::uid(self.nonce, (1 << 40) + self.next_uid.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether this is the kind that the churn and the driver wait for.
    pub(crate) fn is_pods(kind: KindId) -> bool {
        kind == KindId::core("pods")
    }
}

/// The watches that are open, and those that were.
#[derive(Default)]
pub(crate) struct Watches {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<WatchInfo>>>,
}

impl Watches {
    /// A number for a new watch, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Lists a watch.
    pub(crate) fn add(&self, info: Arc<WatchInfo>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= ENDED_WATCHES {
            let ended = all.values().filter(|info| info.ended_ns.load(Ordering::Relaxed) != 0);
            if let Some(oldest) = ended.map(|info| info.id).next() {
                all.remove(&oldest);
            }
        }
        all.insert(info.id, info);
    }

    /// All that are listed, in the order of their opening.
    pub(crate) fn all(&self) -> Vec<Arc<WatchInfo>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// How many are open.
    pub(crate) fn open(&self) -> usize {
        self.all().iter().filter(|info| info.ended_ns.load(Ordering::Relaxed) == 0).count()
    }
}
