//! Exact counts of what was asked and answered, readable while the server runs.

use super::exchange::{Answer, Asked};
use super::watchers::End;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Paths and verbs that are counted apart; what comes beyond them is counted under one name.
const MAX_OPERATIONS: usize = 2_000;
/// Closed connections that are remembered one by one.
const MAX_CLIENTS: usize = 10_000;

/// Requests of one path template and verb.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Operation {
    /// How many.
    pub(crate) requests: u64,
    /// By status, `"200"`.
    pub(crate) statuses: BTreeMap<String, u64>,
    /// Body bytes before compression; those of watches are added when they end.
    pub(crate) bytes: u64,
    /// Body bytes as they were sent.
    pub(crate) bytes_sent: u64,
    /// Objects in lists.
    pub(crate) objects: u64,
}

/// What one client did: a user agent on one connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Client {
    /// How many requests.
    pub(crate) requests: u64,
    /// Body bytes before compression.
    pub(crate) bytes: u64,
}

/// Watches of all kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Watches {
    /// How many were opened.
    pub(crate) opened: u64,
    /// How many ended, by reason.
    pub(crate) ended: BTreeMap<&'static str, u64>,
}

/// What became of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Connections {
    /// Taken.
    pub(crate) accepted: u64,
    /// Open now.
    pub(crate) open: u64,
    /// Closed at once, since the bound was reached.
    pub(crate) refused: u64,
    /// Idle ones that made room for others.
    pub(crate) evicted: u64,
    /// Failed accepts: no file descriptor, for instance.
    pub(crate) accept_errors: u64,
    /// TLS handshakes that failed or took too long.
    pub(crate) handshake_failures: u64,
    /// Ended by a malformed or too slow request.
    pub(crate) protocol_errors: u64,
}

/// A chain of pages that a client read to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Chains {
    /// How many.
    pub(crate) complete: u64,
    /// When the last one was written whole.
    pub(crate) last_complete_ns: Option<u64>,
    /// Objects in it.
    pub(crate) objects: u64,
}

#[derive(Default)]
struct Inner {
    operations: BTreeMap<(String, &'static str), Operation>,
    clients: BTreeMap<(Arc<str>, u64), Client>,
    clients_in_order: VecDeque<(Arc<str>, u64)>,
    clients_forgotten: Client,
    watches: Watches,
    connections: Connections,
    chains: BTreeMap<(String, String, String), Chains>,
    expired: BTreeSet<(Arc<str>, String, String, String)>,
    relists: u64,
}

/// The counters.
#[derive(Default)]
pub(crate) struct Accounting {
    inner: Mutex<Inner>,
    bytes_sent: AtomicU64,
    events_written: AtomicU64,
}

impl Accounting {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Response bytes whose write has returned.
    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes_sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Watch events whose write has returned.
    pub(crate) fn add_events(&self, events: u64) {
        self.events_written.fetch_add(events, Ordering::Relaxed);
    }

    /// Changes the connection counts.
    pub(crate) fn connections(&self, change: impl FnOnce(&mut Connections)) {
        change(&mut self.inner().connections);
    }

    /// A request that has been answered, or a watch that has opened (no bytes yet).
    pub(crate) fn request(&self, asked: &Asked, answer: &Answer, bytes: Option<(u64, u64)>) {
        let mut inner = self.inner();
        let mut key = (asked.template.clone(), asked.verb);
        if inner.operations.len() >= MAX_OPERATIONS && !inner.operations.contains_key(&key) {
            "(other)".clone_into(&mut key.0);
        }
        let operation = inner.operations.entry(key).or_default();
        operation.requests += 1;
        *operation.statuses.entry(answer.status.to_string()).or_default() += 1;
        let (raw, sent) = bytes.unwrap_or_default();
        operation.bytes += raw;
        operation.bytes_sent += sent;
        operation.objects += answer.objects.unwrap_or(0);
        inner.count_client(asked, 1, raw);
        let scope = (asked.group.clone(), asked.kind.clone(), asked.scope.clone());
        let lists = asked.verb == "list" && answer.status == 200;
        if lists && answer.page == Some(1) {
            let key = (Arc::clone(&asked.agent), scope.0.clone(), scope.1.clone(), scope.2.clone());
            inner.relists += u64::from(inner.expired.remove(&key));
        }
        if lists && !answer.more && answer.complete && asked.class == "api" {
            let chains = inner.chains.entry(scope).or_default();
            chains.complete += 1;
            chains.last_complete_ns = Some(crate::clock::now_ns());
            chains.objects = answer.chain_objects;
        }
    }

    /// A watch has opened.
    pub(crate) fn watch_opened(&self) {
        self.inner().watches.opened += 1;
    }

    /// A watch has ended: its bytes now belong to its operation.
    pub(crate) fn watch_ended(&self, asked: &Asked, why: End, bytes: u64) {
        let mut inner = self.inner();
        *inner.watches.ended.entry(why.name()).or_default() += 1;
        if let Some(operation) = inner.operations.get_mut(&(asked.template.clone(), asked.verb)) {
            operation.bytes += bytes;
            operation.bytes_sent += bytes;
        }
        inner.count_client(asked, 0, bytes);
    }

    /// A client was told that its version is gone: its next LIST of that scope is a re-list.
    pub(crate) fn expired(&self, asked: &Asked) {
        let key = (Arc::clone(&asked.agent), asked.group.clone(), asked.kind.clone(), asked.scope.clone());
        let mut inner = self.inner();
        if inner.expired.len() < MAX_CLIENTS {
            inner.expired.insert(key);
        }
    }

    /// Everything, for `progress()`, the `api` record and `/metrics`.
    pub(crate) fn totals(&self) -> Totals {
        let inner = self.inner();
        let operations: Vec<_> = inner
            .operations
            .iter()
            .map(|((path, verb), operation)| NamedOperation { path: path.clone(), verb, figures: operation.clone() })
            .collect();
        Totals {
            requests: operations.iter().map(|o| o.figures.requests).sum(),
            throttled: operations.iter().filter_map(|o| o.figures.statuses.get("429")).sum(),
            relists: inner.relists,
            bytes_sent: self.bytes_sent.load(Ordering::Relaxed),
            events_written: self.events_written.load(Ordering::Relaxed),
            operations,
            watches: inner.watches.clone(),
            connections: inner.connections.clone(),
            clients: inner
                .clients
                .iter()
                .map(|((ua, conn), figures)| NamedClient { ua: Arc::clone(ua), conn: *conn, figures: figures.clone() })
                .collect(),
            clients_forgotten: inner.clients_forgotten.clone(),
        }
    }

    /// The lists that were read to their end, by group, kind and scope.
    pub(crate) fn chains(&self) -> Vec<((String, String, String), Chains)> {
        self.inner().chains.iter().map(|(scope, chains)| (scope.clone(), chains.clone())).collect()
    }
}

impl Inner {
    fn count_client(&mut self, asked: &Asked, requests: u64, bytes: u64) {
        let key = (Arc::clone(&asked.agent), asked.connection);
        if !self.clients.contains_key(&key) {
            self.clients_in_order.push_back(key.clone());
            if self.clients_in_order.len() > MAX_CLIENTS
                && let Some(oldest) = self.clients_in_order.pop_front()
                && let Some(client) = self.clients.remove(&oldest)
            {
                self.clients_forgotten.requests += client.requests;
                self.clients_forgotten.bytes += client.bytes;
            }
        }
        let client = self.clients.entry(key).or_default();
        client.requests += requests;
        client.bytes += bytes;
    }
}

/// An operation with its name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NamedOperation {
    pub(crate) path: String,
    pub(crate) verb: &'static str,
    #[serde(flatten)]
    pub(crate) figures: Operation,
}

/// A client with its name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NamedClient {
    pub(crate) ua: Arc<str>,
    pub(crate) conn: u64,
    #[serde(flatten)]
    pub(crate) figures: Client,
}

/// A copy of all counters.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Totals {
    /// Requests answered, watches that opened among them.
    pub(crate) requests: u64,
    /// Answers with 429.
    pub(crate) throttled: u64,
    /// LISTs of a client that had been told 410 for that scope.
    pub(crate) relists: u64,
    /// Response bytes written so far, those of open watches among them, after compression.
    pub(crate) bytes_sent: u64,
    /// Committed events written to watchers so far, one for each watcher.
    pub(crate) events_written: u64,
    pub(crate) operations: Vec<NamedOperation>,
    pub(crate) watches: Watches,
    pub(crate) connections: Connections,
    pub(crate) clients: Vec<NamedClient>,
    /// Sum of those that are no longer listed.
    pub(crate) clients_forgotten: Client,
}
