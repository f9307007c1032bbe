//! What programs use of the machine, read by threads of perfq's own.
//!
//! - [`tree`]: CPU and memory of a client's process tree and of the harness, on an absolute schedule.
//! - [`sessions`]: many sessions at once, each by its cgroup, its process or both, from a bounded pool that
//!   neither schedules sessions nor runs their commands.
//!
//! What both read is parsed once, in the modules beside them.

pub mod cgroup_place;
pub mod cgroup_text;
pub mod proc_stat;
pub mod psi;
pub mod sessions;
pub mod tree;
