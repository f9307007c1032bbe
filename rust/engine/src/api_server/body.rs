//! The body of a response: what all of them have in common.

use super::exchange::Exchange;
use super::items::Items;
use super::limit::ByteLimit;
use super::logs::LogLines;
use super::rope::Rope;
use super::watch::WatchBody;
use bytes::Buf;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// Compressed pieces are sent once they have grown to this many bytes.
const GZIP_PIECE: usize = 32 * 1024;

/// Where the bytes come from.
pub(crate) enum Source {
    /// All of them are there.
    Whole(Option<Rope>),
    /// The items of a list.
    Items(Box<Items>),
    /// The events of a watch.
    Watch(Box<WatchBody>),
    /// The lines of a log.
    Log(Box<LogLines>),
}

impl Source {
    /// The next piece; `None` at the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
        match self {
            Self::Whole(rope) => Poll::Ready(rope.take().filter(Buf::has_remaining)),
            Self::Items(items) => Poll::Ready(items.next_piece()),
            Self::Watch(watch) => watch.poll_piece(cx),
            Self::Log(log) => log.poll_piece(cx),
        }
    }

    /// Bytes left, where they are known.
    fn exact_bytes(&self) -> Option<u64> {
        match self {
            Self::Whole(rope) => Some(rope.as_ref().map_or(0, |rope| rope.remaining() as u64)),
            Self::Items(items) => items.exact_bytes(),
            Self::Watch(_) | Self::Log(_) => None,
        }
    }
}

/// A body that is counted, and compressed and slowed down where asked.
pub(crate) struct ResponseBody {
    source: Source,
    exchange: Option<Arc<Exchange>>,
    gzip: Option<GzEncoder<Vec<u8>>>,
    ended: bool,
    limit: Option<Arc<ByteLimit>>,
    waiting: Option<(Rope, Pin<Box<Sleep>>)>,
}

impl ResponseBody {
    /// A body of one request.
    pub(crate) fn new(source: Source, exchange: Arc<Exchange>, limit: Option<Arc<ByteLimit>>) -> Self {
        Self { source, exchange: Some(exchange), gzip: None, ended: false, limit, waiting: None }
    }

    /// Compresses it, fast rather than small, as kube-apiserver does.
    pub(crate) fn compressed(mut self) -> Self {
        self.gzip = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        self
    }

    /// Bytes that will be sent, where they are known.
    pub(crate) fn exact_bytes(&self) -> Option<u64> {
        if self.gzip.is_some() { None } else { self.source.exact_bytes() }
    }

    fn poll_encoded(&mut self, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
        let Some(exchange) = &self.exchange else { return Poll::Ready(None) };
        let Some(encoder) = &mut self.gzip else { return self.source.poll_piece(cx) };
        loop {
            let piece = ready!(self.source.poll_piece(cx));
            // Writing to a vector cannot fail.
            if let Some(mut piece) = piece {
                exchange.add_raw(piece.remaining());
                while piece.has_remaining() {
                    let chunk = piece.chunk();
                    let _ = encoder.write_all(chunk);
                    let count = chunk.len();
                    piece.advance(count);
                }
                if encoder.get_ref().len() >= GZIP_PIECE {
                    return Poll::Ready(Some(Rope::of(std::mem::take(encoder.get_mut()))));
                }
            } else {
                let rest = self.gzip.take().and_then(|encoder| encoder.finish().ok()).unwrap_or_default();
                return Poll::Ready((!rest.is_empty()).then(|| Rope::of(rest)));
            }
        }
    }
}

impl Body for ResponseBody {
    type Data = Rope;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if let Some((_, sleep)) = &mut this.waiting {
            ready!(sleep.as_mut().poll(cx));
            let piece = this.waiting.take().map(|(rope, _)| rope);
            return Poll::Ready(piece.map(|rope| Ok(Frame::data(rope))));
        }
        if this.ended {
            return Poll::Ready(None);
        }
        let Some(mut rope) = ready!(this.poll_encoded(cx)) else {
            this.ended = true;
            if let Some(exchange) = this.exchange.take() {
                exchange.end();
            }
            return Poll::Ready(None);
        };
        if let Some(exchange) = &this.exchange {
            exchange.add_given(rope.remaining());
            rope.count_to(exchange);
            if this.exact_bytes() == Some(0) {
                exchange.end();
            }
        }
        if let Some(wait) = this.limit.as_ref().and_then(|limit| limit.take(rope.remaining() as u64)) {
            this.waiting = Some((rope, Box::pin(tokio::time::sleep(Duration::from_nanos(wait)))));
            return self.poll_frame(cx);
        }
        Poll::Ready(Some(Ok(Frame::data(rope))))
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && (self.ended || self.exact_bytes() == Some(0))
    }

    fn size_hint(&self) -> SizeHint {
        let waiting = self.waiting.as_ref().map_or(0, |(rope, _)| rope.remaining() as u64);
        self.exact_bytes().map_or_else(SizeHint::default, |bytes| SizeHint::with_exact(bytes + waiting))
    }
}
