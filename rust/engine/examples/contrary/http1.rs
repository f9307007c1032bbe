//! HTTP/1.1, written by hand, so that it can be spoken wrongly.

use super::reply::{Body, End, Reply, Response};
use super::server::{Open, Server};
use super::socket::Fate;
use bytes::Bytes;
use std::fmt::Write as _;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const HEAD_BYTES: usize = 64 * 1024;

/// A request that has been read.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) body: Vec<u8>,
    close: bool,
}

/// Reads requests from a stream, one after another.
pub(crate) struct Reader {
    buffer: Vec<u8>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::with_capacity(8192) }
    }

    /// The next request; `None` where the client has closed, or speaks something else.
    pub(crate) async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Option<Request> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            if self.buffer.len() > HEAD_BYTES || stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8(self.buffer.drain(..end + 4).collect()).ok()?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
        let header = |name: &str| {
            head.split("\r\n")
                .skip(1)
                .filter_map(|line| line.split_once(':'))
                .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.trim().to_ascii_lowercase()))
        };
        let close = header("connection").is_some_and(|value| value == "close");
        let body = if header("transfer-encoding").is_some_and(|value| value.ends_with("chunked")) {
            self.chunks(stream).await?
        } else {
            let length = header("content-length").map_or(Some(0), |value| value.parse().ok())?;
            self.take(stream, length).await?
        };
        Some(Request { method, target, body, close })
    }

    async fn take(&mut self, stream: &mut (impl AsyncRead + Unpin), count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
        Some(self.buffer.drain(..count).collect())
    }

    async fn chunks(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.extend(self.take(stream, 1).await?);
            }
            let size = std::str::from_utf8(&line).ok()?.trim().split(';').next()?.trim().to_owned();
            let size = usize::from_str_radix(&size, 16).ok()?;
            body.extend(self.take(stream, size).await?);
            self.take(stream, 2).await?;
            if size == 0 {
                return Some(body);
            }
        }
    }
}

/// Serves a connection to its end.
pub(crate) async fn serve<S>(server: &Arc<Server>, mut stream: S, fate: &Fate)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    server.counts(|counts| counts.connections.http1 += 1);
    let mut reader = Reader::new();
    while let Some(request) = reader.next(&mut stream).await {
        let (open, reply) = server.reply(&request.method, &request.target, &request.body).await;
        let end = match reply {
            Reply::Nothing(end) => end,
            Reply::Garbage => {
                let _ = stream.write_all(b"\x15\x03\x03 this is no HTTP at all \r\n\r\n").await;
                End::Close
            }
            Reply::Full(response) => match write(&mut stream, *response, request.method == "HEAD", open).await {
                Ok(end) => end,
                Err(_) => return,
            },
        };
        match end {
            End::Proper if !request.close => {}
            End::Proper | End::Close => break,
            End::Reset | End::RstStream(_) => return fate.reset(),
            End::Hang => {
                // Open until the client has had enough.
                let mut ignored = [0u8; 4096];
                while stream.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
}

/// Head and body. Where the end is not proper, what has been written stands before it.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    mut response: Response,
    head_only: bool,
    open: Open,
) -> io::Result<End> {
    let mut out = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    for (name, value) in &response.headers {
        let _ = write!(out, "{name}: {value}\r\n");
    }
    let chunked = response.length.is_none();
    match response.length {
        Some(length) => _ = write!(out, "content-length: {length}\r\n\r\n"),
        None => out.push_str("transfer-encoding: chunked\r\n\r\n"),
    }
    let mut out = out.into_bytes();
    while !head_only && let Some(piece) = next(stream, &mut response.body).await? {
        if chunked {
            out.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        }
        out.extend(&piece);
        if chunked {
            out.extend(b"\r\n");
        }
        stream.write_all(&out).await?;
        stream.flush().await?;
        out.clear();
    }
    if response.end == End::Proper {
        if chunked {
            out.extend(b"0\r\n\r\n");
        }
        stream.write_all(&out).await?;
        stream.flush().await?;
        open.complete(response.status);
    }
    Ok(response.end)
}

/// The next piece of the body; an error where the client closes before it is there.
async fn next<S: AsyncRead + Unpin>(stream: &mut S, body: &mut Body) -> io::Result<Option<Bytes>> {
    let mut ignored = [0u8; 256];
    let mut piece = pin!(body.next());
    loop {
        tokio::select! {
            biased;
            piece = &mut piece => return Ok(piece),
            read = stream.read(&mut ignored) => if read? == 0 {
                return Err(io::ErrorKind::ConnectionAborted.into());
            },
        }
    }
}

fn reason(status: u16) -> &'static str {
    hyper::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or("Contrary")
}
