//! What is not a stored object: discovery, health, metrics, logs, reviews.

use super::body::Source;
use super::core::Core;
use super::exchange::Exchange;
use super::frames::Frames;
use super::logs::{LogLines, LogOptions};
use super::object::Object;
use super::respond::{self, Reply};
use super::rope::Rope;
use super::router::Call;
use super::semantics::discovery;
use super::semantics::negotiate::{Offer, Representation, negotiate};
use super::semantics::status::Status;
use super::semantics::table;
use super::shape::Shape;
use super::store::KindId;
use hyper::Method;
use hyper::body::Incoming;
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
        return Err(if matches!(parts.first(), Some(&("api" | "apis"))) {
            Status::no_such_path()
        } else {
            Status::method_not_allowed()
        });
    }
    let text = |body: String| Ok(respond::whole(core, exchange, 200, "text/plain; charset=utf-8", Rope::of(body)));
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
        _ => return Err(Status::no_such_path()),
    };
    Ok(respond::document(core, exchange, 200, &value))
}

/// Answers a request for a kind that is made on demand.
pub(crate) async fn made(
    _core: &Arc<Core>,
    _exchange: &Arc<Exchange>,
    _call: &Call,
    _body: Incoming,
) -> Result<Reply, Status> {
    Err(Status::no_such_path())
}

/// The log of a Pod.
pub(crate) fn log(core: &Arc<Core>, exchange: &Arc<Exchange>, call: &Call, pod: &Object) -> Result<Reply, Status> {
    let options = LogOptions::parse(&call.query)?;
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
        Shape::Object => {
            out.extend_from_slice(&text);
            Ok(())
        }
    };
    made.map_err(|error| Status::internal(&error.to_string()))?;
    out.push(b'\n');
    Ok(Rope::of(out))
}
