//! Audit logs become a trace: `perfq load import`.
//!
//! All files are read once, and what may be kept of each event is sorted by when its request was received, on
//! disk where there is much of it; then requests are put together and written. What an event means is
//! [`perfq_core::load::audit`]'s.

mod cut_lines;
mod log_file;
mod log_lines;
mod outcome;
mod read;
mod sort;
#[cfg(test)]
mod tests;

pub use outcome::{Imported, ImportedFile, ImportedWindow, LossSeen};

use super::readers::reason;
use super::trace_file::TraceFile;
use log_file::in_order;
use outcome::no_request;
use perfq_core::load::audit::{Converter, Names, Pairing, WithoutBody, timestamp};
use perfq_core::load::{Request, RequestError};
use read::Log;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const MEMORY: usize = 64 * 1024 * 1024;

/// What is asked for beside the files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// What becomes of a write whose body is secret or not in the log.
    pub without_body: WithoutBody,
    /// Whether names of objects and namespaces are replaced by digests.
    pub hash_names: bool,
    /// Query keys that stay although Kubernetes does not know them.
    pub keep_query: Vec<String>,
    /// Only requests of these users; a name may end in `*`.
    pub only_users: Vec<String>,
    /// No requests of these users.
    pub skip_users: Vec<String>,
    /// T0, in RFC 3339; the beginning of the log where it is absent.
    pub since: Option<String>,
    /// The end, in RFC 3339; that of the log where it is absent.
    pub until: Option<String>,
    /// So many bytes of events are sorted in memory; more go to temporary files beside the trace.
    pub memory_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            without_body: WithoutBody::default(),
            hash_names: false,
            keep_query: Vec::new(),
            only_users: Vec::new(),
            skip_users: Vec::new(),
            since: None,
            until: None,
            memory_bytes: MEMORY,
        }
    }
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file of the log cannot be read.
    #[error("{}: {text}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// One clause.
        text: String,
    },
    /// The trace cannot be written.
    #[error("{}: {text}", path.display())]
    Output {
        /// The trace.
        path: PathBuf,
        /// One clause.
        text: String,
    },
    /// An option is none.
    #[error("{0}")]
    Option(String),
    /// The files hold nothing to replay.
    #[error("{0}")]
    NoRequest(String),
    /// The temporary files of the sorting failed.
    #[error("sorting needs temporary files in {}, and that failed: {text}", folder.display())]
    Sort {
        /// Where they are.
        folder: PathBuf,
        /// One clause.
        text: String,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What another thread sees of an import, and says to it.
#[derive(Debug, Default)]
pub struct Control {
    /// Once it is set the import ends soon, with [`ImportError::Interrupted`], and leaves nothing.
    pub stop: AtomicBool,
    /// Bytes of all files, as they are on disk; a pipe's are not known.
    pub bytes: AtomicU64,
    /// Of these, bytes that were read.
    pub bytes_read: AtomicU64,
    /// Requests that were written.
    pub requests: AtomicU64,
}

/// Reads the log, whose files may be given in any order, and writes the trace `out`, packed as its name says.
pub fn import(
    paths: &[PathBuf],
    out: &Path,
    options: &Options,
    control: &Arc<Control>,
) -> Result<Imported, ImportError> {
    let instant = |name: &str, text: &Option<String>| match text.as_deref() {
        None => Ok(None),
        Some(text) => timestamp::parse(text).map(Some).ok_or_else(|| {
            ImportError::Option(format!("{name} is {text:?}: an instant such as 2024-05-01T10:00:00Z was expected"))
        }),
    };
    let (since_ns, until_ns) = (instant("since", &options.since)?, instant("until", &options.until)?);
    if let (Some(since), Some(until)) = (since_ns, until_ns)
        && since >= until
    {
        return Err(ImportError::Option("until is not after since: the window would be empty".to_owned()));
    }
    if paths.is_empty() {
        return Err(ImportError::Option("no file was given".to_owned()));
    }
    let files = in_order(paths)?;
    control.bytes.store(files.iter().map(|file| file.bytes).sum(), Ordering::Relaxed);
    let refused = |error: RequestError| ImportError::Output { path: out.to_owned(), text: error.text };
    let mut trace = TraceFile::create(out).map_err(refused)?;

    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unsorted = |error: io::Error| ImportError::Sort { folder: folder.to_owned(), text: reason(&error) };
    let log = Log::read(&files, folder, options, control)?;
    let Some(window) = log.extent.window(since_ns, until_ns) else {
        return Err(ImportError::NoRequest(no_request(&log.imported(None, 0, 0, &log.losses))));
    };
    let names = options.hash_names.then(|| Names::new(log.secret()));
    let mut converter = Converter::new(window, options.without_body, names, log.losses.clone());
    let (mut pairing, mut ready, mut requests) = (Pairing::default(), Vec::new(), 0);
    let mut write = |ready: &mut Vec<Request>| {
        requests += ready.len() as u64;
        control.requests.store(requests, Ordering::Relaxed);
        ready.drain(..).try_for_each(|request| trace.request(&request)).map_err(refused)
    };
    let (log, sorted) = log.sorted().map_err(unsorted)?;
    for event in sorted {
        if control.stop.load(Ordering::Relaxed) {
            return Err(ImportError::Interrupted);
        }
        pairing.push(event.map_err(unsorted)?, &mut |paired| ready.extend(converter.take(paired)));
        write(&mut ready)?;
    }
    pairing.finish(&mut |paired| ready.extend(converter.take(paired)));
    write(&mut ready)?;

    let imported = log.imported(Some(window), requests, converter.stages(), converter.losses());
    if requests == 0 {
        return Err(ImportError::NoRequest(no_request(&imported)));
    }
    if control.stop.load(Ordering::Relaxed) {
        return Err(ImportError::Interrupted);
    }
    trace.finish(imported.source(options), imported.header_losses()).map_err(refused)?;
    Ok(imported)
}
