//! The bytes around an object: a single object, an item of a list, an event of a watch.

use super::history::Change;
use super::object::{LEAD, Object};
use super::rope::{Rope, Segment};
use super::semantics::kinds::{self, Kind};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// What stands before and after the members of objects of one kind; made once.
pub(crate) struct Frames {
    /// `{"kind":"Pod","apiVersion":"v1",`
    pub(crate) single: Bytes,
    /// `{"kind":"PodList","apiVersion":"v1",`
    pub(crate) list: Bytes,
    added: Bytes,
    modified: Bytes,
    deleted: Bytes,
}

/// What ends a watch event.
pub(crate) const EVENT_END: &[u8] = b"}\n";

impl Frames {
    fn new(kind: &Kind) -> Self {
        let head = |kind_name: &str| format!("{{\"kind\":\"{kind_name}\",\"apiVersion\":\"{}\",", kind.api_version());
        let single = head(kind.kind);
        let event = |change: Change| format!("{{\"type\":\"{}\",\"object\":{single}", change.name()).into();
        Self {
            added: event(Change::Added),
            modified: event(Change::Modified),
            deleted: event(Change::Deleted),
            list: head(&kind.list_kind()).into(),
            single: single.into(),
        }
    }

    /// The frames of a kind, by its position in the table of kinds.
    pub(crate) fn of(kind: super::store::KindId) -> &'static Self {
        static ALL: OnceLock<Vec<Frames>> = OnceLock::new();
        &ALL.get_or_init(|| kinds::all().iter().map(Self::new).collect())[kind.0]
    }

    fn event_head(&self, change: Change) -> &Bytes {
        match change {
            Change::Added => &self.added,
            Change::Modified => &self.modified,
            Change::Deleted => &self.deleted,
        }
    }

    /// Appends a watch event about an object, as it lies in memory.
    pub(crate) fn push_event(&self, rope: &mut Rope, change: Change, object: &Arc<Object>) {
        rope.push(Segment::Bytes(self.event_head(change).clone()));
        rope.push(Segment::Object(Arc::clone(object), LEAD));
        rope.push(Segment::Static(EVENT_END));
    }

    /// One object as a response.
    pub(crate) fn single(&self, object: &Arc<Object>) -> Rope {
        let mut rope = Rope::default();
        rope.push(Segment::Bytes(self.single.clone()));
        rope.push(Segment::Object(Arc::clone(object), LEAD));
        rope.push(Segment::Static(b"\n"));
        rope
    }

    /// One object as text.
    pub(crate) fn text(&self, object: &Object) -> Vec<u8> {
        [&self.single, object.members()].concat()
    }

    /// The object of a bookmark: nothing but a version, and on request the mark that the initial objects
    /// are complete.
    pub(crate) fn bookmark_object(&self, rv: u64, initial_end: bool) -> String {
        let single = std::str::from_utf8(&self.single).unwrap_or_default();
        let annotation = if initial_end { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
        format!("{single}\"metadata\":{{\"resourceVersion\":\"{rv}\"{annotation}}}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::Shared;
    use super::super::store::KindId;
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_frame_is_one_json_value() {
        let object = Arc::new(Object {
            key: "n/a".into(),
            namespace_len: 1,
            rv: 7,
            uid: "u".into(),
            text: br#",{"metadata":{"name":"a"}}"#.as_slice().into(),
            labels: Shared { number: 0, set: Arc::from([]) },
            fields: Shared { number: 0, set: Arc::from([]) },
            planned: None,
        });
        for id in 0..kinds::all().len() {
            let frames = Frames::of(KindId(id));
            let single: Value = serde_json::from_slice(&frames.single(&object).to_vec()).unwrap();
            assert_eq!(single["kind"], kinds::all()[id].kind);
            let mut rope = Rope::default();
            frames.push_event(&mut rope, Change::Deleted, &object);
            let event: Value = serde_json::from_slice(&rope.to_vec()).unwrap();
            assert_eq!((event["type"].as_str(), event["object"] == single), (Some("DELETED"), true));
            let bookmark: Value = serde_json::from_str(&frames.bookmark_object(9, true)).unwrap();
            assert_eq!(bookmark["metadata"]["resourceVersion"], "9");
            assert_eq!(bookmark["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
        }
    }
}
