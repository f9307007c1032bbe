//! The table of bodies that a trace's `body_ref` points into.

use crate::load::request::Body;
use std::collections::HashMap;

/// Keeps bodies by their SHA-256.
pub trait Bodies {
    /// Keeps a body; one that is known already is kept once. An error says why it cannot be kept.
    fn keep(&mut self, sha256: [u8; 32], body: Body) -> Result<(), String>;
    /// The body of that digest, `None` where none was kept.
    fn find(&mut self, sha256: &[u8; 32]) -> Result<Option<Body>, String>;
}

/// A table in memory, without a bound.
#[derive(Debug, Default)]
pub struct MemoryBodies(HashMap<[u8; 32], Body>);

impl Bodies for MemoryBodies {
    fn keep(&mut self, sha256: [u8; 32], body: Body) -> Result<(), String> {
        self.0.entry(sha256).or_insert(body);
        Ok(())
    }

    fn find(&mut self, sha256: &[u8; 32]) -> Result<Option<Body>, String> {
        Ok(self.0.get(sha256).cloned())
    }
}
