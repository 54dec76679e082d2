//! Branches that processors remembered (last branch records), by process, method or pair of methods.

use super::group::{Group, grouped};
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, range_condition, text_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

/// Which branches, put together how.
#[derive(Debug, Clone, PartialEq)]
pub struct LbrRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Rows for each method that was reached: a filter on their names.
    pub methods: Option<String>,
    /// Rows for each method that was left, below the one that was reached.
    pub show_caller: bool,
    /// Names begin with the module.
    pub include_dll: bool,
    /// Counts are multiplied with it.
    pub scaling_factor: f64,
    /// Only rows with such a count, after scaling; of methods and of their callers.
    pub count: Range,
    /// How many of the largest processes.
    pub top: Top,
    /// How many of the largest methods of each process.
    pub top_methods: Top,
}

impl Default for LbrRequest {
    fn default() -> Self {
        Self {
            processes: ProcessQuery::default(),
            methods: None,
            show_caller: false,
            include_dll: false,
            scaling_factor: 1.0,
            count: Range::default(),
            top: Top::default(),
            top_methods: Top::default(),
        }
    }
}

rows! {
    /// Branches of a process, into a method, or from one method into another.
    pub struct LbrRow {
        /// Process key; missing for threads whose process is not known.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Method that was left, with callers.
        caller: Option<String>,
        /// Method that was reached, with methods.
        callee: Option<String>,
        /// Branches, scaled.
        count: i64,
        /// Branches into the method from all callers, scaled.
        callee_count: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}

/// Branches by process, ascending by their sums.
pub type LbrAnswer = Vec<Group<LbrRow, i64>>;

/// Sum of the counts of rows.
#[must_use]
pub fn total(rows: &[LbrRow]) -> i64 {
    rows.iter().fold(0, |sum, row| sum.saturating_add(row.count))
}

impl LbrRequest {
    fn name(&self, side: &str) -> String {
        let named = if self.include_dll {
            format!("concat(l.{side}_module || '!', l.{side})")
        } else {
            format!("l.{side}")
        };
        format!(
            "CASE WHEN starts_with(l.{side}, '+') THEN concat(coalesce(l.{side}_module, ''), l.{side}) ELSE {named} END"
        )
    }

    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let none = || "CAST(NULL AS VARCHAR)".to_owned();
        let (has_callees, has_callers) = (self.methods.is_some() || self.show_caller, self.show_caller);
        let callee = if has_callees { self.name("callee") } else { none() };
        let caller = if has_callers { self.name("caller") } else { none() };
        let mut limits: Vec<String> = text_condition("callee", self.methods.as_deref()).into_iter().collect();
        limits.extend(range_condition("callee_count", self.count));
        limits.extend(range_condition("count", self.count).filter(|_| has_callers));
        format!(
            "SELECT * FROM (
SELECT *, sum(count) OVER (PARTITION BY process_key, callee) AS callee_count
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, caller, callee,
  CAST(round(sum(count) * {factor:?}) AS BIGINT) AS count
FROM (
SELECT l.process_key, {PROCESS_COLUMNS}, {caller} AS caller, {callee} AS callee, l.count
FROM lbr_method l
LEFT JOIN process p ON p.process_key = l.process_key{conditions}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, caller, callee
)
){limits}
ORDER BY callee_count, callee, count DESC, caller, process_key",
            factor = self.scaling_factor,
            conditions = filtered(&self.processes.conditions()),
            limits = filtered(&limits),
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// No branches were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<LbrAnswer> {
        if !has_rows(session, "lbr_method")? {
            return Err(Error::NotRecorded {
                what: "branches (last branch records)",
                how: "record with a WPR profile that has a HardwareCounter with LastBranch on the event SampledProfile; virtual machines \
                      mostly have no branch records",
            });
        }
        let rows: Vec<LbrRow> = ask(session, &self.sql())?;
        let mut groups = grouped(rows, |row| row.process_key, Top::default(), total);
        for group in &mut groups {
            self.cut_methods(&mut group.rows);
        }
        groups.retain(|group| !group.rows.is_empty());
        groups.iter_mut().for_each(|group| group.total = total(&group.rows));
        groups.sort_by_key(|group| group.total);
        self.top.cut(&mut groups);
        Ok(groups)
    }

    /// Keeps the largest methods with all their callers.
    fn cut_methods(&self, rows: &mut Vec<LbrRow>) {
        let mut callees: Vec<Option<String>> = rows.iter().map(|row| row.callee.clone()).collect();
        callees.dedup();
        self.top_methods.cut(&mut callees);
        let kept: std::collections::HashSet<Option<String>> = callees.into_iter().collect();
        rows.retain(|row| kept.contains(&row.callee));
    }
}
