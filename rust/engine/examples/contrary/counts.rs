//! What the server saw, so that a client's word can be held against it.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(100);
/// Paths beyond are counted together.
const PATHS: usize = 20_000;
const OTHER: &str = "(other paths)";
/// Requests that are kept one by one.
const LOG: usize = 100_000;

/// Counters of connections.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Connections {
    pub(crate) accepted: u64,
    pub(crate) handshake_failures: u64,
    pub(crate) http1: u64,
    pub(crate) http2: u64,
    pub(crate) open: u64,
    pub(crate) most_open: u64,
    /// Resets of whole connections by this server.
    pub(crate) resets: u64,
    pub(crate) goaways: u64,
    /// Streams above the last id of a GOAWAY.
    pub(crate) unprocessed: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
struct OfPath {
    methods: BTreeMap<String, u64>,
    #[serde(skip)]
    open: u64,
    max_concurrency: u64,
}

/// All counters; `as_json` is what `/__counts` tells.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) connections: Connections,
    requests: u64,
    request_bytes: u64,
    methods: BTreeMap<String, u64>,
    paths: HashMap<String, OfPath>,
    open: u64,
    max_concurrency: u64,
    recent: VecDeque<Instant>,
    max_in_100_ms: usize,
    first: Option<Instant>,
    per_second: Vec<u64>,
    /// Responses that were written to their proper end, by status.
    completed: BTreeMap<u16, u64>,
    log: Vec<Value>,
}

impl Counts {
    /// A request has been read; returns the name under which its path is counted.
    pub(crate) fn arrived(&mut self, method: &str, target: &str, body: &[u8], now: Instant) -> String {
        self.requests += 1;
        self.request_bytes += body.len() as u64;
        *entry(&mut self.methods, method) += 1;
        self.open += 1;
        self.max_concurrency = self.max_concurrency.max(self.open);
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|&then| now - then > WINDOW) {
            self.recent.pop_front();
        }
        self.max_in_100_ms = self.max_in_100_ms.max(self.recent.len());
        let since = now - *self.first.get_or_insert(now);
        let second = usize::try_from(since.as_secs()).unwrap_or(usize::MAX).min(86_400);
        if self.per_second.len() <= second {
            self.per_second.resize(second + 1, 0);
        }
        self.per_second[second] += 1;
        if self.log.len() < LOG {
            let body = String::from_utf8_lossy(&body[..body.len().min(256)]);
            let t_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
            self.log.push(json!({"t_us": t_us, "method": method, "target": target, "body": body}));
        }
        let path = target.split('?').next().unwrap_or(target);
        let path = if self.paths.len() < PATHS || self.paths.contains_key(path) { path } else { OTHER };
        let of_path = self.paths.entry(path.to_owned()).or_default();
        *entry(&mut of_path.methods, method) += 1;
        of_path.open += 1;
        of_path.max_concurrency = of_path.max_concurrency.max(of_path.open);
        path.to_owned()
    }

    /// A request of that path is over; `completed` is its status where the response came to its proper end.
    pub(crate) fn ended(&mut self, path: &str, completed: Option<u16>) {
        self.open -= 1;
        if let Some(of_path) = self.paths.get_mut(path) {
            of_path.open -= 1;
        }
        if let Some(status) = completed {
            *self.completed.entry(status).or_default() += 1;
        }
    }

    /// What `/__counts` tells.
    pub(crate) fn as_json(&self) -> Value {
        json!({"requests": self.requests, "request_bytes": self.request_bytes, "methods": self.methods,
            "paths": self.paths, "open": self.open, "max_concurrency": self.max_concurrency,
            "max_in_100_ms": self.max_in_100_ms, "per_second": self.per_second,
            "completed": self.completed, "connections": self.connections})
    }

    /// What `/__log` tells: the first 100,000 requests in the order of their arrival.
    pub(crate) fn log(&self) -> Value {
        json!(self.log)
    }
}

/// Without an allocation where the key is known.
fn entry<'a>(map: &'a mut BTreeMap<String, u64>, key: &str) -> &'a mut u64 {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), 0);
    }
    map.get_mut(key).expect("it has just been put there")
}
