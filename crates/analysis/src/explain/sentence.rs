//! The first line: the result, for readers who go no further.

use etwkit_base::digits::noun;
use etwkit_base::shell::quoted_pattern;

use super::causes::{Cause, ENOUGH_RUNS, MANY_RUNS};
use super::rows::ChangeRow;
use super::{Explanation, metric, runs};
use crate::duration::milliseconds;

/// Maximum number of causes that the sentence names.
const NAMED: usize = 3;

impl Explanation {
    /// Returns the result in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (runs, causes) = (self.measured.len(), &self.causes);
        let of_difference: Vec<&Cause> = causes.of_difference().collect();
        let metric = &self.metric;
        if runs < 2 {
            return format!(
                "There is nothing to compare: {} measured ({metric}), and two are needed",
                counted(runs)
            );
        }
        if self.is_equally_long() {
            return format!(
                "The {runs} recordings are equally long ({} on average){}",
                milliseconds(f64::midpoint(causes.slow, causes.fast)),
                self.other_metric()
            );
        }
        if causes.is_even && runs >= ENOUGH_RUNS {
            return format!(
                "The runs do not differ: the longer half of {runs} runs took {}, the shorter \
                 half {} ({metric}), so there is nothing to explain",
                milliseconds(causes.slow),
                milliseconds(causes.fast)
            );
        }
        let halves = format!(
            "the slow half of {runs} runs took {} longer than the fast one ({} against {}; {metric})",
            milliseconds(causes.difference()),
            milliseconds(causes.slow),
            milliseconds(causes.fast)
        );
        if runs < ENOUGH_RUNS {
            let what = if of_difference.is_empty() {
                "nothing stands out"
            } else {
                "what differs most is"
            };
            return format!(
                "{runs} runs are too few to draw conclusions: {halves}; {what}{}",
                named(&of_difference)
            );
        }
        if of_difference.is_empty() {
            let too_few = if runs < MANY_RUNS {
                format!("; {runs} runs may be too few to separate causes, {MANY_RUNS} are enough")
            } else {
                String::new()
            };
            return format!(
                "Nothing that was recorded explains why {halves}: none of {} features goes with \
                 it{too_few}",
                causes.tried
            );
        }
        // Each effect is at most the difference, but their sum can exceed it.
        let share = (100.0 * causes.explained() / causes.difference()).min(100.0);
        format!(
            "{}; {share:.0} % of that is{}",
            capital(&halves),
            named(&of_difference)
        )
    }

    /// Returns `true` if only lengths of recordings are compared and these are equal.
    fn is_equally_long(&self) -> bool {
        self.metric == metric::OF_TRACE && self.causes.differ_little()
    }

    /// Returns `true` if no run is slower than the others.
    pub(super) fn is_even(&self) -> bool {
        self.causes.is_even || self.is_equally_long()
    }

    /// Returns the way to compare programs where recordings are equally long.
    fn other_metric(&self) -> String {
        let Some(first) = self.whole_programs.first() else {
            let compares = match &self.open_program {
                Some(program) => format!(
                    "the CPU time of {program} differs most, which --metric process-cpu --process {} \
                     compares",
                    quoted_pattern(program)
                ),
                None => {
                    "--metric process-cpu --process NAME compares the CPU of a program that stays \
                         open"
                        .to_owned()
                }
            };
            return format!(
                "; no program starts and ends once in each of them; {compares}, and \
                 `etwkit diagnose --merge` lists the findings of each run"
            );
        };
        let named: Vec<&str> = self
            .whole_programs
            .iter()
            .take(NAMED)
            .map(String::as_str)
            .collect();
        let verb = if named.len() == 1 {
            "starts and ends"
        } else {
            "start and end"
        };
        format!(
            "; {} {verb} in each of them: --process {} compares how long it ran",
            named.join(", "),
            quoted_pattern(first)
        )
    }

    /// Returns the name of the metric.
    #[must_use]
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// Returns the lines below the sentence.
    #[must_use]
    pub fn more(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let disturbed = self
            .runs
            .iter()
            .filter(|run| !run.differs.is_empty())
            .count();
        if disturbed > 0 {
            let nouns = [
                "run is not comparable with the others as it is",
                "runs are not comparable with the others as they are",
            ];
            lines.push(format!(
                "{disturbed} {}: the table of runs says why",
                noun(disturbed as u64, nouns)
            ));
        }
        lines.extend(self.causes.of_both_halves().map(|cause| {
            let whose = if self.causes.has_more_in_fast_runs(cause) {
                "Fast runs have more of"
            } else {
                "Slow and fast runs alike have"
            };
            format!(
                "{whose} {} ({} in the half of all runs that has most of it)",
                cause_name(cause),
                milliseconds(cause.own_effect)
            )
        }));
        let unmeasured = self.runs.len().saturating_sub(self.measured.len());
        if unmeasured > 0 {
            lines.push(format!(
                "{} without a metric and left out",
                counted(unmeasured)
            ));
        }
        lines.extend(repeated(&runs::of_one_trace(&self.runs)));
        lines.extend(self.change_row().map(|change| {
            let word = if change.change_ms > 0.0 {
                "slower"
            } else {
                "faster"
            };
            format!(
                "Runs became {word} with {}: {} before, {} from there on",
                change.extract,
                milliseconds(change.before_ms),
                milliseconds(change.after_ms)
            )
        }));
        lines
    }

    pub(super) fn change_row(&self) -> Option<ChangeRow> {
        let change = self.change?;
        let run = self
            .runs
            .get(*self.measured.get(*self.by_time.get(change.at)?)?)?;
        let count = |runs: usize| i64::try_from(runs).unwrap_or(i64::MAX);
        Some(ChangeRow {
            extract: run.name.clone(),
            start_utc: run.start_utc.clone(),
            runs_before: count(change.at),
            runs_after: count(self.measured.len().saturating_sub(change.at)),
            before_ms: change.before,
            after_ms: change.after,
            change_ms: change.after - change.before,
            p_value: change.p,
        })
    }
}

/// Returns a sentence about pairs of runs that are of one trace.
fn repeated(pairs: &[(usize, usize)]) -> Option<String> {
    let (first, second) = pairs.first()?;
    Some(match pairs.len() {
        1 => format!("Runs {first} and {second} are of the same trace; both count"),
        pairs => format!(
            "{pairs} pairs of runs are of the same trace, for example runs {first} and {second}; \
             all of them count"
        ),
    })
}

fn counted(runs: usize) -> String {
    format!("{runs} {}", noun(runs as u64, ["run is", "runs are"]))
}

/// Returns a text with its first letter as a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Formats ` A (12 ms), B (3 ms) and 2 others`.
fn named(causes: &[&Cause]) -> String {
    let first = causes
        .iter()
        .take(NAMED)
        .map(|cause| format!("{} ({})", cause_name(cause), milliseconds(cause.effect)));
    let text = first.collect::<Vec<_>>().join(", ");
    let others = causes.len().saturating_sub(NAMED);
    let more = if others > 0 {
        format!(" and {others} more")
    } else {
        String::new()
    };
    if text.is_empty() {
        text
    } else {
        format!(" {text}{more}")
    }
}

/// Returns the name of a cause.
pub(super) fn cause_name(cause: &Cause) -> String {
    let rest = if cause.is_rest { "the rest of " } else { "" };
    format!("{rest}{}", cause.name.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_trace_are_named_or_counted() {
        assert_eq!(repeated(&[]), None);
        assert_eq!(
            repeated(&[(0, 1)]).as_deref(),
            Some("Runs 0 and 1 are of the same trace; both count")
        );
        assert_eq!(
            repeated(&[(0, 1), (0, 2)]).as_deref(),
            Some(
                "2 pairs of runs are of the same trace, for example runs 0 and 1; all of them count"
            )
        );
    }
}
