//! What a request asks for: the path taken apart as kube-apiserver does, and the query.

use super::semantics::list_options::no_integer;
use super::semantics::status::Status;
use std::borrow::Cow;

/// The parts of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// API group; "" is the core group.
    pub(crate) group: String,
    /// API version.
    pub(crate) version: String,
    /// Namespace, or "".
    pub(crate) namespace: String,
    /// Plural resource; "" where the path names none.
    pub(crate) resource: String,
    /// Object, or "".
    pub(crate) name: String,
    /// Subresource, or "".
    pub(crate) sub: String,
    /// What follows the subresource, or "".
    pub(crate) rest: String,
}

impl Target {
    /// Takes `/api/VERSION/…` and `/apis/GROUP/VERSION/…` apart; `None` for other paths and for those
    /// that name no resource.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix('/')?.trim_end_matches('/').split('/').map(decode);
        let group = match &*parts.next()? {
            "api" => String::new(),
            "apis" => parts.next()?.into_owned(),
            _ => return None,
        };
        let version = parts.next()?.into_owned();
        let mut target = Self { group, version, ..Self::default() };
        let mut rest: Vec<_> = parts.map(Cow::into_owned).collect();
        if rest.iter().any(String::is_empty) {
            return None;
        }
        if rest.len() > 2 && rest[0] == "namespaces" && !matches!(&*rest[2], "status" | "finalize") {
            target.namespace = rest.remove(1);
            rest.remove(0);
        }
        let mut rest = rest.into_iter();
        target.resource = rest.next()?;
        target.name = rest.next().unwrap_or_default();
        target.sub = rest.next().unwrap_or_default();
        target.rest = rest.collect::<Vec<_>>().join("/");
        Some(target)
    }

    /// The path with its variable parts named, for accounting.
    pub(crate) fn template(&self) -> String {
        let mut path = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        if !self.namespace.is_empty() {
            path.push_str("/namespaces/{namespace}");
        }
        path.push('/');
        path.push_str(&self.resource);
        if !self.name.is_empty() {
            path.push_str("/{name}");
        }
        if !self.sub.is_empty() {
            path.push('/');
            path.push_str(&self.sub);
        }
        path
    }
}

/// Percent-decodes a part of a path; what is not a valid escape stays as it is.
fn decode(part: &str) -> Cow<'_, str> {
    if !part.contains('%') {
        return Cow::Borrowed(part);
    }
    Cow::Owned(String::from_utf8_lossy(&unescape(part.as_bytes(), false)).into_owned())
}

fn unescape(text: &[u8], plus_is_space: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let hex = |offset: usize| text.get(at + offset).and_then(|c| char::from(*c).to_digit(16));
        match (text[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(0));
                at += 2;
            }
            (b'+', ..) if plus_is_space => out.push(b' '),
            (other, ..) => out.push(other),
        }
        at += 1;
    }
    out
}

/// The query of a request, decoded; the first value of a key counts, as in Go's `url.Values.Get`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Takes a query apart. Pairs with a broken escape are kept as they are.
    pub(crate) fn parse(query: &str) -> Self {
        let text = |part: &str| String::from_utf8_lossy(&unescape(part.as_bytes(), true)).into_owned();
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (text(key), text(value))
        });
        Self(pairs.collect())
    }

    /// The first value of a key; an empty one counts as none.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, value)| &**value).filter(|value| !value.is_empty())
    }

    /// A boolean as Go's conversion reads it: present and not "0" or "false".
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// An integer of 64 bits, or the 400 that says what it is instead.
    pub(crate) fn integer(&self, key: &str) -> Result<Option<i64>, Status> {
        let number = |text: &str| text.parse().map_err(|_| Status::bad_request(no_integer(text)));
        self.get(key).map(number).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(path: &str) -> Option<[String; 5]> {
        let t = Target::parse(path)?;
        Some([t.group, t.namespace, t.resource, t.name, t.sub])
    }

    #[test]
    fn paths_are_taken_apart_as_kube_apiserver_does() {
        for (path, expected) in [
            ("/api/v1/pods", Some(["", "", "pods", "", ""])),
            ("/api/v1/namespaces", Some(["", "", "namespaces", "", ""])),
            ("/api/v1/namespaces/a", Some(["", "", "namespaces", "a", ""])),
            ("/api/v1/namespaces/a/status", Some(["", "", "namespaces", "a", "status"])),
            ("/api/v1/namespaces/a/pods", Some(["", "a", "pods", "", ""])),
            ("/api/v1/namespaces/a/pods/b/log", Some(["", "a", "pods", "b", "log"])),
            ("/apis/apps/v1/namespaces/a/deployments/x%2Dy", Some(["apps", "a", "deployments", "x-y", ""])),
            ("/apis/metrics.k8s.io/v1beta1/nodes", Some(["metrics.k8s.io", "", "nodes", "", ""])),
            ("/api/v1", None),
            ("/apis/apps", None),
            ("/version", None),
            ("/api/v1/namespaces//pods", None),
        ] {
            assert_eq!(parts(path), expected.map(|e| e.map(String::from)), "{path}");
        }
    }

    #[test]
    fn the_template_names_the_variable_parts() {
        let target = Target::parse("/api/v1/namespaces/a/pods/b/log").unwrap();
        assert_eq!(target.template(), "/api/v1/namespaces/{namespace}/pods/{name}/log");
    }

    #[test]
    fn queries_are_decoded_and_empty_values_count_as_none() {
        let query = Query::parse("limit=500&labelSelector=a%3Db%2Cc+in+%28d%29&watch=1&x=&watch=0&y");
        assert_eq!(query.integer("limit"), Ok(Some(500)));
        assert_eq!(query.get("labelSelector"), Some("a=b,c in (d)"));
        assert!(query.flag("watch") && !query.flag("x") && !query.flag("none"));
        let many = Query::parse("limit=many").integer("limit").unwrap_err();
        assert_eq!((many.code, &*many.message), (400, "strconv.ParseInt: parsing \"many\": invalid syntax"));
    }

    proptest! {
        #[test]
        fn no_path_or_query_breaks_the_parser(text in ".{0,60}") {
            let _ = Target::parse(&text);
            let _ = Target::parse(&format!("/api/v1/{text}"));
            let _ = Query::parse(&text).get("a");
        }
    }
}
