//! Disk I/O by folder or file. Times are service times: while a disk works on several operations,
//! their times do not overlap.

use etwkit_question::Count;
use etwkit_question::declare;
mod range;
mod sql;
mod view;

use self::view::{DISK_IO, total};
use etwkit_question::Format::Seconds;
use etwkit_question::group::{Grouped, Grouping};
use etwkit_question::group::{Top, TopProcesses};
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, ProcessQuery};
use etwkit_question::{Among, Answer, Example, Form, Line, Question, group, option};
use etwkit_question::{Recorded, Result, ask};
use etwkit_sql::Session;

const PATHS: Among = Among::Texts("file", "files", "SELECT path AS text FROM disk_file");

declare! {
    /// Orders of disk I/O.
    pub orders DiskSort {
        "total-size" => TotalSize: "total_bytes" = "Bytes read and written.",
        "total-time" => TotalTime: "total_service_ns" = "Service time of reads, writes and flushes.",
        "read-size" => ReadSize: "read_bytes" = "Bytes read.",
        "write-size" => WriteSize: "write_bytes" = "Bytes written.",
        "read-time" => ReadTime: "read_service_ns" = "Service time of reads.",
        "write-time" => WriteTime: "write_service_ns" = "Service time of writes.",
        "flush-time" => FlushTime: "flush_service_ns" = "Service time of flushes.",
        "count" => Count: "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(flushes, 0)" = "Operations.",
    }

    /// A kind of disk I/O.
    pub words DiskOperation {
        "read" => Read = "Reads.",
        "write" => Write = "Writes.",
        "flush" => Flush = "Flushes.",
    }

    /// Options of `dump disk`.
    #[derive(Eq)]
    pub request DiskRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first; of each process with `per_process`
        top: Top = group(),
        /// Folders below the drive that distinguish rows: 0 drives, 1 first folders, 100 whole
        /// paths
        level: u32 = option("N").called("dir-level").shape(),
        /// Group rows by path, or by the priority of operations
        by_priority: bool = option("WHAT").called("by").either("path", "priority").excludes(&["shared"]).shape(),
        /// Rows for each process
        per_process: bool = option("").called("per-process").shape(),
        /// Count the I/O of a file for each process that used it. Filters on processes choose the
        /// files that they used, and --per-process makes rows for each set of processes [default:
        /// each operation belongs to the process that issued it]
        shared: bool = option("").shape(),
        /// Number of processes, largest first
        top_processes: TopProcesses = group(),
        /// Only these files, by whole path (*, ?, several with ;, ! excludes)
        file: Option<String> = option("PATHS").of(PATHS),
        /// Only rows with these operations
        operation: Option<DiskOperation> = option("KIND").or_all(),
        /// Order
        sort: DiskSort = option("ORDER").called("sort-by").shape(),
        /// Only rows with so many bytes read
        read_size: Range = option("A..B").called("read-size").unit(Unit::Bytes),
        /// Only rows with so many bytes written
        write_size: Range = option("A..B").called("write-size").unit(Unit::Bytes),
        /// Only rows with so many bytes read and written
        total_size: Range = option("A..B").called("total-size").unit(Unit::Bytes),
        /// Only rows with this service time of reads (s)
        read_time: Range = option("A..B").called("read-time").unit(Unit::Seconds),
        /// Only rows with this service time of writes (s)
        write_time: Range = option("A..B").called("write-time").unit(Unit::Seconds),
        /// Only rows with this service time of all operations (s)
        total_time: Range = option("A..B").called("total-time").unit(Unit::Seconds),
        /// Only this part of the trace (s); times are clipped to it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Write paths from the file to the drive: a.txt\folder\C:
        reverse_file_name: bool = option("").called("reverse-file-name").output(),
        /// Show sums of sizes and times, operations, queue times
        details: bool = option("").output(),
    }

    /// Disk I/O of a folder or file.
    pub row DiskRow: process {
        process_key: Option<i64> =
            "Process, with rows for each process; missing if it is not known, and with sets of processes.",
        pid: Option<i64> = "Process id.",
        process: Option<String> = "Name of the process; for sets the names as in `process_names`.",
        path: Option<String> = "Drive, folder or file; missing for flushes and for files without a name.",
        priority: Option<String> = "Priority of the operations, with rows for each.",
        reads: Option<i64> = "Reads; missing where only their sums are known.",
        read_bytes: i64 = "Bytes read.",
        read_service_ns: i64 = "Service time of reads.",
        read_io_ns: i64 = "Time of reads, queue included.",
        writes: Option<i64> = "Writes; missing where only their sums are known.",
        write_bytes: i64 = "Bytes written.",
        write_service_ns: i64 = "Service time of writes.",
        write_io_ns: i64 = "Time of writes, queue included.",
        flushes: Option<i64> = "Flushes; missing where only their sums are known.",
        flush_service_ns: i64 = "Service time of flushes.",
        max_io_ns: i64 = "Longest operation, queue included.",
        total_bytes: i64 = "Bytes read and written.",
        total_service_ns: i64 = "Service time of all operations.",
        active_percent: f64 = "Share of the time that a disk worked on them, in percent.",
        files: i64 = "Files with a name.",
        processes: i64 = "Processes.",
        process_names: Option<String> = "Names and ids of these processes, with ; between.",
        disks: Option<String> = "Numbers of the disks, with ; between.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
    /// Sums of disk I/O.
    pub row DiskTotal {
        reads: i64 = "Reads.",
        read_bytes: i64 = "Bytes read.",
        read_service_ns: i64 = "Service time of reads.",
        writes: i64 = "Writes.",
        write_bytes: i64 = "Bytes written.",
        write_service_ns: i64 = "Service time of writes.",
        flushes: i64 = "Flushes.",
        flush_service_ns: i64 = "Service time of flushes.",
        total_service_ns: i64 = "Service time of all operations.",
        shared_service_ns: i64 =
            "Service time that is in no row, since it is of files that several processes shared.",
        sort_value: f64 = "What groups are sorted by.",
    }
}

impl Question for DiskRequest {
    const NAME: &'static str = "disk";
    const SENTENCE: &'static str = "Disk I/O by folder or file";
    const USUAL: &'static [&'static str] = &[
        "dir-level",
        "per-process",
        "file",
        "operation",
        "read-time",
        "write-time",
        "total-time",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "folders by time of the disk",
        },
        Example {
            words: "--dir-level 3 --process msbuild slow.etl",
            answer: "folders down to the third level",
        },
        Example {
            words: "--by priority slow.etl",
            answer: "what waited with low priority",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<DiskRow>(self.sql(), |asked: &Self, session| {
            let DiskAnswer { groups, total } = asked.ask(session)?;
            let shared = (total.shared_service_ns > 0).then(|| {
                let line = Line::default().value(Seconds(3), total.shared_service_ns);
                line.words(
                    " s more are of files that several processes shared: --shared counts them for each",
                )
            });
            let groups = groups.into_iter().map(|group| group.rows).collect();
            Ok(Answer::groups(asked, &DISK_IO, groups).with_foot(shared))
        })
        .shows(&DISK_IO)
        .top(self.top)
    }
}

/// Disk I/O; one group with all rows unless they are by process.
pub type DiskAnswer = Grouped<DiskRow, DiskTotal>;

impl DiskRequest {
    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// There is no disk I/O; a range needs single rows and there are only sums; the query fails.
    pub fn ask(&self, session: &Session) -> Result<DiskAnswer> {
        DISK.check(session, self.needs_rows())?;
        let by = Grouping {
            per_process: self.per_process,
            top: self.top,
            top_processes: self.top_processes.into(),
        };
        let mut rows: Vec<DiskRow> = ask(session, &self.sql())?;
        // The engine puts one list of a group in order, not two.
        for row in &mut rows {
            row.process_names = row.process_names.take().map(|names| sorted(&names));
            row.disks = row.disks.take().map(|disks| sorted(&disks));
        }
        let process = |row: &DiskRow| (row.process_key, row.process.clone());
        let mut answer = by.answer(rows, process, |rows| total(rows), |total| total.sort_value);
        // Stored sums of a file that several processes used belong to none of them: without this
        // number the rows would seem to be all that the disks did.
        answer.total.shared_service_ns = self.in_no_row(session)?;
        Ok(answer)
    }

    /// Returns the service time of files that several processes shared, which is in no row if rows
    /// are of single processes.
    fn in_no_row(&self, session: &Session) -> Result<i64> {
        let is_by_process = self.per_process || !self.processes.conditions().is_empty();
        if self.shared || !is_by_process || self.needs_rows() {
            return Ok(0);
        }
        let conditions =
            Conditions::of("process_keys IS NOT NULL").text("path", self.file.as_deref());
        let sql = format!(
            "SELECT coalesce(sum(read_service_ns + write_service_ns + flush_service_ns), 0) AS rows
FROM disk_file{conditions}"
        );
        let sums: Vec<Count> = ask(session, &sql)?;
        Ok(sums.first().map_or(0, |sum| sum.rows))
    }
}

/// Sorts a list with `;` between its items.
fn sorted(list: &str) -> String {
    let mut parts: Vec<&str> = list.split(';').collect();
    parts.sort_unstable();
    parts.join(";")
}

const DISK: Recorded = Recorded {
    sums: "disk_file",
    rows: "disk_io",
    single: "operations of disks",
    what: "disk I/O",
    how: "record with the kernel keywords DISK_IO+DISK_IO_INIT+FILENAME, for example `wpr -start DiskIO`",
};
