//! Keys as bytes, in the encoding that the program asked for.
//!
//! Sources: xterm's ctlseqs (normal and application cursor keys) and the kitty keyboard protocol, of
//! which the flags 1 (disambiguate) and 8 (all keys as escape codes) change what is sent for a press.

use super::sequences::KeyboardRequest;

/// Flags that are kept and reported back; the others are dropped, so that `?u` never promises more.
const HONOURED: u8 = 0b1001;
const DISAMBIGUATE: u8 = 0b0001;
const ALL_AS_ESCAPES: u8 = 0b1000;
/// Deepest stack of flags; the oldest entry is dropped beyond it, as the protocol says.
const MAX_DEPTH: usize = 64;

/// The kitty keyboard protocol's flags, a stack for each screen buffer.
#[derive(Debug, Default)]
pub struct Keyboard {
    stacks: [Vec<u8>; 2],
    alternate: bool,
}

impl Keyboard {
    /// The screen buffer that is shown has its own stack.
    pub fn show(&mut self, alternate: bool) {
        self.alternate = alternate;
    }

    /// Forgets all flags (a terminal reset).
    pub fn reset(&mut self) {
        self.stacks = Default::default();
    }

    /// Flags in force.
    pub fn flags(&self) -> u8 {
        self.stacks[usize::from(self.alternate)].last().copied().unwrap_or(0)
    }

    /// Carries out a request; the answer of a query.
    pub fn handle(&mut self, request: KeyboardRequest) -> Option<String> {
        let now = self.flags();
        let stack = &mut self.stacks[usize::from(self.alternate)];
        match request {
            KeyboardRequest::Query => return Some(format!("\x1b[?{now}u")),
            KeyboardRequest::Push(flags) => {
                if stack.len() == MAX_DEPTH {
                    stack.remove(0);
                }
                stack.push(flags & HONOURED);
            }
            KeyboardRequest::Pop(count) => stack.truncate(stack.len().saturating_sub(count)),
            KeyboardRequest::Set(flags, mode) => {
                let flags = match mode {
                    2 => now | flags,
                    3 => now & !flags,
                    _ => flags,
                } & HONOURED;
                match stack.last_mut() {
                    Some(top) => *top = flags,
                    None => stack.push(flags),
                }
            }
        }
        None
    }
}

/// How the program wants its keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyModes {
    /// DECCKM: application cursor keys.
    pub application_cursor: bool,
    /// The kitty protocol's flags.
    pub kitty: u8,
}

/// The bytes of a key: a single character, or a name (`up`, `enter`, `f5`, `page_down`, …), after any
/// of `ctrl+`, `alt+`, `shift+`. `None` for a name that is not known.
pub fn encode(key: &str, modes: KeyModes) -> Option<Vec<u8>> {
    let mut name = key;
    let mut modifiers = 0u8;
    while let Some((first, rest)) = name.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
        modifiers |= match first {
            "shift" => 1,
            "alt" => 2,
            "ctrl" => 4,
            _ => return None,
        };
        name = rest;
    }
    if let Some((code, last)) = functional(name) {
        return Some(functional_bytes(code, last, modifiers, modes));
    }
    let character = match name {
        "space" => ' ',
        "enter" => '\r',
        "tab" => '\t',
        "escape" => '\x1b',
        "backspace" => '\x7f',
        other => {
            let mut characters = other.chars();
            let first = characters.next()?;
            if characters.next().is_some() {
                return None;
            }
            first
        }
    };
    Some(character_bytes(character, modifiers, modes.kitty))
}

/// Number and last byte of the keys that are always escape sequences.
fn functional(name: &str) -> Option<(u8, u8)> {
    Some(match name {
        "up" => (1, b'A'),
        "down" => (1, b'B'),
        "right" => (1, b'C'),
        "left" => (1, b'D'),
        "home" => (1, b'H'),
        "end" => (1, b'F'),
        "insert" => (2, b'~'),
        "delete" => (3, b'~'),
        "page_up" => (5, b'~'),
        "page_down" => (6, b'~'),
        "f1" => (1, b'P'),
        "f2" => (1, b'Q'),
        "f3" => (13, b'R'),
        "f4" => (1, b'S'),
        "f5" => (15, b'~'),
        "f6" => (17, b'~'),
        "f7" => (18, b'~'),
        "f8" => (19, b'~'),
        "f9" => (20, b'~'),
        "f10" => (21, b'~'),
        "f11" => (23, b'~'),
        "f12" => (24, b'~'),
        _ => return None,
    })
}

fn functional_bytes(code: u8, last: u8, modifiers: u8, modes: KeyModes) -> Vec<u8> {
    let final_byte = char::from(last);
    if modifiers != 0 {
        return format!("\x1b[{code};{}{final_byte}", modifiers + 1).into_bytes();
    }
    let text = match last {
        b'~' => format!("\x1b[{code}~"),
        b'R' if modes.kitty != 0 => "\x1b[13~".to_owned(),
        b'P' | b'Q' | b'R' | b'S' if modes.kitty == 0 => format!("\x1bO{final_byte}"),
        _ if modes.application_cursor && modes.kitty == 0 => format!("\x1bO{final_byte}"),
        _ => format!("\x1b[{final_byte}"),
    };
    text.into_bytes()
}

fn character_bytes(character: char, modifiers: u8, kitty: u8) -> Vec<u8> {
    let plain_control = matches!(character, '\r' | '\t' | '\x7f');
    let escaped = (kitty & ALL_AS_ESCAPES != 0)
        || (kitty & DISAMBIGUATE != 0
            && ((modifiers & 0b110 != 0) || character == '\x1b' || (plain_control && modifiers != 0)));
    if escaped {
        let code = u32::from(character.to_lowercase().next().unwrap_or(character));
        let shifted = u8::from(character.is_uppercase());
        let modifiers = modifiers | shifted;
        return if modifiers == 0 { format!("\x1b[{code}u") } else { format!("\x1b[{code};{}u", modifiers + 1) }
            .into_bytes();
    }
    let mut bytes = Vec::new();
    if modifiers & 2 != 0 {
        bytes.push(0x1b);
    }
    let character = if modifiers & 1 != 0 { character.to_uppercase().next().unwrap_or(character) } else { character };
    match (modifiers & 4 != 0, character) {
        (_, '\t') if modifiers & 1 != 0 => bytes.extend(b"\x1b[Z"),
        (true, 'a'..='z' | 'A'..='Z' | '@' | '[' | '\\' | ']' | '^' | '_') => bytes.push(character as u8 & 0x1f),
        (true, ' ') => bytes.push(0),
        (true, '?') => bytes.push(0x7f),
        _ => bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(key: &str) -> Vec<u8> {
        encode(key, KeyModes::default()).unwrap()
    }

    #[test]
    fn keys_follow_the_cursor_key_mode() {
        assert_eq!(plain("down"), b"\x1b[B");
        let application = KeyModes { application_cursor: true, kitty: 0 };
        assert_eq!(encode("down", application).unwrap(), b"\x1bOB");
        assert_eq!(encode("shift+down", application).unwrap(), b"\x1b[1;2B");
    }

    #[test]
    fn names_characters_and_modifiers_are_encoded_as_xterm_does() {
        for (key, bytes) in [
            ("enter", &b"\r"[..]),
            ("escape", b"\x1b"),
            ("/", b"/"),
            ("+", b"+"),
            ("ctrl+d", b"\x04"),
            ("alt+x", b"\x1bx"),
            ("shift+tab", b"\x1b[Z"),
            ("page_down", b"\x1b[6~"),
            ("f1", b"\x1bOP"),
            ("f5", b"\x1b[15~"),
            ("é", "é".as_bytes()),
        ] {
            assert_eq!(plain(key), bytes, "{key}");
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        for key in ["", "enterr", "hyper+x", "f13"] {
            assert_eq!(encode(key, KeyModes::default()), None, "{key}");
        }
    }

    #[test]
    fn kitty_flags_change_what_is_ambiguous_and_no_more() {
        let kitty = KeyModes { application_cursor: false, kitty: DISAMBIGUATE };
        assert_eq!(encode("escape", kitty).unwrap(), b"\x1b[27u");
        assert_eq!(encode("ctrl+d", kitty).unwrap(), b"\x1b[100;5u");
        assert_eq!(encode("enter", kitty).unwrap(), b"\r");
        assert_eq!(encode("a", kitty).unwrap(), b"a");
        let all = KeyModes { application_cursor: false, kitty: ALL_AS_ESCAPES };
        assert_eq!(encode("a", all).unwrap(), b"\x1b[97u");
    }

    #[test]
    fn each_screen_buffer_keeps_its_own_flags_and_only_what_is_done_is_reported() {
        let mut keyboard = Keyboard::default();
        keyboard.handle(KeyboardRequest::Push(31));
        assert_eq!(keyboard.handle(KeyboardRequest::Query).unwrap(), "\x1b[?9u");
        keyboard.show(true);
        assert_eq!(keyboard.handle(KeyboardRequest::Query).unwrap(), "\x1b[?0u");
        keyboard.handle(KeyboardRequest::Set(1, 1));
        keyboard.handle(KeyboardRequest::Pop(9));
        assert_eq!(keyboard.flags(), 0);
        keyboard.show(false);
        assert_eq!(keyboard.flags(), 9);
        (0..1000).for_each(|_| assert!(keyboard.handle(KeyboardRequest::Push(1)).is_none()));
        assert!(keyboard.stacks[0].len() <= MAX_DEPTH);
    }
}
