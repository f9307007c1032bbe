//! Waiting for the screen: patterns, cells, the effect of a key, a new size. Each wait begins, is polled
//! in slices, so that a caller can look for signals in between, and ends.

use super::answers::Resized;
use super::awaited::{Expect, Hit, Resizing};
use super::handle::{INPUT_TIMEOUT, Terminal};
use super::options::check_size;
use super::press::{Direction, Outcome, Press, Pressed};
use super::pty;
use super::screen::Size;
use super::view::View;
use crate::clock::now_ns;
use regex::Regex;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Terminal {
    /// Begins to wait for a pattern over the rows joined by line feeds; what matches now counts with the
    /// stamp of the last chunk.
    pub fn begin_wait(&self, pattern: Regex) -> u64 {
        self.whole().wait_for(pattern)
    }

    /// Waits on for at most this long. `Some(hit)` where it matched, `Some(None)` where it never will,
    /// since the client has ended; `None` to be asked again.
    pub fn poll_wait(&self, id: u64, timeout: Duration) -> Option<Option<Hit>> {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.state.lock();
        loop {
            let hit = state.waiting.iter().find(|waiting| waiting.id == id).and_then(|waiting| waiting.hit.clone());
            if hit.is_some() || state.drained {
                return Some(hit);
            }
            if self.shared.changed.wait_until(&mut state, deadline).timed_out() {
                return None;
            }
        }
    }

    /// Forgets a wait.
    pub fn end_wait(&self, id: u64) {
        self.shared.state.lock().waiting.retain(|waiting| waiting.id != id);
    }

    /// Expects that the cell of the object's row shows exactly the text; looked for after each chunk.
    pub fn expect_cell(&self, i: u64, expect: Expect) {
        self.shared.state.lock().expect(i, expect);
    }

    /// Cells that were seen since the last call: probe and stamp.
    pub fn seen_cells(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.shared.state.lock().seen_cells)
    }

    /// Does not expect the cell any more. Whether it was still expected.
    pub fn forget_cell(&self, i: u64) -> bool {
        self.shared.state.lock().forget(i)
    }

    /// Writes a key that moves the cursor. Replies under way go first. `Err` with the final answer where
    /// nothing is to be waited for.
    pub fn begin_press(&self, key: &[u8], direction: Direction, view: &Arc<View>) -> Result<u64, Box<Pressed>> {
        if self.alive().is_err() || self.wait_written(INPUT_TIMEOUT).is_err() {
            return Err(Box::new(Pressed::failed(None)));
        }
        // Under the lock: no chunk is looked at between the reading of the cursor and the key.
        let mut state = self.whole();
        let before = view.rows(&state.screen).into_iter().find(|row| row.cursor).map(|row| (row.key, row.row));
        match self.shared.input.lock().key(key.to_vec()) {
            Ok(sent) => {
                state.press = Some(Press::new(Arc::clone(view), direction, before, sent));
                Ok(sent)
            }
            Err(_) => Err(Box::new(Pressed::failed(before.map(|(key, _)| key)))),
        }
    }

    /// Waits on for the key's effect, until the instant at the latest or for a tenth of a second; `None`
    /// to be asked again.
    pub fn poll_press(&self, deadline_ns: u64) -> Option<Pressed> {
        let slice = Instant::now() + Duration::from_millis(100);
        let mut state = self.shared.state.lock();
        loop {
            // Another press has taken its place: only one can be waited for at a time.
            let Some(press) = state.press.as_ref() else { return Some(Pressed::failed(None)) };
            let over = now_ns() >= deadline_ns;
            if press.result.is_some() || over || state.drained {
                let outcome = if state.drained { Outcome::Failed } else { Outcome::Censored };
                let pressed = press.pressed(outcome);
                state.press = None;
                return Some(pressed);
            }
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            if self.shared.changed.wait_until(&mut state, slice.min(Instant::now() + left)).timed_out()
                && Instant::now() >= slice
            {
                return None;
            }
        }
    }

    /// Changes the size and begins to watch what the client makes of it.
    pub fn begin_resize(&self, cols: u16, rows: u16) -> io::Result<u64> {
        let size = Size { cols, rows };
        check_size(size).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut state = self.whole();
        state.screen.resize(size);
        let sent = now_ns();
        pty::set_size(&*self.master, size)?;
        state.resizing = Some(Resizing { sent, first: None, filled: None, rows: vec![false; usize::from(rows)] });
        self.shared.resizes.lock().push((sent, size));
        Ok(sent)
    }

    /// Waits on for a client that fills its new size; `None` to be asked again.
    pub fn poll_resize(&self, sent: u64, deadline_ns: u64) -> Option<Resized> {
        let slice = Instant::now() + Duration::from_millis(100);
        let mut state = self.shared.state.lock();
        loop {
            let Some(resizing) = state.resizing.as_ref() else {
                return Some(Resized { sent, first: None, filled: None });
            };
            if resizing.filled.is_some() || now_ns() >= deadline_ns || state.drained {
                let resized = Resized { sent: resizing.sent, first: resizing.first, filled: resizing.filled };
                state.resizing = None;
                return Some(resized);
            }
            if self.shared.changed.wait_until(&mut state, slice).timed_out() {
                return None;
            }
        }
    }
}
