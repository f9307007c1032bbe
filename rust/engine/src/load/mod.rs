//! The request engine: sends planned requests on their schedule and records what became of them.
//!
//! One thread reads ahead, one keeps the schedule on the monotonic clock (the worker, where there is only one), a few
//! send, each with connections and a recording of its own, and one folds the recordings into `samples.ndjson` once a
//! second. A request passes from the schedule through the dispatch (order, in-flight limit, streams) to the worker that owns its connection; the
//! one that takes over its slot is sent by that worker without another thread's help.

mod alarm;
mod attempt;
mod carry;
mod connect;
mod control;
mod cpu;
mod dispatching;
mod driving;
mod endpoint;
mod ends;
mod exchange;
mod fold;
mod http1;
pub mod import;
pub mod inspect;
mod job;
mod latencies;
mod link;
mod options;
mod outcome;
mod prepare;
mod raw_data;
pub mod readers;
mod record;
mod records;
mod schedule;
mod segment;
mod series;
mod shared;
mod source;
mod tally;
mod timing;
pub mod trace_file;
mod watch;
mod worker;

pub use connect::FailureClass;
pub use control::{Failure, LoadResult, Progress, State};
pub use options::{
    Accept, EndpointOptions, LoadOptions, Overload, Protocol, SegmentOptions, SourceOptions, TraceOptions,
};
pub use raw_data::RawDataStatus;
pub use records::{ConnectionCounts, EndRecord, WatchCounts};

use crate::recorder::RecordSink;
use control::Control;
use endpoint::Endpoint;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A run that has begun.
pub struct LoadRun {
    control: Arc<Control>,
    endpoint: Arc<Endpoint>,
    thread: Option<JoinHandle<()>>,
}

impl LoadRun {
    /// Checks the options and begins. `InvalidInput` says which of them cannot be; an unreachable target is told
    /// by [`Self::progress`].
    pub fn start(options: LoadOptions, sink: Option<RecordSink>) -> io::Result<Self> {
        let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        if options.segments.is_empty() {
            return Err(wrong("segments must have at least one".into()));
        }
        for (at, segment) in options.segments.iter().enumerate() {
            if let Some(violation) = segment.violation() {
                return Err(wrong(format!("segments[{at}]: {violation}")));
            }
            source::check(segment)?;
        }
        let endpoint = Arc::new(Endpoint::new(&options.endpoint)?);
        let raw = options.raw_data.as_deref().map(raw_data::RawData::create).transpose()?;
        let control = Arc::new(Control::default());
        let thread = segment::spawn(options, Arc::clone(&endpoint), sink, Arc::clone(&control), raw)?;
        Ok(Self { control, endpoint, thread: Some(thread) })
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.control.progress()
    }

    /// Sends nothing more; what is in flight has a few seconds. The first reason counts.
    pub fn stop(&self, why: &str) {
        self.control.stop(why);
    }

    /// Another bearer token, from the next request on.
    pub fn set_token(&self, token: &str) -> io::Result<()> {
        self.endpoint.set_token(token)
    }

    /// Whether it has ended, after waiting so long for it.
    pub fn wait(&self, limit: Duration) -> bool {
        self.control.wait(limit)
    }

    /// The segments that have ended.
    pub fn result(&self) -> LoadResult {
        self.control.result()
    }
}

impl Drop for LoadRun {
    fn drop(&mut self) {
        self.control.stop("closed");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
