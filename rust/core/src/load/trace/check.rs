//! What a request must be, whichever file it stands in.

use crate::load::api_path::ApiPath;
use crate::load::query;
use crate::load::request::Verb;
use crate::load::seen::quoted;

/// What an HTTP client can put into a request line: visible ASCII, without what ends or quotes a URI.
fn is_target(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'`')
}

/// Refuses a path that cannot be sent.
pub(in crate::load) fn path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("path is {}: it must begin with /", quoted(path)));
    }
    match path.chars().find(|c| *c == '?' || !u8::try_from(*c).is_ok_and(is_target)) {
        None => Ok(()),
        Some('?') => Err(format!("path is {}: what follows the ? belongs in query", quoted(path))),
        Some(other) => Err(format!("path is {}: {other:?} must be percent-encoded", quoted(path))),
    }
}

/// Refuses a query that cannot be sent.
pub(in crate::load) fn query(raw: &str) -> Result<(), String> {
    if raw.starts_with('?') {
        return Err(format!("query is {}: it stands without its ?", quoted(raw)));
    }
    match raw.chars().find(|c| !u8::try_from(*c).is_ok_and(is_target)) {
        None => Ok(()),
        Some(other) => Err(format!("query is {}: {other:?} must be percent-encoded", quoted(raw))),
    }
}

/// Refuses what cannot be the value of a header.
pub(in crate::load) fn header_value(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() || !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Err(format!("{key} is {}: visible ASCII was expected", quoted(value)));
    }
    Ok(())
}

/// Refuses a verb that its path, query or body contradicts, and requests that have no end.
pub(in crate::load) fn shape(verb: Verb, path: &str, raw_query: Option<&str>, has_body: bool) -> Result<(), String> {
    let name = verb.name();
    match verb {
        Verb::Create | Verb::Update | Verb::Patch | Verb::Apply if !has_body => {
            return Err(format!("{name} needs a body"));
        }
        Verb::Get | Verb::List | Verb::Watch if has_body => {
            return Err(format!("{name} takes no body"));
        }
        _ => {}
    }
    let parts = ApiPath::parse(path);
    if let Some(what) = parts.as_ref().and_then(|parts| parts.endless(raw_query)) {
        return Err(format!("{what} is not replayed ({name} {}); take this request out", quoted(path)));
    }
    let watches = query::flag(raw_query, "watch") || parts.as_ref().is_some_and(|parts| parts.watch_prefix);
    match verb {
        Verb::Watch if !watches => {
            return Err("WATCH without watch=true in its query would be a LIST".to_owned());
        }
        Verb::List if watches => {
            return Err("LIST with watch=true in its query would be a WATCH".to_owned());
        }
        _ => {}
    }
    if matches!(verb, Verb::Delete | Verb::DeleteCollection) {
        deletion(name, raw_query)?;
    }
    let Some(parts) = parts else { return refuse_holes(verb, path) };
    match verb {
        Verb::Get | Verb::Update | Verb::Patch | Verb::Apply | Verb::Delete if parts.name.is_empty() => {
            // A DELETE without a name deletes all that the path holds.
            Err(format!("{name} needs a name: the path {} is a collection", quoted(path)))
        }
        Verb::DeleteCollection | Verb::List if !parts.name.is_empty() => Err(format!(
            "{name} is for collections: the path {} names the object {}",
            quoted(path),
            quoted(&parts.name)
        )),
        _ => Ok(()),
    }
}

/// Every query key that a server heeds in a deletion.
const DELETION_KEYS: [&str; 15] = [
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "timeout",
    "timeoutSeconds",
];

/// A selector or a dry run that the server does not understand as one would widen a deletion.
fn deletion(name: &str, raw_query: Option<&str>) -> Result<(), String> {
    for (key, value, _) in query::pairs(raw_query) {
        if !DELETION_KEYS.contains(&&*key) {
            return Err(format!(
                "{name} with {} in its query, which no server heeds: if it was meant to choose, more would be deleted; \
                 take it out or correct it",
                quoted(&key)
            ));
        }
        if value.is_empty() && matches!(&*key, "labelSelector" | "fieldSelector" | "dryRun") {
            return Err(format!(
                "{name} with an empty {key}, which a server does not heed: give it a value or take it out"
            ));
        }
    }
    Ok(())
}

/// A deletion needs a path that can be understood, lest an empty part of it widen what is deleted.
fn refuse_holes(verb: Verb, path: &str) -> Result<(), String> {
    if matches!(verb, Verb::Delete | Verb::DeleteCollection) {
        return Err(format!("{} on {}, which names no resource", verb.name(), quoted(path)));
    }
    Ok(())
}
