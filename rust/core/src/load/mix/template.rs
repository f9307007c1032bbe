//! Bodies that differ from request to request: text with `{seq}`, `{rand:N}`, `{name}` and `{namespace}` in it.

use crate::load::Body;
use crate::rng::Mt19937;

/// What random characters are drawn from: 32 of them, valid in names, labels and JSON.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The longest run of random characters; no API server takes an object that is larger.
pub const MAX_RANDOM: u32 = 3 << 20;

/// A body, taken apart. All other text, and braces of any other kind, stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
    /// The body itself where nothing in it changes.
    fixed: Option<Body>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Seq,
    Name,
    Namespace,
    Random(u32),
}

/// What stands in for the placeholders of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    pub(super) seq: u64,
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
}

impl Template {
    /// Takes a text apart; the error says what is wrong with a placeholder.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((part, length)) = placeholder(rest)? else {
                plain.push('{');
                rest = &rest[1..];
                continue;
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain).into()));
            }
            parts.push(part);
            rest = &rest[length..];
        }
        plain.push_str(rest);
        let fixed = parts.is_empty().then(|| Body::from(plain.as_bytes()));
        if !plain.is_empty() {
            parts.push(Part::Text(plain.into()));
        }
        Ok(Self { parts, fixed })
    }

    /// The body of one request; one without placeholders is shared by all.
    pub(super) fn render(&self, values: Values<'_>, rng: &mut Mt19937) -> Body {
        if let Some(body) = &self.fixed {
            return body.clone();
        }
        let mut out = Vec::with_capacity(256);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Seq => out.extend_from_slice(values.seq.to_string().as_bytes()),
                Part::Name => out.extend_from_slice(values.name.as_bytes()),
                Part::Namespace => out.extend_from_slice(values.namespace.as_bytes()),
                Part::Random(count) => push_random(&mut out, *count, rng),
            }
        }
        out.into()
    }
}

/// The placeholder that `text` begins with, and its length; `None` where it begins with none.
fn placeholder(text: &str) -> Result<Option<(Part, usize)>, String> {
    for (word, part) in [("{seq}", Part::Seq), ("{name}", Part::Name), ("{namespace}", Part::Namespace)] {
        if text.starts_with(word) {
            return Ok(Some((part, word.len())));
        }
    }
    let Some(count) = text.strip_prefix("{rand:") else { return Ok(None) };
    let digits = &count[..count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len())];
    match digits.parse::<u32>() {
        Ok(number) if number <= MAX_RANDOM && count[digits.len()..].starts_with('}') => {
            Ok(Some((Part::Random(number), "{rand:}".len() + digits.len())))
        }
        _ => {
            let seen: String = text.chars().take(24).collect();
            Err(format!("got {seen:?} in a body, expected {{rand:N}} with N from 0 to {MAX_RANDOM}"))
        }
    }
}

/// Six characters from the upper 30 bits of each draw.
fn push_random(out: &mut Vec<u8>, count: u32, rng: &mut Mt19937) {
    let mut left = count;
    while left > 0 {
        let draw = rng.next_u32();
        let now = left.min(6);
        out.extend((0..now).map(|k| ALPHABET[(draw >> (27 - 5 * k)) as usize & 31]));
        left -= now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rendered(text: &str, seed: u64) -> String {
        let values = Values { seq: 7, name: "cm-1", namespace: "default" };
        let body = Template::parse(text).unwrap().render(values, &mut Mt19937::new(seed));
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn placeholders_are_replaced_and_json_stays_as_it_is() {
        assert_eq!(
            rendered(r#"{"metadata":{"name":"{name}","namespace":"{namespace}"},"n":{seq},"e":{}}"#, 1),
            r#"{"metadata":{"name":"cm-1","namespace":"default"},"n":7,"e":{}}"#
        );
        assert_eq!(rendered("{Seq} {seq {{seq}}", 1), "{Seq} {seq {7}");
    }

    #[test]
    fn random_text_has_its_length_differs_by_seed_and_needs_no_escape() {
        for count in [0usize, 1, 5, 6, 7, 1_000] {
            let text = rendered(&format!("{{rand:{count}}}"), 3);
            assert_eq!(text.len(), count);
            assert!(text.bytes().all(|byte| ALPHABET.contains(&byte)));
        }
        assert_eq!(rendered("{rand:40}", 3), rendered("{rand:40}", 3));
        assert_ne!(rendered("{rand:40}", 3), rendered("{rand:40}", 4));
    }

    #[test]
    fn every_random_character_occurs_about_as_often_as_any_other() {
        let text = rendered("{rand:320000}", 5);
        for letter in ALPHABET {
            let seen = text.bytes().filter(|byte| byte == letter).count();
            assert!((9_000..11_000).contains(&seen), "{seen} of {letter}");
        }
    }

    #[test]
    fn a_broken_placeholder_is_named() {
        for text in ["{rand:}", "x{rand:ten}", "{rand:10", "{rand:99999999}", "{rand:-1}"] {
            assert!(Template::parse(text).unwrap_err().contains("{rand:N}"), "{text}");
        }
    }

    #[test]
    fn a_body_without_placeholders_is_held_once() {
        let template = Template::parse("{}").unwrap();
        let values = Values { seq: 1, name: "", namespace: "" };
        let rng = &mut Mt19937::new(1);
        assert!(Body::ptr_eq(&template.render(values, rng), &template.render(values, rng)));
    }

    proptest! {
        #[test]
        fn text_without_placeholders_is_sent_as_it_is(text in "[a-z{}: \"é]{0,40}") {
            prop_assume!(!text.contains("{rand:") && !text.contains("{seq}") && !text.contains("{name"));
            prop_assert_eq!(rendered(&text, 1), text);
        }
    }
}
