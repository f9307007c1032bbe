//! The body of an answer.

use super::head::Framing;
use super::{InUse, malformed};
use crate::load::exchange::{Fault, of_io_error};
use crate::load::outcome::{ConnectionFault, Outcome};
use std::future::poll_fn;

/// What is left to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// So many bytes, and then the end.
    Bytes(u64),
    /// All until the connection ends.
    Close,
    /// The size of a chunk.
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line's end behind a chunk.
    ChunkEnd,
    /// Lines behind the last chunk, until an empty one.
    Trailers,
    Nothing,
}

/// A body that is lent out in pieces, as they come. When it has been read to its end, its connection is free again.
pub(in crate::load) struct Body {
    using: Option<InUse>,
    left: Left,
    keeps_alive: bool,
    /// Bytes of the read buffer that are lent out.
    lent: usize,
}

/// What the bytes that are there are good for.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// So many of them are data.
    Data(usize),
    /// So many are none.
    Skip(usize),
    /// More have to come.
    Wait,
}

impl Left {
    /// What `bytes`, which may be too few, begin with.
    fn step(&mut self, bytes: &[u8]) -> Result<Step, &'static str> {
        let some = |left: u64| usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        match *self {
            Self::Nothing => Ok(Step::Wait),
            _ if bytes.is_empty() => Ok(Step::Wait),
            Self::Close => Ok(Step::Data(bytes.len())),
            Self::Bytes(left) => {
                let count = some(left);
                *self = if left == count as u64 { Self::Nothing } else { Self::Bytes(left - count as u64) };
                Ok(Step::Data(count))
            }
            Self::Chunk(left) => {
                let count = some(left);
                *self = if left == count as u64 { Self::ChunkEnd } else { Self::Chunk(left - count as u64) };
                Ok(Step::Data(count))
            }
            Self::Size => match httparse::parse_chunk_size(bytes) {
                Ok(httparse::Status::Complete((length, size))) => {
                    *self = if size == 0 { Self::Trailers } else { Self::Chunk(size) };
                    Ok(Step::Skip(length))
                }
                Ok(httparse::Status::Partial) => wait_for_line(bytes),
                Err(_) => Err("the size of a chunk is no number"),
            },
            Self::ChunkEnd => match bytes {
                [b'\r', b'\n', ..] => {
                    *self = Self::Size;
                    Ok(Step::Skip(2))
                }
                [b'\r'] => Ok(Step::Wait),
                _ => Err("a chunk is longer than it says"),
            },
            Self::Trailers => match memchr::memchr(b'\n', bytes) {
                Some(at) => {
                    if bytes[..at].trim_ascii().is_empty() {
                        *self = Self::Nothing;
                    }
                    Ok(Step::Skip(at + 1))
                }
                None => wait_for_line(bytes),
            },
        }
    }
}

fn wait_for_line(bytes: &[u8]) -> Result<Step, &'static str> {
    const LONGEST: usize = 16 * 1024;
    if bytes.len() < LONGEST { Ok(Step::Wait) } else { Err("a line between the chunks is too long") }
}

impl Body {
    pub(super) fn new(using: InUse, framing: Framing, keeps_alive: bool) -> Self {
        let left = match framing {
            Framing::Length(0) => Left::Nothing,
            Framing::Length(length) => Left::Bytes(length),
            Framing::Chunked => Left::Size,
            Framing::Close => Left::Close,
        };
        Self { using: Some(using), left, keeps_alive, lent: 0 }
    }

    /// The next piece; `None` at the end.
    pub(in crate::load) async fn chunk(&mut self) -> Result<Option<&[u8]>, Fault> {
        loop {
            let Some(line) = self.using.as_mut().and_then(|using| using.line.as_mut()) else { return Ok(None) };
            line.read.consume(std::mem::take(&mut self.lent));
            if self.left == Left::Nothing {
                break;
            }
            match self.left.step(line.read.bytes()).map_err(malformed)? {
                Step::Data(count) => {
                    self.lent = count;
                    break;
                }
                Step::Skip(count) => line.read.consume(count),
                Step::Wait => match poll_fn(|context| line.poll_read(context)).await {
                    Ok(0) if self.left == Left::Close => self.left = Left::Nothing,
                    Ok(0) => {
                        let text = "the server closed the connection within the answer".to_owned();
                        return Err(Fault::Failed(Outcome::Connection(ConnectionFault::UnexpectedEof), text));
                    }
                    Ok(_) => {}
                    Err(error) => return Err(of_io_error(&error, true)),
                },
            }
        }
        if self.lent == 0 {
            let using = self.using.take().filter(|_| self.keeps_alive);
            if let Some(using) = using {
                using.give_back();
            }
            return Ok(None);
        }
        let line = self.using.as_ref().and_then(|using| using.line.as_ref());
        Ok(line.map(|line| &line.read.bytes()[..self.lent]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All data of a body that comes in pieces of a size; what is left when it has been read.
    fn read(mut left: Left, text: &[u8], piece: usize) -> Result<(Vec<u8>, usize), &'static str> {
        let (mut data, mut from, mut to) = (Vec::new(), 0, 0);
        while left != Left::Nothing {
            match left.step(&text[from..to])? {
                Step::Data(count) => {
                    data.extend_from_slice(&text[from..from + count]);
                    from += count;
                }
                Step::Skip(count) => from += count,
                Step::Wait if to == text.len() => return Err("all was read"),
                Step::Wait => to = (to + piece).min(text.len()),
            }
        }
        Ok((data, text.len() - from))
    }

    #[test]
    fn chunks_are_put_together_however_they_come() {
        let text = b"4\r\nWiki\r\n6;a=b\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nx: y\r\n\r\nnext";
        for piece in 1..text.len() {
            assert_eq!(read(Left::Size, text, piece), Ok((b"Wikipedia in \r\n\r\nchunks.".to_vec(), 4)), "{piece}");
        }
    }

    #[test]
    fn a_length_is_read_to_its_end_and_no_further() {
        for piece in 1..8 {
            assert_eq!(read(Left::Bytes(5), b"12345", piece), Ok((b"12345".to_vec(), 0)));
        }
        assert_eq!(read(Left::Bytes(5), b"1234567", 7), Ok((b"12345".to_vec(), 2)));
        assert_eq!(read(Left::Bytes(5), b"1234", 4), Err("all was read"));
    }

    #[test]
    fn chunks_that_are_none_are_told_apart() {
        assert!(read(Left::Size, b"x\r\n", 1).unwrap_err().contains("no number"));
        assert!(read(Left::Size, b"2\r\nabc\r\n", 3).unwrap_err().contains("longer"));
        assert!(
            read(Left::Size, &[b"0\r\n", &b"x".repeat(20_000)[..]].concat(), 999).unwrap_err().contains("too long")
        );
        assert_eq!(read(Left::Size, b"4\r\nWi", 9), Err("all was read"));
    }
}
