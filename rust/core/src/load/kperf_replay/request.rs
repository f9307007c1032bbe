//! One entry of `requests`.

use super::api_path::target;
use super::events::{Characters, Events, at};
use super::fields::{Fields, Strictness};
use crate::load::api_path::ApiPath;
use crate::load::apply::field_manager;
use crate::load::body::is_delete_options;
use crate::load::patch_type;
use crate::load::request::{Body, Key, Request, RequestError, Verb};
use crate::load::seen::quoted;
use crate::load::trace::check;
use crate::load::warnings::Warnings;

const KEYS: [&str; 8] = ["timestamp", "verb", "namespace", "resourceKind", "name", "apiPath", "body", "labelSelector"];
/// Milliseconds; in microseconds it fits into 64 bits.
const LATEST: i64 = i64::MAX / 1000;

/// What was guessed, repaired or left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    pub(super) guessed_patch_types: u64,
    pub(super) repaired_queries: u64,
    pub(super) unsent_bodies: u64,
    pub(super) unsent_selectors: u64,
}

/// Verbs in the order of kperf's documentation; it has no UPDATE.
const VERBS: [Verb; 8] =
    [Verb::Create, Verb::Get, Verb::List, Verb::Apply, Verb::Patch, Verb::Delete, Verb::DeleteCollection, Verb::Watch];

fn verb(text: &str) -> Result<Verb, String> {
    VERBS
        .into_iter()
        .find(|verb| verb.name() == text)
        .ok_or_else(|| format!("verb is {}: one of {} was expected", quoted(text), VERBS.map(Verb::name).join(", ")))
}

/// Reads the mapping whose beginning was given at `line`; `last_ms` is the timestamp of the one before.
pub(super) fn read<I: Characters>(
    events: &mut Events<I>,
    line: u64,
    last_ms: u64,
    allow_unknown: bool,
    warnings: &mut Warnings,
    notes: &mut Notes,
) -> Result<Request, RequestError> {
    let mut strictness = Strictness { allow_unknown, warnings, place: "a request" };
    let fields = Fields::read(events, &KEYS, line, &mut strictness)?;
    let due_ms = fields.integer("timestamp", 0, LATEST)?.ok_or_else(|| at(line, "a request needs a timestamp"))?;
    let due_ms = due_ms.unsigned_abs();
    if due_ms < last_ms {
        return Err(at(
            fields.line_of("timestamp"),
            format!("timestamp is {due_ms}, less than the {last_ms} of the request before: requests must be sorted"),
        ));
    }
    for key in ["verb", "apiPath"] {
        if fields.text(key).is_empty() {
            return Err(at(line, format!("a request needs {}", if key == "verb" { "a verb" } else { "an apiPath" })));
        }
    }
    let verb = verb(fields.text("verb")).map_err(|text| at(fields.line_of("verb"), text))?;
    let name = fields.text("name");
    if matches!(verb, Verb::Get | Verb::Delete | Verb::Patch | Verb::Apply) && name.is_empty() {
        return Err(at(line, format!("{} needs a name", verb.name())));
    }
    let on_path = |text| at(fields.line_of("apiPath"), text);
    let found = target(verb, fields.text("apiPath"), fields.text("labelSelector")).map_err(on_path)?;
    check::path(&found.path).and_then(|()| found.query.as_deref().map_or(Ok(()), check::query)).map_err(on_path)?;
    let body = body(&fields, verb, notes);
    if body.is_none() && matches!(verb, Verb::Create | Verb::Patch | Verb::Apply) {
        return Err(at(line, format!("{} needs a body", verb.name())));
    }
    check::shape(verb, &found.path, found.query.as_deref(), body.is_some()).map_err(on_path)?;
    notes.repaired_queries += u64::from(found.repaired);
    if !fields.text("labelSelector").is_empty() && !matches!(verb, Verb::List | Verb::Watch | Verb::DeleteCollection) {
        notes.unsent_selectors += 1;
    }
    warn_of_another_name(&fields, &found.path, strictness.warnings);
    let mut request = Request::new(verb, found.path);
    request.due_us = Some(due_ms * 1000);
    request.query = found.query.map(Into::into);
    if verb == Verb::Apply
        && let Some(longer) = field_manager(request.query.as_deref())
    {
        request.query = Some(longer.into());
    }
    if let Some(body) = &body {
        let (content_type, guessed) = patch_type::content_type(verb, &request.path, body);
        request.content_type = Some(content_type.into());
        notes.guessed_patch_types += u64::from(guessed);
    }
    request.body = body;
    request.key = Some(key(&fields, verb, &request));
    Ok(request)
}

/// The body where the verb sends one; kperf ignores others. That of a DELETE is sent where it is its options:
/// without them more could be deleted than was recorded.
fn body(fields: &Fields<{ KEYS.len() }>, verb: Verb, notes: &mut Notes) -> Option<Body> {
    let text = fields.text("body");
    let sent = match verb {
        Verb::Create | Verb::Patch | Verb::Apply => true,
        Verb::Delete | Verb::DeleteCollection => is_delete_options(text.as_bytes()),
        _ => false,
    };
    notes.unsent_bodies += u64::from(!sent && !text.is_empty());
    (sent && !text.is_empty()).then(|| Body::from(text.as_bytes()))
}

/// `namespace/kind/name` from the entry's own fields, as kperf partitions.
fn key(fields: &Fields<{ KEYS.len() }>, verb: Verb, request: &Request) -> Key {
    let kind = match fields.text("resourceKind") {
        "" => ApiPath::parse(&request.path).map(|parts| parts.group_resource()).unwrap_or_default(),
        kind => kind.to_owned(),
    };
    let (namespace, name, selector) = (fields.text("namespace"), fields.text("name"), fields.text("labelSelector"));
    if name.is_empty() {
        let selector = Some(selector).filter(|s| !s.is_empty() && matches!(verb, Verb::List | Verb::Watch));
        return Key::collection(namespace, &kind, selector);
    }
    Key::object(namespace, &kind, name)
}

fn warn_of_another_name(fields: &Fields<{ KEYS.len() }>, path: &str, warnings: &mut Warnings) {
    let name = fields.text("name");
    if !name.is_empty()
        && let Some(parts) = ApiPath::parse(path)
        && !parts.name.is_empty()
        && parts.name != name
    {
        let text = "name and apiPath name different objects: the path is sent, the name decides on order and runner";
        warnings.add(Some(fields.line_of("apiPath")), text);
    }
}
