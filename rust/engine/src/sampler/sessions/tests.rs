//! Real processes and groups, and files that were captured elsewhere.

use super::*;
use crate::clock::now_ns;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that lives until it is dropped.
struct Program(Child);

impl Program {
    fn start() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn options(text: serde_json::Value) -> SessionSamplerOptions {
    serde_json::from_value(text).unwrap()
}

fn records(path: &Path) -> Vec<serde_json::Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(records: &'a [serde_json::Value], k: &str) -> Vec<&'a serde_json::Value> {
    records.iter().filter(|record| record["k"] == k).collect()
}

/// Polls until it holds; a test that waits in vain fails here.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = now_ns() + 30_000_000_000;
    while !holds() {
        assert!(now_ns() < deadline, "never: {what}");
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_real_process_is_sampled_at_once_paused_resumed_and_drained_and_none_is_later_than_its_stop() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("resources.ndjson");
    let sampler = SessionSampler::start(options(serde_json::json!({"path": path, "delay_after_ms": 2}))).unwrap();
    let programs: Vec<Program> = (0..12).map(|_| Program::start()).collect();
    for (number, program) in (0..).zip(&programs) {
        sampler.attach(number, Some(program.pid()), vec![]).unwrap();
    }
    until("three samples of each", || sampler.figures().coverage.taken >= 40);
    let paused = sampler.pause(3, None).unwrap();
    assert!(paused.acknowledged && !paused.leaked && paused.at >= Some(paused.asked));
    let taken = sampler.figures().coverage.taken;
    until("the others go on", || sampler.figures().coverage.taken >= taken + 40);
    let resumed_after = now_ns();
    assert!(sampler.resume(3).unwrap().unwrap() > paused.at.unwrap());
    until("it goes on", || sampler.last_samples()[3].t > Some(resumed_after));
    let end = sampler.drain(5, None).unwrap();
    assert_eq!((end.outcome, end.why.clone()), (Some(Outcome::Drained), None));
    let again = sampler.drain(5, None).unwrap();
    assert_eq!((again.stopped, again.coverage), (end.stopped, end.coverage));
    let figures = sampler.close();
    assert_eq!((figures.attached, figures.drained, figures.in_flight), (12, 12, 0));
    assert!(figures.coverage.due >= figures.coverage.taken && figures.cpu_ns > Some(0));
    let records = records(&path);
    let readings = of_kind(&records, "resource");
    assert_eq!(readings.len() as u64, figures.coverage.taken);
    let stamp = |sample: &serde_json::Value, name: &str| sample[name].as_u64().unwrap();
    for sample in &readings {
        let [queued, begin, end, written] = ["queued", "begin", "end", "written"].map(|name| stamp(sample, name));
        assert!(queued <= begin && begin <= end && end <= written, "{sample}");
        assert!(sample["proc"]["rss"].as_u64() > Some(0) && sample["memory"].is_null(), "{sample}");
    }
    let of = |number: u64| readings.iter().filter(move |sample| sample["n"] == number);
    assert!(of(5).all(|sample| stamp(sample, "end") <= end.stopped.unwrap()));
    let between = |sample: &&&serde_json::Value| {
        stamp(sample, "end") > paused.at.unwrap() && stamp(sample, "begin") < resumed_after
    };
    assert_eq!(of(3).filter(between).count(), 0, "a sample between STOP and CONT");
    let absent = of_kind(&records, "resource_absent");
    assert_eq!(absent.iter().filter(|record| record["absent"].get("memory").is_some()).count(), 12, "once each");
}

#[test]
fn at_most_one_read_of_a_session_is_in_flight_and_the_next_is_due_a_delay_after_it_was_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("resources.ndjson");
    let asked = serde_json::json!({"path": path, "delay_after_ms": 3, "inject_read_delay_ms": 5});
    let sampler = SessionSampler::start(options(asked)).unwrap();
    let program = Program::start();
    sampler.attach(1, Some(program.pid()), vec![]).unwrap();
    until("ten samples", || sampler.figures().coverage.taken >= 10);
    assert_eq!(sampler.close().in_flight_max, 1);
    let records = records(&path);
    let readings = of_kind(&records, "resource");
    for pair in readings.windows(2) {
        let due = pair[1]["queued"].as_u64().unwrap();
        assert_eq!(due, pair[0]["written"].as_u64().unwrap() + 3_000_000, "no burst, no catching up");
    }
    assert!(readings.iter().all(|s| s["end"].as_u64().unwrap() - s["begin"].as_u64().unwrap() >= 5_000_000));
}

#[test]
fn workers_bounded_and_their_hanging_reads_hold_up_no_caller() {
    let hang = |session: u64| serde_json::json!({"session": session, "at": "start", "ms": 3_600_000});
    let hangs: Vec<_> = (0..4).map(hang).collect();
    let asked = serde_json::json!({"delay_after_ms": 1, "drain_timeout_ms": 50, "inject_hangs": hangs});
    let sampler = SessionSampler::start(options(asked)).unwrap();
    let programs: Vec<Program> = (0..8).map(|_| Program::start()).collect();
    for (number, program) in (0..).zip(&programs[..4]) {
        sampler.attach(number, Some(program.pid()), vec![]).unwrap();
    }
    until("all threads hang", || sampler.figures().in_flight == 4);
    for (number, program) in (4..).zip(&programs[4..]) {
        sampler.attach(number, Some(program.pid()), vec![]).unwrap();
    }
    assert!(!sampler.pause(0, Some(0)).unwrap().acknowledged);
    assert!(sampler.pause(4, Some(0)).unwrap().acknowledged, "none is in flight");
    let figures = sampler.figures();
    assert_eq!((figures.in_flight_max, figures.coverage.taken), (4, 0));
    let leaked = sampler.drain(1, None).unwrap();
    assert_eq!(leaked.outcome, Some(Outcome::Leaked));
    assert!(leaked.why.unwrap().contains("50 ms"));
    let end = sampler.drain(5, None).unwrap();
    assert!(end.why.unwrap().contains("no thread was free"));
    let figures = sampler.close();
    assert_eq!((figures.leaked, figures.in_flight, figures.in_flight_max), (8, 4, 4));
    assert!(figures.coverage_ppm.unwrap() < 1_000_000);
}

#[test]
fn a_leaked_read_that_returns_late_is_discarded_and_its_thread_reads_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("resources.ndjson");
    let asked = serde_json::json!({"path": path, "workers": 1, "delay_after_ms": 1, "drain_timeout_ms": 20,
        "inject_hangs": [{"session": 0, "at": "middle", "ms": 400}]});
    let sampler = SessionSampler::start(options(asked)).unwrap();
    let programs = [Program::start(), Program::start()];
    sampler.attach(0, Some(programs[0].pid()), vec![]).unwrap();
    until("the third read hangs", || {
        let figures = sampler.figures();
        figures.coverage.taken == 2 && figures.in_flight == 1
    });
    assert!(sampler.pause(0, None).unwrap().leaked);
    sampler.attach(1, Some(programs[1].pid()), vec![]).unwrap();
    until("the thread is free again", || sampler.last_samples()[1].t.is_some());
    assert!(sampler.pause(0, None).unwrap().acknowledged);
    let end = sampler.drain(0, None).unwrap();
    assert_eq!((end.outcome, end.coverage.taken), (Some(Outcome::Leaked), 2), "the verdict stays");
    assert_eq!(sampler.close().discarded, 1);
    let records = records(&path);
    assert_eq!(of_kind(&records, "resource").iter().filter(|record| record["n"] == 0).count(), 2);
    let ends: Vec<_> = of_kind(&records, "resource_end").iter().map(|end| (&end["n"], &end["outcome"])).collect();
    assert_eq!(serde_json::json!(ends), serde_json::json!([[0, "leaked"], [1, "drained"]]));
}

#[test]
fn a_disk_that_blocks_holds_up_no_caller() {
    // A pipe that nobody reads stands for it: once it is full, a write blocks.
    let (mut reading, writing) = std::io::pipe().unwrap();
    let lines = lines::Lines::to(Some(std::fs::File::from(std::os::fd::OwnedFd::from(writing))));
    let sampler = SessionSampler::over(options(serde_json::json!({"delay_after_ms": 1})), lines).unwrap();
    let programs: Vec<Program> = (0..9).map(|_| Program::start()).collect();
    for (number, program) in (0..).zip(&programs[..8]) {
        sampler.attach(number, Some(program.pid()), vec![]).unwrap();
    }
    until("every thread waits for the disk", || {
        let before = sampler.figures();
        std::thread::park_timeout(std::time::Duration::from_millis(100));
        let after = sampler.figures();
        after.in_flight == 4
            && (before.written.lines, before.coverage.taken) == (after.written.lines, after.coverage.taken)
    });
    sampler.attach(8, Some(programs[8].pid()), vec![]).unwrap();
    let paused: Vec<bool> = (0..9).map(|n| sampler.pause(n, Some(0)).unwrap().acknowledged).collect();
    assert_eq!(
        paused.iter().filter(|acknowledged| **acknowledged).count(),
        5,
        "a sample is in flight until it is written"
    );
    (0..9).for_each(|n| assert!(sampler.resume(n).unwrap().is_some()));
    let read = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reading, &mut text).unwrap();
        text
    });
    until("it goes on", || sampler.last_samples()[8].t.is_some());
    let figures = sampler.close();
    assert_eq!((figures.drained, figures.written.lost), (9, 0));
    let text = read.join().unwrap();
    let of = |k: &str| text.lines().filter(|line| line.starts_with(&format!("{{\"k\":\"{k}\""))).count();
    assert_eq!((of("resource_attach"), of("resource_end"), of("resource_close")), (9, 9, 1));
    assert_eq!(of("resource_pause"), of("resource_resume"));
    assert_eq!(of("resource") as u64, figures.coverage.taken);
}

#[test]
fn a_hang_in_the_read_after_the_stop_is_a_leak() {
    let asked = serde_json::json!({"delay_after_ms": 1, "drain_timeout_ms": 20,
        "inject_hangs": [{"session": 7, "at": "stop", "ms": 3_600_000}]});
    let sampler = SessionSampler::start(options(asked)).unwrap();
    let program = Program::start();
    sampler.attach(7, Some(program.pid()), vec![]).unwrap();
    until("a sample", || sampler.figures().coverage.taken >= 1);
    let end = sampler.drain(7, None).unwrap();
    assert_eq!(end.outcome, Some(Outcome::Leaked));
    assert!(end.why.unwrap().contains("kernel's counters") && end.counters.is_none());
}

#[test]
fn a_process_that_vanishes_before_its_stop_is_an_error_and_after_it_is_normal() {
    let sampler = SessionSampler::start(options(serde_json::json!({"delay_after_ms": 1}))).unwrap();
    let (early, late) = (Program::start(), Program::start());
    sampler.attach(0, Some(early.pid()), vec![]).unwrap();
    sampler.attach(1, Some(late.pid()), vec![]).unwrap();
    drop(early);
    until("the error", || sampler.last_samples()[0].error.is_some());
    assert_eq!(sampler.resume(0).unwrap(), None);
    let end = sampler.drain(0, None).unwrap();
    assert_eq!(end.outcome, Some(Outcome::Error));
    assert!(end.why.unwrap().starts_with("process "));
    let waiting = sampler.drain(1, Some(0)).unwrap();
    assert!(waiting.why.is_none());
    drop(late);
    assert_eq!(sampler.drain(1, None).unwrap().outcome, Some(Outcome::Drained));
}

#[test]
fn inline_reads_on_the_thread_that_asks_and_has_no_threads() {
    let sampler = SessionSampler::start(options(serde_json::json!({"mode": "inline", "delay_after_ms": 5}))).unwrap();
    let program = Program::start();
    let due = sampler.attach(2, Some(program.pid()), vec![]).unwrap();
    let next = sampler.sample(2).unwrap().unwrap();
    assert!(next > due);
    assert!(sampler.pause(2, Some(0)).unwrap().acknowledged);
    assert_eq!(sampler.sample(2).unwrap(), None);
    assert!(sampler.resume(2).unwrap().is_some() && sampler.sample(2).unwrap().is_some());
    let end = sampler.drain(2, Some(0)).unwrap();
    assert_eq!((end.outcome, end.coverage.taken), (Some(Outcome::Drained), 2));
    assert_eq!(sampler.close().cpu_ns, None);
}

#[test]
fn what_cannot_be_attached_is_refused_with_the_reason() {
    let sampler = SessionSampler::start(SessionSamplerOptions::default()).unwrap();
    let refused = |session, pid, cgroup: &[&str]| {
        let cgroup = cgroup.iter().map(PathBuf::from).collect();
        sampler.attach(session, pid, cgroup).unwrap_err().to_string()
    };
    assert_eq!(refused(1, Some(4_194_305), &[]), "process 4194305 does not live");
    assert!(refused(1, None, &["/perfq-no-such-group"]).contains("/perfq-no-such-group is not there"));
    assert!(refused(1, None, &[]).contains("neither"));
    let program = Program::start();
    sampler.attach(1, Some(program.pid()), vec![]).unwrap();
    assert!(refused(1, Some(program.pid()), &[]).contains("attached before"));
    assert!(sampler.pause(9, None).unwrap_err().to_string().contains("session 9"));
    assert!(sampler.sample(1).unwrap_err().to_string().contains("inline"));
    sampler.close();
    assert!(refused(2, Some(program.pid()), &[]).contains("closed"));
    let bad = |text| SessionSampler::start(options(text)).err().unwrap().to_string();
    assert_eq!(bad(serde_json::json!({"workers": 0})), "workers is 0, expected 1 … 64");
    assert!(bad(serde_json::json!({"sources": []})).contains("sources"));
}
