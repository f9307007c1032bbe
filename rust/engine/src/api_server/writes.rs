//! The verbs that change objects. What becomes of an object is decided in [`super::semantics`]; here it
//! is read, stored if nobody was faster, and answered.

use super::core::Core;
use super::encode::{object_of, value_of};
use super::exchange::Exchange;
use super::frames::Frames;
use super::object::{Object, key_of};
use super::records::Source;
use super::request::Target;
use super::respond::{self, JSON, Reply};
use super::router::Call;
use super::semantics::instant::Instant;
use super::semantics::status::Status;
use super::semantics::write::options::WriteOptions;
use super::semantics::write::{self as semantics, Patch, Stamp, Written};
use super::store::{KindId, Write};
use super::{delete, upload};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, WARNING};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How often a write is decided again because the object changed meanwhile.
const ATTEMPTS: usize = 100;

/// Answers create, update, patch, delete and deletecollection.
pub(crate) async fn write(
    core: &Arc<Core>,
    exchange: &Arc<Exchange>,
    call: &Call,
    body: Incoming,
) -> Result<Reply, Status> {
    let Some((id, target)) = &call.target else { return Err(Status::no_such_path()) };
    let (id, verb) = (*id, exchange.asked().verb);
    let (bytes, content_type) = upload::read_object(body, call.content_type.as_deref()).await?;
    let of = match verb {
        "create" => "CreateOptions",
        "update" => "UpdateOptions",
        "patch" => "PatchOptions",
        "delete" => return delete::one(core, exchange, id, target, &call.query, &bytes),
        "deletecollection" => return delete::collection(core, exchange, id, target, &call.query, &bytes),
        _ => return Err(Status::method_not_allowed()),
    };
    let options = WriteOptions::read(|key| call.query.get(key), &exchange.asked().agent, of)?;
    let writing = Writing { core, id, target, options, content_type, bytes: &bytes };
    let (http_status, done) = match verb {
        "create" => (201, writing.create()?),
        "update" => (200, writing.change(Writing::updated)?),
        _ => {
            let done = writing.change(Writing::patched)?;
            (if done.created { 201 } else { 200 }, done)
        }
    };
    let rope = Frames::of(id).single(&done.object);
    let mut response = respond::whole(core, exchange, http_status, JSON, rope);
    for warning in &done.warnings {
        let text = format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""));
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(WARNING, value);
        }
    }
    Ok(response)
}

/// A create, update or patch in progress.
struct Writing<'a> {
    core: &'a Arc<Core>,
    id: KindId,
    target: &'a Target,
    options: WriteOptions,
    content_type: Option<&'a str>,
    bytes: &'a [u8],
}

/// What a write led to.
struct Done {
    object: Arc<Object>,
    created: bool,
    warnings: Vec<String>,
}

impl Writing<'_> {
    fn semantic_target(&self) -> semantics::Target<'_> {
        semantics::Target {
            kind: self.id.kind(),
            namespace: &self.target.namespace,
            name: &self.target.name,
            subresource: &self.target.sub,
        }
    }

    fn stamp(&self) -> Stamp {
        let uid = self.core.new_uid();
        let nonce = self.core.nonce ^ self.core.next_uid.load(Ordering::Relaxed);
        Stamp { now: Instant::now(), uid, nonce }
    }

    /// As by the real server, nothing is created in a namespace that is not there.
    fn check_namespace(&self) -> Result<(), Status> {
        let (namespace, namespaces) = (&self.target.namespace, KindId::core("namespaces"));
        if namespace.is_empty() || self.core.store.get(namespaces, namespace).is_some() {
            return Ok(());
        }
        Err(Status::not_found(namespaces.kind(), namespace))
    }

    fn create(&self) -> Result<Done, Status> {
        self.check_namespace()?;
        for attempt in 0.. {
            let target = self.semantic_target();
            let written = semantics::create(target, self.content_type, self.bytes, &self.options, &self.stamp())?;
            let generated = self.is_generated();
            match self.store(None, written) {
                // Another name may be free.
                Err(status) if status.code == 409 && generated && attempt < ATTEMPTS => {}
                done => {
                    return done.map(|done| done.unwrap_or_else(|| unreachable!("a create meets no older version")));
                }
            }
        }
        unreachable!("the attempts end the loop")
    }

    fn is_generated(&self) -> bool {
        let value: Value = serde_json::from_slice(self.bytes).unwrap_or_default();
        let given = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        given("/metadata/generateName") && !given("/metadata/name")
    }

    /// Decides the next version of an object on its current one until nobody was faster.
    fn change(
        &self,
        decide: impl Fn(&Self, Option<&Value>, &Stamp) -> Result<Written, Status>,
    ) -> Result<Done, Status> {
        let (kind, name) = (self.id.kind(), &self.target.name);
        let key = key_of(&self.target.namespace, name);
        for _ in 0..ATTEMPTS {
            let current = self.core.store.get(self.id, &key);
            let value = current.as_ref().map(|object| value_of(self.id, object));
            let written = decide(self, value.as_ref(), &self.stamp())?;
            if current.is_none() {
                self.check_namespace()?;
            }
            if let Some(done) = self.store(current.as_ref(), written)? {
                return Ok(done);
            }
        }
        Err(Status::modified(kind, name))
    }

    fn updated(&self, current: Option<&Value>, stamp: &Stamp) -> Result<Written, Status> {
        let current = current.ok_or_else(|| Status::not_found(self.id.kind(), &self.target.name))?;
        semantics::update(self.semantic_target(), current, self.content_type, self.bytes, &self.options, stamp)
    }

    fn patched(&self, current: Option<&Value>, stamp: &Stamp) -> Result<Written, Status> {
        let patch = Patch { content_type: self.content_type, bytes: self.bytes };
        semantics::patch(self.semantic_target(), current, patch, &self.options, stamp)
    }

    /// Stores a new version in place of the one it was decided on. `None`: that one is no longer current.
    fn store(&self, former: Option<&Arc<Object>>, written: Written) -> Result<Option<Done>, Status> {
        let Written { object: mut value, warnings, changed } = written;
        let kind = self.id.kind();
        let done = |object: Arc<Object>| Some(Done { object, created: former.is_none(), warnings: warnings.clone() });
        if let Some(former) = former.filter(|_| !changed) {
            return Ok(done(Arc::clone(former)));
        }
        let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = key_of(&self.target.namespace, &name);
        if self.options.dry_run {
            if former.is_none() && self.core.store.get(self.id, &key).is_some() {
                return Err(Status::already_exists(kind, &name));
            }
            let rv = former.map_or(0, |former| former.rv);
            return Ok(done(Arc::new(object_of(kind, value, rv, &mut super::interned::Interned::default()))));
        }
        let restarts = value.pointer("/status/containerStatuses/0/restartCount").and_then(Value::as_u64);
        let mut stale = false;
        let committed = self.core.store.commit(self.id, &key, |current| {
            match (former, current.object) {
                (None, Some(_)) => return Err(Status::already_exists(kind, &name)),
                (Some(former), Some(now)) if former.rv == now.rv => {}
                (None, None) => {}
                (Some(_), _) => {
                    stale = true;
                    return Ok(Write::Nothing);
                }
            }
            value["metadata"]["resourceVersion"] = current.rv.to_string().into();
            Ok(Write::Put(object_of(kind, value, current.rv, current.interned)))
        })?;
        let Some(event) = committed.filter(|_| !stale) else { return Ok(None) };
        if Core::is_pods(self.id) {
            self.core.record_commit_of(&event, Source::Request, None, None, restarts);
        }
        Ok(done(Arc::clone(&event.object)))
    }
}
