//! The hashes and lines of `tests/vectors/workload-v1.json`, made by an independent oracle.

use perfq_core::workload::{Plan, Profile};
use serde_json::Value;

fn text(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
    let mut out = Vec::new();
    write(&mut |bytes: &[u8]| out.extend_from_slice(bytes));
    String::from_utf8(out).unwrap()
}

#[test]
fn every_vector_is_reproduced() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/workload-v1.json");
    let vectors: serde_json::Map<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(vectors.len() >= 16);
    for (id, vector) in &vectors {
        let line = vector["profile_line"].as_str().unwrap();
        let profile: Profile = serde_json::from_str(line).unwrap();
        let plan = Plan::new(profile).unwrap();
        assert_eq!(text(|sink| plan.write_profile(sink)).trim_end(), line, "{id}");
        let hashes = plan.hashes();
        assert_eq!(hashes.profile, vector["profile_hash"], "{id}");
        assert_eq!(hashes.objects, vector["object_hash"], "{id}");
        assert_eq!(hashes.events, vector["event_hash"], "{id}");
        assert_eq!(hashes.finals, vector["final_hash"], "{id}");
        assert_eq!(plan.event_count(), vector["events"], "{id}");
        let events = text(|sink| plan.write_events(sink));
        assert_eq!(events.lines().next().unwrap(), vector["first_event"], "{id}");
        assert_eq!(events.lines().last().unwrap(), vector["last_event"], "{id}");
    }
}

#[test]
fn an_extended_plan_has_the_plan_as_its_prefix() {
    let profile: Profile = serde_json::from_str(
        r#"{"schema_version":1,"id":"x","seed":3,"object_count":9,"namespace_count":3,"steady_events_per_second":7,"duration_seconds":4}"#,
    )
    .unwrap();
    let plan = Plan::new(profile).unwrap();
    let longer = plan.extended(3).unwrap();
    assert_eq!(longer.event_count(), plan.event_count() + 21);
    assert!(plan.events().zip(longer.events()).all(|(a, b)| a == b));
}
