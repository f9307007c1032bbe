//! Answers: an object, a document, a Status.

use super::body::{ResponseBody, Source};
use super::core::Core;
use super::exchange::Exchange;
use super::rope::Rope;
use super::semantics::status::Status;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::Value;
use std::sync::Arc;

/// A response to one request.
pub(crate) type Reply = Response<ResponseBody>;

/// JSON, the type of nearly everything.
pub(crate) const JSON: &str = "application/json";

/// A response with a body.
pub(crate) fn reply(
    core: &Core,
    exchange: &Arc<Exchange>,
    http_status: u16,
    content_type: &'static str,
    source: Source,
) -> Reply {
    exchange.answer(|answer| answer.status = http_status);
    let body = ResponseBody::new(source, Arc::clone(exchange), core.byte_limit.clone());
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(http_status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// A response that is there as a whole.
pub(crate) fn whole(
    core: &Core,
    exchange: &Arc<Exchange>,
    http_status: u16,
    content_type: &'static str,
    rope: Rope,
) -> Reply {
    reply(core, exchange, http_status, content_type, Source::Whole(Some(rope)))
}

/// A JSON document.
pub(crate) fn document(core: &Core, exchange: &Arc<Exchange>, http_status: u16, value: &Value) -> Reply {
    let mut text = value.to_string();
    text.push('\n');
    whole(core, exchange, http_status, JSON, Rope::of(text))
}

/// A Status, with its code and `Retry-After`.
pub(crate) fn status(core: &Core, exchange: &Arc<Exchange>, status: &Status) -> Reply {
    let mut text = status.to_json();
    text.push(b'\n');
    exchange.answer(|answer| answer.retry_after = status.retry_after());
    let mut response = whole(core, exchange, status.code, JSON, Rope::of(text));
    if let Some(seconds) = status.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status.code == 401 {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Compresses a response.
pub(crate) fn compress(response: Reply) -> Reply {
    let (mut parts, body) = response.into_parts();
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    Response::from_parts(parts, body.compressed())
}
