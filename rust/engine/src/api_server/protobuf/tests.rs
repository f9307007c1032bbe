//! Bodies as client-go writes them.

use super::*;
use proptest::prelude::*;

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [MAGIC.to_vec(), field(1, &meta), field(2, raw), field(3, b""), field(4, b"")].concat()
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(&to_json(body).unwrap()).unwrap()
}

#[test]
fn a_config_map_keeps_its_data_and_loses_what_go_writes_for_nothing() {
    let metadata = [field(1, b"cm"), field(2, b""), field(5, b""), field(8, b"")].concat();
    let entry = [field(1, b"a"), field(2, b"b")].concat();
    let raw = [field(1, &metadata), field(2, &entry)].concat();
    assert_eq!(
        json_of(&body("v1", "ConfigMap", &raw)),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"a": "b"}})
    );
}

#[test]
fn zeros_of_pointers_ports_by_name_and_inline_messages_are_kept() {
    // spec.replicas = 0; spec.template.spec.containers[0].livenessProbe.httpGet.port = "http"
    let port = [vec![1 << 3, 1, 2 << 3, 0], field(3, b"http")].concat();
    let probe = field(1, &field(2, &field(2, &port)));
    let container = [field(1, b"c"), field(10, &probe)].concat();
    let template = field(2, &field(2, &container));
    let spec = [vec![1 << 3, 0], field(3, &template)].concat();
    let deployment = json_of(&body("apps/v1", "Deployment", &field(2, &spec)));
    assert_eq!(deployment["spec"]["replicas"], 0);
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["livenessProbe"]["httpGet"]["port"], "http");
}

#[test]
fn times_quantities_and_bytes_become_text() {
    let time = [&[1 << 3][..], &[0x80, 0xf2, 0xd6, 0xca, 0x06]].concat();
    assert_eq!(typed("Time", &time, 0).unwrap(), "2026-01-01T00:00:00Z");
    assert_eq!(typed("Time", b"", 0).unwrap(), Value::Null);
    assert_eq!(typed("Quantity", &field(1, b"64Mi"), 0).unwrap(), "64Mi");
}

#[test]
fn what_is_no_protobuf_is_a_400_and_an_unknown_kind_a_415() {
    for wrong in [&b"{}"[..], b"k8s\0\x0a\xff", b"k8s\0\x07"] {
        assert_eq!(to_json(wrong).unwrap_err().code, 400);
    }
    assert_eq!(to_json(&body("v1", "Unheard", b"")).unwrap_err().code, 415);
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(raw in prop::collection::vec(any::<u8>(), 0..120), kind in "ConfigMap|Pod|Deployment|Secret") {
        let _ = to_json(&raw);
        let _ = to_json(&body("v1", &kind, &raw));
    }
}
