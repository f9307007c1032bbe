//! The texts of cgroup files, v1 and v2. Absent keys and "no limit" are None, never 0.

/// A CPU bandwidth limit: `quota_us` of CPU in every `period_us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// Microseconds of CPU time.
    pub quota_us: u64,
    /// Microseconds of wall time.
    pub period_us: u64,
}

impl CpuQuota {
    /// Thousandths of a CPU.
    pub fn millis(self) -> u64 {
        self.quota_us.saturating_mul(1000) / self.period_us
    }
}

/// `cpu.max` of v2: `max 100000` (no limit) or `150000 100000`.
pub fn cpu_max(text: &str) -> Option<CpuQuota> {
    let mut words = text.split_ascii_whitespace();
    quota(words.next()?, words.next()?)
}

/// `cpu.cfs_quota_us` (−1: no limit) and `cpu.cfs_period_us` of v1.
pub fn cfs_quota(quota_us: &str, period_us: &str) -> Option<CpuQuota> {
    quota(quota_us.trim(), period_us.trim())
}

fn quota(quota_us: &str, period_us: &str) -> Option<CpuQuota> {
    let (quota_us, period_us) = (quota_us.parse().ok()?, period_us.parse().ok()?);
    (quota_us > 0 && period_us > 0).then_some(CpuQuota { quota_us, period_us })
}

/// One value of a flat keyed file (`cpu.stat`, `memory.stat`, `memory.events`).
pub fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next()? == key { words.next()?.parse().ok() } else { None }
    })
}

/// A file of one number; `max` and v1's "nearly 2^63" are no limit.
pub fn bytes(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 62)
}

/// Bytes read and written by a group, summed over devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoBytes {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
}

/// `io.stat` of v2: `8:0 rbytes=1 wbytes=2 rios=…`. A device without figures adds nothing.
pub fn io_stat(text: &str) -> IoBytes {
    let sum = |key: &str| {
        let words = text.lines().flat_map(|line| line.split_ascii_whitespace().skip(1));
        words.filter_map(|word| word.strip_prefix(key)?.parse::<u64>().ok()).fold(0, u64::saturating_add)
    };
    IoBytes { read: sum("rbytes="), written: sum("wbytes=") }
}

/// `blkio.throttle.io_service_bytes` of v1: `8:0 Read 1`, one operation a line; `Total` has no device.
pub fn blkio_bytes(text: &str) -> IoBytes {
    let sum = |operation: &str| {
        let of_line = |line: &str| {
            let mut words = line.split_ascii_whitespace().skip(1);
            if words.next()? == operation { words.next()?.parse::<u64>().ok() } else { None }
        };
        text.lines().filter_map(of_line).fold(0, u64::saturating_add)
    };
    IoBytes { read: sum("Read"), written: sum("Write") }
}

/// How many CPUs a list such as `0-3,8` names. None where it is no such list.
pub fn cpu_list(text: &str) -> Option<u32> {
    let mut count = 0u32;
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn captured_texts_of_both_versions_are_read() {
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(cpu_max("150000 100000\n").map(CpuQuota::millis), Some(1500));
        assert_eq!(cfs_quota("-1\n", "100000\n"), None);
        assert_eq!(cfs_quota("50000\n", "100000\n").map(CpuQuota::millis), Some(500));
        let v1 = "nr_periods 12\nnr_throttled 3\nthrottled_time 812345678\nnr_bursts 0\nburst_time 0\n";
        assert_eq!((keyed(v1, "nr_throttled"), keyed(v1, "throttled_time")), (Some(3), Some(812_345_678)));
        let v2 = "usage_usec 77\nuser_usec 50\nsystem_usec 27\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1234\n";
        assert_eq!((keyed(v2, "throttled_usec"), keyed(v2, "throttled_time")), (Some(1234), None));
        assert_eq!(bytes("max\n"), None);
        assert_eq!(bytes("9223372036854771712\n"), None, "what v1 says for no limit");
        assert_eq!(bytes("536870912\n"), Some(536_870_912));
        assert_eq!(
            (cpu_list("0-1\n"), cpu_list("0,2-5,9"), cpu_list(""), cpu_list("a-b")),
            (Some(2), Some(6), None, None)
        );
    }

    #[test]
    fn bytes_are_summed_over_devices_and_a_device_without_figures_adds_nothing() {
        let v2 = "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n259:0\n8:16 rbytes=1 wbytes=2 rios=1\n";
        assert_eq!(io_stat(v2), IoBytes { read: 4097, written: 8194 });
        let v1 = "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 9\n8:0 Total 12288\n8:16 Read 1\nTotal 12289\n";
        assert_eq!(blkio_bytes(v1), IoBytes { read: 4097, written: 8192 });
        assert_eq!((io_stat(""), blkio_bytes("Total 0\n")), (IoBytes::default(), IoBytes::default()));
    }

    #[test]
    fn a_key_is_the_whole_word() {
        assert_eq!(keyed("total_inactive_file 5\ninactive_file 7\n", "inactive_file"), Some(7));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(a in any::<String>(), b in any::<String>()) {
            let _ = (cpu_max(&a), cfs_quota(&a, &b), keyed(&a, &b), bytes(&a), cpu_list(&a));
            let _ = (io_stat(&a), blkio_bytes(&a));
        }

        #[test]
        fn quotas_round_trip(quota_us in 1u64..1 << 40, period_us in 1u64..1_000_000) {
            let expected = Some(CpuQuota { quota_us, period_us });
            prop_assert_eq!(cpu_max(&format!("{quota_us} {period_us}\n")), expected);
            prop_assert_eq!(cfs_quota(&format!("{quota_us}\n"), &format!("{period_us}\n")), expected);
        }

        #[test]
        fn a_list_counts_each_range(ranges in proptest::collection::vec((0u32..500, 0u32..9), 1..9)) {
            let text: Vec<String> = ranges.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
            prop_assert_eq!(cpu_list(&text.join(",")), Some(ranges.iter().map(|(_, more)| more + 1).sum()));
        }
    }
}
