//! Which requests must wait for one another.
//!
//! Requests on one named object are sent in order, each after the former has ended. A DELETECOLLECTION is a
//! barrier for its namespace and kind: it waits for all that came before it there, and what comes after waits
//! for it. All others wait for nobody. No clock and no I/O: who may be sent is told, sending is somebody else's.

#[cfg(test)]
mod tests;

use super::{Key, Request, Verb};
use crate::partition::fnv1a64;
use serde::Deserialize;
use std::collections::{HashMap, VecDeque};

/// What is kept in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// Requests on one object.
    #[default]
    Object,
    /// Nothing.
    None,
    /// Everything but watches, one after another.
    Strict,
}

/// A request's place in the order. Keys are hashed (FNV-1a-64): two that collide are kept in order too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Waits for nobody, and nobody for it.
    Free,
    /// After the former on the same object.
    Object {
        /// The object.
        object: u64,
        /// Its namespace and kind.
        collection: u64,
    },
    /// After all, and before all, of its collection.
    Barrier {
        /// The namespace and kind.
        collection: u64,
    },
    /// In one line with everything.
    Line,
}

impl Place {
    /// The place of a request under an ordering.
    pub fn of(request: &Request, ordering: Ordering) -> Self {
        let collection = |key: &Key| fnv1a64(key.collection_text().as_bytes());
        match (ordering, &request.key) {
            (Ordering::Strict, _) if request.verb != Verb::Watch => Self::Line,
            (Ordering::Object, Some(key)) if request.verb == Verb::DeleteCollection => {
                Self::Barrier { collection: collection(key) }
            }
            (Ordering::Object, Some(key)) if key.is_named() && request.verb != Verb::Watch => {
                Self::Object { object: fnv1a64(key.text().as_bytes()), collection: collection(key) }
            }
            _ => Self::Free,
        }
    }
}

/// The order of all requests that have come and not ended. `T` is a request that waits.
#[derive(Debug)]
pub struct Order<T> {
    collections: HashMap<u64, Collection<T>>,
    line: Line<T>,
    held: usize,
}

/// One after another.
#[derive(Debug)]
struct Line<T> {
    busy: bool,
    waiting: VecDeque<T>,
}

#[derive(Debug)]
struct Collection<T> {
    /// Objects with a request that may be sent or was.
    objects: HashMap<u64, VecDeque<T>>,
    /// Requests let in (in `objects`' queues or released) that have not ended.
    let_in: usize,
    /// Whether a barrier was released and has not ended.
    barrier: bool,
    /// From the first barrier that waits: what comes after waits behind it.
    behind: VecDeque<(Place, T)>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { busy: false, waiting: VecDeque::new() }
    }
}

impl<T> Default for Collection<T> {
    fn default() -> Self {
        Self { objects: HashMap::new(), let_in: 0, barrier: false, behind: VecDeque::new() }
    }
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        Self { collections: HashMap::new(), line: Line::default(), held: 0 }
    }
}

impl<T> Collection<T> {
    /// Lets in a request on an object; given back where it may be sent at once.
    fn let_in(&mut self, object: u64, item: T) -> Option<T> {
        self.let_in += 1;
        if let Some(waiting) = self.objects.get_mut(&object) {
            waiting.push_back(item);
            return None;
        }
        self.objects.insert(object, VecDeque::new());
        Some(item)
    }

    /// Releases what stands behind and no longer has to.
    fn advance(&mut self, released: &mut Vec<T>) {
        while !self.barrier {
            match self.behind.pop_front() {
                Some((Place::Object { object, .. }, item)) => released.extend(self.let_in(object, item)),
                Some((_, item)) if self.let_in == 0 => {
                    self.barrier = true;
                    released.push(item);
                }
                Some(waits) => {
                    self.behind.push_front(waits);
                    return;
                }
                None => return,
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.let_in == 0 && !self.barrier && self.behind.is_empty()
    }
}

impl<T> Order<T> {
    /// Takes a request in the order of the plan; given back where it may be sent at once, else it is held.
    pub fn arrive(&mut self, place: Place, item: T) -> Option<T> {
        let released = match place {
            Place::Free => return Some(item),
            Place::Line => {
                if std::mem::replace(&mut self.line.busy, true) {
                    self.line.waiting.push_back(item);
                    None
                } else {
                    Some(item)
                }
            }
            Place::Object { object, collection } => {
                let collection = self.collections.entry(collection).or_default();
                if collection.barrier || !collection.behind.is_empty() {
                    collection.behind.push_back((place, item));
                    None
                } else {
                    collection.let_in(object, item)
                }
            }
            Place::Barrier { collection } => {
                let collection = self.collections.entry(collection).or_default();
                if collection.is_idle() {
                    collection.barrier = true;
                    Some(item)
                } else {
                    collection.behind.push_back((place, item));
                    None
                }
            }
        };
        self.held += usize::from(released.is_none());
        released
    }

    /// A released request has ended, however; what may be sent now is appended.
    pub fn ended(&mut self, place: Place, released: &mut Vec<T>) {
        let before = released.len();
        match place {
            Place::Free => return,
            Place::Line => {
                let next = self.line.waiting.pop_front();
                self.line.busy = next.is_some();
                released.extend(next);
            }
            Place::Object { object, collection: id } => {
                let Some(collection) = self.collections.get_mut(&id) else { return };
                collection.let_in -= 1;
                if let Some(next) = collection.objects.get_mut(&object).and_then(VecDeque::pop_front) {
                    released.push(next);
                } else {
                    collection.objects.remove(&object);
                }
                collection.advance(released);
                if collection.is_idle() {
                    self.collections.remove(&id);
                }
            }
            Place::Barrier { collection: id } => {
                let Some(collection) = self.collections.get_mut(&id) else { return };
                collection.barrier = false;
                collection.advance(released);
                if collection.is_idle() {
                    self.collections.remove(&id);
                }
            }
        }
        self.held -= released.len() - before;
    }

    /// How many are held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Gives up all that is held, in no order.
    pub fn take_held(&mut self) -> Vec<T> {
        self.held = 0;
        let mut all: Vec<T> = self.line.waiting.drain(..).collect();
        for collection in self.collections.values_mut() {
            for waiting in collection.objects.values_mut() {
                collection.let_in -= waiting.len();
                all.extend(waiting.drain(..));
            }
            all.extend(collection.behind.drain(..).map(|(_, item)| item));
        }
        all
    }
}
