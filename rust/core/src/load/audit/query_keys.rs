//! The query of a request, without what may be secret in it.
//!
//! What Kubernetes reads from a query is known by name; every other parameter may be a token or a signature
//! for a proxy in front of the server, and goes.

use crate::load::query;
use std::borrow::Cow;

/// Every query key that kube-apiserver reads, of all its handlers.
const KNOWN: [&str; 50] = [
    "allowWatchBookmarks",
    "allowedNamespaces",
    "command",
    "container",
    "continue",
    "debug",
    "dryRun",
    "exact",
    "exclude",
    "export",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "follow",
    "force",
    "gracePeriodSeconds",
    "gvk",
    "hash",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "includeObject",
    "includeUninitialized",
    "insecureSkipTLSVerifyBackend",
    "labelSelector",
    "limit",
    "limitBytes",
    "nodes",
    "orphanDependents",
    "path",
    "ports",
    "pretty",
    "previous",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "seconds",
    "sendInitialEvents",
    "shardSelector",
    "sinceSeconds",
    "sinceTime",
    "stderr",
    "stdin",
    "stdout",
    "stream",
    "tailLines",
    "timeout",
    "timeoutSeconds",
    "timestamps",
    "tty",
    "verbose",
    "watch",
];

/// Whether a server reads this key.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN.binary_search(&key).is_ok()
}

/// The query byte for byte, unless it has keys that are neither known nor to be kept: then without these.
/// The second value says whether any was removed.
pub(super) fn without_secrets<'a>(raw: &'a str, keep: &[String]) -> (Cow<'a, str>, bool) {
    let stays = |key: &str| is_known(key) || keep.iter().any(|kept| kept == key);
    if query::pairs(Some(raw)).all(|(key, ..)| stays(&key)) {
        return (Cow::Borrowed(raw), false);
    }
    let kept: Vec<&str> = query::pairs(Some(raw)).filter(|(key, ..)| stays(key)).map(|(.., pair)| pair).collect();
    (Cow::Owned(kept.join("&")), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_keys_are_in_order_so_that_they_are_found() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn a_query_of_known_keys_stays_byte_for_byte() {
        for raw in ["limit=500&&fieldSelector=metadata.name%3Da+b%2b", "watch", "", "%6cimit=5"] {
            assert_eq!(without_secrets(raw, &[]), (Cow::Borrowed(raw), false));
        }
    }

    #[test]
    fn any_other_parameter_is_removed_unless_it_is_to_be_kept() {
        let raw = "access_token=s3cret&limit=5&%74oken=x&shard=a%20b&eyJhbGciOi";
        assert_eq!(without_secrets(raw, &["shard".to_owned()]), (Cow::Borrowed("limit=5&shard=a%20b"), true));
    }
}
