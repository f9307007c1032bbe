//! The plan's events, each committed at its due time by a thread of its own.

use super::commits::commit_planned;
use super::core::Core;
use super::faults;
use crate::clock::{keep_time, now_ns, sleep_until};
use perfq_core::workload::{Plan, PodState};
use serde::Serialize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
/// From the order to start to the first event, so that the thread is awake by then.
const LEAD_NS: u64 = 10_000_000;
/// Waits longer than this can be interrupted; the rest is slept to the nanosecond.
const FINE_NS: u64 = 20_000_000;

/// Where the churn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// Not started.
    #[default]
    Waiting,
    /// Within the plan's duration.
    Running,
    /// The plan's duration has passed.
    Ended,
}

/// Where the churn stands, in figures.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Progress {
    pub(crate) state: Phase,
    pub(crate) t0_ns: Option<u64>,
    pub(crate) committed: u64,
    pub(crate) skipped: u64,
    pub(crate) planned: u64,
    pub(crate) last_commit_ns: Option<u64>,
    /// The longest that a planned event was committed after its due time.
    pub(crate) max_lag_ns: Option<u64>,
}

struct State {
    plan: Arc<Plan>,
    progress: Progress,
    stop: bool,
}

/// The churn of one server.
pub(crate) struct Churn {
    state: Mutex<State>,
    changed: Condvar,
    /// What the plan says of each Pod by now.
    pods: Mutex<Vec<PodState>>,
}

/// Why the plan could not be extended, as one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExtendError(String);

impl Churn {
    /// A churn that waits to be started.
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        let pods = vec![PodState::default(); plan.profile().object_count as usize];
        let progress = Progress { planned: plan.event_count(), ..Progress::default() };
        Self {
            state: Mutex::new(State { plan, progress, stop: false }),
            changed: Condvar::new(),
            pods: Mutex::new(pods),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the plan's clock, once; returns its zero.
    pub(crate) fn start(&self) -> u64 {
        let mut state = self.state();
        if let Some(t0) = state.progress.t0_ns {
            return t0;
        }
        let t0 = now_ns() + LEAD_NS;
        state.progress.t0_ns = Some(t0);
        state.progress.state = Phase::Running;
        drop(state);
        self.changed.notify_all();
        t0
    }

    /// Makes the plan longer by whole seconds while it runs; the stream goes on.
    pub(crate) fn extend(&self, seconds: u32) -> Result<(), ExtendError> {
        let plan = Arc::clone(&self.state().plan);
        let longer = plan
            .extended(seconds)
            .map_err(|broken| ExtendError(broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
        let mut state = self.state();
        if state.progress.state == Phase::Ended {
            return Err(ExtendError(format!(
                "the churn has ended after {} s; extend it while it runs",
                plan.profile().duration_seconds
            )));
        }
        state.progress.planned = longer.event_count();
        state.plan = Arc::new(longer);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.state().stop = true;
        self.changed.notify_all();
    }

    /// Where it stands.
    pub(crate) fn progress(&self) -> Progress {
        self.state().progress
    }

    /// The plan as it is now.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.state().plan)
    }

    /// What the plan says of each Pod by now, by its number.
    pub(crate) fn pods(&self) -> MutexGuard<'_, Vec<PodState>> {
        self.pods.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a planned event: when it was committed and due, or nothing where it was skipped.
    pub(crate) fn count(&self, committed_and_due: Option<(u64, u64)>) {
        let progress = &mut self.state().progress;
        let Some((committed_ns, due)) = committed_and_due else {
            progress.skipped += 1;
            return;
        };
        progress.committed += 1;
        progress.last_commit_ns = Some(committed_ns);
        progress.max_lag_ns = progress.max_lag_ns.max(Some(committed_ns.saturating_sub(due)));
    }

    /// Waits until an instant, less the part that is slept to the nanosecond. False: stop.
    fn wait_coarse(&self, until_ns: u64) -> bool {
        let mut state = self.state();
        loop {
            if state.stop {
                return false;
            }
            let left = until_ns.saturating_sub(now_ns());
            if left <= FINE_NS {
                return true;
            }
            let wait = Duration::from_nanos(left - FINE_NS / 2);
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for the start. `None`: stop.
    fn wait_start(&self) -> Option<u64> {
        let mut state = self.state();
        loop {
            if state.stop {
                return None;
            }
            if let Some(t0) = state.progress.t0_ns {
                return Some(t0);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end of the plan's duration. The plan, where it became longer meanwhile; `None`: it
    /// has ended, or stop.
    fn wait_end(&self, t0: u64, done: u64) -> Option<Arc<Plan>> {
        let mut state = self.state();
        loop {
            if state.stop {
                return None;
            }
            if state.plan.event_count() > done {
                return Some(Arc::clone(&state.plan));
            }
            let end = t0 + u64::from(state.plan.profile().duration_seconds) * SECOND;
            let left = end.saturating_sub(now_ns());
            if left == 0 {
                state.progress.state = Phase::Ended;
                return None;
            }
            let wait = Duration::from_nanos(left);
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The thread: waits for the start, commits every event at its due time, injects failures.
pub(crate) fn run(core: &Core) {
    keep_time();
    let churn = &core.churn;
    let Some(t0) = churn.wait_start() else { return };
    let mut plan = churn.plan();
    let mut done = 0u64;
    loop {
        for event in plan.events().skip(usize::try_from(done).unwrap_or(usize::MAX)) {
            let due = t0 + event.at_ns;
            if !churn.wait_coarse(due) {
                return;
            }
            sleep_until(due);
            commit_planned(core, event.seq, due, event.object, event.state);
            done = event.seq;
            for failure in plan.profile().failures.iter().filter(|failure| failure.at_event == event.seq) {
                faults::inject(core, failure.kind);
            }
        }
        match churn.wait_end(t0, done) {
            Some(longer) => plan = longer,
            None => return,
        }
    }
}
