//! `pods/log`: lines that a Pod of the plan might have written, and a new one each second.

use super::request::Query;
use super::rope::Rope;
use super::semantics::instant::Instant;
use super::semantics::status::{FieldError, Status};
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};

/// Lines that a log has when it is opened.
const LINES: u64 = 20;
/// Time between two lines.
const TRICKLE: Duration = Duration::from_secs(1);

/// What a client wants of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogOptions {
    follow: bool,
    timestamps: bool,
    tail: u64,
    limit_bytes: Option<usize>,
}

impl LogOptions {
    /// Reads the query; `pod` is the name of the Pod, for errors.
    pub(crate) fn parse(query: &Query, pod: &str) -> Result<Self, Status> {
        let at_least = |key: &str, least: i64, rule: &str| match query.integer(key)? {
            Some(number) if number < least => {
                let error = FieldError::invalid(key, &number.into(), rule);
                Err(Status::invalid_named("", "PodLogOptions", pod, &[error]))
            }
            number => Ok(number.and_then(|number| u64::try_from(number).ok())),
        };
        let tail = at_least("tailLines", 0, "must be greater than or equal to 0")?;
        let limit = at_least("limitBytes", 1, "must be greater than 0")?;
        at_least("sinceSeconds", 1, "must be greater than 0")?;
        Ok(Self {
            follow: query.flag("follow"),
            timestamps: query.flag("timestamps"),
            tail: tail.unwrap_or(LINES).min(LINES),
            limit_bytes: limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        })
    }
}

/// A log that is being read.
pub(crate) struct LogLines {
    pod: String,
    options: LogOptions,
    /// Number of the next line.
    next: u64,
    /// Lines that are there at once.
    at_once: u64,
    ticks: Option<Pin<Box<Interval>>>,
    left: usize,
}

impl LogLines {
    /// The log of a Pod. `slow`: nothing is there at once, and the lines come one a second even where
    /// the client does not follow.
    pub(crate) fn new(pod: String, options: LogOptions, slow: bool) -> Self {
        let follow = options.follow || slow;
        let ticks = follow.then(|| {
            let mut interval = tokio::time::interval_at(tokio::time::Instant::now() + TRICKLE, TRICKLE);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Box::pin(interval)
        });
        Self {
            pod,
            next: if slow { 0 } else { LINES - options.tail },
            at_once: if slow { 0 } else { LINES },
            ticks,
            left: options.limit_bytes.unwrap_or(usize::MAX),
            options,
        }
    }

    fn line(&self, number: u64) -> String {
        let mut line = String::new();
        if self.options.timestamps {
            let _ = write!(line, "{} ", Instant::now().to_rfc3339());
        }
        let _ = writeln!(line, "level=info pod={} line={number} msg=\"request served\" status=200", self.pod);
        line
    }

    /// The next lines; `None` at the end.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let mut text = String::new();
        if self.next < self.at_once {
            (self.next..self.at_once).for_each(|number| text.push_str(&self.line(number)));
            self.next = self.at_once;
        } else {
            let done_slowly = !self.options.follow && self.next >= self.at_once + LINES;
            let Some(ticks) = self.ticks.as_mut().filter(|_| !done_slowly) else { return Poll::Ready(None) };
            ready!(ticks.as_mut().poll_tick(cx));
            text.push_str(&self.line(self.next));
            self.next += 1;
        }
        text.truncate(self.left);
        self.left -= text.len();
        Poll::Ready(Some(Rope::of(text)))
    }
}
