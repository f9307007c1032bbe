//! A trace's file, written as its requests come; its header, which sums them up, is put before them at the end.

use flate2::Compression;
use flate2::write::GzEncoder;
use perfq_core::load::trace::{Header, Loss, Writer};
use perfq_core::load::{Request, RequestError};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

use super::readers::{Packing, reason};

/// So much is packed at a time: each piece is a frame or a member of its own.
const PIECE: usize = 4 * 1024 * 1024;

/// Writes a `perfq.trace/v1`, packed as the ending of its name says: `.gz`, `.zst`, else plain.
///
/// Until [`TraceFile::finish`] the lines are in a temporary file in the same folder, and nothing has the name.
pub struct TraceFile {
    path: PathBuf,
    packing: Packing,
    lines: File,
    piece: Vec<u8>,
    writer: Writer,
}

pub(super) fn packing(path: &Path) -> Packing {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => Packing::Gzip,
        Some("zst") => Packing::Zstd,
        _ => Packing::Plain,
    }
}

fn failed(error: &io::Error) -> RequestError {
    RequestError { line: None, text: reason(error) }
}

impl TraceFile {
    /// Begins a file that must not exist yet.
    pub fn create(path: &Path) -> Result<Self, RequestError> {
        if path.try_exists().map_err(|error| failed(&error))? {
            return Err(exists());
        }
        Ok(Self {
            path: path.to_owned(),
            packing: packing(path),
            lines: tempfile::tempfile_in(folder(path)).map_err(|error| failed(&error))?,
            piece: Vec::new(),
            writer: Writer::default(),
        })
    }

    /// Writes one request; requests come in order.
    pub fn request(&mut self, request: &Request) -> Result<(), RequestError> {
        self.writer.request(request, &mut self.piece)?;
        if self.piece.len() >= PIECE { self.flush().map_err(|error| failed(&error)) } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lines.write_all(&packed(self.packing, &self.piece)?)?;
        self.piece.clear();
        Ok(())
    }

    /// Puts the header before the lines and gives the file its name.
    pub fn finish(mut self, source: Map<String, Value>, losses: Vec<Loss>) -> Result<Header, RequestError> {
        let header = self.writer.header(source, losses);
        self.place(&header)?;
        Ok(header)
    }

    fn place(&mut self, header: &Header) -> Result<(), RequestError> {
        let whole = self.whole(header).map_err(|error| failed(&error))?;
        whole.persist_noclobber(&self.path).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => exists(),
            _ => failed(&error.error),
        })?;
        Ok(())
    }

    /// The whole trace under another name, which goes with it where it is not given its own.
    fn whole(&mut self, header: &Header) -> io::Result<NamedTempFile> {
        self.flush()?;
        self.lines.rewind()?;
        let mut builder = tempfile::Builder::new();
        // As any new file; a temporary one would be its owner's alone.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.prefix(".").suffix(".part").tempfile_in(folder(&self.path))?;
        file.write_all(&packed(self.packing, &header.line())?)?;
        io::copy(&mut self.lines, file.as_file_mut())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exists() -> RequestError {
    RequestError { line: None, text: "the file exists already; remove it or name another".to_owned() }
}

pub(super) fn packed(packing: Packing, bytes: &[u8]) -> io::Result<Vec<u8>> {
    Ok(match packing {
        Packing::Plain => bytes.to_vec(),
        Packing::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes)?;
            encoder.finish()?
        }
        Packing::Zstd => compress_to_vec(bytes, CompressionLevel::Fastest),
    })
}

#[cfg(test)]
mod tests {
    use super::super::readers::TraceRequests;
    use super::*;
    use perfq_core::load::trace::Options;
    use perfq_core::load::{Body, Verb};

    fn request(i: u64) -> Request {
        let mut request = Request::new(Verb::Update, format!("/api/v1/nodes/n-{i}"));
        request.due_us = Some(i * 10);
        request.body = Some(Body::from(format!("{{\"n\":{},\"pad\":\"{}\"}}", i % 7, "x".repeat(200)).into_bytes()));
        request
    }

    #[test]
    fn a_trace_is_written_and_read_again_however_it_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let mut sizes = Vec::new();
        for name in ["a.trace", "a.trace.gz", "a.trace.zst"] {
            let path = folder.path().join(name);
            let mut file = TraceFile::create(&path).unwrap();
            for i in 0..30_000 {
                file.request(&request(i)).unwrap();
            }
            assert!(!path.exists());
            let loss = Loss { loss: "none".into(), count: 0, text: "Nothing.".into(), ..Loss::default() };
            let header = file.finish(Map::new(), vec![loss]).unwrap();
            let found = TraceRequests::open(&path, Options { digest: true, ..Options::default() }).unwrap();
            assert_eq!(*found.header(), header);
            let bodies = found.map(|found| found.unwrap()).enumerate().map(|(i, found)| {
                let expected = request(i as u64);
                assert_eq!((&found.path, found.due_us, &found.body), (&expected.path, expected.due_us, &expected.body));
            });
            assert_eq!(bodies.count(), 30_000);
            sizes.push(std::fs::metadata(&path).unwrap().len());
        }
        assert!(sizes[1] * 4 < sizes[0] && sizes[2] * 4 < sizes[0], "{sizes:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_file_that_exists_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trace");
        let file = TraceFile::create(&path).unwrap();
        std::fs::write(&path, b"mine").unwrap();
        assert_eq!(TraceFile::create(&path).err().unwrap(), exists());
        assert_eq!(file.finish(Map::new(), Vec::new()).unwrap_err(), exists());
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_trace_may_be_read_by_all_who_may_read_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.trace"), folder.path().join("other"));
        TraceFile::create(&path).unwrap().finish(Map::new(), Vec::new()).unwrap();
        std::fs::write(&other, b"").unwrap();
        let permissions = |path: &Path| std::fs::metadata(path).unwrap().permissions();
        assert_eq!(permissions(&path), permissions(&other));
    }
}
