//! A segment between T0 and its end: when nothing more is sent, when what is in flight is given up.

use super::control::{Control, Failure, input, internal};
use super::job::Job;
use super::options::{LoadOptions, Overload};
use super::shared::{Message, Shared};
use super::tally::Tally;
use super::timing::Fed;
use super::watch::WatchesEnd;
use super::worker::Event;
use crate::clock::{nanos, now_ns};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// After a stop, what is in flight may take this long.
const STOP_DRAIN: Duration = Duration::from_secs(5);
/// The state is looked at no less often.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A segment between T0 and its end.
pub(super) struct Driving<'a> {
    control: &'a Control,
    options: &'a LoadOptions,
    shared: &'a Arc<Shared>,
    closed: bool,
    t0: u64,
    feeder: Option<JoinHandle<Fed>>,
    fed: Option<Fed>,
    watches_ended: Option<WatchesEnd>,
    /// The wish to stop has been followed.
    stopped: bool,
    /// Since when nothing more is sent.
    drain_from: Option<u64>,
    /// When what is in flight is given up.
    limit: Option<u64>,
    tally: Tally,
}

impl<'a> Driving<'a> {
    /// From T0 on.
    pub(super) fn new(
        (control, options): (&'a Control, &'a LoadOptions),
        shared: &'a Arc<Shared>,
        closed: bool,
        feeder: JoinHandle<Fed>,
        tally: Tally,
    ) -> Self {
        Self {
            control,
            options,
            shared,
            closed,
            t0: shared.t0.load(Relaxed),
            feeder: Some(feeder),
            fed: None,
            watches_ended: None,
            stopped: false,
            drain_from: None,
            limit: None,
            tally,
        }
    }

    /// Returns when all has ended, or has to.
    pub(super) fn until_end(&mut self, events: &Receiver<Event>) {
        loop {
            let now = now_ns();
            self.look(now);
            let outstanding = self.outstanding();
            if self.fed.is_some() && outstanding.0 == 0 || self.limit.is_some_and(|limit| now >= limit) {
                return;
            }
            let wait = self
                .next_instant()
                .map_or(LOOK_EVERY, |instant| Duration::from_nanos(instant.saturating_sub(now_ns())).min(LOOK_EVERY));
            match events.recv_timeout(wait) {
                Ok(event) => self.tally.take(event, self.control),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Requests that have come and not ended, and the watches among them.
    fn outstanding(&self) -> (usize, usize) {
        let dispatch = self.shared.dispatch.lock();
        (dispatch.outstanding(), dispatch.watches() as usize)
    }

    fn next_instant(&self) -> Option<u64> {
        self.limit.or_else(|| self.shared.end_ns().filter(|_| self.drain_from.is_none()))
    }

    /// Does what is due.
    fn look(&mut self, now: u64) {
        if self.feeder.as_ref().is_some_and(JoinHandle::is_finished)
            && let Some(feeder) = self.feeder.take()
        {
            self.fed = Some(feeder.join().unwrap_or_else(|_| Fed::broken()));
            // One more may have come after the dispatch was closed: nobody else would end it.
            if self.shared.is_stopping() {
                self.give_up();
            }
        }
        if !self.stopped && self.control.stopped().is_some() {
            self.stopped = true;
            self.stop_sending(now);
            let limit = now + nanos(STOP_DRAIN);
            self.limit = Some(self.limit.map_or(limit, |former| former.min(limit)));
            self.end_watches(WatchesEnd::Stopped);
        }
        let end = self.shared.end_ns();
        if self.drain_from.is_none()
            && let Some(end) = end.filter(|end| now >= *end)
        {
            self.drain_from = Some(end);
            self.limit = Some(end + nanos(Duration::from_millis(self.options.grace_ms)));
            self.control.draining();
            if self.closed {
                self.stop_sending(now);
            }
        }
        if self.drain_from.is_some() && self.fed.is_some() {
            self.end_watches(WatchesEnd::Planned);
        }
        // In a closed loop without an end, watches end with the last request.
        if self.closed && end.is_none() && self.fed.is_some() {
            let (outstanding, watches) = self.outstanding();
            if outstanding == watches {
                self.end_watches(WatchesEnd::Planned);
            }
        }
    }

    fn stop_sending(&mut self, now: u64) {
        self.drain_from.get_or_insert(now);
        self.control.draining();
        self.shared.stop();
        self.shared.dispatch.lock().close();
        self.give_up();
    }

    fn end_watches(&mut self, kind: WatchesEnd) {
        if self.watches_ended < Some(kind) {
            self.watches_ended = Some(kind);
            for inbox in &self.shared.inboxes {
                inbox.push(Message::EndWatches(kind));
            }
        }
    }

    /// What waits is not sent any more. In a closed loop that its duration ends, it was never planned.
    pub(super) fn give_up(&mut self) {
        let mut dispatch = self.shared.dispatch.lock();
        dispatch.close();
        let (held, waiting) = (dispatch.take_held(), dispatch.take_waiting());
        drop(dispatch);
        let now = now_ns();
        let waited = |jobs: &[Box<Job>]| {
            jobs.iter().filter_map(|job| job.due_ns).map(|due| now.saturating_sub(due)).sum::<u64>()
        };
        self.tally.unsent_wait.order_ns += waited(&held);
        self.tally.unsent_wait.slot_ns += waited(&waiting);
        for job in held.into_iter().chain(waiting) {
            if job.stamps.first_sent.is_some() {
                self.tally.cancelled(&job, now_ns());
            } else if self.closed && self.shared.end_ns().is_some() {
                self.tally.unplanned += 1;
            } else {
                self.tally.not_sent += 1;
            }
        }
    }

    /// Folds what is left, and writes the end.
    pub(super) fn finish(
        mut self,
        events: &Receiver<Event>,
        stream_limit: Option<u32>,
        ended_ns: u64,
    ) -> Result<(), Failure> {
        while let Ok(event) = events.try_recv() {
            self.tally.take(event, self.control);
        }
        if let Some(feeder) = self.feeder.take() {
            self.fed = Some(feeder.join().unwrap_or_else(|_| Fed::broken()));
        }
        self.give_up();
        for inbox in &self.shared.inboxes {
            self.tally.not_sent += inbox.unsent();
        }
        let fed = self.fed.take().unwrap_or_default();
        self.tally.not_sent += fed.unsent;
        let dropped = self.shared.dropped.load(Relaxed);
        let planned = fed.planned - self.tally.unplanned.min(fed.planned);
        let record = self.tally.end(&Ending {
            planned,
            dropped,
            t0: self.t0,
            end_ns: self.shared.end_ns().map(|end| end - self.t0),
            ended_ns,
            drain_from: self.drain_from,
            stopped: self.control.stopped(),
            overload: self.options.overload,
            stream_limit,
        });
        let sum =
            record.ok + record.errors.values().sum::<u64>() + record.timed_out + record.cancelled + record.not_sent;
        self.control.segment_ended(record);
        match fed.error {
            Some(error) => Err(input(error)),
            None if sum != planned => Err(internal(format!("{planned} requests were planned, and {sum} have ended"))),
            None => Ok(()),
        }
    }
}

/// What the end of a segment is written from, beside its figures.
pub(super) struct Ending {
    pub(super) planned: u64,
    pub(super) dropped: u64,
    pub(super) t0: u64,
    pub(super) end_ns: Option<u64>,
    pub(super) ended_ns: u64,
    pub(super) drain_from: Option<u64>,
    pub(super) stopped: Option<String>,
    pub(super) overload: Overload,
    pub(super) stream_limit: Option<u32>,
}
