//! From a request to its answer: authentication, failures, then the verb.

use super::connection::Connection;
use super::core::Core;
use super::exchange::{Asked, Exchange};
use super::list::{ListRequest, list};
use super::open_watch::{WatchRequest, watch};
use super::request::{Query, Target};
use super::respond::{self, JSON, Reply};
use super::semantics::kinds::{Kind, Source};
use super::semantics::list_options;
use super::semantics::status::Status;
use super::shape::{Content, Shape, takes_gzip};
use super::store::KindId;
use super::{documents, frames::Frames, object, writes};
use crate::clock::now_ns;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HeaderName, USER_AGENT};
use hyper::{Method, Request};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// A request that has been looked at.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Query,
    /// The resource, where the path names one that is served.
    pub(crate) target: Option<(KindId, Target)>,
    pub(crate) accept: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) gzip: bool,
}

/// Answers one request.
pub(crate) async fn handle(
    core: Arc<Core>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let read_ns = now_ns();
    let busy = connection.busy();
    let (head, body) = request.into_parts();
    let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let path = head.uri.path().to_owned();
    let target = Target::parse(&path)
        .and_then(|target| Some((KindId::find(&target.group, &target.version, &target.resource)?, target)));
    let call = Call {
        query: Query::parse(head.uri.query().unwrap_or_default()),
        target,
        accept: text(ACCEPT),
        content_type: text(hyper::header::CONTENT_TYPE),
        gzip: takes_gzip(text(ACCEPT_ENCODING).as_deref()),
        method: head.method,
        path,
    };
    let agent = text(USER_AGENT).unwrap_or_default();
    let asked = asked(&call, read_ns, &agent, connection.id);
    let exchange = Exchange::new(asked, busy, Arc::clone(&core.accounting), core.sink.clone());
    if let Err(refused) = authorize(&core, &call, text(AUTHORIZATION).as_deref()) {
        return Ok(respond::status(&core, &exchange, &refused));
    }
    if let Some(wait) = core.request_limit.as_ref().and_then(|limit| limit.take(1)) {
        tokio::time::sleep(Duration::from_nanos(wait)).await;
    }
    if let Some(wait) = core.faults.request_delay(exchange.asked().verb) {
        tokio::time::sleep(Duration::from_nanos(wait)).await;
    }
    let answer = dispatch(&core, &exchange, &call, body).await;
    Ok(answer.unwrap_or_else(|error| respond::status(&core, &exchange, &error)))
}

/// What is recorded of a request.
fn asked(call: &Call, read_ns: u64, agent: &str, connection: u64) -> Asked {
    let target = call.target.as_ref().map(|(_, target)| target.clone()).unwrap_or_default();
    Asked {
        read_ns,
        verb: verb(call),
        class: class(call),
        template: if call.target.is_some() { target.template() } else { documents::template(&call.path) },
        group: target.group,
        kind: target.resource,
        scope: target.namespace,
        name: target.name,
        sub: target.sub,
        agent: Arc::from(agent),
        connection,
    }
}

/// The verb as kube-apiserver names it.
pub(crate) fn verb(call: &Call) -> &'static str {
    let named = call.target.as_ref().is_some_and(|(_, target)| !target.name.is_empty());
    let resource = call.target.is_some();
    match call.method {
        Method::GET | Method::HEAD if !resource || named => "get",
        Method::GET | Method::HEAD if call.query.flag("watch") => "watch",
        Method::GET | Method::HEAD => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if named => "delete",
        Method::DELETE => "deletecollection",
        _ => "other",
    }
}

fn class(call: &Call) -> &'static str {
    let Some((kind, target)) = &call.target else { return documents::class(&call.path) };
    match kind.kind().source {
        Source::Review => "review",
        Source::Metrics => "metrics",
        Source::Stored if target.sub == "log" => "log",
        Source::Stored => "api",
    }
}

/// Health and version may be read by anyone; the rest needs the token, where there is one.
fn authorize(core: &Core, call: &Call, header: Option<&str>) -> Result<(), Status> {
    let Some(token) = &core.token else { return Ok(()) };
    if matches!(&*call.path, "/healthz" | "/livez" | "/readyz" | "/version") {
        return Ok(());
    }
    let given = header.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default().as_bytes();
    // Takes the same time wherever they differ.
    let differ =
        given.iter().zip(token.as_bytes()).fold(given.len() ^ token.len(), |sum, (a, b)| sum | usize::from(a ^ b));
    if differ == 0 { Ok(()) } else { Err(Status::unauthorized()) }
}

async fn dispatch(core: &Arc<Core>, exchange: &Arc<Exchange>, call: &Call, body: Incoming) -> Result<Reply, Status> {
    let Some((kind, target)) = &call.target else { return documents::answer(core, exchange, call) };
    let (id, kind) = (*kind, kind.kind());
    if kind.source == Source::Metrics && !core.options.metrics {
        return Err(Status::no_such_path());
    }
    if kind.namespaced && target.namespace.is_empty() && !target.name.is_empty() {
        return Err(Status::no_such_path());
    }
    if !kind.namespaced && !target.namespace.is_empty() {
        return Err(Status::no_such_path());
    }
    let verb = exchange.asked().verb;
    if let Some(refused) = core.faults.refusal(kind, verb) {
        return Err(refused);
    }
    if kind.source != Source::Stored {
        return documents::made(core, exchange, call, body).await;
    }
    if !target.sub.is_empty() {
        check_subresource(kind, &target.sub, verb)?;
    } else if !serves(kind, target, verb) {
        return Err(Status::method_not_allowed());
    }
    match verb {
        "list" => {
            let shape = shape(call, kind, Content::List)?;
            let request = ListRequest {
                kind: id,
                namespace: &target.namespace,
                path: &call.path,
                query: &call.query,
                shape,
                gzip: call.gzip,
            };
            list(core, exchange, &request)
        }
        "watch" => {
            let shape = shape(call, kind, Content::Events)?;
            watch(core, exchange, &WatchRequest { kind: id, namespace: &target.namespace, query: &call.query, shape })
        }
        "get" => get(core, exchange, call, id, target),
        _ => writes::write(core, exchange, call, body).await,
    }
}

fn shape(call: &Call, kind: &Kind, content: Content) -> Result<Shape, Status> {
    Shape::of(call.accept.as_deref(), call.query.get("includeObject"), kind, content)
}

/// Whether the verb is served at the path of an object, or of all of a kind in one namespace or in every one.
fn serves(kind: &Kind, target: &Target, verb: &str) -> bool {
    let everywhere = kind.namespaced && target.namespace.is_empty();
    kind.serves(verb)
        && match verb {
            "update" | "patch" => !target.name.is_empty(),
            "create" => target.name.is_empty() && !everywhere,
            "deletecollection" => !everywhere,
            _ => true,
        }
}

fn check_subresource(kind: &Kind, name: &str, verb: &str) -> Result<(), Status> {
    match kind.subresource(name) {
        Some(sub) if sub.verbs.contains(&verb) => Ok(()),
        Some(_) => Err(Status::method_not_allowed()),
        None if kind.is_left_out(name) => Err(Status::not_implemented(&format!("{}/{name}", kind.plural))),
        None => Err(Status::no_such_path()),
    }
}

/// GET of one object or of what is below it.
fn get(core: &Arc<Core>, exchange: &Arc<Exchange>, call: &Call, id: KindId, target: &Target) -> Result<Reply, Status> {
    let kind = id.kind();
    // One object has one version here: the current one, which is never older than what may be asked for.
    let wanted = list_options::version(call.query.get("resourceVersion").unwrap_or_default())
        .map_err(|why| Status::unknown_error(&why))?;
    if wanted > 0 {
        let current = core.store.snapshot(id).rv;
        if wanted > current {
            return Err(Status::version_too_large(wanted, current));
        }
    }
    let object = core
        .store
        .get(id, &object::key_of(&target.namespace, &target.name))
        .ok_or_else(|| Status::not_found(kind, &target.name))?;
    if target.sub == "log" {
        return documents::log(core, exchange, call, &object);
    }
    let shape = shape(call, kind, Content::One)?;
    let rope = match shape {
        Shape::Object => Frames::of(id).single(&object),
        _ => documents::converted(id, &object, shape)?,
    };
    Ok(respond::whole(core, exchange, 200, JSON, rope))
}
