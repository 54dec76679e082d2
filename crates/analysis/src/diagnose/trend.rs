//! The findings of many runs: how often each rule found something, and whether it does so more often
//! than before. It reads stored diagnoses only, so that thousands of runs take as long as one.

use etwkit_base::digits::counted;
use etwkit_question::Format::{Fixed, Milliseconds, Whole, Word};
use etwkit_question::sql::Conditions;
use etwkit_question::{
    Above, Answer, Column, Example, Form, Line, OptionError, Question, Ranked, Shows, View, ask,
    option,
};
use etwkit_sql::Session;

use super::stored::version;
use super::{DiagnoseRequest, rules};
use crate::Result;

etwkit_question::declare! {
    /// The rules of a trend.
    #[derive(Eq)]
    pub request TrendRequest {
        /// Only these rules (*, ?, several with ;, ! excludes)
        rule: Option<String> = option("RULES"),
    }

    /// A rule that found something in one of many runs.
    pub row TrendRow {
        rule: String = "Rule.",
        title: String = "What the rule finds.",
        runs: i64 = "Runs in which it found something.",
        checked: i64 = "Runs in which it was checked.",
        share_percent: f64 = "Share of the checked runs in which it found something.",
        early_percent: Option<f64> = "This share in the first half of the runs by their start; null if it was not checked there.",
        late_percent: Option<f64> = "This share in the second half; null if it was not checked there.",
        median_cost_ns: Option<i64> = "Median over these runs of the costliest finding of each; null for notes.",
        max_cost_ns: Option<i64> = "Costliest finding; null for notes.",
        first_day: Option<String> = "Day of the first of these runs, UTC; null if the starts are not known.",
        last_day: Option<String> = "Day of the last of these runs, UTC; null if the starts are not known.",
        culprits: i64 = "Different culprits.",
        culprit: Option<String> = "Culprit in most of these runs, counting the costliest of each run.",
        versions: i64 = "Versions of the rule that checked the runs.",
    }

    row Asked {
        runs: i64 = "Extracts.",
        diagnosed: i64 = "Extracts with a diagnosis.",
    }

    row Version {
        rule: String = "Rule.",
        rule_version: String = "Its version.",
    }
}

type TrendColumn = Column<TrendRequest, TrendRow>;

const TREND: View<TrendRequest, TrendRow> = View::new(
    &[
        TrendColumn::new("Rule", "Rule", Word, |_, row| row.rule.clone().into()),
        TrendColumn::new("Runs", "Runs", Whole, |_, row| row.runs.into()),
        TrendColumn::new("Checked", "Of", Whole, |_, row| row.checked.into()),
        TrendColumn::new("Share", "%", Fixed(0), |_, row| row.share_percent.into()),
        TrendColumn::new("Early", "Early %", Fixed(0), |_, row| {
            row.early_percent.into()
        })
        .or(""),
        TrendColumn::new("Late", "Late %", Fixed(0), |_, row| row.late_percent.into()).or(""),
        TrendColumn::new("Cost", "Median ms", Milliseconds, |_, row| {
            row.median_cost_ns.into()
        })
        .or(""),
        TrendColumn::new("MaxCost", "Max ms", Milliseconds, |_, row| {
            row.max_cost_ns.into()
        })
        .or(""),
        TrendColumn::new("First", "First", Word, |_, row| {
            row.first_day.clone().into()
        })
        .or(""),
        TrendColumn::new("Last", "Last", Word, |_, row| row.last_day.clone().into()).or(""),
        TrendColumn::new("Culprits", "Culprits", Whole, |_, row| row.culprits.into()).hidden(),
        TrendColumn::new("Culprit", "Most often", Word, |_, row| {
            row.culprit.clone().into()
        }),
        TrendColumn::new("Title", "What the rule finds", Word, |_, row| {
            row.title.clone().into()
        })
        .hidden(),
    ],
    |row| row.runs as f64,
)
.ranking(|_| Ranked::No);

impl Question for TrendRequest {
    const NAME: &'static str = "trend";
    const SENTENCE: &'static str = "How often each rule found something in many runs";
    const USUAL: &'static [&'static str] = &["rule"];
    const EXAMPLES: &'static [Example] = &[Example {
        words: "farm",
        answer: "the causes that many runs of a lake have",
    }];
    const OF_ALL: bool = true;

    fn form(&self) -> Form<Self> {
        Form::made::<TrendRow>(self.sql(), Self::answered)
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        // A mistyped name would look like a rule that found nothing.
        let diagnosis = DiagnoseRequest {
            rule: self.rule.clone(),
            ..DiagnoseRequest::default()
        };
        diagnosis.check_names()
    }

    fn nothing_found(&self) -> Option<&'static str> {
        Some("no run has a stored finding")
    }
}

/// The extracts, and those with a diagnosis.
const ASKED: &str = "SELECT (SELECT count(*) FROM extract) AS runs,
  (SELECT count(DISTINCT trace_id) FROM rule_outcome) AS diagnosed";

impl TrendRequest {
    /// The condition on outcomes that count: rules that were not checked prove nothing.
    fn condition(&self) -> String {
        Conditions::of("o.state IN ('found', 'nothing')")
            .text("o.rule", self.rule.as_deref())
            .joined()
    }

    /// Returns the SQL.
    #[must_use]
    pub fn sql(&self) -> String {
        format!(
            "WITH run AS (
  SELECT e.trace_id, e.start_utc, ntile(2) OVER (ORDER BY e.start_utc, e.trace_id) AS half
  FROM extract e
  WHERE e.trace_id IN (SELECT trace_id FROM rule_outcome)
), outcome AS (
  SELECT o.trace_id, o.rule, o.title, o.rule_version, r.start_utc, r.half, o.state = 'found' AS is_found
  FROM rule_outcome o
  JOIN run r ON r.trace_id = o.trace_id
  WHERE {condition}
), costliest AS (
  SELECT trace_id, rule, max(cost_ns) AS cost_ns, first_value(culprit ORDER BY number) AS culprit
  FROM finding
  GROUP BY trace_id, rule
), blamed AS (
  SELECT rule, culprit, count(*) AS runs
  FROM costliest
  GROUP BY rule, culprit
), most AS (
  SELECT rule, count(*) AS culprits, first_value(culprit ORDER BY runs DESC, culprit) AS culprit
  FROM blamed
  GROUP BY rule
), sums AS (
  SELECT o.rule, max(o.title) AS title, count(*) FILTER (WHERE o.is_found) AS runs, count(*) AS checked,
    avg(CASE WHEN o.is_found THEN 100.0 ELSE 0.0 END) AS share_percent,
    avg(CASE WHEN o.is_found THEN 100.0 ELSE 0.0 END) FILTER (WHERE o.half = 1) AS early_percent,
    avg(CASE WHEN o.is_found THEN 100.0 ELSE 0.0 END) FILTER (WHERE o.half = 2) AS late_percent,
    median(c.cost_ns) AS median_cost_ns, max(c.cost_ns) AS max_cost_ns,
    min(o.start_utc) FILTER (WHERE o.is_found) AS first_utc, max(o.start_utc) FILTER (WHERE o.is_found) AS last_utc,
    count(DISTINCT o.rule_version) AS versions
  FROM outcome o
  LEFT JOIN costliest c ON c.trace_id = o.trace_id AND c.rule = o.rule
  GROUP BY o.rule
)
SELECT s.rule, s.title, s.runs, s.checked, s.share_percent, s.early_percent, s.late_percent,
  s.median_cost_ns, s.max_cost_ns, substr(CAST(s.first_utc AS VARCHAR), 1, 10) AS first_day,
  substr(CAST(s.last_utc AS VARCHAR), 1, 10) AS last_day, m.culprits, m.culprit, s.versions
FROM sums s
JOIN most m ON m.rule = s.rule
WHERE s.runs > 0
ORDER BY s.runs DESC, coalesce(s.median_cost_ns, 0) DESC, s.rule",
            condition = self.condition(),
        )
    }

    fn answered(&self, session: &Session) -> Result<Answer> {
        let rows: Vec<TrendRow> = ask(session, &self.sql())?;
        let asked: Vec<Asked> = ask(session, ASKED)?;
        let versions: Vec<Version> = ask(
            session,
            &format!(
                "SELECT DISTINCT o.rule, o.rule_version FROM rule_outcome o WHERE {} ORDER BY 1, 2",
                self.condition()
            ),
        )?;
        let head = head(rows.len(), &versions, asked.first());
        let foot = other_versions(&versions);
        let answer = Answer::rows(self, &TREND, rows);
        // Titles above no rows would be noise.
        let answer = if answer.is_empty() {
            answer.showing(Shows::Sums)
        } else {
            answer
        };
        let answer = answer.with_head(head).with_foot(foot);
        Ok(answer.below(Above::Nothing))
    }
}

/// The command that diagnoses traces while they are extracted.
const DIAGNOSED_BY: &str = "`etwkit extract --findings` makes one";

/// The sentence above the rows, and the runs that it does not cover.
fn head(found: usize, versions: &[Version], asked: Option<&Asked>) -> Vec<Line> {
    let runs = |number: i64| counted(number.unsigned_abs(), ["run", "runs"]);
    let (all, diagnosed) = asked.map_or((0, 0), |asked| (asked.runs, asked.diagnosed));
    let without = all.saturating_sub(diagnosed);
    if diagnosed == 0 {
        let none = format!("No diagnosis is stored in {}", runs(all));
        return vec![Line::heading(format!("{none}; {DIAGNOSED_BY}"))];
    }
    // Versions are in the order of their rules.
    let mut names: Vec<&str> = versions.iter().map(|one| one.rule.as_str()).collect();
    names.dedup();
    let checked = counted(names.len() as u64, ["rule", "rules"]);
    let of = runs(diagnosed);
    let sentence = format!("{found} of {checked} that could be checked found something in {of}");
    let others = (without > 0).then(|| {
        let number = runs(without);
        Line::new(format!("Without a diagnosis: {number}; {DIAGNOSED_BY}"))
    });
    [Line::heading(sentence)]
        .into_iter()
        .chain(others)
        .collect()
}

/// The rules of which another version than that of the program checked a run.
fn other_versions(versions: &[Version]) -> Option<Line> {
    let is_current = |one: &&Version| {
        let rule = rules().iter().find(|rule| rule.name == one.rule);
        rule.is_some_and(|rule| version(rule) == one.rule_version)
    };
    let mut others: Vec<&str> = versions
        .iter()
        .filter(|one| !is_current(one))
        .map(|one| one.rule.as_str())
        .collect();
    others.dedup();
    (!others.is_empty()).then(|| {
        let names = others.join(", ");
        Line::new(format!(
            "Another version of the rule checked some of the runs: {names}"
        ))
    })
}
