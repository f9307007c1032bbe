//! Writes to an object that is there already.

use serde_json::{Value, json};

use super::field_set::Place;
use super::managers::{self, Manager};
use super::options::WriteOptions;
use super::{
    Stamp, Target, Written, apply, check_content_type, check_place, defaults, finish_new, fit, parse, validated,
};
use crate::api_server::semantics::patch::{PatchError, json_patch, merge_patch, strategic};
use crate::api_server::semantics::status::{FieldError, Status};

const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json, \
                           application/strategic-merge-patch+json, application/apply-patch+yaml";

/// What a client may change in the spec of a Pod.
const MUTABLE_IN_PODS: &[&str] =
    &["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"];

/// A patch as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// Its media type.
    pub content_type: Option<&'a str>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Makes the next version of an object from the body of a PUT.
pub fn update(
    target: Target<'_>,
    current: &Value,
    content_type: Option<&str>,
    body: &[u8],
    options: &WriteOptions,
    stamp: &Stamp,
) -> Result<Written, Status> {
    check_content_type(content_type)?;
    let mut object = parse(target.kind, body)?;
    let warnings = fit(target, &mut object, options.validation)?;
    if object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("").is_empty() {
        let message =
            format!("the name of the object ({} based on URL) was undeterminable: name must be provided", target.name);
        return Err(Status::bad_request(message));
    }
    next_version(target, current, object, options, stamp, warnings)
}

/// Makes the next version of an object from a patch. `current` is `None` where there is no such object: an
/// apply creates it, any other patch is a 404.
pub fn patch(
    target: Target<'_>,
    current: Option<&Value>,
    patch: Patch<'_>,
    options: &WriteOptions,
    stamp: &Stamp,
) -> Result<Written, Status> {
    let media = patch.content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
    if media == "application/apply-patch+yaml" {
        return apply_patch(target, current, patch.bytes, options, stamp);
    }
    if options.force.is_some() {
        return Err(Status::invalid_options(
            "PatchOptions",
            "force",
            "Forbidden: may not be specified for non-apply patch",
        ));
    }
    let of = target.object_type()?;
    let missing = || Status::not_found(target.kind, target.name);
    let current_or_missing = current.ok_or_else(missing);
    let patched = match media {
        "application/json-patch+json" => json_patch::apply(current_or_missing?, patch.bytes),
        "application/merge-patch+json" => merge_patch::apply(current_or_missing?, patch.bytes),
        "application/strategic-merge-patch+json" => strategic::apply(current_or_missing?, patch.bytes, of),
        _ => return Err(Status::unsupported_media_type(PATCH_TYPES)),
    };
    let mut object = patched.map_err(|e| e.to_status())?;
    let current = current.ok_or_else(missing)?;
    let warnings = fit(target, &mut object, options.validation)
        .map_err(|status| PatchError::BadResult(status.message).to_status())?;
    for field in ["apiVersion", "kind"] {
        if object.get(field).is_some_and(|v| Some(v) != current.get(field)) {
            let message = format!("{field}: a patch cannot change it");
            return Err(PatchError::BadResult(message).to_status());
        }
        object[field] = current[field].clone();
    }
    next_version(target, current, object, options, stamp, warnings)
}

fn apply_patch(
    target: Target<'_>,
    current: Option<&Value>,
    bytes: &[u8],
    options: &WriteOptions,
    stamp: &Stamp,
) -> Result<Written, Status> {
    if !options.manager_named {
        return Err(Status::invalid_options(
            "PatchOptions",
            "fieldManager",
            "Required value: is required for apply patch",
        ));
    }
    let mut applied = parse(target.kind, bytes)?;
    if applied.pointer("/metadata/managedFields").is_some_and(|m| !m.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let warnings = fit(target, &mut applied, options.validation)?;
    check_place(target, &mut applied)?;
    let place = Place::Type(target.object_type()?);
    let api_version = target.kind.api_version();
    let mut writer = target.writer(options, &api_version, stamp.now);
    writer.operation = "Apply";
    let empty = json!({"apiVersion": api_version, "kind": target.kind.kind, "metadata": {}});
    let merged = apply::apply(current.unwrap_or(&empty), &applied, place, &writer, options.force == Some(true))?;
    let managed = merged.pointer("/metadata/managedFields").cloned();
    let Some(current) = current else {
        let mut object = finish_new(target, merged, stamp)?;
        restore(&mut object, managed);
        return Ok(Written { object, warnings, changed: true });
    };
    let mut object = settle(target, current, merged)?;
    restore(&mut object, managed);
    let (before, after) = (managers::read(current), managers::read(&object));
    let changed =
        differs(current, &object) || before.iter().map(Manager::ownership).ne(after.iter().map(Manager::ownership));
    Ok(Written { object: if changed { object } else { current.clone() }, warnings, changed })
}

fn restore(object: &mut Value, managed: Option<Value>) {
    if let Some(managed) = managed {
        object["metadata"]["managedFields"] = managed;
    }
}

fn next_version(
    target: Target<'_>,
    current: &Value,
    object: Value,
    options: &WriteOptions,
    stamp: &Stamp,
    warnings: Vec<String>,
) -> Result<Written, Status> {
    let mut object = settle(target, current, object)?;
    let changed = differs(current, &object);
    if !changed {
        return Ok(Written { object: current.clone(), warnings, changed });
    }
    let place = Place::Type(target.object_type()?);
    let api_version = target.kind.api_version();
    managers::after_update(current, &mut object, place, &target.writer(options, &api_version, stamp.now));
    Ok(Written { object, warnings, changed })
}

fn differs(current: &Value, object: &Value) -> bool {
    let plain = |value: &Value| {
        let mut value = value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        value
    };
    plain(current) != plain(object)
}

/// Checks what a write may not change, keeps what only the server sets, and completes the rest.
fn settle(target: Target<'_>, current: &Value, mut object: Value) -> Result<Value, Status> {
    check_place(target, &mut object)?;
    let kind = target.kind;
    let text = |value: &Value, field: &str| value["metadata"][field].as_str().unwrap_or("").to_owned();
    let (uid, wanted_uid) = (text(current, "uid"), text(&object, "uid"));
    if !wanted_uid.is_empty() && wanted_uid != uid {
        let why = format!("Precondition failed: UID in precondition: {wanted_uid}, UID in object meta: {uid}");
        return Err(Status::conflict(kind, target.name, &why));
    }
    let version = text(&object, "resourceVersion");
    if !version.is_empty() && version != "0" && version != text(current, "resourceVersion") {
        return Err(Status::modified(kind, target.name));
    }
    if target.subresource == "status" {
        let mut whole = current.clone();
        set_or_remove(&mut whole, "status", object.get("status").cloned());
        object = whole;
    } else if kind.has_status() {
        set_or_remove(&mut object, "status", current.get("status").cloned());
    }
    let Value::Object(kept) = &current["metadata"] else { return Err(Status::internal("an object has no metadata")) };
    for field in ["uid", "creationTimestamp", "resourceVersion", "generation", "deletionTimestamp"] {
        set_or_remove(&mut object["metadata"], field, kept.get(field).cloned());
    }
    defaults::fill(kind, &mut object);
    let mut object = validated(target, object)?;
    check_immutable(target, current, &object)?;
    if kind.generation && current.get("spec") != object.get("spec") {
        let generation = kept.get("generation").and_then(Value::as_i64).unwrap_or(0);
        object["metadata"]["generation"] = (generation + 1).into();
    }
    Ok(object)
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    let Value::Object(fields) = object else { return };
    match value {
        Some(value) => fields.insert(field.into(), value),
        None => fields.remove(field),
    };
}

/// The few rules of this kind that clients run into.
fn check_immutable(target: Target<'_>, current: &Value, object: &Value) -> Result<(), Status> {
    let refuse = |field: &str, value: &Value, detail: &str| {
        Err(Status::invalid(target.kind, target.name, &[FieldError::invalid(field, value, detail)]))
    };
    match target.kind.kind {
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

/// What no client may change of a Pod's spec. A Pod that was stored as a plan has it may lack defaults.
fn frozen(target: Target<'_>, pod: &Value) -> Value {
    let mut pod = pod.clone();
    defaults::fill(target.kind, &mut pod);
    let mut spec = pod["spec"].take();
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, _| !MUTABLE_IN_PODS.contains(&name.as_str()));
        for list in ["containers", "initContainers"] {
            for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                set_or_remove(container, "image", None);
            }
        }
    }
    spec
}
