//! HTTP/2 by the h2 crate, with GOAWAY and ends of its own.

use super::behaviour::GoAway;
use super::goaway::{Inserted, Inserter, goaway};
use super::reply::{End, Reply, Response};
use super::server::{Open, Server};
use super::socket::Fate;
use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

type Streamed = (hyper::Request<RecvStream>, SendResponse<Bytes>);

/// For what is still to be written before the connection ends.
const LAST_WORDS: Duration = Duration::from_millis(20);
/// For streams beyond the last id of a GOAWAY to come.
const MORE_STREAMS: Duration = Duration::from_millis(200);

/// What a stream tells its connection.
enum Told {
    Over,
    End(End),
    Garbage,
}

/// A connection that may be told to go away.
struct Leaving {
    wanted: Option<GoAway>,
    opened: u64,
    /// The last stream that is looked at.
    last: Option<u32>,
    /// Those beyond: held, never answered.
    held: Vec<Streamed>,
    told: bool,
}

/// Serves a connection to its end.
pub(crate) async fn serve<S>(server: &Arc<Server>, stream: S, fate: &Fate)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    server.counts(|counts| counts.connections.http2 += 1);
    let (limit, wanted) = server.of_connection();
    let (stream, inserter) = Inserted::new(stream);
    let mut builder = h2::server::Builder::new();
    builder.initial_window_size(1 << 20).initial_connection_window_size(1 << 24);
    if let Some(limit) = limit {
        builder.max_concurrent_streams(limit);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut leaving = Leaving { wanted, opened: 0, last: None, held: Vec::new(), told: false };
    let mut open = 0u64;
    loop {
        let more_may_come = leaving.last.is_some() && !leaving.told;
        tokio::select! {
            accepted = connection.accept() => {
                let Some(Ok(streamed)) = accepted else { break };
                if let Some((request, respond)) = leaving.admit(server, &inserter, streamed) {
                    open += 1;
                    tokio::spawn(exchange(Arc::clone(server), request, respond, tell.clone()));
                }
            }
            Some(word) = told.recv() => match word {
                Told::Over => open -= 1,
                Told::Garbage => {
                    inserter.insert(b"this is no frame at all, and its length is nonsense too");
                    return finish(connection).await;
                }
                Told::End(end) => {
                    if end == End::Reset {
                        fate.reset();
                    }
                    return finish(connection).await;
                }
            },
            () = tokio::time::sleep(MORE_STREAMS), if more_may_come => leaving.tell(server, &inserter),
        }
        if leaving.told && open == 0 {
            return finish(connection).await;
        }
    }
}

impl Leaving {
    /// Hands the stream back where it is to be served.
    fn admit(&mut self, server: &Server, inserter: &Inserter, streamed: Streamed) -> Option<Streamed> {
        self.opened += 1;
        if self.last.is_some() {
            self.held.push(streamed);
            server.counts(|counts| counts.connections.unprocessed += 1);
        } else {
            let wanted = self.wanted.filter(|wanted| self.opened >= wanted.after_streams);
            if wanted.is_some() {
                self.last = Some(streamed.1.stream_id().into());
            }
            self.tell_where_due(server, inserter);
            return Some(streamed);
        }
        self.tell_where_due(server, inserter);
        None
    }

    fn tell_where_due(&mut self, server: &Server, inserter: &Inserter) {
        if self.last.is_some() && self.wanted.is_some_and(|wanted| self.held.len() as u64 >= wanted.unprocessed) {
            self.tell(server, inserter);
        }
    }

    /// Sends the GOAWAY, once.
    fn tell(&mut self, server: &Server, inserter: &Inserter) {
        if let Some(last) = self.last.filter(|_| !self.told) {
            self.told = true;
            inserter.insert(&goaway(last));
            server.counts(|counts| counts.connections.goaways += 1);
        }
    }
}

/// Lets the connection write what it has, and ends it. Streams that still come are let go after it: before, each
/// would be reset.
async fn finish<S: AsyncRead + AsyncWrite + Unpin>(mut connection: Connection<Inserted<S>, Bytes>) {
    let mut kept = Vec::new();
    let last_words = async {
        while let Some(Ok(streamed)) = connection.accept().await {
            kept.push(streamed);
        }
    };
    let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
    drop(connection);
    drop(kept);
}

async fn exchange(
    server: Arc<Server>,
    request: hyper::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    tell: mpsc::UnboundedSender<Told>,
) {
    let (head, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(piece)) = incoming.data().await {
        let _ = incoming.flow_control().release_capacity(piece.len());
        body.extend(&piece);
    }
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let replied = tokio::select! {
        replied = server.reply(head.method.as_str(), target, &body) => Some(replied),
        _ = poll_fn(|cx| respond.poll_reset(cx)) => None,
    };
    if let Some((open, reply)) = replied {
        match reply {
            Reply::Nothing(end) => nothing(end, &mut respond, &tell).await,
            Reply::Garbage => end_all(&tell, Told::Garbage).await,
            Reply::Full(response) => {
                // A stream that the client has reset needs nothing more.
                let _ = full(&mut respond, *response, open, &tell).await;
            }
        }
    }
    let _ = tell.send(Told::Over);
}

/// Ends the connection, and holds the stream until it has ended: one that is let go is reset before.
async fn end_all(tell: &mpsc::UnboundedSender<Told>, word: Told) {
    let _ = tell.send(word);
    tell.closed().await;
}

async fn nothing(end: End, respond: &mut SendResponse<Bytes>, tell: &mpsc::UnboundedSender<Told>) {
    match end {
        End::Proper | End::Close | End::Reset => end_all(tell, Told::End(end)).await,
        End::RstStream(code) => respond.send_reset(Reason::from(code)),
        End::Hang => drop(poll_fn(|cx| respond.poll_reset(cx)).await),
    }
}

async fn full(
    respond: &mut SendResponse<Bytes>,
    mut response: Response,
    open: Open,
    tell: &mpsc::UnboundedSender<Told>,
) -> Result<(), ()> {
    let mut head = hyper::Response::builder().status(response.status);
    for (name, value) in &response.headers {
        head = head.header(name, value);
    }
    if let Some(length) = response.length {
        head = head.header("content-length", length);
    }
    let head = head.body(()).map_err(drop)?;
    let mut stream = respond.send_response(head, false).map_err(drop)?;
    loop {
        let piece = tokio::select! {
            piece = response.body.next() => piece,
            _ = poll_fn(|cx| stream.poll_reset(cx)) => return Err(()),
        };
        let Some(piece) = piece else { break };
        send(&mut stream, piece).await?;
    }
    match response.end {
        End::Proper => {
            stream.send_data(Bytes::new(), true).map_err(drop)?;
            open.complete(response.status);
        }
        End::Close | End::Reset => end_all(tell, Told::End(response.end)).await,
        End::RstStream(code) => stream.send_reset(Reason::from(code)),
        End::Hang => drop(poll_fn(|cx| stream.poll_reset(cx)).await),
    }
    Ok(())
}

/// As much at a time as the client's window takes.
async fn send(stream: &mut SendStream<Bytes>, mut piece: Bytes) -> Result<(), ()> {
    while !piece.is_empty() {
        stream.reserve_capacity(piece.len());
        while stream.capacity() == 0 {
            poll_fn(|cx| stream.poll_capacity(cx)).await.ok_or(())?.map_err(drop)?;
        }
        let count = stream.capacity().min(piece.len());
        stream.send_data(piece.split_to(count), false).map_err(drop)?;
    }
    Ok(())
}
