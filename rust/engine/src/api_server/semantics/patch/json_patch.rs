//! JSON Patch, RFC 6902, as evanphx/json-patch (v4, the real server's library) reads it. It differs from the
//! RFC: `replace` of a missing key sets it; a missing key and null are the same to `test`; negative indices
//! count from the end; what stands before the first slash of a path is ignored.

use serde_json::Value;

use super::{MAX_OPERATIONS, PatchError, object, read};

/// Most bytes that the `copy` operations of one patch may copy.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Applies a patch's bytes.
pub fn apply(target: &Value, patch: &[u8]) -> Result<Value, PatchError> {
    let Value::Array(operations) = read(patch)? else {
        return Err(PatchError::Malformed("error decoding patch: a JSON Patch is a list of operations".into()));
    };
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooManyOperations(operations.len()));
    }
    let operations: Vec<Operation> = operations.iter().map(Operation::read).collect::<Result<_, _>>()?;
    let mut document = target.clone();
    let mut copied = 0;
    for operation in operations {
        operation.apply(&mut document, &mut copied).map_err(PatchError::Unprocessable)?;
    }
    object(document)
}

struct Operation<'a> {
    op: &'a str,
    path: Option<&'a str>,
    from: Option<&'a str>,
    value: Option<&'a Value>,
}

impl<'a> Operation<'a> {
    fn read(value: &'a Value) -> Result<Self, PatchError> {
        if !value.is_object() && !value.is_null() {
            return Err(PatchError::Malformed("error decoding patch: an operation is an object".into()));
        }
        let text = |name| value.get(name).and_then(Value::as_str);
        Ok(Self {
            op: text("op").unwrap_or("unknown"),
            path: text("path"),
            from: text("from"),
            value: value.get("value"),
        })
    }

    fn path(&self) -> Result<&'a str, String> {
        self.path.ok_or_else(|| format!("{} operation failed to decode path: missing value", self.op))
    }

    fn from(&self) -> Result<&'a str, String> {
        self.from.ok_or_else(|| format!("{} operation failed to decode from: missing value", self.op))
    }

    fn new_value(&self) -> Value {
        self.value.cloned().unwrap_or(Value::Null)
    }

    fn missing(&self, path: &str) -> String {
        format!("{} operation does not apply: doc is missing path: {path:?}: missing value", self.op)
    }

    fn apply(&self, document: &mut Value, copied: &mut usize) -> Result<(), String> {
        match self.op {
            "add" => {
                let path = self.path()?;
                let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
                add(place, &key, self.new_value())
            }
            "remove" => {
                let path = self.path()?;
                let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
                remove(place, &key).map(drop)
            }
            "replace" => self.replace(document),
            "test" => self.test(document),
            "move" => {
                let from = self.from()?;
                let (place, key) = find(document, from).ok_or_else(|| self.missing(from))?;
                let value = get(place, &key)?.cloned().unwrap_or(Value::Null);
                remove(place, &key)?;
                let path = self.path()?;
                let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
                add(place, &key, value)
            }
            "copy" => {
                let from = self.from()?;
                let (place, key) = find(document, from).ok_or_else(|| self.missing(from))?;
                let value = get(place, &key)?.cloned().unwrap_or(Value::Null);
                *copied += value.to_string().len();
                if *copied > MAX_COPIED {
                    return Err(format!("copy operations copy more than {MAX_COPIED} bytes"));
                }
                let path = self.path()?;
                let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
                add(place, &key, value)
            }
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn replace(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        if path.is_empty() {
            let value = self.new_value();
            if !value.is_object() && !value.is_array() {
                return Err("replace operation value must be object or array".into());
            }
            *document = value;
            return Ok(());
        }
        let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
        get(place, &key)?;
        match place {
            Value::Array(items) => {
                let index = index(&key, items.len())?;
                items[index] = self.new_value();
            }
            Value::Object(fields) => {
                fields.insert(key, self.new_value());
            }
            _ => unreachable!("find returns lists and objects"),
        }
        Ok(())
    }

    fn test(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let expected = self.value.unwrap_or(&Value::Null);
        let equal = if path.is_empty() {
            document == expected
        } else {
            let (place, key) = find(document, path).ok_or_else(|| self.missing(path))?;
            get(place, &key)?.unwrap_or(&Value::Null) == expected
        };
        if equal { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
    }
}

/// The list or object that holds the last part of a path, and that part.
fn find<'v>(document: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(|p| p.replace("~1", "/").replace("~0", "~")).collect();
    let key = parts.pop()?;
    let mut place = document;
    for part in parts {
        place = match place {
            Value::Object(fields) => fields.get_mut(&part)?,
            Value::Array(items) => {
                let index = index(&part, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (place.is_object() || place.is_array()).then_some((place, key))
}

/// An index below `len`; negative ones count from the end.
fn index(key: &str, len: usize) -> Result<usize, String> {
    let number: i64 = key.parse().map_err(|_| format!("value was not a proper array index: '{key}'"))?;
    let wrong = || format!("Unable to access invalid index: {number}: invalid index referenced");
    let at = if number < 0 { number + i64::try_from(len).map_err(|_| wrong())? } else { number };
    usize::try_from(at).ok().filter(|at| *at < len).ok_or_else(wrong)
}

/// `None` for a key that an object does not have; an index that a list does not have is an error.
fn get<'v>(place: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    match place {
        Value::Object(fields) => Ok(fields.get(key)),
        Value::Array(items) => Ok(items.get(index(key, items.len())?)),
        _ => Ok(None),
    }
}

fn add(place: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match place {
        Value::Object(fields) => {
            fields.insert(key.into(), value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let at = index(key, items.len() + 1)?;
            items.insert(at, value);
        }
        _ => unreachable!("find returns lists and objects"),
    }
    Ok(())
}

fn remove(place: &mut Value, key: &str) -> Result<(), String> {
    match place {
        Value::Object(fields) => {
            let missing = || format!("Unable to remove nonexistent key: {key}: missing value");
            fields.remove(key).map(drop).ok_or_else(missing)
        }
        Value::Array(items) => {
            let at = index(key, items.len())?;
            items.remove(at);
            Ok(())
        }
        _ => unreachable!("find returns lists and objects"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patched(target: &Value, operations: &Value) -> Result<Value, PatchError> {
        apply(target, operations.to_string().as_bytes())
    }

    #[expect(clippy::needless_pass_by_value, reason = "literals read better")]
    fn check(target: Value, operations: Value, expected: Option<Value>) {
        assert_eq!(patched(&target, &operations).ok(), expected, "{operations} on {target}");
    }

    #[test]
    fn each_operation_does_what_the_rfc_says() {
        let target = json!({"a": {"b": [1, 2]}, "x/y~z": 1});
        let one = |op: Value| patched(&target, &json!([op])).ok();
        assert_eq!(one(json!({"op": "add", "path": "/a/b/1", "value": 9})).unwrap()["a"]["b"], json!([1, 9, 2]));
        assert_eq!(one(json!({"op": "add", "path": "/a/b/-", "value": 9})).unwrap()["a"]["b"], json!([1, 2, 9]));
        assert_eq!(one(json!({"op": "remove", "path": "/a/b/0"})).unwrap()["a"]["b"], json!([2]));
        assert_eq!(one(json!({"op": "replace", "path": "/x~1y~0z", "value": 2})).unwrap()["x/y~z"], 2);
        assert_eq!(one(json!({"op": "move", "from": "/a/b", "path": "/c"})).unwrap()["c"], json!([1, 2]));
        assert_eq!(one(json!({"op": "copy", "from": "/a/b/0", "path": "/a/b/-"})).unwrap()["a"]["b"], json!([1, 2, 1]));
        assert_eq!(one(json!({"op": "test", "path": "/a/b", "value": [1, 2]})), Some(target.clone()));
        assert_eq!(one(json!({"op": "test", "path": "/a/b", "value": [1]})), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let target = json!({"a": [1]});
        for operation in [
            json!({"op": "add", "path": "/b/c", "value": 1}),
            json!({"op": "add", "path": "/a/2", "value": 1}),
            json!({"op": "add", "path": "", "value": {}}),
            json!({"op": "add", "value": 1}),
            json!({"op": "remove", "path": "/b"}),
            json!({"op": "remove", "path": "/a/1"}),
            json!({"op": "replace", "path": "/a/1", "value": 1}),
            json!({"op": "replace", "path": "", "value": 1}),
            json!({"op": "move", "from": "/b", "path": "/c"}),
            json!({"op": "copy", "path": "/c"}),
            json!({"op": "test", "path": "/a/x", "value": 1}),
            json!({"op": "shuffle", "path": "/a"}),
            json!({"path": "/a"}),
            json!(null),
        ] {
            let error = patched(&target, &json!([operation])).unwrap_err();
            assert!(matches!(error, PatchError::Unprocessable(_)), "{operation}: {error:?}");
            assert_eq!(error.to_status().code, 422);
        }
        check(target.clone(), json!([{"op": "add", "path": "/c", "value": 1}, {"op": "remove", "path": "/d"}]), None);
        for no_patch in ["{}", "[1]", "x", "\"\""] {
            assert_eq!(apply(&target, no_patch.as_bytes()).unwrap_err().to_status().code, 400, "{no_patch}");
        }
        let list = json!([{"op": "replace", "path": "", "value": []}]);
        assert!(matches!(patched(&target, &list), Err(PatchError::BadResult(_))));
    }

    #[test]
    fn it_differs_from_the_rfc_where_the_real_library_does() {
        let target = json!({"a": {}, "n": null, "l": [1, 2, 3]});
        let set = json!({"a": {"b": 1}, "n": null, "l": [1, 2, 3]});
        check(target.clone(), json!([{"op": "replace", "path": "/a/b", "value": 1}]), Some(set.clone()));
        check(target.clone(), json!([{"op": "test", "path": "/missing", "value": null}]), Some(target.clone()));
        check(target.clone(), json!([{"op": "test", "path": "/missing"}]), Some(target.clone()));
        check(target.clone(), json!([{"op": "test", "path": "/n"}]), Some(target.clone()));
        check(target.clone(), json!([{"op": "test", "path": "/l/-1", "value": 3}]), Some(target.clone()));
        check(target.clone(), json!([{"op": "add", "path": "ignored/a/b", "value": 1}]), Some(set));
        check(target, json!([{"op": "test", "path": "/missing/deeper", "value": null}]), None);
    }

    #[test]
    fn a_patch_can_neither_grow_without_bound_nor_have_operations_without_end() {
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let operations: Vec<Value> = std::iter::repeat_n(double, 60).collect();
        let target = json!({"a": ["x".repeat(1_000)]});
        assert!(matches!(patched(&target, &json!(operations)), Err(PatchError::Unprocessable(_))));
        let many: Vec<Value> = std::iter::repeat_n(json!({"op": "test", "path": "/b"}), MAX_OPERATIONS + 1).collect();
        assert_eq!(patched(&target, &json!(many)).unwrap_err().to_status().code, 413);
    }

    proptest! {
        #[test]
        fn what_was_added_can_be_tested_and_removed(key in "[a-z~/]{1,5}", value in -5..5_i64) {
            let target = json!({"m": {}});
            let path = format!("/m/{}", key.replace('~', "~0").replace('/', "~1"));
            let result = patched(&target, &json!([
                {"op": "add", "path": path, "value": value},
                {"op": "test", "path": path, "value": value},
                {"op": "move", "from": path, "path": "/m/other"},
                {"op": "remove", "path": "/m/other"},
            ]));
            prop_assert_eq!(result, Ok(target));
        }

        #[test]
        fn no_path_breaks_it(path in "[a-z/~0-9-]{0,12}", op in "add|remove|replace|test|copy|move") {
            let _ = patched(&json!({"a": [1, {"b": 2}]}), &json!([{"op": op, "path": path, "from": path, "value": 1}]));
        }
    }
}
