//! Plain, gzip and zstd files as one stream of bytes, told by their first bytes and not by their names.

use super::zstd_frames::ZstdFrames;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BUFFER: usize = 64 * 1024;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// RFC 1952, one member or several.
    Gzip,
    /// RFC 8878, one frame or several.
    Zstd,
}

impl Packing {
    /// As errors name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// A file, unpacked as it is read. A file that was cut off is an error of the kind `UnexpectedEof`, one that
/// was damaged of `InvalidData`; their text is a clause for people.
pub struct Unpacked {
    packing: Packing,
    inner: Box<dyn BufRead + Send>,
}

impl Unpacked {
    /// Opens a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        Self::of(file)
    }

    /// Unpacks any stream.
    pub fn of(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let mut head = Vec::with_capacity(ZSTD.len());
        stream.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
        let packing = if head.starts_with(GZIP) {
            Packing::Gzip
        } else if head == ZSTD {
            Packing::Zstd
        } else {
            Packing::Plain
        };
        let whole = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(stream));
        let inner: Box<dyn BufRead + Send> = match packing {
            Packing::Plain => Box::new(whole),
            Packing::Gzip => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))),
            Packing::Zstd => Box::new(BufReader::with_capacity(BUFFER, ZstdFrames::new(whole))),
        };
        Ok(Self { packing, inner })
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    fn explained(&self, error: io::Error) -> io::Error {
        let name = self.packing.name();
        match (self.packing, error.kind()) {
            (Packing::Plain, _) => error,
            (_, io::ErrorKind::UnexpectedEof) => io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the {name} data ends in the middle: the file was cut off"),
            ),
            (_, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                io::Error::new(io::ErrorKind::InvalidData, format!("the {name} data is damaged: {error}"))
            }
            _ => error,
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| self.explained(error))
    }
}

impl BufRead for Unpacked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Twice, since the borrow of a filled buffer cannot end in the error's arm; the second finds it filled.
        if let Err(error) = self.inner.fill_buf() {
            return Err(self.explained(error));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn unpacked(packed: Vec<u8>) -> io::Result<(Packing, Vec<u8>)> {
        let mut stream = Unpacked::of(Cursor::new(packed))?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        Ok((stream.packing(), bytes))
    }

    #[test]
    fn several_members_or_frames_are_one_stream() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"???"].concat();
        assert_eq!(unpacked([gzip(b"one "), gzip(b"two")].concat()).unwrap(), (Packing::Gzip, b"one two".to_vec()));
        let frames = [zstd(b"one "), skippable, zstd(b""), zstd(b"two")].concat();
        assert_eq!(unpacked(frames).unwrap(), (Packing::Zstd, b"one two".to_vec()));
        assert_eq!(unpacked(Vec::new()).unwrap(), (Packing::Plain, Vec::new()));
    }

    #[test]
    fn a_damaged_file_is_told_from_a_cut_off_one() {
        let text: Vec<u8> = (0..50_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        for (packed, name) in [(gzip(&text), "gzip"), (zstd(&text), "zstd")] {
            let mut damaged = packed.clone();
            let last = damaged.len() - 2;
            damaged[last] ^= 0x10;
            let error = unpacked(damaged).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{name}");
            assert!(error.to_string().starts_with(&format!("the {name} data is damaged: ")), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_was_packed_is_read_again_and_cut_off_it_is_an_error(text in "[a-f \n]{0,5000}", at in 0.0f64..1.0) {
            for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the file
                let cut = packed[..4 + ((packed.len() - 4) as f64 * at) as usize].to_vec();
                prop_assert_eq!(unpacked(packed).unwrap().1, text.as_bytes());
                let error = unpacked(cut).unwrap_err();
                prop_assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
                prop_assert!(error.to_string().ends_with("the file was cut off"), "{}", error);
            }
        }

        #[test]
        fn no_bytes_crash_it(packed in proptest::collection::vec(any::<u8>(), 0..200), kind in 0usize..3) {
            let head: [&[u8]; 3] = [b"", &[0x1f, 0x8b, 8, 0], ZSTD];
            let _ = unpacked([head[kind], &packed].concat());
        }
    }
}
