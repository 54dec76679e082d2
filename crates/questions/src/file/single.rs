//! Single operations on files: when, by whom, on which file, and with which result.

use super::{FileRequest, FileSort};
use etwkit_question::Format::{Id, Microseconds, PlainBytes, Process, Word};
use etwkit_question::declare;
use etwkit_question::path::reversed;
use etwkit_question::sql::{PROCESS_COLUMNS, stack_text};
use etwkit_question::{Column, Ranked, View, frames};

declare! {
    /// An operation on a file.
    pub row FileOperation: process {
        start_ns: Option<i64> = "Start; missing if only the end is in the trace.",
        end_ns: Option<i64> = "End; missing if no event reports it.",
        ts_ns: i64 = "Start, or the end if no start is known.",
        duration_ns: Option<i64> = "From start to end; missing without either.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id.",
        operation: String = "Kind, as `--operation` takes it.",
        status: Option<i64> = "Returned NTSTATUS, as signed number; missing without an end.",
        status_name: Option<String> = "Name of the status; digits if it has none.",
        offset_bytes: Option<i64> = "Position in the file, for reads and writes.",
        size_bytes: Option<i64> = "Requested bytes, for reads and writes.",
        result_bytes: Option<i64> =
            "Bytes read or written; for other operations the information that the file system returned.",
        create_options: Option<i64> = "Options for opening a file, as bits.",
        create_disposition: Option<i64> =
            "Action for a file that exists or does not: 0 supersede, 1 open, 2 create, 3 open or create, 4 overwrite, \
             5 overwrite or create.",
        path: Option<String> = "Path; missing without a name.",
        stack: Option<String> = "Stack, innermost frame first, with --show-stack.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type FileOperationColumn = Column<FileRequest, FileOperation>;

pub(super) const OPERATIONS: View<FileRequest, FileOperation> = View::new(
    &[
        FileOperationColumn::time("Time", |_, row| row.ts_ns.into()),
        FileOperationColumn::new("Duration", "µs", Microseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost()
        .or("?"),
        FileOperationColumn::new("Operation", "Operation", Word, |_, row| {
            row.operation.clone().into()
        }),
        FileOperationColumn::new("Status", "Status", Word, |_, row| {
            row.status_name.clone().into()
        }),
        FileOperationColumn::new("Offset", "Offset", PlainBytes, |_, row| {
            row.offset_bytes.into()
        })
        .hidden(),
        FileOperationColumn::new("Size", "Requested size", PlainBytes, |_, row| {
            row.size_bytes.into()
        }),
        FileOperationColumn::new("Process", "Process", Process, |_, row| row.into()),
        FileOperationColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        FileOperationColumn::new("Path", "Path", Word, |asked, row| {
            let path = row.path.as_deref().unwrap_or("(unknown)");
            if asked.reverse_file_name {
                reversed(path).into()
            } else {
                path.into()
            }
        }),
    ],
    |row| row.sort_value,
)
.alarming_if(|row| row.status.is_some_and(|status| status < 0))
.ranking(|asked| Ranked::rows_unless(!asked.is_by_duration()))
.with_below(|_, row| frames(row.stack.as_deref()));

impl FileRequest {
    /// Returns `true` if single operations are sorted by duration, not by time.
    fn is_by_duration(&self) -> bool {
        self.sort == FileSort::TotalTime
    }

    /// Returns the SQL for single operations.
    #[must_use]
    pub fn operations_sql(&self) -> String {
        let conditions = self
            .conditions()
            .status("f.status", self.status.as_deref())
            .overlap(
                "coalesce(f.start_ns, f.end_ns)",
                "coalesce(f.end_ns, f.start_ns)",
                self.time,
            );
        let (stack, join) = stack_text("f.stack_id", "stack", self.stacks);
        let sort = if self.is_by_duration() {
            "coalesce(duration_ns, -1)"
        } else {
            "ts_ns"
        };
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value FROM (
SELECT f.start_ns, f.end_ns, coalesce(f.start_ns, f.end_ns) AS ts_ns, f.duration_ns, f.process_key, {PROCESS_COLUMNS}, t.tid,
  CASE f.kind WHEN 'create' THEN 'open' ELSE replace(f.kind, '_', '-') END AS operation, f.status,
  ntstatus_name(f.status) AS status_name, f.offset_bytes, f.size_bytes, f.result_bytes, f.create_options,
  f.create_disposition, f.path, {stack}
FROM file_io f
LEFT JOIN process p ON p.process_key = f.process_key
LEFT JOIN thread t ON t.thread_key = f.thread_key{join}{conditions}
)
ORDER BY {sort}, ts_ns, end_ns, operation, path"
        )
    }
}
