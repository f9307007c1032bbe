//! Cells of the kinds that make Pods.

use serde_json::Value;

use super::{NONE, count, labels, list, map, or_none, text};
use crate::api_server::semantics::instant::{Instant, human_duration};

fn joined(object: &Value, containers: &str, field: &str) -> Value {
    list(object, containers).iter().map(|c| text(c, field)).collect::<Vec<_>>().join(",").into()
}

pub(in super::super) fn template_containers(object: &Value, _: Instant) -> Value {
    joined(object, "/spec/template/spec/containers", "/name")
}

pub(in super::super) fn template_images(object: &Value, _: Instant) -> Value {
    joined(object, "/spec/template/spec/containers", "/image")
}

pub(in super::super) fn template_node_selector(object: &Value, _: Instant) -> Value {
    labels(object, "/spec/template/spec/nodeSelector")
}

pub(in super::super) fn job_template_containers(object: &Value, _: Instant) -> Value {
    joined(object, "/spec/jobTemplate/spec/template/spec/containers", "/name")
}

pub(in super::super) fn job_template_images(object: &Value, _: Instant) -> Value {
    joined(object, "/spec/jobTemplate/spec/template/spec/containers", "/image")
}

pub(in super::super) fn label_selector(object: &Value, _: Instant) -> Value {
    selector(object.pointer("/spec/selector"))
}

pub(in super::super) fn job_template_selector(object: &Value, _: Instant) -> Value {
    selector(object.pointer("/spec/jobTemplate/spec/selector"))
}

/// A `LabelSelector` in the form of a selector's text, its terms sorted by key.
fn selector(selector: Option<&Value>) -> Value {
    let Some(selector) = selector else { return NONE.into() };
    let pairs = map(selector, "/matchLabels").into_iter().flatten();
    let mut terms: Vec<(&str, String)> =
        pairs.map(|(k, v)| (k.as_str(), format!("{k}={}", v.as_str().unwrap_or("")))).collect();
    for expression in list(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<&str> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return "<error>".into(),
        };
        terms.push((key, term));
    }
    terms.sort_by_key(|(key, _)| *key);
    or_none(terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(","))
}

pub(in super::super) fn replicas_ready(object: &Value, _: Instant) -> Value {
    // A workload that was stored as it was sent may leave out the number, which then is 1.
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{wanted}", count(object, "/status/readyReplicas")).into()
}

pub(in super::super) fn job_status(object: &Value, _: Instant) -> Value {
    let holds = |wanted: &str| {
        let found = list(object, "/status/conditions").iter().find(|c| text(c, "/type") == wanted);
        found.is_some_and(|c| text(c, "/status") == "True")
    };
    let status = if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if object.pointer("/metadata/deletionTimestamp").is_some() {
        "Terminating"
    } else {
        ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(|c| holds(c)).unwrap_or("Running")
    };
    status.into()
}

pub(in super::super) fn job_completions(object: &Value, _: Instant) -> Value {
    let done = count(object, "/status/succeeded");
    let wanted = object.pointer("/spec/completions").and_then(Value::as_i64);
    match (wanted, count(object, "/spec/parallelism")) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallelism @ 2..) => format!("{done}/1 of {parallelism}"),
        (None, _) => format!("{done}/1"),
    }
    .into()
}

pub(in super::super) fn job_duration(object: &Value, now: Instant) -> Value {
    let Some(start) = Instant::parse(text(object, "/status/startTime")) else { return "".into() };
    let end = Instant::parse(text(object, "/status/completionTime")).unwrap_or(now);
    human_duration(end.0 - start.0).into()
}

pub(in super::super) fn cronjob_suspend(object: &Value, _: Instant) -> Value {
    match object.pointer("/spec/suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    }
    .into()
}

pub(in super::super) fn cronjob_active(object: &Value, _: Instant) -> Value {
    list(object, "/status/active").len().into()
}

pub(in super::super) fn cronjob_last_schedule(object: &Value, now: Instant) -> Value {
    match text(object, "/status/lastScheduleTime") {
        "" => NONE.into(),
        time => now.age(Some(time)).into(),
    }
}
