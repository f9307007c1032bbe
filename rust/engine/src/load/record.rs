//! What a worker records: its own, without a lock; handed over once a second, or when it has become much.

use super::job::Sample;
use super::latencies::WatchLatencies;
use super::outcome::Outcome;
use super::records::WatchCounts;
use bytes::Bytes;
use perfq_core::histogram::Histogram;
use std::collections::BTreeMap;

/// Samples after which a worker does not wait for the end of the second.
const MANY: usize = 4_096;
/// Errors of one kind that a worker describes in a second.
const ERRORS_DESCRIBED: u32 = 3;

/// What has come since it was taken last.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) samples: Vec<Sample>,
    pub(super) counts: Counts,
    pub(super) errors: Vec<ErrorText>,
    /// Answers by the UID of their APF priority level.
    pub(super) levels: BTreeMap<Bytes, u64>,
    pub(super) watches: WatchCounts,
    pub(super) watch_latencies: WatchLatencies,
    /// Handshakes of connections that were opened in mid-run.
    pub(super) handshakes: Histogram,
    described: BTreeMap<Outcome, u32>,
}

/// Events that are no request's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// First sends.
    pub(super) sent: u64,
    /// Of them, in time.
    pub(super) sent_by_end: u64,
    pub(super) retries: u64,
    /// Sent again because the server had not taken it.
    pub(super) resends: u64,
    pub(super) opened: u64,
    pub(super) reconnects: u64,
    pub(super) goaways: u64,
    pub(super) resets: u64,
    /// Answers in Kubernetes' protobuf envelope.
    pub(super) envelopes: u64,
    /// Requests that ended without a send.
    pub(super) not_sent: u64,
}

/// An error in words.
#[derive(Clone, Debug)]
pub(super) struct ErrorText {
    pub(super) t: u64,
    pub(super) series: u32,
    pub(super) outcome: Outcome,
    pub(super) text: String,
}

impl Counts {
    pub(super) fn add(&mut self, more: &Self) {
        self.sent += more.sent;
        self.sent_by_end += more.sent_by_end;
        self.retries += more.retries;
        self.resends += more.resends;
        self.opened += more.opened;
        self.reconnects += more.reconnects;
        self.goaways += more.goaways;
        self.resets += more.resets;
        self.envelopes += more.envelopes;
        self.not_sent += more.not_sent;
    }
}

impl Recording {
    /// Adds a request that has ended; whether it is time to hand over.
    pub(super) fn sample(&mut self, sample: Sample) -> bool {
        self.samples.push(sample);
        self.samples.len() >= MANY
    }

    /// Counts an answer to the priority level with a UID.
    pub(super) fn answered_at(&mut self, level: Bytes) {
        if let Some(count) = self.levels.get_mut(&level) {
            *count += 1;
        } else {
            self.levels.insert(level, 1);
        }
    }

    /// Whether another error of this kind is to be described.
    pub(super) fn describes(&self, outcome: Outcome) -> bool {
        outcome.error_key().is_some() && self.described.get(&outcome).is_none_or(|seen| *seen < ERRORS_DESCRIBED)
    }

    pub(super) fn describe(&mut self, error: ErrorText) {
        if self.describes(error.outcome) {
            *self.described.entry(error.outcome).or_default() += 1;
            self.errors.push(error);
        }
    }

    /// Takes all; `second_over`: errors may be described anew.
    pub(super) fn take(&mut self, second_over: bool) -> Self {
        let mut taken = std::mem::take(self);
        if !second_over {
            self.described = std::mem::take(&mut taken.described);
        }
        taken
    }
}
