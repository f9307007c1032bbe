//! One request and its answer on a connection that is up.

use super::http1::{self, Head};
use super::job::Wire;
use super::outcome::{ConnectionFault, Outcome, UnknownFault};
use crate::clock::now_ns;
use bytes::Bytes;
use hyper::http::{HeaderMap, HeaderValue, Request, header};
use std::future::poll_fn;
use std::io;
use std::time::Duration;

/// What is recorded of an answer's head, and its body still to be read.
pub(super) struct Answer {
    pub(super) head: Head,
    pub(super) body: AnswerBody,
}

/// The body of an answer.
pub(super) enum AnswerBody {
    Http1(http1::Body),
    /// With the piece that is lent out.
    Http2(h2::RecvStream, Bytes),
}

/// Why there is no answer, or not all of one.
#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing was sent: the connection is gone, or takes no more.
    NotSent,
    /// The server has not taken it: to be sent again.
    Refused,
    /// It failed.
    Failed(Outcome, String),
}

/// What is sent over HTTP/2, but for a body.
fn request(wire: &Wire, token: Option<&HeaderValue>) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = wire.method.clone();
    *request.uri_mut() = wire.uri.clone();
    *request.headers_mut() = HeaderMap::clone(&wire.headers);
    if let Some(token) = token.filter(|_| !wire.headers.contains_key(header::AUTHORIZATION)) {
        request.headers_mut().insert(header::AUTHORIZATION, token.clone());
    }
    request
}

/// Sends over HTTP/1.1. `sent` is called when the connection is free and the request is handed to it.
pub(super) async fn http1(
    sender: &http1::Sender,
    wire: &Wire,
    token: Option<&HeaderValue>,
    sent: impl FnOnce(u64),
) -> Result<Answer, Fault> {
    let (head, body) = sender.send(&http1::Request { wire, token }, &wire.body, sent).await?;
    Ok(Answer { head, body: AnswerBody::Http1(body) })
}

/// Sends over HTTP/2. `sent` is called when the connection has a free stream and the request is handed to it.
pub(super) async fn http2(
    mut sender: h2::client::SendRequest<Bytes>,
    wire: &Wire,
    token: Option<&HeaderValue>,
    sent: impl FnOnce(u64),
) -> Result<Answer, Fault> {
    poll_fn(|context| sender.poll_ready(context)).await.map_err(|_| Fault::NotSent)?;
    let mut request = request(wire, token);
    let empty = wire.body.is_empty();
    if !empty {
        request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(wire.body.len()));
    }
    let (answer, mut body) = sender.send_request(request, empty).map_err(|error| {
        // Neither the peer's nor the socket's: h2 does not take the request as it stands.
        if error.reason().is_none() && error.get_io().is_none() {
            Fault::Failed(Outcome::Unknown(UnknownFault::Other), error.to_string())
        } else {
            Fault::NotSent
        }
    })?;
    sent(now_ns());
    if !empty {
        // What the server answers before it has read all of it counts, not that it did not.
        let _ = body.send_data(wire.body.clone(), true);
    }
    match answer.await {
        Ok(answer) => {
            let head = head_of(answer.status().as_u16(), answer.headers());
            Ok(Answer { head, body: AnswerBody::Http2(answer.into_body(), Bytes::new()) })
        }
        Err(error) => Err(of_h2(&error, false)),
    }
}

fn head_of(status: u16, headers: &HeaderMap) -> Head {
    let value = |name| headers.get(name).map(HeaderValue::as_bytes);
    Head {
        status,
        retry_after: headers.get(header::RETRY_AFTER).and_then(|value| of_retry_after(value.as_bytes())),
        level: value(http1::LEVEL).map(Bytes::copy_from_slice),
        protobuf: headers.get(header::CONTENT_TYPE).is_some_and(|kind| is_protobuf(kind.as_bytes())),
    }
}

/// Whole seconds, as client-go reads them.
pub(super) fn of_retry_after(value: &[u8]) -> Option<Duration> {
    let seconds: u64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Whether a Content-Type says so.
pub(super) fn is_protobuf(content_type: &[u8]) -> bool {
    content_type.windows(8).any(|part| part == b"protobuf")
}

/// Reads an answer to its end; its status.
pub(super) async fn drain(answer: Answer) -> Result<u16, Fault> {
    let Answer { head, mut body } = answer;
    while body.chunk().await?.is_some() {}
    Ok(head.status)
}

/// What of an error's body is kept.
pub(super) const ERROR_TEXT_BYTES: usize = 400;

/// Reads an answer to its end; how it begins.
pub(super) async fn beginning(answer: Answer) -> Option<String> {
    let mut text = Vec::new();
    let mut body = answer.body;
    while let Ok(Some(chunk)) = body.chunk().await {
        let room = ERROR_TEXT_BYTES - text.len().min(ERROR_TEXT_BYTES);
        text.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

impl AnswerBody {
    /// The next piece; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<&[u8]>, Fault> {
        match self {
            Self::Http1(body) => body.chunk().await,
            Self::Http2(body, lent) => match body.data().await {
                None => Ok(None),
                Some(Ok(data)) => {
                    let _ = body.flow_control().release_capacity(data.len());
                    *lent = data;
                    Ok(Some(lent))
                }
                Some(Err(error)) => Err(of_h2(&error, true)),
            },
        }
    }
}

fn of_io(error: &io::Error, in_answer: bool) -> Outcome {
    match error.kind() {
        io::ErrorKind::InvalidData => Outcome::Unknown(UnknownFault::Tls),
        _ => Outcome::Connection(ConnectionFault::of_io(error, in_answer)),
    }
}

/// Of a socket on which an answer was awaited, or was being read.
pub(super) fn of_io_error(error: &io::Error, in_answer: bool) -> Fault {
    Fault::Failed(of_io(error, in_answer), error.to_string())
}

fn of_h2(error: &h2::Error, in_answer: bool) -> Fault {
    // A GOAWAY from the peer reaches only the streams above its last id; RFC 9113, section 8.7: neither these nor
    // a refused stream have been processed.
    let not_taken = error.is_go_away() || error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    if not_taken && error.is_remote() && !in_answer {
        return Fault::Refused;
    }
    let outcome = if let Some(io) = error.get_io() {
        of_io(io, in_answer)
    } else if let Some(reason) = error.reason() {
        Outcome::Http2(reason.into())
    } else {
        Outcome::Unknown(UnknownFault::Other)
    };
    Fault::Failed(outcome, error.to_string())
}
