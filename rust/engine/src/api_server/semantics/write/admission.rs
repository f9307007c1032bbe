//! What the real server's admission adds to a Pod; nobody owns it.

use serde_json::{Value, json};

use super::defaults::{child, set};
use crate::api_server::semantics::kinds::Kind;

/// Adds tolerations, a priority, and the quality
/// of service that its resources amount to.
pub(super) fn admit(kind: &Kind, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    if kind.kind != "Pod" {
        return;
    }
    let class = quality_of_service(&fields.get("spec").cloned().unwrap_or_default());
    set(child(fields, "status"), "qosClass", class);
    let spec = child(fields, "spec");
    if spec.get("priorityClassName").is_none_or(|name| name == "") {
        set(spec, "priority", 0);
        set(spec, "preemptionPolicy", "PreemptLowerPriority");
    }
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
        let Some(tolerations) = tolerations.as_array_mut() else { continue };
        let text = |toleration: &Value, field: &str| toleration[field].as_str().unwrap_or("").to_owned();
        let tolerates = |toleration: &Value| {
            (text(toleration, "key") == key || text(toleration, "key").is_empty())
                && matches!(&*text(toleration, "effect"), "" | "NoExecute")
        };
        if !tolerations.iter().any(tolerates) {
            tolerations
                .push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
}

/// Guaranteed where every container's limits say CPU and memory and its requests no less, `BestEffort` where none
/// says anything, else Burstable.
fn quality_of_service(spec: &Value) -> &'static str {
    let lists = ["initContainers", "containers"].into_iter().filter_map(|list| spec[list].as_array());
    let (mut any, mut all) = (false, true);
    for resources in lists.flatten().map(|container| &container["resources"]) {
        for name in ["cpu", "memory"] {
            let (request, limit) = (&resources["requests"][name], &resources["limits"][name]);
            let is_given = |quantity: &Value| !quantity.is_null() && quantity != "0";
            any |= is_given(request) || is_given(limit);
            all &= is_given(limit) && (!is_given(request) || request == limit);
        }
    }
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::kinds;

    fn admitted(mut pod: Value) -> Value {
        admit(kinds::find("", "v1", "pods").unwrap(), &mut pod);
        pod
    }

    #[test]
    fn a_pod_gets_what_it_does_not_say_itself() {
        let pod = admitted(json!({"spec": {"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}}));
        assert_eq!((&pod["spec"]["priority"], pod["spec"]["tolerations"].as_array().unwrap().len()), (&json!(0), 3));
        let own = json!({"spec": {"priorityClassName": "high", "tolerations": [{"operator": "Exists"}]}});
        let pod = admitted(own.clone());
        assert_eq!(pod["spec"], own["spec"]);
    }

    #[test]
    fn the_quality_of_service_follows_from_the_resources() {
        let class = |resources: Value| {
            admitted(json!({"spec": {"containers": [{"resources": resources}]}}))["status"]["qosClass"].clone()
        };
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "0"}})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        assert_eq!(class(json!({"limits": {"cpu": "1", "memory": "1Gi"}})), "Guaranteed");
        let less = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}});
        assert_eq!(class(less), "Burstable");
    }
}
