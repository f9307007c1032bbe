//! The small program that runs the client and leaves none of its children.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// What the supervisor is told on its standard input. Not on its command line: the environment may
/// hold what others must not read.
#[derive(Serialize)]
struct Program<'a> {
    argv: &'a [String],
    env: &'a BTreeMap<String, String>,
    cwd: &'a str,
    pts: &'a str,
}

/// The client to run.
pub(super) struct Client<'a> {
    /// Program and arguments; the program is looked up in the PATH of its own environment.
    pub(super) argv: &'a [String],
    /// The complete environment.
    pub(super) env: &'a BTreeMap<String, String>,
    /// Working directory.
    pub(super) cwd: &'a str,
    /// Path of the terminal.
    pub(super) pts: &'a str,
}

/// A line from the supervisor.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "ev", rename_all = "snake_case")]
pub(super) enum Report {
    /// The program runs.
    Started { pid: u32 },
    /// It could not be started.
    Failed { stage: String, errno: Option<i32>, error: String },
    /// It ended at the instant; one of code and signal is given.
    Exited { t: u64, code: Option<i32>, signal: Option<i32> },
    /// Every descendant is gone, but for those in `left`.
    Ended { killed: u32, left: Vec<u32> },
}

/// The supervisor, running.
pub(super) struct Supervisor {
    /// Its process.
    pub(super) child: Child,
    /// The lifeline: when it closes, everything is killed.
    pub(super) lifeline: ChildStdin,
    /// Lines of reports.
    pub(super) reports: OwnedFd,
    /// What Python says where the supervisor itself fails.
    pub(super) complaints: OwnedFd,
}

/// Starts the supervisor and hands it the client.
pub(super) fn spawn(command: &[String], client: &Client<'_>) -> io::Result<Supervisor> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| io::Error::other("the supervisor's command is empty"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot run the supervisor {program:?}: {error}")))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut lifeline), Some(reports), Some(complaints)) = pipes else {
        return Err(io::Error::other("the supervisor has no pipes"));
    };
    let mut line =
        serde_json::to_vec(&Program { argv: client.argv, env: client.env, cwd: client.cwd, pts: client.pts })?;
    line.push(b'\n');
    if let Err(error) = lifeline.write_all(&line).and_then(|()| lifeline.flush()) {
        drop(lifeline);
        let _ = child.wait();
        let mut said = String::new();
        let _ = complaints.take(4096).read_to_string(&mut said);
        return Err(io::Error::other(format!("the supervisor ended at once: {error} {}", said.trim())));
    }
    Ok(Supervisor { child, lifeline, reports: reports.into(), complaints: complaints.into() })
}

/// Asks for the client's end: SIGTERM, then SIGKILL to all of its tree after the grace.
pub(super) fn ask_to_stop(lifeline: &mut ChildStdin, grace: Duration) -> io::Result<()> {
    writeln!(lifeline, "{{\"stop\":{}}}", grace.as_secs_f64())
}
