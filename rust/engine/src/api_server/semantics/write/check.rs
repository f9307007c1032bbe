//! Whether an object that a client sends fits its type, and whether it has what it must have.

use serde_json::{Value, json};

use super::always::{self, Empty};
use super::rules;
use crate::api_server::semantics::instant::Instant;
use crate::api_server::semantics::kinds::Kind;
use crate::api_server::semantics::names::{check_label_key, check_label_value, check_name};
use crate::api_server::semantics::quantity::{canonical, is_quantity};
use crate::api_server::semantics::schema::{self, Shape, Type};
use crate::api_server::semantics::status::FieldError;

/// Brings a value into the form that its type has: nulls and unknown fields go, numbers become quantities
/// where quantities are meant. Returns the paths of the unknown fields; the error names the first value of
/// a wrong type.
pub(super) fn fit(value: &mut Value, of: &'static Type) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    fit_type(value, of, "", &mut unknown)?;
    Ok(unknown)
}

fn mismatch<T>(path: &str, expected: &str, value: &Value) -> Result<T, String> {
    let got = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Err(format!("{}: expected {expected}, got {got}", if path.is_empty() { "the object" } else { path }))
}

fn fit_type(value: &mut Value, of: &'static Type, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    if of.fields.is_empty() {
        return fit_leaf(value, of.name(), path);
    }
    let Value::Object(fields) = value else { return mismatch(path, "an object", value) };
    let always = always::of(of.name());
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    fields.retain(|name, v| {
        let known = of.field(name).is_some();
        if !known {
            unknown.push(below(name));
        }
        known && (!v.is_null() || always.iter().any(|(field, empty)| field == name && matches!(empty, Empty::Null)))
    });
    for (name, empty) in always {
        fields.entry(*name).or_insert_with(|| empty.value());
    }
    for (name, v) in fields.iter_mut().filter(|(_, v)| !v.is_null()) {
        if let Some(field) = of.field(name) {
            fit_shape(v, &field.shape, &below(name), unknown)?;
        }
    }
    Ok(())
}

fn fit_shape(value: &mut Value, shape: &'static Shape, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    let in_range = |value: &Value, bits: u32| value.as_i64().is_some_and(|n| n.unsigned_abs() < 1 << (bits - 1));
    match (shape, &mut *value) {
        (Shape::Any, _)
        | (Shape::String, Value::String(_))
        | (Shape::Bool, Value::Bool(_))
        | (Shape::Double, Value::Number(_)) => Ok(()),
        (Shape::Int32, v) if in_range(v, 32) => Ok(()),
        (Shape::Int64, v) if v.is_i64() => Ok(()),
        (Shape::Bytes, Value::String(text)) if is_base64(text) => Ok(()),
        (Shape::Type(name), v) => schema::find(name).map_or(Ok(()), |of| fit_type(v, of, path, unknown)),
        (Shape::List(inner), Value::Array(items)) => {
            for (i, item) in items.iter_mut().enumerate() {
                fit_shape(item, inner, &format!("{path}[{i}]"), unknown)?;
            }
            Ok(())
        }
        (Shape::Map(inner), Value::Object(entries)) => {
            for (key, entry) in entries.iter_mut() {
                // As the real server decodes it: a null text is an empty one.
                if entry.is_null() && matches!(**inner, Shape::String | Shape::Bytes) {
                    *entry = "".into();
                }
                fit_shape(entry, inner, &format!("{path}.{key}"), unknown)?;
            }
            Ok(())
        }
        (Shape::String, v) => mismatch(path, "a string", v),
        (Shape::Bytes, v) => mismatch(path, "bytes in base64", v),
        (Shape::Bool, v) => mismatch(path, "a boolean", v),
        (Shape::Int32, v) => mismatch(path, "an integer of 32 bits", v),
        (Shape::Int64, v) => mismatch(path, "an integer", v),
        (Shape::Double, v) => mismatch(path, "a number", v),
        (Shape::List(_), v) => mismatch(path, "a list", v),
        (Shape::Map(_), v) => mismatch(path, "an object", v),
    }
}

/// Types that are a value of their own.
fn fit_leaf(value: &mut Value, name: &str, path: &str) -> Result<(), String> {
    let sound = match (name, &*value) {
        ("Time" | "MicroTime", Value::String(text)) => Instant::parse(text).is_some(),
        ("Quantity", Value::String(text)) if !is_quantity(text) => false,
        ("Quantity", Value::String(text)) => {
            *value = canonical(text).into();
            true
        }
        ("Quantity", Value::Number(number)) => {
            *value = canonical(&number.to_string()).into();
            true
        }
        ("IntOrString", Value::String(_)) => true,
        ("IntOrString", Value::Number(number)) => number.is_i64(),
        ("Time" | "MicroTime" | "Quantity" | "IntOrString", _) => false,
        (_, v) => v.is_object(),
    };
    let expected = match name {
        "Time" | "MicroTime" => "a time such as 2026-01-01T00:00:00Z",
        "Quantity" => "a quantity such as 500m or 1Gi",
        "IntOrString" => "an integer or a string",
        _ => "an object",
    };
    if sound { Ok(()) } else { mismatch(path, expected, value) }
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let sound = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(sound)
}

/// Finalizers that need no domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// What is wrong with an object's metadata and with what it must have.
pub(super) fn validate(kind: &Kind, object: &Value, of: &'static Type) -> Vec<FieldError> {
    let mut errors = metadata(kind, object);
    if let Some(spec) = of.field("spec").and_then(|f| f.shape.inner_type()) {
        let empty = json!({});
        required(object.get("spec").unwrap_or(&empty), spec, "spec", &mut errors);
    }
    errors.extend(rules::broken(kind, object));
    errors
}

fn metadata(kind: &Kind, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("") {
        "" => errors.push(FieldError::required("metadata.name", "name or generateName is required")),
        name => {
            let broken = check_name(kind.names, name);
            errors.extend(broken.iter().map(|e| FieldError::invalid("metadata.name", &json!(name), e)));
        }
    }
    let entries = |pointer| object.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    for (key, value) in entries("/metadata/labels") {
        let broken = check_label_key(key).into_iter().map(|e| (json!(key), e));
        let broken_values = check_label_value(value.as_str().unwrap_or("")).into_iter().map(|e| (value.clone(), e));
        errors.extend(broken.chain(broken_values).map(|(v, e)| FieldError::invalid("metadata.labels", &v, &e)));
    }
    for (key, _) in entries("/metadata/annotations") {
        let broken = check_label_key(&key.to_lowercase());
        errors.extend(broken.iter().map(|e| FieldError::invalid("metadata.annotations", &json!(key), e)));
    }
    let list = |pointer| object.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    for (i, finalizer) in list("/metadata/finalizers").enumerate() {
        let name = finalizer.as_str().unwrap_or("");
        let broken = check_label_key(name);
        errors.extend(broken.iter().map(|e| FieldError::invalid("metadata.finalizers", finalizer, e)));
        if broken.is_empty() && !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            let rule = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(&format!("metadata.finalizers[{i}]"), finalizer, rule));
        }
    }
    for owner in list("/metadata/ownerReferences") {
        let rules = [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ];
        for (field, rule) in rules {
            if owner[field].as_str().unwrap_or("").is_empty() {
                errors.push(FieldError::invalid(&format!("metadata.ownerReferences.{field}"), &json!(""), rule));
            }
        }
    }
    errors
}

fn required(value: &Value, of: &'static Type, path: &str, errors: &mut Vec<FieldError>) {
    let Value::Object(fields) = value else { return };
    let is_empty = |v: Option<&Value>| match v {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::String(text)) => text.is_empty(),
        _ => false,
    };
    for field in &of.fields {
        // The published types leave out that a container needs an image, since templates of other
        // controllers may leave it out; the kinds served here do not.
        let needed = field.required || (of.name() == "Container" && field.name == "image");
        if needed && is_empty(fields.get(field.name)) {
            errors.push(FieldError::required(&format!("{path}.{}", field.name), ""));
        }
        let (Some(inner), Some(child)) = (field.shape.inner_type(), fields.get(field.name)) else { continue };
        let child_path = format!("{path}.{}", field.name);
        match child {
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    required(item, inner, &format!("{child_path}[{i}]"), errors);
                }
            }
            child => required(child, inner, &child_path, errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::kinds;

    fn pod_type() -> &'static Type {
        schema::find("Pod").unwrap()
    }

    #[test]
    fn unknown_fields_and_nulls_go_and_are_named() {
        let mut pod = json!({"metadata": {"name": "p", "creationTimestamp": null}, "foo": 1,
            "spec": {"containers": [{"name": "a", "imag": "x"}]}});
        assert_eq!(fit(&mut pod, pod_type()), Ok(vec!["foo".into(), "spec.containers[0].imag".into()]));
        assert_eq!(pod, json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}]}}));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named_with_its_path() {
        for (wrong, message) in [
            (json!([]), "the object: expected an object, got a list"),
            (json!({"spec": {"containers": {}}}), "spec.containers: expected a list, got an object"),
            (json!({"spec": {"hostNetwork": "yes"}}), "spec.hostNetwork: expected a boolean, got a string"),
            (json!({"spec": {"priority": 1_i64 << 40}}), "spec.priority: expected an integer of 32 bits, got a number"),
            (json!({"metadata": {"labels": {"a": 1}}}), "metadata.labels.a: expected a string, got a number"),
            (
                json!({"metadata": {"creationTimestamp": "now"}}),
                "metadata.creationTimestamp: expected a time such as 2026-01-01T00:00:00Z, got a string",
            ),
        ] {
            assert_eq!(fit(&mut wrong.clone(), pod_type()), Err(message.into()), "{wrong}");
        }
    }

    #[test]
    fn numbers_become_quantities_and_quantities_are_checked() {
        let resources = |cpu: Value| json!({"spec": {"containers": [{"resources": {"limits": {"cpu": cpu}}}]}});
        let mut pod = resources(json!(2));
        fit(&mut pod, pod_type()).unwrap();
        assert_eq!(pod, resources(json!("2")));
        for sound in ["1", "500m", "1.5Gi", "-3", "1e3", ".5", "2E", "1E-2"] {
            assert!(is_quantity(sound), "{sound}");
        }
        for wrong in ["", "x", "1.2.3", "1Gib", "--1", "e3", "1 Gi"] {
            assert!(!is_quantity(wrong), "{wrong}");
        }
        assert!(is_base64("YQ==") && is_base64("") && !is_base64("YQ=") && !is_base64("a-b="));
    }

    #[test]
    fn what_must_be_there_and_what_names_may_be_is_checked() {
        let pods = kinds::find("", "v1", "pods").unwrap();
        let paths = |object: &Value| -> Vec<String> {
            validate(pods, object, pod_type()).into_iter().map(|e| e.field).collect()
        };
        assert_eq!(paths(&json!({})), ["metadata.name", "spec.containers"]);
        assert_eq!(
            paths(&json!({"metadata": {"name": "A", "labels": {"-": "-"}}, "spec": {"containers": [{"name": "a"}]}})),
            ["metadata.name", "metadata.labels", "metadata.labels", "spec.containers[0].image"]
        );
        let sound = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "i"}]}});
        assert!(paths(&sound).is_empty());
    }
}
