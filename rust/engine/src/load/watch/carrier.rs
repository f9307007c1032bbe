//! What carries a watch's streams and lists: a connection that it shares, or one of its own.

use super::StreamEnd;
use crate::clock::now_ns;
use crate::load::connect::{Connected, Sender};
use crate::load::exchange::{self, Answer, Fault};
use crate::load::http1;
use crate::load::job::{Job, Wire};
use crate::load::link::Link;
use crate::load::outcome::{ConnectionFault, Outcome};
use crate::load::worker::Worker;
use bytes::Bytes;
use perfq_core::load::Slot;
use std::rc::Rc;

/// A connection for one stream at a time.
pub(super) enum Carrier {
    /// One that is shared with others, and the generation of it.
    Shared { sender: h2::client::SendRequest<Bytes>, link: Rc<Link>, generation: u32 },
    /// One of its own.
    Own(http1::Sender),
}

impl Carrier {
    /// The connection that others use too, and its generation.
    pub(super) fn shared(&self) -> Option<(&Link, u32)> {
        match self {
            Self::Shared { link, generation, .. } => Some((link, *generation)),
            Self::Own(_) => None,
        }
    }
}

impl Worker {
    /// The connection of the slot, or one of the watch's own: the former one where it is still good.
    pub(super) async fn carrier(
        self: &Rc<Self>,
        job: &mut Job,
        slot: Slot,
        former: Option<Carrier>,
    ) -> Result<Carrier, StreamEnd> {
        if let Some(number) = slot.connection {
            let link = self.links.borrow().get(&number).cloned().ok_or(StreamEnd::AGAIN)?;
            let generation = link.generation();
            let Some(sender) = link.http2() else {
                self.lost(&link, generation);
                return Err(StreamEnd::AGAIN);
            };
            return Ok(Carrier::Shared { sender, link, generation });
        }
        if let Some(Carrier::Own(sender)) = former
            && !sender.is_closed()
        {
            return Ok(Carrier::Own(sender));
        }
        let began = now_ns();
        let connected = self.connect().await;
        if job.stamps.first_sent.is_none() {
            job.stamps.slot_wait += now_ns() - began;
        }
        let Connected { sender, driver, handshake_ns } =
            connected.map_err(|error| StreamEnd::Over(error.outcome, Some(error.text)))?;
        {
            let mut recording = self.recording.borrow_mut();
            recording.counts.opened += 1;
            recording.handshakes.record(handshake_ns);
        }
        tokio::task::spawn_local(driver);
        match sender {
            Sender::Http1(sender) => Ok(Carrier::Own(sender)),
            // The dispatch gives none of these a slot without a connection.
            Sender::Http2(_) => Err(StreamEnd::AGAIN),
        }
    }

    /// Sends a request on it.
    pub(super) async fn send_on(
        &self,
        carrier: &mut Carrier,
        wire: &Wire,
        sent: impl FnOnce(u64),
    ) -> Result<Answer, Fault> {
        let token = self.options.endpoint.token();
        match carrier {
            Carrier::Shared { sender, .. } => exchange::http2(sender.clone(), wire, token.as_ref(), sent).await,
            Carrier::Own(sender) => exchange::http1(sender, wire, token.as_ref(), sent).await,
        }
    }

    /// How a watch goes on for which there is no answer, or not all of it.
    pub(super) fn not_opened(self: &Rc<Self>, job: &mut Job, fault: Fault, carrier: &Carrier) -> StreamEnd {
        match (fault, carrier) {
            (Fault::NotSent, Carrier::Shared { link, generation, .. }) => {
                self.lost(link, *generation);
                StreamEnd::AGAIN
            }
            (Fault::Refused, Carrier::Shared { link, generation, .. }) => match self.refused(job, link, *generation) {
                Some(wait) => StreamEnd::Again(wait),
                None => StreamEnd::Over(Outcome::Http2(h2::Reason::REFUSED_STREAM.into()), None),
            },
            (Fault::NotSent | Fault::Refused, Carrier::Own(_)) => {
                let Some(wait) = self.sent_again(job) else {
                    let text = "the connection was closed each time before the watch was sent".to_owned();
                    return StreamEnd::Over(Outcome::Connection(ConnectionFault::Eof), Some(text));
                };
                StreamEnd::Again(wait)
            }
            (Fault::Failed(outcome, text), _) => StreamEnd::Over(outcome, Some(text)),
        }
    }
}
