//! Cells of the kinds of the core group.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{NONE, count, first_three, labels, list, map, or_none, size, text};
use crate::api_server::semantics::instant::Instant;

pub(in super::super) fn config_entries(object: &Value, _: Instant) -> Value {
    (size(object, "/data") + size(object, "/binaryData")).into()
}

pub(in super::super) fn secret_entries(object: &Value, _: Instant) -> Value {
    size(object, "/data").into()
}

pub(in super::super) fn endpoints(object: &Value, _: Instant) -> Value {
    let mut all = Vec::new();
    for subset in list(object, "/subsets") {
        let addresses = || list(subset, "/addresses").iter().map(|a| text(a, "/ip"));
        let ports = list(subset, "/ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            let number = count(port, "/port");
            all.extend(
                addresses()
                    .map(|ip| if ip.contains(':') { format!("[{ip}]:{number}") } else { format!("{ip}:{number}") }),
            );
        }
    }
    if list(object, "/subsets").is_empty() || !all.is_empty() { first_three(&all) } else { "".into() }
}

pub(in super::super) fn node_status(object: &Value, _: Instant) -> Value {
    let ready = list(object, "/status/conditions").iter().rfind(|c| text(c, "/type") == "Ready");
    let status = match ready.map(|c| text(c, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let held = object.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    if held { format!("{status},SchedulingDisabled").into() } else { status.into() }
}

pub(in super::super) fn node_roles(object: &Value, _: Instant) -> Value {
    let mut roles = BTreeSet::new();
    for (key, value) in map(object, "/metadata/labels").into_iter().flatten() {
        if let Some(role) = key.strip_prefix("node-role.kubernetes.io/") {
            roles.insert(role);
        } else if key == "kubernetes.io/role" {
            roles.insert(value.as_str().unwrap_or(""));
        }
    }
    or_none(roles.into_iter().filter(|r| !r.is_empty()).collect::<Vec<_>>().join(","))
}

fn node_address(object: &Value, kind: &str) -> Value {
    let found = list(object, "/status/addresses").iter().find(|a| text(a, "/type") == kind);
    found.map_or(NONE, |a| text(a, "/address")).into()
}

pub(in super::super) fn node_internal_ip(object: &Value, _: Instant) -> Value {
    node_address(object, "InternalIP")
}

pub(in super::super) fn node_external_ip(object: &Value, _: Instant) -> Value {
    node_address(object, "ExternalIP")
}

pub(in super::super) fn node_kernel(object: &Value, _: Instant) -> Value {
    let kernel = text(object, "/status/nodeInfo/kernelVersion");
    let kernel = if kernel.is_empty() { "<unknown>" } else { kernel };
    match text(object, "/status/nodeInfo/architecture") {
        "" => kernel.into(),
        architecture => format!("{kernel} ({architecture})").into(),
    }
}

pub(in super::super) fn service_cluster_ip(object: &Value, _: Instant) -> Value {
    let first = list(object, "/spec/clusterIPs").first().and_then(Value::as_str);
    // A service that was stored as it was sent may have only the older, single field.
    first.map_or_else(|| or_none(text(object, "/spec/clusterIP").into()), Into::into)
}

pub(in super::super) fn service_external_ip(object: &Value, _: Instant) -> Value {
    let strings = |pointer| list(object, pointer).iter().filter_map(Value::as_str).map(str::to_owned);
    match text(object, "/spec/type") {
        "ExternalName" => text(object, "/spec/externalName").into(),
        "LoadBalancer" => {
            let ingress = list(object, "/status/loadBalancer/ingress").iter();
            let balancers: BTreeSet<String> = ingress
                .map(|i| if text(i, "/ip").is_empty() { text(i, "/hostname") } else { text(i, "/ip") }.to_owned())
                .filter(|address| !address.is_empty())
                .collect();
            let all: Vec<String> = balancers.into_iter().chain(strings("/spec/externalIPs")).collect();
            if all.is_empty() { "<pending>".into() } else { all.join(",").into() }
        }
        "ClusterIP" | "NodePort" => or_none(strings("/spec/externalIPs").collect::<Vec<_>>().join(",")),
        _ => "<unknown>".into(),
    }
}

pub(in super::super) fn service_ports(object: &Value, _: Instant) -> Value {
    let ports = list(object, "/spec/ports").iter().map(|port| {
        let (number, node, protocol) = (count(port, "/port"), count(port, "/nodePort"), text(port, "/protocol"));
        let protocol = if protocol.is_empty() { "TCP" } else { protocol };
        if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
    });
    or_none(ports.collect::<Vec<_>>().join(","))
}

pub(in super::super) fn service_selector(object: &Value, _: Instant) -> Value {
    labels(object, "/spec/selector")
}

pub(in super::super) fn quota_requests(object: &Value, _: Instant) -> Value {
    quotas(object, |name| !name.starts_with("limits."))
}

pub(in super::super) fn quota_limits(object: &Value, _: Instant) -> Value {
    quotas(object, |name| name.starts_with("limits."))
}

fn quotas(object: &Value, wanted: fn(&str) -> bool) -> Value {
    let quantity = |v: Option<&Value>| match v {
        Some(Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
        None => "0".into(),
    };
    let used = map(object, "/status/used");
    let hard = map(object, "/status/hard").into_iter().flatten().filter(|(name, _)| wanted(name));
    let all = hard
        .map(|(name, hard)| format!("{name}: {}/{}", quantity(used.and_then(|u| u.get(name))), quantity(Some(hard))));
    all.collect::<Vec<_>>().join(", ").into()
}
