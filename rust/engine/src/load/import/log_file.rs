//! The files of a log: their names, their order, their digests.

use super::{Control, ImportError};
use crate::load::readers::{Unpacked, reason};
use perfq_core::digest::Digest;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// A file of the log. Its name is that of the file alone: a path may tell what nobody needs to know.
#[derive(Clone, Debug)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// Its length; 0 for a pipe.
    pub(super) bytes: u64,
}

/// The files in the order of their names, so that the order in which they were given means nothing.
pub(super) fn in_order(paths: &[PathBuf]) -> Result<Vec<LogFile>, ImportError> {
    let mut files = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for path in paths {
        let refused = |text: String| ImportError::Input { path: path.clone(), text };
        let metadata = std::fs::metadata(path).map_err(|error| refused(reason(&error)))?;
        if metadata.is_dir() {
            return Err(refused("it is a directory: give the files of a log".to_owned()));
        }
        // A pipe has no path but the one that was given.
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(refused("it was given twice".to_owned()));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push(LogFile { path: path.clone(), name, bytes: metadata.len() });
    }
    files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    Ok(files)
}

struct State {
    file: File,
    digest: Digest,
    bytes: u64,
}

/// A file that is digested as it is read.
#[derive(Clone)]
struct Digested {
    state: Arc<Mutex<State>>,
    control: Arc<Control>,
}

impl Read for Digested {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let read = state.file.read(buffer)?;
        state.digest.update(&buffer[..read]);
        state.bytes += read as u64;
        self.control.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What a file was, once it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// A digest of the same bytes that their SHA-256 does not tell: what names are hashed with.
    pub(super) secret: String,
}

/// An open file.
pub(super) struct OpenLog {
    digested: Digested,
}

impl OpenLog {
    /// Opens a file and gives its lines' stream, unpacked.
    pub(super) fn open(path: &Path, control: &Arc<Control>) -> io::Result<(Self, Unpacked)> {
        let state = State { file: File::open(path)?, digest: Digest::default(), bytes: 0 };
        let digested = Digested { state: Arc::new(Mutex::new(state)), control: control.clone() };
        let unpacked = Unpacked::of(digested.clone())?;
        Ok((Self { digested }, unpacked))
    }

    /// Reads what the unpacking left.
    pub(super) fn seen(mut self) -> io::Result<Seen> {
        io::copy(&mut self.digested, &mut io::sink())?;
        let state = self.digested.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut secret = state.digest.clone();
        secret.update(b"\0perfq names");
        Ok(Seen { bytes: state.bytes, sha256: state.digest.clone().hex(), secret: secret.hex() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_in_the_order_of_their_names_and_none_twice() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.log", "a.log"] {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        let names =
            |paths: &[PathBuf]| -> Vec<String> { in_order(paths).unwrap().into_iter().map(|file| file.name).collect() };
        assert_eq!(names(&[path("b.log"), path("a.log")]), ["a.log", "b.log"]);
        let why = |paths: &[PathBuf]| in_order(paths).unwrap_err().to_string();
        assert!(why(&[path("a.log"), path("./a.log")]).ends_with("/./a.log: it was given twice"));
        assert!(why(&[folder.path().to_owned()]).ends_with("it is a directory: give the files of a log"));
        assert!(why(&[path("none")]).ends_with("none: No such file or directory"));
    }

    #[test]
    fn a_file_is_digested_whole_even_where_its_reader_stops() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::fs::write(&path, vec![7; 300_000]).unwrap();
        let (log, mut unpacked) = OpenLog::open(&path, &Arc::default()).unwrap();
        unpacked.read_exact(&mut [0; 10]).unwrap();
        let seen = log.seen().unwrap();
        assert_eq!((seen.bytes, seen.sha256), (300_000, perfq_core::digest::sha256_hex(&vec![7; 300_000])));
    }
}
