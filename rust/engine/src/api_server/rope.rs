//! A response piece made of slices that are written as they lie in memory.
//!
//! The connection writes a rope with `writev`, so that objects reach the socket without being copied
//! together first. It also says when: `advance` is called after a write has returned, and marks within
//! the rope are reported then.

use super::collection::Chunk;
use super::exchange::Exchange;
use super::object::Object;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// A slice of memory that stays where it is.
pub(crate) enum Segment {
    /// Text of the program.
    Static(&'static [u8]),
    /// Shared bytes.
    Bytes(Bytes),
    /// An object's text from the given byte on.
    Object(Arc<Object>, usize),
    /// The texts of neighbouring rows.
    Rows(Rows),
}

/// Neighbouring rows of a chunk, each a slice of its own. Holding the chunk spares a reference count for
/// each object.
pub(crate) struct Rows {
    chunk: Arc<Chunk>,
    /// The rows that are left.
    left: Range<usize>,
    /// Bytes of the first row's text that are left out.
    skip: usize,
}

impl Rows {
    /// The texts of these rows, the first one from its byte `skip` on; there is at least one row.
    pub(crate) fn new(chunk: Arc<Chunk>, left: Range<usize>, skip: usize) -> Self {
        Self { chunk, left, skip }
    }

    fn bytes(&self) -> usize {
        self.chunk.rows[self.left.clone()].iter().map(|row| row.size as usize).sum::<usize>() - self.skip
    }

    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let rows = self.chunk.rows[self.left.clone()].iter().enumerate();
        rows.map(|(i, row)| &row.object.text[if i == 0 { self.skip } else { 0 }..])
    }
}

impl Segment {
    fn bytes(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.bytes(),
            other => other.first().len(),
        }
    }

    fn first(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Bytes(bytes) => bytes,
            Self::Object(object, from) => &object.text[*from..],
            Self::Rows(rows) => rows.slices().next().unwrap_or_default(),
        }
    }

    /// Lets go of the first slice; false where it was the last one.
    fn drop_first(&mut self) -> bool {
        let Self::Rows(rows) = self else { return false };
        rows.left.start += 1;
        rows.skip = 0;
        !rows.left.is_empty()
    }
}

/// Hears that a part of a rope has been written.
pub(crate) trait Written: Send + Sync {
    /// The writes of the parts that end at these marks have returned.
    fn written(&self, marks: &[u64]);
}

/// Slices in order.
#[derive(Default)]
pub(crate) struct Rope {
    segments: VecDeque<Segment>,
    /// Bytes of the first slice that are consumed.
    consumed: usize,
    remaining: usize,
    /// Remaining bytes at which a mark is reached, and the mark.
    marks: VecDeque<(usize, u64)>,
    listener: Option<Arc<dyn Written>>,
    exchange: Option<Arc<Exchange>>,
}

impl Rope {
    /// One piece.
    pub(crate) fn of(bytes: impl Into<Bytes>) -> Self {
        let mut rope = Self::default();
        rope.push(Segment::Bytes(bytes.into()));
        rope
    }

    /// Appends a slice; an empty one is left out.
    pub(crate) fn push(&mut self, segment: Segment) {
        let bytes = segment.bytes();
        if bytes > 0 {
            self.remaining += bytes;
            self.segments.push_back(segment);
        }
    }

    /// Sets a mark behind what was appended so far. Marks count from the end once the rope is finished,
    /// see [`Self::listen`].
    pub(crate) fn mark(&mut self, mark: u64) {
        self.marks.push_back((self.remaining, mark));
    }

    /// Finishes the rope: the marks will be reported to the listener.
    pub(crate) fn listen(&mut self, listener: Arc<dyn Written>) {
        let total = self.remaining;
        self.marks.iter_mut().for_each(|(at, _)| *at = total - *at);
        self.listener = Some(listener);
    }

    /// Counts its bytes to an exchange as they are written.
    pub(crate) fn count_to(&mut self, exchange: &Arc<Exchange>) {
        self.exchange = Some(Arc::clone(exchange));
    }

    /// Whether nothing was appended, or nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.segments.iter().flat_map(|segment| {
            let (one, many) = match segment {
                Segment::Rows(rows) => (None, Some(rows.slices())),
                other => (Some(other.first()), None),
            };
            one.into_iter().chain(many.into_iter().flatten())
        })
    }

    /// Copies what is left into one piece.
    #[cfg(test)]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.remaining);
        for (i, slice) in self.slices().enumerate() {
            all.extend_from_slice(&slice[if i == 0 { self.consumed } else { 0 }..]);
        }
        all
    }
}

impl Buf for Rope {
    fn remaining(&self) -> usize {
        self.remaining
    }

    fn chunk(&self) -> &[u8] {
        self.segments.front().map_or(&[], |segment| &segment.first()[self.consumed..])
    }

    fn chunks_vectored<'a>(&'a self, target: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        for (slot, slice) in target.iter_mut().zip(self.slices()) {
            *slot = IoSlice::new(&slice[if filled == 0 { self.consumed } else { 0 }..]);
            filled += 1;
        }
        filled
    }

    fn advance(&mut self, count: usize) {
        self.remaining = self.remaining.checked_sub(count).expect("no more than what is left is written");
        let mut left = self.consumed + count;
        while let Some(first) = self.segments.front_mut() {
            let bytes = first.first().len();
            if left < bytes {
                break;
            }
            left -= bytes;
            if !first.drop_first() {
                self.segments.pop_front();
            }
        }
        self.consumed = left;
        if let Some(exchange) = &self.exchange {
            exchange.add_written(count);
        }
        if let Some(listener) = &self.listener {
            let reached = self.marks.iter().take_while(|(at, _)| *at >= self.remaining).count();
            if reached > 0 {
                let marks: Vec<u64> = self.marks.drain(..reached).map(|(_, mark)| mark).collect();
                listener.written(&marks);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::collection::Collection;
    use super::super::object::Shared;
    use super::*;
    use proptest::prelude::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Seen(Mutex<Vec<u64>>);

    impl Written for Seen {
        fn written(&self, marks: &[u64]) {
            self.0.lock().unwrap().extend(marks);
        }
    }

    fn chunk(texts: &[String]) -> Arc<Chunk> {
        let objects = texts.iter().map(|text| {
            Arc::new(Object {
                key: "".into(),
                namespace_len: 0,
                rv: 0,
                uid: "".into(),
                text: text.as_bytes().into(),
                labels: Shared { number: 0, set: Arc::from([]) },
                fields: Shared { number: 0, set: Arc::from([]) },
                planned: None,
            })
        });
        Arc::clone(&Collection::from_sorted(objects).chunks()[0])
    }

    proptest! {
        #[test]
        fn any_steps_give_the_same_bytes_and_each_mark_once_its_bytes_are_gone(
            pieces in prop::collection::vec("[a-z]{0,9}", 0..12), rows in prop::collection::vec("[A-Z]{2,5}", 1..9),
            skip in 0usize..2, steps in prop::collection::vec(1usize..7, 0..80)
        ) {
            let (mut rope, seen) = (Rope::default(), Arc::new(Seen::default()));
            let (mut text, mut ends) = (String::new(), Vec::new());
            for (i, piece) in pieces.iter().enumerate() {
                rope.push(Segment::Bytes(piece.clone().into()));
                rope.mark(i as u64);
                text.push_str(piece);
                ends.push(text.len());
            }
            rope.push(Segment::Rows(Rows::new(chunk(&rows), 0..rows.len(), skip)));
            text.push_str(&rows.concat()[skip..]);
            rope.mark(99);
            ends.push(text.len());
            rope.listen(Arc::clone(&seen) as Arc<dyn Written>);
            prop_assert_eq!(rope.to_vec(), text.as_bytes());
            let mut done = 0;
            for step in steps {
                let mut slices = [IoSlice::new(&[]); 4];
                let filled = rope.chunks_vectored(&mut slices);
                let offered: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
                prop_assert!(text.as_bytes()[done..].starts_with(&offered));
                let step = step.min(rope.remaining());
                rope.advance(step);
                done += step;
                prop_assert_eq!(rope.to_vec(), &text.as_bytes()[done..]);
                let reached = ends.iter().filter(|end| **end <= done).count();
                let marks = (0..pieces.len() as u64).chain([99]).take(reached).collect::<Vec<_>>();
                prop_assert_eq!(seen.0.lock().unwrap().clone(), marks);
            }
        }
    }
}
