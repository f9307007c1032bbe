//! A TCP socket that can be told to end with a reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Says how the socket ends when it is dropped.
#[derive(Clone, Default)]
pub(crate) struct Fate(Arc<AtomicBool>);

impl Fate {
    /// It ends with RST instead of FIN.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_reset(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The socket, below TLS.
pub(crate) struct Socket {
    stream: TcpStream,
    fate: Fate,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, fate: Fate) -> Self {
        let _ = stream.set_nodelay(true);
        Self { stream, fate }
    }

    /// Whether the client begins with HTTP/2's preface (RFC 9113, 3.4): plain HTTP has no negotiation.
    pub(crate) async fn starts_http2(&self) -> io::Result<bool> {
        let mut first = [0u8; 4];
        loop {
            let count = self.stream.peek(&mut first).await?;
            if count == 0 || !b"PRI ".starts_with(&first[..count]) {
                return Ok(false);
            }
            if count == first.len() {
                return Ok(true);
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.fate.is_reset() {
            // A close without lingering drops what is unsent and sends RST.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
