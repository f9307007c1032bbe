//! The threads that read: a few, whatever the number of sessions, and nothing else runs on them.

use super::files::ReadError;
use super::groups::Surroundings;
use super::lines::Lines;
use super::options::{Mode, SessionSamplerOptions};
use super::plan::{Event, Got, Job, Kind, Next, Plan, Stamps};
use super::records::{AbsentLine, AttachLine, EndLine, ErrorLine, PauseLine, SampleLine};
use crate::clock::now_ns;
use parking_lot::{Condvar, Mutex};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the threads and the callers share.
pub(super) struct Shared {
    pub(super) options: SessionSamplerOptions,
    pub(super) around: Surroundings,
    pub(super) lines: Lines,
    state: Mutex<State>,
    /// Something is due earlier than was known, or the pool ends.
    work: Condvar,
    /// A read has ended.
    done: Condvar,
    /// CPU time of each thread.
    cpu_ns: Vec<AtomicU64>,
}

struct State {
    plan: Plan,
    /// One thread waits for the next due instant; the others wait for a word from it.
    awaited: Option<u64>,
    closing: bool,
    /// Threads that have not ended.
    threads: usize,
}

impl Shared {
    pub(super) fn new(options: SessionSamplerOptions, lines: Lines, workers: usize) -> Self {
        let plan = Plan::new(options.delay_after_ns(), options.drain_timeout_ns());
        Self {
            options,
            around: Surroundings::read(),
            lines,
            state: Mutex::new(State { plan, awaited: None, closing: false, threads: workers }),
            work: Condvar::new(),
            done: Condvar::new(),
            cpu_ns: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Changes the plan, and wakes the threads for what it now has. The calling thread writes nothing, so that
    /// no disk holds it up: what came of it is written by whoever reads.
    pub(super) fn plan<T>(&self, change: impl FnOnce(&mut Plan) -> T) -> T {
        let mut state = self.state.lock();
        let answer = change(&mut state.plan);
        let due = state.plan.next_due();
        if due.is_some_and(|due| state.awaited.is_none_or(|awaited| due < awaited)) {
            self.work.notify_all();
        } else if !state.plan.events.is_empty() {
            self.work.notify_one();
        }
        answer
    }

    /// Writes down what came of changes to the plan.
    pub(super) fn write_events(&self) {
        let events = std::mem::take(&mut self.state.lock().plan.events);
        for event in events {
            match event {
                Event::Attached { target, t, due } => self.lines.append(&AttachLine::new(t, due, &target)),
                Event::Paused { session: n, t, asked } => {
                    self.lines.append(&PauseLine { k: "resource_pause", t, n, asked });
                }
                Event::Resumed { session: n, t } => {
                    self.lines.append(&PauseLine { k: "resource_resume", t, n, asked: None });
                }
                Event::Ended(end) => self.lines.append(&EndLine::new(&end)),
            }
        }
    }

    /// Asks again and again, after each read that ends, until it is so or the instant has come.
    pub(super) fn ask<T>(&self, until: u64, mut question: impl FnMut(&mut Plan) -> T, done: impl Fn(&T) -> bool) -> T {
        loop {
            let reads = self.state.lock().plan.ended;
            let answer = self.plan(&mut question);
            let now = now_ns();
            if done(&answer) || now >= until {
                return answer;
            }
            let mut state = self.state.lock();
            if state.plan.ended == reads {
                self.done.wait_for(&mut state, Duration::from_nanos(until - now));
            }
        }
    }

    /// No more reads are begun, and the threads end; those in flight are not waited for here.
    pub(super) fn close(&self) {
        self.state.lock().closing = true;
        self.work.notify_all();
    }

    /// Whether every thread has ended that has no read in flight.
    pub(super) fn await_threads(&self) {
        let mut state = self.state.lock();
        while state.threads as u64 > state.plan.in_flight {
            self.done.wait(&mut state);
        }
    }

    pub(super) fn cpu_ns(&self) -> Option<u64> {
        (!self.cpu_ns.is_empty()).then(|| self.cpu_ns.iter().map(|ns| ns.load(Ordering::Relaxed)).sum())
    }

    /// What one thread does until the pool ends.
    pub(super) fn work(&self, thread: usize) {
        let mut state = self.state.lock();
        while !state.closing {
            if !state.plan.events.is_empty() {
                drop(state);
                self.write_events();
                state = self.state.lock();
                continue;
            }
            match state.plan.next(now_ns()) {
                Next::Read(job) => {
                    self.work.notify_one();
                    drop(state);
                    self.read(job);
                    self.cpu_ns[thread].store(thread_cpu_ns(), Ordering::Relaxed);
                    state = self.state.lock();
                }
                Next::At(due) if state.awaited.is_none_or(|awaited| due < awaited) => {
                    state.awaited = Some(due);
                    let wait = Duration::from_nanos(due.saturating_sub(now_ns()));
                    self.work.wait_for(&mut state, wait);
                    state.awaited = None;
                }
                Next::At(_) | Next::Nothing => self.work.wait(&mut state),
            }
        }
        state.threads -= 1;
        self.done.notify_all();
    }

    /// One read, on the thread that calls, and its line.
    pub(super) fn read(&self, mut job: Job) {
        let (options, around) = (&self.options, &self.around);
        let got = match job.kind {
            Kind::Sample => Got::Sample(job.reader.sample(options, around).map(Box::new)),
            Kind::Counters => Got::Counters(job.reader.counters(options, around)),
        };
        let end = now_ns();
        let n = job.session;
        let absent = job.reader.take_news();
        let mut written = end;
        if self.state.lock().plan.counts(&job) {
            if let Got::Sample(Ok(sample)) = &got {
                let Job { due: queued, begin, .. } = job;
                let line = SampleLine { k: "resource", t: end, n, queued, begin, end, sample };
                written = self.lines.append_stamped(&line);
            }
            if !absent.is_empty() {
                self.lines.append(&AbsentLine { k: "resource_absent", t: end, n, absent });
            }
            if let Got::Sample(Err(error)) | Got::Counters(Err(error)) = &got {
                self.trouble(&job, error, end);
            }
        }
        self.plan(|plan| plan.finish(job, got, Stamps { end, written }));
        if self.options.mode == Mode::Inline {
            self.write_events();
        }
        self.done.notify_all();
    }

    fn trouble(&self, job: &Job, error: &ReadError, t: u64) {
        if self.state.lock().plan.is_trouble(job, error) {
            self.lines.append(&ErrorLine { k: "resource_error", t, n: job.session, why: &error.why });
        }
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
