//! What becomes of an object when someone writes it: create, update, patch, apply. Pure: the caller has the
//! object as it is and stores what comes out, with a resourceVersion of its own.

mod admission;
mod always;
mod apply;
mod check;
mod defaults;
mod field_set;
mod immutable;
mod managers;
pub mod options;
mod rules;
mod update;

use serde_json::{Value, json};

use self::field_set::Place;
use self::managers::Writer;
use self::options::{FieldValidation, WriteOptions};
pub use self::update::{Patch, patch, update};
use super::instant::Instant;
use super::kinds::Kind;
use super::schema::{self, Type};
use super::status::Status;

/// Media types of bodies that are objects; those in protobuf have become JSON before they come here.
const BODY_TYPES: &str = "application/json, application/vnd.kubernetes.protobuf";

/// What is written to.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its namespace; "" for kinds without one.
    pub namespace: &'a str,
    /// Its name; "" where a create leaves it to the body.
    pub name: &'a str,
    /// `status`, or "" for the object itself.
    pub subresource: &'a str,
}

/// What the server gives to a new object.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// Wall clock.
    pub now: Instant,
    /// A uid that no other object has.
    pub uid: String,
    /// Any number: completes a `generateName`.
    pub nonce: u64,
}

/// What a write leads to.
#[derive(Clone, Debug)]
pub struct Written {
    /// The object, without a new resourceVersion.
    pub object: Value,
    /// For `Warning` headers.
    pub warnings: Vec<String>,
    /// Whether it differs from what there was. The real server stores nothing where it does not.
    pub changed: bool,
}

impl Target<'_> {
    fn object_type(&self) -> Result<&'static Type, Status> {
        schema::of_kind(self.kind).ok_or_else(Status::method_not_allowed)
    }

    fn writer<'a>(&'a self, options: &'a WriteOptions, api_version: &'a str, now: Instant) -> Writer<'a> {
        let kept: &[&str] = match (self.subresource, self.kind.kind) {
            ("status", _) => &["spec"],
            (_, "Namespace") => &["spec", "status"],
            _ if self.kind.has_status() => &["status"],
            _ => &[],
        };
        Writer { manager: &options.manager, operation: "Update", subresource: self.subresource, api_version, now, kept }
    }
}

/// Makes a new object of the body of a POST.
pub fn create(
    target: Target<'_>,
    content_type: Option<&str>,
    body: &[u8],
    options: &WriteOptions,
    stamp: &Stamp,
) -> Result<Written, Status> {
    check_content_type(content_type)?;
    let mut object = parse(target.kind, body)?;
    let warnings = fit(target, &mut object, options.validation)?;
    if object.pointer("/metadata/resourceVersion").is_some_and(|rv| rv != "") {
        return Err(Status::unknown_error("resourceVersion should not be set on objects to be created"));
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let object = finish_new(target, object, stamp)?;
    let mut created = object;
    let api_version = target.kind.api_version();
    let place = Place::Type(target.object_type()?);
    managers::after_create(&mut created, place, &target.writer(options, &api_version, stamp.now));
    admission::admit(target.kind, &mut created);
    Ok(Written { object: created, warnings, changed: true })
}

/// Names, stamps, completes and checks a new object.
fn finish_new(target: Target<'_>, mut object: Value, stamp: &Stamp) -> Result<Value, Status> {
    check_place(target, &mut object)?;
    let metadata = &mut object["metadata"];
    let name = metadata["name"].as_str().unwrap_or("").to_owned();
    let prefix = metadata["generateName"].as_str().unwrap_or("").to_owned();
    if name.is_empty() && !prefix.is_empty() {
        metadata["name"] = generated_name(&prefix, stamp.nonce).into();
    }
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|_, v| !v.is_null());
        for gone in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"] {
            fields.remove(gone);
        }
        fields.insert("uid".into(), stamp.uid.as_str().into());
        fields.insert("creationTimestamp".into(), stamp.now.to_rfc3339().into());
        if target.kind.generation {
            fields.insert("generation".into(), 1.into());
        }
    }
    defaults::fill(target.kind, &mut object);
    validated(target, object)
}

fn validated(target: Target<'_>, object: Value) -> Result<Value, Status> {
    let errors = check::validate(target.kind, &object, target.object_type()?);
    if errors.is_empty() {
        return Ok(object);
    }
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("");
    Err(Status::invalid(target.kind, name, &errors))
}

/// A prefix and five letters and digits that can be told apart, as the real server generates them.
fn generated_name(prefix: &str, nonce: u64) -> String {
    const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut rest = perfq_core::partition::fnv1a64(&nonce.to_le_bytes());
    let suffix: String = (0..5)
        .map(|_| {
            let letter = char::from(LETTERS[usize::try_from(rest % 27).unwrap_or(0)]);
            rest /= 27;
            letter
        })
        .collect();
    let cut = prefix.char_indices().map(|(i, _)| i).chain([prefix.len()]).take_while(|i| *i <= 58).last();
    format!("{}{suffix}", &prefix[..cut.unwrap_or(0)])
}

fn check_content_type(content_type: Option<&str>) -> Result<(), Status> {
    let media = content_type.unwrap_or("application/json").split(';').next().unwrap_or("").trim();
    if media.is_empty() || media == "application/json" || media == "*/*" {
        return Ok(());
    }
    Err(Status::unsupported_media_type(BODY_TYPES))
}

/// Reads a body and checks that it is of the kind.
fn parse(kind: &Kind, body: &[u8]) -> Result<Value, Status> {
    let mut object: Value = serde_json::from_slice(body).map_err(|e| {
        let why = if body.is_empty() { "the body is empty".to_owned() } else { e.to_string() };
        Status::bad_request(format!("the object provided is unrecognized (must be of type {}): {why}", kind.kind))
    })?;
    if object.is_null() {
        object = json!({});
    }
    let Some(fields) = object.as_object_mut() else {
        let message = format!("the object provided is unrecognized (must be of type {}): it is no object", kind.kind);
        return Err(Status::bad_request(message));
    };
    let (api_version, name) = (kind.api_version(), kind.kind);
    let given = |field: &str| fields.get(field).and_then(Value::as_str).filter(|t| !t.is_empty());
    if let Some(other) = given("apiVersion").filter(|v| *v != api_version) {
        let message =
            format!("the API version in the data ({other}) does not match the expected API version ({api_version})");
        return Err(Status::bad_request(message));
    }
    if let Some(other) = given("kind").filter(|k| *k != name) {
        let message = format!("{other} in version {:?} cannot be handled as a {name}", kind.version);
        return Err(Status::bad_request(message));
    }
    fields.insert("apiVersion".into(), api_version.into());
    fields.insert("kind".into(), name.into());
    fields.entry("metadata").or_insert_with(|| json!({}));
    Ok(object)
}

/// Brings an object into the form of its type; the warnings name what was dropped.
fn fit(target: Target<'_>, object: &mut Value, validation: FieldValidation) -> Result<Vec<String>, Status> {
    let kind = target.kind;
    let refuse = |why: &str| {
        let message = format!("{0} in version {1:?} cannot be handled as a {0}: {why}", kind.kind, kind.version);
        Status::bad_request(message)
    };
    let unknown = check::fit(object, target.object_type()?).map_err(|why| refuse(&why))?;
    let unknown: Vec<String> = unknown.into_iter().map(|path| format!("unknown field {path:?}")).collect();
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict if !unknown.is_empty() => {
            Err(refuse(&format!("strict decoding error: {}", unknown.join(", "))))
        }
        _ => Ok(unknown),
    }
}

/// The namespace and name of an object must be those of the request; where it has none it gets them.
fn check_place(target: Target<'_>, object: &mut Value) -> Result<(), Status> {
    let metadata = object.as_object_mut().map(|o| o.entry("metadata").or_insert_with(|| json!({})));
    let Some(metadata) = metadata.and_then(Value::as_object_mut) else {
        return Err(Status::bad_request("metadata: expected an object"));
    };
    let given = |field: &str| metadata.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
    let (namespace, name) = (given("namespace"), given("name"));
    if target.kind.namespaced {
        if !namespace.is_empty() && namespace != target.namespace {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        metadata.insert("namespace".into(), target.namespace.into());
    } else {
        metadata.remove("namespace");
    }
    if !target.name.is_empty() {
        if !name.is_empty() && name != target.name {
            let message =
                format!("the name of the object ({name}) does not match the name on the URL ({})", target.name);
            return Err(Status::bad_request(message));
        }
        metadata.insert("name".into(), target.name.into());
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
