//! The control address: plain HTTP beside the server, so that it works whatever the server does.

use super::http1::{Reader, Request};
use super::server::Server;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// Serves `GET /__counts`, `GET /__log` and `PUT /__behaviour`.
pub(crate) async fn serve(server: Arc<Server>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(Arc::clone(&server), stream))),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    }
}

async fn converse(server: Arc<Server>, mut stream: TcpStream) {
    let mut reader = Reader::new();
    while let Some(request) = reader.next(&mut stream).await {
        let (status, text) = answer(&server, &request);
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", text.len());
        if stream.write_all(format!("{head}{text}").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(server: &Server, request: &Request) -> (&'static str, String) {
    match (request.method.as_str(), request.target.as_str()) {
        ("GET", "/__counts") => ("200 OK", server.counts(|counts| counts.as_json()).to_string()),
        ("GET", "/__log") => ("200 OK", server.counts(|counts| counts.log()).to_string()),
        ("PUT", "/__behaviour") => match serde_json::from_slice(&request.body) {
            Ok(behaviour) => {
                server.behave(behaviour);
                ("200 OK", "{}".into())
            }
            Err(error) => ("400 Bad Request", serde_json::json!({"error": error.to_string()}).to_string()),
        },
        _ => ("404 Not Found", serde_json::json!({"error": "GET /__counts, GET /__log, PUT /__behaviour"}).to_string()),
    }
}
