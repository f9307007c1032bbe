//! The objects a server starts with: the plan's Pods, their namespaces and nodes.

use super::encode::object_of;
use super::faults::{GONE_NAME, GONE_NAMESPACE};
use super::interned::Interned;
use super::object::{Fields, Labels, Object, Shared};
use super::semantics::instant::Instant;
use super::semantics::kinds::Kind;
use super::store::{KindId, Store};
use perfq_core::workload::{FailureKind, Identity, ObjectRef, Plan, PodState, write_pod};
use serde_json::{Value, json};
use std::sync::Arc;

/// Instant at which everything planned was created.
const CREATED: &str = "2026-01-01T00:00:00Z";
/// Nodes of schema 1.
const NODES: u32 = 5;
/// Number of the extra Pod's uid: beyond every planned Pod's.
const EXTRA_POD: u64 = 1 << 32;
/// Label sets of the planned Pods: one a shard.
const SHARDS: usize = 10;

/// Writes the plan's Pods, and keeps what all of them share.
pub(crate) struct PodWriter {
    nonce: u64,
    pad_to: usize,
    namespaces: u32,
    /// Bytes of `{"kind":"Pod","apiVersion":"v1",`, which lists leave out.
    head: usize,
    labels: Vec<Shared<Labels>>,
    /// By node, then Running and Pending.
    fields: Vec<Shared<Fields>>,
}

impl PodWriter {
    /// Learns the label and field sets from one Pod of each sort, so that they are what the text says.
    pub(crate) fn new(plan: &Plan, pad_to: usize, nonce: u64, interned: &mut Interned) -> Self {
        let head = super::frames::Frames::of(KindId::core("pods")).single.len();
        let mut writer = Self {
            nonce,
            pad_to,
            namespaces: plan.profile().namespace_count,
            head,
            labels: Vec::new(),
            fields: Vec::new(),
        };
        let sample = |index: u32, pending: bool, interned: &mut Interned| {
            let (text, _) = writer.text(index, PodState { restarts: 0, pending }, 1);
            let value: Value = serde_json::from_slice(&text[1..]).unwrap_or_default();
            object_of(KindId::core("pods").kind(), value, 1, interned)
        };
        let labels = (0..SHARDS).map(|i| sample(u32::try_from(i).unwrap_or(0), false, interned).labels).collect();
        let fields =
            (0..NODES).flat_map(|i| [false, true].map(|pending| sample(i, pending, interned).fields)).collect();
        writer.labels = labels;
        writer.fields = fields;
        writer
    }

    fn text(&self, index: u32, state: PodState, rv: u64) -> (Vec<u8>, String) {
        let uid = uid(self.nonce, u64::from(index));
        let mut text = Vec::with_capacity(self.pad_to.max(4_096));
        let identity = Identity { uid: &uid, resource_version: rv };
        write_pod(&mut text, ObjectRef::new(index, self.namespaces), state, identity, self.pad_to);
        // `{"kind":…,"apiVersion":…,` becomes `,{`.
        text.drain(..self.head - 2);
        text[..2].copy_from_slice(b",{");
        (text, uid)
    }

    /// Pod `index` in that state.
    pub(crate) fn pod(&self, index: u32, state: PodState, rv: u64) -> Object {
        let object = ObjectRef::new(index, self.namespaces);
        let (text, uid) = self.text(index, state, rv);
        let namespace = object.namespace_name();
        Object {
            namespace_len: namespace.len(),
            key: format!("{namespace}/{}", object.name()).into(),
            rv,
            uid: uid.into(),
            text: text.into(),
            labels: self.labels[index as usize % SHARDS].clone(),
            fields: self.fields[(index % NODES) as usize * 2 + usize::from(state.pending)].clone(),
            planned: Some(index),
        }
    }
}

impl PodWriter {
    /// The Pod that the failure `gone` deletes: like the first planned one, under a name of its own.
    fn extra_pod(&self, rv: u64, interned: &mut Interned) -> Object {
        let (text, _) = self.text(0, PodState::default(), rv);
        let mut value: Value = serde_json::from_slice(&text[1..]).unwrap_or_default();
        value["metadata"]["name"] = GONE_NAME.into();
        value["metadata"]["namespace"] = GONE_NAMESPACE.into();
        value["metadata"]["uid"] = uid(self.nonce, EXTRA_POD).into();
        object_of(KindId::core("pods").kind(), value, rv, interned)
    }
}

/// Fills the store.
pub(crate) fn fill(store: &Store, plan: &Plan, pad_to: usize, nonce: u64) -> PodWriter {
    let values = |kind: &'static Kind, values: Vec<Value>| {
        move |first: u64, interned: &mut Interned| -> Vec<Arc<Object>> {
            let numbered = values.into_iter().zip(first..);
            numbered
                .map(|(mut value, rv)| {
                    value["metadata"]["resourceVersion"] = rv.to_string().into();
                    value["metadata"]["uid"] = uid(nonce ^ fnv(kind.plural), rv).into();
                    Arc::new(object_of(kind, value, rv, interned))
                })
                .collect()
        }
    };
    let (namespaces, nodes, pods) = (KindId::core("namespaces"), KindId::core("nodes"), KindId::core("pods"));
    store.fill(namespaces, values(namespaces.kind(), namespace_values(plan)));
    store.fill(nodes, values(nodes.kind(), (0..NODES).map(node_value).collect()));
    let mut writer = None;
    store.fill(pods, |first, interned| {
        let made = writer.insert(PodWriter::new(plan, pad_to, nonce, interned));
        let mut pods: Vec<_> = plan
            .objects()
            .zip(first..)
            .map(|(object, rv)| Arc::new(made.pod(object.index, PodState::default(), rv)))
            .collect();
        if plan.profile().failures.iter().any(|failure| failure.kind == FailureKind::Gone) {
            let extra = Arc::new(made.extra_pod(first + pods.len() as u64, interned));
            let at = pods.partition_point(|pod| pod.key < extra.key);
            pods.insert(at, extra);
        }
        pods
    });
    writer.expect("fill calls its function once")
}

fn namespace_values(plan: &Plan) -> Vec<Value> {
    let planned = (0..plan.profile().namespace_count).map(|i| format!("bench-{i:04}"));
    let mut names: Vec<String> = planned.chain(["default".to_owned(), "kube-system".to_owned()]).collect();
    names.sort_unstable();
    names
        .into_iter()
        .map(|name| {
            json!({
                "metadata": {"name": name, "creationTimestamp": CREATED,
                             "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            })
        })
        .collect()
}

fn node_value(index: u32) -> Value {
    let name = format!("node-{index:02}");
    let now = Instant::now().to_rfc3339();
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": reason,
               "lastHeartbeatTime": now, "lastTransitionTime": CREATED})
    };
    let size = json!({"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "250k"});
    json!({
        "metadata": {"name": name, "creationTimestamp": CREATED,
                     "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                "kubernetes.io/arch": "amd64"}},
        "spec": {"providerID": format!("perfq://{name}")},
        "status": {
            "capacity": size, "allocatable": size,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                condition("Ready", "True", "KubeletReady"),
            ],
            "addresses": [{"type": "InternalIP", "address": format!("192.0.2.{}", index + 10)},
                          {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.1.0",
                         "osImage": "perfq", "containerRuntimeVersion": "containerd://2.0.0",
                         "kubeletVersion": "v1.36.3", "kubeProxyVersion": "", "operatingSystem": "linux",
                         "architecture": "amd64"},
        },
    })
}

fn fnv(text: &str) -> u64 {
    perfq_core::partition::fnv1a64(text.as_bytes())
}

/// A uid in the form of a random UUID (RFC 9562, version 4) that this server alone gives out: the bits
/// are a mix of the server's nonce and a number (splitmix64).
pub(crate) fn uid(nonce: u64, number: u64) -> String {
    let mix = |salt: u64| {
        let mut z = nonce ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let (high, low) = (mix(0x5851_f42d), mix(0x1405_7b7e));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::super::encode::value_of;
    use super::*;
    use perfq_core::workload::Profile;

    fn plan() -> Plan {
        let profile = r#"{"schema_version":1,"id":"t","seed":1,"object_count":60,"namespace_count":3,
            "steady_events_per_second":1,"duration_seconds":1}"#;
        Plan::new(serde_json::from_str::<Profile>(profile).unwrap()).unwrap()
    }

    #[test]
    fn planned_pods_have_the_labels_and_fields_that_their_text_says() {
        let (plan, mut interned) = (plan(), Interned::default());
        let writer = PodWriter::new(&plan, 0, 9, &mut interned);
        for index in 0..60 {
            let state = PodState { restarts: 3, pending: index % 2 == 1 };
            let pod = writer.pod(index, state, 77);
            let pods = KindId::core("pods");
            let again = object_of(pods.kind(), value_of(pods, &pod), 77, &mut interned);
            assert_eq!((again.key, again.uid), (pod.key, pod.uid));
            assert_eq!(again.labels.set, pod.labels.set);
            assert_eq!(again.fields.set, pod.fields.set);
        }
    }

    #[test]
    fn the_store_starts_with_all_of_them_in_key_order() {
        let store = Store::new();
        fill(&store, &plan(), 0, 1);
        for (plural, count) in [("pods", 60), ("namespaces", 5), ("nodes", 5)] {
            let snapshot = store.snapshot(KindId::core(plural));
            let keys: Vec<_> = snapshot.objects.rows().map(|row| row.object.key.clone()).collect();
            assert_eq!(keys.len(), count);
            assert!(keys.is_sorted(), "{plural}: {keys:?}");
        }
    }

    #[test]
    fn the_extra_pod_is_there_from_the_start_where_the_plan_injects_gone() {
        let mut profile = plan().profile().clone();
        profile.failures = vec![perfq_core::workload::Failure { kind: FailureKind::Gone, at_event: 1 }];
        let store = Store::new();
        fill(&store, &Plan::new(profile).unwrap(), 0, 1);
        let pods = store.snapshot(KindId::core("pods"));
        assert_eq!(pods.objects.len(), 61);
        assert!(pods.objects.rows().map(|row| &row.object.key).is_sorted());
        assert_eq!(pods.objects.get("bench-0000/pod-gone").unwrap().name(), "pod-gone");
    }

    #[test]
    fn padding_counts_the_whole_pod() {
        let writer = PodWriter::new(&plan(), 5_000, 9, &mut Interned::default());
        let pod = writer.pod(0, PodState::default(), 1);
        assert_eq!(super::super::frames::Frames::of(KindId::core("pods")).text(&pod).len(), 5_000);
    }

    #[test]
    fn uids_differ_and_look_like_uuids() {
        let uids: std::collections::HashSet<_> = (0..10_000).map(|n| uid(7, n)).collect();
        assert_eq!(uids.len(), 10_000);
        assert!(uids.iter().all(|uid| uid.len() == 36 && &uid[14..15] == "4"));
    }
}
