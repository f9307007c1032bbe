//! Against what the real server's own libraries made of the same patches (tests/vectors/patches).

use std::path::Path;

use serde_json::Value;

use super::{PatchError, json_patch, merge_patch, strategic};
use crate::api_server::semantics::schema;

fn patched(kind: &str, original: &Value, patch: &[u8]) -> Result<Value, PatchError> {
    match kind {
        "strategic" => strategic::apply(original, patch, schema::find("Pod").unwrap()),
        "json" => json_patch::apply(original, patch),
        "merge" => merge_patch::apply(original, patch),
        other => panic!("no kind of patch: {other}"),
    }
}

#[test]
fn patches_lead_where_the_libraries_of_the_real_server_lead() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/patches.ndjson");
    let text = std::fs::read_to_string(file).unwrap();
    let mut different = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let (kind, patch) = (vector["kind"].as_str().unwrap(), vector["patch"].to_string());
        let expected = vector.get("result").ok_or(vector["code"].as_u64().unwrap_or(0));
        let ours = patched(kind, &vector["original"], patch.as_bytes());
        let ours = ours.as_ref().map_err(|e| u64::from(e.to_status().code));
        if ours != expected {
            different.push(format!("line {}, {kind}: {patch}\n  expected {expected:?}\n  got      {ours:?}", i + 1));
        }
    }
    assert!(text.lines().count() > 400);
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different[..different.len().min(5)].join("\n"));
}
