//! samples.ndjson: one JSON object a line, appended by a thread of its own.
//!
//! Writers never wait for the disk: a line goes into a channel, and a thread writes what has come
//! and flushes it every 250 ms, so that a killed run loses less than a second. A write error (a full
//! disk) does not stop the run: the first one is kept, later lines are dropped and counted.

use crate::clock::now_ns;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const FLUSH_EVERY: Duration = Duration::from_millis(250);

enum Message {
    Line(Vec<u8>),
    Flush(Sender<()>),
    End,
}

/// What became of the lines so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecorderStatus {
    /// Lines handed to the file system.
    pub lines: u64,
    /// Bytes handed to the file system.
    pub bytes: u64,
    /// Lines lost to a write error.
    pub lost: u64,
    /// The first write error.
    pub error: Option<String>,
}

/// A handle to write lines with; cheap to clone, usable from any thread.
#[derive(Clone)]
pub struct RecordSink {
    sender: Sender<Message>,
}

impl RecordSink {
    /// Appends one record as a line of JSON. Never blocks.
    pub fn write(&self, record: &impl Serialize) {
        if let Ok(mut line) = serde_json::to_vec(record) {
            line.push(b'\n');
            self.write_line(line);
        }
    }

    /// Appends one finished line, which ends with `\n`. Never blocks.
    pub fn write_line(&self, line: Vec<u8>) {
        // The receiver is gone only after `close`; records that come later have no file to go to.
        let _ = self.sender.send(Message::Line(line));
    }
}

/// The file and its thread.
pub struct Recorder {
    sink: RecordSink,
    status: Arc<Mutex<RecorderStatus>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Creates (never overwrites) the file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().create_new(true).append(true).open(path)?;
        let (sender, receiver) = channel();
        let status = Arc::new(Mutex::new(RecorderStatus::default()));
        let shared = Arc::clone(&status);
        let thread =
            std::thread::Builder::new().name("perfq-record".into()).spawn(move || run(&receiver, file, &shared))?;
        Ok(Self { sink: RecordSink { sender }, status, thread: Some(thread) })
    }

    /// A handle for another writer.
    pub fn sink(&self) -> RecordSink {
        self.sink.clone()
    }

    /// Lines, bytes and the first error so far.
    pub fn status(&self) -> RecorderStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns once all that was written before stands in the file.
    pub fn flush(&self) {
        let (done, wait) = channel();
        if self.sink.sender.send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(Duration::from_secs(30));
        }
    }

    /// Writes what has come, ends the thread, and says what became of the lines.
    pub fn close(&mut self) -> RecorderStatus {
        if let Some(thread) = self.thread.take() {
            let _ = self.sink.sender.send(Message::End);
            let _ = thread.join();
        }
        self.status()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(receiver: &Receiver<Message>, mut file: File, status: &Mutex<RecorderStatus>) {
    let mut pending: Vec<u8> = Vec::with_capacity(64 * 1024);
    let mut lines = 0u64;
    let mut flushed_ns = now_ns();
    let mut flush = |pending: &mut Vec<u8>, lines: &mut u64| {
        if pending.is_empty() {
            return;
        }
        let mut status = status.lock().unwrap_or_else(PoisonError::into_inner);
        if status.error.is_none() {
            match file.write_all(pending) {
                Ok(()) => {
                    status.lines += *lines;
                    status.bytes += pending.len() as u64;
                }
                Err(error) => {
                    status.error = Some(error.to_string());
                    status.lost += *lines;
                }
            }
        } else {
            status.lost += *lines;
        }
        pending.clear();
        *lines = 0;
    };
    loop {
        let message = receiver.recv_timeout(FLUSH_EVERY);
        let due = now_ns().saturating_sub(flushed_ns) >= crate::clock::nanos(FLUSH_EVERY) || pending.len() >= 1 << 20;
        match message {
            Ok(Message::Line(line)) => {
                pending.extend_from_slice(&line);
                lines += 1;
                if !due {
                    continue;
                }
                flush(&mut pending, &mut lines);
            }
            Ok(Message::Flush(done)) => {
                flush(&mut pending, &mut lines);
                let _ = done.send(());
            }
            Err(RecvTimeoutError::Timeout) => flush(&mut pending, &mut lines),
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => {
                flush(&mut pending, &mut lines);
                return;
            }
        }
        flushed_ns = now_ns();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_from_many_threads_all_arrive_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples.ndjson");
        let mut recorder = Recorder::create(&path).unwrap();
        std::thread::scope(|scope| {
            for who in 0..4 {
                let sink = recorder.sink();
                scope.spawn(move || {
                    (0..500).for_each(|n| sink.write(&serde_json::json!({"k": "x", "who": who, "n": n})));
                });
            }
        });
        assert_eq!(recorder.close().lines, 2000);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count(), 2000);
    }

    #[test]
    fn a_full_disk_is_reported_and_stops_nothing() {
        let (sender, receiver) = channel();
        let status = Mutex::new(RecorderStatus::default());
        let full = File::options().append(true).open("/dev/full").unwrap();
        let sink = RecordSink { sender };
        sink.write(&1);
        sink.sender.send(Message::End).unwrap();
        run(&receiver, full, &status);
        let status = status.into_inner().unwrap();
        assert_eq!((status.lines, status.lost), (0, 1));
        assert!(status.error.unwrap().contains("No space left"));
    }

    #[test]
    fn an_existing_file_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples.ndjson");
        std::fs::write(&path, "kept").unwrap();
        assert!(Recorder::create(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
}
