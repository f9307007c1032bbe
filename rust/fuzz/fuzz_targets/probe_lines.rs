//! Lines of a probe: however the bytes are cut, the same lines come out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::probe::lines::{Line, LineCutter};

fn cut<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<Result<Vec<u8>, usize>> {
    let mut cutter = LineCutter::default();
    let mut found = Vec::new();
    let mut take = |line: Line<'_>| {
        found.push(match line {
            Line::Whole(bytes) => Ok(bytes.to_vec()),
            Line::TooLong(length) => Err(length),
        });
    };
    for chunk in chunks {
        cutter.push(chunk, &mut take);
    }
    cutter.finish(&mut take);
    found
}

fuzz_target!(|input: (u16, &[u8])| {
    let (size, bytes) = input;
    assert_eq!(cut(bytes.chunks(usize::from(size).max(1))), cut(std::iter::once(bytes)));
});
