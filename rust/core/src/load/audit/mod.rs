//! Audit logs of a kube-apiserver become requests: `perfq load import`.
//!
//! The way of a line: its container runtime's frame comes off ([`Unframer`]), it is read as events with no
//! more than may be kept ([`Reading`]), events are sorted, stages become requests ([`Pairing`]), and these
//! become requests of a trace or losses ([`Converter`]). Sorting needs a disk and is the engine's.
//!
//! No user, token, secret or source address leaves [`Reading`]: what goes further is taken from an event by
//! name, and bodies are cleaned on the way. Source of the format: k8s.io/apiserver/pkg/apis/audit/v1.

mod aggregated;
mod convert;
mod event;
mod exchange;
mod frame;
mod generated;
mod json_strings;
mod loss;
mod named_fields;
mod names;
mod needle;
mod object_body;
mod query_keys;
mod raw_event;
mod redact;
mod refused;
mod selector;
mod sensitive;
mod synthetic;
pub mod timestamp;
mod tokens;
mod window;

pub use convert::{Converter, WithoutBody};
pub use event::{Event, Hops, Reading, Stage, Written};
pub use exchange::{Exchange, Paired, Pairing};
pub use frame::{Unframed, Unframer};
pub use loss::{Losses, Of, Place, Why, Whys};
pub use names::Names;
pub use window::{Due, Extent, Window};

#[cfg(test)]
mod tests;
