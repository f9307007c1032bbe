//! One WATCH: opened, decoded as a stream, taken up again as an informer does, and ended when it has had its time.

mod carrier;
mod events;
mod list;
mod open;

use super::carry::Flight;
use super::job::{Job, Position};
use super::outcome::Outcome;
use super::worker::Worker;
use crate::clock::now_ns;
use carrier::Carrier;
use open::Opened;
use perfq_core::load::WatchEnd;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// A stream that ended sooner than this is not taken up again at once.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// Why watches end before they have had their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum WatchesEnd {
    /// The plan has ended: those that live with the run have had their time.
    Planned,
    /// The run was stopped: all others are cancelled.
    Stopped,
}

/// How one stream of a watch ended.
enum StreamEnd {
    /// The watch has ended.
    Over(Outcome, Option<String>),
    /// Its slot is given up, and after a time it waits for another.
    Again(Duration),
    /// The stream ended, the watch goes on from its position.
    GoOn,
    /// The same, and the stream's body was not read to its end.
    BrokenOff,
}

impl StreamEnd {
    const AGAIN: Self = Self::Again(Duration::ZERO);

    const fn ok() -> Self {
        Self::Over(Outcome::Ok, None)
    }
}

impl Worker {
    /// Carries a watch to its end: how it ended, or `None` where it has to give up its slot.
    pub(super) async fn watch(self: &Rc<Self>, flight: &mut Flight) -> Option<(Outcome, Option<String>)> {
        let mut carrier: Option<Carrier> = None;
        loop {
            let began = Instant::now();
            match self.stream(flight, &mut carrier).await {
                StreamEnd::Over(outcome, text) => return Some((outcome, text)),
                StreamEnd::Again(wait) => {
                    tokio::time::sleep(wait).await;
                    return None;
                }
                StreamEnd::GoOn => {}
                // Over HTTP/1.1 the rest of the body would stand before the next answer.
                StreamEnd::BrokenOff => carrier = None,
            }
            if let Some(ended) = self.pause(flight, began).await {
                return Some(ended);
            }
        }
    }

    /// One stream from its opening to its end.
    async fn stream(self: &Rc<Self>, flight: &mut Flight, carrier: &mut Option<Carrier>) -> StreamEnd {
        let Flight { job, slot, .. } = flight;
        let Some(job) = job else { return StreamEnd::AGAIN };
        let carrier = match self.carrier(job, *slot, carrier.take()).await {
            Ok(found) => carrier.insert(found),
            Err(end) => return end,
        };
        let end = match self.open_stream(job, carrier).await {
            Err(fault) => self.not_opened(job, fault, carrier),
            Ok(Opened::Refused(outcome, text)) => StreamEnd::Over(outcome, text),
            Ok(Opened::Gone) => {
                job.position = Position::Lost;
                StreamEnd::GoOn
            }
            Ok(Opened::Streams(answer, sent_ns)) => {
                self.count_stream(job, sent_ns);
                let end = self.events(job, answer, sent_ns).await;
                self.recording.borrow_mut().watches.ended += 1;
                end
            }
        };
        if let StreamEnd::Over(outcome, _) = &end {
            self.count_reset(*outcome, carrier.shared());
        }
        end
    }

    fn count_stream(&self, job: &mut Job, sent_ns: u64) {
        let recording = &mut *self.recording.borrow_mut();
        recording.watches.opened += 1;
        recording.watches.reopened += u64::from(std::mem::replace(&mut job.streamed, true));
        recording.watch_latencies.headers.record(now_ns().saturating_sub(sent_ns));
    }

    /// Waits between two streams, unless the watch ends before: then how.
    async fn pause(&self, flight: &Flight, began: Instant) -> Option<(Outcome, Option<String>)> {
        if began.elapsed() >= SHORT_LIFE {
            return None;
        }
        let job = flight.job.as_ref()?;
        let over = async {
            match end_of(job) {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = tokio::time::sleep(SHORT_LIFE) => None,
            () = over => Some((Outcome::Ok, None)),
            outcome = self.told_to_end(job) => Some((outcome, None)),
        }
    }

    /// Returns when a watch has to end because the plan has, or because the run was stopped.
    async fn told_to_end(&self, job: &Job) -> Outcome {
        loop {
            let told = self.watches_told.notified();
            match (self.watches_end.get(), job.watch) {
                (Some(_), Some(WatchEnd::WithTheRun)) => return Outcome::Ok,
                (Some(WatchesEnd::Stopped), Some(WatchEnd::After(_))) => return Outcome::Cancelled,
                _ => told.await,
            }
        }
    }
}

/// When a watch has had its time; `None` where that does not depend on the clock, or it was not sent yet.
fn end_of(job: &Job) -> Option<Instant> {
    let Some(WatchEnd::After(us)) = job.watch else { return None };
    let end_ns = job.stamps.first_sent?.saturating_add(us.saturating_mul(1_000));
    Some(Instant::now() + Duration::from_nanos(end_ns.saturating_sub(now_ns())))
}
