//! Answers of HTTP/1.1 in every form that a server may give them.

use crate::bench::{finish, gets, segment, start, trace};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::spawn;

/// Reads the head of a request; `None` at the end of the connection.
fn read_head(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if socket.read(&mut byte).unwrap_or(0) == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    Some(head)
}

/// Answers `/version`, and each other request on a connection with the next of the texts; after the last it closes
/// the connection, or keeps it.
fn says(texts: Vec<&'static [u8]>, closes: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for socket in listener.incoming() {
            let (mut socket, texts) = (socket.unwrap(), texts.clone());
            spawn(move || {
                let mut texts = texts.into_iter().peekable();
                while texts.peek().is_some() {
                    let Some(head) = read_head(&mut socket) else { return };
                    let version: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
                    let text = if head.starts_with(b"GET /version") { Some(version) } else { texts.next() };
                    socket.write_all(text.unwrap()).unwrap();
                }
                if !closes {
                    let _ = socket.read(&mut [0]);
                }
            });
        }
    });
    address
}

fn one_connection(total: u64) -> Value {
    json!([segment(&gets(&json!([]), Some(total)), &json!({"connections": 1, "in_flight": 1, "rate": 0.0}))])
}

#[test]
fn a_body_ends_where_its_head_says() {
    let chunks: &[u8] =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\nt: 1\r\n\r\n";
    let after_hints: &[u8] =
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n1234";
    let none: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
    let until_closed: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nall of this";
    let address = says(vec![chunks, after_hints, none, until_closed], true);
    let (result, _) = finish(&start(address, &one_connection(4), &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.ok, end.bytes), (4, 5 + 4 + 11), "{end:?}");
}

#[test]
fn a_connection_that_the_server_will_close_takes_no_other_request() {
    let last: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    let (result, _) = finish(&start(says(vec![last], false), &one_connection(5), &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.ok, end.errors.len()), (5, 0), "{end:?}");
    assert!(end.connections.reconnects >= 4, "{:?}", end.connections);
}

#[test]
fn what_comes_behind_an_answer_is_no_answer_to_the_next_request() {
    let two: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 500 Unasked\r\ncontent-length: 0\r\n\r\n";
    let (result, _) = finish(&start(says(vec![two], false), &one_connection(3), &json!({})));
    let end = &result.segments[0];
    assert_eq!((end.ok, end.errors.len()), (3, 0), "{end:?}");
}

#[test]
fn what_is_no_answer_is_an_error_of_its_own() {
    let address = says(vec![b"SSH-2.0-OpenSSH_9\r\n"], false);
    let (result, _) = finish(&start(address, &one_connection(2), &json!({})));
    assert_eq!(result.segments[0].errors, [("unknown/malformed HTTP response".to_owned(), 2)].into());
}

#[test]
fn an_answer_counts_that_comes_before_the_request_was_read() {
    // Its body is more than the sockets' buffers hold, and the server reads none of it.
    let body = "x".repeat(16 << 20);
    let line = json!({"t_us": 0, "verb": "CREATE", "path": "/api/v1/namespaces/a/configmaps", "body": body});
    let (_file, source) = trace(&[line]);
    let segments = json!([segment(&source, &json!({"connections": 1, "in_flight": 1}))]);
    let refusal: &[u8] = b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n";
    let (result, _) = finish(&start(says(vec![refusal], false), &segments, &json!({"timeout_ms": 20_000})));
    assert_eq!(result.segments[0].errors, [("http/413".to_owned(), 1)].into(), "{:?}", result.segments[0]);
}
