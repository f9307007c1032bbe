//! One name or address that must not be seen, in all the forms that a text may have it in.

use super::loss::Why;
use super::named_fields::replace_word;
use super::sensitive::REMOVED_USER;
use super::tokens::replaced;
use crate::load::query;
use memchr::memmem;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::ops::Range;

/// Addresses of documentation (RFC 5737, RFC 3849): valid wherever an address is asked for.
const REMOVED_ADDRESS: [&str; 2] = ["192.0.2.1", "2001:db8::1"];
/// A shorter name, and one of lower-case letters alone, is a word that may mean something else.
const SHORTEST: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It means the same wherever it stands, a part of a longer text included.
    Distinct,
    /// Digits: a part of a longer number is another one.
    Number,
    Word,
    Address,
}

/// What becomes of names that are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// They stay: here a word is no user.
    Stay,
    /// They go where they are the whole text.
    Whole,
    /// They go where they stand alone in the text.
    Alone,
}

#[derive(Clone, Debug)]
pub(super) struct Needle {
    /// As it is, then as it may be escaped.
    forms: Vec<String>,
    instead: &'static str,
    pub(super) why: Why,
    kind: Kind,
}

impl Needle {
    /// Of a user's name or id.
    pub(super) fn user(name: &str) -> Self {
        let as_json = serde_json::Value::from(name).to_string();
        let as_json = as_json[1..as_json.len() - 1].to_owned();
        // As Go's encoder writes it, and as Python's does.
        let as_go = as_json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
        let as_ascii = ascii(&as_json);
        let in_query = query::encoded(name);
        let kind = if name.bytes().all(|byte| byte.is_ascii_digit()) {
            if name.len() >= SHORTEST { Kind::Number } else { Kind::Word }
        } else if name.contains(['@', '\\'])
            || (name.len() >= SHORTEST && !name.bytes().all(|byte| byte.is_ascii_lowercase()))
        {
            Kind::Distinct
        } else {
            Kind::Word
        };
        Self::new([name.to_owned(), as_json, as_go, as_ascii, in_query], REMOVED_USER, Why::UserRemoved, kind)
    }

    /// Of a source address. `None` for what is none, and for loopback addresses, which tell nothing.
    pub(super) fn address(text: &str) -> Option<Self> {
        let ip: IpAddr = text.parse().ok()?;
        if ip.is_loopback() || ip.is_unspecified() {
            return None;
        }
        let in_query = text.replace(':', "%3A");
        let forms = [text.to_owned(), ip.to_string(), in_query.to_lowercase(), in_query];
        Some(Self::new(forms, REMOVED_ADDRESS[usize::from(ip.is_ipv6())], Why::AddressRemoved, Kind::Address))
    }

    fn new(forms: impl IntoIterator<Item = String>, instead: &'static str, why: Why, kind: Kind) -> Self {
        let mut all: Vec<String> = Vec::new();
        for form in forms {
            if !all.contains(&form) {
                all.push(form);
            }
        }
        Self { forms: all, instead, why, kind }
    }

    /// As it is, without escapes.
    pub(super) fn text(&self) -> &str {
        &self.forms[0]
    }

    /// Whether any form of it stands somewhere in the text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.forms.iter().any(|form| memmem::find(text.as_bytes(), form.as_bytes()).is_some())
    }

    /// The text without it; `None` where it is not there.
    pub(super) fn removed(&self, text: &str, words: Words) -> Option<String> {
        if !self.is_in(text) {
            return None;
        }
        match (self.kind, words) {
            (Kind::Distinct | Kind::Address, _) => self.everywhere(text),
            (Kind::Number | Kind::Word, Words::Stay) => None,
            (Kind::Word, Words::Whole) => self.forms.iter().any(|form| form == text).then(|| self.instead.to_owned()),
            (Kind::Number, _) | (Kind::Word, Words::Alone) => replace_word(text, self.text(), self.instead),
        }
    }

    fn everywhere(&self, text: &str) -> Option<String> {
        let mut now: Option<String> = None;
        for form in &self.forms {
            let text = now.as_deref().unwrap_or(text);
            let found: Vec<Range<usize>> = memmem::find_iter(text.as_bytes(), form)
                .map(|at| at..at + form.len())
                .filter(|found| self.kind != Kind::Address || !self.continues(text, found))
                .collect();
            if !found.is_empty() {
                now = Some(replaced(text, &found, self.instead));
            }
        }
        now
    }

    /// Whether what was found is a part of a longer address or number.
    fn continues(&self, text: &str, found: &Range<usize>) -> bool {
        let (before, after) = (&text.as_bytes()[..found.start], text.as_bytes().get(found.end));
        let digit = if self.text().contains(':') { u8::is_ascii_hexdigit } else { u8::is_ascii_digit };
        (before.last().is_some_and(digit) && !ends_with_escape(before)) || after.is_some_and(digit)
    }
}

/// A JSON text in ASCII.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Into memory: nothing here can fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// Whether the text ends with an escaped character: `%3D`, `\x3d`, `\u003d`, `\n`.
fn ends_with_escape(text: &[u8]) -> bool {
    let hex = |mark: &[u8], digits: usize| {
        text.len()
            .checked_sub(digits)
            .is_some_and(|at| text[..at].ends_with(mark) && text[at..].iter().all(u8::is_ascii_hexdigit))
    };
    hex(b"%", 2) || hex(b"\\x", 2) || hex(b"\\u", 4) || matches!(text, [.., b'\\', b'b' | b'f'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, text: &str, words: Words) -> Option<String> {
        Needle::user(name).removed(text, words)
    }

    fn address(address: &str, text: &str) -> Option<String> {
        Needle::address(address)?.removed(text, Words::Stay)
    }

    #[test]
    fn a_name_unlike_a_word_is_removed_in_every_form_wherever_it_stands() {
        for (name, text) in [
            ("jane@example.com", "by jane@example.com, today"),
            ("jane@example.com", "?by=jane%40example.com, today"),
            (r"CORP\jane.doe", r"by CORP\jane.doe, today"),
            (r"CORP\jane.doe", r#"by "CORP\\jane.doe", today"#),
            (r"CORP\jo", r"CORP\jo"),
            ("a&b@x", r"by a\u0026b@x, today"),
            ("jörg@example.com", r"by j\u00f6rg@example.com, today"),
            ("system:node:n1", "<system:node:n1>"),
        ] {
            let without = user(name, text, Words::Stay).unwrap();
            assert!(
                without.contains("removed-user") && !without.contains("jo") && !without.contains("jane"),
                "{without}"
            );
        }
    }

    #[test]
    fn a_word_is_removed_where_it_is_the_whole_text_or_stands_alone_as_asked() {
        for name in ["jane", "christopher", "Jane", "1001", "jürgen"] {
            let longer = format!("by {name}");
            assert_eq!(user(name, name, Words::Stay), None);
            assert_eq!(user(name, name, Words::Whole).as_deref(), Some("removed-user"));
            assert_eq!(user(name, &longer, Words::Whole), None);
            assert_eq!(user(name, &longer, Words::Alone).as_deref(), Some("by removed-user"));
            assert_eq!(user(name, &format!("{name}s"), Words::Alone), None);
        }
        assert_eq!(user("jürgen", r"j\u00fcrgen", Words::Whole).as_deref(), Some("removed-user"));
    }

    #[test]
    fn a_number_is_no_part_of_a_longer_one() {
        assert_eq!(
            user("10000000", "uid 10000000, 110000000, 10000000Ki", Words::Whole).as_deref(),
            Some("uid removed-user, 110000000, 10000000Ki")
        );
        assert_eq!(user("10000000", "10000000", Words::Stay), None);
    }

    #[test]
    fn an_address_is_no_part_of_a_longer_one_and_may_stand_behind_an_escape() {
        for (given, text, expected) in [
            ("203.0.113.7", "203.0.113.7", Some("192.0.2.1")),
            ("203.0.113.7", "a%3D203.0.113.7", Some("a%3D192.0.2.1")),
            ("203.0.113.7", r"\u003c203.0.113.7\x3e", Some(r"\u003c192.0.2.1\x3e")),
            ("203.0.113.7", r"a\f203.0.113.7", Some(r"a\f192.0.2.1")),
            ("203.0.113.7", "::ffff:203.0.113.7", Some("::ffff:192.0.2.1")),
            ("203.0.113.7", "203.0.113.77", None),
            ("203.0.113.7", "at203.0.113.7and a203.0.113.7a", Some("at192.0.2.1and a192.0.2.1a")),
            ("203.0.113.7", "1203.0.113.7", None),
            ("2001:db8:7::9", "[2001:db8:7::9]:1", Some("[2001:db8::1]:1")),
            ("2001:db8:7::9", "2001%3Adb8%3A7%3A%3A9", Some("2001:db8::1")),
            ("2001:db8:7::9", "2001%3adb8%3a7%3a%3a9", Some("2001:db8::1")),
            ("2001:0DB8:7::9", "2001:db8:7::9", Some("2001:db8::1")),
            ("127.0.0.1", "127.0.0.1", None),
            ("::1", "::1", None),
            ("no address", "no address", None),
        ] {
            assert_eq!(address(given, text).as_deref(), expected, "{given} {text}");
        }
    }
}
