//! LIST of 50,000 Pods against a bare writer of the same bytes on the same kind of socket, in turns.
//!
//! Prints one JSON object: bytes a second of both as medians of rounds, the ratio of these and of the best rounds, for each case;
//! and the memory of the store beyond the JSON of its objects. `cargo bench -p perfq-engine --bench list`.

use perfq_core::workload::{Plan, Profile};
use perfq_engine::api_server::{ApiServer, Options};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Instant;

const OBJECTS: u32 = 50_000;
const ROUNDS: usize = 9;
/// Small lists are asked for so often a round that a round takes a while.
const ROUND_BYTES: usize = 64 << 20;

fn plan() -> Plan {
    let profile = json!({"schema_version": 1, "id": "burst-50k", "seed": 186, "object_count": OBJECTS,
        "namespace_count": 500, "steady_events_per_second": 1000, "duration_seconds": 1});
    let profile: Profile = serde_json::from_value(profile).expect("the profile is sound");
    Plan::new(profile).expect("the profile can be planned")
}

/// Sends one request on a kept connection and reads the whole answer: head and body.
fn exchange(stream: &mut TcpStream, path: &str, buffer: &mut [u8], keep: Option<&mut Vec<u8>>) -> io::Result<usize> {
    // In one piece: the bare writer takes each read for a request.
    let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut have = 0;
    let body_at = loop {
        have += stream.read(&mut buffer[have..])?;
        if let Some(at) = buffer[..have].windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..body_at]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).and_then(|text| text.parse().ok());
    let length: usize = length.ok_or_else(|| io::Error::other(format!("no length in {head}")))?;
    let mut got = have - body_at;
    let mut keep = keep;
    if let Some(keep) = keep.as_deref_mut() {
        keep.extend_from_slice(&buffer[body_at..have]);
    }
    while got < length {
        let count = stream.read(buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(keep) = keep.as_deref_mut() {
            keep.extend_from_slice(&buffer[..count]);
        }
        got += count;
    }
    Ok(length)
}

/// A thread that answers every request with the same body, by plain writes of all of it.
fn bare_writer(body: Vec<u8>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut request = [0u8; 4096];
        loop {
            if stream.read(&mut request)? == 0 {
                return Ok(());
            }
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body)?;
        }
    });
    Ok(address)
}

/// Bytes a second of one round.
fn round(stream: &mut TcpStream, path: &str, buffer: &mut [u8], requests: usize) -> io::Result<f64> {
    let start = Instant::now();
    let mut bytes = 0;
    for _ in 0..requests {
        bytes += exchange(stream, path, buffer, None)?;
    }
    Ok(bytes as f64 / start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn case(server: &ApiServer, name: &str, path: &str) -> io::Result<Value> {
    let mut buffer = vec![0u8; 1 << 20];
    let mut ours = TcpStream::connect(("127.0.0.1", server.port()))?;
    let mut body = Vec::new();
    let bytes = exchange(&mut ours, path, &mut buffer, Some(&mut body))?;
    let mut bare = TcpStream::connect(bare_writer(body)?)?;
    let requests = (ROUND_BYTES / bytes.max(1)).clamp(1, 2_000);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        a.push(round(&mut ours, path, &mut buffer, requests)?);
        b.push(round(&mut bare, path, &mut buffer, requests)?);
    }
    let ratio = |ours: f64, bare: f64| (ours / bare * 1000.0).round() / 1000.0;
    let best = |rounds: &[f64]| rounds.iter().copied().fold(0.0, f64::max);
    let ratio_of_bests = ratio(best(&a), best(&b));
    let (ours, bare) = (median(a), median(b));
    Ok(json!({"case": name, "bytes": bytes, "perfq_bytes_per_second": ours.round(),
        "bare_bytes_per_second": bare.round(), "ratio": ratio(ours, bare), "ratio_of_bests": ratio_of_bests}))
}

fn resident_bytes() -> io::Result<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(pages * rustix::param::page_size() as u64)
}

fn main() -> io::Result<()> {
    let plan = Arc::new(plan());
    let before = resident_bytes()?;
    let options = Options { tls: false, ..Options::default() };
    let server = ApiServer::start(plan, options, None)?;
    let filled = resident_bytes()?;
    let mut cases = vec![case(&server, "all Pods", "/api/v1/pods")?];
    let json_bytes = cases[0]["bytes"].as_u64().unwrap_or(0);
    server.start_churn();
    // The events of one second.
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    cases.push(case(&server, "after 1,000 events", "/api/v1/pods")?);
    cases.push(case(&server, "namespace bench-0001", "/api/v1/namespaces/bench-0001/pods")?);
    cases.push(case(&server, "namespace bench-0400", "/api/v1/namespaces/bench-0400/pods")?);
    cases.push(case(&server, "selector, 1 in 10", "/api/v1/pods?labelSelector=perfq.dev/shard%3Dshard-03")?);
    cases.push(case(&server, "selector, all", "/api/v1/pods?labelSelector=app%3Dbench")?);
    cases.push(case(&server, "first page of 500", "/api/v1/pods?limit=500")?);
    let beyond = (filled - before).saturating_sub(json_bytes) / u64::from(OBJECTS);
    let after = (resident_bytes()? - before).saturating_sub(json_bytes) / u64::from(OBJECTS);
    server.stop();
    println!(
        "{}",
        json!({"bench": "list", "objects": OBJECTS, "rounds": ROUNDS, "cases": cases,
            "json_bytes_per_object": json_bytes / u64::from(OBJECTS),
            "bytes_per_object_beyond_json": beyond, "bytes_per_object_beyond_json_at_the_end": after})
    );
    Ok(())
}
