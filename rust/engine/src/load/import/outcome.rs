//! What an import came to: for the trace's header, for people and for programs.

use super::Options;
use perfq_core::load::audit::{Of, Why, Window, WithoutBody, timestamp};
use perfq_core::load::trace::Loss;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What never reaches a trace, of any event.
const REMOVED: [&str; 9] = [
    "users, groups and what else authentication says",
    "source addresses",
    "tokens",
    "query parameters that Kubernetes does not know",
    "bodies of Secrets, of reviews that hold tokens or users, and of certificate requests",
    "status messages",
    "responses",
    "annotations of events",
    "audit IDs",
];

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedFile {
    /// Its name, without the folder.
    pub name: String,
    /// Its length as it is on disk.
    pub bytes: u64,
    /// SHA-256 of it as it is on disk.
    pub sha256: String,
}

/// The stretch of time that the trace shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedWindow {
    /// T0, in RFC 3339.
    pub since: String,
    /// The end.
    pub until: String,
    /// Its length in microseconds.
    pub duration_us: u64,
}

impl ImportedWindow {
    pub(super) fn of(window: Window) -> Self {
        let length_ns = window.until_ns.saturating_sub(window.from_ns);
        Self {
            since: timestamp::text(window.from_ns),
            until: timestamp::text(window.until_ns),
            duration_us: u64::try_from(length_ns / 1_000).unwrap_or(0),
        }
    }
}

/// How often something was lost or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossSeen {
    /// The reason, as the reference names it.
    pub why: &'static str,
    /// How often.
    pub count: u64,
    /// What is counted: `file`, `line`, `event`, `request` (not in the trace) or `change` (in the trace, but
    /// not as it was).
    pub of: &'static str,
    /// Where the first one stands: `audit.log:12`.
    pub first: String,
    /// The reason for people.
    pub text: &'static str,
}

impl LossSeen {
    pub(super) fn new(why: Why, count: u64, first: String) -> Self {
        Self { why: why.name(), count, of: why.of().name(), first, text: why.text() }
    }
}

/// What an import came to: events = requests + stages + losses of events and of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Requests in the trace.
    pub requests: u64,
    /// Audit events that were read.
    pub events: u64,
    /// Events that were one more stage of a request.
    pub stages: u64,
    /// Lines of all files.
    pub lines: u64,
    /// The files in the order of their names.
    pub files: Vec<ImportedFile>,
    /// The time that the trace shows; `None` without an event.
    pub window: Option<ImportedWindow>,
    /// Everything that was lost or changed.
    pub losses: Vec<LossSeen>,
}

impl Imported {
    /// The header's `source`.
    pub(super) fn source(&self, options: &Options) -> Map<String, Value> {
        let bodies = match options.without_body {
            WithoutBody::Drop => "dropped",
            WithoutBody::Synthetic => "synthetic",
        };
        let source = json!({
            "kind": "audit.k8s.io/v1",
            "files": self.files,
            "lines": self.lines,
            "events": self.events,
            "stages": self.stages,
            "window": self.window,
            "writes_without_body": bodies,
            "names": if options.hash_names { "hashed" } else { "kept" },
            "removed": REMOVED,
        });
        if let Value::Object(source) = source { source } else { Map::new() }
    }

    /// The header's `losses`.
    pub(super) fn header_losses(&self) -> Vec<Loss> {
        let loss = |seen: &LossSeen| Loss {
            loss: seen.why.to_owned(),
            count: seen.count,
            text: seen.text.to_owned(),
            of: Some(seen.of.to_owned()),
            first: Some(seen.first.clone()),
        };
        self.losses.iter().map(loss).collect()
    }
}

/// Why files hold no request, in one sentence.
pub(super) fn no_request(imported: &Imported) -> String {
    let names: Vec<&str> = imported.files.iter().map(|file| &*file.name).collect();
    let reasons: Vec<String> = imported
        .losses
        .iter()
        .filter(|loss| loss.of != Of::Change.name())
        .map(|loss| format!("{} {} (the first at {})", loss.count, loss.text, loss.first))
        .collect();
    let why = if reasons.is_empty() { "they are empty".to_owned() } else { reasons.join("; ") };
    format!(
        "no request to replay in {}: {} lines, {} audit events of audit.k8s.io/v1; {why}",
        names.join(", "),
        imported.lines,
        imported.events
    )
}
