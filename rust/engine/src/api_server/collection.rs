//! The objects of one kind in key order, as a value that is cheap to copy.
//!
//! A copy is a consistent snapshot: it shares its chunks with the original, and a write to either
//! copies the chunk it touches. So a LIST takes the store's lock for the time of one reference count.

use super::object::{LEAD, NOT_NUMBERED, Object};
use std::sync::Arc;

/// A chunk that has grown to this many rows is split.
const CHUNK_ROWS: usize = 512;

/// An object with what a scan needs of it beside, so that scans do not touch the object.
#[derive(Clone)]
pub(crate) struct Row {
    /// The object.
    pub(crate) object: Arc<Object>,
    /// Bytes of its text.
    pub(crate) size: u32,
    /// Number of its label set.
    pub(crate) labels: u32,
    /// Number of its field set.
    pub(crate) fields: u32,
}

impl Row {
    fn of(object: Arc<Object>) -> Self {
        Self {
            size: u32::try_from(object.text.len()).unwrap_or(u32::MAX),
            labels: object.labels.number,
            fields: object.fields.number,
            object,
        }
    }

    /// Whether the numbers say all that labels and fields can say.
    pub(crate) fn is_numbered(&self) -> bool {
        self.labels != NOT_NUMBERED && self.fields != NOT_NUMBERED
    }
}

/// Neighbouring rows.
#[derive(Clone, Default)]
pub(crate) struct Chunk {
    /// In key order.
    pub(crate) rows: Vec<Row>,
    /// Sum of their sizes.
    pub(crate) bytes: usize,
}

/// Where a row stands: chunk, row.
pub(crate) type Position = (usize, usize);

/// All objects of a kind.
#[derive(Clone, Default)]
pub(crate) struct Collection {
    chunks: Arc<Vec<Arc<Chunk>>>,
    len: usize,
}

impl Collection {
    /// Takes objects that are in key order already, without comparing.
    pub(crate) fn from_sorted(objects: impl Iterator<Item = Arc<Object>>) -> Self {
        let mut chunks: Vec<Arc<Chunk>> = Vec::new();
        let mut chunk = Chunk::default();
        let mut len = 0;
        for object in objects {
            let row = Row::of(object);
            chunk.bytes += row.size as usize;
            chunk.rows.push(row);
            len += 1;
            if chunk.rows.len() >= CHUNK_ROWS / 2 {
                chunks.push(Arc::new(std::mem::take(&mut chunk)));
            }
        }
        if !chunk.rows.is_empty() {
            chunks.push(Arc::new(chunk));
        }
        Self { chunks: Arc::new(chunks), len }
    }

    /// How many objects.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of all texts, the leading commas included.
    #[cfg(test)]
    pub(crate) fn text_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.bytes).sum()
    }

    /// The chunks in order; none is empty.
    pub(crate) fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// The rows in key order.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.chunks.iter().flat_map(|chunk| chunk.rows.iter())
    }

    /// The position of the key, or the one where it would stand.
    fn find(&self, key: &str) -> Result<Position, Position> {
        let after = self.chunks.partition_point(|chunk| &*chunk.rows[0].object.key <= key);
        let Some(index) = after.checked_sub(1) else { return Err((0, 0)) };
        match self.chunks[index].rows.binary_search_by(|row| (*row.object.key).cmp(key)) {
            Ok(row) => Ok((index, row)),
            Err(row) => Err((index, row)),
        }
    }

    /// The first position whose key is not less than `key`; it may lie one past the chunk's last row.
    pub(crate) fn lower_bound(&self, key: &str) -> Position {
        self.find(key).unwrap_or_else(|position| position)
    }

    /// The object of that key.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Object>> {
        let (chunk, row) = self.find(key).ok()?;
        Some(&self.chunks[chunk].rows[row].object)
    }

    /// Adds or replaces; returns the former object.
    pub(crate) fn put(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let found = self.find(&object.key);
        let chunks = Arc::make_mut(&mut self.chunks);
        let row = Row::of(object);
        match found {
            Ok((at, index)) => {
                let chunk = Arc::make_mut(&mut chunks[at]);
                chunk.bytes += row.size as usize;
                let former = std::mem::replace(&mut chunk.rows[index], row);
                chunk.bytes -= former.size as usize;
                Some(former.object)
            }
            Err((at, index)) => {
                self.len += 1;
                if chunks.is_empty() {
                    chunks.push(Arc::default());
                }
                let chunk = Arc::make_mut(&mut chunks[at]);
                chunk.bytes += row.size as usize;
                chunk.rows.insert(index, row);
                if chunk.rows.len() > CHUNK_ROWS {
                    let rows = chunk.rows.split_off(CHUNK_ROWS / 2);
                    let bytes = rows.iter().map(|row| row.size as usize).sum();
                    chunk.bytes -= bytes;
                    chunks.insert(at + 1, Arc::new(Chunk { rows, bytes }));
                }
                None
            }
        }
    }

    /// Removes the object of that key and returns it.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Arc<Object>> {
        let (at, index) = self.find(key).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(&mut chunks[at]);
        let row = chunk.rows.remove(index);
        chunk.bytes -= row.size as usize;
        if chunk.rows.is_empty() {
            chunks.remove(at);
        }
        self.len -= 1;
        Some(row.object)
    }
}

/// Bytes of a row's text without the leading comma.
pub(crate) fn item_bytes(row: &Row) -> usize {
    row.size as usize - (LEAD - 1)
}

#[cfg(test)]
mod tests {
    use super::super::object::Shared;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn object(key: &str, size: usize) -> Arc<Object> {
        Arc::new(Object {
            key: key.into(),
            namespace_len: 0,
            rv: size as u64,
            uid: "".into(),
            text: vec![b' '; size].into(),
            labels: Shared { number: 0, set: Arc::from([]) },
            fields: Shared { number: 0, set: Arc::from([]) },
            planned: None,
        })
    }

    proptest! {
        #[test]
        fn it_behaves_as_an_ordered_map_and_snapshots_stand_still(
            steps in prop::collection::vec((0u16..2000, prop::bool::weighted(0.8), 3usize..9), 1..3000)
        ) {
            let (mut collection, mut model) = (Collection::default(), BTreeMap::new());
            let mut kept = None;
            for (i, (key, put, size)) in steps.iter().enumerate() {
                let key = format!("{key:05}");
                if *put {
                    let former = collection.put(object(&key, *size)).map(|former| former.text.len());
                    prop_assert_eq!(former, model.insert(key, *size));
                } else {
                    let former = collection.remove(&key).map(|former| former.text.len());
                    prop_assert_eq!(former, model.remove(&key));
                }
                if i == steps.len() / 2 {
                    kept = Some((collection.clone(), model.clone()));
                }
            }
            for (collection, model) in kept.into_iter().chain([(collection, model)]) {
                let seen: Vec<_> = collection.rows().map(|r| (r.object.key.to_string(), r.object.text.len())).collect();
                let expected: Vec<_> = model.iter().map(|(key, size)| (key.clone(), *size)).collect();
                prop_assert_eq!(seen, expected);
                prop_assert_eq!(collection.len(), model.len());
                prop_assert_eq!(collection.text_bytes(), model.values().sum::<usize>());
                for key in ["00000", "01000", "99999"] {
                    prop_assert_eq!(collection.get(key).is_some(), model.contains_key(key));
                    let (chunk, row) = collection.lower_bound(key);
                    let rest: usize = collection.chunks().iter().skip(chunk).map(|c| c.rows.len()).sum();
                    prop_assert_eq!(rest - row.min(rest), model.range(key.to_owned()..).count());
                }
            }
        }
    }
}
