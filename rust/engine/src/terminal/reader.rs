//! The thread that reads: stamps each chunk, feeds it, writes replies, hears the supervisor.

use super::Shared;
use super::awaited::Exit;
use super::cast::Cast;
use super::state::{SYNC_WATCHDOG_NS, State};
use super::supervisor::Report;
use crate::clock::now_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Child;
use std::sync::Arc;

const TERM_RECORD_EVERY_NS: u64 = 1_000_000_000;
/// A hung-up terminal may be opened again by a process that still runs.
const HUNG_UP_RETRY_NS: u64 = 10_000_000;
const MAX_COMPLAINT: usize = 4096;
/// Reads in a row before the other descriptors get their turn.
const READS_IN_A_ROW: usize = 64;

/// What the reading thread owns.
pub(super) struct Reader {
    pub(super) shared: Arc<Shared>,
    pub(super) master: Arc<OwnedFd>,
    pub(super) wake: Arc<OwnedFd>,
    pub(super) reports: OwnedFd,
    pub(super) complaints: OwnedFd,
    pub(super) child: Child,
    pub(super) cast: Option<Cast>,
}

#[derive(Serialize)]
struct TermRecord {
    k: &'static str,
    t: u64,
    bytes: u64,
    chunks: u64,
    frames: u64,
    redraws: u64,
    sync_timeouts: u64,
}

#[derive(Serialize)]
struct ExitRecord {
    k: &'static str,
    t: u64,
    code: Option<i32>,
    signal: Option<i32>,
}

impl Reader {
    /// Reads until the supervisor is gone and all output was read.
    pub(super) fn run(mut self) {
        let mut buffer = vec![0; 64 * 1024];
        let mut lines = Vec::new();
        let mut complaint = Vec::new();
        let mut next_record = now_ns() + TERM_RECORD_EVERY_NS;
        let mut hung_up_until = None;
        let (mut reporting, mut complaining) = (true, true);
        while reporting {
            let now = now_ns();
            let hung_up = hung_up_until.is_some_and(|until| until > now);
            let mut until = next_record;
            until = until.min(hung_up_until.filter(|_| hung_up).unwrap_or(until));
            {
                let state = self.shared.state.lock();
                until = until.min(state.sync_since.map_or(until, |since| since + SYNC_WATCHDOG_NS));
            }
            let writes = !self.shared.input.lock().is_empty();
            let ready = wait(
                &[
                    (&*self.master, !hung_up, writes && !hung_up),
                    (&self.reports, true, false),
                    (&self.complaints, complaining, false),
                    (&*self.wake, true, false),
                ],
                until.saturating_sub(now),
            );
            if ready[3] {
                let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
            }
            if ready[0] {
                if writes && self.shared.input.lock().pump().is_err() {
                    hung_up_until = Some(now_ns() + HUNG_UP_RETRY_NS);
                }
                if !self.read_some(&mut buffer, READS_IN_A_ROW) {
                    hung_up_until = Some(now_ns() + HUNG_UP_RETRY_NS);
                }
            }
            if ready[2] {
                complaining = read_pipe(&self.complaints, &mut buffer, &mut complaint);
                complaint.truncate(MAX_COMPLAINT);
            }
            if ready[1] {
                reporting = read_pipe(&self.reports, &mut buffer, &mut lines);
                self.hear(&mut lines);
            }
            let now = now_ns();
            let mut state = self.shared.state.lock();
            state.watch_sync(now);
            if now >= next_record {
                record(&state, now);
                next_record = now + TERM_RECORD_EVERY_NS;
            }
            drop(state);
            self.shared.changed.notify_all();
        }
        while self.read_some(&mut buffer, usize::MAX) {}
        let _ = self.child.wait();
        while complaining {
            complaining = read_pipe(&self.complaints, &mut buffer, &mut complaint);
        }
        if let Some(cast) = &mut self.cast {
            cast.close();
        }
        self.check_cast();
        self.end(&complaint);
    }

    /// Everything is over: says so to those who wait.
    fn end(&self, complaint: &[u8]) {
        let now = now_ns();
        let mut state = self.shared.state.lock();
        if state.exit.is_none() {
            // Only a supervisor that was killed or failed leaves without a word about the client.
            state.exit = Some(Exit { t: now, code: None, signal: None });
            let said = String::from_utf8_lossy(complaint);
            let said = said.trim().lines().last().unwrap_or("it was killed").to_owned();
            state.trouble.get_or_insert(format!("the client's supervisor ended before the client: {said}"));
        }
        if let (Some(exit), Some(sink)) = (state.exit, &state.sink) {
            sink.write(&ExitRecord { k: "exit", t: exit.t, code: exit.code, signal: exit.signal });
        }
        state.end_frame(now);
        record(&state, now);
        state.drained = true;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Reads what is there. False where the terminal is hung up, or nothing is left to read after it.
    fn read_some(&mut self, buffer: &mut [u8], most: usize) -> bool {
        let mut last = None;
        for _ in 0..most {
            match rustix::io::read(&*self.master, &mut *buffer) {
                Ok(0) | Err(Errno::IO) => {
                    self.pause(last);
                    return false;
                }
                Ok(count) => {
                    let t = now_ns();
                    self.take(t, &buffer[..count]);
                    last = Some(t);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.pause(last);
                    return last.is_some() || most != usize::MAX;
                }
                Err(error) => {
                    self.shared.state.lock().trouble.get_or_insert(format!("the terminal cannot be read: {error}"));
                    return false;
                }
            }
        }
        true
    }

    fn take(&mut self, t: u64, chunk: &[u8]) {
        let mut state = self.shared.state.lock();
        let shared = &self.shared;
        // The emulator is not ours: a panic in it must not end the reading, or the client would block.
        let fed = catch_unwind(AssertUnwindSafe(|| {
            state.feed(t, chunk, |answer| {
                // A program that is gone needs no answer.
                let _ = shared.input.lock().reply(answer);
            });
        }));
        if fed.is_err() {
            state.trouble.get_or_insert_with(|| "the terminal emulator failed; its screen is not to be trusted".into());
        }
        parking_lot::MutexGuard::unlock_fair(state);
        self.shared.changed.notify_all();
        if let Some(cast) = &mut self.cast {
            cast.output(t, chunk);
            for (t, size) in self.shared.resizes.lock().drain(..) {
                cast.resize(t, size.cols, size.rows);
            }
        }
        self.check_cast();
    }

    /// A recording that could not be written ends, and is trouble.
    fn check_cast(&mut self) {
        if let Some(error) = self.cast.as_ref().and_then(Cast::error) {
            self.shared.state.lock().trouble.get_or_insert(format!("terminal.cast cannot be written: {error}"));
            self.cast = None;
        }
    }

    /// The program paused after a chunk: outside of a synchronized update that ends a frame.
    fn pause(&self, last: Option<u64>) {
        let Some(t) = last else { return };
        let mut state = self.shared.state.lock();
        if !state.screen.syncing() {
            state.end_frame(t);
        }
    }

    fn hear(&self, lines: &mut Vec<u8>) {
        while let Some(end) = lines.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = lines.drain(..=end).collect();
            let Ok(report) = serde_json::from_slice::<Report>(&line) else { continue };
            let mut state = self.shared.state.lock();
            match report {
                Report::Exited { t, code, signal } => state.exit = Some(Exit { t, code, signal }),
                Report::Ended { killed, left } => state.ended = Some((killed, left)),
                started @ (Report::Started { .. } | Report::Failed { .. }) => {
                    state.started = Some(started);
                }
            }
        }
    }
}

fn record(state: &State, t: u64) {
    if let Some(sink) = &state.sink {
        let counts = state.counts;
        sink.write(&TermRecord {
            k: "term",
            t,
            bytes: counts.bytes,
            chunks: counts.chunks,
            frames: counts.frames,
            redraws: counts.redraws,
            sync_timeouts: counts.sync_timeouts,
        });
    }
}

/// Waits until one of the descriptors is ready (wanted for reading, for writing) or the time is over.
fn wait(wanted: &[(&OwnedFd, bool, bool); 4], timeout_ns: u64) -> [bool; 4] {
    let mut which = Vec::with_capacity(4);
    let mut fds = Vec::with_capacity(4);
    for (index, (fd, read, write)) in wanted.iter().enumerate() {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, *read);
        flags.set(PollFlags::OUT, *write);
        if !flags.is_empty() {
            which.push(index);
            fds.push(PollFd::new(*fd, flags));
        }
    }
    let timeout = Timespec {
        tv_sec: i64::try_from(timeout_ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(timeout_ns % 1_000_000_000).unwrap_or(0),
    };
    let mut ready = [false; 4];
    if poll(&mut fds, Some(&timeout)).is_ok() {
        for (fd, index) in fds.iter().zip(which) {
            ready[index] = !fd.revents().is_empty();
        }
    }
    ready
}

/// Appends what can be read once; false at the end of the pipe.
fn read_pipe(fd: &OwnedFd, buffer: &mut [u8], into: &mut Vec<u8>) -> bool {
    match rustix::io::read(fd, &mut *buffer) {
        Ok(0) => false,
        Ok(count) => {
            into.extend_from_slice(&buffer[..count]);
            true
        }
        Err(Errno::INTR | Errno::AGAIN) => true,
        Err(_) => false,
    }
}
