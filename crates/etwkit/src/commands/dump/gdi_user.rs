//! `etwkit dump gdi-user`.

use clap::Args;
use etwkit_query::dump::gdi_user::{GdiUserBy, GdiUserObjectRow, GdiUserRequest, GdiUserRow, GdiUserSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::stack_lines::{text_frames, with_below};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, GdiUserSort)] = &[
    ("outstanding", GdiUserSort::Outstanding),
    ("created", GdiUserSort::Created),
    ("destroyed", GdiUserSort::Destroyed),
    ("lifetime", GdiUserSort::Lifetime),
    ("time", GdiUserSort::Time),
];

const BY: &[(&str, GdiUserBy)] = &[
    ("process-type", GdiUserBy::ProcessType),
    ("process", GdiUserBy::Process),
    ("type", GdiUserBy::Type),
    ("stack", GdiUserBy::Stack),
];

#[derive(Debug, Args)]
pub(crate) struct GdiUserArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What a row is: objects of a type of a process, of a process, of a type, or those of a type of a process that one stack created
    #[arg(long, value_name = "WHAT", value_parser = word(BY), default_value = "process-type")]
    by: GdiUserBy,
    /// Only objects that were created in the trace and were there at its end, or rows with such objects
    #[arg(long)]
    leak: bool,
    /// Only objects of this class
    #[arg(long, value_name = "CLASS", value_parser = ["gdi", "user"])]
    class: Option<String>,
    /// Only objects of these types: Window, Menu, Bitmap, Font, ... (*, ?, several with ;, ! excludes)
    #[arg(long = "type", value_name = "NAMES")]
    type_name: Option<String>,
    /// Only objects with such a handle: 0x1050aaa (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "HANDLES")]
    handle: Option<String>,
    /// Only objects with such a lifetime (s); one that did not end, or whose creation is not told, has 9999 s
    #[arg(long, value_name = "A..B")]
    lifetime: Option<String>,
    /// Only objects that were created in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Only objects whose creation has such a frame in its stack (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "FRAMES")]
    create_stack: Option<String>,
    /// Only objects whose end has such a frame in its stack
    #[arg(long, value_name = "FRAMES")]
    destroy_stack: Option<String>,
    /// Single objects
    #[arg(long, conflicts_with = "by")]
    details: bool,
    /// With --details or --by stack: frames
    #[arg(long)]
    show_stack: bool,
    /// Order; of single objects time or lifetime
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "outstanding")]
    sort_by: GdiUserSort,
    /// Sums behind the rows: total, or none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"], default_value = "total")]
    show_total: String,
}

impl GdiUserArgs {
    fn request(&self) -> anyhow::Result<GdiUserRequest> {
        Ok(GdiUserRequest {
            processes: self.processes.query(),
            class: self.class.clone(),
            type_name: self.type_name.clone(),
            handle: self.handle.clone(),
            leaked: self.leak,
            lifetime: range("lifetime", self.lifetime.as_deref(), Unit::Seconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            create_stack: self.create_stack.clone(),
            destroy_stack: self.destroy_stack.clone(),
            by: self.by,
            stacks: self.show_stack,
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, GdiUserRow>> {
        let mut columns = Columns::new();
        columns.number("Outstanding", "Outstanding", true, |row: &GdiUserRow| text.int(row.outstanding));
        columns.number("Created", "Created", true, |row| text.int(row.created));
        columns.number("Destroyed", "Destroyed", true, |row| text.int(row.destroyed));
        columns.number("DestroyedPreexisting", "Destroyed, there before", true, |row| {
            text.int(row.destroyed_preexisting)
        });
        columns.number("MeanLifetime", "Mean lifetime s", true, |row| {
            let mean = row.lifetime_ns.checked_div(row.destroyed);
            text.maybe_s(mean, 6)
        });
        columns.number("MaxLifetime", "Longest s", false, |row| text.maybe_s(row.max_lifetime_ns, 6));
        columns.word("Class", "Class", self.by != GdiUserBy::Process, |row| {
            row.class.clone().unwrap_or_default()
        });
        columns.word("Type", "Type", self.by != GdiUserBy::Process, |row| {
            row.type_name.clone().unwrap_or_default()
        });
        columns.word("StackId", "Stack", self.by == GdiUserBy::Stack, |row| {
            row.stack_id.map_or_else(|| "(none)".into(), |id| id.to_string())
        });
        columns.word("Process", "Process", self.by != GdiUserBy::Type, |row| {
            if row.process_key.is_none() { "(none)".to_owned() } else { text.process_line(row.into()) }
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn object_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, GdiUserObjectRow>> {
        let time = |ns: Option<i64>| ns.map(|ns| text.times.write(ns)).unwrap_or_default();
        let mut columns = Columns::new();
        columns.number("Created", "Created", true, move |row: &GdiUserObjectRow| time(row.create_ns));
        columns.number("Destroyed", "Destroyed", true, move |row| time(row.destroy_ns));
        columns.number("Lifetime", "Lifetime s", true, |row| text.maybe_s(row.lifetime_ns, 6));
        columns.word("Outcome", "Outcome", true, |row| row.outcome.clone());
        columns.word("Class", "Class", true, |row| row.class.clone());
        columns.word("Type", "Type", true, |row| row.type_name.clone());
        columns.word("Handle", "Handle", true, |row| row.handle.clone());
        columns.number("OwnerChanges", "Owner changes", false, |row| text.int(row.owner_changes));
        columns.number("HandleChanges", "Handle changes", false, |row| text.int(row.handle_changes));
        columns.word("CreatedBy", "Created by", true, |row| {
            by(row.create_process.as_deref(), row.create_pid, row.create_tid)
        });
        columns.word("DestroyedBy", "Destroyed by", false, |row| {
            by(row.destroy_process.as_deref(), row.destroy_pid, row.destroy_tid)
        });
        columns.word("Process", "Process", true, |row| {
            if row.process_key.is_none() { "(none)".to_owned() } else { text.process(row.into()) }
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// A process with the thread that did something.
fn by(process: Option<&str>, pid: Option<i64>, tid: Option<i64>) -> String {
    let name = process.or(pid.map(|_| "?")).unwrap_or_default();
    let pid = pid.map(|pid| format!("({pid})")).unwrap_or_default();
    let tid = tid.map(|tid| format!(" {tid}")).unwrap_or_default();
    format!("{name}{pid}{tid}").trim_start().to_owned()
}

fn sums(
    args: &GdiUserArgs,
    one: &Answered<Vec<GdiUserRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |row, lines| text_frames(row.stack.as_deref(), lines))?;
    if args.show_total == "none" {
        return Ok(());
    }
    let sum = |of: fn(&GdiUserRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total: {} created, {} destroyed, {} outstanding; {} destroyed that were there before",
        text.int(sum(|row| row.created)),
        text.int(sum(|row| row.destroyed)),
        text.int(sum(|row| row.outstanding)),
        text.int(sum(|row| row.destroyed_preexisting)),
    ))
}

fn objects(
    args: &GdiUserArgs,
    one: &Answered<Vec<GdiUserObjectRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.object_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |object, lines| {
        text_frames(object.create_stack.as_deref(), lines)?;
        if object.destroy_stack.is_some() {
            lines.line("    destroyed by")?;
        }
        text_frames(object.destroy_stack.as_deref(), lines)
    })
}

pub(super) fn run(args: &GdiUserArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump gdi-user";
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        return show_sql(printer, &if args.details { request.objects_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            common,
            COMMAND,
            printer,
            |session| request.ask_objects(session),
            |one, lines| objects(args, one, lines),
        );
    }
    listed(common, COMMAND, printer, |session| request.ask(session), |one, lines| sums(args, one, lines))
}
