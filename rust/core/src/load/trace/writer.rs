//! Requests become lines.

use super::header::{Header, Loss};
use crate::digest::{self, Digest};
use crate::load::counts::Counts;
use crate::load::request::{Request, RequestError, WatchEnd};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Shorter bodies are written each time: a reference to them would be as long.
const SHORTEST_SHARED: usize = 128;
/// So many digests of earlier bodies are remembered twice over.
const REMEMBERED: usize = 8192;

#[derive(Serialize)]
struct Line<'a> {
    t_us: u64,
    verb: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watch_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_status: Option<u16>,
}

#[derive(Serialize)]
struct BodyLine<'a> {
    body: &'a str,
    sha256: &'a str,
}

/// Digests of bodies that were written: inline (false) or as a line of the table (true). Bounded: when the
/// young half is full, the old one is forgotten, and a body that comes back is written again.
#[derive(Debug, Default)]
struct Seen {
    young: HashMap<[u8; 32], bool>,
    old: HashMap<[u8; 32], bool>,
}

impl Seen {
    fn get(&self, sha256: &[u8; 32]) -> Option<bool> {
        self.young.get(sha256).or_else(|| self.old.get(sha256)).copied()
    }

    fn set(&mut self, sha256: [u8; 32], in_table: bool) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(sha256, in_table);
    }
}

/// Writes the lines after the header, which is known once they are all written ([`Writer::header`]).
///
/// A body that comes a second time goes to the table of bodies, so that the reader holds only those that are
/// used more than once.
#[derive(Debug, Default)]
pub struct Writer {
    seen: Seen,
    digest: Digest,
    counts: Counts,
    bodies: u64,
}

impl Writer {
    /// Appends a request's line to `out`, after its body's where that goes to the table. Requests must come
    /// in order; an error says why this one has no form in a trace, and has no line.
    pub fn request(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<(), RequestError> {
        let no_form = |text: &str| RequestError { line: None, text: text.to_owned() };
        let t_us = request.due_us.ok_or_else(|| no_form("a request of a closed loop has no instant to write down"))?;
        if t_us < self.counts.last_due_us {
            return Err(no_form("requests must be written in the order of their instants"));
        }
        if request.headers.is_some() {
            return Err(no_form("a trace has no headers"));
        }
        let watch_us = match request.watch {
            None | Some(WatchEnd::WithTheRun) => None,
            Some(WatchEnd::After(us)) => Some(us),
            Some(WatchEnd::InitialBookmark) => {
                return Err(no_form("a trace cannot say that a WATCH ends with its bookmark"));
            }
        };
        let body = match request.body.as_deref().map(std::str::from_utf8) {
            Some(Err(_)) => return Err(no_form("a trace's bodies are text, and this one is not UTF-8")),
            Some(Ok(body)) => Some(body),
            None => None,
        };
        let begun = out.len();
        let reference = body.and_then(|body| self.shared(body, out));
        let line = Line {
            t_us,
            verb: request.verb.name(),
            path: &request.path,
            query: request.query.as_deref(),
            content_type: request.content_type.as_deref(),
            body: body.filter(|_| reference.is_none()),
            body_ref: reference.as_deref(),
            watch_us,
            key: request.key.as_ref().map(crate::load::Key::text),
            user_agent: request.user_agent.as_deref(),
            expect_status: request.expect_status,
        };
        append(out, &line);
        self.digest.update(&out[begun..]);
        self.counts.add(request);
        Ok(())
    }

    /// The header for what was written.
    pub fn header(&self, source: Map<String, Value>, losses: Vec<Loss>) -> Header {
        let mut counts = match serde_json::to_value(self.counts.text()) {
            Ok(Value::Object(counts)) => counts,
            _ => Map::new(),
        };
        counts.insert("bodies".to_owned(), self.bodies.into());
        Header { source, digest: Some(self.digest.clone().hex()), counts, losses, ..Header::default() }
    }

    /// The reference to a body that was there before; writes it to the table the second time.
    fn shared(&mut self, body: &str, out: &mut Vec<u8>) -> Option<String> {
        if body.len() < SHORTEST_SHARED {
            return None;
        }
        let sha256 = digest::sha256(body.as_bytes());
        let before = self.seen.get(&sha256);
        self.seen.set(sha256, before.is_some());
        let reference = digest::hex(&sha256);
        if before? {
            return Some(reference);
        }
        append(out, &BodyLine { body, sha256: &reference });
        self.bodies += 1;
        Some(reference)
    }
}

fn append(out: &mut Vec<u8>, line: &impl Serialize) {
    // Into memory, of strings and integers: nothing here can fail.
    serde_json::to_writer(&mut *out, line).unwrap_or_default();
    out.push(b'\n');
}
