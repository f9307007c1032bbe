//! What someone may wait for, and what is counted.

use super::view::{Key, View};
use regex::Regex;
use serde::Serialize;
use std::sync::Arc;

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Bytes read.
    pub bytes: u64,
    /// Reads.
    pub chunks: u64,
    /// Synchronized updates, and bursts of output outside of them that changed a cell.
    pub frames: u64,
    /// Frames that erased the display or wrote at least nine tenths of it.
    pub redraws: u64,
    /// Synchronized updates that the watchdog ended.
    pub sync_timeouts: u64,
}

/// How the client ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exit {
    /// When the supervisor saw it.
    pub t: u64,
    /// Exit code; `None` where a signal ended it, or where nobody knows.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// A match on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Stamp of the first chunk after which the screen matched.
    pub t: u64,
    /// Row of the screen in which the match begins.
    pub row: usize,
    /// The whole match, then its groups.
    pub groups: Vec<Option<String>>,
}

/// Something that is recorded the first time that the screen shows it.
pub(super) struct Milestone {
    /// `ready` or `populated`.
    pub(super) name: String,
    /// Must match.
    pub(super) pattern: Option<Regex>,
    /// The table must have this many rows.
    pub(super) rows: Option<usize>,
    /// When it was seen, and how many rows the table had.
    pub(super) seen: Option<(u64, Option<usize>)>,
}

/// A cell that is to show a text.
pub struct Expect {
    /// Whose row.
    pub key: Key,
    /// Which column, as the header has it.
    pub column: String,
    /// The whole of the cell.
    pub text: String,
    /// How the screen is read.
    pub view: Arc<View>,
}

/// A pattern that someone waits for.
pub(super) struct Waiting {
    /// Number of the wait.
    pub(super) id: u64,
    /// Over the rows joined by line feeds.
    pub(super) pattern: Regex,
    /// The first match.
    pub(super) hit: Option<Hit>,
}

/// A change of size under way.
pub(super) struct Resizing {
    /// When the size was set.
    pub(super) sent: u64,
    /// The first chunk after it.
    pub(super) first: Option<u64>,
    /// The end of the first frame by which every row was written or erased.
    pub(super) filled: Option<u64>,
    /// Rows written since.
    pub(super) rows: Vec<bool>,
}

/// The first match in the text.
pub(super) fn find(pattern: &Regex, text: &str, t: u64) -> Option<Hit> {
    let groups = pattern.captures(text)?;
    let start = groups.get(0).map_or(0, |whole| whole.start());
    let row = text[..start].bytes().filter(|byte| *byte == b'\n').count();
    Some(Hit { t, row, groups: groups.iter().map(|group| group.map(|found| found.as_str().to_owned())).collect() })
}
