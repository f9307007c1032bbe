//! `/proc/<pid>/stat` of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = perfq_engine::sampler::proc_stat::parse(bytes);
});
