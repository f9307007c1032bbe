//! The lines of resources.ndjson (docs/reference/samples.md), and what callers are told.

use super::coverage::Coverage;
use super::files::Absent;
use super::group::Counters;
use super::lines::Written;
use super::options::SessionSamplerOptions;
use super::reader::{Sample, Target};
use crate::sampler::psi::HostPressure;
use perfq_core::histogram::Histogram;
use perfq_core::quantile::Summary;
use serde::Serialize;

/// `resource`: one sample.
#[derive(Serialize)]
pub(super) struct SampleLine<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) n: u64,
    pub(super) queued: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
    #[serde(flatten)]
    pub(super) sample: &'a Sample,
}

/// `resource_start`: the sampler began.
#[derive(Serialize)]
pub(super) struct StartLine {
    k: &'static str,
    t: u64,
    workers: usize,
    delay_after_ms: u64,
    inject_read_delay_ms: u64,
    psi: HostPressure,
}

impl StartLine {
    pub(super) fn new(t: u64, workers: usize, options: &SessionSamplerOptions) -> Self {
        let SessionSamplerOptions { delay_after_ms, inject_read_delay_ms, .. } = *options;
        Self { k: "resource_start", t, workers, delay_after_ms, inject_read_delay_ms, psi: HostPressure::read() }
    }
}

/// `resource_attach`: a session is sampled from now on.
#[derive(Serialize)]
pub(super) struct AttachLine<'a> {
    k: &'static str,
    t: u64,
    n: u64,
    pid: Option<u32>,
    start_ticks: Option<u64>,
    cgroup: Vec<std::borrow::Cow<'a, str>>,
    due: u64,
}

impl<'a> AttachLine<'a> {
    pub(super) fn new(t: u64, due: u64, target: &'a Target) -> Self {
        let (pid, start_ticks) = target.process.map(|process| (process.pid, process.start_ticks)).unzip();
        let cgroup = target.cgroup.iter().map(|folder| folder.to_string_lossy()).collect();
        Self { k: "resource_attach", t, n: target.session, pid, start_ticks, cgroup, due }
    }
}

/// `resource_absent`: fields that stay null for this session, each with the reason.
#[derive(Serialize)]
pub(super) struct AbsentLine {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) n: u64,
    pub(super) absent: Absent,
}

/// `resource_error`: the measurement of a session ended.
#[derive(Serialize)]
pub(super) struct ErrorLine<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) n: u64,
    pub(super) why: &'a str,
}

/// `resource_pause` (t: when no read was in flight any more) and `resource_resume`.
#[derive(Serialize)]
pub(super) struct PauseLine {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<u64>,
}

/// How the measurement of a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every read that had begun was awaited.
    Drained,
    /// A read failed that was not expected to.
    Error,
    /// A read did not return in time.
    Leaked,
}

/// What became of one session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionEnd {
    /// Whose.
    pub session: u64,
    /// None: reads are still awaited.
    pub outcome: Option<Outcome>,
    /// What went wrong, in a sentence.
    pub why: Option<String>,
    /// When no read was in flight any more, or was given up.
    pub stopped: Option<u64>,
    /// How much was seen.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// The kernel's own totals; None: they were not read.
    pub counters: Option<Counters>,
}

/// `resource_end`: a `SessionEnd`.
#[derive(Serialize)]
pub(super) struct EndLine<'a> {
    k: &'static str,
    t: u64,
    n: u64,
    outcome: Option<Outcome>,
    why: Option<&'a str>,
    #[serde(flatten)]
    coverage: Coverage,
    counters: Option<&'a Counters>,
}

impl<'a> EndLine<'a> {
    pub(super) fn new(end: &'a SessionEnd) -> Self {
        Self {
            k: "resource_end",
            t: end.stopped.unwrap_or(0),
            n: end.session,
            outcome: end.outcome,
            why: end.why.as_deref(),
            coverage: end.coverage,
            counters: end.counters.as_ref(),
        }
    }
}

/// The answer to a pause.
#[derive(Clone, Debug, Serialize)]
pub struct Acknowledged {
    /// Whose.
    pub session: u64,
    /// No read is in flight and none will begin.
    pub acknowledged: bool,
    /// A read did not return in time: it may still be in flight.
    pub leaked: bool,
    /// When the pause was asked for first.
    pub asked: u64,
    /// When no read was in flight any more.
    pub at: Option<u64>,
}

/// The sampler's own figures, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    pub(super) queue: Histogram,
    pub(super) read: Histogram,
    pub(super) write: Histogram,
}

/// The last sample of a session, for those who admit by it.
#[derive(Clone, Debug, Serialize)]
pub struct LastSample {
    /// Whose.
    pub session: u64,
    /// waiting, reading, paused, draining, ended.
    pub state: &'static str,
    /// When it was read; None: none yet.
    pub t: Option<u64>,
    /// Bytes charged to its cgroup.
    pub memory: Option<u64>,
    /// Of them, page cache that the kernel would drop first.
    pub inactive_file: Option<u64>,
    /// Resident bytes of its process.
    pub rss: Option<u64>,
    /// Why its measurement ended early.
    pub error: Option<String>,
}

/// All that the sampler has done.
#[derive(Clone, Debug, Serialize)]
pub struct SessionSamplerFigures {
    /// Sessions attached so far.
    pub attached: u64,
    /// Sessions whose measurement has ended with `drained`.
    pub drained: u64,
    /// With `error`.
    pub errors: u64,
    /// With `leaked`.
    pub leaked: u64,
    /// Reads in flight.
    pub in_flight: u64,
    /// The most at once.
    pub in_flight_max: u64,
    /// The most samples that were due at once beside the one that was just begun.
    pub waiting_max: u64,
    /// Reads whose result came too late to count.
    pub discarded: u64,
    /// Of all sessions: due, taken, the longest gap.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// taken / due in millionths; None: nothing was due.
    pub coverage_ppm: Option<u64>,
    /// From the due instant to the begin of the read.
    pub queue_ns: Summary,
    /// From the begin of the read to its end.
    pub read_ns: Summary,
    /// From the end of the read to its line in the file.
    pub write_ns: Summary,
    /// CPU time of the threads that read; None in inline mode.
    pub cpu_ns: Option<u64>,
    /// Of the file.
    #[serde(flatten)]
    pub written: Written,
}

/// `resource_close`: the figures.
#[derive(Serialize)]
pub(super) struct CloseLine<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) psi: HostPressure,
    #[serde(flatten)]
    pub(super) figures: &'a SessionSamplerFigures,
}
