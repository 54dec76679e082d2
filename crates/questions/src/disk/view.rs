//! Columns and lines of disk I/O.

use super::{DiskRequest, DiskRow, DiskTotal};
use etwkit_question::Format::{Fixed, Megabytes, Process, Seconds, Throughput, Whole, Word};
use etwkit_question::path::{WHOLE_PATH, reversed};
use etwkit_question::{Column, Format, Line, Value, View};

/// Returns sums over rows.
#[must_use]
pub(super) fn total<'r>(rows: impl IntoIterator<Item = &'r DiskRow>) -> DiskTotal {
    // Rows of a summary do not have the counts.
    let count = |count: Option<i64>| count.unwrap_or(0);
    rows.into_iter()
        .fold(DiskTotal::default(), |sum, row| DiskTotal {
            reads: sum.reads.saturating_add(count(row.reads)),
            read_bytes: sum.read_bytes.saturating_add(row.read_bytes),
            read_service_ns: sum.read_service_ns.saturating_add(row.read_service_ns),
            writes: sum.writes.saturating_add(count(row.writes)),
            write_bytes: sum.write_bytes.saturating_add(row.write_bytes),
            write_service_ns: sum.write_service_ns.saturating_add(row.write_service_ns),
            flushes: sum.flushes.saturating_add(count(row.flushes)),
            flush_service_ns: sum.flush_service_ns.saturating_add(row.flush_service_ns),
            total_service_ns: sum.total_service_ns.saturating_add(row.total_service_ns),
            sort_value: sum.sort_value + row.sort_value,
            shared_service_ns: 0,
        })
}

/// Returns `true` if all columns are shown.
pub(super) const fn details(asked: &DiskRequest) -> bool {
    asked.details
}

type DiskColumn = Column<DiskRequest, DiskRow>;

pub(super) const DISK_IO: View<DiskRequest, DiskRow> = View::new(
    &[
        DiskColumn::new("ReadTime", "Read s", Seconds(5), |_, row| {
            row.read_service_ns.into()
        })
        .cost(),
        DiskColumn::new("ReadSize", "Read MB", Megabytes, |_, row| {
            row.read_bytes.into()
        })
        .cost(),
        DiskColumn::new("ReadThroughput", "Read MB/s", Throughput, |_, row| {
            Value::Rate(row.read_bytes, row.read_service_ns)
        }),
        DiskColumn::new("ReadCount", "Reads", Whole, |_, row| row.reads.into())
            .cost()
            .shown_if(details),
        DiskColumn::new("WriteTime", "Write s", Seconds(5), |_, row| {
            row.write_service_ns.into()
        })
        .cost(),
        DiskColumn::new("WriteSize", "Write MB", Megabytes, |_, row| {
            row.write_bytes.into()
        })
        .cost(),
        DiskColumn::new("WriteThroughput", "Write MB/s", Throughput, |_, row| {
            Value::Rate(row.write_bytes, row.write_service_ns)
        }),
        DiskColumn::new("WriteCount", "Writes", Whole, |_, row| row.writes.into())
            .cost()
            .shown_if(details),
        DiskColumn::new("FlushTime", "Flush s", Seconds(5), |_, row| {
            row.flush_service_ns.into()
        })
        .cost(),
        DiskColumn::new("FlushCount", "Flushes", Whole, |_, row| row.flushes.into())
            .cost()
            .shown_if(details),
        DiskColumn::new("PercentActive", "Active %", Fixed(1), |_, row| {
            row.active_percent.into()
        })
        .cost(),
        DiskColumn::new("TotalSize", "Total MB", Megabytes, |_, row| {
            row.total_bytes.into()
        })
        .cost()
        .shown_if(details),
        DiskColumn::new("TotalTime", "Total s", Seconds(5), |_, row| {
            row.total_service_ns.into()
        })
        .cost()
        .shown_if(details),
        DiskColumn::new("MaxTime", "Max s", Seconds(5), |_, row| {
            row.max_io_ns.into()
        })
        .worst()
        .shown_if(details),
        DiskColumn::new("Process", "Process", Process, |_, row| row.into())
            .shown_when_merged(|asked| asked.per_process),
        DiskColumn::new("FileDir", "File", Word, |asked, row| {
            path(asked, row).into()
        })
        .titled(|asked| {
            let folder = "Folder (files with --dir-level 100)";
            let path = if asked.level >= WHOLE_PATH {
                "File"
            } else {
                folder
            };
            if asked.by_priority { "Priority" } else { path }.to_owned()
        }),
    ],
    |row| row.sort_value,
)
.with_headings(|asked, rows| {
    let row = rows.first().filter(|_| asked.per_process)?;
    let of = Line::new("  ");
    let of = if asked.shared {
        of.words(set_of(row))
    } else {
        of.value(Format::ProcessLine, row)
    };
    Some(sums(of.words("  ["), &total(rows)).words("]"))
})
.with_total(|asked, rows, is_merged| {
    let line = sums(Line::new("Total: "), &total(rows.iter().copied()));
    // A file that several processes used, or with several priorities, is in several rows.
    let may_repeat = asked.by_priority || asked.per_process && !asked.shared;
    let files = rows
        .iter()
        .map(|row| row.files)
        .fold(0, i64::saturating_add);
    vec![if is_merged || may_repeat {
        line
    } else {
        line.words(", ").counted(files, ["file", "files"])
    }]
});

/// Returns the drive, folder, file or priority of a row.
pub(super) fn path(asked: &DiskRequest, row: &DiskRow) -> String {
    if let Some(priority) = &row.priority {
        return priority.clone();
    }
    match &row.path {
        Some(path) if asked.reverse_file_name => reversed(path),
        Some(path) => path.clone(),
        None if row.flushes.is_none_or(|flushes| flushes > 0) => {
            "(flushes and files without a name)".into()
        }
        None => "(files without a name)".into(),
    }
}

/// Returns the processes that shared the files of a row; only their number if there are many.
fn set_of(row: &DiskRow) -> String {
    // A heading has no room for more names.
    const NAMED: usize = 5;
    match row.process.as_deref() {
        None => "(processes that are not known)".to_owned(),
        Some(names) => match names.split(';').count() {
            many if many > NAMED => format!("Many processes ({many})"),
            _ => names.replace(';', "; "),
        },
    }
}

pub(super) fn sums(line: Line, total: &DiskTotal) -> Line {
    line.value(Seconds(3), total.total_service_ns)
        .words(" s, read ")
        .value(Seconds(3), total.read_service_ns)
        .words(" s ")
        .value(Megabytes, total.read_bytes)
        .words(" MB, write ")
        .value(Seconds(3), total.write_service_ns)
        .words(" s ")
        .value(Megabytes, total.write_bytes)
        .words(" MB, flush ")
        .value(Seconds(3), total.flush_service_ns)
        .words(" s")
}
