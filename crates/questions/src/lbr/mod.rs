//! Branches that processors remembered (last branch records), by process, method or pair of
//! methods.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{ProcessLine, Whole};
use etwkit_question::cut::Cut;
use etwkit_question::group::Top;
use etwkit_question::group::{Group, grouped};
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Among, Answer, Column, Example, Form, Line, OptionError, Question, Ranked, Value, View, group,
    option,
};
use etwkit_question::{Recorded, Result, ask};
use etwkit_sql::Session;

const CALLEES: Among = Among::Texts("method", "methods", "SELECT callee AS text FROM lbr_method");

declare! {
    /// Limits of the list of methods of each process.
    #[derive(Copy, Eq)]
    pub request TopMethods {
        /// Only the N largest methods of each process
        count: Option<usize> = option("N").called("top-methods").shape(),
        /// Leave the N largest methods of each process out first
        skip: usize = option("N").called("skip-methods").shape(),
    }
}

impl From<TopMethods> for Top {
    fn from(TopMethods { count, skip }: TopMethods) -> Self {
        Self { count, skip }
    }
}

declare! {
    /// Options of `dump lbr`.
    pub request LbrRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes, largest first
        top: Top = group(),
        /// Rows for each method that was reached: only these (*, ?, several with ;, ! excludes)
        methods: Option<String> = option("NAMES").of(CALLEES),
        /// Below each method, the methods that it was reached from
        show_caller: bool = option("").called("show-caller").shape(),
        /// Number of methods of each process, largest first
        top_methods: TopMethods = group(),
        /// Show only a part of the names of methods: A..B characters A to B, -N the last N ones
        cut_method: Option<Cut> = option("A..B").called("cut-method").output(),
        /// Names start with their module
        include_dll: bool = option("").called("include-dll").shape(),
        /// Multiply counts, which count samples: with 1000 samples a second, 1000 to 10000 comes
        /// close to real counts
        scaling_factor: f64 = option("X").called("scaling-factor").shape() => 1.0,
        /// Only rows and callers with this count, after scaling
        count: Range = option("A..B").unit(Unit::Count),
    }

    /// Branches of a process, into a method, or from one method into another.
    pub row LbrRow: process {
        ..process = "Process key; missing for threads whose process is not known.",
        caller: Option<String> = "Method that was left, with callers.",
        callee: Option<String> = "Method that was reached, with methods.",
        count: i64 = "Branches, scaled.",
        callee_count: i64 = "Branches into the method from all callers, scaled.",
        ..process_details,
    }
}

/// Branches by process, ascending by their sums.
pub type LbrAnswer = Vec<Group<LbrRow, i64>>;

/// Returns the sum of the counts of rows.
#[must_use]
pub fn total(rows: &[LbrRow]) -> i64 {
    rows.iter()
        .fold(0, |sum, row| sum.saturating_add(row.count))
}

/// Level of a line of an answer. In text, methods are below their process, and callers below the
/// method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
enum Level {
    Process,
    Method,
    Caller,
}

/// A line of an answer.
#[derive(Debug, Clone, serde::Serialize)]
struct LbrLine {
    level: Level,
    count: i64,
    row: LbrRow,
}

type LbrLineColumn = Column<LbrRequest, LbrLine>;

/// Lines of different levels count the same branches, so they have no sum.
const COLUMNS: &[LbrLineColumn] = &[
    LbrLineColumn::new("Branches", "Branches", Whole, |_, line| line.count.into()),
    LbrLineColumn::new("Name", "Process", ProcessLine, LbrRequest::name_of).titled(|asked| {
        if asked.asks_methods() {
            "Method"
        } else {
            "Process"
        }
        .to_owned()
    }),
];

const PROCESSES: View<LbrRequest, LbrLine> = View::new(COLUMNS, |line| line.count as f64);

/// Methods stay below their processes.
const METHODS: View<LbrRequest, LbrLine> = View::new(COLUMNS, |_| 0.0).ranking(|_| Ranked::No);

const LBR: Recorded = Recorded::rows(
    "lbr_method",
    "branches (last branch records)",
    "record with a WPR profile that has a HardwareCounter with LastBranch on the event SampledProfile; virtual machines \
     mostly have no branch records",
);

impl Question for LbrRequest {
    const NAME: &'static str = "lbr";
    const SENTENCE: &'static str =
        "Branches that the processor remembered: which method reached which";
    const USUAL: &'static [&'static str] = &["methods", "show-caller", "count"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "branches by method",
        },
        Example {
            words: "--show-caller slow.etl",
            answer: "with the callers",
        },
    ];

    fn form(&self) -> Form<Self> {
        let asked = self.meant();
        let form = Form::made::<LbrRow>(asked.sql(), move |_, session| {
            let groups = asked.ask(session)?;
            let lines = groups.iter().flat_map(|group| asked.lines(group)).collect();
            let records = groups.into_iter().flat_map(|group| group.rows).collect();
            let view = if asked.asks_methods() {
                &METHODS
            } else {
                &PROCESSES
            };
            let heading = Line::new("Counts are of samples, not of calls.");
            Ok(Answer::rows(&asked, view, lines)
                .with_records::<LbrRow>(records)
                .with_heading(Some(heading)))
        });
        if self.asks_methods() {
            form
        } else {
            form.top(self.top)
        }
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        let factor = self.scaling_factor;
        if factor.is_finite() && factor > 0.0 {
            return Ok(());
        }
        let problem = format!("must be a number above 0, not {factor}");
        Err(OptionError::Value {
            option: "scaling-factor",
            problem,
        })
    }
}

impl LbrRequest {
    const fn asks_methods(&self) -> bool {
        self.methods.is_some() || self.show_caller || self.top_methods.count.is_some()
    }

    /// Returns the request with a filter that all methods pass, if another option requests methods.
    fn meant(&self) -> Self {
        let all = || self.asks_methods().then(|| "*".to_owned());
        Self {
            methods: self.methods.clone().or_else(all),
            ..self.clone()
        }
    }

    /// Returns the lines of a process.
    fn lines(&self, group: &Group<LbrRow, i64>) -> Vec<LbrLine> {
        let line = |level, count, row: &LbrRow| LbrLine {
            level,
            count,
            row: row.clone(),
        };
        if !self.asks_methods() {
            return group
                .rows
                .iter()
                .map(|row| line(Level::Process, row.count, row))
                .collect();
        }
        let first = group
            .rows
            .first()
            .map(|row| line(Level::Process, group.total, row));
        let mut lines: Vec<LbrLine> = first.into_iter().collect();
        let mut before: Option<&LbrRow> = None;
        for row in &group.rows {
            if before.is_none_or(|before| before.callee != row.callee) {
                lines.push(line(Level::Method, row.callee_count, row));
            }
            if self.show_caller {
                lines.push(line(Level::Caller, row.count, row));
            }
            before = Some(row);
        }
        lines
    }

    fn name_of(&self, line: &LbrLine) -> Value {
        let shown = |name: &Option<String>| {
            let name = name.as_deref().unwrap_or("");
            self.cut_method
                .map_or_else(|| name.to_owned(), |cut| cut.of(name))
        };
        match line.level {
            Level::Process => (&line.row).into(),
            Level::Method => format!("  {}", shown(&line.row.callee)).into(),
            Level::Caller => format!("    from {}", shown(&line.row.caller)).into(),
        }
    }
}

impl LbrRequest {
    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// No branches were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<LbrAnswer> {
        LBR.check(session, true)?;
        let rows: Vec<LbrRow> = ask(session, &self.sql())?;
        let mut groups = grouped(rows, |row| row.process_key, Top::default(), total);
        for group in &mut groups {
            self.cut_methods(&mut group.rows);
        }
        groups.retain(|group| !group.rows.is_empty());
        // Only the methods that are left count.
        groups
            .iter_mut()
            .for_each(|group| group.total = total(&group.rows));
        groups.sort_by_key(|group| group.total);
        self.top.cut(&mut groups);
        Ok(groups)
    }

    /// Keeps the largest methods with all their callers.
    fn cut_methods(&self, rows: &mut Vec<LbrRow>) {
        let mut callees: Vec<Option<String>> = rows.iter().map(|row| row.callee.clone()).collect();
        // Rows of a method are adjacent, since the SQL sorts by its sum and its name.
        callees.dedup();
        Top::from(self.top_methods).cut(&mut callees);
        let kept: std::collections::HashSet<Option<String>> = callees.into_iter().collect();
        rows.retain(|row| kept.contains(&row.callee));
    }
}
