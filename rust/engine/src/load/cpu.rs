//! The CPU time of the engine's own threads.

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// All threads that belong to a run.
#[derive(Default)]
pub(super) struct ThreadClocks {
    threads: Mutex<Vec<Arc<ThreadTime>>>,
}

struct ThreadTime {
    id: i32,
    /// What the thread had used when it ended; 0 while it runs.
    ended_ns: AtomicU64,
    /// What was read last.
    seen_ns: AtomicU64,
}

/// Of the thread that holds it; when it is dropped, the thread's time is final.
pub(super) struct ThreadClock(Arc<ThreadTime>);

/// What was used between two reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuUse {
    /// By all threads.
    pub(super) all_ns: u64,
    /// By the busiest.
    pub(super) most_ns: u64,
}

fn own_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

impl ThreadClocks {
    /// To be called by a thread when it begins.
    pub(super) fn of_this_thread(&self) -> ThreadClock {
        let id = rustix::thread::gettid().as_raw_nonzero().get();
        let time = Arc::new(ThreadTime { id, ended_ns: AtomicU64::new(0), seen_ns: AtomicU64::new(0) });
        self.threads.lock().push(Arc::clone(&time));
        ThreadClock(time)
    }

    /// What was used since the last call.
    pub(super) fn take(&self) -> CpuUse {
        let mut used = CpuUse::default();
        self.threads.lock().retain(|thread| {
            let ended = thread.ended_ns.load(Relaxed);
            let now = if ended > 0 { ended } else { thread.read().unwrap_or_else(|| thread.seen_ns.load(Relaxed)) };
            let delta = now.saturating_sub(thread.seen_ns.swap(now, Relaxed));
            used.all_ns += delta;
            used.most_ns = used.most_ns.max(delta);
            ended == 0
        });
        used
    }
}

impl ThreadTime {
    /// The first number of schedstat: nanoseconds on a processor.
    fn read(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/self/task/{}/schedstat", self.id)).ok()?;
        text.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for ThreadClock {
    fn drop(&mut self) {
        self.0.ended_ns.store(own_ns().max(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_is_counted_once() {
        let clocks = ThreadClocks::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _clock = clocks.of_this_thread();
                std::hint::black_box((0..3_000_000u64).fold(0u64, u64::wrapping_add));
            });
        });
        let used = clocks.take();
        assert!(used.all_ns > 0 && used.all_ns == used.most_ns);
        assert_eq!(clocks.take(), CpuUse::default());
    }
}
