//! What is not a stored object: discovery, health, metrics, logs, reviews.

use super::body::Source;
use super::core::Core;
use super::exchange::Exchange;
use super::filter::Filter;
use super::frames::Frames;
use super::items::Items;
use super::log_container;
use super::logs::{LogLines, LogOptions};
use super::object::{Object, key_of};
use super::request::Target;
use super::respond::{self, JSON, Reply};
use super::rope::{Rope, Segment};
use super::router::Call;
use super::semantics::discovery;
use super::semantics::instant::Instant;
use super::semantics::kinds::Source as KindSource;
use super::semantics::negotiate::{Offer, Representation, negotiate};
use super::semantics::status::Status;
use super::semantics::{openapi, reviews, table, usage};
use super::shape::Shape;
use super::store::KindId;
use super::upload;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::Arc;

/// The path as it is counted: paths that are not served have one name together.
pub(crate) fn template(path: &str) -> String {
    match class(path) {
        "other" if !matches!(path, "/" | "/metrics" | "/healthz" | "/livez" | "/readyz" | "/version") => {
            "(not served)".to_owned()
        }
        "openapi" if path.starts_with("/openapi/v3/") => "/openapi/v3/{group}".to_owned(),
        "discovery" if path.split('/').count() > 4 => "(not served)".to_owned(),
        _ => path.chars().take(100).collect(),
    }
}

/// What sort of request a path without a resource is.
pub(crate) fn class(path: &str) -> &'static str {
    let first = path.split('/').nth(1).unwrap_or_default();
    match first {
        "api" | "apis" | "version" => "discovery",
        "openapi" => "openapi",
        _ => "other",
    }
}

/// Answers a request whose path names no served resource.
pub(crate) fn answer(core: &Arc<Core>, exchange: &Arc<Exchange>, call: &Call) -> Result<Reply, Status> {
    let served = core.served();
    let path = call.path.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if !matches!(call.method, Method::GET | Method::HEAD) {
        // Below a version it is a kind that is not there; above, a document that can only be read.
        let depth = if parts.first() == Some(&"api") { 2 } else { 3 };
        let names_a_kind = matches!(parts.first(), Some(&("api" | "apis"))) && parts.len() > depth;
        return Err(if names_a_kind { Status::no_such_path() } else { Status::method_not_allowed() });
    }
    let text = |body: String| Ok(respond::whole(core, exchange, 200, "text/plain; charset=utf-8", Rope::of(body)));
    let json = |body: &'static [u8]| {
        negotiate(call.accept.as_deref(), Offer::Plain)?;
        let mut rope = Rope::default();
        rope.push(Segment::Static(body));
        let response = respond::whole(core, exchange, 200, JSON, rope);
        Ok(if call.gzip { respond::compress(response) } else { response })
    };
    let value = match parts[..] {
        [] => discovery::paths(served),
        ["healthz" | "livez" | "readyz"] => return text("ok".to_owned()),
        ["metrics"] => return text(super::metrics_text::text(core)),
        ["version"] => discovery::version(),
        [root @ ("api" | "apis")] => {
            let representation = negotiate(call.accept.as_deref(), Offer::Discovery)?;
            let value = match representation {
                Representation::Discovery(version) => discovery::aggregated(root == "api", version, served),
                _ if root == "api" => discovery::api_versions(&core.address),
                _ => discovery::group_list(served),
            };
            let rope = Rope::of(value.to_string());
            return Ok(respond::whole(core, exchange, 200, representation.content_type(), rope));
        }
        ["api", version] => discovery::resources("", version, served).ok_or_else(Status::no_such_path)?,
        ["apis", group] => discovery::group(group, served).ok_or_else(Status::no_such_path)?,
        ["apis", group, version] => discovery::resources(group, version, served).ok_or_else(Status::no_such_path)?,
        ["openapi", "v2"] => return json(openapi::v2()),
        ["openapi", "v3"] => return json(openapi::v3_index()),
        ["openapi", "v3", ..] => {
            let group = path.trim_start_matches("/openapi/v3/");
            return json(openapi::v3(group).ok_or_else(Status::no_such_path)?);
        }
        _ => return Err(Status::no_such_path()),
    };
    Ok(respond::document(core, exchange, 200, &value))
}

/// Answers a request for a kind that is made on demand: a review or the usage of nodes and Pods.
pub(crate) async fn made(
    core: &Arc<Core>,
    exchange: &Arc<Exchange>,
    call: &Call,
    body: Incoming,
) -> Result<Reply, Status> {
    let Some((id, target)) = &call.target else { return Err(Status::no_such_path()) };
    let (kind, verb) = (id.kind(), exchange.asked().verb);
    if !target.sub.is_empty() {
        return Err(Status::no_such_path());
    }
    if !kind.serves(verb) {
        return Err(Status::method_not_allowed());
    }
    if kind.source == KindSource::Review {
        let (bytes, _) = upload::read_object(body, call.content_type.as_deref()).await?;
        let review: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Status::bad_request(format!("the object provided is unrecognized: {error}")))?;
        let answer = if kind.kind == "SelfSubjectRulesReview" {
            reviews::rules_review(&review, &core.faults.denied())?
        } else {
            reviews::access_review(&review, |access| core.faults.denial(access))?
        };
        return Ok(respond::document(core, exchange, 201, &answer));
    }
    usage(core, exchange, call, *id, target)
}

/// metrics.k8s.io: made from the stored nodes and Pods.
fn usage(core: &Core, exchange: &Arc<Exchange>, call: &Call, id: KindId, target: &Target) -> Result<Reply, Status> {
    let stored = KindId::core(&target.resource);
    if !target.name.is_empty() {
        let key = key_of(&target.namespace, &target.name);
        let object = core.store.get(stored, &key).ok_or_else(|| Status::not_found(id.kind(), &target.name))?;
        let value = usage_of(stored, &object).map_err(|error| Status::internal(&error.to_string()))?;
        return Ok(respond::document(core, exchange, 200, &value));
    }
    let filter = Filter::parse(stored.kind(), &target.namespace, &call.query)?;
    let snapshot = core.store.snapshot(stored);
    let selection = filter.select(&snapshot.objects, None, usize::MAX);
    exchange.answer(|answer| answer.objects = Some(selection.count as u64));
    let items = Items::new(stored, Shape::Usage(id), snapshot, selection, None);
    Ok(respond::reply(core, exchange, 200, JSON, Source::Items(Box::new(items))))
}

/// The usage of a node or Pod.
pub(crate) fn usage_of(stored: KindId, object: &Object) -> Result<Value, serde_json::Error> {
    let (text, now) = (Frames::of(stored).text(object), Instant::now());
    if Core::is_pods(stored) { usage::pod_metrics(&text, now) } else { usage::node_metrics(&text, now) }
}

/// The log of a Pod.
pub(crate) fn log(core: &Arc<Core>, exchange: &Arc<Exchange>, call: &Call, pod: &Object) -> Result<Reply, Status> {
    let options = LogOptions::parse(&call.query, pod.name())?;
    // The text without its leading comma is one JSON object.
    log_container::check(call.query.get("container"), pod.name(), &pod.text[1..])?;
    let slow = core.faults.logs_are_slow();
    if slow {
        core.faults.exercised(perfq_core::workload::FailureKind::SlowLogs, &pod.key);
    }
    let lines = LogLines::new(pod.name().to_owned(), options, slow);
    Ok(respond::reply(core, exchange, 200, "text/plain", Source::Log(Box::new(lines))))
}

/// An object as a table or as its metadata.
pub(crate) fn converted(id: KindId, object: &Object, shape: Shape) -> Result<Rope, Status> {
    let text = Frames::of(id).text(object);
    let mut out = Vec::new();
    let made = match shape {
        Shape::Table(options) => table::write_object_table(&mut out, id.kind(), &text, options, true),
        Shape::Partial(version) => table::write_partial(&mut out, &text, version),
        Shape::Object | Shape::Usage(_) => {
            out.extend_from_slice(&text);
            Ok(())
        }
    };
    made.map_err(|error| Status::internal(&error.to_string()))?;
    out.push(b'\n');
    Ok(Rope::of(out))
}
