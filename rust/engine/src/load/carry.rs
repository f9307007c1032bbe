//! One request from its slot to its end.

use super::attempt::{Attempt, Reached};
use super::job::{Job, Stamps};
use super::link::Link;
use super::outcome::{ConnectionFault, Outcome};
use super::record::ErrorText;
use super::shared::{END_SLACK_NS, JobStart};
use super::worker::Worker;
use crate::clock::now_ns;
use perfq_core::load::Slot;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::spawn_local;

/// How often a request that the server did not take is sent again, as Go's client does.
const MOST_RESENDS: u32 = 6;
/// Tasks that wait for another request; more than so many end with theirs.
const MOST_IDLE: usize = 256;

/// A request that holds a slot. Where it is dropped before its end, it was cancelled by the end of the run.
pub(super) struct Flight {
    worker: Rc<Worker>,
    pub(super) job: Option<Box<Job>>,
    pub(super) slot: Slot,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let mut recording = self.worker.recording.borrow_mut();
            if job.stamps.first_sent.is_some() {
                recording.sample(job.sample(Outcome::Cancelled, None, now_ns(), 0));
            } else {
                recording.counts.not_sent += 1;
            }
        }
    }
}

/// Where a task that has nothing to carry is given its next request.
#[derive(Default)]
pub(super) struct Seat {
    flight: RefCell<Option<Flight>>,
    waker: RefCell<Option<Waker>>,
}

impl Seat {
    fn give(&self, flight: Flight) {
        *self.flight.borrow_mut() = Some(flight);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn poll_given(&self, context: &mut Context<'_>) -> Poll<Flight> {
        if let Some(flight) = self.flight.take() {
            return Poll::Ready(flight);
        }
        *self.waker.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Worker {
    fn flight(self: &Rc<Self>, start: JobStart) -> Flight {
        Flight { worker: Rc::clone(self), job: Some(start.item), slot: start.slot }
    }

    /// Begins a request that has its slot: in a task that has ended another, or in a new one.
    pub(super) fn begin(self: &Rc<Self>, start: JobStart) {
        let flight = self.flight(start);
        let idle = self.idle.borrow_mut().pop();
        match idle {
            Some(seat) => seat.give(flight),
            None => drop(spawn_local(Rc::clone(self).carries(flight))),
        }
    }

    /// Carries one request after another.
    async fn carries(self: Rc<Self>, first: Flight) {
        let (seat, mut next) = (Rc::new(Seat::default()), first);
        loop {
            self.carry(next).await;
            {
                let mut idle = self.idle.borrow_mut();
                if idle.len() >= MOST_IDLE {
                    return;
                }
                idle.push(Rc::clone(&seat));
            }
            next = poll_fn(|context| seat.poll_given(context)).await;
        }
    }

    /// Sends a request, and then those that take over its slot.
    async fn carry(self: &Rc<Self>, flight: Flight) {
        let mut next = Some(flight);
        while let Some(mut flight) = next.take() {
            let ended = if flight.job.as_ref().is_some_and(|job| job.watch.is_some()) {
                // Boxed: it would make the future of each request as large as itself.
                Box::pin(self.watched(&mut flight)).await
            } else {
                self.attempts(&mut flight).await
            };
            let slot = flight.slot;
            let Some(job) = flight.job.take() else { return };
            let now = now_ns();
            self.keep_up(now);
            let starts = self.dispatched(slot.lane, |dispatch, effects| {
                if ended {
                    dispatch.ended(slot, job.place, now, effects);
                } else {
                    dispatch.again(slot, job, now, effects);
                }
            });
            let mut starts = starts.into_iter();
            next = starts.next().map(|start| self.flight(start));
            for start in starts {
                self.begin(start);
            }
        }
    }

    /// The same for a watch.
    async fn watched(self: &Rc<Self>, flight: &mut Flight) -> bool {
        let Some((outcome, text)) = self.watch(flight).await else { return false };
        if let Some(job) = &flight.job {
            self.record(job, outcome, &Reached::default(), text);
        }
        true
    }

    fn record(&self, job: &Job, outcome: Outcome, reached: &Reached, text: Option<String>) {
        let now = now_ns();
        let mut recording = self.recording.borrow_mut();
        if let Some(text) = text {
            recording.describe(ErrorText { t: now, series: job.series, outcome, text });
        }
        let full = recording.sample(job.sample(outcome, reached.first_ns.get(), now, reached.bytes.get()));
        drop(recording);
        if full {
            self.hand_over();
        }
    }

    /// Tries until the request has ended (true) or has to give up its slot.
    async fn attempts(self: &Rc<Self>, flight: &mut Flight) -> bool {
        loop {
            let reached = Reached::default();
            let attempt = self.attempt(flight, &reached).await;
            let Some(job) = &mut flight.job else { return true };
            match attempt {
                Attempt::Ended(outcome, text) => {
                    self.record(job, outcome, &reached, text);
                    return true;
                }
                Attempt::Retry(wait) => {
                    tokio::time::sleep(wait).await;
                    if self.shared.is_stopping() {
                        self.record(job, Outcome::Http(429), &reached, None);
                        return true;
                    }
                    job.retries += 1;
                    self.recording.borrow_mut().counts.retries += 1;
                }
                Attempt::Again(wait) => {
                    if !wait.is_zero() {
                        tokio::time::sleep(wait).await;
                    }
                    return false;
                }
            }
        }
    }

    /// Counts a stream that was reset; and a connection once, however many streams ended with it.
    pub(super) fn count_reset(&self, outcome: Outcome, shared: Option<(&Link, u32)>) {
        let counts = match outcome {
            Outcome::Http2(_) => true,
            Outcome::Connection(ConnectionFault::Reset) => {
                shared.is_none_or(|(link, generation)| link.reset_first_seen(generation))
            }
            _ => false,
        };
        self.recording.borrow_mut().counts.resets += u64::from(counts);
    }

    /// The server has not taken a request: how long to wait before it is sent again; `None`: not any more.
    pub(super) fn refused(self: &Rc<Self>, job: &mut Job, link: &Rc<Link>, generation: u32) -> Option<Duration> {
        let wait = self.sent_again(job)?;
        // A GOAWAY shows on the connection; a refused stream leaves it as it is.
        if link.is_closed() {
            self.lost(link, generation);
        }
        Some(wait)
    }

    /// Counts that a request was not taken, and is sent again after a wait; `None`: not any more.
    pub(super) fn sent_again(&self, job: &mut Job) -> Option<Duration> {
        let before = job.resends;
        if before >= MOST_RESENDS {
            return None;
        }
        job.resends += 1;
        self.recording.borrow_mut().counts.resends += 1;
        Some(if before == 0 { Duration::ZERO } else { Duration::from_millis(10 << before) })
    }

    /// Takes down that a request was handed to a connection.
    pub(super) fn sent(&self, stamps: &mut Stamps, due_ns: Option<u64>, now: u64) {
        if stamps.mark_sent(due_ns, now) {
            let counts = &mut self.recording.borrow_mut().counts;
            counts.sent += 1;
            counts.sent_by_end += u64::from(self.shared.end_ns().is_none_or(|end| now <= end + END_SLACK_NS));
        }
    }
}
