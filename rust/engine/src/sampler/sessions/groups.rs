//! Where the files of one session's cgroup are, in each hierarchy.

use crate::sampler::cgroup_place::{CgroupPlace, CgroupVersion, place, place_at, serves};
use std::path::{Path, PathBuf};

/// The group's folder in one hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) version: CgroupVersion,
    pub(super) path: PathBuf,
}

/// A folder, or why there is none.
pub(super) type Found = Result<Folder, String>;

/// One folder for each thing that is read.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) memory: Found,
    pub(super) cpu: Found,
    pub(super) throttling: Found,
    pub(super) io: Found,
    pub(super) pids: Found,
    /// Stall totals are of the unified hierarchy alone.
    pub(super) pressure: Found,
}

/// The controllers by their names in v1; the unified hierarchy serves whatever v1 does not.
const CONTROLLERS: [&str; 6] = ["memory", "cpuacct", "cpu", "blkio", "pids", "pressure"];

impl Groups {
    fn each(mut of: impl FnMut(&str) -> Found) -> Self {
        let [memory, cpu, throttling, io, pids, pressure] = CONTROLLERS.map(&mut of);
        Self { memory, cpu, throttling, io, pids, pressure }
    }

    /// No cgroup at all.
    pub(super) fn none(why: &str) -> Self {
        Self::each(|_| Err(why.to_owned()))
    }

    /// Of folders that were named, one a hierarchy, or one for all of them.
    pub(super) fn named(named: &[PathBuf], mountinfo: &str) -> Self {
        Self::each(|controller| {
            let own = named.iter().find(|folder| serves(folder, mountinfo, controller));
            let group = own.or_else(|| named.first()).ok_or("no cgroup was given")?;
            first(place_at(group, mountinfo, controller), controller)
        })
    }

    /// Of a process, from its `/proc/<pid>/cgroup`, where that is not a group that this process is in too: its
    /// counters would be the harness's.
    pub(super) fn of_process(theirs: &str, ours: &str, mountinfo: &str) -> Self {
        Self::each(|controller| {
            let folder = first(place(theirs, mountinfo, controller), controller)?;
            let own = place(ours, mountinfo, controller).and_then(|place| place.folders.into_iter().next());
            if own.is_some_and(|own| own.starts_with(&folder.path)) {
                return Err(format!("the process is in {}, which holds its sampler too", folder.path.display()));
            }
            Ok(folder)
        })
    }

    fn all(&self) -> [&Found; 6] {
        [&self.memory, &self.cpu, &self.throttling, &self.io, &self.pids, &self.pressure]
    }

    /// Whether any folder of it is there.
    pub(super) fn exists(&self) -> bool {
        self.all().into_iter().flatten().any(|folder| folder.path.is_dir())
    }
}

fn first(place: Option<CgroupPlace>, controller: &str) -> Found {
    let missing = || format!("no hierarchy with the controller {controller} is mounted");
    let place = place.ok_or_else(missing)?;
    let path = place.folders.into_iter().next().ok_or_else(missing)?;
    Ok(Folder { version: place.version, path })
}

/// The mounts and the groups of this process, read once.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) mountinfo: String,
    pub(super) own_cgroup: String,
}

impl Surroundings {
    pub(super) fn read() -> Self {
        let text = |path: &str| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = |path| text(path).unwrap_or_default();
        // A host of containers has thousands of mounts, a handful of them of cgroups.
        let all = text("/proc/self/mountinfo");
        let of_cgroups: Vec<&str> = all.lines().filter(|line| line.contains(" - cgroup")).collect();
        Self { mountinfo: of_cgroups.join("\n"), own_cgroup: text("/proc/self/cgroup") }
    }

    /// Whether such a group is there in any hierarchy.
    pub(super) fn has(&self, group: &Path) -> bool {
        Groups::named(&[group.to_owned()], &self.mountinfo).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    fn path(found: &Found) -> &str {
        found.as_ref().unwrap().path.to_str().unwrap()
    }

    #[test]
    fn folders_that_differ_by_hierarchy_are_each_taken_for_their_own() {
        let named = ["/sys/fs/cgroup/memory/jobs/a/s1", "/sys/fs/cgroup/cpuacct/s1"].map(PathBuf::from);
        let groups = Groups::named(&named, HYBRID);
        assert_eq!(path(&groups.memory), "/sys/fs/cgroup/memory/jobs/a/s1");
        assert_eq!(path(&groups.cpu), "/sys/fs/cgroup/cpuacct/s1");
        assert_eq!(path(&groups.throttling), "/sys/fs/cgroup/cpu/jobs/a/s1", "where none is named, as the first");
        assert_eq!(groups.io.unwrap().version, CgroupVersion::V2);
    }

    #[test]
    fn a_group_that_holds_the_sampler_too_is_not_the_session_s() {
        let (theirs, ours) = ("2:cpuacct:/\n4:memory:/jobs/s1\n0::/\n", "2:cpuacct:/perfq\n4:memory:/jobs\n0::/\n");
        let groups = Groups::of_process(theirs, ours, HYBRID);
        assert_eq!(path(&groups.memory), "/sys/fs/cgroup/memory/jobs/s1");
        assert!(groups.cpu.unwrap_err().contains("holds its sampler too"));
    }
}
