//! Exceptions of .NET programs: groups of equal ones, or single ones.

use etwkit_question::declare;
pub mod filter;
mod rules;
mod sql;
mod view;

use self::filter::ExceptionFilters;
use self::view::{LISTED, TOGETHER, Thrown};
use super::stack::stacked::{STACK, Stacked, with_stacks};
use etwkit_question::cut::Cut;
use etwkit_question::group::Group;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::zero::ZeroTime;
use etwkit_question::{
    Among, Answer, Example, Files, FilesError, Form, NamedFile, Question, Sums, group, option,
};
use etwkit_question::{Recorded, Result};
use etwkit_sql::Session;

pub use self::rules::Kept;

const TYPES: Among = Among::Texts(
    "type of exception",
    "types of exceptions",
    "SELECT exception_type AS text FROM exception",
);

const MESSAGES: Among = Among::Texts(
    "message",
    "messages",
    "SELECT message AS text FROM exception",
);

declare! {
    /// Options of `dump exception`.
    #[derive(Eq)]
    pub request ExceptionRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows from the end of the list, of each process when equal exceptions are
        /// grouped
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Only these types, with namespace (*, ?, several with ;, ! excludes)
        exception_type: Option<String> = option("NAMES").called("type").of(TYPES),
        /// Only messages with a matching line (*, ?, several with ;, ! excludes)
        message: Option<String> = option("TEXT").of(MESSAGES),
        /// Only stacks with this frame: module!method or method (*, ?, several with ;, ! excludes
        /// stacks with this frame)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Leave out what the rules of this file leave out (ExceptionFilters.xml of ETWAnalyzer);
        /// how many these are is noted. default: the file that ETWKIT_EXCEPTION_FILTERS names
        filters: NamedFile<ExceptionFilters> = option("FILE|default").called("exception-filters"),
        /// Only exceptions of these seconds, counted from --zero-time
        time: Range = option("A..B").unit(Unit::Seconds),
        /// Only exceptions in this part of the trace (s)
        range: Range = option("A..B").unit(Unit::Moment),
        /// count, process, type and message put equal exceptions of a process together; time lists
        /// each one
        sort: ExceptionSort = option("ORDER").called("sort-by").shape(),
        /// Show path, version and company of executables; =TEXT only where one of these matches (*,
        /// ?, several with ;, ! excludes)
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

    /// Exceptions of one process with the same type and message, and with the same stack if that is
    /// asked for.
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

/// Environment variable with the name of the file that `default` means.
const FILTERS: &str = "ETWKIT_EXCEPTION_FILTERS";

/// The number of exceptions that rules left out, in the numbers of an answer.
const LEFT_OUT: &str = "left_out";

impl Question for ExceptionRequest {
    const NAME: &'static str = "exception";
    const SENTENCE: &'static str = "Exceptions of .NET programs";
    const USUAL: &'static [&'static str] =
        &["type", "message", "time", "cut-stack", "exception-filters"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "exceptions by type and message",
        },
        Example {
            words: "--type \"*IOException\" --show-stack slow.etl",
            answer: "where they were thrown",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.lists() {
            Form::made::<ThrownRow>(self.list_sql(), Self::with_stacks)
        } else {
            Form::made::<ExceptionRow>(self.sql(), Self::with_stacks)
                .shows_as(&TOGETHER, Stacked::without)
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
        answer
            .with_sums([(LEFT_OUT, left_out)])
            .moved(&self.zero, session)
    }

    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        self.filters
            .load(files, Some(FILTERS), ExceptionFilters::parse)
    }

    fn notes(&self, all: &[Sums]) -> Vec<String> {
        let left_out = || {
            all.iter()
                .filter_map(|sums| sums.get(LEFT_OUT))
                .fold(0i64, |a, b| a.saturating_add(*b))
        };
        let note = match (&self.filters.name, &self.filters.content) {
            (None, _) => None,
            (Some(file), Some(_)) => Some(format!(
                "exceptions left out by the rules of {file}: {}",
                left_out()
            )),
            (Some(_), None) => Some(format!(
                "no exception is left out: there are no rules, {FILTERS} does not name a file"
            )),
        };
        note.into_iter().collect()
    }
}

/// Exceptions by process; the sum is their number.
pub type ExceptionAnswer = Vec<Group<ExceptionRow, i64>>;

pub(super) const EXCEPTION: Recorded = Recorded::rows(
    "exception",
    ".NET exceptions",
    "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x8000 (Exception) and stacks, for example \
     `wpr -start DotNET`",
);
