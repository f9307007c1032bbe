//! What one read of a cgroup says, v1 or v2. v1's hierarchical keys are the `total_` ones.

use super::files::{Files, ReadError};
use super::groups::{Found, Groups};
use crate::sampler::cgroup_place::CgroupVersion::{self, V1, V2};
use crate::sampler::cgroup_text::{blkio_bytes, io_stat};
use crate::sampler::psi::{self, HostPressure};
use serde::Serialize;

/// One reading; None where this kernel does not say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupSample {
    /// Bytes charged to the group and its children, page cache included.
    pub memory: Option<u64>,
    /// Bytes of page cache that the kernel would drop first.
    pub inactive_file: Option<u64>,
    /// Anonymous bytes.
    pub anon: Option<u64>,
    /// Bytes of page cache.
    pub file: Option<u64>,
    /// Bytes swapped out.
    pub swap: Option<u64>,
    /// CPU time since the group was made.
    pub cpu_ns: Option<u64>,
    /// Of it, in user mode.
    pub cpu_user_ns: Option<u64>,
    /// Of it, in the kernel.
    pub cpu_system_ns: Option<u64>,
    /// Periods in which its quota was used up.
    pub throttled: Option<u64>,
    /// How long it was held back for that.
    pub throttled_ns: Option<u64>,
    /// Bytes read from block devices.
    pub io_read: Option<u64>,
    /// Bytes written to block devices.
    pub io_write: Option<u64>,
    /// Processes and threads in it.
    pub pids: Option<u64>,
    /// How often its limit could not be kept by reclaim (v2).
    pub oom: Option<u64>,
    /// Processes of it that the kernel killed for memory.
    pub oom_kill: Option<u64>,
}

const OOM_V1: &str = "cgroup v1 counts kills alone";

fn version(found: &Found) -> CgroupVersion {
    found.as_ref().map_or(V2, |folder| folder.version)
}

/// Reads all of it: up to eight files.
pub(super) fn read(groups: &Groups, files: &mut Files) -> Result<GroupSample, ReadError> {
    let mut sample = GroupSample::default();
    memory(&groups.memory, files, &mut sample)?;
    cpu(&groups.cpu, files, &mut sample)?;
    throttling(&groups.throttling, files, &mut sample)?;
    let (io, fields) = (&groups.io, ["io_read", "io_write"]);
    let bytes = match version(io) {
        V2 => files.of_group(io, "io.stat", &fields)?.map(|text| io_stat(&text)),
        V1 => {
            let whole = "blkio.throttle.io_service_bytes_recursive";
            files.of_group(io, whole, &fields)?.map(|text| blkio_bytes(&text))
        }
    };
    (sample.io_read, sample.io_write) = (bytes.map(|bytes| bytes.read), bytes.map(|bytes| bytes.written));
    sample.pids = files.number(&groups.pids, "pids.current", "pids")?;
    Ok(sample)
}

fn memory(folder: &Found, files: &mut Files, sample: &mut GroupSample) -> Result<(), ReadError> {
    let (current, keys) = match version(folder) {
        V2 => ("memory.current", ["inactive_file", "anon", "file"]),
        V1 => ("memory.usage_in_bytes", ["total_inactive_file", "total_rss", "total_cache"]),
    };
    sample.memory = files.number(folder, current, "memory")?;
    let stat = files.of_group(folder, "memory.stat", &["inactive_file", "anon", "file"])?;
    if let Some(stat) = &stat {
        let mut of = |key, field| files.key(stat, "memory.stat", key, field);
        sample.inactive_file = of(keys[0], "inactive_file");
        sample.anon = of(keys[1], "anon");
        sample.file = of(keys[2], "file");
    }
    match version(folder) {
        V2 => {
            sample.swap = files.number(folder, "memory.swap.current", "swap")?;
            if let Some(events) = files.of_group(folder, "memory.events", &["oom", "oom_kill"])? {
                sample.oom = files.key(&events, "memory.events", "oom", "oom");
                sample.oom_kill = files.key(&events, "memory.events", "oom_kill", "oom_kill");
            }
        }
        V1 => {
            sample.swap = stat.and_then(|stat| files.key(&stat, "memory.stat", "total_swap", "swap"));
            files.absent(&["oom"], OOM_V1);
            if let Some(control) = files.of_group(folder, "memory.oom_control", &["oom_kill"])? {
                sample.oom_kill = files.key(&control, "memory.oom_control", "oom_kill", "oom_kill");
            }
        }
    }
    Ok(())
}

fn cpu(folder: &Found, files: &mut Files, sample: &mut GroupSample) -> Result<(), ReadError> {
    match version(folder) {
        V2 => {
            let fields = ["cpu_ns", "cpu_user_ns", "cpu_system_ns"];
            if let Some(stat) = files.of_group(folder, "cpu.stat", &fields)? {
                let mut of = |key, field| files.key(&stat, "cpu.stat", key, field).map(|us| us.saturating_mul(1000));
                sample.cpu_ns = of("usage_usec", "cpu_ns");
                sample.cpu_user_ns = of("user_usec", "cpu_user_ns");
                sample.cpu_system_ns = of("system_usec", "cpu_system_ns");
            }
        }
        V1 => {
            sample.cpu_ns = files.number(folder, "cpuacct.usage", "cpu_ns")?;
            sample.cpu_user_ns = files.number(folder, "cpuacct.usage_user", "cpu_user_ns")?;
            sample.cpu_system_ns = files.number(folder, "cpuacct.usage_sys", "cpu_system_ns")?;
        }
    }
    Ok(())
}

fn throttling(folder: &Found, files: &mut Files, sample: &mut GroupSample) -> Result<(), ReadError> {
    let Some(stat) = files.of_group(folder, "cpu.stat", &["throttled", "throttled_ns"])? else { return Ok(()) };
    sample.throttled = files.key(&stat, "cpu.stat", "nr_throttled", "throttled");
    sample.throttled_ns = match version(folder) {
        V1 => files.key(&stat, "cpu.stat", "throttled_time", "throttled_ns"),
        V2 => files.key(&stat, "cpu.stat", "throttled_usec", "throttled_ns").map(|us| us.saturating_mul(1000)),
    };
    Ok(())
}

/// Stall totals of the group.
pub(super) fn pressure(folder: &Found, files: &mut Files) -> Result<Option<HostPressure>, ReadError> {
    let mut of = |file, field| files.of_group(folder, file, &[field]).map(|text| text.map(|text| psi::parse(&text)));
    let (cpu, memory, io) =
        (of("cpu.pressure", "psi.cpu")?, of("memory.pressure", "psi.memory")?, of("io.pressure", "psi.io")?);
    if cpu.is_none() && memory.is_none() && io.is_none() {
        return Ok(None);
    }
    Ok(Some(HostPressure {
        cpu: cpu.unwrap_or_default(),
        memory: memory.unwrap_or_default(),
        io: io.unwrap_or_default(),
    }))
}

/// The kernel's own totals, read once after a session's stop.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counters {
    /// The largest number of bytes ever charged to the group.
    pub memory_peak: Option<u64>,
    /// CPU time since the group was made.
    pub cpu_ns: Option<u64>,
    /// How often its limit could not be kept by reclaim (v2).
    pub oom: Option<u64>,
    /// Processes of it that the kernel killed for memory.
    pub oom_kill: Option<u64>,
    /// Bytes swapped out now.
    pub swap: Option<u64>,
    /// The largest number of bytes that were swapped out (v2).
    pub swap_peak: Option<u64>,
    /// Bytes read from block devices.
    pub io_read: Option<u64>,
    /// Bytes written to block devices.
    pub io_write: Option<u64>,
    /// Stall totals (v2).
    pub psi: Option<HostPressure>,
}

/// Reads them. What is gone by now is absent.
pub(super) fn counters(groups: &Groups, files: &mut Files) -> Result<Counters, ReadError> {
    let last = read(groups, files)?;
    let memory = &groups.memory;
    let (peak, swap_peak) = match version(memory) {
        V2 => ("memory.peak", Some("memory.swap.peak")),
        V1 => ("memory.max_usage_in_bytes", None),
    };
    let memory_peak = files.number(memory, peak, "memory_peak")?;
    let swap_peak = if let Some(file) = swap_peak {
        files.number(memory, file, "swap_peak")?
    } else {
        files.absent(&["swap_peak"], "cgroup v1 keeps no largest swap");
        None
    };
    Ok(Counters {
        memory_peak,
        cpu_ns: last.cpu_ns,
        oom: last.oom,
        oom_kill: last.oom_kill,
        swap: last.swap,
        swap_peak,
        io_read: last.io_read,
        io_write: last.io_write,
        psi: pressure(&groups.pressure, files)?,
    })
}
