//! Field selectors: the language of `fieldSelector=` (k8s.io/apimachinery `fields.ParseSelector`), for the
//! fields that a kind's row lists.

use std::borrow::Cow;

use serde_json::Value;

use super::kinds::{Field, Kind};
use super::status::Status;

/// A conjunction of terms; none matches everything.
#[derive(Clone, Debug, Default)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    field: &'static Field,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads a selector's text for a kind. The error is the 400 that the real server gives.
    pub fn parse(text: &str, kind: &Kind) -> Result<Self, Status> {
        let mut terms = Vec::new();
        for term in split_terms(text).into_iter().filter(|t| !t.is_empty()) {
            let Some((label, equal, value)) = split_term(term) else {
                return Err(Status::bad_request(format!("invalid selector: '{text}'; can't understand '{term}'")));
            };
            let value = unescape(value).map_err(Status::bad_request)?;
            if label.is_empty() && value.is_empty() && equal {
                // The real server takes nothing equals nothing for true.
                continue;
            }
            // The older name of a field, which the real server still takes.
            let wanted = if label == "spec.host" && kind.kind == "Pod" { "spec.nodeName" } else { label };
            let field = kind.fields.iter().find(|f| f.label == wanted);
            let Some(field) = field else { return Err(Status::bad_request(unsupported(kind, label))) };
            terms.push(Term { field, value, equal });
        }
        Ok(Self { terms })
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value that the field must have, where the selector says so: with `metadata.name`, the one object.
    pub fn exact(&self, label: &str) -> Option<&str> {
        self.terms.iter().find(|t| t.equal && t.field.label == label).map(|t| t.value.as_str())
    }

    /// Labels of the fields that it looks at.
    pub fn labels(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.terms.iter().map(|t| t.field.label)
    }

    /// Whether an object matches whose fields `value_of` looks up; `None` where the object has none.
    pub fn matches<'a>(&self, value_of: impl Fn(&Field) -> Option<Cow<'a, str>>) -> bool {
        self.terms.iter().all(|term| {
            let value = value_of(term.field);
            (value.as_deref().unwrap_or(term.field.default) == term.value) == term.equal
        })
    }

    /// Whether the object matches.
    pub fn matches_object(&self, object: &Value) -> bool {
        self.matches(|field| match object.pointer(field.pointer)? {
            Value::String(text) => Some(Cow::Borrowed(text.as_str())),
            Value::Null => None,
            other => Some(Cow::Owned(other.to_string())),
        })
    }
}

fn unsupported(kind: &Kind, label: &str) -> String {
    match (kind.group, kind.fields.len()) {
        // Kinds with fields of their own say it in one way, those with the common two in another.
        ("batch", 3..) => format!("field label {label:?} not supported for {}", kind.kind),
        (_, 0..=2) if !matches!(kind.kind, "Node" | "Namespace") => {
            format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        }
        _ => format!("field label not supported: {label}"),
    }
}

/// Terms between commas; a comma after a backslash belongs to its term.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// Label, whether it must be equal, value.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.char_indices().find(|(i, c)| *c == '=' || term[*i..].starts_with("!="))?.0;
    let (label, rest) = term.split_at(at);
    if let Some(value) = rest.strip_prefix("!=") {
        return Some((label, false, value));
    }
    Some((label, true, rest.strip_prefix("==").unwrap_or(&rest[1..])))
}

fn unescape(value: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                Some(other) => {
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
                None => return Err("invalid field selector: invalid escape sequence: \\".into()),
            },
            ',' | '=' => return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(c))),
            _ => plain.push(c),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::kinds;
    use super::*;

    fn parse(text: &str, plural: &str, group: &str) -> Result<FieldSelector, Status> {
        FieldSelector::parse(text, kinds::find(group, "v1", plural).unwrap())
    }

    #[test]
    fn pods_are_selected_by_name_node_and_phase() {
        let pod = json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "node-01"},
                         "status": {"phase": "Running"}});
        for (selector, expected) in [
            ("", true),
            ("metadata.name=p", true),
            ("metadata.name==q", false),
            ("spec.nodeName!=node-02,status.phase=Running", true),
            ("spec.host=node-01", true),
            ("status.nominatedNodeName=", true),
            ("spec.hostNetwork=false", true),
            ("metadata.namespace!=n", false),
        ] {
            assert_eq!(parse(selector, "pods", "").unwrap().matches_object(&pod), expected, "{selector}");
        }
        assert_eq!(parse("metadata.name=p", "pods", "").unwrap().exact("metadata.name"), Some("p"));
        assert_eq!(parse("metadata.name!=p", "pods", "").unwrap().exact("metadata.name"), None);
    }

    #[test]
    fn a_field_that_is_no_string_is_compared_by_its_text() {
        let node = json!({"spec": {"unschedulable": true}});
        assert!(parse("spec.unschedulable=true", "nodes", "").unwrap().matches_object(&node));
        assert!(parse("spec.unschedulable=false", "nodes", "").unwrap().matches_object(&json!({})));
    }

    #[test]
    fn an_unknown_field_is_refused_in_the_words_of_its_kind() {
        let message = |plural, group| parse("x.y=1", plural, group).unwrap_err().message;
        assert_eq!(message("pods", ""), "field label not supported: x.y");
        assert_eq!(message("nodes", ""), "field label not supported: x.y");
        assert_eq!(message("jobs", "batch"), "field label \"x.y\" not supported for Job");
        assert_eq!(
            message("deployments", "apps"),
            "\"x.y\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
    }

    #[test]
    fn escapes_are_taken_and_broken_terms_refused() {
        let secret = json!({"type": "a,b=c\\"});
        assert!(parse("type=a\\,b\\=c\\\\", "secrets", "").unwrap().matches_object(&secret));
        for wrong in ["type", "type=a=b", "type=a\\", "type=\\x"] {
            assert_eq!(parse(wrong, "secrets", "").unwrap_err().code, 400, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "[a-z.=!,\\\\é]{0,20}") {
            let _ = parse(&text, "pods", "");
        }

        #[test]
        fn an_escaped_value_selects_exactly_itself(value in "[a-z,=\\\\]{0,8}", other in "[a-z,=\\\\]{0,8}") {
            let escaped = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            let selector = parse(&format!("type={escaped}"), "secrets", "").unwrap();
            let matches_value = selector.matches_object(&json!({"type": value}));
            prop_assert!(matches_value);
            prop_assert_eq!(selector.matches_object(&json!({"type": other.clone()})), value == other);
        }
    }
}
