//! Any text is a field selector of a kind or a Status; a selector matches or does not, whatever the object.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::field_selector::FieldSelector;
use perfq_engine::api_server::semantics::kinds;
use serde_json::Value;

fuzz_target!(|input: (&str, &[u8])| {
    let (text, object) = input;
    let object: Value = serde_json::from_slice(object).unwrap_or_default();
    for kind in kinds::all() {
        match FieldSelector::parse(text, kind) {
            Ok(selector) => {
                let matched = selector.matches_object(&object);
                assert!(!selector.is_empty() || matched, "an empty selector matches everything");
            }
            Err(status) => assert!(!status.to_json().is_empty()),
        }
    }
});
