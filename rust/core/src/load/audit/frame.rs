//! What a container's runtime writes around each line of a log: taken off, and pieces put together.
//!
//! CRI (containerd, CRI-O): `TIME STREAM P|F TEXT`, where P says that the line goes on in the next one of its
//! stream. Docker's json-file: `{"log":"TEXT\n","stream":"…","time":"…"}`, where a text without a line feed
//! goes on.

use serde::Deserialize;
use std::borrow::Cow;

/// What a line of a file comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Unframed<'a> {
    /// A whole line of the log.
    Line(Cow<'a, [u8]>),
    /// A piece; its line goes on.
    Piece,
    /// The end of a line that is longer than the limit.
    TooLong,
}

#[derive(Deserialize)]
struct Docker<'a> {
    log: String,
    #[serde(borrow, default)]
    stream: Cow<'a, str>,
}

#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    too_long: bool,
}

/// Takes the frames off the lines of one file.
#[derive(Debug)]
pub struct Unframer {
    limit: usize,
    out: Pending,
    err: Pending,
}

impl Unframer {
    /// Lines of more than `limit` bytes are not kept.
    pub fn new(limit: usize) -> Self {
        Self { limit, out: Pending::default(), err: Pending::default() }
    }

    /// Takes the next line, without its line feed.
    pub fn push<'a>(&mut self, line: &'a [u8]) -> Unframed<'a> {
        if line.starts_with(b"{\"log\":")
            && let Ok(docker) = serde_json::from_slice::<Docker<'_>>(line)
        {
            let ends = docker.log.ends_with('\n');
            let mut text = docker.log.into_bytes();
            text.truncate(text.len() - usize::from(ends));
            return self.piece(&docker.stream, Cow::Owned(text), ends);
        }
        match cri(line) {
            Some((stream, ends, text)) => self.piece(stream, Cow::Borrowed(text), ends),
            None => Unframed::Line(Cow::Borrowed(line)),
        }
    }

    /// What is left of the lines that the file does not end, of each stream its own: whole lines as far as
    /// they go, or [`Unframed::TooLong`].
    pub fn finish(self) -> impl Iterator<Item = Unframed<'static>> {
        [self.out, self.err].into_iter().filter_map(|pending| match pending {
            Pending { too_long: true, .. } => Some(Unframed::TooLong),
            Pending { bytes, .. } if bytes.is_empty() => None,
            Pending { bytes, .. } => Some(Unframed::Line(Cow::Owned(bytes))),
        })
    }

    fn piece<'a>(&mut self, stream: &str, text: Cow<'a, [u8]>, ends: bool) -> Unframed<'a> {
        let limit = self.limit;
        let pending = if stream == "stderr" { &mut self.err } else { &mut self.out };
        if ends && pending.bytes.is_empty() && !pending.too_long {
            return if text.len() > limit { Unframed::TooLong } else { Unframed::Line(text) };
        }
        if pending.too_long || pending.bytes.len() + text.len() > limit {
            pending.too_long = true;
            pending.bytes = Vec::new();
        } else {
            pending.bytes.extend_from_slice(&text);
        }
        if !ends {
            return Unframed::Piece;
        }
        let whole = std::mem::take(pending);
        if whole.too_long { Unframed::TooLong } else { Unframed::Line(Cow::Owned(whole.bytes)) }
    }
}

/// Stream, whether the line ends here, and the text.
fn cri(line: &[u8]) -> Option<(&'static str, bool, &[u8])> {
    let (time, rest) = split(line)?;
    super::timestamp::parse(std::str::from_utf8(time).ok()?)?;
    let (stream, rest) = split(rest)?;
    let stream = match stream {
        b"stdout" => "stdout",
        b"stderr" => "stderr",
        _ => return None,
    };
    // The first tag is P or F; more may follow it after colons.
    let (tags, text) = split(rest).unwrap_or((rest, b""));
    let ends = match tags.split(|byte| *byte == b':').next()? {
        b"F" => true,
        b"P" => false,
        _ => return None,
    };
    Some((stream, ends, text))
}

/// What stands before and after the first space. A time has at most 64 bytes, a tag too.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().take(64).position(|byte| *byte == b' ')?;
    Some((&line[..at], &line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIME: &str = "2024-05-01T10:00:00.123456789+02:00";

    fn lines(file: &[String], limit: usize) -> (Vec<String>, usize, Vec<String>) {
        let mut unframer = Unframer::new(limit);
        let (mut found, mut too_long) = (Vec::new(), 0);
        for line in file {
            match unframer.push(line.as_bytes()) {
                Unframed::Line(line) => found.push(String::from_utf8(line.into_owned()).unwrap()),
                Unframed::TooLong => too_long += 1,
                Unframed::Piece => {}
            }
        }
        let left = unframer.finish().map(|left| match left {
            Unframed::Line(line) => String::from_utf8(line.into_owned()).unwrap(),
            _ => "too long".to_owned(),
        });
        (found, too_long, left.collect())
    }

    #[test]
    fn bare_lines_stay_as_they_are() {
        for line in [r#"{"kind":"Event"}"#, r#"{"log":1}"#, "I0501 10:00:00 main.go] x", "", "2024-05-01 stdout F x"] {
            assert_eq!(lines(&[line.to_owned()], 99).0, [line]);
        }
    }

    #[test]
    fn pieces_of_two_streams_are_put_together_each_for_itself() {
        let file = [
            format!("{TIME} stdout P ab"),
            format!("{TIME} stderr F I0501"),
            format!("{TIME} stdout P:x cd"),
            format!("{TIME} stderr P open"),
            format!("{TIME} stdout F e f"),
            format!("{TIME} stdout F"),
        ];
        let expected = vec!["I0501".to_owned(), "abcde f".to_owned(), String::new()];
        assert_eq!(lines(&file, 99), (expected, 0, vec!["open".to_owned()]));
    }

    #[test]
    fn docker_json_is_unescaped_and_put_together() {
        let file = [
            r#"{"log":"{\"kind\":\"Ev","stream":"stdout","time":"2024-05-01T10:00:00Z"}"#.to_owned(),
            r#"{"log":"ent\"}\n","stream":"stdout","attrs":{"a":"b"},"time":"2024-05-01T10:00:00Z"}"#.to_owned(),
        ];
        assert_eq!(lines(&file, 99), (vec![r#"{"kind":"Event"}"#.to_owned()], 0, vec![]));
    }

    #[test]
    fn a_line_over_the_limit_is_one_loss_and_the_next_is_read() {
        let file = [
            format!("{TIME} stdout P 123"),
            format!("{TIME} stdout P 456"),
            format!("{TIME} stdout P 7"),
            format!("{TIME} stdout F 8"),
            format!("{TIME} stdout F 9"),
            format!("{TIME} stdout F 123456"),
        ];
        assert_eq!(lines(&file, 5), (vec!["9".to_owned()], 2, vec![]));
    }

    #[test]
    fn what_a_file_does_not_end_is_left_of_each_stream() {
        let file = [format!("{TIME} stdout P ab"), format!("{TIME} stderr P 123"), format!("{TIME} stdout P cd")];
        assert_eq!(lines(&file, 9).2, ["abcd", "123"]);
        assert_eq!(lines(&file, 3).2, ["too long", "123"]);
    }

    proptest! {
        #[test]
        fn however_a_runtime_cuts_a_line_it_comes_back(text in "[ -~]{1,60}", cuts in prop::collection::vec(1_usize..9, 0..9)) {
            let text = text.trim_end();
            let (mut cri, mut docker, mut rest) = (Vec::new(), Vec::new(), text);
            for cut in cuts.into_iter().chain([99]) {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                rest = after;
                cri.push(format!("{TIME} stdout {} {piece}", if rest.is_empty() { "F" } else { "P" }));
                let log = if rest.is_empty() { format!("{piece}\n") } else { piece.to_owned() };
                docker.push(serde_json::json!({"log": log, "stream": "stdout"}).to_string());
                if rest.is_empty() { break }
            }
            prop_assert_eq!(lines(&cri, 99).0, [text]);
            prop_assert_eq!(lines(&docker, 99).0.concat(), text);
        }
    }
}
