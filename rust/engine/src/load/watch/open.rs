//! The opening of a watch's stream, from the version that it has come to.

use super::carrier::Carrier;
use crate::load::exchange::{self, Answer, Fault};
use crate::load::job::{Job, Position, Wire};
use crate::load::outcome::Outcome;
use crate::load::worker::Worker;
use hyper::http::uri::{PathAndQuery, Uri};
use perfq_core::load::query;
use perfq_core::load::watch_query::{of_latest, watch_from};
use std::cell::Cell;
use std::sync::Arc;

/// What a watch was answered with.
pub(super) enum Opened {
    /// Events, to be read; the instant of the send.
    Streams(Answer, u64),
    /// Its version is too old (410).
    Gone,
    /// No stream: another status, the expected one among them.
    Refused(Outcome, Option<String>),
}

impl Worker {
    /// Sends a watch, after the list that it needs; the answer is there within the time-out.
    pub(super) async fn open_stream(&self, job: &mut Job, carrier: &mut Carrier) -> Result<Opened, Fault> {
        if job.position == Position::Lost {
            let version = self.list_again(&job.wire, carrier).await?;
            self.recording.borrow_mut().watches.relists += 1;
            job.position = version.map_or(Position::Planned, Position::At);
        }
        let planned = job.wire.uri.query().unwrap_or("").to_owned();
        let query = match (&job.position, of_latest(&planned)) {
            (Position::At(version), _) => Some(watch_from(&planned, version)),
            (_, Some(list)) => {
                let version = self.latest(job, carrier, &list).await?;
                Some(query::replaced(&planned, "resourceVersion", &version))
            }
            _ => None,
        };
        let changed = query.and_then(|query| with_query(&job.wire, &query));
        let opening = self.opened(job, carrier, changed.as_ref());
        tokio::time::timeout(self.options.timeout, opening)
            .await
            .unwrap_or_else(|_| Err(Fault::Failed(Outcome::TimedOut, "no answer to a watch".to_owned())))
    }

    async fn opened(&self, job: &mut Job, carrier: &mut Carrier, changed: Option<&Wire>) -> Result<Opened, Fault> {
        let sent_ns = Cell::new(0);
        let answer = {
            let Job { wire, stamps, due_ns, .. } = job;
            let sent = |now| {
                sent_ns.set(now);
                self.sent(stamps, *due_ns, now);
            };
            self.send_on(carrier, changed.unwrap_or(wire), sent).await?
        };
        let status = answer.head.status;
        if (200..300).contains(&status) {
            return Ok(Opened::Streams(answer, sent_ns.get()));
        }
        let text = exchange::beginning(answer).await;
        Ok(match status {
            _ if job.accepts(status) => Opened::Refused(Outcome::Ok, None),
            410 => Opened::Gone,
            _ => Opened::Refused(Outcome::Http(status), text),
        })
    }
}

/// The same request with another query; `None` where that is none.
pub(super) fn with_query(wire: &Wire, query: &str) -> Option<Wire> {
    let mut parts = wire.uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{}?{query}", wire.uri.path())).ok()?);
    let uri = Uri::from_parts(parts).ok()?;
    Some(Wire { method: wire.method.clone(), uri, headers: Arc::clone(&wire.headers), body: wire.body.clone() })
}
