//! Reading a request's body, within bounds.

use super::protobuf;
use super::respond::JSON;
use super::semantics::status::Status;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::time::Duration;

/// Bytes of one body, as by kube-apiserver.
pub(crate) const BODY_BYTES: usize = 3 * 1024 * 1024;
/// A larger body is read on to here and thrown away: a client that is still sending does not read why it
/// was refused.
const DRAINED_BYTES: usize = 64 * 1024 * 1024;
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
    tokio::time::timeout(BODY_TIME, within_bounds(body)).await.unwrap_or_else(|_| {
        Err(Status::bad_request(format!("the body was not complete after {} s", BODY_TIME.as_secs())))
    })
}

async fn within_bounds(mut body: Incoming) -> Result<Bytes, Status> {
    let mut kept = BytesMut::new();
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Status::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen <= BODY_BYTES {
            kept.extend_from_slice(&data);
        } else if seen > DRAINED_BYTES {
            break;
        } else {
            kept = BytesMut::new();
        }
    }
    if seen > BODY_BYTES { Err(Status::too_large(BODY_BYTES)) } else { Ok(kept.freeze()) }
}
