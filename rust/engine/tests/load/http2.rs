//! What only HTTP/2 has: GOAWAY, refused streams, resets and stream limits.

use crate::bench::{finish, gets, segment, start, trace};
use h2::server::{self, SendResponse};
use h2::{Reason, RecvStream};
use hyper::Request;
use hyper::body::Bytes;
use hyper::http::Response;
use serde_json::json;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What a test does with a request: (its number on the connection from 1, the connection's number from 0).
type Act = fn(&mut Exchange);

struct Exchange {
    nth: u32,
    connection: u32,
    query: String,
    respond: SendResponse<Bytes>,
    goaway: bool,
}

impl Exchange {
    fn answer(&mut self) {
        let mut body = self.respond.send_response(Response::new(()), false).unwrap();
        let _ = body.send_data(Bytes::from_static(b"x"), true);
    }
}

struct Seen {
    requests: Arc<AtomicU32>,
    connections: Arc<AtomicU32>,
    queries: Arc<parking_lot::Mutex<Vec<String>>>,
}

fn serve(streams: Option<u32>, act: Act) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let seen = Seen { requests: Arc::default(), connections: Arc::default(), queries: Arc::default() };
    let (requests, connections) = (Arc::clone(&seen.requests), Arc::clone(&seen.connections));
    let queries = Arc::clone(&seen.queries);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                let (requests, queries) = (Arc::clone(&requests), Arc::clone(&queries));
                let number = connections.fetch_add(1, Relaxed);
                tokio::spawn(async move {
                    let mut builder = server::Builder::new();
                    if let Some(streams) = streams {
                        builder.max_concurrent_streams(streams);
                    }
                    let mut connection = builder.handshake(socket).await.unwrap();
                    let mut nth = 0;
                    while let Some(Ok((request, mut respond))) = connection.accept().await {
                        let request: Request<RecvStream> = request;
                        if request.uri().path() == "/version" {
                            respond.send_response(Response::new(()), true).unwrap();
                            continue;
                        }
                        requests.fetch_add(1, Relaxed);
                        nth += 1;
                        let query = request.uri().query().unwrap_or("").to_owned();
                        queries.lock().push(query.clone());
                        let mut exchange = Exchange { nth, connection: number, query, respond, goaway: false };
                        act(&mut exchange);
                        if exchange.goaway {
                            connection.graceful_shutdown();
                        }
                    }
                });
            }
        });
    });
    (address, seen)
}

fn run(address: SocketAddr, requests: u64, in_flight: u32) -> perfq_engine::load::EndRecord {
    let changes = json!({"protocol": "http2", "connections": 1, "in_flight": in_flight, "rate": 0.0});
    let segments = json!([segment(&gets(&json!([]), Some(requests)), &changes)]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result.segments[0].clone()
}

#[test]
fn after_a_goaway_the_run_goes_on_over_another_connection_without_an_error() {
    let (address, _) = serve(None, |exchange| {
        exchange.answer();
        exchange.goaway = exchange.connection < 3 && exchange.nth == 50;
    });
    let end = run(address, 400, 8);
    assert_eq!((end.ok, end.retries, end.connections.goaways), (400, 0, 3), "{end:?}");
    assert_eq!((end.connections.opened, end.connections.reconnects), (4, 3));
}

#[test]
fn a_refused_stream_is_sent_again_and_is_no_retry() {
    let (address, seen) = serve(None, |exchange| {
        if exchange.nth % 10 == 0 {
            exchange.respond.send_reset(Reason::REFUSED_STREAM);
        } else {
            exchange.answer();
        }
    });
    let end = run(address, 100, 4);
    assert_eq!((end.ok, end.sent, end.retries, end.connections.reconnects), (100, 100, 0, 0), "{end:?}");
    assert_eq!(end.resends + 100, u64::from(seen.requests.load(Relaxed)));
    assert!(end.resends >= 10);
}

#[test]
fn a_stream_that_is_always_refused_is_an_error_in_the_end() {
    let (address, seen) = serve(None, |exchange| exchange.respond.send_reset(Reason::REFUSED_STREAM));
    let end = run(address, 1, 1);
    assert_eq!(end.errors, [("http2-protocol/REFUSED_STREAM".to_owned(), 1)].into());
    assert_eq!(seen.requests.load(Relaxed), 7);
}

#[test]
fn any_other_reset_is_a_counted_error() {
    let (address, _) = serve(None, |exchange| {
        if exchange.nth % 4 == 0 {
            exchange.respond.send_reset(Reason::INTERNAL_ERROR);
        } else {
            exchange.answer();
        }
    });
    let end = run(address, 40, 2);
    assert_eq!((end.ok, end.connections.resets, end.connections.reconnects), (30, 10, 0));
    assert_eq!(end.errors, [("http2-protocol/INTERNAL_ERROR".to_owned(), 10)].into());
}

#[test]
fn more_requests_in_flight_than_streams_need_more_connections_which_are_opened_and_counted() {
    let (address, seen) = serve(Some(4), Exchange::answer);
    let end = run(address, 200, 10);
    assert_eq!((end.ok, end.connections.opened, end.connections.stream_limit), (200, 3, Some(4)));
    assert_eq!((end.connections.reconnects, seen.connections.load(Relaxed)), (0, 3));
}

#[test]
fn where_no_number_of_connections_is_enough_the_run_is_refused_with_the_sum() {
    let (address, _) = serve(Some(1), Exchange::answer);
    let changes = json!({"protocol": "http2", "connections": 1, "in_flight": 200, "rate": 0.0});
    let segments = json!([segment(&gets(&json!([]), Some(10)), &changes)]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    let failure = result.failure.unwrap();
    assert!(failure.text.starts_with("200 requests in flight need 200 connections of 1 streams"), "{}", failure.text);
}

#[test]
fn a_watch_that_has_to_give_up_its_slot_goes_on_from_where_it_was() {
    let (address, seen) = serve(None, |exchange| {
        if exchange.nth == 2 {
            return exchange.respond.send_reset(Reason::REFUSED_STREAM);
        }
        let mut body = exchange.respond.send_response(Response::new(()), false).unwrap();
        let ended = exchange.query.contains("resourceVersion=7");
        body.send_data(Bytes::from_static(crate::watches::ADDED.as_bytes()), !ended).unwrap();
        // One that is left open is kept by the connection.
        std::mem::forget(body);
    });
    let (_file, source) = trace(&[crate::watches::watch(0, Some(1_300_000), "watch=true")]);
    let segments = json!([segment(&source, &json!({"protocol": "http2"}))]);
    let (result, _) = finish(&start(address, &segments, &json!({})));
    assert_eq!((result.segments[0].ok, result.segments[0].resends), (1, 1));
    let further = "watch=true&resourceVersion=7";
    assert_eq!(*seen.queries.lock(), ["watch=true", further, further].map(str::to_owned));
}
