//! Whatever a trace's line holds, rewriting it gives a request that a trace may hold, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_core::load::rewrite::{RewriteOptions, Rewriter};
use perfq_core::load::trace::{MemoryBodies, Options, Parser, Writer};
use serde_json::Map;
use std::sync::LazyLock;

static REWRITER: LazyLock<Rewriter> = LazyLock::new(|| {
    let options: RewriteOptions = serde_json::from_str(
        r#"{"speed": 3, "until_us": 1000000, "skip": ["events"], "namespaces": {"a": "b", "*": "c"},
            "name_prefixes": {"": "x-", "a": ""}, "pages": "previous"}"#,
    )
    .unwrap();
    Rewriter::new(&options).unwrap()
});

fuzz_target!(|line: &[u8]| {
    let mut parser = Parser::new(MemoryBodies::default(), Options { allow_unknown: true, digest: false });
    parser.line(b"{\"schema\":\"perfq.trace/v1\"}").unwrap();
    let Ok(Some(request)) = parser.line(line) else { return };
    let Ok(Some(rewritten)) = REWRITER.clone().rewrite(request) else { return };
    let (mut writer, mut out) = (Writer::default(), Vec::new());
    writer.request(&rewritten, &mut out).unwrap();
    let mut again = Parser::new(MemoryBodies::default(), Options::default());
    again.line(writer.header(Map::new(), Vec::new()).line().strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(again.line(out.strip_suffix(b"\n").unwrap()), Ok(Some(rewritten)));
});
