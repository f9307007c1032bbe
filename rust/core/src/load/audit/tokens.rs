//! Tokens, wherever they stand in a text.

use memchr::memmem;
use std::ops::Range;

const REMOVED_TOKEN: &str = "removed-token";
/// A header of a JSON Web Token begins with `{"`, which is this in base64.
const BEGINS: &[u8] = b"eyJ";
const BEARER: &[u8] = b"Bearer ";
/// What follows `Bearer ` and is shorter is a word.
const SHORTEST: usize = 16;

/// The text without JSON Web Tokens and what follows `Bearer `; `None` where it has none.
pub(super) fn without_tokens(text: &str) -> Option<String> {
    let mut found = json_web_tokens(text.as_bytes());
    for at in memmem::find_iter(text.as_bytes(), BEARER) {
        let begin = at + BEARER.len();
        let length = text.as_bytes()[begin..].iter().take_while(|byte| is_token(**byte)).count();
        if length >= SHORTEST {
            found.push(begin..begin + length);
        }
    }
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|range| range.start);
    Some(replaced(text, &found, REMOVED_TOKEN))
}

/// The text with something instead of each range; ranges come by their beginnings, and may overlap.
pub(super) fn replaced(text: &str, ranges: &[Range<usize>], instead: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        if range.start >= from {
            out.push_str(&text[from..range.start]);
            out.push_str(instead);
        }
        from = from.max(range.end);
    }
    out + &text[from..]
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

fn json_web_tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut passed = 0;
    for begin in memmem::find_iter(bytes, BEGINS) {
        if begin < passed {
            continue;
        }
        let (length, is_whole) = json_web_token(&bytes[begin..]);
        // What begins later in the same part ends with it, and is as little a token: each byte is looked at
        // a few times, whatever the text.
        passed = begin + length;
        if is_whole {
            found.push(begin..passed);
        }
    }
    found
}

/// The length of the token of three parts or more that begins here; else of the part that begins here, and
/// false.
fn json_web_token(bytes: &[u8]) -> (usize, bool) {
    let part = |from: usize| {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
        bytes[from..].iter().take_while(is_part).count()
    };
    let header = part(0);
    if header < 10 || bytes.get(header) != Some(&b'.') {
        return (header, false);
    }
    let claims = part(header + 1);
    let second = header + 1 + claims;
    if claims < 2 || bytes.get(second) != Some(&b'.') {
        return (header, false);
    }
    let mut end = second + 1 + part(second + 1);
    // An encrypted one has five parts.
    while bytes.get(end) == Some(&b'.') && part(end + 1) > 0 {
        end += 1 + part(end + 1);
    }
    (end, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl";

    #[test]
    fn json_web_tokens_and_bearer_tokens_are_removed_and_words_stay() {
        for (text, expected) in [
            (format!("a {TOKEN} b"), "a removed-token b"),
            (format!("x{TOKEN}, {TOKEN}"), "xremoved-token, removed-token"),
            (format!("eyJx.{TOKEN}"), "eyJx.removed-token"),
            ("Authorization: Bearer 0123456789abcdef".to_owned(), "Authorization: Bearer removed-token"),
        ] {
            assert_eq!(without_tokens(&text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "Bearer of news", "eyJ.x.y", "eyJhbGciOiJSUzI1NiJ9.x", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqIn0"]
        {
            assert_eq!(without_tokens(text), None);
        }
    }

    #[test]
    fn a_token_within_a_token_is_one() {
        for text in [format!("Bearer {TOKEN}"), format!("Bearer sso~{TOKEN}"), format!("Bearer token={TOKEN}~x")] {
            assert_eq!(without_tokens(&text).as_deref(), Some("Bearer removed-token"), "{text}");
        }
    }

    #[test]
    fn what_looks_like_many_tokens_is_looked_at_once() {
        // Scanned from each of its beginnings, this would be 10^12 steps.
        let text = "eyJ".repeat(1_000_000);
        assert_eq!(without_tokens(&text), None);
        assert_eq!(without_tokens(&format!("{text}.{text}")), None);
        assert_eq!(without_tokens(&"eyJhbGciOiJ9.".repeat(300_000)).map(|text| text.len() < 3_000_000), Some(true));
    }

    proptest! {
        #[test]
        fn no_token_is_left_whatever_stands_around_it(before in "(Bearer |eyJ|[.~ =]|\\PC){0,12}", after in "([ .~=]\\PC{0,9})?") {
            let text = without_tokens(&format!("{before}{TOKEN}{after}")).unwrap();
            prop_assert!(!text.contains("eyJzdWIiOiJqYW5lIn0"), "{}", text);
        }
    }
}
