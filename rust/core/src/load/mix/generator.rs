//! From a spec to one runner's requests, and to what can be said of them before any is sent.

use super::arrivals::{DueInstants, Schedule};
use super::shape::{Made, Ready, Sender};
use super::spec::{Arrival, MixSpec};
use crate::load::{Headers, Request, RequestError, Requests, Verb};
use crate::rng::Mt19937;
use std::sync::Arc;

/// The highest rate of a runner: a million requests a second, in millionths.
const MAX_RATE_MICROS: u64 = 1_000_000_000_000;
/// The longest stage: thirty days.
const MAX_STAGE_US: u64 = 30 * 86_400 * 1_000_000;
/// The most requests of a runner.
const MAX_TOTAL: u64 = 1_000_000_000_000;

/// A checked spec, ready to generate.
#[derive(Clone, Debug)]
pub struct Mix {
    seed: u64,
    segment: u32,
    arrival: Arrival,
    /// `None`: a closed loop.
    schedule: Option<Schedule>,
    total: Option<u64>,
    kinds: Vec<Kind>,
    /// The sum of shares up to and with each kind.
    shares: Vec<u32>,
    watches: Vec<Watches>,
}

/// A kind of request and how it is sent.
#[derive(Clone, Debug)]
struct Kind {
    ready: Ready,
    headers: Option<Headers>,
    user_agent: Option<Box<str>>,
}

#[derive(Clone, Debug)]
struct Watches {
    request: Request,
    count: u32,
    over_us: u64,
}

/// What is known of a runner's requests before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixPlan {
    /// How many there will be, watches with them; `None` where only time ends them.
    pub planned: Option<u64>,
    /// The end: of the last stage, or where the request after the last would be due; `None` in a closed loop.
    pub end_us: Option<u64>,
}

/// What the words of a stream's key are for, beside seed, segment and runner.
#[derive(Clone, Copy)]
enum Stream {
    Arrivals,
    Draws,
}

impl Mix {
    /// Checks a spec. The error has no line: whoever resolved the document knows it.
    pub fn new(spec: &MixSpec) -> Result<Self, RequestError> {
        check_stages(spec).map_err(unplaced)?;
        let mut kinds = Vec::with_capacity(spec.requests.len());
        let mut shares = Vec::with_capacity(spec.requests.len());
        let mut sum = 0u32;
        for (index, weighted) in spec.requests.iter().enumerate() {
            let ready = Ready::new(&weighted.request, spec.salt.as_deref())
                .map_err(|text| unplaced(format!("requests.{index}: {text}")))?;
            kinds.push(Kind { ready, headers: shared(&weighted.headers), user_agent: weighted.user_agent.clone() });
            sum = sum.checked_add(weighted.shares).ok_or_else(|| {
                unplaced(format!("got shares that add up to more than {}, expected smaller ones", u32::MAX))
            })?;
            shares.push(sum);
        }
        if sum == 0 && !spec.requests.is_empty() {
            return Err(unplaced("got shares of 0 only, expected a request with some".to_owned()));
        }
        if spec.requests.is_empty() && spec.watches.is_empty() {
            return Err(unplaced("got neither requests nor watches, expected some".to_owned()));
        }
        let schedule = (!spec.stages.is_empty()).then(|| Schedule::new(&spec.stages));
        let watches = spec.watches.iter().map(|open| Watches {
            request: Request {
                query: Some(open.query.as_str().into()),
                headers: shared(&open.headers),
                user_agent: open.user_agent.clone(),
                ..Request::new(Verb::Watch, open.collection.as_str())
            },
            count: open.count,
            over_us: open.over_us,
        });
        Ok(Self {
            seed: spec.seed,
            segment: spec.segment,
            arrival: spec.arrival,
            schedule,
            total: spec.total,
            kinds,
            shares,
            watches: watches.collect(),
        })
    }

    /// Counts one runner's requests without making them.
    pub fn plan(&self, runner: u32) -> MixPlan {
        let watches: u64 = self.watches.iter().map(|open| u64::from(open.count)).sum();
        let with_watches = |drawn: u64| Some(drawn + watches);
        let Some(schedule) = &self.schedule else {
            let planned = if self.kinds.is_empty() { Some(watches) } else { self.total.and_then(with_watches) };
            return MixPlan { planned, end_us: None };
        };
        if self.kinds.is_empty() {
            return MixPlan { planned: Some(watches), end_us: schedule.end_us() };
        }
        if self.total.is_none() && schedule.end_us().is_none() {
            return MixPlan { planned: None, end_us: None };
        }
        let (drawn, next_us) = match self.arrival {
            Arrival::Constant => schedule.constant_plan(self.total),
            Arrival::Poisson => {
                let mut dues = self.due_instants(schedule, runner);
                let limit = self.total.unwrap_or(u64::MAX);
                let mut drawn = 0;
                let mut next = dues.next();
                while drawn < limit && next.is_some() {
                    drawn += 1;
                    next = dues.next();
                }
                (drawn, next)
            }
        };
        MixPlan { planned: with_watches(drawn), end_us: next_us.or_else(|| schedule.end_us()) }
    }

    /// The requests of runner `runner` of `runners`, in the order of their due instants.
    ///
    /// In a closed loop none has a due instant, and watches come first.
    pub fn requests(self: &Arc<Self>, runner: u32, runners: u32) -> Requests {
        Box::new(Generator {
            dues: self.schedule.as_ref().map(|schedule| self.due_instants(schedule, runner)),
            left: if self.kinds.is_empty() { 0 } else { self.total.unwrap_or(u64::MAX) },
            next_due: None,
            watches: self.watch_requests().into_iter().peekable(),
            made: vec![Made::default(); self.kinds.len()],
            rng: self.rng(runner, Stream::Draws),
            sender: Sender { runner, runners: runners.max(1), seq: u64::from(runner) + 1 },
            mix: Arc::clone(self),
        })
    }

    fn due_instants(&self, schedule: &Schedule, runner: u32) -> DueInstants {
        DueInstants::new(schedule.clone(), self.arrival, self.rng(runner, Stream::Arrivals))
    }

    fn rng(&self, runner: u32, stream: Stream) -> Mt19937 {
        #[allow(clippy::cast_possible_truncation)] // the two halves of the seed
        let (low, high) = (self.seed as u32, (self.seed >> 32) as u32);
        Mt19937::from_key(&[low, high, self.segment, runner, stream as u32])
    }

    /// Every watch with its due instant, in their order.
    fn watch_requests(&self) -> Vec<Request> {
        let closed = self.schedule.is_none();
        let mut found = Vec::new();
        for open in &self.watches {
            found.extend((0..u64::from(open.count)).map(|k| Request {
                due_us: (!closed).then(|| open.over_us * k / u64::from(open.count)),
                ..open.request.clone()
            }));
        }
        found.sort_by_key(|request| request.due_us);
        found
    }

    fn draw_kind(&self, rng: &mut Mt19937) -> usize {
        let sum = self.shares.last().copied().unwrap_or(1);
        let at = rng.randrange(sum);
        self.shares.partition_point(|upto| *upto <= at)
    }
}

fn check_stages(spec: &MixSpec) -> Result<(), String> {
    if let Some(total) = spec.total.filter(|total| *total > MAX_TOTAL) {
        return Err(format!("got {total} requests, expected at most {MAX_TOTAL}"));
    }
    let watch_too_long = spec.watches.iter().any(|open| open.over_us > MAX_STAGE_US);
    for (index, stage) in spec.stages.iter().enumerate() {
        let at = format!("stages.{index}");
        let fastest = stage.from_micros.max(stage.to_micros);
        if fastest > MAX_RATE_MICROS {
            return Err(format!("{at}: got {fastest} millionths a second, expected at most {MAX_RATE_MICROS}"));
        }
        match stage.duration_us {
            Some(0) => return Err(format!("{at}: got no duration, expected at least 1 microsecond")),
            Some(long) if long > MAX_STAGE_US => {
                return Err(format!("{at}: got {long} microseconds, expected at most {MAX_STAGE_US}"));
            }
            None if index + 1 < spec.stages.len() => {
                return Err(format!("{at}: got no end, expected one of every stage but the last"));
            }
            None if stage.from_micros != stage.to_micros || fastest == 0 => {
                return Err(format!("{at}: got no end, expected one, or a constant rate above 0"));
            }
            Some(_) | None => {}
        }
    }
    if watch_too_long { Err(format!("got watches opened over more than {MAX_STAGE_US} microseconds")) } else { Ok(()) }
}

fn unplaced(text: String) -> RequestError {
    RequestError { line: None, text }
}

fn shared(headers: &[(Box<str>, Box<str>)]) -> Option<Headers> {
    (!headers.is_empty()).then(|| headers.into())
}

/// One runner's stream.
struct Generator {
    mix: Arc<Mix>,
    /// `None`: a closed loop.
    dues: Option<DueInstants>,
    /// The instant that was drawn while a watch had to go first.
    next_due: Option<u64>,
    left: u64,
    watches: std::iter::Peekable<std::vec::IntoIter<Request>>,
    made: Vec<Made>,
    rng: Mt19937,
    sender: Sender,
}

impl Iterator for Generator {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.dues.is_none() {
            return self.watches.next().or_else(|| self.draw(None)).map(Ok);
        }
        if self.next_due.is_none() && self.left > 0 {
            self.next_due = self.dues.as_mut().and_then(Iterator::next);
            if self.next_due.is_none() {
                self.left = 0;
            }
        }
        let due = self.next_due;
        if let Some(watch) = self.watches.next_if(|watch| due.is_none_or(|due| watch.due_us <= Some(due))) {
            return Some(Ok(watch));
        }
        self.next_due = None;
        due.and_then(|due| self.draw(Some(due))).map(Ok)
    }
}

impl Generator {
    fn draw(&mut self, due_us: Option<u64>) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let kind = self.mix.draw_kind(&mut self.rng);
        let Kind { ready, headers, user_agent } = &self.mix.kinds[kind];
        let request = ready.request(self.sender, &mut self.made[kind], &mut self.rng);
        self.sender.seq += u64::from(self.sender.runners);
        Some(Request { due_us, headers: headers.clone(), user_agent: user_agent.clone(), ..request })
    }
}
