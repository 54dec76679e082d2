//! `etwkit dump disk`.

use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::Top;
use etwkit_query::dump::disk::{DiskAnswer, DiskOperation, DiskRequest, DiskRow, DiskSort, DiskTotal, total};
use etwkit_query::dump::path::{WHOLE_PATH, reversed};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, Shown, ask, largest, rows_of, show_sql, streamed, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, DiskSort)] = &[
    ("total-size", DiskSort::TotalSize),
    ("total-time", DiskSort::TotalTime),
    ("read-size", DiskSort::ReadSize),
    ("write-size", DiskSort::WriteSize),
    ("read-time", DiskSort::ReadTime),
    ("write-time", DiskSort::WriteTime),
    ("flush-time", DiskSort::FlushTime),
    ("count", DiskSort::Count),
];

/// A kind, or all. Under a name of its own, since an `Option` would be an argument that may be missing.
type Operation = Option<DiskOperation>;

const OPERATIONS: &[(&str, Operation)] = &[
    ("all", None),
    ("read", Some(DiskOperation::Read)),
    ("write", Some(DiskOperation::Write)),
    ("flush", Some(DiskOperation::Flush)),
];

#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
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
    /// Count the I/O of a file for each process that used it: filters on processes choose such files, and
    /// --per-process makes rows for each set of processes. Without it each operation belongs to the process
    /// that issued it
    #[arg(long)]
    shared: bool,
    /// With --per-process: only the N largest processes
    #[arg(long, value_name = "N", requires = "per_process")]
    top_processes: Option<usize>,
    /// With --per-process: leave the N largest processes out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_processes: usize,
    /// Only these files, by whole path (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "PATHS")]
    file: Option<String>,
    /// Only rows with such operations
    #[arg(long, value_name = "KIND", value_parser = word(OPERATIONS), default_value = "all")]
    operation: Operation,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "total-size")]
    sort_by: DiskSort,
    /// Only rows with so many bytes read
    #[arg(long, value_name = "A..B")]
    read_size: Option<String>,
    /// Only rows with so many bytes written
    #[arg(long, value_name = "A..B")]
    write_size: Option<String>,
    /// Only rows with so many bytes read and written
    #[arg(long, value_name = "A..B")]
    total_size: Option<String>,
    /// Only rows with such service time of reads (s)
    #[arg(long, value_name = "A..B")]
    read_time: Option<String>,
    /// Only rows with such service time of writes (s)
    #[arg(long, value_name = "A..B")]
    write_time: Option<String>,
    /// Only rows with such service time of all operations (s)
    #[arg(long, value_name = "A..B")]
    total_time: Option<String>,
    /// Only this part of the trace (s); times are clipped to it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// One list over all extracts, which names the trace of each row
    #[arg(long)]
    merge: bool,
    /// Write paths from the file to the drive: a.txt\folder\C:
    #[arg(long)]
    reverse_file_name: bool,
    /// Show sums of sizes and times, operations, queue times
    #[arg(long)]
    details: bool,
}

impl DiskArgs {
    fn request(&self) -> anyhow::Result<DiskRequest> {
        Ok(DiskRequest {
            processes: self.processes.query(),
            file: self.file.clone(),
            level: self.dir_level,
            per_process: self.per_process,
            shared: self.shared,
            operation: self.operation,
            read_size: range("read-size", self.read_size.as_deref(), Unit::Bytes)?,
            write_size: range("write-size", self.write_size.as_deref(), Unit::Bytes)?,
            total_size: range("total-size", self.total_size.as_deref(), Unit::Bytes)?,
            read_time: range("read-time", self.read_time.as_deref(), Unit::Seconds)?,
            write_time: range("write-time", self.write_time.as_deref(), Unit::Seconds)?,
            total_time: range("total-time", self.total_time.as_deref(), Unit::Seconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            sort: self.sort_by,
            top: self.top.top(),
            top_processes: Top { count: self.top_processes, skip: self.skip_processes },
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, Shown<'a, DiskRow>>> {
        let time = |ns: i64| text.s(ns, 5);
        let mut columns = Columns::new();
        columns.number("ReadTime", "Read s", true, move |row: &Shown<'a, DiskRow>| time(row.read_service_ns));
        columns.number("ReadSize", "Read MB", true, |row| text.mb(row.read_bytes));
        columns.number("ReadThroughput", "Read MB/s", true, |row| {
            text.throughput(row.read_bytes, row.read_service_ns)
        });
        columns.number("ReadCount", "Reads", self.details, |row| text.maybe_int(row.reads));
        columns.number("WriteTime", "Write s", true, move |row| time(row.write_service_ns));
        columns.number("WriteSize", "Write MB", true, |row| text.mb(row.write_bytes));
        columns.number("WriteThroughput", "Write MB/s", true, |row| {
            text.throughput(row.write_bytes, row.write_service_ns)
        });
        columns.number("WriteCount", "Writes", self.details, |row| text.maybe_int(row.writes));
        columns.number("FlushTime", "Flush s", true, move |row| time(row.flush_service_ns));
        columns.number("FlushCount", "Flushes", self.details, |row| text.maybe_int(row.flushes));
        columns.number("PercentActive", "Active %", true, |row| text.fixed(row.active_percent, 1));
        columns.number("TotalSize", "Total MB", self.details, |row| text.mb(row.total_bytes));
        columns.number("TotalTime", "Total s", self.details, move |row| time(row.total_service_ns));
        columns.number("MaxTime", "Longest s", self.details, move |row| time(row.max_io_ns));
        columns.word("File", "Trace", self.merge, |row| row.file.to_owned());
        columns
            .word("Process", "Process", self.merge && self.per_process, |row| text.process(row.row.into()));
        let title = if self.dir_level >= WHOLE_PATH { "File" } else { "Folder (files with --dir-level 100)" };
        columns.word("FileDir", title, true, |row| match &row.path {
            Some(path) if self.reverse_file_name => reversed(path),
            Some(path) => path.clone(),
            None if row.flushes.is_none_or(|flushes| flushes > 0) => {
                "(flushes and files without a name)".into()
            }
            None => "(files without a name)".into(),
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn sums(text: &Text, total: &DiskTotal) -> String {
    format!(
        "{} s, read {} s {} MB, write {} s {} MB, flush {} s",
        text.s(total.total_service_ns, 3),
        text.s(total.read_service_ns, 3),
        text.mb(total.read_bytes),
        text.s(total.write_service_ns, 3),
        text.mb(total.write_bytes),
        text.s(total.flush_service_ns, 3),
    )
}

fn print(args: &DiskArgs, one: &Answered<DiskAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let groups = &one.answer.groups;
    let shown: Vec<Shown<'_, DiskRow>> = one.shown().collect();
    let printed = args.columns(&text)?.lines(shown.iter());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for group in groups {
        if args.per_process
            && let Some(row) = group.rows.first()
        {
            let of = if args.shared { set_of(row) } else { text.process_line(row.into()) };
            lines.line(&format!("  {of}  [{}]", sums(&text, &group.total)))?;
        }
        printed.by_ref().take(group.rows.len()).try_for_each(|line| lines.line(line))?;
    }
    let files: i64 = one.rows().map(|row| row.files).sum();
    lines.line(&format!("Total {}, {} files", sums(&text, &one.answer.total), text.int(files)))?;
    let shared_ns = one.answer.total.shared_service_ns;
    if shared_ns > 0 {
        lines.line(&format!(
            "{} s more are of files that several processes shared: --shared counts them for each",
            text.s(shared_ns, 3)
        ))?;
    }
    Ok(())
}

/// The processes that shared the files of a row; many of them only by their number.
fn set_of(row: &DiskRow) -> String {
    const NAMED: usize = 5;
    match row.process.as_deref() {
        None => "(processes that are not known)".to_owned(),
        Some(names) => match names.split(';').count() {
            many if many > NAMED => format!("Many processes ({many})"),
            _ => names.replace(';', "; "),
        },
    }
}

/// One list over all extracts.
fn merged(
    args: &DiskArgs,
    answers: &[Answered<DiskAnswer>],
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let Some(first) = answers.first() else { return Ok(()) };
    let text = Text::new(&args.common, Some(&args.processes), &first.info);
    let shown = largest(answers, args.top.top(), |row| row.sort_value);
    args.columns(&text)?.lines(shown.iter()).iter().try_for_each(|line| lines.line(line))?;
    let rows: Vec<DiskRow> = shown.iter().map(|shown| shown.row.clone()).collect();
    lines.line(&format!("Total {}", sums(&text, &total(&rows))))
}

const COMMAND: &str = "dump disk";

pub(super) fn run(args: &DiskArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
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
