//! What one draw becomes: a request of its kind, made from what is ready beforehand and a few draws.

use super::spec::Shape;
use super::template::{Template, Values};
use crate::load::{Key, Request, Verb, WatchEnd};
use crate::rng::Mt19937;
use std::fmt::Write;

const DELETE_SCALE: u32 = 1_000_000;

/// A kind of request, ready to be sent again and again.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    Plain(Plain),
    CreateDelete(CreateDelete),
}

#[derive(Clone, Debug)]
pub(super) struct Plain {
    request: Request,
    collection: Box<str>,
    name: Option<Box<str>>,
    key_space: Option<u32>,
    subresource: Option<Box<str>>,
    namespace: Box<str>,
    body: Option<Template>,
}

#[derive(Clone, Debug)]
pub(super) struct CreateDelete {
    collection: Box<str>,
    namespace: Box<str>,
    kind: Box<str>,
    prefix: Box<str>,
    delete_millionths: u32,
    body: Template,
}

/// The objects that one runner made with one kind of request: numbers, oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    created: u64,
    deleted: u64,
}

/// Who sends, and what number of its stream it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) runner: u32,
    pub(super) runners: u32,
    pub(super) seq: u64,
}

impl Ready {
    /// Checks a shape and makes it ready; the error says what is wrong with it.
    pub(super) fn new(shape: &Shape, salt: Option<&str>) -> Result<Self, String> {
        match shape {
            Shape::Plain { collection, name, key_space, subresource, namespace, body, .. } => {
                check_path(collection)?;
                if *key_space == Some(0) {
                    return Err("got a key space of 0, expected at least 1".to_owned());
                }
                if name.is_none() && (key_space.is_some() || subresource.is_some()) {
                    return Err("got a key space or a subresource without a name".to_owned());
                }
                let body = body.as_deref().map(Template::parse).transpose()?;
                Ok(Self::Plain(Plain {
                    request: fixed_part(shape)?,
                    collection: collection.as_str().into(),
                    name: name.as_deref().map(Into::into),
                    key_space: *key_space,
                    subresource: subresource.as_deref().map(Into::into),
                    namespace: namespace.as_str().into(),
                    body,
                }))
            }
            Shape::CreateDelete { collection, namespace, kind, prefix, salted, delete_millionths, body } => {
                check_path(collection)?;
                if *delete_millionths > DELETE_SCALE {
                    return Err(format!(
                        "got {delete_millionths} millionths of deletions, expected at most all of them"
                    ));
                }
                Ok(Self::CreateDelete(CreateDelete {
                    collection: collection.as_str().into(),
                    namespace: namespace.as_str().into(),
                    kind: kind.as_str().into(),
                    prefix: match salt.filter(|_| *salted) {
                        Some(salt) => format!("{prefix}-{salt}").into(),
                        None => prefix.as_str().into(),
                    },
                    delete_millionths: *delete_millionths,
                    body: Template::parse(body)?,
                }))
            }
        }
    }

    /// One request of this kind.
    pub(super) fn request(&self, sender: Sender, made: &mut Made, rng: &mut Mt19937) -> Request {
        match self {
            Self::Plain(plain) => plain.request(sender.seq, rng),
            Self::CreateDelete(kind) => kind.request(sender, made, rng),
        }
    }
}

fn check_path(collection: &str) -> Result<(), String> {
    if collection.starts_with('/') && !collection.ends_with('/') {
        return Ok(());
    }
    Err(format!("got the path {collection:?}, expected one that begins with / and does not end in it"))
}

/// All of a plain request that is the same each time.
fn fixed_part(shape: &Shape) -> Result<Request, String> {
    let Shape::Plain { verb, query, content_type, body, until_initial_bookmark, .. } = shape else {
        return Err("got another shape".to_owned());
    };
    if *until_initial_bookmark && *verb != Verb::Watch {
        return Err(format!("got {} until the initial bookmark, expected WATCH", verb.name()));
    }
    let mut request = Request::new(*verb, "");
    request.query = query.as_deref().map(Into::into);
    request.content_type = body.as_ref().and(content_type.as_deref()).map(Into::into);
    if *until_initial_bookmark {
        request.watch = Some(WatchEnd::InitialBookmark);
    }
    Ok(request)
}

impl Plain {
    fn request(&self, seq: u64, rng: &mut Mt19937) -> Request {
        let mut path = String::with_capacity(self.collection.len() + 64);
        path.push_str(&self.collection);
        let mut name_at = path.len();
        if let Some(name) = &self.name {
            path.push('/');
            name_at = path.len();
            path.push_str(name);
            if let Some(size) = self.key_space {
                let _ = write!(path, "-{}", rng.randrange(size));
            }
        }
        let body = self.body.as_ref().map(|body| {
            let values = Values { seq, name: &path[name_at..], namespace: &self.namespace };
            body.render(values, rng)
        });
        if let Some(subresource) = &self.subresource {
            path.push('/');
            path.push_str(subresource);
        }
        Request { path: path.into(), body, ..self.request.clone() }
    }
}

impl CreateDelete {
    fn request(&self, sender: Sender, made: &mut Made, rng: &mut Mt19937) -> Request {
        let deletes = rng.randrange(DELETE_SCALE) < self.delete_millionths && made.deleted < made.created;
        let number = if deletes { &mut made.deleted } else { &mut made.created };
        *number += 1;
        // Runners take turns: together they name PREFIX-0, PREFIX-1, … without a gap.
        let index = (*number - 1) * u64::from(sender.runners) + u64::from(sender.runner);
        let name = format!("{}-{index}", self.prefix);
        let key = Some(Key::object(&self.namespace, &self.kind, &name));
        if deletes {
            return Request { key, ..Request::new(Verb::Delete, format!("{}/{name}", self.collection)) };
        }
        let values = Values { seq: sender.seq, name: &name, namespace: &self.namespace };
        Request {
            key,
            body: Some(self.body.render(values, rng)),
            content_type: Some("application/json".into()),
            ..Request::new(Verb::Create, self.collection.clone())
        }
    }
}
