//! Lines of at most 64 KiB out of chunks of any size.

/// The longest line that is taken, without its end.
pub const MAX_LINE: usize = 64 * 1024;

/// What a chunk brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its end (`\n` or `\r\n`).
    Whole(&'a [u8]),
    /// A line that is too long, with its length; it is not kept.
    TooLong(usize),
}

/// Cuts one connection's bytes into lines; keeps at most one line's beginning.
#[derive(Debug, Default)]
pub struct LineCutter {
    begun: Vec<u8>,
    /// Bytes of the current line that were thrown away, since it is too long.
    skipped: usize,
}

impl LineCutter {
    /// Hands each line that ends in this chunk to `take`. Empty lines are left out.
    pub fn push(&mut self, chunk: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.begin(&rest[..end]);
            rest = &rest[end + 1..];
            self.end(&mut take);
        }
        self.begin(rest);
    }

    /// The connection has ended: its last line may lack the end.
    pub fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        self.end(&mut take);
    }

    fn begin(&mut self, part: &[u8]) {
        // One byte more than the longest line, for the `\r` of an `\r\n`.
        if self.skipped == 0 && self.begun.len() + part.len() <= MAX_LINE + 1 {
            self.begun.extend_from_slice(part);
        } else {
            self.skipped += self.begun.len() + part.len();
            self.begun.clear();
        }
    }

    fn end(&mut self, take: &mut impl FnMut(Line<'_>)) {
        let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
        if self.skipped > 0 {
            take(Line::TooLong(self.skipped));
        } else if line.len() > MAX_LINE {
            take(Line::TooLong(line.len()));
        } else if !line.is_empty() {
            take(Line::Whole(line));
        }
        self.begun.clear();
        self.skipped = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, usize>> {
        let mut cutter = LineCutter::default();
        let mut found = Vec::new();
        let mut take = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(bytes) => Ok(bytes.to_vec()),
                Line::TooLong(length) => Err(length),
            });
        };
        for chunk in chunks {
            cutter.push(chunk, &mut take);
        }
        cutter.finish(&mut take);
        found
    }

    #[test]
    fn a_line_of_64_kib_is_taken_and_one_byte_more_is_not() {
        let longest = vec![b'x'; MAX_LINE];
        let longer = vec![b'x'; MAX_LINE + 1];
        assert_eq!(
            cut(&[&longest, b"\n", &longer, b"\nshort"]),
            [Ok(longest.clone()), Err(MAX_LINE + 1), Ok(b"short".to_vec())]
        );
        assert_eq!(cut(&[&longest, b"\r\n"]), [Ok(longest)]);
    }

    #[test]
    fn a_line_without_end_costs_no_memory() {
        let mut cutter = LineCutter::default();
        for _ in 0..100 {
            cutter.push(&[b'x'; 8192], |_| panic!("no line has ended"));
        }
        assert!(cutter.begun.capacity() <= 2 * MAX_LINE + 2);
        let mut length = 0;
        cutter.push(b"\n", |line| {
            assert!(matches!(line, Line::TooLong(_)));
            if let Line::TooLong(n) = line {
                length = n;
            }
        });
        assert_eq!(length, 819_200);
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..400),
                                  cuts in proptest::collection::vec(1usize..50, 1..20)) {
            let mut chunks = Vec::new();
            let mut rest = &bytes[..];
            for size in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, more) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = more;
            }
            prop_assert_eq!(cut(&chunks), cut(&[&bytes]));
        }
    }
}
