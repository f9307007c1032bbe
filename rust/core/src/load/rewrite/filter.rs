//! Only some verbs and resources, or all but some.

use crate::load::api_path::ApiPath;
use crate::load::request::{Request, Verb};
use crate::load::seen::quoted;

/// `resource[.group][/subresource]`; a resource without a group is that of any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Resource {
    plural: String,
    group: Option<String>,
    subresource: Option<String>,
}

impl Resource {
    fn fits(&self, parts: &ApiPath<'_>) -> bool {
        self.plural == parts.resource
            && self.group.as_ref().is_none_or(|group| *group == parts.group)
            && self.subresource.as_ref().is_none_or(|subresource| *subresource == parts.subresource)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct List {
    verbs: Vec<Verb>,
    resources: Vec<Resource>,
}

impl List {
    fn new(option: &str, texts: &[String]) -> Result<Self, String> {
        let mut list = Self::default();
        for text in texts {
            if let Some(verb) = Verb::parse(text) {
                list.verbs.push(verb);
                continue;
            }
            let (whole, subresource) = text.split_once('/').map_or((&**text, None), |(r, s)| (r, Some(s)));
            let (resource, group) = whole.split_once('.').map_or((whole, None), |(r, g)| (r, Some(g)));
            let word =
                |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b));
            if resource.is_empty() || !word(whole) || subresource.is_some_and(|sub| sub.is_empty() || !word(sub)) {
                return Err(format!(
                    "{option} has {}: a verb in capitals or a resource like pods, deployments.apps or pods/status was expected",
                    quoted(text)
                ));
            }
            list.resources.push(Resource {
                plural: resource.to_owned(),
                group: group.map(str::to_owned),
                subresource: subresource.map(str::to_owned),
            });
        }
        Ok(list)
    }

    fn has_resource(&self, parts: Option<&ApiPath<'_>>) -> bool {
        parts.is_some_and(|parts| self.resources.iter().any(|resource| resource.fits(parts)))
    }
}

/// Two lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    only: List,
    skip: List,
}

impl Filter {
    pub(super) fn new(only: &[String], skip: &[String]) -> Result<Self, String> {
        Ok(Self { only: List::new("only", only)?, skip: List::new("skip", skip)? })
    }

    /// Whether a request stays: of the verbs and of the resources that `only` names, and none that `skip` names.
    pub(super) fn keeps(&self, request: &Request) -> bool {
        let parts = ApiPath::parse(&request.path);
        let verb = self.only.verbs.is_empty() || self.only.verbs.contains(&request.verb);
        let resource = self.only.resources.is_empty() || self.only.has_resource(parts.as_ref());
        verb && resource && !self.skip.verbs.contains(&request.verb) && !self.skip.has_resource(parts.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(only: &[&str], skip: &[&str], verb: Verb, path: &str) -> bool {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Filter::new(&owned(only), &owned(skip)).unwrap().keeps(&Request::new(verb, path))
    }

    #[test]
    fn verbs_and_resources_are_each_a_choice() {
        let pod = "/api/v1/namespaces/a/pods/b";
        let deployment = "/apis/apps/v1/namespaces/a/deployments/b";
        assert!(keeps(&[], &[], Verb::Get, "/version"));
        assert!(keeps(&["GET", "pods"], &[], Verb::Get, pod));
        assert!(!keeps(&["GET", "pods"], &[], Verb::Delete, pod));
        assert!(!keeps(&["GET", "pods"], &[], Verb::Get, deployment));
        assert!(!keeps(&["pods"], &[], Verb::Get, "/version"));
        assert!(
            keeps(&["deployments"], &[], Verb::Get, deployment)
                && keeps(&["deployments.apps"], &[], Verb::Get, deployment)
        );
        assert!(!keeps(&["deployments.extensions"], &[], Verb::Get, deployment));
        assert!(!keeps(&[], &["pods/status"], Verb::Patch, "/api/v1/namespaces/a/pods/b/status"));
        assert!(keeps(&[], &["pods/status"], Verb::Get, pod) && !keeps(&[], &["pods"], Verb::Get, pod));
        assert!(!keeps(&["GET"], &["GET"], Verb::Get, pod));
    }

    #[test]
    fn what_is_neither_a_verb_nor_a_resource_is_refused() {
        for text in ["get pods", "Pods", "", "pods/", ".apps", "CONNECT"] {
            let error = Filter::new(&[text.to_owned()], &[]).unwrap_err();
            assert!(error.starts_with("only has "), "{error}");
        }
    }
}
