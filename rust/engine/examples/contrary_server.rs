//! A contrary HTTP server on loopback, for tests of clients: it answers fast and well until it is told otherwise.
//!
//! HTTP/1.1 and HTTP/2 on one port, plain or with TLS and a CA of its own. Prints one JSON line when it listens:
//!
//! ```json
//! {"url": "https://127.0.0.1:40001", "control": "http://127.0.0.1:40002", "ca_file": "/…/ca.pem", "pid": 1234}
//! ```
//!
//! How it behaves is a JSON document (`contrary/behaviour.rs`), given with `--behaviour` and replaced at any time by a
//! PUT to the control address, which also tells what the server saw (`GET /__counts`).
//!
//! Flags: `--port N` (default: a free one), `--tls`, `--certificate valid|expired|other-name`, `--identity DIR` (where
//! CA and certificate are kept, so that a restarted server is the same one), `--behaviour JSON`. It ends with the
//! process that started it.

mod contrary;

use contrary::{Arguments, Server};
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = Arguments::parse(std::env::args().skip(1)).and_then(|arguments| {
        // One thread: what is served stands in one order, and a client under test keeps the other cores.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        runtime.block_on(Server::run(arguments)).map_err(|error| error.to_string())
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("contrary server: {text}");
            ExitCode::from(2)
        }
    }
}
