//! The plan's events, each committed at its due time by a thread of its own.

use super::core::Core;
use super::faults;
use super::history::Event;
use super::pod_status;
use super::records::{SkipRecord, Source};
use super::store::{Current, KindId, Write};
use crate::clock::{keep_time, now_ns, sleep_until};
use perfq_core::workload::{ObjectRef, Plan, PodState};
use serde::Serialize;
use std::convert::Infallible;
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

fn commit_planned(core: &Core, seq: u64, due: u64, object: ObjectRef, state: PodState) {
    let committed = commit_state(core, object, |pods| {
        pods[object.index as usize] = state;
        state
    });
    let mut churn = core.churn.state();
    if let Some(event) = committed {
        churn.progress.committed += 1;
        churn.progress.last_commit_ns = Some(event.committed_ns);
        let lag = event.committed_ns.saturating_sub(due);
        churn.progress.max_lag_ns = churn.progress.max_lag_ns.max(Some(lag));
        drop(churn);
        core.record_commit_of(&event, Source::Plan, Some(seq), Some(due), Some(state.restarts));
    } else {
        churn.progress.skipped += 1;
        drop(churn);
        if let Some(sink) = &core.sink {
            let (ns, name) = (object.namespace_name(), object.name());
            let why = "the object was deleted";
            sink.write(&SkipRecord { k: "skip", t: now_ns(), due, seq, ns: &ns, name: &name, why });
        }
    }
}

/// Commits a state of a planned Pod, chosen under the lock; `None` where the Pod is gone.
fn commit_state(
    core: &Core,
    object: ObjectRef,
    choose: impl FnOnce(&mut Vec<PodState>) -> PodState,
) -> Option<Arc<Event>> {
    let key = format!("{}/{}", object.namespace_name(), object.name());
    let decide = |current: Current<'_>| {
        let state = choose(&mut core.churn.pods.lock().unwrap_or_else(PoisonError::into_inner));
        Ok::<_, Infallible>(match current.object {
            None => Write::Nothing,
            Some(former) if former.planned == Some(object.index) => {
                Write::Put(core.pods.pod(object.index, state, current.rv))
            }
            // What a client wrote to it is kept; only the state changes.
            Some(former) => Write::Put(pod_status::with_state(former, state, current.rv, current.interned)),
        })
    };
    core.store.commit(KindId::core("pods"), &key, decide).unwrap_or_default()
}

/// A commit that the driver asked for: its instant and version.
pub struct Committed {
    /// When it was committed.
    pub t: u64,
    /// Its resourceVersion.
    pub rv: u64,
}

/// Sets a planned Pod's restart count to a number that the plan does not know; `None` where there is no
/// such Pod.
pub(crate) fn probe(core: &Core, i: u64, namespace: &str, name: &str, number: u64) -> Option<Committed> {
    let object = planned(core, namespace, name)?;
    let event = commit_state(core, object, |pods| PodState { restarts: number, ..pods[object.index as usize] })?;
    core.record_commit_of(&event, Source::Probe, Some(i), None, Some(number));
    Some(Committed { t: event.committed_ns, rv: event.rv() })
}

/// Gives a planned Pod the plan's values again.
pub(crate) fn restore(core: &Core, i: u64, namespace: &str, name: &str) -> Option<Committed> {
    let object = planned(core, namespace, name)?;
    let mut restarts = 0;
    let event = commit_state(core, object, |pods| {
        let state = pods[object.index as usize];
        restarts = state.restarts;
        state
    })?;
    core.record_commit_of(&event, Source::Restore, Some(i), None, Some(restarts));
    Some(Committed { t: event.committed_ns, rv: event.rv() })
}

/// The planned Pod of that name.
fn planned(core: &Core, namespace: &str, name: &str) -> Option<ObjectRef> {
    let plan = core.churn.plan();
    let index = name.strip_prefix("pod-")?.parse().ok().filter(|index| *index < plan.profile().object_count)?;
    let object = ObjectRef::new(index, plan.profile().namespace_count);
    (object.namespace_name() == namespace && object.name() == name).then_some(object)
}
