//! Values that the real server fills in where a client leaves them out, as far as clients look at them.

use serde_json::{Map, Value, json};

use crate::api_server::semantics::base64;
use crate::api_server::semantics::kinds::Kind;

pub(super) type Fields = Map<String, Value>;

/// Fills them in. Nothing that is there is changed.
pub(super) fn fill(kind: &Kind, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    match kind.kind {
        "Pod" => {
            pod_spec(fields);
            let spec = child(fields, "spec");
            set(spec, "enableServiceLinks", true);
            for list in ["containers", "initContainers"] {
                objects(spec, list).for_each(|container| requests(child(container, "resources")));
            }
            set(child(fields, "status"), "phase", "Pending");
        }
        "Deployment" | "ReplicaSet" | "StatefulSet" => {
            let spec = child(fields, "spec");
            set(spec, "replicas", 1);
            pod_spec(child(spec, "template"));
            match kind.kind {
                "Deployment" => deployment(spec),
                "StatefulSet" => stateful_set(spec),
                _ => {}
            }
        }
        "DaemonSet" => {
            let spec = child(fields, "spec");
            pod_spec(child(spec, "template"));
            rolling(spec, &json!({"maxUnavailable": 1, "maxSurge": 0}));
        }
        "Endpoints" => {
            objects(fields, "subsets")
                .for_each(|subset| objects(subset, "ports").for_each(|port| set(port, "protocol", "TCP")));
        }
        "Job" => job_spec(child(fields, "spec")),
        "CronJob" => {
            let spec = child(fields, "spec");
            set(spec, "suspend", false);
            set(spec, "concurrencyPolicy", "Allow");
            set(spec, "successfulJobsHistoryLimit", 3);
            set(spec, "failedJobsHistoryLimit", 1);
            let template = child(child(child(spec, "jobTemplate"), "spec"), "template");
            pod_spec(template);
        }
        "Service" => service(child(fields, "spec")),
        "Secret" => secret(fields),
        "Namespace" => namespace(fields),
        _ => {}
    }
}

/// What a container may have at most it asks for, where it asks for nothing else.
fn requests(resources: &mut Fields) {
    let Some(limits) = resources.get("limits").and_then(Value::as_object).filter(|limits| !limits.is_empty()).cloned()
    else {
        return;
    };
    let requests = child(resources, "requests");
    for (name, limit) in limits {
        set(requests, &name, limit);
    }
}

pub(super) fn child<'a>(fields: &'a mut Fields, name: &str) -> &'a mut Fields {
    let value = fields.entry(name).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it was just made one")
}

pub(super) fn set(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    fields.entry(name).or_insert_with(|| value.into());
}

fn objects<'a>(fields: &'a mut Fields, name: &str) -> impl Iterator<Item = &'a mut Fields> {
    fields.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The `spec` of a Pod or of its template.
fn pod_spec(pod: &mut Fields) {
    let spec = child(pod, "spec");
    set(spec, "restartPolicy", "Always");
    set(spec, "dnsPolicy", "ClusterFirst");
    set(spec, "schedulerName", "default-scheduler");
    set(spec, "terminationGracePeriodSeconds", 30);
    set(spec, "securityContext", json!({}));
    for list in ["containers", "initContainers"] {
        for container in objects(spec, list) {
            let latest = match container.get("image").and_then(Value::as_str) {
                Some(image) => {
                    let name = image.rsplit('/').next().unwrap_or(image);
                    !name.contains('@') && (!name.contains(':') || name.ends_with(":latest"))
                }
                None => false,
            };
            set(container, "imagePullPolicy", if latest { "Always" } else { "IfNotPresent" });
            set(container, "terminationMessagePath", "/dev/termination-log");
            set(container, "terminationMessagePolicy", "File");
            set(container, "resources", json!({}));
            objects(container, "ports").for_each(|port| set(port, "protocol", "TCP"));
            for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
                if let Some(Value::Object(probe)) = container.get_mut(probe) {
                    probe_defaults(probe);
                }
            }
        }
    }
}

fn probe_defaults(probe: &mut Fields) {
    for (name, value) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        set(probe, name, value);
    }
    if let Some(Value::Object(get)) = probe.get_mut("httpGet") {
        set(get, "scheme", "HTTP");
        set(get, "path", "/");
    }
}

fn deployment(spec: &mut Fields) {
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
    let strategy = child(spec, "strategy");
    set(strategy, "type", "RollingUpdate");
    if strategy["type"] == "RollingUpdate" {
        let update = child(strategy, "rollingUpdate");
        set(update, "maxUnavailable", "25%");
        set(update, "maxSurge", "25%");
    }
}

fn stateful_set(spec: &mut Fields) {
    set(spec, "podManagementPolicy", "OrderedReady");
    rolling(spec, &json!({"partition": 0}));
    let retention = child(spec, "persistentVolumeClaimRetentionPolicy");
    set(retention, "whenDeleted", "Retain");
    set(retention, "whenScaled", "Retain");
}

/// `updateStrategy` and how many revisions are kept, of a `StatefulSet` or `DaemonSet`.
fn rolling(spec: &mut Fields, update: &Value) {
    set(spec, "revisionHistoryLimit", 10);
    let strategy = child(spec, "updateStrategy");
    set(strategy, "type", "RollingUpdate");
    if strategy["type"] == "RollingUpdate" {
        let rolling = child(strategy, "rollingUpdate");
        for (name, value) in update.as_object().into_iter().flatten() {
            set(rolling, name, value.clone());
        }
    }
}

fn job_spec(spec: &mut Fields) {
    if !spec.contains_key("parallelism") {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    set(spec, "backoffLimit", 6);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    let replaced = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    set(spec, "podReplacementPolicy", replaced);
    pod_spec(child(spec, "template"));
}

fn service(spec: &mut Fields) {
    set(spec, "type", "ClusterIP");
    set(spec, "sessionAffinity", "None");
    if spec["type"] != "ExternalName" {
        set(spec, "internalTrafficPolicy", "Cluster");
    }
    for port in objects(spec, "ports") {
        set(port, "protocol", "TCP");
        let number = port.get("port").cloned();
        if let Some(number) = number {
            set(port, "targetPort", number);
        }
    }
}

/// `stringData` is written, never kept: it goes into `data`.
fn secret(fields: &mut Fields) {
    set(fields, "type", "Opaque");
    if let Some(Value::Object(texts)) = fields.remove("stringData") {
        let data = child(fields, "data");
        for (key, text) in texts {
            data.insert(key, base64::encode(text.as_str().unwrap_or("").as_bytes()).into());
        }
    }
}

fn namespace(fields: &mut Fields) {
    set(child(fields, "status"), "phase", "Active");
    let metadata = child(fields, "metadata");
    if let Some(name) = metadata.get("name").cloned() {
        child(metadata, "labels").insert("kubernetes.io/metadata.name".into(), name);
    }
    set(child(fields, "spec"), "finalizers", json!(["kubernetes"]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::kinds;

    fn filled(group: &str, plural: &str, mut object: Value) -> Value {
        fill(kinds::find(group, "v1", plural).unwrap(), &mut object);
        object
    }

    #[test]
    fn a_pod_gets_what_the_real_server_gives_it_and_keeps_what_it_has() {
        let pod = filled(
            "",
            "pods",
            json!({"spec": {"restartPolicy": "Never", "containers": [
            {"image": "r:5000/a", "ports": [{"containerPort": 80}], "livenessProbe": {"httpGet": {"port": 1}}},
            {"image": "a:1"}]}}),
        );
        let spec = &pod["spec"];
        assert_eq!((&spec["restartPolicy"], &spec["dnsPolicy"]), (&json!("Never"), &json!("ClusterFirst")));
        assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
        assert_eq!(spec["containers"][1]["imagePullPolicy"], "IfNotPresent");
        assert_eq!(spec["containers"][0]["ports"][0]["protocol"], "TCP");
        assert_eq!(spec["containers"][0]["livenessProbe"]["periodSeconds"], 10);
        assert_eq!(pod["status"]["phase"], "Pending");
    }

    #[test]
    fn string_data_becomes_data() {
        let secret =
            filled("", "secrets", json!({"stringData": {"a": "hello", "b": ""}, "data": {"a": "eA==", "c": "eQ=="}}));
        assert_eq!(secret, json!({"type": "Opaque", "data": {"a": "aGVsbG8=", "b": "", "c": "eQ=="}}));
    }

    #[test]
    fn workloads_services_and_namespaces_get_theirs() {
        assert_eq!(filled("apps", "deployments", json!({}))["spec"]["strategy"]["rollingUpdate"]["maxSurge"], "25%");
        let recreate =
            filled("apps", "deployments", json!({"spec": {"replicas": 0, "strategy": {"type": "Recreate"}}}));
        assert_eq!(
            (&recreate["spec"]["replicas"], recreate["spec"]["strategy"].get("rollingUpdate")),
            (&json!(0), None)
        );
        let service = filled("", "services", json!({"spec": {"ports": [{"port": 80}]}}));
        assert_eq!(service["spec"]["ports"][0], json!({"port": 80, "protocol": "TCP", "targetPort": 80}));
        let namespace = filled("", "namespaces", json!({"metadata": {"name": "a"}}));
        assert_eq!(namespace["metadata"]["labels"]["kubernetes.io/metadata.name"], "a");
        assert_eq!(filled("batch", "jobs", json!({}))["spec"]["completions"], 1);
    }
}
