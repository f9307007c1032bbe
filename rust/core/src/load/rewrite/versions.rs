//! resourceVersions and continue tokens, which only the recorded cluster understood.

use crate::load::query;
use crate::load::request::{Request, Verb};

/// In the place of a WATCH's resourceVersion: whoever sends it puts the version of the collection there, read
/// just before.
pub const LATEST_VERSION: &str = "$latest";

/// Whether a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Sent,
    /// A page whose token nobody will know.
    PageLost,
}

fn without(request: &mut Request, keys: &[&str]) {
    if let Some(raw) = request.query.take() {
        let rest = keys.iter().fold(raw.into_string(), |raw, key| query::without(&raw, key));
        request.query = (!rest.is_empty()).then(|| rest.into());
    }
}

fn put(request: &mut Request, key: &str, value: &str) {
    if let Some(raw) = request.query.take() {
        // As it stands: a marker is no value that is sent.
        let marked = query::pairs(Some(&raw))
            .map(|(found, _, pair)| if found == key { format!("{key}={value}") } else { pair.to_owned() });
        request.query = Some(marked.collect::<Vec<_>>().join("&").into());
    }
}

/// Gives a request versions and tokens that the target understands. The class of a version stays: unset, `0` or
/// concrete.
pub(super) fn rewrite(request: &mut Request) -> Fate {
    const VERSION: &str = "resourceVersion";
    const MATCH: &str = "resourceVersionMatch";
    let raw = request.query.as_deref();
    if raw.is_none_or(str::is_empty) {
        return Fate::Sent;
    }
    let token = query::value(raw, "continue").is_some();
    let concrete = query::value(raw, VERSION).is_some_and(|version| version != "0" && version != LATEST_VERSION);
    match request.verb {
        // Without its token, a deletion of one page would be one of all.
        Verb::List | Verb::DeleteCollection if token => return Fate::PageLost,
        Verb::List if concrete => {
            put(request, VERSION, "0");
            without(request, &[MATCH]);
        }
        Verb::Get if concrete => put(request, VERSION, "0"),
        Verb::Watch if concrete => {
            put(request, VERSION, LATEST_VERSION);
            if !query::flag(request.query.as_deref(), "sendInitialEvents") {
                without(request, &[MATCH]);
            }
        }
        _ if concrete => without(request, &[VERSION, MATCH]),
        _ => {}
    }
    Fate::Sent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(verb: Verb, raw: &str) -> Option<String> {
        let mut request = Request::new(verb, "/api/v1/pods");
        request.query = Some(raw.into());
        match rewrite(&mut request) {
            Fate::Sent => Some(request.query.map(Into::into).unwrap_or_default()),
            Fate::PageLost => None,
        }
    }

    #[test]
    fn a_version_keeps_its_class() {
        for (verb, raw, expected) in [
            (Verb::List, "limit=5", "limit=5"),
            (
                Verb::List,
                "resourceVersion=0&resourceVersionMatch=NotOlderThan",
                "resourceVersion=0&resourceVersionMatch=NotOlderThan",
            ),
            (Verb::List, "resourceVersion=77&resourceVersionMatch=Exact&a=1", "resourceVersion=0&a=1"),
            (Verb::List, "resourceVersion=", "resourceVersion="),
            (Verb::Get, "resourceVersion=77", "resourceVersion=0"),
            (Verb::Watch, "watch=1&resourceVersion=0", "watch=1&resourceVersion=0"),
            (Verb::Watch, "resourceVersion=77&watch=1", "resourceVersion=$latest&watch=1"),
            (
                Verb::Watch,
                "resourceVersion=77&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                "resourceVersion=$latest&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            ),
            (Verb::DeleteCollection, "labelSelector=a&resourceVersion=77", "labelSelector=a"),
        ] {
            assert_eq!(rewritten(verb, raw).as_deref(), Some(expected), "{raw}");
        }
    }

    #[test]
    fn a_page_whose_token_nobody_knows_is_lost() {
        for verb in [Verb::List, Verb::DeleteCollection] {
            assert_eq!(rewritten(verb, "limit=5&continue=abc"), None);
            assert_eq!(rewritten(verb, "limit=5&continue=").as_deref(), Some("limit=5&continue="));
        }
    }
}
