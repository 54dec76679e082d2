//! `etwkit dump wait --chain`: waits with what ended them, down to the root.

use etwkit_analysis::StackText;
use etwkit_analysis::chain::{Chain, ChainRow};

use super::output::{Answered, Lines, ask, show_sql, written};
use super::text::Text;
use super::wait::{WithStacks, frames};
use super::wait_args::WaitArgs;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(args: &WaitArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let sets = args.sets()?;
    let request = args.chains(&sets)?;
    if args.common.show_sql {
        // The waits that chains begin with; their links are followed from row to row.
        return show_sql(printer, &request.sql());
    }
    let answers = ask(&args.common, "dump wait", printer, |session| {
        session.use_tags(sets.clone());
        Ok((request.ask(session)?, StackText::new(session)?))
    })?;
    let shown: Vec<_> = answers
        .iter()
        .flat_map(|one| {
            let (chains, stacks) = &one.answer;
            let rows = chains.iter().flat_map(Chain::rows);
            rows.map(move |row| {
                (&one.info, WithStacks::new(row, stacks, args.stacks, (row.stack_id, row.readying_stack_id)))
            })
        })
        .collect();
    written(&args.common, printer, shown.iter().map(|(info, row)| (*info, row)), |lines| {
        for Answered { info, answer: (chains, stacks) } in &answers {
            let text = Text::new(&args.common, Some(&args.processes), info);
            lines.file(info, &text, "")?;
            let page = Page { text, stacks, all: args.stacks };
            chains.iter().try_for_each(|chain| page.chain(chain, lines))?;
        }
        Ok(())
    })
}

/// Writes the chains of one extract.
struct Page<'a> {
    text: Text,
    stacks: &'a StackText,
    all: bool,
}

impl Page<'_> {
    fn chain(&self, chain: &Chain, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
        for (level, link) in chain.links.iter().enumerate() {
            let indent = "  ".repeat(level);
            lines.line(&format!("{indent}{}", self.link(link)))?;
            self.others(chain, link, &indent, lines)?;
            self.stack(lines, &indent, "waited in", link.stack_id)?;
            if let Some(by) = readying(link) {
                lines.line(&format!("{indent}    ended by  {by}"))?;
                self.stack(lines, &indent, "      in  ", link.readying_stack_id)?;
                if let Some(meanwhile) = self.meanwhile(link) {
                    lines.line(&format!("{indent}          {meanwhile}"))?;
                }
            }
        }
        let indent = "  ".repeat(chain.links.len());
        lines.line(&format!("{indent}{}", self.root(&chain.root)))?;
        self.others(chain, &chain.root, &indent, lines)?;
        lines.line("")
    }

    /// Waits of the same thread that explain less.
    fn others(
        &self,
        chain: &Chain,
        row: &ChainRow,
        indent: &str,
        lines: &mut Lines<'_, '_>,
    ) -> anyhow::Result<()> {
        chain.others_of(row.link).try_for_each(|other| {
            let by = readying(other).map(|by| format!(", ended by {by}")).unwrap_or_default();
            lines.line(&format!("{indent}    also: {}{by}", self.link(other)))
        })
    }

    fn link(&self, link: &ChainRow) -> String {
        let start = link.start_ns.map(|ns| self.text.times.write(ns)).unwrap_or_default();
        let ready = link.ready_ns.map(|ns| format!(", then ready {} ms", self.text.fine_ms(ns)));
        format!(
            "{} waited {} ms from {start} ({}){}",
            who(link),
            self.text.maybe_fine_ms(link.wait_ns),
            link.wait_reason.as_deref().unwrap_or("unknown reason"),
            ready.unwrap_or_default()
        )
    }

    /// What the readying thread did during the wait.
    fn meanwhile(&self, link: &ChainRow) -> Option<String> {
        let (run, ready) = (link.readying_run_ns?, link.readying_ready_ns.unwrap_or(0));
        let wait = link.readying_wait_ns.unwrap_or(0);
        let ms = |ns| self.text.fine_ms(ns);
        Some(format!("meanwhile it ran {} ms, was ready {} ms, waited {} ms", ms(run), ms(ready), ms(wait)))
    }

    /// The frames of a stack: some in one line, all below each other.
    fn stack(
        &self,
        lines: &mut Lines<'_, '_>,
        indent: &str,
        what: &str,
        stack_id: Option<i64>,
    ) -> anyhow::Result<()> {
        let frames = stack_id.map(|id| frames(self.stacks, self.all, id)).unwrap_or_default();
        if !self.all {
            return if frames.is_empty() {
                Ok(())
            } else {
                lines.line(&format!("{indent}    {what} {}", frames.join(" < ")))
            };
        }
        let first = std::iter::once(what).chain(std::iter::repeat("         "));
        frames
            .iter()
            .zip(first)
            .try_for_each(|(frame, what)| lines.line(&format!("{indent}    {what} {frame}")))
    }

    fn root(&self, root: &ChainRow) -> String {
        let length =
            root.start_ns.zip(root.readied_ns).map(|(from, to)| self.text.fine_ms(to.saturating_sub(from)));
        let length = length.map(|ms| format!(", {ms} ms")).unwrap_or_default();
        let object = root.object.as_deref();
        let operation = root.operation.as_deref();
        match root.kind {
            "disk_io" => {
                let size = self.text.int(root.size_bytes.unwrap_or(0));
                let file = object.unwrap_or("(no file name)");
                format!("root: disk {} of {size} bytes{length}: {file}", operation.unwrap_or("I/O"))
            }
            "timer" => format!("root: a timer{}", in_dpc(operation, object)),
            "io_completion" => format!("root: completion of an I/O request{}", in_dpc(operation, object)),
            "dpc" => format!("root: a DPC or interrupt{}", in_dpc(operation, object)),
            "thread_ran" => {
                let ms = |ns| self.text.maybe_fine_ms(ns);
                let (run, ready) = (ms(root.run_ns), ms(root.ready_ns));
                match root.wait_ns.filter(|ns| *ns > 0) {
                    Some(wait) => format!(
                        "root: {} ran {run} ms, was ready {ready} ms and waited only {} ms",
                        who(root),
                        self.text.fine_ms(wait)
                    ),
                    None => {
                        format!("root: {} did not wait: it ran {run} ms and was ready {ready} ms", who(root))
                    }
                }
            }
            "open" => "root: still waiting when the trace ended".into(),
            "not_recorded" => "root: not recorded".into(),
            other => format!("root: {}", other.replace('_', " ")),
        }
    }
}

fn in_dpc(kind: Option<&str>, routine: Option<&str>) -> String {
    match (kind, routine) {
        (Some(kind), Some(routine)) => format!(" ({kind} {routine})"),
        _ => String::new(),
    }
}

fn who(row: &ChainRow) -> String {
    let pid = row.pid.map(|pid| format!("({pid})")).unwrap_or_default();
    let tid = row.tid.map(|tid| format!(" thread {tid}")).unwrap_or_default();
    format!("{}{pid}{tid}", row.process.as_deref().unwrap_or("(unknown)"))
}

/// The thread that ended a wait; of a DPC only that it was one.
fn readying(link: &ChainRow) -> Option<String> {
    if link.is_readied_by_dpc {
        return Some("a DPC".into());
    }
    let tid = link.readying_tid?;
    let pid = link.readying_pid.map(|pid| format!("({pid})")).unwrap_or_default();
    Some(format!("{}{pid} thread {tid}", link.readying_process.as_deref().unwrap_or("(unknown)")))
}
