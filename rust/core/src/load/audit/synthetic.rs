//! Bodies made up for writes whose own body is secret or not in the log.
//!
//! Each is the least that a server accepts for its kind; what load it makes is therefore less than what the
//! log's write made.

use crate::load::patch_type::{APPLY, MERGE_PATCH};
use crate::load::{ApiPath, Verb};
use serde_json::{Map, Value, json};

const PATCH: &str = r#"{"metadata":{"annotations":{"perfq.dev/synthetic":"true"}}}"#;

/// A body, and the verb and content type that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Synthetic {
    pub(super) verb: Verb,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: String,
}

/// A body for a write on this path; `name` is that of a created object, where it is known. `None` where no
/// body can be made up: custom resources, whose schema is unknown, and subresources with a meaning of their
/// own.
pub(super) fn synthetic(verb: Verb, parts: &ApiPath<'_>, name: Option<&str>) -> Option<Synthetic> {
    let of = |content_type, body| Some(Synthetic { verb, content_type, body });
    match verb {
        Verb::Patch => of(Some(MERGE_PATCH), PATCH.to_owned()),
        Verb::Apply => of(Some(APPLY), object(parts, Some(&parts.name))?),
        Verb::Create | Verb::Update => {
            let own = Some(&*parts.name).filter(|name| !name.is_empty());
            of(None, object(parts, own.or(name))?)
        }
        _ => None,
    }
}

fn object(parts: &ApiPath<'_>, name: Option<&str>) -> Option<String> {
    let (kind, rest) = match &*parts.subresource {
        "" | "status" => kind(&parts.group, &parts.resource, &parts.namespace)?,
        "scale" => ("Scale", json!({"spec": {"replicas": 1}})),
        "eviction" => ("Eviction", json!({})),
        "binding" => ("Binding", json!({"target": {"kind": "Node", "name": "perfq-synthetic"}})),
        "token" => ("TokenRequest", json!({"spec": {"audiences": []}})),
        _ => return None,
    };
    let version = match &*parts.subresource {
        "scale" => "autoscaling/v1".to_owned(),
        "eviction" => "policy/v1".to_owned(),
        "token" => "authentication.k8s.io/v1".to_owned(),
        _ if parts.group.is_empty() => parts.version.to_string(),
        _ => format!("{}/{}", parts.group, parts.version),
    };
    let mut metadata = Map::new();
    match name {
        Some(name) => metadata.insert("name".to_owned(), name.into()),
        // Reviews are no objects, and have no names.
        None if parts.resource.ends_with("reviews") => None,
        None => metadata.insert("generateName".to_owned(), "perfq-".into()),
    };
    if !parts.namespace.is_empty() {
        metadata.insert("namespace".to_owned(), (&*parts.namespace).into());
    }
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
    if let (Value::Object(object), Value::Object(rest)) = (&mut object, rest) {
        object.extend(rest);
    }
    Some(object.to_string())
}

fn template() -> Value {
    let container = json!({"name": "synthetic", "image": "perfq.invalid/synthetic"});
    json!({"metadata": {"labels": {"perfq.dev/synthetic": "true"}}, "spec": {"containers": [container]}})
}

fn job_template() -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = "Never".into();
    template
}

/// The kind of a resource that Kubernetes is built with, and what it needs beside its metadata.
fn kind(group: &str, resource: &str, namespace: &str) -> Option<(&'static str, Value)> {
    let selector = || json!({"matchLabels": {"perfq.dev/synthetic": "true"}});
    let workload = || json!({"spec": {"selector": selector(), "template": template()}});
    let attributes = || json!({"verb": "get", "resource": "pods", "namespace": namespace});
    Some(match (group, resource) {
        ("", "pods") => ("Pod", json!({"spec": template()["spec"]})),
        ("", "configmaps") => ("ConfigMap", json!({})),
        ("", "secrets") => ("Secret", json!({"type": "Opaque"})),
        ("", "services") => ("Service", json!({"spec": {"ports": [{"port": 80}]}})),
        ("", "serviceaccounts") => ("ServiceAccount", json!({})),
        ("", "namespaces") => ("Namespace", json!({})),
        ("", "nodes") => ("Node", json!({})),
        ("", "endpoints") => ("Endpoints", json!({})),
        ("", "limitranges") => ("LimitRange", json!({"spec": {"limits": []}})),
        ("", "resourcequotas") => ("ResourceQuota", json!({})),
        ("", "podtemplates") => ("PodTemplate", json!({"template": template()})),
        ("", "replicationcontrollers") => {
            ("ReplicationController", json!({"spec": {"selector": selector()["matchLabels"], "template": template()}}))
        }
        ("", "persistentvolumeclaims") => {
            let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}});
            ("PersistentVolumeClaim", json!({ "spec": spec }))
        }
        ("", "bindings") => ("Binding", json!({"target": {"kind": "Node", "name": "perfq-synthetic"}})),
        ("", "events") => {
            let about = json!({"kind": "Pod", "namespace": namespace, "name": "perfq-synthetic"});
            ("Event", json!({"involvedObject": about, "reason": "Synthetic", "type": "Normal"}))
        }
        ("events.k8s.io", "events") => {
            let about = json!({"kind": "Pod", "namespace": namespace, "name": "perfq-synthetic"});
            let mut event = json!({"regarding": about, "reason": "Synthetic", "type": "Normal", "action": "Synthetic"});
            event["eventTime"] = "2024-01-01T00:00:00.000000Z".into();
            event["reportingController"] = "perfq.dev/synthetic".into();
            event["reportingInstance"] = "perfq".into();
            ("Event", event)
        }
        ("apps", "deployments") => ("Deployment", workload()),
        ("apps", "replicasets") => ("ReplicaSet", workload()),
        ("apps", "daemonsets") => ("DaemonSet", workload()),
        ("apps", "statefulsets") => ("StatefulSet", workload()),
        ("apps", "controllerrevisions") => ("ControllerRevision", json!({"revision": 1, "data": {}})),
        ("batch", "jobs") => ("Job", json!({"spec": {"template": job_template()}})),
        ("batch", "cronjobs") => {
            let job = json!({"spec": {"template": job_template()}});
            ("CronJob", json!({"spec": {"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": job}}))
        }
        ("autoscaling", "horizontalpodautoscalers") => {
            let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "perfq-synthetic"});
            ("HorizontalPodAutoscaler", json!({"spec": {"scaleTargetRef": target, "maxReplicas": 1}}))
        }
        ("coordination.k8s.io", "leases") => ("Lease", json!({"spec": {}})),
        ("discovery.k8s.io", "endpointslices") => ("EndpointSlice", json!({"addressType": "IPv4", "endpoints": []})),
        ("networking.k8s.io", "networkpolicies") => ("NetworkPolicy", json!({"spec": {"podSelector": {}}})),
        ("networking.k8s.io", "ingresses") => {
            let service = json!({"name": "perfq-synthetic", "port": {"number": 80}});
            ("Ingress", json!({"spec": {"defaultBackend": {"service": service}}}))
        }
        ("policy", "poddisruptionbudgets") => ("PodDisruptionBudget", json!({"spec": {"selector": selector()}})),
        ("rbac.authorization.k8s.io", "roles") => ("Role", json!({"rules": []})),
        ("rbac.authorization.k8s.io", "clusterroles") => ("ClusterRole", json!({"rules": []})),
        ("scheduling.k8s.io", "priorityclasses") => ("PriorityClass", json!({"value": 1})),
        ("authentication.k8s.io", "tokenreviews") => ("TokenReview", json!({"spec": {"token": "perfq-synthetic"}})),
        ("authentication.k8s.io", "selfsubjectreviews") => ("SelfSubjectReview", json!({})),
        ("authorization.k8s.io", "subjectaccessreviews") => {
            ("SubjectAccessReview", json!({"spec": {"user": "perfq-synthetic", "resourceAttributes": attributes()}}))
        }
        ("authorization.k8s.io", "localsubjectaccessreviews") => {
            let spec = json!({"user": "perfq-synthetic", "resourceAttributes": attributes()});
            ("LocalSubjectAccessReview", json!({ "spec": spec }))
        }
        ("authorization.k8s.io", "selfsubjectaccessreviews") => {
            ("SelfSubjectAccessReview", json!({"spec": {"resourceAttributes": attributes()}}))
        }
        ("authorization.k8s.io", "selfsubjectrulesreviews") => {
            ("SelfSubjectRulesReview", json!({"spec": {"namespace": "default"}}))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(verb: Verb, path: &str, name: Option<&str>) -> Option<Value> {
        let body = synthetic(verb, &ApiPath::parse(path).unwrap(), name)?.body;
        Some(serde_json::from_str(&body).unwrap())
    }

    #[test]
    fn an_object_has_the_version_and_namespace_of_its_path_and_the_name_that_is_known() {
        let pod = made(Verb::Create, "/api/v1/namespaces/a/pods", Some("b")).unwrap();
        assert_eq!(pod["apiVersion"], "v1");
        assert_eq!(pod["kind"], "Pod");
        assert_eq!(pod["metadata"], json!({"name": "b", "namespace": "a"}));
        assert_eq!(pod["spec"]["containers"][0]["name"], "synthetic");
        let lease = made(Verb::Update, "/apis/coordination.k8s.io/v1/namespaces/a/leases/c", None).unwrap();
        assert_eq!((&lease["apiVersion"], &lease["metadata"]["name"]), (&json!("coordination.k8s.io/v1"), &json!("c")));
        let job = made(Verb::Create, "/apis/batch/v1/namespaces/a/jobs", None).unwrap();
        assert_eq!(job["metadata"]["generateName"], "perfq-");
        let review = made(Verb::Create, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", None).unwrap();
        assert_eq!(review["metadata"], json!({}));
    }

    #[test]
    fn a_patch_is_a_merge_patch_that_every_object_takes() {
        let parts = ApiPath::parse("/apis/example.com/v1/namespaces/a/widgets/b").unwrap();
        let patch = synthetic(Verb::Patch, &parts, None).unwrap();
        assert_eq!((patch.verb, patch.content_type), (Verb::Patch, Some(MERGE_PATCH)));
        serde_json::from_str::<Value>(&patch.body).unwrap();
    }

    #[test]
    fn subresources_with_a_kind_of_their_own_have_it() {
        let scale = made(Verb::Update, "/apis/apps/v1/namespaces/a/deployments/b/scale", None).unwrap();
        assert_eq!((&scale["kind"], &scale["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
        let eviction = made(Verb::Create, "/api/v1/namespaces/a/pods/b/eviction", Some("other")).unwrap();
        assert_eq!((&eviction["kind"], &eviction["metadata"]["name"]), (&json!("Eviction"), &json!("b")));
        assert_eq!(made(Verb::Update, "/api/v1/namespaces/a/pods/b/status", None).unwrap()["kind"], "Pod");
        assert_eq!(made(Verb::Update, "/api/v1/namespaces/a/pods/b/ephemeralcontainers", None), None);
    }

    #[test]
    fn nothing_is_made_up_for_a_kind_that_is_not_known() {
        assert_eq!(made(Verb::Create, "/apis/example.com/v1/namespaces/a/widgets", Some("b")), None);
        let csr = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        assert_eq!(made(Verb::Create, csr, Some("b")), None);
    }
}
