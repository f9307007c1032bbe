//! Writes to an object that is there already.

use serde_json::{Value, json};

use super::field_set::Place;
use super::managers::{self, Manager};
use super::options::WriteOptions;
use super::{
    Stamp, Target, Written, admission, apply, check, check_content_type, check_place, defaults, finish_new, fit,
    immutable, parse, validated,
};
use crate::api_server::semantics::kinds::Kind;
use crate::api_server::semantics::patch::{PatchError, json_patch, merge_patch, strategic};
use crate::api_server::semantics::status::{FieldError, Status};

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
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return Err(Status::invalid_options("PatchOptions", &[error]));
    }
    let of = target.object_type()?;
    let missing = || Status::not_found(target.kind, target.name);
    let current_or_missing = current.ok_or_else(missing);
    let patched = match media {
        "application/json-patch+json" => json_patch::apply(current_or_missing?, patch.bytes),
        "application/merge-patch+json" => merge_patch::apply(current_or_missing?, patch.bytes),
        "application/strategic-merge-patch+json" => strategic::apply(current_or_missing?, patch.bytes, of),
        _ => return Err(Status::unknown_patch_type()),
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
    let uid = &object["metadata"]["uid"];
    if !uid.is_null() && *uid != current["metadata"]["uid"] {
        let error = FieldError::invalid("metadata.uid", uid, "field is immutable");
        return Err(Status::invalid(target.kind, target.name, &[error]));
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
        let error = FieldError::required("fieldManager", "is required for apply patch");
        return Err(Status::invalid_options("PatchOptions", &[error]));
    }
    check_names_its_kind(bytes)?;
    let mut applied = parse(target.kind, bytes)?;
    if applied.pointer("/metadata/managedFields").is_some_and(|m| !m.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    if let Some(unknown) = check::fit(&mut applied.clone(), target.object_type()?).unwrap_or_default().first() {
        return Err(undeclared(target, &applied, unknown));
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
        admission::admit(target.kind, &mut object);
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

/// An apply may name no field that there is not; the real server has no code for it.
fn undeclared(target: Target<'_>, applied: &Value, path: &str) -> Status {
    let text = |field: &str| applied["metadata"][field].as_str().unwrap_or("");
    let (group, version) = (target.kind.group, target.kind.version);
    let what = format!("{}/{}; {group}/{version}, Kind={}", text("namespace"), text("name"), target.kind.kind);
    Status::unknown_error(&format!(
        "failed to create typed patch object ({what}): .{path}: field not declared in schema"
    ))
}

/// An apply says in full what it is about.
fn check_names_its_kind(bytes: &[u8]) -> Result<(), Status> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else { return Ok(()) };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or("");
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !api_version.is_empty() && !kind.is_empty() {
        return Ok(());
    }
    let slash = if api_version.contains('/') { "" } else { "/" };
    Err(Status::bad_request(format!("invalid object type: {slash}{api_version}, Kind={kind}")))
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
    if !version.is_empty() && version.parse::<u64>().is_err() {
        return Err(Status::unknown_error(&format!("strconv.ParseUint: parsing {version:?}: invalid syntax")));
    }
    if !version.is_empty() && version != "0" && version != text(current, "resourceVersion") {
        return Err(Status::modified(kind, target.name));
    }
    if target.subresource == "status" {
        keep_but_status(kind, current, &mut object);
    } else if kind.has_status() {
        set_or_remove(&mut object, "status", current.get("status").cloned());
    }
    let Value::Object(kept) = &current["metadata"] else { return Err(Status::internal("an object has no metadata")) };
    for field in ["uid", "creationTimestamp", "resourceVersion", "generation", "deletionTimestamp"] {
        set_or_remove(&mut object["metadata"], field, kept.get(field).cloned());
    }
    if kind.kind == "Pod" {
        for field in ["priority", "preemptionPolicy"] {
            let given = current["spec"].get(field).filter(|_| object["spec"].get(field).is_none());
            if let Some(value) = given {
                object["spec"][field] = value.clone();
            }
        }
    }
    defaults::fill(kind, &mut object);
    admission::admit(kind, &mut object);
    let mut object = validated(target, object)?;
    immutable::check(target, current, &object)?;
    if kind.generation && current.get("spec") != object.get("spec") {
        let generation = kept.get("generation").and_then(Value::as_i64).unwrap_or(0);
        object["metadata"]["generation"] = (generation + 1).into();
    }
    Ok(object)
}

/// A write to `status` changes that and the metadata, as by the real server; a Deployment keeps its labels too.
fn keep_but_status(kind: &Kind, current: &Value, object: &mut Value) {
    let mut whole = current.clone();
    set_or_remove(&mut whole, "status", object.get("status").cloned());
    whole["metadata"] = object["metadata"].take();
    if kind.kind == "Deployment" {
        set_or_remove(&mut whole["metadata"], "labels", current["metadata"].get("labels").cloned());
    }
    *object = whole;
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    let Value::Object(fields) = object else { return };
    match value {
        Some(value) => fields.insert(field.into(), value),
        None => fields.remove(field),
    };
}
