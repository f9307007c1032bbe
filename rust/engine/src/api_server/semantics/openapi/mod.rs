//! `OpenAPI` documents of what is served: v3, one document a group and version, as kubectl's create, apply and
//! explain ask for it, and v2 as JSON. Made from the table of kinds and the types of [`super::schema`].
//!
//! The v2 document as protobuf is not served: kubectl asks for it only where v3 is missing.

mod paths;
mod types;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use perfq_core::partition::fnv1a64;
use serde_json::{Value, json};

use self::types::Version;
use super::discovery::GIT_VERSION;
use super::kinds::{Kind, Source, all};

/// A document as it is sent. Made when first asked for.
struct Documents {
    /// By path below `/openapi/v3/`, for instance `apis/apps/v1`.
    groups: BTreeMap<String, Vec<u8>>,
    index: Vec<u8>,
}

static V3: LazyLock<Documents> = LazyLock::new(|| {
    let mut kinds: BTreeMap<String, Vec<&Kind>> = BTreeMap::new();
    for kind in all().iter().filter(|k| k.source != Source::Metrics) {
        kinds.entry(group_path(kind)).or_default().push(kind);
    }
    let groups: BTreeMap<String, Vec<u8>> =
        kinds.iter().map(|(path, kinds)| (path.clone(), v3_document(kinds).to_string().into_bytes())).collect();
    let entries: serde_json::Map<String, Value> = groups
        .iter()
        .map(|(path, bytes)| {
            let url = format!("/openapi/v3/{path}?hash={:016X}", fnv1a64(bytes));
            (path.clone(), json!({"serverRelativeURL": url}))
        })
        .collect();
    Documents { index: json!({"paths": entries}).to_string().into_bytes(), groups }
});

static V2: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let kinds: Vec<&Kind> = all().iter().filter(|k| k.source != Source::Metrics).collect();
    let document = json!({
        "swagger": "2.0", "info": info(), "paths": paths::of_kinds(&kinds, Version::V2),
        "definitions": types::of_kinds(&kinds, Version::V2),
    });
    document.to_string().into_bytes()
});

fn info() -> Value {
    json!({"title": "perfq's embedded API server", "version": GIT_VERSION})
}

fn group_path(kind: &Kind) -> String {
    if kind.group.is_empty() {
        format!("api/{}", kind.version)
    } else {
        format!("apis/{}/{}", kind.group, kind.version)
    }
}

fn v3_document(kinds: &[&Kind]) -> Value {
    json!({
        "openapi": "3.0.0", "info": info(), "paths": paths::of_kinds(kinds, Version::V3),
        "components": {"schemas": types::of_kinds(kinds, Version::V3)},
    })
}

/// `/openapi/v3`: where the documents are, each with the hash of its content.
pub fn v3_index() -> &'static [u8] {
    &V3.index
}

/// `/openapi/v3/PATH`, for instance `api/v1` or `apis/apps/v1`.
pub fn v3(path: &str) -> Option<&'static [u8]> {
    V3.groups.get(path).map(Vec::as_slice)
}

/// `/openapi/v2`.
pub fn v2() -> &'static [u8] {
    &V2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    /// Every `$ref` in a document.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|v| references(v, found));
            }
            Value::Array(items) => items.iter().for_each(|v| references(v, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_of_every_document_leads_to_a_type() {
        let v3 = V3.groups.values().map(|bytes| document(bytes));
        for document in v3.chain([document(v2())]) {
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(!found.is_empty());
            for reference in found {
                let pointer = reference.trim_start_matches('#');
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
        }
    }

    #[test]
    fn the_index_names_each_group_with_the_hash_of_its_document() {
        let index = document(v3_index());
        let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
        let (path, hash) = url.split_once("?hash=").unwrap();
        let bytes = v3(path.trim_start_matches("/openapi/v3/")).unwrap();
        assert_eq!(hash, format!("{:016X}", fnv1a64(bytes)));
        assert!(v3("apis/none/v1").is_none() && index["paths"].get("apis/metrics.k8s.io/v1beta1").is_none());
    }

    #[test]
    fn kubectl_finds_what_it_looks_for() {
        let apps = document(v3("apis/apps/v1").unwrap());
        let patch = &apps["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
        let parameters: Vec<&Value> = patch["parameters"].as_array().unwrap().iter().map(|p| &p["name"]).collect();
        assert!(parameters.contains(&&json!("fieldValidation")) && parameters.contains(&&json!("dryRun")));
        assert!(patch["requestBody"]["content"].get("application/strategic-merge-patch+json").is_some());
        let container = &apps["components"]["schemas"]["io.k8s.api.core.v1.Container"];
        assert_eq!(container["properties"]["ports"]["x-kubernetes-patch-merge-key"], "containerPort");
        assert_eq!(container["required"], json!(["name"]));
        let deployment = &apps["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
        assert_eq!(deployment["x-kubernetes-group-version-kind"][0]["group"], "apps");
    }
}
