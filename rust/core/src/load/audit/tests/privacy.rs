//! What must not be seen in what a log comes to.

use super::*;
use proptest::prelude::*;

#[test]
fn names_are_hashed_on_request_the_same_in_path_and_body() {
    let sent = json!({"kind": "Pod", "metadata": {"name": "shopfront", "namespace": "customer"}});
    let events = [
        event("/api/v1/namespaces/customer/pods", "create", &json!({"requestObject": sent})),
        event("/api/v1/namespaces/customer/pods/shopfront", "get", &json!({})),
        event("/version", "get", &json!({})),
    ];
    let imported = import_with(&events, &Reading::default(), WithoutBody::Drop, Some(Names::new([1; 32])));
    assert_eq!(imported.losses, [(Why::NamesHashed, 2)]);
    let created = object_body::object_body(body(&imported.requests[0])).name;
    assert!(imported.requests[1].path.ends_with(&format!("/{created}")), "{created} {:?}", imported.requests[1]);
    assert!(!format!("{:?}", imported.requests).contains("customer"));
}

#[test]
fn people_in_role_bindings_are_counted_as_removed() {
    let uri = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    let sent = json!({"metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "canary"}]});
    let imported = import(&[event(uri, "create", &json!({"requestObject": sent}))]);
    assert_eq!(imported.losses, [(Why::UserRemoved, 1)]);
    assert!(!body(&imported.requests[0]).contains("canary"));
}

#[test]
fn a_body_that_cannot_be_searched_goes_as_a_secret_one_does() {
    let deep = |inner: Value| (0..130).fold(inner, |inner, _| json!([inner]));
    let body = json!({"metadata": {"name": "b"}, "data": deep(json!("canary"))});
    let half = r#"{"metadata":{"name":"b"},"data":"canary\ud800"}"#;
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    for (uri, verb) in [(PODS, "create"), (PODS, "deletecollection"), (bindings, "create")] {
        let by_canary =
            |body: &Value| event(uri, verb, &json!({"requestObject": body, "user": {"username": "canary"}}));
        let half = by_canary(&json!("HERE")).to_string().replace("\"HERE\"", half);
        for line in [by_canary(&body).to_string(), half] {
            let mut found = None;
            let place = Place { file: 0, line: 1 };
            Reading::default().line(line.as_bytes(), place, &mut |event| found = Some(event.unwrap()));
            assert_eq!(found.unwrap().written, Written::Secret, "{uri} {verb}");
        }
        let imported = import(&[by_canary(&body)]);
        assert_eq!((imported.losses, imported.requests.len()), (vec![(Why::SecretBody, 1)], 0), "{uri} {verb}");
    }
}

#[test]
fn names_that_cannot_be_hashed_are_left_out_with_their_request() {
    let deep = (0..130).fold(json!([]), |inner, _| json!([inner]));
    let event = event(PODS, "create", &json!({"requestObject": {"metadata": {"name": "b"}, "data": deep}}));
    let names = Some(Names::new([1; 32]));
    assert_eq!(import_with(&[event], &Reading::default(), WithoutBody::Drop, names).losses, [(Why::SecretBody, 1)]);
}

#[test]
fn a_deletion_whose_selector_names_somebody_is_left_out_and_never_becomes_a_wider_one() {
    let deletion = |query: &str| {
        let uri = format!("{PODS}?{query}");
        event(
            &uri,
            "deletecollection",
            &json!({"user": {"username": "jane@example.com"}, "sourceIPs": ["203.0.113.9"]}),
        )
    };
    for query in ["labelSelector=owner%3Djane@example.com", "fieldSelector=status.podIP%3D203.0.113.9"] {
        let imported = import(&[deletion(query)]);
        assert_eq!((imported.losses, imported.requests.len()), (vec![(Why::WiderDeletion, 1)], 0), "{query}");
    }
    let imported = import(&[deletion("labelSelector=owner%3Djohn")]);
    assert_eq!((imported.losses, imported.requests.len()), (vec![], 1));
}

/// Everything in an event that could say who asked, from where and with what.
fn canaries(uri: &str, verb: &str, resource: &str) -> Value {
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary-signature";
    let user = json!({"username": "canary-user@example.com", "uid": "canary-uid-0123", "groups": ["canary-group"],
        "extra": {"mail": ["canary-extra"]}});
    // As kubectl keeps it: JSON in a string, and in that once more.
    let inner = json!({"a": r"CANARY\canary-impersonated", "b": "203.0.113.99", "c": {"canary-uid-0123": [token]}});
    let applied = json!({"data": {"inner": inner.to_string()}, "by": "canary-user@example.com"});
    let sent = json!({
        "kind": "ConfigMap", "apiVersion": "v1",
        "metadata": {
            "name": "b", "generateName": "canary-uid-0123-",
            "annotations": {
                "requester": "canary-user@example.com", "from": "203.0.113.99", "v6": "2001:db8:99::1",
                "canary-user@example.com": "", "impersonated": r"CANARY\canary-impersonated", "last": applied.to_string(),
                "link": "https://x/?u=canary-user%40example.com&from=2001%3Adb8%3A99%3A%3A1&ip%3D203.0.113.99",
            },
            "ownerReferences": [{"name": "canary-user@example.com", "uid": "canary-uid-0123"}],
        },
        "data": {"token": token, "header": "Authorization: Bearer canary-bearer-0123456789",
            "both": format!("Bearer sso~{token}"), "html": "<203.0.113.99>"},
    });
    let secret = matches!(resource, "secrets" | "tokenreviews" | "serviceaccounts");
    let sent =
        if secret { json!({"data": {"password": "canary-password"}, "spec": {"token": "canary-token"}}) } else { sent };
    event(
        uri,
        verb,
        &json!({
            "level": "RequestResponse", "user": user,
            "impersonatedUser": {"username": r"CANARY\canary-impersonated", "groups": ["canary-g"]},
            "sourceIPs": ["203.0.113.99", "2001:db8:99::1"], "auditID": "canary-audit-id",
            "userAgent": format!("tool/1 (canary-user@example.com; {token}; 203.0.113.99)"),
            "objectRef": {"resource": resource, "name": "canary-user@example.com", "uid": "canary-object-uid"},
            "responseStatus": {"code": 403, "message": "User \"canary-user@example.com\" cannot, canary-message"},
            "annotations": {"authorization.k8s.io/reason": "User canary-user@example.com, canary-annotation"},
            "requestObject": sent, "responseObject": {"status": {"token": "canary-response"}},
        }),
    )
}

/// A query with a canary in every key that may have one, and of every form.
const CANARY_QUERY: &str = "access_token=canary-query&fieldManager=canary-user%40example.com&token=canary-q2&limit=1\
    &labelSelector=owner%3Dcanary-uid-0123,a+in+(CANARY%5Ccanary-impersonated)\
    &fieldSelector=status.podIP%3D203.0.113.99,spec.ip%3D2001%3adb8%3A99::1&fieldValidation=203.0.113.99\
    &pretty=eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary&container=%63anary-user@example.com";

#[test]
fn no_user_token_secret_or_address_reaches_a_request() {
    let mut events = Vec::new();
    for (path, verb, resource) in [
        ("/api/v1/namespaces/a/configmaps/b", "update", "configmaps"),
        ("/api/v1/namespaces/a/configmaps/b", "patch", "configmaps"),
        ("/api/v1/namespaces/a/configmaps", "create", "configmaps"),
        ("/api/v1/namespaces/a/configmaps/b", "delete", "configmaps"),
        ("/api/v1/namespaces/a/configmaps/b", "get", "configmaps"),
        ("/login/eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary", "get", ""),
        ("/api/v1/namespaces/a/secrets/b", "update", "secrets"),
        ("/api/v1/namespaces/a/secrets/b", "patch", "secrets"),
        ("/api/v1/namespaces/a/secrets", "create", "secrets"),
        ("/apis/authentication.k8s.io/v1/tokenreviews", "create", "tokenreviews"),
        ("/api/v1/namespaces/a/serviceaccounts/b/token", "create", "serviceaccounts"),
    ] {
        events.push(canaries(path, verb, resource));
        events.push(canaries(&format!("{path}?{CANARY_QUERY}"), verb, resource));
    }
    for without_body in [WithoutBody::Drop, WithoutBody::Synthetic] {
        for names in [None, Some(Names::new([1; 32]))] {
            let imported = import_with(&events, &Reading::default(), without_body, names);
            assert!(imported.requests.len() >= 8, "{:?}", imported.losses);
            for request in &imported.requests {
                nothing_is_seen(request);
            }
        }
    }
}

fn nothing_is_seen(request: &Request) {
    let text = format!("{request:?} {}", request.body.as_deref().map_or("", |_| body(request)));
    let plain = percent_encoding::percent_decode_str(&text).decode_utf8_lossy().to_lowercase();
    for secret in ["canary", "203.0.113.99", "2001:db8:99", "eyjzdwiioijjyw5hcnki"] {
        assert!(!plain.contains(secret), "{secret} in {text}");
    }
    if let Some(body) = &request.body {
        serde_json::from_slice::<Value>(body).unwrap();
    }
}

#[test]
fn namespaces_and_names_stay_unless_they_are_to_be_hashed() {
    let sent = json!({"metadata": {"name": "canary-name", "namespace": "canary-ns"}});
    let events = [
        event("/api/v1/namespaces/canary-ns/configmaps/canary-name", "update", &json!({"requestObject": sent})),
        event("/api/v1/namespaces/canary-ns/pods?fieldSelector=metadata.name%3Dcanary-name", "list", &json!({})),
    ];
    let hashed = import_with(&events, &Reading::default(), WithoutBody::Drop, Some(Names::new([1; 32])));
    assert_eq!((hashed.requests.len(), hashed.losses), (2, vec![(Why::NamesHashed, 2)]));
    hashed.requests.iter().for_each(nothing_is_seen);
    let user = json!({"username": "canary-name"});
    let kept: Vec<Value> = events
        .iter()
        .map(|event| {
            let mut event = event.clone();
            event["user"] = user.clone();
            event
        })
        .collect();
    let kept = import(&kept);
    assert_eq!(body(&kept.requests[0]), sent.to_string(), "a body agrees with its path");
}

proptest! {
    #[test]
    fn a_requester_is_seen_nowhere_whatever_stands_around_it(
        before in "[^\\\\%]{0,9}", after in "\\PC{0,9}", depth in 0_usize..4, place in 0_usize..6, key in any::<bool>(),
        user in "(canary|CANARY\\\\)[a-z]{3}\"?[ö&<]?@[a-z]{3}",
    ) {
        let text = format!("{before}{user}{after}");
        let nested = (0..depth).fold(text.clone(), |text, _| if key { json!({text: 1}) } else { json!([text]) }.to_string());
        let encoded = crate::load::query::encoded(&text);
        let query = match place {
            0 => format!("?labelSelector=a%3D{encoded}"),
            1 => format!("?fieldManager={encoded}"),
            2 => format!("?{encoded}"),
            _ => String::new(),
        };
        let agent = if place == 3 { &*text } else { "tool" };
        let sent = json!({"metadata": {"name": "b", "labels": {"a": nested, &text: text}}});
        let events = [event(&format!("{PODS}/b{query}"), "update", &json!({
            "user": {"username": user, "uid": "10000000"}, "userAgent": agent, "requestObject": sent,
            "objectRef": {"resource": "pods", "name": if place == 4 { &*text } else { "b" }},
        }))];
        for request in import(&events).requests {
            nothing_is_seen(&request);
        }
    }
}
