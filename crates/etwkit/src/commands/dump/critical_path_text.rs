//! A critical path as text.

use etwkit_analysis::StackText;
use etwkit_analysis::path::{CriticalPath, Node, PathAnswer, ProcessShare, Segment, Share, State};

use super::critical_path::{Found, PathArgs};
use super::output::{Answered, Columns, Lines};
use super::text::{Text, moment};
use crate::printer::Printer;

pub(super) fn print(
    args: &PathArgs,
    answers: &[Answered<Found>],
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let mut lines = Lines::new(&args.common, printer);
    for Answered { info, answer } in answers {
        let text = Text::new(&args.common, Some(&args.processes), info);
        lines.file(info, &text, "")?;
        match &answer.path {
            PathAnswer::Path(path) => Page { args, text, stacks: &answer.stacks, path }.print(&mut lines)?,
            _ => lines.line("no thread that fits ran in this part of the trace")?,
        }
    }
    Ok(())
}

struct Page<'a> {
    args: &'a PathArgs,
    text: Text,
    stacks: &'a StackText,
    path: &'a CriticalPath,
}

impl Page<'_> {
    fn print(&self, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
        self.heading(lines)?;
        if self.args.by_process {
            let table = self.processes()?.lines(self.path.processes.iter());
            return table.iter().try_for_each(|line| lines.line(line));
        }
        self.shares()?.lines(self.path.shares.iter()).iter().try_for_each(|line| lines.line(line))?;
        if self.args.sums {
            return Ok(());
        }
        lines.line("")?;
        let table = if self.args.tree {
            self.tree()?.lines(self.path.tree.iter())
        } else {
            self.segments()?.lines(self.path.segments.iter())
        };
        table.iter().try_for_each(|line| lines.line(line))
    }

    fn heading(&self, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
        let CriticalPath { thread, from_ns, to_ns, others, open_wait, .. } = self.path;
        lines.heading(&format!(
            "Critical path of {} from {} to {} s: {} ms",
            who(thread.process.as_deref(), thread.pid, Some(thread.tid)),
            moment(*from_ns, 6),
            moment(*to_ns, 6),
            self.text.fine_ms(to_ns.saturating_sub(*from_ns))
        ))?;
        if *others > 0 {
            lines.line(&format!("{others} other threads fit; --thread names one"))?;
        }
        if let Some((since, reason)) = open_wait.as_ref().filter(|(since, _)| since >= to_ns) {
            let reason = reason.as_deref().unwrap_or("unknown reason");
            lines.line(&format!(
                "Since {} s it waits ({reason}), and did when the trace ended",
                moment(*since, 6)
            ))?;
        }
        Ok(())
    }

    fn shares(&self) -> anyhow::Result<Columns<'_, Share>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time ms", true, |row: &Share| self.text.fine_ms(row.duration_ns));
        columns.number("Percent", "%", true, |row| self.text.fixed(row.percent, 1));
        columns.number("Segments", "Segments", true, |row| self.text.int(row.segments));
        columns.word("State", "State", true, |row| state(row.state, row.wait_reason.as_deref()));
        columns.word("EndedBy", "Ended by", true, |row| row.ended_by.unwrap_or_default().replace('_', " "));
        columns.word("Process", "Thread", true, |row| who(row.process.as_deref(), row.pid, row.tid));
        self.choose(columns, self.args.sums)
    }

    fn processes(&self) -> anyhow::Result<Columns<'_, ProcessShare>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time ms", true, |row: &ProcessShare| self.text.fine_ms(row.total_ns));
        columns.number("Percent", "%", true, |row| self.text.fixed(row.percent, 1));
        columns.number("Run", "Ran ms", true, |row| self.text.fine_ms(row.run_ns));
        columns.number("Ready", "Ready ms", true, |row| self.text.fine_ms(row.ready_ns));
        columns.number("Wait", "Waited ms", true, |row| self.text.fine_ms(row.wait_ns));
        columns.number("Disk", "for disk ms", true, |row| self.text.fine_ms(row.disk_ns));
        columns.number(
            "Unknown",
            "Unknown ms",
            self.path.processes.iter().any(|row| row.unknown_ns > 0),
            |row| self.text.fine_ms(row.unknown_ns),
        );
        columns.number("Threads", "Threads", true, |row| self.text.int(row.threads));
        columns.word("Process", "Process", true, |row| who(row.process.as_deref(), row.pid, None));
        self.choose(columns, true)
    }

    fn segments(&self) -> anyhow::Result<Columns<'_, Segment>> {
        let mut columns = Columns::new();
        columns.number("Start", "Start s", true, |row: &Segment| moment(row.start_ns, 6));
        columns.number("Time", "Time ms", true, |row| self.text.fine_ms(row.duration_ns));
        columns.number("Depth", "Depth", true, |row| row.depth.to_string());
        columns.word("State", "State", true, |row| state(row.state, row.wait_reason.as_deref()));
        columns.word("Process", "Thread", true, |row| who(row.process.as_deref(), row.pid, row.tid));
        columns.word("EndedBy", "Ended by", true, ended_by);
        columns.word("Stack", "Waited in", true, |row| {
            let waits = matches!(row.state, State::Waiting | State::Ready);
            self.frames(row.stack_id.filter(|_| waits))
        });
        self.choose(columns, true)
    }

    fn tree(&self) -> anyhow::Result<Columns<'_, Node>> {
        let mut columns = Columns::new();
        columns.number("Total", "Total ms", true, |row: &Node| self.text.fine_ms(row.total_ns));
        columns.number("Percent", "%", true, |row| self.text.fixed(row.total_percent, 1));
        columns.number("Run", "Ran ms", true, |row| self.text.fine_ms(row.run_ns));
        columns.number("Ready", "Ready ms", true, |row| self.text.fine_ms(row.ready_ns));
        columns.number("Wait", "Waited ms", true, |row| self.text.fine_ms(row.wait_ns));
        columns.number("Unknown", "Unknown ms", self.path.tree.iter().any(|row| row.unknown_ns > 0), |row| {
            self.text.fine_ms(row.unknown_ns)
        });
        columns.number("Waits", "Waits", true, |row| self.text.int(row.waits));
        columns.word("Process", "Thread", true, |row| {
            let indent = "  ".repeat(usize::try_from(row.depth).unwrap_or(0));
            let creator = if row.is_creator { ", its creator" } else { "" };
            format!("{indent}{}{creator}", who(row.process.as_deref(), row.pid, row.tid))
        });
        columns.word("Stack", "Waited for it in", true, |row| self.frames(row.stack_id));
        columns.word("ReadyingStack", "It ended the wait in", true, |row| self.frames(row.readying_stack_id));
        self.choose(columns, true)
    }

    /// Applies `--column` to the table that is asked for.
    fn choose<'c, R>(&self, mut columns: Columns<'c, R>, chosen: bool) -> anyhow::Result<Columns<'c, R>> {
        if chosen {
            columns.choose(self.args.common.column.as_deref())?;
        }
        Ok(columns)
    }

    fn frames(&self, stack_id: Option<i64>) -> String {
        stack_id.map(|id| self.stacks.shown(id, self.args.stacks).join(" < ")).unwrap_or_default()
    }
}

fn state(state: State, reason: Option<&str>) -> String {
    reason.map_or_else(|| state.name().to_owned(), |reason| format!("{} ({reason})", state.name()))
}

fn ended_by(row: &Segment) -> String {
    let kind = row.ended_by.unwrap_or_default().replace('_', " ");
    let parts = [Some(kind.as_str()), row.operation.as_deref(), row.object.as_deref()];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn who(process: Option<&str>, pid: Option<i64>, tid: Option<i64>) -> String {
    let pid = pid.map(|pid| format!("({pid})")).unwrap_or_default();
    let tid = tid.map(|tid| format!(" thread {tid}")).unwrap_or_default();
    format!("{}{pid}{tid}", process.unwrap_or("(unknown)"))
}
