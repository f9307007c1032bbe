use super::*;
use crate::load::{Body, Key, Request, Verb};
use proptest::prelude::*;

fn options(json: &str) -> RewriteOptions {
    serde_json::from_str(json).unwrap()
}

fn rewriter(json: &str) -> Rewriter {
    Rewriter::new(&options(json)).unwrap()
}

fn request(due_us: u64, verb: Verb, path: &str, query: &str, body: &str) -> Request {
    let mut request = Request::new(verb, path);
    request.due_us = Some(due_us);
    request.query = (!query.is_empty()).then(|| query.into());
    request.body = (!body.is_empty()).then(|| Body::from(body.as_bytes()));
    request.key = crate::load::derived_key(verb, path, request.query.as_deref(), request.body.as_deref());
    request
}

#[test]
fn a_creation_goes_to_the_mapped_namespace_in_path_body_and_key() {
    let mut rewriter = rewriter(r#"{"speed": 2, "namespaces": {"prod": "test"}, "name_prefixes": {"": "r-"}}"#);
    let body = r#"{"metadata":{"name":"a","namespace":"prod","resourceVersion":"5"}}"#;
    let found = rewriter.rewrite(request(9, Verb::Create, "/api/v1/namespaces/prod/pods", "", body)).unwrap().unwrap();
    assert_eq!(&*found.path, "/api/v1/namespaces/test/pods");
    assert_eq!(found.body.as_deref(), Some(&br#"{"metadata":{"name":"r-a","namespace":"test"}}"#[..]));
    assert_eq!(found.key, Some(Key::object("test", "pods", "r-a")));
    assert_eq!(found.due_us, Some(5));
    assert_eq!(rewriter.losses()[0].loss, "precondition_dropped");
}

#[test]
fn what_is_left_out_is_counted_by_its_cause() {
    let mut rewriter =
        rewriter(r#"{"from_us": 100, "until_us": 200, "skip": ["secrets"], "namespaces": {"*": "test"}}"#);
    let pods = "/api/v1/namespaces/a/pods";
    let watch = request(0, Verb::Watch, pods, "watch=1", "");
    let apply = request(150, Verb::Apply, "/api/v1/namespaces/a/pods/b", "fieldManager=x", "metadata: {name: b}");
    let given = [
        request(0, Verb::List, pods, "", ""),
        watch,
        request(150, Verb::List, "/api/v1/secrets", "", ""),
        request(150, Verb::List, pods, "limit=5", ""),
        request(150, Verb::List, pods, "limit=5&continue=x", ""),
        apply,
        request(200, Verb::List, pods, "", ""),
        request(300, Verb::List, pods, "", ""),
    ];
    let mut stream = Rewritten::new(given.clone().into_iter().map(Ok), rewriter.clone(), true);
    assert_eq!(stream.by_ref().map(|found| found.unwrap().due_us.unwrap()).collect::<Vec<_>>(), [0, 50]);
    let losses: Vec<_> = stream.parts().1.losses().into_iter().map(|loss| (loss.loss, loss.count)).collect();
    let expected =
        [("outside_window", 3), ("watch_clipped", 1), ("filtered", 1), ("page_lost", 1), ("body_not_mapped", 1)];
    assert_eq!(losses, expected.map(|(loss, count)| (loss.to_owned(), count)));
    let mut ends = Rewritten::new(given.into_iter().map(Ok), rewriter.clone(), false);
    assert_eq!(ends.by_ref().count(), 2);
    assert_eq!(ends.parts().0.count(), 1);
    assert!(rewriter.rewrite(request(250, Verb::Get, "/version", "", "")).unwrap().is_none());
}

#[test]
fn a_recording_can_be_kept_as_it_is() {
    let mut rewriter = rewriter(r#"{"keep_versions": true}"#);
    let given = request(1, Verb::Watch, "/api/v1/pods", "watch=1&resourceVersion=7", "");
    assert_eq!(rewriter.rewrite(given.clone()).unwrap(), Some(given));
    let body = r#"{"preconditions":{"uid":"u"}}"#;
    let given = request(1, Verb::Delete, "/api/v1/nodes/a", "", body);
    assert_eq!(rewriter.rewrite(given.clone()).unwrap(), Some(given));
}

#[test]
fn a_deletion_that_would_lose_its_name_is_refused() {
    let mut rewriter = rewriter(r#"{"name_prefixes": {"a": ""}}"#);
    let error = rewriter.rewrite(request(1, Verb::Delete, "/api/v1/namespaces/x/pods/a", "", "")).unwrap_err();
    assert_eq!(error.text, "\"a\" would become \"\", which is no name");
}

#[test]
fn wrong_options_are_refused_by_name() {
    let why = |json| Rewriter::new(&options(json)).unwrap_err();
    assert!(why(r#"{"speed": 0}"#).starts_with("speed is 0"));
    assert!(why(r#"{"from_us": 5, "until_us": 4}"#).starts_with("the window ends"));
    assert!(why(r#"{"only": ["get"], "skip": ["Pods"]}"#).starts_with("skip has \"Pods\""));
    assert!(why(r#"{"namespaces": {"a": "B"}}"#).starts_with("namespaces maps \"a\" to \"B\""));
    assert!(serde_json::from_str::<RewriteOptions>(r#"{"sped": 1}"#).is_err());
}

proptest! {
    #[test]
    fn order_stays_and_every_request_is_sent_or_counted(
        dues in proptest::collection::vec(0u64..1_000, 1..60),
        verbs in proptest::collection::vec(proptest::sample::select(&Verb::ALL[..]), 60),
        speed in 0.1f64..10.0,
        from_us in 0u64..500,
        length in 1u64..800,
    ) {
        let mut dues = dues;
        dues.sort_unstable();
        let requests: Vec<_> = dues.iter().zip(&verbs).map(|(due, verb)| {
            let whole = matches!(verb, Verb::List | Verb::Watch | Verb::Create | Verb::DeleteCollection);
            let path = if whole { "/api/v1/namespaces/a/pods" } else { "/api/v1/namespaces/a/pods/b" };
            let query = if *verb == Verb::Watch { "watch=1&resourceVersion=5" } else { "" };
            request(*due, *verb, path, query, if verb.writes() { r#"{"metadata":{"namespace":"a"}}"# } else { "" })
        }).collect();
        let rewriter = Rewriter::new(&RewriteOptions {
            speed, from_us, until_us: Some(from_us + length), skip: vec!["GET".into()],
            namespaces: [("a".to_owned(), "b".to_owned())].into(),
            ..RewriteOptions::default()
        }).unwrap();
        let mut stream = Rewritten::new(requests.iter().cloned().map(Ok), rewriter, true);
        let found: Vec<_> = stream.by_ref().map(Result::unwrap).collect();
        prop_assert!(found.is_sorted_by_key(|request| request.due_us));
        prop_assert!(found.iter().all(|request| request.path.contains("/namespaces/b/") && request.verb != Verb::Get));
        let left_out: u64 = stream.parts().1.losses().iter()
            .filter(|loss| ["outside_window", "filtered"].contains(&&*loss.loss)).map(|loss| loss.count).sum();
        prop_assert_eq!(found.len() as u64 + left_out, requests.len() as u64);
    }
}
