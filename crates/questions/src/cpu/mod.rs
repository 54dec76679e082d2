//! CPU, waiting and ready time: the request, and its rows of processes.

pub(super) mod fact;
use etwkit_question::Count;
use etwkit_question::declare;
pub mod question;
mod range;
mod request;
pub mod source;

pub use self::request::{By, CpuLimits, CpuRequest, CpuSort, Metric};

use self::source::{CpuSource, SAMPLED, SAMPLED_EVENTS, column};
use super::cores::kinds::{self, CoreKinds};
use super::ready::{self, ReadyTimes};
use etwkit_question::range::Range;
use etwkit_question::sql::{Conditions, EXECUTABLE_TEXT, EXECUTABLES, process_columns_from};
use etwkit_question::{Error, Result, ask, has_rows, is_recorded};
use etwkit_sql::Session;

declare! {
    /// CPU of a process.
    pub row CpuRow: process {
        process_key: Option<i64> = "Key in the extract; missing for threads whose process is not known.",
        pid: Option<i64> = "Process id.",
        parent_pid: Option<i64> = "Process id of its parent.",
        process: Option<String> = "File name of the executable.",
        cpu_ns: i64 =
            "Sampled CPU; without any busy sample in the trace, time on processors from context switches.",
        cpu_source: String = "What `cpu_ns` is computed from, see [`CpuSource`].",
        run_ns: Option<i64> = "CPU from context switches.",
        wait_ns: Option<i64> = "Time in which at least one thread waited.",
        ready_ns: Option<i64> = "Time in which at least one thread was ready.",
        switches: Option<i64> = "Switch-ins.",
        preemptions: Option<i64> = "Switch-ins after the thread had been preempted.",
        threads: i64 = "Threads that were sampled or switched in.",
        priority: Option<f64> = "Mean priority.",
        core_count: i64 = "Number of processors it ran on.",
        cores: String = "Processors it ran on.",
        first_ns: i64 = "First sample or switch-in.",
        last_ns: i64 = "Last sample or switch-out.",
        session_id: Option<i64> = "Terminal session.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
        module_path: Option<String> = "Path of the executable.",
        file_version: Option<String> = "File version of the executable.",
        product_name: Option<String> = "Product of the executable.",
        company: Option<String> = "Company of the executable.",
        product_version: Option<String> = "Product version of the executable.",
        description: Option<String> = "Description of the executable.",
        ready: ReadyTimes = "Ready times as percentiles, in the whole trace.",
        kinds: CoreKinds = "CPU by kind of core, in the whole trace.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

/// Sums of times. Waiting and ready times of several rows overlap; their sums exceed the time that
/// passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CpuTotal {
    /// CPU.
    pub cpu_ns: i64,
    /// Waiting; missing if no row knows it.
    pub wait_ns: Option<i64>,
    /// Ready; missing if no row knows it.
    pub ready_ns: Option<i64>,
    /// Switch-ins; missing if no row knows them.
    pub switches: Option<i64>,
}

impl CpuTotal {
    /// Adds a row.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_add(other.cpu_ns),
            wait_ns: added(self.wait_ns, other.wait_ns),
            ready_ns: added(self.ready_ns, other.ready_ns),
            switches: added(self.switches, other.switches),
        }
    }

    /// Returns CPU and waiting time; with `ready` also ready time.
    #[must_use]
    pub fn total_ns(self, ready: bool) -> i64 {
        let ready = if ready { self.ready() } else { 0 };
        self.cpu_ns
            .saturating_add(self.waited())
            .saturating_add(ready)
    }

    /// Waiting time in sums and orders, to which time that no row knows adds nothing.
    fn waited(self) -> i64 {
        self.wait_ns.unwrap_or(0)
    }

    /// Ready time, likewise.
    fn ready(self) -> i64 {
        self.ready_ns.unwrap_or(0)
    }

    /// Returns the sort key of a process.
    #[must_use]
    pub fn sort_value(self, sort: CpuSort) -> i64 {
        match sort {
            CpuSort::Wait => self.waited(),
            CpuSort::Ready => self.ready(),
            CpuSort::CpuWait => self.total_ns(false),
            CpuSort::CpuWaitReady => self.total_ns(true),
            _ => self.cpu_ns,
        }
    }
}

fn added(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, other) => one.or(other),
    }
}

/// CPU of processes, and of all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuAnswer {
    /// The processes, ascending.
    pub rows: Vec<CpuRow>,
    /// Sums over these rows.
    pub total: CpuTotal,
}

impl CpuAnswer {
    /// Returns the source of CPU times; `None` without rows.
    #[must_use]
    pub fn source(&self) -> Option<CpuSource> {
        self.rows
            .first()
            .and_then(|row| CpuSource::named(&row.cpu_source))
    }

    /// Creates an answer with the sums of its rows.
    #[must_use]
    pub fn new(rows: Vec<CpuRow>) -> Self {
        let total = rows.iter().fold(CpuTotal::default(), |sum, row| {
            let wait_ns = row.wait_ns;
            let ready_ns = row.ready_ns;
            sum.plus(CpuTotal {
                cpu_ns: row.cpu_ns,
                wait_ns,
                ready_ns,
                switches: row.switches,
            })
        });
        Self { rows, total }
    }
}

/// Sums of processes.
impl CpuRequest {
    /// Returns the SQL for processes.
    #[must_use]
    pub fn process_sql(&self) -> String {
        // Threads without a process are listed; the idle process is not. A comparison with the
        // missing id would drop both.
        let conditions = Conditions::of("coalesce(p.pid, -1) <> 0")
            .and(self.processes.conditions())
            .text(EXECUTABLE_TEXT, self.modules());
        let whole = self.time.is_unlimited();
        let (with, table, sampled) = if whole {
            (String::new(), "cpu_process", SAMPLED)
        } else {
            (
                range::with(self.time, &self.processes),
                range::TABLE,
                SAMPLED_EVENTS,
            )
        };
        let source = column(sampled, "cpu_source");
        // Percentiles and kinds of cores are stored for the whole trace and cannot be restricted to
        // a range.
        let (ready, ready_join) = if whole {
            (ready::columns(), ready::join_processes("c"))
        } else {
            (ready::no_columns(), String::new())
        };
        let (kinds, kinds_join) = if whole {
            (kinds::columns(), kinds::join_processes("c"))
        } else {
            (kinds::no_columns(), String::new())
        };
        format!(
            "{with}SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
SELECT c.process_key, {}, p.parent_pid,
  CASE WHEN ({sampled}) > 0 THEN c.cpu_ns ELSE coalesce(c.run_ns, 0) END AS cpu_ns, {source},
  c.run_ns, c.wait_ns, c.ready_ns, c.switches, c.preemptions, c.threads, c.priority, c.core_count, c.cores,
  {}, {}, v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, v.description,
  {ready},
  {kinds}
FROM {table} c
LEFT JOIN process p ON p.process_key = c.process_key{EXECUTABLES}{ready_join}{kinds_join}{}{conditions}
) c{}
ORDER BY sort_value, cpu_ns, process_key",
            self.process_order(),
            process_columns_from(&self.zero),
            self.zero.column("c", "first_ns"),
            self.zero.column("c", "last_ns"),
            self.zero.join(),
            self.limits.conditions("last_ns - first_ns"),
        )
    }

    const fn process_order(&self) -> &'static str {
        match self.sort {
            CpuSort::Usual
            | CpuSort::Cpu
            | CpuSort::Exclusive
            | CpuSort::ReadyAvg
            | CpuSort::StackDepth => "cpu_ns",
            CpuSort::Wait => "coalesce(wait_ns, 0)",
            CpuSort::Ready => "coalesce(ready_ns, 0)",
            CpuSort::CpuWait => "cpu_ns + coalesce(wait_ns, 0)",
            CpuSort::CpuWaitReady => "cpu_ns + coalesce(wait_ns, 0) + coalesce(ready_ns, 0)",
            CpuSort::Switches => "coalesce(switches, 0)",
            CpuSort::First => "first_ns",
            CpuSort::Last => "last_ns",
            CpuSort::Priority => "coalesce(priority, 0)",
            CpuSort::StartTime => "coalesce(process_start_ns, 0)",
        }
    }

    /// Queries processes.
    ///
    /// # Errors
    /// There are neither samples nor context switches; a range needs single rows and there are only
    /// sums; the query fails.
    pub fn process_answer(&self, session: &Session) -> Result<CpuAnswer> {
        check(session, self.time)?;
        let mut rows: Vec<CpuRow> = ask(session, &self.process_sql())?;
        self.top.cut(&mut rows);
        if !self.time.is_unlimited() {
            for row in &mut rows {
                row.cores = range::cores(&row.cores);
            }
        }
        Ok(CpuAnswer::new(rows))
    }
}

/// Checks that there are CPU times, and single rows if the question is about a range.
pub(super) fn check(session: &Session, time: Range) -> Result<()> {
    let has_events = || {
        Ok::<_, Error>(
            is_recorded(session, "cpu_sample")? || is_recorded(session, "context_switch")?,
        )
    };
    if has_rows(session, "cpu_process")? {
        return if time.is_unlimited() || has_events()? {
            Ok(())
        } else {
            Err(Error::NeedsRows {
                what: "samples and context switches",
            })
        };
    }
    if !time.is_unlimited() && has_events()? || is_recorded(session, "cpu_process")? {
        return Ok(());
    }
    Err(Error::NotRecorded {
        what: "CPU samples and no context switches",
        how: "record with the kernel keywords PROC_THREAD+LOADER+PROFILE (samples) and CSWITCH+DISPATCHER (waits), for example `wpr -start CPU`",
        tables: vec!["cpu_process"],
    })
}

/// Checks that there are waits, for questions about them.
///
/// # Errors
/// There are none; the query fails.
pub fn check_waits(session: &Session) -> Result<()> {
    // An extract that was made of sums can have waits for methods only.
    let sql =
        "SELECT count(run_ns) + (SELECT count(wait_ns) FROM cpu_method) AS rows FROM cpu_process";
    let counts: Vec<Count> = ask(session, sql)?;
    if counts.iter().any(|count| count.rows > 0) || is_recorded(session, "context_switch")? {
        return Ok(());
    }
    Err(Error::NotRecorded {
        what: "context switches",
        how: "waiting and ready times need the kernel keywords CSWITCH+DISPATCHER, for example `wpr -start CPU`",
        tables: vec!["context_switch"],
    })
}
