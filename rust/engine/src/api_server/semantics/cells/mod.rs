//! Cells of the tables, as the real server's printers make them (kubernetes `pkg/printers/internalversion`).
//!
//! Each function takes the object and the instant of printing, and returns a JSON string or number.

mod core;
mod events;
mod workloads;

use serde_json::{Map, Value};

pub(super) use self::core::*;
pub(super) use self::events::*;
pub(super) use self::workloads::*;
use super::instant::Instant;
use super::kinds::{Cell, Column};

/// What a table shows for nothing.
const NONE: &str = "<none>";

/// The value of one column. Of a [`Cell::InRow`] column nothing is known here: null.
pub(super) fn value(column: &Column, object: &Value, now: Instant) -> Value {
    match column.cell {
        Cell::Name => text(object, "/metadata/name").into(),
        Cell::Age => now.age(object.pointer("/metadata/creationTimestamp").and_then(Value::as_str)).into(),
        Cell::Text(pointer, default) => {
            let found = text(object, pointer);
            if found.is_empty() { default } else { found }.into()
        }
        Cell::Count(pointer) => count(object, pointer).into(),
        Cell::Of(cell) => cell(object, now),
        Cell::InRow => Value::Null,
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

fn count(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn map<'a>(object: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    object.pointer(pointer).and_then(Value::as_object)
}

fn size(object: &Value, pointer: &str) -> usize {
    map(object, pointer).map_or(0, Map::len)
}

fn or_none(text: String) -> Value {
    if text.is_empty() { NONE.into() } else { text.into() }
}

/// `a=b,c=d`, sorted by key.
fn labels(object: &Value, pointer: &str) -> Value {
    let pairs = map(object, pointer).into_iter().flatten();
    let mut pairs: Vec<String> = pairs.map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or(""))).collect();
    pairs.sort();
    or_none(pairs.join(","))
}

/// At most three of a list, then how many more there are.
fn first_three(all: &[String]) -> Value {
    match all.len() {
        0 => NONE.into(),
        1..=3 => all.join(",").into(),
        n => format!("{} + {} more...", all[..3].join(","), n - 3).into(),
    }
}
