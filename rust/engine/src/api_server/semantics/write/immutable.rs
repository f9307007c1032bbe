//! What may not change of an object that is there already.

use serde_json::Value;

use super::{Target, defaults};
use crate::api_server::semantics::status::{FieldError, Status};

/// What a client may change in the spec of a Pod.
const MUTABLE_IN_PODS: &[&str] =
    &["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"];

/// The few rules of this kind that clients run into.
pub(super) fn check(target: Target<'_>, current: &Value, object: &Value) -> Result<(), Status> {
    let refuse = |field: &str, value: &Value, detail: &str| {
        Err(Status::invalid(target.kind, target.name, &[FieldError::invalid(field, value, detail)]))
    };
    match target.kind.kind {
        "Pod" if ["containers", "initContainers"].iter().any(|list| count(current, list) != count(object, list)) => {
            let list = if count(current, "containers") == count(object, "containers") {
                "initContainers"
            } else {
                "containers"
            };
            let error = FieldError::forbidden(&format!("spec.{list}"), "pod updates may not add or remove containers");
            Err(Status::invalid(target.kind, target.name, &[error]))
        }
        "Pod" if frozen(target, current) != frozen(target, object) => {
            let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                          `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
                          additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
                          set to 1 if it was previously negative)";
            let error = FieldError::forbidden("spec", detail);
            Err(Status::invalid(target.kind, target.name, &[error]))
        }
        "ConfigMap" | "Secret" if current["immutable"] == true => {
            for field in ["data", "binaryData", "immutable"] {
                if current.get(field) != object.get(field) {
                    let error = FieldError::forbidden(field, "field is immutable when `immutable` is set");
                    return Err(Status::invalid(target.kind, target.name, &[error]));
                }
            }
            Ok(())
        }
        "Deployment" | "ReplicaSet" | "DaemonSet" | "Job"
            if !current["spec"]["selector"].is_null() && current["spec"]["selector"] != object["spec"]["selector"] =>
        {
            refuse("spec.selector", &object["spec"]["selector"], "field is immutable")
        }
        _ => Ok(()),
    }
}

fn count(pod: &Value, list: &str) -> usize {
    pod["spec"][list].as_array().map_or(0, Vec::len)
}

/// What no client may change of a Pod's spec. A Pod that was stored as a plan has it may lack defaults.
fn frozen(target: Target<'_>, pod: &Value) -> Value {
    let mut pod = pod.clone();
    defaults::fill(target.kind, &mut pod);
    let mut spec = pod["spec"].take();
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, _| !MUTABLE_IN_PODS.contains(&name.as_str()));
        for list in ["containers", "initContainers"] {
            for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container.as_object_mut().map(|fields| fields.remove("image"));
            }
        }
    }
    spec
}
