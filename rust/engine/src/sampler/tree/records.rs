//! The lines that the sampler writes (docs/reference/samples.md).

use super::host::HostFacts;
use serde::Serialize;

/// `process`: one read of a tree or of the harness.
#[derive(Serialize)]
pub(super) struct ProcessRecord<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) who: &'a str,
    pub(super) cpu_ns: u64,
    pub(super) rss: u64,
    pub(super) procs: u32,
    pub(super) took: u64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<Limits>,
}

/// What stands in each record of the harness, so that each can be judged alone.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Limits {
    pub(super) fds: Option<u64>,
    pub(super) fd_limit: Option<u64>,
    /// Since sampling began.
    pub(super) throttled_ns: Option<u64>,
}

/// `host`: what the harness may use and what it ran into.
#[derive(Serialize)]
pub(super) struct HostRecord<'a> {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) samples: u64,
    pub(super) missed: u64,
    #[serde(flatten)]
    pub(super) facts: &'a HostFacts,
    pub(super) took: u64,
}

/// `jump`: the machine slept.
#[derive(Serialize)]
pub(super) struct JumpRecord {
    pub(super) k: &'static str,
    pub(super) t: u64,
    pub(super) slept_ns: u64,
}
