//! Queries of a watch that goes on, and of the LIST that it needs when its resourceVersion is too old.

use super::query;
use super::rewrite::LATEST_VERSION;

/// Keys that say where a watch begins.
const BEGINNING: &[&str] = &["resourceVersion", "resourceVersionMatch", "sendInitialEvents"];
/// Keys that a LIST of what is watched does not have, or has anew.
const NOT_LISTED: &[&str] = &["watch", "allowWatchBookmarks", "timeoutSeconds", "limit", "continue"];
/// Objects on one page, as client-go asks for them.
const PAGE: &str = "500";

fn without(raw: &str, keys: &[&[&str]]) -> String {
    let kept = query::pairs(Some(raw)).filter(|(key, ..)| !keys.concat().contains(&&**key));
    kept.map(|(_, _, pair)| pair).collect::<Vec<_>>().join("&")
}

/// The query of the same watch from another resourceVersion on. It has no initial events: these have been sent.
pub fn watch_from(raw: &str, version: &str) -> String {
    query::with(Some(&without(raw, &[BEGINNING])), "resourceVersion", version)
}

/// The query of a consistent LIST of what is watched, in pages; `token` as the page before gave it.
pub fn list_again(raw: &str, token: Option<&str>) -> String {
    let first = query::with(Some(&without(raw, &[BEGINNING, NOT_LISTED])), "limit", PAGE);
    token.map_or_else(|| first.clone(), |token| query::with(Some(&first), "continue", token))
}

/// The query of the same LIST in one piece: what is left where the token of a page has expired, as client-go has it.
pub fn list_whole(raw: &str) -> String {
    without(raw, &[BEGINNING, NOT_LISTED])
}

/// The query of the shortest LIST that tells the version which a watch from [`LATEST_VERSION`] begins at; `None`
/// for other watches.
pub fn of_latest(raw: &str) -> Option<String> {
    let marked = query::value(Some(raw), "resourceVersion").is_some_and(|version| version == LATEST_VERSION);
    marked.then(|| query::with(Some(&without(raw, &[BEGINNING, NOT_LISTED])), "limit", "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "allowWatchBookmarks=true&labelSelector=app%3Da&resourceVersion=5&\
                         resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=400&watch=true";

    #[test]
    fn a_watch_goes_on_with_all_else_as_it_was() {
        let expected = "allowWatchBookmarks=true&labelSelector=app%3Da&timeoutSeconds=400&watch=true&resourceVersion=9";
        assert_eq!(watch_from(QUERY, "9"), expected);
        assert_eq!(watch_from("", "9"), "resourceVersion=9");
    }

    #[test]
    fn only_a_watch_from_the_latest_version_needs_a_list_first() {
        assert_eq!(of_latest(QUERY), None);
        assert_eq!(of_latest("watch=1"), None);
        let marked = "resourceVersion=$latest&watch=1&fieldSelector=spec.nodeName%3Da&sendInitialEvents=true";
        assert_eq!(of_latest(marked).as_deref(), Some("fieldSelector=spec.nodeName%3Da&limit=1"));
    }

    #[test]
    fn a_list_again_keeps_the_selectors_alone() {
        assert_eq!(list_again(QUERY, None), "labelSelector=app%3Da&limit=500");
        assert_eq!(list_again("watch=1", Some("a+b=")), "limit=500&continue=a%2Bb%3D");
        assert_eq!(list_whole(QUERY), "labelSelector=app%3Da");
        assert_eq!(list_whole("watch=1"), "");
    }
}
