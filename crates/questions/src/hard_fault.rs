//! Pages that were read from files since a thread touched them: by file or process, or single
//! reads.

use etwkit_question::Format::{
    Bytes, FineMilliseconds, Id, Microseconds, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{
    Conditions, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, process_columns, stack_text,
};
use etwkit_question::{
    Among, Column, Example, Form, Question, Ranked, View, frames, group, option,
};

const FILES: Among = Among::Texts("file", "files", "SELECT path AS text FROM hard_fault_file");

declare! {
    /// Grouping of the rows.
    pub words HardFaultBy {
        "file" => File = "All reads of a file.",
        "process" => Process = "All reads for a process.",
    }

    /// Orders of sums and of single reads.
    pub orders HardFaultSort {
        "duration" => Duration: "duration_ns" / "h.duration_ns" =
            "Sum of durations; of single reads their duration.",
        "max" => Max: "max_duration_ns" / "h.duration_ns" = "Longest read.",
        "count" => Count: "count" / "h.start_ns" = "Reads.",
        "size" => Size: "size_bytes" / "h.size_bytes" = "Bytes.",
        "time" => Time: "duration_ns" / "h.start_ns" = "Start of single reads.",
    }

    /// Options of `dump hard-fault`.
    #[derive(Eq)]
    pub request HardFaultRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: HardFaultBy = option("WHAT").excludes(&["details"]).shape(),
        /// With --by file: rows for each process
        per_process: bool = option("").called("per-process").excludes(&["details"]).shape(),
        /// Only these files, by whole path (*, ?, several with ;, ! excludes)
        file: Option<String> = option("PATHS").of(FILES),
        /// Only reads with this duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only reads that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only reads whose stack has this frame: module!method, or its method alone (*, ?, several
        /// with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single reads
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single reads duration, size or time
        sort: HardFaultSort = option("ORDER").called("sort-by").shape(),
    }

    /// Reads of a file or for a process.
    pub row HardFaultRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        path: Option<String> = "File, with rows for each; missing where it is not known.",
        count: i64 = "Reads.",
        size_bytes: i64 = "Bytes read.",
        duration_ns: i64 = "Sum of durations; reads at the same time add up.",
        max_duration_ns: i64 = "Longest read.",
        mean_duration_ns: f64 = "Mean.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A read.
    pub row HardFaultEvent: process {
        start_ns: i64 = "Start of the read.",
        end_ns: i64 = "When the page had been read.",
        duration_ns: i64 = "From start to end.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread that faulted.",
        path: Option<String> = "File; missing where it is not known.",
        offset_bytes: i64 = "Position in the file.",
        size_bytes: i64 = "Bytes read.",
        address: String = "Address that faulted, in hexadecimal digits.",
        stack_id: Option<i64> = "Stack of the fault.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type HardFaultColumn = Column<HardFaultRequest, HardFaultRow>;

const SUMS: View<HardFaultRequest, HardFaultRow> = View::new(
    &[
        HardFaultColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        HardFaultColumn::new("Mean", "Mean µs", Microseconds, |_, row| {
            row.mean_duration_ns.into()
        })
        .worst(),
        HardFaultColumn::new("Max", "Max µs", Microseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        HardFaultColumn::new("Count", "Count", Whole, |_, row| row.count.into()).cost(),
        HardFaultColumn::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).cost(),
        HardFaultColumn::new("Path", "File", Word, |_, row| row.path.clone().into())
            .or("(unknown)")
            .shown_if(|asked| asked.by == HardFaultBy::File),
        HardFaultColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(HardFaultRequest::is_by_process),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|read|reads} of {Size}, {Duration} ms",
    |_, _| true,
);

type HardFaultEventColumn = Column<HardFaultRequest, HardFaultEvent>;

const READS: View<HardFaultRequest, HardFaultEvent> = View::new(
    &[
        HardFaultEventColumn::time("Time", |_, row| row.start_ns.into()),
        HardFaultEventColumn::new("Duration", "µs", Microseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        HardFaultEventColumn::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).cost(),
        HardFaultEventColumn::new("Offset", "Offset", Whole, |_, row| row.offset_bytes.into())
            .hidden(),
        HardFaultEventColumn::new("Address", "Address", Word, |_, row| {
            row.address.clone().into()
        })
        .hidden(),
        HardFaultEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        HardFaultEventColumn::new("Process", "Process", Process, |_, row| row.into()),
        HardFaultEventColumn::new("Path", "File", Word, |_, row| row.path.clone().into()),
    ],
    |row| row.sort_value,
)
.with_sums("Total: {|read|reads} of {Size}, {Duration} µs", |_, _| {
    true
})
.ranking(|asked| {
    Ranked::rows_unless(matches!(
        asked.sort,
        HardFaultSort::Count | HardFaultSort::Time
    ))
})
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for HardFaultRequest {
    const NAME: &'static str = "hard-fault";
    const SENTENCE: &'static str =
        "Page faults that read from files: how long threads waited, for which file";
    const USUAL: &'static [&'static str] = &["per-process", "file", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "files by the time that threads waited for their pages",
        },
        Example {
            words: "--by process slow.etl",
            answer: "who waited",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&READS, self.reads_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&FAULTS, self.details || self.needs_rows())
            .top(self.top)
    }
}

impl HardFaultRequest {
    fn is_by_process(&self) -> bool {
        self.per_process || self.by == HardFaultBy::Process
    }

    /// Returns conditions on single reads, which sums cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .known("h.duration_ns", self.duration)
            .time("h.start_ns", self.time)
            .stack("h.stack_id", self.stack.as_deref())
    }

    fn needs_rows(&self) -> bool {
        !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("h.path", self.file.as_deref())
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sums = if self.needs_rows() {
            format!(
                "SELECT h.process_key, h.path, 1 AS count, h.size_bytes, h.duration_ns, h.duration_ns AS max_duration_ns
  FROM hard_fault h{}",
                self.limits()
            )
        } else {
            "SELECT * FROM hard_fault_file".to_owned()
        };
        let path = if self.by == HardFaultBy::File {
            "h.path"
        } else {
            NO_TEXT
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(count) AS count, sum(size_bytes) AS size_bytes, sum(duration_ns) AS duration_ns,
  max(max_duration_ns) AS max_duration_ns, CAST(sum(duration_ns) AS DOUBLE) / sum(count) AS mean_duration_ns
FROM (
  SELECT {process}, {path} AS path, h.count, h.size_bytes, h.duration_ns, h.max_duration_ns
  FROM (
  {sums}
  ) h
  LEFT JOIN process p ON p.process_key = h.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, duration_ns, count, path, process_key",
            sort = self.sort.sql(),
            process = process_columns("h", self.is_by_process()),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single reads.
    #[must_use]
    pub fn reads_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let conditions = self.conditions().and(self.limits());
        let (text, join) = stack_text("h.stack_id", "stack", self.stacks);
        format!(
            "SELECT h.start_ns, h.end_ns, h.duration_ns, h.process_key, {PROCESS_COLUMNS}, t.tid, h.path, h.offset_bytes, h.size_bytes,
  hex(h.address) AS address, h.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM hard_fault h
LEFT JOIN process p ON p.process_key = h.process_key
LEFT JOIN thread t ON t.thread_key = h.thread_key{join}{conditions}
ORDER BY sort_value, h.start_ns, h.process_key, t.tid, h.offset_bytes",
        )
    }
}

const FAULTS: Recorded = Recorded {
    sums: "hard_fault_file",
    rows: "hard_fault",
    single: "reads of pages",
    what: "hard page faults",
    how: "record with the kernel keywords HARD_FAULTS+FILENAME+PROC_THREAD+LOADER, with `-stackwalk HardFault` for stacks",
};
