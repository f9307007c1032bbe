//! What programs write, and what then stands on the screen.

use super::screen::{Screen, Size};
use super::state::State;
use proptest::prelude::*;

const SIZE: Size = Size { cols: 40, rows: 6 };

/// Feeds the reads; the replies in order.
fn feed(state: &mut State, reads: &[&[u8]]) -> Vec<String> {
    let mut replies = Vec::new();
    for (t, read) in (1..).zip(reads) {
        state.feed(t, read, |reply| replies.push(String::from_utf8(reply).unwrap()));
    }
    replies
}

fn fed(stream: &str) -> (State, Vec<String>) {
    let mut state = State::new(SIZE, None);
    let replies = feed(&mut state, &[stream.as_bytes()]);
    state.screen.absorb_damage();
    state.screen.lines();
    (state, replies)
}

fn texts(screen: &Screen) -> Vec<String> {
    screen.read_lines().iter().map(|line| line.text.clone()).collect()
}

#[test]
fn queries_are_answered_and_modes_that_are_not_really_done_are_not_recognised() {
    let (state, replies) =
        fed("\x1b[c\x1b[2;3H\x1b[6n\x1b[?2026$p\x1b[?2048$p\x1b[?2027$p\x1b]10;?\x07\x1b]11;?\x1b\\\x1b[?u");
    assert_eq!(
        replies,
        [
            "\x1b[?6c",
            "\x1b[2;3R",
            "\x1b[?2026;2$y",
            "\x1b[?2048;0$y",
            "\x1b[?2027;0$y",
            "\x1b]10;rgb:e5e5/e5e5/e5e5\x07",
            "\x1b]11;rgb:0000/0000/0000\x1b\\",
            "\x1b[?0u"
        ]
    );
    assert!(state.screen.unanswered().is_empty());
}

#[test]
fn a_query_inside_a_synchronized_update_is_answered_at_its_byte() {
    let (state, replies) = fed("\x1b[?2026h\x1b[3;4Hab\x1b[6n");
    assert!(state.screen.syncing());
    assert_eq!(replies, ["\x1b[3;6R"]);
}

#[test]
fn queries_without_an_answer_are_named() {
    let (state, replies) = fed("\x1b[>q\x1bP+q544e\x1b\\\x1b[?996n\x1b[c");
    assert_eq!(replies, ["\x1b[?6c"]);
    let names: Vec<&str> = state.screen.unanswered().iter().map(String::as_str).collect();
    assert_eq!(names, ["DSR (CSI ?996n)", "XTGETTCAP (DCS + q)", "XTVERSION (CSI >q)"]);
}

#[test]
fn both_buffers_are_kept_as_they_were_left() {
    let (state, _) = fed("$ client\r\n\x1b[?1049h\x1b[HTABLE");
    assert!(state.screen.alternate());
    assert_eq!((texts(&state.screen)[0].as_str(), state.screen.other()[0].as_str()), ("TABLE", "$ client"));
    let (state, _) = fed("$ client\r\n\x1b[?1049h\x1b[HTABLE\x1b[?1049lpanic: why");
    assert!(!state.screen.alternate());
    assert_eq!((texts(&state.screen)[1].as_str(), state.screen.other()[0].as_str()), ("panic: why", "TABLE"));
}

#[test]
fn nothing_is_sure_right_of_a_character_of_disputed_width() {
    let (state, _) = fed("abc \u{2764}\u{fe0f} def\r\n│ 漢字 │ plain");
    let lines = state.screen.read_lines();
    assert_eq!((lines[0].sure, lines[1].sure), (4, 40));
    assert_eq!(lines[1].cells[2..6], ['漢', '\0', '字', '\0']);
}

#[test]
fn a_character_that_a_read_has_cut_takes_nothing_with_it() {
    let mut state = State::new(SIZE, None);
    feed(&mut state, &[b"e\xcc", b"\x81x\xcc", b"\x81y"]);
    state.screen.absorb_damage();
    assert_eq!(state.screen.lines()[0].text, "e\u{301}x\u{301}y");
}

#[test]
fn frames_are_synchronized_updates_or_bursts_and_full_redraws_are_told_apart() {
    let mut state = State::new(SIZE, None);
    feed(&mut state, &[b"\x1b[?2026h\x1b[1;1Hone", b"two\x1b[?2026l\x1b[?2026hthree\x1b[?2026l"]);
    assert_eq!((state.counts.frames, state.counts.redraws, state.counts.chunks), (2, 0, 2));
    feed(&mut state, &[b"\x1b[2;1Hfour"]);
    state.end_frame(9);
    feed(&mut state, &[b"\x1b[?25l"]);
    state.end_frame(9);
    assert_eq!((state.counts.frames, state.counts.redraws), (3, 0));
    let full: Vec<u8> = (1..=6).flat_map(|row| format!("\x1b[{row};1H{}", "x".repeat(40)).into_bytes()).collect();
    feed(&mut state, &[&full]);
    state.end_frame(9);
    feed(&mut state, &[b"\x1b[2J"]);
    state.end_frame(9);
    assert_eq!((state.counts.frames, state.counts.redraws), (5, 2));
}

#[test]
fn an_update_that_never_ends_is_taken_as_it_stands_after_a_second() {
    let mut state = State::new(SIZE, None);
    state.feed(5, b"\x1b[?2026hhalf", |_| {});
    state.watch_sync(1_000_000_004);
    assert!(state.screen.syncing());
    state.watch_sync(1_000_000_005);
    assert_eq!((state.screen.syncing(), state.counts.sync_timeouts), (false, 1));
}

#[test]
fn combining_characters_titles_and_keyboard_flags_take_bounded_memory() {
    let mut state = State::new(SIZE, None);
    let flood = "a".to_owned() + &"\u{301}".repeat(20_000);
    for _ in 0..10 {
        state.feed(1, flood.as_bytes(), |_| {});
    }
    let longest = state.screen.lines().iter().map(|line| line.text.len()).max().unwrap();
    assert!(longest < 10_000, "{longest}");
    state.feed(1, "\x1b[>1u".repeat(10_000).as_bytes(), |_| {});
    state.feed(1, format!("\x1b]0;{}\x07", "t".repeat(1 << 20)).as_bytes(), |_| {});
    assert!(state.screen.title().len() <= super::scan::MAX_STRING);
}

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_screen_and_the_same_replies(
        parts in prop::collection::vec(prop::sample::select(vec![
            "plain", "é漢字│", "e\u{301}", "\r\n", "\x1b[2;5H", "\x1b[1;31m", "\x1b[0m", "\x1b[K", "\x1b[?2026h",
            "\x1b[?2026l", "\x1b[6n", "\x1b]0;title\x07", "\x1b[?1049h", "\x1b[?1049l", "\x1b[L", "\x1b[2P", "\x1b[7m",
            "\x1b]11;?\x1b\\", "\x1b[>1u", "\x1b[?u", "\x1bc", "\x1b", "\x18", "\u{1f469}\u{200d}\u{1f4bb}",
        ]), 0..60),
        cuts in prop::collection::vec(1usize..12, 1..50),
    ) {
        let stream = parts.concat();
        let mut whole = State::new(SIZE, None);
        let replies = feed(&mut whole, &[stream.as_bytes()]);
        let mut reads = Vec::new();
        let mut rest = stream.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (read, after) = rest.split_at((*cut).min(rest.len()));
            reads.push(read);
            rest = after;
        }
        let mut split = State::new(SIZE, None);
        let split_replies = feed(&mut split, &reads);
        prop_assert_eq!(replies.concat(), split_replies.concat());
        for state in [&mut whole, &mut split] { state.screen.absorb_damage(); state.screen.lines(); }
        prop_assert_eq!(whole.screen.read_lines(), split.screen.read_lines());
        prop_assert_eq!(whole.screen.cursor(), split.screen.cursor());
        prop_assert_eq!(whole.screen.other(), split.screen.other());
        prop_assert_eq!(whole.screen.title(), split.screen.title());
        prop_assert_eq!(whole.screen.syncing(), split.screen.syncing());
    }
}
