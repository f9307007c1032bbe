//! The live members of a process tree, parents before children.

use super::tree_cpu::Identity;
use crate::sampler::proc_stat::{self, ProcStat};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads small /proc files into one buffer that is kept.
#[derive(Debug, Default)]
pub(super) struct ProcReader {
    buffer: Vec<u8>,
}

impl ProcReader {
    /// The text of a small file.
    pub(super) fn read(&mut self, path: impl AsRef<Path>) -> io::Result<&[u8]> {
        self.buffer.clear();
        File::open(path)?.read_to_end(&mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// None where the process has gone.
    pub(super) fn stat(&mut self, pid: u32) -> Option<ProcStat> {
        proc_stat::parse(self.read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Children of all threads of a process, as far as the kernel tells while they come and go.
    fn children(&mut self, pid: u32, into: &mut Vec<u32>) {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return };
        for task in tasks.flatten() {
            if let Ok(text) = self.read(task.path().join("children")) {
                into.extend(parse_pids(text));
            }
        }
    }
}

/// Whitespace-separated pids; what is none is left out.
fn parse_pids(text: &[u8]) -> impl Iterator<Item = u32> {
    text.split(u8::is_ascii_whitespace).filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
}

/// How to find the children of a process on this kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildrenFrom {
    /// `/proc/<pid>/task/<tid>/children` (`CONFIG_PROC_CHILDREN`).
    Tasks,
    /// The parents of all processes of the machine: slower, always there.
    AllProcesses,
}

impl ChildrenFrom {
    /// What this kernel has.
    pub(super) fn detect() -> Self {
        if Path::new("/proc/thread-self/children").exists() { Self::Tasks } else { Self::AllProcesses }
    }
}

/// Which processes are a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeRoot {
    /// The root; its descendants belong to the tree.
    pub(super) root: Identity,
    /// The process that orphans of the tree are handed to (a child subreaper). All its descendants
    /// belong to the tree, itself not.
    pub(super) reaper: Option<u32>,
    /// How to find children.
    pub(super) children_from: ChildrenFrom,
}

impl TreeRoot {
    /// Reads the root, its descendants, and the members known before that still live, whoever their
    /// parent is now: parents before their children. Empty when none is left.
    /// `known` is sorted by start, since parents start before their children.
    pub(super) fn live_members(&self, reader: &mut ProcReader, known: &[Identity]) -> Vec<ProcStat> {
        let everyone = match self.children_from {
            ChildrenFrom::Tasks => Vec::new(),
            ChildrenFrom::AllProcesses => parents_of_all(reader),
        };
        let children_of = |reader: &mut ProcReader, parent: u32, into: &mut Vec<u32>| match self.children_from {
            ChildrenFrom::Tasks => reader.children(parent, into),
            ChildrenFrom::AllProcesses => {
                into.extend(everyone.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| *pid));
            }
        };
        let mut found = Vec::with_capacity(known.len() + 4);
        let mut seen = HashSet::with_capacity(known.len() + 4);
        let mut adopted = Vec::new();
        if let Some(reaper) = self.reaper {
            children_of(reader, reaper, &mut adopted);
        }
        // First from the root down; then from each member that this did not reach.
        let starts = std::iter::once(self.root)
            .chain(known.iter().copied())
            .map(|(pid, start)| (pid, Some(start)))
            .chain(adopted.into_iter().map(|pid| (pid, None)));
        for (pid, start) in starts {
            if seen.contains(&pid) {
                continue;
            }
            let Some(stat) = reader.stat(pid) else { continue };
            if start.is_some_and(|start| start != stat.start_ticks) {
                continue;
            }
            seen.insert(pid);
            found.push(stat);
            let mut queue = vec![pid];
            let mut children = Vec::new();
            while let Some(parent) = queue.pop() {
                children.clear();
                children_of(reader, parent, &mut children);
                for &child in &children {
                    if !seen.contains(&child)
                        && let Some(stat) = reader.stat(child)
                    {
                        seen.insert(child);
                        found.push(stat);
                        queue.push(child);
                    }
                }
            }
        }
        found
    }
}

/// (pid, parent) of every process.
fn parents_of_all(reader: &mut ProcReader) -> Vec<(u32, u32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| reader.stat(pid).map(|stat| (pid, stat.parent)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufRead;
    use std::process::{Command, Stdio};

    /// A shell with a child and a grandchild that left its session; both print their pid.
    fn family() -> (std::process::Child, Vec<u32>) {
        let script = "sleep 60 & echo $!; setsid sh -c 'echo $$; exec sleep 60' & wait";
        let mut shell = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufReader::new(shell.stdout.take().unwrap()).lines();
        let pids = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
        (shell, pids)
    }

    #[test]
    fn both_ways_find_the_same_family_and_an_orphan_stays_known() {
        let (mut shell, children) = family();
        let mut reader = ProcReader::default();
        let root = reader.stat(shell.id()).map(|stat| (stat.pid, stat.start_ticks)).unwrap();
        let mut pids = |children_from, known: &[Identity]| {
            let tree = TreeRoot { root, reaper: None, children_from };
            let mut pids: Vec<u32> = tree.live_members(&mut reader, known).iter().map(|stat| stat.pid).collect();
            assert!(pids.is_empty() || known.is_empty() == (pids[0] == root.0), "the root comes first");
            pids.sort_unstable();
            pids
        };
        let mut expected = children.clone();
        expected.push(shell.id());
        expected.sort_unstable();
        assert_eq!(pids(ChildrenFrom::AllProcesses, &[]), expected);
        if ChildrenFrom::detect() == ChildrenFrom::Tasks {
            assert_eq!(pids(ChildrenFrom::Tasks, &[]), expected);
        }
        let mut again = ProcReader::default();
        let known: Vec<Identity> = children.iter().map(|&pid| (pid, again.stat(pid).unwrap().start_ticks)).collect();
        shell.kill().unwrap();
        shell.wait().unwrap();
        let mut orphans = children.clone();
        orphans.sort_unstable();
        assert_eq!(pids(ChildrenFrom::detect(), &known), orphans);
        for pid in children {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }

    #[test]
    fn what_hangs_on_the_reaper_is_of_the_tree_and_the_reaper_is_not() {
        let (mut shell, mut children) = family();
        let mut reader = ProcReader::default();
        let root = reader.stat(children[0]).map(|stat| (stat.pid, stat.start_ticks)).unwrap();
        let tree = TreeRoot { root, reaper: Some(shell.id()), children_from: ChildrenFrom::detect() };
        let mut pids: Vec<u32> = tree.live_members(&mut reader, &[]).iter().map(|stat| stat.pid).collect();
        assert_eq!(pids[0], root.0, "the root comes first");
        pids.sort_unstable();
        children.sort_unstable();
        assert_eq!(pids, children);
        for pid in children {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
    }

    #[test]
    fn a_pid_with_another_start_is_nobody() {
        let mut reader = ProcReader::default();
        let me = std::process::id();
        let start = reader.stat(me).unwrap().start_ticks;
        let tree = TreeRoot { root: (me, start + 1), reaper: None, children_from: ChildrenFrom::detect() };
        assert!(tree.live_members(&mut reader, &[]).is_empty());
    }

    proptest! {
        #[test]
        fn pids_survive_any_separators(pids in proptest::collection::vec(any::<u32>(), 0..20)) {
            let text = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(parse_pids(text.as_bytes()).collect::<Vec<_>>(), pids);
        }

        #[test]
        fn any_bytes_give_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(parse_pids(&bytes).count() <= bytes.len());
        }
    }
}
