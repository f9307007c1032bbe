//! The canonical text of profiles, objects and events: one JSON object a line, fixed key order, no
//! spaces, ASCII as `CPython`'s `json.dumps` writes it, `\n` at each end. The hashes are of it.

use crate::workload::{EVENT_TYPE, Event, ObjectRef, PodState, Profile};

/// Lines are handed on in pieces of about this many bytes.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Hands the buffer on once it holds a full piece.
pub(crate) fn drain_full(buffer: &mut Vec<u8>, sink: &mut dyn FnMut(&[u8])) {
    if buffer.len() >= CHUNK {
        sink(buffer);
        buffer.clear();
    }
}

/// Appends an integer in decimal.
pub fn write_integer(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends an integer with at least `width` digits (at most 20), zeros before it.
pub fn write_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut digits = 1;
    let mut rest = value / 10;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    for _ in digits..width {
        out.push(b'0');
    }
    write_integer(out, value);
}

/// Appends a JSON string as `CPython`'s `json.dumps` writes it: ASCII, `\uXXXX` in lower-case hex,
/// surrogate pairs beyond the basic plane.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for unit in text.encode_utf16() {
        match unit {
            0x22 => out.extend_from_slice(b"\\\""),
            0x5c => out.extend_from_slice(b"\\\\"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0d => out.extend_from_slice(b"\\r"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x20..=0x7e => out.push(unit.to_le_bytes()[0]),
            _ => {
                out.extend_from_slice(b"\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(HEX[usize::from(unit >> shift & 15)]);
                }
            }
        }
    }
    out.push(b'"');
}

fn field(out: &mut Vec<u8>, key: &str, value: u64) {
    out.extend_from_slice(key.as_bytes());
    write_integer(out, value);
}

/// Appends the profile's line.
pub fn write_profile(out: &mut Vec<u8>, profile: &Profile) {
    field(out, "{\"schema_version\":", profile.schema_version.into());
    out.extend_from_slice(b",\"id\":");
    write_string(out, &profile.id);
    field(out, ",\"seed\":", profile.seed);
    field(out, ",\"object_count\":", profile.object_count.into());
    field(out, ",\"namespace_count\":", profile.namespace_count.into());
    field(out, ",\"steady_events_per_second\":", profile.steady_events_per_second.into());
    field(out, ",\"duration_seconds\":", profile.duration_seconds.into());
    out.extend_from_slice(b",\"bursts\":[");
    for (i, burst) in profile.bursts.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        field(out, "{\"start_second\":", burst.start_second.into());
        field(out, ",\"duration_seconds\":", burst.duration_seconds.into());
        field(out, ",\"events_per_second\":", burst.events_per_second.into());
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"failures\":[");
    for (i, failure) in profile.failures.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"kind\":");
        write_string(out, failure.kind.name());
        field(out, ",\"at_event\":", failure.at_event);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}\n");
}

/// Appends `"namespace":…` to `"node":…` and the closing of the line.
fn write_tail(out: &mut Vec<u8>, object: ObjectRef, state: PodState) {
    out.extend_from_slice(b"\"namespace\":\"bench-");
    write_padded(out, object.namespace.into(), 4);
    out.extend_from_slice(b"\",\"name\":\"pod-");
    write_padded(out, object.index.into(), 6);
    out.extend_from_slice(b"\",\"phase\":\"");
    out.extend_from_slice(state.phase().as_bytes());
    out.extend_from_slice(b"\",\"ready\":\"");
    out.extend_from_slice(state.ready().as_bytes());
    field(out, "\",\"restarts\":", state.restarts);
    out.extend_from_slice(b",\"node\":\"node-");
    write_padded(out, u64::from(object.index % 5), 2);
    out.extend_from_slice(b"\"}\n");
}

/// Appends an object's line.
pub fn write_object(out: &mut Vec<u8>, object: ObjectRef, state: PodState) {
    out.push(b'{');
    write_tail(out, object, state);
}

/// Appends an event's line.
pub fn write_event(out: &mut Vec<u8>, event: &Event) {
    field(out, "{\"seq\":", event.seq);
    field(out, ",\"at_ns\":", event.at_ns);
    out.extend_from_slice(b",\"type\":\"");
    out.extend_from_slice(EVENT_TYPE.as_bytes());
    out.extend_from_slice(b"\",");
    write_tail(out, event.object, event.state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strings_are_ascii_with_surrogate_pairs_in_lower_case() {
        let mut out = Vec::new();
        write_string(&mut out, "a\"\\\n\u{7f}é😀");
        assert_eq!(out, br#""a\"\\\n\u007f\u00e9\ud83d\ude00""#);
    }

    proptest! {
        #[test]
        fn any_string_reads_back_as_itself_and_is_ascii(text in any::<String>()) {
            let mut out = Vec::new();
            write_string(&mut out, &text);
            prop_assert!(out.is_ascii());
            let back: String = serde_json::from_slice(&out).unwrap();
            prop_assert_eq!(back, text);
        }

        #[test]
        fn integers_are_written_as_rust_writes_them(value in any::<u64>(), width in 0usize..=20) {
            let mut out = Vec::new();
            write_integer(&mut out, value);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), value.to_string());
            out.clear();
            write_padded(&mut out, value, width);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), format!("{value:0width$}"));
        }
    }
}
