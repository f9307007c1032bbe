//! What a client has said so far, one line after the other.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

/// Events that may wait for their `rendered`, over all scopes; those beyond are counted as received
/// and never as settled.
const MAX_PENDING: usize = 4_000_000;
/// (kind, scope) pairs that are told apart.
const MAX_SCOPES: usize = 1_000;

/// The kind whose table and digest are those of the plan.
const PLAN_KIND: &str = "pods";

/// A (kind, scope): plural resource and namespace, "" for all.
type Scope = (String, String);

/// What a client has said. Instants are the client's own, in `CLOCK_MONOTONIC` nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeProgress {
    /// Connections that are open now.
    pub connected: u32,
    /// Connections so far.
    pub connections: u64,
    /// The first `hello`, without `k` and `t`.
    pub hello: Option<Map<String, Value>>,
    /// When the first frame was drawn.
    pub interactive_ns: Option<u64>,
    /// The first table of Pods that was whole.
    pub populated: Option<Populated>,
    /// The latest LIST of each (kind, scope), in order of the first.
    pub lists: Vec<ListComplete>,
    /// Events that the client has read.
    pub received: u64,
    /// Of these, rendered themselves: passed by `rendered`, less coalesced and dropped.
    pub rendered: u64,
    /// Of these, overtaken by a later one before a frame showed them.
    pub coalesced: u64,
    /// Of these, never to be shown.
    pub dropped: u64,
    /// Received events that no `rendered` has passed yet.
    pub unsettled: u64,
    /// The latest depth that the client gave.
    pub backlog: Option<u64>,
    /// The latest digest of Pods.
    pub digest: Option<Digest>,
    /// Lines that the client could not send.
    pub lost: u64,
    /// Lines received and taken.
    pub lines: u64,
    /// Lines that were not one JSON object of at most 64 KiB.
    pub bad_lines: u64,
    /// Lines taken and not recorded, since they came faster than a disk takes them.
    pub unrecorded: u64,
    #[serde(skip)]
    pending: BTreeMap<Scope, VecDeque<u64>>,
    #[serde(skip)]
    waiting: usize,
    #[serde(skip)]
    settled: u64,
}

/// A table that shows all rows of its LIST.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Populated {
    /// When.
    pub t: Option<u64>,
    /// How many rows it has.
    pub rows: Option<u64>,
}

/// A LIST whose last page was decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListComplete {
    /// Plural resource.
    pub kind: String,
    /// Namespace, "" for all.
    pub scope: String,
    /// How many objects came.
    pub objects: Option<u64>,
    /// When.
    pub t: Option<u64>,
}

/// SHA-256 of the canonical object text of what the client holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// Of its store.
    pub store: Option<String>,
    /// Of its table; None for a client that has none.
    pub table: Option<String>,
    /// When.
    pub t: Option<u64>,
}

fn text(said: &Map<String, Value>, key: &str) -> Option<String> {
    said.get(key)?.as_str().map(str::to_owned)
}

fn number(said: &Map<String, Value>, key: &str) -> Option<u64> {
    said.get(key)?.as_u64()
}

/// A resourceVersion is a string in Kubernetes; clients also send it as a number.
fn version(said: &Map<String, Value>) -> Option<u64> {
    match said.get("rv")? {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    }
}

fn scope(said: &Map<String, Value>) -> Scope {
    (text(said, "kind").unwrap_or_default(), text(said, "scope").unwrap_or_default())
}

fn of_the_plan(said: &Map<String, Value>) -> bool {
    said.get("kind").is_none_or(|kind| kind == PLAN_KIND)
}

impl ProbeProgress {
    /// Takes one line's object. Kinds and fields that are not known change nothing.
    pub(super) fn fold(&mut self, said: &Map<String, Value>) {
        self.lines += 1;
        let t = number(said, "t");
        let n = number(said, "n").unwrap_or(0);
        match said.get("k").and_then(Value::as_str).unwrap_or_default() {
            "hello" if self.hello.is_none() => {
                let rest = said.iter().filter(|(key, _)| !matches!(key.as_str(), "k" | "t"));
                self.hello = Some(rest.map(|(key, value)| (key.clone(), value.clone())).collect());
            }
            "interactive" if self.interactive_ns.is_none() => self.interactive_ns = t,
            "list_complete" => self.listed(said, t),
            "populated" if self.populated.is_none() && of_the_plan(said) => {
                self.populated = Some(Populated { t, rows: number(said, "rows") });
            }
            "event_received" => self.received(said),
            "rendered" => self.passed(said),
            "coalesced" => self.coalesced = self.coalesced.saturating_add(n),
            "dropped" => self.dropped = self.dropped.saturating_add(n),
            "lost" => self.lost = self.lost.saturating_add(n),
            "backlog" => self.backlog = number(said, "depth").or(self.backlog),
            "digest" if of_the_plan(said) => {
                self.digest = Some(Digest { store: text(said, "store"), table: text(said, "table"), t });
            }
            _ => {}
        }
        self.rendered = self.settled.saturating_sub(self.coalesced.saturating_add(self.dropped));
        self.unsettled = self.received - self.settled;
    }

    fn listed(&mut self, said: &Map<String, Value>, t: Option<u64>) {
        let (kind, scope) = scope(said);
        let list = ListComplete { kind, scope, objects: number(said, "objects"), t };
        let known = self.lists.iter().position(|known| (&known.kind, &known.scope) == (&list.kind, &list.scope));
        match known {
            Some(at) => self.lists[at] = list,
            None if self.lists.len() < MAX_SCOPES => self.lists.push(list),
            None => {}
        }
    }

    fn received(&mut self, said: &Map<String, Value>) {
        self.received += 1;
        let scope = scope(said);
        let room = self.waiting < MAX_PENDING && (self.pending.len() < MAX_SCOPES || self.pending.contains_key(&scope));
        if let Some(version) = version(said).filter(|_| room) {
            self.pending.entry(scope).or_default().push_back(version);
            self.waiting += 1;
        }
    }

    /// All events of that scope received up to this version are settled.
    fn passed(&mut self, said: &Map<String, Value>) {
        let (Some(version), Some(pending)) = (version(said), self.pending.get_mut(&scope(said))) else { return };
        while pending.front().is_some_and(|first| *first <= version) {
            pending.pop_front();
            self.waiting -= 1;
            self.settled += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn folded(lines: &[Value]) -> ProbeProgress {
        let mut progress = ProbeProgress::default();
        for line in lines {
            progress.fold(line.as_object().unwrap());
        }
        progress
    }

    fn event(rv: u64) -> Value {
        json!({"k": "event_received", "t": rv, "kind": "pods", "scope": "", "rv": rv.to_string()})
    }

    #[test]
    fn rendered_passes_what_was_received_up_to_its_version_in_its_scope() {
        let other = json!({"k": "event_received", "kind": "nodes", "scope": "", "rv": 3});
        let rendered = json!({"k": "rendered", "kind": "pods", "scope": "", "rv": "12", "rows_changed": 2});
        let progress =
            folded(&[event(10), event(11), other, event(12), event(13), json!({"k": "coalesced", "n": 1}), rendered]);
        assert_eq!((progress.received, progress.rendered, progress.coalesced, progress.unsettled), (5, 2, 1, 2));
    }

    #[test]
    fn the_first_frame_and_the_first_table_count_and_the_latest_digest() {
        let progress = folded(&[
            json!({"k": "hello", "t": 1, "client": "viewer", "version": "1", "libraries": {"textual": "8"}}),
            json!({"k": "interactive", "t": 5}),
            json!({"k": "interactive", "t": 9}),
            json!({"k": "list_complete", "t": 6, "kind": "pods", "scope": "", "objects": 1000}),
            json!({"k": "populated", "t": 7, "kind": "nodes", "scope": "", "rows": 5}),
            json!({"k": "populated", "t": 8, "kind": "pods", "scope": "", "rows": 1000}),
            json!({"k": "digest", "t": 9, "kind": "pods", "store": "a", "table": null}),
            json!({"k": "digest", "t": 10, "kind": "pods", "store": "b", "table": "c"}),
            json!({"k": "lost", "n": 3}),
            json!({"k": "backlog", "depth": 4}),
        ]);
        assert_eq!(progress.hello.unwrap()["client"], "viewer");
        assert_eq!(progress.interactive_ns, Some(5));
        assert_eq!(progress.populated, Some(Populated { t: Some(8), rows: Some(1000) }));
        assert_eq!(progress.lists[0].objects, Some(1000));
        assert_eq!(progress.digest, Some(Digest { store: Some("b".into()), table: Some("c".into()), t: Some(10) }));
        assert_eq!((progress.lost, progress.backlog, progress.lines), (3, Some(4), 10));
    }

    #[test]
    fn unknown_kinds_and_odd_types_change_no_figure() {
        let odd = [json!({}), json!({"k": 3}), json!({"k": "new", "n": 9}), json!({"k": "coalesced", "n": "many"})];
        let progress = folded(&odd);
        assert_eq!(progress, ProbeProgress { lines: 4, ..ProbeProgress::default() });
    }

    proptest! {
        #[test]
        fn received_is_settled_or_not_whatever_the_order(
            lines in proptest::collection::vec((0usize..5, 0u64..50), 0..200)
        ) {
            let lines: Vec<Value> = lines.into_iter().map(|(what, n)| match what {
                0 | 1 => event(n),
                2 => json!({"k": "rendered", "kind": "pods", "scope": "", "rv": n}),
                3 => json!({"k": "coalesced", "n": n}),
                _ => json!({"k": "dropped", "n": n}),
            }).collect();
            let progress = folded(&lines);
            prop_assert_eq!(progress.received, progress.settled + progress.unsettled);
            prop_assert_eq!(progress.waiting as u64, progress.unsettled);
            prop_assert!(progress.rendered <= progress.settled);
        }
    }
}
