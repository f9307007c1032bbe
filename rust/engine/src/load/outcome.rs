//! How a request ended, and the key under which its error is counted.
//!
//! The keys are those of kperf, so that figures can be compared: `http/429`, `http2-protocol/INTERNAL_ERROR`,
//! `connection/connection reset by peer` (with the words of Go's errors), `unknown/…`.

use std::borrow::Cow;
use std::io;

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// 2xx, or the status that was expected.
    Ok,
    /// Another status.
    Http(u16),
    /// The stream was reset, or the connection ended with an HTTP/2 error code.
    Http2(u32),
    /// The connection failed.
    Connection(ConnectionFault),
    /// What the server sent cannot be understood, or another fault.
    Unknown(UnknownFault),
    /// No answer in time.
    TimedOut,
    /// On the wire at the deadline.
    Cancelled,
}

/// A connection's fault, in Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ConnectionFault {
    Refused,
    Reset,
    /// Closed before the first byte of an answer.
    Eof,
    /// Closed in the middle of one.
    UnexpectedEof,
    BrokenPipe,
    TimedOut,
    Unreachable,
    Name,
    Tls,
    Other,
}

/// A fault of no other class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum UnknownFault {
    /// What came is not HTTP.
    Malformed,
    /// TLS failed on a connection that was up.
    Tls,
    /// A watch's stream ended with an ERROR event.
    Watch,
    /// A `WatchList` ended without its bookmark.
    Bookmark,
    Other,
}

impl ConnectionFault {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Refused => "connection refused",
            Self::Reset => "connection reset by peer",
            Self::Eof => "EOF",
            Self::UnexpectedEof => "unexpected EOF",
            Self::BrokenPipe => "broken pipe",
            Self::TimedOut => "connection timed out",
            Self::Unreachable => "no route to host",
            Self::Name => "no such host",
            Self::Tls => "TLS handshake failed",
            Self::Other => "other",
        }
    }

    /// Of a socket's error; `in_answer`: whether bytes of an answer had come.
    pub(super) fn of_io(error: &io::Error, in_answer: bool) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Self::Reset,
            io::ErrorKind::UnexpectedEof if in_answer => Self::UnexpectedEof,
            io::ErrorKind::UnexpectedEof => Self::Eof,
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::TimedOut => Self::TimedOut,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Self::Unreachable,
            _ => Self::Other,
        }
    }
}

impl Outcome {
    /// The key of an error; `None` for all that is none.
    pub(super) fn error_key(self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Ok | Self::TimedOut | Self::Cancelled => return None,
            Self::Http(status) => format!("http/{status}").into(),
            Self::Http2(code) => match http2_code(code) {
                Some(name) => format!("http2-protocol/{name}").into(),
                None => format!("http2-protocol/unknown error code 0x{code:x}").into(),
            },
            Self::Connection(fault) => format!("connection/{}", fault.words()).into(),
            Self::Unknown(UnknownFault::Malformed) => Cow::Borrowed("unknown/malformed HTTP response"),
            Self::Unknown(UnknownFault::Tls) => Cow::Borrowed("unknown/tls"),
            Self::Unknown(UnknownFault::Watch) => Cow::Borrowed("unknown/ERROR event"),
            Self::Unknown(UnknownFault::Bookmark) => Cow::Borrowed("unknown/don't receive bookmark"),
            Self::Unknown(UnknownFault::Other) => Cow::Borrowed("unknown/other"),
        })
    }
}

/// RFC 9113, section 7.
fn http2_code(code: u32) -> Option<&'static str> {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES.get(code as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_named_as_kperf_names_them() {
        for (outcome, key) in [
            (Outcome::Http(429), Some("http/429")),
            (Outcome::Http(302), Some("http/302")),
            (Outcome::Http2(7), Some("http2-protocol/REFUSED_STREAM")),
            (Outcome::Http2(99), Some("http2-protocol/unknown error code 0x63")),
            (Outcome::Connection(ConnectionFault::Reset), Some("connection/connection reset by peer")),
            (Outcome::Connection(ConnectionFault::UnexpectedEof), Some("connection/unexpected EOF")),
            (Outcome::TimedOut, None),
            (Outcome::Ok, None),
        ] {
            assert_eq!(outcome.error_key().as_deref(), key);
        }
    }
}
