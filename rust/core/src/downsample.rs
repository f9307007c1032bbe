//! Fewer points for a chart: the extremes of each slice survive.

/// A point of a series: position and value.
pub type Point = (i64, i64);

/// At most `2 * slices` points: for each of `slices` equal slices of the x-range the smallest and
/// the largest value, in order of x. A spike of one sample is therefore never lost. The input must
/// be sorted by x.
pub fn min_max(points: &[Point], slices: usize) -> Vec<Point> {
    if slices == 0 || points.len() <= 2 * slices {
        return points.to_vec();
    }
    let first = i128::from(points[0].0);
    let span = (i128::from(points[points.len() - 1].0) - first).max(1);
    let slice_of = |x: i64| {
        let slice = (i128::from(x) - first) * slices as i128 / (span + 1);
        usize::try_from(slice).unwrap_or(0).min(slices - 1)
    };
    let mut kept = Vec::with_capacity(2 * slices);
    let mut rest = points;
    while let Some(head) = rest.first() {
        let slice = slice_of(head.0);
        let length = rest.iter().take_while(|point| slice_of(point.0) == slice).count();
        let (here, after) = rest.split_at(length);
        let low = here.iter().enumerate().min_by_key(|(_, point)| point.1).map_or(0, |(i, _)| i);
        let high = here.iter().enumerate().max_by_key(|(_, point)| point.1).map_or(0, |(i, _)| i);
        kept.push(here[low.min(high)]);
        if low != high {
            kept.push(here[low.max(high)]);
        }
        rest = after;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_extremes_survive_and_the_order_holds(
            values in proptest::collection::vec(any::<i32>(), 1..500), slices in 1usize..50,
        ) {
            let points: Vec<Point> = values.iter().enumerate().map(|(x, y)| (i64::try_from(x).unwrap(), i64::from(*y))).collect();
            let kept = min_max(&points, slices);
            prop_assert!(kept.len() <= points.len().max(2 * slices));
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let extremes = |p: &[Point]| (p.iter().map(|x| x.1).min(), p.iter().map(|x| x.1).max());
            prop_assert_eq!(extremes(&kept), extremes(&points));
        }
    }
}
