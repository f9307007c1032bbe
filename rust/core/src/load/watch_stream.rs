//! What comes out of a WATCH: counted, and looked at no closer than its kind asks for.
//!
//! Frames are lines of JSON (`{"type":"ADDED","object":…}`) or Kubernetes' protobuf (four bytes of length, then a
//! `WatchEvent`: field 1 the type, field 2 the object). Sources: Kubernetes API concepts, "Efficient detection of
//! changes" and "Protobuf encoding"; KEP-3157 for the annotation of the bookmark that ends the initial events.

use super::frame_head::FrameHead;
use super::protobuf;

/// On the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &[u8] = b"k8s.io/initial-events-end";

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrame {
    /// ADDED, MODIFIED or DELETED.
    Event,
    /// BOOKMARK; whether it is the one that ends the initial events.
    Bookmark {
        /// It ends them.
        initial: bool,
    },
    /// ERROR; whether it says that the resourceVersion is too old (410).
    Error {
        /// It says so.
        gone: bool,
    },
}

/// Cuts a stream into frames, however it was cut into chunks.
#[derive(Debug)]
pub struct WatchDecoder {
    protobuf: bool,
    /// The beginning of the frame that is not whole.
    head: FrameHead,
    /// Protobuf: bytes of the frame still to come; `None` while its length is read into `head`.
    left: Option<usize>,
    /// The version of the last event or bookmark that had one.
    version: Vec<u8>,
}

impl WatchDecoder {
    /// Of a stream in one of the two encodings.
    pub fn new(protobuf: bool) -> Self {
        Self { protobuf, head: FrameHead::new(!protobuf), left: None, version: Vec::new() }
    }

    /// Takes a chunk and tells each frame that is now whole.
    pub fn feed(&mut self, chunk: &[u8], mut frame: impl FnMut(WatchFrame)) {
        if self.protobuf {
            self.feed_protobuf(chunk, &mut frame);
        } else {
            self.feed_lines(chunk, &mut frame);
        }
    }

    /// The resourceVersion of the last event or bookmark that had one: from it, a watch can go on.
    pub fn resource_version(&self) -> Option<String> {
        let version = String::from_utf8(self.version.clone()).ok()?;
        (!version.is_empty()).then_some(version)
    }

    /// Whether a frame has begun and is not whole.
    pub fn in_frame(&self) -> bool {
        !self.head.bytes().is_empty() || self.left.is_some()
    }

    fn whole(&mut self, frame: &mut impl FnMut(WatchFrame)) {
        let kind = if self.protobuf { protobuf_frame(self.head.bytes()) } else { json_frame(self.head.bytes()) };
        if let Some(kind) = kind {
            if !matches!(kind, WatchFrame::Error { .. }) {
                self.take_version();
            }
            frame(kind);
        }
        self.head.clear();
    }

    fn take_version(&mut self) {
        let version =
            if self.protobuf { protobuf_version(self.head.bytes()).map(str::as_bytes) } else { self.head.version() };
        if let Some(version) = version.filter(|version| !version.is_empty()) {
            self.version.clear();
            self.version.extend_from_slice(version);
        }
    }

    fn feed_lines(&mut self, mut chunk: &[u8], frame: &mut impl FnMut(WatchFrame)) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.head.keep(&chunk[..end]);
            self.whole(frame);
            chunk = &chunk[end + 1..];
        }
        self.head.keep(chunk);
    }

    fn feed_protobuf(&mut self, mut chunk: &[u8], frame: &mut impl FnMut(WatchFrame)) {
        while !chunk.is_empty() {
            let Some(left) = self.left else {
                let more = (4 - self.head.bytes().len()).min(chunk.len());
                self.head.keep(&chunk[..more]);
                chunk = &chunk[more..];
                if let Ok(length) = <[u8; 4]>::try_from(self.head.bytes()) {
                    self.head.clear();
                    self.left = Some(u32::from_be_bytes(length) as usize);
                }
                continue;
            };
            let more = left.min(chunk.len());
            self.head.keep(&chunk[..more]);
            chunk = &chunk[more..];
            self.left = Some(left - more);
            if left == more {
                self.left = None;
                self.whole(frame);
            }
        }
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// The value of the first `"key":"…"`, with spaces where they may be.
pub(super) fn json_string(text: &[u8], key: &str) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn json_frame(head: &[u8]) -> Option<WatchFrame> {
    // Nearly all: told without a closer look.
    if matches!(head.strip_prefix(b"{\"type\":\""), Some([b'A' | b'M' | b'D', ..])) {
        return Some(WatchFrame::Event);
    }
    if head.trim_ascii().is_empty() {
        return None;
    }
    // The type comes first in what API servers write; where it does not, it is looked for in the beginning.
    Some(match json_string(head, "type").as_deref() {
        Some("BOOKMARK") => WatchFrame::Bookmark { initial: contains(head, INITIAL_EVENTS_END) },
        Some("ERROR") => {
            let text = String::from_utf8_lossy(head);
            let code = text.split_once("\"code\"").map(|(_, rest)| rest.trim_start_matches([':', ' ']).to_owned());
            WatchFrame::Error { gone: code.is_some_and(|code| code.starts_with("410")) }
        }
        _ => WatchFrame::Event,
    })
}

fn protobuf_frame(head: &[u8]) -> Option<WatchFrame> {
    let length = usize::from(*head.get(1)?);
    let kind = if head[0] == 0x0a { head.get(2..2 + length)? } else { return Some(WatchFrame::Event) };
    Some(match kind {
        b"BOOKMARK" => WatchFrame::Bookmark { initial: contains(head, INITIAL_EVENTS_END) },
        b"ERROR" => WatchFrame::Error { gone: contains(head, b"Expired") || contains(head, b"Gone") },
        _ => WatchFrame::Event,
    })
}

/// The version of the object in a frame: `RawExtension` (1), the envelope, the object's metadata (1), its version (6).
fn protobuf_version(head: &[u8]) -> Option<&str> {
    let object = protobuf::enveloped(protobuf::field(protobuf::field(head, 2)?.bytes, 1)?.bytes)?;
    protobuf::text(protobuf::field(object, 1)?.bytes, 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(protobuf: bool, chunks: &[&[u8]]) -> Vec<WatchFrame> {
        let mut decoder = WatchDecoder::new(protobuf);
        let mut frames = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, |frame| frames.push(frame));
        }
        frames
    }

    const LINES: &str = concat!(
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}}\n",
        "{ \"type\": \"BOOKMARK\", \"object\":{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":",
        "{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
        "\n",
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}}\n",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}\n",
        "{\"type\":\"DELETED\"",
    );

    const EXPECTED: [WatchFrame; 5] = [
        WatchFrame::Event,
        WatchFrame::Bookmark { initial: true },
        WatchFrame::Bookmark { initial: false },
        WatchFrame::Error { gone: true },
        WatchFrame::Error { gone: false },
    ];

    #[test]
    fn frames_of_protobuf_are_told_by_their_type() {
        let mut stream = Vec::new();
        for (kind, object) in [("ADDED", ""), ("BOOKMARK", "k8s.io/initial-events-end"), ("ERROR", "Expired")] {
            let mut frame = vec![0x0a, u8::try_from(kind.len()).unwrap()];
            frame.extend(kind.bytes());
            frame.extend(object.bytes());
            stream.extend(u32::try_from(frame.len()).unwrap().to_be_bytes());
            stream.extend(frame);
        }
        let expected = [WatchFrame::Event, WatchFrame::Bookmark { initial: true }, WatchFrame::Error { gone: true }];
        assert_eq!(frames(true, &[&stream]), expected);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(frames(true, &bytes), expected);
    }

    #[test]
    fn a_watch_goes_on_from_the_last_version_that_it_saw() {
        let mut decoder = WatchDecoder::new(false);
        assert_eq!(decoder.resource_version(), None);
        decoder.feed(LINES.as_bytes(), |_| ());
        assert_eq!(decoder.resource_version().as_deref(), Some("12"));
        assert!(decoder.in_frame());
        decoder.feed(b"}\n{\"type\":\"ADDED\",\"object\":{}}\n", |_| ());
        assert_eq!(decoder.resource_version().as_deref(), Some("12"), "one without a version leaves the last");
    }

    #[test]
    fn the_version_of_an_object_in_protobuf_is_known() {
        use super::super::protobuf::tests::put;
        let object = put(1, &[put(1, b"a-name"), put(5, b"a-uid"), put(6, b"78")].concat());
        let envelope = [b"k8s\0", put(1, b"kind").as_slice(), &put(2, &object)].concat();
        let frame = [put(1, b"ADDED"), put(2, &put(1, &envelope))].concat();
        let mut decoder = WatchDecoder::new(true);
        decoder.feed(&u32::try_from(frame.len()).unwrap().to_be_bytes(), |_| ());
        decoder.feed(&frame, |_| ());
        assert_eq!(decoder.resource_version().as_deref(), Some("78"));
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(cuts in proptest::collection::vec(0..LINES.len(), 0..20)) {
            let mut cuts = cuts;
            cuts.extend([0, LINES.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &LINES.as_bytes()[cut[0]..cut[1]]).collect();
            prop_assert_eq!(frames(false, &chunks), EXPECTED);
        }

        #[test]
        fn any_bytes_are_survived(protobuf in any::<bool>(), chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..10)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            frames(protobuf, &chunks);
        }
    }
}
