//! Wait chains: text has sentences, JSON and CSV the rows.

use etwkit_question::Format::{FineMilliseconds, Moment, Whole};
use etwkit_question::{Answer, Line, Ranked, Shows, View};
use etwkit_sql::Session;
use serde::Serialize;

use super::WaitRequest;
use crate::Result;
use crate::chain::{Chain, ChainRow, MAX_LINKS, middle};
use crate::stacks::{StackText, Stacks};

#[derive(Serialize)]
struct Link {
    #[serde(flatten)]
    row: ChainRow,
    #[serde(flatten)]
    stacks: Stacks,
}

const LINKS: View<WaitRequest, Link> =
    View::new(&[], |it: &Link| it.row.wait_ns.map_or(0.0, |ns| ns as f64)).ranking(|_| Ranked::No);

pub(super) fn answer(question: &WaitRequest, session: &Session) -> Result<Answer> {
    let chains = question.chains(session)?;
    let text = StackText::new(session)?;
    let page = Page {
        stacks: &text,
        all: question.stacks,
    };
    // Rows are ascending as in all answers; sentences have the longest chain first.
    let lines: Vec<Line> = chains
        .iter()
        .rev()
        .flat_map(|chain| page.chain(chain))
        .collect();
    let link = |row: &ChainRow| Link {
        row: row.clone(),
        stacks: Stacks::of(
            &text,
            question.stacks,
            (row.stack_id, row.readying_stack_id),
        ),
    };
    let rows = chains.iter().flat_map(Chain::rows).map(link).collect();
    Ok(Answer::rows(question, &LINKS, rows)
        .with_head(lines)
        .showing(Shows::Sums))
}

/// Puts chains into sentences.
struct Page<'a> {
    stacks: &'a StackText,
    all: bool,
}

impl Page<'_> {
    fn chain(&self, chain: &Chain) -> Vec<Line> {
        let mut lines = Vec::new();
        let middle = middle(chain.links.len());
        let shown = middle
            .as_ref()
            .map_or(chain.links.len(), |middle| middle.start);
        for (level, link) in chain.links.iter().take(shown).enumerate() {
            let indent = "  ".repeat(level);
            lines.push(waited(Line::new(&*indent), link));
            lines.extend(others(chain, link, &indent));
            lines.extend(self.stack(&indent, "waited in", link.stack_id));
            if let Some(by) = link.readying("") {
                lines.push(Line::new(format!("{indent}    ended by  {by}")));
                lines.extend(self.stack(&indent, "      in  ", link.readying_stack_id));
                lines.extend(meanwhile(Line::new(format!("{indent}          ")), link));
            }
        }
        let indent = "  ".repeat(shown);
        if let Some(middle) = middle {
            lines.push(Line::new(format!(
                "{indent}… {} more waits (--json and --csv have them) …",
                middle.len()
            )));
        }
        lines.push(root(Line::new(format!("{indent}root: ")), &chain.root));
        lines.extend(others(chain, &chain.root, &indent));
        lines.push(Line::default());
        lines
    }

    /// Returns the frames of a stack: the few meaningful ones in one line, or all, one per line.
    fn stack(&self, indent: &str, what: &str, stack_id: Option<i64>) -> Vec<Line> {
        let frames = stack_id.map_or_else(Vec::new, |id| self.stacks.shown(id, self.all));
        if frames.is_empty() {
            return Vec::new();
        }
        if !self.all {
            return vec![Line::new(format!(
                "{indent}    {what} {}",
                frames.join(" < ")
            ))];
        }
        let first = std::iter::once(what).chain(std::iter::repeat("         "));
        frames
            .iter()
            .zip(first)
            .map(|(frame, what)| Line::new(format!("{indent}    {what} {frame}")))
            .collect()
    }
}

/// Returns the waits of the same thread that explain less.
fn others(chain: &Chain, row: &ChainRow, indent: &str) -> Vec<Line> {
    let line = |other: &ChainRow| {
        let by = other
            .readying("")
            .map_or_else(String::new, |by| format!(", ended by {by}"));
        waited(Line::new(format!("{indent}    also: ")), other).words(by)
    };
    chain.others_of(row.link).map(line).collect()
}

/// Formats `a.exe(1) thread 2 waited 3 ms from … (reason), then ready 4 ms`.
fn waited(line: Line, link: &ChainRow) -> Line {
    let line = line
        .words(link.who(""))
        .words(" waited ")
        .value(FineMilliseconds, link.wait_ns)
        .words(" ms from ")
        .value(Moment, link.start_ns)
        .words(format!(
            " ({})",
            link.wait_reason.as_deref().unwrap_or("unknown reason")
        ));
    match link.ready_ns {
        Some(ns) => line
            .words(", then ready ")
            .value(FineMilliseconds, ns)
            .words(" ms"),
        None => line,
    }
}

/// Adds the activity of the readying thread during the wait.
fn meanwhile(line: Line, link: &ChainRow) -> Option<Line> {
    let run = link.readying_run_ns?;
    let ready = link.readying_ready_ns?;
    let waited = link.readying_wait_ns?;
    let line = line
        .words("during the wait it ran ")
        .value(FineMilliseconds, run);
    let line = line
        .words(" ms, was ready ")
        .value(FineMilliseconds, ready)
        .words(" ms, waited ");
    Some(line.value(FineMilliseconds, waited).words(" ms"))
}

fn root(line: Line, root: &ChainRow) -> Line {
    let object = root.object.as_deref();
    let operation = root.operation.as_deref();
    match root.kind.as_str() {
        "disk_io" => {
            let line = line.words(format!("disk {} of ", operation.unwrap_or("I/O")));
            let line = match root.size_bytes {
                Some(bytes) => line.value(Whole, bytes).words(" bytes"),
                None => line.words("an unknown number of bytes"),
            };
            let length = root
                .start_ns
                .zip(root.readied_ns)
                .map(|(from, to)| to.saturating_sub(from));
            let line = match length {
                Some(ns) => line.words(", ").value(FineMilliseconds, ns).words(" ms"),
                None => line,
            };
            line.words(format!(": {}", object.unwrap_or("(no file name)")))
        }
        "timer" => line.words(format!("a timer{}", in_dpc(operation, object))),
        "io_completion" => line.words(format!(
            "completion of an I/O request{}",
            in_dpc(operation, object)
        )),
        "dpc" => line.words(format!("a DPC or interrupt{}", in_dpc(operation, object))),
        "thread_ran" => thread_ran(line, root),
        "open" => line.words("still waiting when the trace ended"),
        "not_recorded" => line.words("not recorded"),
        "cycle" => line.words("a wait that the chain already has: the extract is damaged"),
        "too_deep" => line.words(format!(
            "more than {MAX_LINKS} waits: the rest is not shown"
        )),
        other => line.words(other.replace('_', " ")),
    }
}

fn thread_ran(line: Line, root: &ChainRow) -> Line {
    let line = line.words(root.who(""));
    match root.wait_ns.filter(|ns| *ns > 0) {
        Some(wait) => line
            .words(" ran ")
            .value(FineMilliseconds, root.run_ns)
            .words(" ms, was ready ")
            .value(FineMilliseconds, root.ready_ns)
            .words(" ms and waited ")
            .value(FineMilliseconds, wait)
            .words(" ms"),
        None => line
            .words(" did not wait: it ran ")
            .value(FineMilliseconds, root.run_ns)
            .words(" ms and was ready ")
            .value(FineMilliseconds, root.ready_ns)
            .words(" ms"),
    }
}

fn in_dpc(kind: Option<&str>, routine: Option<&str>) -> String {
    match (kind, routine) {
        (Some(kind), Some(routine)) => format!(" ({kind} {routine})"),
        _ => String::new(),
    }
}
