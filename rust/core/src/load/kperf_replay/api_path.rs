//! `apiPath` and `labelSelector` as kperf means them: a path and a raw query that can be sent.

use crate::load::query;
use crate::load::request::Verb;
use crate::load::seen::quoted;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What a client percent-encodes before it sends.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// A path and a query that can be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) query: Option<String>,
    /// The query was recorded with `&` where its `?` belongs.
    pub(super) repaired: bool,
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, UNSENDABLE).to_string()
}

/// Takes an apiPath apart, and merges what its verb and its selector add to the query. The error is one
/// clause without a place.
pub(super) fn target(verb: Verb, api_path: &str, selector: &str) -> Result<Target, String> {
    if api_path.contains("://") {
        return Err(format!("apiPath is {}: a path was expected, not a URL", quoted(api_path)));
    }
    if api_path.contains('#') {
        return Err(format!("apiPath is {}: '#' must be percent-encoded", quoted(api_path)));
    }
    let slash = if api_path.starts_with('/') { "" } else { "/" };
    // No name in Kubernetes holds an &: where one stands before the ?, the query begins there.
    let at = api_path.find(['?', '&']);
    let (path, recorded) = at.map_or((api_path, None), |at| (&api_path[..at], Some(&api_path[at + 1..])));
    let repaired = at.is_some_and(|at| api_path.as_bytes()[at] == b'&');
    let recorded = recorded.map(|raw| encoded(&if repaired { raw.replace('?', "&") } else { raw.to_owned() }));
    let mut raw = recorded.filter(|raw| !raw.is_empty());
    if !selector.is_empty() {
        raw = with_selector(verb, raw, selector)?;
    }
    if verb == Verb::Watch && !query::flag(raw.as_deref(), "watch") {
        let rest = query::without(raw.as_deref().unwrap_or_default(), "watch");
        raw = Some(query::with(Some(&rest), "watch", "true"));
    }
    Ok(Target { path: format!("{slash}{}", encoded(path)), query: raw, repaired })
}

/// The selector of the request replaces that of the path for what reads; a deletion by another selector than
/// the recorded one could delete more, and is refused.
fn with_selector(verb: Verb, raw: Option<String>, selector: &str) -> Result<Option<String>, String> {
    const KEY: &str = "labelSelector";
    match verb {
        Verb::List | Verb::Watch => {}
        Verb::DeleteCollection => {
            let recorded = query::value(raw.as_deref(), KEY);
            if recorded.as_ref().is_some_and(|recorded| recorded != selector) {
                return Err(format!(
                    "labelSelector is {}, that of apiPath {}: a DELETECOLLECTION needs one meaning",
                    quoted(selector),
                    quoted(&recorded.unwrap_or_default())
                ));
            }
        }
        _ => return Ok(raw),
    }
    let rest = query::without(raw.as_deref().unwrap_or_default(), KEY);
    Ok(Some(query::with(Some(&rest), KEY, selector)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(verb: Verb, api_path: &str, selector: &str) -> (String, Option<String>, bool) {
        let found = target(verb, api_path, selector).unwrap();
        (found.path, found.query, found.repaired)
    }

    #[test]
    fn a_query_is_read_as_it_is_meant() {
        for (api_path, query, repaired) in [
            ("/api/v1/pods", None, false),
            ("api/v1/pods?", None, false),
            ("/api/v1/pods?limit=5&a=?", Some("limit=5&a=?"), false),
            ("/api/v1/pods&limit=5", Some("limit=5"), true),
            ("/api/v1/pods&limit=5?timeout=1s", Some("limit=5&timeout=1s"), true),
            ("/api/v1/pods?fieldSelector=spec.nodeName=a b", Some("fieldSelector=spec.nodeName=a%20b"), false),
        ] {
            let expected = ("/api/v1/pods".to_owned(), query.map(str::to_owned), repaired);
            assert_eq!(parts(Verb::List, api_path, ""), expected, "{api_path}");
        }
    }

    #[test]
    fn a_selector_and_a_watch_are_merged_into_the_query_once() {
        let query = |verb, api_path, selector| parts(verb, api_path, selector).1.unwrap_or_default();
        assert_eq!(query(Verb::List, "/p?limit=5", "app in (a,b)"), "limit=5&labelSelector=app%20in%20%28a%2Cb%29");
        assert_eq!(query(Verb::List, "/p?labelSelector=x&limit=5", "a=b"), "limit=5&labelSelector=a%3Db");
        assert_eq!(query(Verb::Watch, "/p", "a"), "labelSelector=a&watch=true");
        assert_eq!(query(Verb::Watch, "/p?watch=1", ""), "watch=1");
        assert_eq!(query(Verb::Watch, "/p?watch=false&a=1", ""), "a=1&watch=true");
        assert_eq!(query(Verb::DeleteCollection, "/p", "a=b"), "labelSelector=a%3Db");
        assert_eq!(query(Verb::DeleteCollection, "/p?labelSelector=a%3Db", "a=b"), "labelSelector=a%3Db");
        assert_eq!(query(Verb::Get, "/p", "a=b"), "");
    }

    #[test]
    fn what_has_two_meanings_is_refused() {
        let why = |api_path, selector| target(Verb::DeleteCollection, api_path, selector).unwrap_err();
        assert_eq!(
            why("/p?labelSelector=a", "b"),
            "labelSelector is \"b\", that of apiPath \"a\": a DELETECOLLECTION needs one meaning"
        );
        assert_eq!(why("https://a/p", ""), "apiPath is \"https://a/p\": a path was expected, not a URL");
        assert_eq!(why("/p#a", ""), "apiPath is \"/p#a\": '#' must be percent-encoded");
    }
}
