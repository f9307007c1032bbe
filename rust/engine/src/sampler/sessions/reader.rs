//! Reads one session: what it is made of, and one sample of it after another.

use super::files::{Absent, Files, ReadError};
use super::group::{self, Counters, GroupSample};
use super::groups::{Groups, Surroundings};
use super::options::{At, SessionSamplerOptions, Source};
use super::process::{Process, ProcessSample, SmapsSample};
use crate::sampler::psi::HostPressure;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// What a session is known by.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) session: u64,
    pub(super) process: Option<Process>,
    pub(super) cgroup: Vec<PathBuf>,
}

/// One sample.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Of its cgroup; all None where that is not a source.
    #[serde(flatten)]
    pub group: GroupSample,
    /// Stall totals of its cgroup.
    pub psi: Option<HostPressure>,
    /// Of its process.
    pub proc: Option<ProcessSample>,
    /// Of its process, with some samples.
    pub smaps: Option<SmapsSample>,
}

#[derive(Debug)]
pub(super) struct Reader {
    target: Target,
    /// Found by the first read, since the look-up itself may block.
    groups: Option<Groups>,
    files: Files,
    taken: u64,
}

impl Reader {
    pub(super) fn new(target: Target) -> Self {
        Self { target, groups: None, files: Files::default(), taken: 0 }
    }

    /// Fields found to be absent since the last call, each with the reason.
    pub(super) fn take_news(&mut self) -> Absent {
        self.files.take_news()
    }

    /// Takes a sample; what is injected is part of it.
    pub(super) fn sample(
        &mut self,
        options: &SessionSamplerOptions,
        around: &Surroundings,
    ) -> Result<Sample, ReadError> {
        self.taken += 1;
        let at = match self.taken {
            1 => Some(At::Start),
            3 => Some(At::Middle),
            _ => None,
        };
        let hang = at.and_then(|at| options.hang_ms(self.target.session, at)).unwrap_or(0);
        std::thread::sleep(Duration::from_millis(options.inject_read_delay_ms + hang));
        self.look_up(options, around)?;
        let Self { target, groups: Some(groups), files, taken } = self else { unreachable!("looked up above") };
        let group = if options.reads(Source::Cgroup) { group::read(groups, files)? } else { GroupSample::default() };
        let psi = if options.reads(Source::Psi) { group::pressure(&groups.pressure, files)? } else { None };
        let Some(process) = target.process else {
            return Ok(Sample { group, psi, proc: None, smaps: None });
        };
        let proc = if options.reads(Source::Proc) { Some(process.read(files)?) } else { None };
        let turn = options.reads(Source::SmapsRollup) && *taken % options.smaps_every == 1 % options.smaps_every;
        let smaps = if turn { smaps(process, files, options.smaps_limit_bytes)? } else { None };
        Ok(Sample { group, psi, proc, smaps })
    }

    /// Reads the kernel's totals. What is gone is absent, which is normal after a stop.
    pub(super) fn counters(
        &mut self,
        options: &SessionSamplerOptions,
        around: &Surroundings,
    ) -> Result<Counters, ReadError> {
        if let Some(ms) = options.hang_ms(self.target.session, At::Stop) {
            std::thread::sleep(Duration::from_millis(ms));
        }
        match self.look_up(options, around) {
            Err(error) if !error.vanished => return Err(error),
            _ => {}
        }
        let Some(groups) = &self.groups else { return Ok(Counters::default()) };
        match group::counters(groups, &mut self.files) {
            Err(error) if error.vanished => {
                self.files.absent(&["counters"], &error.why);
                Ok(Counters::default())
            }
            other => other,
        }
    }

    fn look_up(&mut self, options: &SessionSamplerOptions, around: &Surroundings) -> Result<(), ReadError> {
        if self.groups.is_some() {
            return Ok(());
        }
        let Target { process, cgroup, .. } = &self.target;
        let groups = match process {
            _ if !options.reads(Source::Cgroup) && !options.reads(Source::Psi) => Groups::none("not a source"),
            _ if !cgroup.is_empty() => {
                let groups = Groups::named(cgroup, &around.mountinfo);
                if !groups.exists() {
                    return Err(ReadError::vanished(format!("the cgroup {} is gone", cgroup[0].display())));
                }
                groups
            }
            Some(process) => {
                let theirs = self.files.of_process(process.pid, "cgroup", &[])?.unwrap_or_default();
                Groups::of_process(&theirs, &around.own_cgroup, &around.mountinfo)
            }
            None => Groups::none("no cgroup was given"),
        };
        self.groups = Some(groups);
        Ok(())
    }
}

/// A process above the limit is left alone: the read would hold it up too long.
fn smaps(process: Process, files: &mut Files, limit: u64) -> Result<Option<SmapsSample>, ReadError> {
    let rss = process.read(files)?.rss;
    if rss.is_some_and(|rss| rss <= limit) { process.smaps(files) } else { Ok(None) }
}
