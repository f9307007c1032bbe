//! The pseudo-terminal and what is written into it.

use super::emulator::CELL_PIXELS;
use super::screen::Size;
use crate::clock::now_ns;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Replies that a program asks for and does not read; beyond this they are dropped.
const MAX_UNREAD: usize = 64 * 1024;

/// Opens a pseudo-terminal of the size; gives its master side, not blocking, and the other side's path.
pub(super) fn open(size: Size) -> io::Result<(OwnedFd, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?.into_string().map_err(io::Error::other)?;
    set_size(&master, size)?;
    fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
    Ok((master, path))
}

/// Sets the size; the kernel sends SIGWINCH to the foreground process group where it changed.
pub(super) fn set_size(master: impl AsFd, size: Size) -> io::Result<()> {
    let size = Winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: size.cols.saturating_mul(CELL_PIXELS.0),
        ws_ypixel: size.rows.saturating_mul(CELL_PIXELS.1),
    };
    Ok(tcsetwinsize(master, size)?)
}

struct Message {
    bytes: Vec<u8>,
    reply: bool,
}

/// What is on its way to the program. Each message goes whole; replies go ahead of keys.
pub(super) struct Input {
    master: Arc<OwnedFd>,
    queue: VecDeque<Message>,
    written: usize,
    dropped: u64,
}

impl Input {
    /// Nothing on its way.
    pub(super) fn new(master: Arc<OwnedFd>) -> Self {
        Self { master, queue: VecDeque::new(), written: 0, dropped: 0 }
    }

    /// Puts a reply behind the replies before it and ahead of all keys, and writes what can be written.
    pub(super) fn reply(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let unread: usize = self.queue.iter().filter(|message| message.reply).map(|message| message.bytes.len()).sum();
        if unread + bytes.len() > MAX_UNREAD {
            self.dropped += 1;
            return Ok(());
        }
        // A message that is partly written stays first.
        let begun = usize::from(self.written > 0);
        let replies = self.queue.iter().skip(begun).take_while(|message| message.reply).count();
        self.queue.insert(begun + replies, Message { bytes, reply: true });
        self.pump()
    }

    /// Puts a key last and writes what can be written; the instant before its first byte was offered.
    pub(super) fn key(&mut self, bytes: Vec<u8>) -> io::Result<u64> {
        self.queue.push_back(Message { bytes, reply: false });
        let t = now_ns();
        self.pump()?;
        Ok(t)
    }

    /// Writes until all is written or the terminal takes no more.
    pub(super) fn pump(&mut self) -> io::Result<()> {
        while let Some(message) = self.queue.front() {
            match rustix::io::write(&*self.master, &message.bytes[self.written..]) {
                Ok(count) => {
                    self.written += count;
                    if self.written == message.bytes.len() {
                        self.queue.pop_front();
                        self.written = 0;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Replies that were dropped because the program did not read its input.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}
