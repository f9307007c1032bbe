//! Who may be sent now, and on which connection: order, in-flight limits and streams as one state machine.
//!
//! A *lane* is one runner: its limit of requests in flight, its connections, and what waits for them. Instants
//! are handed in, requests to be sent are handed out; there is no clock and no I/O.

mod planned;
mod streams;
#[cfg(test)]
mod tests;

pub use planned::{Effects, Planned, Slot, Start};

use super::{Order, Place};
use std::collections::VecDeque;
use streams::Streams;

#[derive(Debug)]
struct Lane<T> {
    limit: u32,
    in_flight: u32,
    /// Watches outside of the limit.
    watches: u32,
    /// In the order, for a former one to end.
    held: usize,
    waiting: VecDeque<T>,
    waiting_watches: VecDeque<T>,
}

impl<T: Planned> Lane<T> {
    fn queue_of(&mut self, item: &T) -> &mut VecDeque<T> {
        if item.takes_a_slot() { &mut self.waiting } else { &mut self.waiting_watches }
    }
}

/// All lanes of a segment.
#[derive(Debug)]
pub struct Dispatch<T> {
    lanes: Vec<Lane<T>>,
    streams: Streams,
    order: Order<T>,
    drops: bool,
    own_watches: bool,
    closed: bool,
    outstanding: usize,
    in_flight: u32,
    in_flight_max: u32,
}

impl<T: Planned> Dispatch<T> {
    /// `lanes` with `limit` requests in flight each. `drops`: a request without a free slot is dropped, not
    /// queued. `own_watches`: a WATCH gets a connection of its own (HTTP/1.1).
    pub fn new(lanes: u32, limit: u32, drops: bool, own_watches: bool) -> Self {
        let lane = || Lane {
            limit,
            in_flight: 0,
            watches: 0,
            held: 0,
            waiting: VecDeque::new(),
            waiting_watches: VecDeque::new(),
        };
        Self {
            lanes: (0..lanes).map(|_| lane()).collect(),
            streams: Streams::new(lanes),
            order: Order::default(),
            drops,
            own_watches,
            closed: false,
            outstanding: 0,
            in_flight: 0,
            in_flight_max: 0,
        }
    }

    /// Adds a connection that is down until its streams are set; its number.
    pub fn add_connection(&mut self, lane: u32) -> u32 {
        self.streams.add(lane)
    }

    /// How many streams a connection takes at once; 0 while it is down.
    pub fn set_streams(&mut self, connection: u32, streams: u32, now_ns: u64, effects: &mut Effects<T>) {
        let lane = self.streams.set(connection, streams);
        self.pump(lane, Some(connection), now_ns, effects);
    }

    /// Takes a request in the order of the plan.
    pub fn arrive(&mut self, mut item: T, now_ns: u64, effects: &mut Effects<T>) {
        self.outstanding += 1;
        item.queued(now_ns);
        let lane = item.lane();
        if let Some(item) = self.order.arrive(item.place(), item) {
            self.enqueue(item, now_ns);
            self.pump(lane, None, now_ns, effects);
        } else {
            self.lanes[lane as usize].held += 1;
        }
    }

    /// A request that was started has ended, however.
    pub fn ended(&mut self, slot: Slot, place: Place, now_ns: u64, effects: &mut Effects<T>) {
        self.free(slot);
        self.gone(place, now_ns, effects);
        self.pump(slot.lane, slot.connection, now_ns, effects);
    }

    /// A request that never got a slot has ended: it was taken by [`Self::take_waiting_of`].
    pub fn ended_unsent(&mut self, place: Place, now_ns: u64, effects: &mut Effects<T>) {
        self.gone(place, now_ns, effects);
    }

    /// A request that was started is to be sent again, before all that wait in its lane.
    pub fn again(&mut self, slot: Slot, mut item: T, now_ns: u64, effects: &mut Effects<T>) {
        self.free(slot);
        item.queued(now_ns);
        item.in_turn(now_ns);
        self.lanes[slot.lane as usize].queue_of(&item).push_front(item);
        self.pump(slot.lane, None, now_ns, effects);
    }

    /// Starts nothing from now on.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it was closed: what still arrived would wait for ever.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Gives up all that waits in a lane for a slot; the end of each is to be told.
    pub fn take_waiting_of(&mut self, lane: u32) -> Vec<T> {
        let lane = &mut self.lanes[lane as usize];
        lane.waiting.drain(..).chain(lane.waiting_watches.drain(..)).collect()
    }

    /// Gives up all that waits for its turn.
    pub fn take_held(&mut self) -> Vec<T> {
        let held = self.order.take_held();
        self.outstanding -= held.len();
        for lane in &mut self.lanes {
            lane.held = 0;
        }
        held
    }

    /// Gives up all that waits for a slot.
    pub fn take_waiting(&mut self) -> Vec<T> {
        let lanes = 0..u32::try_from(self.lanes.len()).unwrap_or(u32::MAX);
        let all: Vec<T> = lanes.flat_map(|lane| self.take_waiting_of(lane)).collect();
        self.outstanding -= all.len();
        all
    }

    /// Requests of a lane that have come and were not started: they wait for a slot or for their turn.
    pub fn waiting(&self, lane: u32) -> usize {
        let lane = &self.lanes[lane as usize];
        lane.waiting.len() + lane.waiting_watches.len() + lane.held
    }

    /// Requests that have come and not ended.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Requests in flight, watches that live on not among them.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Watches that live on: open, or on their way.
    pub fn watches(&self) -> u32 {
        self.lanes.iter().map(|lane| lane.watches).sum()
    }

    /// The most requests in flight since the last call.
    pub fn take_in_flight_max(&mut self) -> u32 {
        std::mem::replace(&mut self.in_flight_max, self.in_flight)
    }

    /// Whether some connection of the lane is up.
    pub fn is_up(&self, lane: u32) -> bool {
        self.streams.is_up(lane)
    }

    fn enqueue(&mut self, mut item: T, now_ns: u64) {
        item.in_turn(now_ns);
        self.lanes[item.lane() as usize].queue_of(&item).push_back(item);
    }

    fn free(&mut self, slot: Slot) {
        let lane = &mut self.lanes[slot.lane as usize];
        if slot.limited {
            lane.in_flight -= 1;
            self.in_flight -= 1;
        } else {
            lane.watches -= 1;
        }
        if let Some(connection) = slot.connection {
            self.streams.free(connection);
        }
    }

    /// Takes a request out of the order, and starts what it held back. Where that is dropped, it is taken out too:
    /// in a loop, since those behind it may be as many as a plan has.
    fn gone(&mut self, place: Place, now_ns: u64, effects: &mut Effects<T>) {
        let (mut next, mut dropped) = (Some(place), Vec::new());
        while let Some(place) = next {
            self.outstanding -= 1;
            if place != Place::Free {
                let mut released = Vec::new();
                self.order.ended(place, &mut released);
                for item in released {
                    let lane = item.lane();
                    self.lanes[lane as usize].held -= 1;
                    self.enqueue(item, now_ns);
                    self.start_waiting(lane, None, now_ns, effects, &mut dropped);
                }
            }
            next = dropped.pop();
        }
    }

    /// Starts what may be started in a lane.
    fn pump(&mut self, lane: u32, preferred: Option<u32>, now_ns: u64, effects: &mut Effects<T>) {
        let mut dropped = Vec::new();
        self.start_waiting(lane, preferred, now_ns, effects, &mut dropped);
        for place in dropped {
            self.gone(place, now_ns, effects);
        }
    }

    /// The same; the places of those that are dropped are left to be given up.
    fn start_waiting(
        &mut self,
        lane: u32,
        preferred: Option<u32>,
        now_ns: u64,
        effects: &mut Effects<T>,
        dropped: &mut Vec<Place>,
    ) {
        if self.closed {
            return;
        }
        while self.start_watch(lane, preferred, now_ns, effects) {}
        let state = &self.lanes[lane as usize];
        if !self.own_watches && state.watches > 0 {
            let need = u64::from(state.watches) + state.waiting_watches.len() as u64 + u64::from(state.limit);
            // Watches leave fewer streams than requests may be in flight.
            if self.streams.lack(lane, need) {
                effects.connect.push((self.streams.add(lane), lane));
            }
        }
        while self.start_next(lane, preferred, now_ns, effects) {}
        if self.drops {
            while let Some(item) = self.lanes[lane as usize].waiting.pop_back() {
                dropped.push(item.place());
                effects.dropped.push(item);
            }
        }
    }

    /// Starts the next of those in the limit, where there is a slot for it.
    fn start_next(&mut self, lane: u32, preferred: Option<u32>, now_ns: u64, effects: &mut Effects<T>) -> bool {
        let state = &mut self.lanes[lane as usize];
        let Some(next) = state.waiting.front().filter(|_| state.in_flight < state.limit) else { return false };
        let own = self.own_watches && next.is_watch();
        let connection = if own { None } else { self.streams.find(lane, preferred) };
        if connection.is_none() && !own {
            return false;
        }
        let Some(item) = state.waiting.pop_front() else { return false };
        state.in_flight += 1;
        self.in_flight += 1;
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
        self.start(item, Slot { lane, connection, limited: true }, now_ns, effects);
        true
    }

    /// Starts the next watch outside of the limit, where there is a stream for it.
    fn start_watch(&mut self, lane: u32, preferred: Option<u32>, now_ns: u64, effects: &mut Effects<T>) -> bool {
        let state = &mut self.lanes[lane as usize];
        if state.waiting_watches.is_empty() {
            return false;
        }
        let connection = if self.own_watches { None } else { self.streams.find(lane, preferred) };
        if connection.is_none() && !self.own_watches {
            return false;
        }
        let Some(item) = state.waiting_watches.pop_front() else { return false };
        state.watches += 1;
        self.start(item, Slot { lane, connection, limited: false }, now_ns, effects);
        true
    }

    fn start(&mut self, mut item: T, slot: Slot, now_ns: u64, effects: &mut Effects<T>) {
        item.slot_given(now_ns);
        if let Some(connection) = slot.connection {
            self.streams.take(connection);
        }
        effects.starts.push(Start { item, slot });
    }
}
