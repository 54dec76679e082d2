//! `etwkit dump file`.

use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::Top;
use etwkit_query::dump::file::{FileAnswer, FileRequest, FileRow, FileSort, FileTotal, total};
use etwkit_query::dump::path::{WHOLE_PATH, reversed};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::method::module;
use super::output::{Answered, Columns, Lines, Shown, ask, largest, rows_of, show_sql, streamed, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, FileSort)] = &[
    ("total-size", FileSort::TotalSize),
    ("count", FileSort::Count),
    ("read-size", FileSort::ReadSize),
    ("write-size", FileSort::WriteSize),
    ("read-time", FileSort::ReadTime),
    ("write-time", FileSort::WriteTime),
    ("total-time", FileSort::TotalTime),
    ("length", FileSort::Length),
    ("max-read-pos", FileSort::MaxReadPos),
    ("max-write-pos", FileSort::MaxWritePos),
    ("open-close-time", FileSort::OpenCloseTime),
];

/// A kind, or all. Under a name of its own, since an `Option` would be an argument that may be missing.
type Operation = Option<&'static str>;

/// Names of operations and their kinds in the table.
const OPERATIONS: &[(&str, Operation)] = &[
    ("all", None),
    ("read", Some("read")),
    ("write", Some("write")),
    ("open", Some("create")),
    ("close", Some("close")),
    ("cleanup", Some("cleanup")),
    ("set-info", Some("set_info")),
    ("set-security", Some("set_security")),
    ("query-info", Some("query_info")),
    ("delete", Some("delete")),
    ("rename", Some("rename")),
    ("flush", Some("flush")),
    ("dir-enum", Some("dir_enum")),
    ("dir-notify", Some("dir_notify")),
    ("fs-control", Some("fs_control")),
];

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Folders below the drive that tell rows apart: 0 drives, 1 first folders, 100 whole paths
    #[arg(long, value_name = "N", default_value_t = 0)]
    dir_level: u32,
    /// Rows for each process
    #[arg(long)]
    per_process: bool,
    /// With --per-process: only the N largest processes
    #[arg(long, value_name = "N", requires = "per_process")]
    top_processes: Option<usize>,
    /// With --per-process: leave the N largest processes out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_processes: usize,
    /// Only these files, by whole path (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "PATHS")]
    file: Option<String>,
    /// Only this kind of operation
    #[arg(long, value_name = "KIND", value_parser = word(OPERATIONS), default_value = "all")]
    operation: Operation,
    /// Show operations on files without a name, too
    #[arg(long)]
    all_files: bool,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "total-size")]
    sort_by: FileSort,
    /// Only rows with so many bytes read
    #[arg(long, value_name = "A..B")]
    read_size: Option<String>,
    /// Only rows with so many bytes written
    #[arg(long, value_name = "A..B")]
    write_size: Option<String>,
    /// Only rows with so many bytes read and written
    #[arg(long, value_name = "A..B")]
    total_size: Option<String>,
    /// Only rows with such duration of reads (s)
    #[arg(long, value_name = "A..B")]
    read_time: Option<String>,
    /// Only rows with such duration of writes (s)
    #[arg(long, value_name = "A..B")]
    write_time: Option<String>,
    /// Only rows with such duration of reads and writes (s)
    #[arg(long, value_name = "A..B")]
    total_time: Option<String>,
    /// Only rows with so many operations
    #[arg(long, value_name = "A..B")]
    total_count: Option<String>,
    /// With --per-process: show path, version and company of executables; =TEXT only where one of these fits (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    show_module: Option<String>,
    /// Only this part of the trace (s); durations are clipped to it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Sums: total, only of the file; process, only of processes; file, both and rows; none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total", "process", "file"])]
    show_total: Option<String>,
    /// One list over all extracts, which names the trace of each row
    #[arg(long)]
    merge: bool,
    /// Write paths from the file to the drive: a.txt\folder\C:
    #[arg(long)]
    reverse_file_name: bool,
    /// Show throughput, largest positions, other operations and errors
    #[arg(long)]
    details: bool,
}

impl FileArgs {
    fn request(&self) -> anyhow::Result<FileRequest> {
        Ok(FileRequest {
            processes: self.processes.query(),
            with_modules: self.show_module.is_some(),
            modules: self.show_module.clone().filter(|text| !text.is_empty()),
            file: self.file.clone(),
            level: self.dir_level,
            per_process: self.per_process || self.show_total.as_deref() == Some("process"),
            operation: self.operation,
            all_files: self.all_files,
            read_size: range("read-size", self.read_size.as_deref(), Unit::Bytes)?,
            write_size: range("write-size", self.write_size.as_deref(), Unit::Bytes)?,
            total_size: range("total-size", self.total_size.as_deref(), Unit::Bytes)?,
            read_time: range("read-time", self.read_time.as_deref(), Unit::Seconds)?,
            write_time: range("write-time", self.write_time.as_deref(), Unit::Seconds)?,
            total_time: range("total-time", self.total_time.as_deref(), Unit::Seconds)?,
            total_count: range("total-count", self.total_count.as_deref(), Unit::Count)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            sort: self.sort_by,
            top: self.top.top(),
            top_processes: Top { count: self.top_processes, skip: self.skip_processes },
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, Shown<'a, FileRow>>> {
        let time = |ns: i64| text.s(ns, 5);
        let (more, kb) = (self.details, text.kb_name());
        let mut columns = Columns::new();
        columns.number("ReadSize", &format!("Read {kb}"), true, |row: &Shown<'a, FileRow>| {
            text.kb(row.read_bytes)
        });
        columns.number("ReadMaxPos", &format!("Read up to {kb}"), more, |row| {
            text.kb(row.read_max_position_bytes)
        });
        columns.number("ReadDuration", "Read s", true, move |row| time(row.read_ns));
        columns
            .number("ReadThroughput", "Read MB/s", more, |row| text.throughput(row.read_bytes, row.read_ns));
        columns.number("ReadCount", "Reads", true, |row| text.int(row.reads));
        columns.number("WriteSize", &format!("Write {kb}"), true, |row| text.kb(row.write_bytes));
        columns.number("WriteMaxPos", &format!("Write up to {kb}"), more, |row| {
            text.kb(row.write_max_position_bytes)
        });
        columns.number("WriteDuration", "Write s", true, move |row| time(row.write_ns));
        columns.number("WriteThroughput", "Write MB/s", more, |row| {
            text.throughput(row.write_bytes, row.write_ns)
        });
        columns.number("WriteCount", "Writes", true, |row| text.int(row.writes));
        columns
            .number("OpenCloseDuration", "Open+close s", true, move |row| time(row.open_ns + row.close_ns));
        columns.number("OpenCount", "Opens", true, |row| text.int(row.opens));
        columns.number("CloseCount", "Closes", true, |row| text.int(row.closes));
        columns.number("SetInfoCount", "Set", more, |row| text.int(row.set_infos));
        columns.number("SetSecurityCount", "Security", more, |row| text.int(row.set_securities));
        columns.number("DeleteCount", "Deletes", more, |row| text.int(row.deletes));
        columns.number("RenameCount", "Renames", more, |row| text.int(row.renames));
        columns.number("OtherCount", "Other", more, |row| text.int(row.others));
        columns.number("OtherDuration", "Other s", more, move |row| time(row.other_ns));
        columns.number("Failures", "Failures", more, |row| text.int(row.failures));
        columns.word("Status", "Status", more, |row| super::status::names(&row.failure_statuses));
        columns.number("TotalDuration", "Total s", self.sort_by == FileSort::TotalTime, move |row| {
            time(row.total_ns)
        });
        columns
            .number("TotalCount", "Count", self.sort_by == FileSort::Count, |row| text.int(row.total_count));
        columns.word("File", "Trace", self.merge, |row| row.file.to_owned());
        columns
            .word("Process", "Process", self.merge && self.per_process, |row| text.process(row.row.into()));
        let title = if self.dir_level >= WHOLE_PATH { "File" } else { "Folder (files with --dir-level 100)" };
        columns.word("FileDir", title, true, |row| match &row.path {
            Some(path) if self.reverse_file_name => reversed(path),
            Some(path) => path.clone(),
            None => "(files without a name)".into(),
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    /// Whether sums are shown: without a word for it, if there is more than one row.
    fn shows_sums(&self, rows: usize) -> bool {
        self.show_total.as_deref().map_or(rows > 1, |what| what != "none")
    }
}

fn sums(text: &Text, total: &FileTotal) -> String {
    let kb = text.kb_name();
    format!(
        "{} s, read {} {kb}, write {} {kb}, open+close {} s, {} operations",
        text.s(total.total_ns, 3),
        text.kb(total.read_bytes),
        text.kb(total.write_bytes),
        text.s(total.open_close_ns, 3),
        text.int(total.total_count),
    )
}

fn print(args: &FileArgs, one: &Answered<FileAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let groups = &one.answer.groups;
    let shown: Vec<Shown<'_, FileRow>> = one.shown().collect();
    let printed = args.columns(&text)?.lines(shown.iter());
    let rows = printed.len().saturating_sub(1);
    let shows_rows = !matches!(args.show_total.as_deref(), Some("total" | "process"));
    let mut printed = printed.iter();
    printed.next().filter(|_| shows_rows).map_or(Ok(()), |titles| lines.line(titles))?;
    for group in groups {
        if let Some(row) =
            group.rows.first().filter(|_| args.per_process || args.show_total.as_deref() == Some("process"))
        {
            let sums = if args.shows_sums(rows) {
                format!("  [{}]", sums(&text, &group.total))
            } else {
                String::new()
            };
            lines.line(&format!("  {}{sums}", text.process_line(row.into())))?;
            if args.show_module.is_some() {
                let of = module([&row.module_path, &row.file_version, &row.product_name, &row.company]);
                lines.line(&format!("    {of}"))?;
            }
        }
        for line in printed.by_ref().take(group.rows.len()) {
            if shows_rows {
                lines.line(line)?;
            }
        }
    }
    if args.shows_sums(rows) {
        let total = &one.answer.total;
        lines.line(&format!("Total {}, {} files", sums(&text, total), text.int(total.files)))?;
    }
    Ok(())
}

/// One list over all extracts.
fn merged(
    args: &FileArgs,
    answers: &[Answered<FileAnswer>],
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let Some(first) = answers.first() else { return Ok(()) };
    let text = Text::new(&args.common, Some(&args.processes), &first.info);
    let shown = largest(answers, args.top.top(), |row| row.sort_value);
    args.columns(&text)?.lines(shown.iter()).iter().try_for_each(|line| lines.line(line))?;
    let rows: Vec<FileRow> = shown.iter().map(|shown| shown.row.clone()).collect();
    lines.line(&format!("Total {}", sums(&text, &total(&rows, args.sort_by))))
}

const COMMAND: &str = "dump file";

pub(super) fn run(args: &FileArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let (common, question) = (&args.common, |session: &Session| request.ask(session));
    if args.merge {
        let answers = ask(common, COMMAND, printer, question)?;
        let rows = rows_of(&answers, |answer| answer.groups.iter().flat_map(|group| &group.rows));
        return written(common, printer, rows, |lines| merged(args, &answers, lines));
    }
    streamed(
        common,
        COMMAND,
        printer,
        question,
        |answer| answer.groups.iter().flat_map(|group| &group.rows).collect(),
        |one, lines| print(args, one, lines),
    )
}
