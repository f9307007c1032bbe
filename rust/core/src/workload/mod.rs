//! Profile version 1 → initial objects and event schedule.

mod plan;
mod pod;
mod profile;

pub use plan::{EVENT_TYPE, Event, Plan, PlanHashes};
pub use pod::{Identity, write_pod};
pub use profile::{Burst, Failure, FailureKind, Profile, Violation};

/// What changes in an object over time. One of two phases, since schema 1 has no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodState {
    /// How often the object was modified; its restart count.
    pub restarts: u64,
    /// True while the phase is Pending and no container is ready.
    pub pending: bool,
}

impl PodState {
    /// The state after one more MODIFIED event.
    #[must_use]
    pub fn next(self) -> Self {
        Self { restarts: self.restarts + 1, pending: !self.pending }
    }

    /// `status.phase`.
    pub fn phase(self) -> &'static str {
        if self.pending { "Pending" } else { "Running" }
    }

    /// Ready containers of all containers, as kubectl prints them.
    pub fn ready(self) -> &'static str {
        if self.pending { "0/1" } else { "1/1" }
    }
}

/// Which object of a profile, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// Number of the object, 0 … `object_count` − 1.
    pub index: u32,
    /// Number of its namespace.
    pub namespace: u32,
}

impl ObjectRef {
    /// Object `index` of a profile with that many namespaces.
    pub fn new(index: u32, namespace_count: u32) -> Self {
        Self { index, namespace: index % namespace_count }
    }

    /// `bench-%04d`.
    pub fn namespace_name(self) -> String {
        format!("bench-{:04}", self.namespace)
    }

    /// `pod-%06d`.
    pub fn name(self) -> String {
        format!("pod-{:06}", self.index)
    }

    /// `node-%02d`.
    pub fn node(self) -> String {
        format!("node-{:02}", self.index % 5)
    }
}
