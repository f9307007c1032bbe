//! Where in a stream of bytes something happens that the emulator alone does not tell: a synchronized
//! update ends, a query is asked, the screen is about to change its buffer, a string is too long.
//!
//! The scanner runs ahead of the emulator over the same bytes and cuts them into pieces, so that the
//! screen can be looked at, and a query answered, at exactly that byte. Its state survives the cut
//! between two reads: any split of a stream gives the same marks. Sequences: ECMA-48 and xterm's ctlseqs.

use memchr::{memchr, memchr2};

/// Longest operating-system command that is kept (titles, colours, links). What is longer is dropped
/// whole, so that an endless one takes no memory.
pub const MAX_STRING: usize = 8 * 1024;
/// Longest control sequence whose parameters are read; longer ones are passed through unread.
const MAX_SEQUENCE: usize = 64;

/// What stands at the end of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `CSI ? 2026 h`: what follows is one update, to be seen as a whole.
    SyncStart,
    /// `CSI ? 2026 l`: the update is complete.
    SyncEnd,
    /// A query; the piece ends with its last byte. The text names it for people.
    Query(String),
    /// A query about the kitty keyboard protocol, or a change of its flags.
    Keyboard(KeyboardRequest),
    /// The next byte may switch between the two screen buffers or reset the terminal.
    BeforeSwitch,
    /// The sequence that `BeforeSwitch` announced is complete: another buffer may be shown.
    Switched,
    /// The sequence that `BeforeSwitch` announced is complete: the terminal was reset.
    Reset,
    /// The whole display was erased.
    Erased,
    /// The string under way is longer than `MAX_STRING`; it must be cancelled in the emulator.
    StringTooLong,
    /// As many lines as asked for were fed.
    Lines,
}

/// `CSI … u` of the kitty keyboard protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyboardRequest {
    /// `CSI ? u`
    Query,
    /// `CSI > flags u`
    Push(u8),
    /// `CSI < n u`
    Pop(usize),
    /// `CSI = flags ; mode u`: mode 1 sets all, 2 adds, 3 removes.
    Set(u8, u8),
}

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
                let asked = if matches!(byte, 0x18 | 0x1a) { None } else { self.string_query(osc) };
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

    /// A query in the form of a string: `OSC 4|5|10…19|52 ; … ?`, `DCS $ q` (DECRQSS), `DCS + q` (XTGETTCAP),
    /// `APC G … a=q` (kitty graphics).
    fn string_query(&self, osc: bool) -> Option<String> {
        let text = String::from_utf8_lossy(&self.sequence);
        if osc {
            let number = text.split(';').next().unwrap_or_default();
            let known = matches!(number, "4" | "5" | "52") || matches!(number.parse::<u8>(), Ok(10..=19));
            return (known && text.ends_with(";?")).then(|| format!("OSC {number} ?"));
        }
        match text.as_ref() {
            t if t.starts_with("$q") => Some(format!("DECRQSS (DCS {t})")),
            t if t.starts_with("+q") => Some("XTGETTCAP (DCS + q)".into()),
            t if t.starts_with('G') && t.contains("a=q") => Some("kitty graphics (APC G a=q)".into()),
            _ => None,
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

fn numbers(parameters: &[u8]) -> impl Iterator<Item = u32> + '_ {
    parameters
        .split(|byte| *byte == b';')
        .map(|number| std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}

fn control_mark(sequence: &[u8], last: u8) -> Option<Mark> {
    let text = std::str::from_utf8(sequence).unwrap_or("");
    let (prefix, rest) = match sequence.first() {
        Some(first @ (b'?' | b'>' | b'<' | b'=')) => (*first, &sequence[1..]),
        _ => (0, sequence),
    };
    let first = numbers(rest).next().unwrap_or(0);
    let named = |name: &str| Some(Mark::Query(format!("{name} (CSI {text}{})", char::from(last))));
    match (prefix, last) {
        (b'?', b'h' | b'l') if numbers(rest).any(|mode| mode == 1049) => Some(Mark::Switched),
        (b'?', b'h') if numbers(rest).any(|mode| mode == 2026) => Some(Mark::SyncStart),
        (b'?', b'l') if numbers(rest).any(|mode| mode == 2026) => Some(Mark::SyncEnd),
        (0, b'J') if first == 2 || first == 3 => Some(Mark::Erased),
        (0, b'c') => named("DA1"),
        (b'>', b'c') => named("DA2"),
        (b'=', b'c') => named("DA3"),
        (b'>', b'q') => named("XTVERSION"),
        (0, b'n') if first == 5 || first == 6 => named("DSR"),
        (b'?', b'n') => named("DSR"),
        (0 | b'?', b'p') if sequence.ends_with(b"$") => named("DECRQM"),
        (0, b't') if matches!(first, 11 | 13..=16 | 18..=21) => named("XTWINOPS"),
        (0, b'x') if first <= 1 => named("DECREQTPARM"),
        (b'?', b'm') => named("XTQMODKEYS"),
        (b'?', b'S') => named("XTSMGRAPHICS"),
        (b'?', b'u') => Some(Mark::Keyboard(KeyboardRequest::Query)),
        (b'>', b'u') => Some(Mark::Keyboard(KeyboardRequest::Push(small(first)))),
        (b'<', b'u') => Some(Mark::Keyboard(KeyboardRequest::Pop(first.max(1) as usize))),
        (b'=', b'u') => {
            let mode = numbers(rest).nth(1).unwrap_or(1);
            Some(Mark::Keyboard(KeyboardRequest::Set(small(first), small(mode))))
        }
        _ => None,
    }
}

fn small(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All marks of a stream that comes in these reads, each with its place in the stream.
    fn marks(reads: &[&[u8]], scanner: &mut Scanner) -> Vec<(usize, Mark)> {
        let mut found = Vec::new();
        let mut before = 0;
        for read in reads {
            let mut rest = *read;
            while !rest.is_empty() {
                let piece = scanner.next(rest);
                before += piece.len;
                rest = &rest[piece.len..];
                found.extend(piece.mark.map(|mark| (before, mark)));
            }
        }
        found
    }

    fn of(stream: &[u8]) -> Vec<Mark> {
        marks(&[stream], &mut Scanner::default()).into_iter().map(|(_, mark)| mark).collect()
    }

    #[test]
    fn queries_are_named_and_marked_at_their_last_byte() {
        let stream = b"text\x1b[c\x1b[6n\x1b[?2048$p\x1b]11;?\x1b\\\x1bP+q544e\x1b\\";
        let found = marks(&[stream], &mut Scanner::default());
        assert_eq!(found[0], (7, Mark::Query("DA1 (CSI c)".into())));
        let names: Vec<String> = found.iter().map(|(_, mark)| format!("{mark:?}")).collect();
        assert_eq!(names.len(), 5, "{names:?}");
        assert!(names[2].contains("DECRQM") && names[3].contains("OSC 11") && names[4].contains("XTGETTCAP"));
    }

    #[test]
    fn what_is_not_a_query_is_not_taken_for_one() {
        assert_eq!(of(b"\x1b[1;5H\x1b[0m\x1b[?25l\x1b]11;#000000\x07\x1b]0;what?\x07\x1b[4 q\x1b(B\x1b[2K\x1b[K"), []);
        // The parameters of a sequence that was cancelled count for nothing.
        assert_eq!(of(b"\x1b[?2026\x18h\x1b[?2026\x1b[1m"), []);
    }

    #[test]
    fn updates_and_buffer_switches_are_marked_even_among_other_modes() {
        assert_eq!(of(b"\x1b[?25;2026h"), [Mark::SyncStart]);
        assert_eq!(of(b"\x1b[?2026l\x1b[2J"), [Mark::SyncEnd, Mark::Erased]);
        assert_eq!(of(b"\x1b[?1049h"), [Mark::BeforeSwitch, Mark::Switched]);
        assert_eq!(of(b"\x1bc"), [Mark::BeforeSwitch, Mark::Reset]);
    }

    #[test]
    fn an_endless_string_is_cancelled_once_and_its_rest_dropped() {
        let mut stream = b"\x1b]0;".to_vec();
        stream.extend(vec![b'x'; 10 * MAX_STRING]);
        stream.extend(b"\x07shown\x1b[c");
        let mut scanner = Scanner::default();
        let mut kept = Vec::new();
        let mut cancelled = 0;
        for read in stream.chunks(1000) {
            let mut rest = read;
            while !rest.is_empty() {
                let piece = scanner.next(rest);
                if !piece.dropped {
                    kept.extend(&rest[..piece.len]);
                }
                cancelled += u32::from(piece.mark == Some(Mark::StringTooLong));
                rest = &rest[piece.len..];
            }
        }
        assert_eq!(cancelled, 1);
        assert!(kept.len() < MAX_STRING + 32 && kept.ends_with(b"shown\x1b[c"));
    }

    #[test]
    fn pieces_end_after_the_lines_asked_for() {
        let mut scanner = Scanner { lines_per_piece: 2, ..Scanner::default() };
        let places: Vec<usize> = marks(&[b"a\nb\nc\nd\ne"], &mut scanner).into_iter().map(|(at, _)| at).collect();
        assert_eq!(places, [4, 8]);
    }

    proptest! {
        #[test]
        fn any_split_of_a_stream_gives_the_same_marks(
            parts in prop::collection::vec(prop::sample::select(vec![
                &b"\x1b[?2026h"[..], b"\x1b[?2026l", b"\x1b[c", b"\x1b[?2048$p", b"\x1b]11;?\x1b\\", b"\x1b]0;t\x07",
                b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2J", b"\x1bP$qm\x1b\\", b"\x1b[>1u", b"\x1b[?u", "plain é│\n".as_bytes(),
                b"\x1b", b"\x18", b"[", b"\x1bc", b"\x1b[12", b"\x9b\xff",
            ]), 0..40),
            cuts in prop::collection::vec(1usize..9, 1..60),
        ) {
            let stream: Vec<u8> = parts.concat();
            let whole = marks(&[&stream], &mut Scanner::default());
            let mut reads = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (read, after) = rest.split_at((*cut).min(rest.len()));
                reads.push(read);
                rest = after;
            }
            prop_assert_eq!(marks(&reads, &mut Scanner::default()), whole);
        }
    }
}
