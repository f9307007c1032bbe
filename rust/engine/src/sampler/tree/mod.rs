//! CPU and memory of process trees and of the harness itself, on a thread of its own.
//!
//! Samples are due on an absolute schedule. A read that takes longer than the interval makes the due
//! instants that it covers *missed*: they are counted, never caught up.
//!
//! `cpu_ns` of a tree is what all its processes have used since they began, ended ones included
//! (10 ms steps: the kernel gives clock ticks). `rss` is the sum of their resident sets: pages that
//! several of them share are in it more than once. The harness is this process alone, without its
//! children, in nanoseconds.

mod drift;
pub mod host;
mod records;
pub mod schedule;
mod thread;
mod tree_cpu;
mod walk;

use crate::recorder::RecordSink;
use host::HostFacts;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What to sample.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplerOptions {
    /// Milliseconds between two samples, 1 … 60,000.
    #[serde(default = "default_interval_ms")]
    pub interval_ms: u64,
    /// Process trees, each under a name of its own.
    #[serde(default)]
    pub trees: Vec<TreeOptions>,
    /// The name under which this process itself is sampled, with what it may use of the machine.
    #[serde(default, rename = "self")]
    pub harness: Option<String>,
}

/// A process tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeOptions {
    /// Its name in the records.
    pub who: String,
    /// Its root.
    pub pid: u32,
    /// The child subreaper that orphans of this tree are handed to: its other descendants belong to
    /// the tree, itself not.
    #[serde(default)]
    pub reaper: Option<u32>,
}

fn default_interval_ms() -> u64 {
    100
}

/// What has been sampled so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SamplerProgress {
    /// Rounds of samples taken.
    pub samples: u64,
    /// Due instants that passed without a sample.
    pub missed: u64,
    /// The longest round of reads, in nanoseconds.
    pub took_max_ns: u64,
    /// The latest start of a round after its due instant, in nanoseconds.
    pub late_max_ns: u64,
    /// How long the machine slept since the start, in nanoseconds.
    pub slept_ns: u64,
    /// One a tree, as in the options; then the harness.
    pub trees: Vec<ProcessSample>,
    /// What the harness may use; None without `self`.
    pub host: Option<HostFacts>,
}

/// The last sample of a tree or of the harness.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessSample {
    /// The name from the options.
    pub who: String,
    /// Whether some process of it lived at the last sample.
    pub alive: bool,
    /// When it was last seen alive; None: never.
    pub t: Option<u64>,
    /// CPU since it began; None: never seen.
    pub cpu_ns: Option<u64>,
    /// Resident bytes, summed over its processes, when last seen alive.
    pub rss: Option<u64>,
    /// The largest of those sums.
    pub rss_max: Option<u64>,
    /// Its processes when last seen alive.
    pub procs: Option<u32>,
}

/// A running sampler; its thread ends with it.
pub struct TreeSampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    progress: Mutex<SamplerProgress>,
    stop: AtomicBool,
}

impl TreeSampler {
    /// Starts sampling at once. A tree whose root does not live is never seen: that is no error,
    /// since programs end when they like. `InvalidInput` for an option out of its range.
    pub fn start(options: SamplerOptions, recorder: Option<RecordSink>) -> io::Result<Self> {
        validate(&options).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let shared = Arc::new(Shared { progress: Mutex::default(), stop: AtomicBool::new(false) });
        let rounds = thread::Rounds::new(options, recorder);
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("perfq-sample".into()).spawn(move || rounds.run(&theirs))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// What has been sampled so far.
    pub fn progress(&self) -> SamplerProgress {
        self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a last sample, ends the thread, and says what was sampled.
    pub fn stop(&mut self) -> SamplerProgress {
        if let Some(thread) = self.thread.take() {
            self.shared.stop.store(true, Ordering::Release);
            thread.thread().unpark();
            let _ = thread.join();
        }
        self.progress()
    }
}

impl Drop for TreeSampler {
    fn drop(&mut self) {
        self.stop();
    }
}

fn validate(options: &SamplerOptions) -> Result<(), String> {
    if !(1..=60_000).contains(&options.interval_ms) {
        return Err(format!("interval_ms is {}, expected 1 … 60000", options.interval_ms));
    }
    let mut names: Vec<&str> =
        options.trees.iter().map(|tree| tree.who.as_str()).chain(options.harness.as_deref()).collect();
    names.sort_unstable();
    if names.iter().any(|name| name.is_empty()) {
        return Err("a name to record under (who, self) is empty".into());
    }
    if let Some((twice, _)) = names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next) {
        return Err(format!("two things to sample are called {twice:?}"));
    }
    Ok(())
}
