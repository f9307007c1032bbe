//! What requests take for granted: namespaces, service accounts and custom resources that they do not make.

use super::api_path::ApiPath;
use super::body::{body_name, service_account};
use super::patch_type::is_built_in;
use super::request::{Request, Verb};
use serde::Serialize;
use std::collections::BTreeSet;

/// So many of each are listed.
const MOST: usize = 1_000;

/// A service account in its namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A resource that Kubernetes is not built with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CustomResource {
    /// Its group.
    pub group: String,
    /// Its version.
    pub version: String,
    /// Its plural.
    pub resource: String,
}

/// What a target must have before the requests are sent. Each list ends after 1,000 entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Namespaces that are written into before they are created.
    pub namespaces: BTreeSet<String>,
    /// Service accounts of Pods that are created, `default` apart.
    pub service_accounts: BTreeSet<ServiceAccount>,
    /// Resources that no `CustomResourceDefinition` of the requests defines before they are asked for.
    pub custom_resources: BTreeSet<CustomResource>,
    #[serde(skip)]
    made: Made,
}

/// What the requests made so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Made {
    namespaces: BTreeSet<String>,
    service_accounts: BTreeSet<ServiceAccount>,
    /// By the definition's name, `plural.group`.
    definitions: BTreeSet<String>,
}

fn add<T: Ord>(to: &mut BTreeSet<T>, one: T) {
    if to.len() < MOST {
        to.insert(one);
    }
}

impl Needs {
    /// Looks at the next request.
    pub fn add(&mut self, request: &Request) {
        let Some(parts) = ApiPath::parse(&request.path) else { return };
        if !is_built_in(&parts.group, &parts.resource) && !self.made.definitions.contains(&parts.group_resource()) {
            let custom = CustomResource {
                group: parts.group.clone().into_owned(),
                version: parts.version.clone().into_owned(),
                resource: parts.resource.clone().into_owned(),
            };
            add(&mut self.custom_resources, custom);
        }
        if !request.verb.writes() {
            return;
        }
        if !parts.namespace.is_empty() && !self.made.namespaces.contains(&*parts.namespace) {
            add(&mut self.namespaces, parts.namespace.clone().into_owned());
        }
        if matches!(request.verb, Verb::Create | Verb::Apply) && parts.subresource.is_empty() {
            self.made(&parts, request);
        }
    }

    fn made(&mut self, parts: &ApiPath<'_>, request: &Request) {
        let body = request.body.as_deref().unwrap_or_default();
        let name = || if parts.name.is_empty() { body_name(body) } else { Some(parts.name.clone().into_owned()) };
        match (&*parts.group, &*parts.resource) {
            ("", "namespaces") => self.made.namespaces.extend(name()),
            ("apiextensions.k8s.io", "customresourcedefinitions") => self.made.definitions.extend(name()),
            ("", "serviceaccounts") => {
                let namespace = parts.namespace.clone().into_owned();
                self.made.service_accounts.extend(name().map(|name| ServiceAccount { namespace, name }));
            }
            ("", "pods") => {
                let Some(name) = service_account(body).filter(|name| name != "default") else { return };
                let account = ServiceAccount { namespace: parts.namespace.clone().into_owned(), name };
                if !self.made.service_accounts.contains(&account) {
                    add(&mut self.service_accounts, account);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Body;

    fn request(verb: Verb, path: &str, body: &str) -> Request {
        Request { body: Some(Body::from(body.as_bytes())), ..Request::new(verb, path) }
    }

    #[test]
    fn what_is_made_first_is_not_needed() {
        let mut needs = Needs::default();
        let pod = r#"{"metadata":{"name":"p"},"spec":{"serviceAccountName":"robot"}}"#;
        for (verb, path, body) in [
            (Verb::Create, "/api/v1/namespaces", r#"{"metadata":{"name":"made"}}"#),
            (Verb::Create, "/api/v1/namespaces/made/serviceaccounts", r#"{"metadata":{"name":"robot"}}"#),
            (Verb::Create, "/api/v1/namespaces/made/pods", pod),
            (Verb::Create, "/api/v1/namespaces/there/pods", pod),
            (Verb::Create, "/api/v1/namespaces/there/pods", r#"{"spec":{"serviceAccountName":"default"}}"#),
            (Verb::List, "/api/v1/namespaces/only-read/pods", ""),
            (
                Verb::Create,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                r#"{"metadata":{"name":"as.b.c"}}"#,
            ),
            (Verb::List, "/apis/b.c/v1/as", ""),
            (Verb::Watch, "/apis/b.c/v1/others", ""),
            (Verb::Create, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}"),
            (Verb::Get, "/version", ""),
        ] {
            needs.add(&request(verb, path, body));
        }
        assert_eq!(needs.namespaces, ["there".to_owned()].into());
        let text = serde_json::to_value(&needs).unwrap();
        assert_eq!(text["service_accounts"], serde_json::json!([{"namespace": "there", "name": "robot"}]));
        assert_eq!(
            text["custom_resources"],
            serde_json::json!([{"group": "b.c", "version": "v1", "resource": "others"}])
        );
    }

    #[test]
    fn the_lists_end_somewhere() {
        let mut needs = Needs::default();
        for i in 0..3_000 {
            needs.add(&request(Verb::Create, &format!("/api/v1/namespaces/n-{i}/pods"), "{}"));
        }
        assert_eq!(needs.namespaces.len(), MOST);
    }
}
