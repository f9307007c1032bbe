//! One connection: socket, TLS, HTTP.

use super::endpoint::Endpoint;
use super::http1;
use super::options::Protocol;
use super::outcome::{ConnectionFault, Outcome};
use crate::clock::now_ns;
use bytes::Bytes;
use std::future::Future;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Windows of HTTP/2, those of Go's client: an answer is not held up by ours.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// Sends requests on a connection.
pub(super) enum Sender {
    Http1(http1::Sender),
    Http2(h2::client::SendRequest<Bytes>),
}

/// Carries a connection; it ends with it.
pub(super) type Driver = Pin<Box<dyn Future<Output = ()>>>;

/// A connection that is up.
pub(super) struct Connected {
    pub(super) sender: Sender,
    pub(super) driver: Driver,
    /// Socket, TLS and HTTP's first bytes.
    pub(super) handshake_ns: u64,
}

/// Why there is none.
#[derive(Clone, Debug)]
pub(super) struct ConnectError {
    pub(super) class: FailureClass,
    pub(super) outcome: Outcome,
    pub(super) text: String,
}

/// Why a run could not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureClass {
    /// Nobody listens there.
    Refused,
    /// The host has no address, or no way leads there.
    Unreachable,
    /// Certificates do not fit.
    Tls,
    /// The server does not speak what was asked for.
    Protocol,
    /// 401 or 403.
    Unauthorised,
    /// It took longer than the limit.
    Timeout,
    /// The requests need more streams than the connections have.
    Streams,
    /// What is to be sent is wrong.
    Input,
    /// A bug of the engine.
    Internal,
}

impl ConnectError {
    fn new(class: FailureClass, fault: ConnectionFault, text: impl std::fmt::Display) -> Self {
        Self { class, outcome: Outcome::Connection(fault), text: text.to_string() }
    }

    fn of_io(error: &io::Error, what: &str) -> Self {
        let fault = ConnectionFault::of_io(error, false);
        let class = match fault {
            ConnectionFault::Refused => FailureClass::Refused,
            ConnectionFault::TimedOut => FailureClass::Timeout,
            _ => FailureClass::Unreachable,
        };
        Self::new(class, fault, format!("{what}: {error}"))
    }
}

/// Opens a connection.
pub(super) async fn connect(endpoint: &Endpoint, protocol: Protocol) -> Result<Connected, ConnectError> {
    let began = now_ns();
    let place = format!("{}:{}", endpoint.host, endpoint.port);
    let socket = socket(endpoint, &place).await?;
    let Some((config, name)) = endpoint.tls(protocol) else {
        return http(socket, protocol, began).await;
    };
    let stream = TlsConnector::from(config).connect(name, socket).await.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            ConnectError::new(FailureClass::Tls, ConnectionFault::Tls, format!("{place}: TLS: {error}"))
        }
        _ => ConnectError::of_io(&error, &format!("{place}: TLS handshake")),
    })?;
    if protocol == Protocol::Http2 && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        let text = format!("{place} does not speak HTTP/2; ask for HTTP/1.1 (disableHTTP2: true)");
        return Err(ConnectError::new(FailureClass::Protocol, ConnectionFault::Other, text));
    }
    http(stream, protocol, began).await
}

async fn socket(endpoint: &Endpoint, place: &str) -> Result<TcpStream, ConnectError> {
    let addresses = tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port)).await.map_err(|error| {
        ConnectError::new(FailureClass::Unreachable, ConnectionFault::Name, format!("{place}: {error}"))
    })?;
    let mut last =
        ConnectError::new(FailureClass::Unreachable, ConnectionFault::Name, format!("{place} has no address"));
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Err(error) => last = ConnectError::of_io(&error, &address.to_string()),
        }
    }
    Err(last)
}

async fn http<S>(stream: S, protocol: Protocol, began: u64) -> Result<Connected, ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let failed = |text: String| ConnectError::new(FailureClass::Protocol, ConnectionFault::Other, text);
    let (sender, driver): (Sender, Driver) = match protocol {
        Protocol::Http1 => {
            let (sender, ended) = http1::connection(stream);
            (Sender::Http1(sender), Box::pin(ended))
        }
        Protocol::Http2 => {
            let (sender, connection) = h2::client::Builder::new()
                .enable_push(false)
                .initial_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .handshake(stream)
                .await
                .map_err(|error| failed(format!("HTTP/2: {error}")))?;
            let driver = Box::pin(async move {
                let _ = connection.await;
            });
            (Sender::Http2(sender), driver)
        }
    };
    Ok(Connected { sender, driver, handshake_ns: now_ns() - began })
}
