//! What the threads of a segment share.

use super::job::Job;
use super::watch::WatchesEnd;
use crate::clock::now_ns;
use parking_lot::{Condvar, Mutex};
use perfq_core::load::{Dispatch, Effects, Start};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;

/// A job with its slot.
pub(super) type JobStart = Start<Box<Job>>;

/// What happened in a dispatch.
pub(super) type JobEffects = Effects<Box<Job>>;

/// For a worker.
pub(super) enum Message {
    /// A request to send.
    Start(JobStart),
    /// One more connection for a lane.
    Connect { number: u32, lane: u32 },
    /// T0 is set: slices begin.
    Begin,
    /// Watches that live as long as the run end now.
    EndWatches(WatchesEnd),
    /// What is on the wire is given up, and the thread ends.
    Finish,
}

/// Messages for a worker, from any thread.
#[derive(Default)]
pub(super) struct Inbox {
    messages: Mutex<Vec<Message>>,
    wake: Notify,
}

impl Inbox {
    pub(super) fn push(&self, message: Message) {
        let first = {
            let mut messages = self.messages.lock();
            messages.push(message);
            messages.len() == 1
        };
        // The worker takes all at once: only the first has to wake it.
        if first {
            self.wake.notify_one();
        }
    }

    /// Requests that nobody took: the worker has ended.
    pub(super) fn unsent(&self) -> u64 {
        let messages = self.messages.lock();
        messages.iter().filter(|message| matches!(message, Message::Start(_))).count() as u64
    }

    /// Swaps what has come into `into`, which is empty; waits until there is something.
    pub(super) async fn take(&self, into: &mut Vec<Message>) {
        loop {
            std::mem::swap(&mut *self.messages.lock(), into);
            if !into.is_empty() {
                return;
            }
            self.wake.notified().await;
        }
    }
}

/// The state of a segment.
pub(super) struct Shared {
    pub(super) dispatch: Mutex<Dispatch<Box<Job>>>,
    pub(super) inboxes: Vec<Inbox>,
    /// T0, or 0 before it.
    pub(super) t0: AtomicU64,
    /// The planned end, in nanoseconds after T0; `u64::MAX` while it is unknown.
    end: AtomicU64,
    /// Nothing more is to be sent.
    pub(super) stopping: AtomicBool,
    /// All that is planned has come into the dispatch: from now on it matters when nothing is left.
    pub(super) all_arrived: AtomicBool,
    /// Requests that were dropped for want of a slot.
    pub(super) dropped: AtomicU64,
    /// In a closed loop, by lane: whether its stream has more.
    fed_lanes: Vec<AtomicBool>,
    /// Set with the wish for more, so that the wish is uttered once.
    hungry: AtomicBool,
    hunger: Mutex<bool>,
    fed: Condvar,
    /// Wakes the worker that keeps the schedule, where one does: a batch has come, the last has, or the run is stopped.
    pub(super) schedule_roused: Notify,
    /// In a closed loop: a lane with fewer requests waiting than this wants more.
    pub(super) low_water: usize,
}

/// Requests that were sent this long after the planned end still count as sent in time.
pub(super) const END_SLACK_NS: u64 = 10_000_000;

impl Shared {
    pub(super) fn new(dispatch: Dispatch<Box<Job>>, workers: usize, lanes: u32, low_water: usize) -> Self {
        Self {
            dispatch: Mutex::new(dispatch),
            inboxes: (0..workers).map(|_| Inbox::default()).collect(),
            t0: AtomicU64::new(0),
            end: AtomicU64::new(u64::MAX),
            stopping: AtomicBool::new(false),
            all_arrived: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            fed_lanes: (0..lanes).map(|_| AtomicBool::new(true)).collect(),
            hungry: AtomicBool::new(false),
            hunger: Mutex::new(false),
            fed: Condvar::new(),
            schedule_roused: Notify::new(),
            low_water,
        }
    }

    /// The worker that owns a connection, or that a watch's own connection is given to.
    pub(super) fn worker_of(&self, start: &JobStart) -> usize {
        let number = start.slot.connection.unwrap_or(start.slot.lane);
        number as usize % self.inboxes.len()
    }

    /// Hands what a dispatch decided to the workers. What is for worker `own` is left in `effects.starts`.
    pub(super) fn deliver(&self, effects: &mut JobEffects, own: Option<usize>) {
        if effects.starts.iter().any(|start| Some(self.worker_of(start)) != own) {
            let mut left = Vec::new();
            for start in effects.starts.drain(..) {
                let worker = self.worker_of(&start);
                if Some(worker) == own {
                    left.push(start);
                } else {
                    self.inboxes[worker].push(Message::Start(start));
                }
            }
            effects.starts = left;
        }
        for (number, lane) in effects.connect.drain(..) {
            self.inboxes[number as usize % self.inboxes.len()].push(Message::Connect { number, lane });
        }
        let dropped = effects.dropped.len();
        if dropped > 0 {
            effects.dropped.clear();
            self.dropped.fetch_add(dropped as u64, Relaxed);
        }
    }

    /// Whether nothing but watches is left, now that all has come.
    pub(super) fn is_idle(&self, dispatch: &Dispatch<Box<Job>>) -> bool {
        self.all_arrived.load(Relaxed) && dispatch.outstanding() == dispatch.watches() as usize
    }

    /// The planned end as an instant; `None` while it is unknown.
    pub(super) fn end_ns(&self) -> Option<u64> {
        let end = self.end.load(Relaxed);
        (end < u64::MAX).then(|| self.t0.load(Relaxed).saturating_add(end))
    }

    /// Sets the planned end, after T0.
    pub(super) fn set_end(&self, after_t0_ns: u64) {
        self.end.store(after_t0_ns.min(u64::MAX - 1), Relaxed);
    }

    /// Sets T0 and lets all begin.
    pub(super) fn begin(&self, t0: u64) {
        self.t0.store(t0, Relaxed);
        self.rouse();
        for inbox in &self.inboxes {
            inbox.push(Message::Begin);
        }
    }

    /// Waits for T0; `None` where the run was stopped before.
    pub(super) fn wait_for_t0(&self) -> Option<u64> {
        let mut hunger = self.hunger.lock();
        loop {
            let t0 = self.t0.load(Relaxed);
            if self.is_stopping() {
                return None;
            }
            if t0 > 0 {
                return Some(t0);
            }
            self.fed.wait(&mut hunger);
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    /// Ends all waiting for due instants and slots.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Relaxed);
        self.rouse();
        self.schedule_roused.notify_one();
    }

    /// A request of a lane has ended and so many wait there: in a closed loop, it may want more.
    pub(super) fn waiting_in(&self, lane: u32, waiting: usize) {
        let wants = waiting < self.low_water && self.fed_lanes[lane as usize].load(Relaxed);
        if wants && !self.hungry.swap(true, Relaxed) {
            self.rouse();
        }
    }

    /// In a closed loop: the stream of a lane has ended.
    pub(super) fn lane_ended(&self, lane: u32) {
        self.fed_lanes[lane as usize].store(false, Relaxed);
    }

    fn rouse(&self) {
        *self.hunger.lock() = true;
        self.fed.notify_all();
    }

    /// Waits until a lane wants more requests, or the end of the run.
    pub(super) fn wait_for_hunger(&self) {
        let mut hunger = self.hunger.lock();
        while !*hunger && !self.is_stopping() {
            self.fed.wait(&mut hunger);
        }
        *hunger = false;
        self.hungry.store(false, Relaxed);
    }

    /// Sleeps until an instant; false where the run was stopped before.
    pub(super) fn sleep_until(&self, instant_ns: u64) -> bool {
        /// The wait that can be cut short ends this much before the instant; the kernel's own wait is exact.
        const EXACT_NS: u64 = 20_000_000;
        loop {
            if self.is_stopping() {
                return false;
            }
            let now = now_ns();
            let left = instant_ns.saturating_sub(now);
            if left <= EXACT_NS {
                crate::clock::sleep_until(instant_ns);
                return true;
            }
            let mut hunger = self.hunger.lock();
            if !self.is_stopping() {
                self.fed.wait_for(&mut hunger, Duration::from_nanos(left - EXACT_NS / 2));
            }
        }
    }
}
