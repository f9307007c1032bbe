//! A connection by number: up, in use, or on its way back.

use super::connect::{Connected, Sender};
use super::http1;
use super::worker::{Event, Worker};
use crate::clock::now_ns;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::spawn_local;

/// A connection that lived shorter than this and answered nothing is not opened again at once.
const SHORT_LIFE_NS: u64 = 1_000_000_000;
/// Waits between attempts: doubled from the first to the last.
const FIRST_WAIT: Duration = Duration::from_millis(10);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// One of the connections of a lane; it keeps its number when it is opened again.
pub(super) struct Link {
    pub(super) number: u32,
    pub(super) lane: u32,
    sender: RefCell<Option<Sender>>,
    generation: Cell<u32>,
    /// The generation whose reset was counted last.
    reset: Cell<Option<u32>>,
    /// From its opening to its loss.
    up: Cell<bool>,
    /// Whether a request was answered on it since.
    served: Cell<bool>,
    born_ns: Cell<u64>,
}

/// The sender of an HTTP/1.1 connection while a request uses it.
pub(super) struct Http1Use {
    pub(super) sender: http1::Sender,
    generation: u32,
}

impl Link {
    pub(super) fn new(number: u32, lane: u32) -> Rc<Self> {
        Rc::new(Self {
            number,
            lane,
            sender: RefCell::new(None),
            generation: Cell::new(0),
            reset: Cell::new(None),
            up: Cell::new(false),
            served: Cell::new(false),
            born_ns: Cell::new(0),
        })
    }

    /// Whether it is the first that is seen of a generation's reset.
    pub(super) fn reset_first_seen(&self, generation: u32) -> bool {
        self.reset.replace(Some(generation)) != Some(generation)
    }

    /// Its generation: it changes when the connection is lost.
    pub(super) fn generation(&self) -> u32 {
        self.generation.get()
    }

    /// The HTTP/1.1 connection for one request.
    pub(super) fn take_http1(&self) -> Option<Http1Use> {
        let mut sender = self.sender.borrow_mut();
        match sender.take() {
            Some(Sender::Http1(sender)) => Some(Http1Use { sender, generation: self.generation.get() }),
            other => {
                *sender = other;
                None
            }
        }
    }

    /// A request was answered on it.
    pub(super) fn served(&self) {
        self.served.set(true);
    }

    /// The connection is free for the next request.
    pub(super) fn give_back(&self, used: Http1Use) {
        if used.generation == self.generation.get() {
            *self.sender.borrow_mut() = Some(Sender::Http1(used.sender));
        }
    }

    /// A sender for one stream.
    pub(super) fn http2(&self) -> Option<h2::client::SendRequest<Bytes>> {
        match &*self.sender.borrow() {
            Some(Sender::Http2(sender)) => Some(sender.clone()),
            _ => None,
        }
    }

    /// How many streams the peer allows; `None` where it set no limit or the connection is down.
    pub(super) fn stream_limit(&self) -> Option<u32> {
        match &*self.sender.borrow() {
            Some(Sender::Http2(sender)) => u32::try_from(sender.current_max_send_streams()).ok(),
            _ => None,
        }
    }

    /// Why an HTTP/2 connection takes no more streams.
    fn error(&self) -> Option<h2::Error> {
        let Some(Sender::Http2(sender)) = &mut *self.sender.borrow_mut() else { return None };
        match sender.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether an HTTP/2 connection takes no more streams.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.borrow().is_none() || self.error().is_some()
    }
}

impl Worker {
    /// Takes a connection into use; its driver runs until it ends.
    pub(super) fn install(self: &Rc<Self>, link: &Rc<Link>, connected: Connected) {
        *link.sender.borrow_mut() = Some(connected.sender);
        link.born_ns.set(now_ns());
        link.up.set(true);
        link.served.set(false);
        let (worker, of_driver, generation) = (Rc::clone(self), Rc::clone(link), link.generation.get());
        spawn_local(async move {
            connected.driver.await;
            worker.lost(&of_driver, generation);
        });
    }

    /// Opens a connection that was added to a lane whose watches leave too few streams.
    pub(super) fn open_more(self: &Rc<Self>, number: u32, lane: u32) {
        let link = Link::new(number, lane);
        self.links.borrow_mut().insert(number, Rc::clone(&link));
        spawn_local(Rc::clone(self).open(link, true));
    }

    /// A connection takes no more requests: it is opened again. For one that is down already, or of another
    /// generation, nothing is done.
    pub(super) fn lost(self: &Rc<Self>, link: &Rc<Link>, generation: u32) {
        if !link.up.get() || link.generation.get() != generation {
            return;
        }
        if link.error().is_some_and(|error| error.is_go_away() && error.is_remote()) {
            self.recording.borrow_mut().counts.goaways += 1;
        }
        link.up.set(false);
        link.generation.set(generation + 1);
        *link.sender.borrow_mut() = None;
        self.set_streams(link.lane, link.number, 0);
        spawn_local(Rc::clone(self).open(Rc::clone(link), false));
    }

    /// Opens a connection for the `first` time or again, in as many attempts as it takes. While its whole lane is
    /// down, what waits fails with each.
    async fn open(self: Rc<Self>, link: Rc<Link>, first: bool) {
        let useless = !link.served.get() && now_ns() - link.born_ns.get() < SHORT_LIFE_NS;
        let mut wait = if useless && !first { FIRST_WAIT } else { Duration::ZERO };
        loop {
            tokio::time::sleep(wait).await;
            match self.connect().await {
                Ok(connected) => {
                    {
                        let mut recording = self.recording.borrow_mut();
                        recording.counts.opened += 1;
                        recording.counts.reconnects += u64::from(!first);
                        recording.handshakes.record(connected.handshake_ns);
                    }
                    self.install(&link, connected);
                    self.set_streams(link.lane, link.number, self.streams());
                    if first {
                        let _ = self.options.events.send(Event::Opened);
                    }
                    return;
                }
                Err(error) => self.fail_waiting(link.lane, &error),
            }
            wait = (wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT);
        }
    }
}
