//! One segment: warm-up, T0, the schedule, the drain, and its record.

use super::connect::FailureClass;
use super::control::{Control, Failure, input, internal};
use super::cpu::ThreadClocks;
use super::driving::Driving;
use super::endpoint::Endpoint;
use super::options::{LoadOptions, Overload, Protocol, SegmentOptions};
use super::prepare::Preparer;
use super::raw_data::RawData;
use super::records::SegmentRecord;
use super::schedule::{Lent, Schedule};
use super::series::SeriesTable;
use super::shared::{Message, Shared};
use super::source::Source;
use super::tally::Tally;
use super::timing::{self, Feed, Keeper};
use super::worker::{self, Event, WorkerOptions};
use crate::clock::{nanos, now_ns};
use crate::recorder::RecordSink;
use parking_lot::Mutex;
use perfq_core::histogram::Histogram;
use perfq_core::load::Dispatch;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections of a runner that are opened without being asked for.
const MOST_CONNECTIONS: u32 = 50;
/// From the last word of the warm-up to T0.
const BEFORE_T0_NS: u64 = 2_000_000;

/// What a segment is run with.
pub(super) struct Run<'a> {
    pub(super) options: &'a LoadOptions,
    pub(super) endpoint: &'a Arc<Endpoint>,
    pub(super) clocks: &'a Arc<ThreadClocks>,
    pub(super) sink: Option<&'a RecordSink>,
    pub(super) control: &'a Control,
    pub(super) raw: Option<Arc<Mutex<RawData>>>,
}

/// What is warm.
struct Warm {
    handshakes: Histogram,
    stream_limit: Option<u32>,
}

/// Runs one segment to its end; its record is written, and kept by the control.
pub(super) fn run(run: &Run<'_>, number: u32, segment: &SegmentOptions) -> Result<(), Failure> {
    let lanes = segment.lanes();
    let connections = lanes * segment.connections;
    let workers = workers(connections);
    let closed = segment.closed_loop();
    let source = Source::open(segment).map_err(input)?;
    let drops = run.options.overload == Overload::Drop && !closed;
    let mut dispatch = Dispatch::new(lanes, segment.in_flight, drops, segment.protocol == Protocol::Http1);
    let mut owned: Vec<Vec<(u32, u32)>> = vec![Vec::new(); workers];
    for lane in 0..lanes {
        for _ in 0..segment.connections {
            let connection = dispatch.add_connection(lane);
            owned[connection as usize % workers].push((connection, lane));
        }
    }
    let low_water = if closed { (2 * segment.in_flight as usize).max(32) } else { 0 };
    let shared = Arc::new(Shared::new(dispatch, workers, lanes, low_water));
    let series = Arc::new(SeriesTable::default());
    let preparer = Preparer::new(
        Arc::clone(run.endpoint),
        segment,
        run.options.ordering,
        &run.options.user_agent,
        Arc::clone(&series),
    )
    .map_err(input)?;
    let (sender, events) = channel();
    run.control.warming(number, u32::try_from(run.options.segments.len()).unwrap_or(u32::MAX), sender.clone());
    let options = WorkerOptions {
        shared: Arc::clone(&shared),
        endpoint: Arc::clone(run.endpoint),
        clocks: Arc::clone(run.clocks),
        events: sender.clone(),
        warm_up: Arc::new(preparer.warm_up().map_err(input)?),
        protocol: segment.protocol,
        timeout: Duration::from_millis(run.options.timeout_ms),
        watch_silence: Duration::from_millis(run.options.watch_timeout_ms.unwrap_or(run.options.timeout_ms)),
        max_retries: segment.max_retries,
    };
    let (mut lent, feed) = schedule(workers, closed);
    let mut threads: Vec<JoinHandle<()>> = Vec::with_capacity(workers);
    for (index, owned) in owned.into_iter().enumerate() {
        threads.push(worker::spawn(index, options.clone(), owned, lent.take()).map_err(internal)?);
    }
    let warm = match warm_up(run, &events, &shared, segment) {
        Ok(warm) => warm,
        Err(failure) => {
            end_workers(&shared, threads);
            return Err(failure);
        }
    };
    let planned = source.planned;
    if let Some(end) = source.end_us {
        shared.set_end(end.saturating_mul(1000));
    }
    let feeder = match feed {
        None => timing::closed_loop(source, preparer, &shared, run.clocks, sender.clone()),
        Some(feed) => timing::open_loop((source, feed), preparer, &shared, run.clocks, sender.clone()),
    };
    let feeder = feeder.map_err(internal)?;
    let t0 = now_ns() + BEFORE_T0_NS;
    shared.begin(t0);
    let rate = segment.rate.filter(|rate| *rate > 0.0).map(|rate| rate * f64::from(lanes));
    run.control.running(&shared, planned, rate);
    write_begin(run, number, segment, t0, planned, rate, workers, &shared, &warm);
    let (sink, clocks) = (run.sink.cloned(), Arc::clone(run.clocks));
    let tally = Tally::new(number, workers, sink, series, clocks, Arc::clone(&shared), run.raw.clone());
    let mut driving = Driving::new((run.control, run.options), &shared, closed, feeder, tally);
    driving.until_end(&events);
    let ended_ns = now_ns();
    driving.give_up();
    end_workers(&shared, threads);
    drop((options, sender));
    driving.finish(&events, warm.stream_limit, ended_ns)
}

/// Threads that send: as many as the machine has cores beside the one that keeps the schedule.
fn workers(connections: u32) -> usize {
    const MOST: usize = 8;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    cores.saturating_sub(1).clamp(1, MOST).min(connections as usize).max(1)
}

/// The schedule of an open loop: lent to the worker where there is only one, else for the feeder's own thread.
fn schedule(workers: usize, closed: bool) -> (Option<Lent>, Option<Feed>) {
    if closed {
        return (None, None);
    }
    let (batches, schedule) = Schedule::new();
    if workers > 1 {
        return (None, Some(Feed { batches, keeper: Keeper::Thread(schedule) }));
    }
    let (lent, returned) = Lent::new(schedule);
    (Some(lent), Some(Feed { batches, keeper: Keeper::Worker(returned) }))
}

/// Waits until every connection is up and warm, those among them that were not asked for: where a lane may have
/// more requests in flight than its connections have streams.
fn warm_up(
    run: &Run<'_>,
    events: &Receiver<Event>,
    shared: &Shared,
    segment: &SegmentOptions,
) -> Result<Warm, Failure> {
    let until = now_ns() + nanos(Duration::from_millis(run.options.warm_up_ms));
    let mut warm = Warm { handshakes: Histogram::default(), stream_limit: None };
    let (mut workers_left, mut more_left) = (shared.inboxes.len(), None);
    while workers_left > 0 || more_left != Some(0) {
        if workers_left == 0 && more_left.is_none() {
            more_left = Some(open_more(shared, segment, warm.stream_limit)?);
            continue;
        }
        let wait = Duration::from_nanos(until.saturating_sub(now_ns()));
        match events.recv_timeout(wait) {
            Ok(Event::Warm { handshakes, stream_limit }) => {
                warm.handshakes.merge(&handshakes);
                warm.stream_limit = stream_limit.or(warm.stream_limit);
                workers_left -= 1;
            }
            Ok(Event::Cold(error)) => return Err(Failure { class: error.class, text: error.text }),
            Ok(Event::Opened) => more_left = more_left.map(|left| left - 1),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                let Endpoint { host, port, .. } = &**run.endpoint;
                let seconds = run.options.warm_up_ms as f64 / 1000.0;
                let text = format!("{host}:{port}: the connections were not warm within {seconds} s");
                return Err(Failure { class: FailureClass::Timeout, text });
            }
            Err(RecvTimeoutError::Disconnected) => return Err(internal("a worker has ended early")),
        }
        if run.control.stopped().is_some() {
            let text = "stopped before the connections were warm".into();
            return Err(Failure { class: FailureClass::Timeout, text });
        }
    }
    Ok(warm)
}

/// Asks for the connections that the stream limit makes necessary; how many.
fn open_more(shared: &Shared, segment: &SegmentOptions, stream_limit: Option<u32>) -> Result<usize, Failure> {
    let Some(limit) = stream_limit.filter(|_| segment.protocol == Protocol::Http2) else { return Ok(0) };
    let needed = segment.in_flight.div_ceil(limit.max(1));
    if limit == 0 || needed > segment.connections.max(MOST_CONNECTIONS) {
        let text = format!(
            "{} requests in flight need {needed} connections of {limit} streams each, more than {MOST_CONNECTIONS}: \
             ask for {needed} connections, or for fewer requests in flight",
            segment.in_flight
        );
        return Err(Failure { class: FailureClass::Streams, text });
    }
    let mut more = 0;
    for lane in 0..segment.lanes() {
        for _ in segment.connections..needed {
            let number = shared.dispatch.lock().add_connection(lane);
            shared.inboxes[number as usize % shared.inboxes.len()].push(Message::Connect { number, lane });
            more += 1;
        }
    }
    Ok(more)
}

fn end_workers(shared: &Shared, threads: Vec<JoinHandle<()>>) {
    shared.stop();
    for inbox in &shared.inboxes {
        inbox.push(Message::Finish);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

#[allow(clippy::too_many_arguments)]
fn write_begin(
    run: &Run<'_>,
    number: u32,
    segment: &SegmentOptions,
    t0: u64,
    planned: Option<u64>,
    requested_rate: Option<f64>,
    workers: usize,
    shared: &Shared,
    warm: &Warm,
) {
    let Some(sink) = run.sink else { return };
    sink.write(&SegmentRecord {
        k: "load_segment",
        t: now_ns(),
        segment: number,
        t0,
        planned,
        end_ns: shared.end_ns().map(|end| end - t0),
        requested_rate,
        closed: segment.closed_loop(),
        runners: segment.lanes(),
        connections: segment.connections,
        in_flight: segment.in_flight,
        protocol: segment.protocol,
        workers: u32::try_from(workers).unwrap_or(u32::MAX),
        stream_limit: warm.stream_limit,
        handshake: warm.handshakes.clone(),
    });
}

pub(super) fn spawn(
    options: LoadOptions,
    endpoint: Arc<Endpoint>,
    sink: Option<RecordSink>,
    control: Arc<Control>,
    raw: Option<RawData>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("perfq-load".into()).spawn(move || {
        let clocks = Arc::new(ThreadClocks::default());
        let _clock = clocks.of_this_thread();
        let all = Run {
            options: &options,
            endpoint: &endpoint,
            clocks: &clocks,
            sink: sink.as_ref(),
            control: &control,
            raw: raw.map(|raw| Arc::new(Mutex::new(raw))),
        };
        let mut failure = None;
        for (number, segment) in (0u32..).zip(&options.segments) {
            if control.stopped().is_some() {
                break;
            }
            if let Err(failed) = run(&all, number, segment) {
                failure = Some(failed);
                break;
            }
        }
        control.ended(failure);
    })
}
