//! How many of an input's requests each runner gets, and on which keys they are.

use super::request::Request;
use crate::partition::partition;
use serde::Serialize;
use std::collections::HashMap;

/// So many keys are counted exactly; of more, those with a share above 1/65,536 are found.
const EXACT: usize = 131_072;

/// Counts for `load plan`. Takes a bounded part of memory.
///
/// Keys are counted exactly while there are no more than 131,072. Beyond that the counters are those of Misra
/// and Gries ("Finding repeated elements", 1982), thinned by half at a time: a count is then too low by at
/// most [`KeyCounts::missed`].
#[derive(Debug)]
pub struct Shares {
    runners: Vec<u64>,
    keys: KeyCounts,
    keyless: u64,
}

/// Counts by key.
#[derive(Debug)]
pub struct KeyCounts {
    most: usize,
    counts: HashMap<Box<str>, u64>,
    /// What any count may be too low by.
    missed: u64,
}

/// A runner's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunnerShare {
    /// From 0.
    pub index: u32,
    /// Its requests.
    pub requests: u64,
}

/// A key's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyShare {
    /// `namespace/kind/name`.
    pub key: String,
    /// Its requests; where the keys were too many to count, at least so many.
    pub requests: u64,
}

/// What `load plan` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharesText {
    /// In their order.
    pub runners: Vec<RunnerShare>,
    /// The smallest share.
    pub min: u64,
    /// The largest share.
    pub max: u64,
    /// (largest / mean − 1) · 100; 0 where all are equal.
    pub imbalance_percent: f64,
    /// The keys with most requests, largest first.
    pub hot_keys: Vec<KeyShare>,
    /// By how much the requests of a hot key may be too low: 0 where all keys were counted.
    pub hot_keys_missed: u64,
}

impl KeyCounts {
    fn new(most: usize) -> Self {
        Self { most, counts: HashMap::new(), missed: 0 }
    }

    fn add(&mut self, key: &str) {
        if let Some(count) = self.counts.get_mut(key) {
            *count += 1;
            return;
        }
        if self.counts.len() >= self.most {
            self.thin();
        }
        self.counts.insert(key.into(), 1);
    }

    /// Takes the median off every count; at least half of the counters are free then.
    fn thin(&mut self) {
        let mut all: Vec<u64> = self.counts.values().copied().collect();
        let middle = all.len() / 2;
        let (_, median, _) = all.select_nth_unstable(middle);
        let median = *median;
        self.missed += median;
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            *count > 0
        });
    }

    /// What any count may be too low by.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The largest counts; equal ones in the order of their keys.
    fn largest(&self, most: usize) -> Vec<KeyShare> {
        let mut all: Vec<_> = self.counts.iter().map(|(key, count)| (std::cmp::Reverse(*count), key)).collect();
        let most = most.min(all.len());
        if most > 0 {
            all.select_nth_unstable(most - 1);
        }
        all.truncate(most);
        all.sort_unstable();
        all.into_iter().map(|(count, key)| KeyShare { key: key.to_string(), requests: count.0 }).collect()
    }
}

impl Shares {
    /// Among so many runners, at least 1.
    pub fn new(runners: u32) -> Self {
        assert!(runners > 0, "shares need at least one runner");
        Self { runners: vec![0; runners as usize], keys: KeyCounts::new(EXACT), keyless: 0 }
    }

    /// Counts one request. One without a key goes to each runner in turn.
    pub fn add(&mut self, request: &Request) {
        let runners = self.runners.len() as u64;
        let index = if let Some(key) = &request.key {
            self.keys.add(key.text());
            partition(key.text(), u32::try_from(runners).unwrap_or(u32::MAX)) as usize
        } else {
            self.keyless += 1;
            usize::try_from((self.keyless - 1) % runners).unwrap_or(0)
        };
        self.runners[index] += 1;
    }

    /// The sums, with so many of the hottest keys.
    pub fn text(&self, hot_keys: usize) -> SharesText {
        let (min, max) = (self.runners.iter().min().copied(), self.runners.iter().max().copied());
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(0));
        let total: u64 = self.runners.iter().sum();
        let above = max * self.runners.len() as u64 - total;
        let shares = (0..).zip(&self.runners).map(|(index, requests)| RunnerShare { index, requests: *requests });
        SharesText {
            runners: shares.collect(),
            min,
            max,
            imbalance_percent: if total > 0 { above as f64 * 100.0 / total as f64 } else { 0.0 },
            hot_keys: self.keys.largest(hot_keys),
            hot_keys_missed: self.keys.missed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Key, Verb};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn on(key: Option<&str>) -> Request {
        Request { key: key.map(Key::given), ..Request::new(Verb::Get, "/") }
    }

    #[test]
    fn shares_are_those_of_the_published_partition() {
        let mut shares = Shares::new(3);
        // FNV-1a-64 modulo 3: 0x63f18c4b0408c287 → 2, 0x63f18d4b0408c43a → 0, 0x439a5160b656e385 → 1.
        for key in ["default/Pod/nginx-1", "default/Pod/nginx-1", "default/Pod/nginx-2", "/Node/node-1"] {
            shares.add(&on(Some(key)));
        }
        let expected = |key: &str| usize::try_from(crate::partition::fnv1a64(key.as_bytes()) % 3).unwrap();
        let mut runners = [0; 3];
        runners[expected("default/Pod/nginx-1")] += 2;
        runners[expected("default/Pod/nginx-2")] += 1;
        runners[expected("/Node/node-1")] += 1;
        let text = shares.text(2);
        assert_eq!(text.runners.iter().map(|share| share.requests).collect::<Vec<_>>(), runners);
        assert_eq!(text.hot_keys[0], KeyShare { key: "default/Pod/nginx-1".into(), requests: 2 });
        assert_eq!(text.hot_keys[1].key, "/Node/node-1");
        assert_eq!(text.hot_keys_missed, 0);
    }

    #[test]
    fn imbalance_is_how_far_the_largest_is_above_the_mean_in_percent() {
        let mut shares = Shares::new(4);
        for _ in 0..4 {
            shares.add(&on(None));
        }
        assert!(shares.text(1).imbalance_percent.abs() < f64::EPSILON);
        for _ in 0..4 {
            shares.add(&on(Some("a/b/c")));
        }
        let text = shares.text(1);
        assert_eq!((text.min, text.max), (1, 5));
        assert!((text.imbalance_percent - 150.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_bounded_count_is_too_low_by_no_more_than_it_says(drawn in proptest::collection::vec(0u32..60, 0..600), most in 2usize..20) {
            let mut counts = KeyCounts::new(most);
            let mut exact = BTreeMap::<String, u64>::new();
            for key in &drawn {
                // Low numbers come more often.
                let key = format!("k{}", key * key / 60);
                counts.add(&key);
                *exact.entry(key).or_default() += 1;
            }
            prop_assert!(counts.counts.len() <= most);
            prop_assert!(counts.missed() <= 2 * drawn.len() as u64 / most as u64 + 1);
            for (key, count) in exact {
                let seen = counts.counts.get(&*key).copied().unwrap_or(0);
                prop_assert!(seen <= count && count <= seen + counts.missed(), "{}: {} of {}", key, seen, count);
            }
        }
    }
}
