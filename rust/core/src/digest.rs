//! SHA-256, as bytes or as lower-case hex, fed in pieces.

use sha2::{Digest as _, Sha256};

/// A running SHA-256.
#[derive(Clone, Debug, Default)]
pub struct Digest(Sha256);

impl Digest {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    pub fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// The digest of all bytes so far, as 64 lower-case hex digits.
    pub fn hex(self) -> String {
        hex(&self.bytes())
    }
}

/// 64 lower-case hex digits.
pub fn hex(digest: &[u8; 32]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(64);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The digest that 64 lower-case hex digits name.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(digest)
}

/// The SHA-256 of one piece.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = Digest::default();
    digest.update(bytes);
    digest.bytes()
}

/// The hex SHA-256 of one piece.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_digest_in_capitals_or_of_another_length_is_none() {
        let text = sha256_hex(b"a");
        assert_eq!(from_hex(&text), Some(sha256(b"a")));
        assert_eq!(from_hex(&text.to_uppercase()), None);
        assert_eq!(from_hex(&text[1..]), None);
    }

    proptest! {
        #[test]
        fn hex_is_read_again(digest in any::<[u8; 32]>()) {
            prop_assert_eq!(from_hex(&hex(&digest)), Some(digest));
        }
    }
}
