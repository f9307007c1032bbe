//! terminal.cast: what the program wrote, as asciicast v2, written by a thread of its own.
//!
//! The reader never waits for the disk: beyond `MAX_PENDING` bytes under way, output is left out and
//! the recording says so; beyond `MAX_FILE` the recording ends, and says so too.

use super::utf8::incomplete;
use parking_lot::Mutex;
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MAX_PENDING: usize = 8 << 20;
const MAX_FILE: u64 = 256 << 20;
const FLUSH_EVERY: Duration = Duration::from_millis(250);

enum Message {
    Output(u64, Vec<u8>),
    Resize(u64, u16, u16),
    Omitted(u64, usize),
}

/// The recording under way.
pub(super) struct Cast {
    sender: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    pending: Arc<AtomicUsize>,
    omitted: usize,
    error: Arc<Mutex<Option<String>>>,
}

impl Cast {
    /// Creates (never overwrites) the file. `start` is the instant that the recording's times count from.
    pub(super) fn create(path: &Path, cols: u16, rows: u16, start: u64) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(64 * 1024, File::options().create_new(true).append(true).open(path)?);
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let header = json!({"version": 2, "width": cols, "height": rows, "timestamp": wall,
                            "env": {"TERM": "xterm-256color"}});
        writeln!(file, "{header}")?;
        file.flush()?;
        let (sender, receiver) = channel();
        let pending = Arc::new(AtomicUsize::new(0));
        let error = Arc::new(Mutex::new(None));
        let writer = Writer { file, start, written: 0, tail: Vec::new(), pending: Arc::clone(&pending) };
        let failed = Arc::clone(&error);
        let thread = std::thread::Builder::new().name("perfq-cast".into()).spawn(move || {
            if let Err(found) = writer.run(&receiver) {
                *failed.lock() = Some(found.to_string());
            }
        })?;
        Ok(Self { sender: Some(sender), thread: Some(thread), pending, omitted: 0, error })
    }

    /// Appends output that was read at the instant.
    pub(super) fn output(&mut self, t: u64, bytes: &[u8]) {
        if self.pending.load(Ordering::Relaxed) + bytes.len() > MAX_PENDING {
            self.omitted += bytes.len();
            return;
        }
        if self.omitted > 0 {
            let omitted = std::mem::take(&mut self.omitted);
            self.send(Message::Omitted(t, omitted));
        }
        self.pending.fetch_add(bytes.len(), Ordering::Relaxed);
        self.send(Message::Output(t, bytes.to_vec()));
    }

    /// Appends a change of size.
    pub(super) fn resize(&self, t: u64, cols: u16, rows: u16) {
        self.send(Message::Resize(t, cols, rows));
    }

    fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // The writer is gone after a write error, which is kept; what comes later is lost with it.
            let _ = sender.send(message);
        }
    }

    /// The write error that ended the recording.
    pub(super) fn error(&self) -> Option<String> {
        self.error.lock().clone()
    }

    /// Writes what has come and ends the thread.
    pub(super) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Cast {
    fn drop(&mut self) {
        self.close();
    }
}

struct Writer {
    file: BufWriter<File>,
    start: u64,
    written: u64,
    /// The first bytes of a character whose rest is still to come.
    tail: Vec<u8>,
    pending: Arc<AtomicUsize>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Message>) -> io::Result<()> {
        loop {
            match receiver.recv_timeout(FLUSH_EVERY) {
                Ok(message) => self.write(message)?,
                Err(RecvTimeoutError::Timeout) => self.file.flush()?,
                Err(RecvTimeoutError::Disconnected) => return self.file.flush(),
            }
        }
    }

    fn write(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Output(t, bytes) => {
                self.pending.fetch_sub(bytes.len(), Ordering::Relaxed);
                let text = self.decode(&bytes);
                if self.written < MAX_FILE {
                    self.event(t, "o", &text)?;
                    if self.written >= MAX_FILE {
                        self.event(t, "m", "the recording ends here: it reached its largest size")?;
                    }
                }
            }
            Message::Resize(t, cols, rows) => self.event(t, "r", &format!("{cols}x{rows}"))?,
            Message::Omitted(t, bytes) => {
                self.tail.clear();
                self.event(t, "m", &format!("{bytes} bytes of output are left out: the disk was slower"))?;
            }
        }
        Ok(())
    }

    fn event(&mut self, t: u64, code: &str, data: &str) -> io::Result<()> {
        let micros = t.saturating_sub(self.start) / 1000;
        let data = serde_json::to_string(data)?;
        let line = format!("[{}.{:06},\"{code}\",{data}]\n", micros / 1_000_000, micros % 1_000_000);
        self.written += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }

    /// UTF-8 across reads: a character cut by a read is written whole with the read that completes it.
    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.tail);
        all.extend_from_slice(bytes);
        let cut = incomplete(&all);
        self.tail = all.split_off(all.len() - cut);
        String::from_utf8_lossy(&all).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_its_header_its_times_and_whole_characters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("terminal.cast");
        let mut cast = Cast::create(&path, 80, 24, 1_000_000_000).unwrap();
        let euro = "€".as_bytes();
        cast.output(1_000_000_000, &euro[..1]);
        cast.output(2_500_001_000, &euro[1..]);
        cast.output(2_600_000_000, b"\xff\x1b[m");
        cast.resize(3_000_000_000, 100, 30);
        cast.close();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (&lines[0]["version"], &lines[0]["width"], &lines[0]["height"]),
            (&json!(2), &json!(80), &json!(24))
        );
        assert_eq!(lines[2], json!([1.500_001, "o", "€"]));
        assert_eq!(lines[3], json!([1.6, "o", "\u{fffd}\u{1b}[m"]));
        assert_eq!(lines[4], json!([2.0, "r", "100x30"]));
    }

    #[test]
    fn a_disk_that_is_full_ends_the_recording_and_nothing_else() {
        let mut file = BufWriter::with_capacity(16, File::options().append(true).open("/dev/full").unwrap());
        file.write_all(b"").unwrap();
        let writer = Writer { file, start: 0, written: 0, tail: Vec::new(), pending: Arc::new(AtomicUsize::new(9)) };
        let (sender, receiver) = channel();
        sender.send(Message::Output(0, b"more than sixteen bytes of it".to_vec())).unwrap();
        drop(sender);
        assert!(writer.run(&receiver).unwrap_err().to_string().contains("No space left"));
    }
}
