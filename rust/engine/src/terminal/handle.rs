//! The handle: start, look, press, wait, stop.

use super::Shared;
use super::cast::Cast;
use super::press::{Direction, Outcome, Press, Pressed};
use super::pty::{self, Input};
use super::reader::Reader;
use super::screen::Size;
use super::state::{self, Counts, Exit, Expect, Hit, Resizing, State, Waiting};
use super::supervisor::{self, Client, Report};
use super::view::{Row, View};
use super::{keys, state::find};
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use parking_lot::{Condvar, Mutex, MutexGuard};
use regex::Regex;
use rustix::event::{EventfdFlags, eventfd};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const START_TIMEOUT: Duration = Duration::from_secs(20);
const INPUT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the supervisor may take beyond the grace to kill and report.
const STOP_MARGIN: Duration = Duration::from_secs(15);

/// A milestone to record: the first screen that matches the pattern and whose table has the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// `ready` or `populated`.
    pub name: String,
    /// Over the rows joined by line feeds.
    #[serde(default)]
    pub pattern: Option<String>,
    /// At least this many rows in the table; needs a view.
    #[serde(default)]
    pub rows: Option<usize>,
}

/// How to start a client.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The complete environment.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// Columns, 1 … 1000.
    pub cols: u16,
    /// Rows, 1 … 1000.
    pub rows: u16,
    /// Where the asciicast goes; it must not exist.
    #[serde(default)]
    pub cast: Option<PathBuf>,
    /// Command of the supervisor: a Python and the path of `supervisor.py`.
    pub supervisor: Vec<String>,
    /// What to record once.
    #[serde(default)]
    pub milestones: Vec<Milestone>,
}

/// Why a client could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An option is out of its range, or a pattern is wrong.
    #[error("{0}")]
    Option(String),
    /// The program, its directory or the terminal.
    #[error("cannot run {program:?}: {error}")]
    Program {
        /// What was to be run.
        program: String,
        /// The system's number of the error.
        errno: Option<i32>,
        /// Its text, and the directory where that is what is missing.
        error: String,
    },
    /// Pseudo-terminal, recording or supervisor.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The screen as text.
#[derive(Clone, Debug, Serialize)]
pub struct ScreenText {
    /// Rows from top to bottom, blanks at their ends cut off.
    pub lines: Vec<String>,
    /// Row and column of the text cursor, from 0.
    pub cursor: (usize, usize),
    /// Whether the text cursor is shown.
    pub cursor_visible: bool,
    /// Whether the alternate buffer is shown.
    pub alternate: bool,
    /// The window title.
    pub title: String,
    /// The other buffer as it was left; empty where only one was ever used.
    pub other: Vec<String>,
}

/// Counts and states so far.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Bytes, chunks, frames, redraws, updates that the watchdog ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// How the client ended, once all of its output was read.
    pub exited: Option<Exit>,
    /// Queries that got no answer: a start time may contain their time-outs.
    pub unanswered: Vec<String>,
    /// Replies that were dropped since the client did not read its input.
    pub dropped_replies: u64,
    /// Stamp of the last chunk.
    pub last_output_ns: Option<u64>,
    /// Milestone to its instant, where it was seen.
    pub milestones: BTreeMap<String, Option<u64>>,
    /// What went wrong with the engine itself, the recording or the supervisor.
    pub trouble: Option<String>,
}

/// What a change of size cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Resized {
    /// When the size was set.
    pub sent: u64,
    /// The first chunk after it; `None`: the client wrote nothing.
    pub first: Option<u64>,
    /// The end of the first frame by which every row was drawn anew; `None`: a failed sample.
    pub filled: Option<u64>,
}

/// How the client and its tree ended.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// Exit code, where it has one.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Descendants that had to be killed, the client itself not counted.
    pub killed: Option<u32>,
    /// Processes that outlived SIGKILL (they hang in the kernel).
    pub left: Vec<u32>,
}

/// A program in a pseudo-terminal.
pub struct Terminal {
    shared: Arc<Shared>,
    master: Arc<OwnedFd>,
    wake: Arc<OwnedFd>,
    lifeline: Mutex<Option<ChildStdin>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    next_wait: AtomicU64,
    pid: u32,
    supervisor_pid: u32,
}

impl Terminal {
    /// Starts the client. Returns once it runs, or says why it does not.
    pub fn start(
        options: &Options,
        view: Option<Arc<View>>,
        sink: Option<RecordSink>,
    ) -> Result<Self, StartError> {
        let size = Size { cols: options.cols, rows: options.rows };
        check_size(size).map_err(StartError::Option)?;
        let program =
            options.argv.first().ok_or_else(|| StartError::Option("argv: got [], expected a program".into()))?;
        let mut state = State::new(size, sink);
        for milestone in &options.milestones {
            state.milestones.push(compile(milestone, view.is_some()).map_err(StartError::Option)?);
        }
        state.view = view;
        let (master, pts) = pty::open(size)?;
        let cast =
            options.cast.as_deref().map(|path| Cast::create(path, size.cols, size.rows, now_ns())).transpose()?;
        let client = Client { argv: &options.argv, env: &options.env, cwd: &options.cwd, pts: &pts };
        let started = supervisor::spawn(&options.supervisor, &client)?;
        let master = Arc::new(master);
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?);
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            input: Mutex::new(Input::new(Arc::clone(&master))),
            resizes: Mutex::new(Vec::new()),
        });
        let supervisor_pid = started.child.id();
        let reader = Reader {
            shared: Arc::clone(&shared),
            master: Arc::clone(&master),
            wake: Arc::clone(&wake),
            reports: started.reports,
            complaints: started.complaints,
            child: started.child,
            cast,
        };
        let thread = std::thread::Builder::new().name("perfq-terminal".into()).spawn(move || reader.run())?;
        let mut terminal = Self {
            shared,
            master,
            wake,
            lifeline: Mutex::new(Some(started.lifeline)),
            thread: Mutex::new(Some(thread)),
            next_wait: AtomicU64::new(0),
            pid: 0,
            supervisor_pid,
        };
        terminal.pid = terminal.wait_started(program, &options.cwd)?;
        Ok(terminal)
    }

    fn wait_started(&self, program: &str, cwd: &str) -> Result<u32, StartError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let mut state = self.shared.state.lock();
        loop {
            match state.started.clone() {
                Some(Report::Started { pid }) => return Ok(pid),
                Some(Report::Failed { stage, errno, error }) => {
                    let error = if stage == "directory" { format!("{error}: {cwd:?}") } else { error };
                    return Err(StartError::Program { program: program.to_owned(), errno, error });
                }
                _ => {}
            }
            if state.drained {
                let trouble = state.trouble.clone().unwrap_or_else(|| "the supervisor ended".into());
                return Err(io::Error::other(trouble).into());
            }
            if self.shared.changed.wait_until(&mut state, deadline).timed_out() {
                return Err(io::Error::other(format!("{program:?} did not start within 20 s")).into());
            }
        }
    }

    /// The client's process: the root of its tree.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The supervisor's process: the parent of the client, and of every process that the client's tree
    /// lost. All below it is the client's.
    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor_pid
    }

    /// The bytes of a key in the encoding that the client asked for; `None` for an unknown name.
    pub fn key(&self, name: &str) -> Option<Vec<u8>> {
        keys::encode(name, self.shared.state.lock().screen.key_modes())
    }

    /// Writes to the client; the instant before the first byte was offered. An error where the client is
    /// gone or has not read its input for 5 s.
    pub fn write(&self, bytes: &[u8]) -> io::Result<u64> {
        self.alive()?;
        let sent = self.shared.input.lock().key(bytes.to_vec())?;
        self.wait_written(INPUT_TIMEOUT)?;
        Ok(sent)
    }

    fn alive(&self) -> io::Result<()> {
        if self.shared.state.lock().exit.is_some() {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client has ended"));
        }
        Ok(())
    }

    /// Waits until all that is on its way to the client was written, replies among it.
    fn wait_written(&self, timeout: Duration) -> io::Result<()> {
        let deadline = Instant::now() + timeout;
        while !self.shared.input.lock().is_empty() {
            if Instant::now() >= deadline {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its input"));
            }
            self.nudge();
            self.alive()?;
            // The queue has a lock of its own, so a wake-up may be missed: look again soon.
            let soon = deadline.min(Instant::now() + Duration::from_millis(5));
            self.shared.changed.wait_until(&mut self.shared.state.lock(), soon);
        }
        Ok(())
    }

    fn nudge(&self) {
        // A full counter wakes as well.
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
    }

    /// The state between two frames: waits for the end of a synchronized update under way, which the
    /// watchdog bounds.
    fn whole(&self) -> MutexGuard<'_, State> {
        let mut state = self.shared.state.lock();
        let deadline = Instant::now() + Duration::from_nanos(2 * state::SYNC_WATCHDOG_NS);
        while state.screen.syncing() && !state.drained {
            if self.shared.changed.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.screen.absorb_damage();
        state.screen.lines();
        state
    }

    /// The screen as it is between two frames.
    pub fn screen(&self) -> ScreenText {
        let state = self.whole();
        let screen = &state.screen;
        ScreenText {
            lines: screen.read_lines().iter().map(|line| line.text.clone()).collect(),
            cursor: screen.cursor(),
            cursor_visible: screen.cursor_visible(),
            alternate: screen.alternate(),
            title: screen.title().to_owned(),
            other: screen.other().to_vec(),
        }
    }

    /// The table's rows, with the cursor's marked.
    pub fn rows(&self, view: &View) -> Vec<Row> {
        view.rows(&self.whole().screen)
    }

    /// Begins to wait for a pattern over the rows joined by line feeds; what matches now counts with the
    /// stamp of the last chunk.
    pub fn begin_wait(&self, pattern: Regex) -> u64 {
        let id = self.next_wait.fetch_add(1, Ordering::Relaxed);
        let mut state = self.whole();
        let text = state.screen.joined();
        let t = state.last_output.unwrap_or_else(now_ns);
        let hit = find(&pattern, &text, t);
        state.waiting.push(Waiting { id, pattern, hit });
        id
    }

    /// Waits on for at most this long. `Some(hit)` where it matched, `Some(None)` where it never will,
    /// since the client has ended; `None` to be asked again.
    pub fn poll_wait(&self, id: u64, timeout: Duration) -> Option<Option<Hit>> {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.state.lock();
        loop {
            let hit = state.waiting.iter().find(|waiting| waiting.id == id).and_then(|waiting| waiting.hit.clone());
            if hit.is_some() || state.drained {
                return Some(hit);
            }
            if self.shared.changed.wait_until(&mut state, deadline).timed_out() {
                return None;
            }
        }
    }

    /// Forgets a wait.
    pub fn end_wait(&self, id: u64) {
        self.shared.state.lock().waiting.retain(|waiting| waiting.id != id);
    }

    /// Expects that the cell of the object's row shows exactly the text; looked for after each chunk.
    /// All that is expected at one time is read with the same view.
    pub fn expect_cell(&self, i: u64, expect: Expect) {
        let mut state = self.shared.state.lock();
        if expect.view.append() {
            let rows = usize::from(state.screen.size().rows);
            state.screen.look_every(Some((rows / 2).max(1)));
        }
        state.expects.insert(i, expect);
    }

    /// Cells that were seen since the last call: probe and stamp.
    pub fn seen_cells(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.shared.state.lock().seen_cells)
    }

    /// Does not expect the cell any more. Whether it was still expected.
    pub fn forget_cell(&self, i: u64) -> bool {
        let mut state = self.shared.state.lock();
        let expected = state.expects.remove(&i).is_some();
        if state.expects.is_empty() {
            state.screen.look_every(None);
        }
        expected
    }

    /// Writes a key that moves the cursor. Replies under way go first. `Err` with the final answer where
    /// nothing is to be waited for.
    pub fn begin_press(&self, key: &[u8], direction: Direction, view: &Arc<View>) -> Result<u64, Pressed> {
        let failed = Pressed { sent: None, seen: None, outcome: Outcome::Failed, before: None, after: None };
        if self.alive().is_err() || self.wait_written(INPUT_TIMEOUT).is_err() {
            return Err(failed);
        }
        // Under the lock: no chunk is looked at between the reading of the cursor and the key.
        let mut state = self.whole();
        let before = view.rows(&state.screen).into_iter().find(|row| row.cursor).map(|row| (row.key, row.row));
        match self.shared.input.lock().key(key.to_vec()) {
            Ok(sent) => {
                state.press = Some(Press::new(Arc::clone(view), direction, before, sent));
                Ok(sent)
            }
            Err(_) => Err(Pressed { before: before.map(|(key, _)| key), ..failed }),
        }
    }

    /// Waits on for the key's effect, until the instant at the latest or for a tenth of a second; `None`
    /// to be asked again.
    pub fn poll_press(&self, deadline_ns: u64) -> Option<Pressed> {
        let slice = Instant::now() + Duration::from_millis(100);
        let mut state = self.shared.state.lock();
        loop {
            let press = state.press.as_ref()?;
            let over = now_ns() >= deadline_ns;
            if press.result.is_some() || over || state.drained {
                let outcome = if state.drained { Outcome::Failed } else { Outcome::Censored };
                let pressed = press.pressed(outcome);
                state.press = None;
                return Some(pressed);
            }
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            if self.shared.changed.wait_until(&mut state, slice.min(Instant::now() + left)).timed_out()
                && Instant::now() >= slice
            {
                return None;
            }
        }
    }

    /// Changes the size and begins to watch what the client makes of it.
    pub fn begin_resize(&self, cols: u16, rows: u16) -> io::Result<u64> {
        let size = Size { cols, rows };
        check_size(size).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut state = self.whole();
        state.screen.resize(size);
        let sent = now_ns();
        pty::set_size(&*self.master, size)?;
        state.resizing = Some(Resizing { sent, first: None, filled: None, rows: vec![false; usize::from(rows)] });
        self.shared.resizes.lock().push((sent, size));
        Ok(sent)
    }

    /// Waits on for a client that fills its new size; `None` to be asked again.
    pub fn poll_resize(&self, deadline_ns: u64) -> Option<Resized> {
        let slice = Instant::now() + Duration::from_millis(100);
        let mut state = self.shared.state.lock();
        loop {
            let resizing = state.resizing.as_ref()?;
            if resizing.filled.is_some() || now_ns() >= deadline_ns || state.drained {
                let resized = Resized { sent: resizing.sent, first: resizing.first, filled: resizing.filled };
                state.resizing = None;
                return Some(resized);
            }
            if self.shared.changed.wait_until(&mut state, slice).timed_out() {
                return None;
            }
        }
    }

    /// Counts and states so far.
    pub fn progress(&self) -> Progress {
        let dropped_replies = self.shared.input.lock().dropped();
        let state = self.shared.state.lock();
        Progress {
            counts: state.counts,
            exited: state.exit.filter(|_| state.drained),
            unanswered: state.screen.unanswered().iter().cloned().collect(),
            dropped_replies,
            last_output_ns: state.last_output,
            milestones: state
                .milestones
                .iter()
                .map(|milestone| (milestone.name.clone(), milestone.seen.map(|(t, _)| t)))
                .collect(),
            trouble: state.trouble.clone(),
        }
    }

    /// Ends the client: SIGTERM, after the grace SIGKILL; then every descendant. The last screen stays.
    pub fn stop(&self, grace: Duration) -> Stopped {
        if let Some(lifeline) = &mut *self.lifeline.lock() {
            // A supervisor that has ended already needs no order.
            let _ = supervisor::ask_to_stop(lifeline, grace);
        }
        let deadline = Instant::now() + grace + STOP_MARGIN;
        let mut state = self.shared.state.lock();
        while !state.drained && !self.shared.changed.wait_until(&mut state, deadline).timed_out() {}
        let exit = state.exit.unwrap_or_default();
        let (killed, left) = state.ended.clone().map_or((None, Vec::new()), |(killed, left)| (Some(killed), left));
        let drained = state.drained;
        drop(state);
        *self.lifeline.lock() = None;
        if drained && let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
        Stopped { code: exit.code, signal: exit.signal, killed, left }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The supervisor kills all when its lifeline closes.
        *self.lifeline.lock() = None;
        self.nudge();
        if let Some(thread) = self.thread.lock().take() {
            let deadline = Instant::now() + STOP_MARGIN;
            let mut state = self.shared.state.lock();
            while !state.drained && !self.shared.changed.wait_until(&mut state, deadline).timed_out() {}
            let drained = state.drained;
            drop(state);
            if drained {
                let _ = thread.join();
            }
        }
    }
}

fn check_size(size: Size) -> Result<(), String> {
    for (what, value) in [("cols", size.cols), ("rows", size.rows)] {
        if !(1..=1000).contains(&value) {
            return Err(format!("{what}: got {value}, expected 1 … 1000"));
        }
    }
    Ok(())
}

fn compile(milestone: &Milestone, has_view: bool) -> Result<state::Milestone, String> {
    if milestone.rows.is_some() && !has_view {
        return Err(format!("milestones.{}.rows: needs a view", milestone.name));
    }
    let pattern = milestone
        .pattern
        .as_deref()
        .map(Regex::new)
        .transpose()
        .map_err(|error| format!("milestones.{}.pattern: {error}", milestone.name))?;
    Ok(state::Milestone { name: milestone.name.clone(), pattern, rows: milestone.rows, seen: None })
}
