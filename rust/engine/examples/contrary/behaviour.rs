//! How the server behaves, as a JSON document: the first rule that matches a request says what happens to it.
//!
//! ```json
//! {"rate": 500, "rules": [{"path": "/configmaps", "every": 3, "do": {"status": {"code": 429, "retry_after": "1"}}},
//!                         {"after_s": 30, "do": "never"}]}
//! ```

use super::reply::End;
use super::watch::WatchScript;
use perfq_core::rng::Mt19937;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Of the waits that are drawn.
const SEED: u64 = 1;

/// The whole document.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Behaviour {
    /// What happens to connections.
    pub(crate) accept: Accept,
    /// `SETTINGS_MAX_CONCURRENT_STREAMS` of new HTTP/2 connections.
    pub(crate) max_streams: Option<u32>,
    /// When an HTTP/2 connection is told to go away.
    pub(crate) goaway: Option<GoAway>,
    /// Answers a second, of all connections together; requests wait in one line.
    pub(crate) rate: Option<f64>,
    /// Each answer waits so long: drawn evenly from this range of milliseconds.
    pub(crate) latency_ms: Option<[f64; 2]>,
    /// The watch that is shown where no rule says otherwise.
    pub(crate) watch: WatchScript,
    /// The first that matches says what happens; none: a Kubernetes-like answer.
    pub(crate) rules: Vec<Rule>,
}

/// What happens to a new connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Accept {
    /// It is served.
    #[default]
    Serve,
    /// It is accepted, and nothing is ever read or written, no handshake either.
    Ignore,
}

/// GOAWAY in the middle of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoAway {
    /// It is sent once so many streams have been opened by the client.
    pub(crate) after_streams: u64,
    /// The last id in it leaves out so many of these, which are never looked at.
    #[serde(default)]
    pub(crate) unprocessed: u64,
}

/// What happens to the requests that match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The HTTP method; any without.
    pub(crate) method: Option<String>,
    /// A part of path and query; any without.
    pub(crate) path: Option<String>,
    /// Only every so many of them, from the one of that number on.
    pub(crate) every: Option<u64>,
    /// Only so many.
    pub(crate) times: Option<u64>,
    /// Only from so many seconds after the first request that method and path fit.
    pub(crate) after_s: Option<f64>,
    /// What happens.
    #[serde(rename = "do")]
    pub(crate) action: Action,
}

/// What can happen to a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// A Kubernetes-like answer.
    #[default]
    Answer,
    /// It is read and never answered.
    Never,
    /// The connection is reset (TCP RST).
    Reset,
    /// The connection is closed without an answer.
    Close,
    /// The stream is reset with this HTTP/2 error code (RFC 9113, 7); over HTTP/1.1 the connection is.
    RstStream(u32),
    /// Bytes that are no HTTP, then the end of the connection.
    Garbage,
    /// A status with a Kubernetes Status as its body.
    Status {
        code: u16,
        retry_after: Option<String>,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A body that ends before the length that was announced.
    Cut {
        announced: u64,
        sent: u64,
        /// How it ends.
        end: End,
    },
    /// 200 and so many bytes of filler in pieces, with a pause after each.
    Body {
        bytes: u64,
        #[serde(default = "piece")]
        piece: usize,
        #[serde(default)]
        pause_ms: f64,
    },
    /// 200 and a body without an end, in pieces with a pause after each.
    Endless { piece: usize, pause_ms: f64 },
    /// A watch by this script.
    Watch(WatchScript),
}

const fn piece() -> usize {
    64 * 1024
}

/// A behaviour at work: with what its rules have seen.
pub(crate) struct Rules {
    behaviour: Behaviour,
    seen: Vec<Seen>,
    rng: Mt19937,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    first: Option<Instant>,
    fitting: u64,
    matched: u64,
}

/// What is to be done with one request.
pub(crate) struct Decision {
    pub(crate) wait: Duration,
    pub(crate) action: Action,
}

impl Rules {
    pub(crate) fn new(behaviour: Behaviour) -> Self {
        Self { seen: vec![Seen::default(); behaviour.rules.len()], behaviour, rng: Mt19937::new(SEED) }
    }

    pub(crate) fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// For a request that has arrived; `target` is path and query.
    pub(crate) fn decide(&mut self, method: &str, target: &str, now: Instant) -> Decision {
        let mut wait = Duration::ZERO;
        if let Some([low, high]) = self.behaviour.latency_ms {
            wait += milliseconds(low + (high - low) * self.rng.random());
        }
        // Every rule counts every request that fits it, whether or not an earlier one has matched.
        let mut decided = None;
        for (rule, seen) in self.behaviour.rules.iter().zip(&mut self.seen) {
            let method_fits = rule.method.as_deref().is_none_or(|wanted| wanted == method);
            if !method_fits || !rule.path.as_deref().is_none_or(|part| target.contains(part)) {
                continue;
            }
            let since = now.duration_since(*seen.first.get_or_insert(now)).as_secs_f64();
            seen.fitting += 1;
            let holds = since >= rule.after_s.unwrap_or(0.0)
                && rule.every.is_none_or(|every| seen.fitting.is_multiple_of(every.max(1)))
                && rule.times.is_none_or(|times| seen.matched < times);
            if holds && decided.is_none() {
                seen.matched += 1;
                decided = Some(rule.action.clone());
            }
        }
        Decision { wait, action: decided.unwrap_or_default() }
    }
}

pub(crate) fn milliseconds(value: f64) -> Duration {
    Duration::from_secs_f64(value.max(0.0) / 1e3)
}
