//! Lists that a watch needs: for the version that it begins at, and for what it has missed.

use super::carrier::Carrier;
use super::open::with_query;
use crate::clock::now_ns;
use crate::load::exchange::Fault;
use crate::load::job::{Job, Wire};
use crate::load::outcome::{Outcome, UnknownFault};
use crate::load::worker::Worker;
use hyper::http::header::{self, HeaderValue};
use perfq_core::load::watch_query::{list_again, list_whole};
use perfq_core::load::{ListBody, ListPosition};

fn unknown(text: String) -> Fault {
    Fault::Failed(Outcome::Unknown(UnknownFault::Other), text)
}

impl Worker {
    /// Reads the version that a recorded watch begins at, in the place of the recorded one. That takes its time
    /// before the send, as a request before it in the order would.
    pub(super) async fn latest(&self, job: &mut Job, carrier: &mut Carrier, list: &str) -> Result<String, Fault> {
        let began = now_ns();
        let mut asked = with_query(&job.wire, list).ok_or_else(|| unknown(format!("{list:?} is no query")))?;
        // One object of it is more than is needed, in the form that every resource has.
        let mut headers = (*asked.headers).clone();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        asked.headers = std::sync::Arc::new(headers);
        let read = self.read_page(&asked, carrier, "the version before a watch").await;
        if job.stamps.first_sent.is_none() {
            job.stamps.order_wait += now_ns() - began;
        }
        read?.version.ok_or_else(|| unknown("the list before a watch has no resourceVersion".to_owned()))
    }

    /// Lists what is watched, page by page; the resourceVersion to go on from. Where the server has let go of the
    /// pages meanwhile (410), the list is begun anew, in one piece, as an informer does.
    pub(super) async fn list_again(&self, wire: &Wire, carrier: &mut Carrier) -> Result<Option<String>, Fault> {
        let planned = wire.uri.query().unwrap_or("");
        let (mut token, mut expired) = (None::<String>, false);
        loop {
            let query = if expired { list_whole(planned) } else { list_again(planned, token.as_deref()) };
            let page = with_query(wire, &query).ok_or_else(|| unknown(format!("{query:?} is no query")))?;
            match self.read_page(&page, carrier, "re-list after 410").await {
                Ok(ListPosition { next: Some(next), .. }) => token = Some(next),
                Ok(ListPosition { version, .. }) => return Ok(version),
                Err(Fault::Failed(Outcome::Http(410), _)) if token.is_some() && !expired => {
                    self.recording.borrow_mut().watches.relists += 1;
                    expired = true;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// One page of a LIST, whole within the time-out. `what` names it where it fails.
    async fn read_page(&self, page: &Wire, carrier: &mut Carrier, what: &str) -> Result<ListPosition, Fault> {
        let reading = async {
            let answer = self.send_on(carrier, page, |_| ()).await?;
            let status = answer.head.status;
            let (mut list, mut body) = (ListBody::default(), answer.body);
            while let Some(chunk) = body.chunk().await? {
                self.recording.borrow_mut().watches.bytes += chunk.len() as u64;
                list.feed(chunk);
            }
            if status == 200 { Ok(list.position()) } else { Err(Fault::Failed(Outcome::Http(status), what.to_owned())) }
        };
        tokio::time::timeout(self.options.timeout, reading)
            .await
            .unwrap_or_else(|_| Err(Fault::Failed(Outcome::TimedOut, what.to_owned())))
    }
}
