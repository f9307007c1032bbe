//! A part of the recorded time, faster or slower.

use crate::load::request::{Request, WatchEnd};
use std::ops::ControlFlow;

/// A window and a speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timeline {
    speed: f64,
    from_us: u64,
    until_us: Option<u64>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    Inside,
    /// A watch from before the window that still lived in it: it begins with the window.
    Clipped,
    Outside,
}

impl Timeline {
    pub(super) fn new(speed: f64, from_us: u64, until_us: Option<u64>) -> Result<Self, String> {
        if !(speed.is_finite() && (0.001..=1000.0).contains(&speed)) {
            return Err(format!("speed is {speed}: 0.001 to 1000 was expected"));
        }
        if until_us.is_some_and(|until| until <= from_us) {
            return Err(format!("the window ends ({} us) before it begins ({from_us} us)", until_us.unwrap_or(0)));
        }
        Ok(Self { speed, from_us, until_us })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, and is never negative
    fn scaled(&self, us: u64) -> u64 {
        if (self.speed - 1.0).abs() < f64::EPSILON { us } else { (us as f64 / self.speed).round() as u64 }
    }

    /// Gives a request its place; `Break` where neither it nor any later one is in the window.
    pub(super) fn place(&self, request: &mut Request) -> ControlFlow<(), Placed> {
        let Some(due) = request.due_us else { return ControlFlow::Continue(Placed::Inside) };
        if self.until_us.is_some_and(|until| due >= until) {
            return ControlFlow::Break(());
        }
        let (start, placed) = if due >= self.from_us {
            (due, Placed::Inside)
        } else {
            match request.watch {
                Some(WatchEnd::WithTheRun) => (self.from_us, Placed::Clipped),
                Some(WatchEnd::After(us)) if due.saturating_add(us) > self.from_us => (self.from_us, Placed::Clipped),
                _ => return ControlFlow::Continue(Placed::Outside),
            }
        };
        if let Some(WatchEnd::After(us)) = request.watch {
            // A watch ends with the window.
            let end = due.saturating_add(us).min(self.until_us.unwrap_or(u64::MAX));
            request.watch = Some(WatchEnd::After(self.scaled(end - start)));
        }
        request.due_us = Some(self.scaled(start - self.from_us));
        ControlFlow::Continue(placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::request::Verb;

    fn placed(timeline: &Timeline, due: u64, watch: Option<WatchEnd>) -> Option<(Placed, u64, Option<WatchEnd>)> {
        let verb = if watch.is_some() { Verb::Watch } else { Verb::Get };
        let mut request = Request { due_us: Some(due), watch, ..Request::new(verb, "/") };
        match timeline.place(&mut request) {
            ControlFlow::Continue(placed) => Some((placed, request.due_us.unwrap(), request.watch)),
            ControlFlow::Break(()) => None,
        }
    }

    #[test]
    fn a_window_begins_at_t0_and_keeps_the_watches_that_live_in_it() {
        let timeline = Timeline::new(2.0, 1_000, Some(3_000)).unwrap();
        let after = |us| Some(WatchEnd::After(us));
        assert_eq!(placed(&timeline, 999, None), Some((Placed::Outside, 999, None)));
        assert_eq!(placed(&timeline, 1_000, None), Some((Placed::Inside, 0, None)));
        assert_eq!(placed(&timeline, 2_999, None), Some((Placed::Inside, 1_000, None)));
        assert_eq!(placed(&timeline, 3_000, None), None);
        assert_eq!(placed(&timeline, 500, after(500)).unwrap().0, Placed::Outside);
        assert_eq!(placed(&timeline, 500, after(600)), Some((Placed::Clipped, 0, after(50))));
        assert_eq!(placed(&timeline, 500, after(90_000)), Some((Placed::Clipped, 0, after(1_000))));
        assert_eq!(placed(&timeline, 2_000, after(90_000)), Some((Placed::Inside, 500, after(500))));
        assert_eq!(
            placed(&timeline, 0, Some(WatchEnd::WithTheRun)),
            Some((Placed::Clipped, 0, Some(WatchEnd::WithTheRun)))
        );
    }

    #[test]
    fn a_speed_of_nothing_and_a_window_that_is_empty_are_refused() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Timeline::new(speed, 0, None).unwrap_err().starts_with("speed is "), "{speed}");
        }
        assert_eq!(Timeline::new(1.0, 5, Some(5)).unwrap_err(), "the window ends (5 us) before it begins (5 us)");
    }
}
