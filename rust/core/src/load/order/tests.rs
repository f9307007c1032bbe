use super::*;
use proptest::prelude::*;

fn object(collection: u64, object: u64) -> Place {
    Place::Object { object: collection * 100 + object, collection }
}

#[test]
fn the_place_follows_from_verb_and_key() {
    let mut get = Request::new(Verb::Get, "/api/v1/namespaces/default/pods/a");
    get.key = Some(Key::object("default", "Pod", "a"));
    let mut list = Request::new(Verb::List, "/api/v1/namespaces/default/pods");
    list.key = Some(Key::collection("default", "Pod", None));
    let mut clear = list.clone();
    clear.verb = Verb::DeleteCollection;
    let Place::Object { collection, .. } = Place::of(&get, Ordering::Object) else { panic!("an object") };
    assert_eq!(Place::of(&clear, Ordering::Object), Place::Barrier { collection });
    assert_eq!(Place::of(&list, Ordering::Object), Place::Free);
    assert_eq!(Place::of(&get, Ordering::None), Place::Free);
    assert_eq!(Place::of(&list, Ordering::Strict), Place::Line);
    list.verb = Verb::Watch;
    assert_eq!(Place::of(&list, Ordering::Strict), Place::Free);
}

#[test]
fn what_is_given_up_leaves_the_order_usable() {
    let mut order = Order::default();
    assert_eq!(order.arrive(object(1, 1), 0), Some(0));
    assert_eq!(order.arrive(object(1, 1), 1), None);
    assert_eq!(order.arrive(Place::Barrier { collection: 1 }, 2), None);
    let mut given = order.take_held();
    given.sort_unstable();
    assert_eq!((given, order.held()), (vec![1, 2], 0));
    order.ended(object(1, 1), &mut Vec::new());
    assert_eq!(order.arrive(Place::Barrier { collection: 1 }, 3), Some(3));
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    let place = prop_oneof![
        6 => (0..3u64, 0..4u64).prop_map(|(collection, name)| object(collection, name)),
        1 => (0..3u64).prop_map(|collection| Place::Barrier { collection }),
        1 => Just(Place::Free),
        1 => Just(Place::Line),
    ];
    proptest::collection::vec(place, 1..60)
}

fn collection(place: Place) -> Option<u64> {
    match place {
        Place::Object { collection, .. } | Place::Barrier { collection } => Some(collection),
        Place::Free | Place::Line => None,
    }
}

/// Whether `later` must not be sent before `former` has ended.
fn waits(former: Place, later: Place) -> bool {
    let barrier = [former, later].iter().any(|place| matches!(place, Place::Barrier { .. }));
    match (former, later) {
        (Place::Line, Place::Line) => true,
        (Place::Object { object: a, .. }, Place::Object { object: b, .. }) => a == b,
        _ => barrier && collection(former) == collection(later),
    }
}

proptest! {
    /// Whatever the latencies: a request is released exactly when all that it waits for have ended.
    #[test]
    fn each_is_released_when_its_formers_have_ended_and_no_later(
        places in places(), ends in proptest::collection::vec(any::<proptest::sample::Index>(), 120),
    ) {
        let mut order = Order::default();
        let (mut released, mut ended, mut open) = (vec![false; places.len()], vec![false; places.len()], vec![]);
        let mut ends = ends.into_iter();
        let mut arrived = 0;
        while arrived < places.len() || !open.is_empty() {
            // Ends and arrivals alternate at random.
            let index = ends.next();
            let end = arrived == places.len() || index.is_some_and(|i| i.index(2) == 0);
            let mut now = vec![];
            if end && !open.is_empty() {
                let which = index.map_or(0, |i| i.index(open.len()));
                let item: usize = open.swap_remove(which);
                ended[item] = true;
                order.ended(places[item], &mut now);
            } else if arrived < places.len() {
                now.extend(order.arrive(places[arrived], arrived));
                arrived += 1;
            }
            for item in now {
                prop_assert!(!std::mem::replace(&mut released[item], true));
                open.push(item);
            }
            for later in 0..arrived {
                let free = (0..later).all(|former| !waits(places[former], places[later]) || ended[former]);
                prop_assert_eq!(released[later], free, "{} of {:?}", later, &places);
            }
            prop_assert_eq!(order.held(), released[..arrived].iter().filter(|r| !**r).count());
        }
        prop_assert!(order.collections.is_empty() && !order.line.busy);
    }
}
