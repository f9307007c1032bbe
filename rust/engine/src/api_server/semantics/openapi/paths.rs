//! Paths and operations.

use serde_json::{Map, Value, json};

use super::types::{Version, id, list_id, reference};
use crate::api_server::semantics::kinds::Kind;

const PATCH_TYPES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// Query parameters of the writing verbs: name and what it says.
const WRITE_PARAMETERS: [(&str, &str); 3] = [
    ("dryRun", "All: do everything but store it."),
    ("fieldManager", "Name of who writes."),
    ("fieldValidation", "What becomes of unknown fields: Ignore, Warn or Strict."),
];

const LIST_PARAMETERS: [(&str, &str); 8] = [
    ("continue", "Token of the next page."),
    ("fieldSelector", "Chooses objects by their fields."),
    ("labelSelector", "Chooses objects by their labels."),
    ("limit", "Most objects of a page."),
    ("resourceVersion", "Version of the list or start of the watch."),
    ("resourceVersionMatch", "How the version is meant: Exact or NotOlderThan."),
    ("timeoutSeconds", "Seconds after which a watch is ended."),
    ("watch", "Watch instead of listing."),
];

/// The paths of the kinds.
pub(super) fn of_kinds(kinds: &[&Kind], version: Version) -> Map<String, Value> {
    let mut paths = Map::new();
    for kind in kinds {
        let root = if kind.group.is_empty() {
            format!("/api/{}", kind.version)
        } else {
            format!("/apis/{}/{}", kind.group, kind.version)
        };
        let mut add = |path: String, verbs: &[(&'static str, &'static str)]| {
            let served = verbs.iter().filter(|(verb, _)| kind.serves(verb));
            let operations: Map<String, Value> =
                served.map(|(verb, method)| ((*method).to_owned(), operation(kind, verb, version))).collect();
            if !operations.is_empty() {
                let mut item = Value::Object(operations);
                item["parameters"] = path_parameters(&path, version);
                paths.insert(path, item);
            }
        };
        let collection = [("list", "get"), ("create", "post"), ("deletecollection", "delete")];
        let object = [("get", "get"), ("update", "put"), ("patch", "patch"), ("delete", "delete")];
        let base = if kind.namespaced {
            add(format!("{root}/{}", kind.plural), &collection[..1]);
            format!("{root}/namespaces/{{namespace}}/{}", kind.plural)
        } else {
            format!("{root}/{}", kind.plural)
        };
        add(base.clone(), &collection);
        add(format!("{base}/{{name}}"), &object);
        if kind.has_status() {
            add(format!("{base}/{{name}}/status"), &object[..3]);
        }
    }
    paths
}

fn parameter(name: &str, description: &str, place: &str, version: Version) -> Value {
    let mut parameter = json!({"name": name, "in": place, "description": description});
    match version {
        Version::V2 => parameter["type"] = "string".into(),
        Version::V3 => parameter["schema"] = json!({"type": "string"}),
    }
    if place == "path" {
        parameter["required"] = true.into();
    }
    parameter
}

fn path_parameters(path: &str, version: Version) -> Value {
    let names = [("namespace", "Namespace of the object."), ("name", "Name of the object.")];
    let there = names.iter().filter(|(name, _)| path.contains(&format!("{{{name}}}")));
    there.map(|(name, description)| parameter(name, description, "path", version)).collect()
}

fn operation(kind: &Kind, verb: &str, version: Version) -> Value {
    let action = match verb {
        "create" => "post",
        "update" => "put",
        other => other,
    };
    let answer = match verb {
        "list" => list_id(kind),
        _ => id(kind).to_owned(),
    };
    let schema = reference(&answer, version);
    let mut operation = json!({
        "operationId": format!("{verb}{}", kind.kind), "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "responses": {"200": match version {
            Version::V2 => json!({"description": "OK", "schema": schema}),
            Version::V3 => json!({"description": "OK", "content": {"application/json": {"schema": schema}}}),
        }},
    });
    let of = |all: &[(&str, &str)]| -> Vec<Value> {
        all.iter().map(|(name, description)| parameter(name, description, "query", version)).collect()
    };
    let mut parameters = match verb {
        "list" => of(&LIST_PARAMETERS),
        "create" | "update" => of(&WRITE_PARAMETERS),
        "patch" => {
            let mut all = of(&WRITE_PARAMETERS);
            all.push(parameter("force", "Apply: take fields of others.", "query", version));
            all
        }
        "delete" | "deletecollection" => of(&WRITE_PARAMETERS[..1]),
        _ => Vec::new(),
    };
    let types: &[&str] = match verb {
        "create" | "update" => &["application/json"],
        "patch" => &PATCH_TYPES,
        _ => &[],
    };
    if !types.is_empty() {
        match version {
            Version::V2 => {
                operation["consumes"] = types.into();
                let body = json!({"name": "body", "in": "body", "required": true, "schema": {"type": "object"}});
                parameters.push(body);
            }
            Version::V3 => {
                let content = types.iter().map(|t| ((*t).to_owned(), json!({"schema": {"type": "object"}})));
                operation["requestBody"] = json!({"required": true, "content": Value::Object(content.collect())});
            }
        }
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}
