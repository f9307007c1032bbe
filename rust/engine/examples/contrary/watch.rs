//! A WATCH by a script: events, bookmarks, and an end.

use super::behaviour::milliseconds;
use super::kubernetes::{self, Target};
use bytes::Bytes;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

/// What a watch shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WatchScript {
    /// Events in all; without it as many as time allows.
    pub(crate) events: Option<u64>,
    /// From one event to the next.
    pub(crate) every_ms: f64,
    /// A bookmark after every so many events.
    pub(crate) bookmark_every: Option<u64>,
    /// The ADDED events of a `WatchList` (`sendInitialEvents=true`), before the bookmark that ends them.
    pub(crate) initial: u64,
    /// What comes after the last event.
    pub(crate) then: Then,
}

impl Default for WatchScript {
    fn default() -> Self {
        Self { events: None, every_ms: 100.0, bookmark_every: None, initial: 3, then: Then::Hold }
    }
}

/// What comes after the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Then {
    /// Nothing; the stream stays open.
    Hold,
    /// The end of the stream.
    End,
    /// An ERROR event with a Status of 410, then the end of the stream.
    Gone,
    /// Half an event, then the end of the stream.
    HalfAnEvent,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
}

/// One watch at work.
pub(crate) struct Watch {
    script: WatchScript,
    target: Target,
    version: u64,
    initial_left: u64,
    initial_bookmark: bool,
    sent: u64,
    bookmark_due: bool,
    closed: bool,
    due: Instant,
    until: Option<Instant>,
}

impl Watch {
    /// It ends by itself after the `timeoutSeconds` of its query, as the real server's does.
    pub(crate) fn new(script: WatchScript, target: Target) -> Self {
        let now = Instant::now();
        let seconds = target.parameter("timeoutSeconds").and_then(|text| text.parse::<u32>().ok());
        let listed = matches!(target.parameter("sendInitialEvents"), Some("true" | "1"));
        Self {
            initial_left: if listed { script.initial } else { 0 },
            initial_bookmark: listed,
            script,
            target,
            version: kubernetes::VERSION,
            sent: 0,
            bookmark_due: false,
            closed: false,
            due: now,
            until: seconds.map(|seconds| now + Duration::from_secs(seconds.into())),
        }
    }

    /// The next line when its time has come; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        if self.closed {
            return None;
        }
        if self.initial_left > 0 {
            self.initial_left -= 1;
            return Some(self.event("ADDED"));
        }
        if self.initial_bookmark {
            self.initial_bookmark = false;
            return Some(kubernetes::bookmark(&self.target, self.version, true));
        }
        if self.bookmark_due {
            self.bookmark_due = false;
            return Some(kubernetes::bookmark(&self.target, self.version, false));
        }
        if self.script.events.is_some_and(|most| self.sent >= most) {
            return self.last().await;
        }
        self.due += milliseconds(self.script.every_ms);
        if self.until.is_some_and(|until| until < self.due) {
            return self.time_out().await;
        }
        tokio::time::sleep_until(self.due).await;
        self.sent += 1;
        self.bookmark_due = self.script.bookmark_every.is_some_and(|every| self.sent.is_multiple_of(every.max(1)));
        Some(self.event("MODIFIED"))
    }

    /// How the response ends once there is no next line.
    pub(crate) fn end(script: &WatchScript) -> super::reply::End {
        match script.then {
            Then::Close => super::reply::End::Close,
            Then::Reset => super::reply::End::Reset,
            Then::Hold | Then::End | Then::Gone | Then::HalfAnEvent => super::reply::End::Proper,
        }
    }

    fn event(&mut self, kind: &str) -> Bytes {
        self.version += 1;
        kubernetes::event(kind, &self.target, self.version)
    }

    async fn last(&mut self) -> Option<Bytes> {
        match self.script.then {
            Then::Hold => self.time_out().await,
            Then::End | Then::Close | Then::Reset => None,
            Then::Gone => {
                self.closed = true;
                Some(kubernetes::gone())
            }
            Then::HalfAnEvent => {
                self.closed = true;
                let whole = self.event("MODIFIED");
                Some(whole.slice(..whole.len() / 2))
            }
        }
    }

    async fn time_out(&self) -> Option<Bytes> {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
        None
    }
}
