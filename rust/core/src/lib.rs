//! The deterministic core of perfq: the same input gives the same bytes on any machine.
//!
//! No clock, no I/O, no Python: what needs one of them lives in `perfq-engine` or `perfq-python`.
#![forbid(unsafe_code)]

pub mod canonical;
pub mod digest;
pub mod downsample;
pub mod histogram;
pub mod load;
pub mod partition;
pub mod quantile;
pub mod rng;
pub mod workload;
