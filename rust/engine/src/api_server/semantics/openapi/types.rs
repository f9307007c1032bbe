//! Types as JSON Schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::api_server::semantics::kinds::{self, Kind};
use crate::api_server::semantics::schema::{self, Field, ListType, Shape, Type};

/// Version of `OpenAPI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

impl Version {
    fn reference(self, id: &str) -> Value {
        match self {
            Self::V2 => json!({"$ref": format!("#/definitions/{id}")}),
            Self::V3 => json!({"$ref": format!("#/components/schemas/{id}")}),
        }
    }

    /// A reference that may have a description beside it: in v3 only within `allOf`.
    fn described_reference(self, id: &str) -> Value {
        match self {
            Self::V2 => self.reference(id),
            Self::V3 => json!({"allOf": [self.reference(id)]}),
        }
    }
}

/// The types that the kinds need, by id, and a list type for each kind that is listed.
pub(super) fn of_kinds(kinds: &[&Kind], version: Version) -> Map<String, Value> {
    let mut wanted: Vec<&'static Type> = kinds.iter().filter_map(|k| schema::of_kind(k)).collect();
    wanted.extend(schema::find("ListMeta"));
    let mut seen = BTreeSet::new();
    let mut schemas = BTreeMap::new();
    while let Some(of) = wanted.pop() {
        if seen.insert(of.id) {
            schemas.insert(of.id.to_owned(), type_schema(of, version));
            wanted.extend(of.fields.iter().filter_map(|f| named_type(&f.shape)));
        }
    }
    for kind in kinds.iter().filter(|k| k.serves("list")) {
        schemas.insert(list_id(kind), list_schema(kind, version));
    }
    schemas.into_iter().collect()
}

fn named_type(shape: &Shape) -> Option<&'static Type> {
    match shape {
        Shape::Type(name) => schema::find(name),
        Shape::List(inner) | Shape::Map(inner) => named_type(inner),
        _ => None,
    }
}

/// Id of the type of a kind's objects.
pub(super) fn id(kind: &Kind) -> &'static str {
    schema::of_kind(kind).map_or("", |of| of.id)
}

/// Id of the type of a list of them.
pub(super) fn list_id(kind: &Kind) -> String {
    format!("{}List", id(kind))
}

/// Reference to a type.
pub(super) fn reference(id: &str, version: Version) -> Value {
    version.reference(id)
}

fn gvk(kind: &Kind, name: &str) -> Value {
    json!([{"group": kind.group, "version": kind.version, "kind": name}])
}

fn list_schema(kind: &Kind, version: Version) -> Value {
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
    let mut metadata = version.described_reference(meta);
    metadata["description"] = "Version of the list and its next page.".into();
    json!({
        "description": format!("A list of {} objects.", kind.kind), "type": "object", "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string", "description": "Version of this representation of the list."},
            "kind": {"type": "string", "description": "Kind of the list."},
            "metadata": metadata,
            "items": {"type": "array", "description": "The objects.", "items": version.reference(id(kind))},
        },
        "x-kubernetes-group-version-kind": gvk(kind, &kind.list_kind()),
    })
}

fn type_schema(of: &Type, version: Version) -> Value {
    let mut schema = match of.name() {
        "Time" | "MicroTime" => json!({"type": "string", "format": "date-time"}),
        "Quantity" if version == Version::V3 => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        "IntOrString" if version == Version::V3 => {
            json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
        }
        "IntOrString" => json!({"type": "string", "format": "int-or-string"}),
        "Quantity" => json!({"type": "string"}),
        _ => json!({"type": "object"}),
    };
    if !of.description.is_empty() {
        schema["description"] = of.description.into();
    }
    if !of.fields.is_empty() {
        let properties = of.fields.iter().map(|f| (f.name.to_owned(), field_schema(f, version)));
        schema["properties"] = Value::Object(properties.collect());
    }
    let required: Vec<&str> = of.fields.iter().filter(|f| f.required).map(|f| f.name).collect();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if of.atomic {
        schema["x-kubernetes-map-type"] = "atomic".into();
    }
    let kind = kinds::all().iter().find(|k| schema::of_kind(k).is_some_and(|t| std::ptr::eq(t, of)));
    if let Some(kind) = kind {
        schema["x-kubernetes-group-version-kind"] = gvk(kind, kind.kind);
    }
    schema
}

fn field_schema(field: &Field, version: Version) -> Value {
    let mut schema = match &field.shape {
        Shape::Type(name) => version.described_reference(schema::find(name).map_or("", |of| of.id)),
        other => shape_schema(other, version),
    };
    if !field.description.is_empty() {
        schema["description"] = field.description.into();
    }
    let is_list = matches!(field.shape, Shape::List(_));
    match &field.list {
        ListType::Unset => {}
        ListType::Atomic if is_list => schema["x-kubernetes-list-type"] = "atomic".into(),
        ListType::Atomic => schema["x-kubernetes-map-type"] = "atomic".into(),
        ListType::Set => schema["x-kubernetes-list-type"] = "set".into(),
        ListType::Map(keys) => {
            schema["x-kubernetes-list-type"] = "map".into();
            schema["x-kubernetes-list-map-keys"] = keys.as_slice().into();
        }
    }
    let strategies: Vec<&str> = [(field.merge, "merge"), (field.retain_keys, "retainKeys")]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .collect();
    if !strategies.is_empty() {
        schema["x-kubernetes-patch-strategy"] = strategies.join(",").into();
    }
    if let Some(key) = field.merge_key {
        schema["x-kubernetes-patch-merge-key"] = key.into();
    }
    schema
}

fn shape_schema(shape: &Shape, version: Version) -> Value {
    match shape {
        Shape::String => json!({"type": "string"}),
        Shape::Bytes => json!({"type": "string", "format": "byte"}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Int32 => json!({"type": "integer", "format": "int32"}),
        Shape::Int64 => json!({"type": "integer", "format": "int64"}),
        Shape::Double => json!({"type": "number", "format": "double"}),
        Shape::Any => json!({"type": "object"}),
        Shape::Type(name) => version.reference(schema::find(name).map_or("", |of| of.id)),
        Shape::List(inner) => json!({"type": "array", "items": shape_schema(inner, version)}),
        Shape::Map(inner) => json!({"type": "object", "additionalProperties": shape_schema(inner, version)}),
    }
}
