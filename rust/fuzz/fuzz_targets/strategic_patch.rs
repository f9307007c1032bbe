//! Any bytes are a strategic merge patch of any kind of object, or an error that has a Status.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::patch::strategic;
use perfq_engine::api_server::semantics::{kinds, schema};
use serde_json::Value;

fuzz_target!(|input: (u8, &[u8], &[u8])| {
    let (choice, target, patch) = input;
    let Ok(target) = serde_json::from_slice::<Value>(target) else { return };
    let all = kinds::all();
    let Some(of) = schema::of_kind(&all[usize::from(choice) % all.len()]) else { return };
    if let Err(error) = strategic::apply(&target, patch, of) {
        assert!(!error.to_status().to_json().is_empty());
    }
});
