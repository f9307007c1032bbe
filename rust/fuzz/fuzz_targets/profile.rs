//! Any text is a profile with or without violations, and one without them can be planned: its
//! canonical line reads back as itself, and a longer plan begins with the shorter one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::workload::{Plan, Profile};

const SMALL: u64 = 20_000;

fuzz_target!(|text: &[u8]| {
    let Ok(profile) = serde_json::from_slice::<Profile>(text) else { return };
    let violations = profile.violations();
    if u64::from(profile.object_count) > SMALL || profile.event_count() > SMALL {
        return;
    }
    match Plan::new(profile.clone()) {
        Ok(plan) => {
            assert!(violations.is_empty());
            let mut line = Vec::new();
            plan.write_profile(&mut |piece| line.extend_from_slice(piece));
            assert_eq!(serde_json::from_slice::<Profile>(&line).unwrap(), profile);
            assert_eq!(plan.events().count() as u64, profile.event_count());
            if let Ok(longer) = plan.extended(1) {
                assert!(plan.events().zip(longer.events()).all(|(a, b)| a == b));
            }
        }
        Err(found) => assert_eq!(found, violations),
    }
});
