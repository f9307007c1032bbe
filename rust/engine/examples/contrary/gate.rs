//! A service of constant rate: one line for all requests, a fixed time for each (M/D/1 under Poisson arrivals).

use std::time::{Duration, Instant};

/// When the server is free again.
#[derive(Default)]
pub(crate) struct Gate {
    free: Option<Instant>,
}

impl Gate {
    /// Takes the next place in the line: the instant at which the request has been served at `rate` a second.
    pub(crate) fn enter(&mut self, now: Instant, rate: f64) -> Instant {
        let start = self.free.map_or(now, |free| free.max(now));
        let done = start + Duration::from_secs_f64(1.0 / rate.max(1e-3));
        self.free = Some(done);
        done
    }
}
