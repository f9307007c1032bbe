//! Where the cgroup files of a process are: `/proc/<pid>/cgroup` against `/proc/<pid>/mountinfo`.

use std::path::{Path, PathBuf};

/// Which interface a controller is served by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One hierarchy a controller; a hybrid mount counts as this where the controller is there.
    V1,
    /// The unified hierarchy.
    V2,
}

/// The folders that bound a process for one controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupPlace {
    /// Which files to expect in them.
    pub version: CgroupVersion,
    /// The group of the process first, then its parents up to the mount.
    pub folders: Vec<PathBuf>,
}

#[derive(Clone)]
struct Mount {
    root: PathBuf,
    point: PathBuf,
    kind: String,
    options: String,
}

impl Mount {
    fn is_cgroup(&self) -> bool {
        self.kind == "cgroup" || self.kind == "cgroup2"
    }

    fn serves(&self, controller: &str) -> bool {
        self.options.split(',').any(|word| word == controller)
    }
}

/// Finds the folders of a controller (`cpu`, `memory`). None where no such hierarchy is mounted.
pub fn place(cgroup: &str, mountinfo: &str, controller: &str) -> Option<CgroupPlace> {
    let mounts: Vec<Mount> = mountinfo.lines().filter_map(mount).collect();
    let has = |list: &str| list.split(',').any(|word| word == controller);
    let groups = || {
        cgroup.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            parts.next()?;
            Some((parts.next()?, parts.next()?))
        })
    };
    let v1 = groups().find(|(controllers, _)| has(controllers)).and_then(|(_, path)| {
        let mount = mounts.iter().find(|mount| mount.kind == "cgroup" && has(&mount.options))?;
        Some(CgroupPlace { version: CgroupVersion::V1, folders: folders(mount, path) })
    });
    v1.or_else(|| {
        let (_, path) = groups().find(|(controllers, _)| controllers.is_empty())?;
        // Where a v1 hierarchy has the controller, the unified one does not.
        if groups().any(|(controllers, _)| has(controllers)) {
            return None;
        }
        let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
        Some(CgroupPlace { version: CgroupVersion::V2, folders: folders(mount, path) })
    })
}

/// Finds the folder that a group has for a controller. `group` is its folder in one of the hierarchies
/// (`/sys/fs/cgroup/memory/jobs/a`), or its path in all of them (`/jobs/a`). Whether it is there in this
/// hierarchy is not looked at. None where no hierarchy has the controller.
pub fn place_at(group: &Path, mountinfo: &str, controller: &str) -> Option<CgroupPlace> {
    let mounts: Vec<Mount> = mountinfo.lines().filter_map(mount).filter(Mount::is_cgroup).collect();
    let around = mounts.iter().filter(|mount| group.starts_with(&mount.point));
    let around = around.max_by_key(|mount| mount.point.components().count());
    let inside = around.map_or(group, |mount| group.strip_prefix(&mount.point).unwrap_or(group));
    let v1 = mounts.iter().find(|mount| mount.kind == "cgroup" && mount.serves(controller));
    let (version, serving) = match v1 {
        Some(mount) => (CgroupVersion::V1, mount),
        None => (CgroupVersion::V2, mounts.iter().find(|mount| mount.kind == "cgroup2")?),
    };
    let plain = inside.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    let path = Path::new("/").join(inside);
    // Below the mount as it is seen here: what is mounted is the hierarchy's root.
    let shown = Mount { root: "/".into(), ..serving.clone() };
    plain.then(|| CgroupPlace { version, folders: folders(&shown, &path.to_string_lossy()) })
}

/// Whether the folder lies in the hierarchy that serves the controller.
pub fn serves(folder: &Path, mountinfo: &str, controller: &str) -> bool {
    let mounts: Vec<Mount> = mountinfo.lines().filter_map(mount).filter(Mount::is_cgroup).collect();
    let v1 = mounts.iter().find(|mount| mount.kind == "cgroup" && mount.serves(controller));
    v1.or_else(|| mounts.iter().find(|mount| mount.kind == "cgroup2"))
        .is_some_and(|mount| folder.starts_with(&mount.point))
}

/// A line of mountinfo: `id parent dev root point options [optional…] - kind source super-options`.
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, point) = (unescaped(left.next()?), unescaped(left.next()?));
    let mut right = right.split(' ');
    let kind = right.next()?.to_owned();
    right.next()?;
    Some(Mount { root: root.into(), point: point.into(), kind, options: right.next()?.to_owned() })
}

/// mountinfo writes space, tab, newline and backslash as `\040` and so on.
fn unescaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes
            .get(at + 1..at + 4)
            .filter(|code| bytes[at] == b'\\' && code.iter().all(|c| (b'0'..=b'7').contains(c)));
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok()) {
            out.push(byte);
            at += 4;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn folders(mount: &Mount, path: &str) -> Vec<PathBuf> {
    // Inside a container the mount shows a part of the hierarchy: what lies above it is not visible,
    // and a path that leads out of it (`/../x`) is taken to be the mount itself.
    let inside = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let plain = inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let mut folder = mount.point.clone();
    if plain {
        folder.extend(inside);
    }
    let mut folders = Vec::new();
    loop {
        folders.push(folder.clone());
        if folder == mount.point || !folder.pop() {
            return folders;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HYBRID: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";
    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    fn names(place: &CgroupPlace) -> Vec<&str> {
        place.folders.iter().map(|folder| folder.to_str().unwrap()).collect()
    }

    #[test]
    fn a_hybrid_mount_is_v1_where_the_controller_is_there() {
        let cgroup = "4:memory:/jobs/a\n2:cpu,cpuacct:/jobs\n0::/user.slice\n";
        let memory = place(cgroup, HYBRID, "memory").unwrap();
        assert_eq!(memory.version, CgroupVersion::V1);
        assert_eq!(
            names(&memory),
            ["/sys/fs/cgroup/memory/jobs/a", "/sys/fs/cgroup/memory/jobs", "/sys/fs/cgroup/memory"]
        );
        assert_eq!(names(&place(cgroup, HYBRID, "cpu").unwrap())[0], "/sys/fs/cgroup/cpu,cpuacct/jobs");
    }

    #[test]
    fn the_unified_hierarchy_serves_all_controllers() {
        let place = place("0::/user.slice/run\n", UNIFIED, "cpu").unwrap();
        assert_eq!(place.version, CgroupVersion::V2);
        assert_eq!(names(&place), ["/sys/fs/cgroup/user.slice/run", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]);
    }

    #[test]
    fn a_container_sees_the_part_that_is_mounted() {
        let docker = "9 8 0:1 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup ro,cpu\n";
        assert_eq!(names(&place("2:cpu:/docker/ab/x\n", docker, "cpu").unwrap())[0], "/sys/fs/cgroup/cpu/x");
        let outside = place("0::/../other\n", UNIFIED, "cpu").unwrap();
        assert_eq!(names(&outside), ["/sys/fs/cgroup"]);
    }

    #[test]
    fn nothing_mounted_is_nowhere() {
        assert_eq!(place("0::/\n", "", "cpu"), None);
        assert_eq!(place("2:cpu:/\n0::/\n", UNIFIED, "cpu"), None, "v1 has the controller and is not visible here");
    }

    #[test]
    fn a_group_is_found_in_every_hierarchy_by_its_folder_in_one_or_by_its_path() {
        for group in ["/sys/fs/cgroup/memory/perfq/s1", "/perfq/s1"] {
            let of = |controller| place_at(Path::new(group), HYBRID, controller).unwrap();
            assert_eq!(names(&of("cpuacct"))[0], "/sys/fs/cgroup/cpu,cpuacct/perfq/s1");
            assert_eq!((of("memory").version, of("pids").version), (CgroupVersion::V1, CgroupVersion::V2));
            assert_eq!(names(&of("pids"))[0], "/sys/fs/cgroup/unified/perfq/s1");
        }
        assert_eq!(place_at(Path::new("/perfq/../.."), HYBRID, "memory"), None);
        assert_eq!(place_at(Path::new("/perfq"), "", "memory"), None);
        assert!(serves(Path::new("/sys/fs/cgroup/memory/a"), HYBRID, "memory"));
        assert!(!serves(Path::new("/sys/fs/cgroup/memory/a"), HYBRID, "cpu"));
    }

    #[test]
    fn escaped_mount_points_are_read() {
        let odd = "30 23 0:26 / /mnt/a\\040b rw - cgroup2 cgroup2 rw\n";
        assert_eq!(names(&place("0::/\n", odd, "cpu").unwrap()), ["/mnt/a b"]);
    }

    proptest! {
        #[test]
        fn any_texts_are_read_or_refused(cgroup in any::<String>(), mountinfo in any::<String>()) {
            let _ = place(&cgroup, &mountinfo, "cpu");
            let _ = place_at(Path::new(&cgroup), &mountinfo, "cpu");
            let _ = unescaped(&mountinfo);
        }

        #[test]
        fn folders_lead_from_the_group_to_the_mount(parts in proptest::collection::vec("[a-z]{1,5}", 0..6)) {
            let found = place(&format!("0::/{}\n", parts.join("/")), UNIFIED, "cpu").unwrap();
            prop_assert_eq!(found.folders.len(), parts.len() + 1);
            prop_assert_eq!(found.folders.last().unwrap().as_path(), Path::new("/sys/fs/cgroup"));
        }
    }
}
