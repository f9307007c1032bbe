//! Sets of field paths: what `managedFields` keeps (sigs.k8s.io/structured-merge-diff, `fieldpath`).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::api_server::semantics::schema::{Field, ListType, Shape, Type};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A field or a key of a map: `f:name`.
    Field(String),
    /// An item of a list of objects, by its keys as compact JSON: `k:{"name":"app"}`.
    Item(String),
    /// An item of a set, as compact JSON: `v:"a"`.
    Value(String),
}

/// A path from the object down.
pub(super) type Path = Vec<Step>;

/// Paths, each owned as it is; an item of a list is in the set beside its fields.
pub(super) type FieldSet = BTreeSet<Path>;

/// What is known of a place in an object.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// An object of a type, its fields each for themselves.
    Type(&'static Type),
    /// A map, its entries each for themselves.
    Map(&'static Shape),
    /// A list of objects with those keys.
    Items(&'static [&'static str], &'static Shape),
    /// A set of values.
    Set,
    /// One value.
    Leaf,
}

impl Place {
    pub(super) fn of_field(field: &'static Field) -> Self {
        match (&field.shape, &field.list) {
            (_, ListType::Atomic) => Self::Leaf,
            (Shape::List(_), ListType::Set) => Self::Set,
            (Shape::List(inner), ListType::Map(keys)) => Self::Items(keys, inner),
            (Shape::Map(inner), _) => Self::Map(inner),
            (shape @ Shape::Type(_), _) => Self::of_item(shape),
            _ => Self::Leaf,
        }
    }

    /// An item of a list, a value of a map, or what a field holds.
    pub(super) fn of_item(shape: &'static Shape) -> Self {
        match shape {
            Shape::Type(_) => shape.inner_type().filter(|t| !t.atomic).map_or(Self::Leaf, Self::Type),
            Shape::Map(inner) => Self::Map(inner),
            _ => Self::Leaf,
        }
    }

    /// The place of a field or of a map's entry.
    pub(super) fn child(self, name: &str) -> Self {
        match self {
            Self::Type(of) => of.field(name).map_or(Self::Leaf, Self::of_field),
            Self::Map(inner) => Self::of_item(inner),
            _ => Self::Leaf,
        }
    }
}

/// The step to an item of a list of objects. A protocol that is left out is TCP, as it will be filled in.
pub(super) fn item_step(item: &Value, keys: &[&str]) -> Step {
    let mut chosen = Map::new();
    for key in keys {
        match item.get(key) {
            Some(value) => chosen.insert((*key).into(), value.clone()),
            None if *key == "protocol" => chosen.insert((*key).into(), "TCP".into()),
            None => None,
        };
    }
    Step::Item(Value::Object(chosen).to_string())
}

/// All paths of a value.
pub(super) fn paths(value: &Value, place: Place) -> FieldSet {
    let mut set = FieldSet::new();
    collect(value, place, &mut Path::new(), &mut set);
    set
}

fn collect(value: &Value, place: Place, path: &mut Path, set: &mut FieldSet) {
    let mut below = |step: Step, child: &Value, place: Place, is_item: bool| {
        path.push(step);
        if is_item {
            set.insert(path.clone());
        }
        collect(child, place, path, set);
        path.pop();
    };
    match (place, value) {
        (Place::Type(_) | Place::Map(_), Value::Object(fields)) if !fields.is_empty() => {
            for (name, child) in fields {
                below(Step::Field(name.clone()), child, place.child(name), false);
            }
        }
        (Place::Items(keys, inner), Value::Array(items)) if !items.is_empty() => {
            for item in items {
                below(item_step(item, keys), item, Place::of_item(inner), true);
            }
        }
        (Place::Set, Value::Array(items)) if !items.is_empty() => {
            for item in items {
                below(Step::Value(item.to_string()), item, Place::Leaf, true);
            }
        }
        _ => {
            set.insert(path.clone());
        }
    }
}

/// The value at a path.
pub(super) fn get<'v>(value: &'v Value, place: Place, path: &[Step]) -> Option<&'v Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value) };
    match (step, place) {
        (Step::Field(name), _) => get(value.get(name)?, place.child(name), rest),
        (Step::Item(_), Place::Items(keys, inner)) => {
            let item = value.as_array()?.iter().find(|item| item_step(item, keys) == *step)?;
            get(item, Place::of_item(inner), rest)
        }
        (Step::Value(wanted), _) => value.as_array()?.iter().find(|item| **item == parse(wanted)),
        _ => None,
    }
}

/// Takes away what stands at a path.
pub(super) fn remove(value: &mut Value, place: Place, path: &[Step]) {
    let Some((step, rest)) = path.split_first() else { return };
    match (step, place, value) {
        (Step::Field(name), _, Value::Object(fields)) => {
            if rest.is_empty() {
                fields.remove(name);
            } else if let Some(child) = fields.get_mut(name) {
                remove(child, place.child(name), rest);
            }
        }
        (Step::Item(_), Place::Items(keys, inner), Value::Array(items)) => {
            let Some(at) = items.iter().position(|item| item_step(item, keys) == *step) else { return };
            if rest.is_empty() {
                items.remove(at);
            } else {
                remove(&mut items[at], Place::of_item(inner), rest);
            }
        }
        (Step::Value(gone), _, Value::Array(items)) => items.retain(|item| *item != parse(gone)),
        _ => {}
    }
}

/// As `fieldsV1` has it: nested objects, `.` for a path that is owned beside its children.
pub(super) fn encode(set: &FieldSet) -> Value {
    let mut root = Value::Object(Map::new());
    for path in set {
        let mut node = &mut root;
        for step in path {
            let key = match step {
                Step::Field(name) => format!("f:{name}"),
                Step::Item(keys) => format!("k:{keys}"),
                Step::Value(value) => format!("v:{value}"),
            };
            if !node.is_object() {
                *node = Value::Object(Map::new());
            }
            node = &mut node[key];
        }
        match node {
            // The set is sorted, so that a path comes before those below it.
            Value::Null => *node = serde_json::json!({".": {}}),
            Value::Object(fields) => drop(fields.insert(".".into(), Value::Object(Map::new()))),
            _ => {}
        }
    }
    unwrap_leaves(&mut root);
    root
}

/// `{".":{}}` alone is written `{}`.
fn unwrap_leaves(node: &mut Value) {
    let Value::Object(fields) = node else { return };
    if fields.len() == 1 && fields.contains_key(".") {
        fields.clear();
    }
    fields.iter_mut().filter(|(key, _)| *key != ".").for_each(|(_, child)| unwrap_leaves(child));
}

/// The set that `fieldsV1` says. Keys that are none of a path are left out.
pub(super) fn decode(fields: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    decode_below(fields, &mut Path::new(), &mut set);
    set
}

fn decode_below(node: &Value, path: &mut Path, set: &mut FieldSet) {
    let Value::Object(children) = node else { return };
    if !path.is_empty() && (children.is_empty() || children.contains_key(".")) {
        set.insert(path.clone());
    }
    for (key, child) in children {
        let step = match key.split_once(':') {
            Some(("f", name)) => Step::Field(name.into()),
            // Written anew, so that equal keys are equal texts.
            Some(("k", keys)) => Step::Item(compact(keys)),
            Some(("v", value)) => Step::Value(compact(value)),
            _ => continue,
        };
        path.push(step);
        decode_below(child, path, set);
        path.pop();
    }
}

/// The value of a step; what is no JSON stands for nothing.
fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

fn compact(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| json.into(), |v| v.to_string())
}

/// As conflicts name it: `.spec.containers[name="app"].image`.
pub(super) fn display(path: &[Step]) -> String {
    let text = |step: &Step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Value(value) => format!("[={value}]"),
        Step::Item(keys) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let pairs: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("[{}]", pairs.join(","))
        }
    };
    path.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api_server::semantics::schema;

    fn pod() -> (Value, Place) {
        let pod = json!({"metadata": {"labels": {"a": "1"}, "finalizers": ["x/y"]}, "spec": {
            "nodeSelector": {"b": "2"},
            "containers": [{"name": "c", "ports": [{"containerPort": 80}], "args": ["1"], "resources": {}}]}});
        (pod, Place::Type(schema::find("Pod").unwrap()))
    }

    #[test]
    fn the_paths_of_an_object_are_written_as_the_real_server_writes_them() {
        let (pod, place) = pod();
        let set = paths(&pod, place);
        let encoded = json!({
            "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"x/y\"": {}}},
            "f:spec": {"f:nodeSelector": {}, "f:containers": {"k:{\"name\":\"c\"}": {
                ".": {}, "f:name": {}, "f:args": {}, "f:resources": {},
                "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
            }}},
        });
        assert_eq!(encode(&set), encoded);
        assert_eq!(decode(&encoded), set);
    }

    #[test]
    fn every_path_leads_to_its_value_and_can_be_taken_away() {
        let (pod, place) = pod();
        for path in paths(&pod, place) {
            assert!(get(&pod, place, &path).is_some(), "{}", display(&path));
            let mut less = pod.clone();
            remove(&mut less, place, &path);
            assert!(get(&less, place, &path).is_none(), "{}", display(&path));
        }
    }

    #[test]
    fn paths_read_as_conflicts_name_them() {
        let (pod, place) = pod();
        let all: Vec<String> = paths(&pod, place).iter().map(|p| display(p)).collect();
        assert!(
            all.contains(&".spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"]".into()),
            "{all:?}"
        );
        assert!(all.contains(&".metadata.labels.a".into()));
    }
}
