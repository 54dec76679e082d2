//! Probability of chance results, even after many tries, and change points in a series of numbers.

use super::numbers::{mean, median, ranks};

/// Number of random orders that a change is compared with: a thousand together with the real one,
/// so that the smallest probability is 0.001.
const SHUFFLES: u32 = 999;

/// Minimum number of runs on either side of a change: fewer are outliers at the start or end, not a
/// new level.
const LEAST_SIDE: usize = 4;

/// Returns the probability that the correlation of `count` unrelated pairs is at least this far
/// from 0 (Student's distribution of `r √((n − 2) / (1 − r²))`, both sides).
pub(super) fn p_of_correlation(correlation: f64, count: usize) -> f64 {
    if count < 3 {
        return 1.0;
    }
    let freedom = count as f64 - 2.0;
    // Rounding may carry a correlation beyond 1, and 0 has no logarithm.
    let rest = (1.0 - correlation * correlation).clamp(1e-15, 1.0);
    beta_share(rest, freedom / 2.0, 0.5)
}

/// Returns the regularized incomplete beta function.
fn beta_share(x: f64, a: f64, b: f64) -> f64 {
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on one side of the mean; the other side is its complement.
    let share = if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    };
    share.clamp(0.0, 1.0)
}

/// Returns the continued fraction of that function, by the method of Lentz.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    // The method divides by both of its terms; next to nothing in place of 0 lets it go on without
    // changing the result.
    let away_from_0 = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    // It converges in about the square root of the larger parameter, so the limit is never met in
    // practice.
    for step in 1..300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = result;
        for term in [even, odd] {
            d = 1.0 / away_from_0(1.0 + term * d);
            c = away_from_0(1.0 + term / c);
            result *= c * d;
        }
        if (result - before).abs() <= 1e-13 * result.abs() {
            break;
        }
    }
    result
}

/// Returns the logarithm of the gamma function of a positive number: Stirling's series after its
/// recurrence.
fn log_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut product = 1.0;
    // The series is good to ten digits from 10 on, and far worse below.
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

/// Returns probabilities corrected for the total number of tries: the share of false discoveries
/// among those that are at least as good (Benjamini and Hochberg). Tries without a probability here
/// count as 1.
pub(super) fn corrected(probabilities: &[f64], tries: usize) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = probabilities.iter().copied().enumerate().collect();
    order.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let tries = tries.max(probabilities.len()) as f64;
    let mut least = 1.0_f64;
    // From the worst to the best, keeping the least value so far, so that a better one never gets a
    // worse value.
    for (rank, (_, p)) in order.iter_mut().enumerate().rev() {
        least = least.min(*p * tries / (rank as f64 + 1.0));
        *p = least;
    }
    order.sort_unstable_by_key(|(place, _)| *place);
    order.into_iter().map(|(_, p)| p).collect()
}

/// A position at which numbers change to another level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    /// The first number of the new level.
    pub(super) at: usize,
    /// The medians before it and from there on.
    pub(super) before: f64,
    pub(super) after: f64,
    /// The probability that the same numbers in random order change this much somewhere.
    pub(super) p: f64,
}

/// Returns the position that splits numbers, in order of time, into two parts whose ranks differ
/// most. Its probability by chance is found by shuffling; the generator always starts from the same
/// seed, so that the same numbers give the same answer.
pub(super) fn change(values: &[f64]) -> Option<Change> {
    if values.len() < 2 * LEAST_SIDE {
        return None;
    }
    // Ranks that are centered on 0 add up to 0, so the sum before a split also gives the sum after
    // it.
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mut ranked: Vec<f64> = ranks(values)
        .into_iter()
        .map(|rank| rank - middle)
        .collect();
    let (at, size) = largest_step(&ranked);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    // The order that was found is one of those compared, so no probability is 0.
    let mut as_large = 1.0;
    for _ in 0..SHUFFLES {
        shuffle(&mut ranked, &mut random);
        if largest_step(&ranked).1 >= size {
            as_large += 1.0;
        }
    }
    let (before, after) = values.split_at_checked(at)?;
    let p = as_large / (f64::from(SHUFFLES) + 1.0);
    Some(Change {
        at,
        before: median(before),
        after: median(after),
        p,
    })
}

/// Returns the position that splits ranks around 0 into the most different parts, and the
/// difference in standard deviations.
fn largest_step(ranked: &[f64]) -> (usize, f64) {
    let count = ranked.len() as f64;
    let mut sum = 0.0_f64;
    let mut best = (0, -1.0);
    for (before, rank) in ranked.iter().enumerate() {
        if before >= LEAST_SIDE && ranked.len().saturating_sub(before) >= LEAST_SIDE {
            let first = before as f64;
            // The divisor is the random deviation of such a sum, which is largest in the middle:
            // without it, splits in the middle would win.
            let size = sum.abs() / (first * (count - first)).sqrt();
            // Rounding must not prefer one of two equal places; the first is kept.
            if size > best.1 + 1e-12 {
                best = (before, size);
            }
        }
        sum += rank;
    }
    best
}

pub(super) fn shuffle(values: &mut [f64], random: &mut u64) {
    for last in (1..values.len()).rev() {
        // Xorshift: any generator does, as long as it is the same everywhere.
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        let place = *random % (last as u64 + 1);
        values.swap(last, place as usize);
    }
}

/// Returns the deviation of each number from the median, in spreads; close to 0 if the numbers
/// hardly differ.
pub(super) fn deviations(values: &[f64]) -> Vec<f64> {
    let middle = median(values);
    let spread = super::numbers::spread(values);
    // Runs that are equal to a thousandth have no outliers, however small their spread is.
    let least = 1e-3 * mean(&values.iter().map(|value| value.abs()).collect::<Vec<_>>());
    let scale = spread.max(least);
    values
        .iter()
        .map(|value| {
            if scale > 0.0 {
                (value - middle) / scale
            } else {
                0.0
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} {b}");
    }

    /// Against tables of Student's distribution: t of 2.306 with 8 degrees of freedom is 5 %, of
    /// 3.355 1 %.
    #[test]
    fn probabilities_of_correlations() {
        let of_t = |t: f64, freedom: f64| t / (freedom + t * t).sqrt();
        near(p_of_correlation(of_t(2.306, 8.0), 10), 0.05, 1e-4);
        near(p_of_correlation(of_t(3.355, 8.0), 10), 0.01, 1e-4);
        near(p_of_correlation(of_t(1.972, 198.0), 200), 0.05, 1e-4);
        near(p_of_correlation(0.0, 20), 1.0, 1e-9);
        assert!(p_of_correlation(1.0, 20) < 1e-60);
        near(p_of_correlation(1.0, 2), 1.0, 0.0);
        // Γ(5) is 24, Γ(1/2) is √π.
        near(log_gamma(5.0), 24.0_f64.ln(), 1e-9);
        near(log_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-9);
    }

    #[test]
    fn the_best_of_many_tries_is_worth_less() {
        // Worked: 0.01 · 4 / 1, 0.02 · 4 / 2, 0.03 · 4 / 3, 0.5 · 4 / 4.
        let all = corrected(&[0.02, 0.5, 0.01, 0.03], 4);
        for (found, expected) in all.iter().zip([0.04, 0.5, 0.04, 0.04]) {
            near(*found, expected, 1e-12);
        }
        near(corrected(&[0.01], 100)[0], 1.0, 1e-12);
        near(corrected(&[0.0001], 100)[0], 0.01, 1e-12);
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let noise = |i: u32| f64::from(i * 7919 % 13);
        let values: Vec<f64> = (0..40)
            .map(|i| if i < 25 { 100.0 } else { 112.0 } + noise(i))
            .collect();
        let found = change(&values).unwrap();
        assert_eq!(found.at, 25);
        assert!(
            found.p <= 0.001 + 1e-9 && found.after - found.before > 9.0,
            "{found:?}"
        );
        assert_eq!(change(&values), change(&values));
        // One wild run changes nothing.
        let mut still: Vec<f64> = (0..40).map(noise).collect();
        still[30] = 1e6;
        assert!(change(&still).unwrap().p > 0.05, "{:?}", change(&still));
        assert_eq!(change(&values[..7]), None);
    }

    #[test]
    fn a_wild_run_lies_many_spreads_away() {
        let all = deviations(&[100.0, 101.0, 99.0, 102.0, 98.0, 150.0]);
        assert!(
            all[5] > 20.0 && all[..5].iter().all(|z| z.abs() < 3.0),
            "{all:?}"
        );
        assert_eq!(deviations(&[5.0, 5.0]), [0.0, 0.0]);
    }
}
