//! Many sessions at once, each sampled by its cgroup, its process or both.
//!
//! What this must not do is add to what it measures. Reads run on a few threads of the sampler's own, which
//! nothing else uses: a read that blocks holds up neither whoever schedules the sessions nor their commands.
//! - At most one read of a session is in flight. Its next sample is due `delay_after_ms` after the last one was
//!   complete: there are no bursts to catch up. First samples are spread over one period.
//! - STOP, acknowledged, CONT: once a pause is acknowledged no read of that session is in flight and none
//!   begins before it is resumed. A read that does not return in time is *leaked*, which is a verdict.
//! - A session that is drained has no sample after its stop. Then the kernel's own totals are read, once.
//! - A read that fails unexpectedly ends that session's measurement. What is not there is None, with the
//!   reason, once; it is never 0.

mod coverage;
mod files;
mod group;
#[cfg(test)]
mod group_tests;
mod groups;
mod lines;
mod options;
mod plan;
#[cfg(test)]
mod plan_tests;
mod pool;
mod process;
mod reader;
mod records;
mod sampler;
mod session;
#[cfg(test)]
mod tests;

pub use coverage::Coverage;
pub use group::{Counters, GroupSample};
pub use lines::Written;
pub use options::{At, Hang, Mode, SessionSamplerOptions, Source};
pub use process::{ProcessSample, SmapsSample};
pub use reader::Sample;
pub use records::{Acknowledged, LastSample, Outcome, SessionEnd, SessionSamplerFigures};
pub use sampler::{Refused, SessionSampler};
