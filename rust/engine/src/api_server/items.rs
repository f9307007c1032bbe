//! The body of a LIST, made piece by piece from a snapshot.

use super::documents;
use super::filter::Selection;
use super::frames::Frames;
use super::object::{LEAD, Object};
use super::rope::{Rope, Rows, Segment};
use super::semantics::instant::Instant;
use super::semantics::table::{self, ListMeta, TableOptions};
use super::shape::Shape;
use super::store::{KindId, Snapshot};
use bytes::{Buf, Bytes};

/// Objects in a piece that are written as they lie in memory.
const PIECE_ROWS: usize = 256;
/// Bytes of a piece whose rows have to be made.
const MADE_BYTES: usize = 64 * 1024;

/// A list that is being written.
pub(crate) struct Items {
    kind: KindId,
    shape: Shape,
    snapshot: Snapshot,
    selection: Selection,
    /// Index of the run and row within it that come next.
    run: usize,
    row: usize,
    head: Option<Bytes>,
    tail: Option<&'static [u8]>,
    left: Option<u64>,
    now: Instant,
}

impl Items {
    /// A list of the selected rows. `token` continues it where there are more.
    pub(crate) fn new(
        kind: KindId,
        shape: Shape,
        snapshot: Snapshot,
        selection: Selection,
        token: Option<&str>,
    ) -> Self {
        let rv = snapshot.rv.to_string();
        let meta = ListMeta {
            resource_version: &rv,
            continue_token: token,
            remaining: selection.remaining.filter(|_| token.is_some()).map(|rows| rows as u64),
        };
        let mut head = Vec::new();
        let tail: &'static [u8] = match shape {
            Shape::Object => {
                head.extend_from_slice(&Frames::of(kind).list);
                head.extend_from_slice(b"\"metadata\":");
                meta.write(&mut head);
                head.extend_from_slice(b",\"items\":[");
                b"]}\n"
            }
            Shape::Table(options) => {
                table::start_table(&mut head, kind.kind(), meta, options, true);
                b"]}\n"
            }
            Shape::Partial(version) => {
                table::start_partial_list(&mut head, meta, version);
                b"]}\n"
            }
            Shape::Usage(metrics) => {
                head.extend_from_slice(&Frames::of(metrics).list);
                head.extend_from_slice(b"\"metadata\":{},\"items\":[");
                b"]}\n"
            }
        };
        let left = matches!(shape, Shape::Object).then(|| (head.len() + selection.bytes + tail.len()) as u64);
        Self {
            kind,
            shape,
            snapshot,
            selection,
            run: 0,
            row: 0,
            head: Some(head.into()),
            tail: Some(tail),
            left,
            now: Instant::now(),
        }
    }

    /// Bytes left, where they are known: they are unless rows have to be made.
    pub(crate) fn exact_bytes(&self) -> Option<u64> {
        self.left
    }

    /// Bytes that it would take as objects, known for every shape.
    pub(crate) fn object_bytes(&self) -> usize {
        self.selection.bytes
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next_piece(&mut self) -> Option<Rope> {
        self.tail?;
        let mut rope = Rope::default();
        let mut first = false;
        if let Some(head) = self.head.take() {
            rope.push(Segment::Bytes(head));
            first = true;
        }
        match self.shape {
            Shape::Object => self.push_objects(&mut rope, first),
            Shape::Table(options) => {
                self.push_made(&mut rope, first, |items, object, out| items.row(object, options, out));
            }
            Shape::Partial(version) => self.push_made(&mut rope, first, |items, object, out| {
                let _ = table::write_partial(out, &Frames::of(items.kind).text(object), version);
            }),
            Shape::Usage(_) => self.push_made(&mut rope, first, |items, object, out| {
                if let Ok(usage) = documents::usage_of(items.kind, object) {
                    out.extend_from_slice(usage.to_string().as_bytes());
                }
            }),
        }
        if self.run >= self.selection.runs.len()
            && let Some(tail) = self.tail.take()
        {
            rope.push(Segment::Static(tail));
        }
        if let Some(left) = &mut self.left {
            *left -= rope.remaining() as u64;
        }
        Some(rope)
    }

    fn row(&self, object: &Object, options: TableOptions, out: &mut Vec<u8>) {
        let start = out.len();
        let text = Frames::of(self.kind).text(object);
        if table::write_row(out, self.kind.kind(), &text, options, self.now).is_err() {
            // An object that cannot be read has no cells; a row without any keeps the table whole.
            out.truncate(start);
            out.extend_from_slice(b"{\"cells\":[]}");
        }
    }

    fn next_object(&mut self) -> Option<std::sync::Arc<Object>> {
        let run = self.selection.runs.get(self.run)?;
        let object = &self.snapshot.objects.chunks()[run.chunk].rows[run.from + self.row].object;
        self.row += 1;
        if run.from + self.row >= run.to {
            self.run += 1;
            self.row = 0;
        }
        Some(std::sync::Arc::clone(object))
    }

    /// Objects as they lie in memory, each with the comma before it.
    fn push_objects(&mut self, rope: &mut Rope, mut first: bool) {
        let mut room = PIECE_ROWS;
        while let Some(run) = self.selection.runs.get(self.run).filter(|_| room > 0) {
            let from = run.from + self.row;
            let to = run.to.min(from + room);
            room -= to - from;
            // Only the first item of the page has no comma.
            let skip = if first { LEAD - 1 } else { 0 };
            first = false;
            let chunk = std::sync::Arc::clone(&self.snapshot.objects.chunks()[run.chunk]);
            rope.push(Segment::Rows(Rows::new(chunk, from..to, skip)));
            if to == run.to {
                self.run += 1;
                self.row = 0;
            } else {
                self.row += to - from;
            }
        }
    }

    /// Rows that are made from the objects.
    fn push_made(&mut self, rope: &mut Rope, mut first: bool, make: impl Fn(&Self, &Object, &mut Vec<u8>)) {
        let mut out = Vec::with_capacity(MADE_BYTES + 8 * 1024);
        while out.len() < MADE_BYTES {
            let Some(object) = self.next_object() else { break };
            if !first {
                out.push(b',');
            }
            first = false;
            make(self, &object, &mut out);
        }
        rope.push(Segment::Bytes(out.into()));
    }
}
