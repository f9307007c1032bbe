//! Which read is next, and what its end changes. No clock and no I/O: every instant is given.

use super::files::ReadError;
use super::group::Counters;
use super::reader::{Reader, Sample, Target};
use super::records::{Acknowledged, LastSample, Latencies, Outcome, SessionEnd};
use super::session::{Phase, Session, Wish};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a read is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sample,
    Counters,
}

/// A read for one thread to do.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) session: u64,
    pub(super) kind: Kind,
    pub(super) due: u64,
    pub(super) begin: u64,
    pub(super) reader: Box<Reader>,
    epoch: u64,
}

/// What a thread is to do next.
#[derive(Debug)]
pub(super) enum Next {
    Read(Job),
    /// Nothing before that instant.
    At(u64),
    Nothing,
}

/// What a read gave.
#[derive(Debug)]
pub(super) enum Got {
    Sample(Result<Box<Sample>, ReadError>),
    Counters(Result<Counters, ReadError>),
}

/// What is to be written down once.
#[derive(Debug)]
pub(super) enum Event {
    Attached {
        target: Target,
        t: u64,
        due: u64,
    },
    /// From `t` on no read of a session is in flight, as was asked for at `asked`.
    Paused {
        session: u64,
        t: u64,
        asked: Option<u64>,
    },
    Resumed {
        session: u64,
        t: u64,
    },
    Ended(Box<SessionEnd>),
}

/// Instants of a read whose line is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    pub(super) end: u64,
    pub(super) written: u64,
}

/// All sessions, and what is due.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) sessions: BTreeMap<u64, Session>,
    /// (due, session, epoch); an entry of another epoch is void.
    queue: BinaryHeap<Reverse<(u64, u64, u64)>>,
    delay_after_ns: u64,
    drain_timeout_ns: u64,
    pub(super) attached: u64,
    pub(super) in_flight: u64,
    /// Reads that have ended.
    pub(super) ended: u64,
    pub(super) in_flight_max: u64,
    pub(super) waiting_max: u64,
    pub(super) discarded: u64,
    pub(super) latencies: Latencies,
    /// Not written yet.
    pub(super) events: Vec<Event>,
}

/// Where the read of the kernel's totals stands in the queue: before every sample.
const COUNTERS: u64 = 0;

/// Golden ratio in 1/2^64: successive multiples spread evenly over the circle.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Plan {
    pub(super) fn new(delay_after_ns: u64, drain_timeout_ns: u64) -> Self {
        Self { delay_after_ns, drain_timeout_ns, ..Self::default() }
    }

    /// A session is sampled from now on; its first sample is due within one period, which all first samples
    /// are spread over. None where the number was attached before.
    pub(super) fn attach(&mut self, target: Target, now: u64) -> Option<u64> {
        let number = target.session;
        if self.sessions.contains_key(&number) {
            return None;
        }
        let part = u128::from(self.attached.wrapping_mul(SPREAD)) * u128::from(self.delay_after_ns);
        let due = now + u64::try_from(part >> 64).unwrap_or(0);
        self.attached += 1;
        let reader = Reader::new(target.clone());
        self.sessions.insert(number, Session::new(number, reader, now, due, self.delay_after_ns));
        self.queue.push(Reverse((due, number, 0)));
        self.events.push(Event::Attached { target, t: now, due });
        Some(due)
    }

    fn is_planned(&self, number: u64, epoch: u64) -> bool {
        self.sessions.get(&number).is_some_and(|session| session.epoch == epoch)
    }

    /// What is due at `now`, if anything.
    pub(super) fn next(&mut self, now: u64) -> Next {
        while let Some(due) = self.next_due() {
            if due > now {
                return Next::At(due);
            }
            let sample_is_due = |entry: &&Reverse<(u64, u64, u64)>| {
                let Reverse((due, number, epoch)) = **entry;
                due != COUNTERS && due <= now && self.is_planned(number, epoch)
            };
            let others = (self.queue.iter().filter(sample_is_due).count() as u64).saturating_sub(1);
            self.waiting_max = self.waiting_max.max(others);
            let Some(Reverse((_, number, _))) = self.queue.pop() else { break };
            if let Some(job) = self.begin(number, now) {
                return Next::Read(job);
            }
        }
        Next::Nothing
    }

    /// When something is due next, without beginning it.
    pub(super) fn next_due(&mut self) -> Option<u64> {
        while let Some(Reverse((due, number, epoch))) = self.queue.peek().copied() {
            if self.is_planned(number, epoch) {
                return Some(due);
            }
            self.queue.pop();
        }
        None
    }

    /// Begins the planned read of one session; None where none is planned.
    pub(super) fn begin(&mut self, number: u64, now: u64) -> Option<Job> {
        let session = self.sessions.get_mut(&number)?;
        let (kind, due) = match session.phase {
            Phase::Waiting { due } => (Kind::Sample, due),
            Phase::Counting => (Kind::Counters, now),
            _ => return None,
        };
        let reader = session.reader.take()?;
        if kind == Kind::Sample {
            session.phase = Phase::Reading { due };
        }
        session.epoch += 1;
        self.in_flight += 1;
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
        Some(Job { session: number, kind, due, begin: now, reader, epoch: session.epoch })
    }

    /// Whether what the read gives still counts.
    pub(super) fn counts(&self, job: &Job) -> bool {
        self.is_planned(job.session, job.epoch)
    }

    /// Whether a failed read ends a measurement, or is what a stop leads to.
    pub(super) fn is_trouble(&self, job: &Job, error: &ReadError) -> bool {
        let stopping = self.sessions.get(&job.session).is_some_and(|session| session.wish == Wish::Stop);
        self.counts(job) && !(error.vanished && stopping)
    }

    /// A read has ended.
    pub(super) fn finish(&mut self, job: Job, got: Got, stamps: Stamps) {
        self.in_flight -= 1;
        self.ended += 1;
        let counts = self.counts(&job);
        let trouble = match &got {
            Got::Sample(Err(error)) | Got::Counters(Err(error)) => self.is_trouble(&job, error),
            _ => false,
        };
        self.discarded += u64::from(!counts);
        let (delay, Stamps { end, written }) = (self.delay_after_ns, stamps);
        let Some(session) = self.sessions.get_mut(&job.session) else { return };
        session.reader = Some(job.reader);
        match got {
            _ if session.phase == Phase::Over => {}
            _ if !counts => session.watch.missed(job.due, end),
            Got::Sample(Ok(sample)) => {
                session.watch.taken(job.due, job.begin, end);
                session.last = Some((end, sample));
                self.latencies.queue.record(job.begin.saturating_sub(job.due));
                self.latencies.read.record(end.saturating_sub(job.begin));
                self.latencies.write.record(written.saturating_sub(end));
            }
            Got::Counters(Ok(counters)) => session.counters = Some(counters),
            Got::Sample(Err(error)) | Got::Counters(Err(error)) if trouble => {
                session.watch.missed(job.due, end);
                session.error.get_or_insert(error.why);
            }
            Got::Sample(Err(_)) | Got::Counters(Err(_)) => {}
        }
        session.completed = Some(written);
        if session.phase == Phase::Over {
            return;
        }
        if job.kind == Kind::Counters {
            session.phase = Phase::Over;
            self.events.push(Event::Ended(Box::new(session.end())));
            return;
        }
        match session.wish {
            Wish::Go if session.error.is_none() => {
                let due = written + delay;
                session.phase = Phase::Waiting { due };
                session.epoch += 1;
                self.queue.push(Reverse((due, job.session, session.epoch)));
            }
            Wish::Go => session.halt(written),
            Wish::Pause => {
                session.halt(written);
                self.events.push(Event::Paused { session: job.session, t: written, asked: session.asked });
            }
            Wish::Stop => {
                session.halt(written);
                self.count(job.session);
            }
        }
    }

    /// The kernel's totals are read next, before anything that is due.
    fn count(&mut self, number: u64) {
        if let Some(session) = self.sessions.get_mut(&number) {
            session.phase = Phase::Counting;
            session.epoch += 1;
            self.queue.push(Reverse((COUNTERS, number, session.epoch)));
        }
    }

    /// STOP: no read begins from now on. Asked again, it says how far that has come. None: no such session.
    pub(super) fn pause(&mut self, number: u64, now: u64) -> Option<Acknowledged> {
        let session = self.sessions.get_mut(&number)?;
        if session.wish == Wish::Go {
            session.wish = Wish::Pause;
            session.asked = Some(now);
            if matches!(session.phase, Phase::Waiting { .. }) {
                session.halt(now);
                self.events.push(Event::Paused { session: number, t: now, asked: session.asked });
            }
        }
        let late = session.asked.is_some_and(|asked| now >= asked.saturating_add(self.drain_timeout_ns));
        if late && matches!(session.phase, Phase::Reading { .. }) && session.leaked.is_none() {
            let timeout = self.drain_timeout_ns / 1_000_000;
            session.leak(format!("a read had not returned {timeout} ms after the pause was asked for"));
        }
        Some(session.acknowledged())
    }

    /// CONT: the instant at which the next sample is due; None where none will come.
    pub(super) fn resume(&mut self, number: u64, now: u64) -> Option<u64> {
        let delay = self.delay_after_ns;
        let session = self.sessions.get_mut(&number)?;
        if session.wish == Wish::Stop || session.error.is_some() {
            return None;
        }
        session.wish = Wish::Go;
        session.asked = None;
        let due = match session.phase {
            Phase::Still => session.completed.map_or(now, |completed| (completed + delay).max(now)),
            Phase::Waiting { due } => return Some(due),
            // It goes on when the read returns.
            _ => return Some(now + delay),
        };
        session.watch.resumed(now);
        self.events.push(Event::Resumed { session: number, t: now });
        session.halted = None;
        session.phase = Phase::Waiting { due };
        session.epoch += 1;
        self.queue.push(Reverse((due, number, session.epoch)));
        Some(due)
    }

    /// The session's measurement ends. Asked again, it says how far that has come. None: no such session.
    pub(super) fn stop(&mut self, number: u64, now: u64) -> Option<SessionEnd> {
        let session = self.sessions.get_mut(&number)?;
        if session.wish != Wish::Stop {
            session.wish = Wish::Stop;
            session.asked = Some(now);
            match session.phase {
                Phase::Waiting { .. } => {
                    session.halt(now);
                    self.count(number);
                }
                Phase::Still => self.count(number),
                Phase::Reading { .. } | Phase::Counting | Phase::Over => {}
            }
        }
        let session = self.sessions.get_mut(&number)?;
        let late = session.asked.is_some_and(|asked| now >= asked.saturating_add(self.drain_timeout_ns));
        if late && session.phase != Phase::Over {
            let what = match (session.phase, session.reader.is_some()) {
                (Phase::Counting, true) => "no thread was free to read the kernel's counters within",
                (Phase::Counting, false) => "the read of the kernel's counters had not returned after",
                _ => "a read had not returned after",
            };
            session.leak(format!("{what} {} ms of draining", self.drain_timeout_ns / 1_000_000));
            if let Phase::Reading { due } = session.phase {
                session.watch.missed(due, now);
                session.halt(now);
            }
            session.phase = Phase::Over;
            self.events.push(Event::Ended(Box::new(session.end())));
        }
        Some(session.end())
    }

    /// Where every session stands.
    pub(super) fn last_samples(&self) -> Vec<LastSample> {
        self.sessions.values().map(Session::last_sample).collect()
    }

    /// Every session's end, as far as it has come.
    pub(super) fn ends(&self) -> impl Iterator<Item = SessionEnd> {
        self.sessions.values().map(Session::end)
    }

    /// How many sessions have ended that way.
    pub(super) fn with(&self, outcome: Outcome) -> u64 {
        self.ends().filter(|end| end.outcome == Some(outcome)).count() as u64
    }
}
