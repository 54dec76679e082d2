//! Correlates features with the slow runs: the strongest cause first, then the causes of the rest.

use std::cmp::Ordering;

use super::adds_up;
use super::chance::{corrected, p_of_correlation};
use super::feature::{Feature, FeatureKind, Matrix, Measure};
use super::groups::{Candidate, Halves, TOGETHER, Which, candidates, is_one, mark_general};
use super::numbers::{dot, median, ranks, slope, squares, unit};

/// Minimum number of runs for conclusions: among thousands of features, some always correlate with
/// a handful of runs.
pub(super) const ENOUGH_RUNS: usize = 8;

/// Number of runs that are enough to separate causes.
pub(super) const MANY_RUNS: usize = 40;

/// Number of runs from which correlations alone tell causes apart. Below it, causes are first
/// looked for among times that add up to the metric: of several causes at once none correlates well
/// with the metric, and a process that waits all the time may correlate better.
const MANY_FOR_CORRELATION: usize = 100;

/// Maximum number of causes that are shown.
const MOST_CAUSES: usize = 12;

/// Accepted share of false discoveries among the causes.
const FALSE_SHARE: f64 = 0.01;

/// Minimum share of the difference between slow and fast runs that a cause accounts for.
const LEAST_SHARE: f64 = 0.05;

/// Minimum share of that difference that a cause takes in some runs, if slow and fast runs have it
/// alike.
const LEAST_OWN_SHARE: f64 = 0.2;

/// Minimum share by which slow runs took longer than fast ones; below it the runs count as equal.
const LEAST_DIFFERENCE: f64 = 0.03;

/// A slope in this range counts as 1, so that a millisecond of the cause is a millisecond of the
/// run: the estimate is not more precise than this if runs also differ for other reasons.
const ONE_TO_ONE: std::ops::RangeInclusive<f64> = 0.75..=1.33;

/// Milliseconds of the run that a millisecond of a cause can take. Outside of this range the time
/// merely goes with the run, as that of a thread that wakes up a hundred times a second: a longer
/// run has more of it.
const POSSIBLE: std::ops::RangeInclusive<f64> = 0.1..=2.0;

/// Maximum number of names that are shown below a cause.
const MOST_NAMES: usize = 8;

/// Maximum number of modules and settings among them.
const MOST_FACTS: usize = 3;

/// A cause.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    /// Its most specific name.
    pub(super) name: super::feature::Name,
    /// Other names for it: features that move with it.
    pub(super) others: Vec<super::feature::Name>,
    /// Number of further names.
    pub(super) more: usize,
    /// True if only the part that is not in the causes before it is meant.
    pub(super) is_rest: bool,
    /// The part of the difference between slow and fast runs that it accounts for.
    pub(super) effect: f64,
    /// The milliseconds by which the half of the runs with most of it has more than the other half.
    pub(super) own_effect: f64,
    /// Its value in each run, in its own unit.
    pub(super) values: Vec<f64>,
    /// Its contribution to each run, relative to the mean of the fast runs.
    pub(super) effects: Vec<f64>,
    /// Milliseconds of the run for each unit of the feature.
    pub(super) slope: f64,
    /// The metric of a run without it, by the line with this slope through the runs.
    pub(super) base: f64,
    /// Its rank correlation with the rest that the causes before it leave unexplained.
    pub(super) correlation: f64,
    /// The share of false discoveries among causes that are at least as likely; `None` if there are
    /// too few runs.
    pub(super) p: Option<f64>,
    /// True if `p` is the probability that the causes with this mark add up to the metric by
    /// chance.
    pub(super) is_p_of_all: bool,
    /// Means of the feature in slow and in fast runs.
    pub(super) slow: f64,
    pub(super) fast: f64,
    /// Number of runs that it slows.
    pub(super) runs: usize,
}

/// The causes of a metric.
#[derive(Debug, Clone, Default)]
pub(super) struct Causes {
    /// Means of the slow and of the fast runs.
    pub(super) slow: f64,
    pub(super) fast: f64,
    /// Causes by effect, largest first.
    pub(super) causes: Vec<Cause>,
    /// True if the runs are equal except for a few per cent.
    pub(super) is_even: bool,
    /// Features that were tried.
    pub(super) tried: usize,
}

impl Causes {
    pub(super) fn difference(&self) -> f64 {
        self.slow - self.fast
    }

    /// Returns the part of the difference that they account for.
    pub(super) fn explained(&self) -> f64 {
        self.of_difference().map(|cause| cause.effect).sum()
    }

    /// Returns `true` if slow runs have more of a cause than fast ones.
    fn is_of_difference(&self, cause: &Cause) -> bool {
        cause.effect >= LEAST_SHARE * self.difference()
    }

    /// Returns `true` if fast runs have more of a cause than slow ones.
    pub(super) fn has_more_in_fast_runs(&self, cause: &Cause) -> bool {
        cause.effect <= -LEAST_SHARE * self.difference()
    }

    /// Returns the causes that slow runs have more of than fast ones.
    pub(super) fn of_difference(&self) -> impl Iterator<Item = &Cause> {
        self.causes
            .iter()
            .filter(|cause| self.is_of_difference(cause))
    }

    /// Returns the causes that slow runs have no more of than fast ones: single runs would be faster
    /// without them.
    pub(super) fn of_both_halves(&self) -> impl Iterator<Item = &Cause> {
        self.causes
            .iter()
            .filter(|cause| !self.is_of_difference(cause))
    }

    /// Returns `true` if the slow runs took hardly longer than the fast ones.
    pub(super) fn differ_little(&self) -> bool {
        // The last condition is for a mean of 0, of which every share is 0.
        self.difference() < LEAST_DIFFERENCE * self.fast.abs() || self.difference() <= 0.0
    }

    /// Finds features that correlate with the time of runs.
    #[cfg(test)]
    pub(super) fn find(matrix: &Matrix, metric: &[f64]) -> Self {
        Self::find_of(matrix, metric, true)
    }

    /// Finds features that correlate with the metric of runs, which is a time if `is_time`.
    pub(super) fn find_of(matrix: &Matrix, metric: &[f64], is_time: bool) -> Self {
        let halves = Halves::of(metric);
        let (slow, fast) = halves.means(metric);
        let found = Self {
            slow,
            fast,
            tried: matrix.features.len(),
            ..Self::default()
        };
        // A half with a single run has no meaningful mean.
        if metric.len() < 4 || found.differ_little() {
            return Self {
                is_even: metric.len() >= 4,
                ..found
            };
        }
        let is_few = (ENOUGH_RUNS..MANY_FOR_CORRELATION).contains(&metric.len());
        let which = if is_few {
            Which::All
        } else {
            Which::OfSlowRuns
        };
        let mut all = candidates(&matrix.features, metric, &halves, slow - fast, which);
        mark_general(&mut all, metric, &halves);
        let mut search = Search {
            all: &all,
            halves: &halves,
            metric,
            tried: found.tried,
            metric_is_time: is_time,
            chosen: Vec::new(),
        };
        let adds_up = is_few && search.add_up(&matrix.features);
        // Parts are large next to the whole variance. Of enough runs, what they leave may have a cause too.
        let goes_on = metric.len() >= MANY_RUNS && search.leaves_a_cause();
        if !adds_up || goes_on {
            search.go(false);
        }
        // If no specific cause explains half of it, one that is the sum of others is better than
        // none.
        if search.explained() < 0.5 * (slow - fast) {
            search.go(true);
        }
        Self {
            causes: search.large_enough(),
            ..found
        }
    }
}

/// A candidate that was chosen as a cause, with its relevant values.
struct Chosen {
    place: usize,
    values: Vec<f64>,
    is_rest: bool,
    slope: f64,
    correlation: f64,
    p: Option<f64>,
    is_p_of_all: bool,
}

struct Search<'a, 'm> {
    all: &'a [Candidate<'m>],
    halves: &'a Halves,
    metric: &'a [f64],
    tried: usize,
    /// True if the metric is a time, not a number of something.
    metric_is_time: bool,
    chosen: Vec<Chosen>,
}

impl Search<'_, '_> {
    /// Chooses times that add up to the metric. Returns `true` if there are any.
    fn add_up(&mut self, features: &[Feature]) -> bool {
        let Some(sum) = adds_up::find(self.all, features, self.metric) else {
            return false;
        };
        let mut parts: Vec<usize> = Vec::new();
        for place in &sum.parts {
            let named = self.best_name(*place);
            if !parts.contains(&named) {
                parts.push(named);
            }
        }
        let part = |place: &usize| {
            let candidate = self.all.get(*place)?;
            Some(Chosen {
                place: *place,
                values: candidate.values.clone(),
                is_rest: false,
                slope: 1.0,
                correlation: 0.0,
                p: Some(sum.p),
                is_p_of_all: true,
            })
        };
        self.chosen = parts.iter().filter_map(part).collect();
        self.join_together();
        // The correlation of each is that with what the others leave.
        let rest = self.rest();
        for chosen in &mut self.chosen {
            let alone: Vec<f64> = rest
                .iter()
                .zip(&chosen.values)
                .map(|(rest, value)| rest + value)
                .collect();
            let own = unit(ranks(&chosen.values));
            chosen.correlation = dot(&own, &unit(ranks(&alone)));
        }
        true
    }

    /// Joins parts that move together. They are one cause, such as a slow processor, which takes
    /// the time of all of them; the largest names it.
    fn join_together(&mut self) {
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.sort_by(|a, b| {
            let by_size = squares(&b.values).total_cmp(&squares(&a.values));
            by_size.then(a.place.cmp(&b.place))
        });
        for next in chosen {
            let moves_with = |known: &&mut Chosen| {
                let both = self.all.get(known.place).zip(self.all.get(next.place));
                both.is_some_and(|(known, next)| dot(&known.unit, &next.unit) >= TOGETHER)
            };
            if let Some(known) = self.chosen.iter_mut().find(moves_with) {
                known
                    .values
                    .iter_mut()
                    .zip(&next.values)
                    .for_each(|(sum, value)| *sum += value);
            } else {
                self.chosen.push(next);
            }
        }
    }

    /// Returns the best name among the candidates that are equivalent to one.
    fn best_name(&self, place: usize) -> usize {
        let Some(leader) = self.all.get(place) else {
            return place;
        };
        let distance = |other: &Candidate<'_>| 1.0 - dot(&other.unit, &leader.unit);
        (0..self.all.len())
            .filter_map(|place| Some((place, self.all.get(place)?)))
            .filter(|(_, other)| !other.is_general && is_one(leader, other))
            .min_by(|a, b| better((a.1, distance(a.1)), (b.1, distance(b.1))))
            .map_or(place, |(place, _)| place)
    }

    /// Chooses causes as long as there are any. `general` also admits sums of other features, for
    /// the rest that the earlier causes leave, and the computing of the run itself.
    fn go(&mut self, general: bool) {
        let mut is_out: Vec<bool> = self
            .all
            .iter()
            .map(|one| is_wait_of_run(one) || one.is_general && !general)
            .collect();
        for part in self.chosen.iter().filter(|chosen| chosen.is_p_of_all) {
            self.rule_out(part.place, &mut is_out);
        }
        // A small effect is not a reason to stop at once: the next candidate correlates less with
        // the rest, but may be larger. After several failures nothing large is left.
        let mut failures = 0;
        while self.chosen.len() < MOST_CAUSES && failures < 6 {
            let Some(next) = self.next(&mut is_out) else {
                return;
            };
            let place = next.place;
            self.chosen.push(next);
            self.fit();
            let is_none = |chosen: &Chosen| {
                self.effect(chosen) < LEAST_SHARE * self.difference() || self.is_impossible(chosen)
            };
            if self.chosen.last().is_some_and(is_none) {
                self.chosen.pop();
                self.fit();
                failures += 1;
            }
            // Even if it failed: candidates that move with it would fail for the same reason.
            self.rule_out(place, &mut is_out);
        }
    }

    /// Rules out features that move with a candidate: they are not causes of their own.
    fn rule_out(&self, place: usize, is_out: &mut [bool]) {
        let Some(chosen) = self.all.get(place) else {
            return;
        };
        for (candidate, out) in self.all.iter().zip(is_out.iter_mut()) {
            *out |= dot(&candidate.unit, &chosen.unit) >= TOGETHER;
        }
    }

    /// Returns the metric minus the contributions of the causes so far.
    fn rest(&self) -> Vec<f64> {
        let mut rest = self.metric.to_vec();
        for chosen in &self.chosen {
            rest.iter_mut()
                .zip(&chosen.values)
                .for_each(|(rest, value)| *rest -= chosen.slope * value);
        }
        rest
    }

    /// Returns the candidate that correlates most with the rest, under its most specific name.
    fn next(&self, is_out: &mut [bool]) -> Option<Chosen> {
        // Ranks, since run times have long tails: a single wild run would decide a correlation of
        // values.
        let rest = unit(ranks(&self.rest()));
        let count = self.metric.len();
        let correlations: Vec<f64> = self
            .all
            .iter()
            .map(|candidate| dot(&candidate.ranks, &rest))
            .collect();
        let probabilities: Vec<f64> = correlations
            .iter()
            .map(|r| p_of_correlation(*r, count))
            .collect();
        // All features count as tries, even those that were not candidates: leaving them out was
        // also a choice.
        let probabilities = corrected(&probabilities, self.tried);
        // With few runs no probability is small enough. A strong correlation is still shown, and
        // the sentence says how weak the evidence is.
        let is_few = count < ENOUGH_RUNS;
        let fits = |one: &Scored<'_, '_>| {
            one.r > 0.0
                && if is_few {
                    one.r >= 0.6
                } else {
                    one.p <= FALSE_SHARE
                }
        };
        let scores = correlations.into_iter().zip(probabilities);
        let fitting: Vec<Scored<'_, '_>> = self
            .all
            .iter()
            .zip(scores)
            .enumerate()
            .map(|(place, (candidate, (r, p)))| Scored {
                place,
                candidate,
                r,
                p,
            })
            .zip(is_out.iter())
            .filter(|(one, is_out)| !**is_out && fits(one))
            .map(|(one, _)| one)
            .collect();
        let best = fitting
            .iter()
            // max_by returns the last of equals; comparing places in reverse makes the first one
            // win.
            .max_by(|a, b| a.r.total_cmp(&b.r).then(b.place.cmp(&a.place)))?;
        // A vague name may have the best correlation by a hair: all names that move with it and
        // correlate with the rest nearly as well compete.
        let moves_with = |one: &&Scored<'_, '_>| {
            dot(&one.candidate.unit, &best.candidate.unit) >= TOGETHER && one.r >= 0.9 * best.r
        };
        let named = fitting.iter().filter(moves_with);
        let chosen = named
            .min_by(|a, b| better((a.candidate, best.r - a.r), (b.candidate, best.r - b.r)))?;
        let (values, is_rest) = self.without_chosen(chosen.candidate);
        Some(Chosen {
            place: chosen.place,
            values,
            is_rest,
            slope: 0.0,
            correlation: chosen.r,
            p: (!is_few).then_some(chosen.p),
            is_p_of_all: false,
        })
    }

    /// Returns the values of a candidate; if it is a sum, without its parts that were chosen
    /// before.
    fn without_chosen(&self, candidate: &Candidate<'_>) -> (Vec<f64>, bool) {
        let mut values = candidate.values.clone();
        // Only a sum contains others; subtracting from a specific cause would invent negative
        // times.
        if !candidate.is_general || self.chosen.is_empty() {
            return (values, false);
        }
        // Gram-Schmidt: each axis is centered on 0 and orthogonal to those before it, so that
        // overlapping causes are not subtracted twice.
        let mut axes: Vec<Vec<f64>> = Vec::new();
        for chosen in &self.chosen {
            let mut axis = unit(chosen.values.clone());
            for known in &axes {
                let along = dot(&axis, known);
                axis.iter_mut()
                    .zip(known)
                    .for_each(|(axis, known)| *axis -= along * known);
            }
            axes.push(unit(axis));
        }
        for axis in &axes {
            let along = dot(&values, axis);
            values
                .iter_mut()
                .zip(axis)
                .for_each(|(value, axis)| *value -= along * axis);
        }
        (values, true)
    }

    /// Finds the slopes of all causes together: each from the rest that all others leave, until
    /// nothing changes any more.
    fn fit(&mut self) {
        // Slopes by medians have no closed form for several causes. Causes hardly overlap, so a few
        // rounds settle them; the limit is for those that do.
        for _ in 0..if self.chosen.len() > 1 { 12 } else { 1 } {
            let mut moved = 0.0_f64;
            for place in 0..self.chosen.len() {
                let rest = self.rest();
                // A millisecond of a part of a sum is one of the run.
                let chosen = self.chosen.get_mut(place);
                let Some(chosen) = chosen.filter(|chosen| !chosen.is_p_of_all) else {
                    continue;
                };
                let rest: Vec<f64> = rest
                    .iter()
                    .zip(&chosen.values)
                    .map(|(rest, value)| rest + chosen.slope * value)
                    .collect();
                let found = slope(&chosen.values, &rest);
                // Relative, since units differ by orders of magnitude; the least divisor is for
                // slopes of 0.
                moved = moved.max((found - chosen.slope).abs() / found.abs().max(1e-12));
                chosen.slope = found;
            }
            if moved < 1e-3 {
                break;
            }
        }
    }

    fn difference(&self) -> f64 {
        let (slow, fast) = self.halves.means(self.metric);
        slow - fast
    }

    /// Returns the milliseconds of the run for each unit of the cause: exactly 1 for a time with a
    /// slope near 1.
    fn per_unit(&self, chosen: &Chosen) -> f64 {
        // A slope near 1 is 1 with noise: a millisecond spent in the cause is spent in the run.
        let is_time = self
            .all
            .get(chosen.place)
            .is_some_and(|one| one.feature.name.measure.is_time());
        if is_time && ONE_TO_ONE.contains(&chosen.slope) {
            1.0
        } else {
            chosen.slope
        }
    }

    /// Returns `true` for a time whose milliseconds would take far more, or far less, of the run.
    fn is_impossible(&self, chosen: &Chosen) -> bool {
        let one = self.all.get(chosen.place);
        let is_time = one.is_some_and(Candidate::is_time);
        self.metric_is_time && is_time && !POSSIBLE.contains(&chosen.slope)
    }

    fn effect(&self, chosen: &Chosen) -> f64 {
        let (slow, fast) = self.halves.means(&chosen.values);
        // A cause cannot account for more than the difference.
        (self.per_unit(chosen) * (slow - fast)).min(self.difference())
    }

    /// Returns by how much more of a cause the half of the runs with most of it has. The halves of
    /// the metric do not show a cause that slow and fast runs have alike.
    fn own_effect(&self, chosen: &Chosen) -> f64 {
        let (most, least) = Halves::of(&chosen.values).means(&chosen.values);
        self.per_unit(chosen) * (most - least)
    }

    fn explained(&self) -> f64 {
        self.chosen.iter().map(|chosen| self.effect(chosen)).sum()
    }

    /// Returns `true` if the chosen causes leave as much of the difference as a cause has.
    fn leaves_a_cause(&self) -> bool {
        self.difference() - self.explained() >= LEAST_SHARE * self.difference()
    }

    /// Returns the chosen causes that are still large enough, by effect.
    fn large_enough(&self) -> Vec<Cause> {
        // Causes that were chosen later change the slopes of earlier ones, whose effects may have
        // become small.
        let difference = self.difference();
        let is_large = |chosen: &&Chosen| {
            let is_part = chosen.is_p_of_all;
            let is_large = self.effect(chosen) >= LEAST_SHARE * difference
                || is_part && self.own_effect(chosen) >= LEAST_OWN_SHARE * difference;
            is_large && !self.is_impossible(chosen)
        };
        let large = self.chosen.iter().filter(is_large);
        let mut causes: Vec<Cause> = large.filter_map(|chosen| self.cause(chosen)).collect();
        causes.sort_by(|a, b| {
            b.effect
                .total_cmp(&a.effect)
                .then_with(|| a.name.cmp(&b.name))
        });
        causes
    }

    fn cause(&self, chosen: &Chosen) -> Option<Cause> {
        let one = self.all.get(chosen.place)?;
        let per_unit = self.per_unit(chosen);
        let (slow, fast) = self.halves.means(&chosen.values);
        // The rest of a time is the cause, but its own values say more.
        let shown = if chosen.is_rest {
            (one.slow, one.fast)
        } else {
            (slow, fast)
        };
        let mut others: Vec<&Candidate<'_>> = self
            .all
            .iter()
            .filter(|other| is_other_name(other, one))
            .collect();
        let distance = |other: &Candidate<'_>| 1.0 - dot(&other.unit, &one.unit);
        others.sort_by(|a, b| better((a, distance(a)), (b, distance(b))));
        let named = different_kinds(&others, one.feature);
        let effects: Vec<f64> = chosen
            .values
            .iter()
            .map(|value| per_unit * (value - fast))
            .collect();
        Some(Cause {
            name: one.feature.name.clone(),
            more: others.len().saturating_sub(named.len()),
            others: named,
            is_rest: chosen.is_rest,
            effect: self.effect(chosen),
            own_effect: self.own_effect(chosen),
            values: chosen.values.clone(),
            slope: per_unit,
            base: base(self.metric, &chosen.values, per_unit),
            correlation: chosen.correlation,
            p: chosen.p,
            is_p_of_all: chosen.is_p_of_all,
            slow: shown.0,
            fast: shown.1,
            runs: slowed(&effects, self.difference()),
            effects,
        })
    }
}

/// Returns `true` if it is the waiting of the run itself, such as that of its main function. It is
/// as long as the run whatever the cause is, and names none.
fn is_wait_of_run(candidate: &Candidate<'_>) -> bool {
    candidate.is_run && candidate.feature.name.measure != Measure::Cpu
}

/// Returns the number of runs that a cause slows, given its contribution to each run. Nearly all runs
/// have a little of a time, which slows none of them.
fn slowed(effects: &[f64], difference: f64) -> usize {
    let least = LEAST_SHARE * difference;
    effects.iter().filter(|effect| **effect >= least).count()
}

/// Returns the value at 0 of the line with this slope: half of the runs are above the line, half are
/// below it.
fn base(metric: &[f64], values: &[f64], slope: f64) -> f64 {
    let without: Vec<f64> = metric
        .iter()
        .zip(values)
        .map(|(metric, value)| metric - slope * value)
        .collect();
    median(&without)
}

/// A candidate, and how it correlates with the rest of the metric.
struct Scored<'c, 'm> {
    place: usize,
    candidate: &'c Candidate<'m>,
    /// Its correlation.
    r: f64,
    /// The probability of that by chance.
    p: f64,
}

/// Compares two names of a cause, each with its distance from the best correlation. The criteria in
/// turn: it is a time, of the measured process, close to the best correlation, absent from fast
/// runs, of the most specific measure and kind, near to where the thread stopped.
fn better(a: (&Candidate<'_>, f64), b: (&Candidate<'_>, f64)) -> Ordering {
    // In steps, since differences of less than a tenth are noise: within a step the next criterion
    // decides. The correlation of numbers with themselves may round to more than 1; their distance,
    // a trace below 0, is in the first step like all small ones.
    let steps = |value: f64| (value.max(0.0) / 0.1).floor();
    let name = |candidate: &'_ Candidate<'_>| {
        let name = &candidate.feature.name;
        (
            !name.measure.is_time(),
            !candidate.is_measured,
            name.measure,
            name.kind,
        )
    };
    let ((is_no_time, is_other, measure, kind), of_b) = (name(a.0), name(b.0));
    (is_no_time, is_other)
        .cmp(&(of_b.0, of_b.1))
        .then(steps(a.1).total_cmp(&steps(b.1)))
        .then(steps(1.0 - a.0.specific()).total_cmp(&steps(1.0 - b.0.specific())))
        .then((measure, kind).cmp(&(of_b.2, of_b.3)))
        .then(a.0.feature.depth.total_cmp(&b.0.feature.depth))
        .then_with(|| a.0.feature.name.cmp(&b.0.feature.name))
}

fn is_other_name(other: &Candidate<'_>, one: &Candidate<'_>) -> bool {
    !std::ptr::eq(other, one) && !other.is_general && dot(&other.unit, &one.unit) >= TOGETHER
}

/// Returns names of a cause: first modules and settings that go with it, then the best one of each
/// kind and process, then the best of the others.
fn different_kinds(others: &[&Candidate<'_>], one: &Feature) -> Vec<super::feature::Name> {
    let mut seen = vec![(one.name.kind, one.name.process.clone())];
    // What a run has is why it takes the time, and many other times go with it.
    let is_fact = |name: &&super::feature::Name| {
        matches!(name.kind, FeatureKind::Module | FeatureKind::Setting)
    };
    let names = others.iter().map(|other| &other.feature.name);
    let facts = names.clone().filter(is_fact).take(MOST_FACTS);
    let mut first: Vec<super::feature::Name> = facts.cloned().collect();
    let mut then = Vec::new();
    for name in names {
        if first.contains(name) {
            continue;
        }
        let of = (name.kind, name.process.clone());
        // Ten methods of one process are less useful than one name of each kind: the others fill
        // the remaining places.
        if seen.contains(&of) {
            then.push(name.clone());
        } else {
            seen.push(of);
            first.push(name.clone());
        }
    }
    first.extend(then);
    first.truncate(MOST_NAMES);
    first
}

#[cfg(test)]
mod tests;
