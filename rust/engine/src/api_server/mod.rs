//! The embedded Kubernetes API server: real HTTP(S) on a socket, the objects and events of a plan,
//! injected failures, exact accounting.
//!
//! It has no controllers: objects are stored as they are written, deletion is immediate.

mod accounting;
mod body;
mod churn;
mod collection;
mod commits;
mod connection;
mod content;
mod core;
mod delete;
mod documents;
mod encode;
mod exchange;
mod faults;
mod filter;
mod frames;
#[cfg(fuzzing)]
pub mod fuzzing;
mod history;
mod interned;
mod items;
mod limit;
mod list;
mod listener;
mod log_container;
mod logs;
mod metrics_text;
mod object;
mod open_watch;
mod options;
mod page_token;
mod pages;
mod pod_status;
mod protobuf;
mod records;
mod request;
mod respond;
mod rope;
mod router;
pub mod semantics;
mod server;
mod shape;
mod store;
mod tls;
mod upload;
mod watch;
mod watch_info;
mod watchers;
mod writes;

pub use churn::ExtendError;
pub use commits::Committed;
pub use options::{Options, Start};
pub use server::{ApiServer, Progress};
