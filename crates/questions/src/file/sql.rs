//! The SQL of operations on files.

use super::FileRequest;
use etwkit_question::path::folder_sql;
use etwkit_question::range::Range;
use etwkit_question::sql::{Conditions, EXECUTABLE_TEXT, EXECUTABLES, ends, process_columns};

/// Returns sums in a range of the trace, like `file_file`. An operation counts if any part of it is
/// in the range; its duration is clipped. An operation without a start counts at its end, without
/// duration.
fn with_range(time: Range) -> String {
    // An operation counts if it touches the range at all. The other end replaces a missing end, so
    // that the operation counts in exactly one place.
    let (a, b) = ends(time);
    format!(
        "WITH file_in_range AS (
SELECT path, process_key, kind, count(*) AS count,
  coalesce(sum(greatest(least(end_ns, {b}) - greatest(start_ns, {a}), 0))
    FILTER (WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL), 0) AS duration_ns,
  coalesce(sum(size_bytes), 0) AS size_bytes,
  coalesce(max(offset_bytes + result_bytes), 0) AS max_position_bytes,
  count(*) FILTER (WHERE status < 0) AS failures,
  array_to_string(array_agg(DISTINCT hex(CAST(status AS BIGINT) + {UNSIGNED})) FILTER (WHERE status < 0), ',') AS failure_statuses
FROM file_io
WHERE coalesce(start_ns, end_ns) <= {b} AND coalesce(end_ns, start_ns) >= {a}
GROUP BY path, process_key, kind
)
"
    )
}

/// What makes a negative status the unsigned number whose digits name it.
const UNSIGNED: i64 = 1 << 32;

/// Statuses of several rows, each of which is a list: joined and divided again, so that each status
/// is there once.
const FAILURE_STATUSES: &str = "coalesce(array_to_string(array_sort(array_distinct(string_to_array(\
     array_to_string(array_agg(DISTINCT failure_statuses) FILTER (WHERE failure_statuses <> ''), ','), ','))), ','), '')";

/// Sums of one kind of operation: column name, value to add, condition.
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
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let (with, table) = if self.time.is_unlimited() {
            (String::new(), "file_file")
        } else {
            (with_range(self.time), "file_in_range")
        };
        let modules = self.modules.as_deref().filter(|text| !text.is_empty());
        let conditions = self.conditions().text(EXECUTABLE_TEXT, modules);
        let process = process_columns("f", self.is_by_process());
        let modules = if self.is_by_process() && self.modules.is_some() {
            "v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, \
             v.description"
        } else {
            "CAST(NULL AS VARCHAR) AS module_path, CAST(NULL AS VARCHAR) AS file_version, CAST(NULL AS VARCHAR) AS product_name, \
             CAST(NULL AS VARCHAR) AS company, CAST(NULL AS VARCHAR) AS product_version, \
             CAST(NULL AS VARCHAR) AS description"
        };
        let executables = if self.modules.is_some() {
            EXECUTABLES
        } else {
            ""
        };
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
  {FAILURE_STATUSES} AS failure_statuses,
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
            sort = self.sort.sql(),
            sums = SUMS.iter().map(sum).collect::<Vec<_>>().join(",\n"),
            path = folder_sql("f.path", self.level),
            limits = self.limits(),
        )
    }

    /// Returns the conditions on the process, the file and the kind of operations.
    pub(super) fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("f.path", self.file.as_deref())
            .word("f.kind", self.kind().as_deref())
            .when(!self.all_files, "f.path IS NOT NULL")
    }

    /// Returns the kind of the operations, with its name in the table.
    fn kind(&self) -> Option<String> {
        self.operation.map(|word| {
            if word == "open" {
                "create".to_owned()
            } else {
                word.replace('-', "_")
            }
        })
    }

    fn limits(&self) -> Conditions {
        Conditions::new().ranges([
            ("read_bytes", self.read_size),
            ("write_bytes", self.write_size),
            ("total_bytes", self.total_size),
            ("read_ns", self.read_time),
            ("write_ns", self.write_time),
            ("read_ns + write_ns", self.total_time),
            ("total_count", self.total_count),
        ])
    }
}
