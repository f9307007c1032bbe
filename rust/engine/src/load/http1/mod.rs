//! HTTP/1.1 as a load generator needs it: one request at a time on a connection, the head of its answer read for what
//! is recorded of it, its body lent out as it comes. A general client hands each request and each piece of a body from
//! task to task, which at a request per wake-up costs as much as the request itself.

mod body;
mod buffer;
mod head;

pub(super) use body::Body;
pub(super) use head::{Head, LEVEL, Request};

use super::exchange::{Fault, of_io_error};
use super::outcome::{ConnectionFault, Outcome, UnknownFault};
use buffer::Buffer;
use bytes::Bytes;
use head::{Parsed, parse};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bodies up to this size go out with their head.
const WITH_HEAD: usize = 8 * 1024;
/// A head that is longer is no answer.
const LONGEST_HEAD: usize = 256 * 1024;

/// What a connection is made of.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// A connection while it is read and written.
struct Line {
    stream: Box<dyn Stream>,
    read: Buffer,
    /// The head of the request, and a small body.
    written: Vec<u8>,
}

/// What is known of a connection, in use or not.
#[derive(Default)]
struct Home {
    free: RefCell<Option<Box<Line>>>,
    closed: Cell<bool>,
    /// Of the task that waits for the end of the connection.
    waiter: RefCell<Option<Waker>>,
}

/// Sends requests on a connection.
pub(super) struct Sender(Rc<Home>);

/// A connection in use. Where it is dropped before the answer was read to its end, the connection ends.
struct InUse {
    line: Option<Box<Line>>,
    home: Rc<Home>,
}

/// A connection on an open stream: what sends on it, and what returns when it has ended.
pub(super) fn connection(stream: impl Stream + 'static) -> (Sender, impl Future<Output = ()>) {
    let line = Line { stream: Box::new(stream), read: Buffer::default(), written: Vec::new() };
    let home = Rc::new(Home { free: RefCell::new(Some(Box::new(line))), ..Home::default() });
    let sender = Sender(Rc::clone(&home));
    let ended = poll_fn(move |context| home.poll_ended(context));
    (sender, ended)
}

impl Home {
    fn poll_ended(&self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(line) = &mut *self.free.borrow_mut()
            && line.poll_ended(context).is_ready()
        {
            self.closed.set(true);
        }
        if self.closed.get() {
            // The socket is closed with it.
            self.free.take();
            return Poll::Ready(());
        }
        let mut waiter = self.waiter.borrow_mut();
        if !waiter.as_ref().is_some_and(|waiter| waiter.will_wake(context.waker())) {
            *waiter = Some(context.waker().clone());
        }
        Poll::Pending
    }

    fn wake(&self) {
        if let Some(waiter) = &*self.waiter.borrow() {
            waiter.wake_by_ref();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // In use, it ends with the answer.
        if self.0.free.take().is_some() {
            self.0.closed.set(true);
            self.0.wake();
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.line.is_some() {
            self.home.closed.set(true);
            self.home.wake();
        }
    }
}

impl InUse {
    /// The answer was read to its end, and another request may follow.
    fn give_back(mut self) {
        let Some(mut line) = self.line.take() else { return };
        // From now on it is the waiter that is told of the connection's end; where it has ended already, at once.
        let ended = match &*self.home.waiter.borrow() {
            Some(waiter) => line.poll_ended(&mut Context::from_waker(waiter)).is_ready(),
            None => false,
        };
        if ended {
            self.line = Some(line);
        } else {
            *self.home.free.borrow_mut() = Some(line);
        }
    }
}

impl Line {
    /// Whether a connection that nobody uses has ended; what the server says unasked is its end as well.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.read.is_empty() {
            return Poll::Ready(());
        }
        self.poll_read(context).map(|_| ())
    }

    /// Reads once; 0 at the end.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(self.read.room());
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut room))?;
        let count = room.filled().len();
        self.read.filled(count);
        Poll::Ready(Ok(count))
    }
}

/// How far a request has been written.
struct Writing<'a> {
    body: &'a [u8],
    at: usize,
    flushed: bool,
}

impl Writing<'_> {
    fn poll(&mut self, line: &mut Line, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let head = line.written.len();
        while self.at < head + self.body.len() {
            let left = if self.at < head { &line.written[self.at..] } else { &self.body[self.at - head..] };
            match ready!(Pin::new(&mut line.stream).poll_write(context, left))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.at += count,
            }
        }
        if !self.flushed {
            ready!(Pin::new(&mut line.stream).poll_flush(context))?;
            self.flushed = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl Sender {
    /// Whether the connection takes no more requests.
    pub(super) fn is_closed(&self) -> bool {
        self.0.closed.get()
    }

    /// Sends a request, and reads the head of its answer. `sent` is called when the connection is free and the
    /// request is handed to it.
    pub(super) async fn send(
        &self,
        request: &Request<'_>,
        body: &Bytes,
        sent: impl FnOnce(u64),
    ) -> Result<(Head, Body), Fault> {
        let Some(line) = self.0.free.take().filter(|_| !self.is_closed()) else { return Err(Fault::NotSent) };
        let mut using = InUse { line: Some(line), home: Rc::clone(&self.0) };
        let Some(line) = &mut using.line else { return Err(Fault::NotSent) };
        if poll_fn(|context| Poll::Ready(line.poll_ended(context).is_ready())).await {
            return Err(Fault::NotSent);
        }
        line.written.clear();
        request.write(body.len(), &mut line.written);
        let apart = body.len() > WITH_HEAD;
        if !apart {
            line.written.extend_from_slice(body);
        }
        sent(crate::clock::now_ns());
        let mut writing = Writing { body: if apart { body } else { &[] }, at: 0, flushed: false };
        let (parsed, written) = poll_fn(|context| line.poll_answer(&mut writing, context)).await?;
        let Parsed { head, framing, keeps_alive, .. } = parsed;
        Ok((head, Body::new(using, framing, keeps_alive && written)))
    }
}

impl Line {
    /// Writes what is left of a request, and reads the head of its answer, which may come before that: whether the
    /// request was written to its end.
    fn poll_answer(
        &mut self,
        writing: &mut Writing<'_>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(Parsed, bool), Fault>> {
        let written = writing.poll(self, context);
        loop {
            match parse(self.read.bytes()) {
                Ok(Some(parsed)) => {
                    self.read.consume(parsed.length);
                    // 1xx: the answer is still to come.
                    if parsed.head.status >= 200 {
                        return Poll::Ready(Ok((parsed, matches!(written, Poll::Ready(Ok(()))))));
                    }
                    continue;
                }
                Ok(None) if self.read.bytes().len() < LONGEST_HEAD => {}
                Ok(None) => return Poll::Ready(Err(malformed("the head of the answer is too long"))),
                Err(text) => return Poll::Ready(Err(malformed(&text))),
            }
            match self.poll_read(context) {
                Poll::Ready(Ok(0)) => {
                    let text = "the server closed the connection before it answered".to_owned();
                    return Poll::Ready(Err(Fault::Failed(Outcome::Connection(ConnectionFault::Eof), text)));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(of_io_error(&error, false))),
                Poll::Pending => {
                    // A server may answer and then read no more: its answer counts before the failure to write.
                    return match written {
                        Poll::Ready(Err(error)) => Poll::Ready(Err(of_io_error(&error, false))),
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }
}

fn malformed(text: &str) -> Fault {
    Fault::Failed(Outcome::Unknown(UnknownFault::Malformed), text.to_owned())
}
