//! The metadata in a body; all else in it stays byte for byte.

use super::names::Maps;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An object's pairs in their order, values as they stand.
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Pairs<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Pairs<'de>, A::Error> {
        #[derive(serde::Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
        let mut pairs = Vec::new();
        while let Some((Key(key), value)) = entries.next_entry()? {
            pairs.push((key, value));
        }
        Ok(Pairs(pairs))
    }
}

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reader)
    }
}

/// A body that is no JSON.
struct NoJson;

impl From<serde_json::Error> for NoJson {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// What was done to a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edits {
    pub(super) mapped: bool,
    /// A uid or a resourceVersion that was to hold.
    pub(super) preconditions: bool,
}

impl Edits {
    fn any(self) -> bool {
        self.mapped || self.preconditions
    }
}

/// How a body is edited.
pub(super) struct Editor<'a> {
    pub(super) maps: &'a Maps,
    /// The resource in the path.
    pub(super) resource: &'a str,
    /// Takes away what only the recorded cluster could fulfil.
    pub(super) drop_preconditions: bool,
}

impl Editor<'_> {
    /// The body with other metadata, and what was done; `None` where the body is no JSON.
    pub(super) fn edit<'b>(&self, body: &'b str) -> Option<(Cow<'b, str>, Edits)> {
        let mut edits = Edits::default();
        let first = body.trim_start().chars().next();
        let edited = match first {
            Some('[') => json_patch(body, self.drop_preconditions, &mut edits).ok()?,
            Some('{') => self.object(body, &mut edits).ok()?,
            _ => return None,
        };
        Some((if edits.any() { Cow::Owned(edited) } else { Cow::Borrowed(body) }, edits))
    }

    fn object(&self, body: &str, edits: &mut Edits) -> Result<String, NoJson> {
        edited_pairs(body, |key, value| match key {
            "metadata" if value.starts_with('{') => self.metadata(value, edits).map(Some),
            // DeleteOptions, by themselves and in an Eviction.
            "preconditions" if self.drop_preconditions => {
                edits.preconditions = true;
                Ok(None)
            }
            "deleteOptions" if value.starts_with('{') => self.object(value, edits).map(Some),
            _ => Ok(Some(value.to_owned())),
        })
    }

    fn metadata(&self, text: &str, edits: &mut Edits) -> Result<String, NoJson> {
        edited_pairs(text, |key, value| {
            let recorded: Option<String> = serde_json::from_str(value).ok();
            let mapped = match (key, &recorded) {
                ("uid" | "resourceVersion", Some(text)) if self.drop_preconditions && !text.is_empty() => {
                    edits.preconditions = true;
                    return Ok(None);
                }
                ("namespace", Some(name)) => Cow::Borrowed(self.maps.namespace(name)),
                ("name", Some(name)) => self.maps.object(self.resource, name),
                ("generateName", Some(name)) => self.maps.name(name),
                _ => return Ok(Some(value.to_owned())),
            };
            if recorded.as_deref() == Some(&*mapped) {
                return Ok(Some(value.to_owned()));
            }
            edits.mapped = true;
            Ok(Some(serde_json::to_string(&mapped)?))
        })
    }
}

/// An object whose values are each kept, replaced or (`None`) left out.
fn edited_pairs(
    text: &str,
    mut each: impl FnMut(&str, &str) -> Result<Option<String>, NoJson>,
) -> Result<String, NoJson> {
    let Pairs(pairs) = serde_json::from_str(text)?;
    let mut out = String::with_capacity(text.len());
    out.push('{');
    for (key, value) in pairs {
        if let Some(value) = each(&key, value.get())? {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(&key)?);
            out.push(':');
            out.push_str(&value);
        }
    }
    out.push('}');
    Ok(out)
}

/// The operations of a JSON Patch, without those on uid and resourceVersion where they are to go.
fn json_patch(body: &str, drop_preconditions: bool, edits: &mut Edits) -> Result<String, NoJson> {
    #[derive(serde::Deserialize)]
    struct Operation<'a> {
        #[serde(borrow)]
        path: Cow<'a, str>,
    }
    let operations: Vec<&RawValue> = serde_json::from_str(body)?;
    let mut kept = Vec::with_capacity(operations.len());
    for operation in operations {
        let path = serde_json::from_str::<Operation<'_>>(operation.get())?.path;
        if drop_preconditions && matches!(&*path, "/metadata/uid" | "/metadata/resourceVersion") {
            edits.preconditions = true;
        } else {
            kept.push(operation.get());
        }
    }
    Ok(format!("[{}]", kept.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn maps() -> Maps {
        let one = |from: &str, to: &str| [(from.to_owned(), to.to_owned())].into();
        Maps::new(&one("prod", "test"), &one("web-", "w-")).unwrap()
    }

    fn edited(resource: &str, body: &str) -> Option<(String, Edits)> {
        let maps = maps();
        let editor = Editor { maps: &maps, resource, drop_preconditions: true };
        editor.edit(body).map(|(body, edits)| (body.into_owned(), edits))
    }

    #[test]
    fn metadata_is_mapped_and_freed_of_uids_and_the_rest_stays_byte_for_byte() {
        let mapped = Edits { mapped: true, preconditions: false };
        let freed = Edits { mapped: false, preconditions: true };
        for (resource, body, expected, edits) in [
            (
                "pods",
                r#"{"kind":"Pod","metadata":{"name":"web-1","namespace":"prod","x":1.0},"spec":{"a": 1e3}}"#,
                r#"{"kind":"Pod","metadata":{"name":"w-1","namespace":"test","x":1.0},"spec":{"a": 1e3}}"#,
                mapped,
            ),
            ("pods", r#"{"metadata":{"generateName":"web-"}}"#, r#"{"metadata":{"generateName":"w-"}}"#, mapped),
            ("namespaces", r#"{"metadata":{"name":"prod"}}"#, r#"{"metadata":{"name":"test"}}"#, mapped),
            (
                "pods",
                r#"{"metadata":{"uid":"u","resourceVersion":"7","labels":{"uid":"x"}}}"#,
                r#"{"metadata":{"labels":{"uid":"x"}}}"#,
                freed,
            ),
            (
                "pods",
                r#"{"preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}"#,
                r#"{"propagationPolicy":"Orphan"}"#,
                freed,
            ),
            (
                "pods",
                r#"{"metadata":{"name":"a"},"deleteOptions":{"preconditions":{"uid":"u"}}}"#,
                r#"{"metadata":{"name":"a"},"deleteOptions":{}}"#,
                freed,
            ),
            (
                "pods",
                r#"[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"remove", "path":"/spec/x"}]"#,
                r#"[{"op":"remove", "path":"/spec/x"}]"#,
                freed,
            ),
            (
                "pods",
                " {\"metadata\": {\"name\": \"other\"}} ",
                " {\"metadata\": {\"name\": \"other\"}} ",
                Edits::default(),
            ),
            ("pods", r#"{"metadata":null}"#, r#"{"metadata":null}"#, Edits::default()),
            ("pods", r#"{"metadata":{"name":7}}"#, r#"{"metadata":{"name":7}}"#, Edits::default()),
        ] {
            assert_eq!(edited(resource, body), Some((expected.to_owned(), edits)), "{body}");
        }
    }

    #[test]
    fn what_is_no_json_is_said_so() {
        for body in ["apiVersion: v1\nmetadata:\n  name: web-1\n", "", "{\"metadata\":", "[1]", "\"x\""] {
            assert_eq!(edited("pods", body), None, "{body}");
        }
    }

    proptest! {
        #[test]
        fn what_is_edited_is_json_still_and_has_the_same_rest(name in "(web-|)[a-z]{1,4}", label in "\\PC{0,9}", uid in any::<bool>()) {
            let mut body = serde_json::json!({"metadata": {"name": name, "labels": {"x": label}}, "spec": [label, {"n": 1}]});
            if uid {
                body["metadata"]["uid"] = "u".into();
            }
            let (text, _) = edited("pods", &body.to_string()).unwrap();
            let found: serde_json::Value = serde_json::from_str(&text).unwrap();
            body["metadata"].as_object_mut().unwrap().remove("uid");
            body["metadata"]["name"] = name.strip_prefix("web-").map_or(name.clone(), |rest| format!("w-{rest}")).into();
            prop_assert_eq!(found, body);
        }
    }
}
