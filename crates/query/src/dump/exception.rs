//! Exceptions of .NET programs: equal ones together, or each one.

use std::collections::{HashMap, HashSet};

use super::cut::Cut;
use super::exception_filter::{self, ExceptionFilters};
use super::exception_view::{LISTED, TOGETHER, Thrown};
use super::group::{Group, grouped};
use super::sql::ProcessQuery;
use super::stacked::{STACK, Stacked, with_stacks};
use super::zero::ZeroTime;
use super::{Recorded, Result, Top, ask};
use crate::Session;
use crate::frames::TraceFrames;
use crate::question::{Among, Answer, Files, FilesError, Form, NamedFile, Question, Sums, group, option};
use crate::range::{Range, Unit};

const TYPES: Among =
    Among::Texts("type of exception", "types of exceptions", "SELECT exception_type AS text FROM exception");

const MESSAGES: Among = Among::Texts("message", "messages", "SELECT message AS text FROM exception");

declare! {
    /// Which exceptions.
    #[derive(Eq)]
    pub request ExceptionRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many rows from the end of the list, of each process where equal ones are together
        top: Top = group(),
        /// What becomes second 0 of times
        zero: ZeroTime = group(),
        /// Only such types, with namespace (*, ?, several with ;, ! excludes)
        exception_type: Option<String> = option("NAMES").called("type").of(TYPES),
        /// Only messages of which one line fits (*, ?, several with ;, ! excludes)
        message: Option<String> = option("TEXT").of(MESSAGES),
        /// Only stacks with such a frame: module!method or method (*, ?, several with ;, ! excludes stacks
        /// with such a frame)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Leave out what the rules of this file leave out (ExceptionFilters.xml of ETWAnalyzer); how many
        /// these are is noted.
        /// default: the file that ETWKIT_EXCEPTION_FILTERS names
        filters: NamedFile<ExceptionFilters> = option("FILE|default").called("exception-filters"),
        /// Only exceptions of these seconds, counted from --zero-time
        time: Range = option("A..B").unit(Unit::Seconds),
        /// Only exceptions in this part of the trace (s)
        range: Range = option("A..B").unit(Unit::Moment),
        /// count, process, type and message put equal exceptions of a process together; time lists each one
        sort: ExceptionSort = option("ORDER").called("sort-by").shape(),
        /// Show path, version and company of executables; =TEXT only where one of these fits (*, ?, several
        /// with ;, ! excludes)
        modules: Option<String> = option("TEXT").called("show-module").alone(""),
        /// Show stacks: equal exceptions with different stacks are rows of their own
        by_stack: bool = option("").called("show-stack").output(),
        /// Only frames A to B of stacks
        cut_stack: Cut = option("A..B").called("cut-stack").output() => Cut::Part(0, 50),
        /// Characters of messages; 0 shows all
        max_message: usize = option("N").called("max-message").output() => 500,
        /// Show when equal exceptions were thrown, and by which threads
        show_time: bool = option("").called("show-time").output(),
        /// Show first and last time, threads, HRESULT and terminal sessions
        details: bool = option("").output(),
    }

    /// Orders of exceptions.
    pub words ExceptionSort {
        "count" => Count =
            "How many: processes by all of theirs, in them types by all of that type, then messages.",
        "process" => Process = "Name of the process, then type and message.",
        "type" => Type = "Processes by number, in them the name of the type, then how many.",
        "message" => Message = "Processes by number, in them the message.",
        "time" => Time = "Each exception by itself, by time.",
    }

    /// Exceptions of one process with the same type and message, and with the same stack if that is asked
    /// for.
    pub row ExceptionRow: process {
        ..process = "Process; missing if it is not known.",
        exception_type: String = "Type with namespace.",
        message: String = "Message.",
        count: i64 = "How many were thrown.",
        rethrown: i64 = "How many were rethrown.",
        first_ns: i64 = "Time of the first exception.",
        last_ns: i64 = "Time of the last exception.",
        threads: i64 = "Threads that threw them.",
        times_ns: String = "Times of all of them, ascending, with blanks between.",
        tids: String = "Thread ids in the order of `times_ns`.",
        hresult: Option<i64> = "HRESULT of one of them, as bit pattern.",
        stack_id: Option<i64> = "Stack, in rows by stack.",
        ..process_details,
        module_path: Option<String> = "Path of the executable.",
        file_version: Option<String> = "File version of the executable.",
        product_name: Option<String> = "Product of the executable.",
        company: Option<String> = "Company of the executable.",
        product_version: Option<String> = "Product version of the executable.",
        description: Option<String> = "Description of the executable.",
        sort_value: f64 = "What rows are sorted by with [`ExceptionSort::Count`].",
    }

    /// An exception.
    pub row ThrownRow: process {
        ts_ns: i64 = "When it was thrown.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id.",
        exception_type: String = "Type with namespace.",
        message: String = "Message.",
        hresult: Option<i64> = "HRESULT as bit pattern.",
        flags: i64 =
            "Flags: 1 has an inner exception, 2 nested, 4 thrown again, 8 corrupts state, 16 CLS-compliant.",
        stack_id: Option<i64> = "Stack.",
        ..process_details,
        module_path: Option<String> = "Path of the executable.",
        file_version: Option<String> = "File version of the executable.",
        product_name: Option<String> = "Product of the executable.",
        company: Option<String> = "Company of the executable.",
        product_version: Option<String> = "Product version of the executable.",
        description: Option<String> = "Description of the executable.",
    }
}

/// Names the file that `default` stands for.
const FILTERS: &str = "ETWKIT_EXCEPTION_FILTERS";

/// The number of exceptions that rules left out, in the numbers of an answer.
const LEFT_OUT: &str = "left_out";

impl Question for ExceptionRequest {
    const NAME: &'static str = "exception";
    const SENTENCE: &'static str = "Exceptions of .NET programs";

    fn form(&self) -> Form<Self> {
        let form = if self.lists() {
            Form::made::<ThrownRow>(self.list_sql(), Self::with_stacks)
        } else {
            Form::made::<ExceptionRow>(self.sql(), Self::with_stacks).shows_as(&TOGETHER, Stacked::without)
        };
        form.with_fields(vec![STACK]).top(self.top)
    }

    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        let (answer, left_out) = if self.lists() {
            let Kept { answer, left_out } = self.list(session)?;
            let rows = with_stacks(session, answer, self.by_stack, |row| row.stack_id)?;
            (Answer::rows(self, &LISTED, Thrown::all(rows)), left_out)
        } else {
            let Kept { answer, left_out } = self.ask(session)?;
            let stacked = |group: Group<ExceptionRow, i64>| {
                with_stacks(session, group.rows, self.by_stack, |row| row.stack_id)
            };
            let groups = answer.into_iter().map(stacked).collect::<Result<_>>()?;
            (Answer::groups(self, &TOGETHER, groups), left_out)
        };
        answer.with_sums([(LEFT_OUT, left_out)]).moved(&self.zero, session)
    }

    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        self.filters.load(files, Some(FILTERS), ExceptionFilters::parse)
    }

    fn notes(&self, all: &[Sums]) -> Vec<String> {
        let left_out =
            || all.iter().filter_map(|sums| sums.get(LEFT_OUT)).fold(0i64, |a, b| a.saturating_add(*b));
        let note = match (&self.filters.name, &self.filters.content) {
            (None, _) => None,
            (Some(file), Some(_)) => {
                Some(format!("exceptions left out by the rules of {file}: {}", left_out()))
            }
            (Some(_), None) => {
                Some(format!("no exception is left out: there are no rules, {FILTERS} does not name a file"))
            }
        };
        note.into_iter().collect()
    }
}

/// Exceptions by process; the sum is their number.
pub type ExceptionAnswer = Vec<Group<ExceptionRow, i64>>;

/// An answer, and how many exceptions rules have left out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<A> {
    /// What is left.
    pub answer: A,
    /// Exceptions that rules have left out.
    pub left_out: i64,
}

impl ExceptionRequest {
    /// The answer with stacks, since machine output always has them.
    fn with_stacks(&self, session: &Session) -> Result<Answer> {
        Self { by_stack: true, ..self.clone() }.answer_for_people(session)
    }

    /// Whether each exception is a row.
    fn lists(&self) -> bool {
        self.sort == ExceptionSort::Time
    }

    /// The title of a column of times; a star says that they were moved.
    pub(super) fn title_of_time(&self, title: &str) -> String {
        format!("{title}{}", if self.zero.mode.is_some() { "*" } else { "" })
    }

    /// A message, or its first characters if it is too long.
    pub(super) fn cut_message(&self, message: &str) -> String {
        if self.max_message == 0 || message.chars().count() <= self.max_message {
            return message.to_owned();
        }
        let begin: String = message.chars().take(self.max_message).collect();
        format!("{begin} ... (--max-message 0 shows all)")
    }

    /// Asks for equal exceptions together.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Kept<ExceptionAnswer>> {
        EXCEPTION.check(session, true)?;
        let mut rows: Vec<ExceptionRow> = ask(session, &self.sql())?;
        let left_out = self.leave_out(session, &mut rows, ExceptionRow::thrown, |row| row.count)?;
        // Rules can look at stacks, so that with rules the SQL has a row for each stack.
        if self.has_rules() && !self.by_stack {
            rows = without_stacks(rows);
        }
        if self.has_rules() {
            self.order_again(&mut rows);
        }
        let count = |rows: &[ExceptionRow]| rows.iter().map(|row| row.count).sum();
        Ok(Kept { answer: grouped(rows, |row| row.process_key, self.top, count), left_out })
    }

    /// Asks for each exception.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn list(&self, session: &Session) -> Result<Kept<Vec<ThrownRow>>> {
        EXCEPTION.check(session, true)?;
        let mut rows = ask(session, &self.list_sql())?;
        let left_out = self.leave_out(session, &mut rows, ThrownRow::thrown, |_| 1)?;
        self.top.cut(&mut rows);
        Ok(Kept { answer: rows, left_out })
    }

    pub(super) fn has_rules(&self) -> bool {
        self.filters.content.as_deref().is_some_and(|filters| !filters.is_empty())
    }

    /// Removes rows that the rules leave out, and counts their exceptions. All exceptions of a row have
    /// the same process, type, message and stack.
    fn leave_out<R>(
        &self,
        session: &Session,
        rows: &mut Vec<R>,
        thrown: impl Fn(&R) -> (exception_filter::Thrown<'_>, Option<i64>),
        count: impl Fn(&R) -> i64,
    ) -> Result<i64> {
        let Some(filters) = self.filters.content.as_deref().filter(|filters| !filters.is_empty()) else {
            return Ok(0);
        };
        let frames = session.frames()?;
        let text = |stack_id: Option<i64>| {
            let stack = stack_id.and_then(|id| i32::try_from(id).ok()).zip(frames.trace(0));
            let lines = |(id, trace): (i32, &TraceFrames)| -> Vec<String> {
                trace.stack(id).map(|frame| trace.text(frame)).collect()
            };
            stack.map(lines).unwrap_or_default().join("\n")
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
        let (mut of_process, mut of_type) = (HashMap::new(), HashMap::new());
        for row in rows.iter() {
            *of_process.entry(row.process_key).or_insert(0) += row.count;
            *of_type.entry((row.process_key, row.exception_type.clone())).or_insert(0) += row.count;
        }
        let process = |row: &ExceptionRow| {
            (of_process.get(&row.process_key).copied(), row.process_key.is_none(), row.process_key)
        };
        let kind = |row: &ExceptionRow| of_type.get(&(row.process_key, row.exception_type.clone())).copied();
        let text = |text: &str| text.to_owned();
        let size = |row: &ExceptionRow| (row.count, row.first_ns, row.message.clone(), row.stack_id);
        match self.sort {
            // By names alone, which no count changes.
            ExceptionSort::Process => {}
            ExceptionSort::Type => {
                rows.sort_by_cached_key(|row| (process(row), text(&row.exception_type), size(row)));
            }
            ExceptionSort::Message => {
                let rest = |row: &ExceptionRow| (text(&row.exception_type), row.first_ns, row.stack_id);
                rows.sort_by_cached_key(|row| (process(row), text(&row.message), rest(row)));
            }
            ExceptionSort::Count | ExceptionSort::Time => {
                rows.sort_by_cached_key(|row| {
                    (process(row), kind(row), text(&row.exception_type), size(row))
                });
            }
        }
    }
}

/// Rows that differ in their stacks only become one.
fn without_stacks(rows: Vec<ExceptionRow>) -> Vec<ExceptionRow> {
    let mut places: HashMap<(Option<i64>, String, String), usize> = HashMap::new();
    let mut equal: Vec<Vec<ExceptionRow>> = Vec::new();
    for row in rows {
        let next = equal.len();
        let key = (row.process_key, row.exception_type.clone(), row.message.clone());
        match equal.get_mut(*places.entry(key).or_insert(next)) {
            Some(known) => known.push(row),
            None => equal.push(vec![row]),
        }
    }
    equal.into_iter().filter_map(ExceptionRow::together).collect()
}

impl ExceptionRow {
    /// Equal exceptions with several stacks as one row.
    fn together(rows: Vec<Self>) -> Option<Self> {
        let thrown = |row: &Self| -> Vec<(i64, String)> {
            let times = row.times_ns.split(' ').filter_map(|time| time.parse().ok());
            times.zip(row.tids.split(' ').map(str::to_owned)).collect()
        };
        let mut all: Vec<(i64, String)> = rows.iter().flat_map(thrown).collect();
        all.sort_by_key(|(time, _)| *time);
        // Threads may have thrown with several stacks, so that their numbers do not add up.
        let tids: HashSet<&str> = all.iter().map(|(_, tid)| tid.as_str()).collect();
        let threads = i64::try_from(tids.len()).unwrap_or(i64::MAX);
        let texts = |part: fn(&(i64, String)) -> String| all.iter().map(part).collect::<Vec<_>>().join(" ");
        let (times_ns, tids) = (texts(|(time, _)| time.to_string()), texts(|(_, tid)| tid.clone()));
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

    fn thrown(&self) -> (exception_filter::Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or_default();
        let thrown = exception_filter::Thrown {
            process,
            exception_type: &self.exception_type,
            message: &self.message,
        };
        (thrown, self.stack_id)
    }
}

impl ThrownRow {
    fn thrown(&self) -> (exception_filter::Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or_default();
        let thrown = exception_filter::Thrown {
            process,
            exception_type: &self.exception_type,
            message: &self.message,
        };
        (thrown, self.stack_id)
    }
}

const EXCEPTION: Recorded = Recorded::rows(
    "exception",
    ".NET exceptions",
    "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x8000 (Exception) and stacks, for example \
     `wpr -start DotNET`",
);
