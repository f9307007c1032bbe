//! Files of requests as streams, plain or packed, in bounded memory.

mod characters;
mod compression;
mod format;
mod input;
mod lines;
mod replay;
mod spilled_bodies;
mod trace;
mod zstd_frames;

pub use compression::{Packing, Unpacked};
pub use format::{Format, detect};
pub use input::{Input, InputFacts};
pub use lines::Lines;
pub use replay::ReplayProfile;
pub use spilled_bodies::{IN_MEMORY, SpilledBodies};
pub use trace::TraceRequests;

pub(in crate::load) use trace::reason;
