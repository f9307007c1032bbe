//! Series by number, so that a sample is a few words; their names are looked up when a slice is written.

use parking_lot::Mutex;
use perfq_core::load::{Verb, series_key};
use std::collections::HashMap;
use std::sync::Arc;

/// More different series than these are counted as one, `other`.
const MOST_SERIES: usize = 1_000;

/// Numbers and names. Only the thread that prepares requests asks for numbers.
#[derive(Default)]
pub(super) struct SeriesTable {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    numbers: HashMap<String, u32>,
    names: Vec<Arc<str>>,
}

impl SeriesTable {
    /// The number of the series that a request is counted in.
    pub(super) fn id(&self, verb: Verb, path: &str) -> u32 {
        let mut key = series_key(verb, path);
        let mut inner = self.inner.lock();
        if let Some(number) = inner.numbers.get(&key) {
            return *number;
        }
        if inner.names.len() >= MOST_SERIES {
            key = "other".into();
            if let Some(number) = inner.numbers.get(&key) {
                return *number;
            }
        }
        let number = u32::try_from(inner.names.len()).unwrap_or(u32::MAX);
        inner.names.push(key.as_str().into());
        inner.numbers.insert(key, number);
        number
    }

    /// The name of a series.
    pub(super) fn name(&self, number: u32) -> Arc<str> {
        self.inner.lock().names.get(number as usize).cloned().unwrap_or_else(|| "other".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_series_is_bounded() {
        let table = SeriesTable::default();
        for resource in 0..2_000 {
            table.id(Verb::List, &format!("/apis/g/v1/r{resource}"));
        }
        assert_eq!(table.inner.lock().names.len(), MOST_SERIES + 1);
        assert_eq!(&*table.name(table.id(Verb::List, "/apis/g/v1/r1999")), "other");
        assert_eq!(&*table.name(table.id(Verb::List, "/apis/g/v1/r7")), "LIST g/v1/r7 cluster");
    }
}
