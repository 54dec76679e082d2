//! The declared question: its tables, and the lines above them.

use etwkit_question::{Above, Answer, Example, Form, Line, OptionError, Question, Shows, fields};
use etwkit_sql::Session;

use super::causes::Cause;
use super::rows::{CauseRow, ChangeRow, EffectRow, GroupRow, MissingRow, RunRow};
use super::sentence::cause_name;
use super::view::{CAUSES, CHANGES, EFFECTS, GROUPS, NOT_RECORDED, RUNS, p_of_all};
use super::{ExplainRequest, ExplainTable, Explanation, load, runs};
use crate::duration::milliseconds;

/// Maximum number of runs in text if all tables are shown; if there are more, only those that
/// differ from the others are listed.
const SHOWN_RUNS: usize = 40;

impl Question for ExplainRequest {
    const NAME: &'static str = "explain";
    const SENTENCE: &'static str =
        "What goes with the slow ones of many runs, and which cannot be compared";
    const USUAL: &'static [&'static str] = &["metric", "group-by", "table", "from-mark", "to-mark"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "runs/",
            answer: "what the slow runs have in common",
        },
        Example {
            words: "--metric process-cpu --process setup runs/",
            answer: "what goes with high CPU use of setup.exe",
        },
    ];
    const OF_ALL: bool = true;

    fn form(&self) -> Form<Self> {
        let sql = format!("-- metric\n{};\n{}", self.metric_sql(), load::shown());
        let answer = |asked: &Self, session: &Session| Ok(asked.shown(&asked.explain(session)?));
        match self.table {
            None => {
                let all = [
                    fields::<CauseRow>(),
                    fields::<RunRow>(),
                    fields::<ChangeRow>(),
                    fields::<MissingRow>(),
                    fields::<EffectRow>(),
                    fields::<GroupRow>(),
                ];
                Form::report(sql, all.into_iter().flatten(), answer)
            }
            Some(ExplainTable::Causes) => Form::made::<CauseRow>(sql, answer),
            Some(ExplainTable::Runs) => Form::made::<RunRow>(sql, answer),
            Some(ExplainTable::Change) => Form::made::<ChangeRow>(sql, answer),
            Some(ExplainTable::NotRecorded) => Form::made::<MissingRow>(sql, answer),
            Some(ExplainTable::Effects) => Form::made::<EffectRow>(sql, answer),
            Some(ExplainTable::Groups) => Form::made::<GroupRow>(sql, answer),
        }
    }

    fn one_table(&self) -> Option<&'static str> {
        let how = "choose it with --table causes, runs, change, not-recorded, effects or groups";
        self.table.is_none().then_some(how)
    }

    fn check(&self) -> Result<(), OptionError> {
        self.check_metric()?;
        self.check_labels()
    }
}

impl ExplainRequest {
    fn causes_answer(&self, found: &Explanation) -> Answer {
        let rest = found.causes.difference() - found.causes.explained();
        let is_left = !found.causes.causes.is_empty() && rest > 0.0;
        let left = || Line::new(format!("{} are not explained", milliseconds(rest)));
        let rows = found.cause_rows();
        let foot = p_of_all(&rows).map(Line::new).into_iter();
        let foot = foot.chain(is_left.then(left));
        Answer::rows(self, &CAUSES, rows).with_foot(foot)
    }

    /// Returns the title and the table of runs. Among other tables, many runs are shown only where they
    /// differ from the others.
    fn runs_answer(&self, rows: Vec<RunRow>, is_one_of_many: bool) -> (&'static str, Answer) {
        let hides = is_one_of_many && rows.len() > SHOWN_RUNS;
        let odd = rows.iter().filter(|row| !hides || row.state != "ok");
        let odd: Vec<RunRow> = odd.take(SHOWN_RUNS).cloned().collect();
        let hidden = rows.len().saturating_sub(odd.len());
        let more = || Line::new(format!("… {hidden} more (--table runs shows all)"));
        let answer = Answer::rows(self, &RUNS, odd)
            .with_foot((hidden > 0).then(more))
            .with_records(rows);
        let title = if hides {
            "Runs that differ from the others"
        } else {
            "Runs"
        };
        (title, answer)
    }

    /// The wanted tables, each with its name and title.
    fn tables_of(&self, found: &Explanation) -> Vec<(&'static str, &'static str, Answer)> {
        let all = self.table.is_none();
        let wanted = self.table;
        let is_wanted = |table: ExplainTable| all || wanted == Some(table);
        let mut tables = Vec::new();
        if is_wanted(ExplainTable::Causes) {
            let answer = self.causes_answer(found);
            tables.push(("causes", "Causes", answer));
        }
        if is_wanted(ExplainTable::Groups) {
            let answer = Answer::rows(self, &GROUPS, found.group_rows());
            tables.push(("groups", "Runs by label", answer));
        }
        if is_wanted(ExplainTable::Runs) {
            let (title, answer) = self.runs_answer(found.run_rows(), all);
            tables.push(("runs", title, answer));
        }
        if is_wanted(ExplainTable::Change) {
            let rows = found.change_row().into_iter().collect();
            tables.push((
                "change",
                "Change over time",
                Answer::rows(self, &CHANGES, rows),
            ));
        }
        if is_wanted(ExplainTable::NotRecorded) {
            tables.push((
                "not-recorded",
                "Not recorded",
                Answer::rows(self, &NOT_RECORDED, found.missing_rows()),
            ));
        }
        if is_wanted(ExplainTable::Effects) {
            let answer = Answer::rows(self, &EFFECTS, found.effect_rows());
            // A row for each run and cause is for JSON and CSV; among the other tables it would
            // bury them.
            let answer = if all {
                answer.showing(Shows::Sums)
            } else {
                answer
            };
            tables.push(("effects", "", answer));
        }
        tables
    }

    fn shown(&self, found: &Explanation) -> Answer {
        let tables = self.tables_of(found);
        let head: Vec<Line> = std::iter::once(Line::heading(found.sentence()))
            .chain(found.more().into_iter().map(Line::new))
            .collect();
        if self.table.is_some() {
            let one = tables.into_iter().next().map(|(_, _, answer)| answer);
            let one = one.unwrap_or_else(|| Answer::rows(self, &CAUSES, Vec::new()));
            return one.with_head(head).below(Above::Nothing);
        }
        let above = Answer::rows(self, &CAUSES, Vec::new())
            .with_head(head)
            .showing(Shows::Untitled)
            .aside();
        let filled = tables
            .into_iter()
            .filter(|(_, _, answer)| !answer.is_empty());
        let tables = filled.map(|(name, title, answer)| (name, title.to_owned(), answer));
        Answer::report(std::iter::once(("", String::new(), above)).chain(tables))
            .below(Above::Nothing)
    }
}

impl Explanation {
    /// Returns the causes, the one with the largest effect first.
    #[must_use]
    pub fn cause_rows(&self) -> Vec<CauseRow> {
        let difference = self.causes.difference();
        let row = |(number, cause): (i64, &Cause)| CauseRow {
            cause: number,
            effect_ms: cause.effect,
            share_percent: 100.0 * cause.effect / difference,
            measure: cause.name.measure.word().to_owned(),
            kind: cause.name.kind.word().to_owned(),
            name: cause.name.what.clone(),
            process: cause.name.process.clone(),
            slow: cause.slow,
            fast: cause.fast,
            unit: cause.name.measure.unit().to_owned(),
            ms_per_unit: cause.slope,
            base_ms: cause.base,
            correlation: cause.correlation,
            p_value: cause.p,
            is_p_of_all: cause.is_p_of_all,
            runs: count(cause.runs),
            is_rest: cause.is_rest,
            moves_with: cause
                .others
                .iter()
                .map(super::feature::Name::text)
                .collect::<Vec<_>>()
                .join("; "),
            more: count(cause.more),
        };
        (1..).zip(&self.causes.causes).map(row).collect()
    }

    /// Returns the contribution of all causes to the run at this place among the measured ones.
    fn explained(&self, place: usize) -> f64 {
        self.causes
            .causes
            .iter()
            .filter_map(|cause| cause.effects.get(place))
            .sum()
    }

    /// Returns all runs, in the order of their extracts.
    #[must_use]
    pub fn run_rows(&self) -> Vec<RunRow> {
        let values: Vec<f64> = self
            .measured
            .iter()
            .filter_map(|run| runs::metric_of(&self.runs, *run))
            .collect();
        let halves = super::groups::Halves::of(&values);
        let distances = runs::distances(&values);
        let row = |(number, run): (usize, &runs::Run)| {
            let place = self.measured.binary_search(&number).ok();
            let spreads = place.and_then(|place| distances.get(place).copied());
            let half = place.filter(|_| !self.is_even()).and_then(|place| {
                match (halves.is_slow(place), halves.is_fast(place)) {
                    (true, _) => Some("slow".to_owned()),
                    (_, true) => Some("fast".to_owned()),
                    _ => None,
                }
            });
            // The spread of fewer runs is itself a matter of chance.
            let is_outlier =
                values.len() >= 4 && spreads.is_some_and(|spreads| spreads.abs() > runs::OUTLIER);
            let state = match (place, is_outlier, run.differs.is_empty()) {
                (None, ..) => "no metric",
                (_, true, true) => "outlier",
                (_, true, false) => "outlier, not comparable",
                (_, false, false) => "not comparable",
                (_, false, true) => "ok",
            };
            RunRow {
                run: count(number),
                extract: run.name.clone(),
                start_utc: run.start_utc.clone(),
                metric_ms: run.metric,
                half,
                state: state.to_owned(),
                spreads,
                explained_ms: place.map(|place| self.explained(place)),
                not_comparable: (!run.differs.is_empty()).then(|| {
                    let texts: Vec<&str> =
                        run.differs.iter().map(|one| one.text.as_str()).collect();
                    texts.join("; ")
                }),
            }
        };
        self.runs
            .iter()
            .enumerate()
            .map(|(number, run)| row((number, run)))
            .collect()
    }

    /// Returns a row for each run with a metric and each cause.
    #[must_use]
    pub fn effect_rows(&self) -> Vec<EffectRow> {
        let mut rows = Vec::new();
        for (place, run) in self.measured.iter().enumerate() {
            for (number, cause) in (1..).zip(&self.causes.causes) {
                let value = cause.values.get(place);
                let effect = cause.effects.get(place);
                let (Some(value), Some(effect)) = (value, effect) else {
                    continue;
                };
                rows.push(EffectRow {
                    run: count(*run),
                    extract: self
                        .runs
                        .get(*run)
                        .map_or_else(String::new, |run| run.name.clone()),
                    cause: number,
                    name: cause_name(cause),
                    value: *value,
                    unit: cause.name.measure.unit().to_owned(),
                    effect_ms: *effect,
                });
            }
        }
        rows
    }

    pub(super) fn missing_rows(&self) -> Vec<MissingRow> {
        let row = |missing: &super::Missing| MissingRow {
            topic: missing.topic.clone(),
            runs: missing.runs,
            all_runs: missing.all,
            means: missing.means.to_owned(),
            recorded_by: missing.recorded_by.clone(),
        };
        let causes = &self.causes.causes;
        let names = || {
            causes
                .iter()
                .flat_map(|cause| std::iter::once(&cause.name).chain(&cause.others))
        };
        self.missing
            .iter()
            .filter(|missing| !missing.is_shown_by(names()))
            .map(row)
            .collect()
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
