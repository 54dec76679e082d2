//! `etwkit dump user-lock`.

use clap::Args;
use etwkit_query::dump::user_lock::{UserLockEvent, UserLockRequest, UserLockRow, UserLockSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::stack_lines::{text_frames, with_below};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, UserLockSort)] = &[
    ("wait", UserLockSort::Wait),
    ("max-wait", UserLockSort::MaxWait),
    ("hold", UserLockSort::Hold),
    ("max-hold", UserLockSort::MaxHold),
    ("count", UserLockSort::Count),
    ("time", UserLockSort::Time),
];

#[derive(Debug, Args)]
pub(crate) struct UserLockArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What a row is
    #[arg(long, value_name = "WHAT", value_parser = ["process", "thread"], default_value = "process")]
    by: String,
    /// Only this mode
    #[arg(long, value_name = "MODE", value_parser = ["exclusive", "shared"])]
    mode: Option<String>,
    /// Only acquisitions that waited so long (ms)
    #[arg(long, value_name = "A..B")]
    wait: Option<String>,
    /// Only acquisitions after which the thread had the lock so long (ms)
    #[arg(long, value_name = "A..B")]
    hold: Option<String>,
    /// Only acquisitions in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Only acquisitions whose stack has such a frame: module!method, or its method alone (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "FRAMES")]
    stack_filter: Option<String>,
    /// Single acquisitions
    #[arg(long, conflicts_with = "by")]
    details: bool,
    /// With --details: stacks
    #[arg(long, requires = "details")]
    show_stack: bool,
    /// Order; of single acquisitions wait, hold or time
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "wait")]
    sort_by: UserLockSort,
    /// Sums behind the rows: total, or none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"], default_value = "total")]
    show_total: String,
}

impl UserLockArgs {
    fn request(&self) -> anyhow::Result<UserLockRequest> {
        Ok(UserLockRequest {
            processes: self.processes.query(),
            mode: self.mode.clone(),
            wait: range("wait", self.wait.as_deref(), Unit::Milliseconds)?,
            hold: range("hold", self.hold.as_deref(), Unit::Milliseconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            stack: self.stack_filter.clone(),
            by_thread: self.by == "thread",
            sort: self.sort_by,
            top: self.top.top(),
            stacks: self.show_stack,
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, UserLockRow>> {
        let mut columns = Columns::new();
        columns.number("Wait", "Wait ms", true, |row: &UserLockRow| text.fine_ms(row.wait_ns));
        columns.number("MaxWait", "Longest ms", true, |row| text.maybe_fine_ms(row.max_wait_ns));
        columns.number("Hold", "Hold ms", true, |row| text.fine_ms(row.hold_ns));
        columns.number("MaxHold", "Longest ms", true, |row| text.maybe_fine_ms(row.max_hold_ns));
        columns.number("Count", "Count", true, |row| text.int(row.acquisitions));
        columns.number("Exclusive", "Exclusive", false, |row| text.int(row.exclusive));
        columns.number("Shared", "Shared", true, |row| text.int(row.shared));
        columns.number("Slow", "Slow", true, |row| text.int(row.slow));
        columns.number("NotReleased", "Not released", false, |row| text.int(row.acquisitions - row.released));
        columns.number("OnlyReleased", "Only released", false, |row| text.int(row.only_released));
        columns.number("Tid", "Tid", self.by == "thread", |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn event_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, UserLockEvent>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &UserLockEvent| {
            row.acquire_ns.or(row.release_ns).map(|ns| text.times.write(ns)).unwrap_or_default()
        });
        columns.word("Mode", "Mode", true, |row| row.mode.clone().unwrap_or_else(|| "(release)".into()));
        columns.number("Wait", "Wait ms", true, |row| text.maybe_fine_ms(row.wait_ns));
        columns.number("Hold", "Hold ms", true, |row| text.maybe_fine_ms(row.hold_ns));
        columns.number("ToldHold", "Hold as told ms", false, |row| text.maybe_fine_ms(row.told_hold_ns));
        columns.word("Slow", "Slow", true, |row| if row.is_slow { "slow" } else { "" }.to_owned());
        columns.number("Tid", "Tid", true, |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn sums(
    args: &UserLockArgs,
    one: &Answered<Vec<UserLockRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
    if args.show_total == "none" {
        return Ok(());
    }
    let sum = |of: fn(&UserLockRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total: {} acquisitions, {} of them slow, wait {} ms, hold {} ms",
        text.int(sum(|row| row.acquisitions)),
        text.int(sum(|row| row.slow)),
        text.fine_ms(sum(|row| row.wait_ns)),
        text.fine_ms(sum(|row| row.hold_ns)),
    ))
}

fn events(
    args: &UserLockArgs,
    one: &Answered<Vec<UserLockEvent>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.event_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |event, lines| text_frames(event.stack.as_deref(), lines))
}

pub(super) fn run(args: &UserLockArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump user-lock";
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        return show_sql(printer, &if args.details { request.events_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            common,
            COMMAND,
            printer,
            |session| request.ask_events(session),
            |one, lines| events(args, one, lines),
        );
    }
    listed(common, COMMAND, printer, |session| request.ask(session), |one, lines| sums(args, one, lines))
}
