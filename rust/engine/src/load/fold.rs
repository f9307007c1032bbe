//! Samples as figures: of a second, and of a segment.

use super::ends::Ends;
use super::job::Sample;
use super::latencies::{Latencies, is_empty};
use super::outcome::Outcome;
use super::record::{Counts, ErrorText, Recording};
use super::records::WatchCounts;
use perfq_core::histogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// A request that was sent this long after it could have been is late.
const LATE_NS: u64 = 10_000_000;

/// What ended within a stretch of time.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) ends: Ends,
    pub(super) late: u64,
    pub(super) counts: Counts,
    pub(super) latency: Latencies,
    pub(super) series: BTreeMap<u32, SeriesFigures>,
    pub(super) levels: BTreeMap<bytes::Bytes, u64>,
    pub(super) handshakes: Histogram,
    pub(super) watches: WatchCounts,
}

/// One series within a stretch of time.
#[derive(Default, Serialize)]
pub(super) struct SeriesFigures {
    #[serde(flatten)]
    pub(super) ends: Ends,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) response: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) service: Histogram,
}

/// Sums over a segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) ends: Ends,
    pub(super) late: u64,
    pub(super) counts: Counts,
    pub(super) watches: WatchCounts,
}

impl Figures {
    /// Adds what a worker recorded, and returns its errors in words.
    pub(super) fn add(&mut self, recording: Recording) -> Vec<ErrorText> {
        self.counts.add(&recording.counts);
        for sample in &recording.samples {
            self.sample(sample);
        }
        for (level, count) in recording.levels {
            *self.levels.entry(level).or_default() += count;
        }
        self.handshakes.merge(&recording.handshakes);
        self.watches.add(&recording.watches);
        self.latency.watches.add(&recording.watch_latencies);
        recording.errors
    }

    fn sample(&mut self, sample: &Sample) {
        let series = self.series.entry(sample.series).or_default();
        self.ends.count(sample.outcome, sample.bytes);
        series.ends.count(sample.outcome, sample.bytes);
        let stamps = &sample.stamps;
        let Some(sent) = stamps.sent else { return };
        self.late += u64::from(sample.due_ns.is_some() && stamps.lag > LATE_NS);
        if sample.outcome == Outcome::Cancelled {
            return;
        }
        let response = sample.due_ns.map(|due| sample.done_ns.saturating_sub(due));
        if response.is_some() {
            self.latency.lag.record(stamps.lag);
            self.latency.slot_wait.record(stamps.slot_wait);
            self.latency.order_wait.record(stamps.order_wait);
        }
        // A watch lives as long as it was told to: that is no latency.
        if sample.watch {
            return;
        }
        let answered = matches!(sample.outcome, Outcome::Ok | Outcome::Http(_));
        if let Some(response) = response.filter(|_| answered || sample.outcome == Outcome::TimedOut) {
            self.latency.response.record(response);
            series.response.record(response);
        }
        if answered {
            let service = sample.done_ns.saturating_sub(sent);
            self.latency.service.record(service);
            series.service.record(service);
            if let Some(first) = sample.first_ns {
                self.latency.ttfb.record(first.saturating_sub(sent));
            }
        }
    }
}

impl Totals {
    /// Adds the figures of a second.
    pub(super) fn add(&mut self, figures: &Figures) {
        self.ends.add(&figures.ends);
        self.late += figures.late;
        self.counts.add(&figures.counts);
        self.watches.add(&figures.watches);
    }
}
