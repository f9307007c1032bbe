//! One session's measurement: waiting, reading, paused, draining, over.

use super::coverage::Watch;
use super::group::Counters;
use super::reader::{Reader, Sample};
use super::records::{Acknowledged, LastSample, Outcome, SessionEnd};

/// What a session does now. At most one read of it is ever in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its next sample is due then.
    Waiting { due: u64 },
    /// A read is in flight, which was due then.
    Reading { due: u64 },
    /// None is, and none will begin: paused, or ended by an error.
    Still,
    /// The kernel's totals are to be read, or are being read.
    Counting,
    /// Nothing more comes.
    Over,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Go,
    Pause,
    Stop,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) number: u64,
    /// With whoever reads, while a read is in flight.
    pub(super) reader: Option<Box<Reader>>,
    pub(super) phase: Phase,
    pub(super) wish: Wish,
    /// Changes with every plan for this session: what was planned before is void.
    pub(super) epoch: u64,
    /// When the pause or the stop was asked for.
    pub(super) asked: Option<u64>,
    /// When no read was in flight any more.
    pub(super) halted: Option<u64>,
    /// When the last sample was complete.
    pub(super) completed: Option<u64>,
    pub(super) leaked: Option<String>,
    pub(super) error: Option<String>,
    pub(super) watch: Watch,
    pub(super) counters: Option<Counters>,
    pub(super) last: Option<(u64, Box<Sample>)>,
}

impl Session {
    pub(super) fn new(number: u64, reader: Reader, attached: u64, due: u64, delay_after_ns: u64) -> Self {
        Self {
            number,
            reader: Some(Box::new(reader)),
            phase: Phase::Waiting { due },
            wish: Wish::Go,
            epoch: 0,
            asked: None,
            halted: None,
            completed: None,
            leaked: None,
            error: None,
            watch: Watch::new(attached, delay_after_ns),
            counters: None,
            last: None,
        }
    }

    /// No read is in flight, from `now` on.
    pub(super) fn halt(&mut self, now: u64) {
        let due = if let Phase::Waiting { due } = self.phase { Some(due) } else { None };
        self.watch.halted(due, now);
        self.halted = Some(now);
        self.phase = Phase::Still;
        self.epoch += 1;
    }

    pub(super) fn leak(&mut self, why: String) {
        self.leaked.get_or_insert(why);
        self.epoch += 1;
    }

    pub(super) fn acknowledged(&self) -> Acknowledged {
        let still = matches!(self.phase, Phase::Still | Phase::Over);
        Acknowledged {
            session: self.number,
            acknowledged: still,
            leaked: self.leaked.is_some(),
            asked: self.asked.unwrap_or(0),
            at: self.halted.filter(|_| still),
        }
    }

    pub(super) fn end(&self) -> SessionEnd {
        let over = self.phase == Phase::Over;
        let outcome = match (&self.leaked, &self.error) {
            (Some(_), _) => Outcome::Leaked,
            (None, Some(_)) => Outcome::Error,
            (None, None) => Outcome::Drained,
        };
        SessionEnd {
            session: self.number,
            outcome: over.then_some(outcome),
            why: self.leaked.clone().or_else(|| self.error.clone()),
            stopped: self.halted.filter(|_| over),
            coverage: self.watch.coverage,
            counters: self.counters.clone(),
        }
    }

    pub(super) fn last_sample(&self) -> LastSample {
        let state = match (self.phase, self.wish) {
            (Phase::Over, _) => "ended",
            (_, Wish::Stop) => "draining",
            (Phase::Reading { .. }, _) => "reading",
            (Phase::Waiting { .. }, _) => "waiting",
            _ if self.error.is_some() => "ended",
            _ => "paused",
        };
        let sample = self.last.as_ref().map(|(_, sample)| sample);
        LastSample {
            session: self.number,
            state,
            t: self.last.as_ref().map(|(t, _)| *t),
            memory: sample.and_then(|sample| sample.group.memory),
            inactive_file: sample.and_then(|sample| sample.group.inactive_file),
            rss: sample.and_then(|sample| sample.proc.as_ref()?.rss),
            error: self.error.clone(),
        }
    }
}
