//! One audit event, with no more of it than may be kept.

use super::json_strings::Unreadable;
use super::loss::{Place, Why, Whys};
use super::query_keys;
use super::raw_event::{RawEvent, read_line};
use super::redact::{Redaction, path_without_tokens};
use super::refused::{Target, refused};
use super::sensitive::{self, Resource};
use super::timestamp;
use crate::load::api_path::ApiPath;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The stages of a request, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// As soon as the server has it.
    RequestReceived,
    /// Its headers are sent; long-running requests alone have this stage.
    ResponseStarted,
    /// Nothing more will be sent.
    ResponseComplete,
    /// The server panicked.
    Panic,
}

/// What became of a request's body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Written {
    /// There was none at a level that would show it, or the stage does not show it.
    Nothing,
    /// The level does not show bodies.
    NotLogged,
    /// The server cut it out for its size.
    Truncated,
    /// It is secret, or cannot be searched for what is.
    Secret,
    /// As JSON.
    Body(Box<str>),
}

/// The addresses that a request came by, as digests: how many, all of them, and all but the last.
///
/// An aggregated API server sees those that the first server saw, and the first server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hops {
    /// How many.
    pub count: u32,
    /// Digest of all.
    pub all: u64,
    /// Digest of all but the last.
    pub but_last: u64,
}

/// One event of a request. Its order is by what makes a request, then by stage, and never by place: the same
/// events have one order however they are spread over files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds since 1970.
    pub received_ns: i64,
    /// What the client or the server called the request; no key by itself.
    pub audit_id: Box<str>,
    /// Path and query as they stand, without what may be secret in the query.
    pub uri: Box<str>,
    /// In the words of the server: `list`, `deletecollection`.
    pub verb: Box<str>,
    /// The stage.
    pub stage: Stage,
    /// When it was reached, in nanoseconds since 1970.
    pub stage_ns: i64,
    /// The status, where one was sent.
    pub status: Option<u16>,
    /// The body.
    pub written: Written,
    /// The name of the object that was created without a name, where the response tells it.
    pub generated: Option<Box<str>>,
    /// The object's name by the event.
    pub object_name: Option<Box<str>>,
    /// The client's program.
    pub user_agent: Option<Box<str>>,
    /// The way that the request came.
    pub hops: Hops,
    /// What is already known to be lost or changed.
    pub whys: Whys,
    /// Where the event stands.
    pub place: Place,
}

impl Event {
    /// Path and raw query.
    pub(super) fn target(&self) -> (&str, Option<&str>) {
        self.uri.split_once('?').map_or((&self.uri, None), |(path, query)| (path, Some(query)))
    }
}

/// What is to be read, and what left out.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Query keys that stay although Kubernetes does not know them.
    pub keep_query: Vec<String>,
    /// Only requests of these users; all where it is empty. A name may end in `*`.
    pub only_users: Vec<String>,
    /// No requests of these users.
    pub skip_users: Vec<String>,
}

impl Reading {
    fn takes(&self, user: &str) -> bool {
        let among = |names: &[String]| {
            names.iter().any(|name| name.strip_suffix('*').map_or(name == user, |begin| user.starts_with(begin)))
        };
        !among(&self.skip_users) && (self.only_users.is_empty() || among(&self.only_users))
    }

    /// Reads a line of the log: its events, and the reasons why something on it is none.
    pub fn line(&self, line: &[u8], place: Place, found: &mut impl FnMut(Result<Event, Why>)) {
        read_line(line, &mut |raw| found(raw.and_then(|raw| self.event(&raw, place))));
    }

    fn event(&self, raw: &RawEvent<'_>, place: Place) -> Result<Event, Why> {
        let instant = |text: &Option<String>| text.as_deref().and_then(timestamp::parse).ok_or(Why::NoTimestamp);
        let received_ns = instant(&raw.request_received_timestamp)?;
        let stage_ns = instant(&raw.stage_timestamp)?;
        let stage = match raw.stage.as_deref() {
            Some("RequestReceived") => Stage::RequestReceived,
            Some("ResponseStarted") => Stage::ResponseStarted,
            Some("ResponseComplete") => Stage::ResponseComplete,
            Some("Panic") => Stage::Panic,
            _ => return Err(Why::NoStage),
        };
        let uri = raw.request_uri.as_deref().filter(|uri| uri.starts_with('/')).ok_or(Why::NoUri)?;
        let (path, query) = uri.split_once('?').map_or((uri, None), |(path, query)| (path, Some(query)));
        let verb = raw.verb.as_deref().unwrap_or("");
        let status = raw.response_status.as_ref().and_then(|status| status.code);
        let status = status.and_then(|code| u16::try_from(code).ok()).filter(|code| *code != 0);

        let mut whys = Whys::default();
        let path = &*path_without_tokens(path, &mut whys);
        let parts = ApiPath::parse(path).unwrap_or_default();
        let reference = raw.object_ref.as_ref();
        let referred = |field: fn(&super::raw_event::RawReference) -> &Option<String>| {
            reference.and_then(|reference| field(reference).as_deref()).unwrap_or("")
        };
        let subresources = [&*parts.subresource, referred(|reference| &reference.subresource)];
        if let Some(why) = refused(Target { query, verb, subresources, status }) {
            whys.insert(why);
        }
        let user = raw.user.as_ref().and_then(|user| user.username.as_deref()).unwrap_or("");
        whys.insert_if(!self.takes(user), Why::SkippedUser);
        whys.insert_if(raw.impersonated_user.is_some(), Why::Impersonated);

        let redaction = redaction(raw, &parts);
        let query = query.map(|query| {
            let (kept, removed) = query_keys::without_secrets(query, &self.keep_query);
            whys.insert_if(removed, Why::QueryRemoved);
            let cleaned = redaction.query(&kept, &mut whys).into_owned();
            // What selects something else, or everything, must not be deleted.
            let narrows = matches!(verb, "delete" | "deletecollection") && (removed || cleaned != kept);
            whys.insert_if(narrows, Why::WiderDeletion);
            cleaned
        });
        let query = query.filter(|query| !query.is_empty() || !whys.contains(Why::QueryRemoved));
        let user_agent = raw.user_agent.as_deref().filter(|agent| !agent.is_empty());
        let user_agent = user_agent.map(|agent| redaction.user_agent(agent, &mut whys).into());
        let object_name = reference.and_then(|reference| reference.name.as_deref());
        let object_name = object_name.map(|name| redaction.name(name, &mut whys).into());
        let generated = generated(raw, verb).map(|name| redaction.name(&name, &mut whys).into());

        let by_path = Resource { group: &parts.group, plural: &parts.resource, subresource: subresources[0] };
        let by_reference = Resource {
            group: referred(|reference| &reference.api_group),
            plural: referred(|reference| &reference.resource),
            subresource: subresources[1],
        };
        let written = match whys.dropped() {
            Some(_) => Written::Nothing,
            None => written(raw, verb, [by_path, by_reference], |body, has_subjects| {
                let people = if has_subjects { sensitive::without_subjects(body)? } else { Cow::Borrowed(body) };
                whys.insert_if(matches!(people, Cow::Owned(_)), Why::UserRemoved);
                Ok(redaction.body(&people, &mut whys)?.into_owned())
            }),
        };
        Ok(Event {
            received_ns,
            audit_id: raw.audit_id.as_deref().unwrap_or("").into(),
            uri: query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")).into(),
            verb: verb.into(),
            stage,
            stage_ns,
            status,
            generated,
            object_name,
            written,
            user_agent,
            hops: hops(raw.source_ips.as_deref().unwrap_or_default()),
            whys,
            place,
        })
    }
}

fn redaction(raw: &RawEvent<'_>, path: &ApiPath<'_>) -> Redaction {
    let users = [&raw.user, &raw.impersonated_user].into_iter().flatten();
    let names = users.flat_map(|user| [user.username.as_deref(), user.uid.as_deref()]).flatten();
    let addresses = raw.source_ips.iter().flatten().map(String::as_str);
    Redaction::new(names.filter(|name| *name != "system:anonymous"), addresses, path)
}

fn written(
    raw: &RawEvent<'_>,
    verb: &str,
    of: [Resource<'_>; 2],
    redacted: impl FnOnce(&str, bool) -> Result<String, Unreadable>,
) -> Written {
    let secret = matches!(verb, "create" | "update" | "patch") && of.into_iter().any(sensitive::is_secret);
    let writes = secret || matches!(verb, "create" | "update" | "patch" | "delete" | "deletecollection");
    match raw.request_object {
        _ if !writes => Written::Nothing,
        _ if secret => Written::Secret,
        Some(body) => match redacted(body.get(), of.into_iter().any(sensitive::has_subjects)) {
            Ok(body) => Written::Body(body.into()),
            Err(Unreadable) => Written::Secret,
        },
        None if raw.annotations.as_ref().is_some_and(|all| all.truncated.is_some()) => Written::Truncated,
        None if matches!(raw.level.as_deref(), Some("Request" | "RequestResponse")) => Written::Nothing,
        None => Written::NotLogged,
    }
}

#[derive(Default, Deserialize)]
struct Named<'a> {
    #[serde(default, borrow)]
    metadata: Option<Metadata<'a>>,
    #[serde(default)]
    rows: Option<Vec<Row>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Row {
    object: Option<RowObject>,
}

#[derive(Deserialize)]
struct RowObject {
    metadata: Option<RowMetadata>,
}

#[derive(Deserialize)]
struct RowMetadata {
    name: Option<String>,
}

fn named(object: Option<&serde_json::value::RawValue>) -> Option<String> {
    let object: Named<'_> = serde_json::from_str(object?.get()).unwrap_or_default();
    let own = object.metadata.and_then(|metadata| metadata.name.map(Cow::into_owned));
    // A client that asked for a table has the object in its only row.
    let row = || object.rows?.into_iter().next()?.object?.metadata?.name;
    own.or_else(row).filter(|name| !name.is_empty())
}

/// The name that the server gave to what was created without one.
fn generated(raw: &RawEvent<'_>, verb: &str) -> Option<String> {
    let success = raw.response_status.as_ref().and_then(|status| status.code).is_some_and(|code| code / 100 == 2);
    let unnamed = raw.object_ref.as_ref().is_none_or(|reference| reference.name.as_deref().unwrap_or("").is_empty());
    if verb != "create" || !success || !unnamed || named(raw.request_object).is_some() {
        return None;
    }
    named(raw.response_object)
}

fn hops(addresses: &[String]) -> Hops {
    let digest = |addresses: &[String]| crate::partition::fnv1a64(addresses.join(" ").as_bytes());
    let but_last = addresses.len().saturating_sub(1);
    Hops {
        count: u32::try_from(addresses.len()).unwrap_or(u32::MAX),
        all: digest(addresses),
        but_last: digest(&addresses[..but_last]),
    }
}
