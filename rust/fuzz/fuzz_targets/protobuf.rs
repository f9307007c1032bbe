//! Any bytes are an object in Kubernetes' protobuf that becomes JSON, or a Status.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::fuzzing::{protobuf_body, protobuf_envelope};
use perfq_engine::api_server::semantics::kinds;
use serde_json::Value;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let all = kinds::all();
    let kind = all[usize::from(choice) % all.len()].kind;
    for read in [protobuf_body(kind, bytes), protobuf_envelope(bytes)] {
        let text = read.unwrap_or_else(|status| status);
        serde_json::from_slice::<Value>(&text).expect("an object or a Status, as JSON");
    }
});
