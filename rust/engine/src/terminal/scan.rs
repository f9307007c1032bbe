//! Where in a stream of bytes something happens that the emulator alone does not tell: a synchronized
//! update ends, a query is asked, the screen is about to change its buffer, a string is too long.
//!
//! The scanner runs ahead of the emulator over the same bytes and cuts them into pieces, so that the
//! screen can be looked at, and a query answered, at exactly that byte. Its state survives the cut
//! between two reads: any split of a stream gives the same marks.

use super::sequences::{Mark, control_mark, numbers, string_query};
use memchr::{memchr, memchr2};

/// Longest operating-system command that is kept (titles, colours, links). What is longer is dropped
/// whole, so that an endless one takes no memory.
pub const MAX_STRING: usize = 8 * 1024;
/// Longest control sequence whose parameters are read; longer ones are passed through unread.
const MAX_SEQUENCE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    /// `ESC` with intermediate bytes (character sets).
    EscapeIntermediate,
    Control,
    /// A string: operating-system command, or device control and the like.
    Text {
        osc: bool,
    },
    /// The rest of a string that was too long.
    Dropped,
}

/// One call's answer: how many bytes belong to the piece, and what ended it.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the input that belong to this piece.
    pub len: usize,
    /// What stands at its end, if anything does.
    pub mark: Option<Mark>,
    /// The bytes are the rest of a dropped string: not for the emulator.
    pub dropped: bool,
}

/// The scanner and its state between reads.
#[derive(Debug)]
pub struct Scanner {
    state: State,
    sequence: Vec<u8>,
    string_len: usize,
    armed: bool,
    lines: usize,
    /// A piece ends after this many line feeds.
    pub lines_per_piece: usize,
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            state: State::Ground,
            sequence: Vec::with_capacity(MAX_SEQUENCE),
            string_len: 0,
            armed: false,
            lines: 0,
            lines_per_piece: usize::MAX,
        }
    }
}

impl Scanner {
    /// Scans up to the next mark or the end of the bytes.
    pub fn next(&mut self, bytes: &[u8]) -> Piece {
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Dropped {
                return self.dropped(&bytes[at..], at);
            }
            if self.state == State::Ground {
                match self.ground(bytes, at) {
                    Ok(next) => at = next,
                    Err(len) => return Piece { len, mark: Some(Mark::Lines), dropped: false },
                }
                continue;
            }
            if let State::Text { .. } = self.state {
                let (next, mark) = self.text(bytes, at);
                at = next;
                if mark.is_some() {
                    return Piece { len: at, mark, dropped: false };
                }
                continue;
            }
            let byte = bytes[at];
            if self.switches(byte) && !self.armed {
                self.armed = true;
                return Piece { len: at, mark: Some(Mark::BeforeSwitch), dropped: false };
            }
            at += 1;
            if let Some(mark) = self.step(byte) {
                return Piece { len: at, mark: Some(mark), dropped: false };
            }
        }
        Piece { len: at, mark: None, dropped: false }
    }

    /// Moves on to the next escape; `Err` with the end of the piece where enough lines went by.
    fn ground(&mut self, bytes: &[u8], at: usize) -> Result<usize, usize> {
        let rest = &bytes[at..];
        if self.lines_per_piece == usize::MAX {
            let Some(found) = memchr(0x1b, rest) else { return Ok(bytes.len()) };
            self.state = State::Escape;
            return Ok(at + found + 1);
        }
        let Some(found) = memchr2(0x1b, b'\n', rest) else { return Ok(bytes.len()) };
        if rest[found] == 0x1b {
            self.state = State::Escape;
            return Ok(at + found + 1);
        }
        self.lines += 1;
        if self.lines < self.lines_per_piece {
            return Ok(at + found + 1);
        }
        self.lines = 0;
        Err(at + found + 1)
    }

    /// Whether this byte would complete a sequence that may switch the screen buffer.
    fn switches(&self, byte: u8) -> bool {
        match self.state {
            State::Escape => byte == b'c',
            State::Control => {
                matches!(byte, b'h' | b'l')
                    && self.sequence.first() == Some(&b'?')
                    && numbers(&self.sequence[1..]).any(|mode| mode == 1049)
            }
            _ => false,
        }
    }

    fn step(&mut self, byte: u8) -> Option<Mark> {
        match (self.state, byte) {
            (_, 0x1b) => self.state = State::Escape,
            (State::Escape, b'[') => {
                self.state = State::Control;
                self.sequence.clear();
            }
            (State::Escape, b']') => self.open_string(true),
            (State::Escape, b'P' | b'X' | b'^' | b'_') => self.open_string(false),
            (State::Escape, b'c') => {
                self.state = State::Ground;
                self.armed = false;
                return Some(Mark::Reset);
            }
            (State::Escape, b'Z') => {
                self.state = State::Ground;
                return Some(Mark::Query("DECID (ESC Z)".into()));
            }
            (State::Escape | State::EscapeIntermediate, 0x20..=0x2f) => self.state = State::EscapeIntermediate,
            // Cancel and substitute end any sequence.
            (_, 0x18 | 0x1a) | (State::Escape | State::EscapeIntermediate, 0x30..=0x7e) => self.state = State::Ground,
            (State::Control, 0x40..=0x7e) => {
                self.state = State::Ground;
                return self.control(byte);
            }
            (State::Control, 0x20..=0x3f) if self.sequence.len() < MAX_SEQUENCE => self.sequence.push(byte),
            // Other control characters are carried out inside a sequence and do not end it.
            _ => {}
        }
        None
    }

    fn open_string(&mut self, osc: bool) {
        self.state = State::Text { osc };
        self.string_len = 0;
        self.sequence.clear();
    }

    fn text(&mut self, bytes: &[u8], at: usize) -> (usize, Option<Mark>) {
        let State::Text { osc } = self.state else { return (at, None) };
        let room = if osc { MAX_STRING.saturating_sub(self.string_len) } else { usize::MAX };
        for (index, &byte) in bytes[at..].iter().enumerate() {
            let ended = match byte {
                0x07 => osc,
                0x18 | 0x1a | 0x1b => true,
                _ => false,
            };
            if ended {
                self.state = if byte == 0x1b { State::Escape } else { State::Ground };
                let asked = if matches!(byte, 0x18 | 0x1a) { None } else { string_query(&self.sequence, osc) };
                // The emulator, too, takes the string as complete at the escape of its terminator.
                return (at + index + 1, asked.map(Mark::Query));
            }
            if index >= room {
                self.state = State::Dropped;
                return (at + index, Some(Mark::StringTooLong));
            }
            self.string_len += 1;
            if self.sequence.len() < MAX_SEQUENCE {
                self.sequence.push(byte);
            }
        }
        (bytes.len(), None)
    }

    fn dropped(&mut self, rest: &[u8], before: usize) -> Piece {
        debug_assert_eq!(before, 0, "a dropped string starts a piece of its own");
        let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b));
        match end {
            // The escape is left for the next piece: it starts the terminator or another sequence.
            Some(0) if rest[0] == 0x1b => {
                self.state = State::Escape;
                Piece { len: 1, mark: None, dropped: false }
            }
            Some(at) if rest[at] == 0x1b => Piece { len: at, mark: None, dropped: true },
            Some(at) => {
                self.state = State::Ground;
                Piece { len: at + 1, mark: None, dropped: true }
            }
            None => Piece { len: rest.len(), mark: None, dropped: true },
        }
    }

    fn control(&mut self, last: u8) -> Option<Mark> {
        let sequence = std::mem::take(&mut self.sequence);
        let mark = control_mark(&sequence, last);
        if mark == Some(Mark::Switched) {
            self.armed = false;
        }
        self.sequence = sequence;
        mark
    }
}
