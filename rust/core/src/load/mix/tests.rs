//! The mix as a whole: shares, streams, counts and the order of a runner's requests.

use super::*;
use crate::load::{Request, Verb, WatchEnd};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

fn plain(verb: Verb, name: Option<&str>, key_space: Option<u32>) -> Shape {
    Shape::Plain {
        verb,
        collection: "/api/v1/namespaces/default/configmaps".to_owned(),
        name: name.map(str::to_owned),
        key_space,
        subresource: None,
        query: Some("resourceVersion=0".to_owned()),
        content_type: Some("application/json".to_owned()),
        body: verb.writes().then(|| r#"{"metadata":{"name":"{name}"},"data":{"payload":"{rand:20}"}}"#.to_owned()),
        namespace: "default".to_owned(),
        until_initial_bookmark: false,
    }
}

fn create_delete(delete_millionths: u32) -> Shape {
    Shape::CreateDelete {
        collection: "/api/v1/namespaces/default/pods".to_owned(),
        namespace: "default".to_owned(),
        kind: "pods".to_owned(),
        prefix: "made".to_owned(),
        salted: true,
        delete_millionths,
        body: r#"{"metadata":{"name":"{name}"}}"#.to_owned(),
    }
}

fn weighted(shares: u32, request: Shape) -> Weighted {
    Weighted { shares, request, headers: Vec::new(), user_agent: None }
}

fn at_rate(per_second: u64, seconds: Option<u64>) -> Vec<Stage> {
    let micros = per_second * 1_000_000;
    vec![Stage { duration_us: seconds.map(|s| s * 1_000_000), from_micros: micros, to_micros: micros }]
}

fn spec(requests: Vec<Weighted>) -> MixSpec {
    MixSpec {
        seed: 1,
        segment: 0,
        salt: None,
        arrival: Arrival::Constant,
        stages: at_rate(100, None),
        total: Some(1_000),
        requests,
        watches: Vec::new(),
    }
}

fn drawn(spec: &MixSpec, runner: u32, runners: u32) -> Vec<Request> {
    Arc::new(Mix::new(spec).unwrap()).requests(runner, runners).map(Result::unwrap).collect()
}

fn refused(spec: &MixSpec) -> String {
    Mix::new(spec).unwrap_err().to_string()
}

#[test]
fn a_total_at_a_rate_ends_where_the_next_request_would_be_due() {
    let spec = spec(vec![weighted(1, plain(Verb::List, None, None))]);
    assert_eq!(Mix::new(&spec).unwrap().plan(0), MixPlan { planned: Some(1_000), end_us: Some(10_000_000) });
    let seen = drawn(&spec, 0, 1);
    assert_eq!(seen.len(), 1_000);
    assert_eq!(seen.last().unwrap().due_us, Some(9_990_000));
}

#[test]
fn a_closed_loop_has_no_due_instants_and_no_end_of_its_own() {
    let mut spec = MixSpec { stages: Vec::new(), ..spec(vec![weighted(1, plain(Verb::List, None, None))]) };
    assert_eq!(Mix::new(&spec).unwrap().plan(0), MixPlan { planned: Some(1_000), end_us: None });
    assert!(drawn(&spec, 0, 1).iter().all(|request| request.due_us.is_none()));
    spec.total = None;
    assert_eq!(Mix::new(&spec).unwrap().plan(0), MixPlan { planned: None, end_us: None });
    assert_eq!(Arc::new(Mix::new(&spec).unwrap()).requests(0, 1).take(5_000).count(), 5_000);
}

#[test]
fn a_key_space_is_drawn_from_evenly_and_never_left() {
    let seen = drawn(
        &MixSpec { total: Some(10_000), ..spec(vec![weighted(1, plain(Verb::Get, Some("cm"), Some(10)))]) },
        0,
        1,
    );
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for request in &seen {
        *counts.entry(&request.path).or_default() += 1;
    }
    let keys: HashSet<String> = (0..10).map(|n| format!("/api/v1/namespaces/default/configmaps/cm-{n}")).collect();
    assert_eq!(counts.keys().map(|key| (*key).to_owned()).collect::<HashSet<_>>(), keys);
    assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
}

#[test]
fn a_put_names_its_object_in_path_and_body_and_is_not_held_back_for_its_order() {
    let seen = drawn(&spec(vec![weighted(1, plain(Verb::Update, Some("cm"), Some(100)))]), 0, 1);
    for request in &seen {
        let body: serde_json::Value = serde_json::from_slice(request.body.as_ref().unwrap()).unwrap();
        assert_eq!(request.path.rsplit('/').next(), body["metadata"]["name"].as_str());
        assert_eq!(body["data"]["payload"].as_str().unwrap().len(), 20);
        assert_eq!((request.content_type.as_deref(), request.key.clone()), (Some("application/json"), None));
    }
}

#[test]
fn what_is_deleted_was_created_before_oldest_first_and_once() {
    let seen = drawn(&MixSpec { total: Some(5_000), ..spec(vec![weighted(1, create_delete(400_000))]) }, 3, 4);
    let mut alive = std::collections::VecDeque::new();
    let mut deletions = 0;
    for request in seen {
        let key = request.key.expect("both are about an object");
        assert!(key.is_named());
        if request.verb == Verb::Create {
            let body: serde_json::Value = serde_json::from_slice(request.body.as_ref().unwrap()).unwrap();
            assert_eq!(key.text(), format!("default/pods/{}", body["metadata"]["name"].as_str().unwrap()));
            alive.push_back(key);
        } else {
            assert_eq!(alive.pop_front(), Some(key));
            deletions += 1;
        }
    }
    assert!((1_850..2_150).contains(&deletions), "{deletions} of 5000 at 40 %");
}

#[test]
fn runners_take_turns_in_naming_objects_and_in_counting() {
    let numbered = Shape::CreateDelete {
        collection: "/api/v1/pods".to_owned(),
        namespace: String::new(),
        kind: "pods".to_owned(),
        prefix: "n".to_owned(),
        salted: false,
        delete_millionths: 0,
        body: "{name} {seq}".to_owned(),
    };
    let spec = spec(vec![weighted(1, numbered)]);
    let (mut names, mut numbers) = (HashSet::new(), HashSet::new());
    for runner in 0..3 {
        for request in drawn(&spec, runner, 3) {
            let body = String::from_utf8(request.body.unwrap().to_vec()).unwrap();
            let (name, number) = body.split_once(' ').unwrap();
            assert!(names.insert(name.to_owned()) && numbers.insert(number.parse::<u64>().unwrap()));
        }
    }
    assert_eq!(numbers, (1..=3_000).collect());
    assert_eq!(names, (0..3_000).map(|index| format!("n-{index}")).collect());
}

#[test]
fn a_salt_is_in_the_names_that_are_this_runs_alone_and_nowhere_else() {
    let plain = spec(vec![weighted(1, create_delete(300_000)), weighted(1, plain(Verb::Get, Some("cm"), Some(9)))]);
    let salted = MixSpec { salt: Some("run-7".to_owned()), ..plain.clone() };
    let text = |spec: &MixSpec| format!("{:?}", drawn(spec, 0, 1));
    assert!(text(&plain).contains("made-0"));
    let renamed = drawn(&plain, 0, 1).into_iter().zip(drawn(&salted, 0, 1));
    for (before, after) in renamed {
        assert_eq!(before.path.replace("/made-", "/made-run-7-"), after.path.as_ref());
        assert_eq!((before.due_us, before.verb), (after.due_us, after.verb));
        assert_eq!(
            before.key.map(|key| key.text().replace("/made-", "/made-run-7-")),
            after.key.map(|key| key.text().to_owned())
        );
    }
}

#[test]
fn watches_are_opened_over_their_time_among_the_other_requests() {
    let watches = vec![OpenWatches {
        count: 4,
        over_us: 2_000_000,
        collection: "/api/v1/pods".to_owned(),
        query: "watch=true".to_owned(),
        headers: vec![("Impersonate-User".into(), "jane".into())],
        user_agent: None,
    }];
    let mut spec = MixSpec { watches, ..spec(vec![weighted(1, plain(Verb::List, None, None))]) };
    let opened = |spec: &MixSpec| -> Vec<Option<u64>> {
        let seen = drawn(spec, 0, 1);
        assert!(seen.is_sorted_by_key(|request| request.due_us));
        assert_eq!(Mix::new(spec).unwrap().plan(0).planned, Some(seen.len() as u64));
        let watches = seen.into_iter().filter(|request| request.verb == Verb::Watch);
        watches
            .map(|watch| {
                assert_eq!(watch.watch, Some(WatchEnd::WithTheRun));
                assert_eq!(watch.headers.unwrap()[0].0.as_ref(), "Impersonate-User");
                watch.due_us
            })
            .collect()
    };
    assert_eq!(opened(&spec), [Some(0), Some(500_000), Some(1_000_000), Some(1_500_000)]);
    spec.requests.clear();
    assert_eq!(opened(&spec), [Some(0), Some(500_000), Some(1_000_000), Some(1_500_000)]);
    spec.stages.clear();
    assert_eq!(opened(&spec), [None; 4]);
}

#[test]
fn a_watch_list_ends_with_the_initial_bookmark_and_headers_go_with_their_kind() {
    let mut shape = plain(Verb::Watch, None, None);
    if let Shape::Plain { until_initial_bookmark, .. } = &mut shape {
        *until_initial_bookmark = true;
    }
    let headers = vec![("X-Test".into(), "a".into())];
    let seen =
        drawn(&spec(vec![Weighted { shares: 1, request: shape, headers, user_agent: Some("agent/1".into()) }]), 0, 1);
    assert!(seen.iter().all(|request| request.watch == Some(WatchEnd::InitialBookmark)));
    assert!(seen.iter().all(|request| request.headers.as_ref().is_some_and(|headers| headers.len() == 1)));
    assert!(seen.iter().all(|request| request.user_agent.as_deref() == Some("agent/1")));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_place() {
    let list = || weighted(1, plain(Verb::List, None, None));
    assert!(refused(&spec(vec![])).contains("neither requests nor watches"));
    assert!(refused(&spec(vec![weighted(0, plain(Verb::List, None, None))])).contains("shares of 0"));
    assert!(refused(&spec(vec![weighted(u32::MAX, plain(Verb::List, None, None)), list()])).contains("add up"));
    assert!(
        refused(&spec(vec![list(), weighted(1, plain(Verb::Get, Some("a"), Some(0)))])).starts_with("requests.1: ")
    );
    assert!(refused(&spec(vec![weighted(1, create_delete(1_000_001))])).contains("millionths of deletions"));
    let unending = Stage { duration_us: None, from_micros: 0, to_micros: 0 };
    assert!(refused(&MixSpec { stages: vec![unending], ..spec(vec![list()]) }).contains("stages.0: got no end"));
    let twice = [at_rate(1, None), at_rate(1, None)].concat();
    assert!(refused(&MixSpec { stages: twice, ..spec(vec![list()]) }).contains("every stage but the last"));
    assert!(refused(&MixSpec { stages: at_rate(2_000_000, None), ..spec(vec![list()]) }).contains("at most"));
}

#[test]
fn an_unknown_field_of_a_spec_is_refused() {
    let sound = r#"{"seed":1,"stages":[],"total":1,"requests":[{"shares":1,"request":{"shape":"plain","verb":"LIST","collection":"/api/v1/pods"}}]}"#;
    assert!(serde_json::from_str::<MixSpec>(sound).is_ok());
    assert!(serde_json::from_str::<MixSpec>(&sound.replace("\"total\"", "\"totl\"")).is_err());
    assert!(serde_json::from_str::<MixSpec>(&sound.replace("\"verb\"", "\"vrb\":1,\"verb\"")).is_err());
}

fn any_shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(plain(Verb::List, None, None)),
        (1u32..20).prop_map(|size| plain(Verb::Get, Some("cm"), Some(size))),
        (1u32..20).prop_map(|size| plain(Verb::Update, Some("cm"), Some(size))),
        (0u32..500_000).prop_map(create_delete),
    ]
}

fn any_spec() -> impl Strategy<Value = MixSpec> {
    let stage = (1u64..1_000_000, 0u64..500_000_000, 0u64..500_000_000)
        .prop_map(|(duration, from_micros, to_micros)| Stage { duration_us: Some(duration), from_micros, to_micros });
    (
        any::<u64>(),
        0u32..3,
        any::<bool>(),
        prop::collection::vec(stage, 1..4),
        prop::option::of(0u64..400),
        prop::collection::vec((1u32..9, any_shape()), 1..4),
        prop::collection::vec((1u32..4, 0u64..2_000_000), 0..3),
    )
        .prop_map(|(seed, segment, poisson, stages, total, requests, watches)| MixSpec {
            seed,
            segment,
            salt: None,
            arrival: if poisson { Arrival::Poisson } else { Arrival::Constant },
            stages,
            total,
            requests: requests.into_iter().map(|(shares, shape)| weighted(shares, shape)).collect(),
            watches: watches
                .into_iter()
                .map(|(count, over_us)| OpenWatches {
                    count,
                    over_us,
                    collection: "/api/v1/pods".to_owned(),
                    query: "watch=true".to_owned(),
                    headers: Vec::new(),
                    user_agent: None,
                })
                .collect(),
        })
}

proptest! {
    #[test]
    fn a_plan_counts_what_is_drawn_and_the_end_lies_behind_it(spec in any_spec(), runner in 0u32..5) {
        let plan = Mix::new(&spec).unwrap().plan(runner);
        let seen = drawn(&spec, runner, 5);
        prop_assert_eq!(plan.planned, Some(seen.len() as u64));
        prop_assert!(seen.is_sorted_by_key(|request| request.due_us));
        let last = seen.iter().filter(|request| request.verb != Verb::Watch).filter_map(|request| request.due_us).max();
        prop_assert!(last <= plan.end_us);
    }

    #[test]
    fn the_same_seed_draws_the_same_bytes_and_each_runner_has_a_stream_of_its_own(spec in any_spec()) {
        prop_assert_eq!(drawn(&spec, 1, 3), drawn(&spec, 1, 3));
        let text = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(&serde_json::from_str::<MixSpec>(&text).unwrap(), &spec);
        let many = MixSpec {
            stages: at_rate(1_000, Some(1)),
            total: None,
            requests: vec![weighted(1, plain(Verb::Get, Some("cm"), Some(1_000)))],
            ..spec
        };
        let paths = |mix: &MixSpec, runner| -> Vec<_> { drawn(mix, runner, 3).into_iter().map(|r| r.path).collect() };
        prop_assert_ne!(paths(&many, 0), paths(&many, 1));
        prop_assert_ne!(paths(&many, 0), paths(&MixSpec { seed: many.seed ^ 1, ..many.clone() }, 0));
        prop_assert_ne!(paths(&many, 0), paths(&MixSpec { segment: many.segment + 1, ..many.clone() }, 0));
    }

    #[test]
    fn shares_are_kept_within_what_chance_allows(first in 1u32..1_000, second in 1u32..1_000, seed in any::<u64>()) {
        let requests = vec![
            weighted(first, plain(Verb::List, None, None)),
            weighted(0, plain(Verb::Update, Some("cm"), Some(2))),
            weighted(second, plain(Verb::Get, Some("cm"), None)),
        ];
        let seen = drawn(&MixSpec { seed, total: Some(4_000), ..spec(requests) }, 0, 1);
        let lists = seen.iter().filter(|request| request.verb == Verb::List).count() as f64;
        prop_assert!(seen.iter().all(|request| request.verb != Verb::Update));
        let share = f64::from(first) / f64::from(first + second);
        let deviation = (4_000.0 * share * (1.0 - share)).sqrt();
        prop_assert!((lists - 4_000.0 * share).abs() <= 6.0 * deviation + 1.0, "{lists} of {share}");
    }
}
