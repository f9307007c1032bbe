//! A request as the engine carries it: ready to be sent, with the instants of its life.

use super::outcome::Outcome;
use bytes::Bytes;
use hyper::http::{HeaderMap, Method, Uri};
use perfq_core::load::{Place, Planned, WatchEnd};
use std::sync::Arc;

/// One planned request.
pub(super) struct Job {
    pub(super) lane: u32,
    pub(super) place: Place,
    pub(super) series: u32,
    pub(super) wire: Wire,
    pub(super) expect_status: Option<u16>,
    pub(super) watch: Option<WatchEnd>,
    /// Of a watch: where its next stream begins.
    pub(super) position: Position,
    /// Of a watch: whether it has had a stream.
    pub(super) streamed: bool,
    /// `None` in a closed loop.
    pub(super) due_ns: Option<u64>,
    pub(super) stamps: Stamps,
    /// Times that it was sent again after a 429.
    pub(super) retries: u32,
    /// Times that it was sent again because the server had not taken it.
    pub(super) resends: u32,
}

/// What is sent.
pub(super) struct Wire {
    pub(super) method: Method,
    pub(super) uri: Uri,
    /// Shared by all requests that carry the same.
    pub(super) headers: Arc<HeaderMap>,
    pub(super) body: Bytes,
}

/// Where a watch's next stream begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Position {
    /// Where the plan says.
    #[default]
    Planned,
    /// At the version that it has come to.
    At(String),
    /// At the version of a list: the one that it had is too old.
    Lost,
}

/// Instants and waits, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamps {
    /// Since when it waits for what it waits for now.
    since: u64,
    pub(super) order_wait: u64,
    pub(super) slot_wait: u64,
    /// Its first send.
    pub(super) first_sent: Option<u64>,
    /// Its latest send.
    pub(super) sent: Option<u64>,
    /// Of its first send: what is neither of the two waits.
    pub(super) lag: u64,
}

impl Stamps {
    /// The request is handed to a connection with a free stream; whether for the first time.
    pub(super) fn mark_sent(&mut self, due_ns: Option<u64>, now_ns: u64) -> bool {
        self.sent = Some(now_ns);
        if self.first_sent.is_some() {
            return false;
        }
        self.first_sent = Some(now_ns);
        if let Some(due) = due_ns {
            self.lag = now_ns.saturating_sub(due + self.order_wait + self.slot_wait);
        }
        true
    }
}

impl Job {
    /// Whether an answer of that status is a good one.
    pub(super) fn accepts(&self, status: u16) -> bool {
        (200..300).contains(&status) || self.expect_status == Some(status)
    }

    /// What is recorded of it.
    pub(super) fn sample(&self, outcome: Outcome, first_ns: Option<u64>, done_ns: u64, bytes: u64) -> Sample {
        Sample {
            lane: self.lane,
            series: self.series,
            outcome,
            watch: self.watch.is_some(),
            due_ns: self.due_ns,
            stamps: self.stamps,
            first_ns,
            done_ns,
            bytes,
        }
    }
}

impl Planned for Box<Job> {
    fn lane(&self) -> u32 {
        self.lane
    }

    fn place(&self) -> Place {
        self.place
    }

    fn is_watch(&self) -> bool {
        self.watch.is_some()
    }

    fn takes_a_slot(&self) -> bool {
        matches!(self.watch, None | Some(WatchEnd::InitialBookmark))
    }

    fn queued(&mut self, now_ns: u64) {
        self.stamps.since = now_ns;
    }

    fn in_turn(&mut self, now_ns: u64) {
        self.stamps.order_wait += now_ns.saturating_sub(self.stamps.since);
        self.stamps.since = now_ns;
    }

    fn slot_given(&mut self, now_ns: u64) {
        self.stamps.slot_wait += now_ns.saturating_sub(self.stamps.since);
        self.stamps.since = now_ns;
    }
}

/// What is recorded of one request that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) lane: u32,
    pub(super) series: u32,
    pub(super) outcome: Outcome,
    pub(super) watch: bool,
    pub(super) due_ns: Option<u64>,
    pub(super) stamps: Stamps,
    pub(super) first_ns: Option<u64>,
    pub(super) done_ns: u64,
    pub(super) bytes: u64,
}
