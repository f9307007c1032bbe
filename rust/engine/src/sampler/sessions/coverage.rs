//! How much of a session was seen: due and taken samples, and the longest time without one.

use serde::Serialize;

/// What became of the samples that were due. While a session is paused none is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Samples that were due: those taken, and one for each whole period that passed beyond a due instant
    /// before its read began.
    pub due: u64,
    /// Samples taken.
    pub taken: u64,
    /// The longest time without a completed sample, from the attach to the stop, pauses aside. In nanoseconds.
    pub longest_gap_ns: u64,
}

/// Keeps the count of one session. Instants are `CLOCK_MONOTONIC` nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    pub(super) coverage: Coverage,
    period: u64,
    /// Since when nothing was seen; None: the session is paused or over.
    unseen_since: Option<u64>,
}

impl Watch {
    pub(super) fn new(attached: u64, period: u64) -> Self {
        Self { coverage: Coverage::default(), period, unseen_since: Some(attached) }
    }

    fn overdue(&mut self, due: u64, now: u64) {
        self.coverage.due += now.saturating_sub(due) / self.period;
    }

    /// A sample that was due at `due` was read from `begin` to `end`.
    pub(super) fn taken(&mut self, due: u64, begin: u64, end: u64) {
        self.overdue(due, begin);
        self.coverage.due += 1;
        self.coverage.taken += 1;
        self.seen(end);
        self.unseen_since = Some(end);
    }

    /// A sample was due, and its read failed or was given up at `now`.
    pub(super) fn missed(&mut self, due: u64, now: u64) {
        self.overdue(due, now);
        self.coverage.due += 1;
    }

    /// The session is paused or ends at `now`, with its next sample due at `due` where one was.
    pub(super) fn halted(&mut self, due: Option<u64>, now: u64) {
        if let Some(due) = due.filter(|due| *due <= now) {
            self.missed(due, now);
        }
        self.seen(now);
        self.unseen_since = None;
    }

    /// The session goes on.
    pub(super) fn resumed(&mut self, now: u64) {
        self.unseen_since = Some(now);
    }

    fn seen(&mut self, now: u64) {
        if let Some(since) = self.unseen_since {
            self.coverage.longest_gap_ns = self.coverage.longest_gap_ns.max(now.saturating_sub(since));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_read_that_began_three_periods_late_leaves_three_samples_out() {
        let mut watch = Watch::new(0, 100);
        watch.taken(50, 60, 70);
        watch.taken(170, 480, 490);
        assert_eq!(watch.coverage, Coverage { due: 5, taken: 2, longest_gap_ns: 420 });
    }

    #[test]
    fn a_pause_is_no_gap_and_what_was_overdue_before_it_is_missed() {
        let mut watch = Watch::new(0, 100);
        watch.taken(0, 0, 10);
        watch.halted(Some(110), 90);
        watch.resumed(5000);
        watch.taken(5000, 5000, 5010);
        assert_eq!(watch.coverage, Coverage { due: 2, taken: 2, longest_gap_ns: 80 });
        watch.halted(Some(5110), 5120);
        assert_eq!(watch.coverage, Coverage { due: 3, taken: 2, longest_gap_ns: 110 });
    }

    proptest! {
        #[test]
        fn never_more_is_taken_than_was_due(reads in proptest::collection::vec((0u64..500, 0u64..50, any::<bool>()), 0..40)) {
            let mut watch = Watch::new(0, 100);
            let (mut now, mut taken) = (0, 0);
            for (late, took, fine) in reads {
                let (due, begin, end) = (now + 100, now + 100 + late, now + 100 + late + took);
                if fine { watch.taken(due, begin, end); taken += 1; } else { watch.missed(due, end); }
                now = end;
            }
            watch.halted(None, now);
            prop_assert_eq!(watch.coverage.taken, taken);
            prop_assert!(watch.coverage.due >= taken && watch.coverage.longest_gap_ns <= now);
        }
    }
}
