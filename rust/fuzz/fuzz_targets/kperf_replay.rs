//! Any text is a replay profile or an error, and each of its requests can be written down in a trace.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::load::kperf_replay::{ReplayRequests, document_kind};
use perfq_core::load::trace::Writer;

const TOP: &str = "version: 1\nspec: {runnerCount: 1, connsPerRunner: 1}\nrequests:\n";

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), format!("{TOP}{text}")] {
        let characters = || text.chars().collect::<Vec<_>>().into_iter();
        let _ = document_kind(characters());
        let mut writer = Writer::default();
        for request in ReplayRequests::new(characters(), true).map_while(Result::ok) {
            writer.request(&request, &mut Vec::new()).unwrap();
        }
    }
});
