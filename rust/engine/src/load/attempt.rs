//! One attempt at a request: sent on the connection of its slot, its answer read to the end.

use super::carry::Flight;
use super::exchange::{self, Answer, ERROR_TEXT_BYTES, Fault};
use super::job::Job;
use super::link::{Http1Use, Link};
use super::options::Protocol;
use super::outcome::Outcome;
use super::worker::Worker;
use crate::clock::now_ns;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// What Kubernetes' protobuf begins with.
const ENVELOPE: &[u8] = b"k8s\0";

/// How far an attempt has come, also when it is cut off.
#[derive(Default)]
pub(super) struct Reached {
    pub(super) first_ns: Cell<Option<u64>>,
    pub(super) bytes: Cell<u64>,
}

/// An answer that was read to its end.
struct Whole {
    status: u16,
    retry_after: Option<Duration>,
    text: Option<String>,
}

/// The end of an attempt.
pub(super) enum Attempt {
    /// The request has ended.
    Ended(Outcome, Option<String>),
    /// It is to be tried again on the same connection, after a wait.
    Retry(Duration),
    /// Its slot is given up, and it waits for another.
    Again(Duration),
}

impl Worker {
    /// Sends a request once, on the connection of its slot.
    pub(super) async fn attempt(self: &Rc<Self>, flight: &mut Flight, reached: &Reached) -> Attempt {
        let Some(number) = flight.slot.connection else { return Attempt::Again(Duration::ZERO) };
        let Some(job) = &mut flight.job else { return Attempt::Again(Duration::ZERO) };
        let Some(link) = self.links.borrow().get(&number).cloned() else { return Attempt::Again(Duration::ZERO) };
        let generation = link.generation();
        let mut used = None;
        let result = tokio::time::timeout(self.options.timeout, self.exchange(job, &link, &mut used, reached)).await;
        match result {
            Ok(Ok(whole)) => {
                link.served();
                if let Some(used) = used {
                    link.give_back(used);
                }
                self.answered(job, whole)
            }
            Ok(Err(Fault::NotSent)) => {
                self.lost(&link, generation);
                Attempt::Again(Duration::ZERO)
            }
            Ok(Err(Fault::Refused)) => {
                let Some(wait) = self.refused(job, &link, generation) else {
                    let outcome = Outcome::Http2(h2::Reason::REFUSED_STREAM.into());
                    return Attempt::Ended(outcome, Some("refused by the server each time".into()));
                };
                Attempt::Again(wait)
            }
            Ok(Err(Fault::Failed(outcome, text))) => {
                self.count_reset(outcome, Some((&link, generation)));
                if self.options.protocol == Protocol::Http1 {
                    self.lost(&link, generation);
                }
                Attempt::Ended(outcome, Some(text))
            }
            Err(_) => {
                // An HTTP/1.1 connection cannot be used again before the answer has come.
                if self.options.protocol == Protocol::Http1 {
                    self.lost(&link, generation);
                }
                Attempt::Ended(Outcome::TimedOut, None)
            }
        }
    }

    fn answered(&self, job: &Job, whole: Whole) -> Attempt {
        let status = whole.status;
        if job.accepts(status) {
            return Attempt::Ended(Outcome::Ok, None);
        }
        match whole.retry_after {
            Some(wait) if status == 429 && job.retries < self.options.max_retries => Attempt::Retry(wait),
            _ => Attempt::Ended(Outcome::Http(status), whole.text),
        }
    }

    async fn exchange(
        &self,
        job: &mut Job,
        link: &Link,
        used: &mut Option<Http1Use>,
        reached: &Reached,
    ) -> Result<Whole, Fault> {
        let token = self.options.endpoint.token();
        let Job { wire, stamps, due_ns, .. } = job;
        let sent = |now| self.sent(stamps, *due_ns, now);
        let answer = match self.options.protocol {
            Protocol::Http1 => {
                let using = &*used.insert(link.take_http1().ok_or(Fault::NotSent)?);
                exchange::http1(&using.sender, wire, token.as_ref(), sent).await?
            }
            Protocol::Http2 => {
                let sender = link.http2().ok_or(Fault::NotSent)?;
                exchange::http2(sender, wire, token.as_ref(), sent).await?
            }
        };
        reached.first_ns.set(Some(now_ns()));
        self.read(job, answer, reached).await
    }

    /// Reads a body to its end; nothing of it is kept but the beginning of an error.
    async fn read(&self, job: &Job, answer: Answer, reached: &Reached) -> Result<Whole, Fault> {
        let Answer { head, mut body } = answer;
        let status = head.status;
        let outcome = Outcome::Http(status);
        let retry_after = head.retry_after.filter(|_| status == 429);
        if let Some(level) = head.level {
            self.recording.borrow_mut().answered_at(level);
        }
        let mut text = (!job.accepts(status) && self.recording.borrow().describes(outcome)).then(Vec::new);
        while let Some(chunk) = body.chunk().await? {
            if reached.bytes.get() == 0 && chunk.starts_with(ENVELOPE) {
                self.recording.borrow_mut().counts.envelopes += 1;
            }
            reached.bytes.set(reached.bytes.get() + chunk.len() as u64);
            if let Some(text) = &mut text {
                let room = ERROR_TEXT_BYTES - text.len().min(ERROR_TEXT_BYTES);
                text.extend_from_slice(&chunk[..chunk.len().min(room)]);
            }
        }
        let text = text.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        Ok(Whole { status, retry_after, text })
    }
}
