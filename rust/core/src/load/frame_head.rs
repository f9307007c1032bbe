//! The beginning of a watch's frame: as much of it as tells its kind and its version.

use memchr::memmem;
use std::ops::Range;

/// Bytes of a frame that are looked at.
const HEAD: usize = 2_048;
/// Where its resourceVersion is not among them (that of a custom resource stands behind its managed fields), it is
/// looked for in so many.
const WIDE: usize = 256 * 1024;
/// What a version stands behind. Within a string, such as an annotation, its quotes would be escaped.
const VERSION: &[u8] = b"\"resourceVersion\"";

/// The beginning of a frame that comes in pieces.
#[derive(Debug)]
pub(super) struct FrameHead {
    bytes: Vec<u8>,
    /// Whether it is JSON, in which a version is looked for.
    json: bool,
    /// Where the version stands.
    found: Option<Range<usize>>,
    /// There is no version that begins before this.
    looked: usize,
}

impl FrameHead {
    pub(super) fn new(json: bool) -> Self {
        Self { bytes: Vec::new(), json, found: None, looked: 0 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        (self.found, self.looked) = (None, 0);
    }

    /// Takes a piece of the frame.
    pub(super) fn keep(&mut self, mut piece: &[u8]) {
        loop {
            let most = if self.json && self.found.is_none() { WIDE } else { HEAD };
            let next = (self.bytes.len() / HEAD + 1) * HEAD;
            let taken = next.min(most).saturating_sub(self.bytes.len()).min(piece.len());
            if taken == 0 {
                return;
            }
            self.bytes.extend_from_slice(&piece[..taken]);
            piece = &piece[taken..];
            if self.json && self.bytes.len().is_multiple_of(HEAD) {
                self.look();
            }
        }
    }

    /// The resourceVersion in a frame of JSON, the first in what is kept of it.
    pub(super) fn version(&mut self) -> Option<&[u8]> {
        self.look();
        self.bytes.get(self.found.clone()?)
    }

    fn look(&mut self) {
        while self.found.is_none() {
            let Some(at) = memmem::find(&self.bytes[self.looked..], VERSION) else {
                self.looked = self.looked.max((self.bytes.len() + 1).saturating_sub(VERSION.len()));
                return;
            };
            let key = self.looked + at;
            let from = key + VERSION.len();
            let Some(behind) = self.bytes[from..].iter().position(|byte| !matches!(byte, b' ' | b':')) else {
                self.looked = key;
                return;
            };
            let start = from + behind + 1;
            if self.bytes[start - 1] != b'"' {
                self.looked = from;
            } else if let Some(length) = memchr::memchr(b'"', &self.bytes[start..]) {
                self.found = Some(start..start + length);
            } else {
                // The rest of it has not come yet.
                self.looked = key;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version_of(frame: &str, mut cuts: Vec<usize>) -> Option<String> {
        cuts.extend([0, frame.len()]);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(frame.len())).collect();
        cuts.sort_unstable();
        let mut head = FrameHead::new(true);
        for cut in cuts.windows(2) {
            head.keep(&frame.as_bytes()[cut[0]..cut[1]]);
        }
        head.version().map(|version| String::from_utf8_lossy(version).into_owned())
    }

    /// An event whose version stands behind so many bytes of managed fields.
    fn custom(managed: usize, version: &str) -> String {
        let fields = "\"f:resourceVersion\":{},".repeat(managed / 23);
        let text = "\\\"resourceVersion\\\":\\\"1\\\"";
        format!(
            "{{\"type\":\"MODIFIED\",\"object\":{{\"metadata\":{{\"annotations\":{{\"last\":\"{text}\"}},\
             \"managedFields\":[{{{fields}\"a\":0}}],\"resourceVersion\":\"{version}\"}}}}}}"
        )
    }

    #[test]
    fn a_version_is_found_behind_managed_fields_as_far_as_is_looked() {
        for (managed, expected) in [(0, Some("4")), (HEAD, Some("4")), (200_000, Some("4")), (WIDE, None)] {
            assert_eq!(version_of(&custom(managed, "4"), vec![]).as_deref(), expected, "{managed}");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(cuts in proptest::collection::vec(0..9_000usize, 0..20), managed in 0..8_000usize) {
            let version = version_of(&custom(managed, "12345"), cuts);
            prop_assert_eq!(version.as_deref(), Some("12345"));
        }
    }
}
