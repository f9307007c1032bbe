//! What a written object says about its name and kind, and its name put in, without touching the rest.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What an object says of itself; empty where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectBody {
    pub(super) name: String,
    pub(super) generate_name: String,
    /// Whether it has a kind and a version, as an applied object must and a patch need not.
    pub(super) has_kind: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Top {
    kind: Option<String>,
    api_version: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    generate_name: Option<String>,
}

/// Reads an object; all empty for what is none.
pub(super) fn object_body(body: &str) -> ObjectBody {
    let top: Top = serde_json::from_str(body).unwrap_or_default();
    let has_kind = top.kind.is_some_and(|kind| !kind.is_empty()) && top.api_version.is_some_and(|all| !all.is_empty());
    let (name, generate_name) = top.metadata.map_or((None, None), |metadata| (metadata.name, metadata.generate_name));
    ObjectBody { name: name.unwrap_or_default(), generate_name: generate_name.unwrap_or_default(), has_kind }
}

#[derive(Deserialize)]
struct Outer<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

/// The body with `metadata.name`; all other bytes stay.
pub(super) fn with_name(body: &str, name: &str) -> Option<String> {
    let metadata = serde_json::from_str::<Outer<'_>>(body).ok()?.metadata.get();
    let fields: std::collections::HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(metadata).ok()?;
    let name = Value::from(name).to_string();
    if fields.contains_key("name") {
        // An empty name: a second key would be a duplicate, which a strict server refuses.
        let mut object: Value = serde_json::from_str(body).ok()?;
        object["metadata"]["name"] = serde_json::from_str(&name).ok()?;
        return Some(object.to_string());
    }
    // The metadata is a piece of the body, so that its place is known.
    let at = metadata.as_ptr() as usize - body.as_ptr() as usize + 1;
    let comma = if fields.is_empty() { "" } else { "," };
    Some(format!("{}\"name\":{name}{comma}{}", &body[..at], &body[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object_says_its_name_and_whether_it_has_a_kind() {
        let body = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"generateName":"a-","name":null},"spec":{}}"#;
        let read = object_body(body);
        assert_eq!((&*read.name, &*read.generate_name, read.has_kind), ("", "a-", true));
        assert_eq!(object_body(r#"{"metadata":{"name":"a"}}"#).name, "a");
        for none in ["[]", "7", "", r#"{"metadata":7}"#] {
            assert_eq!(object_body(none), ObjectBody::default());
        }
    }

    #[test]
    fn a_name_is_put_in_and_all_other_bytes_stay() {
        for (body, expected) in [
            (
                r#"{"b" : 1, "metadata": {"generateName":"a-"},"a":1.0}"#,
                r#"{"b" : 1, "metadata": {"name":"n","generateName":"a-"},"a":1.0}"#,
            ),
            (r#"{"metadata":{}}"#, r#"{"metadata":{"name":"n"}}"#),
            (r#"{"metadata":{"name":""}}"#, r#"{"metadata":{"name":"n"}}"#),
        ] {
            assert_eq!(with_name(body, "n").unwrap(), expected);
        }
        for none in ["[]", "{}", r#"{"metadata":[]}"#] {
            assert_eq!(with_name(none, "n"), None);
        }
    }

    proptest! {
        #[test]
        fn a_name_that_was_put_in_is_read_again(prefix in "[a-z\"\\\\]{0,9}", name in "[a-z0-9.-]{1,20}") {
            let body = serde_json::json!({"metadata": {"generateName": prefix}}).to_string();
            prop_assert_eq!(object_body(&with_name(&body, &name).unwrap()).name, name);
        }
    }
}
