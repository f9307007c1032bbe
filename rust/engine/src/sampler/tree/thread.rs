//! The sampler's thread: rounds of reads on an absolute schedule.

use super::drift::{Clocks, SleepWatch};
use super::host::{HostFacts, HostReader};
use super::records::{HostRecord, JumpRecord, Limits, ProcessRecord};
use super::schedule::Schedule;
use super::tree_cpu::TreeCpu;
use super::walk::{ChildrenFrom, ProcReader, TreeRoot};
use super::{ProcessSample, SamplerOptions, SamplerProgress, Shared};
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the facts of the host are read: they change slowly and take more files.
const HOST_EVERY_NS: u64 = 1_000_000_000;

/// One read of one tree or of the harness.
struct Reading {
    cpu_ns: u64,
    rss: u64,
    procs: u32,
}

struct Tree {
    /// None where the root did not live when sampling began.
    root: Option<TreeRoot>,
    cpu: TreeCpu,
}

pub(super) struct Rounds {
    interval_ns: u64,
    trees: Vec<Tree>,
    samples: Vec<ProcessSample>,
    host: Option<HostReader>,
    facts: Option<HostFacts>,
    /// How long the cgroups had been throttled when sampling began.
    throttled_before: Option<u64>,
    reader: ProcReader,
    recorder: Option<RecordSink>,
    tick_ns: u64,
    page_bytes: u64,
}

impl Rounds {
    /// Finds the roots now, so that a pid that is given away later is not taken for them.
    pub(super) fn new(options: SamplerOptions, recorder: Option<RecordSink>) -> Self {
        let mut reader = ProcReader::default();
        let children_from = ChildrenFrom::detect();
        let trees = options.trees.iter().map(|tree| Tree {
            root: reader.stat(tree.pid).map(|stat| TreeRoot {
                root: (stat.pid, stat.start_ticks),
                reaper: tree.reaper,
                children_from,
            }),
            cpu: TreeCpu::default(),
        });
        let trees: Vec<Tree> = trees.collect();
        let names = options.trees.into_iter().map(|tree| tree.who).chain(options.harness.clone());
        let samples = names.map(|who| ProcessSample {
            who,
            alive: false,
            t: None,
            cpu_ns: None,
            rss: None,
            rss_max: None,
            procs: None,
        });
        Self {
            interval_ns: options.interval_ms * 1_000_000,
            trees,
            samples: samples.collect(),
            host: options.harness.is_some().then(HostReader::new),
            facts: None,
            throttled_before: None,
            reader,
            recorder,
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            page_bytes: u64::try_from(rustix::param::page_size()).unwrap_or(4096),
        }
    }

    pub(super) fn run(mut self, shared: &Shared) {
        let mut schedule = Schedule::new(now_ns(), self.interval_ns);
        let mut sleep = SleepWatch::default();
        let mut host_due = 0;
        loop {
            let last = wait(schedule.due(), shared);
            let began = now_ns();
            let mut progress = shared.progress.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if !last {
                progress.late_max_ns = progress.late_max_ns.max(began.saturating_sub(schedule.due()));
            }
            if let Some(slept_ns) = Clocks::read().and_then(|clocks| sleep.slept(clocks)) {
                progress.slept_ns += slept_ns;
                self.record(&JumpRecord { k: "jump", t: began, slept_ns });
            }
            if began >= host_due || last {
                host_due = began + HOST_EVERY_NS;
                self.host(&progress);
            }
            self.round();
            progress.samples += 1;
            progress.took_max_ns = progress.took_max_ns.max(now_ns() - began);
            schedule.taken(now_ns());
            progress.missed = schedule.missed();
            progress.trees.clone_from(&self.samples);
            progress.host.clone_from(&self.facts);
            *shared.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
            if last {
                return;
            }
        }
    }

    fn record(&self, record: &impl Serialize) {
        if let Some(recorder) = &self.recorder {
            recorder.write(record);
        }
    }

    fn round(&mut self) {
        for at in 0..self.samples.len() {
            let t = now_ns();
            let reading = match self.trees.get_mut(at) {
                Some(tree) => read_tree(tree, &mut self.reader, self.tick_ns, self.page_bytes),
                None => self.read_harness(),
            };
            let took = now_ns() - t;
            let sample = &mut self.samples[at];
            sample.alive = reading.as_ref().is_some_and(|reading| reading.procs > 0);
            let Some(reading) = reading.filter(|reading| reading.procs > 0) else { continue };
            sample.t = Some(t);
            sample.cpu_ns = Some(reading.cpu_ns);
            sample.rss = Some(reading.rss);
            sample.rss_max = sample.rss_max.max(Some(reading.rss));
            sample.procs = Some(reading.procs);
            let Reading { cpu_ns, rss, procs } = reading;
            let who = &self.samples[at].who;
            let limits = if at < self.trees.len() { None } else { self.limits() };
            self.record(&ProcessRecord { k: "process", t, who, cpu_ns, rss, procs, took, limits });
        }
    }

    /// This process alone: what its children use is theirs.
    fn read_harness(&mut self) -> Option<Reading> {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_ns = u64::try_from(cpu.tv_sec).ok()? * 1_000_000_000 + u64::try_from(cpu.tv_nsec).ok()?;
        let stat = self.reader.stat(std::process::id())?;
        Some(Reading { cpu_ns, rss: stat.resident_pages * self.page_bytes, procs: 1 })
    }

    fn host(&mut self, progress: &SamplerProgress) {
        let Some(reader) = &self.host else { return };
        let t = now_ns();
        let facts = reader.read();
        let took = now_ns() - t;
        let (samples, missed) = (progress.samples, progress.missed);
        self.record(&HostRecord { k: "host", t, samples, missed, facts: &facts, took });
        if self.facts.is_none() {
            self.throttled_before = facts.throttled_ns;
        }
        self.facts = Some(facts);
    }

    fn limits(&self) -> Option<Limits> {
        let facts = self.facts.as_ref()?;
        let throttled_ns =
            facts.throttled_ns.zip(self.throttled_before).map(|(now, before)| now.saturating_sub(before));
        Some(Limits { fds: facts.fds, fd_limit: facts.fd_limit, throttled_ns })
    }
}

fn read_tree(tree: &mut Tree, reader: &mut ProcReader, tick_ns: u64, page_bytes: u64) -> Option<Reading> {
    let members = tree.root?.live_members(reader, &tree.cpu.members());
    let ticks = tree.cpu.fold(&members);
    // A process that has ended and was not waited for yet uses no memory and is no live member.
    let alive = members.iter().filter(|stat| !matches!(stat.state, 'Z' | 'X'));
    let (pages, procs) = alive.fold((0, 0), |(pages, procs), stat| (pages + stat.resident_pages, procs + 1));
    Some(Reading { cpu_ns: ticks * tick_ns, rss: pages * page_bytes, procs })
}

/// Waits until the instant, and says whether the sampler is to end. The wait is taken up again from
/// the absolute instant each time it returns early.
fn wait(due: u64, shared: &Shared) -> bool {
    loop {
        if shared.stop.load(Ordering::Acquire) {
            return true;
        }
        let now = now_ns();
        if now >= due {
            return false;
        }
        std::thread::park_timeout(Duration::from_nanos(due - now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::clock::now_ns;
    use crate::recorder::Recorder;
    use std::process::{Command, Stdio};

    fn options(text: serde_json::Value) -> SamplerOptions {
        serde_json::from_value(text).unwrap()
    }

    /// Polls until the condition holds; a test that waits in vain fails here.
    fn until(sampler: &TreeSampler, what: &str, holds: impl Fn(&SamplerProgress) -> bool) -> SamplerProgress {
        let deadline = crate::clock::now_ns() + 20_000_000_000;
        loop {
            let progress = sampler.progress();
            if holds(&progress) {
                return progress;
            }
            assert!(crate::clock::now_ns() < deadline, "never: {what}: {progress:?}");
            std::thread::yield_now();
            std::thread::park_timeout(std::time::Duration::from_millis(2));
        }
    }

    #[test]
    fn a_real_tree_is_recorded_and_its_children_s_cpu_does_not_vanish() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples.ndjson");
        let mut recorder = Recorder::create(&path).unwrap();
        // Children that burn CPU and end, one after the other; then the shell waits for its stdin.
        let script =
            "for n in 1 2 3; do (i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done); done; echo done; read line";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut sampler = TreeSampler::start(
            options(serde_json::json!({"interval_ms": 5, "trees": [{"who": "client", "pid": shell.id()}], "self": "harness"})),
            Some(recorder.sink()),
        )
        .unwrap();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0; 5]).unwrap();
        let rounds = sampler.progress().samples;
        let progress = until(&sampler, "a sample after the children", |p| p.samples > rounds + 1);
        assert!(progress.trees[0].cpu_ns.unwrap() >= 20_000_000, "{progress:?}");
        // Between its death and its burial a process is there and has no memory.
        let killed = now_ns();
        shell.kill().unwrap();
        shell.wait().unwrap();
        let gone = until(&sampler, "the tree is gone", |p| !p.trees[0].alive);
        assert_eq!(gone.trees[0].cpu_ns, progress.trees[0].cpu_ns.max(gone.trees[0].cpu_ns));
        let last = sampler.stop();
        assert!(last.samples > progress.samples && last.host.unwrap().cpus.unwrap() >= 1);
        recorder.close();
        let text = std::fs::read_to_string(&path).unwrap();
        let records: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |k: &str, who: &str| {
            records.iter().filter(|r| r["k"] == k && (who.is_empty() || r["who"] == who)).cloned().collect::<Vec<_>>()
        };
        let client = of("process", "client");
        assert!(client.windows(2).all(|pair| pair[0]["cpu_ns"].as_u64() <= pair[1]["cpu_ns"].as_u64()));
        assert!(client.windows(2).all(|pair| pair[0]["t"].as_u64() < pair[1]["t"].as_u64()));
        let living = client.iter().filter(|r| r["t"].as_u64().unwrap() + r["took"].as_u64().unwrap() < killed);
        assert!(living.clone().count() > 1);
        assert!(living.into_iter().all(|r| r["rss"].as_u64() > Some(0) && r["procs"].as_u64() > Some(0)));
        let harness = of("process", "harness");
        assert!(harness.len() >= client.len());
        assert!(harness.iter().all(|r| r["fds"].as_u64() >= Some(3) && r.get("throttled_ns").is_some()));
        assert!(of("host", "").len() >= 2, "one at the start and one at the end");
    }

    #[test]
    fn processes_that_come_and_go_between_two_reads_stop_nothing() {
        let script = "for n in $(seq 300); do (exec sleep 0.001) & done; wait";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let trees = serde_json::json!({"interval_ms": 1, "trees": [{"who": "client", "pid": shell.id()}]});
        let mut sampler = TreeSampler::start(options(trees), None).unwrap();
        assert!(shell.wait().unwrap().success());
        until(&sampler, "the tree is gone", |p| !p.trees[0].alive);
        let client = &sampler.stop().trees[0];
        // The last read may have met the shell dead and not yet buried: without memory.
        assert!(client.procs >= Some(1) && client.rss_max > Some(0), "{client:?}");
    }

    #[test]
    fn a_pid_that_never_lived_is_never_seen_and_nothing_is_recorded_for_it() {
        let mut sampler =
            TreeSampler::start(options(serde_json::json!({"trees": [{"who": "client", "pid": 4_194_305}]})), None)
                .unwrap();
        let progress = sampler.stop();
        let client = &progress.trees[0];
        assert_eq!((client.alive, client.t, client.cpu_ns, client.rss), (false, None, None, None));
        assert!(progress.samples >= 1 && progress.host.is_none());
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let refused = |text| TreeSampler::start(options(text), None).err().unwrap().to_string();
        assert!(refused(serde_json::json!({"interval_ms": 0})).contains("interval_ms is 0"));
        let twice = serde_json::json!({"trees": [{"who": "a", "pid": 1}], "self": "a"});
        assert!(refused(twice).contains("\"a\""));
        let unknown: Result<SamplerOptions, _> = serde_json::from_value(serde_json::json!({"intervall": 1}));
        assert!(unknown.is_err());
    }
}
