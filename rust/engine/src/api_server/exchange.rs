//! One request and its response: what is recorded and counted of it once the last byte is written.

use super::accounting::Accounting;
use super::connection::{Busy, Connection};
use super::records::RequestRecord;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of a request when its headers are read.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// When that was.
    pub(crate) read_ns: u64,
    /// get, list, watch, create, update, patch, delete, deletecollection; else the method in lower case.
    pub(crate) verb: &'static str,
    /// API group.
    pub(crate) group: String,
    /// Plural resource.
    pub(crate) kind: String,
    /// Namespace, or "".
    pub(crate) scope: String,
    /// Object, or "".
    pub(crate) name: String,
    /// Subresource, or "".
    pub(crate) sub: String,
    /// What sort of request: api, discovery, openapi, review, metrics, log, other.
    pub(crate) class: &'static str,
    /// The path with its variable parts named.
    pub(crate) template: String,
    /// User agent.
    pub(crate) agent: Arc<str>,
    /// Number of the connection.
    pub(crate) connection: u64,
}

/// What the response turned out to be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// HTTP status; 0 where the client left before there was one.
    pub(crate) status: u16,
    /// Objects in it.
    pub(crate) objects: Option<u64>,
    /// Number of the page within its chain, from 1.
    pub(crate) page: Option<u64>,
    /// Whether a continue token was given.
    pub(crate) more: bool,
    /// Objects in this page and those before it.
    pub(crate) chain_objects: u64,
    /// `Retry-After`, seconds.
    pub(crate) retry_after: Option<u32>,
    /// Whether the last byte was written.
    pub(crate) complete: bool,
}

/// A request in progress. Dropped with the last byte of its response, which writes the record.
pub(crate) struct Exchange {
    asked: Asked,
    answer: Mutex<Answer>,
    /// Bytes handed to the connection, and of these those whose write has returned.
    given: AtomicU64,
    written: AtomicU64,
    /// Bytes before compression, where there is one.
    raw: AtomicU64,
    ended: AtomicBool,
    recorded: AtomicBool,
    accounting: Arc<Accounting>,
    sink: Option<RecordSink>,
    busy: Busy,
}

impl Exchange {
    /// A request whose headers have been read; its connection is busy for as long as this lives.
    pub(crate) fn new(asked: Asked, busy: Busy, accounting: Arc<Accounting>, sink: Option<RecordSink>) -> Arc<Self> {
        Arc::new(Self {
            asked,
            answer: Mutex::new(Answer::default()),
            given: AtomicU64::new(0),
            written: AtomicU64::new(0),
            raw: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            recorded: AtomicBool::new(false),
            accounting,
            sink,
            busy,
        })
    }

    /// The connection it came on.
    pub(crate) fn connection(&self) -> &Connection {
        self.busy.connection()
    }

    /// What was asked.
    pub(crate) fn asked(&self) -> &Asked {
        &self.asked
    }

    /// Changes what is known of the response.
    pub(crate) fn answer(&self, change: impl FnOnce(&mut Answer)) {
        change(&mut self.answer.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Bytes of the body that were handed to the connection.
    pub(crate) fn add_given(&self, bytes: usize) {
        self.given.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of the body whose write has returned.
    pub(crate) fn add_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
        self.accounting.add_bytes(bytes as u64);
    }

    /// Bytes of the body before compression.
    pub(crate) fn add_raw(&self, bytes: usize) {
        self.raw.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The body has been handed over to its end.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Records a watch when it opens; its bytes and events stand in the `watch` record of its end.
    pub(crate) fn record_open(&self) {
        self.record(true);
    }

    fn record(&self, open: bool) {
        if self.recorded.swap(true, Ordering::Relaxed) {
            return;
        }
        let done = now_ns();
        let written = self.written();
        let mut answer = *self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.complete = self.ended.load(Ordering::Relaxed) && written == self.given.load(Ordering::Relaxed);
        let raw = match self.raw.load(Ordering::Relaxed) {
            0 => written,
            raw => raw,
        };
        let bytes = (!open).then_some((raw, written));
        self.accounting.request(&self.asked, &answer, bytes);
        if let Some(sink) = &self.sink {
            sink.write(&RequestRecord::new(&self.asked, &answer, done, bytes.map(|(raw, _)| raw)));
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.record(false);
    }
}
