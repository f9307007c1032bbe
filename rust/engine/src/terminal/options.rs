//! How a client is started, and why it may not be.

use super::awaited;
use super::screen::Size;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A milestone to record: the first screen that matches the pattern and whose table has the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// `ready` or `populated`.
    pub name: String,
    /// Over the rows joined by line feeds.
    #[serde(default)]
    pub pattern: Option<String>,
    /// At least this many rows in the table; needs a view.
    #[serde(default)]
    pub rows: Option<usize>,
}

/// How to start a client.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The complete environment.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// Columns, 1 … 1000.
    pub cols: u16,
    /// Rows, 1 … 1000.
    pub rows: u16,
    /// Where the asciicast goes; it must not exist.
    #[serde(default)]
    pub cast: Option<PathBuf>,
    /// Command of the supervisor: a Python and the path of `supervisor.py`.
    pub supervisor: Vec<String>,
    /// What to record once.
    #[serde(default)]
    pub milestones: Vec<Milestone>,
}

/// Why a client could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An option is out of its range, or a pattern is wrong.
    #[error("{0}")]
    Option(String),
    /// The program, its directory or the terminal.
    #[error("cannot run {program:?}: {error}")]
    Program {
        /// What was to be run.
        program: String,
        /// The system's number of the error.
        errno: Option<i32>,
        /// Its text, and the directory where that is what is missing.
        error: String,
    },
    /// Pseudo-terminal, recording or supervisor.
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(super) fn check_size(size: Size) -> Result<(), String> {
    for (what, value) in [("cols", size.cols), ("rows", size.rows)] {
        if !(1..=1000).contains(&value) {
            return Err(format!("{what}: got {value}, expected 1 … 1000"));
        }
    }
    Ok(())
}

pub(super) fn compile(milestone: &Milestone, has_view: bool) -> Result<awaited::Milestone, String> {
    if milestone.rows.is_some() && !has_view {
        return Err(format!("milestones.{}.rows: needs a view", milestone.name));
    }
    let pattern = milestone
        .pattern
        .as_deref()
        .map(Regex::new)
        .transpose()
        .map_err(|error| format!("milestones.{}.pattern: {error}", milestone.name))?;
    Ok(awaited::Milestone { name: milestone.name.clone(), pattern, rows: milestone.rows, seen: None })
}
