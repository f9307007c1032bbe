//! Label and field sets that many objects share, each kept once and numbered.
//!
//! The numbers let a selector look at each distinct set once instead of at each object. A table takes
//! a bounded number of sets; what comes later is kept with its object and has no number.

use super::object::{Fields, Labels, NOT_NUMBERED, Shared};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Sets a table takes; with labels of usual length some tens of MiB.
const CAPACITY: usize = 100_000;

struct Table<T: ?Sized> {
    numbers: HashMap<Arc<T>, u32>,
}

impl<T: ?Sized + Hash + Eq> Table<T> {
    fn intern(&mut self, set: Arc<T>) -> Shared<T> {
        if let Some((known, number)) = self.numbers.get_key_value(&set) {
            return Shared { number: *number, set: Arc::clone(known) };
        }
        if self.numbers.len() >= CAPACITY {
            return Shared { number: NOT_NUMBERED, set };
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(NOT_NUMBERED);
        self.numbers.insert(Arc::clone(&set), number);
        Shared { number, set }
    }
}

/// The tables of one kind.
pub(crate) struct Interned {
    labels: Table<Labels>,
    fields: Table<Fields>,
}

impl Default for Interned {
    fn default() -> Self {
        Self { labels: Table { numbers: HashMap::new() }, fields: Table { numbers: HashMap::new() } }
    }
}

impl Interned {
    /// A label set; its order is made that of the keys.
    pub(crate) fn labels(&mut self, mut set: Vec<(Box<str>, Box<str>)>) -> Shared<Labels> {
        set.sort_unstable();
        self.labels.intern(set.into())
    }

    /// A field set, in the order of the kind's fields.
    pub(crate) fn fields(&mut self, set: Vec<(&'static str, Box<str>)>) -> Shared<Fields> {
        self.fields.intern(set.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_have_one_number_whatever_their_order() {
        let mut table = Interned::default();
        let ab = table.labels(vec![("a".into(), "1".into()), ("b".into(), "2".into())]);
        let ba = table.labels(vec![("b".into(), "2".into()), ("a".into(), "1".into())]);
        let other = table.labels(vec![("a".into(), "2".into())]);
        assert_eq!(ab.number, ba.number);
        assert!(Arc::ptr_eq(&ab.set, &ba.set));
        assert_ne!(ab.number, other.number);
    }
}
