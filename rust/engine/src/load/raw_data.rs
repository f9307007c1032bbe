//! Every sample as a line of JSON, on request: packed in pieces where the file's name asks for it.

use super::job::Sample;
use super::outcome::Outcome;
use super::readers::Packing;
use super::series::SeriesTable;
use super::trace_file::{packed, packing};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// So much is packed and written at a time.
const PIECE: usize = 1024 * 1024;

/// The file. What a full disk loses is counted, and stops nothing.
pub(super) struct RawData {
    file: File,
    packing: Packing,
    piece: Vec<u8>,
    in_piece: u64,
    names: HashMap<u32, Arc<str>>,
    status: RawDataStatus,
}

/// What became of the samples.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RawDataStatus {
    /// Lines in the file.
    pub lines: u64,
    /// Lines lost to a write error.
    pub lost: u64,
    /// The first of them.
    pub error: Option<String>,
}

/// A line; instants in nanoseconds after T0, waits in nanoseconds.
#[derive(Serialize)]
struct Line<'a> {
    segment: u32,
    lane: u32,
    series: &'a str,
    outcome: Cow<'static, str>,
    due_ns: Option<u64>,
    sent_ns: Option<u64>,
    first_byte_ns: Option<u64>,
    done_ns: u64,
    order_wait_ns: u64,
    slot_wait_ns: u64,
    lag_ns: Option<u64>,
    bytes: u64,
}

impl RawData {
    /// Creates the file, which must not exist.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().write(true).create_new(true).open(path)?;
        let status = RawDataStatus::default();
        let piece = Vec::with_capacity(PIECE + PIECE / 8);
        Ok(Self { file, packing: packing(path), piece, in_piece: 0, names: HashMap::new(), status })
    }

    /// A segment begins: series have other numbers.
    pub(super) fn begin(&mut self) {
        self.names.clear();
    }

    /// Appends samples of a segment.
    pub(super) fn write(&mut self, segment: u32, t0: u64, series: &SeriesTable, samples: &[Sample]) {
        for sample in samples {
            let name = self.names.entry(sample.series).or_insert_with(|| series.name(sample.series));
            let after = |instant: u64| instant.saturating_sub(t0);
            let line = Line {
                segment,
                lane: sample.lane,
                series: name,
                outcome: match sample.outcome {
                    Outcome::Ok => Cow::Borrowed("ok"),
                    Outcome::TimedOut => Cow::Borrowed("timed_out"),
                    Outcome::Cancelled => Cow::Borrowed("cancelled"),
                    error => error.error_key().unwrap_or_default(),
                },
                due_ns: sample.due_ns.map(after),
                sent_ns: sample.stamps.sent.map(after),
                first_byte_ns: sample.first_ns.map(after),
                done_ns: after(sample.done_ns),
                order_wait_ns: sample.stamps.order_wait,
                slot_wait_ns: sample.stamps.slot_wait,
                lag_ns: sample.due_ns.and(sample.stamps.sent).map(|_| sample.stamps.lag),
                bytes: sample.bytes,
            };
            if serde_json::to_writer(&mut self.piece, &line).is_ok() {
                self.piece.push(b'\n');
                self.in_piece += 1;
            }
            if self.piece.len() >= PIECE {
                self.flush();
            }
        }
    }

    /// Writes what has come.
    pub(super) fn flush(&mut self) {
        let lines = std::mem::take(&mut self.in_piece);
        if lines == 0 {
            return;
        }
        let written = match self.status.error {
            None => packed(self.packing, &self.piece).and_then(|bytes| write_whole(&mut self.file, &bytes)),
            Some(_) => Err(io::ErrorKind::Other.into()),
        };
        self.piece.clear();
        match written {
            Ok(()) => self.status.lines += lines,
            Err(error) => {
                self.status.lost += lines;
                self.status.error.get_or_insert_with(|| error.to_string());
            }
        }
    }

    /// So far, what is not written yet aside.
    pub(super) fn status(&self) -> RawDataStatus {
        self.status.clone()
    }
}

/// Appends all of it or nothing: a part of a packed piece would make the file unreadable at its end.
fn write_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let whole = file.stream_position()?;
    file.write_all(bytes).inspect_err(|_| {
        // Where even that fails, what is there is what can be had.
        let _ = file.set_len(whole);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::job::Stamps;
    use crate::load::readers::Unpacked;
    use perfq_core::load::Verb;
    use std::io::Read;

    fn sample(done_ns: u64) -> Sample {
        let mut stamps = Stamps::default();
        stamps.mark_sent(Some(10), 15);
        let (lane, series, watch, due_ns, first_ns) = (1, 0, false, Some(10), Some(18));
        Sample { lane, series, outcome: Outcome::Http(404), watch, due_ns, stamps, first_ns, done_ns, bytes: 7 }
    }

    #[test]
    fn every_sample_is_a_line_however_the_file_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let series = SeriesTable::default();
        series.id(Verb::Get, "/api/v1/pods");
        for name in ["raw.ndjson", "raw.ndjson.zst", "raw.ndjson.gz"] {
            let path = folder.path().join(name);
            let mut raw = RawData::create(&path).unwrap();
            raw.begin();
            raw.write(0, 10, &series, &(0..9_000).map(|i| sample(20 + i)).collect::<Vec<_>>());
            raw.flush();
            assert_eq!((raw.status().lines, raw.status().lost), (9_000, 0));
            let mut text = String::new();
            Unpacked::open(&path).unwrap().read_to_string(&mut text).unwrap();
            let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), 9_000);
            assert_eq!(
                (&lines[5]["done_ns"], &lines[5]["lag_ns"], &lines[5]["due_ns"]),
                (&15.into(), &5.into(), &0.into())
            );
            assert_eq!(
                (&lines[0]["outcome"], &lines[0]["series"]),
                (&"http/404".into(), &"GET core/v1/pods cluster".into())
            );
        }
    }

    #[test]
    fn a_full_disk_is_counted_and_stops_nothing() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let status = RawDataStatus::default();
        let mut raw =
            RawData { file, packing: Packing::Plain, piece: vec![], in_piece: 0, names: HashMap::new(), status };
        raw.write(0, 0, &SeriesTable::default(), &[sample(1), sample(2)]);
        raw.flush();
        assert_eq!((raw.status().lines, raw.status().lost), (0, 2));
        assert!(raw.status().error.unwrap().contains("No space left"));
    }
}
