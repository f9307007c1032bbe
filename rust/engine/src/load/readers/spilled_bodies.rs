//! A table of bodies that takes a bounded part of memory, however many there are.

use perfq_core::load::Body;
use perfq_core::load::trace::Bodies;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// So many bytes of bodies stay in memory.
pub const IN_MEMORY: usize = 4 * 1024 * 1024;
/// What a body takes beside its bytes.
const OVERHEAD: usize = 128;

type Digest = [u8; 32];

/// Bodies in memory up to a bound; beyond it all of them in a temporary file without a name, with those used
/// last in memory still.
pub struct SpilledBodies {
    bound: usize,
    young: Cache,
    old: Cache,
    file: Option<BodyFile>,
}

#[derive(Default)]
struct Cache {
    bodies: HashMap<Digest, Body>,
    bytes: usize,
}

impl Cache {
    fn insert(&mut self, sha256: Digest, body: Body) {
        self.bytes += body.len() + OVERHEAD;
        self.bodies.insert(sha256, body);
    }
}

impl Default for SpilledBodies {
    fn default() -> Self {
        Self::with_bound(IN_MEMORY)
    }
}

impl SpilledBodies {
    /// A table that keeps so many bytes in memory.
    pub fn with_bound(bound: usize) -> Self {
        Self { bound, young: Cache::default(), old: Cache::default(), file: None }
    }

    /// Whether there is a temporary file.
    pub fn has_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Keeps a body in memory; those that were not used since the last turn are forgotten.
    fn remember(&mut self, sha256: Digest, body: Body) {
        if self.young.bytes + body.len() + OVERHEAD > self.bound / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(sha256, body);
    }

    fn keep(&mut self, sha256: Digest, body: Body) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.put(&sha256, &body)?;
            self.remember(sha256, body);
            return Ok(());
        }
        if self.young.bodies.contains_key(&sha256) {
            return Ok(());
        }
        if self.young.bytes + body.len() + OVERHEAD <= self.bound {
            self.young.insert(sha256, body);
            return Ok(());
        }
        let mut file = BodyFile::new()?;
        for (known, body) in &self.young.bodies {
            file.put(known, body)?;
        }
        file.put(&sha256, &body)?;
        self.file = Some(file);
        self.old = std::mem::take(&mut self.young);
        self.remember(sha256, body);
        Ok(())
    }

    fn find(&mut self, sha256: &Digest) -> io::Result<Option<Body>> {
        if let Some(body) = self.young.bodies.get(sha256) {
            return Ok(Some(body.clone()));
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        let body = match self.old.bodies.get(sha256) {
            Some(body) => Some(body.clone()),
            None => file.get(sha256)?,
        };
        if let Some(body) = &body {
            self.remember(*sha256, body.clone());
        }
        Ok(body)
    }
}

fn said(error: &io::Error) -> String {
    format!("the table of bodies in a temporary file failed: {error}; TMPDIR names where it is kept")
}

impl Bodies for SpilledBodies {
    fn keep(&mut self, sha256: [u8; 32], body: Body) -> Result<(), String> {
        self.keep(sha256, body).map_err(|error| said(&error))
    }

    fn find(&mut self, sha256: &[u8; 32]) -> Result<Option<Body>, String> {
        self.find(sha256).map_err(|error| said(&error))
    }
}

/// Bodies one after another in a file, and in another an open-addressing table of where they stand.
struct BodyFile {
    bodies: File,
    end: u64,
    slots: File,
    capacity: u64,
    used: u64,
}

/// First eight bytes of the digest, place of the body + 1 (0: a free slot), length.
const SLOT: u64 = 24;
const SLOT_LENGTH: usize = 24;

impl BodyFile {
    fn new() -> io::Result<Self> {
        Self::with_capacity(1 << 14)
    }

    fn with_capacity(capacity: u64) -> io::Result<Self> {
        let slots = tempfile::tempfile()?;
        slots.set_len(capacity * SLOT)?;
        Ok(Self { bodies: tempfile::tempfile()?, end: 0, slots, capacity, used: 0 })
    }

    /// The slot of a digest: the place and length of its body, or the free slot where it would stand.
    fn slot(&self, sha256: &Digest) -> io::Result<(u64, Option<(u64, usize)>)> {
        let prefix = &sha256[..8];
        let mut at = hash(prefix) % self.capacity;
        loop {
            let mut slot = [0; SLOT_LENGTH];
            self.slots.read_exact_at(&mut slot, at * SLOT)?;
            let number = |from: usize| u64::from_le_bytes(slot[from..from + 8].try_into().unwrap_or_default());
            match number(8) {
                0 => return Ok((at, None)),
                place if slot[..8] == *prefix => {
                    let mut whole = [0; 32];
                    self.bodies.read_exact_at(&mut whole, place - 1)?;
                    if whole == *sha256 {
                        let length = usize::try_from(number(16)).unwrap_or(usize::MAX);
                        return Ok((at, Some((place - 1 + 32, length))));
                    }
                }
                _ => {}
            }
            at = (at + 1) % self.capacity;
        }
    }

    fn put(&mut self, sha256: &Digest, body: &[u8]) -> io::Result<()> {
        if self.used * 10 >= self.capacity * 7 {
            self.grow()?;
        }
        let (at, known) = self.slot(sha256)?;
        if known.is_some() {
            return Ok(());
        }
        self.bodies.write_all_at(sha256, self.end)?;
        self.bodies.write_all_at(body, self.end + 32)?;
        self.fill(at, &sha256[..8], self.end + 1, body.len() as u64)?;
        self.end += 32 + body.len() as u64;
        Ok(())
    }

    fn fill(&mut self, at: u64, prefix: &[u8], place: u64, length: u64) -> io::Result<()> {
        let slot = [prefix, &place.to_le_bytes(), &length.to_le_bytes()].concat();
        self.slots.write_all_at(&slot, at * SLOT)?;
        self.used += 1;
        Ok(())
    }

    /// Twice the slots, read from the old ones in their order.
    fn grow(&mut self) -> io::Result<()> {
        let slots = tempfile::tempfile()?;
        let capacity = self.capacity * 2;
        slots.set_len(capacity * SLOT)?;
        let old = std::mem::replace(&mut self.slots, slots);
        let old_capacity = std::mem::replace(&mut self.capacity, capacity);
        self.used = 0;
        let mut chunk = vec![0; 1024 * SLOT_LENGTH];
        for first in (0..old_capacity).step_by(1024) {
            old.read_exact_at(&mut chunk, first * SLOT)?;
            for slot in chunk.chunks_exact(SLOT_LENGTH) {
                let number = |from: usize| u64::from_le_bytes(slot[from..from + 8].try_into().unwrap_or_default());
                if number(8) != 0 {
                    let at = self.free(&slot[..8])?;
                    self.fill(at, &slot[..8], number(8), number(16))?;
                }
            }
        }
        Ok(())
    }

    /// The first free slot for a prefix.
    fn free(&self, prefix: &[u8]) -> io::Result<u64> {
        let mut at = hash(prefix) % self.capacity;
        loop {
            let mut place = [0; 8];
            self.slots.read_exact_at(&mut place, at * SLOT + 8)?;
            if place == [0; 8] {
                return Ok(at);
            }
            at = (at + 1) % self.capacity;
        }
    }

    fn get(&self, sha256: &Digest) -> io::Result<Option<Body>> {
        let (_, Some((place, length))) = self.slot(sha256)? else { return Ok(None) };
        let mut body = vec![0; length];
        self.bodies.read_exact_at(&mut body, place)?;
        Ok(Some(body.into()))
    }
}

/// A SHA-256 is as random as a hash can be.
fn hash(prefix: &[u8]) -> u64 {
    u64::from_le_bytes(prefix.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfq_core::digest::sha256;

    fn body(i: u32) -> Body {
        Body::from(format!("{i} {}", "x".repeat(i as usize % 50)).into_bytes())
    }

    #[test]
    fn every_body_is_found_again_when_most_are_in_the_file() {
        let mut table = SpilledBodies::with_bound(10_000);
        for i in 0..40_000 {
            table.keep(sha256(&body(i)), body(i)).unwrap();
            table.keep(sha256(&body(i / 2)), body(i / 2)).unwrap();
        }
        assert!(table.has_spilled());
        assert!(table.young.bytes + table.old.bytes <= 10_000 + 2 * (50 + OVERHEAD));
        for i in (0..40_000).rev() {
            assert_eq!(table.find(&sha256(&body(i))).unwrap(), Some(body(i)), "{i}");
        }
        assert_eq!(table.find(&sha256(b"another")).unwrap(), None);
        assert_eq!(table.file.unwrap().used, 40_000);
    }

    #[test]
    fn a_few_bodies_need_no_file() {
        let mut table = SpilledBodies::default();
        for i in 0..100 {
            table.keep(sha256(&body(i)), body(i)).unwrap();
        }
        assert!(!table.has_spilled());
        assert_eq!(table.find(&sha256(&body(7))).unwrap(), Some(body(7)));
        assert_eq!(table.find(&sha256(b"another")).unwrap(), None);
    }

    #[test]
    fn digests_that_begin_alike_are_told_apart() {
        let mut table = SpilledBodies::with_bound(0);
        let digest = |last: u8| {
            let mut digest = [7; 32];
            digest[31] = last;
            digest
        };
        for i in 0..20 {
            table.keep(digest(i), body(i.into())).unwrap();
        }
        for i in 0..20 {
            assert_eq!(table.find(&digest(i)).unwrap(), Some(body(i.into())));
        }
        assert_eq!(table.find(&digest(20)).unwrap(), None);
    }
}
