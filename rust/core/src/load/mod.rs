//! Request load as data: what is asked of a server, and when.
//!
//! Every input (kperf's profiles, traces, audit logs) becomes a stream of [`Request`]s, which the engine sends
//! on their schedule.

mod api_path;
mod apply;
pub mod audit;
mod body;
mod counts;
mod dispatch;
mod frame_head;
pub mod kperf_replay;
mod list_body;
pub mod mix;
mod needs;
mod order;
pub mod patch_type;
mod protobuf;
pub mod query;
mod request;
pub mod rewrite;
mod seen;
mod series;
mod shares;
pub mod trace;
mod warnings;
pub mod watch_query;
mod watch_stream;

pub use api_path::{ApiPath, derived_key};
pub use apply::{FIELD_MANAGER, field_manager};
pub use body::body_name;
pub use counts::{Counts, CountsText};
pub use dispatch::{Dispatch, Effects, Planned, Slot, Start};
pub use list_body::{ListBody, ListPosition};
pub use needs::{CustomResource, Needs, ServiceAccount};
pub use order::{Order, Ordering, Place};
pub use request::{Body, Headers, Key, Request, RequestError, Requests, Verb, WatchEnd};
pub use series::series_key;
pub use shares::{KeyCounts, KeyShare, RunnerShare, Shares, SharesText};
pub use warnings::{Warning, Warnings};
pub use watch_stream::{WatchDecoder, WatchFrame};
