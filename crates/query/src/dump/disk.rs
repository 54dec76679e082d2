//! Disk I/O by folder or file. Times are service times: while a disk works on several operations, their times do not overlap.

use super::group::{Grouped, Grouping};
use super::path::folder_sql;
use super::sql::{ProcessQuery, ends, filtered, process_columns, range_condition, text_condition};
use super::{Recorded, Result, Top, ask, disk_range};
use crate::Session;
use crate::range::Range;

/// Orders of disk I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiskSort {
    /// Bytes read and written.
    #[default]
    TotalSize,
    /// Service time of reads, writes and flushes.
    TotalTime,
    /// Bytes read.
    ReadSize,
    /// Bytes written.
    WriteSize,
    /// Service time of reads.
    ReadTime,
    /// Service time of writes.
    WriteTime,
    /// Service time of flushes.
    FlushTime,
    /// Operations.
    Count,
}

/// A kind of disk I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskOperation {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Flushes.
    Flush,
}

/// Which I/O, put together how, in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which files: a filter on whole paths.
    pub file: Option<String>,
    /// Folders below the drive that tell rows apart; from 100 on whole paths.
    pub level: u32,
    /// Rows for each process.
    pub per_process: bool,
    /// The I/O of a file belongs to all processes that used it: filters choose files by their processes, and
    /// `per_process` makes rows for each set of them.
    pub shared: bool,
    /// Only rows with such operations; with `shared` only files with such operations.
    pub operation: Option<DiskOperation>,
    /// Bytes read.
    pub read_size: Range,
    /// Bytes written.
    pub write_size: Range,
    /// Bytes read and written.
    pub total_size: Range,
    /// Service time of reads in nanoseconds.
    pub read_time: Range,
    /// Service time of writes in nanoseconds.
    pub write_time: Range,
    /// Service time in nanoseconds.
    pub total_time: Range,
    /// Only this part of the trace, in nanoseconds; times are clipped to it.
    pub time: Range,
    /// Order.
    pub sort: DiskSort,
    /// How many of the largest rows, of each process with `per_process`.
    pub top: Top,
    /// How many of the largest processes.
    pub top_processes: Top,
}

rows! {
    /// Disk I/O of a folder or file.
    pub struct DiskRow {
        /// Process, with rows for each process; missing if it is not known, and with sets of processes.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name; of sets as `process_names`.
        process: Option<String>,
        /// Drive, folder or file; missing for flushes and for files without a name.
        path: Option<String>,
        /// Reads; missing where only their sums are known.
        reads: Option<i64>,
        /// Bytes read.
        read_bytes: i64,
        /// Service time of reads.
        read_service_ns: i64,
        /// Time of reads, queue included.
        read_io_ns: i64,
        /// Writes; missing where only their sums are known.
        writes: Option<i64>,
        /// Bytes written.
        write_bytes: i64,
        /// Service time of writes.
        write_service_ns: i64,
        /// Time of writes, queue included.
        write_io_ns: i64,
        /// Flushes; missing where only their sums are known.
        flushes: Option<i64>,
        /// Service time of flushes.
        flush_service_ns: i64,
        /// Longest operation, queue included.
        max_io_ns: i64,
        /// Bytes read and written.
        total_bytes: i64,
        /// Service time of all operations.
        total_service_ns: i64,
        /// Share of the time that a disk worked on them, in percent.
        active_percent: f64,
        /// Files with a name.
        files: i64,
        /// Processes.
        processes: i64,
        /// Names and ids of these processes, with ; between.
        process_names: Option<String>,
        /// Numbers of the disks, with ; between.
        disks: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
    /// Sums of disk I/O.
    pub struct DiskTotal {
        /// Reads.
        reads: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Service time of reads.
        read_service_ns: i64,
        /// Writes.
        writes: i64,
        /// Bytes written.
        write_bytes: i64,
        /// Service time of writes.
        write_service_ns: i64,
        /// Flushes.
        flushes: i64,
        /// Service time of flushes.
        flush_service_ns: i64,
        /// Service time of all operations.
        total_service_ns: i64,
        /// Service time that is in no row, since it is of files that several processes shared.
        shared_service_ns: i64,
        /// What groups are sorted by.
        sort_value: f64,
    }
}

/// Sums over rows.
#[must_use]
pub fn total(rows: &[DiskRow]) -> DiskTotal {
    rows.iter().fold(DiskTotal::default(), |sum, row| DiskTotal {
        reads: sum.reads.saturating_add(row.reads.unwrap_or_default()),
        read_bytes: sum.read_bytes.saturating_add(row.read_bytes),
        read_service_ns: sum.read_service_ns.saturating_add(row.read_service_ns),
        writes: sum.writes.saturating_add(row.writes.unwrap_or_default()),
        write_bytes: sum.write_bytes.saturating_add(row.write_bytes),
        write_service_ns: sum.write_service_ns.saturating_add(row.write_service_ns),
        flushes: sum.flushes.saturating_add(row.flushes.unwrap_or_default()),
        flush_service_ns: sum.flush_service_ns.saturating_add(row.flush_service_ns),
        total_service_ns: sum.total_service_ns.saturating_add(row.total_service_ns),
        sort_value: sum.sort_value + row.sort_value,
        shared_service_ns: 0,
    })
}

/// A number of operations; null where there are bytes or times without any, which is how an extract made of
/// sums has them.
fn counted(count: &str, bytes: &str, time: &str) -> String {
    format!("CASE WHEN sum({count}) > 0 OR sum({bytes}) + sum({time}) = 0 THEN sum({count}) END")
}

/// Disk I/O; one group with all rows unless they are by process.
pub type DiskAnswer = Grouped<DiskRow, DiskTotal>;

impl DiskRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let (from, to) = ends(self.time);
        let (with, table) = if self.time.is_unlimited() {
            (String::new(), "disk_file")
        } else {
            (disk_range::with(self.time), disk_range::TABLE)
        };
        // The time that was seen: the part of the range that lies in the trace.
        let seen =
            format!("(SELECT nullif(least({to}, max(duration_ns)) - greatest({from}, 0), 0) FROM trace)");
        let (with, rows) =
            if self.shared { self.shared_rows(&with, table) } else { (with, self.own_rows(table)) };
        format!(
            "{with}SELECT *, 100.0 * total_service_ns / {seen} AS active_percent, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT *, read_bytes + write_bytes AS total_bytes,
  read_service_ns + write_service_ns + flush_service_ns AS total_service_ns
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path,
  {reads} AS reads, sum(read_bytes) AS read_bytes, sum(read_service_ns) AS read_service_ns,
  sum(read_io_ns) AS read_io_ns,
  {writes} AS writes, sum(write_bytes) AS write_bytes, sum(write_service_ns) AS write_service_ns,
  sum(write_io_ns) AS write_io_ns, {flushes} AS flushes, sum(flush_service_ns) AS flush_service_ns,
  max(max_io_ns) AS max_io_ns, count(DISTINCT file) AS files, count(DISTINCT owner) AS processes,
  string_agg(DISTINCT owner_name, ';') AS process_names, string_agg(DISTINCT disk_number, ';') AS disks
FROM (
{rows}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path
)
){limits}
ORDER BY sort_value, total_service_ns, path, process_key, process",
            sort = self.sort_value(),
            reads = counted("reads", "read_bytes", "read_service_ns"),
            writes = counted("writes", "write_bytes", "write_service_ns"),
            flushes = counted("flushes", "0", "flush_service_ns"),
            limits = filtered(&self.limits()),
        )
    }

    /// Rows of which each belongs to one process.
    fn own_rows(&self, table: &str) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(text_condition("d.path", self.file.as_deref()));
        format!(
            "SELECT {process}, {path} AS path, d.path AS file, d.process_key AS owner,
  {NAME} AS owner_name, {SUMS}
FROM {table} d
LEFT JOIN process p ON p.process_key = d.process_key{conditions}",
            process = process_columns("d", self.per_process),
            path = folder_sql("d.path", self.level),
            conditions = filtered(&conditions),
        )
    }

    /// Rows of files with all processes that used them; what they begin with goes in front of the question.
    fn shared_rows(&self, with: &str, table: &str) -> (String, String) {
        let of_one = format!("SELECT path, disk, process_key FROM {table} WHERE process_key IS NOT NULL");
        // Single operations are of one process each.
        let of_several = self.time.is_unlimited().then(|| {
            format!(
                "
    UNION ALL
    SELECT path, disk, CAST(unnest(string_to_array(CAST(process_keys AS VARCHAR), ' ')) AS INT) AS process_key
    FROM {table} WHERE process_keys IS NOT NULL"
            )
        });
        let processes = self.processes.conditions();
        let fits = if processes.is_empty() { "TRUE".to_owned() } else { processes.join(" AND ") };
        let begin = if with.is_empty() { "WITH ".to_owned() } else { format!("{},\n", with.trim_end()) };
        let with = format!(
            "{begin}used AS (
  SELECT DISTINCT path, disk, process_key FROM (
    {of_one}{}
  )
),
users AS (
  SELECT u.path, u.disk, u.process_key AS owner, {NAME} AS owner_name,
    CASE WHEN {fits} THEN 1 ELSE 0 END AS fits
  FROM used u
  LEFT JOIN process p ON p.process_key = u.process_key
),
whose AS (
  SELECT path, disk, max(fits) AS fits, string_agg(owner_name, ';' ORDER BY owner_name) AS names
  FROM users GROUP BY path, disk
),
sized AS (
  SELECT path, disk, sum(read_bytes) AS all_read, sum(write_bytes) AS all_written
  FROM {table} GROUP BY path, disk
)
",
            of_several.unwrap_or_default(),
        );
        let mut conditions: Vec<String> =
            text_condition("d.path", self.file.as_deref()).into_iter().collect();
        if !processes.is_empty() {
            conditions.push("w.fits = 1".to_owned());
        }
        conditions.extend(self.operation.map(|operation| {
            let has = match operation {
                DiskOperation::Read => "z.all_read > 0",
                DiskOperation::Write => "z.all_written > 0",
                DiskOperation::Flush => "d.flush_service_ns > 0",
            };
            has.to_owned()
        }));
        let set = if self.per_process { "w.names" } else { "CAST(NULL AS VARCHAR)" };
        let same = |other: &str| {
            format!("coalesce({other}.path, '') = coalesce(d.path, '') AND {other}.disk = d.disk")
        };
        let path = folder_sql("d.path", self.level);
        let none = process_columns("d", false)
            .replace("CAST(NULL AS VARCHAR) AS process,", &format!("{set} AS process,"));
        // Sums stand once, in front of one row without sums for each process.
        let rows = format!(
            "SELECT {none}, {path} AS path, d.path AS file, CAST(NULL AS INT) AS owner,
  CAST(NULL AS VARCHAR) AS owner_name, {SUMS}
FROM {table} d
LEFT JOIN whose w ON {of_whose}
LEFT JOIN sized z ON {of_size}{conditions}
UNION ALL
SELECT DISTINCT {none}, {path} AS path, d.path AS file, o.owner, o.owner_name, {NO_SUMS}
FROM {table} d
JOIN users o ON {of_user}
LEFT JOIN whose w ON {of_whose}
LEFT JOIN sized z ON {of_size}{conditions}",
            of_whose = same("w"),
            of_size = same("z"),
            of_user = same("o"),
            conditions = filtered(&conditions),
        );
        (with, rows)
    }

    fn limits(&self) -> Vec<String> {
        let operation = self.operation.filter(|_| !self.shared).map(|operation| match operation {
            // An extract that was made of sums has times without numbers of operations.
            DiskOperation::Read => "(reads > 0 OR read_service_ns > 0 OR read_bytes > 0)",
            DiskOperation::Write => "(writes > 0 OR write_service_ns > 0 OR write_bytes > 0)",
            DiskOperation::Flush => "(flushes > 0 OR flush_service_ns > 0)",
        });
        let limits = [
            ("read_bytes", self.read_size),
            ("write_bytes", self.write_size),
            ("total_bytes", self.total_size),
            ("read_service_ns", self.read_time),
            ("write_service_ns", self.write_time),
            ("total_service_ns", self.total_time),
        ];
        let ranges = limits.into_iter().filter_map(|(column, range)| range_condition(column, range));
        operation.map(str::to_owned).into_iter().chain(ranges).collect()
    }

    const fn sort_value(&self) -> &'static str {
        match self.sort {
            DiskSort::TotalSize => "total_bytes",
            DiskSort::TotalTime => "total_service_ns",
            DiskSort::ReadSize => "read_bytes",
            DiskSort::WriteSize => "write_bytes",
            DiskSort::ReadTime => "read_service_ns",
            DiskSort::WriteTime => "write_service_ns",
            DiskSort::FlushTime => "flush_service_ns",
            DiskSort::Count => "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(flushes, 0)",
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// There is no disk I/O; a range is asked of sums; the query fails.
    pub fn ask(&self, session: &Session) -> Result<DiskAnswer> {
        DISK.check(session, self.time)?;
        let by = Grouping { per_process: self.per_process, top: self.top, top_processes: self.top_processes };
        let mut rows: Vec<DiskRow> = ask(session, &self.sql())?;
        // The engine puts one list of a group in order, not two.
        for row in &mut rows {
            row.process_names = row.process_names.take().map(|names| sorted(&names));
            row.disks = row.disks.take().map(|disks| sorted(&disks));
        }
        let process = |row: &DiskRow| (row.process_key, row.process.clone());
        let mut answer = by.answer(rows, process, total, |total| total.sort_value);
        answer.total.shared_service_ns = self.in_no_row(session)?;
        Ok(answer)
    }

    /// Service time of files that several processes shared, where rows are of single processes.
    fn in_no_row(&self, session: &Session) -> Result<i64> {
        let is_by_process = self.per_process || !self.processes.conditions().is_empty();
        if self.shared || !is_by_process || !self.time.is_unlimited() {
            return Ok(0);
        }
        let mut conditions = vec!["process_keys IS NOT NULL".to_owned()];
        conditions.extend(text_condition("path", self.file.as_deref()));
        let sql = format!(
            "SELECT coalesce(sum(read_service_ns + write_service_ns + flush_service_ns), 0) AS rows
FROM disk_file{}",
            filtered(&conditions)
        );
        let sums: Vec<super::Count> = ask(session, &sql)?;
        Ok(sums.first().map_or(0, |sum| sum.rows))
    }
}

/// A list with ; between, in order.
fn sorted(list: &str) -> String {
    let mut parts: Vec<&str> = list.split(';').collect();
    parts.sort_unstable();
    parts.join(";")
}

/// Name and id of a process.
const NAME: &str = "CASE WHEN p.pid IS NOT NULL THEN concat(p.name, '(', p.pid, ')') END";

const SUMS: &str =
    "CAST(d.disk AS VARCHAR) AS disk_number, d.reads, d.read_bytes, d.read_service_ns, d.read_io_ns,
  d.writes, d.write_bytes, d.write_service_ns, d.write_io_ns, d.flushes, d.flush_service_ns, d.max_io_ns";

const NO_SUMS: &str = "CAST(NULL AS VARCHAR) AS disk_number, 0 AS reads, 0 AS read_bytes,
  0 AS read_service_ns, 0 AS read_io_ns, 0 AS writes, 0 AS write_bytes, 0 AS write_service_ns,
  0 AS write_io_ns, 0 AS flushes, 0 AS flush_service_ns, 0 AS max_io_ns";

const DISK: Recorded = Recorded {
    sums: "disk_file",
    rows: "disk_io",
    operations: "operations of disks",
    what: "disk I/O",
    how: "record with the kernel keywords DISK_IO+DISK_IO_INIT+FILENAME, for example `wpr -start DiskIO`",
};
