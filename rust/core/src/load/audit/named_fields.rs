//! Names in bodies, hashed.
//!
//! Kubernetes' own fields are known; in free text (a message, an image, a command) a name is replaced where it
//! is one of the same request's names.

use super::json_strings::Unreadable;
use super::names::Names;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Fields whose text is a name, in whatever object they stand.
const NAMES: [&str; 22] = [
    "claimName",
    "configMapName",
    "generateName",
    "holderIdentity",
    "hostname",
    "ingressClassName",
    "name",
    "namespace",
    "nodeName",
    "podName",
    "port",
    "priorityClassName",
    "reportingInstance",
    "resourceNames",
    "runtimeClassName",
    "secretName",
    "serviceAccount",
    "serviceAccountName",
    "serviceName",
    "storageClassName",
    "targetPort",
    "volumeName",
];
/// Fields whose texts are the user's own.
const TEXTS: [&str; 6] = ["annotations", "labels", "matchLabels", "nodeSelector", "selector", "values"];
/// Fields whose texts mean something to the server.
const WITH_MEANING: [&str; 11] = [
    "apiGroup",
    "apiGroups",
    "apiVersion",
    "fieldPath",
    "kind",
    "op",
    "operator",
    "path",
    "resources",
    "type",
    "verbs",
];
/// A shorter name is too likely to be a word of a text.
const SHORTEST_IN_TEXT: usize = 4;

/// The body with all names hashed; those of the path are names of its texts as well.
pub(super) fn hash_body(names: &Names, body: &str, of_path: [&str; 2]) -> Result<String, Unreadable> {
    let mut value: Value = serde_json::from_str(body).map_err(|_| Unreadable)?;
    let seen = of_path.into_iter().map(|name| (name.to_owned(), names.of(name))).collect();
    let mut walk = Walk { names, seen };
    walk.fields(&mut value);
    walk.seen.retain(|name, hashed| name.len() >= SHORTEST_IN_TEXT && hashed != name);
    walk.texts(&mut value);
    Ok(value.to_string())
}

struct Walk<'a> {
    names: &'a Names,
    /// Names and what stands for each, so that it is made once.
    seen: BTreeMap<String, String>,
}

impl Walk<'_> {
    fn hash(&mut self, text: &mut String) {
        let name = std::mem::take(text);
        let hashed = self.seen.entry(name).or_insert_with_key(|name| self.names.of(name));
        text.clone_from(hashed);
    }

    /// Names and the user's own texts, by the field that they stand in.
    fn fields(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.fields(item)),
            Value::Object(fields) => {
                // It repeats names in its keys, and the server keeps its own.
                fields.remove("managedFields");
                self.json_patch(fields);
                for (key, value) in fields.iter_mut() {
                    let expressions = value.get("matchLabels").is_some() || value.get("matchExpressions").is_some();
                    if key == "generateName" {
                        if let Value::String(prefix) = value {
                            self.hash(prefix);
                            prefix.push('-');
                        }
                    } else if NAMES.contains(&&**key) && !value.is_object() {
                        self.leaves(value, true);
                    } else if TEXTS.contains(&&**key) && !expressions {
                        self.leaves(value, false);
                    } else {
                        self.fields(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// All texts under a value; names among them are to be known in other texts.
    fn leaves(&mut self, value: &mut Value, are_names: bool) {
        match value {
            Value::String(text) if are_names => self.hash(text),
            Value::String(text) => *text = self.names.of(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.leaves(item, are_names)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.leaves(value, are_names)),
            _ => {}
        }
    }

    /// An operation of a JSON Patch has its field in `path`.
    fn json_patch(&mut self, fields: &mut Map<String, Value>) {
        let Some(path) = fields.get("path").and_then(Value::as_str).filter(|path| path.starts_with('/')) else {
            return;
        };
        let is_name = path.rsplit('/').next().is_some_and(|last| NAMES.contains(&last));
        let is_text = path.split('/').any(|part| TEXTS.contains(&part));
        if let Some(value) = fields.get_mut("value").filter(|_| is_name || is_text) {
            self.leaves(value, is_name);
        }
    }

    /// Names that stand in texts.
    fn texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (name, hashed) in &self.seen {
                    if let Some(changed) = replace_word(text, name, hashed) {
                        *text = changed;
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item)),
            Value::Object(fields) => {
                let free = fields.iter_mut().filter(|(key, _)| !WITH_MEANING.contains(&&***key));
                free.for_each(|(_, value)| self.texts(value));
            }
            _ => {}
        }
    }
}

/// The text with a word replaced where it stands alone; `None` where it does not.
pub(super) fn replace_word(text: &str, word: &str, instead: &str) -> Option<String> {
    let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        if !inner(text[..at].chars().next_back()) && !inner(text[end..].chars().next()) {
            out.push_str(&text[from..at]);
            out.push_str(instead);
            from = end;
        }
    }
    (from > 0).then(|| out + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hashed(body: &Value) -> Value {
        let names = Names::new([7; 32]);
        serde_json::from_str(&hash_body(&names, &body.to_string(), ["shop", "web-1"]).unwrap()).unwrap()
    }

    fn n(name: &str) -> String {
        Names::new([7; 32]).of(name)
    }

    #[test]
    fn no_name_of_an_object_is_left_in_it() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "web-1", "namespace": "shop", "generateName": "web-", "labels": {"app": "webshop"},
                "annotations": {"note": "the webshop's web-1"}, "managedFields": [{"manager": "web-1"}],
                "ownerReferences": [{"kind": "ReplicaSet", "name": "webshop-5d4", "uid": "1"}],
            },
            "spec": {
                "nodeName": "node-7", "serviceAccountName": "webshop-sa",
                "containers": [{"name": "main", "image": "registry.example/webshop-sa/main:1", "ports": [{"name": "http"}],
                    "readinessProbe": {"httpGet": {"port": "http"}}, "args": ["--on=node-7", "--max=5"]}],
                "volumes": [{"name": "data", "secret": {"secretName": "webshop-key"}}],
            },
        });
        let text = hashed(&pod).to_string();
        for name in ["web-1", "\"shop\"", "webshop", "node-7", "\"main\"", "\"data\"", "\"http\"", "managedFields"] {
            assert!(!text.contains(name), "{name} in {text}");
        }
        let pod = hashed(&pod);
        assert_eq!(pod["metadata"]["name"], n("web-1"));
        assert_eq!(pod["metadata"]["labels"]["app"], n("webshop"));
        assert_eq!(pod["metadata"]["generateName"], format!("{}-", n("web-")));
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["ports"][0]["name"], container["readinessProbe"]["httpGet"]["port"]);
        assert_eq!(container["args"], json!([format!("--on={}", n("node-7")), "--max=5"]));
        assert_eq!(container["image"], format!("registry.example/{}/{}:1", n("webshop-sa"), n("main")));
    }

    #[test]
    fn selectors_keep_their_form() {
        let body = json!({"spec": {
            "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a"]}]},
            "replicas": 3,
        }});
        let expected = json!({"spec": {
            "selector": {"matchLabels": {"app": n("web")}, "matchExpressions": [{"key": "tier", "operator": "In", "values": [n("a")]}]},
            "replicas": 3,
        }});
        assert_eq!(hashed(&body), expected);
        assert_eq!(hashed(&json!({"spec": {"selector": {"app": "web"}}}))["spec"]["selector"]["app"], n("web"));
    }

    #[test]
    fn kinds_verbs_and_types_stay() {
        let role = json!({"kind": "Role", "metadata": {"name": "pods"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["web-1"]}]});
        let hashed = hashed(&role);
        assert_eq!(hashed["rules"][0]["resources"], json!(["pods"]));
        assert_eq!(hashed["rules"][0]["resourceNames"], json!([n("web-1")]));
    }

    #[test]
    fn a_json_patch_is_hashed_by_its_paths() {
        let patch = json!([
            {"op": "add", "path": "/metadata/labels/app", "value": "webshop"},
            {"op": "replace", "path": "/spec/nodeName", "value": "node-7"},
            {"op": "replace", "path": "/spec/replicas", "value": 3},
            {"op": "test", "path": "/spec/image", "value": "busybox"},
        ]);
        let hashed = hashed(&patch);
        assert_eq!(hashed[0]["value"], n("webshop"));
        assert_eq!(hashed[1]["value"], n("node-7"));
        assert_eq!((&hashed[2], &hashed[3]), (&patch[2], &patch[3]));
    }

    #[test]
    fn a_word_is_replaced_where_it_stands_alone() {
        assert_eq!(replace_word("web web-1 webs éweb web", "web", "n").as_deref(), Some("n n-1 webs éweb n"));
        assert_eq!(replace_word("webs", "web", "n"), None);
    }
}
