//! The content type of a body that came without one; for a PATCH it is a guess.
//!
//! Strategic merge is understood for the types that Kubernetes is built with, and for them alone. A group's
//! ending does not tell: `snapshot.storage.k8s.io` and `gateway.networking.k8s.io` are custom resources.

use super::api_path::ApiPath;
use super::request::Verb;

/// JSON.
pub const JSON: &str = "application/json";
/// Server-side apply.
pub const APPLY: &str = "application/apply-patch+yaml";
/// RFC 6902.
pub const JSON_PATCH: &str = "application/json-patch+json";
/// RFC 7386.
pub const MERGE_PATCH: &str = "application/merge-patch+json";
/// Kubernetes' own.
pub const STRATEGIC_MERGE_PATCH: &str = "application/strategic-merge-patch+json";

/// The built-in groups and their resources, of any version up to Kubernetes 1.35.
const BUILT_IN: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "bindings",
            "componentstatuses",
            "configmaps",
            "endpoints",
            "events",
            "limitranges",
            "namespaces",
            "nodes",
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "podtemplates",
            "replicationcontrollers",
            "resourcequotas",
            "secrets",
            "serviceaccounts",
            "services",
        ],
    ),
    (
        "admissionregistration.k8s.io",
        &[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "validatingwebhookconfigurations",
        ],
    ),
    ("apiextensions.k8s.io", &["customresourcedefinitions"]),
    ("apiregistration.k8s.io", &["apiservices"]),
    ("apps", &["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"]),
    ("authentication.k8s.io", &["selfsubjectreviews", "tokenreviews"]),
    (
        "authorization.k8s.io",
        &["localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"],
    ),
    ("autoscaling", &["horizontalpodautoscalers"]),
    ("batch", &["cronjobs", "jobs"]),
    ("certificates.k8s.io", &["certificatesigningrequests", "clustertrustbundles", "podcertificaterequests"]),
    ("coordination.k8s.io", &["leasecandidates", "leases"]),
    ("discovery.k8s.io", &["endpointslices"]),
    ("events.k8s.io", &["events"]),
    (
        "extensions",
        &["daemonsets", "deployments", "ingresses", "networkpolicies", "podsecuritypolicies", "replicasets"],
    ),
    ("flowcontrol.apiserver.k8s.io", &["flowschemas", "prioritylevelconfigurations"]),
    ("internal.apiserver.k8s.io", &["storageversions"]),
    ("networking.k8s.io", &["ingressclasses", "ingresses", "ipaddresses", "networkpolicies", "servicecidrs"]),
    ("node.k8s.io", &["runtimeclasses"]),
    ("policy", &["poddisruptionbudgets", "podsecuritypolicies"]),
    ("rbac.authorization.k8s.io", &["clusterrolebindings", "clusterroles", "rolebindings", "roles"]),
    (
        "resource.k8s.io",
        &["deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates", "resourceslices"],
    ),
    ("scheduling.k8s.io", &["priorityclasses", "workloads"]),
    (
        "storage.k8s.io",
        &[
            "csidrivers",
            "csinodes",
            "csistoragecapacities",
            "storageclasses",
            "volumeattachments",
            "volumeattributesclasses",
        ],
    ),
    ("storagemigration.k8s.io", &["storageversionmigrations"]),
];

/// Whether Kubernetes is built with this resource.
pub fn is_built_in(group: &str, resource: &str) -> bool {
    BUILT_IN.iter().any(|(known, resources)| *known == group && resources.contains(&resource))
}

/// The type of a PATCH that does not say it: JSON Patch where the body is a list, else strategic merge for
/// the built-in resources and merge for all others.
pub fn guessed(path: &str, body: &[u8]) -> &'static str {
    if body.trim_ascii_start().first() == Some(&b'[') {
        return JSON_PATCH;
    }
    match ApiPath::parse(path) {
        Some(parts) if is_built_in(&parts.group, &parts.resource) => STRATEGIC_MERGE_PATCH,
        _ => MERGE_PATCH,
    }
}

/// The type of a body that came without one, and whether it was guessed.
pub fn content_type(verb: Verb, path: &str, body: &[u8]) -> (&'static str, bool) {
    match verb {
        Verb::Patch => (guessed(path, body), true),
        Verb::Apply => (APPLY, false),
        _ => (JSON, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_resources_are_told_from_custom_ones_by_group_and_resource() {
        for (path, expected) in [
            ("/api/v1/namespaces/a/pods/b", STRATEGIC_MERGE_PATCH),
            ("/api/v1/nodes/b/status", STRATEGIC_MERGE_PATCH),
            ("/apis/apps/v1/namespaces/a/deployments/b/scale", STRATEGIC_MERGE_PATCH),
            ("/apis/coordination.k8s.io/v1/namespaces/a/leases/b", STRATEGIC_MERGE_PATCH),
            ("/apis/snapshot.storage.k8s.io/v1/namespaces/a/volumesnapshots/b", MERGE_PATCH),
            ("/apis/gateway.networking.k8s.io/v1/namespaces/a/gateways/b", MERGE_PATCH),
            ("/apis/networking.k8s.io/v1/namespaces/a/gateways/b", MERGE_PATCH),
            ("/apis/example.com/v1/namespaces/a/pods/b", MERGE_PATCH),
            ("/api/v1/namespaces/a/widgets/b", MERGE_PATCH),
        ] {
            assert_eq!(guessed(path, b"{}"), expected, "{path}");
        }
    }

    #[test]
    fn a_body_that_is_a_list_is_a_json_patch() {
        assert_eq!(guessed("/api/v1/nodes/a", b" \n[{\"op\":\"remove\",\"path\":\"/a\"}]"), JSON_PATCH);
    }

    #[test]
    fn only_a_patch_is_guessed() {
        assert_eq!(content_type(Verb::Create, "/api/v1/pods", b"{}"), (JSON, false));
        assert_eq!(content_type(Verb::Apply, "/api/v1/nodes/a", b"{}"), (APPLY, false));
        assert_eq!(content_type(Verb::Patch, "/api/v1/nodes/a", b"{}"), (STRATEGIC_MERGE_PATCH, true));
    }
}
