//! Logs as files become a trace as a file.

use super::*;
use crate::load::readers::TraceRequests;
use flate2::Compression;
use flate2::write::GzEncoder;
use perfq_core::load::trace;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use std::io::Write;
use tempfile::TempDir;

/// An event of a read, received and ended so many milliseconds after ten o'clock.
fn event(id: u32, received: u32, ended: u32) -> Value {
    let time = |at: u32| format!("2024-05-01T10:{:02}:{:02}.{:03}000Z", at / 60_000, at / 1_000 % 60, at % 1_000);
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "auditID": id.to_string(),
        "stage": "ResponseComplete", "requestURI": format!("/api/v1/nodes/n-{id}"), "verb": "get",
        "responseStatus": {"code": 200}, "requestReceivedTimestamp": time(received), "stageTimestamp": time(ended),
    })
}

fn lines(events: &[Value]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("{event}\n").into_bytes()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

struct Case {
    folder: TempDir,
    files: Vec<PathBuf>,
    options: Options,
}

impl Case {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = files.iter().map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        });
        Self { files: files.collect(), folder, options: Options::default() }
    }

    fn import(&self) -> Result<Imported, ImportError> {
        let out = self.folder.path().join("out.trace");
        let _ = std::fs::remove_file(&out);
        let imported = import(&self.files, &out, &self.options, &Arc::default());
        if let Ok(imported) = &imported {
            let of = |kinds: &[&str]| -> u64 {
                imported.losses.iter().filter(|loss| kinds.contains(&loss.of)).map(|loss| loss.count).sum()
            };
            assert_eq!(imported.events, imported.requests + imported.stages + of(&["event", "request"]));
        } else {
            assert!(!out.exists());
        }
        imported
    }

    fn trace(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("out.trace")).unwrap()
    }

    fn requests(&self) -> Vec<Request> {
        let path = self.folder.path().join("out.trace");
        let options = trace::Options { digest: true, ..trace::Options::default() };
        TraceRequests::open(&path, options).unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn why(&self) -> String {
        self.import().unwrap_err().to_string()
    }
}

fn losses(imported: &Imported) -> Vec<(&'static str, u64, &str)> {
    imported.losses.iter().map(|loss| (loss.why, loss.count, &*loss.first)).collect()
}

#[test]
fn rotated_files_of_any_packing_are_one_log_whatever_their_order() {
    let events: Vec<Value> = (0..30).map(|i| event(i, 100 * (i * 7 % 30), 5_000)).collect();
    let files = [
        ("audit-1.log.gz", gzip(&lines(&events[..10]))),
        ("audit-2.log", compress_to_vec(&lines(&events[10..20])[..], CompressionLevel::Fastest)),
        ("audit.log", lines(&events[20..])),
    ];
    let mut case = Case::new(&files);
    let imported = case.import().unwrap();
    assert_eq!((imported.requests, imported.events, imported.lines), (30, 30, 30));
    assert_eq!(imported.losses, []);
    assert_eq!(imported.window.as_ref().unwrap().since, "2024-05-01T10:00:00.000000Z");
    let due: Vec<u64> = case.requests().iter().map(|request| request.due_us.unwrap()).collect();
    assert_eq!(due, (0..30).map(|i| i * 100_000).collect::<Vec<u64>>());
    let first = case.trace();
    for _ in 0..2 {
        case.files.rotate_left(1);
        assert_eq!(case.import().unwrap(), imported);
        assert_eq!(case.trace(), first);
    }
}

#[test]
fn a_line_that_a_rotation_cut_is_one_event() {
    let all = lines(&[event(1, 0, 1), event(2, 2, 3), event(3, 4, 5)]);
    for cut in [200, 265, 300, 500] {
        let case = Case::new(&[("a.log", all[..cut].to_vec()), ("b.log", all[cut..].to_vec())]);
        let imported = case.import().unwrap();
        assert_eq!((imported.requests, losses(&imported)), (3, vec![]), "{cut}");
    }
    let case = Case::new(&[("a.log", all[..500].to_vec()), ("c.log", all[300..].to_vec())]);
    let imported = case.import().unwrap();
    assert_eq!(losses(&imported), [("cut_line", 2, "a.log:2")]);
}

#[test]
fn a_packed_file_that_is_cut_off_is_used_as_far_as_it_goes() {
    let events: Vec<Value> = (0..5_000).map(|i: u32| event(i.wrapping_mul(2_654_435_761), i, i + 1)).collect();
    let packed = gzip(&lines(&events));
    let case = Case::new(&[("a.gz", packed[..packed.len() / 2].to_vec())]);
    let imported = case.import().unwrap();
    assert!((1_000..5_000).contains(&imported.requests), "{}", imported.requests);
    assert_eq!(losses(&imported), [("cut_file", 1, &*format!("a.gz:{}", imported.lines))]);
}

#[test]
fn a_log_without_a_request_is_an_error_that_says_what_was_there() {
    let binary: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let other = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1beta1", "auditID": "a"});
    let mut untimed = event(1, 1, 1);
    untimed["requestReceivedTimestamp"] = Value::Null;
    for (bytes, expected) in [
        (Vec::new(), "no request to replay in a.log: 0 lines, 0 audit events of audit.k8s.io/v1; they are empty"),
        (b"\n\n".to_vec(), "no request to replay in a.log: 2 lines, 0 audit events of audit.k8s.io/v1; they are empty"),
        (binary, "lines that are no JSON object, such as the server's own log (the first at a.log:1)"),
        (lines(&[other]), "1 events of another version than audit.k8s.io/v1 (the first at a.log:1)"),
        (lines(&[untimed]), "1 events without a timestamp that can be read (the first at a.log:1)"),
        (
            b"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"".to_vec(),
            "1 lines that begin or end in the middle of an event",
        ),
    ] {
        let why = Case::new(&[("a.log", bytes)]).why();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let mut long = event(2, 2, 3);
    long["responseObject"] = json!({"items": "x".repeat(64 * 1024 * 1024)});
    let case = Case::new(&[("a.log", lines(&[event(1, 0, 1), long, event(3, 4, 5)]))]);
    let imported = case.import().unwrap();
    assert_eq!((imported.requests, losses(&imported)), (2, vec![("long_line", 1, "a.log:2")]));
}

#[test]
fn a_container_s_log_with_the_server_s_own_lines_is_read() {
    let text = String::from_utf8(lines(&[event(1, 0, 1), event(2, 2, 3)])).unwrap();
    let time = "2024-05-01T10:00:00.123456789Z";
    let mut framed = format!("{time} stderr F I0501 10:00:00.1 1 main.go:1] started\n");
    for line in text.lines() {
        let (first, second) = line.split_at(100);
        let pieces = [format!("stdout P {first}"), "stderr F I0501 again".to_owned(), format!("stdout F {second}")];
        framed.extend(pieces.map(|piece| format!("{time} {piece}\n")));
    }
    let cut = framed.len() - 60;
    let case = Case::new(&[("0.log", framed.as_bytes()[..cut].to_vec()), ("1.log", framed.as_bytes()[cut..].to_vec())]);
    let imported = case.import().unwrap();
    assert_eq!((imported.requests, imported.lines), (2, 8));
    let case = Case::new(&[("0.log", framed.into_bytes())]);
    let imported = case.import().unwrap();
    assert_eq!((imported.requests, losses(&imported)), (2, vec![("other_line", 3, "0.log:1")]));
}

#[test]
fn both_streams_of_a_container_may_end_in_the_middle() {
    let time = "2024-05-01T10:00:00.123456789Z";
    let [first, second] = [1, 2].map(|id| event(id, id, id).to_string());
    let (whole, cut) = (event(3, 3, 3).to_string(), 100);
    let one =
        format!("{time} stdout F {whole}\n{time} stdout P {}\n{time} stderr P {}\n", &first[..cut], &second[..cut]);
    let case = Case::new(&[("0.log", one.clone().into_bytes())]);
    assert_eq!(losses(&case.import().unwrap()), [("cut_line", 2, "0.log:3")]);
    let case = Case::new(&[("0.log", one.into_bytes()), ("1.log", format!("{}\n", &first[cut..]).into_bytes())]);
    let imported = case.import().unwrap();
    assert_eq!((imported.requests, losses(&imported)), (2, vec![("cut_line", 1, "0.log:3")]));
}

#[test]
fn the_window_and_the_file_s_name_are_checked() {
    let with = |from: &str, until: &str| {
        let mut case =
            Case::new(&[("a.log", lines(&[event(1, 0, 1), event(2, 2_000, 2_001), event(3, 4_000, 5_000)]))]);
        case.options.since = (!from.is_empty()).then(|| from.to_owned());
        case.options.until = (!until.is_empty()).then(|| until.to_owned());
        case
    };
    let case = with("2024-05-01T10:00:01Z", "2024-05-01T12:00:03+02:00");
    let imported = case.import().unwrap();
    assert_eq!(losses(&imported), [("outside_window", 2, "a.log:1")]);
    assert_eq!(case.requests()[0].due_us, Some(1_000_000));
    assert_eq!(imported.window.unwrap().duration_us, 2_000_000);
    assert!(with("yesterday", "").why().starts_with("since is \"yesterday\": an instant such as "));
    assert_eq!(
        with("2024-05-01T10:00:01Z", "2024-05-01T10:00:01Z").why(),
        "until is not after since: the window would be empty"
    );
    let case = with("", "");
    std::fs::write(case.folder.path().join("there"), b"mine").unwrap();
    let error = import(&case.files, &case.folder.path().join("there"), &case.options, &Arc::default());
    assert!(error.unwrap_err().to_string().ends_with("there: the file exists already; remove it or name another"));
}

#[test]
fn an_import_that_is_stopped_leaves_nothing() {
    let case = Case::new(&[("a.log", lines(&[event(1, 0, 1)]))]);
    let control = Arc::new(Control { stop: AtomicBool::new(true), ..Control::default() });
    let stopped = import(&case.files, &case.folder.path().join("out"), &case.options, &control);
    assert!(matches!(stopped, Err(ImportError::Interrupted)));
    assert_eq!(std::fs::read_dir(case.folder.path()).unwrap().count(), 1);
}

#[test]
fn the_header_says_where_it_comes_from_and_what_was_lost() {
    let mut refused = event(2, 2, 3);
    refused["requestURI"] = "/api/v1/namespaces/a/pods/b/exec".into();
    let case = Case::new(&[("a.log", lines(&[event(1, 0, 1), refused]))]);
    case.import().unwrap();
    let header: Value = serde_json::from_slice(case.trace().split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(
        header["losses"],
        json!([{"loss": "exec", "count": 1, "text": "exec", "of": "request", "first": "a.log:2"}])
    );
    let source = &header["source"];
    assert_eq!(
        (&source["kind"], &source["events"], &source["names"]),
        (&json!("audit.k8s.io/v1"), &json!(2), &json!("kept"))
    );
    assert_eq!(source["files"][0]["name"], "a.log");
    assert_eq!(source["files"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(!header.to_string().contains(case.folder.path().to_str().unwrap()), "no path of this machine");
}

#[test]
fn hashed_names_are_the_same_for_the_same_log_and_others_for_another() {
    let path = |extra: &[Value]| {
        let mut case = Case::new(&[("a.log", lines(&[vec![event(1, 0, 1)], extra.to_vec()].concat()))]);
        case.options.hash_names = true;
        case.import().unwrap();
        case.requests()[0].path.to_string()
    };
    assert_eq!(path(&[]), path(&[]));
    assert_ne!(path(&[]), path(&[event(2, 2, 3)]));
    assert!(!path(&[]).contains("n-1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_order_of_files_and_the_memory_for_sorting_mean_nothing(
        picks in prop::collection::vec((0_u32..6, 0_u32..3_000, 0_u32..2_000, 0_usize..4, 0_usize..4), 1..50),
        memory in 1_usize..20_000, rotate in 0_usize..4,
    ) {
        let stages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];
        let mut files = vec![Vec::new(); 4];
        for (id, received, took, stage, file) in &picks {
            let mut event = event(*id, *received, received + took);
            event["stage"] = stages[*stage].into();
            if *id > 3 {
                event["verb"] = "watch".into();
                event["requestURI"] = "/api/v1/pods?watch=true".into();
            }
            files[*file].push(event);
        }
        files[0].push(event(99, 1, 2));
        let named: Vec<(String, Vec<u8>)> = files.iter().enumerate().map(|(at, all)| (format!("{at}.log"), lines(all))).collect();
        let named: Vec<(&str, Vec<u8>)> = named.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
        let mut case = Case::new(&named);
        let imported = case.import().unwrap();
        let first = case.trace();
        case.files.rotate_left(rotate);
        case.options.memory_bytes = memory;
        prop_assert_eq!(case.import().unwrap(), imported);
        prop_assert_eq!(case.trace(), first);
    }
}
