//! The characters of a stream, for a parser that takes them one by one.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::trace::reason;
use perfq_core::digest::Digest;

/// So many bytes may stand between two looks at the watch: the longest value that is held.
const LONGEST: u64 = 32 * 1024 * 1024;

/// What the reader of a document knows of its characters: why they ended, and what they were.
#[derive(Clone, Debug, Default)]
pub(super) struct CharacterWatch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    failed: AtomicBool,
    failure: Mutex<Option<String>>,
    since: AtomicU64,
    digest: Mutex<Digest>,
}

impl CharacterWatch {
    /// Why the characters ended early. To be asked whenever the parser has said anything.
    pub(super) fn failure(&self) -> Option<String> {
        self.0.since.store(0, Ordering::Relaxed);
        if !self.0.failed.load(Ordering::Relaxed) {
            return None;
        }
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// SHA-256 of all bytes so far, as hex.
    pub(super) fn digest(&self) -> String {
        self.0.digest.lock().unwrap_or_else(PoisonError::into_inner).clone().hex()
    }

    fn fail(&self, why: String) {
        *self.0.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        self.0.failed.store(true, Ordering::Relaxed);
    }
}

/// UTF-8 from a stream. Ends at an I/O error, at bytes that are no UTF-8, and where a value has no end; the
/// watch says which.
pub(super) struct Characters<R> {
    source: R,
    watch: CharacterWatch,
    /// Whole characters that were read and not yet given.
    text: String,
    at: usize,
    /// The beginning of a character that the next bytes end.
    rest: Vec<u8>,
    ended: bool,
    longest: u64,
}

impl<R: BufRead> Characters<R> {
    pub(super) fn new(source: R, watch: CharacterWatch) -> Self {
        Self::with_longest(source, watch, LONGEST)
    }

    fn with_longest(source: R, watch: CharacterWatch, longest: u64) -> Self {
        Self { source, watch, text: String::new(), at: 0, rest: Vec::new(), ended: false, longest }
    }

    fn fill(&mut self) {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() && !self.ended {
            if let Err(why) = self.read() {
                self.ended = true;
                self.watch.fail(why);
            }
        }
    }

    fn read(&mut self) -> Result<(), String> {
        let chunk = loop {
            match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| reason(&error))?,
            }
        };
        let length = chunk.len();
        self.ended = length == 0;
        self.watch.0.digest.lock().unwrap_or_else(PoisonError::into_inner).update(chunk);
        let since = self.watch.0.since.fetch_add(length as u64, Ordering::Relaxed);
        self.rest.extend_from_slice(chunk);
        self.source.consume(length);
        if since > self.longest {
            return Err(format!("more than {} bytes without an end of a value", self.longest));
        }
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && !self.ended => error.valid_up_to(),
            Err(_) => return Err("the file is not UTF-8".to_owned()),
        };
        self.text.push_str(std::str::from_utf8(&self.rest[..whole]).unwrap_or_default());
        self.rest.drain(..whole);
        Ok(())
    }
}

impl<R: BufRead> Iterator for Characters<R> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if self.at == self.text.len() {
            self.fill();
        }
        let next = self.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{BufReader, Cursor, Read};

    /// A stream in pieces of so many bytes.
    fn pieces(bytes: &[u8], size: usize) -> impl BufRead {
        BufReader::with_capacity(size, Cursor::new(bytes.to_vec()))
    }

    #[test]
    fn what_is_no_utf_8_and_what_has_no_end_is_said() {
        for bytes in [&b"ab\xff"[..], b"ab\xc3"] {
            let watch = CharacterWatch::default();
            assert_eq!(Characters::new(pieces(bytes, 1), watch.clone()).collect::<String>(), "ab");
            assert_eq!(watch.failure().as_deref(), Some("the file is not UTF-8"));
        }
        let watch = CharacterWatch::default();
        let endless = BufReader::new(io::repeat(b'x').take(1_000_000));
        assert!(Characters::with_longest(endless, watch.clone(), 50_000).count() < 100_000);
        assert_eq!(watch.failure().unwrap(), "more than 50000 bytes without an end of a value");
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(text in "\\PC{0,60}", size in 1usize..7) {
            let watch = CharacterWatch::default();
            let found: String = Characters::new(pieces(text.as_bytes(), size), watch.clone()).collect();
            prop_assert_eq!(watch.failure(), None);
            prop_assert_eq!(watch.digest(), perfq_core::digest::sha256_hex(text.as_bytes()));
            prop_assert_eq!(found, text);
        }
    }
}
