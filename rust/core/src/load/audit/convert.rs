//! Requests of the log become requests of a trace, or losses.

use super::aggregated::Aggregated;
use super::event::{Event, Stage, Written};
use super::exchange::{Exchange, Paired};
use super::generated::Generated;
use super::json_strings::Unreadable;
use super::loss::{Losses, Why, Whys};
use super::names::Names;
use super::object_body::{ObjectBody, object_body, with_name};
use super::synthetic::synthetic;
use super::window::Window;
use crate::load::trace::check;
use crate::load::{ApiPath, Request, Verb, WatchEnd, query};

/// What becomes of a write whose body is secret or not in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithoutBody {
    /// It is left out.
    #[default]
    Drop,
    /// It gets a made-up body.
    Synthetic,
}

/// A server logs the options of a deletion in its own version, which it does not read.
const INTERNAL_VERSION: &str = r#""apiVersion":"meta.k8s.io/__internal""#;
const EXTERNAL_VERSION: &str = r#""apiVersion":"meta.k8s.io/v1""#;

/// Turns what [`super::Pairing`] gives into requests, in the same order.
#[derive(Debug)]
pub struct Converter {
    window: Window,
    without_body: WithoutBody,
    names: Option<Names>,
    aggregated: Aggregated,
    generated: Generated,
    losses: Losses,
    stages: u64,
}

/// A write's body, and what follows from where it came from.
struct Body {
    verb: Verb,
    content_type: Option<&'static str>,
    text: Option<String>,
}

impl Converter {
    /// With the losses that reading had; names are hashed where a key is given.
    pub fn new(window: Window, without_body: WithoutBody, names: Option<Names>, losses: Losses) -> Self {
        let (aggregated, generated) = (Aggregated::default(), Generated::default());
        Self { window, without_body, names, aggregated, generated, losses, stages: 0 }
    }

    /// What was lost so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// How many events were one more stage of a request.
    pub fn stages(&self) -> u64 {
        self.stages
    }

    /// Takes what comes next; gives the request that it is, where it is one that can be replayed.
    pub fn take(&mut self, paired: Paired) -> Option<Request> {
        match paired {
            Paired::Stage => self.stages += 1,
            Paired::Duplicate(place) => self.losses.add(Why::Duplicate, place),
            Paired::Exchange(exchange) => {
                let mut whys = exchange.event.whys;
                match self.request(&exchange, &mut whys) {
                    Ok(request) => {
                        for why in whys.iter() {
                            self.losses.add(why, exchange.event.place);
                        }
                        self.aggregated.remember(&exchange);
                        return Some(request);
                    }
                    Err(why) => self.losses.add(why, exchange.event.place),
                }
            }
        }
        None
    }

    fn request(&mut self, exchange: &Exchange, whys: &mut Whys) -> Result<Request, Why> {
        let event = &exchange.event;
        let due = self.window.place(exchange, whys);
        whys.insert_if(due.is_none(), Why::Outside);
        whys.insert_if(event.stage == Stage::Panic, Why::Panicked);
        whys.insert_if(exchange.ended_ns.is_none() && &*event.verb != "watch", Why::Unfinished);
        whys.insert_if(self.aggregated.is_known(exchange), Why::Aggregated);
        let (path, raw_query) = event.target();
        let parts = ApiPath::parse(path).unwrap_or_default();
        let collection = format!("{}/{}", parts.namespace, parts.group_resource());
        whys.insert_if(self.generated.may_be(&collection, &parts.name), Why::GeneratedName);
        let verb = verb(event).ok_or(whys.dropped().unwrap_or(Why::Verb))?;
        let body = self.body(event, verb, &parts, whys);
        if verb == Verb::Create && due.is_some() && !whys.contains(Why::Aggregated) {
            self.created(event, &parts, &collection, body.as_ref().ok(), whys);
        }
        if let Some(why) = whys.dropped() {
            return Err(why);
        }
        let (mut body, due) = (body?, due.ok_or(Why::Outside)?);
        let sendable = check::path(path).and_then(|()| raw_query.map_or(Ok(()), check::query));
        sendable
            .and_then(|()| check::shape(body.verb, path, raw_query, body.text.is_some()))
            .map_err(|_| Why::Shape)?;
        let mut request = Request::new(body.verb, path);
        request.due_us = Some(due.due_us);
        request.query = raw_query.map(Into::into);
        request.watch = due.watch_us.map(WatchEnd::After);
        request.content_type = body.content_type.map(Into::into);
        let agent = event.user_agent.as_deref().filter(|agent| check::header_value("user_agent", agent).is_ok());
        request.user_agent = agent.map(Into::into);
        request.expect_status = event.status.filter(|status| is_expected(*status));
        whys.insert_if(
            event.status.is_some_and(|status| status >= 400 && !is_expected(status)),
            Why::StatusNotExpected,
        );
        if let Some(names) = &self.names {
            let changed = names.hash(&mut request, &mut body.text).map_err(|Unreadable| Why::SecretBody)?;
            whys.insert_if(changed, Why::NamesHashed);
        }
        request.body = body.text.map(|text| text.into_bytes().into());
        Ok(request)
    }

    /// The body to send, or why there is none.
    fn body(&self, event: &Event, verb: Verb, parts: &ApiPath<'_>, whys: &mut Whys) -> Result<Body, Why> {
        let plain = |text| Ok(Body { verb, content_type: None, text });
        let needs_one = matches!(verb, Verb::Create | Verb::Update | Verb::Patch | Verb::Apply);
        let lacking = match &event.written {
            _ if !verb.writes() => return plain(None),
            Written::Body(body) => {
                if !needs_one {
                    let sent = body.replace(INTERNAL_VERSION, EXTERNAL_VERSION);
                    whys.insert_if(sent != **body, Why::DeleteOptions);
                    return plain(Some(sent));
                }
                whys.insert_if(verb == Verb::Patch && !body.starts_with('['), Why::PatchType);
                whys.insert_if(verb == Verb::Apply && !is_surely_apply(event), Why::ApplyGuessed);
                let generated = event.generated.as_deref().filter(|_| parts.name.is_empty());
                let named = generated.and_then(|name| with_name(body, name));
                whys.insert_if(named.is_some(), Why::NameFilledIn);
                return plain(Some(named.unwrap_or_else(|| body.to_string())));
            }
            Written::Nothing if !needs_one => return plain(None),
            // Without its options (a dry run, preconditions) it may delete more.
            Written::Secret if !needs_one => return Err(Why::SecretBody),
            _ if !needs_one => {
                whys.insert(Why::NoDeleteOptions);
                return plain(None);
            }
            Written::Truncated => Why::TruncatedBody,
            Written::Secret => Why::SecretBody,
            Written::Nothing | Written::NotLogged => Why::NoBody,
        };
        if self.without_body == WithoutBody::Drop {
            return Err(lacking);
        }
        let name = event.generated.as_deref().or(event.object_name.as_deref()).filter(|name| !name.is_empty());
        let made = synthetic(verb, parts, name).ok_or(Why::NoSyntheticBody)?;
        whys.insert(Why::SyntheticBody);
        Ok(Body { verb: made.verb, content_type: made.content_type, text: Some(made.body) })
    }

    /// Where nobody knows the name of what was created, those who use it later will not find it.
    fn created(&mut self, event: &Event, parts: &ApiPath<'_>, collection: &str, body: Option<&Body>, whys: &mut Whys) {
        let success = event.status.is_some_and(|status| status / 100 == 2);
        let named_by_event = event.object_name.as_deref().is_some_and(|name| !name.is_empty());
        if !success || !parts.name.is_empty() || named_by_event || parts.resource.is_empty() {
            return;
        }
        let sent = body.and_then(|body| body.text.as_deref()).map(object_body).unwrap_or_default();
        if !sent.name.is_empty() {
            return;
        }
        let logged = match &event.written {
            Written::Body(body) => object_body(body),
            _ => ObjectBody::default(),
        };
        if !logged.generate_name.is_empty() {
            self.generated.created(collection, &logged.generate_name);
        } else if let Some(name) = &event.generated {
            self.generated.created_as(collection, name);
        } else if !matches!(event.written, Written::Body(_)) {
            self.generated.created(collection, "");
        }
        whys.insert_if(!sent.generate_name.is_empty(), Why::NameUnknown);
    }
}

fn verb(event: &Event) -> Option<Verb> {
    Some(match &*event.verb {
        "get" => Verb::Get,
        "list" => Verb::List,
        "watch" => Verb::Watch,
        "create" => Verb::Create,
        "update" => Verb::Update,
        "delete" => Verb::Delete,
        "deletecollection" => Verb::DeleteCollection,
        "patch" if is_surely_apply(event) => Verb::Apply,
        "patch" => match &event.written {
            Written::Body(body) if is_like_apply(event, body) => Verb::Apply,
            _ => Verb::Patch,
        },
        _ => return None,
    })
}

/// An audit log does not tell a patch's type. `force` is for apply alone, and so is a patch that creates.
fn is_surely_apply(event: &Event) -> bool {
    let (_, raw_query) = event.target();
    event.status == Some(201) || query::value(raw_query, "force").is_some()
}

/// An applied object has a kind and a version, and its query a field manager.
fn is_like_apply(event: &Event, body: &str) -> bool {
    let (_, raw_query) = event.target();
    query::value(raw_query, "fieldManager").is_some() && object_body(body).has_kind
}

/// A replay has credentials and limits of its own: what the log says of overload, of credentials and of the
/// server's failures is nothing to be met again.
fn is_expected(status: u16) -> bool {
    (200..500).contains(&status) && !matches!(status, 401 | 429)
}
