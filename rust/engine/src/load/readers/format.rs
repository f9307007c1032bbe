//! What a file is, told by its content.

use super::compression::{Packing, Unpacked};
use super::replay::yaml_kind;
use perfq_core::load::kperf_replay::DocumentKind;
use perfq_core::load::trace::SCHEMA;
use serde::Serialize;
use std::io::{self, Read};
use std::path::Path;

/// The inputs of `perfq load`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `perfq.trace/v1`.
    Trace,
    /// kperf's replay profile.
    KperfReplay,
    /// kperf's runner group over a replay profile.
    KperfReplayGroup,
    /// kperf's load profile.
    KperfLoad,
    /// kperf's runner group over a load profile.
    KperfLoadGroup,
    /// An API server's audit log, which is imported first.
    AuditLog,
    /// None of them.
    Unknown,
}

/// So many bytes are looked at for the first line of JSON.
const HEAD: u64 = 256 * 1024;

/// Tells what a file is, and how it is packed. Reads no further than it must.
pub fn detect(path: &Path) -> io::Result<(Format, Packing)> {
    let mut head = Vec::new();
    let stream = Unpacked::open(path)?;
    let packing = stream.packing();
    stream.take(HEAD).read_to_end(&mut head)?;
    let text = head.trim_ascii_start();
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or(text);
    if let Ok(serde_json::Value::Object(line)) = serde_json::from_slice(first) {
        let text = |key| line.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        if text("schema").starts_with("perfq.trace/") {
            return Ok((Format::Trace, packing));
        }
        if text("apiVersion").starts_with("audit.k8s.io/") {
            return Ok((Format::AuditLog, packing));
        }
    }
    let contains = |what: &str| memchr::memmem::find(first, what.as_bytes()).is_some();
    // A trace or log whose first line is broken is reported by its own reader.
    if contains(SCHEMA) {
        return Ok((Format::Trace, packing));
    }
    if contains("audit.k8s.io/") {
        return Ok((Format::AuditLog, packing));
    }
    let format = match yaml_kind(Unpacked::open(path)?) {
        Some(DocumentKind::Replay) => Format::KperfReplay,
        Some(DocumentKind::ReplayGroup) => Format::KperfReplayGroup,
        Some(DocumentKind::Load) => Format::KperfLoad,
        Some(DocumentKind::LoadGroup) => Format::KperfLoadGroup,
        None => Format::Unknown,
    };
    Ok((format, packing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.name");
        for (text, format) in [
            ("{\"schema\":\"perfq.trace/v1\"}\n", Format::Trace),
            ("\n{\"schema\":\"perfq.trace/v9\"}\n", Format::Trace),
            ("{\"schema\":\"perfq.trace/v1\"", Format::Trace),
            ("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}\n", Format::AuditLog),
            (
                "2026-01-01T00:00:00Z stdout F {\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}\n",
                Format::AuditLog,
            ),
            ("version: 1\nspec: {runnerCount: 1}\n", Format::KperfReplay),
            ("{\"version\": 1, \"requests\": []}", Format::KperfReplay),
            ("count: 1\nreplayProfile: a\n", Format::KperfReplayGroup),
            ("count: 1\nloadProfile: {}\n", Format::KperfLoadGroup),
            ("specs: []\n", Format::KperfLoad),
            ("hello", Format::Unknown),
            ("", Format::Unknown),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(detect(&path).unwrap(), (format, Packing::Plain), "{text}");
        }
    }
}
