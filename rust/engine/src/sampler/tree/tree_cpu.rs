//! The CPU of a process tree from repeated reads of its members, never going back.
//!
//! A process that ends hands its CPU to the parent that waits for it (cutime, cstime), so the sum of
//! own and reaped ticks over the live members is the CPU of the tree, with three exceptions that are
//! bridged here:
//! - between the read of a parent and that of its child the child may be reaped: it is in neither.
//!   Its last known ticks become a floor of what the parent must have reaped.
//! - a parent that ignores SIGCHLD never gets them: the floor stays.
//! - a process whose parent has ended is reaped by someone outside: its last known ticks are carried.
//!
//! Parents have to be read before their children; then no tick is counted twice.

use crate::sampler::proc_stat::ProcStat;
use std::collections::HashMap;

/// A process, told apart from a later one of the same pid.
pub(super) type Identity = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct Member {
    parent: u32,
    own: u64,
    /// The larger of what the process says to have reaped and of what its children had used.
    reaped: u64,
}

/// The members of a tree and what its ended members leave behind.
#[derive(Debug, Default)]
pub(super) struct TreeCpu {
    members: HashMap<Identity, Member>,
    /// Ticks of ended members that no live member has reaped.
    carried: u64,
    total: u64,
}

impl TreeCpu {
    /// Who was alive at the last read, in the order in which they began.
    pub(super) fn members(&self) -> Vec<Identity> {
        let mut members: Vec<Identity> = self.members.keys().copied().collect();
        members.sort_unstable_by_key(|(pid, start)| (*start, *pid));
        members
    }

    /// Takes the members that are alive now (parents before children), and returns the ticks that
    /// the tree has used since it began.
    pub(super) fn fold(&mut self, alive: &[ProcStat]) -> u64 {
        let mut now: HashMap<Identity, Member> = HashMap::with_capacity(alive.len());
        let mut by_pid: HashMap<u32, Identity> = HashMap::with_capacity(alive.len());
        for stat in alive {
            let identity = (stat.pid, stat.start_ticks);
            let member = Member { parent: stat.parent, own: stat.own_ticks, reaped: stat.reaped_ticks };
            now.insert(identity, member);
            by_pid.insert(stat.pid, identity);
        }
        let before_by_pid: HashMap<u32, Identity> = self.members.keys().map(|id| (id.0, *id)).collect();
        let mut owed: HashMap<Identity, u64> = HashMap::new();
        for (identity, member) in &self.members {
            if now.contains_key(identity) {
                continue;
            }
            // The nearest ancestor that is still alive has waited for it, directly or through others.
            let mut heir = None;
            let mut parent = member.parent;
            for _ in 0..self.members.len() {
                let Some(ancestor) = before_by_pid.get(&parent) else { break };
                if now.contains_key(ancestor) {
                    heir = Some(*ancestor);
                    break;
                }
                parent = self.members[ancestor].parent;
            }
            let used = member.own + member.reaped;
            match heir {
                Some(heir) => *owed.entry(heir).or_default() += used,
                None => self.carried += used,
            }
        }
        for (identity, member) in &mut now {
            if let Some(before) = self.members.get(identity) {
                let floor = before.reaped + owed.get(identity).copied().unwrap_or(0);
                member.reaped = member.reaped.max(floor);
                member.own = member.own.max(before.own);
            }
        }
        let sum: u64 = now.values().map(|member| member.own + member.reaped).sum();
        self.members = now;
        self.total = self.total.max(sum + self.carried);
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stat(pid: u32, parent: u32, own: u64, reaped: u64) -> ProcStat {
        ProcStat { pid, parent, state: 'S', own_ticks: own, reaped_ticks: reaped, start_ticks: 5, resident_pages: 1 }
    }

    #[test]
    fn a_child_that_was_waited_for_is_counted_once() {
        let mut tree = TreeCpu::default();
        assert_eq!(tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 30, 0)]), 40);
        assert_eq!(tree.fold(&[stat(1, 0, 11, 33)]), 44);
    }

    #[test]
    fn a_child_reaped_between_the_two_reads_does_not_vanish_and_is_not_counted_twice_later() {
        let mut tree = TreeCpu::default();
        tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 30, 0)]);
        assert_eq!(tree.fold(&[stat(1, 0, 12, 0)]), 42, "the parent was read before it waited");
        assert_eq!(tree.fold(&[stat(1, 0, 12, 31)]), 43, "now it has waited");
    }

    #[test]
    fn a_parent_that_ignores_its_children_keeps_what_they_used() {
        let mut tree = TreeCpu::default();
        tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 30, 0), stat(3, 1, 5, 0)]);
        assert_eq!(tree.fold(&[stat(1, 0, 12, 0), stat(3, 1, 5, 0)]), 47);
        assert_eq!(tree.fold(&[stat(1, 0, 12, 0)]), 47);
    }

    #[test]
    fn an_orphan_stays_a_member_and_its_cpu_is_carried_when_it_ends() {
        let mut tree = TreeCpu::default();
        tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 1, 0), stat(3, 2, 50, 0)]);
        // 2 ends and is waited for by 1; 3 is handed to a process outside.
        assert_eq!(tree.fold(&[stat(1, 0, 10, 1), stat(3, 99, 60, 0)]), 71);
        assert_eq!(tree.fold(&[stat(1, 0, 12, 1)]), 73);
    }

    #[test]
    fn the_whole_tree_gone_leaves_its_total() {
        let mut tree = TreeCpu::default();
        tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 30, 0)]);
        assert_eq!(tree.fold(&[]), 40);
        assert_eq!(tree.fold(&[]), 40);
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let mut tree = TreeCpu::default();
        tree.fold(&[stat(1, 0, 10, 0), stat(2, 1, 30, 0)]);
        let newcomer = ProcStat { start_ticks: 77, ..stat(2, 1, 4, 0) };
        assert_eq!(tree.fold(&[stat(1, 0, 10, 30), newcomer]), 44);
    }

    /// A simulated machine: processes fork, burn, exit and are reaped; a reader reads parents first.
    #[derive(Clone, Debug)]
    enum Act {
        Fork(usize),
        Burn(usize, u64),
        EndAndReap(usize),
        Read,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            (0usize..8).prop_map(Act::Fork),
            ((0usize..8), 1u64..50).prop_map(|(who, ticks)| Act::Burn(who, ticks)),
            (0usize..8).prop_map(Act::EndAndReap),
            Just(Act::Read),
        ]
    }

    proptest! {
        /// Where each child is waited for, what is read is exactly what was burnt by processes that
        /// still live or that a live one has waited for, whatever the order, and never goes back.
        #[test]
        fn the_sum_is_exact_where_children_are_waited_for(acts in proptest::collection::vec(act(), 0..120)) {
            let mut tree = TreeCpu::default();
            let mut live = vec![stat(1, 0, 0, 0)];
            let (mut next, mut burnt, mut last) = (2u32, 0u64, 0u64);
            for act in acts {
                match act {
                    Act::Fork(who) => {
                        let parent = live[who % live.len()].pid;
                        live.push(stat(next, parent, 0, 0));
                        next += 1;
                    }
                    Act::Burn(who, ticks) => {
                        let at = who % live.len();
                        live[at].own_ticks += ticks;
                        burnt += ticks;
                    }
                    Act::EndAndReap(who) => {
                        let at = who % live.len();
                        let gone = live[at];
                        // Only leaves end here, as a parent that waits for its children does.
                        if at > 0 && live.iter().all(|other| other.parent != gone.pid) {
                            live.remove(at);
                            let parent = live.iter_mut().find(|other| other.pid == gone.parent).unwrap();
                            parent.reaped_ticks += gone.own_ticks + gone.reaped_ticks;
                        }
                    }
                    Act::Read => {
                        let total = tree.fold(&live);
                        prop_assert_eq!(total, burnt);
                        prop_assert!(total >= last);
                        last = total;
                    }
                }
            }
        }

        /// Whatever is read, in whatever order, the total never goes back.
        #[test]
        fn the_total_never_goes_back(
            reads in proptest::collection::vec(
                proptest::collection::vec((1u32..6, 0u32..6, 0u64..100, 0u64..100), 0..6), 0..20)
        ) {
            let mut tree = TreeCpu::default();
            let mut last = 0;
            for read in reads {
                let alive: Vec<ProcStat> = read.iter().map(|&(pid, parent, own, reaped)| stat(pid, parent, own, reaped)).collect();
                let total = tree.fold(&alive);
                prop_assert!(total >= last);
                last = total;
            }
        }
    }
}
