//! The row of a Pod, read straight from its JSON text: what a LIST of 50,000 Pods as a table costs is
//! this one pass. Rules: kubernetes `pkg/printers/internalversion`, `printPod`.

mod document;

use self::document::{Condition, Container, InitContainer, Pod, State, Terminated};
use super::instant::Instant;

impl Pod<'_> {
    fn condition(&self, kind: &str) -> Option<&Condition<'_>> {
        self.status.conditions.iter().flatten().find(|c| &*c.kind == kind)
    }

    fn holds(&self, condition: &str) -> bool {
        self.condition(condition).is_some_and(|c| &*c.status == "True")
    }
}

/// What the containers say about the Pod.
#[derive(Default)]
struct Summary {
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<Instant>,
    status: String,
}

impl Summary {
    fn count(&mut self, container: &Container<'_>) {
        self.restarts += container.restart_count;
        let finished = container.last_state.terminated.as_ref().and_then(|t| Instant::parse(&t.finished_at));
        self.last_restart = self.last_restart.max(finished);
    }
}

fn summarize(pod: &Pod<'_>) -> Summary {
    let init: &[InitContainer<'_>] = pod.spec.init_containers.as_deref().unwrap_or_default();
    let is_sidecar = |name: &str| init.iter().any(|c| *c.name == *name && &*c.restart_policy == "Always");
    let mut sidecars = Summary::default();
    let mut all = Summary {
        total: pod.spec.containers.as_ref().map_or(0, Vec::len)
            + init.iter().filter(|c| &*c.restart_policy == "Always").count(),
        status: if pod.status.reason.is_empty() { &pod.status.phase } else { &pod.status.reason }.to_string(),
        ..Summary::default()
    };
    if pod.status.conditions.iter().flatten().any(|c| &*c.kind == "PodScheduled" && &*c.reason == "SchedulingGated") {
        all.status = "SchedulingGated".into();
    }

    let mut initializing = false;
    for (i, container) in pod.status.init_container_statuses.iter().flatten().enumerate() {
        all.count(container);
        if is_sidecar(&container.name) {
            sidecars.count(container);
        }
        let status = match (&container.state.terminated, &container.state.waiting) {
            (Some(ended), _) if ended.exit_code == 0 => continue,
            _ if is_sidecar(&container.name) && container.started == Some(true) => {
                all.ready += usize::from(container.ready);
                continue;
            }
            (Some(ended), _) => ended.describe(),
            (_, Some(waiting)) if !waiting.reason.is_empty() && &*waiting.reason != "PodInitializing" => {
                waiting.reason.to_string()
            }
            _ => format!("{i}/{}", init.len()),
        };
        all.status = format!("Init:{status}");
        initializing = true;
        break;
    }

    if !initializing || pod.holds("Initialized") {
        (all.restarts, all.last_restart) = (sidecars.restarts, sidecars.last_restart);
        count_containers(pod, &mut all);
    }
    if pod.metadata.deletion_timestamp.is_some() {
        if &*pod.status.reason == "NodeLost" {
            all.status = "Unknown".into();
        } else if !matches!(&*pod.status.phase, "Succeeded" | "Failed") {
            all.status = "Terminating".into();
        }
    }
    all
}

fn count_containers(pod: &Pod<'_>, all: &mut Summary) {
    let (mut has_running, mut error) = (false, None);
    for container in pod.status.container_statuses.iter().flatten().rev() {
        all.count(container);
        match &container.state {
            State { waiting: Some(waiting), .. } if !waiting.reason.is_empty() => {
                all.status = waiting.reason.to_string();
            }
            State { terminated: Some(ended), .. } => {
                all.status = ended.describe();
                if ended.exit_code != 0 {
                    error = Some(all.status.clone());
                }
            }
            State { running: Some(_), .. } if container.ready => {
                has_running = true;
                all.ready += 1;
            }
            _ => {}
        }
    }
    if all.status == "Completed" {
        if has_running && pod.holds("Ready") {
            all.status = "Running".into();
        } else if let Some(error) = error {
            all.status = error;
        } else if has_running {
            all.status = "NotReady".into();
        }
    }
}

impl Terminated<'_> {
    fn describe(&self) -> String {
        if !self.reason.is_empty() {
            self.reason.to_string()
        } else if self.signal != 0 {
            format!("Signal:{}", self.signal)
        } else {
            format!("ExitCode:{}", self.exit_code)
        }
    }
}

fn push_string(out: &mut Vec<u8>, text: &str) -> Result<(), serde_json::Error> {
    out.push(b',');
    serde_json::to_writer(out, text)
}

/// Appends `[name, ready, status, restarts, age, ip, node, nominated node, readiness gates]`.
pub(super) fn write_cells(json: &[u8], now: Instant, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let pod: Pod<'_> = serde_json::from_slice(json)?;
    let summary = summarize(&pod);
    let restarts = match summary.last_restart {
        Some(then) if summary.restarts != 0 => format!("{} ({} ago)", summary.restarts, now.since(then)),
        _ => summary.restarts.to_string(),
    };
    let or_none = |text: &str| if text.is_empty() { "<none>".to_owned() } else { text.to_owned() };
    let gates = pod.spec.readiness_gates.as_deref().unwrap_or_default();
    let gates = match gates.len() {
        0 => "<none>".to_owned(),
        total => format!("{}/{total}", gates.iter().filter(|g| pod.holds(&g.condition_type)).count()),
    };
    let first_ip = pod.status.pod_ips.iter().flatten().next().map_or(&*pod.status.pod_ip, |a| &*a.ip);
    out.push(b'[');
    serde_json::to_writer(&mut *out, &*pod.metadata.name)?;
    push_string(out, &format!("{}/{}", summary.ready, summary.total))?;
    push_string(out, &summary.status)?;
    push_string(out, &restarts)?;
    push_string(out, &now.age(pod.metadata.creation_timestamp.as_deref()))?;
    for cell in [first_ip, &pod.spec.node_name, &pod.status.nominated_node_name] {
        push_string(out, &or_none(cell))?;
    }
    push_string(out, &gates)?;
    out.push(b']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use perfq_core::workload::{Identity, ObjectRef, PodState, write_pod};
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-01-01T00:02:00Z";

    fn cells(pod: &Value) -> Vec<String> {
        let mut out = Vec::new();
        write_cells(pod.to_string().as_bytes(), Instant::parse(NOW).unwrap(), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    /// Ready, status and restarts of a Pod of two containers with that status.
    fn of_status(status: &Value) -> [String; 3] {
        let spec = json!({"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}]});
        let row = cells(&json!({"metadata": {"name": "p"}, "spec": spec, "status": status}));
        [row[1].clone(), row[2].clone(), row[3].clone()]
    }

    #[test]
    fn a_pod_of_the_workload_reads_as_its_plan_says() {
        let mut out = Vec::new();
        let identity = Identity { uid: "u", resource_version: 7 };
        write_pod(&mut out, ObjectRef::new(3, 2), PodState { restarts: 4, pending: false }, identity, 0);
        let row = cells(&serde_json::from_slice(&out).unwrap());
        assert_eq!(row, ["pod-000003", "1/1", "Running", "4", "2m", "10.0.0.4", "node-03", "<none>", "<none>"]);
        out.clear();
        write_pod(&mut out, ObjectRef::new(3, 2), PodState { restarts: 5, pending: true }, identity, 0);
        assert_eq!(cells(&serde_json::from_slice(&out).unwrap())[1..4], ["0/1", "Pending", "5"]);
    }

    #[test]
    fn an_empty_pod_has_a_row() {
        let row = cells(&json!({"metadata": {"name": "p\"q", "creationTimestamp": null}, "status": {"phase": null}}));
        assert_eq!(row, ["p\"q", "0/0", "", "0", "<unknown>", "<none>", "<none>", "<none>", "<none>"]);
    }

    #[test]
    fn a_container_that_waits_or_ended_gives_its_reason() {
        let waiting = json!({"phase": "Running", "containerStatuses": [
            {"name": "a", "ready": true, "restartCount": 2, "state": {"running": {}},
             "lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:00Z"}}},
            {"name": "b", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]});
        assert_eq!(of_status(&waiting), ["1/2", "CrashLoopBackOff", "5 (2m ago)"]);
        let ended = |code: i64, reason: &str, signal: i64| {
            json!({"phase": "Failed", "containerStatuses": [{"name": "a", "state": {"terminated":
                {"exitCode": code, "reason": reason, "signal": signal}}}]})
        };
        assert_eq!(of_status(&ended(1, "Error", 0))[1], "Error");
        assert_eq!(of_status(&ended(137, "", 9))[1], "Signal:9");
        assert_eq!(of_status(&ended(3, "", 0))[1], "ExitCode:3");
        assert_eq!(of_status(&ended(0, "Completed", 0))[1], "Completed");
    }

    #[test]
    fn completed_containers_beside_a_running_one_count_as_running_only_while_the_pod_is_ready() {
        let status = |ready: &str| {
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}], "containerStatuses": [
                {"name": "a", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                {"name": "b", "ready": true, "state": {"running": {}}}]})
        };
        assert_eq!(of_status(&status("True"))[1], "Running");
        assert_eq!(of_status(&status("False"))[1], "NotReady");
    }

    #[test]
    fn init_containers_are_counted_until_they_are_done() {
        let init = |state: Value| json!({"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": state}]});
        assert_eq!(of_status(&init(json!({"running": {}})))[1], "Init:0/1");
        assert_eq!(of_status(&init(json!({"waiting": {"reason": "PodInitializing"}})))[1], "Init:0/1");
        assert_eq!(of_status(&init(json!({"waiting": {"reason": "ImagePullBackOff"}})))[1], "Init:ImagePullBackOff");
        assert_eq!(of_status(&init(json!({"terminated": {"exitCode": 2}})))[1], "Init:ExitCode:2");
        assert_eq!(of_status(&init(json!({"terminated": {"exitCode": 0}})))[1], "Pending");
    }

    #[test]
    fn restarts_of_init_containers_count_only_until_the_pod_is_initialized() {
        let status = |initialized: &str| {
            json!({"conditions": [{"type": "Initialized", "status": initialized}],
                "initContainerStatuses": [{"name": "i", "restartCount": 4, "state": {"running": {}}}],
                "containerStatuses": [{"name": "a", "restartCount": 1}]})
        };
        assert_eq!(of_status(&status("False"))[2], "4");
        assert_eq!(of_status(&status("True"))[2], "1");
    }

    #[test]
    fn a_sidecar_counts_among_the_containers() {
        let pod = json!({"metadata": {"name": "p"},
            "spec": {"containers": [{}], "initContainers": [{"name": "s", "restartPolicy": "Always"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Initialized", "status": "True"}],
                "initContainerStatuses": [{"name": "s", "started": true, "ready": true, "restartCount": 2}],
                "containerStatuses": [{"ready": true, "restartCount": 1, "state": {"running": {}}}]}});
        assert_eq!(cells(&pod)[1..4], ["2/2", "Running", "3"]);
    }

    #[test]
    fn a_deleted_pod_is_terminating_and_a_lost_one_unknown() {
        let pod = |phase: &str, reason: &str| json!({"metadata": {"name": "p", "deletionTimestamp": NOW}, "status": {"phase": phase, "reason": reason}});
        assert_eq!(cells(&pod("Running", ""))[2], "Terminating");
        assert_eq!(cells(&pod("Running", "NodeLost"))[2], "Unknown");
        assert_eq!(cells(&pod("Succeeded", ""))[2], "Succeeded");
    }

    #[test]
    fn gates_and_scheduling_gates_are_shown() {
        let pod = json!({"metadata": {"name": "p"},
            "spec": {"readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}]},
            "status": {"phase": "Pending", "conditions": [{"type": "x", "status": "True"},
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}});
        let row = cells(&pod);
        assert_eq!((row[2].as_str(), row[8].as_str()), ("SchedulingGated", "1/2"));
    }
}
