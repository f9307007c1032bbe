//! The open connections: how many there may be, and which one makes room when there are too many.

use crate::clock::now_ns;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// One open connection.
pub(crate) struct Connection {
    /// Its number, from 1.
    pub(crate) id: u64,
    /// Requests whose answer has not begun, and bodies that are not complete.
    busy: AtomicU64,
    /// When it last began or ended a request.
    active_ns: AtomicU64,
    http2: AtomicBool,
    /// Told to close.
    pub(crate) close: Notify,
}

/// Held while a request is answered.
pub(crate) struct Busy(Arc<Connection>);

impl Busy {
    /// The connection that is busy.
    pub(crate) fn connection(&self) -> &Connection {
        &self.0
    }
}

impl Connection {
    /// Whether it speaks HTTP/2.
    pub(crate) fn http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// Notes the protocol, once it is known.
    pub(crate) fn set_http2(&self, http2: bool) {
        self.http2.store(http2, Ordering::Relaxed);
    }

    /// Marks a request.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.active_ns.store(now_ns(), Ordering::Relaxed);
        Busy(Arc::clone(self))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        self.0.active_ns.store(now_ns(), Ordering::Relaxed);
    }
}

/// All open connections.
pub(crate) struct Connections {
    most: usize,
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
}

/// What admitting a connection took.
pub(crate) enum Admitted {
    /// There was room.
    Free(Arc<Connection>),
    /// An idle connection was told to close.
    InPlaceOfIdle(Arc<Connection>),
    /// All are busy.
    Refused,
}

impl Connections {
    /// At most that many at once.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), next: AtomicU64::new(0), open: Mutex::new(BTreeMap::new()) }
    }

    /// Admits a connection; where there is no room, the one that has been idle longest makes it.
    pub(crate) fn admit(&self) -> Admitted {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let full = open.len() >= self.most;
        if full {
            let idle = open.values().filter(|c| c.busy.load(Ordering::Relaxed) == 0);
            let Some(oldest) = idle.min_by_key(|c| c.active_ns.load(Ordering::Relaxed)).cloned() else {
                return Admitted::Refused;
            };
            oldest.close.notify_one();
            open.remove(&oldest.id);
        }
        let connection = Arc::new(Connection {
            id: self.next.fetch_add(1, Ordering::Relaxed) + 1,
            busy: AtomicU64::new(0),
            active_ns: AtomicU64::new(now_ns()),
            http2: AtomicBool::new(false),
            close: Notify::new(),
        });
        open.insert(connection.id, Arc::clone(&connection));
        if full { Admitted::InPlaceOfIdle(connection) } else { Admitted::Free(connection) }
    }

    /// Closes the connection that has been idle longest; false where all are busy.
    pub(crate) fn evict_idle(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = open.values().filter(|c| c.busy.load(Ordering::Relaxed) == 0);
        let Some(oldest) = idle.min_by_key(|c| c.active_ns.load(Ordering::Relaxed)).cloned() else { return false };
        oldest.close.notify_one();
        open.remove(&oldest.id);
        true
    }

    /// Forgets a connection that has closed.
    pub(crate) fn closed(&self, connection: &Connection) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&connection.id);
    }

    /// How many are open.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Tells all of them to close.
    pub(crate) fn close_all(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|c| c.close.notify_one());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(admitted: &Admitted) -> u64 {
        match admitted {
            Admitted::Free(c) | Admitted::InPlaceOfIdle(c) => c.id,
            Admitted::Refused => 0,
        }
    }

    #[test]
    fn the_longest_idle_makes_room_and_busy_ones_stay() {
        let connections = Connections::new(2);
        let (Admitted::Free(first), Admitted::Free(second)) = (connections.admit(), connections.admit()) else {
            panic!("there was room for two")
        };
        let busy = first.busy();
        assert!(matches!(connections.admit(), Admitted::InPlaceOfIdle(_)));
        assert_eq!(connections.count(), 2);
        assert!(connections.open.lock().unwrap().contains_key(&first.id));
        assert!(!connections.open.lock().unwrap().contains_key(&second.id));
        drop(busy);
    }

    #[test]
    fn a_newcomer_is_refused_where_all_are_busy() {
        let connections = Connections::new(1);
        let Admitted::Free(only) = connections.admit() else { panic!("there was room for one") };
        let busy = only.busy();
        assert_eq!(id(&connections.admit()), 0);
        assert!(!connections.evict_idle());
        drop(busy);
        assert!(id(&connections.admit()) > only.id);
    }
}
