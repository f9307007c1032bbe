//! The handle: attach, pause, resume, drain, close.

use super::coverage::Coverage;
use super::groups::Surroundings;
use super::lines::Lines;
use super::options::{Mode, SessionSamplerOptions};
use super::plan::Plan;
use super::pool::Shared;
use super::process::Process;
use super::reader::Target;
use super::records::{Acknowledged, CloseLine, LastSample, Outcome, SessionEnd, SessionSamplerFigures, StartLine};
use super::session::Phase;
use crate::clock::now_ns;
use crate::sampler::psi::HostPressure;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Why a call was refused.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A bad value.
    #[error("{0}")]
    Invalid(String),
    /// There is no process with that pid.
    #[error("process {0} does not live")]
    NoProcess(u32),
    /// There is no such group in any hierarchy.
    #[error("the cgroup {} is not there", .0.display())]
    NoGroup(PathBuf),
    /// The file could not be created, or a thread not be started.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A running sampler. Dropped, it closes.
pub struct SessionSampler {
    shared: Arc<Shared>,
    threads: std::sync::Mutex<Vec<JoinHandle<()>>>,
    closed: AtomicBool,
}

impl SessionSampler {
    /// Creates the file and starts the threads.
    pub fn start(options: SessionSamplerOptions) -> Result<Self, Refused> {
        options.check().map_err(Refused::Invalid)?;
        let lines = Lines::create(options.path.as_deref())?;
        Self::over(options, lines)
    }

    /// Starts on a file that is open.
    pub(super) fn over(options: SessionSamplerOptions, lines: Lines) -> Result<Self, Refused> {
        let workers = if options.mode == Mode::Isolated { options.workers } else { 0 };
        lines.append(&StartLine::new(now_ns(), workers, &options));
        let shared = Arc::new(Shared::new(options, lines, workers));
        let spawn = |thread: usize| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("perfq-read-{thread}")).spawn(move || shared.work(thread))
        };
        let threads = (0..workers).map(spawn).collect::<io::Result<Vec<_>>>();
        if threads.is_err() {
            shared.close();
        }
        Ok(Self { threads: threads?.into(), shared, closed: AtomicBool::new(false) })
    }

    /// Samples a session from now on, by its process, its cgroup or both; returns when the first sample is due.
    /// A number is given to one session only. The process is told apart from later ones of its pid.
    pub fn attach(&self, session: u64, pid: Option<u32>, cgroup: Vec<PathBuf>) -> Result<u64, Refused> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Refused::Invalid(format!("session {session} cannot be attached: the sampler is closed")));
        }
        if pid.is_none() && cgroup.is_empty() {
            return Err(Refused::Invalid(format!("session {session} has neither a pid nor a cgroup")));
        }
        let process = pid.map(|pid| Process::find(pid).ok_or(Refused::NoProcess(pid))).transpose()?;
        if let Some(missing) = cgroup.iter().find(|group| !self.around().has(group)) {
            return Err(Refused::NoGroup(missing.clone()));
        }
        let target = Target { session, process, cgroup };
        let due = self.shared.plan(|plan| plan.attach(target, now_ns()));
        due.ok_or_else(|| Refused::Invalid(format!("session {session} has been attached before")))
    }

    fn around(&self) -> &Surroundings {
        &self.shared.around
    }

    fn known(&self, session: u64) -> Result<(), Refused> {
        let known = self.shared.plan(|plan| plan.sessions.contains_key(&session));
        known.then_some(()).ok_or_else(|| unknown(session))
    }

    /// The end of a wait that begins now, after what it waits for was asked for.
    fn until(&self, wait_ms: Option<u64>) -> u64 {
        let ns = wait_ms.map_or(self.shared.options.drain_timeout_ns(), |ms| ms.saturating_mul(1_000_000));
        now_ns().saturating_add(ns)
    }

    /// STOP: no read of this session begins from now on. Waits until the one in flight has ended, at most
    /// `wait_ms` (None: the drain timeout, after which it is leaked). Asked again, it says how far that is.
    pub fn pause(&self, session: u64, wait_ms: Option<u64>) -> Result<Acknowledged, Refused> {
        self.shared.plan(|plan| plan.pause(session, now_ns())).ok_or_else(|| unknown(session))?;
        let answer = self.shared.ask(
            self.until(wait_ms),
            |plan| plan.pause(session, now_ns()),
            |answer| answer.as_ref().is_none_or(|answer| answer.acknowledged || answer.leaked),
        );
        answer.ok_or_else(|| unknown(session))
    }

    /// CONT: returns when the next sample is due; None where none will come, since the measurement has ended.
    pub fn resume(&self, session: u64) -> Result<Option<u64>, Refused> {
        self.known(session)?;
        Ok(self.shared.plan(|plan| plan.resume(session, now_ns())))
    }

    /// Reads a sample of this session now, on the calling thread; inline mode alone. Returns when the next one is
    /// due; None while it is paused, and once it has ended.
    pub fn sample(&self, session: u64) -> Result<Option<u64>, Refused> {
        if self.shared.options.mode != Mode::Inline {
            return Err(Refused::Invalid("sample() is for mode inline; in mode isolated the sampler reads".into()));
        }
        self.known(session)?;
        if let Some(job) = self.shared.plan(|plan| plan.begin(session, now_ns())) {
            self.shared.read(job);
        }
        Ok(self.shared.plan(|plan| match plan.sessions.get(&session)?.phase {
            Phase::Waiting { due } => Some(due),
            _ => None,
        }))
    }

    /// Ends the measurement of a session: awaits the read in flight, then reads the kernel's totals. Waits at most
    /// `wait_ms` (None: the drain timeout, after which it is leaked). Asked again, it says how far that is.
    pub fn drain(&self, session: u64, wait_ms: Option<u64>) -> Result<SessionEnd, Refused> {
        let first = self.shared.plan(|plan| plan.stop(session, now_ns())).ok_or_else(|| unknown(session))?;
        let until = self.until(wait_ms);
        if first.outcome.is_some() {
            return Ok(first);
        }
        if self.shared.options.mode == Mode::Inline
            && let Some(job) = self.shared.plan(|plan| plan.begin(session, now_ns()))
        {
            self.shared.read(job);
        }
        let end = self.shared.ask(
            until,
            |plan| plan.stop(session, now_ns()),
            |end| end.as_ref().is_none_or(|end| end.outcome.is_some()),
        );
        end.ok_or_else(|| unknown(session))
    }

    /// The last sample of every session.
    pub fn last_samples(&self) -> Vec<LastSample> {
        self.shared.plan(|plan| plan.last_samples())
    }

    /// The figures so far.
    pub fn figures(&self) -> SessionSamplerFigures {
        let mut figures = self.shared.plan(|plan| figures(plan));
        figures.cpu_ns = self.shared.cpu_ns();
        figures.written = self.shared.lines.written();
        figures
    }

    /// Drains what is still attached, all at once, and ends the threads. A thread whose read has not returned by
    /// then is left behind, and what it reads is not written. A second call answers the same.
    pub fn close(&self) -> SessionSamplerFigures {
        if self.closed.swap(true, Ordering::AcqRel) {
            return self.figures();
        }
        let open: Vec<u64> = self.shared.plan(|plan| {
            let open = plan.sessions.iter().filter(|(_, session)| session.phase != Phase::Over);
            let open: Vec<u64> = open.map(|(number, _)| *number).collect();
            for number in &open {
                plan.stop(*number, now_ns());
            }
            open
        });
        for session in open {
            let _ = self.drain(session, None);
        }
        self.shared.close();
        self.shared.await_threads();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for thread in threads.into_iter().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
        self.shared.write_events();
        let figures = self.figures();
        self.shared.lines.append(&CloseLine {
            k: "resource_close",
            t: now_ns(),
            psi: HostPressure::read(),
            figures: &figures,
        });
        self.shared.lines.close();
        figures
    }
}

impl Drop for SessionSampler {
    fn drop(&mut self) {
        self.close();
    }
}

fn unknown(session: u64) -> Refused {
    Refused::Invalid(format!("session {session} has not been attached"))
}

fn figures(plan: &Plan) -> SessionSamplerFigures {
    let coverage = plan.ends().fold(Coverage::default(), |sum, end| Coverage {
        due: sum.due + end.coverage.due,
        taken: sum.taken + end.coverage.taken,
        longest_gap_ns: sum.longest_gap_ns.max(end.coverage.longest_gap_ns),
    });
    SessionSamplerFigures {
        attached: plan.attached,
        drained: plan.with(Outcome::Drained),
        errors: plan.with(Outcome::Error),
        leaked: plan.with(Outcome::Leaked),
        in_flight: plan.in_flight,
        in_flight_max: plan.in_flight_max,
        waiting_max: plan.waiting_max,
        discarded: plan.discarded,
        coverage,
        coverage_ppm: (coverage.taken * 1_000_000).checked_div(coverage.due),
        queue_ns: plan.latencies.queue.summary(),
        read_ns: plan.latencies.read.summary(),
        write_ns: plan.latencies.write.summary(),
        cpu_ns: None,
        written: super::lines::Written::default(),
    }
}
