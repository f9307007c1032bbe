//! How tables, their cells and their cursor are read, and when a key or a cell counts as seen.

use super::awaited::{Expect, Milestone};
use super::press::{Direction, Outcome, Press};
use super::screen::Size;
use super::state::State;
use super::view::{CursorStyle, Key, Row, View, ViewOptions};
use std::sync::Arc;

const SIZE: Size = Size { cols: 90, rows: 10 };
const HEADER: &str = "NAMESPACE    NAME         READY   STATUS    RESTARTS   NODE      AGE";

fn options() -> ViewOptions {
    ViewOptions {
        name: "NAME".into(),
        namespace: Some("NAMESPACE".into()),
        required: vec!["RESTARTS".into()],
        row: None,
        not_cursor: None,
        cursor: CursorStyle::Auto,
        marker: None,
        append: false,
    }
}

fn view(options: ViewOptions) -> Arc<View> {
    Arc::new(View::new(options).unwrap())
}

fn row(n: u32, restarts: &str) -> String {
    format!("bench-{:04}   pod-{n:06}   1/1     Running   {restarts:<8}   node-00   5m", n % 3)
}

fn key(n: u32) -> Key {
    (format!("bench-{:04}", n % 3), format!("pod-{n:06}"))
}

fn draw(state: &mut State, t: u64, text: &str) {
    state.feed(t, text.as_bytes(), |_| {});
    state.end_frame(t);
}

fn at(line: usize, text: &str) -> String {
    format!("\x1b[{};1H\x1b[2K{text}", line + 1)
}

fn table(rows: &[u32], cursor: usize) -> String {
    let mut text = at(0, HEADER);
    for (index, n) in rows.iter().enumerate() {
        let line = row(*n, "0");
        text += &at(index + 1, &if index == cursor { format!("\x1b[7m{line}\x1b[0m") } else { line });
    }
    text
}

fn rows_of(state: &mut State, view: &View) -> Vec<Row> {
    state.screen.absorb_damage();
    state.screen.lines();
    view.rows(&state.screen)
}

fn shown(text: &str, options: ViewOptions) -> Vec<Row> {
    let mut state = State::new(SIZE, None);
    draw(&mut state, 1, text);
    rows_of(&mut state, &view(options))
}

#[test]
fn cells_are_read_under_their_titles_whatever_their_alignment() {
    let text = "\
NAMESPACE↑  NAME         READY  STATUS    RESTARTS           AGE  NOMINATED NODE\r\n\
bench-0001  pod-000001   1/1    Running         12        3m7s    <none>\r\n\
bench-0002  pod-000002   0/1    Pending    1000003 (10s ago)  5m  node-01\r\n\
            pod-000003   0/1    Pending         1           5m\r\n\
Not Found   No Resources\r\n";
    let rows = shown(text, options());
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0].key, key(1));
    assert_eq!((rows[0].cells["RESTARTS"].as_str(), rows[0].cells["AGE"].as_str()), ("12", "3m7s"));
    assert_eq!(rows[1].cells["RESTARTS"], "1000003 (10s ago)");
}

#[test]
fn borders_are_no_text_and_end_the_table() {
    let text = "\
╭───────────────────────── Pods(all)[2] ──────────────────────────────╮\r\n\
│ NAMESPACE   NAME         STATUS    RESTARTS │ NAME     STATUS  AGE   │\r\n\
│ bench-0001  pod-000001   Running   4        │ node-00  Ready   5m    │\r\n\
│ bench-0002  pod-000002   Running   7        ▉ node-01  Ready   5m    │\r\n\
╰──────────────────────────────────────────────────────────────────────╯\r\n\
 bench-0000   pod-000009   Running   1\r\n";
    let rows = shown(text, options());
    let read: Vec<_> = rows.iter().map(|row| (row.key.clone(), row.cells["RESTARTS"].clone())).collect();
    assert_eq!(read, [(key(1), "4".into()), (key(2), "7".into())]);
    assert_eq!(rows[0].cells["STATUS"], "Running");
    assert!(!rows[0].cells.contains_key("AGE"), "that of the table beside it");
}

#[test]
fn without_a_header_there_are_no_rows_but_where_lines_are_appended() {
    let scrolled: String = (0..20).map(|n| row(n, "3") + "\r\n").collect();
    let text = format!("{HEADER}\r\n{scrolled}");
    assert!(shown(&text, options()).is_empty());
    let append = view(ViewOptions { append: true, ..options() });
    let mut state = State::new(SIZE, None);
    draw(&mut state, 1, &format!("{HEADER}\r\n{}\r\n", row(0, "3")));
    assert_eq!(rows_of(&mut state, &append).len(), 1);
    draw(&mut state, 2, &scrolled);
    let rows = rows_of(&mut state, &append);
    assert_eq!(rows.len(), 9);
    assert_eq!((rows[8].key.clone(), rows[8].cells["RESTARTS"].as_str()), (key(19), "3"));
}

#[test]
fn cells_right_of_a_disputed_character_are_not_read() {
    let text = format!("{HEADER}\r\nbench-0001   pod-000001   \u{2764}\u{fe0f}      Running   7          node-00   5m");
    let rows = shown(&text, options());
    assert_eq!(rows[0].cells.keys().collect::<Vec<_>>(), ["NAME", "NAMESPACE"]);
}

#[test]
fn a_row_pattern_tells_objects_where_columns_do_not() {
    let row = Some(r"(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9-]+)".into());
    let text = "OBJECT                NAME  RESTARTS\r\nbench-0001/pod-000001  x    5\r\n";
    let rows = shown(text, ViewOptions { row, namespace: None, ..options() });
    assert_eq!((rows[0].key.clone(), rows[0].cells["RESTARTS"].as_str()), (key(1), "5"));
}

#[test]
fn the_cursor_is_the_only_row_that_looks_like_one() {
    let cursor = |text: &str, style, marker: Option<&str>| {
        let options = ViewOptions { cursor: style, marker: marker.map(Into::into), ..options() };
        shown(text, options).into_iter().find(|row| row.cursor).map(|row| row.row)
    };
    let reversed = table(&[1, 2, 3], 1);
    assert_eq!(cursor(&reversed, CursorStyle::Reverse, None), Some(2));
    assert_eq!(cursor(&reversed, CursorStyle::Auto, None), Some(2));
    assert_eq!(cursor(&reversed, CursorStyle::None, None), None);
    let two = reversed.clone() + &at(3, &format!("\x1b[7m{}\x1b[0m", row(3, "0")));
    assert_eq!(cursor(&two, CursorStyle::Reverse, None), None);
    // Stripes are two backgrounds of many rows; the cursor's is the third.
    let stripes: String = (0..5)
        .map(|n| {
            let color = if n == 2 { 44 } else { 40 + 7 * (n % 2) };
            at(n + 1, &format!("\x1b[{color}m{}\x1b[0m", row(u32::try_from(n).unwrap(), "0")))
        })
        .collect();
    let zebra = at(0, HEADER) + &stripes;
    assert_eq!(cursor(&zebra, CursorStyle::Background, None), Some(3));
    assert_eq!(cursor(&zebra, CursorStyle::Auto, None), Some(3));
    let marked =
        at(0, &format!("  {HEADER}")) + &at(1, &format!("  {}", row(1, "0"))) + &at(2, &format!("▶ {}", row(2, "0")));
    assert_eq!(cursor(&marked, CursorStyle::Marker, Some("▶")), Some(2));
    assert_eq!(cursor(&(table(&[1, 2], 9) + "\x1b[3;1H"), CursorStyle::Text, None), Some(2));
}

#[test]
fn a_reversed_row_that_is_never_the_cursor_can_be_named() {
    let text = table(&[1, 2, 3], 0).replace("pod-000003", "\x1b[7mpod-000003\x1b[0m");
    let not_cursor = Some("pod-000003".into());
    let rows = shown(&text, ViewOptions { not_cursor, cursor: CursorStyle::Reverse, ..options() });
    assert_eq!(rows.iter().find(|row| row.cursor).map(|row| row.key.clone()), Some(key(1)));
}

#[test]
fn wrong_views_say_what_is_wrong() {
    let wrong = |options| View::new(options).err().unwrap();
    assert!(wrong(ViewOptions { row: Some("(".into()), ..options() }).starts_with("row: "));
    assert!(wrong(ViewOptions { row: Some("x".into()), ..options() }).contains("name"));
    assert!(wrong(ViewOptions { cursor: CursorStyle::Marker, ..options() }).starts_with("marker: "));
}

fn expecting(view: &Arc<View>, n: u32, text: &str) -> State {
    let mut state = State::new(SIZE, None);
    let expect = Expect { key: key(n), column: "RESTARTS".into(), text: text.into(), view: Arc::clone(view) };
    state.expect(7, expect);
    state
}

#[test]
fn a_cell_counts_from_the_chunk_that_makes_the_number_the_whole_of_it() {
    let view = view(options());
    let mut state = expecting(&view, 2, "1000003");
    draw(&mut state, 10, &table(&[1, 2, 3], 0));
    // The number in another row, in another column, as a part of a longer one: none of it counts.
    draw(&mut state, 20, &at(1, &row(1, "1000003")));
    draw(&mut state, 21, "\x1b[3;60H1000003");
    draw(&mut state, 22, &at(2, &row(2, "11000003")));
    draw(&mut state, 23, &at(2, &row(2, "1000002")));
    assert!(state.seen_cells.is_empty());
    // One changed digit, in two reads.
    let column = HEADER.find("RESTARTS").unwrap() + 7;
    draw(&mut state, 30, &format!("\x1b[3;{column}"));
    draw(&mut state, 31, "H3");
    assert_eq!(state.seen_cells, [(7, 31)]);
    draw(&mut state, 40, &at(2, &row(2, "1000003")));
    assert_eq!(state.seen_cells.len(), 1);
}

#[test]
fn a_cell_inside_a_synchronized_update_counts_at_the_read_that_ends_it() {
    let mut state = expecting(&view(options()), 2, "9");
    draw(&mut state, 10, &table(&[1, 2], 0));
    state.feed(20, format!("\x1b[?2026h{}", at(2, &row(2, "9"))).as_bytes(), |_| {});
    state.feed(21, b"\x1b[1;1H", |_| {});
    assert!(state.seen_cells.is_empty());
    state.feed(22, b"\x1b[?2026l", |_| {});
    assert_eq!(state.seen_cells, [(7, 22)]);
}

#[test]
fn appended_lines_that_scroll_by_within_one_read_are_seen() {
    let view = view(ViewOptions { append: true, ..options() });
    let mut state = expecting(&view, 5, "77");
    draw(&mut state, 1, &format!("{HEADER}\r\n"));
    let burst: String = (0..60).map(|n| row(n, if n == 5 { "77" } else { "1" }) + "\r\n").collect();
    draw(&mut state, 9, &burst);
    assert_eq!(state.seen_cells, [(7, 9)]);
}

#[test]
fn a_header_that_scrolls_by_within_the_first_read_is_known_all_the_same() {
    let append = view(ViewOptions { append: true, ..options() });
    let mut state = State::new(SIZE, None);
    state.set_view(Arc::clone(&append));
    state.milestones.push(Milestone { name: "populated".into(), pattern: None, rows: Some(9), seen: None });
    let burst: String = (0..60).map(|n| row(n, "1") + "\r\n").collect();
    draw(&mut state, 4, &format!("{HEADER}\r\n{burst}"));
    assert_eq!(state.milestones[0].seen, Some((4, Some(9))));
    assert_eq!(rows_of(&mut state, &append)[8].cells["RESTARTS"], "1");
}

/// Draws the table, presses, draws what the client makes of it; the outcome, its stamp, its object.
fn pressed(direction: Direction, before: (&[u32], usize), after: &[&str]) -> Option<(Outcome, u64, Key)> {
    let view = view(options());
    let mut state = State::new(SIZE, None);
    draw(&mut state, 1, &table(before.0, before.1));
    let cursor = rows_of(&mut state, &view).into_iter().find(|row| row.cursor).map(|row| (row.key, row.row));
    state.press = Some(Press::new(view, direction, cursor, 100));
    for (t, text) in (101..).zip(after) {
        state.feed(t, text.as_bytes(), |_| {});
    }
    state.end_frame(100 + after.len() as u64);
    state.press.unwrap().result
}

#[test]
fn a_key_counts_when_the_cursor_stands_on_the_next_rows_object() {
    let rows = [1, 2, 3, 4];
    let down = pressed(Direction::Down, (&rows, 1), &["\x1b[9;1Hnoise", &table(&rows, 2)]);
    assert_eq!(down, Some((Outcome::Ok, 102, key(3))));
    let up = pressed(Direction::Up, (&rows, 1), &[&table(&rows, 0)]);
    assert_eq!(up, Some((Outcome::Ok, 101, key(1))));
    assert_eq!(pressed(Direction::Down, (&rows, 1), &["\x1b[9;1Hnoise"]), None);
}

#[test]
fn a_list_that_scrolls_under_the_cursor_counts_too() {
    let down = pressed(Direction::Down, (&[1, 2, 3, 4], 3), &[&table(&[2, 3, 4, 5], 3)]);
    assert_eq!(down, Some((Outcome::Ok, 101, key(5))));
}

#[test]
fn rows_that_trade_places_under_a_cursor_that_stays_are_a_drift_and_no_sample() {
    let rows = [1, 2, 3, 4];
    assert_eq!(
        pressed(Direction::Down, (&rows, 1), &[&table(&[1, 4, 3, 2], 1)]),
        Some((Outcome::Drifted, 101, key(4)))
    );
    // The object moved and took the cursor along: no effect of the key yet.
    assert_eq!(pressed(Direction::Down, (&rows, 1), &[&table(&[1, 4, 3, 2], 3)]), None);
    // Half a frame: the cursor is drawn on its new row before it is gone from the old one.
    let half = at(3, &format!("\x1b[7m{}\x1b[0m", row(3, "0")));
    let rest = at(2, &row(2, "0"));
    assert_eq!(pressed(Direction::Down, (&rows, 1), &[&half, &rest]), Some((Outcome::Ok, 102, key(3))));
}

#[test]
fn a_move_that_was_read_before_the_key_was_written_is_not_its_effect() {
    let view = view(options());
    let mut state = State::new(SIZE, None);
    draw(&mut state, 1, &table(&[1, 2, 3, 4], 1));
    state.press = Some(Press::new(view, Direction::Down, Some((key(2), 2)), 100));
    draw(&mut state, 100, &table(&[1, 2, 3, 4], 2));
    assert_eq!(state.press.unwrap().result, Some((Outcome::Drifted, 100, key(3))));
}
