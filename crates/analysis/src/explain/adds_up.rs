//! Causes of few runs: times that add up to the differences of a metric.
//!
//! A dozen runs are too few to tell by a correlation which of thousands of features goes with the
//! metric. But time is additive: a millisecond that a run spends in a cause is a millisecond of the
//! run. So a few times whose sum follows the metric, each with the factor 1, leave chance little
//! room: there is nothing to fit.

use super::chance::shuffle;
use super::feature::Feature;
use super::groups::{Candidate, INDEPENDENT, TOGETHER, is_in, is_one};
use super::numbers::{centred, dot, unit};

/// Maximum number of times in a sum: each further one makes a sum by chance more likely.
const MOST_PARTS: usize = 5;

/// Minimum share of the variance of the metric that a part explains.
const LEAST_PART: f64 = 0.04;

/// Minimum share of the variance of the metric that all parts explain together.
const LEAST_SUM: f64 = 0.8;

/// Minimum share of the variance of a time that its own parts explain.
const LEAST_SPLIT: f64 = 0.9;

/// Maximum number of levels of sums: the waiting of a process, of its main function, of a call.
const MOST_LEVELS: usize = 3;

/// Maximum number of times that are tried in pairs.
const MOST_PAIRED: usize = 300;

/// Maximum number of rounds in which parts of a sum are exchanged for better ones.
const MOST_ROUNDS: usize = 8;

/// Number of random orders of the metric for which a sum is searched, too: together with the real
/// one two hundred, so that the smallest probability is 0.005.
const SHUFFLES: u32 = 199;

/// Maximum probability that the features add up as well to a metric in random order.
const MOST_CHANCE: f64 = 0.05;

/// Times that add up to the differences of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sum {
    /// Places of the candidates, the largest part first.
    pub(super) parts: Vec<usize>,
    /// The probability that they add up as well to a metric in random order.
    pub(super) p: f64,
}

/// Returns the times that add up to a metric, if they do so better than by chance. The time of the
/// run itself is no candidate, and sums of others are replaced by their parts. `features` are all
/// features, whether they are candidates or not: those of a metric in random order would be others.
///
/// A millisecond of another program is not one of the run, but its idle threads wait longer the
/// longer the run is. So the times of the measured process come first. Only if these do not add up,
/// such as those of a program that waits for its children, do all times compete.
pub(super) fn find(all: &[Candidate<'_>], features: &[Feature], metric: &[f64]) -> Option<Sum> {
    let has_own = all.iter().any(|one| one.is_measured && one.is_time());
    let own = has_own.then(|| find_among(all, features, metric, true));
    own.flatten()
        .or_else(|| find_among(all, features, metric, false))
}

/// Returns the times that add up to a metric, of the measured process alone if `is_own`.
fn find_among(
    all: &[Candidate<'_>],
    features: &[Feature],
    metric: &[f64],
    is_own: bool,
) -> Option<Sum> {
    let candidates: Vec<Term> = all
        .iter()
        .enumerate()
        .filter(|(_, one)| one.is_time() && !one.is_run)
        .filter(|(_, one)| one.is_measured || !is_own)
        .map(|(place, one)| Term::new(place, &one.values))
        .collect();
    let mut metric = centred(metric);
    let parts = greedy(&candidates.iter().collect::<Vec<_>>(), &metric);
    let found = share(&metric, &parts);
    if found < LEAST_SUM {
        return None;
    }
    let parts: Vec<usize> = parts
        .iter()
        .flat_map(|part| split(part.place, all, &candidates, MOST_LEVELS))
        .collect();
    let least = least_variance(&metric);
    let terms: Vec<Term> = features
        .iter()
        .filter(|feature| feature.name.measure.is_time())
        .filter(|feature| feature.is_measured || !is_own)
        .map(|feature| Term::new(0, &feature.numbers()))
        .filter(|term| term.square >= least)
        .collect();
    let terms: Vec<&Term> = terms.iter().collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    // The order that was found is one of those compared, so no probability is 0.
    let mut as_good = 1.0;
    for _ in 0..SHUFFLES {
        shuffle(&mut metric, &mut random);
        if share(&metric, &greedy(&terms, &metric)) >= found {
            as_good += 1.0;
        }
    }
    let p = as_good / (f64::from(SHUFFLES) + 1.0);
    (p <= MOST_CHANCE).then_some(Sum { parts, p })
}

/// Returns the least sum of squares of a term that can be a part. Whatever its correlation, a term
/// explains less than twice its share of the deviation of the metric.
fn least_variance(metric: &[f64]) -> f64 {
    let share = LEAST_PART / 2.0;
    dot(metric, metric) * share * share
}

/// Returns the parts of a time that is itself the sum of other candidates, such as the waiting of a
/// process, with the parts of these down to some levels; the time alone if it is not.
fn split(place: usize, all: &[Candidate<'_>], candidates: &[Term], levels: usize) -> Vec<usize> {
    let Some(whole) = all.get(place) else {
        return vec![place];
    };
    let inside: Vec<&Term> = candidates
        .iter()
        .filter(|term| {
            all.get(term.place)
                .is_some_and(|part| is_in(part, whole) && !is_one(part, whole))
        })
        .collect();
    let sum = centred(&whole.values);
    let parts = in_pairs(&inside, &sum);
    if parts.len() < 2 || share(&sum, &parts) < LEAST_SPLIT || levels == 0 {
        return vec![place];
    }
    parts
        .iter()
        .flat_map(|part| split(part.place, all, candidates, levels - 1))
        .collect()
}

/// A time that may be part of the sum.
struct Term {
    place: usize,
    /// Values, centred on 0.
    values: Vec<f64>,
    /// The same, scaled to length 1.
    unit: Vec<f64>,
    /// Sum of the squares of the values.
    square: f64,
}

impl Term {
    fn new(place: usize, values: &[f64]) -> Self {
        let values = centred(values);
        Self {
            place,
            square: dot(&values, &values),
            unit: unit(values.clone()),
            values,
        }
    }

    /// Returns by how much the sum of squares of the rest falls if this is subtracted from it.
    fn gain(&self, rest: &[f64]) -> f64 {
        2.0 * dot(rest, &self.values) - self.square
    }
}

/// Returns a sum without these parts of it.
fn without(sum: &[f64], parts: &[&Term]) -> Vec<f64> {
    let mut rest = sum.to_vec();
    for part in parts {
        rest.iter_mut()
            .zip(&part.values)
            .for_each(|(rest, value)| *rest -= value);
    }
    rest
}

/// Returns the share of the variance of a sum that its parts explain together.
fn share(sum: &[f64], parts: &[&Term]) -> f64 {
    let rest = without(sum, parts);
    // A sum without variance has no share; the caller has seen that the halves differ.
    1.0 - dot(&rest, &rest) / dot(sum, sum).max(f64::MIN_POSITIVE)
}

/// Returns the terms that are subtracted from a sum, each time the one that leaves least.
fn greedy<'t>(terms: &[&'t Term], sum: &[f64]) -> Vec<&'t Term> {
    let whole = dot(sum, sum);
    let mut rest = sum.to_vec();
    let mut chosen: Vec<&'t Term> = Vec::new();
    while chosen.len() < MOST_PARTS {
        let is_new = |term: &&Term| {
            chosen
                .iter()
                .all(|known| dot(&known.unit, &term.unit) < TOGETHER)
        };
        let best = terms
            .iter()
            .copied()
            .filter(is_new)
            .map(|term| (term.gain(&rest), term))
            // The first of equals wins, since candidates are in order of size.
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, term)) = best.filter(|(gain, _)| *gain >= LEAST_PART * whole) else {
            break;
        };
        rest = without(&rest, &[term]);
        chosen.push(term);
    }
    chosen
}

/// Returns `true` if a term does not move with any of these.
fn is_independent(term: &Term, of: &[&Term]) -> bool {
    of.iter()
        .all(|known| dot(&known.unit, &term.unit) < INDEPENDENT)
}

/// Returns the terms that add up to a sum, as [`greedy`] does, but starting with the two that leave
/// least together. Two parts of which one is small when the other is large can vary more than their
/// sum: then each of them alone leaves more than it takes away.
fn in_pairs<'t>(terms: &[&'t Term], sum: &[f64]) -> Vec<&'t Term> {
    let mut largest = terms.to_vec();
    largest.sort_by(|a, b| b.square.total_cmp(&a.square).then(a.place.cmp(&b.place)));
    largest.truncate(MOST_PAIRED);
    let mut best: Option<(f64, &'t Term, &'t Term)> = None;
    for (at, one) in largest.iter().copied().enumerate() {
        let gain = one.gain(sum);
        for other in largest.iter().copied().skip(at + 1) {
            // Two halves of one piece of work move together: it is the cause, not they.
            if !is_independent(one, &[other]) {
                continue;
            }
            // What both have in common is counted twice by the sum of their gains.
            let common = 2.0 * dot(&one.values, &other.values);
            let both = gain + other.gain(sum) - common;
            if best.is_none_or(|(most, ..)| both > most) {
                best = Some((both, one, other));
            }
        }
    }
    let whole = dot(sum, sum);
    let Some((_, one, other)) = best.filter(|(gain, ..)| *gain >= LEAST_PART * whole) else {
        return Vec::new();
    };
    let pair = [one, other];
    let others: Vec<&'t Term> = terms
        .iter()
        .copied()
        .filter(|term| is_independent(term, &pair))
        .collect();
    let more = greedy(&others, &without(sum, &pair));
    exchanged(pair.into_iter().chain(more).collect(), terms, sum)
}

/// Exchanges each part of a sum for the term that leaves least beside the others, until none is
/// better. A part is chosen before the later ones are known: one half of a cause, which moves
/// against a part that is still missing, may leave less than the whole cause does.
fn exchanged<'t>(mut parts: Vec<&'t Term>, terms: &[&'t Term], sum: &[f64]) -> Vec<&'t Term> {
    for _ in 0..MOST_ROUNDS {
        let mut is_settled = true;
        for at in 0..parts.len() {
            let others: Vec<&Term> = parts
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, part)| *part)
                .collect();
            let rest = without(sum, &others);
            let Some(part) = parts.get_mut(at) else {
                continue;
            };
            let mut most = part.gain(&rest);
            for term in terms.iter().copied() {
                let gain = term.gain(&rest);
                if gain > most && is_independent(term, &others) {
                    most = gain;
                    *part = term;
                    is_settled = false;
                }
            }
        }
        if is_settled {
            break;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults are large where the scans are small. Until they are known, half of the scans fits
    /// the sum better than all of them.
    #[test]
    fn a_part_is_exchanged_when_a_later_one_shows_a_better_one() {
        let scans = [80.0, 60.0, 100.0, 40.0, 20.0, 0.0, 10.0, 0.0];
        let queries = [0.0, 30.0, 5.0, 50.0, 10.0, 45.0, 0.0, 20.0];
        let faults = [0.0, 5.0, 0.0, 10.0, 60.0, 90.0, 75.0, 85.0];
        let half = scans.map(|ms| ms / 2.0);
        let terms: Vec<Term> = [&scans, &queries, &faults, &half]
            .into_iter()
            .enumerate()
            .map(|(place, values)| Term::new(place, values))
            .collect();
        let all: Vec<&Term> = terms.iter().collect();
        let sum: Vec<f64> = (0..scans.len())
            .map(|run| scans[run] + queries[run] + faults[run])
            .collect();
        let sum = centred(&sum);
        let first = vec![&terms[3], &terms[1], &terms[2]];
        assert!(share(&sum, &first) < LEAST_SPLIT);
        let parts = exchanged(first, &all, &sum);
        let places: Vec<usize> = parts.iter().map(|part| part.place).collect();
        assert_eq!(places, [0, 1, 2]);
        assert!((share(&sum, &parts) - 1.0).abs() < 1e-9);
    }
}
