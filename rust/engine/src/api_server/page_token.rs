//! Continue tokens: where the next page of a list starts, in which snapshot, and of which list.

use std::fmt::Write as _;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageToken {
    /// Version of the snapshot that the first page was made of.
    pub(crate) rv: u64,
    /// Pages before the next one.
    pub(crate) pages: u64,
    /// Objects in these pages.
    pub(crate) objects: u64,
    /// The list it belongs to.
    pub(crate) list: u64,
    /// Last key of the page before.
    pub(crate) after: String,
}

/// The list a token belongs to: path and selectors.
pub(crate) fn list_id(path: &str, label_selector: &str, field_selector: &str) -> u64 {
    perfq_core::partition::fnv1a64(format!("{path}\n{label_selector}\n{field_selector}").as_bytes())
}

impl PageToken {
    /// The token as clients carry it: opaque letters that need no escaping in a URL.
    pub(crate) fn encode(&self) -> String {
        let plain = format!("1 {} {} {} {} {}", self.rv, self.pages, self.objects, self.list, self.after);
        plain.bytes().fold(String::with_capacity(plain.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Reads a token; `None` for what this server never gave out.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return None;
        }
        let byte = |i: usize| u8::from_str_radix(text.get(i * 2..i * 2 + 2)?, 16).ok();
        let plain = String::from_utf8((0..text.len() / 2).map(byte).collect::<Option<Vec<u8>>>()?).ok()?;
        let mut parts = plain.splitn(6, ' ');
        if parts.next()? != "1" {
            return None;
        }
        Some(Self {
            rv: parts.next()?.parse().ok()?,
            pages: parts.next()?.parse().ok()?,
            objects: parts.next()?.parse().ok()?,
            list: parts.next()?.parse().ok()?,
            after: parts.next()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_token_reads_back_as_itself(rv: u64, pages: u64, objects: u64, list: u64, after in ".{0,40}") {
            let token = PageToken { rv, pages, objects, list, after };
            prop_assert_eq!(PageToken::decode(&token.encode()), Some(token));
        }

        #[test]
        fn no_text_breaks_the_reader(text in ".{0,60}", hex in "[0-9a-f]{0,60}") {
            let _ = PageToken::decode(&text);
            let _ = PageToken::decode(&hex);
        }
    }
}
