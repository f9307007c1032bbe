//! Kubernetes semantics: what the API server says and decides, as pure functions over JSON. No socket, no
//! store, no clock but the one that ages are printed with.

pub mod base64;
mod cells;
pub mod discovery;
pub mod field_selector;
pub mod instant;
mod kind_table;
pub mod kinds;
pub mod label_selector;
pub mod list_options;
pub mod names;
pub mod negotiate;
pub mod openapi;
pub mod patch;
mod pod_row;
pub mod quantity;
pub mod reviews;
pub mod schema;
pub mod status;
pub mod table;
pub mod usage;
pub mod write;
