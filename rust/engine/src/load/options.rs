//! What a load run is asked to do.

use perfq_core::load::Ordering;
use perfq_core::load::mix::MixSpec;
use perfq_core::load::rewrite::RewriteOptions;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run: one target, and segments that follow one another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadOptions {
    /// The target.
    pub endpoint: EndpointOptions,
    /// At least one.
    pub segments: Vec<SegmentOptions>,
    /// The client's own time-out of a request, from its send.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// The time-out of a watch: of silence. `None`: the same.
    #[serde(default)]
    pub watch_timeout_ms: Option<u64>,
    /// After the planned end of a segment: how long what is in flight may take.
    #[serde(default = "default_grace_ms")]
    pub grace_ms: u64,
    /// How long opening and warming up the connections of a segment may take.
    #[serde(default = "default_warm_up_ms")]
    pub warm_up_ms: u64,
    /// What becomes of a request that is due while no slot is free.
    #[serde(default)]
    pub overload: Overload,
    /// What is kept in order.
    #[serde(default)]
    pub ordering: Ordering,
    /// Where each sample goes as a line of JSON, packed where the name ends in `.zst` or `.gz`.
    #[serde(default)]
    pub raw_data: Option<PathBuf>,
    /// Of requests that bring none.
    #[serde(default = "default_user_agent")]
    pub user_agent: String,
}

/// The server and how to be let in.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointOptions {
    /// `http[s]://HOST[:PORT][/BASE/PATH]`.
    pub url: String,
    /// Certificates that the server's must stand on, PEM.
    #[serde(default)]
    pub ca_pem: Option<String>,
    /// Takes any certificate.
    #[serde(default)]
    pub insecure: bool,
    /// The client's certificate chain, PEM.
    #[serde(default)]
    pub client_cert_pem: Option<String>,
    /// Its key, PEM.
    #[serde(default)]
    pub client_key_pem: Option<String>,
    /// A bearer token.
    #[serde(default)]
    pub token: Option<String>,
    /// The name that the certificate must bear, where it is not the URL's.
    #[serde(default)]
    pub server_name: Option<String>,
    /// Headers of every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// Credentials do not reach a log.
impl std::fmt::Debug for EndpointOptions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("EndpointOptions").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Requests with a T0 of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentOptions {
    /// Where the requests come from.
    pub source: SourceOptions,
    /// Runners; a request belongs to the one that its key's partition says, one without a key to each in turn.
    #[serde(default = "one")]
    pub runners: u32,
    /// Only this runner's requests are sent.
    #[serde(default)]
    pub runner_index: Option<u32>,
    /// Of each runner.
    #[serde(default = "one")]
    pub connections: u32,
    /// Requests of each runner.
    #[serde(default = "one")]
    pub in_flight: u32,
    /// Of all its connections.
    #[serde(default)]
    pub protocol: Protocol,
    /// What is asked for.
    #[serde(default)]
    pub accept: Accept,
    /// How often a 429 with `Retry-After` is sent again.
    #[serde(default)]
    pub max_retries: u32,
    /// The planned end after T0; `None`: with the last due instant, or the last watch.
    #[serde(default)]
    pub duration_us: Option<u64>,
    /// Requests a second of each runner, as asked; 0: a closed loop, in which a request is due when a slot is free.
    #[serde(default)]
    pub rate: Option<f64>,
}

/// One of the inputs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum SourceOptions {
    /// A file of perfq.trace/v1.
    Trace(TraceOptions),
    /// Drawn from a seed.
    Mix(MixSpec),
}

/// A trace on disk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceOptions {
    /// The file.
    pub path: PathBuf,
    /// Unknown keys in it are passed over.
    #[serde(default)]
    pub allow_unknown: bool,
    /// How its requests are rewritten.
    #[serde(default)]
    pub rewrite: Option<RewriteOptions>,
}

/// What becomes of a request that is due while no slot is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Overload {
    /// It waits, and its latency runs.
    #[default]
    Queue,
    /// It is not sent, and counted.
    Drop,
}

/// The HTTP version of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1: one request at a time on a connection.
    Http1,
    /// HTTP/2: as many as the server's stream limit.
    #[default]
    Http2,
}

/// The media type that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accept {
    /// `application/json`.
    #[default]
    Json,
    /// Kubernetes' protobuf, JSON where a resource has none.
    Protobuf,
}

impl Accept {
    /// The header's value.
    pub(super) const fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf,application/json",
        }
    }
}

impl SegmentOptions {
    /// Whether a request is due when a slot is free.
    pub fn closed_loop(&self) -> bool {
        self.rate == Some(0.0)
    }

    /// The runners that this process is.
    pub fn lanes(&self) -> u32 {
        if self.runner_index.is_some() { 1 } else { self.runners }
    }

    /// What is wrong with the numbers.
    pub(super) fn violation(&self) -> Option<String> {
        if self.runners == 0 || self.connections == 0 || self.in_flight == 0 {
            return Some("runners, connections and in_flight must be at least 1".into());
        }
        if let Some(index) = self.runner_index.filter(|index| *index >= self.runners) {
            return Some(format!("runner_index {index} is out of range: there are {} runners", self.runners));
        }
        if self.closed_loop() && matches!(self.source, SourceOptions::Trace(_)) {
            return Some("rate 0 is a closed loop, and the requests of a trace have their instants".into());
        }
        self.rate.filter(|rate| !rate.is_finite() || *rate < 0.0).map(|rate| format!("rate {rate} is no rate"))
    }
}

fn one() -> u32 {
    1
}

fn default_timeout_ms() -> u64 {
    60_000
}

fn default_grace_ms() -> u64 {
    30_000
}

fn default_warm_up_ms() -> u64 {
    30_000
}

fn default_user_agent() -> String {
    concat!("perfq/", env!("CARGO_PKG_VERSION")).into()
}
