//! `CLOCK_MONOTONIC` in nanoseconds: the one clock of all records, the same as Python's
//! `time.monotonic_ns()`.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// Nanoseconds since an arbitrary start, shared by all processes of this machine.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Sleeps until the instant; returns at once when it has passed. The kernel is given the absolute
/// instant, so a late wake-up does not add to the next one.
pub fn sleep_until(instant_ns: u64) {
    while now_ns() < instant_ns {
        let until = Timespec {
            tv_sec: i64::try_from(instant_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(instant_ns % 1_000_000_000).unwrap_or(0),
        };
        // An interrupted sleep is taken up again by the loop.
        let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &until);
    }
}

/// Whole nanoseconds of a duration, at most `u64::MAX`.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What the kernel granted to a thread that keeps a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Punctuality {
    /// Real-time round robin at the lowest real-time priority: it runs as soon as it is due.
    Realtime,
    /// An ordinary thread: it waits for its turn where the machine is busy, and its lag shows it.
    Ordinary,
}

/// Asks that the calling thread wakes when it is due, also on a busy machine: no timer slack (the default
/// of 50 µs would be part of each lag) and, where perfq may, a real-time policy. A thread that calls this
/// must sleep nearly all the time, so that it takes nothing from the client under test.
pub fn keep_time() -> Punctuality {
    use thread_priority::{
        RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);
    match set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy) {
        Ok(()) => Punctuality::Realtime,
        Err(_) => Punctuality::Ordinary,
    }
}
