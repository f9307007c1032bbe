//! Any bytes are a merge patch that applies to an object, or an error; applied twice it changes nothing more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::patch::merge_patch;
use serde_json::Value;

fuzz_target!(|input: (&[u8], &[u8])| {
    let Ok(target) = serde_json::from_slice::<Value>(input.0) else { return };
    match merge_patch::apply(&target, input.1) {
        Ok(once) => assert_eq!(merge_patch::apply(&once, input.1), Ok(once.clone())),
        Err(error) => assert!(!error.to_status().to_json().is_empty()),
    }
});
