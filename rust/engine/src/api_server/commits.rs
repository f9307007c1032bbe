//! Commits to the plan's Pods: planned events, probe events and their restoration.

use super::core::Core;
use super::history::Event;
use super::pod_status;
use super::records::{SkipRecord, Source};
use super::store::{Current, KindId, Write};
use crate::clock::now_ns;
use perfq_core::workload::{ObjectRef, PodState};
use std::convert::Infallible;
use std::sync::Arc;

/// Commits a planned event and records it, or records that its Pod is gone.
pub(crate) fn commit_planned(core: &Core, seq: u64, due: u64, object: ObjectRef, state: PodState) {
    let committed = commit_state(core, object, |pods| {
        pods[object.index as usize] = state;
        state
    });
    core.churn.count(committed.as_ref().map(|event| (event.committed_ns, due)));
    if let Some(event) = committed {
        core.record_commit_of(&event, Source::Plan, Some(seq), Some(due), Some(state.restarts));
    } else if let Some(sink) = &core.sink {
        let (ns, name) = (object.namespace_name(), object.name());
        let why = "the object was deleted";
        sink.write(&SkipRecord { k: "skip", t: now_ns(), due, seq, ns: &ns, name: &name, why });
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
        let state = choose(&mut core.churn.pods());
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
