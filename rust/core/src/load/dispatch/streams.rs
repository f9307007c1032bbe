//! Connections and the streams on them.

/// The connections of all lanes. A connection has a number, and is one lane's.
#[derive(Debug, Default)]
pub(super) struct Streams {
    connections: Vec<Connection>,
    lanes: Vec<OfLane>,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    lane: u32,
    /// 0 while it is down.
    streams: u32,
    used: u32,
}

#[derive(Debug, Default)]
struct OfLane {
    connections: Vec<u32>,
    /// Where the search for a free stream begins.
    next: usize,
}

impl Connection {
    fn has_room(self) -> bool {
        self.used < self.streams
    }
}

impl Streams {
    pub(super) fn new(lanes: u32) -> Self {
        Self { connections: Vec::new(), lanes: (0..lanes).map(|_| OfLane::default()).collect() }
    }

    /// Adds a connection that is down until its streams are set; its number.
    pub(super) fn add(&mut self, lane: u32) -> u32 {
        let number = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        self.connections.push(Connection { lane, streams: 0, used: 0 });
        self.lanes[lane as usize].connections.push(number);
        number
    }

    /// Sets how many streams a connection takes at once; its lane.
    pub(super) fn set(&mut self, connection: u32, streams: u32) -> u32 {
        let entry = &mut self.connections[connection as usize];
        entry.streams = streams;
        entry.lane
    }

    /// A connection of the lane with a free stream, `preferred` before others.
    pub(super) fn find(&mut self, lane: u32, preferred: Option<u32>) -> Option<u32> {
        let found = preferred.filter(|number| self.connections[*number as usize].has_room());
        if found.is_some() {
            return found;
        }
        let lane = &mut self.lanes[lane as usize];
        let count = lane.connections.len();
        for step in 0..count {
            let at = (lane.next + step) % count;
            let number = lane.connections[at];
            if self.connections[number as usize].has_room() {
                lane.next = (at + 1) % count;
                return Some(number);
            }
        }
        None
    }

    /// Takes a stream.
    pub(super) fn take(&mut self, connection: u32) {
        self.connections[connection as usize].used += 1;
    }

    /// Gives a stream back.
    pub(super) fn free(&mut self, connection: u32) {
        self.connections[connection as usize].used -= 1;
    }

    /// Whether some connection of the lane is up.
    pub(super) fn is_up(&self, lane: u32) -> bool {
        self.of(lane).any(|streams| streams > 0)
    }

    /// Whether the lane's connections have fewer streams than so many. One that is down will have as many as the
    /// others; while all are down, those that come back are waited for.
    pub(super) fn lack(&self, lane: u32, need: u64) -> bool {
        let most = self.of(lane).max().unwrap_or(0);
        let have: u64 = self.of(lane).map(|streams| u64::from(if streams == 0 { most } else { streams })).sum();
        most > 0 && have < need
    }

    fn of(&self, lane: u32) -> impl Iterator<Item = u32> {
        self.lanes[lane as usize].connections.iter().map(|number| self.connections[*number as usize].streams)
    }
}
