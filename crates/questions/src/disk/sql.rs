//! The SQL of disk I/O.

use super::range;
use super::{DiskOperation, DiskRequest};
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::path::folder_sql;
use etwkit_question::sql::{Conditions, NO_TEXT, process_columns};

impl DiskRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let (with, table) = if self.needs_rows() {
            (range::with(self.time, self.by_priority), range::TABLE)
        } else {
            (String::new(), "disk_file")
        };
        let covered = Covered::new(Recorder::Kernel, self.time).length();
        let (with, rows) = if self.shared {
            self.shared_rows(&with, table)
        } else {
            (with, self.own_rows(table))
        };
        format!(
            "{with}SELECT *, 100.0 * total_service_ns / {covered} AS active_percent, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT *, read_bytes + write_bytes AS total_bytes,
  read_service_ns + write_service_ns + flush_service_ns AS total_service_ns
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path, priority,
  {reads} AS reads, sum(read_bytes) AS read_bytes, sum(read_service_ns) AS read_service_ns,
  sum(read_io_ns) AS read_io_ns,
  {writes} AS writes, sum(write_bytes) AS write_bytes, sum(write_service_ns) AS write_service_ns,
  sum(write_io_ns) AS write_io_ns, {flushes} AS flushes, sum(flush_service_ns) AS flush_service_ns,
  max(max_io_ns) AS max_io_ns, count(DISTINCT file) AS files, count(DISTINCT owner) AS processes,
  array_to_string(array_sort(array_agg(DISTINCT owner_name) FILTER (WHERE owner_name IS NOT NULL)), ';') AS process_names,
  array_to_string(array_sort(array_agg(DISTINCT disk_number) FILTER (WHERE disk_number IS NOT NULL)), ';') AS disks
FROM (
{rows}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, path, priority
)
){limits}
ORDER BY sort_value, total_service_ns, path, priority, process_key, process",
            sort = self.sort.sql(),
            reads = counted("reads", "read_bytes", "read_service_ns"),
            writes = counted("writes", "write_bytes", "write_service_ns"),
            flushes = counted("flushes", "0", "flush_service_ns"),
            limits = self.limits(),
        )
    }

    /// Returns rows that belong to one process each.
    fn own_rows(&self, table: &str) -> String {
        let conditions = self
            .processes
            .conditions()
            .text("d.path", self.file.as_deref());
        format!(
            "SELECT {process}, {path} AS path, {priority} AS priority, d.path AS file, d.process_key AS owner,
  {NAME} AS owner_name, {SUMS}
FROM {table} d
LEFT JOIN process p ON p.process_key = d.process_key{conditions}",
            process = process_columns("d", self.per_process),
            path = if self.by_priority { NO_TEXT.to_owned() } else { folder_sql("d.path", self.level) },
            priority = if self.by_priority { "d.priority" } else { NO_TEXT },
        )
    }

    /// Returns `true` if the stored sums are not enough.
    pub(super) fn needs_rows(&self) -> bool {
        self.by_priority || !self.time.is_unlimited()
    }

    /// Returns the rows of files with all processes that used them, and the `WITH` clause of the
    /// question.
    fn shared_rows(&self, with: &str, table: &str) -> (String, String) {
        let of_one =
            format!("SELECT path, disk, process_key FROM {table} WHERE process_key IS NOT NULL");
        // Single operations are of one process each.
        // Stored sums of a file that several processes used name all of them in one list.
        let of_several = self.time.is_unlimited().then(|| {
            format!(
                "
    UNION ALL
    SELECT path, disk, CAST(unnest(string_to_array(CAST(process_keys AS VARCHAR), ' ')) AS INT) AS process_key
    FROM {table} WHERE process_keys IS NOT NULL"
            )
        });
        let processes = self.processes.conditions();
        let fits = if processes.is_empty() {
            "TRUE".to_owned()
        } else {
            processes.joined()
        };
        let begin = if with.is_empty() {
            "WITH ".to_owned()
        } else {
            format!("{},\n", with.trim_end())
        };
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
        let operation = self.operation.map(|operation| match operation {
            DiskOperation::Read => "z.all_read > 0",
            DiskOperation::Write => "z.all_written > 0",
            // The service time of a flush may be unknown, and sums may have no number of flushes.
            DiskOperation::Flush => "(d.flushes > 0 OR d.flush_service_ns > 0)",
        });
        let conditions = Conditions::new()
            .text("d.path", self.file.as_deref())
            .when(!processes.is_empty(), "w.fits = 1")
            .and(operation.map(str::to_owned));
        let set = if self.per_process { "w.names" } else { NO_TEXT };
        // Files without a name have nothing to compare, and an equation with null never holds: the
        // empty text replaces the missing name.
        let same = |other: &str| {
            format!("coalesce({other}.path, '') = coalesce(d.path, '') AND {other}.disk = d.disk")
        };
        let path = folder_sql("d.path", self.level);
        let none = process_columns("d", false).replace(
            &format!("{NO_TEXT} AS process,"),
            &format!("{set} AS process,"),
        );
        // Sums appear once, before one row without sums for each process.
        let rows = format!(
            "SELECT {none}, {path} AS path, {NO_TEXT} AS priority, d.path AS file, CAST(NULL AS INT) AS owner,
  {NO_TEXT} AS owner_name, {SUMS}
FROM {table} d
LEFT JOIN whose w ON {of_whose}
LEFT JOIN sized z ON {of_size}{conditions}
UNION ALL
SELECT DISTINCT {none}, {path} AS path, {NO_TEXT} AS priority, d.path AS file, o.owner, o.owner_name, {NO_SUMS}
FROM {table} d
JOIN users o ON {of_user}
LEFT JOIN whose w ON {of_whose}
LEFT JOIN sized z ON {of_size}{conditions}",
            of_whose = same("w"),
            of_size = same("z"),
            of_user = same("o"),
        );
        (with, rows)
    }

    fn limits(&self) -> Conditions {
        let operation = self
            .operation
            .filter(|_| !self.shared)
            .map(|operation| match operation {
                // An extract that was made of sums has times without numbers of operations.
                DiskOperation::Read => "(reads > 0 OR read_service_ns > 0 OR read_bytes > 0)",
                DiskOperation::Write => "(writes > 0 OR write_service_ns > 0 OR write_bytes > 0)",
                DiskOperation::Flush => "(flushes > 0 OR flush_service_ns > 0)",
            });
        Conditions::new().and(operation.map(str::to_owned)).ranges([
            ("read_bytes", self.read_size),
            ("write_bytes", self.write_size),
            ("total_bytes", self.total_size),
            ("read_service_ns", self.read_time),
            ("write_service_ns", self.write_time),
            ("total_service_ns", self.total_time),
        ])
    }
}

/// Returns a number of operations; null if there are bytes or times without any, as in an extract
/// made of sums.
fn counted(count: &str, bytes: &str, time: &str) -> String {
    format!("CASE WHEN sum({count}) > 0 OR sum({bytes}) + sum({time}) = 0 THEN sum({count}) END")
}

/// Name and id of a process.
const NAME: &str = "CASE WHEN p.pid IS NOT NULL THEN concat(p.name, '(', p.pid, ')') END";

const SUMS: &str =
    "CAST(d.disk AS VARCHAR) AS disk_number, d.reads, d.read_bytes, d.read_service_ns, d.read_io_ns,
  d.writes, d.write_bytes, d.write_service_ns, d.write_io_ns, d.flushes, d.flush_service_ns, d.max_io_ns";

const NO_SUMS: &str = "CAST(NULL AS VARCHAR) AS disk_number, 0 AS reads, 0 AS read_bytes,
  0 AS read_service_ns, 0 AS read_io_ns, 0 AS writes, 0 AS write_bytes, 0 AS write_service_ns,
  0 AS write_io_ns, 0 AS flushes, 0 AS flush_service_ns, 0 AS max_io_ns";
