//! The listener's thread: one poll over all connections.

use super::fold::ProbeProgress;
use super::lines::LineCutter;
use super::taker::Taker;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

/// Connections at once; one more waits in the socket's queue until another has ended.
const MAX_CONNECTIONS: usize = 64;
const CHUNK: usize = 64 * 1024;
/// What is read of a client that goes on sending while the listener ends.
const LAST_BYTES: usize = 64 * 1024 * 1024;

struct Connection {
    stream: UnixStream,
    lines: LineCutter,
}

pub(super) struct Reader {
    listener: UnixListener,
    wake: UnixStream,
    connections: Vec<Connection>,
    taker: Taker,
    buffer: Vec<u8>,
}

/// What became of one read.
enum Outcome {
    Bytes(usize),
    NothingYet,
    Ended,
}

impl Reader {
    pub(super) fn new(
        listener: UnixListener,
        wake: UnixStream,
        recorder: Option<RecordSink>,
        progress: Arc<Mutex<ProbeProgress>>,
    ) -> Self {
        let taker = Taker::new(recorder, progress);
        Self { listener, wake, connections: Vec::new(), taker, buffer: vec![0; CHUNK] }
    }

    pub(super) fn run(mut self) {
        // Without a descriptor for a new connection, `accept` would fail at once, again and again.
        let mut accepting = true;
        loop {
            let ready = self.poll(accepting && self.connections.len() < MAX_CONNECTIONS);
            let Some(ready) = ready else {
                accepting = true;
                continue;
            };
            let stopping = ready[0];
            // From the last one, since a connection that has ended is taken out of the list.
            for at in (0..self.connections.len()).rev() {
                if ready[at + 2] {
                    self.read(at);
                }
            }
            if ready[1] {
                accepting = self.accept();
            }
            if stopping {
                self.read_what_was_sent();
                return;
            }
        }
    }

    /// Waits; for the wake-up, the listener and each connection, whether it has something. None
    /// after a time-out or an interruption.
    fn poll(&self, accepting: bool) -> Option<Vec<bool>> {
        let mut fds = Vec::with_capacity(self.connections.len() + 2);
        fds.push(PollFd::new(&self.wake, PollFlags::IN));
        fds.push(PollFd::new(&self.listener, if accepting { PollFlags::IN } else { PollFlags::empty() }));
        fds.extend(self.connections.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)));
        let pause = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let count = poll(&mut fds, (!accepting).then_some(&pause)).ok()?;
        (count > 0).then(|| fds.iter().map(|fd| !fd.revents().is_empty()).collect())
    }

    /// Takes the connections that wait, as far as there is room. False where there is no descriptor
    /// for one.
    fn accept(&mut self) -> bool {
        while self.connections.len() < MAX_CONNECTIONS {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if stream.set_nonblocking(true).is_ok() {
                        self.connections.push(Connection { stream, lines: LineCutter::default() });
                        self.taker.connected();
                    }
                }
                Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            }
        }
        true
    }

    /// One read of one connection; takes it out of the list where it has ended.
    fn read(&mut self, at: usize) -> Outcome {
        let connection = &mut self.connections[at];
        match connection.stream.read(&mut self.buffer) {
            Ok(0) => {}
            Ok(count) => {
                self.taker.chunk(now_ns(), &mut connection.lines, &self.buffer[..count]);
                return Outcome::Bytes(count);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Outcome::NothingYet;
            }
            Err(_) => {}
        }
        let mut connection = self.connections.swap_remove(at);
        self.taker.finish(now_ns(), &mut connection.lines);
        Outcome::Ended
    }

    /// Before the end: what clients had sent, connections that still waited included.
    fn read_what_was_sent(&mut self) {
        let mut left = LAST_BYTES;
        loop {
            self.accept();
            let mut read = 0;
            let before = self.connections.len();
            for at in (0..before).rev() {
                if let Outcome::Bytes(count) = self.read(at) {
                    read += count;
                }
            }
            left = left.saturating_sub(read);
            if left == 0 || (read == 0 && self.connections.len() == before) {
                break;
            }
        }
        for connection in &mut self.connections {
            self.taker.finish(now_ns(), &mut connection.lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProbeListener, ProbeOptions, fold::ProbeProgress};
    use crate::recorder::Recorder;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};

    struct Bench {
        dir: tempfile::TempDir,
        recorder: Recorder,
        listener: ProbeListener,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let recorder = Recorder::create(&dir.path().join("samples.ndjson")).unwrap();
            let path = dir.path().join("probe.sock");
            let listener = ProbeListener::start(ProbeOptions { path }, Some(recorder.sink())).unwrap();
            Self { dir, recorder, listener }
        }

        fn socket(&self) -> PathBuf {
            self.dir.path().join("probe.sock")
        }

        /// Ends both, and returns what was folded and the lines of the file.
        fn end(mut self) -> (ProbeProgress, Vec<String>) {
            let progress = self.listener.stop();
            self.recorder.close();
            let text = std::fs::read_to_string(self.dir.path().join("samples.ndjson")).unwrap();
            assert!(!Path::new(&self.socket()).exists(), "the socket is removed");
            (progress, text.lines().map(str::to_owned).collect())
        }
    }

    #[test]
    fn a_line_is_recorded_as_it_was_sent_even_when_the_listener_ends_at_once() {
        let bench = Bench::new();
        let mut client = UnixStream::connect(bench.socket()).unwrap();
        client.write_all(b"{ \"k\" : \"interactive\",\"t\":5, \"x\":\"\\u00e4\"}\r\n").unwrap();
        let (progress, lines) = bench.end();
        assert_eq!((progress.interactive_ns, progress.lines, progress.connections), (Some(5), 1, 1));
        assert!(lines[0].starts_with("{\"k\":\"probe\",\"t\":"), "{}", lines[0]);
        assert!(lines[0].ends_with(",\"m\":{ \"k\" : \"interactive\",\"t\":5, \"x\":\"\\u00e4\"}}"), "{}", lines[0]);
    }

    #[test]
    fn malformed_lines_are_counted_and_the_good_ones_between_them_are_taken() {
        let bench = Bench::new();
        let mut client = UnixStream::connect(bench.socket()).unwrap();
        let mut sent = b"{\"k\":\"coalesced\",\"n\":1}\n[1]\nnonsense\n\xff\xfe\n{\"k\":1}{}\n{\"n\":1e999}\n".to_vec();
        sent.extend(std::iter::repeat_n(b'[', 60_000).chain(*b"\n"));
        sent.extend(std::iter::repeat_n(b'x', 70_000).chain(*b"\n"));
        sent.extend(b"{\"k\":\"coalesced\",\"n\":2}");
        client.write_all(&sent).unwrap();
        drop(client);
        let (progress, lines) = bench.end();
        assert_eq!((progress.coalesced, progress.lines, progress.bad_lines), (3, 2, 7));
        let values: Vec<serde_json::Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let bad: Vec<_> = values.iter().filter(|v| v["k"] == "probe_bad").map(|v| v["why"].as_str().unwrap()).collect();
        assert_eq!(
            bad,
            ["not a JSON object", "not JSON", "not UTF-8", "not JSON", "not JSON", "not JSON", "longer than 64 KiB"]
        );
        assert_eq!(values.iter().rfind(|v| v["k"] == "probe_bad").unwrap()["bytes"], 70_000);
    }

    #[test]
    fn clients_may_come_and_go_and_each_line_arrives() {
        let bench = Bench::new();
        for _ in 0..200 {
            let mut client = UnixStream::connect(bench.socket()).unwrap();
            client.write_all(b"{\"k\":\"dropped\",\"n\":1}\n").unwrap();
        }
        let (progress, lines) = bench.end();
        assert_eq!((progress.dropped, progress.connections, progress.connected, lines.len()), (200, 200, 0, 200));
    }

    #[test]
    fn a_flood_of_rubbish_neither_blocks_its_sender_nor_fills_the_disk() {
        let bench = Bench::new();
        let mut client = UnixStream::connect(bench.socket()).unwrap();
        let rubbish = b"x\n".repeat(500_000);
        client.write_all(&rubbish).unwrap();
        let (progress, lines) = bench.end();
        assert_eq!((progress.bad_lines, lines.len()), (500_000, 1_000));
    }

    #[test]
    fn a_path_in_use_is_refused_and_left_alone() {
        let bench = Bench::new();
        let again = ProbeListener::start(ProbeOptions { path: bench.socket() }, None).err().unwrap();
        assert_eq!(again.kind(), std::io::ErrorKind::AddrInUse);
        assert!(UnixStream::connect(bench.socket()).is_ok());
    }
}
