use super::*;
use crate::digest::sha256_hex;
use crate::load::{Body, Key, Request, RequestError, Verb, WatchEnd};

pub(super) const HEADER: &str = r#"{"schema":"perfq.trace/v1","source":{},"counts":{},"losses":[]}"#;
const GET: &str = r#"{"t_us":5,"verb":"GET","path":"/api/v1/namespaces/a/pods/b"}"#;

pub(super) fn read(lines: &[u8], options: Options) -> Result<(Vec<Request>, Parser<MemoryBodies>), RequestError> {
    let mut parser = Parser::new(MemoryBodies::default(), options);
    let mut found = Vec::new();
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    for line in lines.split(|byte| *byte == b'\n') {
        found.extend(parser.line(line)?);
    }
    parser.finish()?;
    Ok((found, parser))
}

/// The requests of lines after a header.
fn requests(lines: &[&str]) -> Result<Vec<Request>, RequestError> {
    let text = format!("{HEADER}\n{}", lines.join("\n"));
    read(text.as_bytes(), Options::default()).map(|(found, _)| found)
}

fn refused(line: &str) -> String {
    let error = requests(&[GET, line]).expect_err(line);
    assert_eq!(error.line, Some(3), "{line}");
    error.text
}

#[test]
fn a_request_line_says_all_that_a_request_has() {
    let body = r#"{"metadata":{"name":"b"}}"#;
    let lines = [
        format!("{{\"body\":{body:?},\"sha256\":\"{}\"}}", sha256_hex(body.as_bytes())),
        format!(
            "{{\"t_us\":7,\"verb\":\"CREATE\",\"path\":\"/api/v1/namespaces/a/pods\",\"body_ref\":\"{}\",\"query\":\"dryRun=All\",\
             \"user_agent\":\"kubectl/v1.35\",\"expect_status\":409}}",
            sha256_hex(body.as_bytes())
        ),
        r#"{"t_us":7,"verb":"WATCH","path":"/api/v1/pods","query":"watch=1","watch_us":90,"key":"x/y/z"}"#.to_owned(),
        r#"{"t_us":8,"verb":"WATCH","path":"/api/v1/pods","query":"watch=1","watch_us":null}"#.to_owned(),
    ];
    let found = requests(&lines.each_ref().map(String::as_str)).unwrap();
    let mut create = Request::new(Verb::Create, "/api/v1/namespaces/a/pods");
    create.due_us = Some(7);
    create.query = Some("dryRun=All".into());
    create.body = Some(Body::from(body.as_bytes()));
    create.content_type = Some("application/json".into());
    create.key = Some(Key::object("a", "pods", "b"));
    create.user_agent = Some("kubectl/v1.35".into());
    create.expect_status = Some(409);
    assert_eq!(found[0], create);
    assert_eq!((found[1].watch, found[1].key.clone()), (Some(WatchEnd::After(90)), Some(Key::given("x/y/z"))));
    assert_eq!((found[2].watch, found[2].key.clone()), (Some(WatchEnd::WithTheRun), Some(Key::given("/pods/"))));
}

#[test]
fn every_mistake_is_named_with_the_value_seen_and_its_line() {
    for (line, expected) in [
        (
            r#"{"t_us":4,"verb":"GET","path":"/version"}"#,
            "t_us is 4, less than the 5 of the request before: requests must be sorted by t_us",
        ),
        (r#"{"t_us":-1,"verb":"GET","path":"/version"}"#, "t_us is -1: an integer of at least 0 was expected"),
        (r#"{"t_us":5.5,"verb":"GET","path":"/version"}"#, "t_us is 5.5: an integer of at least 0 was expected"),
        (r#"{"t_us":"5","verb":"GET","path":"/version"}"#, "t_us is \"5\": an integer of at least 0 was expected"),
        (r#"{"verb":"GET","path":"/version"}"#, "t_us is missing"),
        (r#"{"t_us":null,"verb":"GET","path":"/version"}"#, "t_us is missing"),
        (r#"{"t_us":5,"path":"/version"}"#, "verb is missing"),
        (r#"{"t_us":5,"verb":"GET"}"#, "path is missing"),
        (
            r#"{"t_us":5,"verb":"get","path":"/version"}"#,
            "verb is \"get\": one of GET, LIST, WATCH, CREATE, UPDATE, PATCH, APPLY, DELETE, DELETECOLLECTION was expected",
        ),
        (
            r#"{"t_us":5,"verb":"CONNECT","path":"/version"}"#,
            "CONNECT (exec, attach, port-forward, proxy) is not replayed; take this request out",
        ),
        (
            r#"{"t_us":5,"verb":"CREATE","path":"/api/v1/namespaces/a/pods/b/exec","body":""}"#,
            "exec is not replayed (CREATE \"/api/v1/namespaces/a/pods/b/exec\"); take this request out",
        ),
        (r#"{"t_us":5,"verb":"GET","path":"version"}"#, "path is \"version\": it must begin with /"),
        (
            r#"{"t_us":5,"verb":"GET","path":"/version?a"}"#,
            "path is \"/version?a\": what follows the ? belongs in query",
        ),
        (r#"{"t_us":5,"verb":"GET","path":"/a b"}"#, "path is \"/a b\": ' ' must be percent-encoded"),
        (
            r#"{"t_us":5,"verb":"GET","path":"/a\r\nHost: b"}"#,
            "path is \"/a\\r\\nHost: b\": '\\r' must be percent-encoded",
        ),
        (r#"{"t_us":5,"verb":"GET","path":"/a","query":"?a"}"#, "query is \"?a\": it stands without its ?"),
        (r#"{"t_us":5,"verb":"GET","path":"/a","query":"a=ü"}"#, "query is \"a=ü\": 'ü' must be percent-encoded"),
        (r#"{"t_us":5,"verb":"CREATE","path":"/api/v1/namespaces/a/pods"}"#, "CREATE needs a body"),
        (r#"{"t_us":5,"verb":"GET","path":"/version","body":"{}"}"#, "GET takes no body"),
        (r#"{"t_us":5,"verb":"GET","path":"/version","content_type":"a/b"}"#, "content_type without a body"),
        (r#"{"t_us":5,"verb":"GET","path":"/version","watch_us":1}"#, "watch_us is for WATCH, not for GET"),
        (r#"{"t_us":5,"verb":"WATCH","path":"/api/v1/pods"}"#, "WATCH without watch=true in its query would be a LIST"),
        (
            r#"{"t_us":5,"verb":"LIST","path":"/api/v1/pods","query":"watch=true"}"#,
            "LIST with watch=true in its query would be a WATCH",
        ),
        (
            r#"{"t_us":5,"verb":"DELETE","path":"/api/v1/namespaces/a/pods/"}"#,
            "DELETE needs a name: the path \"/api/v1/namespaces/a/pods/\" is a collection",
        ),
        (
            r#"{"t_us":5,"verb":"DELETECOLLECTION","path":"/api/v1/namespaces/a/pods/b"}"#,
            "DELETECOLLECTION is for collections: the path \"/api/v1/namespaces/a/pods/b\" names the object \"b\"",
        ),
        (
            r#"{"t_us":5,"verb":"DELETECOLLECTION","path":"/api/v1/namespaces//pods"}"#,
            "DELETECOLLECTION on \"/api/v1/namespaces//pods\", which names no resource",
        ),
        (
            r#"{"t_us":5,"verb":"DELETECOLLECTION","path":"/api/v1/namespaces/a/pods","query":"labelselector=a"}"#,
            "DELETECOLLECTION with \"labelselector\" in its query, which no server heeds: if it was meant to choose, more \
             would be deleted; take it out or correct it",
        ),
        (
            r#"{"t_us":5,"verb":"DELETECOLLECTION","path":"/api/v1/namespaces/a/pods","query":"labelSelector="}"#,
            "DELETECOLLECTION with an empty labelSelector, which a server does not heed: give it a value or take it out",
        ),
        (
            r#"{"t_us":5,"verb":"GET","path":"/version","key":"a/b"}"#,
            "key is \"a/b\": namespace/kind/name was expected",
        ),
        (
            r#"{"t_us":5,"verb":"GET","path":"/version","expect_status":99}"#,
            "expect_status is 99: a status from 200 to 599 was expected",
        ),
        (
            r#"{"t_us":5,"verb":"GET","path":"/version","user_agent":"a\nb"}"#,
            "user_agent is \"a\\nb\": visible ASCII was expected",
        ),
        (
            r#"{"t_us":5,"verb":"APPLY","path":"/api/v1/nodes/a","body":"{}","content_type":"application/json"}"#,
            "content_type is \"application/json\": APPLY sends application/apply-patch+yaml",
        ),
        (
            r#"{"t_us":5,"verb":"GET","path":"/version","tus":1}"#,
            "the key \"tus\" is unknown: t_us, verb, path, query, content_type, body, body_ref, watch_us, key, user_agent, \
             expect_status, sha256 are known",
        ),
        (r#"{"t_us":5,"t_us":5,"verb":"GET","path":"/version"}"#, "t_us is there twice"),
        (r#"{"t_us":5,"verb":["GET"],"path":"/version"}"#, "verb is a list: a string was expected"),
        (
            r#"{"t_us":5,"verb":"GET","path":"/vers"#,
            "the line ends in the middle of its JSON object: was the file cut off?",
        ),
        (r#"{"t_us":5,}"#, "no JSON object: trailing comma (column 11)"),
        (r#"{"t_us":5} {}"#, "no JSON object: trailing characters (column 12)"),
        ("[]", "invalid type: sequence, expected a JSON object"),
    ] {
        assert_eq!(refused(line), expected, "{line}");
    }
}

#[test]
fn a_body_that_is_not_there_or_is_another_one_is_refused() {
    let sha256 = sha256_hex(b"x");
    let create = format!(r#"{{"t_us":5,"verb":"CREATE","path":"/api/v1/namespaces/a/pods","body_ref":"{sha256}"}}"#);
    assert_eq!(
        refused(&create),
        format!("body_ref is {sha256}: no line before this one holds the body of that sha256")
    );
    assert_eq!(
        refused(&format!(r#"{{"body":"y","sha256":"{sha256}"}}"#)),
        format!("sha256 is {sha256}, that of the body is {}", sha256_hex(b"y"))
    );
    assert_eq!(refused(r#"{"body":"y","sha256":"1"}"#), "sha256 is \"1\": 64 lower-case hex digits were expected");
    assert_eq!(
        refused(&format!(r#"{{"body":"x","sha256":"{sha256}","t_us":5}}"#)),
        "a line with sha256 holds a body alone, but it has t_us"
    );
    assert_eq!(
        refused(&format!(r#"{{"t_us":5,"verb":"CREATE","path":"/api/v1/nodes","body":"x","body_ref":"{sha256}"}}"#)),
        "body and body_ref exclude each other"
    );
}

#[test]
fn a_file_without_header_requests_or_end_is_refused() {
    let whole =
        |text: &str| read(text.as_bytes(), Options { digest: true, ..Options::default() }).unwrap_err().to_string();
    let first = "line 1: no perfq trace: the first line must be {\"schema\":\"perfq.trace/v1\",…}, but it ";
    assert!(whole(GET).starts_with(&format!("{first}has no schema")), "{}", whole(GET));
    assert!(whole("version: 1").starts_with(&format!("{first}is no JSON object:")), "{}", whole("version: 1"));
    assert_eq!(
        whole(r#"{"schema":"perfq.trace/v2"}"#),
        "line 1: schema is \"perfq.trace/v2\": this perfq reads perfq.trace/v1"
    );
    assert_eq!(whole(HEADER), "the trace holds no request");
    let counted = HEADER.replace("\"counts\":{}", "\"counts\":{\"requests\":2}");
    assert_eq!(
        whole(&format!("{counted}\n{GET}\n")),
        "the header announces 2 requests, the file holds 1: was it cut off?"
    );
    let digest = HEADER.replace("\"counts\"", &format!("\"digest\":\"{}\",\"counts\"", sha256_hex(b"")));
    assert!(whole(&format!("{digest}\n{GET}\n")).contains("the file was changed"));
    assert_eq!(
        whole(&HEADER.replace("losses", "loses")),
        "line 1: the header's key \"loses\" is unknown: schema, source, digest, counts and losses are known"
    );
}

#[test]
fn unknown_keys_can_be_allowed_and_are_said() {
    let text = format!(
        "{}\n{}\n{GET}\n",
        HEADER.replace("losses", "loses"),
        GET.replace("\"t_us\"", "\"more\":{\"a\":[1]},\"t_us\"")
    );
    let (found, mut parser) = read(text.as_bytes(), Options { allow_unknown: true, digest: false }).unwrap();
    assert_eq!(found.len(), 2);
    let said: Vec<_> = parser.take_warnings().into_vec().into_iter().map(|w| (w.line, w.text)).collect();
    let expected = [
        (Some(1), "the header's key \"loses\" is unknown".to_owned()),
        (Some(2), "the key \"more\" is unknown".to_owned()),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_patch_without_a_type_is_guessed_and_counted_and_an_apply_gets_a_field_manager() {
    let text = format!(
        "{HEADER}\n{}\n{}\n{}\n",
        r#"{"t_us":0,"verb":"PATCH","path":"/api/v1/nodes/a","body":"{}"}"#,
        r#"{"t_us":0,"verb":"PATCH","path":"/api/v1/nodes/a","body":"{}","content_type":"application/merge-patch+json"}"#,
        r#"{"t_us":0,"verb":"APPLY","path":"/api/v1/nodes/a","body":"{}","query":"force=true"}"#,
    );
    let (found, parser) = read(text.as_bytes(), Options::default()).unwrap();
    assert_eq!(parser.guessed_patch_types(), 1);
    assert_eq!(found[0].content_type.as_deref(), Some(crate::load::patch_type::STRATEGIC_MERGE_PATCH));
    assert_eq!(found[2].query.as_deref(), Some("force=true&fieldManager=perfq"));
}

#[test]
fn a_body_of_some_length_is_written_inline_once_then_to_the_table_and_short_ones_always_inline() {
    let mut writer = Writer::default();
    let mut out = Vec::new();
    for (i, length) in [200, 20, 200, 20, 200].into_iter().enumerate() {
        let mut request = Request::new(Verb::Update, "/api/v1/nodes/a");
        request.due_us = Some(i as u64);
        request.body = Some(Body::from(vec![b'x'; length]));
        writer.request(&request, &mut out).unwrap();
    }
    let text = String::from_utf8(out).unwrap();
    let has = |line: &str, key: &str| line.contains(&format!("\"{key}\":"));
    let forms: Vec<_> =
        text.lines().map(|line| (has(line, "body"), has(line, "sha256"), has(line, "body_ref"))).collect();
    let (inline, table, reference) = ((true, false, false), (true, true, false), (false, false, true));
    assert_eq!(forms, [inline, inline, table, reference, inline, reference]);
}

#[test]
fn what_a_trace_cannot_say_is_not_written() {
    let mut writer = Writer::default();
    let mut out = Vec::new();
    let mut request = Request::new(Verb::Watch, "/api/v1/pods");
    let mut why = |request: &Request| writer.request(request, &mut out).unwrap_err().text;
    assert_eq!(why(&request), "a request of a closed loop has no instant to write down");
    request.due_us = Some(0);
    request.watch = Some(WatchEnd::InitialBookmark);
    assert_eq!(why(&request), "a trace cannot say that a WATCH ends with its bookmark");
    request.watch = Some(WatchEnd::WithTheRun);
    request.body = Some(Body::from(&b"\xff"[..]));
    assert_eq!(why(&request), "a trace's bodies are text, and this one is not UTF-8");
    assert!(out.is_empty());
}
