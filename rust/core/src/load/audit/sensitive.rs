//! Which bodies are secret as a whole, and which hold users in their own fields.

use super::json_strings::Unreadable;
use serde_json::Value;
use std::borrow::Cow;

/// What stands in a removed user's place.
pub(super) const REMOVED_USER: &str = "removed-user";

/// A resource as a path names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource<'a> {
    pub(super) group: &'a str,
    pub(super) plural: &'a str,
    pub(super) subresource: &'a str,
}

/// Whether a written body is secret as a whole: Secrets, tokens, reviews that hold a token or a user, and
/// requests for certificates.
pub(super) fn is_secret(of: Resource<'_>) -> bool {
    match (of.group, of.plural) {
        ("", "secrets")
        | ("authentication.k8s.io" | "certificates.k8s.io", _)
        | ("authorization.k8s.io", "subjectaccessreviews" | "localsubjectaccessreviews") => true,
        ("", "serviceaccounts") => of.subresource == "token",
        _ => false,
    }
}

/// Whether a body has subjects, of which some are users and groups of people.
pub(super) fn has_subjects(of: Resource<'_>) -> bool {
    matches!(
        (of.group, of.plural),
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings")
            | ("flowcontrol.apiserver.k8s.io", "flowschemas")
    )
}

/// The body without the users and groups of its subjects; those that Kubernetes itself defines (`system:…`)
/// stay. Borrowed where there was none.
pub(super) fn without_subjects(body: &str) -> Result<Cow<'_, str>, Unreadable> {
    let mut value: Value = serde_json::from_str(body).map_err(|_| Unreadable)?;
    Ok(if walk(&mut value) { Cow::Owned(value.to_string()) } else { Cow::Borrowed(body) })
}

fn walk(value: &mut Value) -> bool {
    let mut changed = false;
    match value {
        Value::Array(items) => {
            for item in items {
                changed |= walk(item);
            }
        }
        Value::Object(fields) => {
            if matches!(fields.get("kind").and_then(Value::as_str), Some("User" | "Group")) {
                changed |= fields.get_mut("name").is_some_and(remove);
                for nested in ["user", "group"] {
                    changed |= fields.get_mut(nested).and_then(|value| value.get_mut("name")).is_some_and(remove);
                }
            }
            // A JSON Patch names the place and gives the value apart.
            if fields.get("path").and_then(Value::as_str).is_some_and(|path| path.contains("/subjects/")) {
                changed |= fields.get_mut("value").is_some_and(remove);
            }
            // kubectl's copy of the object, with all its subjects, as one string.
            changed |= fields.remove("kubectl.kubernetes.io/last-applied-configuration").is_some();
            for value in fields.values_mut() {
                changed |= walk(value);
            }
        }
        _ => {}
    }
    changed
}

fn remove(name: &mut Value) -> bool {
    let own = name.as_str().is_some_and(|name| !name.is_empty() && !name.starts_with("system:") && name != "*");
    if own {
        *name = REMOVED_USER.into();
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(group: &'a str, plural: &'a str, subresource: &'a str) -> Resource<'a> {
        Resource { group, plural, subresource }
    }

    #[test]
    fn secrets_tokens_and_reviews_are_secret_as_a_whole() {
        for (group, resource, subresource) in [
            ("", "secrets", ""),
            ("", "serviceaccounts", "token"),
            ("authentication.k8s.io", "tokenreviews", ""),
            ("authorization.k8s.io", "subjectaccessreviews", ""),
            ("certificates.k8s.io", "certificatesigningrequests", "approval"),
        ] {
            assert!(is_secret(of(group, resource, subresource)), "{group} {resource} {subresource}");
        }
        for (group, resource) in [("", "serviceaccounts"), ("", "configmaps"), ("example.com", "secrets")] {
            assert!(!is_secret(of(group, resource, "")), "{group} {resource}");
        }
    }

    #[test]
    fn people_leave_a_role_binding_and_kubernetes_own_groups_stay() {
        let body = r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"jane"}},
            "subjects":[{"kind":"User","name":"jane"},{"kind":"Group","name":"system:masters"},
            {"kind":"ServiceAccount","name":"default"}],"roleRef":{"kind":"Role","name":"jane-role"}}"#;
        let cleaned: Value = serde_json::from_str(&without_subjects(body).unwrap()).unwrap();
        assert_eq!(cleaned["subjects"][0]["name"], "removed-user");
        assert_eq!(cleaned["subjects"][1]["name"], "system:masters");
        assert_eq!(cleaned["subjects"][2]["name"], "default");
        assert_eq!(cleaned["roleRef"]["name"], "jane-role");
        assert_eq!(cleaned["metadata"]["annotations"], serde_json::json!({}));
    }

    #[test]
    fn people_leave_flow_schemas_and_json_patches_as_well() {
        let schema = r#"{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"jane"}}]}]}}"#;
        assert!(!without_subjects(schema).unwrap().contains("jane"));
        let patch = r#"[{"op":"add","path":"/subjects/-","value":{"kind":"Group","name":"team"}}]"#;
        assert!(!without_subjects(patch).unwrap().contains("team"));
        let patch = r#"[{"op":"replace","path":"/subjects/0/name","value":"jane"}]"#;
        assert!(!without_subjects(patch).unwrap().contains("jane"));
    }

    #[test]
    fn a_body_without_people_stays_byte_for_byte() {
        let body = r#"{ "subjects": [ {"kind":"ServiceAccount","name":"a"} ], "z":1, "a":2 }"#;
        assert!(matches!(without_subjects(body), Ok(Cow::Borrowed(same)) if same == body));
    }

    #[test]
    fn a_body_that_is_nested_too_deep_is_said() {
        let deep =
            format!(r#"{{"a":{}{},"subjects":[{{"kind":"User","name":"jane"}}]}}"#, "[".repeat(127), "]".repeat(127));
        assert_eq!(without_subjects(&deep), Err(Unreadable));
    }
}
