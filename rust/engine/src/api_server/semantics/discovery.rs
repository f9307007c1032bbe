//! Discovery: what is served, as kubectl and client-go ask for it; one document a group and version, or
//! aggregated (apidiscovery.k8s.io).

use perfq_core::digest::Digest;
use serde_json::{Value, json};

use super::base64;
use super::kinds::{Kind, Source, all};
use super::negotiate::DiscoveryVersion;

/// The Kubernetes version whose surface is served, marked as ours.
pub const GIT_VERSION: &str = "v1.36.3+perfq";

/// Parts of the surface that can be switched off.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// metrics.k8s.io.
    pub metrics: bool,
}

impl Served {
    fn kinds(self) -> impl Iterator<Item = &'static Kind> {
        all().iter().filter(move |k| self.metrics || k.source != Source::Metrics)
    }

    /// Named groups, in order, without doubles.
    fn groups(self) -> Vec<(&'static str, &'static str)> {
        let mut groups: Vec<_> = self.kinds().filter(|k| !k.group.is_empty()).map(|k| (k.group, k.version)).collect();
        groups.dedup();
        groups
    }
}

/// `/version`.
pub fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": GIT_VERSION, "gitCommit": "", "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "", "compiler": "rustc", "platform": "linux/amd64",
    })
}

/// `/`: every path that is served.
pub fn paths(served: Served) -> Value {
    let mut paths: Vec<String> = ["/api", "/api/v1", "/apis"].map(str::to_owned).to_vec();
    for (group, version) in served.groups() {
        paths.push(format!("/apis/{group}"));
        paths.push(format!("/apis/{group}/{version}"));
    }
    paths.extend(
        ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"].map(str::to_owned),
    );
    json!({"paths": paths})
}

/// `/api`. `address` is `HOST:PORT` of this server.
pub fn api_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

fn group_body(group: &str, version: &str) -> Value {
    let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({"name": group, "versions": [version], "preferredVersion": version})
}

/// `/apis`.
pub fn group_list(served: Served) -> Value {
    let groups: Vec<Value> = served.groups().iter().map(|(g, v)| group_body(g, v)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
pub fn group(name: &str, served: Served) -> Option<Value> {
    let (group, version) = served.groups().into_iter().find(|(g, _)| *g == name)?;
    let mut body = group_body(group, version);
    body["kind"] = "APIGroup".into();
    body["apiVersion"] = "v1".into();
    Some(body)
}

/// `/api/v1` (group "") and `/apis/GROUP/VERSION`.
pub fn resources(group: &str, version: &str, served: Served) -> Option<Value> {
    let kinds: Vec<&Kind> = served.kinds().filter(|k| k.group == group && k.version == version).collect();
    let first = kinds.first()?;
    let mut resources = Vec::new();
    for kind in &kinds {
        let mut resource = json!({
            "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced,
            "kind": kind.kind, "verbs": kind.verbs,
        });
        if kind.source == Source::Stored {
            resource["storageVersionHash"] = storage_version_hash(kind).into();
        }
        if !kind.short_names.is_empty() {
            resource["shortNames"] = kind.short_names.into();
        }
        if !kind.categories.is_empty() {
            resource["categories"] = kind.categories.into();
        }
        resources.push(resource);
        resources.extend(kind.subresources.iter().map(|sub| {
            json!({
                "name": format!("{}/{}", kind.plural, sub.name), "singularName": "",
                "namespaced": kind.namespaced, "kind": sub.kind, "verbs": sub.verbs,
            })
        }));
    }
    let mut list = json!({"kind": "APIResourceList", "groupVersion": first.api_version(), "resources": resources});
    if !group.is_empty() {
        // The real server's document of the core group says no version.
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

/// Stands for the type that objects are stored as: eight bytes of the digest of `GROUP/VERSION/KIND`, in base64.
fn storage_version_hash(kind: &Kind) -> String {
    let mut digest = Digest::default();
    digest.update(format!("{}/{}/{}", kind.group, kind.version, kind.kind).as_bytes());
    base64::encode(&digest.bytes()[..8])
}

/// `/api` (`core`) or `/apis` as one `APIGroupDiscoveryList`.
pub fn aggregated(core: bool, version: DiscoveryVersion, served: Served) -> Value {
    let groups = if core { vec![("", "v1")] } else { served.groups() };
    let items: Vec<Value> = groups
        .into_iter()
        .map(|(group, group_version)| {
            let kinds = served.kinds().filter(|k| k.group == group);
            let metadata = if core { json!({}) } else { json!({"name": group}) };
            json!({
                "metadata": metadata,
                "versions": [{
                    "version": group_version, "freshness": "Current",
                    "resources": kinds.map(aggregated_resource).collect::<Vec<_>>(),
                }],
            })
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{}", version.version()),
        "metadata": {}, "items": items,
    })
}

fn aggregated_resource(kind: &Kind) -> Value {
    // An empty group and version mean those of the document, as the real server writes it.
    let response = |name: &str| json!({"group": "", "version": "", "kind": name});
    let mut resource = json!({
        "resource": kind.plural, "singularResource": kind.singular, "responseKind": response(kind.kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" }, "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = kind.short_names.into();
    }
    if !kind.categories.is_empty() {
        resource["categories"] = kind.categories.into();
    }
    if !kind.subresources.is_empty() {
        let subresources = kind.subresources.iter();
        resource["subresources"] = subresources
            .map(|s| json!({"subresource": s.name, "responseKind": response(s.kind), "verbs": s.verbs}))
            .collect();
    }
    resource
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Served = Served { metrics: true };

    #[test]
    fn the_group_list_names_each_group_once_and_metrics_only_while_they_are_on() {
        let names = |served| -> Vec<String> {
            let list = group_list(served);
            list["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap().to_owned()).collect()
        };
        let expected = ["apps", "authorization.k8s.io", "batch", "coordination.k8s.io", "metrics.k8s.io"];
        assert_eq!(names(ALL), expected);
        assert_eq!(names(Served { metrics: false }), expected[..4]);
        assert!(group("metrics.k8s.io", Served { metrics: false }).is_none());
        assert_eq!(group("apps", ALL).unwrap()["preferredVersion"]["groupVersion"], "apps/v1");
    }

    #[test]
    fn a_resource_list_has_subresources_short_names_and_categories() {
        let list = resources("", "v1", ALL).unwrap();
        let find = |name: &str| list["resources"].as_array().unwrap().iter().find(|r| r["name"] == name).cloned();
        let pods = find("pods").unwrap();
        assert_eq!((&pods["shortNames"], &pods["categories"]), (&json!(["po"]), &json!(["all"])));
        assert_eq!(find("pods/log").unwrap()["verbs"], json!(["get"]));
        assert!(find("namespaces").unwrap()["namespaced"] == json!(false) && find("deployments").is_none());
        assert!(resources("apps", "v2", ALL).is_none());
    }

    #[test]
    fn aggregated_discovery_says_the_same_as_the_single_documents() {
        let both = [aggregated(true, DiscoveryVersion::V2, ALL), aggregated(false, DiscoveryVersion::V2, ALL)];
        for item in both.iter().flat_map(|d| d["items"].as_array().unwrap()) {
            let group = item["metadata"]["name"].as_str().unwrap_or("");
            let version = &item["versions"][0];
            let single = resources(group, version["version"].as_str().unwrap(), ALL).unwrap();
            let single: Vec<&Value> = single["resources"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
            let mut names = Vec::new();
            for resource in version["resources"].as_array().unwrap() {
                let name = resource["resource"].as_str().unwrap();
                names.push(json!(name));
                for sub in resource["subresources"].as_array().into_iter().flatten() {
                    names.push(json!(format!("{name}/{}", sub["subresource"].as_str().unwrap())));
                }
            }
            assert_eq!(names.iter().collect::<Vec<_>>(), single, "{group}");
        }
        assert_eq!(both[0]["apiVersion"], "apidiscovery.k8s.io/v2");
    }
}
