//! kperf's replay profiles: YAML, read as a stream with line numbers.
//!
//! Meaning and validation follow kperf's `api/types` and `replay`, so that its files run unchanged; what it
//! sends in a way that no server understands (a query without `?`, a field manager twice) is sent as meant.

mod api_path;
mod events;
mod fields;
mod kind;
mod reader;
mod request;
mod spec;

pub use events::Characters;
pub use kind::{DocumentKind, document_kind};
pub use reader::ReplayRequests;
pub use spec::ReplaySpec;

#[cfg(test)]
mod tests;
