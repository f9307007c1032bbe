//! Lines of samples.ndjson (docs/reference/samples.md).

use super::ends::Ends;
use super::fold::SeriesFigures;
use super::latencies::{Latencies, is_empty};
use super::options::{Overload, Protocol};
use super::raw_data::RawDataStatus;
use perfq_core::histogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// A segment begins.
#[derive(Serialize)]
pub(super) struct SegmentRecord {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) segment: u32,
    pub(super) t0: u64,
    pub(super) planned: Option<u64>,
    pub(super) end_ns: Option<u64>,
    pub(super) requested_rate: Option<f64>,
    pub(super) closed: bool,
    pub(super) runners: u32,
    pub(super) connections: u32,
    pub(super) in_flight: u32,
    pub(super) protocol: Protocol,
    pub(super) workers: u32,
    pub(super) stream_limit: Option<u32>,
    pub(super) handshake: Histogram,
}

/// One second of it.
#[derive(Serialize)]
pub(super) struct SliceRecord {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) segment: u32,
    pub(super) second: u64,
    #[serde(flatten)]
    pub(super) figures: SliceFigures,
    pub(super) cpu_ns: u64,
    pub(super) cpu_share_max: f64,
    pub(super) latency: Latencies,
    #[serde(skip_serializing_if = "WatchCounts::is_empty")]
    pub(super) watches: WatchCounts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) series: Vec<SeriesRecord>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) priority_levels: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) handshake: Histogram,
}

/// Counts of a second.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct SliceFigures {
    pub(super) sent: u64,
    #[serde(flatten)]
    pub(super) ends: Ends,
    pub(super) not_sent: u64,
    pub(super) late: u64,
    pub(super) retries: u64,
    pub(super) in_flight_max: u32,
}

/// A series in a second.
#[derive(Serialize)]
pub(super) struct SeriesRecord {
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) figures: SeriesFigures,
}

/// An error in words.
#[derive(Serialize)]
pub(super) struct ErrorRecord<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) segment: u32,
    pub(super) key: &'a str,
    pub(super) series: &'a str,
    pub(super) status: Option<u16>,
    pub(super) text: &'a str,
}

/// A segment has ended.
#[derive(Clone, Debug, Serialize)]
pub struct EndRecord {
    /// `load_end`
    pub k: &'static str,
    /// When, in `CLOCK_MONOTONIC`.
    pub t: u64,
    /// Its number, from 0.
    pub segment: u32,
    /// Requests that were to be sent.
    pub planned: u64,
    /// Requests that were sent at least once.
    pub sent: u64,
    /// Of them, no later than 10 ms after the planned end.
    pub sent_by_end: u64,
    /// 2xx, or as expected.
    pub ok: u64,
    /// By key.
    pub errors: BTreeMap<String, u64>,
    /// No answer within the time-out.
    pub timed_out: u64,
    /// On the wire at the deadline.
    pub cancelled: u64,
    /// Never sent.
    pub not_sent: u64,
    /// Of `not_sent`: dropped by the overload policy.
    pub dropped: u64,
    /// What those that were due and never sent waited for.
    pub unsent_wait: UnsentWait,
    /// Sent more than 10 ms after they could have been.
    pub late: u64,
    /// Sent again after a 429.
    pub retries: u64,
    /// Sent again because the server had not taken them.
    pub resends: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// Answers in Kubernetes' protobuf envelope.
    pub envelopes: u64,
    /// T0 → planned end; `None` where the plan has none.
    pub end_ns: Option<u64>,
    /// T0 → the last request's end, or the deadline.
    pub wall_ns: u64,
    /// From the planned end, or the stop, to the end of all that was in flight.
    pub drain_ns: u64,
    /// Why it was stopped before its end.
    pub stopped: Option<String>,
    /// The policy.
    pub overload: Overload,
    /// What connections went through.
    pub connections: ConnectionCounts,
    /// What watches saw.
    pub watches: WatchCounts,
    /// The file of all samples so far; `None` where none was asked for.
    pub raw_data: Option<RawDataStatus>,
}

/// Times that requests which were never sent had waited by the end, summed from their due instants, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct UnsentWait {
    /// Of those that waited for a slot.
    pub slot_ns: u64,
    /// Of those that waited for a former request on the same object.
    pub order_ns: u64,
}

/// Watches of a segment, or of a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WatchCounts {
    /// Streams that were answered with events.
    pub opened: u64,
    /// Of them, those that have ended.
    pub ended: u64,
    /// ADDED, MODIFIED and DELETED.
    pub events: u64,
    /// BOOKMARK.
    pub bookmarks: u64,
    /// Bytes of their streams and re-lists.
    pub bytes: u64,
    /// Lists after a 410.
    pub relists: u64,
    /// Of `opened`: those of watches that had had one, which the server had ended.
    pub reopened: u64,
}

impl WatchCounts {
    pub(super) fn add(&mut self, more: &Self) {
        self.opened += more.opened;
        self.ended += more.ended;
        self.events += more.events;
        self.bookmarks += more.bookmarks;
        self.bytes += more.bytes;
        self.relists += more.relists;
        self.reopened += more.reopened;
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Connections of a segment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConnectionCounts {
    /// All, those of the warm-up among them.
    pub opened: u64,
    /// Opened because one was lost.
    pub reconnects: u64,
    /// GOAWAY frames that ended a connection.
    pub goaways: u64,
    /// Streams or connections that the peer reset.
    pub resets: u64,
    /// What the peer allows on one connection; `None`: HTTP/1.1, or no limit.
    pub stream_limit: Option<u32>,
}
