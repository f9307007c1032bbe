//! LIST: which version, which page, which objects.

use super::body::Source;
use super::core::Core;
use super::exchange::Exchange;
use super::filter::Filter;
use super::items::Items;
use super::page_token::{PageToken, list_id};
use super::request::Query;
use super::respond::{JSON, Reply, compress, reply};
use super::semantics::list_options::{self, ListOptions, Match};
use super::semantics::status::Status;
use super::shape::Shape;
use super::store::{KindId, Snapshot};
use std::sync::Arc;

/// Bodies larger than this are compressed where the client takes gzip, as by kube-apiserver.
const GZIP_FROM: usize = 128 * 1024;

/// What a LIST asks for.
pub(crate) struct ListRequest<'a> {
    pub(crate) kind: KindId,
    pub(crate) namespace: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) shape: Shape,
    pub(crate) gzip: bool,
}

/// Answers a LIST.
pub(crate) fn list(core: &Core, exchange: &Arc<Exchange>, request: &ListRequest<'_>) -> Result<Reply, Status> {
    let filter = Filter::parse(request.kind.kind(), request.namespace, request.query)?;
    // At "any version" (0) kube-apiserver answers from its cache, whole: informers list so, and get one page.
    let any_version = request.query.get("resourceVersion") == Some("0");
    request.query.integer("timeoutSeconds")?;
    let limit = request.query.integer("limit")?.filter(|limit| *limit > 0 && !any_version);
    let text = |key: &str| request.query.get(key).unwrap_or_default();
    let id = list_id(request.path, text("labelSelector"), text("fieldSelector"));
    let token = request.query.get("continue").map(|text| read_token(text, id)).transpose()?;
    let snapshot = snapshot(core, request, token.as_ref())?;
    let after = token.as_ref().map(|token| &*token.after);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let selection = filter.select(&snapshot.objects, after, limit);
    let (pages, objects) = token.as_ref().map_or((0, 0), |token| (token.pages, token.objects));
    let count = selection.count as u64;
    let next = selection.more.then(|| PageToken {
        rv: snapshot.rv,
        pages: pages + 1,
        objects: objects + count,
        list: id,
        after: selection.last_key(&snapshot.objects).unwrap_or_default().to_owned(),
    });
    if next.is_some() {
        core.pages.keep(request.kind, &snapshot);
    }
    exchange.answer(|answer| {
        answer.objects = Some(count);
        answer.page = Some(pages + 1);
        answer.more = next.is_some();
        answer.chain_objects = objects + count;
    });
    let token = next.map(|next| next.encode());
    let items = Items::new(request.kind, request.shape, snapshot, selection, token.as_deref());
    let gzip = request.gzip && items.object_bytes() > GZIP_FROM;
    let response = reply(core, exchange, 200, JSON, Source::Items(Box::new(items)));
    Ok(if gzip { compress(response) } else { response })
}

fn read_token(text: &str, list: u64) -> Result<PageToken, Status> {
    let token = PageToken::decode(text)
        .ok_or_else(|| Status::bad_request("continue key is not valid: this server did not give it out"))?;
    if token.list != list {
        return Err(Status::bad_request(
            "continue key is not valid: it belongs to a list of another path or with other selectors",
        ));
    }
    Ok(token)
}

/// The snapshot that `resourceVersion`, `resourceVersionMatch` and `continue` ask for.
fn snapshot(core: &Core, request: &ListRequest<'_>, token: Option<&PageToken>) -> Result<Snapshot, Status> {
    let query = request.query;
    let version = query.get("resourceVersion").unwrap_or_default();
    let options = ListOptions {
        watch: false,
        version,
        version_match: query.get("resourceVersionMatch").unwrap_or_default(),
        token: query.get("continue").unwrap_or_default(),
        initial_events: query.get("sendInitialEvents").is_some(),
    };
    let exact = match options.check()? {
        Some(wanted) => wanted == Match::Exact,
        // A limit with a version means exactly that version, from before there was resourceVersionMatch.
        None => token.is_none() && !matches!(version, "" | "0") && matches!(query.integer("limit"), Ok(Some(1..))),
    };
    if let Some(token) = token {
        if !matches!(version, "" | "0") {
            return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
        }
        return core.pages.at(&core.store, request.kind, token.rv).ok_or_else(Status::continue_expired);
    }
    let now = core.store.snapshot(request.kind);
    if matches!(version, "" | "0") {
        return Ok(now);
    }
    let wanted = list_options::version(version)
        .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
    if wanted > now.rv {
        return Err(Status::version_too_large(wanted, now.rv));
    }
    if !exact {
        return Ok(now);
    }
    core.pages
        .at(&core.store, request.kind, wanted)
        .ok_or_else(|| Status::expired(format!("The resourceVersion for the provided list is too old: {wanted}")))
}
