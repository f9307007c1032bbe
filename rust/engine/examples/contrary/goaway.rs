//! Frames between those of the HTTP/2 library: a GOAWAY with any last stream id, or bytes that are no frame.
//!
//! The library's own GOAWAY always covers every stream that it has received; what a client does with the streams
//! above the last id is seen only where some are left out.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A frame's header (RFC 9113, 4.1): length in three bytes, type, flags, stream id.
const HEADER: usize = 9;

/// A GOAWAY frame without an error (RFC 9113, 6.8).
pub(crate) fn goaway(last_stream: u32) -> Vec<u8> {
    let mut frame = vec![0, 0, 8, 7, 0, 0, 0, 0, 0];
    frame.extend(last_stream.to_be_bytes());
    frame.extend(0u32.to_be_bytes());
    frame
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    waker: Option<Waker>,
}

/// Puts bytes into the stream at the next boundary of frames.
#[derive(Clone, Default)]
pub(crate) struct Inserter(Arc<Mutex<Waiting>>);

impl Inserter {
    pub(crate) fn insert(&self, bytes: &[u8]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes.extend(bytes);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }
}

/// The stream that the library writes to.
pub(crate) struct Inserted<S> {
    inner: S,
    inserter: Inserter,
    /// The header of the frame that is being written, as far as it is known.
    header: Vec<u8>,
    /// Bytes of its payload that are still to come.
    payload: usize,
}

impl<S: AsyncWrite + Unpin> Inserted<S> {
    pub(crate) fn new(inner: S) -> (Self, Inserter) {
        let inserter = Inserter::default();
        (Self { inner, inserter: inserter.clone(), header: Vec::new(), payload: 0 }, inserter)
    }

    fn at_boundary(&self) -> bool {
        self.header.is_empty() && self.payload == 0
    }

    fn written(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.payload > 0 {
                let count = self.payload.min(bytes.len());
                self.payload -= count;
                bytes = &bytes[count..];
            } else {
                let count = (HEADER - self.header.len()).min(bytes.len());
                self.header.extend(&bytes[..count]);
                bytes = &bytes[count..];
                if self.header.len() == HEADER {
                    self.payload = self.header[..3].iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
                    self.header.clear();
                }
            }
        }
    }

    /// Ready once nothing waits to be inserted.
    fn poll_insert(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let inserter = self.inserter.clone();
        let mut waiting = inserter.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !waiting.bytes.is_empty() {
            match Pin::new(&mut self.inner).poll_write(cx, &waiting.bytes) {
                Poll::Ready(Ok(count)) => drop(waiting.bytes.drain(..count)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        waiting.waker = Some(cx.waker().clone());
        Poll::Ready(Ok(()))
    }

    /// How much of these bytes may be written in one go: up to the end of a frame where something waits.
    fn up_to_boundary(&self, bytes: &[u8]) -> usize {
        let waiting = self.inserter.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.bytes.is_empty() || self.at_boundary() {
            bytes.len()
        } else if self.payload > 0 {
            self.payload.min(bytes.len())
        } else {
            (HEADER - self.header.len()).min(bytes.len())
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Inserted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Inserted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.at_boundary() {
            match self.poll_insert(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        let most = self.up_to_boundary(buf);
        let count = std::task::ready!(Pin::new(&mut self.inner).poll_write(cx, &buf[..most]))?;
        self.written(&buf[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.at_boundary() {
            std::task::ready!(self.poll_insert(cx))?;
        }
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
