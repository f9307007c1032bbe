//! The verbs that change objects.

use super::core::Core;
use super::exchange::Exchange;
use super::respond::Reply;
use super::router::Call;
use super::semantics::status::Status;
use hyper::body::Incoming;
use std::sync::Arc;

/// Answers create, update, patch, delete and deletecollection.
pub(crate) async fn write(
    _core: &Arc<Core>,
    exchange: &Arc<Exchange>,
    _call: &Call,
    _body: Incoming,
) -> Result<Reply, Status> {
    Err(Status::not_implemented(exchange.asked().verb))
}
