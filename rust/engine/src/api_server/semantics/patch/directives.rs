//! Directives of a strategic merge patch within what is taken from it as it is.

use serde_json::Value;

/// `replace` or `delete`, in a map or in an item of a list.
pub(super) const DIRECTIVE: &str = "$patch";
/// Members that a map keeps.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
/// Prefix: order of a list.
pub(super) const SET_ORDER: &str = "$setElementOrder/";
/// Prefix: values that go from a list.
pub(super) const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// What stays of a value that is taken from a patch as it is: nothing of a map that is itself a directive.
pub(super) fn remove_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let kept = fields.into_iter().filter_map(|(k, v)| Some((k, remove_directives(v)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(remove_directives).collect()),
        other => Some(other),
    }
}

/// A value without the members that are null.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, v)| !v.is_null());
            Value::Object(kept.map(|(k, v)| (k, without_nulls(v))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// The real server decodes the result into a type, which has no field for a directive that is left.
pub(super) fn strip_directives(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|k, _| {
                k != DIRECTIVE && k != RETAIN_KEYS && !k.starts_with(SET_ORDER) && !k.starts_with(DELETE_FROM)
            });
            fields.values_mut().for_each(strip_directives);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_directives),
        _ => {}
    }
}
