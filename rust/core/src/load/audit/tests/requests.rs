//! Which requests a log comes to.

use super::*;
use crate::load::{Verb, WatchEnd};
use proptest::prelude::*;

#[test]
fn a_request_keeps_its_uri_byte_for_byte_its_instant_and_its_status() {
    let uri = "/api/v1/namespaces/a/pods?limit=500&&labelSelector=a%3Db+c%2f&fieldSelector=";
    let first = event("/healthz", "get", &json!({}));
    let second = event(
        uri,
        "list",
        &json!({
            "userAgent": "kubectl/v1.30", "responseStatus": {"code": 404}, "requestReceivedTimestamp": "2024-05-01T10:00:00.0125Z",
        }),
    );
    let imported = import(&[second, first]);
    assert_eq!(imported.losses, []);
    let [first, second] = &imported.requests[..] else { panic!() };
    assert_eq!(
        (first.verb, &*first.path, first.due_us, first.expect_status),
        (Verb::Get, "/healthz", Some(0), Some(200))
    );
    assert_eq!((second.verb, second.due_us, second.expect_status), (Verb::List, Some(12_500), Some(404)));
    assert_eq!(format!("{}?{}", second.path, second.query.as_deref().unwrap()), uri);
    assert_eq!(second.user_agent.as_deref(), Some("kubectl/v1.30"));
    assert_eq!(second.body, None);
}

#[test]
fn a_body_is_cut_out_as_bytes() {
    let text =
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","creationTimestamp":null},"z":1.0,"a":"\u003c"}"#;
    let line =
        event(PODS, "create", &json!({})).to_string().replacen('{', &format!(r#"{{"requestObject": {text} ,"#), 1);
    let mut found = None;
    Reading::default().line(line.as_bytes(), Place { file: 0, line: 1 }, &mut |event| found = Some(event.unwrap()));
    assert_eq!(found.unwrap().written, Written::Body(text.into()));
}

#[test]
fn statuses_of_overload_and_credentials_are_not_expected_again() {
    let events: Vec<Value> = [201, 404, 409, 401, 429, 500, 504]
        .iter()
        .map(|code| event(&format!("/healthz/{code}"), "get", &json!({"responseStatus": {"code": code}})))
        .collect();
    let imported = import(&events);
    let expected: Vec<u16> = imported.requests.iter().filter_map(|request| request.expect_status).collect();
    assert_eq!(expected, [201, 404, 409]);
    assert_eq!(imported.losses, [(Why::StatusNotExpected, 4)]);
}

#[test]
fn sessions_are_refused_by_their_subresource_whatever_their_verb() {
    let of = |path: &str, verb| event(&format!("{PODS}/b/{path}"), verb, &json!({"responseStatus": {"code": 101}}));
    let log = |query: &str| event(&format!("{PODS}/b/log{query}"), "get", &json!({}));
    let hidden =
        event("/strange", "get", &json!({"objectRef": {"resource": "pods", "subresource": "exec", "name": "b"}}));
    let imported = import(&[
        of("exec?command=secret", "get"),
        of("exec", "create"),
        of("attach", "create"),
        of("portforward", "create"),
        of("proxy/metrics", "get"),
        log("?follow=true"),
        log("?follow=false"),
        hidden,
    ]);
    assert_eq!(
        imported.losses,
        [(Why::Exec, 3), (Why::Attach, 1), (Why::PortForward, 1), (Why::Proxy, 1), (Why::FollowedLog, 1)]
    );
    assert_eq!(imported.requests.len(), 1);
}

#[test]
fn a_watch_lives_as_long_as_its_stages_say() {
    let uri = "/api/v1/pods?watch=true&resourceVersion=5";
    let at = |stage: &str, at: &str| event(uri, "watch", &json!({"stage": stage, "stageTimestamp": at}));
    let imported = import(&[
        at("ResponseComplete", "2024-05-01T10:05:00.25Z"),
        at("RequestReceived", "2024-05-01T10:00:00Z"),
        at("ResponseStarted", "2024-05-01T10:00:00.125Z"),
    ]);
    assert_eq!(imported.requests[0].watch, Some(WatchEnd::After(300_125_000)));
    assert_eq!((imported.losses, imported.stages, imported.events), (vec![], 2, 3));
}

#[test]
fn what_has_no_end_in_the_log_is_open_or_lost() {
    let imported = import(&[
        event("/api/v1/pods?watch=1", "watch", &json!({"stage": "ResponseStarted"})),
        event("/api/v1/pods", "list", &json!({"stage": "RequestReceived"})),
        event("/api/v1/nodes", "list", &json!({"stage": "Panic", "responseStatus": {"code": 500}})),
    ]);
    assert_eq!(imported.losses, [(Why::Panicked, 1), (Why::Unfinished, 1), (Why::WatchOpen, 1)]);
    assert_eq!(imported.requests.len(), 1);
}

#[test]
fn at_level_metadata_a_write_is_dropped_or_gets_a_made_up_body_as_asked() {
    let metadata = |uri: &str, verb, name: &str| {
        let reference = json!({"resource": "pods", "name": name});
        event(uri, verb, &json!({"level": "Metadata", "objectRef": reference, "responseStatus": {"code": 201}}))
    };
    let events = [
        metadata(PODS, "create", "b"),
        metadata("/apis/example.com/v1/namespaces/a/widgets", "create", "w"),
        metadata(&format!("{PODS}/b/status"), "patch", "b"),
        metadata(&format!("{PODS}/b"), "delete", "b"),
        metadata(PODS, "deletecollection", ""),
    ];
    let imported = import(&events);
    assert_eq!(imported.losses, [(Why::NoBody, 3), (Why::NoDeleteOptions, 2)]);
    let imported = synthetic(&events);
    assert_eq!(imported.losses, [(Why::NoSyntheticBody, 1), (Why::SyntheticBody, 2), (Why::NoDeleteOptions, 2)]);
    assert_eq!(object_body::object_body(body(&imported.requests[0])).name, "b");
}

#[test]
fn a_write_without_its_body_at_level_request_says_why() {
    let cut = json!({"annotations": {"audit.k8s.io/truncated": "true"}});
    let imported = import(&[event(PODS, "create", &cut), event(&format!("{PODS}/b"), "update", &json!({}))]);
    assert_eq!(imported.losses, [(Why::TruncatedBody, 1), (Why::NoBody, 1)]);
}

#[test]
fn a_patch_is_taken_for_an_apply_where_only_that_fits() {
    let object = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "b"}});
    let patch = |query: &str, code: u16, body: &Value| {
        let change = json!({"requestObject": body, "responseStatus": {"code": code}});
        import(&[event(&format!("{PODS}/b?{query}"), "patch", &change)])
    };
    for (query, code, body, verb, losses) in [
        ("fieldManager=x&force=true", 200, &object, Verb::Apply, vec![]),
        ("fieldManager=x", 201, &object, Verb::Apply, vec![]),
        ("fieldManager=x", 200, &object, Verb::Apply, vec![(Why::ApplyGuessed, 1)]),
        ("fieldManager=x", 200, &json!({"spec": {}}), Verb::Patch, vec![(Why::PatchType, 1)]),
        ("", 200, &object, Verb::Patch, vec![(Why::PatchType, 1)]),
        ("fieldManager=x", 200, &json!([{"op": "remove", "path": "/a"}]), Verb::Patch, vec![]),
    ] {
        let imported = patch(query, code, body);
        assert_eq!((imported.requests[0].verb, imported.losses), (verb, losses), "{query} {code} {body}");
    }
}

#[test]
fn a_name_that_the_server_generated_goes_into_the_body_or_names_what_depends_on_it() {
    let sent = json!({"kind": "Pod", "metadata": {"generateName": "web-"}});
    let answer = json!({"kind": "Pod", "metadata": {"generateName": "web-", "name": "web-x7k2p"}});
    let known = json!({"requestObject": sent, "responseObject": answer, "objectRef": {"resource": "pods"}});
    let unknown = json!({"requestObject": sent, "objectRef": {"resource": "pods"}});
    let later = |name: &str| {
        event(
            &format!("{PODS}/{name}"),
            "get",
            &json!({"requestReceivedTimestamp": "2024-05-01T10:00:01Z",
            "stageTimestamp": "2024-05-01T10:00:01Z"}),
        )
    };
    let imported = import(&[event(PODS, "create", &known), later("web-x7k2p")]);
    assert_eq!(imported.losses, [(Why::NameFilledIn, 1)]);
    assert_eq!(body(&imported.requests[0]), r#"{"kind":"Pod","metadata":{"name":"web-x7k2p","generateName":"web-"}}"#);

    let imported = import(&[event(PODS, "create", &unknown), later("web-x7k2p"), later("db-x7k2p"), later("web-1")]);
    assert_eq!(imported.losses, [(Why::GeneratedName, 1), (Why::NameUnknown, 1)]);
    assert_eq!(imported.requests.len(), 3);

    let metadata = json!({"level": "Metadata", "objectRef": {"resource": "pods"}});
    let imported = synthetic(&[event(PODS, "create", &metadata), later("web-x7k2p"), later("web-1")]);
    assert_eq!(imported.losses, [(Why::GeneratedName, 1), (Why::SyntheticBody, 1), (Why::NameUnknown, 1)]);
}

#[test]
fn options_of_a_deletion_are_sent_in_a_version_that_a_server_reads() {
    let options =
        |version: &str| json!({"kind": "DeleteOptions", "apiVersion": version, "propagationPolicy": "Orphan"});
    let logged = json!({"requestObject": options("meta.k8s.io/__internal")});
    let imported = import(&[event(&format!("{PODS}/b"), "delete", &logged)]);
    assert_eq!(imported.losses, [(Why::DeleteOptions, 1)]);
    assert_eq!(serde_json::from_str::<Value>(body(&imported.requests[0])).unwrap(), options("meta.k8s.io/v1"));
}

#[test]
fn a_deletion_that_lost_a_query_key_is_left_out() {
    let imported = import(&[
        event(&format!("{PODS}?labelselector=a"), "deletecollection", &json!({})),
        event(&format!("{PODS}?labelselector=a"), "list", &json!({})),
    ]);
    assert_eq!(imported.losses, [(Why::WiderDeletion, 1), (Why::QueryRemoved, 1)]);
    assert_eq!(imported.requests[0].query, None);
}

#[test]
fn what_contradicts_itself_is_no_request() {
    let imported = import(&[
        event(PODS, "get", &json!({})),
        event("/api/v1/namespaces//pods", "deletecollection", &json!({})),
        event("/api/v1/pods?watch=true", "list", &json!({})),
        event("/api/v1/pods?labelSelector=<", "list", &json!({})),
    ]);
    assert_eq!((imported.losses, imported.requests.len()), (vec![(Why::Shape, 4)], 0));
}

#[test]
fn users_are_skipped_by_name_or_by_its_beginning() {
    let by = |name: &str| event(&format!("/healthz/{name}"), "get", &json!({"user": {"username": name}}));
    let events = ["system:apiserver", "system:serviceaccount:a:b", "jane"].map(by);
    let count = |skip: &[&str], only: &[&str]| {
        let strings = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let reading = Reading { skip_users: strings(skip), only_users: strings(only), ..Reading::default() };
        import_with(&events, &reading, WithoutBody::Drop, None).losses
    };
    assert_eq!(count(&["system:*"], &[]), [(Why::SkippedUser, 2)]);
    assert_eq!(count(&[], &["jane"]), [(Why::SkippedUser, 2)]);
    assert_eq!(count(&["jane"], &["*"]), [(Why::SkippedUser, 1)]);
    assert_eq!(count(&[], &[]), []);
}

proptest! {
    #[test]
    fn whatever_events_there_are_each_is_accounted_for(
        picks in prop::collection::vec((0_usize..8, 0_usize..9, 0_usize..4, 0_u32..4, any::<bool>()), 0..60)
    ) {
        let uris = ["/healthz", PODS, "/api/v1/namespaces/a/pods/b", "/api/v1/namespaces/a/pods/b/exec", "/api/v1/pods?watch=1",
            "/apis/x.io/v1/namespaces/a/ws/w-bcdfg", "x", "/api/v1/namespaces/a/secrets"];
        let verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "post"];
        let stages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];
        let events: Vec<Value> = picks.iter().map(|(uri, verb, stage, at, body)| {
            let mut one = event(uris[*uri], verbs[*verb], &json!({
                "stage": stages[*stage], "stageTimestamp": format!("2024-05-01T10:00:0{at}Z"),
            }));
            if *body {
                one["requestObject"] = json!({"metadata": {"generateName": "w-"}});
            }
            one
        }).collect();
        let first = synthetic(&events);
        let mut shuffled = events.clone();
        shuffled.reverse();
        prop_assert_eq!(&synthetic(&shuffled).requests, &first.requests);
        prop_assert!(first.requests.is_sorted_by_key(|request| request.due_us));
    }
}
