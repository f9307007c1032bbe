//! Names of objects and namespaces in requests, replaced by digests that are the same wherever a name stands.

use super::json_strings::Unreadable;
use super::named_fields::hash_body;
use crate::load::{ApiPath, Request, query};
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

/// What Kubernetes itself names, which tells nothing; so do names that begin with `system:` and `system-`.
const KEPT: [&str; 7] =
    ["*", "cluster-admin", "default", "kube-node-lease", "kube-public", "kube-system", "kubernetes"];
/// Resources whose names mean something to the server.
const WITH_MEANING: [&str; 2] = ["apiservices", "customresourcedefinitions"];
/// Field selectors on names.
pub(super) const SELECTED: [&str; 8] = [
    "involvedObject.name",
    "involvedObject.namespace",
    "metadata.name",
    "metadata.namespace",
    "regarding.name",
    "regarding.namespace",
    "spec.nodeName",
    "spec.serviceAccountName",
];
/// Hex digits after the letter `n`: together a name that is valid wherever Kubernetes asks for one, a port's
/// with its 15 characters included.
const DIGITS: usize = 14;

/// Hashes names with a key.
///
/// Without one, names could be guessed and tried: there are few of them. It is made from the log itself, so
/// that the same log gives the same trace.
#[derive(Clone, Debug)]
pub struct Names {
    key: [u8; 32],
}

impl Names {
    /// With a key that nobody knows who has not the log.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// What stands for a name.
    pub(super) fn of(&self, name: &str) -> String {
        if name.is_empty() || KEPT.contains(&name) || name.starts_with("system:") || name.starts_with("system-") {
            return name.to_owned();
        }
        let digest = Sha256::new().chain_update(self.key).chain_update(name).finalize();
        let mut hashed = format!("n{}", crate::digest::hex(&digest.into()));
        hashed.truncate(1 + DIGITS);
        hashed
    }

    /// Hashes all names of a request and its body; whether there were any.
    pub(super) fn hash(&self, request: &mut Request, body: &mut Option<String>) -> Result<bool, Unreadable> {
        let before = (request.path.clone(), request.query.clone(), body.clone());
        let parts = ApiPath::parse(&before.0).unwrap_or_default();
        if WITH_MEANING.contains(&&*parts.resource) {
            return Ok(false);
        }
        request.path = self.path(&before.0).into();
        request.query = before.1.as_deref().map(|raw| self.query(raw).into());
        let of_body = |text| hash_body(self, text, [&parts.namespace, &parts.name]);
        *body = before.2.as_deref().map(of_body).transpose()?;
        Ok(before != (request.path.clone(), request.query.clone(), body.clone()))
    }

    fn path(&self, path: &str) -> String {
        let Some(parts) = ApiPath::parse(path) else { return path.to_owned() };
        let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
        // "", api, VERSION or "", apis, GROUP, VERSION; then watch.
        let first = if segments[1] == "api" { 3 } else { 4 } + usize::from(parts.watch_prefix);
        let namespace = (!parts.namespace.is_empty()).then_some(first + 1);
        let name = namespace.map_or(first, |at| at + 1) + 1;
        for at in [namespace, Some(name).filter(|_| !parts.name.is_empty())].into_iter().flatten() {
            let plain = percent_decode_str(&segments[at]).decode_utf8_lossy();
            let hashed = self.of(&plain);
            if hashed != plain {
                segments[at] = hashed;
            }
        }
        segments.join("/")
    }

    fn query(&self, raw: &str) -> String {
        let pairs = query::pairs(Some(raw)).map(|(key, value, pair)| {
            let hashed = match &*key {
                "fieldSelector" => self.field_selector(&value),
                "labelSelector" => self.label_selector(&value),
                // A continue token has the last object's name in it.
                "container" | "continue" => self.of(&value),
                _ => return pair.to_owned(),
            };
            if hashed == value { pair.to_owned() } else { query::with(None, &key, &hashed) }
        });
        pairs.collect::<Vec<_>>().join("&")
    }

    fn field_selector(&self, selector: &str) -> String {
        let terms = selector.split(',').map(|term| {
            let (field, rest) = term.split_at(term.find(['=', '!']).unwrap_or(term.len()));
            let value = rest.trim_start_matches(['=', '!']);
            let operator = &rest[..rest.len() - value.len()];
            let value = if SELECTED.contains(&field.trim()) { self.of(value) } else { value.to_owned() };
            format!("{field}{operator}{value}")
        });
        terms.collect::<Vec<_>>().join(",")
    }

    /// Values of labels are texts of the user's, and are hashed in selectors as in bodies.
    fn label_selector(&self, selector: &str) -> String {
        let mut out = String::with_capacity(selector.len());
        let (mut rest, mut in_set) = (selector, false);
        while !rest.is_empty() {
            let end = rest.find(['=', '!', '(', ')', ',', '>', '<']).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            let is_value = in_set || out.ends_with('=');
            out.push_str(&if is_value { self.of(token.trim()) } else { token.to_owned() });
            let mark = after.chars().next();
            in_set = match mark {
                Some('(') => true,
                Some(')') => false,
                _ => in_set,
            };
            out.extend(mark);
            rest = &after[mark.map_or(0, char::len_utf8)..];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Verb;
    use proptest::prelude::*;

    fn names() -> Names {
        Names::new([7; 32])
    }

    fn n(name: &str) -> String {
        names().of(name)
    }

    #[test]
    fn a_name_has_one_digest_that_is_a_name_and_depends_on_the_key() {
        assert_eq!(n("web").len(), 15);
        assert_eq!(n("web"), n("web"));
        assert_ne!(n("web"), n("web2"));
        assert_ne!(n("web"), Names::new([8; 32]).of("web"));
        for kept in ["", "kube-system", "system:node"] {
            assert_eq!(n(kept), kept);
        }
    }

    #[test]
    fn names_in_a_path_are_hashed_and_nothing_else() {
        let (ns, name) = (n("shop"), n("web"));
        for (path, expected) in [
            ("/api/v1/namespaces/shop/pods/web/log", format!("/api/v1/namespaces/{ns}/pods/{name}/log")),
            ("/apis/apps/v1/namespaces/shop/deployments", format!("/apis/apps/v1/namespaces/{ns}/deployments")),
            ("/api/v1/watch/namespaces/shop/pods/web", format!("/api/v1/watch/namespaces/{ns}/pods/{name}")),
            ("/api/v1/namespaces/shop", format!("/api/v1/namespaces/{ns}")),
            ("/api/v1/namespaces/shop/status", format!("/api/v1/namespaces/{ns}/status")),
            ("/api/v1/nodes/w%65b", format!("/api/v1/nodes/{name}")),
            ("/api/v1/namespaces/kube-system/pods", "/api/v1/namespaces/kube-system/pods".to_owned()),
            ("/healthz/web", "/healthz/web".to_owned()),
            ("/apis/apps/v1", "/apis/apps/v1".to_owned()),
        ] {
            assert_eq!(names().path(path), expected);
        }
    }

    #[test]
    fn names_and_labels_in_selectors_are_hashed_as_they_are_in_objects() {
        let (web, shop, db) = (n("web"), n("shop"), n("db"));
        for (query, expected) in [
            ("limit=5&watch", "limit=5&watch".to_owned()),
            ("fieldSelector=metadata.name%3Dweb", format!("fieldSelector=metadata.name%3D{web}")),
            (
                "fieldSelector=status.phase!%3DRunning,metadata.namespace==shop",
                format!("fieldSelector=status.phase%21%3DRunning%2Cmetadata.namespace%3D%3D{shop}"),
            ),
            ("labelSelector=app%3Dweb", format!("labelSelector=app%3D{web}")),
            (
                "labelSelector=a+in+(web,db),!x,y!=shop,z",
                format!("labelSelector=a%20in%20%28{web}%2C{db}%29%2C%21x%2Cy%21%3D{shop}%2Cz"),
            ),
            ("container=web", format!("container={web}")),
        ] {
            assert_eq!(names().query(query), expected);
        }
    }

    #[test]
    fn what_names_an_api_keeps_its_name() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
        let mut request = Request::new(Verb::Get, path);
        assert_eq!(names().hash(&mut request, &mut None), Ok(false));
        assert_eq!(&*request.path, path);
    }

    proptest! {
        #[test]
        fn any_selector_is_hashed_without_losing_its_form(selector in "[a-z=!(),<> ]{0,30}") {
            let marks = |text: &str| text.chars().filter(|c| "=!(),<>".contains(*c)).collect::<String>();
            prop_assert_eq!(marks(&names().label_selector(&selector)), marks(&selector));
            prop_assert_eq!(marks(&names().field_selector(&selector)), marks(&selector));
        }
    }
}
