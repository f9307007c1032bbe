//! The parts of a path, as kube-apiserver takes it apart, and the key that follows from them.

use super::request::{Key, Verb};
use super::{body_name, query};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The parts of a path that names a resource, percent-decoded; what is not there is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiPath<'a> {
    /// API group; empty for the core group.
    pub group: Cow<'a, str>,
    /// API version.
    pub version: Cow<'a, str>,
    /// Namespace; empty for what has none, namespaces themselves included.
    pub namespace: Cow<'a, str>,
    /// Plural resource.
    pub resource: Cow<'a, str>,
    /// Object.
    pub name: Cow<'a, str>,
    /// Subresource.
    pub subresource: Cow<'a, str>,
    /// Whether something follows the subresource.
    pub longer: bool,
    /// Whether the path is of the old form `/api/v1/watch/…`.
    pub watch_prefix: bool,
}

fn decode(part: &str) -> Cow<'_, str> {
    percent_decode_str(part).decode_utf8_lossy()
}

impl<'a> ApiPath<'a> {
    /// Takes `/api/VERSION/…` and `/apis/GROUP/VERSION/…` apart; `None` for other paths, for those that name
    /// no resource and for those with an empty part in the middle.
    pub fn parse(path: &'a str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        let mut parts = path.strip_suffix('/').unwrap_or(path).split('/').peekable();
        let group = match parts.next()? {
            "api" => Cow::Borrowed(""),
            "apis" => decode(parts.next()?),
            _ => return None,
        };
        let version = decode(parts.next()?);
        let watch_prefix = parts.next_if_eq(&"watch").is_some();
        let mut found = Self { group, version, watch_prefix, ..Self::default() };
        let mut first = parts.next()?;
        if first == "namespaces" && parts.peek().is_some() {
            let namespace = parts.next()?;
            match parts.peek() {
                None | Some(&("status" | "finalize")) => found.name = decode(namespace),
                Some(_) => {
                    found.namespace = decode(namespace);
                    if namespace.is_empty() {
                        return None;
                    }
                    first = parts.next()?;
                }
            }
        }
        found.resource = decode(first);
        if found.name.is_empty() {
            found.name = parts.next().map(decode).unwrap_or_default();
        }
        found.subresource = parts.next().map(decode).unwrap_or_default();
        found.longer = parts.next().is_some();
        let holes = found.version.is_empty()
            || found.resource.is_empty()
            || (found.name.is_empty() && !found.subresource.is_empty())
            || (found.subresource.is_empty() && found.longer);
        (!holes).then_some(found)
    }

    /// `resource.group`, or the resource alone in the core group.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() { self.resource.to_string() } else { format!("{}.{}", self.resource, self.group) }
    }

    /// Why a request on this path has no end of its own, or is no request at all: exec, attach, port-forward,
    /// proxy and followed logs, whatever their verb.
    pub fn endless(&self, raw_query: Option<&str>) -> Option<&'static str> {
        match (&*self.resource, &*self.subresource) {
            ("pods", "exec") => Some("exec"),
            ("pods", "attach") => Some("attach"),
            ("pods", "portforward") => Some("port-forward"),
            ("pods" | "services" | "nodes", "proxy") => Some("proxy"),
            ("pods", "log") if query::flag(raw_query, "follow") => Some("a followed log"),
            _ => None,
        }
    }
}

/// The key of a request that gives none: `namespace/resource.group/name`, where a CREATE's name is its
/// body's. `None` for paths that name no resource.
pub fn derived_key(verb: Verb, path: &str, raw_query: Option<&str>, body: Option<&[u8]>) -> Option<Key> {
    let parts = ApiPath::parse(path)?;
    let kind = parts.group_resource();
    let name = match (&*parts.name, verb, body) {
        ("", Verb::Create, Some(body)) => Cow::Owned(body_name(body).unwrap_or_default()),
        _ => parts.name.clone(),
    };
    if !name.is_empty() {
        return Some(Key::object(&parts.namespace, &kind, &name));
    }
    let selector = match verb {
        Verb::List | Verb::Watch => query::value(raw_query, "labelSelector"),
        _ => None,
    };
    Some(Key::collection(&parts.namespace, &kind, selector.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(path: &str) -> Option<[String; 5]> {
        let p = ApiPath::parse(path)?;
        Some([p.group, p.namespace, p.resource, p.name, p.subresource].map(Cow::into_owned))
    }

    #[test]
    fn paths_are_taken_apart_as_kube_apiserver_does() {
        for (path, expected) in [
            ("/api/v1/pods", Some(["", "", "pods", "", ""])),
            ("/api/v1/pods/", Some(["", "", "pods", "", ""])),
            ("/api/v1/namespaces", Some(["", "", "namespaces", "", ""])),
            ("/api/v1/namespaces/", Some(["", "", "namespaces", "", ""])),
            ("/api/v1/namespaces/a", Some(["", "", "namespaces", "a", ""])),
            ("/api/v1/namespaces/a/status", Some(["", "", "namespaces", "a", "status"])),
            ("/api/v1/namespaces/a/pods", Some(["", "a", "pods", "", ""])),
            ("/api/v1/namespaces/a/pods/b/log", Some(["", "a", "pods", "b", "log"])),
            ("/apis/apps/v1/namespaces/a/deployments/b/scale", Some(["apps", "a", "deployments", "b", "scale"])),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                Some(["rbac.authorization.k8s.io", "", "clusterroles", "system:node", ""]),
            ),
            ("/api/v1/watch/namespaces/a/pods", Some(["", "a", "pods", "", ""])),
            ("/api/v1/namespaces//pods", None),
            ("/api/v1/pods//log", None),
            ("/api/v1", None),
            ("/apis/apps/v1", None),
            ("/healthz", None),
            ("", None),
        ] {
            assert_eq!(parts(path), expected.map(|all| all.map(str::to_owned)), "{path}");
        }
    }

    #[test]
    fn a_key_is_derived_from_path_query_and_body() {
        let key = |verb, path, query, body: Option<&str>| {
            derived_key(verb, path, query, body.map(str::as_bytes)).map(|key| key.text().to_owned())
        };
        let pods = "/api/v1/namespaces/a/pods";
        assert_eq!(key(Verb::Get, "/api/v1/namespaces/a/pods/b/status", None, None).unwrap(), "a/pods/b");
        assert_eq!(
            key(Verb::Get, "/apis/apps/v1/namespaces/a/deployments/b", None, None).unwrap(),
            "a/deployments.apps/b"
        );
        assert_eq!(key(Verb::Delete, "/api/v1/namespaces/a", None, None).unwrap(), "/namespaces/a");
        assert_eq!(key(Verb::Create, pods, None, Some(r#"{"metadata":{"name":"b"}}"#)).unwrap(), "a/pods/b");
        assert_eq!(key(Verb::Create, pods, None, Some(r#"{"metadata":{"generateName":"b-"}}"#)).unwrap(), "a/pods/");
        assert_eq!(
            key(Verb::List, pods, Some("limit=5&labelSelector=app%3Dnginx"), None).unwrap(),
            "a/pods/?labelSelector=app=nginx"
        );
        assert_eq!(key(Verb::DeleteCollection, pods, Some("labelSelector=a"), None).unwrap(), "a/pods/");
        assert_eq!(key(Verb::Get, "/version", None, None), None);
    }

    #[test]
    fn what_has_no_end_is_known_by_its_subresource() {
        let why = |path, query| ApiPath::parse(path).unwrap().endless(query);
        assert_eq!(why("/api/v1/namespaces/a/pods/b/exec", Some("command=ls")), Some("exec"));
        assert_eq!(why("/api/v1/namespaces/a/services/b/proxy/x/y", None), Some("proxy"));
        assert_eq!(why("/api/v1/namespaces/a/pods/b/log", Some("follow=true")), Some("a followed log"));
        assert_eq!(why("/api/v1/namespaces/a/pods/b/log", Some("follow=false")), None);
        assert_eq!(why("/api/v1/namespaces/a/pods/exec", None), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_path_or_none(path in "(/[a-z%0-9:.]{0,6}){0,9}") {
            if let Some(parts) = ApiPath::parse(&path) {
                prop_assert!(!parts.resource.is_empty() && !parts.version.is_empty());
            }
        }
    }
}
