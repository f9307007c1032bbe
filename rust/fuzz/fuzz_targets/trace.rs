//! Any bytes are a trace or an error, and what was read and written again is read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::load::Request;
use perfq_core::load::trace::{MemoryBodies, Options, Parser, Writer};
use serde_json::Map;

fn read(bytes: &[u8]) -> Option<Vec<Request>> {
    let mut parser = Parser::new(MemoryBodies::default(), Options { allow_unknown: true, digest: true });
    let mut found = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        found.extend(parser.line(line).ok()?);
    }
    parser.finish().ok().map(|()| found)
}

fuzz_target!(|bytes: &[u8]| {
    let Some(found) = read(bytes).or_else(|| read(&[&b"{\"schema\":\"perfq.trace/v1\"}\n"[..], bytes].concat())) else {
        return;
    };
    let mut writer = Writer::default();
    let mut lines = Vec::new();
    for request in &found {
        writer.request(request, &mut lines).unwrap();
    }
    let mut file = writer.header(Map::new(), Vec::new()).line();
    file.extend_from_slice(lines.strip_suffix(b"\n").unwrap());
    assert_eq!(read(&file), Some(found));
});
