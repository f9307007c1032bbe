//! Access reviews (authorization.k8s.io): k9s and others ask before every view.

use serde_json::{Value, json};

use super::kinds::Kind;
use super::status::{FieldError, Status};

/// What the caller would do, as a `SelfSubjectAccessReview` asks it. A part that is not given is "".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// API group; "*" for any.
    pub group: String,
    /// Plural resource; "*" for any; "" where a path is asked about.
    pub resource: String,
    /// Subresource.
    pub subresource: String,
    /// list, watch, get …; "*" for any.
    pub verb: String,
    /// Namespace; "" for all.
    pub namespace: String,
    /// Object; "" for all.
    pub name: String,
    /// A path that belongs to no resource, such as `/healthz`.
    pub path: String,
}

/// Answers a posted `SelfSubjectAccessReview`. `refusal` says why something is not allowed; `None` allows it.
pub fn access_review(body: &Value, refusal: impl Fn(&Access) -> Option<String>) -> Result<Value, Status> {
    let resource = body.pointer("/spec/resourceAttributes");
    let path = body.pointer("/spec/nonResourceAttributes");
    let Some(asked) = resource.xor(path) else {
        let rule = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        let error = FieldError::invalid("spec.resourceAttributes", &Value::Null, rule);
        return Err(Status::invalid_named("authorization.k8s.io", "", "", &[error]));
    };
    let text = |name| asked.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let access = Access {
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        verb: text("verb"),
        namespace: text("namespace"),
        name: text("name"),
        path: text("path"),
    };
    let mut status = json!({"allowed": true, "reason": "perfq allows its token everything"});
    if let Some(why) = refusal(&access) {
        status = json!({"allowed": false, "reason": why});
    }
    Ok(answer(body, "SelfSubjectAccessReview", &status))
}

/// Answers a posted `SelfSubjectRulesReview`. `denied` are kinds that may not be listed and watched; rules can
/// only allow, so that the others are then named one by one.
pub fn rules_review(body: &Value, denied: &[&Kind]) -> Result<Value, Status> {
    let namespace = body.pointer("/spec/namespace").and_then(Value::as_str).unwrap_or("");
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let all = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
    let rules = if denied.is_empty() {
        all
    } else {
        let allowed = super::kinds::all().iter().filter(|k| !denied.iter().any(|d| std::ptr::eq(*d, *k)));
        let rule = |k: &Kind| json!({"verbs": ["*"], "apiGroups": [k.group], "resources": [k.plural]});
        allowed.map(rule).collect()
    };
    let status = json!({
        "resourceRules": rules,
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": false,
    });
    // The real server does not say it again either.
    Ok(answer(&json!({"spec": {}}), "SelfSubjectRulesReview", &status))
}

fn answer(body: &Value, kind: &str, status: &Value) -> Value {
    json!({
        "kind": kind, "apiVersion": "authorization.k8s.io/v1", "metadata": {},
        "spec": body.get("spec"), "status": status,
    })
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;

    #[test]
    fn everything_is_allowed_but_what_is_refused_and_then_with_the_reason() {
        let body = json!({"spec": {"resourceAttributes": {"verb": "list", "resource": "nodes"}}});
        let allow = access_review(&body, |_| None).unwrap();
        assert_eq!((&allow["status"]["allowed"], &allow["spec"]), (&json!(true), &body["spec"]));
        let refuse = access_review(&body, |a| (a.resource == "nodes").then(|| "no".to_owned())).unwrap();
        assert_eq!(refuse["status"], json!({"allowed": false, "reason": "no"}));
        let path = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}}});
        assert_eq!(access_review(&path, |a| Some(a.path.clone())).unwrap()["status"]["reason"], "/healthz");
        assert_eq!(access_review(&json!({"spec": {}}), |_| None).unwrap_err().code, 422);
    }

    #[test]
    fn the_rules_are_all_or_name_what_is_left() {
        let body = json!({"spec": {"namespace": "a"}});
        assert_eq!(rules_review(&body, &[]).unwrap()["status"]["resourceRules"][0]["resources"], json!(["*"]));
        let nodes = kinds::find("", "v1", "nodes").unwrap();
        let rules = rules_review(&body, &[nodes]).unwrap()["status"]["resourceRules"].clone();
        let named = |group: &str, name: &str| {
            rules
                .as_array()
                .unwrap()
                .iter()
                .any(|r| r["apiGroups"] == json!([group]) && r["resources"] == json!([name]))
        };
        assert!(named("", "pods") && named("metrics.k8s.io", "nodes") && !named("", "nodes"));
        assert_eq!(rules_review(&json!({}), &[]).unwrap_err().code, 400);
    }
}
