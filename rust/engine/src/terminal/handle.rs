//! The handle: start, look, write, stop.

use super::Shared;
use super::answers::{Progress, ScreenText, Stopped};
use super::cast::Cast;
use super::keys;
use super::options::{Options, StartError, check_size, compile};
use super::pty::{self, Input};
use super::reader::Reader;
use super::screen::Size;
use super::state::{self, State};
use super::supervisor::{self, Client, Report};
use super::view::{Row, View};
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::process::ChildStdin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const START_TIMEOUT: Duration = Duration::from_secs(20);
pub(super) const INPUT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the supervisor may take beyond the grace to kill and report.
const STOP_MARGIN: Duration = Duration::from_secs(15);

/// A program in a pseudo-terminal.
pub struct Terminal {
    pub(super) shared: Arc<Shared>,
    pub(super) master: Arc<OwnedFd>,
    wake: Arc<OwnedFd>,
    lifeline: Mutex<Option<ChildStdin>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pid: u32,
    supervisor_pid: u32,
}

impl Terminal {
    /// Starts the client. Returns once it runs, or says why it does not.
    pub fn start(options: &Options, view: Option<Arc<View>>, sink: Option<RecordSink>) -> Result<Self, StartError> {
        let size = Size { cols: options.cols, rows: options.rows };
        check_size(size).map_err(StartError::Option)?;
        let program =
            options.argv.first().ok_or_else(|| StartError::Option("argv: got [], expected a program".into()))?;
        let mut state = State::new(size, sink);
        for milestone in &options.milestones {
            state.milestones.push(compile(milestone, view.is_some()).map_err(StartError::Option)?);
        }
        if let Some(view) = view {
            state.set_view(view);
        }
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

    pub(super) fn alive(&self) -> io::Result<()> {
        if self.shared.state.lock().exit.is_some() {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client has ended"));
        }
        Ok(())
    }

    /// Waits until all that is on its way to the client was written, replies among it.
    pub(super) fn wait_written(&self, timeout: Duration) -> io::Result<()> {
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
    pub(super) fn whole(&self) -> MutexGuard<'_, State> {
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
        // The supervisor kills all when its lifeline closes. After a stop there is nothing more to wait for.
        let stopped = self.lifeline.lock().take().is_none();
        self.nudge();
        if let Some(thread) = self.thread.lock().take() {
            let deadline = Instant::now() + if stopped { Duration::ZERO } else { STOP_MARGIN };
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
