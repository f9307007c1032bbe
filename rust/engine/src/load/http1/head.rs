//! Heads of requests and answers.

use crate::load::exchange::{is_protobuf, of_retry_after};
use crate::load::job::Wire;
use bytes::Bytes;
use hyper::http::{HeaderValue, header};
use std::io::Write;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Headers of an answer.
const MOST_HEADERS: usize = 100;
/// Of the flow-control level that a request was counted to.
pub(in crate::load) const LEVEL: &str = "x-kubernetes-pf-prioritylevel-uid";

/// What is sent, but for its body.
pub(in crate::load) struct Request<'a> {
    pub(in crate::load) wire: &'a Wire,
    pub(in crate::load) token: Option<&'a HeaderValue>,
}

/// What is read of an answer's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::load) struct Head {
    pub(in crate::load) status: u16,
    /// Of a 429 that says so.
    pub(in crate::load) retry_after: Option<Duration>,
    /// The UID of its APF priority level.
    pub(in crate::load) level: Option<Bytes>,
    /// Whether the body is protobuf.
    pub(in crate::load) protobuf: bool,
}

/// Where the body of an answer ends: RFC 9112, section 6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    /// With the connection.
    Close,
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) head: Head,
    pub(super) framing: Framing,
    /// Whether another request may follow on the connection.
    pub(super) keeps_alive: bool,
    /// Its bytes.
    pub(super) length: usize,
}

impl Request<'_> {
    /// Writes the head of a request with so long a body.
    pub(super) fn write(&self, body: usize, into: &mut Vec<u8>) {
        let Wire { method, uri, headers, .. } = self.wire;
        into.extend_from_slice(method.as_str().as_bytes());
        into.push(b' ');
        into.extend_from_slice(uri.path_and_query().map_or("/", |target| target.as_str()).as_bytes());
        into.extend_from_slice(b" HTTP/1.1\r\n");
        let mut put = |name: &header::HeaderName, value: &[u8]| {
            into.extend_from_slice(name.as_str().as_bytes());
            into.extend_from_slice(b": ");
            into.extend_from_slice(value);
            into.extend_from_slice(b"\r\n");
        };
        for (name, value) in headers.iter() {
            // How long the body is, is this client's to say.
            if name != header::CONTENT_LENGTH && name != header::TRANSFER_ENCODING {
                put(name, value.as_bytes());
            }
        }
        if let Some(token) = self.token.filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
            put(&header::AUTHORIZATION, token.as_bytes());
        }
        if body > 0 {
            let _ = write!(into, "content-length: {body}\r\n");
        }
        into.extend_from_slice(b"\r\n");
    }
}

/// Reads the head of an answer; `None` where not all of it is there. An error says what is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Parsed>, String> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut space = [MaybeUninit::uninit(); MOST_HEADERS];
    let mut answer = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut answer, bytes, &mut space)
        .map_err(|error| format!("the answer is no HTTP/1.1: {error}"))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    let mut head = Head { status: answer.code.unwrap_or(0), ..Head::default() };
    let mut keeps_alive = answer.version == Some(1);
    let (mut content_length, mut coding) = (None, None);
    for header in answer.headers.iter() {
        let value = header.value;
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            10 if is("connection") => {
                for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if option.eq_ignore_ascii_case(b"close") {
                        keeps_alive = false;
                    } else if option.eq_ignore_ascii_case(b"keep-alive") {
                        keeps_alive = true;
                    }
                }
            }
            11 if is("retry-after") => head.retry_after = of_retry_after(value),
            12 if is("content-type") => head.protobuf = is_protobuf(value),
            14 if is("content-length") => {
                let said = number(value).ok_or("the answer's Content-Length is no number")?;
                if content_length.replace(said).is_some_and(|former| former != said) {
                    return Err("the answer has two lengths".into());
                }
            }
            17 if is("transfer-encoding") => coding = Some(value),
            33 if is(LEVEL) => head.level = Some(Bytes::copy_from_slice(value)),
            _ => {}
        }
    }
    let framing = match (head.status, coding, content_length) {
        (100..200 | 204 | 304, _, _) => Framing::Length(0),
        (_, Some(coding), length) => {
            // Two of them may be an answer that somebody has forged: nothing more is read behind it.
            keeps_alive &= length.is_none();
            let last = coding.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
            if last.eq_ignore_ascii_case(b"chunked") { Framing::Chunked } else { Framing::Close }
        }
        (_, None, Some(length)) => Framing::Length(length),
        (_, None, None) => Framing::Close,
    };
    // Nobody has asked for another protocol.
    if head.status == 101 {
        return Err("the server changed the protocol unasked".into());
    }
    keeps_alive &= framing != Framing::Close;
    Ok(Some(Parsed { head, framing, keeps_alive, length }))
}

/// Digits alone: neither a sign nor more than a u64.
fn number(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::http::{HeaderMap, Method, Uri};
    use std::sync::Arc;

    fn whole(text: &str) -> Parsed {
        let parsed = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!(parsed.length, text.len(), "{text}");
        parsed
    }

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let text = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Type: application/vnd.kubernetes.protobuf\
                    \r\nX-Kubernetes-PF-PriorityLevel-UID: abc\r\nContent-Length: 12\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..end]), Ok(None), "{end}");
        }
        let parsed = whole(text);
        let head = Head {
            status: 429,
            retry_after: Some(Duration::from_secs(3)),
            level: Some(Bytes::from_static(b"abc")),
            protobuf: true,
        };
        assert_eq!((parsed.head, parsed.framing, parsed.keeps_alive), (head, Framing::Length(12), true));
    }

    #[test]
    fn where_a_body_ends_is_read_as_the_rfc_says() {
        for (head, framing, keeps_alive) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 5", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: foo, Close", Framing::Length(5), false),
            ("HTTP/1.0 200 OK\r\ncontent-length: 5", Framing::Length(5), false),
            ("HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked", Framing::Chunked, true),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5", Framing::Chunked, false),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip", Framing::Close, false),
            ("HTTP/1.1 200 OK\r\nserver: x", Framing::Close, false),
            ("HTTP/1.1 204 No Content\r\nserver: x", Framing::Length(0), true),
            ("HTTP/1.1 304 Not Modified\r\ncontent-length: 5", Framing::Length(0), true),
            ("HTTP/1.1 100 Continue\r\nserver: x", Framing::Length(0), true),
        ] {
            let parsed = whole(&format!("{head}\r\n\r\n"));
            assert_eq!((parsed.framing, parsed.keeps_alive), (framing, keeps_alive), "{head}");
        }
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        for head in [
            "SSH-2.0-OpenSSH",
            "HTTP/2 200 OK",
            "HTTP/1.1 200 OK\r\ncontent-length: +5",
            "HTTP/1.1 200 OK\r\ncontent-length: 5, 5",
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999",
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: spdy",
        ] {
            assert!(parse(format!("{head}\r\n\r\n").as_bytes()).is_err(), "{head}");
        }
    }

    #[test]
    fn a_request_says_how_long_its_body_is_and_who_asks() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("h"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("77"));
        let wire = |headers| Wire {
            method: Method::POST,
            uri: Uri::from_static("/api?x=1"),
            headers: Arc::new(headers),
            body: Bytes::new(),
        };
        let text = |headers, body| {
            let token = HeaderValue::from_static("Bearer t");
            let mut text = Vec::new();
            Request { wire: &wire(headers), token: Some(&token) }.write(body, &mut text);
            String::from_utf8(text).unwrap()
        };
        let first = "POST /api?x=1 HTTP/1.1\r\nhost: h\r\n";
        let told = text(headers.clone(), 5);
        assert_eq!(told, format!("{first}authorization: Bearer t\r\ncontent-length: 5\r\n\r\n"));
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Basic b"));
        assert_eq!(text(headers, 0), format!("{first}authorization: Basic b\r\n\r\n"));
    }
}
