//! JSON Merge Patch, RFC 7386, as evanphx/json-patch (the real server's library) reads it.

use serde_json::Value;

use super::{PatchError, object, read};

/// Applies a patch's bytes.
pub fn apply(target: &Value, patch: &[u8]) -> Result<Value, PatchError> {
    let patch = read(patch)?;
    if !patch.is_object() {
        return Err(PatchError::Malformed("error decoding patch: a merge patch of an object is an object".into()));
    }
    let mut merged = target.clone();
    merge(&mut merged, patch);
    object(merged)
}

fn merge(target: &mut Value, mut patch: Value) {
    let Value::Object(fields) = target else {
        prune_nulls(&mut patch);
        *target = patch;
        return;
    };
    let Value::Object(changes) = patch else {
        *target = patch;
        return;
    };
    for (key, mut change) in changes {
        if change.is_null() {
            fields.remove(&key);
            continue;
        }
        if let Some(current) = fields.get_mut(&key).filter(|current| !current.is_null()) {
            merge(current, change);
        } else {
            prune_nulls(&mut change);
            fields.insert(key, change);
        }
    }
}

/// Nulls in objects say that nothing is to be there; nulls in lists stay, the objects in lists are pruned.
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, v| !v.is_null());
            fields.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patched(target: &Value, patch: &Value) -> Value {
        apply(target, patch.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn maps_are_merged_lists_replaced_and_nulls_delete() {
        let target = json!({"a": "b", "c": {"d": "e", "f": "g"}, "l": [1, 2]});
        let patch = json!({"a": "z", "c": {"f": null}, "l": [3], "n": {"x": null, "y": 1}, "gone": null});
        assert_eq!(patched(&target, &patch), json!({"a": "z", "c": {"d": "e"}, "l": [3], "n": {"y": 1}}));
    }

    #[test]
    fn a_map_replaces_what_is_no_map_and_the_other_way_round() {
        assert_eq!(patched(&json!({"a": [1]}), &json!({"a": {"b": null, "c": 1}})), json!({"a": {"c": 1}}));
        assert_eq!(
            patched(&json!({"a": {"b": 1}}), &json!({"a": [null, {"x": null}]})),
            json!({"a": [null, {"x": null}]})
        );
        assert_eq!(patched(&json!({"a": null}), &json!({"a": [{"x": null}]})), json!({"a": [{}]}));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for patch in ["null", "3", "{", "[]"] {
            assert_eq!(apply(&json!({}), patch.as_bytes()).unwrap_err().to_status().code, 400, "{patch}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(1)), Just(json!("s")), Just(json!(null)), Just(json!([]))];
        leaf.prop_recursive(3, 12, 3, |inner| {
            proptest::collection::btree_map("[a-c]", inner, 0..3).prop_map(|m| json!(m))
        })
    }

    proptest! {
        #[test]
        fn a_patch_applied_twice_is_the_same_as_once(target in values(), patch in values()) {
            let (target, patch) = (json!({"o": target}), json!({"o": patch}));
            let once = patched(&target, &patch);
            prop_assert_eq!(patched(&once, &patch), once);
        }
    }
}
