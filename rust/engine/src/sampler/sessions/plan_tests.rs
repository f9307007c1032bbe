//! Every order of attaching, pausing, resuming, stopping and reading, without a clock.

use super::files::ReadError;
use super::group::{Counters, GroupSample};
use super::plan::{Got, Job, Kind, Next, Plan, Stamps};
use super::reader::{Sample, Target};
use super::records::Outcome;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const DELAY: u64 = 100;
const TIMEOUT: u64 = 1_000_000_000;

fn target(session: u64) -> Target {
    Target { session, process: None, cgroup: vec![] }
}

fn fine(kind: Kind) -> Got {
    match kind {
        Kind::Sample => {
            let sample = Sample { group: GroupSample::default(), psi: None, proc: None, smaps: None };
            Got::Sample(Ok(Box::new(sample)))
        }
        Kind::Counters => Got::Counters(Ok(Counters::default())),
    }
}

fn at(now: u64) -> Stamps {
    Stamps { end: now, written: now }
}

/// Begins what is due.
fn begun(plan: &mut Plan, now: u64) -> Option<Job> {
    if let Next::Read(job) = plan.next(now) { Some(job) } else { None }
}

#[test]
fn first_samples_are_spread_over_one_period() {
    let mut plan = Plan::new(1000, TIMEOUT);
    let mut due: Vec<u64> = (0..20).map(|n| plan.attach(target(n), 5000).unwrap() - 5000).collect();
    due.sort_unstable();
    assert!(due.iter().all(|offset| *offset < 1000));
    assert!(due.windows(2).all(|pair| pair[1] - pair[0] <= 100), "no gap larger than twice the even one: {due:?}");
    assert_eq!(plan.attach(target(3), 6000), None, "a number is one session's");
}

#[test]
fn a_stop_goes_before_what_is_due() {
    let mut plan = Plan::new(DELAY, TIMEOUT);
    (0..3).for_each(|n| assert!(plan.attach(target(n), 100).is_some()));
    plan.stop(2, 500).unwrap();
    let job = begun(&mut plan, 500).unwrap();
    assert_eq!((job.session, job.kind), (2, Kind::Counters));
}

#[test]
fn a_read_in_flight_at_the_stop_counts_and_one_that_is_given_up_does_not() {
    let mut plan = Plan::new(DELAY, 50);
    plan.attach(target(0), 0).unwrap();
    let job = begun(&mut plan, 10).unwrap();
    assert_eq!(plan.stop(0, 20).unwrap().outcome, None);
    plan.finish(job, fine(Kind::Sample), at(40));
    let counting = begun(&mut plan, 41).unwrap();
    assert_eq!(plan.stop(0, 69).unwrap().outcome, None);
    let end = plan.stop(0, 70).unwrap();
    assert_eq!((end.outcome, end.stopped, end.coverage.taken), (Some(Outcome::Leaked), Some(40), 1));
    plan.finish(counting, fine(Kind::Counters), at(80));
    assert_eq!(plan.stop(0, 90).unwrap().outcome, Some(Outcome::Leaked), "a verdict stays");
    assert_eq!((plan.discarded, plan.in_flight), (1, 0));
}

#[test]
fn an_unexpected_error_ends_a_measurement_also_while_it_is_stopped() {
    let error = |vanished| Got::Sample(Err(ReadError { vanished, why: "cannot read".into() }));
    for (stopped, vanished, outcome) in [
        (false, false, Outcome::Error),
        (false, true, Outcome::Error),
        (true, false, Outcome::Error),
        (true, true, Outcome::Drained),
    ] {
        let mut plan = Plan::new(DELAY, TIMEOUT);
        plan.attach(target(0), 0).unwrap();
        let job = begun(&mut plan, 10).unwrap();
        if stopped {
            plan.stop(0, 20).unwrap();
        }
        plan.finish(job, error(vanished), at(30));
        plan.stop(0, 40).unwrap();
        let job = begun(&mut plan, 40).unwrap();
        plan.finish(job, fine(Kind::Counters), at(50));
        assert_eq!(plan.stop(0, 60).unwrap().outcome, Some(outcome), "{stopped} {vanished}");
    }
}

#[derive(Clone, Debug)]
enum Act {
    Attach(u64),
    Pause(u64),
    Resume(u64),
    Stop(u64),
    Later(u64),
    Begin,
    Finish(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => (0u64..5).prop_map(Act::Attach),
        1 => (0u64..5).prop_map(Act::Pause),
        1 => (0u64..5).prop_map(Act::Resume),
        1 => (0u64..5).prop_map(Act::Stop),
        4 => (0u64..150).prop_map(Act::Later),
        6 => Just(Act::Begin),
        6 => (0usize..4).prop_map(Act::Finish),
    ]
}

proptest! {
    #[test]
    fn no_order_of_events_breaks_a_guarantee(acts in proptest::collection::vec(act(), 0..200)) {
        let mut plan = Plan::new(DELAY, TIMEOUT);
        let (mut now, mut flying) = (0u64, Vec::<Job>::new());
        // Paused and acknowledged; asked to stop; when the last sample was complete; how many were.
        let (mut still, mut stopped) = (BTreeSet::new(), BTreeSet::new());
        let (mut complete, mut taken) = (BTreeMap::<u64, u64>::new(), 0u64);
        let tail = (0..5).map(Act::Stop).chain((0..400).flat_map(|_| [Act::Later(150), Act::Begin, Act::Finish(0)]));
        for act in acts.into_iter().chain(tail) {
            match act {
                Act::Attach(n) => { plan.attach(target(n), now); }
                Act::Pause(n) => if plan.pause(n, now).is_some_and(|said| said.acknowledged) { still.insert(n); },
                Act::Resume(n) => if plan.resume(n, now).is_some() { still.remove(&n); },
                Act::Stop(n) => if plan.stop(n, now).is_some() { stopped.insert(n); },
                Act::Later(by) => now += by,
                Act::Begin => if let Some(job) = begun(&mut plan, now) {
                    prop_assert!(flying.iter().all(|other| other.session != job.session), "one at a time");
                    prop_assert!(job.due <= now);
                    if job.kind == Kind::Sample {
                        prop_assert!(!still.contains(&job.session) && !stopped.contains(&job.session));
                        let earliest = complete.get(&job.session).map_or(0, |at| at + DELAY);
                        prop_assert!(job.due >= earliest, "no burst");
                    }
                    flying.push(job);
                },
                Act::Finish(which) => if !flying.is_empty() {
                    let job = flying.remove(which % flying.len());
                    let (session, kind) = (job.session, job.kind);
                    prop_assert!(plan.counts(&job));
                    plan.finish(job, fine(kind), at(now));
                    if kind == Kind::Sample {
                        complete.insert(session, now);
                        taken += 1;
                    }
                },
            }
            prop_assert_eq!(plan.in_flight, flying.len() as u64);
        }
        let ends: Vec<_> = plan.ends().collect();
        prop_assert!(ends.iter().all(|end| end.outcome == Some(Outcome::Drained)), "{:?}", ends);
        prop_assert!(ends.iter().all(|end| end.coverage.due >= end.coverage.taken));
        prop_assert!(ends.iter().all(|end| complete.get(&end.session).is_none_or(|last| Some(*last) <= end.stopped)));
        prop_assert_eq!(ends.iter().map(|end| end.coverage.taken).sum::<u64>(), taken);
    }
}
