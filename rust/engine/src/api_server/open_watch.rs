//! WATCH: where it starts, and what it is told first.

use super::body::Source;
use super::core::Core;
use super::exchange::Exchange;
use super::filter::Filter;
use super::options::Start;
use super::records::WatchOpenRecord;
use super::request::Query;
use super::respond::{JSON, Reply, reply};
use super::semantics::list_options::{self, ListOptions};
use super::semantics::status::Status;
use super::shape::Shape;
use super::store::{KindId, WatchFrom, WatchRefused};
use super::watch::{WatchBody, WatchOptions, error_event};
use crate::clock::now_ns;
use std::sync::Arc;
use std::time::Duration;

/// Watches that may be open at once.
const MAX_WATCHES: usize = 10_000;
/// A watch without `timeoutSeconds` lasts this long and up to twice that, as by kube-apiserver.
const TIMEOUT_SECONDS: u64 = 1_800;

/// What a WATCH asks for.
pub(crate) struct WatchRequest<'a> {
    pub(crate) kind: KindId,
    pub(crate) namespace: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) shape: Shape,
}

/// How a watch begins.
struct Beginning {
    from: WatchFrom,
    /// Whether the objects that are there come first.
    initial: bool,
    /// Whether to say when they are complete.
    mark_end: bool,
}

/// Answers a WATCH.
pub(crate) fn watch(core: &Arc<Core>, exchange: &Arc<Exchange>, request: &WatchRequest<'_>) -> Result<Reply, Status> {
    let query = request.query;
    let filter = Filter::parse(request.kind.kind(), request.namespace, query)?;
    let bookmarks = query.flag("allowWatchBookmarks");
    let begin = beginning(query, bookmarks)?;
    let seconds = query.integer("timeoutSeconds")?;
    if core.watches.open() >= MAX_WATCHES {
        return Err(Status::too_many_requests("too many watches are open", 1));
    }
    let id = core.watches.number();
    let (watcher, snapshot) = match core.store.watch(request.kind, id, filter.namespace.as_deref(), &begin.from) {
        Ok(opened) => opened,
        Err(WatchRefused::TooLarge(wanted, current)) => return Err(Status::version_too_large(wanted, current)),
        Err(WatchRefused::TooOld(wanted, oldest)) => {
            // As kube-apiserver does, within the stream.
            core.accounting.expired(exchange.asked());
            exchange.answer(|answer| answer.objects = Some(0));
            let source = Source::Whole(Some(error_event(&Status::too_old(wanted, oldest))));
            return Ok(reply(core, exchange, 200, JSON, source));
        }
    };
    let asked = exchange.asked();
    core.accounting.watch_opened();
    if let Some(sink) = &core.sink {
        sink.write(&WatchOpenRecord {
            k: "watch",
            t: now_ns(),
            w: id,
            ev: "open",
            group: &asked.group,
            kind: &asked.kind,
            scope: &asked.scope,
            from: match begin.from {
                WatchFrom::Version(rv) | WatchFrom::NotOlderThan(rv) if rv > 0 => Some(rv),
                _ => None,
            },
            selector: filter.has_selector(),
            ua: &asked.agent,
            conn: asked.connection,
        });
    }
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0);
    let seconds = seconds.unwrap_or_else(|| TIMEOUT_SECONDS + id * 37 % TIMEOUT_SECONDS);
    let options = WatchOptions {
        kind: request.kind,
        filter,
        shape: request.shape,
        initial: begin.initial.then_some(snapshot),
        mark_initial_end: begin.mark_end,
        bookmarks,
        timeout: Duration::from_secs(seconds),
    };
    let body = WatchBody::new(Arc::clone(core), Arc::clone(exchange), watcher, options);
    let response = reply(core, exchange, 200, JSON, Source::Watch(Box::new(body)));
    exchange.record_open();
    if core.options.start == Start::Watch && Core::is_pods(request.kind) {
        core.churn.start();
    }
    Ok(response)
}

fn beginning(query: &Query, bookmarks: bool) -> Result<Beginning, Status> {
    let version = query.get("resourceVersion").unwrap_or_default();
    let options = ListOptions {
        watch: true,
        version,
        version_match: query.get("resourceVersionMatch").unwrap_or_default(),
        token: query.get("continue").unwrap_or_default(),
        initial_events: query.get("sendInitialEvents").is_some(),
    };
    options.check()?;
    let rv = list_options::version(version).map_err(|why| Status::unknown_error(&why))?;
    let from = |rv: u64| if rv == 0 { WatchFrom::Now } else { WatchFrom::Version(rv) };
    if options.initial_events {
        let initial = query.flag("sendInitialEvents");
        // The current state is never older than what may be asked for.
        let from = if initial { WatchFrom::NotOlderThan(rv) } else { from(rv) };
        return Ok(Beginning { from, initial, mark_end: initial && bookmarks });
    }
    // Without a version the objects that are there come first, and to those who take bookmarks their end is told.
    Ok(Beginning { from: from(rv), initial: rv == 0, mark_end: rv == 0 && bookmarks })
}
