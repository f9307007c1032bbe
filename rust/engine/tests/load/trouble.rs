//! Servers that hang, refuse, reset and cut off: each request is counted once, under what became of it.

use crate::bench::{finish, gets, never, ok, segment, serve, start, status, streamed, trace};
use hyper::Response;
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Requests a second for so long.
fn rate(per_second: u64, ms: u64) -> Value {
    let micros = per_second * 1_000_000;
    gets(&json!([{"duration_us": ms * 1000, "from_micros": micros, "to_micros": micros}]), None)
}

#[test]
fn against_a_server_that_hangs_the_deadline_ends_the_run() {
    let address = serve(|_| never());
    for protocol in ["http1", "http2"] {
        let began = Instant::now();
        let segments = json!([segment(&rate(100, 300), &json!({"protocol": protocol, "in_flight": 2}))]);
        let (result, _) = finish(&start(address, &segments, &json!({"grace_ms": 300})));
        let end = &result.segments[0];
        assert_eq!((end.planned, end.cancelled, end.not_sent, end.ok), (30, 2, 28, 0), "{protocol}");
        assert!(end.drain_ns >= 300_000_000 && began.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_request_without_an_answer_times_out_and_its_slot_is_free_again() {
    let asked = Arc::new(AtomicU32::new(0));
    let address = serve(move |_| {
        let first = asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move { if first { never().await } else { ok("x") } }
    });
    for protocol in ["http1", "http2"] {
        let changes = json!({"protocol": protocol, "connections": 1, "in_flight": 1, "rate": 0.0});
        let segments = json!([segment(&gets(&json!([]), Some(4)), &changes)]);
        let (result, _) = finish(&start(address, &segments, &json!({"timeout_ms": 150})));
        let end = &result.segments[0];
        assert_eq!((end.ok, end.timed_out), (2, 2), "{protocol}");
        assert_eq!(end.connections.reconnects > 0, protocol == "http1", "{protocol}");
    }
}

#[test]
fn a_stop_sends_nothing_more_and_waits_for_what_is_in_flight() {
    let address = serve(|_| async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        ok("x")
    });
    let run = start(address, &json!([segment(&rate(100, 60_000), &json!({"in_flight": 2}))]), &json!({}));
    while run.progress().in_flight < 2 {
        std::thread::yield_now();
    }
    run.stop("enough");
    run.stop("again");
    let (result, progress) = finish(&run);
    let end = &result.segments[0];
    assert_eq!((end.planned, end.cancelled, end.stopped.as_deref()), (6_000, 0, Some("enough")));
    assert!(end.ok >= 2 && end.not_sent >= 5_000, "{end:?}");
    assert_eq!(progress.stopped.as_deref(), Some("enough"));
}

#[test]
fn a_429_is_sent_again_as_often_as_asked_and_no_more() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let address = serve(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Response::builder().status(429).header("retry-after", "0").body(crate::bench::full("")).unwrap() }
    });
    for (max_retries, sends) in [(0, 1), (3, 4)] {
        asked.store(0, Ordering::Relaxed);
        let changes = json!({"max_retries": max_retries, "rate": 0.0});
        let segments = json!([segment(&gets(&json!([]), Some(1)), &changes)]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        let end = &result.segments[0];
        assert_eq!((end.errors.get("http/429"), end.retries, end.sent), (Some(&1), max_retries, 1));
        assert_eq!(asked.load(Ordering::Relaxed), sends);
    }
}

#[test]
fn a_429_without_a_time_to_wait_is_no_retry() {
    let address = serve(|_| async { status(429) });
    let segments = json!([segment(&gets(&json!([]), Some(1)), &json!({"max_retries": 3, "rate": 0.0}))]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    assert_eq!((result.segments[0].retries, result.segments[0].errors.get("http/429")), (0, Some(&1)));
}

#[test]
fn a_body_that_is_cut_off_is_an_error() {
    let address = serve(|_| async {
        let (body, sender) = streamed();
        sender.send(Ok(Bytes::from_static(b"half"))).unwrap();
        // Once the head is on its way.
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            sender.send(Err(std::io::Error::other("cut"))).unwrap();
        });
        Response::new(body)
    });
    for (protocol, key) in [("http1", "connection/unexpected EOF"), ("http2", "http2-protocol/INTERNAL_ERROR")] {
        let changes = json!({"protocol": protocol, "rate": 0.0});
        let segments = json!([segment(&gets(&json!([]), Some(5)), &changes)]);
        let (result, _) = finish(&start(address, &segments, &json!({})));
        assert_eq!(result.segments[0].errors, [(key.to_owned(), 5)].into());
    }
}

/// Answers `/version`, then does with each connection as told: closes it at once, or resets it.
fn breaks(reset: bool) -> SocketAddr {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            std::thread::spawn(move || {
                let mut text = [0; 4096];
                let read = socket.read(&mut text).unwrap_or(0);
                if text[..read].starts_with(b"GET /version") {
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                    let _ = socket.read(&mut text);
                }
                if reset {
                    // What was sent and not read makes the kernel answer with a reset.
                    let _ = rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
                }
            });
        }
    });
    address
}

#[test]
fn a_connection_that_breaks_is_an_error_of_its_request_and_is_opened_again() {
    for (reset, key) in [(false, "connection/EOF"), (true, "connection/connection reset by peer")] {
        let changes = json!({"connections": 1, "in_flight": 1, "rate": 0.0});
        let segments = json!([segment(&gets(&json!([]), Some(3)), &changes)]);
        let (result, _) = finish(&start(breaks(reset), &segments, &json!({})));
        let end = &result.segments[0];
        assert_eq!(end.errors, [(key.to_owned(), 3)].into());
        assert!(end.connections.reconnects >= 2, "{:?}", end.connections);
    }
}

/// Answers so many connections once each, `/version` and one request, and listens no more.
fn dies_after(connections: usize) -> SocketAddr {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().take(connections) {
            let (mut socket, mut text) = (socket.unwrap(), [0; 4096]);
            for _ in 0..2 {
                if socket.read(&mut text).is_ok_and(|read| read > 0) {
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                }
            }
        }
    });
    address
}

#[test]
fn a_closed_loop_goes_on_while_nobody_is_there() {
    let changes = json!({"connections": 1, "in_flight": 1, "rate": 0.0});
    let segments = json!([segment(&gets(&json!([]), Some(300)), &changes)]);
    let (result, _) = finish(&start(dies_after(1), &segments, &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.planned, end.ok, end.not_sent), (300, 1, 0), "{end:?}");
    assert!(end.errors["connection/connection refused"] > 250, "{:?}", end.errors);
}

#[test]
fn requests_on_one_object_are_never_in_flight_together() {
    let open = Arc::new(parking_lot::Mutex::new(std::collections::HashMap::<String, u32>::new()));
    let overlaps = Arc::new(AtomicU32::new(0));
    let (table, counted) = (Arc::clone(&open), Arc::clone(&overlaps));
    let address = serve(move |request: hyper::Request<hyper::body::Incoming>| {
        let path = request.uri().path().to_owned();
        let (table, counted) = (Arc::clone(&table), Arc::clone(&counted));
        async move {
            let now = {
                let mut table = table.lock();
                let now = table.entry(path.clone()).or_default();
                *now += 1;
                *now
            };
            counted.fetch_add(u32::from(now > 1), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(path.len() as u64 % 3)).await;
            *table.lock().get_mut(&path).unwrap() -= 1;
            ok("x")
        }
    });
    let line = |i: u64| {
        let name = ["a", "bb", "ccc"][usize::try_from(i % 3).unwrap()];
        json!({"t_us": i * 100, "verb": "GET", "path": format!("/api/v1/namespaces/n/pods/{name}"),
               "key": format!("n/Pod/{name}")})
    };
    let lines: Vec<Value> = (0..200).map(line).collect();
    for (ordering, orderly) in [("object", true), ("none", false)] {
        overlaps.store(0, Ordering::Relaxed);
        let (_file, source) = trace(&lines);
        let segments = json!([segment(&source, &json!({"protocol": "http2", "in_flight": 30, "runners": 2}))]);
        let (result, _) = finish(&start(address, &segments, &json!({"ordering": ordering})));
        assert_eq!(result.segments[0].ok, 200);
        assert_eq!(overlaps.load(Ordering::Relaxed) == 0, orderly, "{ordering}");
    }
}
