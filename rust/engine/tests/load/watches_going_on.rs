//! How watches go on: after a 410, after the end of a stream, after an answer that is none.

use crate::bench::{Body, Streamed, finish, never, ok, segment, serve, start, status, streamed, trace};
use crate::watches::{ADDED, held, watch};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use parking_lot::Mutex;
use perfq_engine::load::EndRecord;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const GONE: &str = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n";

/// The queries that a server has seen, in their order.
type Seen = Arc<Mutex<Vec<String>>>;

/// A server that answers by the query and the number of the request, from 1.
fn answers(answer: impl Fn(&str, usize) -> Response<Body> + Send + Sync + 'static) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let record = Arc::clone(&seen);
    let address = serve(move |request: Request<Incoming>| {
        let query = request.uri().query().unwrap_or("").to_owned();
        let nth = {
            let mut seen = record.lock();
            seen.push(query.clone());
            seen.len()
        };
        let answer = answer(&query, nth);
        async move { answer }
    });
    (address, seen)
}

/// Keeps a stream open.
fn open((answer, sender): (Response<Body>, Streamed)) -> Response<Body> {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(100)).await;
        drop(sender);
    });
    answer
}

fn run(address: SocketAddr, line: &Value, protocol: &str, changes: &Value) -> EndRecord {
    let (_file, source) = trace(std::slice::from_ref(line));
    let (result, _) = finish(&start(address, &json!([segment(&source, &json!({"protocol": protocol}))]), changes));
    result.segments[0].clone()
}

#[test]
fn a_version_that_is_too_old_is_listed_again_and_the_watch_goes_on_from_there() {
    let query = "labelSelector=a&resourceVersion=1&watch=true";
    let page = "labelSelector=a&limit=500";
    let expected = [query, page, &format!("{page}&continue=t1"), "labelSelector=a&watch=true&resourceVersion=50"]
        .map(str::to_owned);
    for protocol in ["http1", "http2"] {
        for in_stream in [false, true] {
            let (address, seen) = answers(move |query, nth| {
                if query.contains("continue=t1") {
                    return ok("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"50\"},\"items\":[]}");
                }
                if query.contains("limit=500") {
                    return ok("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"50\",\"continue\":\"t1\"}}");
                }
                if nth == 1 && !in_stream {
                    return status(410);
                }
                open(held(if query.contains("resourceVersion=50") { ADDED } else { GONE }))
            });
            let end = run(address, &watch(0, Some(1_600_000), query), protocol, &json!({}));
            let told = format!("{protocol}, in the stream: {in_stream}");
            assert_eq!((end.ok, end.watches.relists, end.watches.events), (1, 1, 1), "{told}");
            assert_eq!(end.watches.reopened, u64::from(in_stream), "{told}");
            assert_eq!(*seen.lock(), expected, "{told}");
        }
    }
}

#[test]
fn a_list_whose_pages_expired_is_begun_anew_in_one_piece_and_no_error_of_the_watch() {
    let query = "labelSelector=a&resourceVersion=1&watch=true";
    let page = "labelSelector=a&limit=500";
    let expected = [
        query,
        page,
        &format!("{page}&continue=t1"),
        "labelSelector=a",
        "labelSelector=a&watch=true&resourceVersion=60",
    ]
    .map(str::to_owned);
    for protocol in ["http1", "http2"] {
        let (address, seen) = answers(|query, nth| match query {
            _ if nth == 1 || query.contains("continue=t1") => status(410),
            "labelSelector=a" => ok("{\"metadata\":{\"resourceVersion\":\"60\"},\"items\":[]}"),
            _ if query.contains("limit=500") => {
                ok("{\"metadata\":{\"resourceVersion\":\"50\",\"continue\":\"t1\"},\"items\":[]}")
            }
            _ => open(held(ADDED)),
        });
        let end = run(address, &watch(0, Some(1_600_000), query), protocol, &json!({}));
        assert_eq!(
            (end.ok, end.watches.relists, end.watches.events),
            (1, 2, 1),
            "{protocol}: {:?}",
            (&end.errors, seen.lock())
        );
        assert_eq!(*seen.lock(), expected, "{protocol}");
    }
}

#[test]
fn a_list_that_is_answered_with_410_from_its_first_page_is_an_error_of_the_watch() {
    let (address, seen) = answers(|_, _| status(410));
    let end = run(address, &watch(0, Some(60_000_000), "watch=true"), "http1", &json!({"grace_ms": 100}));
    assert_eq!((end.ok, end.watches.relists, seen.lock().len()), (0, 0, 2));
    assert_eq!(end.errors.get("http/410"), Some(&1), "{end:?}");
}

#[test]
fn a_list_of_custom_resources_tells_its_version_at_its_end() {
    let (address, seen) = answers(|query, nth| {
        if query.contains("limit=500") {
            let item = "{\"metadata\":{\"resourceVersion\":\"7\"}},".repeat(500);
            let items = item.trim_end_matches(',');
            return ok(format!("{{\"items\":[{items}],\"metadata\":{{\"resourceVersion\":\"50\"}}}}"));
        }
        if nth == 1 { status(410) } else { open(held(ADDED)) }
    });
    let end = run(address, &watch(0, Some(1_300_000), "watch=true"), "http2", &json!({}));
    assert_eq!((end.ok, end.watches.relists), (1, 1));
    assert_eq!(seen.lock().last().map(String::as_str), Some("watch=true&resourceVersion=50"));
}

#[test]
fn a_stream_that_the_server_ends_is_taken_up_from_the_last_version() {
    let (address, seen) = answers(|_, _| ok(ADDED));
    let end = run(address, &watch(0, Some(1_300_000), "watch=true"), "http1", &json!({}));
    assert_eq!((end.ok, end.watches.opened, end.watches.reopened), (1, 2, 1));
    assert_eq!(*seen.lock(), ["watch=true", "watch=true&resourceVersion=7"].map(str::to_owned));
}

#[test]
fn a_refusal_that_is_expected_is_ok_and_no_stream() {
    let mut line = watch(0, Some(60_000_000), "watch=true");
    line["expect_status"] = 403.into();
    for protocol in ["http1", "http2"] {
        let (address, seen) = answers(|_, _| status(403));
        let end = run(address, &line, protocol, &json!({"grace_ms": 100}));
        assert_eq!((end.ok, end.watches.opened, end.watches.events, end.bytes), (1, 0, 0, 0), "{protocol}");
        assert_eq!(seen.lock().len(), 1, "{protocol}");
    }
}

/// An answer whose body begins and never ends.
fn endless(status: u16) -> Response<Body> {
    let (body, sender) = streamed();
    sender.send(Ok(Bytes::from_static(b"{\"kind\":\"Status\""))).unwrap();
    let mut answer = open((Response::new(body), sender));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
    answer
}

#[test]
fn a_body_that_never_ends_times_out_be_it_of_a_refusal_or_of_a_list() {
    for protocol in ["http1", "http2"] {
        let (address, _) = answers(|_, _| endless(500));
        let end = run(address, &watch(0, Some(1_000), "watch=true"), protocol, &json!({"timeout_ms": 200}));
        assert_eq!((end.timed_out, end.cancelled), (1, 0), "{protocol}");
        let (address, seen) = answers(|_, nth| if nth == 1 { status(410) } else { endless(200) });
        let end = run(address, &watch(0, Some(20_000_000), "watch=true"), protocol, &json!({"timeout_ms": 200}));
        assert_eq!((end.timed_out, end.watches.relists, seen.lock().len()), (1, 0, 2), "{protocol}");
    }
}

#[test]
fn a_stop_after_the_planned_end_is_followed() {
    let address = serve(|request: Request<Incoming>| async move {
        if request.uri().query().is_some() { open(held(ADDED)) } else { never().await }
    });
    let get = json!({"t_us": 0, "verb": "GET", "path": "/api/v1/namespaces/a/pods/x"});
    let (_file, source) = trace(&[get, watch(0, Some(600_000_000), "watch=true")]);
    let segments = json!([segment(&source, &json!({"duration_us": 10_000}))]);
    let run = start(address, &segments, &json!({"grace_ms": 600_000, "timeout_ms": 600_000}));
    while run.progress().state != perfq_engine::load::State::Draining || run.progress().in_flight < 1 {
        std::thread::yield_now();
    }
    run.stop("enough");
    let (result, _) = finish(&run);
    let end = &result.segments[0];
    assert_eq!((end.cancelled, end.stopped.as_deref()), (2, Some("enough")), "{end:?}");
}
