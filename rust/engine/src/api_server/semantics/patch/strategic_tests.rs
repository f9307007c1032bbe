use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::api_server::semantics::schema;

fn patched(target: &Value, patch: &Value) -> Result<Value> {
    apply(target, patch.to_string().as_bytes(), schema::find("Pod").unwrap())
}

/// The list at `/spec/LIST` after a patch of it.
fn list(name: &str, target: &Value, patch: &Value) -> Value {
    let pod = |list: &Value| json!({"spec": {name: list}});
    patched(&pod(target), &pod(patch)).unwrap()["spec"][name].clone()
}

fn names(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap()).collect()
}

#[test]
fn containers_are_merged_by_name_and_new_ones_come_first() {
    let target = json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]);
    let merged = list("containers", &target, &json!([{"name": "b", "image": "3"}, {"name": "c"}]));
    assert_eq!(merged, json!([{"name": "a", "image": "1"}, {"name": "b", "image": "3"}, {"name": "c"}]));
    let merged = list("containers", &target, &json!([{"name": "c"}]));
    assert_eq!(names(&merged), ["c", "a", "b"]);
}

#[test]
fn an_item_is_deleted_or_the_list_replaced_by_its_directive() {
    let target = json!([{"name": "a"}, {"name": "b"}]);
    assert_eq!(names(&list("containers", &target, &json!([{"name": "a", "$patch": "delete"}]))), ["b"]);
    assert_eq!(names(&list("containers", &target, &json!([{"$patch": "replace"}, {"name": "z"}]))), ["z"]);
    let error =
        patched(&json!({"spec": {"containers": target}}), &json!({"spec": {"containers": [{"$patch": "delete"}]}}));
    assert!(matches!(error, Err(PatchError::Internal(_))));
}

#[test]
fn nested_lists_are_merged_by_their_own_keys() {
    let target = json!([{"name": "a", "ports": [{"containerPort": 80, "name": "http"}], "env": [{"name": "X", "value": "1"}],
        "volumeMounts": [{"mountPath": "/a", "name": "v"}], "args": ["1", "2"]}]);
    let patch = json!([{"name": "a", "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 81}],
        "env": [{"name": "X", "value": "2"}], "volumeMounts": [{"mountPath": "/a", "readOnly": true}], "args": ["3"]}]);
    assert_eq!(
        list("containers", &target, &patch),
        json!([{"name": "a", "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 81}],
            "env": [{"name": "X", "value": "2"}], "volumeMounts": [{"mountPath": "/a", "name": "v", "readOnly": true}],
            "args": ["3"]}])
    );
}

#[test]
fn lists_without_a_strategy_are_replaced() {
    let merged = list("tolerations", &json!([{"key": "a"}, {"key": "b"}]), &json!([{"key": "c"}]));
    assert_eq!(merged, json!([{"key": "c"}]));
}

#[test]
fn finalizers_are_a_set_from_which_values_can_be_taken() {
    let target = json!({"metadata": {"finalizers": ["a", "b"]}});
    let of = |patch: Value| patched(&target, &json!({"metadata": patch})).unwrap()["metadata"]["finalizers"].clone();
    assert_eq!(of(json!({"finalizers": ["c", "a"]})), json!(["c", "a", "b"]));
    assert_eq!(of(json!({"$deleteFromPrimitiveList/finalizers": ["a", "x"]})), json!(["b"]));
    assert_eq!(of(json!({"$setElementOrder/finalizers": ["b", "a"]})), json!(["b", "a"]));
}

#[test]
fn the_order_that_a_patch_sets_is_kept_and_what_only_the_server_has_stays_beside_its_neighbours() {
    let target = json!({"spec": {"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]}});
    let patch = json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}],
        "containers": [{"name": "c", "image": "1"}]}});
    let merged = patched(&target, &patch).unwrap();
    assert_eq!(names(&merged["spec"]["containers"]), ["s", "b", "c", "a"]);
    let wrong = json!({"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "c"}]}});
    assert!(patched(&target, &wrong).is_err());
}

#[test]
fn retain_keys_clears_the_other_members_of_a_union() {
    let target = json!([{"name": "v", "emptyDir": {}}]);
    let patch = json!([{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]);
    assert_eq!(list("volumes", &target, &patch), json!([{"name": "v", "secret": {"secretName": "s"}}]));
    let wrong = json!({"spec": {"volumes": [{"name": "v", "$retainKeys": ["name"], "secret": {}}]}});
    let error = patched(&json!({"spec": {"volumes": target}}), &wrong).unwrap_err();
    assert_eq!(error.to_status().code, 400);
}

#[test]
fn maps_are_merged_deleted_and_replaced() {
    let target = json!({"metadata": {"labels": {"a": "1", "b": "2"}}});
    let of = |labels: Value| {
        patched(&target, &json!({"metadata": {"labels": labels}})).unwrap()["metadata"]["labels"].clone()
    };
    assert_eq!(of(json!({"a": null, "c": "3"})), json!({"b": "2", "c": "3"}));
    assert_eq!(of(json!({"$patch": "replace", "z": "1"})), json!({"z": "1"}));
    assert_eq!(of(json!({"$patch": "delete"})), json!({}));
    assert_eq!(of(json!(null)), Value::Null);
}

#[test]
fn no_directive_is_left_in_what_is_new() {
    let patch = json!({"spec": {"containers": [{"name": "n", "$setElementOrder/env": [{"name": "X"}],
        "env": [{"name": "X"}, {"name": "Y", "$patch": "delete"}]}]}});
    assert_eq!(
        patched(&json!({"spec": {}}), &patch).unwrap()["spec"]["containers"],
        json!([{"name": "n", "env": [{"name": "X"}]}])
    );
}

#[test]
fn broken_patches_are_refused() {
    let target = json!({"spec": {"containers": [{"name": "a"}]}});
    for (patch, code) in [
        (json!([]), 400),
        (json!({"spec": {"containers": [{"image": "no name"}]}}), 500),
        (json!({"spec": {"containers": [[]]}}), 500),
        (json!({"spec": {"containers": ["x"]}}), 500),
        (json!({"spec": {"$setElementOrder/containers": 1}}), 400),
        (json!({"spec": {"$retainKeys": 1}}), 400),
        (json!({"spec": {"$patch": "shuffle"}}), 500),
    ] {
        assert_eq!(patched(&target, &patch).unwrap_err().to_status().code, code, "{patch}");
    }
}

fn containers() -> impl Strategy<Value = Value> {
    let one = ("[a-d]", 0..3_u8).prop_map(|(name, image)| json!({"name": name, "image": image.to_string()}));
    proptest::collection::vec(one, 0..4).prop_map(|mut items| {
        let mut seen = std::collections::HashSet::new();
        items.retain(|i: &Value| seen.insert(i["name"].to_string()));
        json!(items)
    })
}

proptest! {
    #[test]
    fn a_merged_list_has_each_name_once_and_the_patchs_values(target in containers(), patch in containers()) {
        let merged = list("containers", &target, &patch);
        let mut all = names(&merged);
        all.sort_unstable();
        let mut expected: Vec<&str> = names(&target).into_iter().chain(names(&patch)).collect();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(all, expected);
        for item in patch.as_array().unwrap() {
            prop_assert!(merged.as_array().unwrap().contains(item));
        }
    }

    #[test]
    fn a_strategic_patch_applied_twice_is_the_same_as_once(target in containers(), patch in containers()) {
        let once = list("containers", &target, &patch);
        prop_assert_eq!(list("containers", &once, &patch), once);
    }
}
