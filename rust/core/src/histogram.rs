//! A mergeable histogram of non-negative integers with at most 0.1 % relative error.
//!
//! Buckets are log-linear, as in `HdrHistogram` (Tene): each power of two is cut into 1,024 equal
//! parts, so that a bucket is at most 1/1,024 of its lower bound wide; the value that a quantile
//! reports is the bucket's middle, within 1/2,048. Values below 2,048 are exact. Merging adds
//! counts, so it is associative and commutative and loses nothing.

use crate::quantile::{P50, P90, P95, P99, P999, Ratio, Summary, nearest_rank, samples_needed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SUB_BITS: u32 = 10;
const SUB: u64 = 1 << SUB_BITS;

/// Counts by bucket; sparse, so that a quiet series costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Histogram {
    counts: BTreeMap<u32, u64>,
    count: u64,
    max: Option<u64>,
}

/// A histogram as it was written down, which may be by another hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    counts: BTreeMap<u32, u64>,
    count: u64,
    max: Option<u64>,
}

impl TryFrom<Written> for Histogram {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let Written { counts, count, max } = written;
        let sum = counts.values().try_fold(0u64, |sum, n| sum.checked_add(*n)).ok_or("the counts are too large")?;
        if sum != count {
            return Err("count is not the sum of the counts");
        }
        match (counts.last_key_value(), max) {
            (None, None) => {}
            (Some((last, _)), Some(max)) if *last == bucket_of(max) => {}
            _ => return Err("max is not in the last bucket"),
        }
        if counts.values().any(|n| *n == 0) {
            return Err("a bucket is empty");
        }
        Ok(Self { counts, count, max })
    }
}

#[allow(clippy::cast_possible_truncation)] // a bucket index is below 64 * 1024
fn bucket_of(value: u64) -> u32 {
    if value < SUB * 2 {
        return value as u32;
    }
    let exponent = u64::BITS - 1 - value.leading_zeros();
    let shift = exponent - SUB_BITS;
    let sub = (value >> shift) - SUB;
    (u64::from(shift) * SUB + SUB + sub) as u32
}

/// Lower bound and width of a bucket.
fn bounds_of(bucket: u32) -> (u64, u64) {
    let bucket = u64::from(bucket);
    if bucket < SUB * 2 {
        return (bucket, 1);
    }
    let shift = bucket / SUB - 1;
    ((bucket % SUB + SUB) << shift, 1 << shift)
}

impl Histogram {
    /// Adds one value.
    pub fn record(&mut self, value: u64) {
        *self.counts.entry(bucket_of(value)).or_default() += 1;
        self.count += 1;
        self.max = self.max.max(Some(value));
    }

    /// Adds all that another histogram holds.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.counts {
            *self.counts.entry(*bucket).or_default() += count;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<u64> {
        self.max
    }

    /// The smallest value, within 0.1 %.
    pub fn min(&self) -> Option<u64> {
        self.counts.first_key_value().map(|(bucket, _)| self.middle(*bucket))
    }

    /// The sum of the values, within 0.1 %.
    pub fn sum(&self) -> u128 {
        self.counts.iter().map(|(bucket, count)| u128::from(self.middle(*bucket)) * u128::from(*count)).sum()
    }

    /// What stands for the values of a bucket.
    fn middle(&self, bucket: u32) -> u64 {
        let (low, width) = bounds_of(bucket);
        (low + width / 2).min(self.max.unwrap_or(u64::MAX))
    }

    /// The value at the nearest rank of `p`, within 0.1 %.
    pub fn quantile(&self, p: Ratio) -> Option<u64> {
        let rank = nearest_rank(p, self.count)?;
        let mut seen = 0;
        for (bucket, count) in &self.counts {
            seen += count;
            if seen >= rank {
                return Some(self.middle(*bucket));
            }
        }
        self.max
    }

    /// The published figures, under the same rules as exact ones.
    pub fn summary(&self) -> Summary {
        let at = |p: Ratio| {
            if self.count < samples_needed(p) {
                return None;
            }
            self.quantile(p).and_then(|value| i64::try_from(value).ok())
        };
        Summary {
            count: self.count,
            p50: at(P50),
            p90: at(P90),
            p95: at(P95),
            p99: at(P99),
            p999: at(P999),
            max: self.max.and_then(|value| i64::try_from(value).ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::of_sorted;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values_and_is_narrow(value in any::<u64>()) {
            let (low, width) = bounds_of(bucket_of(value));
            prop_assert!(low <= value && value - low < width);
            prop_assert!(width == 1 || width <= low / 1000);
        }

        #[test]
        fn a_quantile_is_within_a_thousandth_of_the_exact_one(
            values in proptest::collection::vec(0u64..10_000_000_000, 1..400), num in 1u64..=1000,
        ) {
            let p = Ratio { num, den: 1000 };
            let mut sorted: Vec<i64> = values.iter().map(|v| i64::try_from(*v).unwrap()).collect();
            sorted.sort_unstable();
            let exact = u64::try_from(of_sorted(&sorted, p).unwrap()).unwrap();
            let got = of(&values).quantile(p).unwrap();
            prop_assert!(got.abs_diff(exact) * 1000 <= exact);
        }

        #[test]
        fn sum_and_minimum_are_within_a_thousandth(values in proptest::collection::vec(0u64..10_000_000_000, 1..400)) {
            let histogram = of(&values);
            let (sum, min) = (values.iter().map(|v| u128::from(*v)).sum::<u128>(), *values.iter().min().unwrap());
            prop_assert!(histogram.sum().abs_diff(sum) * 1000 <= sum);
            prop_assert!(histogram.min().unwrap().abs_diff(min) * 1000 <= min);
        }

        #[test]
        fn what_was_written_down_is_read_back(values in proptest::collection::vec(any::<u64>(), 0..100)) {
            let histogram = of(&values);
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            left in proptest::collection::vec(any::<u64>(), 0..100),
            right in proptest::collection::vec(any::<u64>(), 0..100),
        ) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let mut other_way = of(&right);
            other_way.merge(&of(&left));
            prop_assert_eq!(&merged, &other_way);
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }
    }

    #[test]
    fn a_histogram_of_another_hand_is_refused_where_it_does_not_fit() {
        for text in [
            r#"{"counts":{"5":1},"count":2,"max":5}"#,
            r#"{"counts":{"5":1},"count":1,"max":4}"#,
            r#"{"counts":{"4000000000":1},"count":1,"max":5}"#,
            r#"{"counts":{"5":0},"count":0,"max":5}"#,
            r#"{"counts":{"5":18446744073709551615,"6":1},"count":0,"max":6}"#,
            r#"{"counts":{},"count":0,"max":1}"#,
        ] {
            assert!(serde_json::from_str::<Histogram>(text).is_err(), "{text}");
        }
    }
}
