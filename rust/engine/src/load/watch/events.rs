//! The events of a watch's stream, until it or the watch ends.

use super::{StreamEnd, end_of};
use crate::clock::now_ns;
use crate::load::exchange::{Answer, Fault};
use crate::load::job::{Job, Position};
use crate::load::outcome::{ConnectionFault, Outcome, UnknownFault};
use crate::load::record::Recording;
use crate::load::worker::Worker;
use perfq_core::load::{WatchDecoder, WatchEnd, WatchFrame, query};
use std::time::Duration;
use tokio::time::Instant;

/// What a frame does to its stream.
enum Halt {
    /// The watch has ended.
    Over(Outcome, Option<String>),
    /// The version is too old.
    Gone,
}

impl Worker {
    /// Reads events until the stream or the watch ends, and keeps the position that it has come to.
    pub(super) async fn events(&self, job: &mut Job, answer: Answer, sent_ns: u64) -> StreamEnd {
        let mut decoder = WatchDecoder::new(answer.head.protobuf);
        let end = self.read_events(job, answer, &mut decoder, sent_ns).await;
        if let Some(version) = decoder.resource_version() {
            job.position = Position::At(version);
        }
        match end {
            Ok(end) => end,
            Err(Halt::Over(outcome, text)) => StreamEnd::Over(outcome, text),
            Err(Halt::Gone) => {
                job.position = Position::Lost;
                StreamEnd::BrokenOff
            }
        }
    }

    async fn read_events(
        &self,
        job: &Job,
        answer: Answer,
        decoder: &mut WatchDecoder,
        sent_ns: u64,
    ) -> Result<StreamEnd, Halt> {
        let mut body = answer.body;
        let end = end_of(job);
        let mut first = true;
        let far = Instant::now() + Duration::from_secs(86_400 * 365);
        let over = tokio::time::sleep_until(end.unwrap_or(far));
        tokio::pin!(over);
        let told = self.told_to_end(job);
        tokio::pin!(told);
        loop {
            let chunk = tokio::select! {
                biased;
                () = &mut over => return Ok(StreamEnd::ok()),
                outcome = &mut told => return Ok(StreamEnd::Over(outcome, None)),
                chunk = tokio::time::timeout(self.options.watch_silence, body.chunk()) => chunk,
            };
            match chunk {
                Err(_) => return Ok(StreamEnd::Over(Outcome::TimedOut, None)),
                Ok(Err(Fault::Failed(outcome, text))) => {
                    return Ok(StreamEnd::Over(outcome, Some(text)));
                }
                Ok(Err(Fault::NotSent | Fault::Refused) | Ok(None)) => return Ok(stream_ended(job, decoder, end)),
                Ok(Ok(Some(chunk))) => self.take_frames(job, decoder, chunk, sent_ns, &mut first)?,
            }
        }
    }

    /// Counts the frames of a chunk; an error where one of them ends the stream.
    fn take_frames(
        &self,
        job: &Job,
        decoder: &mut WatchDecoder,
        chunk: &[u8],
        sent_ns: u64,
        first: &mut bool,
    ) -> Result<(), Halt> {
        let Recording { watches, watch_latencies, .. } = &mut *self.recording.borrow_mut();
        watches.bytes += chunk.len() as u64;
        let now = now_ns();
        let mut halt = None;
        decoder.feed(chunk, |frame| match frame {
            WatchFrame::Event => {
                watches.events += 1;
                if std::mem::take(first) {
                    watch_latencies.first_event.record(now.saturating_sub(sent_ns));
                }
            }
            WatchFrame::Bookmark { initial } => {
                watches.bookmarks += 1;
                if initial {
                    watch_latencies.initial_bookmark.record(now.saturating_sub(sent_ns));
                    if job.watch == Some(WatchEnd::InitialBookmark) {
                        halt.get_or_insert(Halt::Over(Outcome::Ok, None));
                    }
                }
            }
            WatchFrame::Error { gone: true } => {
                halt.get_or_insert(Halt::Gone);
            }
            WatchFrame::Error { gone: false } => {
                let text = "the watch ended with an ERROR event".to_owned();
                halt.get_or_insert(Halt::Over(Outcome::Unknown(UnknownFault::Watch), Some(text)));
            }
        });
        halt.map_or(Ok(()), Err)
    }
}

/// The server has ended the stream, as it may: an informer goes on from there.
fn stream_ended(job: &Job, decoder: &WatchDecoder, end: Option<Instant>) -> StreamEnd {
    if decoder.in_frame() {
        let text = "the stream ended within an event".to_owned();
        return StreamEnd::Over(Outcome::Connection(ConnectionFault::UnexpectedEof), Some(text));
    }
    match job.watch {
        Some(WatchEnd::InitialBookmark) => {
            let text = "the stream ended before the bookmark of the initial events".to_owned();
            StreamEnd::Over(Outcome::Unknown(UnknownFault::Bookmark), Some(text))
        }
        // The server keeps the time-out that the watch asks for: the recorded one ended for the same reason.
        Some(WatchEnd::After(_)) if query::value(job.wire.uri.query(), "timeoutSeconds").is_some() => StreamEnd::ok(),
        Some(WatchEnd::After(_)) if end.is_some_and(|end| end <= Instant::now()) => StreamEnd::ok(),
        _ => StreamEnd::GoOn,
    }
}
