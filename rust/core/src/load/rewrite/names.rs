//! Namespaces and names under other names: in paths, queries and keys.

use crate::load::request::{Key, Request};
use crate::load::seen::quoted;
use crate::load::{api_path::ApiPath, query};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maps, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Maps {
    namespaces: BTreeMap<String, String>,
    others: Option<String>,
    /// The longest first.
    prefixes: Vec<(String, String)>,
}

fn is_namespace(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// What a path segment can be: no name is empty, or leads elsewhere.
fn is_name(text: &str) -> bool {
    (1..=253).contains(&text.len()) && text != "." && text != ".." && !text.contains(['/', '%'])
}

impl Maps {
    pub(super) fn new(
        namespaces: &BTreeMap<String, String>,
        prefixes: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let mut namespaces = namespaces.clone();
        for (from, to) in &namespaces {
            if from.is_empty() || !is_namespace(to) {
                return Err(format!(
                    "namespaces maps {} to {}: a namespace's name was expected",
                    quoted(from),
                    quoted(to)
                ));
            }
        }
        let others = namespaces.remove("*");
        let prefix = |text: &str| text.bytes().all(|b| b.is_ascii_graphic() && !b"/%?#&".contains(&b));
        if let Some((from, to)) = prefixes.iter().find(|(_, to)| !prefix(to)) {
            return Err(format!(
                "name_prefixes maps {} to {}: the beginning of a name was expected",
                quoted(from),
                quoted(to)
            ));
        }
        let mut prefixes: Vec<_> = prefixes.iter().map(|(from, to)| (from.clone(), to.clone())).collect();
        prefixes.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Ok(Self { namespaces, others, prefixes })
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.others.is_none() && self.prefixes.is_empty()
    }

    pub(super) fn namespace<'a>(&'a self, recorded: &'a str) -> &'a str {
        if recorded.is_empty() {
            return recorded;
        }
        self.namespaces.get(recorded).or(self.others.as_ref()).map_or(recorded, |to| to)
    }

    pub(super) fn name<'a>(&self, recorded: &'a str) -> Cow<'a, str> {
        let found = self.prefixes.iter().find_map(|(from, to)| Some((recorded.strip_prefix(&**from)?, to)));
        match found {
            Some((rest, to)) if !recorded.is_empty() => Cow::Owned(format!("{to}{rest}")),
            _ => Cow::Borrowed(recorded),
        }
    }

    /// The name of an object of this resource: a namespace is called by the map of namespaces.
    pub(super) fn object<'a>(&'a self, resource: &str, recorded: &'a str) -> Cow<'a, str> {
        if resource == "namespaces" { Cow::Borrowed(self.namespace(recorded)) } else { self.name(recorded) }
    }

    /// Rewrites path, query and key. An error where a name became none.
    pub(super) fn apply(&self, request: &mut Request) -> Result<(), String> {
        if self.is_empty() {
            return Ok(());
        }
        let Some(parts) = ApiPath::parse(&request.path) else { return Ok(()) };
        let resource = parts.resource.clone().into_owned();
        let path = self.path(&request.path, &resource)?;
        if let Some(raw) = &request.query {
            request.query = Some(self.query(raw, &resource).into());
        }
        request.key = request.key.take().map(|key| self.key(&key, &resource));
        request.path = path.into();
        Ok(())
    }

    /// The segments of a path that is known to name a resource.
    fn path(&self, path: &str, resource: &str) -> Result<String, String> {
        let mut segments: Vec<Cow<'_, str>> = path.split('/').map(Cow::Borrowed).collect();
        let mut at = if segments[1] == "api" { 3 } else { 4 };
        if segments[at] == "watch" {
            at += 1;
        }
        let in_namespace = segments[at] == "namespaces"
            && segments.get(at + 2).is_some_and(|next| !next.is_empty() && next != "status" && next != "finalize");
        let namespace = in_namespace.then_some(at + 1);
        let name = if in_namespace { at + 3 } else { at + 1 };
        for (place, is_namespace_of_it) in namespace.map(|place| (place, true)).into_iter().chain([(name, false)]) {
            let Some(segment) = segments.get_mut(place).filter(|segment| !segment.is_empty()) else { continue };
            let recorded = percent_decode_str(segment).decode_utf8_lossy().into_owned();
            let mapped = if is_namespace_of_it {
                Cow::Borrowed(self.namespace(&recorded))
            } else {
                self.object(resource, &recorded)
            };
            if !is_name(&mapped) {
                return Err(format!("{} would become {}, which is no name", quoted(&recorded), quoted(&mapped)));
            }
            if mapped != recorded {
                *segment = Cow::Owned(query::encoded(&mapped));
            }
        }
        Ok(segments.join("/"))
    }

    /// Names in a field selector: `metadata.name`, `metadata.namespace` and those of an event's object.
    fn query(&self, raw: &str, resource: &str) -> String {
        let Some(selector) = query::value(Some(raw), "fieldSelector") else { return raw.to_owned() };
        let mapped: Vec<String> = selector
            .split(',')
            .map(|term| {
                let Some((field, value)) = term.split_once('=') else { return term.to_owned() };
                let (operator, value) = value.strip_prefix('=').map_or(("=", value), |value| ("==", value));
                let value = match field.trim_end_matches('!') {
                    "metadata.namespace" | "involvedObject.namespace" => Cow::Borrowed(self.namespace(value)),
                    "metadata.name" => self.object(resource, value),
                    "involvedObject.name" => self.name(value),
                    _ => Cow::Borrowed(value),
                };
                format!("{field}{operator}{value}")
            })
            .collect();
        let mapped = mapped.join(",");
        if mapped == *selector { raw.to_owned() } else { query::replaced(raw, "fieldSelector", &mapped) }
    }

    fn key(&self, key: &Key, resource: &str) -> Key {
        let mut parts = key.text().splitn(3, '/');
        let (namespace, kind, rest) =
            (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let name = if key.is_named() { self.object(resource, rest) } else { Cow::Borrowed(rest) };
        Key::given(&format!("{}/{kind}/{name}", self.namespace(namespace)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Verb;

    fn maps(namespaces: &[(&str, &str)], prefixes: &[(&str, &str)]) -> Result<Maps, String> {
        let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Maps::new(&owned(namespaces), &owned(prefixes))
    }

    fn mapped(maps: &Maps, path: &str, query: Option<&str>, key: &str) -> Result<(String, String, String), String> {
        let mut request = Request::new(Verb::Get, path);
        request.query = query.map(Into::into);
        request.key = Some(Key::given(key));
        maps.apply(&mut request)?;
        let query = request.query.map(Into::into).unwrap_or_default();
        Ok((request.path.into(), query, request.key.unwrap().text().to_owned()))
    }

    #[test]
    fn names_are_mapped_in_paths_queries_and_keys() {
        let maps =
            maps(&[("prod", "test"), ("*", "rest")], &[("web-", "w-"), ("web-api", "api"), ("node-", "n-")]).unwrap();
        for (path, query, key, expected) in [
            (
                "/api/v1/namespaces/prod/pods/web-1/log",
                "",
                "prod/Pod/web-1",
                ("/api/v1/namespaces/test/pods/w-1/log", "", "test/Pod/w-1"),
            ),
            (
                "/api/v1/namespaces/prod/pods/web-api-1",
                "",
                "prod/pods/web-api-1",
                ("/api/v1/namespaces/test/pods/api-1", "", "test/pods/api-1"),
            ),
            (
                "/apis/apps/v1/namespaces/dev/deployments",
                "limit=5",
                "dev/deployments.apps/",
                ("/apis/apps/v1/namespaces/rest/deployments", "limit=5", "rest/deployments.apps/"),
            ),
            ("/api/v1/namespaces/prod", "", "/Namespace/prod", ("/api/v1/namespaces/test", "", "/Namespace/test")),
            (
                "/api/v1/namespaces/prod/status",
                "",
                "/Namespace/prod",
                ("/api/v1/namespaces/test/status", "", "/Namespace/test"),
            ),
            ("/api/v1/nodes/node-1", "", "/Node/node-1", ("/api/v1/nodes/n-1", "", "/Node/n-1")),
            (
                "/api/v1/watch/namespaces/prod/pods",
                "",
                "prod/pods/",
                ("/api/v1/watch/namespaces/test/pods", "", "test/pods/"),
            ),
            (
                "/api/v1/pods",
                "fieldSelector=metadata.namespace%3Dprod%2Cspec.nodeName!%3Dnode-1%2Cmetadata.name%3D%3Dweb-1&limit=1",
                "/pods/?labelSelector=app=web-1",
                (
                    "/api/v1/pods",
                    "fieldSelector=metadata.namespace%3Dtest%2Cspec.nodeName%21%3Dnode-1%2Cmetadata.name%3D%3Dw-1&limit=1",
                    "/pods/?labelSelector=app=web-1",
                ),
            ),
            ("/version", "", "//", ("/version", "", "//")),
        ] {
            let found = mapped(&maps, path, (!query.is_empty()).then_some(query), key).unwrap();
            assert_eq!((&*found.0, &*found.1, &*found.2), expected, "{path}");
        }
    }

    #[test]
    fn a_name_that_would_become_none_is_refused() {
        let maps = maps(&[], &[("web", "")]).unwrap();
        let why = mapped(&maps, "/api/v1/namespaces/prod/pods/web", None, "prod/pods/web").unwrap_err();
        assert_eq!(why, "\"web\" would become \"\", which is no name");
    }

    #[test]
    fn a_target_that_is_no_namespace_is_refused() {
        for to in ["", "A", "a/b", "a.b", "-a", &"a".repeat(64)] {
            assert!(maps(&[("a", to)], &[]).is_err(), "{to}");
        }
        assert!(maps(&[], &[("a", "b/")]).is_err());
    }
}
