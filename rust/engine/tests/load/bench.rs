//! A server that answers as a test says, and a run against it.

use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use perfq_engine::load::{LoadResult, LoadRun, Progress};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A body that a test builds.
pub(crate) type Body = http_body_util::combinators::BoxBody<Bytes, std::io::Error>;

/// A whole body.
pub(crate) fn full(text: impl Into<Bytes>) -> Body {
    use http_body_util::BodyExt;
    http_body_util::Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed()
}

/// 200 with a body.
pub(crate) fn ok(text: impl Into<Bytes>) -> Response<Body> {
    Response::new(full(text))
}

/// Sends the pieces of a streamed body; the body ends when it is dropped.
pub(crate) type Streamed = tokio::sync::mpsc::UnboundedSender<std::io::Result<Bytes>>;

/// A body whose pieces come as they are sent; an error breaks it off.
pub(crate) fn streamed() -> (Body, Streamed) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    (Body::new(Pieces(receiver)), sender)
}

struct Pieces(tokio::sync::mpsc::UnboundedReceiver<std::io::Result<Bytes>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// Another status.
pub(crate) fn status(code: u16) -> Response<Body> {
    Response::builder().status(code).body(full("{\"kind\":\"Status\"}")).unwrap()
}

/// Serves HTTP/1.1 and HTTP/2 in plain text on a free port, until the process ends. `/version` is answered by
/// itself, so that `answer` sees the planned requests alone.
pub(crate) fn serve<A, F>(answer: A) -> SocketAddr
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                let answer = Arc::clone(&answer);
                tokio::spawn(async move {
                    let service = service_fn(move |request: Request<Incoming>| {
                        let answer = Arc::clone(&answer);
                        async move {
                            if request.uri().path() == "/version" {
                                return Ok::<_, Infallible>(ok("{}"));
                            }
                            Ok(answer(request).await)
                        }
                    });
                    let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
    });
    address
}

/// An answer that never comes, and a body that never ends: what a server that hangs gives.
pub(crate) async fn never() -> Response<Body> {
    std::future::pending().await
}

/// A mix of GETs of one object.
pub(crate) fn gets(stages: &Value, total: Option<u64>) -> Value {
    json!({"mix": {"seed": 1, "stages": stages, "total": total, "requests": [{"shares": 1, "request":
        {"shape": "plain", "verb": "GET", "collection": "/api/v1/namespaces/a/pods", "name": "x"}}]}})
}

/// A trace of these lines; the file lives as long as the first of the two.
pub(crate) fn trace(lines: &[Value]) -> (tempfile::TempPath, Value) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", json!({"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []})).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    let path = file.into_temp_path();
    let source = json!({"trace": {"path": &*path}});
    (path, source)
}

/// One segment over HTTP/1.1 with 2 connections, with `changes` on top.
pub(crate) fn segment(source: &Value, changes: &Value) -> Value {
    let mut segment = json!({"source": source, "connections": 2, "in_flight": 2, "protocol": "http1"});
    merge(&mut segment, changes);
    segment
}

fn merge(into: &mut Value, changes: &Value) {
    let (Value::Object(into), Value::Object(changes)) = (into, changes) else { return };
    into.extend(changes.clone());
}

/// Starts a run.
pub(crate) fn start(address: SocketAddr, segments: &Value, changes: &Value) -> LoadRun {
    let mut options = json!({"endpoint": {"url": format!("http://{address}")}, "segments": segments});
    merge(&mut options, changes);
    LoadRun::start(serde_json::from_value(options).unwrap(), None).unwrap()
}

/// Runs to the end.
pub(crate) fn finish(run: &LoadRun) -> (LoadResult, Progress) {
    assert!(run.wait(Duration::from_secs(60)), "the run did not end: {:?}", run.progress());
    let result = run.result();
    for segment in &result.segments {
        let ended = segment.ok
            + segment.errors.values().sum::<u64>()
            + segment.timed_out
            + segment.cancelled
            + segment.not_sent;
        assert_eq!(ended, segment.planned, "{segment:?}");
    }
    (result, run.progress())
}
