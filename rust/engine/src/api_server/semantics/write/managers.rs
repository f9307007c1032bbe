//! `managedFields`: who set what. Kept for server-side apply, which removes what its manager no longer
//! names and refuses to change what others have set.

use serde_json::{Value, json};

use super::field_set::{self, FieldSet, Place, Step};
use crate::api_server::semantics::instant::Instant;

/// Fields that no one owns: the server's own, and those that name the object.
const UNOWNED: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "uid"],
    &["metadata", "resourceVersion"],
    &["metadata", "generation"],
    &["metadata", "creationTimestamp"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "deletionGracePeriodSeconds"],
    &["metadata", "selfLink"],
    &["metadata", "managedFields"],
];

/// One entry of `managedFields`.
#[derive(Clone, Debug)]
pub(super) struct Manager {
    pub(super) name: String,
    pub(super) operation: &'static str,
    pub(super) subresource: String,
    api_version: String,
    time: Option<String>,
    pub(super) fields: FieldSet,
}

/// Who writes, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) manager: &'a str,
    pub(super) operation: &'static str,
    pub(super) subresource: &'a str,
    pub(super) api_version: &'a str,
    pub(super) now: Instant,
    /// Fields of the object that this way of writing leaves as they are.
    pub(super) kept: &'a [&'a str],
}

impl Manager {
    pub(super) fn is(&self, writer: &Writer<'_>) -> bool {
        self.name == writer.manager
            && self.operation == writer.operation
            && self.subresource == writer.subresource
            && self.api_version == writer.api_version
    }

    /// As conflicts name it.
    pub(super) fn describe(&self) -> String {
        let subresource = if self.subresource.is_empty() {
            String::new()
        } else {
            format!(" with subresource {:?}", self.subresource)
        };
        let name = format!("{:?}{subresource}", self.name);
        match (self.operation, &self.time) {
            ("Update", Some(time)) => format!("{name} using {} at {time}", self.api_version),
            ("Update", None) => format!("{name} using {}", self.api_version),
            _ => name,
        }
    }

    /// Who it is and what it owns, without when.
    pub(super) fn ownership(&self) -> (&str, &str, &str, &str, &FieldSet) {
        (&self.name, self.operation, &self.subresource, &self.api_version, &self.fields)
    }

    fn to_json(&self) -> Value {
        let mut entry = json!({
            "manager": self.name, "operation": self.operation, "apiVersion": self.api_version,
            "fieldsType": "FieldsV1", "fieldsV1": field_set::encode(&self.fields),
        });
        if let Some(time) = &self.time {
            entry["time"] = time.as_str().into();
        }
        if !self.subresource.is_empty() {
            entry["subresource"] = self.subresource.as_str().into();
        }
        entry
    }
}

/// The entries of an object.
pub(super) fn read(object: &Value) -> Vec<Manager> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    entries
        .into_iter()
        .flatten()
        .map(|entry| Manager {
            name: text(entry, "manager"),
            operation: if text(entry, "operation") == "Apply" { "Apply" } else { "Update" },
            subresource: text(entry, "subresource"),
            api_version: text(entry, "apiVersion"),
            time: entry.get("time").and_then(Value::as_str).map(str::to_owned),
            fields: field_set::decode(&entry["fieldsV1"]),
        })
        .collect()
}

/// Writes the entries into an object; those that own nothing are left out.
pub(super) fn write(object: &mut Value, managers: &[Manager]) {
    let entries: Vec<Value> = managers.iter().filter(|m| !m.fields.is_empty()).map(Manager::to_json).collect();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        if entries.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".into(), entries.into());
        }
    }
}

/// All paths of an object that the writer can own.
pub(super) fn owned_paths(object: &Value, place: Place, writer: &Writer<'_>) -> FieldSet {
    let mut set = field_set::paths(object, place);
    set.retain(|path| {
        !UNOWNED.iter().any(|unowned| is_below(path, unowned))
            && !writer.kept.iter().any(|field| is_below(path, &[field]))
    });
    set
}

fn is_below(path: &[Step], parent: &[&str]) -> bool {
    path.len() >= parent.len()
        && path.iter().zip(parent).all(|(step, name)| matches!(step, Step::Field(f) if f == name))
}

/// Sets what the writer owns.
pub(super) fn set_fields(managers: &mut Vec<Manager>, writer: &Writer<'_>, fields: FieldSet) {
    let time = Some(writer.now.to_rfc3339());
    if let Some(mine) = managers.iter_mut().find(|m| m.is(writer)) {
        if mine.fields != fields {
            mine.time = time;
        }
        mine.fields = fields;
        return;
    }
    managers.push(Manager {
        name: writer.manager.into(),
        operation: writer.operation,
        subresource: writer.subresource.into(),
        api_version: writer.api_version.into(),
        time,
        fields,
    });
}

/// After a create that is no apply: all of it belongs to the writer.
pub(super) fn after_create(new: &mut Value, place: Place, writer: &Writer<'_>) {
    let mut managers = Vec::new();
    set_fields(&mut managers, writer, owned_paths(new, place, writer));
    write(new, &managers);
}

/// After a write that is no apply: what it changed belongs to the writer, and to no one else.
pub(super) fn after_update(old: &Value, new: &mut Value, place: Place, writer: &Writer<'_>) {
    let mut managers = read(old);
    if managers.is_empty() {
        // As by the real server: who began without managers stays without, until the first apply.
        return write(new, &managers);
    }
    let paths = owned_paths(new, place, writer);
    let changed: FieldSet = paths
        .iter()
        .filter(|path| field_set::get(old, place, path) != field_set::get(new, place, path))
        // An item whose fields changed stays with the one who put it in.
        .filter(|path| !is_item(path) || field_set::get(old, place, path).is_none())
        .cloned()
        .collect();
    for manager in &mut managers {
        let is_writer = manager.is(writer);
        manager
            .fields
            .retain(|path| field_set::get(new, place, path).is_some() && (is_writer || !changed.contains(path)));
    }
    if !changed.is_empty() {
        let mine = managers.iter().find(|m| m.is(writer)).map(|m| m.fields.clone()).unwrap_or_default();
        set_fields(&mut managers, writer, &mine | &changed);
    }
    write(new, &managers);
}

fn is_item(path: &[Step]) -> bool {
    matches!(path.last(), Some(Step::Item(_)))
}
