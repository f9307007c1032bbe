//! A mix: requests drawn by share from a seed, on a schedule that is known before the run.
//!
//! The resolved form of a load profile's spec ([`MixSpec`]) and its generator ([`Mix`]). The same spec and runner
//! give the same requests, byte by byte, on any machine.

mod arrivals;
mod generator;
mod shape;
mod spec;
mod template;
#[cfg(test)]
mod tests;

pub use generator::{Mix, MixPlan};
pub use spec::{Arrival, MixSpec, OpenWatches, Shape, Stage, Weighted};
pub use template::MAX_RANDOM;
