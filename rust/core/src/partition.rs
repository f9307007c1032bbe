//! Which of N runners an object belongs to: FNV-1a-64 of its key, modulo N.
//!
//! Source: Fowler, Noll, Vo, FNV-1a, 64 bit. Keys are `namespace/kind/name`, or
//! `namespace/kind/?labelSelector=S` for a nameless LIST or WATCH with a selector.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a, 64 bit.
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// The runner (0 … `runners` − 1) that owns `key`. `runners` must not be 0.
pub fn partition(key: &str, runners: u32) -> u32 {
    assert!(runners > 0, "a partition needs at least one runner");
    #[allow(clippy::cast_possible_truncation)] // below `runners`
    let index = (fnv1a64(key.as_bytes()) % u64::from(runners)) as u32;
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_hold() {
        for (key, hash) in [
            ("default/Pod/nginx-1", 0x63f1_8c4b_0408_c287),
            ("default/Pod/nginx-2", 0x63f1_8d4b_0408_c43a),
            ("default/Pod/", 0xf20f_cbd6_948f_4917),
            ("default/Pod/?labelSelector=app=nginx", 0xde4a_0087_d8fc_47d8),
            ("/Node/node-1", 0x439a_5160_b656_e385),
        ] {
            assert_eq!(fnv1a64(key.as_bytes()), hash, "{key}");
        }
    }

    #[test]
    fn every_key_lands_on_an_existing_runner() {
        for runners in 1..20 {
            for i in 0..100 {
                assert!(partition(&format!("default/Pod/p-{i}"), runners) < runners);
            }
        }
    }
}
