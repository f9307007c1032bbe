//! Lines of a stream, of bounded length.

use std::io::{self, BufRead, Read};

/// What a line's buffer keeps, lest one long line be held for the rest of the run.
const KEPT: usize = 1024 * 1024;

/// Gives line after line, without their line feeds, from one buffer.
pub struct Lines<R> {
    source: R,
    longest: usize,
    line: Vec<u8>,
    count: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of a stream. Of one that is longer than `longest`, `longest` + 1 bytes are given.
    pub fn new(source: R, longest: usize) -> Self {
        Self { source, longest, line: Vec::new(), count: 0 }
    }

    /// The next line; `None` at the end of the stream.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let most = self.longest as u64 + 1;
        let read = self.source.by_ref().take(most).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.count += 1;
        Ok(Some(self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }

    /// How many lines were given.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_without_its_end_is_one_and_a_long_one_is_cut() {
        let mut lines = Lines::new(&b"ab\n\nabcdef"[..], 4);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(line.to_vec());
        }
        assert_eq!(found, [&b"ab"[..], b"", b"abcde", b"f"]);
        assert_eq!(lines.count(), 4);
    }
}
