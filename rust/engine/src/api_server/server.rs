//! The handle: start, drive, read, stop.

use super::accounting::{Accounting, Totals};
use super::churn::{self, Churn, ExtendError};
use super::commits::{self, Committed};
use super::connection::Connections;
use super::content;
use super::core::{Core, Watches};
use super::faults::{Count, Faults};
use super::limit::Limit;
use super::listener;
use super::options::{Options, Start};
use super::pages::Pages;
use super::pod_status;
use super::records::ApiRecord;
use super::store::{KindId, Store};
use super::tls::{self, Identity};
use super::watchers::End;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use perfq_core::workload::Plan;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// Connections at once, where the descriptors of the process allow it.
const MAX_CONNECTIONS: usize = 8_192;
/// Descriptors that are left to the rest of the process.
const SPARE_DESCRIPTORS: u64 = 128;
/// Threads that speak HTTP.
const THREADS: usize = 2;

/// A running server.
pub struct ApiServer {
    core: Arc<Core>,
    connections: Arc<Connections>,
    address: SocketAddr,
    ca_pem: Option<String>,
    running: Mutex<Option<Running>>,
}

struct Running {
    runtime: Runtime,
    churn: JoinHandle<()>,
}

/// A watch, for [`Progress`].
#[derive(Debug, Serialize)]
struct WatchProgress {
    w: u64,
    group: String,
    kind: String,
    scope: String,
    open: bool,
    ua: String,
    conn: u64,
    events: u64,
    bytes: u64,
    opened_ns: u64,
}

/// The lists of a scope, for [`Progress`].
#[derive(Debug, Serialize)]
struct ListProgress {
    group: String,
    kind: String,
    scope: String,
    chains_complete: u64,
    last_complete_ns: Option<u64>,
    objects: u64,
}

/// Everything that can be read while the server runs.
#[derive(Debug, Serialize)]
pub struct Progress {
    churn: churn::Progress,
    watches: Vec<WatchProgress>,
    lists: Vec<ListProgress>,
    faults: BTreeMap<&'static str, Count>,
    totals: Totals,
}

impl ApiServer {
    /// Starts a server. Errors: `InvalidInput` for options that do not fit together, else what binding
    /// the address gave.
    pub fn start(plan: Arc<Plan>, options: Options, sink: Option<RecordSink>) -> io::Result<Self> {
        if let Some(violation) = options.violation() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, violation));
        }
        // Before anything else, so that a port in use costs nothing.
        let listener = TcpListener::bind(SocketAddr::new(options.listen, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let identity = options.tls.then(|| Identity::new(options.listen)).transpose()?;
        let token = options.tls.then(tls::token).transpose()?;
        let random = tls::random()?;
        let nonce = u64::from_le_bytes(random[..8].try_into().unwrap_or_default());
        let store = Store::new();
        let pods = content::fill(&store, &plan, options.pod_bytes, nonce);
        let start = options.start;
        let core = Arc::new(Core {
            store,
            pods,
            faults: Faults::new(sink.clone()),
            accounting: Arc::new(Accounting::default()),
            churn: Churn::new(plan),
            watches: Watches::default(),
            pages: Pages::default(),
            sink,
            token,
            address: address.to_string(),
            byte_limit: options.limit_bytes_per_second.map(|rate| Arc::new(Limit::new(rate))),
            request_limit: options.limit_requests_per_second.map(Limit::new),
            nonce,
            next_uid: AtomicU64::new(0),
            options,
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("perfq-api")
            .enable_all()
            .build()?;
        let connections = Arc::new(Connections::new(most_connections()));
        {
            let _inside = runtime.enter();
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let acceptor = identity.as_ref().map(|identity| TlsAcceptor::from(Arc::clone(&identity.config)));
            runtime.spawn(listener::accept(Arc::clone(&core), Arc::clone(&connections), listener, acceptor));
            runtime.spawn(each_second(Arc::clone(&core)));
        }
        let for_churn = Arc::clone(&core);
        let churn = std::thread::Builder::new().name("perfq-churn".into()).spawn(move || churn::run(&for_churn))?;
        if start == Start::Now {
            core.churn.start();
        }
        Ok(Self {
            core,
            connections,
            address,
            ca_pem: identity.map(|identity| identity.ca_pem),
            running: Mutex::new(Some(Running { runtime, churn })),
        })
    }

    /// `https://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        let scheme = if self.ca_pem.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The port that was bound.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The CA certificate, PEM; `None` over plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// The bearer token; `None` over plain HTTP.
    pub fn token(&self) -> Option<&str> {
        self.core.token.as_deref()
    }

    /// Starts the plan's clock, once; its zero (`CLOCK_MONOTONIC` ns).
    pub fn start_churn(&self) -> u64 {
        self.core.churn.start()
    }

    /// Makes the running plan longer by whole seconds.
    pub fn extend(&self, seconds: u32) -> Result<(), ExtendError> {
        self.core.churn.extend(seconds)
    }

    /// Sets a planned Pod's restart count to a number that the plan does not know.
    pub fn probe(&self, i: u64, namespace: &str, name: &str, number: u64) -> Option<Committed> {
        commits::probe(&self.core, i, namespace, name, number)
    }

    /// Gives a planned Pod the plan's values again.
    pub fn restore(&self, i: u64, namespace: &str, name: &str) -> Option<Committed> {
        commits::restore(&self.core, i, namespace, name)
    }

    /// SHA-256 of the canonical text of the plan's Pods as they are stored now.
    pub fn digest(&self) -> String {
        let core = &self.core;
        pod_status::digest(&core.churn.plan(), &core.store.snapshot(KindId::core("pods")))
    }

    /// Where everything stands.
    pub fn progress(&self) -> Progress {
        let core = &self.core;
        let watches = core.watches.all().into_iter().map(|info| WatchProgress {
            w: info.id,
            group: info.asked.group.clone(),
            kind: info.asked.kind.clone(),
            scope: info.asked.scope.clone(),
            open: info.ended_ns.load(Ordering::Relaxed) == 0,
            ua: info.asked.agent.to_string(),
            conn: info.asked.connection,
            events: info.events.load(Ordering::Relaxed),
            bytes: info.bytes(),
            opened_ns: info.opened_ns,
        });
        let lists = core.accounting.chains().into_iter().map(|((group, kind, scope), chains)| ListProgress {
            group,
            kind,
            scope,
            chains_complete: chains.complete,
            last_complete_ns: chains.last_complete_ns,
            objects: chains.objects,
        });
        Progress {
            churn: core.churn.progress(),
            watches: watches.collect(),
            lists: lists.collect(),
            faults: core.faults.progress(),
            totals: core.accounting.totals(),
        }
    }

    /// Ends the churn, the watches and the connections. A second call does nothing.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { runtime, churn }) = running else { return };
        self.core.churn.stop();
        let _ = churn.join();
        self.core.store.end_all_watches(End::Shutdown);
        self.connections.close_all();
        // Connections that were told to close record the end of their watches.
        runtime.shutdown_timeout(Duration::from_secs(2));
        record(&self.core);
        self.core.watches.clear();
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn most_connections() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(SPARE_DESCRIPTORS);
    usize::try_from(descriptors).unwrap_or(MAX_CONNECTIONS).clamp(16, MAX_CONNECTIONS)
}

/// Once a second: writes the accounting, and closes what is stuck.
async fn each_second(core: Arc<Core>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        second.tick().await;
        record(&core);
        let now = now_ns();
        for watch in core.watches.all() {
            watch.close_if_stuck(now);
        }
    }
}

fn record(core: &Core) {
    if let Some(sink) = &core.sink {
        sink.write(&ApiRecord { k: "api", t: now_ns(), totals: core.accounting.totals() });
    }
}
