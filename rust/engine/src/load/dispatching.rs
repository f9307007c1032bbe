//! What a worker asks of the dispatch: what follows is handed on, and a closed loop is told what it may send more.

use super::connect::ConnectError;
use super::job::Job;
use super::record::ErrorText;
use super::shared::{JobEffects, JobStart};
use super::worker::{Event, Worker};
use crate::clock::now_ns;
use perfq_core::load::Dispatch;
use std::rc::Rc;

impl Worker {
    /// Changes what the dispatch holds of a lane; what is to begin on this worker is given back.
    pub(super) fn dispatched(
        &self,
        lane: u32,
        change: impl FnOnce(&mut Dispatch<Box<Job>>, &mut JobEffects),
    ) -> Vec<JobStart> {
        let mut effects = JobEffects::default();
        let mut dispatch = self.shared.dispatch.lock();
        change(&mut dispatch, &mut effects);
        let (waiting, idle) = (dispatch.waiting(lane), self.shared.is_idle(&dispatch));
        drop(dispatch);
        self.shared.waiting_in(lane, waiting);
        self.shared.deliver(&mut effects, Some(self.index));
        if idle {
            let _ = self.options.events.send(Event::Idle);
        }
        effects.starts
    }

    /// The same; it begins.
    pub(super) fn dispatch(self: &Rc<Self>, lane: u32, change: impl FnOnce(&mut Dispatch<Box<Job>>, &mut JobEffects)) {
        for start in self.dispatched(lane, change) {
            self.begin(start);
        }
    }

    /// A connection of a lane has so many streams from now on; 0: it is down.
    pub(super) fn set_streams(self: &Rc<Self>, lane: u32, connection: u32, streams: u32) {
        self.dispatch(lane, |dispatch, effects| dispatch.set_streams(connection, streams, now_ns(), effects));
    }

    /// No connection of the lane is up, and an attempt failed: so do the requests that wait for one.
    pub(super) fn fail_waiting(self: &Rc<Self>, lane: u32, error: &ConnectError) {
        let now = now_ns();
        self.dispatch(lane, |dispatch, effects| {
            if dispatch.is_up(lane) {
                return;
            }
            for job in dispatch.take_waiting_of(lane) {
                dispatch.ended_unsent(job.place, now, effects);
                let (series, outcome, text) = (job.series, error.outcome, error.text.clone());
                let mut recording = self.recording.borrow_mut();
                recording.describe(ErrorText { t: now, series, outcome, text });
                recording.sample(job.sample(outcome, None, now, 0));
            }
        });
    }
}
