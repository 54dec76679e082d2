//! Groups of features that mean the same, and features that are just the sum of others.

use super::feature::Feature;
use super::numbers::{centred, dot, mean, squares, unit};

/// Maximum number of features in the analysis: each is compared with all causes, and many with each
/// other.
const MOST: usize = 1200;

/// Maximum number of distinct features that are compared as possible sums: the time for this grows
/// with the square.
const MOST_DISTINCT: usize = 150;

/// Minimum correlation of features that move together.
pub(super) const TOGETHER: f64 = 0.9;

/// Minimum correlation of features that count as one.
const THE_SAME: f64 = 0.97;

/// Maximum correlation of independent parts of a sum.
pub(super) const INDEPENDENT: f64 = 0.7;

/// Minimum share of the variance that the parts of a sum explain together; each part explains at
/// least [`LEAST_PART`] of it. If one part explains [`NEARLY_ALL`] of it, the whole is not a sum
/// but another name for that part.
const EXPLAINED: f64 = 0.75;
const LEAST_PART: f64 = 0.05;
const NEARLY_ALL: f64 = 0.85;

/// Share of the time of fast runs. From this share on, a time that correlates with the metric is
/// the time of the run itself: the time of its main function, or of a thread that waits for its
/// end.
const OF_THE_RUN: f64 = 0.6;

/// The slow runs: the upper half, without the one in the middle.
#[derive(Debug, Clone)]
pub(super) struct Halves {
    slow: Vec<bool>,
    fast: Vec<bool>,
}

impl Halves {
    pub(super) fn of(metric: &[f64]) -> Self {
        let mut order: Vec<(usize, f64)> = metric.iter().copied().enumerate().collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        // With an odd number of runs the middle one is in neither half, so both halves are equally
        // large.
        let half = metric.len() / 2;
        let mut slow = vec![false; metric.len()];
        let mut fast = vec![false; metric.len()];
        let mark = |run: usize, marks: &mut [bool]| {
            if let Some(mark) = marks.get_mut(run) {
                *mark = true;
            }
        };
        for (run, _) in order.iter().rev().take(half) {
            mark(*run, &mut slow);
        }
        for (run, _) in order.iter().take(half) {
            mark(*run, &mut fast);
        }
        Self { slow, fast }
    }

    pub(super) fn is_slow(&self, run: usize) -> bool {
        self.slow.get(run) == Some(&true)
    }

    pub(super) fn is_fast(&self, run: usize) -> bool {
        self.fast.get(run) == Some(&true)
    }

    /// Returns the means of the slow and of the fast runs.
    pub(super) fn means(&self, values: &[f64]) -> (f64, f64) {
        let of = |marks: &[bool]| {
            let chosen = values
                .iter()
                .zip(marks)
                .filter(|(_, is_in)| **is_in)
                .map(|(value, _)| *value);
            mean(&chosen.collect::<Vec<_>>())
        };
        (of(&self.slow), of(&self.fast))
    }
}

/// A feature that may be a cause, with its statistics.
#[derive(Debug)]
pub(super) struct Candidate<'m> {
    pub(super) feature: &'m Feature,
    pub(super) values: Vec<f64>,
    /// The values, centered on 0 and scaled to length 1.
    pub(super) unit: Vec<f64>,
    /// The ranks of the values, centered and scaled likewise.
    pub(super) ranks: Vec<f64>,
    /// Means of the slow and of the fast runs.
    pub(super) slow: f64,
    pub(super) fast: f64,
    /// True if it is of the measured process.
    pub(super) is_measured: bool,
    /// True if it is the sum of others, or the time of the run itself.
    pub(super) is_general: bool,
    /// True if it is the time of the run itself.
    pub(super) is_run: bool,
}

impl Candidate<'_> {
    pub(super) fn excess(&self) -> f64 {
        self.slow - self.fast
    }

    /// Returns the share of its value in slow runs that fast runs lack: near 1 if only slow runs
    /// have it.
    pub(super) fn specific(&self) -> f64 {
        if self.slow > 0.0 {
            (self.excess() / self.slow).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    pub(super) fn is_time(&self) -> bool {
        self.feature.name.measure.is_time()
    }
}

/// The features that may be candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that slow runs have more of, as far as they can matter.
    OfSlowRuns,
    /// All that vary: a time that slow and fast runs have alike can still be a part of others.
    All,
}

/// Returns the candidates among the features, if slow runs took `difference` longer.
pub(super) fn candidates<'m>(
    features: &'m [Feature],
    metric: &[f64],
    halves: &Halves,
    difference: f64,
    which: Which,
) -> Vec<Candidate<'m>> {
    let of_metric = unit(super::numbers::ranks(metric));
    let mut all: Vec<(f64, &Feature, f64, f64)> = Vec::new();
    for feature in features {
        let (slow, fast) = halves.means(&feature.numbers());
        let is_time = feature.name.measure.is_time();
        // Less than the share that a cause needs, since a slope above 1 can still make it one.
        let matters = slow > fast && (!is_time || slow - fast >= 0.03 * difference);
        if matters || which == Which::All && is_time {
            // Different units cannot be compared. Times are ordered by their difference, the others
            // by correlation; times come first, since their size is at least 1 and a correlation at
            // most 1.
            let size = match which {
                Which::All if is_time => 1.0 + squares(&feature.numbers()).sqrt(),
                _ if is_time => 1.0 + slow - fast,
                _ => dot(&unit(super::numbers::ranks(&feature.numbers())), &of_metric),
            };
            all.push((size, feature, slow, fast));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    all.truncate(MOST);
    let candidate = |(_, feature, slow, fast): (f64, &'m Feature, f64, f64)| {
        let values = feature.numbers();
        let ranks = unit(super::numbers::ranks(&values));
        Candidate {
            feature,
            unit: unit(values.clone()),
            values,
            ranks,
            slow,
            fast,
            is_measured: feature.is_measured,
            is_general: false,
            is_run: false,
        }
    };
    all.into_iter().map(candidate).collect()
}

/// Marks candidates that are the time of the run itself, or only the sum of others.
pub(super) fn mark_general(all: &mut [Candidate<'_>], metric: &[f64], halves: &Halves) {
    let (of_metric, (_, fast)) = (unit(metric.to_vec()), halves.means(metric));
    for candidate in all.iter_mut().filter(|candidate| candidate.is_time()) {
        // A time that dominates fast runs is the run under another name, and explains nothing.
        let is_large = candidate.fast >= OF_THE_RUN * fast;
        candidate.is_run = is_large && dot(&candidate.unit, &of_metric) >= 0.8;
        candidate.is_general = candidate.is_run;
    }
    let sums = sums(all);
    for (candidate, is_sum) in all.iter_mut().zip(sums) {
        candidate.is_general |= is_sum;
    }
}

/// Returns, for each candidate, whether it is the sum of others.
fn sums(all: &[Candidate<'_>]) -> Vec<bool> {
    // Equivalent candidates are compared only once, by the most specific of them.
    let mut order: Vec<&Candidate<'_>> =
        all.iter().filter(|candidate| candidate.is_time()).collect();
    // The most specific name of a group comes first, and represents all of it.
    order.sort_by(|a, b| {
        b.specific()
            .total_cmp(&a.specific())
            .then(b.excess().total_cmp(&a.excess()))
    });
    let mut distinct: Vec<&Candidate<'_>> = Vec::new();
    for candidate in order {
        // Moving together is not enough to be one: half of something moves with it, but is a part
        // of other sums.
        let is_new = !distinct.iter().any(|known| is_one(known, candidate));
        if is_new && distinct.len() < MOST_DISTINCT {
            distinct.push(candidate);
        }
    }
    // Small ones first: a sum must not become a part of a larger one, since it would hide its own
    // parts. By variance and not by mean: a part varies less than the whole, even if the whole is
    // small in most runs.
    distinct.sort_by(|a, b| squares(&a.values).total_cmp(&squares(&b.values)));
    let mut sums = Vec::<&Candidate<'_>>::new();
    let mut parts = Vec::<&Candidate<'_>>::new();
    for whole in distinct {
        let inside: Vec<&Candidate<'_>> = parts
            .iter()
            .copied()
            .filter(|part| is_in(part, whole))
            .collect();
        if is_sum_of(whole, &inside) {
            sums.push(whole);
        } else {
            parts.push(whole);
        }
    }
    let is_sum = |candidate: &Candidate<'_>| {
        candidate.is_time() && sums.iter().any(|sum| is_one(sum, candidate))
    };
    all.iter().map(is_sum).collect()
}

/// Returns `true` if two are equivalent: they move together, and equally far.
pub(super) fn is_one(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    // The elements of a unit vector add up to 0, so each product measures the variation of the
    // values. It is 0 if all are equal; the ratio is then infinite or NaN, which is in no range.
    let ratio = dot(&a.values, &a.unit) / dot(&b.values, &b.unit);
    dot(&a.unit, &b.unit) >= THE_SAME && (0.8..=1.25).contains(&ratio)
}

/// Returns `true` if one may be a part of the other: it is never much larger.
pub(super) fn is_in(part: &Candidate<'_>, whole: &Candidate<'_>) -> bool {
    // A twentieth, a millisecond and one run in twenty are allowed for rounding and for events at
    // the edges of a recording.
    let larger = part
        .values
        .iter()
        .zip(&whole.values)
        .filter(|(part, whole)| **part > **whole * 1.05 + 1.0);
    larger.count() * 20 <= part.values.len()
}

/// Returns `true` if two or more independent parts make up most of its variance, each with about as
/// many milliseconds in the whole as it has itself.
fn is_sum_of(whole: &Candidate<'_>, parts: &[&Candidate<'_>]) -> bool {
    let mut rest = centred(&whole.values);
    let all = dot(&rest, &rest);
    let mut found = Vec::<&Candidate<'_>>::new();
    // The first few parts make up most of any sum; more of them would match any variation.
    while found.len() < 8 {
        // The share of the rest that correlates with a part, and the milliseconds of the rest for
        // each one of the part.
        let fits = |part: &&Candidate<'_>| {
            let along = dot(&rest, &part.unit);
            let per_ms = along / dot(&part.values, &part.unit);
            let is_new = found
                .iter()
                .all(|known| dot(&known.unit, &part.unit) < INDEPENDENT);
            // Far from one to one, the part merely correlates with the whole: time inside it would
            // appear in the whole unchanged.
            (is_new && along * along >= LEAST_PART * all && (0.5..=1.6).contains(&per_ms))
                .then_some(along)
        };
        let fitting = parts.iter().filter_map(|part| Some((fits(part)?, *part)));
        let Some((along, best)) = fitting.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        // If a single part is nearly all of it, it is another name for that part.
        if along * along >= NEARLY_ALL * all {
            return false;
        }
        rest.iter_mut()
            .zip(&best.unit)
            .for_each(|(rest, part)| *rest -= along * part);
        found.push(best);
    }
    found.len() >= 2 && dot(&rest, &rest) <= (1.0 - EXPLAINED) * all
}
