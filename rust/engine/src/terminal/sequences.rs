//! What sequences and strings mean to the scanner: ECMA-48, xterm's ctlseqs, the kitty keyboard protocol.

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

/// A query in the form of a string: `OSC 4|5|10…19|52 ; … ?`, `DCS $ q` (DECRQSS), `DCS + q` (XTGETTCAP),
/// `APC G … a=q` (kitty graphics).
pub(super) fn string_query(text: &[u8], osc: bool) -> Option<String> {
    let text = String::from_utf8_lossy(text);
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

pub(super) fn numbers(parameters: &[u8]) -> impl Iterator<Item = u32> + '_ {
    parameters
        .split(|byte| *byte == b';')
        .map(|number| std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// What a control sequence (its parameters, its last byte) is to us.
pub(super) fn control_mark(sequence: &[u8], last: u8) -> Option<Mark> {
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
