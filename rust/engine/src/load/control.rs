//! What a run and whoever started it share: progress, the wish to stop, and the result.

use super::connect::FailureClass;
use super::fold::Totals;
use super::records::EndRecord;
use super::shared::Shared;
use super::worker::Event;
use crate::clock::now_ns;
use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Connections are opened and warmed up.
    #[default]
    Warming,
    /// After T0 of a segment.
    Running,
    /// The plan's end has passed, or the run was stopped: what is in flight is waited for.
    Draining,
    /// All segments have ended.
    Ended,
    /// There is no result, or not all of it: see `failure`.
    Failed,
}

/// Why a run failed.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The kind.
    pub class: FailureClass,
    /// One sentence.
    pub text: String,
}

pub(super) fn input(error: impl std::fmt::Display) -> Failure {
    Failure { class: FailureClass::Input, text: error.to_string() }
}

pub(super) fn internal(error: impl std::fmt::Display) -> Failure {
    Failure { class: FailureClass::Internal, text: error.to_string() }
}

/// How far a run has come. Counts are of the segment that runs, up to the last full second.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Progress {
    /// Where it stands.
    pub state: State,
    /// The segment, from 0.
    pub segment: u32,
    /// Of so many.
    pub segments: u32,
    /// T0 of the segment; `None` before it.
    pub t0: Option<u64>,
    /// Since T0.
    pub elapsed_ns: u64,
    /// The planned end after T0; `None` where it is not known (yet).
    pub end_ns: Option<u64>,
    /// Requests planned; `None` where it is not known before.
    pub planned: Option<u64>,
    /// Requests sent.
    pub sent: u64,
    /// Sent in the last full second.
    pub rate: u64,
    /// As asked, of all runners; `None` for a trace.
    pub requested_rate: Option<f64>,
    /// Ended well.
    pub ok: u64,
    /// Errors by key.
    pub errors: BTreeMap<String, u64>,
    /// No answer in time.
    pub timed_out: u64,
    /// Sent late.
    pub late: u64,
    /// Sent again after a 429.
    pub retries: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// The lag's p99 in the last full second with 100 requests or more, else its largest; `None` without any.
    pub lag_ns: Option<u64>,
    /// Now in flight.
    pub in_flight: u32,
    /// Watches that are open now.
    pub watches: u32,
    /// Requests that have come and wait, now.
    pub waiting: u64,
    /// Why the run was stopped.
    pub stopped: Option<String>,
    /// Why there is no result.
    pub failure: Option<Failure>,
}

/// All segments that have ended.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadResult {
    /// In their order.
    pub segments: Vec<EndRecord>,
    /// Why it was stopped.
    pub stopped: Option<String>,
    /// Why a segment has no result.
    pub failure: Option<Failure>,
}

/// Shared by the run's thread and its handle.
#[derive(Default)]
pub(super) struct Control {
    stop: Mutex<Option<String>>,
    progress: Mutex<Progress>,
    result: Mutex<LoadResult>,
    running: Mutex<Option<Arc<Shared>>>,
    wake: Mutex<Option<mpsc::Sender<Event>>>,
    ended: (Mutex<bool>, Condvar),
}

impl Control {
    /// Asks that nothing more is sent. The first word counts.
    pub(super) fn stop(&self, why: &str) {
        self.stop.lock().get_or_insert_with(|| why.to_owned());
        if let Some(wake) = &*self.wake.lock() {
            let _ = wake.send(Event::Idle);
        }
    }

    pub(super) fn stopped(&self) -> Option<String> {
        self.stop.lock().clone()
    }

    /// A segment begins to warm up.
    pub(super) fn warming(&self, segment: u32, segments: u32, wake: mpsc::Sender<Event>) {
        *self.wake.lock() = Some(wake);
        *self.running.lock() = None;
        *self.progress.lock() = Progress { segment, segments, ..Progress::default() };
    }

    /// A segment's T0.
    pub(super) fn running(&self, shared: &Arc<Shared>, planned: Option<u64>, requested_rate: Option<f64>) {
        *self.running.lock() = Some(Arc::clone(shared));
        let mut progress = self.progress.lock();
        progress.state = State::Running;
        progress.t0 = Some(shared.t0.load(Relaxed));
        progress.planned = planned;
        progress.requested_rate = requested_rate;
    }

    /// A second has been folded.
    pub(super) fn slice(&self, totals: &Totals, rate: u64, lag_ns: Option<u64>) {
        let mut progress = self.progress.lock();
        progress.sent = totals.counts.sent;
        progress.rate = rate;
        progress.ok = totals.ends.ok;
        progress.errors = totals.ends.errors_by_key();
        progress.timed_out = totals.ends.timed_out;
        progress.late = totals.late;
        progress.retries = totals.counts.retries;
        progress.bytes = totals.ends.bytes;
        progress.lag_ns = lag_ns.or(progress.lag_ns);
    }

    pub(super) fn draining(&self) {
        self.progress.lock().state = State::Draining;
    }

    /// A segment has ended.
    pub(super) fn segment_ended(&self, record: EndRecord) {
        self.result.lock().segments.push(record);
    }

    /// The run has.
    pub(super) fn ended(&self, failure: Option<Failure>) {
        *self.wake.lock() = None;
        {
            let mut progress = self.progress.lock();
            progress.state = if failure.is_some() { State::Failed } else { State::Ended };
            progress.failure.clone_from(&failure);
            let mut result = self.result.lock();
            result.stopped = self.stopped();
            result.failure = failure;
        }
        *self.ended.0.lock() = true;
        self.ended.1.notify_all();
    }

    pub(super) fn wait(&self, limit: Duration) -> bool {
        let mut ended = self.ended.0.lock();
        if !*ended {
            self.ended.1.wait_while_for(&mut ended, |ended| !*ended, limit);
        }
        *ended
    }

    pub(super) fn progress(&self) -> Progress {
        let mut progress = self.progress.lock().clone();
        progress.stopped = self.stopped();
        if let Some(shared) = &*self.running.lock() {
            let dispatch = shared.dispatch.lock();
            progress.in_flight = dispatch.in_flight();
            progress.watches = dispatch.watches();
            let out = u64::from(progress.in_flight) + u64::from(progress.watches);
            progress.waiting = (dispatch.outstanding() as u64).saturating_sub(out);
            drop(dispatch);
            let t0 = shared.t0.load(Relaxed);
            progress.elapsed_ns = now_ns().saturating_sub(t0);
            progress.end_ns = shared.end_ns().map(|end| end - t0);
        }
        progress
    }

    pub(super) fn result(&self) -> LoadResult {
        self.result.lock().clone()
    }
}
