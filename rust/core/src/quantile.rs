//! Exact quantiles: nearest rank over integers, p as a ratio, no floating point.
//!
//! Nearest rank: the smallest value such that at least p·n values are not greater, that is the
//! value at rank ⌈p·n⌉ (1-based) of the sorted values.

/// A quantile as a ratio, so that p99.9 is exactly 999/1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Numerator.
    pub num: u64,
    /// Denominator, not 0.
    pub den: u64,
}

/// p50.
pub const P50: Ratio = Ratio { num: 1, den: 2 };
/// p90.
pub const P90: Ratio = Ratio { num: 9, den: 10 };
/// p95.
pub const P95: Ratio = Ratio { num: 19, den: 20 };
/// p99, published from 100 samples on.
pub const P99: Ratio = Ratio { num: 99, den: 100 };
/// p99.9, published from 1,000 samples on.
pub const P999: Ratio = Ratio { num: 999, den: 1000 };

/// The rank (1-based) of `p` among `count` values; `None` for no values.
pub fn nearest_rank(p: Ratio, count: u64) -> Option<u64> {
    if count == 0 {
        return None;
    }
    let rank = (u128::from(p.num) * u128::from(count)).div_ceil(u128::from(p.den));
    u64::try_from(rank.max(1)).ok().map(|rank| rank.min(count))
}

/// How many samples a quantile needs before it is published: p99 needs 100, p99.9 needs 1,000.
pub fn samples_needed(p: Ratio) -> u64 {
    match (p.num, p.den) {
        (99, 100) => 100,
        (999, 1000) => 1000,
        _ => 1,
    }
}

/// The value at the nearest rank of sorted values; `None` for no values.
pub fn of_sorted(sorted: &[i64], p: Ratio) -> Option<i64> {
    let rank = nearest_rank(p, sorted.len() as u64)?;
    usize::try_from(rank - 1).ok().and_then(|index| sorted.get(index)).copied()
}

/// The published figures of one latency.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Number of samples.
    pub count: u64,
    /// Median.
    pub p50: Option<i64>,
    /// 90th percentile.
    pub p90: Option<i64>,
    /// 95th percentile.
    pub p95: Option<i64>,
    /// 99th percentile; `None` below 100 samples.
    pub p99: Option<i64>,
    /// 99.9th percentile; `None` below 1,000 samples.
    pub p999: Option<i64>,
    /// Largest value.
    pub max: Option<i64>,
}

/// Sorts the values in place and gives their figures.
pub fn summarize(values: &mut [i64]) -> Summary {
    values.sort_unstable();
    let count = values.len() as u64;
    let at = |p: Ratio| if count < samples_needed(p) { None } else { of_sorted(values, p) };
    Summary {
        count,
        p50: at(P50),
        p90: at(P90),
        p95: at(P95),
        p99: at(P99),
        p999: at(P999),
        max: values.last().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn p99_needs_a_hundred_samples_and_p999_a_thousand() {
        let mut values: Vec<i64> = (1..=99).collect();
        assert_eq!(summarize(&mut values).p99, None);
        let mut values: Vec<i64> = (1..=100).collect();
        let figures = summarize(&mut values);
        assert_eq!((figures.p50, figures.p99, figures.p999), (Some(50), Some(99), None));
        let mut values: Vec<i64> = (1..=1000).collect();
        assert_eq!(summarize(&mut values).p999, Some(999));
    }

    #[test]
    fn no_samples_have_no_figures() {
        assert_eq!(summarize(&mut []), Summary::default());
    }

    proptest! {
        #[test]
        fn the_nearest_rank_is_the_smallest_value_that_enough_values_do_not_exceed(
            mut values in proptest::collection::vec(-1000i64..1000, 1..300),
            num in 1u64..=100,
        ) {
            values.sort_unstable();
            let p = Ratio { num, den: 100 };
            let got = of_sorted(&values, p).unwrap();
            let n = values.len() as u64;
            let at_most = |limit: i64| values.iter().filter(|v| **v <= limit).count() as u64;
            prop_assert!(at_most(got) * 100 >= num * n);
            let below = values.iter().filter(|v| **v < got).count() as u64;
            prop_assert!(below * 100 < num * n);
        }
    }
}
