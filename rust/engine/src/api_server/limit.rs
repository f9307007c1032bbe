//! Rates that are not exceeded: each taker is told how long to wait for its turn.

use crate::clock::now_ns;
use std::sync::{Mutex, PoisonError};

const SECOND: u64 = 1_000_000_000;

/// A rate shared by all that take from it. Turns are given in the order of asking.
pub(crate) struct Limit {
    per_second: u64,
    /// When the next one may go.
    next_ns: Mutex<u64>,
}

/// Bytes a second.
pub(crate) type ByteLimit = Limit;

impl Limit {
    /// That many a second.
    pub(crate) fn new(per_second: u64) -> Self {
        Self { per_second: per_second.max(1), next_ns: Mutex::new(0) }
    }

    /// Takes an amount; nanoseconds to wait before going on with it, or `None` to go at once.
    pub(crate) fn take(&self, amount: u64) -> Option<u64> {
        self.take_at(amount, now_ns())
    }

    fn take_at(&self, amount: u64, now: u64) -> Option<u64> {
        let mut next = self.next_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = (*next).max(now);
        let cost = u128::from(amount) * u128::from(SECOND) / u128::from(self.per_second);
        *next = turn.saturating_add(u64::try_from(cost).unwrap_or(u64::MAX));
        (turn > now).then_some(turn - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_second_takes_more_than_the_rate_beyond_its_last_piece(
            rate in 1u64..5_000, takes in prop::collection::vec((1u64..50, 0u64..3_000_000), 1..200)
        ) {
            let limit = Limit::new(rate);
            let (mut now, mut gone) = (5 * SECOND, Vec::new());
            for (amount, pause) in takes {
                now += pause;
                gone.push((now + limit.take_at(amount, now).unwrap_or(0), amount));
            }
            for (i, (start, _)) in gone.iter().enumerate() {
                let within: Vec<u64> =
                    gone[i..].iter().take_while(|(at, _)| at - start < SECOND).map(|(_, amount)| *amount).collect();
                let all_but_last: u64 = within[..within.len() - 1].iter().sum();
                prop_assert!(all_but_last <= rate + 1, "{all_but_last} > {rate}");
            }
        }
    }
}
