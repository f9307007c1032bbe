//! How requests have ended, counted.

use super::outcome::Outcome;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Of a second, of a series in it, or of a segment.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Ends {
    pub(super) ok: u64,
    #[serde(serialize_with = "keyed")]
    pub(super) errors: BTreeMap<Outcome, u64>,
    pub(super) timed_out: u64,
    pub(super) cancelled: u64,
    /// Of bodies.
    pub(super) bytes: u64,
}

impl Ends {
    /// One request has ended.
    pub(super) fn count(&mut self, outcome: Outcome, bytes: u64) {
        self.bytes += bytes;
        match outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::TimedOut => self.timed_out += 1,
            Outcome::Cancelled => self.cancelled += 1,
            error => *self.errors.entry(error).or_default() += 1,
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.ok += more.ok;
        self.timed_out += more.timed_out;
        self.cancelled += more.cancelled;
        self.bytes += more.bytes;
        for (outcome, count) in &more.errors {
            *self.errors.entry(*outcome).or_default() += count;
        }
    }

    /// Errors by their keys.
    pub(super) fn errors_by_key(&self) -> BTreeMap<String, u64> {
        by_key(&self.errors)
    }
}

fn by_key(errors: &BTreeMap<Outcome, u64>) -> BTreeMap<String, u64> {
    let mut named = BTreeMap::new();
    for (outcome, count) in errors {
        if let Some(key) = outcome.error_key() {
            *named.entry(key.into_owned()).or_default() += count;
        }
    }
    named
}

fn keyed<S: Serializer>(errors: &BTreeMap<Outcome, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    by_key(errors).serialize(serializer)
}
