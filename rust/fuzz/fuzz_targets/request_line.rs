//! Any path, query and continue token is understood or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::fuzzing::{page_token, request_line};

fuzz_target!(|input: (&str, &str, &str)| {
    let (path, query, text) = input;
    request_line(path, query, text);
    page_token(text);
});
