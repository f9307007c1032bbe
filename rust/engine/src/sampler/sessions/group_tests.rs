//! Groups as both versions show them: captured files, and the groups of the machine that the tests run on.

use super::files::Files;
use super::group::{counters, pressure, read};
use super::groups::{Folder, Groups, Surroundings};
use super::*;
use crate::sampler::cgroup_place::{CgroupVersion, place};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn captured(version: CgroupVersion, files: &[(&str, &str)]) -> (tempfile::TempDir, Groups) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let found = || Ok(Folder { version, path: dir.path().to_owned() });
    let groups =
        Groups { memory: found(), cpu: found(), throttling: found(), io: found(), pids: found(), pressure: found() };
    (dir, groups)
}

const V2: &[(&str, &str)] = &[
    ("memory.current", "51380224\n"),
    ("memory.peak", "61865984\n"),
    ("memory.swap.current", "4096\n"),
    ("memory.swap.peak", "8192\n"),
    (
        "memory.stat",
        "anon 20971520\nfile 27262976\nkernel 1048576\nkernel_stack 98304\nslab 524288\ninactive_anon 20971520\n\
         active_anon 0\ninactive_file 15728640\nactive_file 11534336\nunevictable 0\npgfault 8123\n",
    ),
    ("memory.events", "low 0\nhigh 12\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n"),
    (
        "cpu.stat",
        "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 40\nnr_throttled 7\nthrottled_usec 90\n",
    ),
    ("io.stat", "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"),
    ("pids.current", "9\n"),
    (
        "cpu.pressure",
        "some avg10=1.00 avg60=0.50 avg300=0.10 total=700\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=30\n",
    ),
    (
        "memory.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=4\n",
    ),
    ("io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
];

#[test]
fn captured_files_of_v2_are_read() {
    let (_dir, groups) = captured(CgroupVersion::V2, V2);
    let mut files = Files::default();
    let sample = read(&groups, &mut files).unwrap();
    assert_eq!(
        (sample.memory, sample.inactive_file, sample.anon),
        (Some(51_380_224), Some(15_728_640), Some(20_971_520))
    );
    assert_eq!((sample.file, sample.swap, sample.pids), (Some(27_262_976), Some(4096), Some(9)));
    assert_eq!((sample.cpu_ns, sample.cpu_user_ns), (Some(1_500_000_000), Some(1_000_000_000)));
    assert_eq!((sample.throttled, sample.throttled_ns), (Some(7), Some(90_000)));
    assert_eq!(
        (sample.io_read, sample.io_write, sample.oom, sample.oom_kill),
        (Some(4096), Some(8192), Some(2), Some(1))
    );
    let psi = pressure(&groups.pressure, &mut files).unwrap().unwrap();
    assert_eq!((psi.cpu.some_us, psi.cpu.full_us, psi.io.full_us), (Some(700), Some(30), None));
    let totals = counters(&groups, &mut files).unwrap();
    assert_eq!((totals.memory_peak, totals.swap_peak, totals.oom_kill), (Some(61_865_984), Some(8192), Some(1)));
    assert!(files.take_news().is_empty(), "nothing is absent");
}

#[test]
fn v1_keys_are_the_total_ones_and_what_v1_lacks_is_absent_once_with_the_reason() {
    let (_dir, groups) = captured(
        CgroupVersion::V1,
        &[
            ("memory.usage_in_bytes", "3469312\n"),
            ("memory.max_usage_in_bytes", "9469312\n"),
            ("memory.stat", "cache 1\nrss 2\ninactive_file 3\ntotal_cache 10\ntotal_rss 20\ntotal_inactive_file 30\n"),
            ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"),
            ("cpuacct.usage", "123456789\n"),
            ("cpu.stat", "nr_periods 4\nnr_throttled 3\nthrottled_time 812345678\n"),
            ("pids.current", "2\n"),
        ],
    );
    let mut files = Files::default();
    let sample = read(&groups, &mut files).unwrap();
    assert_eq!((sample.inactive_file, sample.anon, sample.file), (Some(30), Some(20), Some(10)));
    assert_eq!((sample.cpu_ns, sample.throttled_ns, sample.oom_kill), (Some(123_456_789), Some(812_345_678), Some(4)));
    assert_eq!((sample.swap, sample.io_read, sample.oom, sample.cpu_user_ns), (None, None, None, None));
    let news = files.take_news();
    let fields: Vec<&str> = news.keys().copied().collect();
    assert_eq!(fields, ["cpu_system_ns", "cpu_user_ns", "io_read", "io_write", "oom", "swap"]);
    assert_eq!(news["swap"], "memory.stat has no total_swap");
    assert!(news["io_read"].contains("blkio.throttle.io_service_bytes_recursive"));
    read(&groups, &mut files).unwrap();
    assert!(files.take_news().is_empty(), "said once");
    assert_eq!(counters(&groups, &mut files).unwrap().memory_peak, Some(9_469_312));
}

#[test]
fn a_file_that_says_something_else_is_an_unexpected_error() {
    let (dir, groups) = captured(CgroupVersion::V2, V2);
    let mut files = Files::default();
    std::fs::write(dir.path().join("memory.current"), "full\n").unwrap();
    let error = read(&groups, &mut files).unwrap_err();
    assert!(!error.vanished && error.why.contains("\"full\""), "{error:?}");
    std::fs::write(dir.path().join("memory.current"), "1\n").unwrap();
    read(&groups, &mut files).unwrap();
    dir.close().unwrap();
    assert!(read(&groups, &mut files).unwrap_err().vanished);
}

/// Groups of perfq's own, below the one that this process is in; removed when dropped.
struct OwnGroups {
    above: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl OwnGroups {
    /// None where the machine does not let us.
    fn make(name: &str) -> Option<Self> {
        let around = Surroundings::read();
        let mut own = Self { above: vec![], folders: vec![] };
        for controller in ["memory", "cpuacct", "pids", "blkio", "pressure"] {
            let here = place(&around.own_cgroup, &around.mountinfo, controller)?.folders.into_iter().next()?;
            let above = here.join(format!("perfq-test-{}-{name}", std::process::id()));
            if own.above.contains(&above) {
                continue;
            }
            std::fs::create_dir(&above).ok()?;
            own.above.push(above.clone());
            std::fs::create_dir(above.join("session")).ok()?;
            own.folders.push(above.join("session"));
        }
        Some(own)
    }

    /// A program that is in all of them before it runs, and lives until its stdin ends.
    fn run(&self, script: &str) -> Option<Child> {
        let joins: Vec<String> =
            self.folders.iter().map(|folder| format!("echo $$ > {}/cgroup.procs", folder.display())).collect();
        let script = format!("{} && echo in; {script}; exec cat >/dev/null", joins.join(" && "));
        let mut child =
            Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        std::io::Read::read_exact(child.stdout.as_mut()?, &mut [0; 3]).ok()?;
        Some(child)
    }
}

impl Drop for OwnGroups {
    fn drop(&mut self) {
        for folder in self.folders.iter().chain(&self.above) {
            // A process that was just killed leaves its group a moment later.
            for _ in 0..200 {
                if std::fs::remove_dir(folder).is_ok() || !folder.exists() {
                    break;
                }
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
        }
    }
}

fn end_of(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_real_observer_of_real_groups_finds_them_by_the_process_and_by_their_folders() {
    let Some(groups) = OwnGroups::make("observer") else {
        let _ = writeln!(std::io::stderr(), "not run: no cgroup can be made below the one that the tests run in");
        return;
    };
    let script = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    let Some(child) = groups.run(script) else { panic!("a process cannot join {:?}", groups.folders) };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("resources.ndjson");
    let options = SessionSamplerOptions { path: Some(path.clone()), delay_after_ms: 5, ..Default::default() };
    let sampler = SessionSampler::start(options).unwrap();
    sampler.attach(0, Some(child.id()), vec![]).unwrap();
    sampler.attach(1, None, groups.folders.clone()).unwrap();
    let deadline = crate::clock::now_ns() + 30_000_000_000;
    while sampler.figures().coverage.taken < 20 && crate::clock::now_ns() < deadline {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    let by_pid = sampler.drain(0, None).unwrap();
    let by_folder = sampler.drain(1, None).unwrap();
    end_of(child);
    for end in [&by_pid, &by_folder] {
        assert_eq!((end.outcome, end.why.as_deref()), (Some(Outcome::Drained), None));
        let counters = end.counters.as_ref().unwrap();
        assert!(counters.memory_peak > Some(0) && counters.cpu_ns > Some(1_000_000), "{counters:?}");
        assert_eq!(counters.oom_kill, Some(0));
    }
    sampler.close();
    let text = std::fs::read_to_string(&path).unwrap();
    let readings: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let readings: Vec<_> = readings.iter().filter(|record| record["k"] == "resource").collect();
    assert!(
        readings.iter().all(|s| s["memory"].as_u64() > Some(0) && s["pids"].as_u64() >= Some(1)),
        "{:?}",
        readings[0]
    );
    assert!(readings.iter().all(|s| s["n"] == 0 || s["proc"].is_null()));
    assert!(readings.iter().all(|s| s["psi"].is_null() || s["psi"]["cpu"]["some_us"].is_u64()));
    let cpu: Vec<u64> = readings.iter().filter(|s| s["n"] == 1).map(|s| s["cpu_ns"].as_u64().unwrap()).collect();
    assert!(cpu.windows(2).all(|pair| pair[0] <= pair[1]) && cpu.first() < cpu.last(), "{cpu:?}");
}

#[test]
fn a_cgroup_that_vanishes_is_an_error_before_the_stop_alone() {
    let Some(groups) = OwnGroups::make("vanishes") else { return };
    let options = SessionSamplerOptions { delay_after_ms: 2, ..Default::default() };
    let sampler = SessionSampler::start(options).unwrap();
    sampler.attach(0, None, groups.folders.clone()).unwrap();
    sampler.attach(1, None, groups.folders.clone()).unwrap();
    let deadline = crate::clock::now_ns() + 30_000_000_000;
    let wait_for = |holds: &dyn Fn(&SessionSampler) -> bool| {
        while !holds(&sampler) {
            assert!(crate::clock::now_ns() < deadline, "never: {:?}", sampler.last_samples());
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
    };
    wait_for(&|sampler| sampler.figures().coverage.taken >= 4);
    assert!(sampler.pause(1, None).unwrap().acknowledged);
    drop(groups);
    wait_for(&|sampler| sampler.last_samples()[0].error.is_some());
    let (error, normal) = (sampler.drain(0, None).unwrap(), sampler.drain(1, None).unwrap());
    assert_eq!((error.outcome, normal.outcome), (Some(Outcome::Error), Some(Outcome::Drained)));
    assert!(error.why.unwrap().contains("is gone"));
    assert_eq!(normal.counters.unwrap().memory_peak, None);
}
