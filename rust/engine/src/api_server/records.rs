//! The server's lines in samples.ndjson (docs/reference/samples.md).

use super::exchange::{Answer, Asked};
use serde::Serialize;

/// Where a commit came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// A planned event.
    Plan,
    /// A probe event.
    Probe,
    /// The event that takes a probe event back.
    Restore,
    /// An injected failure.
    Fault,
    /// A client's write.
    Request,
}

/// A committed change.
#[derive(Serialize)]
pub(crate) struct CommitRecord<'a> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) due: Option<u64>,
    pub(crate) seq: Option<u64>,
    pub(crate) src: Source,
    pub(crate) rv: u64,
    pub(crate) ns: &'a str,
    pub(crate) name: &'a str,
    #[serde(rename = "type")]
    pub(crate) change: &'static str,
    pub(crate) restarts: Option<u64>,
}

/// A planned event that met no object.
#[derive(Serialize)]
pub(crate) struct SkipRecord<'a> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) due: u64,
    pub(crate) seq: u64,
    pub(crate) ns: &'a str,
    pub(crate) name: &'a str,
    pub(crate) why: &'static str,
}

/// Events whose write to a watcher's connection has returned.
#[derive(Serialize)]
pub(crate) struct WrittenRecord<'a> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) w: u64,
    pub(crate) rvs: &'a [u64],
}

/// A watch that opened.
#[derive(Serialize)]
pub(crate) struct WatchOpenRecord<'a> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) w: u64,
    pub(crate) ev: &'static str,
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) from: Option<u64>,
    pub(crate) selector: bool,
    pub(crate) ua: &'a str,
    pub(crate) conn: u64,
}

/// A watch that ended.
#[derive(Serialize)]
pub(crate) struct WatchEndRecord {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) w: u64,
    pub(crate) ev: &'static str,
    pub(crate) why: &'static str,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// A request and its response.
#[derive(Serialize)]
pub(crate) struct RequestRecord<'a> {
    k: &'static str,
    t: u64,
    done: u64,
    verb: &'a str,
    group: &'a str,
    kind: &'a str,
    scope: &'a str,
    name: &'a str,
    sub: &'a str,
    class: &'a str,
    status: u16,
    bytes: Option<u64>,
    objects: Option<u64>,
    page: Option<u64>,
    more: bool,
    retry_after: Option<u32>,
    ua: &'a str,
    conn: u64,
}

impl<'a> RequestRecord<'a> {
    /// `bytes` is `None` for a watch, whose bytes stand in its end.
    pub(crate) fn new(asked: &'a Asked, answer: &Answer, done: u64, bytes: Option<u64>) -> Self {
        Self {
            k: "req",
            t: asked.read_ns,
            done,
            verb: asked.verb,
            group: &asked.group,
            kind: &asked.kind,
            scope: &asked.scope,
            name: &asked.name,
            sub: &asked.sub,
            class: asked.class,
            status: answer.status,
            bytes,
            objects: answer.objects,
            page: answer.page,
            more: answer.more,
            retry_after: answer.retry_after,
            ua: &asked.agent,
            conn: asked.connection,
        }
    }
}

/// An injected failure.
#[derive(Serialize)]
pub(crate) struct FaultRecord<'a> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) kind: &'static str,
    pub(crate) ev: &'static str,
    pub(crate) detail: &'a str,
}

/// The accounting so far.
#[derive(Serialize)]
pub(crate) struct ApiRecord<T: Serialize> {
    pub(crate) k: &'static str,
    pub(crate) t: u64,
    pub(crate) totals: T,
}
