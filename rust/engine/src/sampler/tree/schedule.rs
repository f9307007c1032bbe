//! When the next sample is due: an absolute schedule, without catch-up bursts.

/// Due instants `start + k × interval`, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Schedule {
    start: u64,
    interval: u64,
    next: u64,
    missed: u64,
}

impl Schedule {
    /// The first sample is due at `start` (`CLOCK_MONOTONIC` ns). An interval of 0 counts as 1 ns.
    pub fn new(start: u64, interval: u64) -> Self {
        Self { start, interval: interval.max(1), next: 0, missed: 0 }
    }

    /// When the next sample is due.
    pub fn due(&self) -> u64 {
        self.start.saturating_add(self.next.saturating_mul(self.interval))
    }

    /// The sample that was due has been taken, at `now`. Instants that have passed meanwhile are
    /// skipped and counted; the one that is due right now is not.
    pub fn taken(&mut self, now: u64) {
        self.next += 1;
        let passed = now.saturating_sub(self.start) / self.interval;
        if passed > self.next {
            self.missed += passed - self.next;
            self.next = passed;
        }
    }

    /// How many due instants passed without a sample.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_late_wake_up_does_not_move_the_next_one() {
        let mut schedule = Schedule::new(1000, 100);
        assert_eq!(schedule.due(), 1000);
        schedule.taken(1090);
        assert_eq!((schedule.due(), schedule.missed()), (1100, 0));
    }

    #[test]
    fn a_read_that_took_three_intervals_skips_two_and_says_so() {
        let mut schedule = Schedule::new(1000, 100);
        schedule.taken(1350);
        assert_eq!((schedule.due(), schedule.missed()), (1300, 2));
    }

    proptest! {
        #[test]
        fn every_instant_up_to_now_was_taken_or_missed(
            interval in 1u64..1000, delays in proptest::collection::vec(0u64..5000, 1..50)
        ) {
            let mut schedule = Schedule::new(7, interval);
            let mut now = 7;
            for (taken, delay) in (1u64..).zip(&delays) {
                now = now.max(schedule.due()) + delay;
                schedule.taken(now);
                prop_assert_eq!((schedule.due() - 7) / interval, taken + schedule.missed());
                prop_assert_eq!((schedule.due() - 7) % interval, 0);
                prop_assert!(schedule.due() + interval > now, "the next one lies at most one interval back");
            }
        }
    }
}
