//! Rules of single kinds, of those that clients run into.

use serde_json::{Value, json};

use crate::api_server::semantics::kinds::Kind;
use crate::api_server::semantics::status::FieldError;

/// What an object breaks of the rules of its kind.
pub(super) fn broken(kind: &Kind, object: &Value) -> Vec<FieldError> {
    match kind.kind {
        "ConfigMap" => [keys(object, "data"), keys(object, "binaryData")].concat(),
        "Secret" => keys(object, "data"),
        "Pod" => pod(&object["spec"]),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => template(&object["spec"]),
        _ => Vec::new(),
    }
}

/// Entries become files and variables: their keys are names of such.
fn keys(object: &Value, field: &str) -> Vec<FieldError> {
    let entries = object.get(field).and_then(Value::as_object).into_iter().flatten();
    let sound = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    entries
        .filter(|(key, _)| !sound(key) || key.is_empty())
        .map(|(key, _)| FieldError::invalid(&format!("{field}[{key}]"), &json!(key), rule))
        .collect()
}

/// The template's Pods must be among those that are looked after.
fn template(spec: &Value) -> Vec<FieldError> {
    let labels = &spec["template"]["metadata"]["labels"];
    let mut wanted = spec["selector"]["matchLabels"].as_object().into_iter().flatten();
    if wanted.all(|(key, value)| labels.get(key) == Some(value)) {
        return Vec::new();
    }
    let rule = "`selector` does not match template `labels`";
    vec![FieldError::invalid("spec.template.metadata.labels", labels, rule)]
}

fn pod(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for list in ["initContainers", "containers"] {
        for (i, container) in spec[list].as_array().into_iter().flatten().enumerate() {
            let name = container["name"].as_str().unwrap_or("");
            if !name.is_empty() && seen.contains(&name) {
                errors.push(FieldError::duplicate(&format!("spec.{list}[{i}].name"), &json!(name)));
            }
            seen.push(name);
        }
    }
    let known = ["Always", "OnFailure", "Never"];
    if let Some(policy) = spec["restartPolicy"].as_str().filter(|policy| !known.contains(policy)) {
        errors.push(FieldError::not_supported("spec.restartPolicy", &json!(policy), &known));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::kinds;

    fn messages(plural: &str, object: &Value) -> Vec<String> {
        broken(kinds::find("", "v1", plural).unwrap(), object).iter().map(FieldError::to_string).collect()
    }

    #[test]
    fn keys_of_entries_are_names() {
        assert_eq!(messages("configmaps", &json!({"data": {"a.b-c_D": ""}, "binaryData": {"x": ""}})), [""; 0]);
        let wrong = messages("configmaps", &json!({"data": {"a b": ""}, "binaryData": {"é": ""}}));
        assert!(wrong[0].starts_with("data[a b]: Invalid value: \"a b\": a valid config key"), "{wrong:?}");
        assert!(wrong[1].starts_with("binaryData[é]: "), "{wrong:?}");
    }

    #[test]
    fn a_template_has_the_labels_that_are_selected() {
        let deployment = |labels: &Value| {
            let object = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": labels}}}});
            broken(kinds::find("apps", "v1", "deployments").unwrap(), &object).len()
        };
        assert_eq!(
            [json!({"a": "b", "c": "d"}), json!({"a": "c"}), json!(null)].map(|labels| deployment(&labels)),
            [0, 1, 1]
        );
    }

    #[test]
    fn a_pod_names_its_containers_once_and_a_policy_that_there_is() {
        let container = |name: &str| json!({"name": name, "image": "i"});
        let pod = json!({"spec": {"initContainers": [container("a")], "containers": [container("b"), container("a")],
            "restartPolicy": "Sometimes"}});
        assert_eq!(
            messages("pods", &pod),
            [
                "spec.containers[1].name: Duplicate value: \"a\"",
                "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            ]
        );
    }
}
