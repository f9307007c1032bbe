//! Whether the machine slept: `CLOCK_BOOTTIME` runs on in suspend, `CLOCK_MONOTONIC` does not.

use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};

/// Below this a difference is the time between two reads.
const TOLERANCE_NS: u64 = 10_000_000;

/// One reading of both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    monotonic_before: u64,
    boottime: u64,
    monotonic_after: u64,
}

fn nanos(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

impl Clocks {
    /// None on a kernel without `CLOCK_BOOTTIME`.
    pub(super) fn read() -> Option<Self> {
        let monotonic_before = nanos(clock_gettime(ClockId::Monotonic));
        let boottime = nanos(clock_gettime_dynamic(DynamicClockId::Boottime).ok()?);
        let monotonic_after = nanos(clock_gettime(ClockId::Monotonic));
        Some(Self { monotonic_before, boottime, monotonic_after })
    }
}

/// Watches the distance of the two clocks.
#[derive(Debug, Default)]
pub(super) struct SleepWatch {
    /// Time asleep since boot that is known of.
    known_ns: Option<u64>,
}

impl SleepWatch {
    /// How long the machine slept since the last call; None where it did not.
    pub(super) fn slept(&mut self, clocks: Clocks) -> Option<u64> {
        // What is certain: the thread may have waited between the reads, so the distance is at
        // least boottime − monotonic_after.
        let asleep = clocks.boottime.saturating_sub(clocks.monotonic_after);
        let uncertain = clocks.monotonic_after - clocks.monotonic_before;
        let Some(known) = self.known_ns else {
            self.known_ns = Some(asleep + uncertain);
            return None;
        };
        let slept = asleep.saturating_sub(known);
        if slept <= TOLERANCE_NS {
            return None;
        }
        self.known_ns = Some(asleep + uncertain);
        Some(slept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic: u64, asleep: u64, between: u64) -> Clocks {
        Clocks {
            monotonic_before: monotonic,
            boottime: monotonic + asleep + between / 2,
            monotonic_after: monotonic + between,
        }
    }

    #[test]
    fn a_machine_that_slept_is_noticed_once() {
        let mut watch = SleepWatch::default();
        assert_eq!(watch.slept(at(1_000, 500, 0)), None, "sleep before the run is not the run's");
        assert_eq!(watch.slept(at(2_000, 500, 0)), None);
        assert_eq!(watch.slept(at(3_000, 500 + 3_000_000_000, 0)), Some(3_000_000_000));
        assert_eq!(watch.slept(at(4_000, 500 + 3_000_000_000, 0)), None);
    }

    #[test]
    fn a_thread_that_waited_between_the_reads_is_no_sleep() {
        let mut watch = SleepWatch::default();
        assert_eq!(watch.slept(at(1_000, 0, 0)), None);
        assert_eq!(watch.slept(at(2_000, 0, 5_000_000_000)), None);
        let mut watch = SleepWatch::default();
        assert_eq!(watch.slept(at(2_000, 0, 5_000_000_000)), None);
        assert_eq!(watch.slept(at(9_000_000_000, 0, 0)), None);
    }

    #[test]
    fn the_real_clocks_show_no_sleep_within_a_test() {
        let mut watch = SleepWatch::default();
        for _ in 0..100 {
            assert_eq!(watch.slept(Clocks::read().unwrap()), None);
        }
    }
}
