//! The listener, and what both protocols ask it: what becomes of a request.

use super::arguments::Arguments;
use super::behaviour::{Accept, Action, Behaviour, GoAway, Rules};
use super::counts::Counts;
use super::gate::Gate;
use super::identity::Identity;
use super::kubernetes::{self, Target};
use super::reply::{Body, End, Filler, Reply, Response};
use super::socket::{Fate, Socket};
use super::watch::{Watch, WatchScript};
use super::{control, http1, http2};
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

struct State {
    rules: Rules,
    gate: Gate,
    counts: Counts,
}

/// What all connections share.
pub(crate) struct Server {
    state: Mutex<State>,
}

/// A request between its arrival and its end.
pub(crate) struct Open {
    server: Arc<Server>,
    path: String,
    completed: Option<u16>,
}

impl Open {
    /// The response of that status has been written to its proper end.
    pub(crate) fn complete(mut self, status: u16) {
        self.completed = Some(status);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.server.state().counts.ended(&self.path, self.completed);
    }
}

impl Server {
    /// Listens and serves until the process ends.
    pub(crate) async fn run(arguments: Arguments) -> io::Result<()> {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
        let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
        let control = TcpListener::bind("127.0.0.1:0").await?;
        let identity = match (&arguments.identity, arguments.tls) {
            (_, false) => None,
            (Some(folder), true) => Some(Identity::open(folder, arguments.certificate)?),
            (None, true) => {
                return Err(io::Error::other("--tls needs --identity DIR, where CA and certificate are kept"));
            }
        };
        let scheme = if identity.is_some() { "https" } else { "http" };
        let told = json!({"url": format!("{scheme}://{}", listener.local_addr()?),
            "control": format!("http://{}", control.local_addr()?),
            "ca_file": identity.as_ref().map(|identity| &identity.ca_file), "pid": std::process::id()});
        println!("{told}");
        let rules = Rules::new(arguments.behaviour);
        let state = Mutex::new(State { rules, gate: Gate::default(), counts: Counts::default() });
        let server = Arc::new(Self { state });
        tokio::spawn(control::serve(Arc::clone(&server), control));
        let acceptor = identity.map(|identity| TlsAcceptor::from(identity.config));
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(Arc::clone(&server), stream, acceptor.clone()))),
                // No descriptors: those of others may come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the behaviour; what its rules have seen begins anew.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        self.state().rules = Rules::new(behaviour);
    }

    /// Reads or changes the counters.
    pub(crate) fn counts<T>(&self, with: impl FnOnce(&mut Counts) -> T) -> T {
        with(&mut self.state().counts)
    }

    /// The stream limit and the GOAWAY of a new HTTP/2 connection.
    pub(crate) fn of_connection(&self) -> (Option<u32>, Option<GoAway>) {
        let state = self.state();
        (state.rules.behaviour().max_streams, state.rules.behaviour().goaway)
    }

    /// Counts a request, waits as long as the behaviour says, and tells what to do.
    pub(crate) async fn reply(self: &Arc<Self>, method: &str, target: &str, body: &[u8]) -> (Open, Reply) {
        let now = Instant::now();
        let (open, decision, served, watch) = {
            let mut state = self.state();
            let path = state.counts.arrived(method, target, body, now);
            let open = Open { server: Arc::clone(self), path, completed: None };
            let decision = state.rules.decide(method, target, now);
            let rate = state.rules.behaviour().rate;
            let served = rate.map(|rate| state.gate.enter(now, rate));
            (open, decision, served, state.rules.behaviour().watch.clone())
        };
        if let Some(served) = served {
            tokio::time::sleep_until(served.into()).await;
        }
        if !decision.wait.is_zero() {
            tokio::time::sleep(decision.wait).await;
        }
        (open, reply(decision.action, method, target, watch))
    }
}

fn reply(action: Action, method: &str, target: &str, watch: WatchScript) -> Reply {
    let response = match action {
        Action::Never => return Reply::Nothing(End::Hang),
        Action::Reset => return Reply::Nothing(End::Reset),
        Action::Close => return Reply::Nothing(End::Close),
        Action::RstStream(code) => return Reply::Nothing(End::RstStream(code)),
        Action::Garbage => return Reply::Garbage,
        Action::Answer => match Target::parse(target) {
            Some(about) if method == "GET" && about.is_watch() => watching(watch, about),
            _ => {
                let (status, text) = kubernetes::answer(method, target);
                Response::json(status, text)
            }
        },
        Action::Status { code, retry_after, headers } => {
            let mut response = Response::json(code, kubernetes::failure(code));
            response.headers.extend(headers);
            response.headers.extend(retry_after.map(|value| ("retry-after".to_owned(), value)));
            response
        }
        Action::Cut { announced, sent, end } => {
            let filler = Filler { left: Some(sent), piece: 64 * 1024, pause: Duration::ZERO };
            Response::filler(Some(announced), filler, end)
        }
        Action::Body { bytes, piece, pause_ms } => {
            let filler = Filler { left: Some(bytes), piece, pause: super::behaviour::milliseconds(pause_ms) };
            Response::filler(Some(bytes), filler, End::Proper)
        }
        Action::Endless { piece, pause_ms } => {
            let filler = Filler { left: None, piece, pause: super::behaviour::milliseconds(pause_ms) };
            Response::filler(None, filler, End::Proper)
        }
        Action::Watch(script) => watching(script, Target::parse(target).unwrap_or_default()),
    };
    Reply::Full(Box::new(response))
}

fn watching(script: WatchScript, about: Target) -> Response {
    let end = Watch::end(&script);
    let headers = vec![("content-type".into(), "application/json;stream=watch".into())];
    Response { status: 200, headers, length: None, body: Body::Watch(Watch::new(script, about)), end }
}

async fn connection(server: Arc<Server>, stream: TcpStream, tls: Option<TlsAcceptor>) {
    let accept = {
        let mut state = server.state();
        let connections = &mut state.counts.connections;
        connections.accepted += 1;
        connections.open += 1;
        connections.most_open = connections.most_open.max(connections.open);
        state.rules.behaviour().accept
    };
    let fate = Fate::default();
    let socket = Socket::new(stream, fate.clone());
    match accept {
        Accept::Serve => {
            if speak(&server, socket, &fate, tls).await.is_none() {
                server.counts(|counts| counts.connections.handshake_failures += 1);
            }
        }
        Accept::Ignore => {
            let _kept = socket;
            std::future::pending::<()>().await;
        }
    }
    server.counts(|counts| {
        counts.connections.open -= 1;
        counts.connections.resets += u64::from(fate.is_reset());
    });
}

/// `None` where there was no connection to speak on.
async fn speak(server: &Arc<Server>, socket: Socket, fate: &Fate, tls: Option<TlsAcceptor>) -> Option<()> {
    let Some(acceptor) = tls else {
        if socket.starts_http2().await.ok()? {
            http2::serve(server, socket, fate).await;
        } else {
            http1::serve(server, socket, fate).await;
        }
        return Some(());
    };
    let stream = acceptor.accept(socket).await.ok()?;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        http2::serve(server, stream, fate).await;
    } else {
        http1::serve(server, stream, fate).await;
    }
    Some(())
}
