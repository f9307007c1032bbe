//! When requests are due: an integral of the rate over time, turned round.
//!
//! The k-th request of a constant arrival is due when the rate has added up to k requests; those of a Poisson
//! arrival when it has added up to a sum of exponential gaps (Lewis and Shedler 1979, time-scale transformation).
//! All in integers: a rate of one millionth of a request a second over one microsecond is 10⁻¹² requests, and
//! since a ramp's integral has halves of that, a unit here is half of it.

use super::spec::{Arrival, Stage};
use crate::rng::Mt19937;

/// Units of one whole request.
const REQUEST: i128 = 2_000_000_000_000;

/// The stages as a function from "so much has come" to an instant.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    stages: Vec<Placed>,
    end: Option<End>,
}

/// A stage, where it starts and what came before it.
#[derive(Clone, Copy, Debug)]
struct Placed {
    start_us: u64,
    before: i128,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at_us: u64,
    units: i128,
}

impl Schedule {
    /// The stages one after another.
    pub(super) fn new(stages: &[Stage]) -> Self {
        let mut placed = Vec::with_capacity(stages.len());
        let (mut start_us, mut before) = (0u64, 0i128);
        let mut end = Some(End { at_us: 0, units: 0 });
        for stage in stages {
            placed.push(Placed { start_us, before, stage: *stage });
            if let Some(duration) = stage.duration_us {
                before += (i128::from(stage.from_micros) + i128::from(stage.to_micros)) * i128::from(duration);
                start_us = start_us.saturating_add(duration);
                end = Some(End { at_us: start_us, units: before });
            } else {
                end = None;
            }
        }
        Self { stages: placed, end }
    }

    /// The end of the last stage; `None` where it has none.
    pub(super) fn end_us(&self) -> Option<u64> {
        self.end.map(|end| end.at_us)
    }

    /// How many requests of a constant arrival there are, at most `total`, and when the next one would be due.
    ///
    /// The instant is `None` where the stages end first; without an end there must be a `total`.
    pub(super) fn constant_plan(&self, total: Option<u64>) -> (u64, Option<u64>) {
        let room = self.end.map(|end| u64::try_from((end.units + REQUEST - 1) / REQUEST).unwrap_or(u64::MAX));
        let count = total.unwrap_or(u64::MAX).min(room.unwrap_or(u64::MAX));
        (count, self.instant_us(i128::from(count) * REQUEST))
    }

    /// The instant at which `units` have come, rounded down; `None` at the end and beyond.
    fn instant_us(&self, units: i128) -> Option<u64> {
        if self.end.is_some_and(|end| units >= end.units) {
            return None;
        }
        let index = self.stages.partition_point(|placed| placed.before <= units).checked_sub(1)?;
        let placed = self.stages.get(index)?;
        Some(placed.start_us.saturating_add(placed.stage.instant_us(units - placed.before)))
    }
}

impl Stage {
    /// The last whole microsecond by which no more than `units` have come, from the start of the stage.
    fn instant_us(&self, units: i128) -> u64 {
        let (from, to) = (i128::from(self.from_micros), i128::from(self.to_micros));
        let (Some(duration), true) = (self.duration_us, from != to) else {
            return u64::try_from(units.checked_div(2 * from).unwrap_or(i128::MAX)).unwrap_or(u64::MAX);
        };
        let length = i128::from(duration);
        let (mut low, mut high) = (0i128, length);
        while low < high {
            let middle = (low + high + 1) / 2;
            // units(t) = 2·from·t + (to − from)·t²/length
            if (2 * from * length + (to - from) * middle) * middle <= units * length {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        u64::try_from(low).unwrap_or(duration)
    }
}

/// The due instants of one runner, in order, without end where the stages have none.
#[derive(Clone)]
pub(super) struct DueInstants {
    schedule: Schedule,
    arrival: Arrival,
    rng: Mt19937,
    units: i128,
    first: bool,
}

impl DueInstants {
    /// `rng` is drawn from by Poisson arrivals only.
    pub(super) fn new(schedule: Schedule, arrival: Arrival, rng: Mt19937) -> Self {
        Self { schedule, arrival, rng, units: 0, first: true }
    }
}

impl Iterator for DueInstants {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.units += match self.arrival {
            Arrival::Constant if self.first => 0,
            Arrival::Constant => REQUEST,
            Arrival::Poisson => (i128::from(exponential(&mut self.rng)) * REQUEST) >> 32,
        };
        self.first = false;
        self.schedule.instant_us(self.units)
    }
}

/// An exponential variate of mean 1, in units of 2⁻³².
///
/// Von Neumann's method (Various Techniques Used in Connection With Random Digits, 1951): comparisons of uniform
/// draws only, so that no logarithm of some machine decides. A falling run of uniform draws that starts at x has
/// an odd length with probability e⁻ˣ; each failure adds 1.
fn exponential(rng: &mut Mt19937) -> u64 {
    let mut whole = 0u64;
    loop {
        let start = rng.next_u32();
        let (mut last, mut odd) = (start, true);
        loop {
            let next = rng.next_u32();
            if next >= last {
                break;
            }
            (last, odd) = (next, !odd);
        }
        if odd {
            return (whole << 32) + u64::from(start);
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stage(seconds: u64, from: u64, to: u64) -> Stage {
        Stage { duration_us: Some(seconds * 1_000_000), from_micros: from * 1_000_000, to_micros: to * 1_000_000 }
    }

    fn dues(stages: &[Stage], arrival: Arrival) -> Vec<u64> {
        DueInstants::new(Schedule::new(stages), arrival, Mt19937::new(1)).collect()
    }

    #[test]
    fn a_constant_rate_is_spread_evenly_from_zero() {
        assert_eq!(dues(&[stage(1, 4, 4)], Arrival::Constant), [0, 250_000, 500_000, 750_000]);
        let thirds = Stage { duration_us: None, from_micros: 3_000_000, to_micros: 3_000_000 };
        let first: Vec<u64> =
            DueInstants::new(Schedule::new(&[thirds]), Arrival::Constant, Mt19937::new(1)).take(4).collect();
        assert_eq!(first, [0, 333_333, 666_666, 1_000_000]);
    }

    #[test]
    fn a_rate_below_one_a_second_is_exact() {
        let slow = Stage { duration_us: Some(10_000_000), from_micros: 300_000, to_micros: 300_000 };
        assert_eq!(dues(&[slow], Arrival::Constant), [0, 3_333_333, 6_666_666]);
        assert_eq!(Schedule::new(&[slow]).constant_plan(None), (3, None));
    }

    #[test]
    fn a_ramp_from_nothing_follows_the_square_root() {
        // 0 → 8/s in 4 s: after t seconds t² requests.
        let seen = dues(&[stage(4, 0, 8)], Arrival::Constant);
        assert_eq!(seen.len(), 16);
        for (k, due) in (0u64..).zip(&seen) {
            assert!(due * due <= k * 1_000_000_000_000 && (due + 1) * (due + 1) > k * 1_000_000_000_000, "{k}: {due}");
        }
    }

    #[test]
    fn nothing_is_due_in_a_pause_and_the_phase_goes_on_behind_it() {
        let seen = dues(&[stage(1, 2, 2), stage(5, 0, 0), stage(1, 2, 2)], Arrival::Constant);
        assert_eq!(seen, [0, 500_000, 6_000_000, 6_500_000]);
    }

    #[test]
    fn a_rate_of_zero_without_end_is_due_at_no_time() {
        let never = Stage { duration_us: None, from_micros: 0, to_micros: 0 };
        assert_eq!(Schedule::new(&[never]).instant_us(REQUEST), Some(u64::MAX));
    }

    #[test]
    fn exponential_draws_have_the_mean_the_variance_and_the_tail_of_the_distribution() {
        let mut rng = Mt19937::new(7);
        let draws: Vec<f64> = (0..200_000).map(|_| exponential(&mut rng) as f64 / 2f64.powi(32)).collect();
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        for x in [0.1, 0.5, 1.0, 2.0, 4.0f64] {
            let share = draws.iter().filter(|draw| **draw > x).count() as f64 / count;
            assert!((share - (-x).exp()).abs() < 0.005, "above {x}: {share}");
        }
    }

    #[test]
    fn poisson_arrivals_keep_the_rate_and_their_counts_vary_as_much_as_they_should() {
        let seen = dues(&[stage(2_000, 50, 50)], Arrival::Poisson);
        assert!((seen.len() as f64 - 100_000.0).abs() < 4.0 * 100_000f64.sqrt(), "{}", seen.len());
        let mut counts = vec![0f64; 2_000];
        for due in &seen {
            counts[usize::try_from(due / 1_000_000).unwrap()] += 1.0;
        }
        let variance = counts.iter().map(|count| (count - 50.0).powi(2)).sum::<f64>() / 2_000.0;
        assert!((variance / 50.0 - 1.0).abs() < 0.15, "variance {variance} a second, expected its mean");
    }

    fn any_stage() -> impl Strategy<Value = Stage> {
        let rate = 0u64..2_000_000_000;
        (1u64..5_000_000, rate.clone(), rate).prop_map(|(duration, from_micros, to_micros)| Stage {
            duration_us: Some(duration),
            from_micros,
            to_micros,
        })
    }

    proptest! {
        #[test]
        fn due_instants_never_fall_and_lie_before_the_end(
            stages in prop::collection::vec(any_stage(), 1..5),
            poisson in any::<bool>(),
        ) {
            let schedule = Schedule::new(&stages);
            let seen = dues(&stages, if poisson { Arrival::Poisson } else { Arrival::Constant });
            prop_assert!(seen.is_sorted());
            prop_assert!(seen.last() < schedule.end_us().as_ref());
            if !poisson {
                prop_assert_eq!((seen.len() as u64, None), schedule.constant_plan(None));
            }
        }

        #[test]
        fn each_constant_instant_is_the_last_by_which_its_number_has_not_come(
            stages in prop::collection::vec(any_stage(), 1..4),
        ) {
            let come = |at: u64| {
                let (mut start, mut sum) = (0u64, 0f64);
                for stage in &stages {
                    let length = stage.duration_us.unwrap_or(0);
                    let t = at.saturating_sub(start).min(length) as f64;
                    let (from, to) = (stage.from_micros as f64, stage.to_micros as f64);
                    sum += (from * t + (to - from) * t * t / (2.0 * length as f64)) / 1e12;
                    start += length;
                }
                sum
            };
            for (k, due) in dues(&stages, Arrival::Constant).into_iter().enumerate() {
                prop_assert!(come(due) <= k as f64 + 1e-6, "{} come at {due}", come(due));
                prop_assert!(come(due + 1) > k as f64 - 1e-6, "only {} come behind {due}", come(due + 1));
            }
        }
    }
}
