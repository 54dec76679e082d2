//! Exceptions that rules exclude, and the grouping of equal ones.

use std::collections::{HashMap, HashSet};

use super::filter;
use super::{EXCEPTION, ExceptionAnswer, ExceptionRequest, ExceptionRow, ExceptionSort, ThrownRow};
use etwkit_question::group::grouped;
use etwkit_question::{Answer, Question};
use etwkit_question::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

/// An answer, and the number of exceptions that rules excluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<A> {
    /// The answer without the excluded exceptions.
    pub answer: A,
    /// Number of excluded exceptions.
    pub left_out: i64,
}

impl ExceptionRequest {
    /// Returns the answer with stacks, which JSON and CSV always have.
    pub(super) fn with_stacks(&self, session: &Session) -> Result<Answer> {
        Self {
            by_stack: true,
            ..self.clone()
        }
        .answer_for_people(session)
    }

    /// Returns `true` if each exception is a row.
    pub(super) fn lists(&self) -> bool {
        self.sort == ExceptionSort::Time
    }

    /// Returns the title of a column of times, with a star if they were moved.
    pub(super) fn title_of_time(&self, title: &str) -> String {
        format!("{title}{}", if self.zero.mode.is_some() { "*" } else { "" })
    }

    /// Returns a message, or its first characters if it is too long.
    pub(super) fn cut_message(&self, message: &str) -> String {
        if self.max_message == 0 || message.chars().count() <= self.max_message {
            return message.to_owned();
        }
        let begin: String = message.chars().take(self.max_message).collect();
        format!("{begin} ... (--max-message 0 shows all)")
    }

    /// Queries groups of equal exceptions.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Kept<ExceptionAnswer>> {
        EXCEPTION.check(session, true)?;
        let mut rows: Vec<ExceptionRow> = ask(session, &self.sql())?;
        let left_out = self.leave_out(session, &mut rows, ExceptionRow::thrown, |row| row.count)?;
        // Rules can look at stacks, so with rules the SQL has a row for each stack.
        if self.has_rules() && !self.by_stack {
            rows = without_stacks(rows);
        }
        if self.has_rules() {
            self.order_again(&mut rows);
        }
        let count = |rows: &[ExceptionRow]| rows.iter().map(|row| row.count).sum();
        Ok(Kept {
            answer: grouped(rows, |row| row.process_key, self.top, count),
            left_out,
        })
    }

    /// Queries single exceptions.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn list(&self, session: &Session) -> Result<Kept<Vec<ThrownRow>>> {
        EXCEPTION.check(session, true)?;
        let mut rows = ask(session, &self.list_sql())?;
        let left_out = self.leave_out(session, &mut rows, ThrownRow::thrown, |_| 1)?;
        self.top.cut(&mut rows);
        Ok(Kept {
            answer: rows,
            left_out,
        })
    }

    pub(super) fn has_rules(&self) -> bool {
        self.filters
            .content
            .as_deref()
            .is_some_and(|filters| !filters.is_empty())
    }

    /// Removes rows that the rules exclude, and counts their exceptions. All exceptions of a row
    /// have the same process, type, message and stack.
    fn leave_out<R>(
        &self,
        session: &Session,
        rows: &mut Vec<R>,
        thrown: impl Fn(&R) -> (filter::Thrown<'_>, Option<i64>),
        count: impl Fn(&R) -> i64,
    ) -> Result<i64> {
        let Some(filters) = self
            .filters
            .content
            .as_deref()
            .filter(|filters| !filters.is_empty())
        else {
            return Ok(0);
        };
        let frames = session.frames()?;
        let text = |stack_id: Option<i64>| {
            let stack = stack_id
                .and_then(|id| i32::try_from(id).ok())
                .zip(frames.trace(0));
            let lines = |(id, trace): (i32, &TraceFrames)| -> Vec<String> {
                trace.stack(id).map(|frame| trace.text(frame)).collect()
            };
            stack.map_or_else(Vec::new, lines).join("\n")
        };
        let mut left_out = 0;
        rows.retain(|row| {
            let (thrown, stack_id) = thrown(row);
            let is_left_out = filters.leave_out(thrown, || text(stack_id));
            left_out += if is_left_out { count(row) } else { 0 };
            !is_left_out
        });
        Ok(left_out)
    }

    /// Sorts rows again after some were removed.
    fn order_again(&self, rows: &mut [ExceptionRow]) {
        // The SQL sorted by counts that still included the exceptions that rules removed.
        let mut of_process = HashMap::new();
        let mut of_type = HashMap::new();
        for row in rows.iter() {
            *of_process.entry(row.process_key).or_insert(0) += row.count;
            *of_type
                .entry((row.process_key, row.exception_type.clone()))
                .or_insert(0) += row.count;
        }
        let process = |row: &ExceptionRow| {
            (
                of_process.get(&row.process_key).copied(),
                row.process_key.is_none(),
                row.process_key,
            )
        };
        let kind = |row: &ExceptionRow| {
            of_type
                .get(&(row.process_key, row.exception_type.clone()))
                .copied()
        };
        let text = |text: &str| text.to_owned();
        let size =
            |row: &ExceptionRow| (row.count, row.first_ns, row.message.clone(), row.stack_id);
        match self.sort {
            // By names alone, which no count changes.
            ExceptionSort::Process => {}
            ExceptionSort::Type => {
                rows.sort_by_cached_key(|row| (process(row), text(&row.exception_type), size(row)));
            }
            ExceptionSort::Message => {
                let rest =
                    |row: &ExceptionRow| (text(&row.exception_type), row.first_ns, row.stack_id);
                rows.sort_by_cached_key(|row| (process(row), text(&row.message), rest(row)));
            }
            ExceptionSort::Count | ExceptionSort::Time => {
                rows.sort_by_cached_key(|row| {
                    (
                        process(row),
                        kind(row),
                        text(&row.exception_type),
                        size(row),
                    )
                });
            }
        }
    }
}

/// Merges rows that differ only in their stacks.
fn without_stacks(rows: Vec<ExceptionRow>) -> Vec<ExceptionRow> {
    let mut places: HashMap<(Option<i64>, String, String), usize> = HashMap::new();
    let mut equal: Vec<Vec<ExceptionRow>> = Vec::new();
    for row in rows {
        let next = equal.len();
        let key = (
            row.process_key,
            row.exception_type.clone(),
            row.message.clone(),
        );
        match equal.get_mut(*places.entry(key).or_insert(next)) {
            Some(known) => known.push(row),
            None => equal.push(vec![row]),
        }
    }
    equal
        .into_iter()
        .filter_map(ExceptionRow::together)
        .collect()
}

impl ExceptionRow {
    /// Merges equal exceptions with several stacks into one row.
    fn together(rows: Vec<Self>) -> Option<Self> {
        let thrown = |row: &Self| -> Vec<(i64, String)> {
            let times = row.times_ns.split(' ').filter_map(|time| time.parse().ok());
            times.zip(row.tids.split(' ').map(str::to_owned)).collect()
        };
        let mut all: Vec<(i64, String)> = rows.iter().flat_map(thrown).collect();
        all.sort_by_key(|(time, _)| *time);
        // Threads may have thrown with several stacks, so their numbers do not add up.
        let tids: HashSet<&str> = all.iter().map(|(_, tid)| tid.as_str()).collect();
        let threads = i64::try_from(tids.len()).unwrap_or(i64::MAX);
        let texts =
            |part: fn(&(i64, String)) -> String| all.iter().map(part).collect::<Vec<_>>().join(" ");
        let times_ns = texts(|(time, _)| time.to_string());
        let tids = texts(|(_, tid)| tid.clone());
        let mut one = rows.into_iter().reduce(|one, other| Self {
            count: one.count.saturating_add(other.count),
            rethrown: one.rethrown.saturating_add(other.rethrown),
            first_ns: one.first_ns.min(other.first_ns),
            last_ns: one.last_ns.max(other.last_ns),
            hresult: one.hresult.into_iter().chain(other.hresult).min(),
            ..one
        })?;
        (one.stack_id, one.threads, one.times_ns, one.tids) = (None, threads, times_ns, tids);
        one.sort_value = one.count as f64;
        Some(one)
    }

    fn thrown(&self) -> (filter::Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or("");
        let thrown = filter::Thrown {
            process,
            exception_type: &self.exception_type,
            message: &self.message,
        };
        (thrown, self.stack_id)
    }
}

impl ThrownRow {
    fn thrown(&self) -> (filter::Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or("");
        let thrown = filter::Thrown {
            process,
            exception_type: &self.exception_type,
            message: &self.message,
        };
        (thrown, self.stack_id)
    }
}
