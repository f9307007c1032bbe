//! Any object, as anyone may have created it, becomes a table of its kind that is JSON, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::kinds;
use perfq_engine::api_server::semantics::table::{IncludeObject, MetaVersion, TableOptions, write_object_table};
use serde_json::Value;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, object) = input;
    // What the store holds has been parsed before.
    if serde_json::from_slice::<Value>(object).is_err() {
        return;
    }
    let all = kinds::all();
    let kind = &all[usize::from(choice) % all.len()];
    for include in [IncludeObject::None, IncludeObject::Metadata, IncludeObject::Object] {
        let options = TableOptions { include, version: MetaVersion::V1 };
        let mut out = Vec::new();
        if write_object_table(&mut out, kind, object, options, true).is_ok() {
            serde_json::from_slice::<Value>(&out).expect("a table is JSON");
        }
    }
});
