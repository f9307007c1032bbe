//! A line of the log, as the JSON that it is: `audit.k8s.io/v1` events, alone, several or in an `EventList`.
//!
//! Source: k8s.io/apiserver/pkg/apis/audit/v1, and its log backend, which writes one event a line.

use super::loss::Why;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The version that is read.
pub(super) const VERSION: &str = "audit.k8s.io/v1";
/// What the log backend begins each line with.
const BEGINS: [&[u8]; 2] =
    [br#"{"kind":"Event","apiVersion":"audit.k8s.io/"#, br#"{"kind":"EventList","apiVersion":"audit.k8s.io/"#];

/// The fields that are read; objects stay the text that they are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawEvent<'a> {
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
    pub(super) level: Option<String>,
    #[serde(rename = "auditID")]
    pub(super) audit_id: Option<String>,
    pub(super) stage: Option<String>,
    #[serde(rename = "requestURI")]
    pub(super) request_uri: Option<String>,
    pub(super) verb: Option<String>,
    pub(super) user: Option<RawUser>,
    pub(super) impersonated_user: Option<RawUser>,
    #[serde(rename = "sourceIPs")]
    pub(super) source_ips: Option<Vec<String>>,
    pub(super) user_agent: Option<String>,
    #[serde(default)]
    pub(super) object_ref: Option<RawReference>,
    pub(super) response_status: Option<RawStatus>,
    #[serde(borrow)]
    pub(super) request_object: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response_object: Option<&'a RawValue>,
    pub(super) request_received_timestamp: Option<String>,
    pub(super) stage_timestamp: Option<String>,
    pub(super) annotations: Option<RawAnnotations>,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawUser {
    pub(super) username: Option<String>,
    pub(super) uid: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawReference {
    pub(super) resource: Option<String>,
    pub(super) subresource: Option<String>,
    pub(super) api_group: Option<String>,
    pub(super) name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawStatus {
    pub(super) code: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawAnnotations {
    /// Set by the truncating backend, which takes both objects out of an event that is too large.
    #[serde(rename = "audit.k8s.io/truncated")]
    pub(super) truncated: Option<String>,
}

/// Reads a line of the log: each event goes to `found`, and so does each reason why something is none.
pub(super) fn read_line<'a>(line: &'a [u8], found: &mut impl FnMut(Result<RawEvent<'a>, Why>)) {
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        if !rest.starts_with(b"{") {
            rest = fault(rest, 0, Why::OtherLine, found);
            continue;
        }
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<RawEvent<'a>>();
        match values.next() {
            Some(Ok(event)) => {
                rest = rest[values.byte_offset()..].trim_ascii_start();
                one_or_list(event, found);
            }
            Some(Err(error)) => {
                let why = if error.is_eof() { Why::CutLine } else { Why::DamagedLine };
                rest = fault(rest, 1, why, found);
            }
            None => return,
        }
    }
}

/// Counts what is no event, and goes on where the next one begins: after a crash the server's next line
/// stands on the line that it did not end.
fn fault<'a>(rest: &'a [u8], from: usize, why: Why, found: &mut impl FnMut(Result<RawEvent<'a>, Why>)) -> &'a [u8] {
    let next = BEGINS.iter().filter_map(|begins| memmem::find(&rest[from..], begins)).min();
    // The end of an event, whose beginning is elsewhere or nowhere.
    let tail = rest.ends_with(b"}") && memmem::find(rest, b"\"stageTimestamp\":").is_some();
    let cut = next.is_some() || (why == Why::OtherLine && tail);
    found(Err(if cut { Why::CutLine } else { why }));
    next.map_or(&[], |next| &rest[from + next..])
}

fn one_or_list<'a>(event: RawEvent<'a>, found: &mut impl FnMut(Result<RawEvent<'a>, Why>)) {
    let version = event.api_version.as_deref().unwrap_or("");
    match event.kind.as_deref() {
        Some("Event") if version == VERSION => found(Ok(event)),
        Some("EventList") if version == VERSION => {
            for item in event.items.unwrap_or_default() {
                // Items have neither kind nor version of their own.
                match serde_json::from_str::<RawEvent<'a>>(item.get()) {
                    Ok(item) if item.kind.as_deref().is_none_or(|kind| kind == "Event") => {
                        let version = item.api_version.as_deref().unwrap_or(VERSION);
                        found(if version == VERSION { Ok(item) } else { Err(Why::OtherVersion) });
                    }
                    Ok(_) => found(Err(Why::OtherKind)),
                    Err(_) => found(Err(Why::DamagedLine)),
                }
            }
        }
        Some("Event") if event.audit_id.is_some() || version.starts_with("audit.k8s.io/") => {
            found(Err(Why::OtherVersion));
        }
        Some("EventList") if version.starts_with("audit.k8s.io/") => {
            for _ in event.items.unwrap_or_default() {
                found(Err(Why::OtherVersion));
            }
        }
        None if event.audit_id.is_some() => found(Err(Why::OtherVersion)),
        _ => found(Err(Why::OtherKind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","stage":"ResponseComplete","stageTimestamp":"t"}"#;

    fn read(line: &str) -> Vec<Result<String, Why>> {
        let mut all = Vec::new();
        read_line(line.as_bytes(), &mut |found| all.push(found.map(|event| event.audit_id.unwrap_or_default())));
        all
    }

    #[allow(clippy::unnecessary_wraps)] // what is compared is one
    fn one() -> Result<String, Why> {
        Ok("a".to_owned())
    }

    #[test]
    fn a_line_is_an_event_or_several() {
        assert_eq!(read(EVENT), [one()]);
        assert_eq!(read(&format!(" {EVENT} {EVENT}\r")), [one(), one()]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn an_event_list_is_its_items() {
        let list = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[{"auditID":"a"},
            {"kind":"Event","apiVersion":"audit.k8s.io/v1beta1","auditID":"b"},{"kind":"Pod"},{"stage":7}]}"#;
        let faults = [Why::OtherVersion, Why::OtherKind, Why::DamagedLine].map(Err);
        assert_eq!(read(list), [vec![one()], faults.to_vec()].concat());
        assert_eq!(read(r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1"}"#), []);
        assert_eq!(
            read(r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1","items":[{}]}"#),
            [Err(Why::OtherVersion)]
        );
    }

    #[test]
    fn other_versions_and_kinds_are_told_apart() {
        for (line, why) in [
            (EVENT.replace("io/v1", "io/v1beta1"), Why::OtherVersion),
            (EVENT.replace(r#""apiVersion":"audit.k8s.io/v1","#, ""), Why::OtherVersion),
            (r#"{"kind":"Event","apiVersion":"v1","metadata":{}}"#.to_owned(), Why::OtherKind),
            (r#"{"ts":1714550400,"msg":"started"}"#.to_owned(), Why::OtherKind),
            ("I0501 10:00:00.1 1 main.go:1] started".to_owned(), Why::OtherLine),
            ("[1,2]".to_owned(), Why::OtherLine),
            (EVENT.replace(r#""auditID":"a""#, r#""auditID":7"#), Why::DamagedLine),
            (EVENT.replace(',', ";"), Why::DamagedLine),
            (EVENT[..EVENT.len() - 9].to_owned(), Why::CutLine),
            (EVENT[9..].to_owned(), Why::CutLine),
        ] {
            assert_eq!(read(&line), [Err(why)], "{line}");
        }
    }

    #[test]
    fn an_event_on_the_line_that_a_crash_cut_is_found() {
        for cut in [1, 10, 40, 90, EVENT.len() - 1] {
            assert_eq!(read(&format!("{}{EVENT}", &EVENT[..cut])), [Err(Why::CutLine), one()], "{cut}");
        }
        assert_eq!(read(&format!("{}\0\0\0{EVENT}", &EVENT[..50])), [Err(Why::CutLine), one()]);
    }

    #[test]
    fn an_object_of_the_core_group_inside_a_cut_line_is_no_audit_event() {
        let line = format!(r#"{},"requestObject":{{"kind":"Event","apiVersion":"v1"}}"#, &EVENT[..EVENT.len() - 1]);
        assert_eq!(read(&line), [Err(Why::CutLine)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_events_or_faults(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            read_line(&bytes, &mut |_| {});
        }

        #[test]
        fn a_cut_event_is_one_fault(cut in 2..EVENT.len()) {
            prop_assert_eq!(read(&EVENT[..cut]), [Err(Why::CutLine)]);
        }
    }
}
