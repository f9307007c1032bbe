//! `spec` of a replay profile: how many runners, each with how many connections and requests in flight.

use super::events::{Characters, Events, at};
use super::fields::{Fields, Strictness};
use crate::load::request::RequestError;
use crate::load::seen::quoted;
use serde::Serialize;

const KEYS: [&str; 5] = ["runnerCount", "connsPerRunner", "clientsPerRunner", "contentType", "disableHTTP2"];
/// More of anything is a slip of the pen.
const MOST: i64 = 1_000_000;

/// In kperf's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplaySpec {
    /// Runners, at least 1.
    pub runner_count: u32,
    /// Connections of each, at least 1.
    pub conns_per_runner: u32,
    /// Requests in flight of each: as many as connections where the file has none or 0.
    pub clients_per_runner: u32,
    /// json or protobuf: what responses are asked for.
    pub content_type: String,
    /// HTTP/1.1 instead of HTTP/2.
    #[serde(rename = "disableHTTP2")]
    pub disable_http2: bool,
}

impl ReplaySpec {
    /// Reads the mapping whose beginning was given.
    pub(super) fn read<I: Characters>(
        events: &mut Events<I>,
        line: u64,
        strictness: &mut Strictness<'_>,
    ) -> Result<Self, RequestError> {
        let fields = Fields::read(events, &KEYS, line, strictness)?;
        let count = |key: &str, least: i64| {
            let value = fields.integer(key, least, MOST)?;
            Ok::<_, RequestError>(value.map(|value| u32::try_from(value).unwrap_or(u32::MAX)))
        };
        let needed = |key: &str| count(key, 1)?.ok_or_else(|| at(line, format!("spec needs {key}")));
        let conns_per_runner = needed("connsPerRunner")?;
        let content_type = match fields.text("contentType") {
            "" => "json",
            known @ ("json" | "protobuf") => known,
            other => {
                let text = format!("contentType is {}: json or protobuf was expected", quoted(other));
                return Err(at(fields.line_of("contentType"), text));
            }
        };
        Ok(Self {
            runner_count: needed("runnerCount")?,
            conns_per_runner,
            clients_per_runner: count("clientsPerRunner", 0)?
                .filter(|clients| *clients > 0)
                .unwrap_or(conns_per_runner),
            content_type: content_type.to_owned(),
            disable_http2: fields.boolean("disableHTTP2")?.unwrap_or(false),
        })
    }
}
