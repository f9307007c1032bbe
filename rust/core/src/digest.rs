//! SHA-256 as lower-case hex, fed in pieces.

use sha2::{Digest as _, Sha256};

/// A running SHA-256.
#[derive(Clone, Default)]
pub struct Digest(Sha256);

impl Digest {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far, as 64 lower-case hex digits.
    pub fn hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

/// The hex SHA-256 of one piece.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut digest = Digest::default();
    digest.update(bytes);
    digest.hex()
}
