//! The listener for clients that report from inside: JSON lines on a Unix stream socket
//! (docs/reference/probe.md).
//!
//! One thread reads all connections as fast as they write, so that no client waits for perfq. Each
//! line is stamped when its end has been read, and recorded as it came. A client that sends more
//! than a disk takes (see [`flood::Allowance`]) has lines counted instead of recorded.

mod flood;
pub mod fold;
pub mod lines;
mod taker;
mod thread;

use crate::recorder::RecordSink;
use fold::ProbeProgress;
use serde::Deserialize;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Where to listen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeOptions {
    /// The socket, made by this listener and removed at its end. The kernel allows 107 bytes.
    pub path: PathBuf,
}

/// A listening socket and its thread; both end with it.
pub struct ProbeListener {
    path: PathBuf,
    progress: Arc<Mutex<ProbeProgress>>,
    /// Closing it wakes the thread up and ends it.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl ProbeListener {
    /// Makes the socket (mode 0600) and listens. `AddrInUse` where the path exists, `InvalidInput`
    /// where it is too long.
    pub fn start(options: ProbeOptions, recorder: Option<RecordSink>) -> io::Result<Self> {
        let listener = UnixListener::bind(&options.path)?;
        let made = (|| {
            rustix::fs::chmod(&options.path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)?;
            listener.set_nonblocking(true)?;
            let (stop, wake) = UnixStream::pair()?;
            let progress = Arc::new(Mutex::new(ProbeProgress::default()));
            let reader = thread::Reader::new(listener, wake, recorder, Arc::clone(&progress));
            let thread = std::thread::Builder::new().name("perfq-probe".into()).spawn(move || reader.run())?;
            Ok((stop, progress, thread))
        })();
        match made {
            Ok((stop, progress, thread)) => {
                Ok(Self { path: options.path, progress, stop: Some(stop), thread: Some(thread) })
            }
            Err(error) => {
                let _ = std::fs::remove_file(&options.path);
                Err(error)
            }
        }
    }

    /// What the client has said so far.
    pub fn progress(&self) -> ProbeProgress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads what has been sent, ends the thread, removes the socket, and says what was received.
    pub fn stop(&mut self) -> ProbeProgress {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
            let _ = std::fs::remove_file(&self.path);
        }
        self.progress()
    }
}

impl Drop for ProbeListener {
    fn drop(&mut self) {
        self.stop();
    }
}
