//! Lines of a log, and whether the file ends them.

use std::io::{self, BufRead};

/// What a buffer keeps after a long line.
const KEPT: usize = 1024 * 1024;

/// One line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogLine<'a> {
    /// Without its line feed; `ended` is false for a last line that has none.
    Line { bytes: &'a [u8], ended: bool },
    /// Longer than the limit; it was passed over.
    TooLong,
}

/// Gives line after line from one buffer.
pub(super) struct LogLines<R> {
    source: R,
    limit: usize,
    line: Vec<u8>,
}

impl<R: BufRead> LogLines<R> {
    pub(super) fn new(source: R, limit: usize) -> Self {
        Self { source, limit, line: Vec::new() }
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<LogLine<'_>>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let (mut too_long, mut any) = (false, false);
        let ended = loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                break false;
            }
            any = true;
            let feed = memchr::memchr(b'\n', chunk);
            let piece = &chunk[..feed.unwrap_or(chunk.len())];
            too_long |= self.line.len() + piece.len() > self.limit;
            if too_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(piece);
            }
            let read = piece.len() + usize::from(feed.is_some());
            self.source.consume(read);
            if feed.is_some() {
                break true;
            }
        };
        Ok(match (any, too_long) {
            (false, _) => None,
            (true, true) => Some(LogLine::TooLong),
            (true, false) => Some(LogLine::Line { bytes: &self.line, ended }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn a_long_line_is_passed_over_whole_and_a_last_line_without_an_end_is_told() {
        for buffer in 1..9 {
            let mut lines = LogLines::new(BufReader::with_capacity(buffer, &b"ab\n\nabcdefg\nabcd\nxy"[..]), 4);
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                found.push(match line {
                    LogLine::Line { bytes, ended } => format!("{} {ended}", String::from_utf8_lossy(bytes)),
                    LogLine::TooLong => "too long".to_owned(),
                });
            }
            assert_eq!(found, ["ab true", " true", "too long", "abcd true", "xy false"]);
        }
    }
}
