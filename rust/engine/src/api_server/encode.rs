//! From a JSON value to a stored object and back.

use super::frames::Frames;
use super::interned::Interned;
use super::object::{Object, key_of};
use super::semantics::kinds::Kind;
use super::store::KindId;
use serde_json::Value;

/// Selectable fields that hardly two objects have in common: they are in no shared set, and looked up in
/// the key or the text.
pub(crate) const OWN_FIELDS: &[&str] = &["metadata.name", "metadata.namespace", "status.podIP"];

/// Makes the object of a value. The value carries the version and the uid already.
pub(crate) fn object_of(kind: &Kind, mut value: Value, rv: u64, interned: &mut Interned) -> Object {
    let text_at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, uid) = (text_at("/metadata/name"), text_at("/metadata/uid"));
    let namespace = if kind.namespaced { text_at("/metadata/namespace") } else { String::new() };
    let labels = value.pointer("/metadata/labels").and_then(Value::as_object).map_or_else(Vec::new, |labels| {
        labels.iter().map(|(key, label)| (key.as_str().into(), label.as_str().unwrap_or_default().into())).collect()
    });
    let fields = kind
        .fields
        .iter()
        .filter(|field| !OWN_FIELDS.contains(&field.label))
        .map(|field| (field.label, field_text(&value, field.pointer, field.default)))
        .collect();
    if let Some(members) = value.as_object_mut() {
        members.remove("kind");
        members.remove("apiVersion");
    }
    let mut text = vec![b','];
    // A Value is written without fail: its keys are strings.
    let _ = serde_json::to_writer(&mut text, &value);
    Object {
        namespace_len: namespace.len(),
        key: key_of(&namespace, &name).into(),
        rv,
        uid: uid.into(),
        text: text.into(),
        labels: interned.labels(labels),
        fields: interned.fields(fields),
        planned: None,
    }
}

/// The text of a field, or its default.
pub(crate) fn field_text(value: &Value, pointer: &str, default: &str) -> Box<str> {
    match value.pointer(pointer) {
        None | Some(Value::Null) => default.into(),
        Some(Value::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
    }
}

/// The object as a value, with `kind` and `apiVersion`.
pub(crate) fn value_of(kind: KindId, object: &Object) -> Value {
    serde_json::from_slice(&Frames::of(kind).text(object)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_comes_back_as_it_was_with_its_labels_and_fields_at_hand() {
        let pods = KindId::core("pods");
        let value = json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"b": "2", "a": "1"}},
            "spec": {"nodeName": "node-1"}, "status": {"phase": "Running"}});
        let object = object_of(pods.kind(), value.clone(), 7, &mut Interned::default());
        assert_eq!((object.namespace(), object.name(), &*object.uid), ("n", "a", "u"));
        assert_eq!(object.labels.set[0].0.as_ref(), "a");
        let field = |label| object.fields.set.iter().find(|(l, _)| *l == label).map(|(_, text)| &**text);
        assert_eq!((field("spec.nodeName"), field("status.phase")), (Some("node-1"), Some("Running")));
        assert_eq!(value_of(pods, &object), value);
    }
}
