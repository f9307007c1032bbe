//! metrics.k8s.io: what nodes and Pods use. Made up from their names, so that the same object has the same
//! figures in every run; they wander a little from one 15 s window to the next, as real ones do.

use std::borrow::Cow;

use perfq_core::partition::fnv1a64;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::instant::Instant;

/// Length of a window, s.
const WINDOW: i64 = 15;

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    spec: Spec<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Spec<'a> {
    #[serde(borrow, default)]
    containers: Vec<Container<'a>>,
}

#[derive(Deserialize)]
struct Container<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

/// CPU in thousandths of a core and memory in KiB: around the middle of a range, by name.
fn usage(key: &str, now: Instant, cpu: (u64, u64), memory: (u64, u64)) -> Value {
    let hash = fnv1a64(key.as_bytes());
    let drift = fnv1a64(format!("{key} {}", now.0.div_euclid(WINDOW)).as_bytes());
    let within = |(low, high): (u64, u64), hash: u64, drift: u64| {
        let steady = low + hash % (high - low);
        steady * (95 + drift % 11) / 100
    };
    let (cpu, memory) = (within(cpu, hash, drift), within(memory, hash >> 24, drift >> 24));
    json!({"cpu": format!("{cpu}m"), "memory": format!("{memory}Ki")})
}

fn head(kind: &str, object: &Object<'_>, now: Instant) -> Result<Value, serde_json::Error> {
    let at = Instant(now.0.div_euclid(WINDOW) * WINDOW).to_rfc3339();
    let mut metadata = json!({"name": object.metadata.name, "creationTimestamp": now.to_rfc3339()});
    if !object.metadata.namespace.is_empty() {
        metadata["namespace"] = object.metadata.namespace.as_ref().into();
    }
    if let Some(labels) = object.metadata.labels {
        metadata["labels"] = serde_json::from_str(labels.get())?;
    }
    Ok(json!({"kind": kind, "apiVersion": "metrics.k8s.io/v1beta1", "metadata": metadata,
              "timestamp": at, "window": "15s"}))
}

/// The `NodeMetrics` of a node, from its JSON text.
pub fn node_metrics(node: &[u8], now: Instant) -> Result<Value, serde_json::Error> {
    let node: Object<'_> = serde_json::from_slice(node)?;
    let mut metrics = head("NodeMetrics", &node, now)?;
    metrics["usage"] = usage(&node.metadata.name, now, (500, 3_000), (4_000_000, 12_000_000));
    Ok(metrics)
}

/// The `PodMetrics` of a Pod, from its JSON text.
pub fn pod_metrics(pod: &[u8], now: Instant) -> Result<Value, serde_json::Error> {
    let pod: Object<'_> = serde_json::from_slice(pod)?;
    let mut metrics = head("PodMetrics", &pod, now)?;
    let Metadata { namespace, name, .. } = &pod.metadata;
    let containers = pod.spec.containers.iter().map(|container| {
        let key = format!("{namespace}/{name}/{}", container.name);
        json!({"name": container.name, "usage": usage(&key, now, (1, 200), (8_000, 120_000))})
    });
    metrics["containers"] = containers.collect();
    Ok(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_767_225_600);

    #[test]
    fn the_same_pod_uses_the_same_within_a_window_and_about_the_same_after_it() {
        let pod = json!({"metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"}},
                         "spec": {"containers": [{"name": "x"}, {"name": "y"}]}})
        .to_string();
        let of = |now| pod_metrics(pod.as_bytes(), now).unwrap();
        assert_eq!(of(NOW), pod_metrics(pod.as_bytes(), NOW).unwrap());
        assert_eq!(of(NOW)["containers"], of(Instant(NOW.0 + WINDOW - 1))["containers"]);
        let memory = |metrics: &Value| -> i64 {
            metrics["containers"][0]["usage"]["memory"].as_str().unwrap().trim_end_matches("Ki").parse().unwrap()
        };
        let (now, later) = (memory(&of(NOW)), memory(&of(Instant(NOW.0 + 100 * WINDOW))));
        assert!((now - later).abs() * 100 <= now * 12, "{now} and {later}");
        assert_eq!(of(NOW)["metadata"]["labels"], json!({"a": "b"}));
        assert_eq!(of(NOW)["containers"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_node_uses_cpu_and_memory() {
        let node = json!({"metadata": {"name": "node-00"}}).to_string();
        let metrics = node_metrics(node.as_bytes(), NOW).unwrap();
        assert!(metrics["usage"]["cpu"].as_str().unwrap().ends_with('m'));
        assert_eq!(metrics["timestamp"], "2026-01-01T00:00:00Z");
        assert!(metrics["metadata"].get("namespace").is_none());
    }
}
