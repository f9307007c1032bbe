//! Logs become requests and losses: the whole way, from lines.

mod privacy;
mod requests;

use super::*;
use crate::load::Request;
use serde_json::{Value, json};

/// A read that ended well, at level Request; what `change` says comes on top.
fn event(uri: &str, verb: &str, change: &Value) -> Value {
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "auditID": uri, "stage": "ResponseComplete",
        "requestURI": uri, "verb": verb, "user": {"username": "system:admin"}, "sourceIPs": ["127.0.0.1"],
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2024-05-01T10:00:00.000000Z", "stageTimestamp": "2024-05-01T10:00:00.500000Z",
    });
    for (key, value) in change.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

struct Imported {
    requests: Vec<Request>,
    losses: Vec<(Why, u64)>,
    events: u64,
    stages: u64,
}

fn import_with(events: &[Value], reading: &Reading, without_body: WithoutBody, names: Option<Names>) -> Imported {
    let (mut losses, mut extent, mut all, mut read) = (Losses::default(), Extent::default(), Vec::new(), 0);
    for (event, line) in events.iter().zip(1..) {
        let place = Place { file: 0, line };
        reading.line(event.to_string().as_bytes(), place, &mut |found| {
            read += 1;
            match found {
                Ok(event) => {
                    extent.add(event.received_ns, event.stage_ns);
                    all.push(event);
                }
                Err(why) => losses.add(why, place),
            }
        });
    }
    all.sort();
    let window = extent.window(None, None).unwrap_or(Window { from_ns: 0, until_ns: 0 });
    let mut converter = Converter::new(window, without_body, names, losses);
    let (mut pairing, mut requests) = (Pairing::default(), Vec::new());
    for event in all {
        pairing.push(event, &mut |paired| requests.extend(converter.take(paired)));
    }
    pairing.finish(&mut |paired| requests.extend(converter.take(paired)));
    let losses = converter.losses();
    assert_eq!(
        read,
        converter.stages()
            + requests.len() as u64
            + losses.sum(Of::Event)
            + losses.sum(Of::Request)
            + losses.sum(Of::Line),
        "every event is a stage, a request or a loss"
    );
    let stages = converter.stages();
    Imported { requests, losses: losses.iter().map(|(why, count, _)| (why, count)).collect(), events: read, stages }
}

fn import(events: &[Value]) -> Imported {
    import_with(events, &Reading::default(), WithoutBody::Drop, None)
}

fn synthetic(events: &[Value]) -> Imported {
    import_with(events, &Reading::default(), WithoutBody::Synthetic, None)
}

fn body(request: &Request) -> &str {
    std::str::from_utf8(request.body.as_deref().unwrap()).unwrap()
}

const PODS: &str = "/api/v1/namespaces/a/pods";
