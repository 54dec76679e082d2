//! Robust statistics for a handful to a few thousand numbers.

/// Maximum number of pairs of runs for a slope: more change nothing but the computation time.
const MOST_PAIRS: usize = 40_000;

/// The factor that turns the median absolute deviation of normally distributed numbers into their
/// standard deviation.
const OF_NORMAL: f64 = 1.4826;

/// Returns the mean; 0 of no numbers.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

/// Returns the numbers, centred on 0.
pub(super) fn centred(values: &[f64]) -> Vec<f64> {
    let middle = mean(values);
    values.iter().map(|value| value - middle).collect()
}

/// Returns the sum of the squares of the distances from the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let centred = centred(values);
    dot(&centred, &centred)
}

/// Returns the median; 0 of no numbers.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = sorted.split_at(sorted.len() / 2);
    match (lower, upper) {
        (_, []) => 0.0,
        ([.., below], [above, ..]) if lower.len() == upper.len() => f64::midpoint(*below, *above),
        (_, [middle, ..]) => *middle,
    }
}

/// Returns the spread of numbers around their median: the median of the distances, scaled to a
/// standard deviation.
pub(super) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    OF_NORMAL
        * median(
            &values
                .iter()
                .map(|value| (value - middle).abs())
                .collect::<Vec<_>>(),
        )
}

/// Returns ranks from 0; equal numbers share the mean of theirs.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut ranked: Vec<(usize, f64)> = Vec::with_capacity(values.len());
    // Equal runs must not differ in rank just because of their order in the list.
    for equal in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let first = ranked.len();
        let rank = first as f64 + (equal.len() as f64 - 1.0) / 2.0;
        ranked.extend(equal.iter().map(|(_, place)| (*place, rank)));
    }
    ranked.sort_unstable_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, rank)| rank).collect()
}

/// Returns the numbers, centered on 0 and scaled so that their squares add up to 1: the correlation
/// of two of these vectors is their dot product. All 0 if the numbers are equal.
pub(super) fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let middle = mean(&values);
    values.iter_mut().for_each(|value| *value -= middle);
    let length = dot(&values, &values).sqrt();
    // The remainder of equal numbers is rounding, which must not be scaled up.
    let scale = if length > 1e-9 * (1.0 + middle.abs()) {
        1.0 / length
    } else {
        0.0
    };
    values.iter_mut().for_each(|value| *value *= scale);
    values
}

/// Returns the sum of products.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the change of `y` with each unit of `x`: the median of the slopes between all pairs of
/// points, each weighted with its distance in `x`. Half of the weight may be wrong without harm;
/// pairs of nearly equal `x`, whose slopes are noise, hardly count. (Theil and Sen; with weights it
/// is Jaeckel's estimate with the scores of Wilcoxon.)
pub(super) fn slope(x: &[f64], y: &[f64]) -> f64 {
    let count = x.len().min(y.len());
    if count < 2 {
        return 0.0;
    }
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    // Each point is paired with those that follow it at these distances in the list, around its
    // end: with all distances up to half the length, that is every pair.
    let lags = count / 2;
    // Leaving out whole distances keeps every point in the same number of pairs.
    let step = (lags * count).div_ceil(MOST_PAIRS).max(1);
    let mut slopes = Vec::with_capacity((lags / step + 1) * count);
    for lag in (1..=lags).step_by(step) {
        // Half of the circle apart, the second half of the pairs is the first one the other way
        // round.
        let pairs = if 2 * lag == count { lag } else { count };
        for (a, b) in points
            .iter()
            .zip(points.iter().cycle().skip(lag))
            .take(pairs)
        {
            let distance = (b.0 - a.0).abs();
            if distance > 0.0 {
                slopes.push(((b.1 - a.1) / (b.0 - a.0), distance));
            }
        }
    }
    weighted_median(slopes)
}

fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (value, weight) in values {
        below += weight;
        if below >= half {
            return value;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn a_median_is_the_middle_or_the_mean_of_two() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[3.0, 1.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), 3.0);
    }

    #[test]
    fn medians_and_spreads() {
        near(median(&[3.0, 1.0, 100.0]), 3.0);
        near(median(&[3.0, 1.0, 100.0, 4.0]), 3.5);
        near(median(&[]), 0.0);
        // Distances from 3: 2, 1, 0, 1, 97.
        near(spread(&[1.0, 2.0, 3.0, 4.0, 100.0]), 1.4826);
        near(mean(&[1.0, 2.0, 6.0]), 3.0);
    }

    #[test]
    fn equal_numbers_share_a_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
        let of = |values: &[f64]| unit(ranks(values));
        near(
            dot(&of(&[1.0, 2.0, 3.0, 4.0]), &of(&[10.0, 11.0, 50.0, 900.0])),
            1.0,
        );
        near(dot(&of(&[1.0, 2.0, 3.0]), &of(&[3.0, 2.0, 1.0])), -1.0);
        // d = 0, -1, 1, 0 of four: 1 - 6 * 2 / (4 * 15).
        near(
            dot(&of(&[1.0, 2.0, 3.0, 4.0]), &of(&[1.0, 3.0, 2.0, 4.0])),
            0.8,
        );
        near(dot(&of(&[7.0, 7.0]), &of(&[1.0, 2.0])), 0.0);
    }

    #[test]
    fn a_few_wild_points_do_not_change_a_slope() {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 2.0 * x + 7.0).collect();
        near(slope(&x, &y), 2.0);
        y[3] = 5_000.0;
        y[20] = -900.0;
        near(slope(&x, &y), 2.0);
        near(slope(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
        near(slope(&[1.0], &[1.0]), 0.0);
    }

    #[test]
    fn each_pair_of_points_counts_once() {
        // Slopes with their weights: -3 (1), 0 (2), 0 (2.2), 3 / 3.2 (3.2), 2.5 (1.2), 3 (1); half
        // of it is 5.3.
        near(
            slope(&[0.0, 1.0, 2.0, 3.2], &[0.0, 3.0, 0.0, 3.0]),
            3.0 / 3.2,
        );
    }

    #[test]
    fn nearly_equal_values_hardly_count() {
        // Most runs have next to nothing of the cause, and differ for other reasons.
        let x: Vec<f64> = (0..60)
            .map(|i| {
                if i % 3 == 0 {
                    100.0
                } else {
                    f64::from(i % 7) * 1e-3
                }
            })
            .collect();
        let y: Vec<f64> = (0_u32..60)
            .zip(&x)
            .map(|(i, x)| x + f64::from(i * 37 % 11))
            .collect();
        assert!((slope(&x, &y) - 1.0).abs() < 0.05, "{}", slope(&x, &y));
    }
}
