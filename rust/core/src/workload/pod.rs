//! The Pod of a planned object as JSON, as a real API server returns a defaulted Pod.

use super::{ObjectRef, PodState};
use crate::canonical::{write_integer, write_padded};

/// What the server, and not the plan, decides about an object.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// `metadata.uid`.
    pub uid: &'a str,
    /// `metadata.resourceVersion`.
    pub resource_version: u64,
}

const CREATED: &str = "2026-01-01T00:00:00Z";

/// Appends the JSON of a Pod. `pad_to` fills an annotation up to that many bytes in all, where the
/// Pod is smaller. The restart count and the phase stand in `status`; there is no `lastState`, so
/// that kubectl prints the plain number.
pub fn write_pod(out: &mut Vec<u8>, object: ObjectRef, state: PodState, identity: Identity<'_>, pad_to: usize) {
    let start = out.len();
    let (namespace, name, node) = (object.namespace_name(), object.name(), object.node());
    text(out, r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":""#);
    text(out, &name);
    text(out, r#"","namespace":""#);
    text(out, &namespace);
    text(out, r#"","uid":""#);
    text(out, identity.uid);
    text(out, r#"","resourceVersion":""#);
    write_integer(out, identity.resource_version);
    text(out, r#"","generation":1,"creationTimestamp":""#);
    text(out, CREATED);
    text(out, r#"","labels":{"app":"bench","perfq.dev/shard":"shard-"#);
    write_padded(out, u64::from(object.index % 10), 2);
    text(out, r#"","pod-template-hash":"7c5ddbdf54"},"annotations":{"perfq.dev/workload":"v1"#);
    let pad_at = out.len();
    text(out, r#""},"managedFields":["#);
    text(out, r#"{"manager":"perfq","operation":"Update","apiVersion":"v1","time":""#);
    text(out, CREATED);
    text(
        out,
        r#"","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:perfq.dev/workload":{}},"f:labels":{".":{},"f:app":{},"f:perfq.dev/shard":{},"f:pod-template-hash":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{},"f:name":{},"f:ports":{},"f:readinessProbe":{},"f:resources":{}}},"f:dnsPolicy":{},"f:restartPolicy":{}}}},"#,
    );
    text(out, r#"{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":""#);
    text(out, CREATED);
    text(
        out,
        r#"","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}},"subresource":"status"}]},"#,
    );
    text(
        out,
        r#""spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}],"defaultMode":420}}],"#,
    );
    text(
        out,
        r#""containers":[{"name":"app","image":"registry.example/perfq/bench:1.0","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"resources":{"limits":{"cpu":"250m","memory":"128Mi"},"requests":{"cpu":"50m","memory":"64Mi"}},"#,
    );
    text(
        out,
        r#""volumeMounts":[{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"readinessProbe":{"httpGet":{"path":"/readyz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"#,
    );
    text(
        out,
        r#""restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":""#,
    );
    text(out, &node);
    text(
        out,
        r#"","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"#,
    );
    text(out, r#""status":{"phase":""#);
    text(out, state.phase());
    text(out, r#"","conditions":["#);
    let ready = if state.pending { "False" } else { "True" };
    for (i, (kind, status)) in
        [("Initialized", "True"), ("Ready", ready), ("ContainersReady", ready), ("PodScheduled", "True")]
            .into_iter()
            .enumerate()
    {
        text(out, if i == 0 { r#"{"type":""# } else { r#",{"type":""# });
        text(out, kind);
        text(out, r#"","status":""#);
        text(out, status);
        text(out, r#"","lastProbeTime":null,"lastTransitionTime":""#);
        text(out, CREATED);
        text(out, r#""}"#);
    }
    text(out, r#"],"hostIP":"192.0.2."#);
    write_integer(out, u64::from(object.index % 5) + 10);
    text(out, r#"","hostIPs":[{"ip":"192.0.2."#);
    write_integer(out, u64::from(object.index % 5) + 10);
    out.extend_from_slice(br#""}],"podIP":""#);
    write_pod_ip(out, object.index);
    out.extend_from_slice(br#"","podIPs":[{"ip":""#);
    write_pod_ip(out, object.index);
    text(out, r#""}],"startTime":""#);
    text(out, CREATED);
    text(out, r#"","containerStatuses":[{"name":"app","state":{"#);
    if state.pending {
        text(out, r#""waiting":{}"#);
    } else {
        text(out, r#""running":{"startedAt":""#);
        text(out, CREATED);
        text(out, r#""}"#);
    }
    text(out, r#"},"ready":"#);
    text(out, if state.pending { "false" } else { "true" });
    text(out, r#","restartCount":"#);
    write_integer(out, state.restarts);
    text(
        out,
        r#","image":"registry.example/perfq/bench:1.0","imageID":"registry.example/perfq/bench@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","containerID":"containerd://"#,
    );
    write_padded(out, u64::from(object.index), 12);
    text(out, r#"","started":"#);
    text(out, if state.pending { "false" } else { "true" });
    text(out, r#"}],"qosClass":"Burstable"}}"#);
    let written = out.len() - start;
    if written < pad_to {
        out.splice(pad_at..pad_at, std::iter::repeat_n(b'x', pad_to - written));
    }
}

fn text(out: &mut Vec<u8>, piece: &str) {
    out.extend_from_slice(piece.as_bytes());
}

/// One address of 10.0.0.0/8 for each object number.
fn write_pod_ip(out: &mut Vec<u8>, index: u32) {
    out.extend_from_slice(b"10.");
    for (i, part) in (index + 1).to_be_bytes()[1..].iter().enumerate() {
        if i > 0 {
            out.push(b'.');
        }
        write_integer(out, u64::from(*part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(state: PodState, pad_to: usize) -> (usize, serde_json::Value) {
        let mut out = Vec::new();
        let identity = Identity { uid: "0b7e2c8a-0000-4000-8000-000000000001", resource_version: 42 };
        write_pod(&mut out, ObjectRef::new(350, 20), state, identity, pad_to);
        (out.len(), serde_json::from_slice(&out).unwrap())
    }

    #[test]
    fn a_pod_is_about_as_large_as_a_real_one_and_carries_its_state() {
        let (bytes, value) = pod(PodState { restarts: 7, pending: true }, 0);
        assert!((3_300..3_700).contains(&bytes), "{bytes} bytes");
        assert_eq!(value["metadata"]["namespace"], "bench-0010");
        assert_eq!(value["spec"]["nodeName"], "node-00");
        let status = &value["status"]["containerStatuses"][0];
        assert_eq!((status["restartCount"].as_u64(), status["ready"].as_bool()), (Some(7), Some(false)));
        assert!(status.get("lastState").is_none());
    }

    #[test]
    fn padding_gives_exactly_the_bytes_asked_for_and_never_cuts() {
        assert_eq!(pod(PodState::default(), 5_000).0, 5_000);
        assert_eq!(pod(PodState::default(), 10).0, pod(PodState::default(), 0).0);
    }
}
