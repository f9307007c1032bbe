//! Requests that were read ahead, until each is due. A thread of its own keeps the schedule; where there is only one
//! worker, that one does: each request then costs one wake-up less, and none would be sent sooner by the other way.

use super::job::Job;
use super::shared::{JobEffects, Shared};
use super::worker::Worker;
use crate::clock::{keep_time, now_ns};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::task::Poll;

/// Batches on their way.
const AHEAD: usize = 6;

/// Requests of one hand-over.
pub(super) type Batch = Vec<Box<Job>>;

/// What is read ahead and not due yet, in the order of the plan; due instants are still relative to T0.
pub(super) struct Schedule {
    batches: Receiver<Batch>,
    jobs: VecDeque<Box<Job>>,
}

/// When the next request is due.
#[derive(Clone, Copy)]
enum Next {
    /// After T0.
    Due(u64),
    /// It is not read yet.
    Unread,
    /// The plan has ended.
    Ended,
}

impl Schedule {
    /// With the end that feeds it.
    pub(super) fn new() -> (SyncSender<Batch>, Self) {
        let (sender, batches) = sync_channel(AHEAD);
        (sender, Self { batches, jobs: VecDeque::new() })
    }

    fn next(&mut self) -> Next {
        loop {
            if let Some(first) = self.jobs.front() {
                return Next::Due(first.due_ns.unwrap_or(0));
            }
            match self.batches.try_recv() {
                Ok(batch) => self.jobs.extend(batch),
                Err(TryRecvError::Empty) => return Next::Unread,
                Err(TryRecvError::Disconnected) => return Next::Ended,
            }
        }
    }

    /// The same, but waits for what is not read yet.
    fn wait_for_next(&mut self) -> Option<u64> {
        while self.jobs.is_empty() {
            self.jobs.extend(self.batches.recv().ok()?);
        }
        self.jobs.front().map(|first| first.due_ns.unwrap_or(0))
    }

    /// Hands all that is due to the dispatch; false where the run was stopped: what waited has been given up then.
    fn hand_over(&mut self, t0: u64, shared: &Shared, effects: &mut JobEffects) -> bool {
        let mut dispatch = shared.dispatch.lock();
        if dispatch.is_closed() {
            return false;
        }
        let now = now_ns();
        while self.jobs.front().is_some_and(|job| t0 + job.due_ns.unwrap_or(0) <= now) {
            let Some(mut job) = self.jobs.pop_front() else { break };
            job.due_ns = job.due_ns.map(|due| t0 + due);
            dispatch.arrive(job, now, effects);
        }
        true
    }

    /// Keeps it until it ends or the run is stopped: to be called by a thread of its own.
    pub(super) fn keep(&mut self, shared: &Shared) {
        keep_time();
        let mut effects = JobEffects::default();
        let Some(t0) = shared.wait_for_t0() else { return };
        while let Some(due) = self.wait_for_next() {
            if !shared.sleep_until(t0 + due) || !self.hand_over(t0, shared, &mut effects) {
                return;
            }
            shared.deliver(&mut effects, None);
        }
    }

    /// Requests that were not handed over. Waits until the reader has ended: one that it hands over while the
    /// channel is left would be counted by nobody.
    pub(super) fn rest(self) -> u64 {
        self.jobs.len() as u64 + self.batches.iter().map(|batch| batch.len() as u64).sum::<u64>()
    }
}

/// A schedule that a worker keeps; when the worker has done with it, it goes back, however the worker ends.
pub(super) struct Lent {
    schedule: Option<Schedule>,
    back: Sender<Schedule>,
}

impl Lent {
    /// With the end where it comes back.
    pub(super) fn new(schedule: Schedule) -> (Self, Receiver<Schedule>) {
        let (back, returned) = channel();
        (Self { schedule: Some(schedule), back }, returned)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(schedule) = self.schedule.take() {
            let _ = self.back.send(schedule);
        }
    }
}

impl Worker {
    /// Keeps the schedule that was lent to this worker until it ends or the run is stopped.
    pub(super) async fn keep_schedule(self: Rc<Self>) {
        // An alarm that cannot be set is as if the run had been stopped here: what is left counts as not sent.
        let _ = self.keep_time().await;
        self.next_due.set(u64::MAX);
        drop(self.schedule.take());
    }

    async fn keep_time(self: &Rc<Self>) -> io::Result<()> {
        let Some(alarm) = &self.alarm else { return Ok(()) };
        let mut roused = pin!(self.shared.schedule_roused.notified());
        while !self.shared.is_stopping() {
            let set = match self.hand_over_due() {
                Next::Due(due) => {
                    alarm.set(due)?;
                    true
                }
                Next::Unread => false,
                Next::Ended => return Ok(()),
            };
            poll_fn(|context| {
                if roused.as_mut().poll(context).is_ready() {
                    roused.set(self.shared.schedule_roused.notified());
                    return Poll::Ready(Ok(()));
                }
                if set { alarm.poll_rung(context) } else { Poll::Pending }
            })
            .await?;
        }
        Ok(())
    }

    /// Hands over what has become due while this thread was busy: the alarm is heard only when nothing else is.
    pub(super) fn keep_up(self: &Rc<Self>, now: u64) {
        if now >= self.next_due.get() {
            self.hand_over_due();
        }
    }

    /// Hands over what is due; the instant of what comes next.
    fn hand_over_due(self: &Rc<Self>) -> Next {
        let t0 = self.shared.t0.load(Relaxed);
        loop {
            let mut effects = JobEffects::default();
            if let Some(Lent { schedule: Some(schedule), .. }) = &mut *self.schedule.borrow_mut() {
                let next = match schedule.next() {
                    Next::Due(due) => Next::Due(t0 + due),
                    other => other,
                };
                self.next_due.set(if let Next::Due(due) = next { due } else { u64::MAX });
                let Next::Due(due) = next else { return next };
                if due > now_ns() {
                    return next;
                }
                if !schedule.hand_over(t0, &self.shared, &mut effects) {
                    return Next::Ended;
                }
            } else {
                return Next::Ended;
            }
            self.shared.deliver(&mut effects, Some(self.index));
            for start in effects.starts {
                self.begin(start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::job::{Position, Stamps, Wire};
    use bytes::Bytes;
    use hyper::http::{HeaderMap, Method, Uri};
    use perfq_core::load::{Dispatch, Place};
    use std::sync::Arc;

    fn job(due_ns: u64) -> Box<Job> {
        let (uri, headers) = (Uri::from_static("/"), Arc::new(HeaderMap::new()));
        Box::new(Job {
            lane: 0,
            place: Place::Free,
            series: 0,
            wire: Wire { method: Method::GET, uri, headers, body: Bytes::new() },
            expect_status: None,
            watch: None,
            position: Position::default(),
            streamed: false,
            due_ns: Some(due_ns),
            stamps: Stamps::default(),
            retries: 0,
            resends: 0,
        })
    }

    /// Two requests due, one after the other, and room for both.
    fn two() -> (Shared, Schedule) {
        let mut dispatch = Dispatch::new(1, 2, false, false);
        let connection = dispatch.add_connection(0);
        dispatch.set_streams(connection, 2, 0, &mut JobEffects::default());
        let (batches, schedule) = Schedule::new();
        batches.send(vec![job(0), job(1_000_000)]).unwrap();
        (Shared::new(dispatch, 2, 1, 0), schedule)
    }

    #[test]
    fn a_thread_hands_over_each_request_and_ends_with_the_plan() {
        let (shared, mut schedule) = two();
        let t0 = now_ns();
        shared.begin(t0);
        schedule.keep(&shared);
        assert!(now_ns() >= t0 + 1_000_000);
        assert_eq!((shared.inboxes[0].unsent(), schedule.rest()), (2, 0));
    }

    #[test]
    fn what_a_stopped_run_leaves_is_counted() {
        let (shared, mut schedule) = two();
        shared.begin(now_ns());
        shared.stop();
        schedule.keep(&shared);
        assert_eq!((shared.inboxes[0].unsent(), schedule.rest()), (0, 2));
    }

    #[test]
    fn a_schedule_comes_back_from_a_worker_that_has_ended() {
        let (_, schedule) = two();
        let (lent, returned) = Lent::new(schedule);
        drop(lent);
        assert_eq!(returned.recv().unwrap().rest(), 2);
    }
}
