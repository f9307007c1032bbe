//! Any file of requests with instants, as one stream.

use super::compression::{Packing, Unpacked};
use super::format::{Format, detect};
use super::replay::ReplayProfile;
use super::trace::{TraceRequests, reason};
use perfq_core::load::kperf_replay::ReplaySpec;
use perfq_core::load::trace::{Loss, Options};
use perfq_core::load::{Request, RequestError, Warning};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A trace or a kperf replay profile.
pub struct Input {
    packing: Packing,
    requests: Requests,
}

enum Requests {
    Trace(Box<TraceRequests>),
    Replay(Box<ReplayProfile>),
}

/// What is known of an input beside its requests, once they were all given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputFacts {
    /// What the file is.
    pub format: Format,
    /// How it is packed.
    pub packing: &'static str,
    /// What a trace was made from; empty for a replay profile.
    pub source: Map<String, Value>,
    /// Its author's words.
    pub description: Option<String>,
    /// Runners and connections of a replay profile, also of one that was made into a trace.
    pub spec: Option<Value>,
    /// SHA-256 of a trace's lines after the header, or of a profile's text, unpacked.
    pub digest: String,
    /// What was let through.
    pub warnings: Vec<Warning>,
    /// What the input lost on its way here, by what it was made from and by this reading.
    pub losses: Vec<Loss>,
}

fn whole(text: String) -> RequestError {
    RequestError { line: None, text }
}

impl Input {
    /// Opens a file, whichever of the two it is.
    pub fn open(path: &Path, allow_unknown: bool) -> Result<Self, RequestError> {
        let io = |error: &std::io::Error| whole(reason(error));
        let (format, packing) = detect(path).map_err(|error| io(&error))?;
        let requests = match format {
            Format::Trace => {
                let options = Options { allow_unknown, digest: true };
                Requests::Trace(Box::new(TraceRequests::open(path, options)?))
            }
            Format::KperfReplay => {
                let stream = Unpacked::open(path).map_err(|error| io(&error))?;
                Requests::Replay(Box::new(ReplayProfile::new(stream, allow_unknown)))
            }
            Format::AuditLog => {
                return Err(whole("it is an audit log: make a trace of it first, with perfq load import".to_owned()));
            }
            Format::KperfReplayGroup => {
                return Err(whole(
                    "it is a runner group: the requests are in the file that its replayProfile names".to_owned(),
                ));
            }
            Format::KperfLoad | Format::KperfLoadGroup => {
                return Err(whole(
                    "it is a load profile: its requests are drawn when it runs, none are in the file".to_owned(),
                ));
            }
            Format::Unknown => {
                return Err(whole("it is neither a perfq trace nor a kperf replay profile".to_owned()));
            }
        };
        Ok(Self { packing, requests })
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        match &self.requests {
            Requests::Trace(trace) => trace.line(),
            Requests::Replay(profile) => profile.line(),
        }
    }

    /// What is known beside the requests; to be asked once they were all given.
    pub fn facts(&mut self) -> InputFacts {
        let packing = self.packing.name();
        match &mut self.requests {
            Requests::Trace(trace) => {
                let header = trace.header();
                let (source, mut losses) = (header.source.clone(), header.losses.clone());
                losses.extend(guessed(trace.guessed_patch_types()));
                InputFacts {
                    format: Format::Trace,
                    packing,
                    description: source.get("description").and_then(Value::as_str).map(str::to_owned),
                    spec: source.get("spec").cloned(),
                    source,
                    digest: trace.digest(),
                    warnings: trace.take_warnings().into_vec(),
                    losses,
                }
            }
            Requests::Replay(profile) => InputFacts {
                format: Format::KperfReplay,
                packing,
                source: Map::new(),
                description: profile.description().map(str::to_owned),
                spec: profile.spec().and_then(as_value),
                digest: profile.digest(),
                warnings: profile.take_warnings().into_vec(),
                losses: profile.losses(),
            },
        }
    }
}

fn as_value(spec: &ReplaySpec) -> Option<Value> {
    serde_json::to_value(spec).ok()
}

fn guessed(count: u64) -> Option<Loss> {
    let text = "A PATCH came without a content type: JSON Patch was taken for lists, strategic merge for Kubernetes' \
                own resources, merge for all others.";
    (count > 0).then(|| Loss::of_changes("patch_type_guessed", count, text))
}

impl Iterator for Input {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.requests {
            Requests::Trace(trace) => trace.next(),
            Requests::Replay(profile) => profile.next(),
        }
    }
}
