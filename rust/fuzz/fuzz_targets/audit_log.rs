//! Any lines are an audit log: each event is a request, a stage of one or a loss, and no requester is ever seen.
//!
//! Neither are their addresses and tokens: in no path, query, user agent or body, whatever stands around them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::load::audit::{
    Converter, Event, Extent, Losses, Names, Of, Pairing, Place, Reading, Unframed, Unframer, Window, WithoutBody,
};
use perfq_core::load::{Request, query};
use serde_json::Value;

const BEGINS: &str = r#"{"kind":"Event","#;
const CANARY: &str = "canary-requester@example.com";
const ADDRESS: &str = "203.0.113.99";
const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl";

fuzz_target!(|input: (bool, bool, &[u8])| {
    let (synthetic, hashed, bytes) = input;
    let (mut losses, mut extent, mut events, mut read) = (Losses::default(), Extent::default(), Vec::new(), 0);
    let (mut unframer, reading) = (Unframer::new(1 << 16), Reading::default());
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let place = Place { file: 0, line: number };
        let Unframed::Line(line) = unframer.push(line) else { continue };
        // Whoever asked, it was the canary, from its address; `@U`, `@A` and `@T` are what must not be seen.
        let mut line = String::from_utf8_lossy(&line).replace("@T", TOKEN);
        let is_canarys = line.starts_with(BEGINS);
        if is_canarys {
            let from = format!(r#"{{"user":{{"username":"{CANARY}"}},"sourceIPs":["{ADDRESS}"],"kind":"Event","#);
            line = line.replacen(BEGINS, &from, 1).replace("@U", CANARY).replace("@A", ADDRESS);
        }
        let before = read;
        reading.line(line.as_bytes(), place, &mut |found| {
            read += 1;
            match found {
                Ok(event) => {
                    extent.add(event.received_ns, event.stage_ns);
                    events.push(event);
                }
                Err(why) => losses.add(why, place),
            }
        });
        // What follows on its line may be another's; and an object is called what its path calls it.
        let is_called = events.last().is_some_and(|event: &Event| is_called(&event.uri));
        if is_canarys && (read > before + 1 || is_called) {
            return;
        }
    }
    events.sort();
    let window = extent.window(None, None).unwrap_or(Window { from_ns: 0, until_ns: 0 });
    let without_body = if synthetic { WithoutBody::Synthetic } else { WithoutBody::Drop };
    let mut converter = Converter::new(window, without_body, hashed.then(|| Names::new([1; 32])), losses);
    let (mut pairing, mut requests) = (Pairing::default(), Vec::new());
    for event in events {
        pairing.push(event, &mut |paired| requests.extend(converter.take(paired)));
    }
    pairing.finish(&mut |paired| requests.extend(converter.take(paired)));
    let lost = [Of::Line, Of::Event, Of::Request].map(|of| converter.losses().sum(of)).iter().sum::<u64>();
    assert_eq!(read, converter.stages() + requests.len() as u64 + lost);
    assert!(requests.is_sorted_by_key(|request| request.due_us));
    for request in &requests {
        nothing_is_seen(request);
    }
});

/// Whether the path names the canary, or may do so in escapes.
fn is_called(uri: &str) -> bool {
    let path = uri.split('?').next().unwrap_or("");
    [CANARY, ADDRESS, "%"].iter().any(|what| path.contains(what))
}

fn nothing_is_seen(request: &Request) {
    assert!(!request.path.contains(TOKEN), "{}", request.path);
    assert!(!request.query.as_deref().unwrap_or("").contains(CANARY), "{:?}", request.query);
    for (_, value, _) in query::pairs(request.query.as_deref()) {
        assert!(!is_seen(&value), "{value}");
    }
    assert!(!is_seen(request.user_agent.as_deref().unwrap_or("")));
    let body = request.body.as_deref().unwrap_or_default();
    texts(&serde_json::from_slice(body).unwrap_or_default(), &mut |text| assert!(!is_seen(text), "{text}"));
}

fn is_seen(text: &str) -> bool {
    // A part of a longer number is another address.
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let address = text
        .match_indices(ADDRESS)
        .any(|(at, _)| !digit(text[..at].as_bytes().last()) && !digit(text[at + ADDRESS.len()..].as_bytes().first()));
    address || text.contains(CANARY) || text.contains(TOKEN)
}

/// Keys and strings.
fn texts(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            found(key);
            texts(value, found);
        }),
        _ => {}
    }
}
