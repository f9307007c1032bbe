//! What one read of a process says. It is told apart from a later one of the same pid by its start.

use super::files::{Files, ReadError};
use crate::sampler::proc_stat;
use serde::Serialize;

/// A process by its pid and its start, in clock ticks after boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) start_ticks: u64,
}

/// One reading of one process; None where this process may not read it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProcessSample {
    /// CPU time of its threads and of the children that it has waited for, in steps of 10 ms.
    pub cpu_ns: Option<u64>,
    /// Resident bytes.
    pub rss: Option<u64>,
    /// Bytes that it had read from block devices.
    pub io_read: Option<u64>,
    /// Bytes that it had written to block devices.
    pub io_write: Option<u64>,
}

/// `smaps_rollup`: shared pages divided among those who share them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SmapsSample {
    /// Proportional set size, in bytes.
    pub pss: Option<u64>,
    /// Of it, swapped out.
    pub swap_pss: Option<u64>,
    /// Anonymous bytes.
    pub anon: Option<u64>,
}

impl Process {
    /// The process with that pid now; None where there is none.
    pub(super) fn find(pid: u32) -> Option<Self> {
        let stat = proc_stat::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)?;
        Some(Self { pid, start_ticks: stat.start_ticks })
    }

    fn stat(self, files: &mut Files) -> Result<proc_stat::ProcStat, ReadError> {
        let Self { pid, start_ticks } = self;
        let text = files.of_process(pid, "stat", &[])?.unwrap_or_default();
        let stat = proc_stat::parse(text.as_bytes())
            .ok_or_else(|| ReadError::unexpected(format!("/proc/{pid}/stat is not what proc_pid_stat(5) says")))?;
        if stat.start_ticks != start_ticks {
            return Err(ReadError::vanished(format!("process {pid} has ended, and its pid is another's now")));
        }
        if matches!(stat.state, 'Z' | 'X') {
            return Err(ReadError::vanished(format!("process {pid} has ended")));
        }
        Ok(stat)
    }

    /// Reads it, and that it is the same one before and after.
    pub(super) fn read(self, files: &mut Files) -> Result<ProcessSample, ReadError> {
        let pid = self.pid;
        self.stat(files)?;
        let rss = match files.of_process(pid, "statm", &["proc.rss"])? {
            Some(text) => Some(resident_bytes(&text).ok_or_else(|| {
                ReadError::unexpected(format!(
                    "/proc/{pid}/statm is not what proc_pid_statm(5) says: {:?}",
                    text.trim()
                ))
            })?),
            None => None,
        };
        let io = files.of_process(pid, "io", &["proc.io_read", "proc.io_write"])?;
        let after = self.stat(files)?;
        let mut of = |key, field| io.as_ref().and_then(|text| files.key(text, "io", key, field));
        Ok(ProcessSample {
            cpu_ns: Some((after.own_ticks + after.reaped_ticks) * tick_ns()),
            rss,
            io_read: of("read_bytes:", "proc.io_read"),
            io_write: of("write_bytes:", "proc.io_write"),
        })
    }

    /// Reads `smaps_rollup`, which holds the process up.
    pub(super) fn smaps(self, files: &mut Files) -> Result<Option<SmapsSample>, ReadError> {
        let fields = ["smaps.pss", "smaps.swap_pss", "smaps.anon"];
        let Some(text) = files.of_process(self.pid, "smaps_rollup", &fields)? else { return Ok(None) };
        let mut of = |key, field| files.key(&text, "smaps_rollup", key, field).map(|kib| kib.saturating_mul(1024));
        Ok(Some(SmapsSample {
            pss: of("Pss:", "smaps.pss"),
            swap_pss: of("SwapPss:", "smaps.swap_pss"),
            anon: of("Anonymous:", "smaps.anon"),
        }))
    }
}

/// The second number of statm, in pages.
fn resident_bytes(statm: &str) -> Option<u64> {
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}
