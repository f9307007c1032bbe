//! A Pod's state inside its JSON: set without touching the rest, and read for the digest.

use super::encode::{object_of, value_of};
use super::interned::Interned;
use super::object::Object;
use super::store::{KindId, Snapshot};
use perfq_core::canonical::{write_integer, write_string};
use perfq_core::digest::Digest;
use perfq_core::workload::{ObjectRef, Plan, PodState};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The object with the state's phase, readiness and restart count, and everything else as it was.
pub(crate) fn with_state(former: &Object, state: PodState, rv: u64, interned: &mut Interned) -> Object {
    let pods = KindId::core("pods");
    let mut value = value_of(pods, former);
    value["metadata"]["resourceVersion"] = rv.to_string().into();
    if !value["status"].is_object() {
        value["status"] = json!({});
    }
    let ready = if state.pending { "False" } else { "True" };
    let status = &mut value["status"];
    status["phase"] = state.phase().into();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if matches!(condition["type"].as_str(), Some("Ready" | "ContainersReady")) {
            condition["status"] = ready.into();
        }
    }
    for container in status["containerStatuses"].as_array_mut().into_iter().flatten().filter(|c| c.is_object()) {
        container["ready"] = (!state.pending).into();
        container["started"] = (!state.pending).into();
        container["restartCount"] = state.restarts.into();
        container["state"] = if state.pending { json!({"waiting": {}}) } else { running(container) };
    }
    object_of(pods.kind(), value, rv, interned)
}

fn running(container: &Value) -> Value {
    match &container["state"]["running"] {
        Value::Null => json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}),
        running => json!({"running": running}),
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Pod<'a> {
    #[serde(borrow)]
    spec: Spec<'a>,
    #[serde(borrow)]
    status: Status<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spec<'a> {
    #[serde(borrow)]
    node_name: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status<'a> {
    #[serde(borrow)]
    phase: Cow<'a, str>,
    container_statuses: Vec<Container>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Container {
    ready: bool,
    restart_count: u64,
}

/// SHA-256 of the canonical text of the plan's Pods as they are stored. A deleted Pod has no line.
pub(crate) fn digest(plan: &Plan, pods: &Snapshot) -> String {
    let mut digest = Digest::default();
    let mut line = Vec::new();
    for object in plan.objects() {
        let key = format!("{}/{}", object.namespace_name(), object.name());
        if let Some(stored) = pods.objects.get(&key) {
            line.clear();
            write_line(&mut line, object, stored);
            digest.update(&line);
        }
    }
    digest.hex()
}

fn write_line(line: &mut Vec<u8>, object: ObjectRef, stored: &Object) {
    // The text without its leading comma is one JSON object.
    let pod: Pod<'_> = serde_json::from_slice(&stored.text[1..]).unwrap_or_default();
    let ready = pod.status.container_statuses.iter().filter(|container| container.ready).count();
    let restarts = pod.status.container_statuses.iter().map(|container| container.restart_count).sum();
    line.extend_from_slice(b"{\"namespace\":");
    write_string(line, &object.namespace_name());
    line.extend_from_slice(b",\"name\":");
    write_string(line, &object.name());
    line.extend_from_slice(b",\"phase\":");
    write_string(line, &pod.status.phase);
    line.extend_from_slice(b",\"ready\":");
    write_string(line, &format!("{ready}/{}", pod.status.container_statuses.len()));
    line.extend_from_slice(b",\"restarts\":");
    write_integer(line, restarts);
    line.extend_from_slice(b",\"node\":");
    write_string(line, &pod.spec.node_name);
    line.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::super::content;
    use super::super::store::{Store, Write};
    use super::*;
    use std::convert::Infallible;

    fn plan() -> Plan {
        let profile = r#"{"schema_version":1,"id":"t","seed":3,"object_count":40,"namespace_count":4,
            "steady_events_per_second":50,"duration_seconds":2}"#;
        Plan::new(serde_json::from_str(profile).unwrap()).unwrap()
    }

    #[test]
    fn the_digest_is_the_plans_before_and_after_all_events() {
        let (plan, store, pods) = (plan(), Store::new(), KindId::core("pods"));
        let writer = content::fill(&store, &plan, 0, 5);
        assert_eq!(digest(&plan, &store.snapshot(pods)), plan.hashes().objects);
        for (i, event) in plan.events().enumerate() {
            let key = format!("{}/{}", event.object.namespace_name(), event.object.name());
            let _ = store.commit(pods, &key, |current| {
                let former = current.object.unwrap();
                // Every other event meets a Pod that a client has written to.
                Ok::<_, Infallible>(Write::Put(if i % 2 == 0 {
                    writer.pod(event.object.index, event.state, current.rv)
                } else {
                    with_state(former, event.state, current.rv, current.interned)
                }))
            });
        }
        assert_eq!(digest(&plan, &store.snapshot(pods)), plan.hashes().finals);
    }

    #[test]
    fn a_state_changes_nothing_else_of_the_pod() {
        let (plan, store, pods) = (plan(), Store::new(), KindId::core("pods"));
        content::fill(&store, &plan, 0, 5);
        let pod = store.get(pods, "bench-0001/pod-000001").unwrap();
        let state = PodState { restarts: 7, pending: true };
        let before = value_of(pods, &pod);
        let mut after = value_of(pods, &with_state(&pod, state, pod.rv, &mut Interned::default()));
        assert_eq!(after["status"]["containerStatuses"][0]["restartCount"], 7);
        assert_eq!(after["status"]["phase"], "Pending");
        after["status"] = before["status"].clone();
        assert_eq!(after, before);
    }
}
