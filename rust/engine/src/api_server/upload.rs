//! Reading a request's body, within bounds.

use super::protobuf;
use super::respond::JSON;
use super::semantics::status::Status;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use std::time::Duration;

/// Bytes of one body, as by kube-apiserver.
pub(crate) const BODY_BYTES: usize = 3 * 1024 * 1024;
/// Time for one body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// A body that is an object, and its type: what comes as protobuf is JSON from here on.
pub(crate) async fn read_object(body: Incoming, content_type: Option<&str>) -> Result<(Bytes, Option<&str>), Status> {
    let bytes = read(body).await?;
    if protobuf::is_protobuf(content_type) && !bytes.is_empty() {
        return Ok((protobuf::to_json(&bytes)?.into(), Some(JSON)));
    }
    Ok((bytes, content_type))
}

/// The whole body; 413 where it is larger than the server takes, 400 where it does not come.
async fn read(body: Incoming) -> Result<Bytes, Status> {
    match tokio::time::timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Status::too_large(BODY_BYTES)),
        Ok(Err(error)) => Err(Status::bad_request(format!("the body could not be read: {error}"))),
        Err(_) => Err(Status::bad_request(format!("the body was not complete after {} s", BODY_TIME.as_secs()))),
    }
}
