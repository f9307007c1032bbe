//! The series that a request is counted in: what was asked, with everything masked that grows with objects.

use super::{ApiPath, Verb};
use std::fmt::Write as _;

/// `VERB group/version/resource[/subresource] scope`, where the scope is `cluster`, `namespace` or `object`.
///
/// The core group is written as `core`. Names and namespaces of objects never occur in it, so that the number of
/// series does not grow with objects: what is no path of the Kubernetes API is `VERB other`, but for the few
/// paths that every API server has (`/version`, `/healthz`, …).
pub fn series_key(verb: Verb, path: &str) -> String {
    let mut key = String::with_capacity(48);
    key.push_str(verb.name());
    key.push(' ');
    let Some(parts) = ApiPath::parse(path) else {
        key.push_str(well_known(path));
        return key;
    };
    let group = if parts.group.is_empty() { "core" } else { &parts.group };
    let _ = write!(key, "{group}/{}/{}", parts.version, parts.resource);
    if !parts.subresource.is_empty() {
        let _ = write!(key, "/{}", parts.subresource);
    }
    key.push_str(match (parts.name.is_empty(), parts.namespace.is_empty()) {
        (false, _) => " object",
        (true, false) => " namespace",
        (true, true) => " cluster",
    });
    key
}

fn well_known(path: &str) -> &'static str {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    match first {
        "api" | "apis" => "discovery",
        "openapi" => "openapi",
        "version" => "version",
        "healthz" | "livez" | "readyz" => "health",
        "metrics" => "metrics",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_series_says_what_was_asked_and_not_of_whom() {
        for (verb, path, key) in [
            (Verb::List, "/api/v1/pods", "LIST core/v1/pods cluster"),
            (Verb::List, "/api/v1/namespaces/ns-3/pods", "LIST core/v1/pods namespace"),
            (Verb::Get, "/api/v1/namespaces/ns-3/pods/a-17", "GET core/v1/pods object"),
            (Verb::Get, "/api/v1/namespaces/ns-3/pods/a-17/log", "GET core/v1/pods/log object"),
            (Verb::Get, "/api/v1/namespaces/ns-3", "GET core/v1/namespaces object"),
            (Verb::Update, "/api/v1/namespaces/ns-3/status", "UPDATE core/v1/namespaces/status object"),
            (Verb::Update, "/api/v1/namespaces/ns-3/finalize", "UPDATE core/v1/namespaces/finalize object"),
            (Verb::List, "/api/v1/namespaces", "LIST core/v1/namespaces cluster"),
            (Verb::Patch, "/api/v1/nodes/n1/status", "PATCH core/v1/nodes/status object"),
            (Verb::Watch, "/apis/cilium.io/v2/ciliumendpoints", "WATCH cilium.io/v2/ciliumendpoints cluster"),
            (Verb::Create, "/apis/apps/v1/namespaces/x/deployments", "CREATE apps/v1/deployments namespace"),
            (Verb::Get, "/version", "GET version"),
            (Verb::Get, "/apis/apps/v1", "GET discovery"),
            (Verb::Get, "/readyz/etcd", "GET health"),
            (Verb::Get, "/something/else", "GET other"),
        ] {
            assert_eq!(series_key(verb, path), key, "{path}");
        }
    }

    proptest! {
        #[test]
        fn names_and_namespaces_make_no_series(ns in "[a-z0-9-]{1,20}", name in "[a-z0-9.-]{1,20}") {
            let path = format!("/apis/apps/v1/namespaces/{ns}/deployments/{name}");
            prop_assert_eq!(series_key(Verb::Get, &path), "GET apps/v1/deployments object");
        }

        #[test]
        fn any_path_has_a_series(path in "\\PC{0,60}") {
            prop_assert!(series_key(Verb::Get, &path).starts_with("GET "));
        }
    }
}
