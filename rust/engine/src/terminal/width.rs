//! Characters whose width terminals disagree on.
//!
//! The grid's widths are those of the `unicode-width` crate, with the narrow reading of East Asian
//! ambiguous characters: the client runs in LANG=C.UTF-8, where all terminals take box drawing, arrows
//! and bullets as one cell. What is listed here is counted differently by wcwidth, by terminals and by
//! the libraries that clients use; right of such a character, the column that the client meant is not
//! known, so nothing is matched there.

/// Whether terminals and client libraries disagree on the cells that this character takes.
pub(super) fn disputed(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    matches!(character,
        // Soft hyphen; zero-width space, joiners and direction marks; word joiner and invisible operators.
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        // Variation selectors: they turn text into emoji presentation and back.
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
        // Halves of flags, skin tones: one emoji or two.
        | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}'
        // Hangul that joins the syllable before it.
        | '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}'
        // Spacing marks of Indic and South-East Asian scripts: nothing in one table, a cell in another.
        | '\u{0903}' | '\u{093b}' | '\u{093e}'..='\u{0940}' | '\u{0949}'..='\u{094c}' | '\u{0e33}' | '\u{0eb3}'
        // Dashes that are two or three cells wide in some fonts and tables.
        | '\u{2e3a}' | '\u{2e3b}'
        // Private use: icons of patched fonts.
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_boxes_and_plain_wide_characters_are_agreed_upon() {
        for agreed in "aZ0│─┌█▸●…é漢字ｱ".chars() {
            assert!(!disputed(agreed), "{agreed}");
        }
    }

    #[test]
    fn joiners_selectors_flags_and_icons_are_disputed() {
        for odd in ['\u{200d}', '\u{fe0f}', '\u{1f1e9}', '\u{1f3fd}', '\u{ad}', '\u{e0b0}'] {
            assert!(disputed(odd), "{:x}", odd as u32);
        }
    }
}
