//! What the harness may use and what it ran into: CPUs, quota, throttling, memory, descriptors, PSI.

use crate::sampler::cgroup_place::{CgroupPlace, CgroupVersion, place};
use crate::sampler::cgroup_text as text;
use crate::sampler::psi::HostPressure;
use serde::Serialize;
use std::fs::read_to_string;
use std::path::Path;

/// One reading. None where this machine does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFacts {
    /// CPUs that the affinity of this process allows.
    pub cpus: Option<u32>,
    /// The tightest CPU quota of its cgroups, in thousandths of a CPU; None: no quota.
    pub quota_millis: Option<u64>,
    /// Periods in which one of its cgroups was throttled, since that cgroup was made.
    pub throttled: Option<u64>,
    /// How long they were throttled, in nanoseconds.
    pub throttled_ns: Option<u64>,
    /// The tightest memory limit of its cgroups, in bytes; None: no limit.
    pub memory_limit: Option<u64>,
    /// Memory of the group with that limit (else of its own group) without inactive page cache, in bytes.
    pub memory_used: Option<u64>,
    /// Open file descriptors of this process.
    pub fds: Option<u64>,
    /// How many it may have; None: no limit.
    pub fd_limit: Option<u64>,
    /// Stall totals of the machine since boot.
    pub psi: HostPressure,
}

/// Where this process's limits are, found once.
#[derive(Debug)]
pub struct HostReader {
    cpu: Option<CgroupPlace>,
    memory: Option<CgroupPlace>,
}

impl HostReader {
    /// Looks the cgroups of this process up.
    pub fn new() -> Self {
        let cgroup = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mountinfo = read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Self { cpu: place(&cgroup, &mountinfo, "cpu"), memory: place(&cgroup, &mountinfo, "memory") }
    }

    /// Reads all of it; takes a few dozen small files.
    pub fn read(&self) -> HostFacts {
        let (throttled, throttled_ns) = self.cpu.as_ref().map_or((None, None), throttling);
        let (memory_limit, memory_used) = self.memory.as_ref().map_or((None, None), memory);
        HostFacts {
            cpus: allowed_cpus(),
            quota_millis: self.cpu.as_ref().and_then(quota_millis),
            throttled,
            throttled_ns,
            memory_limit,
            memory_used,
            fds: open_descriptors(),
            fd_limit: rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
            psi: HostPressure::read(),
        }
    }
}

impl Default for HostReader {
    fn default() -> Self {
        Self::new()
    }
}

fn allowed_cpus() -> Option<u32> {
    let status = read_to_string("/proc/self/status").ok()?;
    text::cpu_list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

/// The kernel gives the number of entries as the size of the folder since 6.2; before, they are counted.
fn open_descriptors() -> Option<u64> {
    let folder = Path::new("/proc/self/fd");
    match std::fs::metadata(folder).ok()?.len() {
        // The count includes the descriptor that the listing itself needs.
        0 => u64::try_from(std::fs::read_dir(folder).ok()?.count()).ok().map(|n| n.saturating_sub(1)),
        size => Some(size),
    }
}

fn quota_millis(place: &CgroupPlace) -> Option<u64> {
    let quota = |folder: &Path| match place.version {
        CgroupVersion::V1 => text::cfs_quota(
            &read_to_string(folder.join("cpu.cfs_quota_us")).ok()?,
            &read_to_string(folder.join("cpu.cfs_period_us")).ok()?,
        ),
        CgroupVersion::V2 => text::cpu_max(&read_to_string(folder.join("cpu.max")).ok()?),
    };
    place.folders.iter().filter_map(|folder| quota(folder)).map(text::CpuQuota::millis).min()
}

/// Sums over the groups: a parent that is throttled stops its children too.
fn throttling(place: &CgroupPlace) -> (Option<u64>, Option<u64>) {
    let (mut periods, mut nanos) = (None, None);
    for stat in place.folders.iter().filter_map(|folder| read_to_string(folder.join("cpu.stat")).ok()) {
        let time = match place.version {
            CgroupVersion::V1 => text::keyed(&stat, "throttled_time"),
            CgroupVersion::V2 => text::keyed(&stat, "throttled_usec").map(|us| us.saturating_mul(1000)),
        };
        periods = add(periods, text::keyed(&stat, "nr_throttled"));
        nanos = add(nanos, time);
    }
    (periods, nanos)
}

fn add(sum: Option<u64>, value: Option<u64>) -> Option<u64> {
    match (sum, value) {
        (Some(sum), Some(value)) => Some(sum.saturating_add(value)),
        (sum, value) => sum.or(value),
    }
}

fn memory(place: &CgroupPlace) -> (Option<u64>, Option<u64>) {
    let (limit_file, used_file, cache_key) = match place.version {
        CgroupVersion::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        CgroupVersion::V2 => ("memory.max", "memory.current", "inactive_file"),
    };
    let number = |folder: &Path, file| text::bytes(&read_to_string(folder.join(file)).ok()?);
    let tightest = place
        .folders
        .iter()
        .filter_map(|folder| number(folder, limit_file).map(|limit| (limit, folder)))
        .min_by_key(|(limit, _)| *limit);
    let group = tightest.map(|(_, folder)| folder).or_else(|| place.folders.first());
    let used = group.and_then(|folder| {
        let cache = text::keyed(&read_to_string(folder.join("memory.stat")).ok()?, cache_key)?;
        Some(number(folder, used_file)?.saturating_sub(cache))
    });
    (tightest.map(|(limit, _)| limit), used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn group(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let path = dir.path().to_owned();
        (dir, path)
    }

    #[test]
    fn the_tightest_limit_of_the_chain_counts_and_throttling_sums_up() {
        let (_a, inner) = group(&[
            ("cpu.max", "max 100000"),
            ("cpu.stat", "nr_throttled 1\nthrottled_usec 5\n"),
            ("memory.max", "max"),
        ]);
        let (_b, outer) = group(&[
            ("cpu.max", "150000 100000"),
            ("cpu.stat", "nr_throttled 2\nthrottled_usec 7\n"),
            ("memory.max", "1000"),
            ("memory.current", "900"),
            ("memory.stat", "anon 1\ninactive_file 300\n"),
        ]);
        let place = CgroupPlace { version: CgroupVersion::V2, folders: vec![inner, outer, PathBuf::from("/nowhere")] };
        assert_eq!(quota_millis(&place), Some(1500));
        assert_eq!(throttling(&place), (Some(3), Some(12_000)));
        assert_eq!(memory(&place), (Some(1000), Some(600)));
    }

    #[test]
    fn v1_files_say_the_same_and_no_limit_is_none() {
        let (_a, folder) = group(&[
            ("cpu.cfs_quota_us", "-1\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("cpu.stat", "nr_periods 0\nnr_throttled 4\nthrottled_time 9\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory.usage_in_bytes", "100\n"),
            ("memory.stat", "inactive_file 1\ntotal_inactive_file 40\n"),
        ]);
        let place = CgroupPlace { version: CgroupVersion::V1, folders: vec![folder] };
        assert_eq!((quota_millis(&place), throttling(&place)), (None, (Some(4), Some(9))));
        assert_eq!(memory(&place), (None, Some(60)));
    }

    #[test]
    fn files_that_are_not_there_are_none_and_not_zero() {
        let place = CgroupPlace { version: CgroupVersion::V2, folders: vec![PathBuf::from("/nowhere")] };
        assert_eq!((quota_millis(&place), throttling(&place), memory(&place)), (None, (None, None), (None, None)));
    }

    #[test]
    fn this_process_has_cpus_and_descriptors() {
        let facts = HostReader::new().read();
        assert!(facts.cpus.unwrap() >= 1);
        assert!(facts.fds.unwrap() >= 3);
    }
}
