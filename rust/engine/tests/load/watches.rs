//! Watches: how long they live, what is counted, and how they go on.

use crate::bench::{Streamed, finish, ok, segment, serve, start, streamed, trace};
use hyper::body::Bytes;
use hyper::{Request, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) const ADDED: &str =
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}}\n";
const BOOKMARK: &str = concat!(
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":",
    "{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
);

pub(crate) fn watch(t_us: u64, watch_us: Option<u64>, query: &str) -> Value {
    let mut line = json!({"t_us": t_us, "verb": "WATCH", "path": "/api/v1/pods", "query": query});
    if let Some(watch_us) = watch_us {
        line["watch_us"] = watch_us.into();
    }
    line
}

fn get(t_us: u64) -> Value {
    json!({"t_us": t_us, "verb": "GET", "path": "/api/v1/namespaces/a/pods/x"})
}

pub(crate) fn held(events: &'static str) -> (Response<crate::bench::Body>, Streamed) {
    let (body, sender) = streamed();
    sender.send(Ok(Bytes::from_static(events.as_bytes()))).unwrap();
    (Response::new(body), sender)
}

#[test]
fn a_watch_lives_as_long_as_the_trace_says_and_takes_no_slot_over_both_protocols() {
    let address = serve(|request| async move {
        if request.uri().path().ends_with("/x") {
            return ok("x");
        }
        let (answer, sender) = held(ADDED);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(sender);
        });
        answer
    });
    let mut lines: Vec<Value> = (0..3).map(|_| watch(0, Some(300_000), "watch=true")).collect();
    lines.extend((0..20).map(|i| get(i * 10_000)));
    for protocol in ["http1", "http2"] {
        let (_file, source) = trace(&lines);
        let segments = json!([segment(&source, &json!({"protocol": protocol, "connections": 1, "in_flight": 1}))]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        let end = &result.segments[0];
        assert_eq!((end.planned, end.ok, end.watches.opened, end.watches.events), (23, 23, 3, 3), "{protocol}");
        assert!(end.wall_ns >= 300_000_000, "{protocol}: {}", end.wall_ns);
        assert_eq!(end.end_ns, Some(300_000_000));
        assert_eq!(end.connections.opened, if protocol == "http1" { 4 } else { 1 });
    }
}

#[test]
fn a_watch_without_a_length_is_closed_with_the_run_and_is_ok() {
    let address = serve(|request| async move {
        if request.uri().path().ends_with("/x") {
            return ok("x");
        }
        let (answer, sender) = held(ADDED);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(sender);
        });
        answer
    });
    let (_file, source) = trace(&[watch(0, None, "watch=true"), get(1_000), get(100_000)]);
    let (result, _) = finish(&start(address, &json!([segment(&source, &json!({}))]), &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.ok, end.cancelled, end.watches.ended), (3, 0, 1));
    assert!(end.wall_ns < 3_000_000_000, "{}", end.wall_ns);
}

#[test]
fn a_recorded_watch_begins_at_the_version_of_a_list_just_before_it_over_both_protocols() {
    for protocol in ["http1", "http2"] {
        let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        let address = serve(move |request: Request<_>| {
            let query = request.uri().query().unwrap_or("").to_owned();
            record.lock().push(query.clone());
            async move {
                if query.contains("limit=1") {
                    return ok("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"50\",\"continue\":\"t1\"}}");
                }
                let (answer, sender) = held(ADDED);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(100)).await;
                    drop(sender);
                });
                answer
            }
        });
        let recorded = watch(0, Some(300_000), "resourceVersion=7&labelSelector=a&watch=true");
        let (_file, mut source) = trace(&[recorded, get(1_000)]);
        source["trace"]["rewrite"] = json!({"skip": ["GET"]});
        let segments = json!([segment(&source, &json!({"protocol": protocol}))]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        let end = &result.segments[0];
        assert_eq!((end.planned, end.ok, end.watches.events), (1, 1, 1), "{protocol}: {end:?}");
        let expected = ["labelSelector=a&limit=1", "resourceVersion=50&labelSelector=a&watch=true"];
        assert_eq!(*seen.lock(), expected, "{protocol}");
    }
}

#[test]
fn a_watch_list_ends_with_its_bookmark_and_fails_without() {
    let asked = Arc::new(AtomicU32::new(0));
    let address = serve(move |_| {
        let nth = asked.fetch_add(1, Ordering::Relaxed);
        async move {
            if nth == 1 {
                return ok(ADDED);
            }
            let (answer, sender) = held(ADDED);
            sender.send(Ok(Bytes::from_static(BOOKMARK.as_bytes()))).unwrap();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(100)).await;
                drop(sender);
            });
            answer
        }
    });
    let mix = json!({"mix": {"seed": 1, "stages": [], "total": 2, "requests": [{"shares": 1, "request":
        {"shape": "plain", "verb": "WATCH", "collection": "/api/v1/pods", "until_initial_bookmark": true}}]}});
    let segments = json!([segment(&mix, &json!({"rate": 0.0, "connections": 1, "in_flight": 1}))]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.planned, end.ok, end.watches.bookmarks), (2, 1, 1));
    assert_eq!(end.errors, [("unknown/don't receive bookmark".to_owned(), 1)].into());
}

#[test]
fn a_closed_loop_has_no_more_watch_lists_open_than_may_be_in_flight() {
    for protocol in ["http1", "http2"] {
        let (open, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (now, seen) = (Arc::clone(&open), Arc::clone(&most));
        let address = serve(move |_| {
            seen.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let now = Arc::clone(&now);
            async move {
                let (answer, sender) = held(ADDED);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    now.fetch_sub(1, Ordering::Relaxed);
                    let _ = sender.send(Ok(Bytes::from_static(BOOKMARK.as_bytes())));
                });
                answer
            }
        });
        let mix = json!({"mix": {"seed": 1, "stages": [], "total": 200, "requests": [{"shares": 1, "request":
            {"shape": "plain", "verb": "WATCH", "collection": "/api/v1/pods", "until_initial_bookmark": true}}]}});
        let segments = json!([segment(&mix, &json!({"rate": 0.0, "in_flight": 4, "protocol": protocol}))]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        assert_eq!((result.segments[0].planned, result.segments[0].ok), (200, 200), "{protocol}");
        assert_eq!(most.load(Ordering::Relaxed), 4, "{protocol}");
    }
}

#[test]
fn a_silent_watch_times_out_and_a_quiet_one_is_left_alone_where_asked() {
    let address = serve(|_| async move {
        let (answer, sender) = held(ADDED);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(sender);
        });
        answer
    });
    for (changes, expected) in
        [(json!({"timeout_ms": 200}), (0, 1)), (json!({"timeout_ms": 200, "watch_timeout_ms": 60_000}), (1, 0))]
    {
        let (_file, source) = trace(&[watch(0, Some(800_000), "watch=true")]);
        let (result, _) = finish(&start(address, &json!([segment(&source, &json!({}))]), &changes));
        assert_eq!((result.segments[0].ok, result.segments[0].timed_out), expected);
    }
}
