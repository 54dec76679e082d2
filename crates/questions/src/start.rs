//! Costs of starting and ending processes: by program, or single ones.

use etwkit_question::Format::{FineMilliseconds, Moment, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{Answer, Column, Example, Form, Line, Question, Ranked, View, group, option};

declare! {
    /// Orders of sums and of single processes.
    pub orders StartSort {
        "cost" => Cost: "coalesce(start_cost_ns, 0)" = "What starts cost.",
        "max" => Max: "coalesce(max_start_cost_ns, 0)" / "coalesce(start_cost_ns, 0)" = "The most expensive start.",
        "exit" => Exit: "coalesce(exit_duration_ns, 0)" = "How long ends took.",
        "max-exit" => MaxExit: "coalesce(max_exit_duration_ns, 0)" / "coalesce(exit_duration_ns, 0)" =
            "The longest end.",
        "count" => Count: "starts" / "coalesce(start_ns, terminate_ns, stop_ns)" = "How many starts.",
        "time" => Time: "coalesce(first_ns, 0)" / "coalesce(start_ns, terminate_ns, stop_ns)" =
            "Time of the first start; of single processes the time of their start.",
    }

    /// Options of `dump start`.
    #[derive(Eq)]
    pub request StartRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only processes that were started by this process: names with or without .exe (*, ?,
        /// several with ;, ! excludes)
        creator: Option<String> = option("NAMES"),
        /// Only processes whose start had this cost (ms)
        cost: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only processes whose end took this long (ms)
        exit: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only processes that started, or without a start in the trace ended, in this part of it
        /// (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single processes
        details: bool = option("").shape(),
        /// Order
        sort: StartSort = option("ORDER").called("sort-by").shape(),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }

    /// Starts and ends of a program.
    pub row StartRow {
        program: Option<String> = "File name of the executable.",
        starts: i64 = "Processes that started in the trace.",
        costed: i64 = "Starts whose cost is known: both the creator's call and the first run of the first thread are.",
        start_cost_ns: Option<i64> = "Sum of their start costs.",
        mean_start_cost_ns: Option<i64> = "Mean start cost.",
        max_start_cost_ns: Option<i64> = "Highest start cost.",
        call_ns: Option<i64> = "Part of the sum in the creators' calls before the processes were made.",
        create_ns: Option<i64> = "Part from there up to the start of the first thread.",
        release_ns: Option<i64> = "Part from there until the first thread was made ready.",
        ready_ns: Option<i64> = "Part from there until it had a processor.",
        ends: i64 = "Processes that ended in the trace.",
        timed_ends: i64 = "Ends whose duration is known.",
        exit_duration_ns: Option<i64> = "Sum of their exit durations.",
        max_exit_duration_ns: Option<i64> = "Longest exit duration.",
        first_ns: Option<i64> = "First start in the trace.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A process that started or ended.
    pub row StartEvent: process {
        start_ns: Option<i64> = "Start; missing if it ran before the trace.",
        start_cost_ns: Option<i64> =
            "From the creator's call to the first run of its first thread; missing if one of them is not known.",
        call_source: Option<String> =
            "What the call is known from: `syscall`, or `stacks` of the creator, whose first sample or wait in it is \
             its start.",
        call_ns: Option<i64> = "Part in the creator's call before the process was made.",
        create_ns: Option<i64> = "Part from there up to the start of the first thread.",
        release_ns: Option<i64> = "Part from there until the first thread was made ready.",
        ready_ns: Option<i64> = "Part from there until it had a processor.",
        terminate_ns: Option<i64> = "When its termination started, if that is known.",
        stop_ns: Option<i64> = "When it was gone.",
        exit_duration_ns: Option<i64> = "How long the exit took.",
        creator: Option<String> = "Process whose thread started it, which need not be the parent.",
        creator_tid: Option<i64> = "Thread that started it.",
        ..process = "Process.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type StartColumn = Column<StartRequest, StartRow>;

const SUMS: View<StartRequest, StartRow> = View::new(
    &[
        StartColumn::new("Starts", "Starts", Whole, |_, row| row.starts.into()).sum(),
        StartColumn::new("Cost", "Cost ms", FineMilliseconds, |_, row| {
            row.start_cost_ns.into()
        })
        .cost(),
        StartColumn::new("Mean", "Mean ms", FineMilliseconds, |_, row| {
            row.mean_start_cost_ns.into()
        }),
        StartColumn::new("Max", "Highest ms", FineMilliseconds, |_, row| {
            row.max_start_cost_ns.into()
        })
        .worst(),
        StartColumn::new("Call", "Call ms", FineMilliseconds, |_, row| {
            row.call_ns.into()
        })
        .sum(),
        StartColumn::new("Create", "Create ms", FineMilliseconds, |_, row| {
            row.create_ns.into()
        })
        .sum(),
        StartColumn::new("Release", "Release ms", FineMilliseconds, |_, row| {
            row.release_ns.into()
        })
        .sum(),
        StartColumn::new("Ready", "Ready ms", FineMilliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        StartColumn::new("Ends", "Ends", Whole, |_, row| row.ends.into()).sum(),
        StartColumn::new("Exit", "Exit ms", FineMilliseconds, |_, row| {
            row.exit_duration_ns.into()
        })
        .cost(),
        StartColumn::new("MaxExit", "Max ms", FineMilliseconds, |_, row| {
            row.max_exit_duration_ns.into()
        })
        .worst(),
        StartColumn::new("First", "First", Moment, |_, row| row.first_ns.into()).hidden(),
        StartColumn::new("Program", "Program", Word, |_, row| {
            row.program.clone().into()
        })
        .or("(unknown)"),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Starts|start|starts}[, {Cost} ms]; {Ends|end|ends}[, {Exit} ms]",
    |asked, _| asked.with_total,
);

type StartEventColumn = Column<StartRequest, StartEvent>;

const PROCESSES: View<StartRequest, StartEvent> = View::new(
    &[
        StartEventColumn::new("Start", "Start", Moment, |_, row| row.start_ns.into()).or("before"),
        StartEventColumn::new("Cost", "Cost ms", FineMilliseconds, |_, row| {
            row.start_cost_ns.into()
        })
        .cost(),
        StartEventColumn::new("Call", "Call ms", FineMilliseconds, |_, row| {
            row.call_ns.into()
        })
        .sum(),
        StartEventColumn::new("Create", "Create ms", FineMilliseconds, |_, row| {
            row.create_ns.into()
        })
        .sum(),
        StartEventColumn::new("Release", "Release ms", FineMilliseconds, |_, row| {
            row.release_ns.into()
        })
        .sum(),
        StartEventColumn::new("Ready", "Ready ms", FineMilliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        StartEventColumn::new("Stop", "Stop", Moment, |_, row| row.stop_ns.into()).or("open"),
        StartEventColumn::new("Exit", "Exit ms", FineMilliseconds, |_, row| {
            row.exit_duration_ns.into()
        })
        .cost(),
        StartEventColumn::new("Creator", "Creator", Word, |_, row| {
            row.creator.clone().into()
        }),
        StartEventColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, StartSort::Count | StartSort::Time)))
.with_sums(
    "Total: {#|process|processes}[, start cost {Cost} ms][, exit {Exit} ms]",
    |asked, _| asked.with_total,
);

impl Question for StartRequest {
    const NAME: &'static str = "start";
    const SENTENCE: &'static str =
        "Cost of starting and ending processes, by program or for each process";
    const USUAL: &'static [&'static str] = &["creator", "cost", "exit"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "what starts of programs cost",
        },
        Example {
            words: "--process git --details slow.etl",
            answer: "each start of git.exe",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::of(
                self.events_sql(),
                |asked: &Self, _, rows: Vec<StartEvent>| {
                    let is_unknown =
                        |row: &&StartEvent| row.start_ns.is_some() && row.start_cost_ns.is_none();
                    let unknown = rows.iter().filter(is_unknown).count();
                    let foot = without_cost(unknown as i64);
                    let is_untimed =
                        |row: &&StartEvent| row.stop_ns.is_some() && row.exit_duration_ns.is_none();
                    let untimed = rows.iter().filter(is_untimed).count();
                    let foot = foot.into_iter().chain(without_time(untimed as i64));
                    Ok(Answer::rows(asked, &PROCESSES, rows).with_foot(foot))
                },
            )
            .shows(&PROCESSES)
        } else {
            Form::of(self.sql(), |asked: &Self, _, rows: Vec<StartRow>| {
                let unknown = rows.iter().map(|row| row.starts.saturating_sub(row.costed));
                let foot = without_cost(unknown.fold(0, i64::saturating_add));
                let untimed = rows
                    .iter()
                    .map(|row| row.ends.saturating_sub(row.timed_ends));
                let untimed = without_time(untimed.fold(0, i64::saturating_add));
                let foot = foot.into_iter().chain(untimed);
                Ok(Answer::rows(asked, &SUMS, rows).with_foot(foot))
            })
            .shows(&SUMS)
        };
        form.needs(&PROCESS, true).top(self.top)
    }
}

/// Returns a line about starts without a cost, if there are any.
fn without_cost(starts: i64) -> Option<Line> {
    (starts > 0).then(|| {
        Line::new("(")
            .counted(starts, ["start has", "starts have"])
            .words(" no cost: the creator's call or the first run is not known; a call is known from system calls (SYSCALL), or from named stacks of samples or context switches in it)")
    })
}

/// Returns a line about ends without a duration, if there are any.
fn without_time(ends: i64) -> Option<Line> {
    (ends > 0).then(|| {
        Line::new("(")
            .counted(ends, ["end has", "ends have"])
            .words(" no duration: the start is not known)")
    })
}

const PROCESS: Recorded = Recorded::rows(
    "process",
    "processes",
    "record with the kernel keywords PROC_THREAD+CSWITCH+DISPATCHER, for example `wpr -start CPU`",
);

/// The creators' calls of starts, and the time by which their costs begin before that of
/// `start_cost_ns`, which begins with the start where no system calls were recorded.
///
/// Without system calls a call begins with the creator's first sample or wait below `CreateProcess`
/// that no other one separates from the start. The first event between two starts of a thread may be
/// in the end of the call before, so there has to be one outside of any call. The start is logged
/// within the call, so what the creator does at the very same time is after it.
const CALLS: &str = "SELECT process_key, create_call_ns AS call_from_ns, 'syscall' AS call_source, 0 AS moved_ns
  FROM process WHERE create_call_ns IS NOT NULL
  UNION ALL
  SELECT process_key, call_from_ns, 'stacks', start_ns - call_from_ns
  FROM (
    SELECT thread_key, turn, max(process_key) AS process_key, max(start_ns) AS start_ns,
      min(ts_ns) FILTER (WHERE is_in AND ts_ns > coalesce(outside_ns, CASE WHEN turn = 0 THEN -1 END)) AS call_from_ns
    FROM (
      SELECT *, max(ts_ns) FILTER (WHERE NOT is_in AND start_ns IS NULL) OVER (PARTITION BY thread_key, turn) AS outside_ns
      FROM (
        SELECT *, coalesce(sum(is_start) OVER (PARTITION BY thread_key ORDER BY ts_ns, is_start DESC
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS turn
        FROM (
          SELECT creator_thread_key AS thread_key, start_ns AS ts_ns, false AS is_in, 1 AS is_start, process_key, start_ns
          FROM process WHERE start_ns IS NOT NULL AND creator_thread_key IS NOT NULL AND create_call_ns IS NULL
          UNION ALL
          SELECT thread_key, ts_ns, stack_contains(stack_id, '*!*CreateProcess*;*!NtCreateUserProcess*'), 0, NULL, NULL
          FROM (
            SELECT thread_key, ts_ns, stack_id FROM cpu_sample
            UNION ALL
            SELECT thread_key, coalesce(last_out_ns, in_ns), stack_id FROM context_switch
          )
          WHERE stack_id IS NOT NULL AND thread_key IN
            (SELECT creator_thread_key FROM process WHERE start_ns IS NOT NULL AND create_call_ns IS NULL)
        )
      )
    )
    GROUP BY thread_key, turn
  )
  WHERE process_key IS NOT NULL AND call_from_ns IS NOT NULL";

impl StartRequest {
    /// Returns the requested processes with the parts of their costs.
    fn asked(&self) -> String {
        let conditions = self
            .processes
            .conditions()
            .and(["coalesce(p.start_ns, p.terminate_ns, p.stop_ns) IS NOT NULL".to_owned()])
            .text("c.name", self.creator.as_deref())
            .known("p.start_cost_ns + k.moved_ns", self.cost)
            .known("p.exit_duration_ns", self.exit)
            .time("coalesce(p.start_ns, p.stop_ns, p.terminate_ns)", self.time);
        // Parts are shown only if the whole cost is known; otherwise they would not add up to
        // anything.
        let part = |to: &str, from: &str| {
            format!("CASE WHEN p.start_cost_ns + k.moved_ns IS NOT NULL THEN f.{to} - {from} END")
        };
        format!(
            "SELECT p.process_key, {PROCESS_COLUMNS}, p.start_ns, p.start_cost_ns + k.moved_ns AS start_cost_ns,
    CASE WHEN p.start_cost_ns IS NOT NULL THEN k.call_source END AS call_source,
    CASE WHEN p.start_cost_ns IS NOT NULL THEN p.start_ns - k.call_from_ns END AS call_ns,
    {} AS create_ns, {} AS release_ns, {} AS ready_ns,
    p.terminate_ns, p.stop_ns, p.exit_duration_ns, c.name AS creator, b.tid AS creator_tid
  FROM process p
  LEFT JOIN ({CALLS}) k ON k.process_key = p.process_key
  LEFT JOIN thread f ON f.thread_key = p.first_thread_key
  LEFT JOIN thread b ON b.thread_key = p.creator_thread_key
  LEFT JOIN process c ON c.process_key = b.process_key{conditions}",
            part("start_ns", "p.start_ns"),
            part("first_readied_ns", "f.start_ns"),
            part("first_in_ns", "f.first_readied_ns")
        )
    }

    /// Returns the SQL for sums by program.
    #[must_use]
    pub fn sql(&self) -> String {
        format!(
            "SELECT *, start_cost_ns / nullif(costed, 0) AS mean_start_cost_ns, CAST({} AS DOUBLE) AS sort_value
FROM (
  SELECT process AS program, count(start_ns) AS starts, count(start_cost_ns) AS costed,
    sum(start_cost_ns) AS start_cost_ns, max(start_cost_ns) AS max_start_cost_ns,
    sum(call_ns) AS call_ns, sum(create_ns) AS create_ns, sum(release_ns) AS release_ns, sum(ready_ns) AS ready_ns,
    count(stop_ns) AS ends, count(exit_duration_ns) AS timed_ends, sum(exit_duration_ns) AS exit_duration_ns,
    max(exit_duration_ns) AS max_exit_duration_ns, min(start_ns) AS first_ns
  FROM (
  {}
  )
  GROUP BY process
)
ORDER BY sort_value, start_cost_ns NULLS FIRST, exit_duration_ns NULLS FIRST, starts, program DESC",
            self.sort.sql(),
            self.asked()
        )
    }

    /// Returns the SQL for single processes.
    #[must_use]
    pub fn events_sql(&self) -> String {
        format!(
            "SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
  {}
)
ORDER BY sort_value, coalesce(start_ns, terminate_ns, stop_ns), process_key",
            self.sort.single_sql(),
            self.asked()
        )
    }
}
