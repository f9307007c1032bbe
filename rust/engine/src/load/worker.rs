//! A thread that sends: connections of its own, and a recording of its own.

use super::alarm::Alarm;
use super::carry::Seat;
use super::connect::{ConnectError, Connected, FailureClass, connect};
use super::cpu::ThreadClocks;
use super::endpoint::Endpoint;
use super::exchange::{self, Fault};
use super::job::Wire;
use super::link::Link;
use super::options::Protocol;
use super::outcome::{ConnectionFault, Outcome};
use super::record::Recording;
use super::schedule::Lent;
use super::shared::{Message, Shared};
use super::watch::WatchesEnd;
use crate::clock::now_ns;
use perfq_core::histogram::Histogram;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::LocalOptions;
use tokio::sync::Notify;
use tokio::task::{JoinSet, spawn_local};

/// What a worker tells the segment.
pub(super) enum Event {
    /// Its connections are up and warm.
    Warm { handshakes: Histogram, stream_limit: Option<u32> },
    /// They are not.
    Cold(ConnectError),
    /// A part of a second, or with `closes` the last part of it.
    Recorded { second: u64, closes: bool, recording: Recording },
    /// A connection beyond those of the warm-up is up.
    Opened,
    /// Nothing but watches is left of what has come.
    Idle,
    /// The worker has ended; its last words.
    Ended { recording: Recording },
}

/// What all workers of a segment are given.
#[derive(Clone)]
pub(super) struct WorkerOptions {
    pub(super) shared: Arc<Shared>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) clocks: Arc<ThreadClocks>,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) warm_up: Arc<Wire>,
    pub(super) protocol: Protocol,
    pub(super) timeout: Duration,
    /// A watch without a byte for so long has timed out.
    pub(super) watch_silence: Duration,
    pub(super) max_retries: u32,
}

/// The state of the thread.
pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) options: WorkerOptions,
    pub(super) recording: RefCell<Recording>,
    pub(super) links: RefCell<HashMap<u32, Rc<Link>>>,
    /// Of tasks that have nothing to carry.
    pub(super) idle: RefCell<Vec<Rc<Seat>>>,
    /// Set when watches are to end, and told to them.
    pub(super) watches_end: Cell<Option<WatchesEnd>>,
    pub(super) watches_told: Notify,
    /// The schedule, where this worker keeps it, and what wakes it for that.
    pub(super) schedule: RefCell<Option<Lent>>,
    pub(super) alarm: Option<Alarm>,
    /// When the next request is due; `u64::MAX` where that is unknown or not for this worker to know.
    pub(super) next_due: Cell<u64>,
    /// As the peer said at warm-up.
    stream_limit: Cell<Option<u32>>,
}

/// Starts a worker with its connections, given as (number, lane), and the schedule where it is to keep it.
pub(super) fn spawn(
    index: usize,
    options: WorkerOptions,
    connections: Vec<(u32, u32)>,
    schedule: Option<Lent>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(format!("perfq-load-{index}")).spawn(move || {
        let _clock = options.clocks.of_this_thread();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
        let prepared = runtime.and_then(|runtime| {
            let alarm = schedule.is_some().then(|| runtime.block_on(async { Alarm::new() })).transpose()?;
            Ok((runtime, alarm))
        });
        let (runtime, alarm) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let _ = options.events.send(Event::Cold(internal(&error)));
                return;
            }
        };
        let worker = Rc::new(Worker {
            index,
            shared: Arc::clone(&options.shared),
            recording: RefCell::default(),
            links: RefCell::default(),
            idle: RefCell::default(),
            watches_end: Cell::new(None),
            watches_told: Notify::new(),
            schedule: RefCell::new(schedule),
            alarm,
            next_due: Cell::new(u64::MAX),
            stream_limit: Cell::new(None),
            options,
        });
        let rest = runtime.block_on(Rc::clone(&worker).run(connections));
        worker.recording.borrow_mut().counts.not_sent +=
            rest.iter().filter(|message| matches!(message, Message::Start(_))).count() as u64;
        drop(worker.schedule.take());
        // What is still on the wire is dropped here, and records itself as cancelled.
        drop((rest, runtime));
        let recording = worker.recording.borrow_mut().take(true);
        let _ = worker.options.events.send(Event::Ended { recording });
    })
}

fn internal(error: &io::Error) -> ConnectError {
    let outcome = Outcome::Connection(ConnectionFault::Other);
    ConnectError { class: FailureClass::Internal, outcome, text: error.to_string() }
}

impl Worker {
    async fn run(self: Rc<Self>, connections: Vec<(u32, u32)>) -> Vec<Message> {
        let mut messages = Vec::new();
        let warm = tokio::select! {
            warm = self.warm_up(connections) => warm,
            // Nothing but the end comes before all are warm: a server that hangs must not keep this thread.
            () = self.shared.inboxes[self.index].take(&mut messages) => return messages,
        };
        let warm = match warm {
            Ok(handshakes) => Event::Warm { handshakes, stream_limit: self.stream_limit.get() },
            Err(error) => Event::Cold(error),
        };
        let _ = self.options.events.send(warm);
        loop {
            self.shared.inboxes[self.index].take(&mut messages).await;
            let mut taken = messages.drain(..);
            while let Some(message) = taken.next() {
                match message {
                    Message::Start(start) => self.begin(start),
                    Message::Begin => {
                        spawn_local(Rc::clone(&self).slices());
                        if self.alarm.is_some() {
                            spawn_local(Rc::clone(&self).keep_schedule());
                        }
                    }
                    Message::Connect { number, lane } => self.open_more(number, lane),
                    Message::EndWatches(kind) => {
                        self.watches_end.set(Some(kind));
                        self.watches_told.notify_waiters();
                    }
                    Message::Finish => return taken.collect(),
                }
            }
        }
    }

    /// Opens all connections and sends one cheap request on each.
    async fn warm_up(self: &Rc<Self>, connections: Vec<(u32, u32)>) -> Result<Histogram, ConnectError> {
        let mut opening = JoinSet::new();
        for (number, lane) in connections {
            let worker = Rc::clone(self);
            opening.spawn_local(async move {
                let connected = worker.connect().await?;
                let handshake_ns = connected.handshake_ns;
                let link = Link::new(number, lane);
                worker.install(&link, connected);
                worker.links.borrow_mut().insert(number, Rc::clone(&link));
                worker.warm(&link).await?;
                Ok((link, handshake_ns))
            });
        }
        let mut handshakes = Histogram::default();
        let mut warm = Vec::new();
        while let Some(opened) = opening.join_next().await {
            let (link, handshake_ns) = opened.map_err(|error| internal(&io::Error::other(error)))??;
            handshakes.record(handshake_ns);
            self.stream_limit.set(link.stream_limit().or(self.stream_limit.get()));
            self.recording.borrow_mut().counts.opened += 1;
            warm.push(link);
        }
        for link in warm {
            self.set_streams(link.lane, link.number, self.streams());
        }
        Ok(handshakes)
    }

    async fn warm(&self, link: &Rc<Link>) -> Result<(), ConnectError> {
        let wire = &self.options.warm_up;
        let token = self.options.endpoint.token();
        let failed = |fault: Fault| {
            let (outcome, text) = match fault {
                Fault::Failed(outcome, text) => (outcome, text),
                Fault::NotSent | Fault::Refused => {
                    (Outcome::Connection(ConnectionFault::Eof), "the server closed the connection".to_owned())
                }
            };
            ConnectError { class: FailureClass::Protocol, outcome, text: format!("GET /version: {text}") }
        };
        let gone = || failed(Fault::NotSent);
        let (status, used) = match self.options.protocol {
            Protocol::Http1 => {
                let used = link.take_http1().ok_or_else(gone)?;
                let answer = exchange::http1(&used.sender, wire, token.as_ref(), |_| ()).await.map_err(failed)?;
                (exchange::drain(answer).await.map_err(failed)?, Some(used))
            }
            Protocol::Http2 => {
                let sender = link.http2().ok_or_else(gone)?;
                let answer = exchange::http2(sender, wire, token.as_ref(), |_| ()).await.map_err(failed)?;
                (exchange::drain(answer).await.map_err(failed)?, None)
            }
        };
        if let Some(used) = used {
            link.give_back(used);
        }
        if status == 401 || status == 403 {
            let text = format!("GET /version was answered with {status}: the credentials are not accepted");
            let (class, outcome) = (FailureClass::Unauthorised, Outcome::Http(status));
            return Err(ConnectError { class, outcome, text });
        }
        Ok(())
    }

    /// Opens one connection within the time-out.
    pub(super) async fn connect(&self) -> Result<Connected, ConnectError> {
        let limit = self.options.timeout;
        match tokio::time::timeout(limit, connect(&self.options.endpoint, self.options.protocol)).await {
            Ok(opened) => opened,
            Err(_) => Err(ConnectError {
                class: FailureClass::Timeout,
                outcome: Outcome::Connection(ConnectionFault::TimedOut),
                text: format!("no connection within {} ms", limit.as_millis()),
            }),
        }
    }

    /// Streams of one connection.
    pub(super) fn streams(&self) -> u32 {
        match self.options.protocol {
            Protocol::Http1 => 1,
            Protocol::Http2 => self.stream_limit.get().unwrap_or(u32::MAX),
        }
    }

    /// Once a second: what was recorded.
    async fn slices(self: Rc<Self>) {
        let t0 = self.shared.t0.load(Relaxed);
        for second in 0.. {
            let end = t0 + (second + 1) * 1_000_000_000;
            tokio::time::sleep(Duration::from_nanos(end.saturating_sub(now_ns()))).await;
            let recording = self.recording.borrow_mut().take(true);
            let _ = self.options.events.send(Event::Recorded { second, closes: true, recording });
        }
    }

    /// In mid-second, where much has come.
    pub(super) fn hand_over(&self) {
        let second = now_ns().saturating_sub(self.shared.t0.load(Relaxed)) / 1_000_000_000;
        let recording = self.recording.borrow_mut().take(false);
        let _ = self.options.events.send(Event::Recorded { second, closes: false, recording });
    }
}
