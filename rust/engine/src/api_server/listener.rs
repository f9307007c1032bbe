//! Accepting connections and speaking HTTP on them, within bounds: a slow or hostile client costs only
//! itself.

use super::connection::{Admitted, Connection, Connections};
use super::core::Core;
use super::router;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// For a TLS handshake, and for the first byte of a connection.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// For the headers of a request from their first byte on; also the longest a kept-alive connection idles.
const HEADERS: Duration = Duration::from_secs(30);
/// Bytes of the headers of one request.
const HEADER_BYTES: usize = 64 * 1024;
/// Bytes that wait to be written on one connection.
const WRITE_BYTES: usize = 1024 * 1024;
/// Pause after a failed accept, which doubles up to the second.
const BACKOFF: Duration = Duration::from_millis(20);
const BACKOFF_MOST: Duration = Duration::from_secs(1);
/// Requests at once on one HTTP/2 connection, as by kube-apiserver.
const STREAMS: u32 = 250;

/// Accepts until the task is dropped.
pub(crate) async fn accept(
    core: Arc<Core>,
    connections: Arc<Connections>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
) {
    let mut backoff = BACKOFF;
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => {
                backoff = BACKOFF;
                stream
            }
            Err(error) => {
                core.accounting.connections(|c| c.accept_errors += 1);
                if is_resource_error(&error) {
                    // No descriptor or memory: an idle connection gives its own back.
                    connections.evict_idle();
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MOST);
                }
                continue;
            }
        };
        let connection = match connections.admit() {
            Admitted::Free(connection) => connection,
            Admitted::InPlaceOfIdle(connection) => {
                core.accounting.connections(|c| c.evicted += 1);
                connection
            }
            Admitted::Refused => {
                core.accounting.connections(|c| c.refused += 1);
                continue;
            }
        };
        core.accounting.connections(|c| {
            c.accepted += 1;
            c.open += 1;
        });
        let (core, connections, tls) = (Arc::clone(&core), Arc::clone(&connections), tls.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve(&core, &connection, stream, tls) => {}
                () = connection.close.notified() => {}
            }
            connections.closed(&connection);
            core.accounting.connections(|c| c.open -= 1);
        });
    }
}

fn is_resource_error(error: &io::Error) -> bool {
    let codes =
        [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOBUFS, rustix::io::Errno::NOMEM];
    error.raw_os_error().is_some_and(|code| codes.iter().any(|known| known.raw_os_error() == code))
}

async fn serve(core: &Arc<Core>, connection: &Arc<Connection>, stream: TcpStream, tls: Option<TlsAcceptor>) {
    // Each write is a whole frame or event; waiting for more would only delay it.
    let _ = stream.set_nodelay(true);
    let result = match tls {
        None => match tokio::time::timeout(HANDSHAKE, starts_http2(&stream)).await {
            Ok(Ok(http2)) => http(core, connection, stream, http2).await,
            _ => Err(()),
        },
        Some(acceptor) => {
            let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await else {
                core.accounting.connections(|c| c.handshake_failures += 1);
                return;
            };
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            http(core, connection, stream, http2).await
        }
    };
    if result.is_err() {
        core.accounting.connections(|c| c.protocol_errors += 1);
    }
}

/// Whether the connection begins with HTTP/2's preface ("PRI * HTTP/2.0", RFC 9113, 3.4): plain HTTP has
/// no negotiation.
async fn starts_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0u8; 4];
    loop {
        let count = stream.peek(&mut first).await?;
        if count == 0 || !b"PRI ".starts_with(&first[..count]) {
            return Ok(false);
        }
        if count == first.len() {
            return Ok(true);
        }
        // The rest of the preface is on its way.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn http(
    core: &Arc<Core>,
    connection: &Arc<Connection>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    http2: bool,
) -> Result<(), ()> {
    let service = service_fn(|request| router::handle(Arc::clone(core), Arc::clone(connection), request));
    connection.set_http2(http2);
    let io = TokioIo::new(stream);
    let served = if http2 {
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(u32::try_from(HEADER_BYTES).unwrap_or(u32::MAX))
            .max_send_buf_size(WRITE_BYTES)
            .keep_alive_interval(Some(HEADERS))
            .keep_alive_timeout(HEADERS)
            .serve_connection(io, service)
            .await
    } else {
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS)
            .max_header_size(HEADER_BYTES)
            .max_buf_size(WRITE_BYTES)
            .writev(true)
            .serve_connection(io, service)
            .await
    };
    // A client that closes its end, or sends nothing for a while, is no error.
    served.or_else(|error| if error.is_incomplete_message() || error.is_timeout() { Ok(()) } else { Err(()) })
}
