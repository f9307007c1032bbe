//! A program in a pseudo-terminal, its screen, its clock.
//!
//! One thread reads: it stamps each chunk before it parses it, and looks at the screen after each, so
//! that whatever someone waits for carries the stamp of the chunk that made it true. Reading never
//! stops: not for the disk, not for a caller, not for a program that does not read its input.

mod answers;
mod awaited;
mod cast;
mod emulator;
mod handle;
mod header;
pub mod keys;
mod line;
mod options;
mod palette;
mod press;
mod pty;
mod reader;
pub mod scan;
pub mod screen;
mod sequences;
mod state;
mod supervisor;
mod utf8;
pub mod view;
mod waits;
mod width;

#[cfg(test)]
mod scan_tests;
#[cfg(test)]
mod screen_tests;
#[cfg(test)]
mod view_tests;

pub use answers::{Progress, Resized, ScreenText, Stopped};
pub use awaited::{Counts, Exit, Expect, Hit};
pub use handle::Terminal;
pub use options::{Milestone, Options, StartError};
pub use press::{Direction, Outcome, Pressed};
pub use state::State;

use parking_lot::{Condvar, Mutex};
use screen::Size;

/// What the reader shares with the callers.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    input: Mutex<pty::Input>,
    resizes: Mutex<Vec<(u64, Size)>>,
}
