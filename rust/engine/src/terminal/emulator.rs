//! Around the emulator: its size, what it sends back, what feeding it leads to.

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::vte::ansi::Timeout;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Cell size that is told to programs which ask for pixels.
pub(super) const CELL_PIXELS: (u16, u16) = (8, 16);
/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cells in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        usize::from(self.rows)
    }
    fn screen_lines(&self) -> usize {
        usize::from(self.rows)
    }
    fn columns(&self) -> usize {
        usize::from(self.cols)
    }
}

/// What the emulator wants to be sent or told, in order.
#[derive(Clone, Default)]
pub(super) struct Replies(pub(super) Arc<Mutex<Vec<Event>>>);

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        self.0.lock().push(event);
    }
}

/// Synchronized updates are applied at once and looked at when they end, so that a query inside of
/// one is answered at its byte. The parser's own buffering of them is therefore off.
#[derive(Default)]
pub(super) struct Unbuffered;

impl Timeout for Unbuffered {
    fn set_timeout(&mut self, _: Duration) {}
    fn clear_timeout(&mut self) {}
    fn pending_timeout(&self) -> bool {
        false
    }
}

/// What feeding a piece led to.
#[derive(Debug, Default)]
pub struct Step {
    /// Bytes taken from the input.
    pub used: usize,
    /// To be written to the program, ahead of any key.
    pub reply: Vec<u8>,
    /// A synchronized update ended with this piece.
    pub update_ended: bool,
    /// Enough lines went by to look at the screen.
    pub lines: bool,
}

/// What a frame did.
#[derive(Debug)]
pub struct Frame {
    /// It changed a cell.
    pub drawn: bool,
    /// It erased the display, or wrote at least nine tenths of its cells.
    pub redrawn: bool,
    /// Rows that it wrote or erased.
    pub rows: Vec<bool>,
}
