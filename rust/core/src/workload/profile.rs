//! The workload profile, schema version 1: fields, planned counts, and the rules between fields.

use serde::{Deserialize, Serialize};

/// A profile whose fields are in range; [`Profile::violations`] checks the rules between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Always 1.
    pub schema_version: u32,
    /// A name of 1 to 128 printable characters.
    pub id: String,
    /// Seed of the event draws, 0 … 2^63−1.
    pub seed: u64,
    /// How many Pods, 1 … 1,000,000.
    pub object_count: u32,
    /// How many namespaces they are spread over, 1 … 10,000.
    pub namespace_count: u32,
    /// Events per second outside bursts, 0 … 100,000.
    pub steady_events_per_second: u32,
    /// Length of the run, 1 … 86,400 s.
    pub duration_seconds: u32,
    /// Seconds with another rate, in the order of the file.
    #[serde(default)]
    pub bursts: Vec<Burst>,
    /// Injected failures, in the order of the file.
    #[serde(default)]
    pub failures: Vec<Failure>,
}

/// Seconds that have a rate of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// First second.
    pub start_second: u32,
    /// How many seconds.
    pub duration_seconds: u32,
    /// Events per second within it.
    pub events_per_second: u32,
}

impl Burst {
    fn end(&self) -> u64 {
        u64::from(self.start_second) + u64::from(self.duration_seconds)
    }

    fn contains(&self, second: u32) -> bool {
        self.start_second <= second && u64::from(second) < self.end()
    }
}

/// A failure injected when the event of that number is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What happens.
    pub kind: FailureKind,
    /// Sequence number of the event (1-based).
    pub at_event: u64,
}

/// The six failure kinds of schema 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Pod watches end with 410 Expired and history is compacted.
    Gone,
    /// Pod watches end; the next three Pod LIST or WATCH requests get 429.
    Throttled,
    /// The nodes scope becomes 403.
    Forbidden,
    /// For ten seconds requests wait 1 s and watch writes are released once a second.
    Slow,
    /// metrics.k8s.io answers 503.
    MetricsUnavailable,
    /// A log that trickles one line a second.
    SlowLogs,
}

impl FailureKind {
    /// The name in profiles and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Throttled => "throttled",
            Self::Forbidden => "forbidden",
            Self::Slow => "slow",
            Self::MetricsUnavailable => "metrics_unavailable",
            Self::SlowLogs => "slow_logs",
        }
    }
}

/// One broken rule: where, what was seen, what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Dotted path of the field, list items by number: `bursts.0.start_second`.
    pub path: String,
    /// The value seen, as JSON.
    pub got: String,
    /// What a correct value looks like.
    pub expected: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: got {}, expected {}", self.path, self.got, self.expected)
    }
}

/// The largest plan: more events than this are refused.
pub(crate) const MAX_EVENTS: u64 = 10_000_000;

impl Profile {
    /// Events per second within second `second`.
    pub fn rate_at(&self, second: u32) -> u32 {
        self.bursts
            .iter()
            .find(|burst| burst.contains(second))
            .map_or(self.steady_events_per_second, |burst| burst.events_per_second)
    }

    /// Planned event count: duration × steady rate, with each burst's seconds at its own rate.
    pub fn event_count(&self) -> u64 {
        let steady = u64::from(self.steady_events_per_second);
        let burst_seconds: u64 = self.bursts.iter().map(|b| u64::from(b.duration_seconds)).sum();
        let in_bursts: u64 =
            self.bursts.iter().map(|b| u64::from(b.duration_seconds) * u64::from(b.events_per_second)).sum();
        u64::from(self.duration_seconds).saturating_sub(burst_seconds) * steady + in_bursts
    }

    /// The largest rate of any second.
    pub fn peak_rate(&self) -> u32 {
        let burst_seconds: u64 = self.bursts.iter().map(|b| u64::from(b.duration_seconds)).sum();
        let bursts = self.bursts.iter().map(|b| b.events_per_second).max().unwrap_or(0);
        if burst_seconds >= u64::from(self.duration_seconds) {
            bursts
        } else {
            bursts.max(self.steady_events_per_second)
        }
    }

    /// Every broken rule, ranges of single fields included; empty for a profile that can be planned.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut expect = |holds: bool, path: &str, got: String, expected: String| {
            if !holds {
                found.push(Violation { path: path.to_owned(), got, expected });
            }
        };
        let mut range = |path: &str, value: u64, low: u64, high: u64| {
            expect((low..=high).contains(&value), path, value.to_string(), format!("an integer from {low} to {high}"));
        };
        range("schema_version", self.schema_version.into(), 1, 1);
        range("seed", self.seed, 0, i64::MAX.cast_unsigned());
        range("object_count", self.object_count.into(), 1, 1_000_000);
        range("namespace_count", self.namespace_count.into(), 1, 10_000);
        range("steady_events_per_second", self.steady_events_per_second.into(), 0, 100_000);
        range("duration_seconds", self.duration_seconds.into(), 1, 86_400);
        for (i, burst) in self.bursts.iter().enumerate() {
            range(&format!("bursts.{i}.duration_seconds"), burst.duration_seconds.into(), 1, 86_400);
            range(&format!("bursts.{i}.events_per_second"), burst.events_per_second.into(), 1, 100_000);
        }
        expect(
            (1..=128).contains(&self.id.chars().count()),
            "id",
            format!("{} characters", self.id.chars().count()),
            "1 to 128 printable characters".to_owned(),
        );
        if let Some(control) = self.id.chars().find(|c| c.is_control()) {
            expect(false, "id", format!("the character {control:?}"), "1 to 128 printable characters".to_owned());
        }
        expect(
            self.namespace_count > 0 && self.object_count.is_multiple_of(self.namespace_count.max(1)),
            "object_count",
            self.object_count.to_string(),
            format!("a multiple of namespace_count ({})", self.namespace_count),
        );
        for (i, burst) in self.bursts.iter().enumerate() {
            expect(
                burst.end() <= self.duration_seconds.into(),
                &format!("bursts.{i}"),
                format!("seconds {} to {}", burst.start_second, burst.end()),
                format!("a burst that ends within duration_seconds ({})", self.duration_seconds),
            );
            // The first of them only: a list of equal bursts is one mistake each, not one for each pair.
            let overlapped = self.bursts[..i]
                .iter()
                .position(|other| burst.end() > other.start_second.into() && other.end() > burst.start_second.into());
            if let Some(j) = overlapped {
                let other = &self.bursts[j];
                expect(
                    false,
                    &format!("bursts.{i}"),
                    format!("seconds {} to {}", burst.start_second, burst.end()),
                    format!("no overlap with bursts.{j} (seconds {} to {})", other.start_second, other.end()),
                );
            }
        }
        let events = self.event_count();
        expect(
            events <= MAX_EVENTS,
            "duration_seconds",
            format!("{events} planned events"),
            format!("at most {MAX_EVENTS} events in all; lower a rate or the duration"),
        );
        for (i, failure) in self.failures.iter().enumerate() {
            let path = format!("failures.{i}.at_event");
            expect(
                (1..=events).contains(&failure.at_event),
                &path,
                failure.at_event.to_string(),
                format!("an event of the plan, 1 to {events}"),
            );
            if let Some(j) = self.failures[..i].iter().position(|other| other.at_event == failure.at_event) {
                expect(false, &path, failure.at_event.to_string(), format!("another event than failures.{j}"));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smoke() -> Profile {
        Profile {
            schema_version: 1,
            id: "t".into(),
            seed: 1,
            object_count: 10,
            namespace_count: 2,
            steady_events_per_second: 10,
            duration_seconds: 5,
            bursts: vec![Burst { start_second: 2, duration_seconds: 1, events_per_second: 100 }],
            failures: vec![],
        }
    }

    fn paths(profile: &Profile) -> Vec<String> {
        profile.violations().into_iter().map(|v| v.path).collect()
    }

    #[test]
    fn a_sound_profile_has_no_violations_and_counts_bursts_at_their_own_rate() {
        assert_eq!(paths(&smoke()), Vec::<String>::new());
        assert_eq!(smoke().event_count(), 4 * 10 + 100);
    }

    #[test]
    fn an_id_with_a_control_character_is_refused_by_that_character() {
        let found = Profile { id: "a\u{1b}b".into(), ..smoke() }.violations();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "id: got the character '\\u{1b}', expected 1 to 128 printable characters");
    }

    #[test]
    fn equal_bursts_are_one_violation_each() {
        let mut profile = smoke();
        profile.bursts = vec![profile.bursts[0]; 5];
        assert_eq!(paths(&profile), ["bursts.1", "bursts.2", "bursts.3", "bursts.4"]);
    }

    #[test]
    fn overlapping_bursts_late_bursts_and_bad_failures_are_all_named_at_once() {
        let mut profile = smoke();
        profile.namespace_count = 3;
        profile.bursts.push(Burst { start_second: 2, duration_seconds: 4, events_per_second: 1 });
        profile.failures = vec![
            Failure { kind: FailureKind::Gone, at_event: 3 },
            Failure { kind: FailureKind::Slow, at_event: 3 },
            Failure { kind: FailureKind::Slow, at_event: 1_000 },
        ];
        assert_eq!(
            paths(&profile),
            ["object_count", "bursts.1", "bursts.1", "failures.1.at_event", "failures.2.at_event"]
        );
    }

    #[test]
    fn a_peak_hidden_by_bursts_over_the_whole_run_is_not_reported() {
        let mut profile = smoke();
        profile.steady_events_per_second = 5000;
        profile.bursts = vec![Burst { start_second: 0, duration_seconds: 5, events_per_second: 7 }];
        assert_eq!(profile.peak_rate(), 7);
    }
}
