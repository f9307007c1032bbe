//! Characters that a read has cut.

/// How many bytes at the end are the beginning of a character that is not complete.
pub(super) fn incomplete(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needs = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if needs > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_character_is_held_back() {
        for (bytes, held) in [
            (&b""[..], 0),
            (b"abc", 0),
            ("é".as_bytes(), 0),
            (&"é".as_bytes()[..1], 1),
            (&"a€".as_bytes()[..3], 2),
            (&"\u{1f469}".as_bytes()[..3], 3),
            (b"\x80\x80\x80\x80", 0),
            (b"\xff", 0),
            (b"\xe2\x1b", 0),
        ] {
            assert_eq!(incomplete(bytes), held, "{bytes:?}");
        }
    }
}
