//! The stretch of time that a trace shows, and what a request's place in it is.
//!
//! Lines stand in the order in which requests ended. A log therefore begins with requests that were received
//! before it, most of all watches, and ends while others are open.

use super::exchange::Exchange;
use super::loss::{Why, Whys};

/// A server gives an ordinary request so much time (`--request-timeout`). What took longer was a watch, and
/// may have been received long before the log begins.
const LONGEST_REQUEST_NS: i64 = 60_000_000_000;

/// From and to, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// T0.
    pub from_ns: i64,
    /// The end; what is received then is outside.
    pub until_ns: i64,
}

/// The first and the last instant that a log shows, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    received: Option<i64>,
    received_in_log: Option<i64>,
    last: Option<i64>,
}

impl Extent {
    /// Takes an event's instants.
    pub fn add(&mut self, received_ns: i64, stage_ns: i64) {
        let least = |old: Option<i64>| Some(old.map_or(received_ns, |old| old.min(received_ns)));
        self.received = least(self.received);
        if stage_ns.saturating_sub(received_ns) <= LONGEST_REQUEST_NS {
            self.received_in_log = least(self.received_in_log);
        }
        self.last = self.last.max(Some(stage_ns)).max(Some(received_ns));
    }

    /// The window that was asked for, else that of the log: from the receipt of the first request that reached
    /// a stage in time, to the last event. `None` without an event.
    pub fn window(self, from_ns: Option<i64>, until_ns: Option<i64>) -> Option<Window> {
        let log_from = self.received_in_log.or(self.received)?;
        // The last event lies inside.
        let log_until = self.last?.saturating_add(1);
        Some(Window { from_ns: from_ns.unwrap_or(log_from), until_ns: until_ns.unwrap_or(log_until) })
    }
}

/// When a request is due, and how long a watch lives, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// After T0.
    pub due_us: u64,
    /// Of a watch.
    pub watch_us: Option<u64>,
}

impl Window {
    /// A request's place; `None` outside the window. What had to be changed goes to `whys`.
    pub fn place(self, exchange: &Exchange, whys: &mut Whys) -> Option<Due> {
        let received_ns = exchange.event.received_ns;
        let is_watch = exchange.event.verb.as_ref() == "watch";
        let ended_ns = exchange.ended_ns.unwrap_or(self.until_ns);
        if received_ns >= self.until_ns || (received_ns < self.from_ns && ended_ns <= self.from_ns) {
            return None;
        }
        whys.insert_if(received_ns < self.from_ns, Why::Clipped);
        let due_us = micros(received_ns.max(self.from_ns).saturating_sub(self.from_ns));
        if !is_watch {
            return Some(Due { due_us, watch_us: None });
        }
        let until_ns = ended_ns.min(self.until_ns);
        if exchange.ended_ns.is_none() {
            whys.insert(Why::WatchOpen);
        } else {
            whys.insert_if(ended_ns > self.until_ns, Why::WatchClipped);
        }
        let started_ns = exchange.started_ns.unwrap_or(received_ns).max(self.from_ns);
        Some(Due { due_us, watch_us: Some(micros(until_ns.saturating_sub(started_ns))) })
    }
}

fn micros(ns: i64) -> u64 {
    u64::try_from(ns / 1_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::event::{Event, Reading};
    use super::super::loss::Place;
    use super::*;
    use serde_json::json;

    const SECOND: i64 = 1_000_000_000;

    fn exchange(verb: &str, received: i64, started: Option<i64>, ended: Option<i64>) -> Exchange {
        let line = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": verb,
            "requestURI": "/api/v1/pods", "requestReceivedTimestamp": "2024-05-01T10:00:00Z",
            "stageTimestamp": "2024-05-01T10:00:00Z",
        });
        let mut found = None;
        let place = Place { file: 0, line: 1 };
        Reading::default().line(line.to_string().as_bytes(), place, &mut |event| found = Some(event.unwrap()));
        let event = Event { received_ns: received, ..found.unwrap() };
        Exchange { event, started_ns: started, ended_ns: ended }
    }

    fn placed(window: Window, exchange: &Exchange) -> (Option<(u64, Option<u64>)>, Vec<Why>) {
        let mut whys = Whys::default();
        let due = window.place(exchange, &mut whys);
        (due.map(|due| (due.due_us, due.watch_us)), whys.iter().collect())
    }

    #[test]
    fn the_log_begins_with_the_first_request_and_not_with_a_watch_from_long_before() {
        let mut extent = Extent::default();
        assert_eq!(extent.window(None, None), None);
        extent.add(50 * SECOND, 150 * SECOND);
        assert_eq!(extent.window(None, None), Some(Window { from_ns: 50 * SECOND, until_ns: 150 * SECOND + 1 }));
        extent.add(110 * SECOND, 170 * SECOND);
        extent.add(120 * SECOND, 121 * SECOND);
        assert_eq!(extent.window(None, None), Some(Window { from_ns: 110 * SECOND, until_ns: 170 * SECOND + 1 }));
        assert_eq!(extent.window(Some(1), Some(2)), Some(Window { from_ns: 1, until_ns: 2 }));
    }

    #[test]
    fn a_request_from_before_the_window_is_clipped_and_one_that_ended_before_it_is_outside() {
        let window = Window { from_ns: 10 * SECOND, until_ns: 20 * SECOND };
        assert_eq!(
            placed(window, &exchange("get", 12 * SECOND, None, Some(13 * SECOND))),
            (Some((2_000_000, None)), vec![])
        );
        let early = exchange("get", 9 * SECOND, None, Some(11 * SECOND));
        assert_eq!(placed(window, &early), (Some((0, None)), vec![Why::Clipped]));
        assert_eq!(placed(window, &exchange("get", 8 * SECOND, None, Some(9 * SECOND))), (None, vec![]));
        assert_eq!(placed(window, &exchange("get", 20 * SECOND, None, Some(21 * SECOND))), (None, vec![]));
    }

    #[test]
    fn a_watch_lives_from_its_headers_to_its_end_inside_the_window() {
        let window = Window { from_ns: 10 * SECOND, until_ns: 20 * SECOND };
        let watch = |received, started: i64, ended: Option<i64>| {
            let ended = ended.map(|ended| ended * SECOND);
            placed(window, &exchange("watch", received * SECOND, Some(started * SECOND), ended))
        };
        assert_eq!(watch(11, 12, Some(15)), (Some((1_000_000, Some(3_000_000))), vec![]));
        assert_eq!(watch(1, 2, Some(15)), (Some((0, Some(5_000_000))), vec![Why::Clipped]));
        assert_eq!(watch(11, 12, None), (Some((1_000_000, Some(8_000_000))), vec![Why::WatchOpen]));
        assert_eq!(watch(11, 12, Some(30)), (Some((1_000_000, Some(8_000_000))), vec![Why::WatchClipped]));
        assert_eq!(watch(1, 2, None), (Some((0, Some(10_000_000))), vec![Why::Clipped, Why::WatchOpen]));
    }
}
