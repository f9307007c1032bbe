use serde_json::{Value, json};

use super::*;
use crate::api_server::semantics::kinds;

fn body(status: &Status) -> Value {
    serde_json::from_slice(&status.to_json()).unwrap()
}

#[test]
fn a_missing_object_is_named_by_its_group_resource() {
    let deployments = kinds::find("apps", "v1", "deployments").unwrap();
    assert_eq!(
        body(&Status::not_found(deployments, "web")),
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
               "message": "deployments.apps \"web\" not found", "reason": "NotFound",
               "details": {"name": "web", "group": "apps", "kind": "deployments"}, "code": 404})
    );
}

#[test]
fn a_broken_object_lists_every_cause() {
    let pods = kinds::find("", "v1", "pods").unwrap();
    let errors = [
        FieldError::invalid("metadata.name", &json!("A"), "must be lower case"),
        FieldError::required("spec.containers", ""),
    ];
    let body = body(&Status::invalid(pods, "A", &errors));
    assert_eq!(
        body["message"],
        "Pod \"A\" is invalid: [metadata.name: Invalid value: \"A\": must be lower case, \
         spec.containers: Required value]"
    );
    assert_eq!(body["details"]["causes"][1]["reason"], "FieldValueRequired");
    assert_eq!(body["details"]["kind"], "Pod");
}

#[test]
fn a_version_from_the_future_says_so_in_its_cause_and_when_to_try_again() {
    let status = Status::version_too_large(9, 3);
    assert_eq!(status.retry_after(), Some(1));
    assert_eq!(body(&status)["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[test]
fn what_a_delete_returns_is_a_success_with_the_uid() {
    let pods = kinds::find("", "v1", "pods").unwrap();
    let body = body(&Status::deleted(pods, "a", "u-1"));
    assert_eq!((body["status"].as_str(), body["details"]["uid"].as_str()), (Some("Success"), Some("u-1")));
}
