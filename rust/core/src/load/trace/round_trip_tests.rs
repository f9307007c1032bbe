use super::tests::{HEADER, read};
use super::{Options, Writer};
use crate::load::{Body, Key, Request, Verb, WatchEnd};
use proptest::prelude::*;
use serde_json::Map;

prop_compose! {
    fn any_request()(
        step in 0u64..1000,
        verb in proptest::sample::select(&Verb::ALL[..]),
        name in "[a-z]{1,4}",
        body in "\\PC{0,300}",
        label in proptest::option::of("[a-z]{1,5}"),
        given in proptest::option::of("[a-z]{0,3}/[A-Z][a-z]{1,3}/[a-z]{0,3}"),
        watch_us in proptest::option::of(0u64..1_000_000),
        user_agent in proptest::option::of("[a-zA-Z/.0-9 ]{1,20}".prop_map(Into::into)),
        expect_status in proptest::option::of(200u16..600),
    ) -> (u64, Request) {
        let whole = matches!(verb, Verb::List | Verb::Watch | Verb::Create | Verb::DeleteCollection);
        let path = if whole { "/api/v1/namespaces/a/pods".to_owned() } else { format!("/api/v1/namespaces/a/pods/{name}") };
        let mut request = Request::new(verb, path);
        let watch = (verb == Verb::Watch).then(|| "watch=true".to_owned());
        let apply = (verb == Verb::Apply).then(|| "fieldManager=x".to_owned());
        let label = label.map(|label| format!("labelSelector={label}"));
        let query: Vec<String> = [watch, apply, label].into_iter().flatten().collect();
        request.query = (!query.is_empty()).then(|| query.join("&").into());
        if verb.writes() {
            request.body = Some(Body::from(body.as_bytes()));
            request.content_type = Some(crate::load::patch_type::content_type(verb, &request.path, body.as_bytes()).0.into());
        }
        if verb == Verb::Watch {
            request.watch = Some(watch_us.map_or(WatchEnd::WithTheRun, WatchEnd::After));
        }
        request.key = given.map(|key| Key::given(&key));
        if request.key.is_none() {
            request.key = crate::load::derived_key(verb, &request.path, request.query.as_deref(), request.body.as_deref());
        }
        request.user_agent = user_agent;
        request.expect_status = expect_status;
        (step, request)
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(drawn in proptest::collection::vec(any_request(), 1..30), again in 1usize..4) {
        let mut writer = Writer::default();
        let mut out = Vec::new();
        let mut written = Vec::new();
        let mut t_us = 0;
        // Again and again, so that bodies come back.
        for (step, request) in std::iter::repeat_n(&drawn, again).flatten() {
            t_us += step;
            let request = Request { due_us: Some(t_us), ..request.clone() };
            writer.request(&request, &mut out).unwrap();
            written.push(request);
        }
        let mut file = writer.header(Map::new(), Vec::new()).line();
        file.extend_from_slice(&out);
        let (found, _) = read(&file, Options { digest: true, ..Options::default() }).unwrap();
        prop_assert_eq!(found, written);
    }

    #[test]
    fn no_bytes_crash_the_parser(bytes in proptest::collection::vec(any::<u8>(), 0..300), header in any::<bool>()) {
        let mut file = if header { format!("{HEADER}\n").into_bytes() } else { Vec::new() };
        file.extend_from_slice(&bytes);
        let _ = read(&file, Options { allow_unknown: true, digest: true });
    }
}
