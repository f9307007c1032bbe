//! Runs from end to end.

use crate::bench::{finish, gets, ok, segment, serve, start, status};
use perfq_engine::load::{FailureClass, State};
use serde_json::json;

#[test]
fn every_planned_request_is_sent_and_counted_once_over_both_protocols() {
    let address = serve(|_| async { ok("hello") });
    let second = json!([{"duration_us": 200_000, "from_micros": 500_000_000, "to_micros": 500_000_000}]);
    let segments = json!([
        segment(&gets(&second, None), &json!({})),
        segment(&gets(&second, None), &json!({"protocol": "http2", "runners": 2, "in_flight": 8})),
    ]);
    let (result, progress) = finish(&start(address, &segments, &json!({})));
    assert_eq!((progress.state, result.failure.is_none()), (State::Ended, true));
    let counts: Vec<_> = result.segments.iter().map(|s| (s.planned, s.ok, s.bytes, s.connections.opened)).collect();
    assert_eq!(counts, [(100, 100, 500, 2), (200, 200, 1000, 4)]);
}

#[test]
fn a_closed_loop_sends_its_total() {
    let address = serve(|_| async { ok("x") });
    let segments = json!([segment(&gets(&json!([]), Some(1_000)), &json!({"rate": 0.0}))]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    assert_eq!((result.segments[0].planned, result.segments[0].ok), (1_000, 1_000));
}

#[test]
fn nobody_there_is_told_before_the_start() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let segments = json!([segment(&gets(&json!([]), Some(1)), &json!({}))]);
    let (result, progress) = finish(&start(free, &segments, &json!({})));
    assert_eq!((progress.state, result.segments.len()), (State::Failed, 0));
    let failure = result.failure.unwrap();
    assert_eq!(failure.class, FailureClass::Refused);
    assert!(failure.text.contains(&free.to_string()), "{}", failure.text);
}

#[test]
fn another_status_is_an_error_under_its_number_and_no_redirect_is_followed() {
    for (code, key) in [(302, "http/302"), (404, "http/404"), (500, "http/500")] {
        let address = serve(move |_| async move { status(code) });
        let segments = json!([segment(&gets(&json!([]), Some(10)), &json!({"rate": 0.0}))]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        assert_eq!(result.segments[0].errors, [(key.to_owned(), 10)].into());
    }
}

#[test]
fn samples_are_in_their_file_while_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("samples.ndjson");
    let address = serve(|_| async { ok("x") });
    let stage = json!([{"duration_us": 600_000_000, "from_micros": 20_000_000, "to_micros": 20_000_000}]);
    let run = start(address, &json!([segment(&gets(&stage, None), &json!({}))]), &json!({"raw_data": &*raw}));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while std::fs::metadata(&raw).unwrap().len() == 0 {
        assert!(std::time::Instant::now() < until, "nothing was written");
        std::thread::yield_now();
    }
    run.stop("enough");
    let (result, _) = finish(&run);
    let lines = std::fs::read_to_string(&raw).unwrap().lines().count() as u64;
    assert_eq!(
        (result.segments[0].ok, result.segments[0].raw_data.as_ref().map(|raw| raw.lines)),
        (lines, Some(lines))
    );
}

#[test]
fn a_stop_is_over_when_nothing_is_on_the_wire_any_more() {
    let address = serve(|_| async { ok("x") });
    // Less than the shortest wait that a stop can cut short lies between two of them.
    let stage = json!([{"duration_us": 600_000_000, "from_micros": 500_000_000, "to_micros": 500_000_000}]);
    let run = start(address, &json!([segment(&gets(&stage, None), &json!({}))]), &json!({}));
    while run.progress().ok == 0 {
        std::thread::yield_now();
    }
    run.stop("enough");
    let (result, _) = finish(&run);
    let end = &result.segments[0];
    assert_eq!(end.planned, end.ok + end.cancelled + end.not_sent);
    assert_eq!(end.cancelled, 0);
    // Its limit is 5 s.
    assert!(end.drain_ns < 4_000_000_000, "{}", end.drain_ns);
}
