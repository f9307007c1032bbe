use serde_json::json;

use super::*;
use crate::api_server::semantics::kinds;

fn target(group: &str, plural: &str, name: &'static str) -> Target<'static> {
    let kind = kinds::find(group, "v1", plural).unwrap();
    Target { kind, namespace: if kind.namespaced { "ns" } else { "" }, name, subresource: "" }
}

fn options() -> WriteOptions {
    WriteOptions { manager: "test".into(), manager_named: true, ..WriteOptions::default() }
}

fn stamp() -> Stamp {
    Stamp { now: Instant(1_767_225_600), uid: "u-1".into(), nonce: 7 }
}

fn pod_body() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}},
           "spec": {"containers": [{"name": "c", "image": "i:1"}]}})
}

fn make(target: Target<'_>, body: &Value) -> Result<Written, Status> {
    create(target, Some("application/json"), body.to_string().as_bytes(), &options(), &stamp())
}

/// A stored Pod, of version 5.
fn stored() -> Value {
    let mut pod = make(target("", "pods", ""), &pod_body()).unwrap().object;
    pod["metadata"]["resourceVersion"] = "5".into();
    pod
}

fn patched(current: &Value, media: &str, patch_body: &Value) -> Result<Written, Status> {
    let body = patch_body.to_string();
    let sent = Patch { content_type: Some(media), bytes: body.as_bytes() };
    patch(target("", "pods", "p"), Some(current), sent, &options(), &stamp())
}

const MERGE: &str = "application/merge-patch+json";

#[test]
fn a_created_object_is_stamped_completed_and_owned() {
    let pod = stored();
    let metadata = &pod["metadata"];
    assert_eq!(
        (&metadata["namespace"], &metadata["uid"], &metadata["generation"]),
        (&json!("ns"), &json!("u-1"), &json!(1))
    );
    assert_eq!(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(pod["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    assert_eq!((&pod["spec"]["priority"], &pod["spec"]["enableServiceLinks"]), (&json!(0), &json!(true)));
    assert_eq!(metadata["managedFields"][0]["manager"], "test");
    assert_eq!(metadata["managedFields"][0]["fieldsV1"]["f:metadata"], json!({"f:labels": {"f:a": {}}}));
}

#[test]
fn a_name_is_generated_from_its_prefix() {
    let mut body = pod_body();
    body["metadata"] = json!({"generateName": "web-"});
    let name = make(target("", "pods", ""), &body).unwrap().object["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
    assert_eq!(generated_name(&"é".repeat(60), 1).chars().count(), 29 + 5);
    assert_ne!(generated_name("a", 1), generated_name("a", 2));
}

#[test]
fn bodies_that_do_not_fit_are_refused_with_the_code_of_the_real_server() {
    let change = |pointer: &str, value: Value| {
        let mut body = pod_body();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    for (body, code, words) in [
        (json!([]), 400, "must be of type Pod"),
        (change("/kind", json!("ConfigMap")), 400, "cannot be handled as a Pod"),
        (change("/apiVersion", json!("v2")), 400, "does not match the expected API version (v1)"),
        (change("/metadata/name", json!("A")), 422, "Pod \"A\" is invalid: metadata.name: Invalid value: \"A\""),
        (change("/metadata", json!({})), 422, "name or generateName is required"),
        (change("/metadata", json!({"name": "p", "namespace": "other"})), 400, "does not match the namespace"),
        (change("/metadata", json!({"name": "p", "resourceVersion": "1"})), 500, "resourceVersion should not be set"),
        (change("/spec/containers", json!("x")), 400, "spec.containers: expected a list"),
        (change("/spec", json!({})), 422, "spec.containers: Required value"),
    ] {
        let status = make(target("", "pods", ""), &body).unwrap_err();
        assert_eq!(status.code, code, "{body}");
        assert!(status.message.contains(words), "{}", status.message);
    }
    let yaml = create(target("", "pods", ""), Some("application/yaml"), b"kind: Pod", &options(), &stamp());
    assert_eq!(yaml.unwrap_err().code, 415);
}

#[test]
fn unknown_fields_are_an_error_a_warning_or_nothing() {
    let mut body = pod_body();
    body["spec"]["foo"] = json!(1);
    let with = |validation| {
        let options = WriteOptions { validation, ..options() };
        create(target("", "pods", ""), None, body.to_string().as_bytes(), &options, &stamp())
    };
    let strict = with(FieldValidation::Strict).unwrap_err();
    assert!(strict.message.ends_with("strict decoding error: unknown field \"spec.foo\""), "{}", strict.message);
    let warned = with(FieldValidation::Warn).unwrap();
    assert_eq!(
        (warned.warnings, warned.object["spec"].get("foo")),
        (vec!["unknown field \"spec.foo\"".to_owned()], None)
    );
    assert!(with(FieldValidation::Ignore).unwrap().warnings.is_empty());
}

#[test]
fn an_update_of_an_old_version_is_a_conflict_and_one_without_a_version_is_not() {
    let current = stored();
    let put = |change: &dyn Fn(&mut Value)| {
        let mut body = current.clone();
        change(&mut body);
        update(target("", "pods", "p"), &current, None, body.to_string().as_bytes(), &options(), &stamp())
    };
    let old = put(&|b| b["metadata"]["resourceVersion"] = "4".into()).unwrap_err();
    assert!(old.code == 409 && old.message.contains("the object has been modified"), "{}", old.message);
    let label = |b: &mut Value| b["metadata"]["labels"]["a"] = "2".into();
    let written = put(&|b| {
        label(b);
        b["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    });
    assert_eq!(written.unwrap().object["metadata"]["labels"]["a"], "2");
    assert_eq!(put(&|b| b["metadata"]["uid"] = "other".into()).unwrap_err().code, 409);
    assert_eq!(put(&|b| b["metadata"]["name"] = "q".into()).unwrap_err().code, 400);
    assert!(!put(&|_| {}).unwrap().changed);
}

#[test]
fn only_the_server_sets_its_own_fields_and_the_generation_counts_specs() {
    let current = stored();
    let patch =
        json!({"metadata": {"creationTimestamp": "2000-01-01T00:00:00Z", "generation": 9, "labels": {"b": "2"}}});
    let labelled = patched(&current, MERGE, &patch).unwrap().object;
    assert_eq!(labelled["metadata"]["creationTimestamp"], current["metadata"]["creationTimestamp"]);
    assert_eq!(labelled["metadata"]["generation"], 1);
    let image = patched(&current, MERGE, &json!({"spec": {"activeDeadlineSeconds": 5}})).unwrap().object;
    assert_eq!(image["metadata"]["generation"], 2);
}

#[test]
fn status_is_written_below_status_and_metadata_in_both_places() {
    let current = stored();
    let patch_body = json!({"status": {"phase": "Running"}, "spec": {"activeDeadlineSeconds": 5},
        "metadata": {"labels": {"b": "2"}}});
    let main = patched(&current, MERGE, &patch_body).unwrap().object;
    assert_eq!((&main["status"]["phase"], &main["metadata"]["labels"]["b"]), (&json!("Pending"), &json!("2")));
    let body = patch_body.to_string();
    let sent = Patch { content_type: Some(MERGE), bytes: body.as_bytes() };
    let below = Target { subresource: "status", ..target("", "pods", "p") };
    let status = patch(below, Some(&current), sent, &options(), &stamp()).unwrap().object;
    assert_eq!((&status["status"]["phase"], &status["metadata"]["labels"]["b"]), (&json!("Running"), &json!("2")));
    assert_eq!(status["spec"].get("activeDeadlineSeconds"), None);
    assert_eq!(status["metadata"]["managedFields"][1]["subresource"], "status");
}

#[test]
fn a_pods_image_may_change_and_its_command_may_not() {
    let current = stored();
    let media = "application/strategic-merge-patch+json";
    let of = |field: &str| json!({"spec": {"containers": [{"name": "c", field: if field == "image" { json!("i:2") } else { json!(["x"]) }}]}});
    assert_eq!(patched(&current, media, &of("image")).unwrap().object["spec"]["containers"][0]["image"], "i:2");
    let refused = patched(&current, media, &of("command")).unwrap_err();
    assert!(refused.code == 422 && refused.message.contains("spec: Forbidden: pod updates may not change"));
}

#[test]
fn patches_are_told_apart_by_their_media_type() {
    let current = stored();
    let json_patch = json!([{"op": "replace", "path": "/metadata/labels/new", "value": "x"}]);
    let written = patched(&current, "application/json-patch+json; charset=utf-8", &json_patch).unwrap();
    assert_eq!(written.object["metadata"]["labels"]["new"], "x");
    assert_eq!(patched(&current, "application/json", &json!({})).unwrap_err().code, 415);
    assert_eq!(patched(&current, MERGE, &json!({"kind": "Node"})).unwrap_err().code, 422);
    assert_eq!(patched(&current, MERGE, &json!({"metadata": {"resourceVersion": "4"}})).unwrap_err().code, 409);
    let missing = Patch { content_type: Some(MERGE), bytes: b"{}" };
    assert_eq!(patch(target("", "pods", "p"), None, missing, &options(), &stamp()).unwrap_err().code, 404);
}

#[test]
fn apply_creates_merges_and_stays_quiet_when_nothing_changes() {
    let apply = |current: Option<&Value>, body: &Value| {
        let body = body.to_string();
        let sent = Patch { content_type: Some("application/apply-patch+yaml"), bytes: body.as_bytes() };
        patch(target("", "pods", "p"), current, sent, &options(), &stamp())
    };
    let mut created = apply(None, &pod_body()).unwrap().object;
    assert_eq!(created["metadata"]["managedFields"][0]["operation"], "Apply");
    created["metadata"]["resourceVersion"] = "5".into();
    assert!(!apply(Some(&created), &pod_body()).unwrap().changed);
    let mut body = pod_body();
    body["metadata"]["labels"] = json!({"b": "2"});
    let merged = apply(Some(&created), &body).unwrap();
    assert_eq!((merged.changed, &merged.object["metadata"]["labels"]), (true, &json!({"b": "2"})));
    body["metadata"]["name"] = "q".into();
    assert_eq!(apply(None, &body).unwrap_err().code, 400);
    let anonymous = WriteOptions { manager_named: false, ..options() };
    let sent = Patch { content_type: Some("application/apply-patch+yaml"), bytes: b"{}" };
    assert_eq!(patch(target("", "pods", "p"), None, sent, &anonymous, &stamp()).unwrap_err().code, 422);
}

#[test]
fn a_field_that_another_client_changed_moves_to_it() {
    let current = stored();
    let body = json!({"metadata": {"labels": {"a": "2"}}}).to_string();
    let other = WriteOptions { manager: "other".into(), ..options() };
    let sent = Patch { content_type: Some(MERGE), bytes: body.as_bytes() };
    let object = patch(target("", "pods", "p"), Some(&current), sent, &other, &stamp()).unwrap().object;
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries[1]["fieldsV1"], json!({"f:metadata": {"f:labels": {"f:a": {}}}}));
    assert!(entries[0]["fieldsV1"].get("f:metadata").is_none());
}

#[test]
fn an_apply_of_what_an_update_set_names_the_update_and_its_time() {
    let current = stored();
    let mut body = pod_body();
    body["metadata"]["labels"]["a"] = "2".into();
    let body = body.to_string();
    let sent = Patch { content_type: Some("application/apply-patch+yaml"), bytes: body.as_bytes() };
    let status = patch(target("", "pods", "p"), Some(&current), sent, &options(), &stamp()).unwrap_err();
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"test\" using v1 at 2026-01-01T00:00:00Z: .metadata.labels.a"
    );
}
