//! The body of a WATCH: the initial objects where asked for, what was missed, then what comes.

use super::core::Core;
use super::exchange::Exchange;
use super::filter::Filter;
use super::frames::{EVENT_END, Frames};
use super::history::{Change, Event};
use super::object::Object;
use super::rope::{Rope, Segment, Written};
use super::semantics::status::Status;
use super::semantics::table;
use super::shape::Shape;
use super::store::{KindId, Snapshot};
use super::watch_info::{Tally, WatchInfo};
use super::watchers::{End, Taken, Watcher};
use crate::clock::now_ns;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Interval, Sleep};

/// Events in one piece: three slices each, as many as one `writev` takes.
const PIECE_EVENTS: usize = 21;
/// Time between bookmarks.
pub(crate) const BOOKMARK_EVERY: Duration = Duration::from_secs(10);

/// What a watch was opened with.
pub(crate) struct WatchOptions {
    pub(crate) kind: KindId,
    pub(crate) filter: Filter,
    pub(crate) shape: Shape,
    /// The objects to begin with.
    pub(crate) initial: Option<Snapshot>,
    /// Whether to say that the initial objects are complete.
    pub(crate) mark_initial_end: bool,
    pub(crate) bookmarks: bool,
    pub(crate) timeout: Duration,
}

/// An open watch. Dropped, it has ended.
pub(crate) struct WatchBody {
    options: WatchOptions,
    core: Arc<Core>,
    watcher: Arc<Watcher>,
    info: Arc<WatchInfo>,
    tally: Arc<Tally>,
    initial: VecDeque<Arc<Object>>,
    /// The version of the initial objects, until it has been said.
    initial_rv: Option<u64>,
    bookmark: Pin<Box<Interval>>,
    timeout: Pin<Box<Sleep>>,
    hold: Option<Pin<Box<Sleep>>>,
    /// Last second of the slow window in which something was released.
    released: Option<u64>,
    held: bool,
    columns_sent: bool,
    ended: Option<End>,
}

impl WatchBody {
    /// Starts the watch of a watcher that the store knows already.
    pub(crate) fn new(
        core: Arc<Core>,
        exchange: Arc<Exchange>,
        watcher: Arc<Watcher>,
        mut options: WatchOptions,
    ) -> Self {
        let info = Arc::new(WatchInfo {
            id: watcher.id,
            asked: exchange.asked().clone(),
            opened_ns: now_ns(),
            events: AtomicU64::new(0),
            ended_ns: AtomicU64::new(0),
            watcher: Arc::clone(&watcher),
            exchange,
            accounting: Arc::clone(&core.accounting),
            sink: core.sink.clone(),
        });
        core.watches.add(Arc::clone(&info));
        let snapshot = options.initial.take();
        let initial_rv = snapshot.as_ref().map(|snapshot| snapshot.rv).filter(|_| options.mark_initial_end);
        let initial = snapshot.map_or_else(VecDeque::new, |snapshot| {
            let selection = options.filter.select(&snapshot.objects, None, usize::MAX);
            let rows =
                selection.runs.iter().flat_map(|run| &snapshot.objects.chunks()[run.chunk].rows[run.from..run.to]);
            rows.map(|row| Arc::clone(&row.object)).collect()
        });
        let first_bookmark = tokio::time::Instant::now() + BOOKMARK_EVERY;
        let timeout = Box::pin(tokio::time::sleep(options.timeout));
        Self {
            options,
            core,
            watcher,
            tally: Tally::new(Arc::clone(&info)),
            info,
            initial,
            initial_rv,
            bookmark: Box::pin(tokio::time::interval_at(first_bookmark, BOOKMARK_EVERY)),
            timeout,
            hold: None,
            released: None,
            held: false,
            columns_sent: false,
            ended: None,
        }
    }

    /// The next piece; `None` at the end.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        ready!(self.poll_hold(cx));
        if !self.initial.is_empty() {
            return Poll::Ready(Some(self.initial_piece()));
        }
        if let Some(rv) = self.initial_rv.take() {
            return Poll::Ready(Some(self.bookmark_piece(rv, true)));
        }
        loop {
            match self.watcher.poll_take(cx, self.take_limit()) {
                Poll::Ready(Taken::Events(events)) => {
                    if let Some(rope) = self.events_piece(&events) {
                        return Poll::Ready(Some(rope));
                    }
                }
                Poll::Ready(Taken::Ended(why)) => {
                    self.ended = Some(why);
                    return Poll::Ready((why == End::Expired).then(|| {
                        self.core.accounting.expired(&self.info.asked);
                        error_event(&Status::expired("The resourceVersion for the provided watch is too old."))
                    }));
                }
                Poll::Pending => break,
            }
        }
        if self.timeout.as_mut().poll(cx).is_ready() {
            self.ended = Some(End::Timeout);
            // A last bookmark spares the client the events it has seen.
            return Poll::Ready(self.bookmark_now());
        }
        while self.bookmark.as_mut().poll_tick(cx).is_ready() {
            if let Some(piece) = self.bookmark_now() {
                return Poll::Ready(Some(piece));
            }
        }
        Poll::Pending
    }

    /// While writes are held, what has gathered is released once a second.
    fn poll_hold(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(hold) = &mut self.hold {
            ready!(hold.as_mut().poll(cx));
            self.hold = None;
        }
        let now = now_ns();
        let Some((second, next_ns)) = self.core.faults.hold(now) else {
            self.released = None;
            return Poll::Ready(());
        };
        if !self.held {
            self.held = true;
            self.core.faults.exercised(perfq_core::workload::FailureKind::Slow, "watch");
        }
        if second > 0 && self.released != Some(second) {
            self.released = Some(second);
            return Poll::Ready(());
        }
        let mut hold = Box::pin(tokio::time::sleep(Duration::from_nanos(next_ns - now)));
        if hold.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        } else {
            // Kept, so that its timer lives to wake this watch.
            self.hold = Some(hold);
        }
        Poll::Pending
    }

    /// In a held second everything that has gathered goes in one piece.
    fn take_limit(&self) -> usize {
        if self.released.is_some() { usize::MAX } else { PIECE_EVENTS }
    }

    fn initial_piece(&mut self) -> Rope {
        let count = self.initial.len().min(if self.released.is_some() { usize::MAX } else { PIECE_EVENTS });
        let objects: Vec<_> = self.initial.drain(..count).collect();
        let mut rope = Rope::default();
        for object in &objects {
            self.push(&mut rope, Change::Added, object);
        }
        rope
    }

    fn events_piece(&mut self, events: &[Arc<Event>]) -> Option<Rope> {
        let mut rope = Rope::default();
        for event in events {
            if let Some((change, object)) = project(event, &self.options.filter) {
                self.push(&mut rope, change, &object);
                rope.mark(event.rv());
            }
        }
        if rope.is_empty() {
            return None;
        }
        rope.listen(Arc::clone(&self.tally) as Arc<dyn Written>);
        Some(rope)
    }

    fn push(&mut self, rope: &mut Rope, change: Change, object: &Arc<Object>) {
        let frames = Frames::of(self.options.kind);
        if matches!(self.options.shape, Shape::Object) {
            frames.push_event(rope, change, object);
        } else {
            let text = self.made_event(change.name(), &frames.text(object));
            rope.push(Segment::Bytes(text.into()));
        }
    }

    /// An event whose object is converted from its text.
    fn made_event(&mut self, event: &str, object: &[u8]) -> Vec<u8> {
        let kind = self.options.kind.kind();
        let mut out = format!("{{\"type\":\"{event}\",\"object\":").into_bytes();
        let start = out.len();
        let made = match self.options.shape {
            Shape::Table(options) => {
                let columns = !std::mem::replace(&mut self.columns_sent, true);
                table::write_object_table(&mut out, kind, object, options, columns)
            }
            Shape::Partial(version) => table::write_partial(&mut out, object, version),
            Shape::Object | Shape::Usage(_) => {
                out.extend_from_slice(object);
                Ok(())
            }
        };
        if made.is_err() {
            // What cannot be converted is sent as it is.
            out.truncate(start);
            out.extend_from_slice(object);
        }
        out.extend_from_slice(EVENT_END);
        out
    }

    fn bookmark_now(&mut self) -> Option<Rope> {
        let rv = self.options.bookmarks.then(|| self.core.store.bookmark(&self.watcher)).flatten()?;
        Some(self.bookmark_piece(rv, false))
    }

    fn bookmark_piece(&mut self, rv: u64, initial_end: bool) -> Rope {
        let object = Frames::of(self.options.kind).bookmark_object(rv, initial_end);
        Rope::of(self.made_event("BOOKMARK", object.as_bytes()))
    }
}

impl Drop for WatchBody {
    fn drop(&mut self) {
        self.core.store.unwatch(self.options.kind, &self.watcher);
        let why = self.ended.or_else(|| self.watcher.ended().map(|(_, why)| why)).unwrap_or(End::Client);
        self.tally.ended(why);
    }
}

/// A watch event that carries a Status.
pub(crate) fn error_event(status: &Status) -> Rope {
    let mut rope = Rope::default();
    rope.push(Segment::Static(b"{\"type\":\"ERROR\",\"object\":"));
    rope.push(Segment::Bytes(status.to_json().into()));
    rope.push(Segment::Static(EVENT_END));
    rope
}

/// What an event is to a watch with selectors: an object that begins to match is new, and one that
/// stops matching is deleted, in its last matching state with the version of the change.
fn project(event: &Event, filter: &Filter) -> Option<(Change, Arc<Object>)> {
    if !filter.has_selector() {
        return Some((event.change, Arc::clone(&event.object)));
    }
    let now = event.change != Change::Deleted && filter.matches(&event.object);
    let before = event.former.as_ref().filter(|former| filter.matches(former));
    match (before, now) {
        (None, false) => None,
        (None, true) => Some((Change::Added, Arc::clone(&event.object))),
        (Some(_), true) => Some((Change::Modified, Arc::clone(&event.object))),
        (Some(former), false) => Some((Change::Deleted, Arc::new(former.with_rv(event.rv())))),
    }
}
