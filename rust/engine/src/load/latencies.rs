//! Histograms by their published names, in nanoseconds.

use perfq_core::histogram::Histogram;
use serde::Serialize;

/// Of requests, watches among them.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Latencies {
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) response: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) service: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) ttfb: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) lag: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) slot_wait: Histogram,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) order_wait: Histogram,
    #[serde(flatten)]
    pub(super) watches: WatchLatencies,
}

/// Of watches, from the send.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct WatchLatencies {
    #[serde(rename = "watch_headers", skip_serializing_if = "is_empty")]
    pub(super) headers: Histogram,
    #[serde(rename = "watch_first_event", skip_serializing_if = "is_empty")]
    pub(super) first_event: Histogram,
    #[serde(rename = "watch_initial_bookmark", skip_serializing_if = "is_empty")]
    pub(super) initial_bookmark: Histogram,
}

impl WatchLatencies {
    pub(super) fn add(&mut self, more: &Self) {
        self.headers.merge(&more.headers);
        self.first_event.merge(&more.first_event);
        self.initial_bookmark.merge(&more.initial_bookmark);
    }
}

pub(super) fn is_empty(histogram: &Histogram) -> bool {
    histogram.count() == 0
}
