//! The first line of a trace.

use super::line::broken;
use crate::digest;
use crate::load::seen::quoted;
use crate::load::warnings::Warnings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The schema of this version.
pub const SCHEMA: &str = "perfq.trace/v1";

/// Something that the trace's source had and the trace has not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// A short name, the same for all of one kind: `no_body`.
    pub loss: String,
    /// How many.
    pub count: u64,
    /// One sentence for people.
    pub text: String,
    /// What is counted, where it is not requests that the trace has not: `line`, `change`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Where the first one stood in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

impl Loss {
    /// Requests that the trace has not.
    pub fn of_requests(loss: &str, count: u64, text: &str) -> Self {
        Self { loss: loss.to_owned(), count, text: text.to_owned(), ..Self::default() }
    }

    /// Requests that are there, but not as they were recorded.
    pub fn of_changes(loss: &str, count: u64, text: &str) -> Self {
        Self { of: Some("change".to_owned()), ..Self::of_requests(loss, count, text) }
    }
}

/// The first line: where the trace comes from, and what it lost on the way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the trace was made from; free.
    pub source: Map<String, Value>,
    /// SHA-256 over all lines after this one, each with a line feed, as hex; `None` is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Counts by name; `requests`, where it is there, must be how many follow.
    pub counts: Map<String, Value>,
    /// What was lost.
    pub losses: Vec<Loss>,
}

impl Default for Header {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), source: Map::new(), digest: None, counts: Map::new(), losses: Vec::new() }
    }
}

impl Header {
    /// The header's line, with its line feed.
    pub fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// Reads the first line. The error is one clause without a place.
    pub(super) fn read(bytes: &[u8], allow_unknown: bool, warnings: &mut Warnings) -> Result<Self, String> {
        let no_trace =
            |why: &str| format!("no perfq trace: the first line must be {{\"schema\":\"{SCHEMA}\",…}}, but {why}");
        let mut fields: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|error| no_trace(&format!("it is {}", broken(&error))))?;
        match fields.remove("schema") {
            Some(Value::String(schema)) if schema == SCHEMA => {}
            Some(Value::String(other)) if other.starts_with("perfq.trace/") => {
                return Err(format!("schema is {}: this perfq reads {SCHEMA}", quoted(&other)));
            }
            Some(other) => return Err(no_trace(&format!("schema is {}", quoted(&other.to_string())))),
            None => return Err(no_trace("it has no schema")),
        }
        let mut header = Self::default();
        for (key, value) in fields {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("source", Value::Object(source)) => header.source = source,
                ("counts", Value::Object(counts)) => header.counts = counts,
                ("digest", Value::String(digest)) if digest::from_hex(&digest).is_some() => {
                    header.digest = Some(digest);
                }
                ("digest", other) => {
                    return Err(format!(
                        "digest is {}: 64 lower-case hex digits were expected",
                        quoted(&other.to_string())
                    ));
                }
                ("losses", losses @ Value::Array(_)) => {
                    header.losses = serde_json::from_value(losses).map_err(|error| {
                        format!("losses: {error}; each is {{\"loss\":\"…\",\"count\":…,\"text\":\"…\"}}")
                    })?;
                }
                ("source" | "counts", _) => return Err(format!("{key} must be an object")),
                ("losses", _) => return Err("losses must be a list".to_owned()),
                _ if allow_unknown => warnings.add(Some(1), &format!("the header's key {} is unknown", quoted(&key))),
                _ => {
                    return Err(format!(
                        "the header's key {} is unknown: schema, source, digest, counts and losses are known",
                        quoted(&key)
                    ));
                }
            }
        }
        if let Some(value) = header.counts.get("requests")
            && !value.is_u64()
        {
            return Err(format!("counts.requests is {value}: an integer of at least 0 was expected"));
        }
        Ok(header)
    }
}
