//! A watch as it is counted and recorded.

use super::accounting::Accounting;
use super::exchange::{Asked, Exchange};
use super::records::{WatchEndRecord, WrittenRecord};
use super::rope::Written;
use super::watchers::{End, Watcher};
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a watch that was ended may take to read what is on its way.
const STUCK_NS: u64 = 5_000_000_000;
const STUCK_HTTP2_NS: u64 = 60_000_000_000;

/// What is known of a watch from outside.
pub(crate) struct WatchInfo {
    /// Its number.
    pub(crate) id: u64,
    /// What was asked.
    pub(crate) asked: Asked,
    /// When it opened.
    pub(crate) opened_ns: u64,
    /// Commits written to it.
    pub(crate) events: AtomicU64,
    /// 0 while it is open.
    pub(crate) ended_ns: AtomicU64,
    pub(crate) watcher: Arc<Watcher>,
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) accounting: Arc<Accounting>,
    pub(crate) sink: Option<RecordSink>,
}

/// Held by the watch and by every piece that is not written yet; the last one to go records the end.
pub(crate) struct Tally {
    info: Arc<WatchInfo>,
    why: Mutex<End>,
}

impl Tally {
    /// The tally of a watch; it counts as ended by its client until something else is said.
    pub(crate) fn new(info: Arc<WatchInfo>) -> Arc<Self> {
        Arc::new(Self { info, why: Mutex::new(End::Client) })
    }

    /// Says why the watch ended.
    pub(crate) fn ended(&self, why: End) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl WatchInfo {
    /// Closes the connection of a watch that the server has ended for slowness and whose client does not
    /// even read that. Over HTTP/2 the connection carries other requests too, and gets longer.
    pub(crate) fn close_if_stuck(&self, now: u64) {
        let Some((since, End::Slow)) = self.watcher.ended() else { return };
        let connection = self.exchange.connection();
        let patience = if connection.http2() { STUCK_HTTP2_NS } else { STUCK_NS };
        if self.ended_ns.load(Ordering::Relaxed) == 0 && now.saturating_sub(since) > patience {
            connection.close.notify_one();
        }
    }

    /// Bytes written to it, initial objects and bookmarks among them.
    pub(crate) fn bytes(&self) -> u64 {
        self.exchange.written()
    }
}

impl Written for Tally {
    fn written(&self, rvs: &[u64]) {
        let info = &self.info;
        info.events.fetch_add(rvs.len() as u64, Ordering::Relaxed);
        info.accounting.add_events(rvs.len() as u64);
        if let Some(sink) = &info.sink {
            sink.write(&WrittenRecord { k: "written", t: now_ns(), w: info.id, rvs });
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let (info, now) = (&self.info, now_ns());
        let why = *self.why.lock().unwrap_or_else(PoisonError::into_inner);
        info.ended_ns.store(now, Ordering::Relaxed);
        let (events, bytes) = (info.events.load(Ordering::Relaxed), info.bytes());
        info.accounting.watch_ended(&info.asked, why, bytes);
        if let Some(sink) = &info.sink {
            let why = why.name();
            sink.write(&WatchEndRecord { k: "watch", t: now, w: info.id, ev: "end", why, events, bytes });
        }
    }
}
