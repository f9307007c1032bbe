//! resources.ndjson: one line at a time, appended by whoever has it, so that a killed run has all of them.

use crate::clock::now_ns;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Lines in the file.
    pub lines: u64,
    /// Lines that are not, because of a write error.
    pub lost: u64,
    /// The first write error; nothing is written after it.
    pub error: Option<String>,
}

/// The file. Without one, lines go nowhere.
pub(super) struct Lines {
    file: Mutex<Option<File>>,
    /// Apart, so that it can be read while a disk blocks.
    written: Mutex<Written>,
}

impl Lines {
    pub(super) fn create(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| File::options().create_new(true).append(true).open(path);
        Ok(Self::to(path.map(open).transpose()?))
    }

    pub(super) fn to(file: Option<File>) -> Self {
        Self { file: Mutex::new(file), written: Mutex::default() }
    }

    /// Appends one line.
    pub(super) fn append(&self, line: &impl Serialize) {
        self.write(line, false);
    }

    /// Appends one line, and in it as `written` the instant at which all that stands before had been
    /// appended. Returns that instant; without a file, now.
    pub(super) fn append_stamped(&self, line: &impl Serialize) -> u64 {
        self.write(line, true)
    }

    fn write(&self, line: &impl Serialize, stamped: bool) -> u64 {
        let Ok(mut text) = serde_json::to_vec(line) else { return now_ns() };
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &mut *guard else { return now_ns() };
        let mut at = None;
        let mut put = || {
            if stamped {
                text.pop();
                file.write_all(&text)?;
                let now = now_ns();
                at = Some(now);
                text = format!(",\"written\":{now}}}").into_bytes();
            }
            text.push(b'\n');
            file.write_all(&text)
        };
        let failed_before = self.counted().error.is_some();
        let outcome = if failed_before { None } else { Some(put()) };
        let mut written = self.counted();
        match outcome {
            Some(Ok(())) => written.lines += 1,
            Some(Err(error)) => {
                written.error = Some(format!("cannot write the samples: {error}"));
                written.lost += 1;
            }
            None => written.lost += 1,
        }
        at.unwrap_or_else(now_ns)
    }

    fn counted(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of the lines; waits for no disk.
    pub(super) fn written(&self) -> Written {
        self.counted().clone()
    }

    /// Nothing is written from now on, also not by a read that returns late.
    pub(super) fn close(&self) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_once_and_its_lines_are_counted() {
        let lines = Lines::to(Some(File::options().append(true).open("/dev/full").unwrap()));
        lines.append(&1);
        lines.append_stamped(&serde_json::json!({"k": "resource"}));
        let written = lines.written();
        assert_eq!((written.lines, written.lost), (0, 2));
        assert!(written.error.unwrap().contains("No space left"));
    }

    #[test]
    fn a_stamped_line_says_when_it_had_been_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("resources.ndjson");
        let lines = Lines::create(Some(&path)).unwrap();
        assert!(Lines::create(Some(&path)).is_err(), "never overwritten");
        let before = now_ns();
        let at = lines.append_stamped(&serde_json::json!({"k": "resource", "n": 1}));
        lines.append(&serde_json::json!({"k": "resource_end"}));
        lines.close();
        lines.append(&serde_json::json!({"k": "late"}));
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((read.len(), read[0]["written"].as_u64(), read[0]["n"].as_u64()), (2, Some(at), Some(1)));
        assert!(at >= before && at <= now_ns());
    }
}
