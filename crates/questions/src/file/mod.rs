//! Operations on files by folder or file. Durations of simultaneous operations add up.

use etwkit_question::declare;
pub mod single;
mod sql;
mod view;

use self::single::OPERATIONS as OPERATIONS_VIEW;
use self::view::FILE_IO;
use etwkit_question::group::{Grouped, Grouping};
use etwkit_question::group::{Top, TopProcesses};
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Among, Answer, Example, Form, Question, Shows, group, option};
use etwkit_question::{Recorded, Result, ask};
use etwkit_sql::Session;

const PATHS: Among = Among::Texts("file", "files", "SELECT path AS text FROM file_file");

declare! {
    /// Orders of file I/O.
    pub orders FileSort {
        "total-size" => TotalSize: "total_bytes" = "Bytes requested by reads and writes.",
        "count" => Count: "total_count" = "Operations.",
        "read-size" => ReadSize: "read_bytes" = "Bytes requested by reads.",
        "write-size" => WriteSize: "write_bytes" = "Bytes requested by writes.",
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

/// Options that single operations do not have: those of sums.
const SUMS_ONLY: &[&str] = &[
    "dir-level",
    "per-process",
    "details",
    "show-total",
    "show-module",
    "read-size",
    "write-size",
    "total-size",
    "read-time",
    "write-time",
    "total-time",
    "total-count",
];

declare! {
    /// Options of `dump file`.
    #[derive(Eq)]
    pub request FileRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first; of each process with `per_process`
        top: Top = group(),
        /// Folders below the drive that distinguish rows: 0 drives, 1 first folders, 100 whole
        /// paths
        level: u32 = option("N").called("dir-level").shape(),
        /// Rows for each process
        per_process: bool = option("").called("per-process").shape(),
        /// Number of processes, largest first
        top_processes: TopProcesses = group(),
        /// Only these files, by whole path (*, ?, several with ;, ! excludes)
        file: Option<String> = option("PATHS").of(PATHS),
        /// Only this kind of operation
        operation: Option<&'static str> = option("KIND").among(OPERATIONS).or_all(),
        /// Also show operations on files without a name
        all_files: bool = option("").called("all-files"),
        /// Order
        sort: FileSort = option("ORDER").called("sort-by").shape(),
        /// Only rows whose reads requested so many bytes
        read_size: Range = option("A..B").called("read-size").unit(Unit::Bytes),
        /// Only rows whose writes requested so many bytes
        write_size: Range = option("A..B").called("write-size").unit(Unit::Bytes),
        /// Only rows whose reads and writes requested so many bytes
        total_size: Range = option("A..B").called("total-size").unit(Unit::Bytes),
        /// Only rows with this duration of reads (s)
        read_time: Range = option("A..B").called("read-time").unit(Unit::Seconds),
        /// Only rows with this duration of writes (s)
        write_time: Range = option("A..B").called("write-time").unit(Unit::Seconds),
        /// Only rows with this duration of reads and writes (s)
        total_time: Range = option("A..B").called("total-time").unit(Unit::Seconds),
        /// Only rows with so many operations
        total_count: Range = option("A..B").called("total-count").unit(Unit::Count),
        /// With --per-process: show path, version and company of executables; =TEXT only where one
        /// of these matches (*, ?, several with ;, ! excludes)
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
        /// List single operations by time; with --sort-by total-time the longest first
        single: bool = option("").excludes(SUMS_ONLY).shape(),
        /// With --single: only operations that returned this: numbers (0, 0xc0000034), names
        /// (ACCESS_DENIED, NO_*) or failed (several with ;, ! excludes)
        status: Option<String> = option("STATUS").requires("single"),
        /// With --single: show the stack of each operation
        stacks: bool = option("").called("show-stack").requires("single").output(),
    }

    /// Operations on a folder or file.
    pub row FileRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        path: Option<String> = "Drive, folder or file; missing without a name.",
        reads: i64 = "Reads.",
        read_bytes: i64 = "Bytes requested by reads.",
        read_ns: i64 = "Duration of reads.",
        read_max_position_bytes: i64 = "Largest position after a read.",
        writes: i64 = "Writes.",
        write_bytes: i64 = "Bytes requested by writes.",
        write_ns: i64 = "Duration of writes.",
        write_max_position_bytes: i64 = "Largest position after a write.",
        opens: i64 = "Times that files were opened or created.",
        open_ns: i64 = "Duration of opening.",
        closes: i64 = "Times that files were closed.",
        cleanups: i64 = "Times that a last handle was closed.",
        close_ns: i64 = "Duration of closes and cleanups.",
        set_infos: i64 = "Times that attributes or other information was set.",
        set_securities: i64 = "Times that a security descriptor was set.",
        deletes: i64 = "Files deleted.",
        renames: i64 = "Files renamed.",
        others: i64 = "Other operations: queries, listings, flushes, control codes.",
        other_ns: i64 = "Duration of other operations.",
        failures: i64 = "Operations whose status is an error.",
        failure_statuses: String = "Statuses of failed operations.",
        total_count: i64 = "All operations.",
        total_bytes: i64 = "Bytes requested by reads and writes.",
        total_ns: i64 = "Duration of opening, closing, reading and writing.",
        files: i64 = "Files with a name.",
        processes: i64 = "Processes.",
        ..process_details,
        module_path: Option<String> = "Path of the executable, if requested.",
        file_version: Option<String> = "File version of the executable.",
        product_name: Option<String> = "Product of the executable.",
        company: Option<String> = "Company of the executable.",
        product_version: Option<String> = "Product version of the executable, if requested.",
        description: Option<String> = "Description of the executable, if requested.",
        sort_value: f64 = "What the rows are sorted by.",
    }
    /// Sums of file operations.
    pub row FileTotal {
        reads: i64 = "Reads.",
        read_bytes: i64 = "Bytes requested by reads.",
        read_ns: i64 = "Duration of reads.",
        writes: i64 = "Writes.",
        write_bytes: i64 = "Bytes requested by writes.",
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
/// Returns sums over rows.
#[must_use]
pub fn total<'r>(rows: impl IntoIterator<Item = &'r FileRow>, sort: FileSort) -> FileTotal {
    let is_position = matches!(
        sort,
        FileSort::Length | FileSort::MaxReadPos | FileSort::MaxWritePos
    );
    rows.into_iter()
        .fold(FileTotal::default(), |sum, row| FileTotal {
            reads: sum.reads.saturating_add(row.reads),
            read_bytes: sum.read_bytes.saturating_add(row.read_bytes),
            read_ns: sum.read_ns.saturating_add(row.read_ns),
            writes: sum.writes.saturating_add(row.writes),
            write_bytes: sum.write_bytes.saturating_add(row.write_bytes),
            write_ns: sum.write_ns.saturating_add(row.write_ns),
            opens: sum.opens.saturating_add(row.opens),
            closes: sum.closes.saturating_add(row.closes),
            open_close_ns: sum
                .open_close_ns
                .saturating_add(row.open_ns)
                .saturating_add(row.close_ns),
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
impl Question for FileRequest {
    const NAME: &'static str = "file";
    const SENTENCE: &'static str = "Operations on files by folder or file";
    const USUAL: &'static [&'static str] = &[
        "dir-level",
        "per-process",
        "file",
        "operation",
        "read-time",
        "write-time",
        "total-time",
        "total-count",
        "single",
        "status",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "folders by time of operations",
        },
        Example {
            words: "--process devenv --file \"*.dll\" --dir-level 100 slow.etl",
            answer: "the DLLs that Visual Studio opened",
        },
        Example {
            words: "--single --status failed slow.etl",
            answer: "operations that failed, one by one",
        },
    ];

    fn form(&self) -> Form<Self> {
        if self.single {
            return Form::rows(&OPERATIONS_VIEW, self.operations_sql())
                .needs(&FILE, true)
                .top(self.top);
        }
        Form::made::<FileRow>(self.sql(), |asked: &Self, session| {
            let groups: Vec<Vec<FileRow>> = asked
                .ask(session)?
                .groups
                .into_iter()
                .map(|group| group.rows)
                .collect();
            // The default shows sums if there is more than one row.
            let has_several = groups.iter().map(Vec::len).sum::<usize>() > 1;
            let shown = if has_several { "file" } else { "none" };
            let show_total = asked.show_total.clone().unwrap_or_else(|| shown.to_owned());
            let shows = if asked.has_rows() {
                Shows::Rows
            } else {
                Shows::Headings
            };
            let asked = Self {
                show_total: Some(show_total),
                ..asked.clone()
            };
            Ok(Answer::groups(&asked, &FILE_IO, groups).showing(shows))
        })
        .shows(&FILE_IO)
        .top(self.top)
    }
}

impl FileRequest {
    /// Returns `true` if each row is of one process.
    pub(super) fn is_by_process(&self) -> bool {
        self.per_process || self.show_total.as_deref() == Some("process")
    }

    /// Returns `true` if rows are printed, not only their sums.
    fn has_rows(&self) -> bool {
        !matches!(self.show_total.as_deref(), Some("total" | "process"))
    }

    /// Returns `true` unless `--show-total none` hides the sums.
    pub(super) fn has_sums(&self) -> bool {
        self.show_total.as_deref() != Some("none")
    }

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// There is no file I/O; a range needs single rows and there are only sums; the query fails.
    pub fn ask(&self, session: &Session) -> Result<FileAnswer> {
        FILE.check(session, !self.time.is_unlimited())?;
        let by = Grouping {
            per_process: self.is_by_process(),
            top: self.top,
            top_processes: self.top_processes.into(),
        };
        let rows = ask(session, &self.sql())?;
        let sums = |rows: &[FileRow]| total(rows, self.sort);
        Ok(by.answer(
            rows,
            |row: &FileRow| row.process_key,
            sums,
            |total| total.sort_value,
        ))
    }
}
const FILE: Recorded = Recorded {
    sums: "file_file",
    rows: "file_io",
    single: "operations on files",
    what: "file I/O",
    how: "record with the kernel keywords FILE_IO+FILE_IO_INIT+FILENAME, for example `wpr -start FileIO`",
};
