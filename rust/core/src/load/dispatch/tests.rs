use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    number: usize,
    lane: u32,
    place: Place,
    watch: bool,
    /// Of a watch: whether it lives on.
    lives: bool,
    turn_ns: u64,
    slot_ns: u64,
}

impl Planned for Item {
    fn lane(&self) -> u32 {
        self.lane
    }
    fn place(&self) -> Place {
        self.place
    }
    fn is_watch(&self) -> bool {
        self.watch
    }
    fn takes_a_slot(&self) -> bool {
        !self.lives
    }
    fn queued(&mut self, _: u64) {}
    fn in_turn(&mut self, now_ns: u64) {
        self.turn_ns = now_ns;
    }
    fn slot_given(&mut self, now_ns: u64) {
        self.slot_ns = now_ns;
    }
}

fn item(number: usize, lane: u32, place: Place) -> Item {
    Item { number, lane, place, watch: false, lives: false, turn_ns: 0, slot_ns: 0 }
}

fn watch(number: usize, lives: bool) -> Item {
    Item { watch: true, lives, ..item(number, 0, Place::Free) }
}

fn ready(lanes: u32, limit: u32, drops: bool, connections: u32, streams: u32) -> Dispatch<Item> {
    let mut dispatch = Dispatch::new(lanes, limit, drops, false);
    for lane in 0..lanes {
        for _ in 0..connections {
            let number = dispatch.add_connection(lane);
            dispatch.set_streams(number, streams, 0, &mut Effects::default());
        }
    }
    dispatch
}

#[test]
fn a_freed_slot_goes_to_the_next_on_the_same_connection() {
    let (mut dispatch, mut effects) = (ready(1, 10, false, 2, 1), Effects::default());
    for number in 0..3 {
        dispatch.arrive(item(number, 0, Place::Free), 5, &mut effects);
    }
    assert_eq!(effects.starts.len(), 2);
    let first = effects.starts.remove(0);
    effects.starts.clear();
    dispatch.ended(first.slot, Place::Free, 9, &mut effects);
    assert_eq!((effects.starts[0].slot, effects.starts[0].item.number), (first.slot, 2));
    assert_eq!((effects.starts[0].item.turn_ns, effects.starts[0].item.slot_ns), (5, 9));
}

#[test]
fn overload_drops_where_asked_and_the_order_goes_on() {
    let (mut dispatch, mut effects) = (ready(1, 1, true, 1, 1), Effects::default());
    let same = Place::Object { object: 1, collection: 1 };
    for (number, place) in [Place::Free, same, same].into_iter().enumerate() {
        dispatch.arrive(item(number, 0, place), 0, &mut effects);
    }
    assert_eq!(effects.dropped.iter().map(|item| item.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(dispatch.outstanding(), 1);
}

#[test]
fn watches_take_streams_and_ask_for_room() {
    let (mut dispatch, mut effects) = (ready(1, 2, false, 1, 3), Effects::default());
    for number in 0..4 {
        dispatch.arrive(watch(number, true), 0, &mut effects);
    }
    // Two requests may be in flight beside them: with the second watch there is no room for both.
    assert_eq!((effects.starts.len(), effects.connect.as_slice(), dispatch.in_flight()), (3, &[(1, 0)][..], 0));
    dispatch.set_streams(1, 3, 0, &mut effects);
    assert_eq!((effects.starts.len(), dispatch.watches(), effects.connect.len()), (4, 4, 1));
}

#[test]
fn a_watch_that_ends_by_itself_takes_a_slot_also_where_it_has_a_connection_of_its_own() {
    let (mut dispatch, mut effects) = (Dispatch::new(1, 2, false, true), Effects::default());
    for number in 0..5 {
        dispatch.arrive(watch(number, false), 0, &mut effects);
    }
    assert_eq!((effects.starts.len(), dispatch.in_flight(), dispatch.watches()), (2, 2, 0));
    assert_eq!((effects.starts[0].slot.connection, dispatch.waiting(0)), (None, 3));
    dispatch.ended(effects.starts[0].slot, Place::Free, 0, &mut effects);
    assert_eq!((effects.starts.len(), dispatch.in_flight(), dispatch.waiting(0)), (3, 2, 2));
}

#[test]
fn what_is_held_behind_a_former_one_waits_in_its_lane() {
    let (mut dispatch, mut effects) = (ready(2, 4, false, 1, 4), Effects::default());
    for number in 0..6 {
        dispatch.arrive(item(number, u32::from(number % 3 == 0), Place::Line), 0, &mut effects);
    }
    assert_eq!((dispatch.waiting(0), dispatch.waiting(1)), (4, 1));
    for number in 6..9 {
        dispatch.arrive(watch(number, true), 0, &mut effects);
    }
    // Three streams are left for three watches, and none for what the line lets go.
    dispatch.arrive(watch(9, true), 0, &mut effects);
    dispatch.arrive(watch(10, true), 0, &mut effects);
    assert_eq!((dispatch.waiting(0), dispatch.watches()), (5, 4));
    dispatch.ended(effects.starts[0].slot, Place::Line, 0, &mut effects);
    assert_eq!((dispatch.waiting(0), dispatch.waiting(1)), (5, 1));
    dispatch.take_held();
    assert_eq!((dispatch.waiting(0), dispatch.waiting(1)), (2, 0));
}

#[test]
fn a_long_line_behind_a_lost_connection_is_dropped_to_its_end() {
    const MANY: usize = 200_000;
    let (mut dispatch, mut effects) = (ready(1, 1, true, 1, 1), Effects::default());
    for number in 0..MANY {
        dispatch.arrive(item(number, 0, Place::Line), 0, &mut effects);
    }
    dispatch.set_streams(0, 0, 0, &mut effects);
    dispatch.ended(effects.starts[0].slot, Place::Line, 0, &mut effects);
    assert_eq!((effects.dropped.len(), dispatch.outstanding()), (MANY - 1, 0));
}

proptest! {
    /// Whatever ends when: no limit is exceeded, nothing is lost, and all that came is sent.
    #[test]
    fn limits_hold_and_nothing_is_lost(
        plan in proptest::collection::vec((0..3u32, 0..4u64, any::<bool>()), 1..80),
        (limit, connections, streams) in (1..4u32, 1..3u32, 1..3u32),
        picks in proptest::collection::vec(any::<proptest::sample::Index>(), 400),
    ) {
        let mut dispatch = ready(3, limit, false, connections, streams);
        let mut effects = Effects::default();
        let mut picks = picks.into_iter().cycle();
        let (mut open, mut sent, mut arrived) = (vec![], 0, 0);
        while arrived < plan.len() || !open.is_empty() {
            if arrived < plan.len() && picks.next().unwrap().index(2) == 0 {
                let (lane, object, watch) = plan[arrived];
                let place = if watch { Place::Free } else { Place::Object { object, collection: 0 } };
                let watch = watch && arrived % 7 == 0;
                let lives = watch && arrived % 2 == 0;
                dispatch.arrive(Item { watch, lives, ..item(arrived, lane, place) }, 0, &mut effects);
                arrived += 1;
            } else if !open.is_empty() {
                let which = picks.next().unwrap().index(open.len());
                let start: Start<Item> = open.swap_remove(which);
                if picks.next().unwrap().index(5) == 0 {
                    sent -= 1;
                    dispatch.again(start.slot, start.item, 0, &mut effects);
                } else {
                    dispatch.ended(start.slot, start.item.place, 0, &mut effects);
                }
            }
            sent += effects.starts.len();
            open.append(&mut effects.starts);
            for lane in 0..3 {
                let flying = |start: &&Start<Item>| start.slot.lane == lane && !start.item.lives;
                prop_assert!(open.iter().filter(flying).count() <= limit as usize);
            }
            let waiting: usize = (0..3).map(|lane| dispatch.waiting(lane)).sum();
            prop_assert_eq!((waiting, open.len()), (arrived - sent, dispatch.outstanding() - waiting));
            for number in 0..3 * connections {
                let on_it = open.iter().filter(|start| start.slot.connection == Some(number)).count();
                prop_assert!(on_it <= streams as usize);
            }
        }
        prop_assert_eq!((sent, dispatch.outstanding(), dispatch.in_flight()), (plan.len(), 0, 0));
    }
}
