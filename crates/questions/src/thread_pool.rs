//! Thread pools of .NET programs: starvation, that is, times at which all worker threads were busy
//! and none finished anything.

use etwkit_question::Count;
use etwkit_question::Format::{Fixed, Id, ProcessLine, Seconds, Whole, Word};
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::group::{Group, grouped};
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{Answer, Column, Example, Form, Line, Question, Ranked, View, group, option};
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_sql::Session;

/// Reason for changing the number of worker threads of a starving pool.
pub const STARVATION: &str = "Starvation";

declare! {
    /// Options of `dump thread-pool`.
    #[derive(Eq)]
    pub request ThreadPoolRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows from the end of each process
        top: Top = group(),
        /// Changes of the number of threads for other reasons: Starvation unless given, * all of
        /// them (*, ?, several with ;, ! excludes)
        reason: Option<String> = option("REASONS"),
        /// Only these seconds of the trace
        time: Range = option("A..B").called("range").unit(Unit::Moment),
    }

    /// A change of the number of worker threads.
    pub row ThreadPoolRow: process {
        ts_ns: i64 = "When.",
        worker_threads: Option<i64> = "Worker threads that there shall be from then on.",
        since_last_ns: Option<i64> = "Time since the previous change with this reason in the process.",
        reason: Option<String> = "Why, by name.",
        throughput: Option<f64> = "Work that was done, as the runtime measures it.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread that made the change.",
        ..process_details,
    }
}

/// Changes by process, in the order of their number; the sum is that number.
pub type ThreadPoolAnswer = Vec<Group<ThreadPoolRow, i64>>;

type ThreadPoolColumn = Column<ThreadPoolRequest, ThreadPoolRow>;

const CHANGES: View<ThreadPoolRequest, ThreadPoolRow> = View::new(
    &[
        ThreadPoolColumn::time("Time", |_, row| row.ts_ns.into()),
        ThreadPoolColumn::new("ThreadCount", "Threads", Whole, |_, row| {
            row.worker_threads.into()
        }),
        ThreadPoolColumn::new("DiffSinceLast", "Since last s", Seconds(3), |_, row| {
            row.since_last_ns.into()
        }),
        ThreadPoolColumn::new("Reason", "Reason", Word, |_, row| row.reason.clone().into()),
        ThreadPoolColumn::new("Throughput", "Throughput", Fixed(3), |_, row| {
            row.throughput.into()
        })
        .hidden(),
        ThreadPoolColumn::new("Thread", "Thread", Id, |_, row| row.tid.into()).hidden(),
        // For lists without headings that name it.
        ThreadPoolColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_when_merged(|_| true),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::Groups)
.with_headings(|_, rows| {
    let of = Line::new("  ")
        .value(ProcessLine, rows.first()?)
        .words("  [");
    Some(
        of.counted(rows.len() as i64, ["change", "changes"])
            .words("]"),
    )
});

impl Question for ThreadPoolRequest {
    const NAME: &'static str = "thread-pool";
    const ALIASES: &'static [&'static str] = &["threadpool"];
    const SENTENCE: &'static str = "Thread pools of .NET programs that starved";
    const USUAL: &'static [&'static str] = &["reason"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "pools that had too few threads",
        },
        Example {
            words: "--process w3wp slow.etl",
            answer: "pools of a web server",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<ThreadPoolRow>(self.sql(), |asked: &Self, session| {
            let groups = asked
                .ask(session)?
                .into_iter()
                .map(|group| group.rows)
                .collect();
            let none = match asked.reason {
                None => "thread pools were recorded, and no starvation matches the question",
                Some(_) => "no change of a thread pool matches the question",
            };
            Ok(Answer::groups(asked, &CHANGES, groups).or_line(Line::new(none)))
        })
        .shows(&CHANGES)
        .top(self.top)
    }
}

/// GUID of the .NET runtime, as `generic_event` has it.
const RUNTIME: &str = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";

impl ThreadPoolRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or(STARVATION);
        let conditions = Conditions::of("e.kind = 'adjustment'")
            .text("thread_pool_reason_name(e.reason)", Some(reason))
            .and(self.processes.conditions());
        // Applied last: the first change of the range still has its distance to the one before.
        let time = Conditions::new().range("ts_ns", self.time);
        format!(
            "SELECT *
FROM (
SELECT *, ts_ns - lag(ts_ns) OVER (PARTITION BY process_key ORDER BY ts_ns) AS since_last_ns, count(*) OVER (PARTITION BY process_key) AS changes
FROM (
SELECT e.ts_ns, e.worker_threads, thread_pool_reason_name(e.reason) AS reason, e.throughput, e.process_key, {PROCESS_COLUMNS}, t.tid
FROM thread_pool e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{conditions}
)
){time}
ORDER BY changes, process_key, ts_ns",
        )
    }

    /// Runs the question. No rows mean that thread pools were recorded and none of them starved.
    ///
    /// # Errors
    /// No events of thread pools were recorded, or nothing of .NET at all; the query fails.
    pub fn ask(&self, session: &Session) -> Result<ThreadPoolAnswer> {
        if !has_rows(session, "thread_pool")? {
            // An imported extract has only starvations: without rows none happened, or nothing was
            // recorded.
            return if were_recorded(session)? {
                Ok(Vec::new())
            } else {
                Err(missing(session)?)
            };
        }
        let rows: Vec<ThreadPoolRow> = ask(session, &self.sql())?;
        let mut groups = grouped(
            rows,
            |row| row.process_key,
            self.top,
            |rows| rows.len() as i64,
        );
        groups.sort_by_key(|group| group.total);
        Ok(groups)
    }
}

/// Returns `true` if an imported extract had events of thread pools; it stores starvations alone.
fn were_recorded(session: &Session) -> Result<bool> {
    let events = "SELECT count(*) AS rows FROM system_config
WHERE topic = 'etwanalyzer' AND name = 'thread_pool_event_count' AND value <> '0'";
    Ok(ask::<Count>(session, events)?
        .iter()
        .any(|count| count.rows > 0))
}

/// Returns the error about the missing recording: of thread pools, or of .NET as a whole.
fn missing(session: &Session) -> Result<Error> {
    let runtime = format!(
        "SELECT (SELECT count(*) FROM exception) + (SELECT count(*) FROM gc) + (SELECT count(*) FROM jit)
  + (SELECT count(*) FROM generic_event WHERE provider_guid = '{RUNTIME}') AS rows"
    );
    let counts: Vec<Count> = ask(session, &runtime)?;
    Ok(if counts.iter().any(|count| count.rows > 0) {
        Error::NotRecorded {
            what: "events of thread pools, though it has others of the .NET runtime: whether a pool starved is not known",
            how: "also record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x10000 (Threading)",
            tables: vec!["thread_pool"],
        }
    } else {
        Error::NotRecorded {
            what: "events of the .NET runtime",
            how: "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x10000 (Threading)",
            tables: vec!["thread_pool"],
        }
    })
}
