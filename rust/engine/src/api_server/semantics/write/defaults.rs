//! Values that the real server fills in where a client leaves them out, as far as clients look at them.

use serde_json::{Map, Value, json};

use crate::api_server::semantics::kinds::Kind;

type Fields = Map<String, Value>;

/// Fills them in. Nothing that is there is changed.
pub(super) fn fill(kind: &Kind, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    match kind.kind {
        "Pod" => {
            pod_spec(fields);
            let spec = child(fields, "spec");
            if !spec.contains_key("tolerations") {
                spec.insert(
                    "tolerations".into(),
                    json!([
                        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                         "tolerationSeconds": 300},
                        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
                         "tolerationSeconds": 300},
                    ]),
                );
            }
            set(child(fields, "status"), "phase", "Pending");
        }
        "Deployment" | "ReplicaSet" | "StatefulSet" => {
            let spec = child(fields, "spec");
            set(spec, "replicas", 1);
            pod_spec(child(spec, "template"));
            if kind.kind == "Deployment" {
                deployment(spec);
            }
        }
        "DaemonSet" => pod_spec(child(child(fields, "spec"), "template")),
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

fn child<'a>(fields: &'a mut Fields, name: &str) -> &'a mut Fields {
    let value = fields.entry(name).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it was just made one")
}

fn set(fields: &mut Fields, name: &str, value: impl Into<Value>) {
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

fn job_spec(spec: &mut Fields) {
    if !spec.contains_key("parallelism") {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    set(spec, "backoffLimit", 6);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    pod_spec(child(spec, "template"));
}

fn service(spec: &mut Fields) {
    set(spec, "type", "ClusterIP");
    set(spec, "sessionAffinity", "None");
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
            data.insert(key, base64(text.as_str().unwrap_or("").as_bytes()).into());
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

/// RFC 4648 base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let symbol = ALPHABET[(word >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(symbol) });
        }
    }
    out
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
        assert_eq!(
            [base64(b"f"), base64(b"fo"), base64(b"foo"), base64(b"foob")],
            ["Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
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
