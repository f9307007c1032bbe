//! DELETE of one object and of a collection. Deletion is immediate.

use super::body::Source as BodySource;
use super::core::Core;
use super::exchange::Exchange;
use super::filter::Filter;
use super::frames::Frames;
use super::history::Event;
use super::items::Items;
use super::object::{Object, key_of};
use super::records::Source;
use super::request::{Query, Target};
use super::respond::{self, JSON, Reply};
use super::rope::Rope;
use super::semantics::kinds;
use super::semantics::status::Status;
use super::semantics::write::options::DeleteOptions;
use super::shape::Shape;
use super::store::{KindId, Write};
use std::sync::Arc;

/// Kinds whose deletion answers with the object; the others answer with a Status, as the real server's do.
const ANSWER_WITH_OBJECT: &[&str] = &["pods", "namespaces", "resourcequotas", "serviceaccounts", "services"];

/// Deletes one object.
pub(crate) fn one(
    core: &Core,
    exchange: &Arc<Exchange>,
    id: KindId,
    target: &Target,
    query: &Query,
    body: &[u8],
) -> Result<Reply, Status> {
    let kind = id.kind();
    let options = DeleteOptions::read(body, |key| query.get(key))?;
    let key = key_of(&target.namespace, &target.name);
    let object = if options.is_dry_run() {
        let object = core.store.get(id, &key).ok_or_else(|| Status::not_found(kind, &target.name))?;
        check(&options, id, &object)?;
        object
    } else {
        let event = remove(core, id, &key, &options)?.ok_or_else(|| Status::not_found(kind, &target.name))?;
        if id == KindId::core("namespaces") {
            empty(core, &target.name)?;
        }
        Arc::clone(&event.object)
    };
    let rope = if kind.group.is_empty() && ANSWER_WITH_OBJECT.contains(&kind.plural) {
        Frames::of(id).single(&object)
    } else {
        Rope::of(Status::deleted(kind, &target.name, &object.uid).to_json())
    };
    Ok(respond::whole(core, exchange, 200, JSON, rope))
}

/// Deletes what the selectors mean, and answers with the list of it.
pub(crate) fn collection(
    core: &Core,
    exchange: &Arc<Exchange>,
    id: KindId,
    target: &Target,
    query: &Query,
    body: &[u8],
) -> Result<Reply, Status> {
    let options = DeleteOptions::read(body, |key| query.get(key))?;
    let filter = Filter::parse(id.kind(), &target.namespace, query)?;
    let snapshot = core.store.snapshot(id);
    let selection = filter.select(&snapshot.objects, None, usize::MAX);
    if !options.is_dry_run() {
        for run in &selection.runs {
            for row in &snapshot.objects.chunks()[run.chunk].rows[run.from..run.to] {
                remove(core, id, &row.object.key, &options)?;
            }
        }
    }
    exchange.answer(|answer| answer.objects = Some(selection.count as u64));
    let items = Items::new(id, Shape::Object, snapshot, selection, None);
    Ok(respond::reply(core, exchange, 200, JSON, BodySource::Items(Box::new(items))))
}

/// Deletes all objects of a namespace that is gone: what the namespace controller of a real cluster does.
fn empty(core: &Core, namespace: &str) -> Result<(), Status> {
    let options = DeleteOptions::default();
    for (number, kind) in kinds::all().iter().enumerate() {
        if kind.source != kinds::Source::Stored || !kind.namespaced {
            continue;
        }
        let (id, snapshot) = (KindId(number), core.store.snapshot(KindId(number)));
        let all = Filter::parse(kind, namespace, &Query::default())?.select(&snapshot.objects, None, usize::MAX);
        for run in &all.runs {
            for row in &snapshot.objects.chunks()[run.chunk].rows[run.from..run.to] {
                remove(core, id, &row.object.key, &options)?;
            }
        }
    }
    Ok(())
}

fn check(options: &DeleteOptions, id: KindId, object: &Object) -> Result<(), Status> {
    options.check(id.kind(), object.name(), &object.uid, &object.rv.to_string())
}

/// Removes an object; `None` where it is gone already.
fn remove(core: &Core, id: KindId, key: &str, options: &DeleteOptions) -> Result<Option<Arc<Event>>, Status> {
    let event = core.store.commit(id, key, |current| {
        let Some(object) = current.object else { return Ok(Write::Nothing) };
        check(options, id, object)?;
        Ok(Write::Delete(object.with_rv(current.rv)))
    })?;
    if let Some(event) = event.as_ref().filter(|_| Core::is_pods(id)) {
        core.record_commit(event, Source::Request, None, None);
    }
    Ok(event)
}
