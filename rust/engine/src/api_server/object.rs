//! One stored object: its JSON text, and the little that is asked about it without reading the text.

use std::sync::Arc;

/// Labels of an object, in the order of their keys; shared between objects that have the same.
pub(crate) type Labels = [(Box<str>, Box<str>)];

/// Values of the fields that field selectors may name, `metadata.name` and `metadata.namespace`
/// aside; shared between objects that have the same.
pub(crate) type Fields = [(&'static str, Box<str>)];

/// A set that many objects share, with its number in the store's table.
pub(crate) struct Shared<T: ?Sized> {
    /// Equal sets have equal numbers; [`NOT_NUMBERED`] says nothing.
    pub(crate) number: u32,
    /// The set.
    pub(crate) set: Arc<T>,
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { number: self.number, set: Arc::clone(&self.set) }
    }
}

/// The number of sets that the full table no longer takes.
pub(crate) const NOT_NUMBERED: u32 = u32::MAX;

/// Bytes before the object's first own member in [`Object::text`]: `,{`.
pub(crate) const LEAD: usize = 2;

/// One version of an object. Never changed: a write makes another.
pub(crate) struct Object {
    /// `namespace/name`, or `name` for kinds without a namespace.
    pub(crate) key: Box<str>,
    /// Bytes of the namespace within the key; 0 for kinds without one.
    pub(crate) namespace_len: usize,
    /// `metadata.resourceVersion`.
    pub(crate) rv: u64,
    /// `metadata.uid`.
    pub(crate) uid: Box<str>,
    /// `,{"metadata":…}`: the object without `kind` and `apiVersion`, as it stands in a list after
    /// another one. So a list is written from it as it is, and a single object behind its kind's head.
    pub(crate) text: Box<[u8]>,
    /// Its labels.
    pub(crate) labels: Shared<Labels>,
    /// Its selectable fields.
    pub(crate) fields: Shared<Fields>,
    /// The planned Pod whose text this is, byte for byte; `None` once someone wrote to it.
    pub(crate) planned: Option<u32>,
}

impl Object {
    /// `metadata.namespace`; empty for kinds without one.
    pub(crate) fn namespace(&self) -> &str {
        &self.key[..self.namespace_len]
    }

    /// `metadata.name`.
    pub(crate) fn name(&self) -> &str {
        if self.namespace_len == 0 { &self.key } else { &self.key[self.namespace_len + 1..] }
    }

    /// The same object with another version: what a deletion leaves behind.
    pub(crate) fn with_rv(&self, rv: u64) -> Self {
        let (old, new) = (format!("\"resourceVersion\":\"{}\"", self.rv), format!("\"resourceVersion\":\"{rv}\""));
        // Quotes within JSON strings are escaped, so the first match is the member itself.
        let text = match memchr::memmem::find(&self.text, old.as_bytes()) {
            Some(at) => [&self.text[..at], new.as_bytes(), &self.text[at + old.len()..]].concat().into(),
            None => self.text.clone(),
        };
        Self {
            key: self.key.clone(),
            namespace_len: self.namespace_len,
            rv,
            uid: self.uid.clone(),
            text,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            planned: None,
        }
    }

    /// The text behind `kind` and `apiVersion`: `"metadata":…}`.
    pub(crate) fn members(&self) -> &[u8] {
        &self.text[LEAD..]
    }
}

/// The key of an object.
pub(crate) fn key_of(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}
