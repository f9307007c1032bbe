use super::*;
use crate::load::{Request, RequestError, Verb, WatchEnd};
use proptest::prelude::*;

fn characters(text: &str) -> impl Characters + use<> {
    text.chars().collect::<Vec<_>>().into_iter()
}

fn read(text: &str) -> Result<(Vec<Request>, ReplayRequests<impl Characters + use<>>), RequestError> {
    let mut reader = ReplayRequests::new(characters(text), false);
    let found = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    Ok((found, reader))
}

/// The lines before the requests, five of them.
const TOP: &str = "version: 1\nspec:\n  runnerCount: 2\n  connsPerRunner: 3\nrequests:\n";
const GET: &str =
    "- {timestamp: 5, verb: GET, namespace: a, resourceKind: Pod, name: b, apiPath: /api/v1/namespaces/a/pods/b}\n";

fn requests(entries: &str) -> Vec<Request> {
    read(&format!("{TOP}{entries}")).unwrap().0
}

fn refused(text: &str) -> String {
    read(text).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

#[test]
fn a_profile_is_read_with_block_scalars_flow_mappings_and_keys_in_any_order() {
    let text = r#"
requests:
  - timestamp: 0
    verb: CREATE
    namespace: default
    resourceKind: Pod
    name: nginx-1
    apiPath: /api/v1/namespaces/default/pods
    body: |
      {
        "kind": "Pod"
      }
  - {timestamp: 250, verb: LIST, namespace: default, resourceKind: Pod, apiPath: /api/v1/namespaces/default/pods, labelSelector: app=nginx}
  - {timestamp: 250, verb: WATCH, resourceKind: Node, apiPath: /api/v1/nodes}
  # A comment.
  - timestamp: 400
    verb: APPLY
    namespace: default
    name: "7"
    apiPath: /apis/apps/v1/namespaces/default/deployments/7?fieldManager=me&force=true
    body: '{}'
spec: {runnerCount: 2, connsPerRunner: 3, clientsPerRunner: 0, contentType: protobuf, disableHTTP2: yes}
description: "As recorded"
version: 1
"#;
    let (found, reader) = read(text).unwrap();
    let spec = ReplaySpec {
        runner_count: 2,
        conns_per_runner: 3,
        clients_per_runner: 3,
        content_type: "protobuf".into(),
        disable_http2: true,
    };
    assert_eq!((reader.spec(), reader.description()), (Some(&spec), Some("As recorded")));
    let keys: Vec<_> = found.iter().map(|request| request.key.as_ref().unwrap().text()).collect();
    assert_eq!(
        keys,
        ["default/Pod/nginx-1", "default/Pod/?labelSelector=app=nginx", "/Node/", "default/deployments.apps/7"]
    );
    assert_eq!(found[0].body.as_deref(), Some(&b"{\n  \"kind\": \"Pod\"\n}\n"[..]));
    assert_eq!((found[1].due_us, found[1].query.as_deref()), (Some(250_000), Some("labelSelector=app%3Dnginx")));
    assert_eq!((found[2].watch, found[2].query.as_deref()), (Some(WatchEnd::WithTheRun), Some("watch=true")));
    assert_eq!(found[3].query.as_deref(), Some("fieldManager=me&force=true"));
    assert_eq!(found[3].content_type.as_deref(), Some("application/apply-patch+yaml"));
}

#[test]
fn the_spec_is_written_in_kperfs_names() {
    let text = serde_json::to_string(read(&format!("{TOP}{GET}")).unwrap().1.spec().unwrap()).unwrap();
    let expected =
        r#"{"runnerCount":2,"connsPerRunner":3,"clientsPerRunner":3,"contentType":"json","disableHTTP2":false}"#;
    assert_eq!(text, expected);
}

#[test]
fn every_mistake_in_a_request_is_named_with_its_line() {
    for (entry, expected) in [
        (
            "- {timestamp: 4, verb: GET, name: b, apiPath: /version}",
            "line 7: timestamp is 4, less than the 5 of the request before: requests must be sorted",
        ),
        (
            "- {timestamp: -1, verb: GET, name: b, apiPath: /version}",
            "line 7: timestamp is -1: an integer from 0 to 9223372036854775 was expected",
        ),
        (
            "- {timestamp: \"5\", verb: GET, name: b, apiPath: /version}",
            "line 7: timestamp is \"5\": an integer from 0 to 9223372036854775 was expected",
        ),
        (
            "- {timestamp: 5.5, verb: GET, name: b, apiPath: /version}",
            "line 7: timestamp is 5.5: an integer from 0 to 9223372036854775 was expected",
        ),
        (
            "- {timestamp: 010, verb: GET, name: b, apiPath: /version}",
            "line 7: timestamp is 010: an integer from 0 to 9223372036854775 was expected",
        ),
        ("- {verb: GET, name: b, apiPath: /version}", "line 7: a request needs a timestamp"),
        ("- {timestamp: 5, name: b, apiPath: /version}", "line 7: a request needs a verb"),
        ("- {timestamp: 5, verb: GET, name: b}", "line 7: a request needs an apiPath"),
        (
            "- {timestamp: 5, verb: UPDATE, name: b, apiPath: /version}",
            "line 7: verb is \"UPDATE\": one of CREATE, GET, LIST, APPLY, PATCH, DELETE, DELETECOLLECTION, WATCH was expected",
        ),
        (
            "- timestamp: 5\n  verb: get\n  name: b\n  apiPath: /version",
            "line 8: verb is \"get\": one of CREATE, GET, LIST, APPLY, PATCH, DELETE, DELETECOLLECTION, WATCH was expected",
        ),
        ("- {timestamp: 5, verb: DELETE, apiPath: /api/v1/nodes/a}", "line 7: DELETE needs a name"),
        ("- timestamp: 5\n  verb: GET\n  name: ~\n  apiPath: /api/v1/nodes/a", "line 7: GET needs a name"),
        ("- {timestamp: 5, verb: CREATE, apiPath: /api/v1/nodes}", "line 7: CREATE needs a body"),
        ("- {timestamp: 5, verb: PATCH, name: a, body: \"\", apiPath: /api/v1/nodes/a}", "line 7: PATCH needs a body"),
        (
            "- {timestamp: 5, verb: DELETE, name: b, apiPath: /api/v1/pods/}",
            "line 7: DELETE needs a name: the path \"/api/v1/pods/\" is a collection",
        ),
        (
            "- {timestamp: 5, verb: GET, nme: b, apiPath: /version}",
            "line 7: the key \"nme\" of a request is unknown: timestamp, verb, namespace, resourceKind, name, apiPath, body, labelSelector are known",
        ),
        (
            "- {timestamp: 5, verb: GET, name: [b], apiPath: /version}",
            "line 7: name is a list or a mapping: a single value was expected",
        ),
        (
            "- {timestamp: 5, verb: GET, verb: GET, name: b, apiPath: /version}",
            "line 7: the key verb of a request is there twice",
        ),
        ("- GET /version", "line 7: a request must be a mapping"),
    ] {
        assert_eq!(refused(&format!("{TOP}{GET}{entry}\n")), expected, "{entry}");
    }
}

#[test]
fn every_mistake_in_the_profile_is_named_with_its_line() {
    let with = |old: &str, new: &str| refused(&format!("{TOP}{GET}").replace(old, new));
    assert_eq!(
        with("runnerCount: 2", "runnerCount: 0"),
        "line 3: runnerCount is 0: an integer from 1 to 1000000 was expected"
    );
    assert_eq!(
        with("connsPerRunner: 3", "connsPerRunner: -3"),
        "line 4: connsPerRunner is -3: an integer from 1 to 1000000 was expected"
    );
    assert_eq!(with("  connsPerRunner: 3\n", ""), "line 2: spec needs connsPerRunner");
    assert_eq!(
        with("connsPerRunner: 3", "connsPerRunner: 3\n  contentType: yaml"),
        "line 5: contentType is \"yaml\": json or protobuf was expected"
    );
    assert_eq!(
        with("connsPerRunner: 3", "connsPerRunner: 3\n  disableHTTP2: maybe"),
        "line 5: disableHTTP2 is maybe: true or false was expected"
    );
    assert_eq!(
        with("connsPerRunner", "conns"),
        "line 4: the key \"conns\" of spec is unknown: runnerCount, connsPerRunner, clientsPerRunner, contentType, disableHTTP2 are known"
    );
    assert_eq!(with("version: 1", "version: 2"), "line 1: version is 2: 1 was expected");
    assert_eq!(with("version: 1\n", ""), "line 6: the profile needs version: 1");
    assert_eq!(
        with("requests:", "request:"),
        "line 5: the key \"request\" of the profile is unknown: version, description, spec, requests are known"
    );
    assert_eq!(with(GET, ""), "line 6: the profile holds no request");
    assert_eq!(with(GET, "  a: b\n"), "line 6: requests must be a list");
    assert_eq!(refused(&format!("{TOP}{GET}version: 1\n")), "line 7: the key version is there twice");
    assert_eq!(refused(&format!("{TOP}{GET}---\nversion: 1\n")), "line 7: a second document begins: a file holds one");
    assert_eq!(refused(""), "line 1: no replay profile: a mapping was expected");
    assert_eq!(refused("- a\n"), "line 1: no replay profile: a mapping was expected");
    assert!(refused(&format!("{TOP}- {{timestamp: 5, verb\n")).starts_with("line 7: no YAML: "));
}

#[test]
fn unknown_keys_can_be_allowed_and_are_said() {
    let text = format!(
        "{TOP}{GET}- {{timestamp: 5, verb: GET, name: b, apiPath: /version, extra: {{a: [1, {{b: c}}]}}}}\nmore: [1, 2]\n"
    );
    let mut reader = ReplayRequests::new(characters(&text), true);
    assert_eq!(reader.by_ref().map(Result::unwrap).count(), 2);
    let said: Vec<_> = reader.take_warnings().into_vec().into_iter().map(|w| (w.line, w.text)).collect();
    assert_eq!(said[0], (Some(7), "the key \"extra\" of a request is unknown".to_owned()));
    assert_eq!(said[1], (Some(8), "the key \"more\" of the profile is unknown".to_owned()));
}

#[test]
fn a_path_that_cannot_be_sent_as_it_stands_is_encoded() {
    let found = requests("- {timestamp: 5, verb: GET, name: b, apiPath: /pods/\u{fc}}\n");
    assert_eq!(&*found[0].path, "/pods/%C3%BC");
}

#[test]
fn anchors_aliases_and_merges_stand_for_what_they_name() {
    let found = requests(
        "- &first {timestamp: 0, verb: GET, namespace: &ns a, resourceKind: Pod, name: b, apiPath: &path /api/v1/namespaces/a/pods/b}\n\
         - {<<: *first, timestamp: 7, namespace: c}\n\
         - {timestamp: 8, verb: GET, name: x, namespace: *ns, apiPath: *path}\n\
         - {<<: [{timestamp: 9}, *first]}\n",
    );
    let seen: Vec<_> = found.iter().map(|r| (r.due_us.unwrap(), r.key.as_ref().unwrap().text(), &*r.path)).collect();
    let path = "/api/v1/namespaces/a/pods/b";
    assert_eq!(
        seen,
        [(0, "a/Pod/b", path), (7000, "c/Pod/b", path), (8000, "a/pods/x", path), (9000, "a/Pod/b", path)]
    );
}

#[test]
fn aliases_that_grow_beyond_all_bounds_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let inner = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb = format!("{bomb}a{i}: &a{i} [{inner}]\n");
    }
    let mut reader = ReplayRequests::new(characters(&bomb), true);
    let error = reader.next().unwrap().unwrap_err();
    assert!(error.text.starts_with("anchors hold more than 100000 values"), "{error}");
    let deep = format!("a: {}", "[".repeat(100));
    assert_eq!(
        ReplayRequests::new(characters(&deep), true).next().unwrap().unwrap_err().text,
        "nested more than 64 deep"
    );
    let own = "a: &a [*a]\n";
    assert!(ReplayRequests::new(characters(own), true).next().unwrap().is_err());
}

/// The most memory that this process had, in bytes.
#[cfg(target_os = "linux")]
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_merged_many_times_is_held_once() {
    let (body, all) = ("x".repeat(1 << 20), vec!["*a"; 512].join(", "));
    let first = format!("- &a {{timestamp: 1, verb: CREATE, apiPath: /api/v1/nodes, body: '{body}'}}\n");
    let text = format!("{TOP}{first}- {{<<: [{all}], timestamp: 2}}\n");
    let before = peak_bytes();
    let mut reader = ReplayRequests::new(characters(&text), false);
    let found = reader.by_ref().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(found[1].body, found[0].body);
    assert!(peak_bytes() - before < 256 << 20, "{} MiB more", (peak_bytes() - before) >> 20);
}

#[test]
fn a_deletions_options_are_sent_and_other_bodies_are_left_out_and_counted() {
    let (found, reader) = read(&format!(
        "{TOP}\
         - {{timestamp: 0, verb: DELETE, name: b, apiPath: /api/v1/nodes/b, body: '{{\"propagationPolicy\":\"Orphan\"}}'}}\n\
         - {{timestamp: 0, verb: DELETE, name: b, apiPath: /api/v1/nodes/b, body: '{{\"kind\":\"Node\"}}'}}\n\
         - {{timestamp: 0, verb: GET, name: b, apiPath: /api/v1/nodes/b, body: x, labelSelector: a}}\n\
         - {{timestamp: 0, verb: PATCH, name: b, apiPath: '/api/v1/nodes/b&fieldManager=x', body: '{{}}'}}\n"
    ))
    .unwrap();
    assert_eq!(found[0].body.as_deref(), Some(&b"{\"propagationPolicy\":\"Orphan\"}"[..]));
    assert_eq!(found[0].content_type.as_deref(), Some("application/json"));
    assert_eq!((found[1].body.as_ref(), found[2].body.as_ref()), (None, None));
    assert_eq!(found[3].query.as_deref(), Some("fieldManager=x"));
    assert_eq!(found[3].content_type.as_deref(), Some("application/strategic-merge-patch+json"));
    let losses: Vec<_> = reader.losses().into_iter().map(|loss| (loss.loss, loss.count)).collect();
    let expected = [("patch_type_guessed", 1), ("query_repaired", 1), ("body_not_sent", 2), ("selector_not_sent", 1)];
    assert_eq!(losses, expected.map(|(loss, count)| (loss.to_owned(), count)));
}

#[test]
fn a_name_that_differs_from_the_paths_is_said() {
    let text = format!("{TOP}- {{timestamp: 0, verb: GET, name: a, apiPath: /api/v1/nodes/b}}\n");
    let (found, mut reader) = read(&text).unwrap();
    assert_eq!(found[0].key.as_ref().unwrap().text(), "/nodes/a");
    assert_eq!(reader.take_warnings().into_vec().len(), 1);
}

#[test]
fn documents_are_told_apart_by_their_keys() {
    let group = "# A comment\ncount: 4\nreplayProfile: \"https://h/p.yaml.gz\"\nnodeAffinity: {a: [b]}\n";
    for (text, kind) in [
        (group, Some(DocumentKind::ReplayGroup)),
        (&*format!("{TOP}{GET}"), Some(DocumentKind::Replay)),
        ("spec: {runnerCount: 1}\nrequest: []\n", Some(DocumentKind::Replay)),
        ("version: 1\nspec: {rate: 1, requests: []}\n", Some(DocumentKind::Load)),
        ("version: 1\nspecs: []\n", Some(DocumentKind::Load)),
        ("count: 1\nloadProfile: {specs: []}\n", Some(DocumentKind::LoadGroup)),
        ("a: b\n", None),
        ("[]", None),
        ("", None),
    ] {
        assert_eq!(document_kind(characters(text)).unwrap(), kind, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_crashes_the_parser(text in "(version: 1|spec:|requests:|[-\\[\\]{}:,&*<>|'\"# \n]|a|timestamp: 5|verb: GET|\\PC){0,60}", top in any::<bool>()) {
        let text = if top { format!("{TOP}{text}") } else { text };
        let _ = ReplayRequests::new(characters(&text), true).collect::<Vec<_>>();
        let _ = document_kind(characters(&text));
    }

    #[test]
    fn what_json_says_is_read_as_yaml(ms in proptest::collection::vec(0u32..1_000_000, 1..20), body in "\\PC{1,80}", name in "[a-z0-9]{1,9}") {
        let mut ms = ms;
        ms.sort_unstable();
        let entry = |ms: &u32| serde_json::json!({"timestamp": ms, "verb": "PATCH", "name": name, "apiPath": format!("/api/v1/nodes/{name}"), "body": body});
        let entries: Vec<_> = ms.iter().map(entry).collect();
        let text = serde_json::json!({"version": 1, "spec": {"runnerCount": 1, "connsPerRunner": 1}, "requests": entries}).to_string();
        let (found, _) = read(&text).unwrap();
        prop_assert_eq!(found.len(), ms.len());
        for (request, ms) in found.iter().zip(&ms) {
            prop_assert_eq!(request.due_us, Some(u64::from(*ms) * 1000));
            prop_assert_eq!(request.body.as_deref(), Some(body.as_bytes()));
            prop_assert_eq!(request.verb, Verb::Patch);
        }
    }
}
