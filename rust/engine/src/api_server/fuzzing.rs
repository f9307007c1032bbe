//! The server's private parsers, for rust/fuzz alone (`cfg(fuzzing)`).

use super::page_token::PageToken;
use super::protobuf;
use super::request::{Query, Target};

/// A body in Kubernetes' protobuf: the JSON of its object, or the Status that refuses it.
pub fn protobuf_body(kind: &str, raw: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    let part = |tag: u8, bytes: &[u8]| {
        let mut out = vec![tag];
        let mut left = bytes.len();
        while left >= 0x80 {
            out.push(u8::try_from(left & 0x7f).unwrap_or(0) | 0x80);
            left >>= 7;
        }
        out.push(u8::try_from(left).unwrap_or(0));
        out.extend_from_slice(bytes);
        out
    };
    let meta = part(0x12, kind.as_bytes());
    let body = [b"k8s\0".to_vec(), part(0x0a, &meta), part(0x12, raw)].concat();
    protobuf::to_json(&body).map_err(|status| status.to_json())
}

/// The same, with an envelope of any bytes.
pub fn protobuf_envelope(bytes: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    protobuf::to_json(bytes).map_err(|status| status.to_json())
}

/// A path and a query, taken apart and read.
pub fn request_line(path: &str, query: &str, key: &str) {
    if let Some(target) = Target::parse(path) {
        assert!(target.template().starts_with("/api"), "a template is a path of the API");
    }
    let query = Query::parse(query);
    assert_eq!(query.get(key).is_some_and(str::is_empty), false, "an empty value counts as none");
    query.flag(key);
    let _ = query.integer(key);
}

/// A continue token: what is read as one is written as one again.
pub fn page_token(text: &str) {
    if let Some(token) = PageToken::decode(text) {
        assert_eq!(PageToken::decode(&token.encode()), Some(token));
    }
}
