//! What the handle answers.

use super::awaited::{Counts, Exit};
use serde::Serialize;
use std::collections::BTreeMap;

/// The screen as text.
#[derive(Clone, Debug, Serialize)]
pub struct ScreenText {
    /// Rows from top to bottom, blanks at their ends cut off.
    pub lines: Vec<String>,
    /// Row and column of the text cursor, from 0.
    pub cursor: (usize, usize),
    /// Whether the text cursor is shown.
    pub cursor_visible: bool,
    /// Whether the alternate buffer is shown.
    pub alternate: bool,
    /// The window title.
    pub title: String,
    /// The other buffer as it was left; empty where only one was ever used.
    pub other: Vec<String>,
}

/// Counts and states so far.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Bytes, chunks, frames, redraws, updates that the watchdog ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// How the client ended, once all of its output was read.
    pub exited: Option<Exit>,
    /// Queries that got no answer: a start time may contain their time-outs.
    pub unanswered: Vec<String>,
    /// Replies that were dropped since the client did not read its input.
    pub dropped_replies: u64,
    /// Stamp of the last chunk.
    pub last_output_ns: Option<u64>,
    /// Milestone to its instant, where it was seen.
    pub milestones: BTreeMap<String, Option<u64>>,
    /// What went wrong with the engine itself, the recording or the supervisor.
    pub trouble: Option<String>,
}

/// What a change of size cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Resized {
    /// When the size was set.
    pub sent: u64,
    /// The first chunk after it; `None`: the client wrote nothing.
    pub first: Option<u64>,
    /// The end of the first frame by which every row was drawn anew; `None`: a failed sample.
    pub filled: Option<u64>,
}

/// How the client and its tree ended.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// Exit code, where it has one.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Descendants that had to be killed, the client itself not counted.
    pub killed: Option<u32>,
    /// Processes that outlived SIGKILL (they hang in the kernel).
    pub left: Vec<u32>,
}
