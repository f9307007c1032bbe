//! Names that the server generated and the log does not tell, and the requests that depend on them.
//!
//! A server appends five characters to `metadata.generateName` (k8s.io/apiserver, storage/names). Where only
//! that prefix is known, a later request on an object of such a name would meet none in a replay.

use std::collections::{BTreeSet, HashMap};

/// The characters of generated names: no vowels and nothing that looks like one.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const LENGTH: usize = 5;

/// Where objects with unknown names were created. Bounded by how many collections and prefixes there are.
#[derive(Debug, Default)]
pub(super) struct Generated {
    prefixes: HashMap<Box<str>, BTreeSet<Box<str>>>,
}

impl Generated {
    /// An object was created in a collection (its path) with this prefix; with `""` where the log does not
    /// tell even that.
    pub(super) fn created(&mut self, collection: &str, prefix: &str) {
        self.prefixes.entry(collection.into()).or_default().insert(prefix.into());
    }

    /// An object was created in a collection under this name, and will not be created in a replay.
    pub(super) fn created_as(&mut self, collection: &str, name: &str) {
        let prefix = name.len().checked_sub(LENGTH).and_then(|at| name.get(..at)).unwrap_or("");
        self.created(collection, prefix);
    }

    /// Whether a name may be one that the server generated since.
    pub(super) fn may_be(&self, collection: &str, name: &str) -> bool {
        let Some(prefixes) = self.prefixes.get(collection) else { return false };
        let Some(at) = name.len().checked_sub(LENGTH).filter(|at| name.is_char_boundary(*at)) else { return false };
        let (prefix, suffix) = name.split_at(at);
        // A server cuts prefixes of more than 58 characters.
        let cut = || prefix.len() == 58 && prefixes.iter().any(|longer| longer.starts_with(prefix));
        let known = !prefix.is_empty() && (prefixes.contains("") || prefixes.contains(prefix) || cut());
        known && suffix.bytes().all(|byte| ALPHABET.contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_prefix_are_suspect_once_an_object_was_created_with_it() {
        let mut generated = Generated::default();
        assert!(!generated.may_be("a/pods", "web-5d4-x7k2p"));
        generated.created("a/pods", "web-5d4-");
        assert!(generated.may_be("a/pods", "web-5d4-x7k2p"));
        for (collection, name) in [
            ("b/pods", "web-5d4-x7k2p"),
            ("a/pods", "web-5d4-x7k2"),
            ("a/pods", "web-5d4-x7k2pp"),
            ("a/pods", "web-5d4-admin"),
            ("a/pods", "db-5d4-x7k2p"),
            ("a/pods", "é"),
            ("a/pods", ""),
        ] {
            assert!(!generated.may_be(collection, name), "{collection} {name}");
        }
    }

    #[test]
    fn without_a_prefix_every_name_that_could_be_generated_is_suspect() {
        let mut generated = Generated::default();
        generated.created("a/pods", "");
        assert!(generated.may_be("a/pods", "any-x7k2p"));
        assert!(!generated.may_be("a/pods", "nginx-1"));
        assert!(!generated.may_be("a/pods", "x7k2p"));
    }

    #[test]
    fn a_prefix_that_the_server_cuts_is_still_known() {
        let mut generated = Generated::default();
        let prefix = "p".repeat(70);
        generated.created("a/pods", &prefix);
        assert!(generated.may_be("a/pods", &format!("{}x7k2p", &prefix[..58])));
    }
}
