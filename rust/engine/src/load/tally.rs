//! The record of a segment: seconds as they are complete, then its end.

use super::control::Control;
use super::cpu::ThreadClocks;
use super::driving::Ending;
use super::fold::{Figures, Totals};
use super::job::Job;
use super::outcome::Outcome;
use super::raw_data::RawData;
use super::record::{ErrorText, Recording};
use super::records::{ConnectionCounts, EndRecord, ErrorRecord, SeriesRecord, SliceFigures, SliceRecord, UnsentWait};
use super::series::SeriesTable;
use super::shared::Shared;
use super::worker::Event;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use parking_lot::Mutex;
use perfq_core::quantile::P99;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Errors that are described in a segment.
const ERRORS_DESCRIBED: usize = 1_000;

/// Folds what the workers hand over.
pub(super) struct Tally {
    segment: u32,
    workers: usize,
    sink: Option<RecordSink>,
    series: Arc<SeriesTable>,
    clocks: Arc<ThreadClocks>,
    /// Seconds that are not complete: figures, and the workers that have closed them.
    open: BTreeMap<u64, (Figures, usize)>,
    totals: Totals,
    described: usize,
    written_ns: u64,
    last_second: u64,
    /// Never sent, as known outside the workers.
    pub(super) not_sent: u64,
    /// What those waited for.
    pub(super) unsent_wait: UnsentWait,
    /// Read ahead in a closed loop and given back.
    pub(super) unplanned: u64,
    shared: Arc<Shared>,
    raw: Option<Arc<Mutex<RawData>>>,
}

impl Tally {
    pub(super) fn new(
        segment: u32,
        workers: usize,
        sink: Option<RecordSink>,
        series: Arc<SeriesTable>,
        clocks: Arc<ThreadClocks>,
        shared: Arc<Shared>,
        raw: Option<Arc<Mutex<RawData>>>,
    ) -> Self {
        if let Some(raw) = &raw {
            raw.lock().begin();
        }
        // What was used until now was the warm-up's.
        clocks.take();
        Self {
            segment,
            workers,
            sink,
            series,
            clocks,
            open: BTreeMap::new(),
            totals: Totals::default(),
            described: 0,
            written_ns: now_ns(),
            last_second: 0,
            not_sent: 0,
            unsent_wait: UnsentWait::default(),
            unplanned: 0,
            shared,
            raw,
        }
    }

    /// Takes what a worker handed over; a second that all have closed is written.
    pub(super) fn take(&mut self, event: Event, control: &Control) {
        match event {
            Event::Recorded { second, closes, recording } => {
                self.add(second, recording);
                if closes {
                    let entry = self.open.entry(second).or_default();
                    entry.1 += 1;
                    if entry.1 == self.workers {
                        self.write_up_to(second, control);
                        if let Some(raw) = &self.raw {
                            raw.lock().flush();
                        }
                    }
                }
            }
            Event::Ended { recording } => self.add(u64::MAX, recording),
            Event::Warm { .. } | Event::Cold(_) | Event::Opened | Event::Idle => {}
        }
    }

    fn add(&mut self, second: u64, recording: Recording) {
        if let Some(raw) = &self.raw {
            let t0 = self.shared.t0.load(Relaxed);
            raw.lock().write(self.segment, t0, &self.series, &recording.samples);
        }
        let errors = self.open.entry(second).or_default().0.add(recording);
        for error in errors {
            self.describe(&error);
        }
    }

    fn describe(&mut self, error: &ErrorText) {
        let (Some(sink), Some(key)) = (&self.sink, error.outcome.error_key()) else { return };
        if self.described < ERRORS_DESCRIBED {
            self.described += 1;
            let status = if let Outcome::Http(status) = error.outcome { Some(status) } else { None };
            sink.write(&ErrorRecord {
                k: "load_error",
                t: error.t,
                segment: self.segment,
                key: &key,
                series: &self.series.name(error.series),
                status,
                text: &error.text,
            });
        }
    }

    /// A request that was to be sent again, and is not any more.
    pub(super) fn cancelled(&mut self, job: &Job, now: u64) {
        let mut recording = Recording::default();
        recording.sample(job.sample(Outcome::Cancelled, None, now, 0));
        self.add(u64::MAX, recording);
    }

    fn write_up_to(&mut self, second: u64, control: &Control) {
        let later = self.open.split_off(&(second + 1));
        for (second, (figures, _)) in std::mem::replace(&mut self.open, later) {
            let rate = figures.counts.sent;
            let lag = &figures.latency.lag;
            let lag_ns = if lag.count() >= 100 { lag.quantile(P99) } else { lag.max() };
            self.write(second, figures);
            control.slice(&self.totals, rate, lag_ns);
        }
    }

    fn write(&mut self, second: u64, figures: Figures) {
        self.last_second = second;
        self.totals.add(&figures);
        let now = now_ns();
        let cpu = self.clocks.take();
        let elapsed = now.saturating_sub(self.written_ns).max(1);
        self.written_ns = now;
        let in_flight_max = self.shared.dispatch.lock().take_in_flight_max();
        let Some(sink) = &self.sink else { return };
        let name = |uid: &bytes::Bytes| String::from_utf8_lossy(uid).into_owned();
        sink.write(&SliceRecord {
            k: "load_slice",
            t: now,
            segment: self.segment,
            second,
            figures: SliceFigures {
                sent: figures.counts.sent,
                ends: figures.ends,
                not_sent: figures.counts.not_sent,
                late: figures.late,
                retries: figures.counts.retries,
                in_flight_max,
            },
            cpu_ns: cpu.all_ns,
            cpu_share_max: cpu.most_ns as f64 / elapsed as f64,
            watches: figures.watches,
            latency: figures.latency,
            series: figures
                .series
                .into_iter()
                .map(|(number, figures)| SeriesRecord { key: self.series.name(number).to_string(), figures })
                .collect(),
            priority_levels: figures.levels.iter().map(|(uid, count)| (name(uid), *count)).collect(),
            handshake: figures.handshakes,
        });
    }

    /// Writes the seconds that are left and the end.
    pub(super) fn end(&mut self, ending: &Ending) -> EndRecord {
        let mut rest = Figures::default();
        rest.counts.not_sent = self.not_sent + ending.dropped;
        let mut last: Vec<Figures> = vec![rest];
        for (second, (figures, _)) in std::mem::take(&mut self.open) {
            if second == u64::MAX { last.push(figures) } else { self.write(second, figures) }
        }
        let second = ending.ended_ns.saturating_sub(ending.t0) / 1_000_000_000;
        for figures in last {
            self.write(second.max(self.last_second), figures);
        }
        if let Some(raw) = &self.raw {
            raw.lock().flush();
        }
        let totals = &self.totals;
        let Totals { ends, counts, .. } = totals;
        let record = EndRecord {
            k: "load_end",
            t: now_ns(),
            segment: self.segment,
            planned: ending.planned,
            sent: counts.sent,
            sent_by_end: counts.sent_by_end,
            ok: ends.ok,
            errors: ends.errors_by_key(),
            timed_out: ends.timed_out,
            cancelled: ends.cancelled,
            not_sent: counts.not_sent,
            dropped: ending.dropped,
            unsent_wait: self.unsent_wait,
            late: totals.late,
            retries: counts.retries,
            resends: counts.resends,
            bytes: ends.bytes,
            envelopes: counts.envelopes,
            end_ns: ending.end_ns,
            wall_ns: ending.ended_ns.saturating_sub(ending.t0),
            drain_ns: ending.drain_from.map_or(0, |from| ending.ended_ns.saturating_sub(from)),
            stopped: ending.stopped.clone(),
            overload: ending.overload,
            connections: ConnectionCounts {
                opened: counts.opened,
                reconnects: counts.reconnects,
                goaways: counts.goaways,
                resets: counts.resets,
                stream_limit: ending.stream_limit,
            },
            watches: totals.watches.clone(),
            raw_data: self.raw.as_ref().map(|raw| raw.lock().status()),
        };
        if let Some(sink) = &self.sink {
            sink.write(&record);
        }
        record
    }
}
