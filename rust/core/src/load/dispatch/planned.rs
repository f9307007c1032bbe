//! What goes into the dispatch, and what comes out.

use crate::load::Place;

/// What the dispatch has to know of a request, and what it tells it. Instants in nanoseconds.
pub trait Planned {
    /// The runner that sends it.
    fn lane(&self) -> u32;
    /// Its place in the order.
    fn place(&self) -> Place;
    /// Whether it is a WATCH, which over HTTP/1.1 needs a connection of its own.
    fn is_watch(&self) -> bool;
    /// Whether it takes from the in-flight limit. All do but a WATCH that lives on: that takes a stream alone.
    fn takes_a_slot(&self) -> bool;
    /// It has come, or its sending was undone.
    fn queued(&mut self, now_ns: u64);
    /// The order lets it go.
    fn in_turn(&mut self, now_ns: u64);
    /// It has a slot.
    fn slot_given(&mut self, now_ns: u64);
}

/// What a request in flight holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its lane.
    pub lane: u32,
    /// Its connection; `None` for a WATCH that opens one of its own.
    pub connection: Option<u32>,
    /// Whether it is one of the in-flight limit.
    pub limited: bool,
}

/// A request to be sent, and its slot.
#[derive(Debug, PartialEq, Eq)]
pub struct Start<T> {
    /// The request.
    pub item: T,
    /// Where it is sent.
    pub slot: Slot,
}

/// What a change led to.
#[derive(Debug)]
pub struct Effects<T> {
    /// Requests to be sent now.
    pub starts: Vec<Start<T>>,
    /// Requests that found no slot where the overload policy is to drop; their places are given up.
    pub dropped: Vec<T>,
    /// Connections that were added, and are to be opened: number and lane.
    pub connect: Vec<(u32, u32)>,
}

impl<T> Default for Effects<T> {
    fn default() -> Self {
        Self { starts: Vec::new(), dropped: Vec::new(), connect: Vec::new() }
    }
}
