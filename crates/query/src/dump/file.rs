//! Operations on files by folder or file. Durations of operations that go on at the same time add up.

use super::group::{Grouped, Grouping};
use super::path::{WHOLE_PATH, reversed};
use super::sql::ProcessQuery;
use super::{Recorded, Result, Top, TopProcesses, ask};
use crate::Session;
use crate::nt_status::error_name;
use crate::question::Format::{Kilobytes, Process, ProcessLine, Seconds, Throughput, Whole, Word};
use crate::question::{Among, Answer, Column, Form, Line, Question, Shows, Value, View, group, option};
use crate::range::{Range, Unit};

const PATHS: Among = Among::Texts("file", "files", "SELECT path AS text FROM file_file");

declare! {
    /// Orders of file I/O.
    pub orders FileSort {
        "total-size" => TotalSize: "total_bytes" = "Bytes read and written.",
        "count" => Count: "total_count" = "Operations.",
        "read-size" => ReadSize: "read_bytes" = "Bytes read.",
        "write-size" => WriteSize: "write_bytes" = "Bytes written.",
        "read-time" => ReadTime: "read_ns" = "Duration of reads.",
        "write-time" => WriteTime: "write_ns" = "Duration of writes.",
        "total-time" => TotalTime: "total_ns" = "Duration of opening, closing, reading and writing.",
        "length" => Length: "greatest(read_max_position_bytes, write_max_position_bytes)" =
            "Largest position read or written.",
        "max-read-pos" => MaxReadPos: "read_max_position_bytes" = "Largest position read.",
        "max-write-pos" => MaxWritePos: "write_max_position_bytes" = "Largest position written.",
        "open-close-time" => OpenCloseTime: "open_ns + close_ns" = "Duration of opening and closing.",
    }
}

/// Kinds of operations.
const OPERATIONS: &[&str] = &[
    "read",
    "write",
    "open",
    "close",
    "cleanup",
    "set-info",
    "set-security",
    "query-info",
    "delete",
    "rename",
    "flush",
    "dir-enum",
    "dir-notify",
    "fs-control",
];

declare! {
    /// Which operations, put together how, in which order.
    #[derive(Eq)]
    pub request FileRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many of the largest rows, of each process with `per_process`
        top: Top = group(),
        /// Folders below the drive that tell rows apart: 0 drives, 1 first folders, 100 whole paths
        level: u32 = option("N").called("dir-level").shape(),
        /// Rows for each process
        per_process: bool = option("").called("per-process").shape(),
        /// How many of the largest processes
        top_processes: TopProcesses = group(),
        /// Only these files, by whole path (*, ?, several with ;, ! excludes)
        file: Option<String> = option("PATHS").of(PATHS),
        /// Only this kind of operation
        operation: Option<&'static str> = option("KIND").among(OPERATIONS).or_all(),
        /// Show operations on files without a name, too
        all_files: bool = option("").called("all-files"),
        /// Order
        sort: FileSort = option("ORDER").called("sort-by").shape(),
        /// Only rows with so many bytes read
        read_size: Range = option("A..B").called("read-size").unit(Unit::Bytes),
        /// Only rows with so many bytes written
        write_size: Range = option("A..B").called("write-size").unit(Unit::Bytes),
        /// Only rows with so many bytes read and written
        total_size: Range = option("A..B").called("total-size").unit(Unit::Bytes),
        /// Only rows with such duration of reads (s)
        read_time: Range = option("A..B").called("read-time").unit(Unit::Seconds),
        /// Only rows with such duration of writes (s)
        write_time: Range = option("A..B").called("write-time").unit(Unit::Seconds),
        /// Only rows with such duration of reads and writes (s)
        total_time: Range = option("A..B").called("total-time").unit(Unit::Seconds),
        /// Only rows with so many operations
        total_count: Range = option("A..B").called("total-count").unit(Unit::Count),
        /// With --per-process: show path, version and company of executables; =TEXT only where one of these
        /// fits (*, ?, several with ;, ! excludes)
        modules: Option<String> = option("TEXT").called("show-module").alone(""),
        /// Only this part of the trace (s); durations are clipped to it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Sums: total, only of the file; process, only of processes; file, both and rows; none
        show_total: Option<String> =
            option("WHAT").called("show-total").among(&["none", "total", "process", "file"]).shape(),
        /// Write paths from the file to the drive: a.txt\folder\C:
        reverse_file_name: bool = option("").called("reverse-file-name").output(),
        /// Show throughput, largest positions, other operations and errors
        details: bool = option("").output(),
    }

    /// Operations on a folder or file.
    pub row FileRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        path: Option<String> = "Drive, folder or file; missing without a name.",
        reads: i64 = "Reads.",
        read_bytes: i64 = "Bytes asked for by reads.",
        read_ns: i64 = "Duration of reads.",
        read_max_position_bytes: i64 = "Largest position behind a read.",
        writes: i64 = "Writes.",
        write_bytes: i64 = "Bytes asked for by writes.",
        write_ns: i64 = "Duration of writes.",
        write_max_position_bytes: i64 = "Largest position behind a write.",
        opens: i64 = "Times that files were opened or created.",
        open_ns: i64 = "Duration of opening.",
        closes: i64 = "Times that files were closed.",
        cleanups: i64 = "Times that a last handle was closed.",
        close_ns: i64 = "Duration of both.",
        set_infos: i64 = "Times that attributes or other information was set.",
        set_securities: i64 = "Times that a security descriptor was set.",
        deletes: i64 = "Files deleted.",
        renames: i64 = "Files renamed.",
        others: i64 = "Other operations: queries, listings, flushes, control codes.",
        other_ns: i64 = "Their duration.",
        failures: i64 = "Operations whose status is an error.",
        failure_statuses: String = "Statuses of failed operations.",
        total_count: i64 = "All operations.",
        total_bytes: i64 = "Bytes read and written.",
        total_ns: i64 = "Duration of opening, closing, reading and writing.",
        files: i64 = "Files with a name.",
        processes: i64 = "Processes.",
        ..process_details,
        module_path: Option<String> = "Path of its executable, if that is asked for.",
        file_version: Option<String> = "Its file version.",
        product_name: Option<String> = "Its product.",
        company: Option<String> = "Its company.",
        product_version: Option<String> = "Product version of the executable, if that is asked for.",
        description: Option<String> = "Description of the executable, if that is asked for.",
        sort_value: f64 = "What the rows are sorted by.",
    }
    /// Sums of file operations.
    pub row FileTotal {
        reads: i64 = "Reads.",
        read_bytes: i64 = "Bytes read.",
        read_ns: i64 = "Duration of reads.",
        writes: i64 = "Writes.",
        write_bytes: i64 = "Bytes written.",
        write_ns: i64 = "Duration of writes.",
        opens: i64 = "Opens.",
        closes: i64 = "Closes.",
        open_close_ns: i64 = "Duration of opening and closing.",
        total_count: i64 = "All operations.",
        total_ns: i64 = "Duration of opening, closing, reading and writing.",
        files: i64 = "Files, counted in each row.",
        sort_value: f64 = "What groups are sorted by; for positions the largest one, otherwise the sum.",
    }
}
/// Sums over rows.
#[must_use]
pub fn total<'r>(rows: impl IntoIterator<Item = &'r FileRow>, sort: FileSort) -> FileTotal {
    let is_position = matches!(sort, FileSort::Length | FileSort::MaxReadPos | FileSort::MaxWritePos);
    rows.into_iter().fold(FileTotal::default(), |sum, row| FileTotal {
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
        // Positions of several files do not add up to anything.
        sort_value: if is_position {
            sum.sort_value.max(row.sort_value)
        } else {
            sum.sort_value + row.sort_value
        },
    })
}

/// File I/O; one group with all rows unless they are by process.
pub type FileAnswer = Grouped<FileRow, FileTotal>;
/// Whether all columns are shown.
const fn details(asked: &FileRequest) -> bool {
    asked.details
}

type Sum = Column<FileRequest, FileRow>;

const FILE_IO: View<FileRequest, FileRow> = View::new(
    &[
        Sum::new("ReadSize", "Read kB", Kilobytes, |_, row| row.read_bytes.into()).cost(),
        Sum::new("ReadMaxPos", "Read up to kB", Kilobytes, |_, row| row.read_max_position_bytes.into())
            .worst()
            .shown_if(details),
        Sum::new("ReadDuration", "Read s", Seconds(5), |_, row| row.read_ns.into()).cost(),
        Sum::new("ReadThroughput", "Read MB/s", Throughput, |_, row| {
            Value::Rate(row.read_bytes, row.read_ns)
        })
        .shown_if(details),
        Sum::new("ReadCount", "Reads", Whole, |_, row| row.reads.into()).cost(),
        Sum::new("WriteSize", "Write kB", Kilobytes, |_, row| row.write_bytes.into()).cost(),
        Sum::new("WriteMaxPos", "Write up to kB", Kilobytes, |_, row| row.write_max_position_bytes.into())
            .worst()
            .shown_if(details),
        Sum::new("WriteDuration", "Write s", Seconds(5), |_, row| row.write_ns.into()).cost(),
        Sum::new("WriteThroughput", "Write MB/s", Throughput, |_, row| {
            Value::Rate(row.write_bytes, row.write_ns)
        })
        .shown_if(details),
        Sum::new("WriteCount", "Writes", Whole, |_, row| row.writes.into()).cost(),
        Sum::new("OpenCloseDuration", "Open+close s", Seconds(5), |_, row| {
            row.open_ns.saturating_add(row.close_ns).into()
        })
        .cost(),
        Sum::new("OpenCount", "Opens", Whole, |_, row| row.opens.into()).cost(),
        Sum::new("CloseCount", "Closes", Whole, |_, row| row.closes.into()).cost(),
        Sum::new("SetInfoCount", "Set", Whole, |_, row| row.set_infos.into()).cost().shown_if(details),
        Sum::new("SetSecurityCount", "Security", Whole, |_, row| row.set_securities.into())
            .cost()
            .shown_if(details),
        Sum::new("DeleteCount", "Deletes", Whole, |_, row| row.deletes.into()).cost().shown_if(details),
        Sum::new("RenameCount", "Renames", Whole, |_, row| row.renames.into()).cost().shown_if(details),
        Sum::new("OtherCount", "Other", Whole, |_, row| row.others.into()).cost().shown_if(details),
        Sum::new("OtherDuration", "Other s", Seconds(5), |_, row| row.other_ns.into())
            .cost()
            .shown_if(details),
        Sum::new("Failures", "Failures", Whole, |_, row| row.failures.into()).cost().shown_if(details),
        Sum::new("Status", "Status", Word, |_, row| names(&row.failure_statuses).into()).shown_if(details),
        Sum::new("TotalDuration", "Total s", Seconds(5), |_, row| row.total_ns.into())
            .cost()
            .shown_if(|asked| asked.sort == FileSort::TotalTime),
        Sum::new("TotalCount", "Count", Whole, |_, row| row.total_count.into())
            .cost()
            .shown_if(|asked| asked.sort == FileSort::Count),
        Sum::new("Process", "Process", Process, |_, row| row.into())
            .shown_when_merged(|asked| asked.per_process),
        Sum::new("FileDir", "File", Word, |asked, row| path(asked, row).into()).titled(|asked| {
            let folder = "Folder (files with --dir-level 100)";
            if asked.level >= WHOLE_PATH { "File" } else { folder }.to_owned()
        }),
    ],
    |row| row.sort_value,
)
.alarming_if(|row| row.failures > 0)
.with_headings(|asked, rows| {
    let process = Line::new("  ").value(ProcessLine, rows.first().filter(|_| asked.is_by_process())?);
    Some(if asked.has_sums() {
        sums(process.words("  ["), &total(rows, asked.sort)).words("]")
    } else {
        process
    })
})
.with_subheadings(|asked, rows| {
    let is_shown = asked.is_by_process() && asked.modules.is_some();
    let module = |row: &FileRow| {
        let parts = [&row.module_path, &row.file_version, &row.product_name, &row.company];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        Line::new(format!("    {}", parts.join(", ")))
    };
    rows.first().filter(|_| is_shown).map(module).into_iter().collect()
})
.with_total(|asked, rows, is_merged| {
    if !is_merged && !asked.has_sums() {
        return Vec::new();
    }
    let total = total(rows.iter().copied(), asked.sort);
    let line = sums(Line::new("Total "), &total);
    vec![if is_merged { line } else { line.words(", ").whole(total.files).words(" files") }]
});

/// The drive, folder or file of a row.
fn path(asked: &FileRequest, row: &FileRow) -> String {
    match &row.path {
        Some(path) if asked.reverse_file_name => reversed(path),
        Some(path) => path.clone(),
        None => "(files without a name)".into(),
    }
}

/// `0xc0000034,0xc0000022` as names, numbers where there is none.
fn names(statuses: &str) -> String {
    let name = |status| {
        let code = u32::from_str_radix(str::trim_start_matches(status, "0x"), 16).ok();
        code.and_then(|code| error_name(code.cast_signed())).unwrap_or(status)
    };
    let mut names: Vec<&str> = statuses.split(',').filter(|status| !status.is_empty()).map(name).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

fn sums(line: Line, total: &FileTotal) -> Line {
    line.value(Seconds(3), total.total_ns)
        .words(" s, read ")
        .value(Kilobytes, total.read_bytes)
        .words(" kB, write ")
        .value(Kilobytes, total.write_bytes)
        .words(" kB, open+close ")
        .value(Seconds(3), total.open_close_ns)
        .words(" s, ")
        .whole(total.total_count)
        .words(" operations")
}

impl Question for FileRequest {
    const NAME: &'static str = "file";
    const SENTENCE: &'static str = "Operations on files by folder or file";

    fn form(&self) -> Form<Self> {
        Form::made::<FileRow>(self.sql(), |asked: &Self, session| {
            let groups: Vec<Vec<FileRow>> =
                asked.ask(session)?.groups.into_iter().map(|group| group.rows).collect();
            // Without a word for it there are sums if there is more than one row.
            let has_several = groups.iter().map(Vec::len).sum::<usize>() > 1;
            let shown = if has_several { "file" } else { "none" };
            let show_total = asked.show_total.clone().unwrap_or_else(|| shown.to_owned());
            let shows = if asked.has_rows() { Shows::Rows } else { Shows::Headings };
            let asked = Self { show_total: Some(show_total), ..asked.clone() };
            Ok(Answer::groups(&asked, &FILE_IO, groups).showing(shows))
        })
        .shows(&FILE_IO)
        .top(self.top)
    }
}

impl FileRequest {
    /// Whether rows are of one process each.
    pub(super) fn is_by_process(&self) -> bool {
        self.per_process || self.show_total.as_deref() == Some("process")
    }

    /// Whether rows are printed, not only their sums.
    fn has_rows(&self) -> bool {
        !matches!(self.show_total.as_deref(), Some("total" | "process"))
    }

    /// Whether sums are printed, where a word says it.
    fn has_sums(&self) -> bool {
        self.show_total.as_deref() != Some("none")
    }

    /// Asks.
    ///
    /// # Errors
    /// There is no file I/O; a range is asked of sums; the query fails.
    pub fn ask(&self, session: &Session) -> Result<FileAnswer> {
        FILE.check(session, !self.time.is_unlimited())?;
        let by = Grouping {
            per_process: self.is_by_process(),
            top: self.top,
            top_processes: self.top_processes.into(),
        };
        let rows = ask(session, &self.sql())?;
        let sums = |rows: &[FileRow]| total(rows, self.sort);
        Ok(by.answer(rows, |row: &FileRow| row.process_key, sums, |total| total.sort_value))
    }
}
const FILE: Recorded = Recorded {
    sums: "file_file",
    rows: "file_io",
    single: "operations on files",
    what: "file I/O",
    how: "record with the kernel keywords FILE_IO+FILE_IO_INIT+FILENAME, for example `wpr -start FileIO`",
};

#[cfg(test)]
mod tests {
    #[test]
    fn known_statuses_have_names() {
        assert_eq!(
            super::names("0xc0000034,0xc0000022,0xc0000034,0xcfffffff"),
            "0xcfffffff ACCESS_DENIED OBJECT_NAME_NOT_FOUND"
        );
        assert_eq!(super::names(""), "");
    }
}
