//! A profile of any bytes: a plan of it is made only where no rule is broken.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::workload::{Plan, Profile};

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = serde_json::from_slice::<Profile>(bytes) else { return };
    let broken = !profile.violations().is_empty();
    let small = profile.object_count <= 1_000 && profile.duration_seconds <= 10 && profile.peak_rate() <= 1_000;
    if broken || small {
        assert_eq!(Plan::new(profile).is_err(), broken);
    }
});
