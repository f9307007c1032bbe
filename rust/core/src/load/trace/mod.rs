//! `perfq.trace/v1`: requests as JSON lines.
//!
//! The first line is the [`Header`]. Each line after it is a request, or a body that requests further down
//! refer to by its SHA-256: `{"body":"…","sha256":"…"}`. Lines come in order of `t_us`.
//!
//! No I/O: a [`Parser`] is given lines and gives requests, a [`Writer`] the reverse. Where the table of
//! bodies is kept is the caller's choice ([`Bodies`]).

mod bodies;
pub(in crate::load) mod check;
mod header;
mod line;
mod parser;
mod scalar;
mod writer;

pub use bodies::{Bodies, MemoryBodies};
pub use header::{Header, Loss, SCHEMA};
pub use parser::{Options, Parser};
pub use writer::Writer;

/// The longest line, without its end. The longest body that a kube-apiserver takes has 3 MiB, and an escaped
/// byte is six.
pub const MAX_LINE: usize = 32 * 1024 * 1024;

#[cfg(test)]
mod round_trip_tests;
#[cfg(test)]
mod tests;
