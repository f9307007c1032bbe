//! Where a segment's requests come from.

use super::options::{SegmentOptions, SourceOptions, TraceOptions};
use super::readers::TraceRequests;
use perfq_core::load::mix::Mix;
use perfq_core::load::rewrite::{Rewriter, Rewritten};
use perfq_core::load::{Request, RequestError, Requests, trace};
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

/// The requests of a segment, and what is known of them before.
pub(super) struct Source {
    pub(super) streams: Streams,
    /// How many there will be.
    pub(super) planned: Option<u64>,
    /// The planned end after T0, where it is not that of the last request.
    pub(super) end_us: Option<u64>,
}

/// One stream of all runners, told apart by their keys, or one for each.
pub(super) enum Streams {
    All(Requests),
    PerLane(Vec<Requests>),
}

fn wrong(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Opens a source as far as its header.
pub(super) fn check(segment: &SegmentOptions) -> io::Result<()> {
    match &segment.source {
        SourceOptions::Trace(options) => trace_requests(options).map(drop),
        SourceOptions::Mix(spec) => Mix::new(spec).map(drop).map_err(|error| wrong(error.to_string())),
    }
}

fn trace_requests(options: &TraceOptions) -> io::Result<Requests> {
    let strictness = trace::Options { allow_unknown: options.allow_unknown, digest: false };
    let requests = TraceRequests::open(&options.path, strictness)
        .map_err(|error| wrong(format!("{}: {error}", options.path.display())))?;
    let Some(rewrite) = &options.rewrite else { return Ok(Box::new(requests)) };
    let rewriter = Rewriter::new(rewrite).map_err(|error| wrong(format!("rewrite: {error}")))?;
    Ok(Box::new(Rewritten::new(requests, rewriter, false)))
}

impl Source {
    pub(super) fn open(segment: &SegmentOptions) -> io::Result<Self> {
        match &segment.source {
            SourceOptions::Trace(trace) => {
                let requests = trace_requests(trace)?;
                Ok(Self { streams: Streams::All(requests), planned: None, end_us: segment.duration_us })
            }
            SourceOptions::Mix(spec) => {
                let mix = Arc::new(Mix::new(spec).map_err(|error| wrong(error.to_string()))?);
                let runners: Vec<u32> = match segment.runner_index {
                    Some(index) => vec![index],
                    None => (0..segment.runners).collect(),
                };
                let plans = runners.iter().map(|runner| mix.plan(*runner));
                let (mut planned, mut end_us) = (Some(0u64), None);
                for plan in plans {
                    planned = planned.zip(plan.planned).map(|(sum, more)| sum + more);
                    end_us = end_us.max(plan.end_us);
                }
                let streams = runners.iter().map(|runner| mix.requests(*runner, segment.runners)).collect();
                Ok(Self { streams: Streams::PerLane(streams), planned, end_us: segment.duration_us.or(end_us) })
            }
        }
    }
}

/// All streams as one, in the order of their due instants; each request with its lane where the streams have one.
pub(super) enum Merged {
    All(Requests),
    PerLane { streams: Vec<Requests>, next: BinaryHeap<Next> },
}

/// The next request of a lane; the earliest is the greatest, as the heap wants it.
pub(super) struct Next {
    lane: u32,
    request: Result<Request, RequestError>,
}

impl Next {
    fn order(&self) -> (u64, u32) {
        (self.request.as_ref().map_or(0, |request| request.due_us.unwrap_or(0)), self.lane)
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.order().cmp(&self.order())
    }
}

impl Merged {
    pub(super) fn new(streams: Streams) -> Self {
        match streams {
            Streams::All(requests) => Self::All(requests),
            Streams::PerLane(streams) => {
                let mut merged = Self::PerLane { next: BinaryHeap::with_capacity(streams.len()), streams };
                if let Self::PerLane { streams, next } = &mut merged {
                    for (lane, stream) in (0u32..).zip(streams) {
                        next.extend(stream.next().map(|request| Next { lane, request }));
                    }
                }
                merged
            }
        }
    }
}

impl Iterator for Merged {
    type Item = (Option<u32>, Result<Request, RequestError>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::All(requests) => requests.next().map(|request| (None, request)),
            Self::PerLane { streams, next } => {
                let Next { lane, request } = next.pop()?;
                next.extend(streams[lane as usize].next().map(|request| Next { lane, request }));
                Some((Some(lane), request))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfq_core::load::Verb;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn streams_merge_in_the_order_of_their_dues(dues in proptest::collection::vec(proptest::collection::vec(0..50u64, 0..20), 0..5)) {
            let streams: Vec<Requests> = dues.iter().map(|dues| {
                let mut dues = dues.clone();
                dues.sort_unstable();
                let requests = dues.into_iter().map(|due| Ok(Request { due_us: Some(due), ..Request::new(Verb::Get, "/") }));
                Box::new(requests) as Requests
            }).collect();
            let merged: Vec<_> = Merged::new(Streams::PerLane(streams)).map(|(lane, request)| (request.unwrap().due_us.unwrap(), lane.unwrap())).collect();
            let mut expected: Vec<(u64, u32)> = (0u32..).zip(&dues).flat_map(|(lane, dues)| dues.iter().map(move |due| (*due, lane))).collect();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
