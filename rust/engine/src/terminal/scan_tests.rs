//! Marks in a stream, wherever the reads cut it.

use super::scan::{MAX_STRING, Scanner};
use super::sequences::Mark;
use proptest::prelude::*;

/// All marks of a stream that comes in these reads, each with its place in the stream.
fn marks(reads: &[&[u8]], scanner: &mut Scanner) -> Vec<(usize, Mark)> {
    let mut found = Vec::new();
    let mut before = 0;
    for read in reads {
        let mut rest = *read;
        while !rest.is_empty() {
            let piece = scanner.next(rest);
            before += piece.len;
            rest = &rest[piece.len..];
            found.extend(piece.mark.map(|mark| (before, mark)));
        }
    }
    found
}

fn of(stream: &[u8]) -> Vec<Mark> {
    marks(&[stream], &mut Scanner::default()).into_iter().map(|(_, mark)| mark).collect()
}

#[test]
fn queries_are_named_and_marked_at_their_last_byte() {
    let stream = b"text\x1b[c\x1b[6n\x1b[?2048$p\x1b]11;?\x1b\\\x1bP+q544e\x1b\\";
    let found = marks(&[stream], &mut Scanner::default());
    assert_eq!(found[0], (7, Mark::Query("DA1 (CSI c)".into())));
    let names: Vec<String> = found.iter().map(|(_, mark)| format!("{mark:?}")).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names[2].contains("DECRQM") && names[3].contains("OSC 11") && names[4].contains("XTGETTCAP"));
}

#[test]
fn what_is_not_a_query_is_not_taken_for_one() {
    assert_eq!(of(b"\x1b[1;5H\x1b[0m\x1b[?25l\x1b]11;#000000\x07\x1b]0;what?\x07\x1b[4 q\x1b(B\x1b[2K\x1b[K"), []);
    // The parameters of a sequence that was cancelled count for nothing.
    assert_eq!(of(b"\x1b[?2026\x18h\x1b[?2026\x1b[1m"), []);
}

#[test]
fn updates_and_buffer_switches_are_marked_even_among_other_modes() {
    assert_eq!(of(b"\x1b[?25;2026h"), [Mark::SyncStart]);
    assert_eq!(of(b"\x1b[?2026l\x1b[2J"), [Mark::SyncEnd, Mark::Erased]);
    assert_eq!(of(b"\x1b[?1049h"), [Mark::BeforeSwitch, Mark::Switched]);
    assert_eq!(of(b"\x1bc"), [Mark::BeforeSwitch, Mark::Reset]);
}

#[test]
fn an_endless_string_is_cancelled_once_and_its_rest_dropped() {
    let mut stream = b"\x1b]0;".to_vec();
    stream.extend(vec![b'x'; 10 * MAX_STRING]);
    stream.extend(b"\x07shown\x1b[c");
    let mut scanner = Scanner::default();
    let mut kept = Vec::new();
    let mut cancelled = 0;
    for read in stream.chunks(1000) {
        let mut rest = read;
        while !rest.is_empty() {
            let piece = scanner.next(rest);
            if !piece.dropped {
                kept.extend(&rest[..piece.len]);
            }
            cancelled += u32::from(piece.mark == Some(Mark::StringTooLong));
            rest = &rest[piece.len..];
        }
    }
    assert_eq!(cancelled, 1);
    assert!(kept.len() < MAX_STRING + 32 && kept.ends_with(b"shown\x1b[c"));
}

#[test]
fn pieces_end_after_the_lines_asked_for() {
    let mut scanner = Scanner::default();
    scanner.lines_per_piece = 2;
    let places: Vec<usize> = marks(&[b"a\nb\nc\nd\ne"], &mut scanner).into_iter().map(|(at, _)| at).collect();
    assert_eq!(places, [4, 8]);
}

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_marks(
        parts in prop::collection::vec(prop::sample::select(vec![
            &b"\x1b[?2026h"[..], b"\x1b[?2026l", b"\x1b[c", b"\x1b[?2048$p", b"\x1b]11;?\x1b\\", b"\x1b]0;t\x07",
            b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2J", b"\x1bP$qm\x1b\\", b"\x1b[>1u", b"\x1b[?u", "plain é│\n".as_bytes(),
            b"\x1b", b"\x18", b"[", b"\x1bc", b"\x1b[12", b"\x9b\xff",
        ]), 0..40),
        cuts in prop::collection::vec(1usize..9, 1..60),
    ) {
        let stream: Vec<u8> = parts.concat();
        let whole = marks(&[&stream], &mut Scanner::default());
        let mut reads = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (read, after) = rest.split_at((*cut).min(rest.len()));
            reads.push(read);
            rest = after;
        }
        prop_assert_eq!(marks(&reads, &mut Scanner::default()), whole);
    }
}
