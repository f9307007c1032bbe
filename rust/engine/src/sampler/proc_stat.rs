//! `/proc/<pid>/stat` of one process, as `proc_pid_stat(5)` gives it.

/// What one read of `/proc/<pid>/stat` says. Times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcStat {
    /// The process.
    pub pid: u32,
    /// Its parent; another one than before where the parent has ended.
    pub parent: u32,
    /// R, S, D, Z and so on.
    pub state: char,
    /// CPU of its own threads, ended ones included: utime + stime.
    pub own_ticks: u64,
    /// CPU of the descendants that it has waited for: cutime + cstime.
    pub reaped_ticks: u64,
    /// Ticks after boot at which it began; with the pid it tells processes apart.
    pub start_ticks: u64,
    /// Resident pages.
    pub resident_pages: u64,
}

/// Reads the text. The name in parentheses may hold spaces, parentheses and newlines, so the fields
/// are counted from the last `)`. None for anything that is not such a text.
pub fn parse(text: &[u8]) -> Option<ProcStat> {
    let open = memchr::memchr(b'(', text)?;
    let close = memchr::memrchr(b')', text)?;
    if close < open {
        return None;
    }
    let pid = std::str::from_utf8(&text[..open]).ok()?.trim().parse().ok()?;
    let mut fields = std::str::from_utf8(&text[close + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field numbers as in the manual page; the iterator stands at field 5.
    let mut numbered = fields.zip(5usize..);
    let mut field = |wanted: usize| numbered.find(|(_, n)| *n == wanted).map(|(text, _)| text);
    let own_user: u64 = field(14)?.parse().ok()?;
    let own_system: u64 = field(15)?.parse().ok()?;
    // These two are signed in the kernel's format, and never below 0.
    let reaped_user: i64 = field(16)?.parse().ok()?;
    let reaped_system: i64 = field(17)?.parse().ok()?;
    let start_ticks = field(22)?.parse().ok()?;
    // Pages are signed too: the kernel's per-CPU counters can sum to less than nothing for a moment.
    let resident: i64 = field(24)?.parse().ok()?;
    Some(ProcStat {
        pid,
        parent,
        state,
        own_ticks: own_user.checked_add(own_system)?,
        reaped_ticks: u64::try_from(reaped_user).unwrap_or(0).checked_add(u64::try_from(reaped_system).unwrap_or(0))?,
        start_ticks,
        resident_pages: u64::try_from(resident).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(pid: u32, name: &str, numbers: &[u64; 7]) -> String {
        let [parent, user, system, child_user, child_system, start, pages] = numbers;
        format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 4194560 2 3 4 5 {user} {system} {child_user} {child_system} 20 0 1 0 {start} \
             9000000 {pages} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
        )
    }

    #[test]
    fn a_captured_line_is_read() {
        let text = b"4242 (perfq-viewer) S 4200 4242 4242 34816 4242 4194304 23311 812 0 0 187 42 5 3 20 0 4 0 \
            1203344 412345344 24180 18446744073709551615 1 1 0 0 0 0 0 16781312 134234626 0 0 0 17 1 0 0 0 0 0 0 0 0\n";
        let stat = parse(text).unwrap();
        assert_eq!((stat.pid, stat.parent, stat.state), (4242, 4200, 'S'));
        assert_eq!(
            (stat.own_ticks, stat.reaped_ticks, stat.start_ticks, stat.resident_pages),
            (229, 8, 1_203_344, 24180)
        );
    }

    #[test]
    fn the_real_file_of_this_process_is_read() {
        let stat = parse(&std::fs::read("/proc/self/stat").unwrap()).unwrap();
        assert_eq!(stat.pid, std::process::id());
        assert!(stat.resident_pages > 0 && stat.start_ticks > 0);
    }

    proptest! {
        #[test]
        fn any_name_leaves_the_fields_in_place(name in "[ -~\n)(]{0,15}", pid in 1u32..4_000_000, n in any::<[u32; 7]>()) {
            let stat = parse(line(pid, &name, &n.map(u64::from)).as_bytes()).unwrap();
            let [parent, user, system, child_user, child_system, start, pages] = n.map(u64::from);
            prop_assert_eq!(u64::from(stat.parent), parent);
            prop_assert_eq!((stat.pid, stat.own_ticks, stat.reaped_ticks), (pid, user + system, child_user + child_system));
            prop_assert_eq!((stat.start_ticks, stat.resident_pages), (start, pages));
        }

        #[test]
        fn any_cut_of_a_line_is_read_or_refused(cut in 0usize..200) {
            let text = line(7, "a (b) c", &[1; 7]);
            let _ = parse(&text.as_bytes()[..cut.min(text.len())]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }
    }
}
