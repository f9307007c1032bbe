//! How much of what a client sends is recorded.

/// Bytes a second that any disk takes, and far above what an honest client sends (1,000 events/s are
/// about 0.3 MB/s).
const BYTES_PER_SECOND: u64 = 32 * 1024 * 1024;
/// What may come at once.
const BURST_BYTES: u64 = 64 * 1024 * 1024;
/// Records about bad lines; those beyond are only counted.
const BAD_RECORDS: u64 = 1_000;

/// A token bucket over recorded bytes, and a bound on records about bad lines.
#[derive(Debug)]
pub(super) struct Allowance {
    left: u64,
    filled_ns: u64,
    bad_left: u64,
}

impl Allowance {
    pub(super) fn new(now_ns: u64) -> Self {
        Self { left: BURST_BYTES, filled_ns: now_ns, bad_left: BAD_RECORDS }
    }

    /// Whether a line of so many bytes may be recorded now.
    pub(super) fn line(&mut self, bytes: usize, now_ns: u64) -> bool {
        let elapsed = u128::from(now_ns.saturating_sub(self.filled_ns));
        let earned = u64::try_from(elapsed * u128::from(BYTES_PER_SECOND) / 1_000_000_000).unwrap_or(u64::MAX);
        // Only whole bytes move the mark, so that frequent calls lose none.
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(BURST_BYTES);
            self.filled_ns = now_ns;
        }
        match self.left.checked_sub(bytes as u64) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Whether another record about a bad line may be written.
    pub(super) fn bad(&mut self) -> bool {
        let allowed = self.bad_left > 0;
        self.bad_left = self.bad_left.saturating_sub(1);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_recorded_up_to_the_burst_and_then_at_the_rate() {
        let mut allowance = Allowance::new(0);
        let line = 64 * 1024;
        let taken = (0..10_000).filter(|_| allowance.line(line, 0)).count();
        assert_eq!(taken as u64 * line as u64, BURST_BYTES);
        let taken = (0..10_000).filter(|_| allowance.line(line, 1_000_000_000)).count();
        assert_eq!(taken as u64 * line as u64, BYTES_PER_SECOND);
    }

    #[test]
    fn an_honest_client_is_recorded_whole() {
        let mut allowance = Allowance::new(0);
        assert!((0..600_000u64).all(|n| allowance.line(120, n * 100_000)), "10,000 lines a second for a minute");
    }

    #[test]
    fn bad_lines_are_recorded_a_thousand_times() {
        let mut allowance = Allowance::new(0);
        assert_eq!((0..5_000).filter(|_| allowance.bad()).count(), 1_000);
    }
}
