//! Any bytes are a JSON Patch that applies to an object, or an error that has a Status.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::patch::json_patch;
use serde_json::Value;

fuzz_target!(|input: (&[u8], &[u8])| {
    let Ok(target) = serde_json::from_slice::<Value>(input.0) else { return };
    match json_patch::apply(&target, input.1) {
        Ok(patched) => assert_eq!(json_patch::apply(&target, input.1), Ok(patched)),
        Err(error) => assert!(!error.to_status().to_json().is_empty()),
    }
});
