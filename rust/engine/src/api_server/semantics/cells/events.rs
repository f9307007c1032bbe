//! Cells of events, in their older (first, last, count) and newer (eventTime, series) form.

use serde_json::Value;

use super::{count, text};
use crate::api_server::semantics::instant::Instant;

fn since(object: &Value, pointer: &str, now: Instant) -> Option<String> {
    let time = text(object, pointer);
    (!time.is_empty()).then(|| now.age(Some(time)))
}

fn first_seen(object: &Value, now: Instant) -> String {
    since(object, "/firstTimestamp", now)
        .or_else(|| since(object, "/eventTime", now))
        .unwrap_or_else(|| "<unknown>".into())
}

pub(in super::super) fn event_first_seen(object: &Value, now: Instant) -> Value {
    first_seen(object, now).into()
}

pub(in super::super) fn event_last_seen(object: &Value, now: Instant) -> Value {
    if object.get("series").is_some_and(Value::is_object) {
        return now.age(Some(text(object, "/series/lastObservedTime"))).into();
    }
    since(object, "/lastTimestamp", now).unwrap_or_else(|| first_seen(object, now)).into()
}

pub(in super::super) fn event_object(object: &Value, _: Instant) -> Value {
    let kind = text(object, "/involvedObject/kind").to_lowercase();
    match text(object, "/involvedObject/name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

pub(in super::super) fn event_source(object: &Value, _: Instant) -> Value {
    let either = |a, b| if text(object, a).is_empty() { text(object, b) } else { text(object, a) };
    let component = either("/source/component", "/reportingComponent");
    match either("/source/host", "/reportingInstance") {
        "" => component.into(),
        host => format!("{component}, {host}").into(),
    }
}

pub(in super::super) fn event_message(object: &Value, _: Instant) -> Value {
    text(object, "/message").trim().into()
}

pub(in super::super) fn event_count(object: &Value, _: Instant) -> Value {
    if object.get("series").is_some_and(Value::is_object) {
        return count(object, "/series/count").into();
    }
    count(object, "/count").max(1).into()
}
