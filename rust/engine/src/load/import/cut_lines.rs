//! Lines that a rotation cut in two: the end of one file and the beginning of another.

use perfq_core::load::audit::{Event, Losses, Place, Reading, Why};

/// A longer piece is not kept: there may be as many as there are files.
pub(super) const LONGEST: usize = 1024 * 1024;
/// Events of one log stand almost in the order of their stages.
const DISORDER_NS: u64 = 60_000_000_000;

/// What stands at an end of a file and is no event by itself.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) place: Place,
    pub(super) why: Why,
    /// When the event next to it in its file reached its stage.
    pub(super) beside_ns: Option<i64>,
}

/// The pieces of all files.
#[derive(Debug, Default)]
pub(super) struct CutLines {
    /// First lines of files.
    pub(super) heads: Vec<Piece>,
    /// Last lines without a line feed.
    pub(super) tails: Vec<Piece>,
}

impl CutLines {
    /// Puts pieces together that are one line; what is left is lost.
    pub(super) fn join(self, reading: &Reading, losses: &mut Losses) -> Vec<Event> {
        let (mut heads, mut joined) = (self.heads, Vec::new());
        for tail in self.tails {
            let fits = |head: &Piece| {
                let events = whole(reading, &[&tail.bytes[..], &head.bytes].concat(), tail.place)?;
                let stage_ns = events.first()?.stage_ns;
                let gap = |beside: Option<i64>| beside.map_or(0, |beside| stage_ns.abs_diff(beside));
                let gap = gap(tail.beside_ns).max(gap(head.beside_ns));
                (head.place.file != tail.place.file && gap <= DISORDER_NS).then_some((gap, events))
            };
            let best = heads
                .iter()
                .enumerate()
                .filter_map(|(at, head)| fits(head).map(|(gap, events)| (gap, at, events)))
                .min_by_key(|(gap, at, _)| (*gap, *at));
            match best {
                Some((_, at, events)) => {
                    heads.remove(at);
                    joined.extend(events);
                }
                None => losses.add(tail.why, tail.place),
            }
        }
        for head in heads {
            losses.add(head.why, head.place);
        }
        joined
    }
}

/// The events of a line that has nothing else.
fn whole(reading: &Reading, line: &[u8], place: Place) -> Option<Vec<Event>> {
    let mut found = Vec::new();
    reading.line(line, place, &mut |event| found.push(event));
    found.into_iter().collect::<Result<_, Why>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(second: u32) -> String {
        let time = format!("2024-05-01T10:{:02}:{:02}Z", second / 60, second % 60);
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"{second}","stage":"ResponseComplete","requestURI":"/healthz","verb":"get","requestReceivedTimestamp":"{time}","stageTimestamp":"{time}"}}"#
        )
    }

    fn piece(bytes: &str, file: u32, second: u32) -> Piece {
        let mut beside = None;
        Reading::default().line(line(second).as_bytes(), Place { file, line: 2 }, &mut |event| beside = event.ok());
        Piece {
            bytes: bytes.as_bytes().to_vec(),
            place: Place { file, line: 1 },
            why: Why::CutLine,
            beside_ns: beside.map(|event| event.stage_ns),
        }
    }

    fn joined(tails: Vec<Piece>, heads: Vec<Piece>) -> (Vec<String>, u64) {
        let mut losses = Losses::default();
        let events = CutLines { heads, tails }.join(&Reading::default(), &mut losses);
        (events.into_iter().map(|event| event.audit_id.into()).collect(), losses.count(Why::CutLine))
    }

    #[test]
    fn of_several_heads_the_one_whose_file_goes_on_is_taken() {
        let (event, other) = (line(100), line(1_000));
        let at = 120;
        let tails = vec![piece(&event[..at], 0, 99), piece(&other[..at], 1, 999)];
        let heads = vec![piece(&other[at..], 2, 1_001), piece(&event[at..], 3, 101)];
        assert_eq!(joined(tails, heads), (vec!["100".to_owned(), "1000".to_owned()], 0));
    }

    #[test]
    fn pieces_of_one_file_or_of_other_times_are_lost() {
        let event = line(100);
        let (tail, head) = event.split_at(50);
        assert_eq!(joined(vec![piece(tail, 0, 99)], vec![piece(head, 0, 99)]), (vec![], 2));
        assert_eq!(joined(vec![piece(tail, 0, 99)], vec![piece(head, 1, 3_000)]), (vec![], 2));
        assert_eq!(joined(vec![piece(tail, 0, 99)], vec![]), (vec![], 1));
    }

    proptest! {
        #[test]
        fn wherever_a_line_was_cut_it_is_one_event(cut in 1_usize..150) {
            let event = line(100);
            let found = joined(vec![piece(&event[..cut], 0, 99)], vec![piece(&event[cut..], 1, 101)]);
            prop_assert_eq!(found, (vec!["100".to_owned()], 0));
        }
    }
}
