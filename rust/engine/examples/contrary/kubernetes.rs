//! Answers that look like Kubernetes': objects, lists, events and Statuses of no particular kind.

use bytes::Bytes;
use serde_json::{Value, json};

/// The resourceVersion of all that is listed.
pub(crate) const VERSION: u64 = 1000;

/// What a path is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    api_version: String,
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    query: String,
}

impl Target {
    /// Reads `/api/v1/…` and `/apis/GROUP/VERSION/…`, also below a base path; `None` for all else.
    pub(crate) fn parse(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut parts =
            path.split('/').filter(|part| !part.is_empty()).skip_while(|part| !matches!(*part, "api" | "apis"));
        let api_version = match parts.next()? {
            "api" => parts.next()?.to_owned(),
            _ => format!("{}/{}", parts.next()?, parts.next()?),
        };
        let mut first = parts.next()?;
        let mut namespace = None;
        let rest: Vec<&str> = parts.collect();
        let mut rest = rest.as_slice();
        if first == "namespaces" && rest.len() >= 2 {
            (namespace, first, rest) = (Some(rest[0].to_owned()), rest[1], &rest[2..]);
        }
        let name = rest.first().map(|&name| name.to_owned());
        Some(Self { api_version, resource: first.to_owned(), namespace, name, query: query.to_owned() })
    }

    /// A parameter of the query, as it stands there.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    }

    /// Whether the query asks for a watch.
    pub(crate) fn is_watch(&self) -> bool {
        matches!(self.parameter("watch"), Some("1" | "true"))
    }

    /// A kind made of the resource: `configmaps` gives `Configmap`.
    fn kind(&self) -> String {
        let singular = self.resource.strip_suffix('s').unwrap_or(&self.resource);
        singular.chars().enumerate().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c }).collect()
    }

    fn object(&self, version: u64) -> Value {
        let name = self.name.clone().unwrap_or_else(|| format!("made-{version}"));
        let mut metadata = json!({"name": name, "uid": format!("00000000-0000-4000-8000-{version:012}"),
            "resourceVersion": version.to_string(), "creationTimestamp": "2026-01-01T00:00:00Z"});
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = json!(namespace);
        }
        json!({"kind": self.kind(), "apiVersion": self.api_version, "metadata": metadata})
    }
}

/// Status and body for a request that nothing bad happens to.
pub(crate) fn answer(method: &str, target: &str) -> (u16, Bytes) {
    let Some(about) = Target::parse(target) else {
        return (
            200,
            Bytes::from_static(br#"{"major":"1","minor":"36","gitVersion":"v1.36.0","platform":"linux/amd64"}"#),
        );
    };
    let (status, body) = match (method, about.name.is_some()) {
        ("POST", _) => (201, about.object(VERSION + 1)),
        ("GET", false) => {
            let items: Vec<Value> = (0..2).map(|at| about.object(VERSION - at)).collect();
            let kind = format!("{}List", about.kind());
            let metadata = json!({"resourceVersion": VERSION.to_string()});
            (200, json!({"kind": kind, "apiVersion": about.api_version, "metadata": metadata, "items": items}))
        }
        ("DELETE", _) => (200, status_document(200, "Success", "")),
        _ => (200, about.object(VERSION)),
    };
    (status, Bytes::from(body.to_string()))
}

/// A Status of a failure, with the reason that the real server gives for the code.
pub(crate) fn failure(code: u16) -> Bytes {
    Bytes::from(status_document(code, "Failure", reason(code)).to_string())
}

fn status_document(code: u16, status: &str, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": status,
        "message": format!("the contrary server says {code}"), "reason": reason, "code": code})
}

fn reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}

fn line(kind: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{}\n", json!({"type": kind, "object": object})))
}

/// One event of a watch.
pub(crate) fn event(kind: &str, target: &Target, version: u64) -> Bytes {
    line(kind, &target.object(version))
}

/// A bookmark; the one that ends the initial events says so.
pub(crate) fn bookmark(target: &Target, version: u64, initial: bool) -> Bytes {
    let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
    if initial {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    line("BOOKMARK", &json!({"kind": target.kind(), "apiVersion": target.api_version, "metadata": metadata}))
}

/// The event that tells a watch that its version is too old.
pub(crate) fn gone() -> Bytes {
    line("ERROR", &status_document(410, "Failure", "Expired"))
}
