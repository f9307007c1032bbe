//! What is sent for one request, in words that both protocols understand.

use super::watch::Watch;
use bytes::Bytes;
use serde::Deserialize;
use std::time::Duration;

/// How a response, or a request without one, ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// As the protocol has it.
    Proper,
    /// The connection is closed (FIN).
    Close,
    /// The connection is reset (RST).
    Reset,
    /// The stream is reset with this error code; over HTTP/1.1 the connection is.
    RstStream(u32),
    /// Nothing more comes, and nothing is closed.
    Hang,
}

/// What happens to a request.
pub(crate) enum Reply {
    /// No response.
    Nothing(End),
    /// Bytes that are no HTTP.
    Garbage,
    /// A response.
    Full(Box<Response>),
}

/// A response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// What content-length says; without it the body is chunked, or ends with the stream.
    pub(crate) length: Option<u64>,
    pub(crate) body: Body,
    pub(crate) end: End,
}

impl Response {
    /// A whole JSON document.
    pub(crate) fn json(status: u16, text: Bytes) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            length: Some(text.len() as u64),
            body: Body::Text(Some(text)),
            end: End::Proper,
        }
    }

    /// A body of filler; `length` is what is announced, `bytes` what is sent (without end where `None`).
    pub(crate) fn filler(length: Option<u64>, filler: Filler, end: End) -> Self {
        Self { status: 200, headers: Vec::new(), length, body: Body::Filler(filler), end }
    }
}

/// Where the pieces of a body come from.
pub(crate) enum Body {
    Text(Option<Bytes>),
    Filler(Filler),
    Watch(Watch),
}

/// Bytes without meaning.
pub(crate) struct Filler {
    /// `None`: without end.
    pub(crate) left: Option<u64>,
    pub(crate) piece: usize,
    pub(crate) pause: Duration,
}

static FILLER: [u8; 64 * 1024] = [b' '; 64 * 1024];

impl Body {
    /// The next piece, when its time has come; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        match self {
            Self::Text(text) => text.take(),
            Self::Filler(filler) => filler.next().await,
            Self::Watch(watch) => watch.next().await,
        }
    }
}

impl Filler {
    async fn next(&mut self) -> Option<Bytes> {
        let most = self.piece.clamp(1, FILLER.len());
        let count = self.left.map_or(most, |left| usize::try_from(left).map_or(most, |left| left.min(most)));
        if count == 0 {
            return None;
        }
        if let Some(left) = &mut self.left {
            *left -= count as u64;
        }
        if !self.pause.is_zero() {
            tokio::time::sleep(self.pause).await;
        }
        Some(Bytes::from_static(&FILLER[..count]))
    }
}
