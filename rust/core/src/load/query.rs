//! Raw queries, read without being rewritten: `a=1&b=%20`, keys and values decoded as forms are.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// What stands in a value as it is: letters, digits, and what labels and Go's encoder leave alone.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let spaced = text.replace('+', " ");
    Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
}

/// The pairs in their order: key and value decoded, and the pair as it stands.
pub fn pairs(raw: Option<&str>) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>, &str)> {
    raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key), decode(value), pair)
    })
}

/// The first value of a key that is not empty.
pub fn value<'a>(raw: Option<&'a str>, key: &str) -> Option<Cow<'a, str>> {
    pairs(raw).find(|(found, value, _)| found == key && !value.is_empty()).map(|(_, value, _)| value)
}

/// Whether a boolean is set, as Kubernetes reads it: present, and neither `0` nor `false`.
pub fn flag(raw: Option<&str>, key: &str) -> bool {
    pairs(raw)
        .find(|(found, ..)| found == key)
        .is_some_and(|(_, value, _)| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// A value as it stands in a query or a path.
pub fn encoded(value: &str) -> String {
    utf8_percent_encode(value, ESCAPED).to_string()
}

/// The query with another value for a key, in the place of the first pair that has it.
pub fn replaced(raw: &str, key: &str, value: &str) -> String {
    let mut seen = false;
    let kept = pairs(Some(raw)).filter_map(|(found, _, pair)| match found == key {
        false => Some(pair.to_owned()),
        true if seen => None,
        true => {
            seen = true;
            Some(format!("{key}={}", encoded(value)))
        }
    });
    kept.collect::<Vec<_>>().join("&")
}

/// The query with one pair more.
pub fn with(raw: Option<&str>, key: &str, value: &str) -> String {
    let pair = format!("{key}={}", encoded(value));
    match raw {
        Some(raw) if !raw.is_empty() => format!("{raw}&{pair}"),
        _ => pair,
    }
}

/// The query without the pairs of a key; the others stay as they stand.
pub fn without(raw: &str, key: &str) -> String {
    let kept: Vec<&str> = pairs(Some(raw)).filter(|(found, ..)| found != key).map(|(_, _, pair)| pair).collect();
    kept.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_value_that_is_not_empty_counts() {
        assert_eq!(value(Some("a=&a=1%202&a=3"), "a").as_deref(), Some("1 2"));
        assert_eq!(value(Some("b=x+y"), "b").as_deref(), Some("x y"));
        assert_eq!(value(None, "b"), None);
    }

    #[test]
    fn a_boolean_is_read_as_kubernetes_reads_it() {
        for (query, expected) in [
            ("watch=true", true),
            ("watch=1", true),
            ("watch", true),
            ("watch=0", false),
            ("watch=False", false),
            ("w=1", false),
        ] {
            assert_eq!(flag(Some(query), "watch"), expected, "{query}");
        }
    }

    proptest! {
        #[test]
        fn a_value_that_is_added_is_read_again_and_can_be_taken_away(old in "[a-c]=[a-z%]{0,3}", new in "\\PC{1,9}") {
            let longer = with(Some(&old), "key", &new);
            prop_assert_eq!(value(Some(&longer), "key").unwrap(), new);
            prop_assert_eq!(without(&longer, "key"), old);
        }
    }
}
