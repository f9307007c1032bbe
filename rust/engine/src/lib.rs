//! What perfq needs a clock, a socket, a terminal or /proc for.
//!
//! Every timestamp that ends up in a latency is taken here, in [`clock::now_ns`].

pub mod api_server;
pub mod clock;
pub mod load;
pub mod probe;
pub mod recorder;
pub mod sampler;
pub mod terminal;
