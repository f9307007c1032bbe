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
