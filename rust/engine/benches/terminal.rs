//! What a chunk costs: stamped, parsed, looked at. `cargo bench -p perfq-engine --bench terminal`
//! prints one JSON line a case: `{"bench", "chunks", "bytes_per_chunk", "p50_ns", "p99_ns"}`.
//!
//! 160×50, as the default terminal; a table of 46 rows. Cases: `row` (one row drawn anew, nobody waits),
//! `row_expected` (the same while a cell, a cursor and a pattern are waited for), `redraw` (the whole
//! table, waited for), `burst` (10 rows in a synchronized update, waited for).

use perfq_engine::clock::now_ns;
use perfq_engine::terminal::screen::Size;
use perfq_engine::terminal::view::{View, ViewOptions};
use perfq_engine::terminal::{Expect, State};
use std::fmt::Write;
use std::sync::Arc;

const SIZE: Size = Size { cols: 160, rows: 50 };
const ROWS: usize = 46;
const CHUNKS: usize = 5000;

fn line(n: usize, restarts: usize) -> String {
    let selected = if n == 5 { "\x1b[7m" } else { "" };
    format!(
        "\x1b[{};1H\x1b[0m{selected}\x1b[38;2;200;210;220mbench-{:04}   pod-{n:06}   1/1   \x1b[32mRunning\x1b[0m{selected}   {restarts:<9} node-{:02}   12m\x1b[K",
        n + 3,
        n % 20,
        n % 5
    )
}

fn table(restarts: usize) -> String {
    let mut text =
        String::from("\x1b[H\x1b[2J\x1b[2;1HNAMESPACE    NAME         READY STATUS    RESTARTS  NODE      AGE");
    (0..ROWS).for_each(|n| text.push_str(&line(n, restarts)));
    text
}

fn state(waited_for: bool) -> State {
    let mut state = State::new(SIZE, None);
    state.feed(1, table(0).as_bytes(), |_| {});
    if waited_for {
        let options: ViewOptions = serde_json::from_value(serde_json::json!({
            "name": "NAME", "namespace": "NAMESPACE", "required": ["RESTARTS"], "cursor": "reverse"
        }))
        .expect("the view is sound");
        let view = Arc::new(View::new(options).expect("the view compiles"));
        let key = ("bench-0003".to_owned(), "pod-000003".to_owned());
        state.expect(1, Expect { key, column: "RESTARTS".into(), text: "1000001".into(), view });
        state.wait_for(regex::Regex::new("never on the screen").expect("a pattern"));
    }
    state
}

fn run(name: &str, waited_for: bool, chunk: impl Fn(usize) -> String) {
    let mut state = state(waited_for);
    let mut costs: Vec<u64> = Vec::with_capacity(CHUNKS);
    let mut bytes = 0;
    for n in 0..CHUNKS {
        let text = chunk(n);
        bytes += text.len();
        let t = now_ns();
        state.feed(t, text.as_bytes(), |_| {});
        state.end_frame(t);
        costs.push(now_ns() - t);
    }
    costs.sort_unstable();
    let mut out = String::new();
    let _ = write!(
        out,
        "{{\"bench\":\"terminal/{name}\",\"chunks\":{CHUNKS},\"bytes_per_chunk\":{},\"p50_ns\":{},\"p99_ns\":{}}}",
        bytes / CHUNKS,
        costs[CHUNKS / 2 - 1],
        costs[CHUNKS * 99 / 100 - 1]
    );
    println!("{out}");
}

fn main() {
    run("row", false, |n| line(n % ROWS, n));
    run("row_expected", true, |n| line(n % ROWS, n));
    run("burst", true, |n| {
        let rows: String = (0..10).map(|k| line((n + k) % ROWS, n)).collect();
        format!("\x1b[?2026h{rows}\x1b[?2026l")
    });
    run("redraw", true, table);
}
