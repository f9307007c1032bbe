//! What becomes of a line: stamped, checked, recorded as it came, folded.

use super::flood::Allowance;
use super::fold::ProbeProgress;
use super::lines::{Line, LineCutter};
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Serialize)]
struct BadRecord<'a> {
    k: &'static str,
    t: u64,
    why: &'a str,
    bytes: usize,
}

/// Stamps, checks, records and folds lines.
pub(super) struct Taker {
    recorder: Option<RecordSink>,
    progress: Arc<Mutex<ProbeProgress>>,
    allowance: Allowance,
}

/// Why a line was refused.
fn object(line: &[u8]) -> Result<Map<String, Value>, &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("not a JSON object"),
        Err(_) => Err("not JSON"),
    }
}

impl Taker {
    pub(super) fn new(recorder: Option<RecordSink>, progress: Arc<Mutex<ProbeProgress>>) -> Self {
        Self { recorder, progress, allowance: Allowance::new(now_ns()) }
    }

    /// A client has connected.
    pub(super) fn connected(&self) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.connected += 1;
        progress.connections += 1;
    }

    fn take(&mut self, progress: &mut ProbeProgress, t: u64, line: &Line<'_>) {
        let refused = match line {
            Line::TooLong(bytes) => Err(("longer than 64 KiB", *bytes)),
            Line::Whole(line) => object(line).map(|said| (said, *line)).map_err(|why| (why, line.len())),
        };
        match refused {
            Ok((said, line)) => {
                progress.fold(&said);
                let Some(recorder) = &self.recorder else { return };
                if self.allowance.line(line.len(), t) {
                    let mut record = Vec::with_capacity(line.len() + 48);
                    record.extend_from_slice(format!("{{\"k\":\"probe\",\"t\":{t},\"m\":").as_bytes());
                    record.extend_from_slice(line);
                    record.extend_from_slice(b"}\n");
                    recorder.write_line(record);
                } else {
                    progress.unrecorded += 1;
                }
            }
            Err((why, bytes)) => {
                progress.bad_lines += 1;
                if let Some(recorder) = &self.recorder
                    && self.allowance.bad()
                {
                    recorder.write(&BadRecord { k: "probe_bad", t, why, bytes });
                }
            }
        }
    }

    /// One read's bytes; their lines share the instant at which the read returned.
    pub(super) fn chunk(&mut self, t: u64, lines: &mut LineCutter, chunk: &[u8]) {
        let shared = Arc::clone(&self.progress);
        let mut progress = shared.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(chunk, |line| self.take(&mut progress, t, &line));
    }

    /// A connection has ended; its last line may lack the end.
    pub(super) fn finish(&mut self, t: u64, lines: &mut LineCutter) {
        let shared = Arc::clone(&self.progress);
        let mut progress = shared.lock().unwrap_or_else(PoisonError::into_inner);
        lines.finish(|line| self.take(&mut progress, t, &line));
        progress.connected -= 1;
    }
}
