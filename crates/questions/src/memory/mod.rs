//! Memory of processes and of the machine: the last sample of a trace, and the difference to its
//! first one.

use etwkit_question::declare;
mod sql;

use std::collections::HashMap;

use self::sql::MIB;
use etwkit_question::Format::{Mebibytes, ProcessLine, Whole, Word};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{
    Answer, AnyTable, Column, Example, Form, Question, Ranked, Shows, View, group, option,
};
use etwkit_question::{Recorded, Result, ask};
use etwkit_sql::Session;

declare! {
    /// Orders of processes.
    pub orders MemorySort {
        "commit" => Commit: "commit_bytes" = "Committed at the end.",
        "working-set" => WorkingSet: "working_set_bytes" = "In memory at the end.",
        "shared-commit" => SharedCommit: "coalesce(shared_commit_bytes, 0)" =
            "Shared and committed at the end.",
        "diff" => Diff: "abs(commit_diff_bytes)" =
            "How much more or less is committed at the end than at the start.",
    }

    /// Options of `dump memory`.
    #[derive(Eq)]
    pub request MemoryRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Memory of the machine instead of processes
        total_memory: bool = option("").called("total-memory").shape(),
        /// Only processes that have so much committed at the end (MiB)
        commit: Range = option("A..B").unit(Unit::Mebibytes),
        /// Only processes that have so much in memory at the end (MiB)
        working_set: Range = option("A..B").called("working-set").unit(Unit::Mebibytes),
        /// Only processes that have so much in memory at the first sample (MiB); one that came
        /// later has 0
        first_working_set: Range = option("A..B").called("first-working-set").unit(Unit::Mebibytes),
        /// Only processes that have so much in memory, and not shared, at the end (MiB)
        private_working_set: Range = option("A..B").called("private-working-set").unit(Unit::Mebibytes),
        /// Only processes that have so much shared and committed at the end (MiB)
        shared_commit: Range = option("A..B").called("shared-commit").unit(Unit::Mebibytes),
        /// Only processes whose committed memory changed by N MiB, up or down; a process that came
        /// counts with all it has
        min_diff: u32 = option("N").called("min-diff").between(0, u32::MAX as i64),
        /// Only processes whose committed memory differs by more than N MiB between the first and
        /// the last extract
        global_diff: Option<u32> = option("N").called("global-diff").between(0, u32::MAX as i64),
        /// The first and last sample of these seconds of the trace instead of all of it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order
        sort: MemorySort = option("ORDER").called("sort-by").shape(),
        /// Show path, version and company of executables; =TEXT only where one of these matches (*,
        /// ?, several with ;, ! excludes)
        modules: Option<String> = option("TEXT").called("show-module").alone(""),
        /// Sums: none, or total without processes [default: both]
        total: Option<String> = option("WHAT").called("show-total").among(&["none", "total"]).output(),
        /// Show private working sets and terminal sessions
        details: bool = option("").output(),
    }

    /// Memory of a process.
    pub row MemoryRow: process {
        process_key: Option<i64> = "Process; missing for parts of the system.",
        pid: Option<i64> = "Process id; other numbers stand for parts of the system.",
        process: Option<String> = "File name of the executable.",
        ts_ns: i64 = "Time of the last sample.",
        commit_bytes: i64 = "Committed.",
        commit_diff_bytes: i64 =
            "Committed at the end less that at the start; 0 for a process that the first sample does not have.",
        working_set_bytes: i64 = "In memory.",
        working_set_diff_bytes: i64 = "In memory at the end less that at the start.",
        private_working_set_bytes: i64 = "In memory, and not shared.",
        shared_commit_bytes: Option<i64> = "Shared and committed; missing in old recordings.",
        ..process_details,
        module_path: Option<String> = "Path of the executable.",
        file_version: Option<String> = "File version of the executable.",
        product_name: Option<String> = "Product of the executable.",
        company: Option<String> = "Company of the executable.",
        product_version: Option<String> = "Product version of the executable.",
        description: Option<String> = "Description of the executable.",
        sort_value: f64 = "What rows are sorted by.",
    }

    /// Memory of the machine.
    pub row MachineRow {
        ts_ns: i64 = "Time of the last sample.",
        commit_bytes: Option<i64> = "Committed; missing in old recordings.",
        commit_diff_bytes: Option<i64> = "Committed memory at the end less that at the start.",
        in_use_bytes: Option<i64> = "In use; missing where the size of the memory is not known.",
        in_use_diff_bytes: Option<i64> = "Memory in use at the end less that at the start.",
        standby_bytes: i64 = "On standby.",
        free_bytes: i64 = "Free and zeroed.",
        modified_bytes: i64 = "Changed, to be written.",
        memory_bytes: Option<i64> = "Memory of the machine.",
        samples: i64 = "Samples.",
    }
}

type MemoryColumn = Column<MemoryRequest, MemoryRow>;

const PROCESSES: View<MemoryRequest, MemoryRow> = View::new(
    &[
        MemoryColumn::time("Time", |_, row| row.ts_ns.into()),
        MemoryColumn::new("Diff", "Diff MiB", Mebibytes, |_, row| row.commit_diff_bytes.into()).cost(),
        MemoryColumn::new("Commit", "Commit MiB", Mebibytes, |_, row| row.commit_bytes.into()).cost(),
        MemoryColumn::new("WorkingSet", "Working set MiB", Mebibytes, |_, row| row.working_set_bytes.into())
            .cost(),
        MemoryColumn::new("WorkingSetDiff", "Diff MiB", Mebibytes, |_, row| row.working_set_diff_bytes.into())
            .cost()
            .hidden(),
        MemoryColumn::new("WorkingSetPrivate", "Private MiB", Mebibytes, |_, row| {
            row.private_working_set_bytes.into()
        })
        .cost()
        .shown_if(|asked| asked.details),
        MemoryColumn::new("SharedCommit", "Shared commit MiB", Mebibytes, |_, row| {
            row.shared_commit_bytes.into()
        })
        .cost(),
        MemoryColumn::new("Session", "Session", Whole, |_, row| row.session_id.into())
            .shown_if(|asked| asked.details),
        MemoryColumn::new("Process", "Process", ProcessLine, |_, row| match (row.process_key, row.pid) {
            (None, Some(pid)) => format!("(part of the system {pid})").into(),
            _ => row.into(),
        }),
        MemoryColumn::new("Module", "Path", Word, |_, row| executable(row).into())
            .shown_if(|asked| asked.modules.is_some()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: diff {Diff} MiB, commit {Commit} MiB, working set {WorkingSet} MiB, private {WorkingSetPrivate} MiB, {#|process|processes}",
    |asked, rows| asked.total.as_deref().map_or(rows > 1, |word| word != "none"),
);

/// Returns the path, version, product and company of the executable of a process.
fn executable(row: &MemoryRow) -> String {
    let parts = [
        &row.module_path,
        &row.file_version,
        &row.product_name,
        &row.company,
    ];
    parts
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

type MachineColumn = Column<MemoryRequest, MachineRow>;

const MACHINE: View<MemoryRequest, MachineRow> = View::new(
    &[
        MachineColumn::time("Time", |_, row| row.ts_ns.into()),
        MachineColumn::new("Committed", "Committed MiB", Mebibytes, |_, row| {
            row.commit_bytes.into()
        })
        .cost()
        .or("?"),
        MachineColumn::new("CommitDiff", "Diff MiB", Mebibytes, |_, row| {
            row.commit_diff_bytes.into()
        })
        .cost()
        .or("?"),
        MachineColumn::new("Active", "In use MiB", Mebibytes, |_, row| {
            row.in_use_bytes.into()
        })
        .cost()
        .or("?"),
        MachineColumn::new("ActiveDiff", "Diff MiB", Mebibytes, |_, row| {
            row.in_use_diff_bytes.into()
        })
        .cost()
        .or("?"),
        MachineColumn::new("Physical", "All memory MiB", Mebibytes, |_, row| {
            row.memory_bytes.into()
        })
        .or("?"),
        MachineColumn::new("Standby", "Standby MiB", Mebibytes, |_, row| {
            row.standby_bytes.into()
        })
        .shown_if(|asked| asked.details),
        MachineColumn::new("Free", "Free MiB", Mebibytes, |_, row| {
            row.free_bytes.into()
        })
        .shown_if(|asked| asked.details),
        MachineColumn::new("Modified", "Modified MiB", Mebibytes, |_, row| {
            row.modified_bytes.into()
        })
        .shown_if(|asked| asked.details),
        MachineColumn::new("Samples", "Samples", Whole, |_, row| row.samples.into())
            .shown_if(|asked| asked.details),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No);

impl Question for MemoryRequest {
    const NAME: &'static str = "memory";
    const SENTENCE: &'static str = "Memory of processes and of the machine";
    const USUAL: &'static [&'static str] = &[
        "total-memory",
        "commit",
        "working-set",
        "min-diff",
        "global-diff",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "memory of processes at the end",
        },
        Example {
            words: "--process chrome --min-diff 50 slow.etl",
            answer: "processes whose memory changed by 50 MB",
        },
    ];

    fn form(&self) -> Form<Self> {
        if self.total_memory {
            let answer = |asked: &Self, session: &Session| {
                let rows = ask(session, &asked.machine_sql())?;
                Ok(Answer::rows(asked, &MACHINE, rows))
            };
            return Form::made::<MachineRow>(self.machine_sql(), answer)
                .shows(&MACHINE)
                .needs(&OF_MACHINE, true)
                .top(self.top);
        }
        let shows = if self.total.as_deref() == Some("total") {
            Shows::Sums
        } else {
            Shows::Rows
        };
        let answer = move |asked: &Self, _: &Session, rows| {
            Ok(Answer::rows(asked, &PROCESSES, rows).showing(shows))
        };
        Form::of(self.sql(), answer)
            .shows(&PROCESSES)
            .needs(&OF_PROCESSES, true)
            .top(self.top)
    }

    fn compares(&self) -> bool {
        self.global_diff.is_some() && !self.total_memory
    }

    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        let Some(least) = self.global_diff else {
            return Ok(None);
        };
        let least = u64::from(least).saturating_mul(MIB.unsigned_abs());
        // Keys differ between extracts, so processes are compared by name and id.
        let first = commits(all.first());
        let last = commits(all.last());
        // A process that one of the two extracts lacks has nothing to compare.
        let differs = |process: &Process| match (first.get(process), last.get(process)) {
            (Some(first), Some(last)) => last.abs_diff(*first) > least,
            _ => false,
        };
        for table in all
            .iter_mut()
            .flat_map(|(_, answer)| &mut answer.parts)
            .map(|part| &mut part.table)
        {
            let kept: Vec<bool> = processes(table.as_ref())
                .map(|(process, _)| differs(&process))
                .collect();
            table.retain(&|row| kept.get(row) == Some(&true));
        }
        Ok(None)
    }
}

/// Name and id of a process.
type Process = (Option<String>, Option<i64>);

/// Returns the process of each row and its committed memory, if that is known.
fn processes(table: &dyn AnyTable) -> impl Iterator<Item = (Process, Option<i64>)> {
    (0..table.len()).map(|row| {
        // Numbers of these rows are whole ones, all of which JSON has.
        let record = table.record(row).unwrap_or_default();
        let whole = |name: &str| record.get(name).and_then(serde_json::Value::as_i64);
        let name = record
            .get("process")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned);
        ((name, whole("pid")), whole("commit_bytes"))
    })
}

/// Returns the committed memory of each process of an answer.
fn commits(answer: Option<&(&TraceInfo, &mut Answer)>) -> HashMap<Process, i64> {
    let tables = answer
        .into_iter()
        .flat_map(|(_, answer)| &answer.parts)
        .map(|part| part.table.as_ref());
    // Compared as 0, memory that one of the two does not know would be a difference.
    tables
        .flat_map(processes)
        .filter_map(|(process, bytes)| Some((process, bytes?)))
        .collect()
}

const OF_PROCESSES: Recorded = Recorded::rows(
    "memory_sample",
    "memory of processes",
    "record with the kernel keyword MEMINFO_WS, for example `xperf -on PROC_THREAD+LOADER+MEMINFO+MEMINFO_WS`",
);

const OF_MACHINE: Recorded = Recorded::rows(
    "memory_machine",
    "memory of the machine",
    "record with the kernel keyword MEMINFO, for example `xperf -on PROC_THREAD+LOADER+MEMINFO+MEMINFO_WS`",
);
