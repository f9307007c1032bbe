//! The threads that read ahead.
//!
//! Requests are prepared ahead of their due instants and handed over in batches through a channel that is bounded
//! by count and bytes, so that a trace of any length takes the same memory.

use super::cpu::ThreadClocks;
use super::prepare::Preparer;
use super::schedule::{Batch, Schedule};
use super::shared::{JobEffects, Shared};
use super::source::{Merged, Source, Streams};
use super::worker::Event;
use crate::clock::now_ns;
use perfq_core::load::{RequestError, WatchEnd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, SyncSender};

/// Requests of one batch.
const BATCH: usize = 64;
/// Bytes of bodies after which a batch is handed over before it is full.
const BATCH_BYTES: usize = 256 * 1024;

/// What the two threads have to say when they have ended.
#[derive(Debug, Default)]
pub(super) struct Fed {
    /// Requests that the source had for this process.
    pub(super) planned: u64,
    /// Of them: never handed to the dispatch.
    pub(super) unsent: u64,
    /// What was wrong with the source.
    pub(super) error: Option<RequestError>,
}

/// What is known of a source before.
#[derive(Clone, Copy)]
struct Known {
    planned: Option<u64>,
    end_us: Option<u64>,
    /// Its requests are drawn, perhaps without an end: there is nothing to count in what is not needed.
    drawn: bool,
}

/// Reads ahead until the source ends; what the schedule does not take any more is counted.
///
/// The planned end is that of the last request or watch, where the source does not say another.
fn read(merged: Merged, mut preparer: Preparer, batches: &SyncSender<Batch>, shared: &Shared, known: Known) -> Fed {
    let mut fed = Fed::default();
    let (mut batch, mut bytes, mut taken) = (Vec::with_capacity(BATCH), 0, true);
    let mut last_ns = 0;
    for (lane, request) in merged {
        match request.and_then(|request| preparer.prepare(request, lane)) {
            Ok(Some(job)) => {
                fed.planned += 1;
                let due = job.due_ns.unwrap_or(0);
                let lives = if let Some(WatchEnd::After(us)) = job.watch { us.saturating_mul(1000) } else { 0 };
                last_ns = last_ns.max(due.saturating_add(lives));
                if !taken || shared.is_stopping() {
                    fed.unsent += 1;
                    if known.drawn {
                        break;
                    }
                    continue;
                }
                bytes += job.wire.body.len();
                batch.push(job);
                if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    bytes = 0;
                    let count = full.len() as u64;
                    if batches.send(full).is_ok() {
                        shared.schedule_roused.notify_one();
                    } else {
                        taken = false;
                        fed.unsent += count;
                    }
                }
            }
            Ok(None) => {}
            Err(error) => {
                fed.error = Some(error);
                break;
            }
        }
    }
    // The end is known before the last batch can have been sent.
    if known.end_us.is_none() {
        shared.set_end(last_ns);
    }
    let count = batch.len() as u64;
    if count > 0 && (!taken || batches.send(batch).is_err()) {
        fed.unsent += count;
    }
    fed.add_undrawn(known.planned.filter(|_| known.drawn));
    fed
}

/// The schedule of an open loop, and who keeps it.
pub(super) enum Keeper {
    /// A thread of its own.
    Thread(Schedule),
    /// A worker: where the schedule comes back when that one has done with it.
    Worker(Receiver<Schedule>),
}

/// What an open loop feeds its requests into.
pub(super) struct Feed {
    pub(super) batches: SyncSender<Batch>,
    pub(super) keeper: Keeper,
}

/// The threads of an open loop, until all is handed over or the run is stopped.
pub(super) fn open_loop(
    (source, into): (Source, Feed),
    preparer: Preparer,
    shared: &Arc<Shared>,
    clocks: &Arc<ThreadClocks>,
    ended: Sender<Event>,
) -> std::io::Result<std::thread::JoinHandle<Fed>> {
    let Feed { batches, keeper } = into;
    let drawn = matches!(source.streams, Streams::PerLane(_));
    let known = Known { planned: source.planned, end_us: source.end_us, drawn };
    let streams = source.streams;
    let (shared, clocks) = (Arc::clone(shared), Arc::clone(clocks));
    std::thread::Builder::new().name("perfq-load-time".into()).spawn(move || {
        let of_reader = (Arc::clone(&shared), Arc::clone(&clocks));
        let reader = std::thread::Builder::new().name("perfq-load-read".into()).spawn(move || {
            let (shared, clocks) = of_reader;
            let _clock = clocks.of_this_thread();
            let fed = read(Merged::new(streams), preparer, &batches, &shared, known);
            drop(batches);
            shared.schedule_roused.notify_one();
            fed
        });
        let clock = clocks.of_this_thread();
        let schedule = match keeper {
            Keeper::Thread(mut schedule) => {
                schedule.keep(&shared);
                Some(schedule)
            }
            Keeper::Worker(returned) => returned.recv().ok(),
        };
        let unsent = schedule.map_or(0, Schedule::rest);
        drop(clock);
        let mut fed = match reader.map(std::thread::JoinHandle::join) {
            Ok(Ok(fed)) => fed,
            _ => Fed::broken(),
        };
        fed.unsent += unsent;
        shared.all_arrived.store(true, Relaxed);
        let _ = ended.send(Event::Idle);
        fed
    })
}

impl Fed {
    /// Adds what was not drawn any more, where it is known how much there was to be.
    fn add_undrawn(&mut self, planned: Option<u64>) {
        let rest = planned.filter(|_| self.error.is_none()).unwrap_or(0).saturating_sub(self.planned);
        self.planned += rest;
        self.unsent += rest;
    }

    /// A thread panicked: a bug, which the sum of the segment will show as well.
    pub(super) fn broken() -> Self {
        let text = "the thread that reads the requests has ended early".into();
        Self { error: Some(RequestError { line: None, text }), ..Self::default() }
    }
}

/// The thread of a closed loop: keeps some requests waiting in every lane until the source or the run ends.
pub(super) fn closed_loop(
    source: Source,
    mut preparer: Preparer,
    shared: &Arc<Shared>,
    clocks: &Arc<ThreadClocks>,
    ended: Sender<Event>,
) -> std::io::Result<std::thread::JoinHandle<Fed>> {
    let (shared, clocks) = (Arc::clone(shared), Arc::clone(clocks));
    std::thread::Builder::new().name("perfq-load-feed".into()).spawn(move || {
        let _clock = clocks.of_this_thread();
        shared.wait_for_t0();
        // What its duration ends has no other plan than to be sent until then.
        let planned = source.planned.filter(|_| source.end_us.is_none());
        let mut streams = match source.streams {
            Streams::PerLane(streams) => streams,
            // The options allow none in a closed loop.
            Streams::All(one) => vec![one],
        };
        let mut fed = Fed::default();
        let mut open: Vec<bool> = vec![true; streams.len()];
        while !shared.is_stopping() && open.iter().any(|open| *open) {
            for (at, stream) in streams.iter_mut().enumerate().filter(|(at, _)| open[*at]).collect::<Vec<_>>() {
                let lane = u32::try_from(at).unwrap_or(0);
                open[at] = feed(stream, lane, &mut preparer, &shared, &mut fed);
                if !open[at] {
                    shared.lane_ended(lane);
                }
            }
            if open.iter().any(|open| *open) {
                shared.wait_for_hunger();
            }
        }
        fed.add_undrawn(planned);
        shared.all_arrived.store(true, Relaxed);
        let _ = ended.send(Event::Idle);
        fed
    })
}

/// Fills a lane up; whether its stream has more.
fn feed(
    stream: &mut perfq_core::load::Requests,
    lane: u32,
    preparer: &mut Preparer,
    shared: &Shared,
    fed: &mut Fed,
) -> bool {
    let mut effects = JobEffects::default();
    loop {
        let waiting = shared.dispatch.lock().waiting(lane);
        if waiting >= 2 * shared.low_water || shared.is_stopping() {
            return true;
        }
        let mut jobs = Vec::with_capacity(BATCH);
        let mut more = true;
        while jobs.len() < shared.low_water {
            match stream.next().map(|request| request.and_then(|request| preparer.prepare(request, Some(lane)))) {
                Some(Ok(job)) => jobs.extend(job),
                Some(Err(error)) => {
                    fed.error = Some(error);
                    more = false;
                    break;
                }
                None => {
                    more = false;
                    break;
                }
            }
        }
        let mut dispatch = shared.dispatch.lock();
        if dispatch.is_closed() {
            return true;
        }
        fed.planned += jobs.len() as u64;
        let now = now_ns();
        for job in jobs {
            dispatch.arrive(job, now, &mut effects);
        }
        drop(dispatch);
        shared.deliver(&mut effects, None);
        if !more {
            return false;
        }
    }
}
