//! A request to an aggregated API stands in the logs of both servers, with one audit ID.

use super::exchange::Exchange;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The clocks of two servers may differ by so much.
const SKEW_NS: i64 = 5_000_000_000;

/// How a log tells a request by the way that it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    /// All of its addresses.
    Whole,
    /// All but the last.
    ButLast,
}

/// The requests that are open. Bounded by how many are open at once.
#[derive(Debug, Default)]
pub(super) struct Aggregated {
    open: HashMap<u64, u32>,
    ends: BinaryHeap<Reverse<(i64, u64)>>,
}

fn digest(exchange: &Exchange, way: Way, addresses: u32, by: u64) -> u64 {
    let event = &exchange.event;
    let mut hasher = DefaultHasher::new();
    (&event.audit_id, &event.uri, &event.verb, way, addresses, by).hash(&mut hasher);
    hasher.finish()
}

impl Aggregated {
    /// Whether the other server's log had this request already. Requests must come by the instant of their
    /// receipt.
    ///
    /// The second server sees the addresses that the first one saw, and then the first server's.
    pub(super) fn is_known(&mut self, exchange: &Exchange) -> bool {
        while let Some(Reverse((end, digest))) = self.ends.peek().copied() {
            if end >= exchange.event.received_ns {
                break;
            }
            self.ends.pop();
            if let Some(count) = self.open.get_mut(&digest) {
                *count -= 1;
                if *count == 0 {
                    self.open.remove(&digest);
                }
            }
        }
        let hops = exchange.event.hops;
        let first = hops.count.checked_sub(1).map(|fewer| digest(exchange, Way::Whole, fewer, hops.but_last));
        let second = digest(exchange, Way::ButLast, hops.count + 1, hops.all);
        first.is_some_and(|first| self.open.contains_key(&first)) || self.open.contains_key(&second)
    }

    /// Remembers a request that goes into the trace.
    pub(super) fn remember(&mut self, exchange: &Exchange) {
        let hops = exchange.event.hops;
        if exchange.event.audit_id.is_empty() || hops.count == 0 {
            return;
        }
        let end = exchange.ended_ns.unwrap_or(i64::MAX).saturating_add(SKEW_NS);
        for (way, by) in [(Way::Whole, hops.all), (Way::ButLast, hops.but_last)] {
            let digest = digest(exchange, way, hops.count, by);
            *self.open.entry(digest).or_default() += 1;
            self.ends.push(Reverse((end, digest)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Reading;
    use super::super::loss::Place;
    use super::*;
    use serde_json::json;

    fn exchange(id: &str, from: &[&str], received: u32, ended: u32) -> Exchange {
        let time = |seconds: u32| format!("2024-05-01T10:00:{seconds:02}Z");
        let line = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": id, "stage": "ResponseComplete", "verb": "get",
            "requestURI": "/apis/metrics.k8s.io/v1beta1/nodes/n", "sourceIPs": from,
            "requestReceivedTimestamp": time(received), "stageTimestamp": time(ended),
        });
        let mut found = None;
        let place = Place { file: 0, line: 1 };
        Reading::default().line(line.to_string().as_bytes(), place, &mut |event| found = Some(event.unwrap()));
        let event = found.unwrap();
        Exchange { started_ns: None, ended_ns: Some(event.stage_ns), event }
    }

    const CLIENT: &str = "203.0.113.7";
    const SERVER: &str = "203.0.113.1";

    #[test]
    fn a_request_that_both_servers_logged_is_one_whichever_clock_is_ahead() {
        for (first, second) in [(vec![CLIENT], vec![CLIENT, SERVER]), (vec![CLIENT, SERVER], vec![CLIENT])] {
            let mut aggregated = Aggregated::default();
            let one = exchange("a", &first, 1, 2);
            assert!(!aggregated.is_known(&one));
            aggregated.remember(&one);
            assert!(aggregated.is_known(&exchange("a", &second, 1, 2)));
        }
    }

    #[test]
    fn an_audit_id_that_a_client_sends_again_is_no_sign() {
        let mut aggregated = Aggregated::default();
        aggregated.remember(&exchange("a", &[CLIENT], 1, 2));
        for other in [
            exchange("a", &[CLIENT], 1, 2),
            exchange("b", &[CLIENT, SERVER], 1, 2),
            exchange("a", &[SERVER, CLIENT], 1, 2),
            exchange("a", &[CLIENT, SERVER, SERVER], 1, 2),
        ] {
            assert!(!aggregated.is_known(&other));
        }
    }

    #[test]
    fn a_request_is_remembered_while_it_is_open_and_not_longer() {
        let mut aggregated = Aggregated::default();
        aggregated.remember(&exchange("a", &[CLIENT], 1, 10));
        aggregated.remember(&exchange("a", &[CLIENT], 1, 10));
        assert!(aggregated.is_known(&exchange("a", &[CLIENT, SERVER], 9, 10)));
        assert!(!aggregated.is_known(&exchange("a", &[CLIENT, SERVER], 30, 31)));
        assert!(aggregated.open.is_empty() && aggregated.ends.is_empty());
    }
}
