//! Operations on files by folder or file. Durations of operations that go on at the same time add up.

use super::group::{Grouped, Grouping};
use super::path::folder_sql;
use super::sql::{
    EXECUTABLE_TEXT, EXECUTABLES, ProcessQuery, ends, filtered, process_columns, quoted, range_condition,
    text_condition,
};
use super::{Recorded, Result, Top, ask};
use crate::Session;
use crate::range::Range;

/// Orders of file I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileSort {
    /// Bytes read and written.
    #[default]
    TotalSize,
    /// Operations.
    Count,
    /// Bytes read.
    ReadSize,
    /// Bytes written.
    WriteSize,
    /// Duration of reads.
    ReadTime,
    /// Duration of writes.
    WriteTime,
    /// Duration of opening, closing, reading and writing.
    TotalTime,
    /// Largest position read or written.
    Length,
    /// Largest position read.
    MaxReadPos,
    /// Largest position written.
    MaxWritePos,
    /// Duration of opening and closing.
    OpenCloseTime,
}

/// Which operations, put together how, in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Whether rows of processes tell what their executables are.
    pub with_modules: bool,
    /// A filter on path, version, product and company of the executable.
    pub modules: Option<String>,
    /// Which files: a filter on whole paths.
    pub file: Option<String>,
    /// Folders below the drive that tell rows apart; from 100 on whole paths.
    pub level: u32,
    /// Rows for each process.
    pub per_process: bool,
    /// Only this kind of operation, as in `file_file.kind`.
    pub operation: Option<&'static str>,
    /// Operations on files without a name, too.
    pub all_files: bool,
    /// Bytes read.
    pub read_size: Range,
    /// Bytes written.
    pub write_size: Range,
    /// Bytes read and written.
    pub total_size: Range,
    /// Duration of reads in nanoseconds.
    pub read_time: Range,
    /// Duration of writes in nanoseconds.
    pub write_time: Range,
    /// Duration of reads and writes in nanoseconds.
    pub total_time: Range,
    /// Operations.
    pub total_count: Range,
    /// Only this part of the trace, in nanoseconds; durations are clipped to it.
    pub time: Range,
    /// Order.
    pub sort: FileSort,
    /// How many of the largest rows, of each process with `per_process`.
    pub top: Top,
    /// How many of the largest processes.
    pub top_processes: Top,
}

rows! {
    /// Operations on a folder or file.
    pub struct FileRow {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Drive, folder or file; missing without a name.
        path: Option<String>,
        /// Reads.
        reads: i64,
        /// Bytes asked for by reads.
        read_bytes: i64,
        /// Duration of reads.
        read_ns: i64,
        /// Largest position behind a read.
        read_max_position_bytes: i64,
        /// Writes.
        writes: i64,
        /// Bytes asked for by writes.
        write_bytes: i64,
        /// Duration of writes.
        write_ns: i64,
        /// Largest position behind a write.
        write_max_position_bytes: i64,
        /// Times that files were opened or created.
        opens: i64,
        /// Duration of opening.
        open_ns: i64,
        /// Times that files were closed.
        closes: i64,
        /// Times that a last handle was closed.
        cleanups: i64,
        /// Duration of both.
        close_ns: i64,
        /// Times that attributes or other information was set.
        set_infos: i64,
        /// Times that a security descriptor was set.
        set_securities: i64,
        /// Files deleted.
        deletes: i64,
        /// Files renamed.
        renames: i64,
        /// Other operations: queries, listings, flushes, control codes.
        others: i64,
        /// Their duration.
        other_ns: i64,
        /// Operations whose status is an error.
        failures: i64,
        /// Statuses of failed operations.
        failure_statuses: String,
        /// All operations.
        total_count: i64,
        /// Bytes read and written.
        total_bytes: i64,
        /// Duration of opening, closing, reading and writing.
        total_ns: i64,
        /// Files with a name.
        files: i64,
        /// Processes.
        processes: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// Path of its executable, if that is asked for.
        module_path: Option<String>,
        /// Its file version.
        file_version: Option<String>,
        /// Its product.
        product_name: Option<String>,
        /// Its company.
        company: Option<String>,
        /// Product version of the executable, if that is asked for.
        product_version: Option<String>,
        /// Description of the executable, if that is asked for.
        description: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
    /// Sums of file operations.
    pub struct FileTotal {
        /// Reads.
        reads: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Duration of reads.
        read_ns: i64,
        /// Writes.
        writes: i64,
        /// Bytes written.
        write_bytes: i64,
        /// Duration of writes.
        write_ns: i64,
        /// Opens.
        opens: i64,
        /// Closes.
        closes: i64,
        /// Duration of opening and closing.
        open_close_ns: i64,
        /// All operations.
        total_count: i64,
        /// Duration of opening, closing, reading and writing.
        total_ns: i64,
        /// Files, counted in each row.
        files: i64,
        /// What groups are sorted by; for positions the largest one, otherwise the sum.
        sort_value: f64,
    }
}

/// Sums over rows.
#[must_use]
pub fn total(rows: &[FileRow], sort: FileSort) -> FileTotal {
    let is_position = matches!(sort, FileSort::Length | FileSort::MaxReadPos | FileSort::MaxWritePos);
    rows.iter().fold(FileTotal::default(), |sum, row| FileTotal {
        reads: sum.reads.saturating_add(row.reads),
        read_bytes: sum.read_bytes.saturating_add(row.read_bytes),
        read_ns: sum.read_ns.saturating_add(row.read_ns),
        writes: sum.writes.saturating_add(row.writes),
        write_bytes: sum.write_bytes.saturating_add(row.write_bytes),
        write_ns: sum.write_ns.saturating_add(row.write_ns),
        opens: sum.opens.saturating_add(row.opens),
        closes: sum.closes.saturating_add(row.closes),
        open_close_ns: sum.open_close_ns.saturating_add(row.open_ns).saturating_add(row.close_ns),
        total_count: sum.total_count.saturating_add(row.total_count),
        total_ns: sum.total_ns.saturating_add(row.total_ns),
        files: sum.files.saturating_add(row.files),
        sort_value: if is_position {
            sum.sort_value.max(row.sort_value)
        } else {
            sum.sort_value + row.sort_value
        },
    })
}

/// File I/O; one group with all rows unless they are by process.
pub type FileAnswer = Grouped<FileRow, FileTotal>;

/// Sums in a part of the trace, like `file_file`. An operation counts if it was under way in the range; its duration
/// is clipped. One whose start is missing counts where it ended, without duration.
fn with_range(time: Range) -> String {
    let (a, b) = ends(time);
    format!(
        "WITH file_in_range AS (
SELECT path, process_key, kind, count(*) AS count,
  coalesce(sum(greatest(least(end_ns, {b}) - greatest(start_ns, {a}), 0))
    FILTER (WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL), 0) AS duration_ns,
  coalesce(sum(size_bytes), 0) AS size_bytes,
  coalesce(max(offset_bytes + result_bytes), 0) AS max_position_bytes,
  count(*) FILTER (WHERE status < 0) AS failures,
  '' AS failure_statuses
FROM file_io
WHERE coalesce(start_ns, end_ns) <= {b} AND coalesce(end_ns, start_ns) >= {a}
GROUP BY path, process_key, kind
)
"
    )
}

/// Sums of one kind: name of the column, what is added, condition.
const SUMS: &[(&str, &str, &str)] = &[
    ("reads", "count", "kind = 'read'"),
    ("read_bytes", "size_bytes", "kind = 'read'"),
    ("read_ns", "duration_ns", "kind = 'read'"),
    ("writes", "count", "kind = 'write'"),
    ("write_bytes", "size_bytes", "kind = 'write'"),
    ("write_ns", "duration_ns", "kind = 'write'"),
    ("opens", "count", "kind = 'create'"),
    ("open_ns", "duration_ns", "kind = 'create'"),
    ("closes", "count", "kind = 'close'"),
    ("cleanups", "count", "kind = 'cleanup'"),
    ("close_ns", "duration_ns", "kind IN ('close', 'cleanup')"),
    ("set_infos", "count", "kind = 'set_info'"),
    ("set_securities", "count", "kind = 'set_security'"),
    ("deletes", "count", "kind = 'delete'"),
    ("renames", "count", "kind = 'rename'"),
    ("others", "count", OTHER),
    ("other_ns", "duration_ns", OTHER),
    ("failures", "failures", "TRUE"),
    ("total_count", "count", "TRUE"),
];

const OTHER: &str = "kind NOT IN ('read', 'write', 'create', 'close', 'cleanup', 'set_info', 'set_security', \
     'delete', 'rename')";

impl FileRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(text_condition("f.path", self.file.as_deref()));
        conditions.extend(self.operation.map(|kind| format!("f.kind = {}", quoted(kind))));
        if !self.all_files {
            conditions.push("f.path IS NOT NULL".to_owned());
        }
        let (with, table) = if self.time.is_unlimited() {
            (String::new(), "file_file")
        } else {
            (with_range(self.time), "file_in_range")
        };
        conditions.extend(text_condition(EXECUTABLE_TEXT, self.modules.as_deref()));
        let process = process_columns("f", self.per_process);
        let modules = if self.per_process && self.with_modules {
            "v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, \
             v.description"
        } else {
            "CAST(NULL AS VARCHAR) AS module_path, CAST(NULL AS VARCHAR) AS file_version, CAST(NULL AS VARCHAR) AS product_name, \
             CAST(NULL AS VARCHAR) AS company, CAST(NULL AS VARCHAR) AS product_version, \
             CAST(NULL AS VARCHAR) AS description"
        };
        let executables = if self.with_modules || self.modules.is_some() { EXECUTABLES } else { "" };
        let sum = |(name, what, of): &(&str, &str, &str)| {
            format!("  coalesce(sum({what}) FILTER (WHERE {of}), 0) AS {name}")
        };
        format!(
            "{with}SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT *, read_bytes + write_bytes AS total_bytes, open_ns + close_ns + read_ns + write_ns AS total_ns
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path,
  max(module_path) AS module_path, max(file_version) AS file_version, max(product_name) AS product_name, max(company) AS company,
  max(product_version) AS product_version, max(description) AS description,
{sums},
  coalesce(max(max_position_bytes) FILTER (WHERE kind = 'read'), 0) AS read_max_position_bytes,
  coalesce(max(max_position_bytes) FILTER (WHERE kind = 'write'), 0) AS write_max_position_bytes,
  coalesce(string_agg(DISTINCT failure_statuses, ',') FILTER (WHERE failure_statuses <> ''), '') AS failure_statuses,
  count(DISTINCT file) AS files, count(DISTINCT owner) AS processes
FROM (
SELECT {process}, {modules}, {path} AS path, f.path AS file, f.process_key AS owner, f.kind, f.count, f.duration_ns,
  f.size_bytes, f.max_position_bytes, f.failures, f.failure_statuses
FROM {table} f
LEFT JOIN process p ON p.process_key = f.process_key{executables}{conditions}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path
)
){limits}
ORDER BY sort_value, total_ns, path, process_key",
            sort = self.sort_value(),
            sums = SUMS.iter().map(sum).collect::<Vec<_>>().join(",\n"),
            path = folder_sql("f.path", self.level),
            conditions = filtered(&conditions),
            limits = filtered(&self.limits()),
        )
    }

    fn limits(&self) -> Vec<String> {
        let limits = [
            ("read_bytes", self.read_size),
            ("write_bytes", self.write_size),
            ("total_bytes", self.total_size),
            ("read_ns", self.read_time),
            ("write_ns", self.write_time),
            ("read_ns + write_ns", self.total_time),
            ("total_count", self.total_count),
        ];
        limits.into_iter().filter_map(|(column, range)| range_condition(column, range)).collect()
    }

    const fn sort_value(&self) -> &'static str {
        match self.sort {
            FileSort::TotalSize => "total_bytes",
            FileSort::Count => "total_count",
            FileSort::ReadSize => "read_bytes",
            FileSort::WriteSize => "write_bytes",
            FileSort::ReadTime => "read_ns",
            FileSort::WriteTime => "write_ns",
            FileSort::TotalTime => "total_ns",
            FileSort::Length => "greatest(read_max_position_bytes, write_max_position_bytes)",
            FileSort::MaxReadPos => "read_max_position_bytes",
            FileSort::MaxWritePos => "write_max_position_bytes",
            FileSort::OpenCloseTime => "open_ns + close_ns",
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// There is no file I/O; a range is asked of sums; the query fails.
    pub fn ask(&self, session: &Session) -> Result<FileAnswer> {
        FILE.check(session, self.time)?;
        let by = Grouping { per_process: self.per_process, top: self.top, top_processes: self.top_processes };
        let rows = ask(session, &self.sql())?;
        let sums = |rows: &[FileRow]| total(rows, self.sort);
        Ok(by.answer(rows, |row: &FileRow| row.process_key, sums, |total| total.sort_value))
    }
}

const FILE: Recorded = Recorded {
    sums: "file_file",
    rows: "file_io",
    operations: "operations on files",
    what: "file I/O",
    how: "record with the kernel keywords FILE_IO+FILE_IO_INIT+FILENAME, for example `wpr -start FileIO`",
};
