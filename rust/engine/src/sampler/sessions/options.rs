//! What the session sampler is told at its start.

use serde::Deserialize;
use std::path::PathBuf;

/// Where reads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// On threads of the sampler's own.
    #[default]
    Isolated,
    /// On the thread that asks for them, to show what isolation is worth.
    Inline,
}

/// What is read of each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Memory, CPU, I/O, pids and events of its cgroup.
    Cgroup,
    /// Stall totals of its cgroup (v2).
    Psi,
    /// `/proc/<pid>/stat`, `statm` and `io`.
    Proc,
    /// `/proc/<pid>/smaps_rollup`, which stalls the process about 10 ms for each GiB.
    SmapsRollup,
}

/// Where an injected hang sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// The first read.
    Start,
    /// The third read.
    Middle,
    /// The read of the kernel's counters after the stop.
    Stop,
}

/// A read that hangs on purpose, for tests of whoever uses the sampler.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    /// Whose.
    pub session: u64,
    /// Which of its reads.
    pub at: At,
    /// For how long.
    pub ms: u64,
}

/// What to read, how, and where to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSamplerOptions {
    /// The file that samples are appended to; it must not exist. None: they are not kept.
    pub path: Option<PathBuf>,
    /// Where reads run.
    pub mode: Mode,
    /// Threads that read, 1 … 64; none in inline mode.
    pub workers: usize,
    /// From the end of a read to the next one of that session, 1 … 3,600,000 ms.
    pub delay_after_ms: u64,
    /// What a read in flight is given when its session is paused or drained, 1 … 3,600,000 ms.
    pub drain_timeout_ms: u64,
    /// What is read.
    pub sources: Vec<Source>,
    /// `smaps_rollup` is read with every so many samples.
    pub smaps_every: u64,
    /// `smaps_rollup` is not read of a process with more resident bytes.
    pub smaps_limit_bytes: u64,
    /// Makes each sample slow on purpose.
    pub inject_read_delay_ms: u64,
    /// Reads that hang on purpose.
    pub inject_hangs: Vec<Hang>,
}

impl Default for SessionSamplerOptions {
    fn default() -> Self {
        Self {
            path: None,
            mode: Mode::Isolated,
            workers: 4,
            delay_after_ms: 500,
            drain_timeout_ms: 10_000,
            sources: vec![Source::Cgroup, Source::Psi, Source::Proc],
            smaps_every: 20,
            smaps_limit_bytes: 1 << 30,
            inject_read_delay_ms: 0,
            inject_hangs: Vec::new(),
        }
    }
}

const HOUR_MS: u64 = 3_600_000;

impl SessionSamplerOptions {
    /// A sentence about the first value that is out of its range.
    pub(super) fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u64, least: u64, most: u64| {
            let fits = (least..=most).contains(&value);
            if fits { Ok(()) } else { Err(format!("{name} is {value}, expected {least} … {most}")) }
        };
        within("workers", self.workers as u64, 1, 64)?;
        within("delay_after_ms", self.delay_after_ms, 1, HOUR_MS)?;
        within("drain_timeout_ms", self.drain_timeout_ms, 1, HOUR_MS)?;
        within("smaps_every", self.smaps_every, 1, u64::MAX)?;
        within("inject_read_delay_ms", self.inject_read_delay_ms, 0, HOUR_MS)?;
        if self.sources.is_empty() {
            return Err("sources is empty, expected at least one of cgroup, psi, proc, smaps_rollup".into());
        }
        Ok(())
    }

    pub(super) fn reads(&self, source: Source) -> bool {
        self.sources.contains(&source)
    }

    pub(super) fn delay_after_ns(&self) -> u64 {
        self.delay_after_ms * 1_000_000
    }

    pub(super) fn drain_timeout_ns(&self) -> u64 {
        self.drain_timeout_ms * 1_000_000
    }

    /// How long this read is to hang, in milliseconds.
    pub(super) fn hang_ms(&self, session: u64, at: At) -> Option<u64> {
        self.inject_hangs.iter().find(|hang| hang.session == session && hang.at == at).map(|hang| hang.ms)
    }
}
