//! `etwkit dump cpu --stacks`: call trees.

use clap::Args;
use etwkit_query::dump::call_tree::Fold;
use etwkit_query::dump::stack_tree::{Metric, Shape, StackTreeRequest, TreeBy, TreeGroup, TreeRow};
use etwkit_query::range::Unit;

use super::args::{range, word};
use super::cpu::name_source;
use super::cpu_args::{By, CpuArgs};
use super::output::{Columns, Lines, show_sql, streamed};
use super::text::{ProcessText, Text, cpu_word};
use crate::exit::Exit;
use crate::printer::Printer;

const METRICS: &[(&str, Metric)] = &[("cpu", Metric::Cpu), ("wait", Metric::Wait), ("ready", Metric::Ready)];

/// Heading of the options of call trees.
const CALL_TREES: &str = "Call trees";

#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    /// Show a call tree of each process, from the outermost frames to what they call
    #[arg(long, help_heading = CALL_TREES)]
    stacks: bool,
    /// Show trees from the innermost frames to their callers
    #[arg(long, help_heading = CALL_TREES, conflicts_with = "butterfly")]
    bottom_up: bool,
    /// Show callers and callees of these methods, with or without module (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "METHODS", help_heading = CALL_TREES)]
    butterfly: Option<String>,
    /// What the trees are made of: sampled CPU, waits or times ready, which are summed over threads
    #[arg(long, value_name = "WHAT", value_parser = word(METRICS), default_value = "cpu", help_heading = CALL_TREES)]
    metric: Metric,
    /// Fold nodes with a smaller share of their tree, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, help_heading = CALL_TREES)]
    min_percent: f64,
    /// Fold what is deeper than N levels
    #[arg(long, value_name = "N", help_heading = CALL_TREES)]
    max_depth: Option<usize>,
    /// Fold all but the N heaviest children of a node
    #[arg(long, value_name = "N", help_heading = CALL_TREES)]
    top_children: Option<usize>,
}

impl StackArgs {
    /// Whether call trees are asked for.
    pub(super) const fn is_asked(&self) -> bool {
        self.stacks || self.bottom_up || self.butterfly.is_some()
    }
}

fn request(args: &CpuArgs) -> anyhow::Result<StackTreeRequest> {
    let stacks = &args.stacks;
    let shape = match &stacks.butterfly {
        Some(methods) => Shape::Butterfly(methods.clone()),
        None if stacks.bottom_up => Shape::BottomUp,
        None => Shape::TopDown,
    };
    let by = match args.by {
        _ if args.merge => TreeBy::All,
        By::Process => TreeBy::Process,
        By::Thread => TreeBy::Thread,
        By::Method | By::Module => anyhow::bail!("--by: call trees are by process or by thread"),
    };
    Ok(StackTreeRequest {
        processes: args.processes.query(),
        metric: stacks.metric,
        shape,
        by,
        time: range("range", args.range.as_deref(), Unit::Seconds)?,
        fold: Fold {
            min_percent: stacks.min_percent,
            levels: stacks.max_depth,
            children: stacks.top_children,
        },
        top: args.top.top(),
    })
}

pub(super) fn run(args: &CpuArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = request(args)?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    streamed(
        &args.common,
        "dump cpu",
        printer,
        |session| request.ask(session),
        |trees| trees.iter().flat_map(|tree| &tree.rows).collect(),
        |one, lines| {
            let text = Text::new(&args.common, Some(&args.processes), &one.info);
            lines.file(&one.info, &text, "")?;
            if args.stacks.metric == Metric::Cpu {
                let more = "; here that of the stays that began with the stack";
                name_source(one.answer.first().map(|tree| tree.source), more, lines)?;
            }
            print(args, &text, &one.answer, lines)
        },
    )
}

/// A node with what stands in front of its name.
struct Shown<'a> {
    row: &'a TreeRow,
    branch: String,
}

fn print(args: &CpuArgs, text: &Text, trees: &[TreeGroup], lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let shown: Vec<Shown<'_>> = trees.iter().flat_map(|tree| branches(&tree.rows)).collect();
    // One table, so that columns of all trees have one width.
    let printed = columns(args, text)?.lines(shown.iter());
    let mut printed = printed.iter();
    if let Some(titles) = printed.next() {
        lines.line(titles)?;
    }
    for tree in trees {
        lines.line(&format!("  {}", heading(args, text, tree)))?;
        let mut last = "";
        for (row, line) in tree.rows.iter().zip(printed.by_ref()) {
            if args.stacks.butterfly.is_some() && row.tree != last {
                lines.line(&format!("   {}:", row.tree))?;
            }
            last = row.tree;
            lines.line(line)?;
        }
    }
    Ok(())
}

fn heading(args: &CpuArgs, text: &Text, tree: &TreeGroup) -> String {
    let title = match args.stacks.metric {
        Metric::Cpu => cpu_word(Some(tree.source)),
        Metric::Wait => "wait",
        Metric::Ready => "ready",
    };
    let sum = format!("[{title} {} ms]", text.ms(tree.total_ns));
    if args.merge {
        return format!("all processes  {sum}");
    }
    let process = text.process_line(ProcessText {
        name: tree.process.as_deref(),
        pid: tree.pid,
        start_ns: tree.process_start_ns,
        stop_ns: tree.process_stop_ns,
        command_line: tree.command_line.as_deref(),
    });
    let thread = tree.tid.map(|tid| format!("  thread {tid}")).unwrap_or_default();
    format!("{process}{thread}  {sum}")
}

/// Branches in front of the names of nodes. A node that is all there is below its parent stands below it without a branch, so that long
/// chains stay at the left.
fn branches(rows: &[TreeRow]) -> Vec<Shown<'_>> {
    let key = |row: &TreeRow| (row.tree, row.parent);
    let mut left: std::collections::HashMap<(&str, Option<i64>), (usize, usize)> =
        std::collections::HashMap::new();
    for row in rows {
        let (all, rest) = left.entry(key(row)).or_default();
        (*all, *rest) = (*all + 1, *rest + 1);
    }
    let mut indents: std::collections::HashMap<(&str, Option<i64>), String> =
        std::collections::HashMap::new();
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        let indent = indents.get(&key(row)).cloned().unwrap_or_default();
        let (siblings, rest) = left.get_mut(&key(row)).map_or((1, 0), |(all, rest)| {
            *rest = rest.saturating_sub(1);
            (*all, *rest)
        });
        let (branch, below) = match (row.parent, siblings, rest) {
            (None, ..) | (_, 1, _) => (indent.clone(), indent),
            (_, _, 0) => (format!("{indent}|- "), format!("{indent}   ")),
            _ => (format!("{indent}|- "), format!("{indent}|  ")),
        };
        indents.insert((row.tree, Some(row.id)), below);
        shown.push(Shown { row, branch });
    }
    shown
}

fn columns<'a>(args: &'a CpuArgs, text: &'a Text) -> anyhow::Result<Columns<'a, Shown<'a>>> {
    let mut columns = Columns::new();
    columns.number("Inclusive", "Inclusive ms", true, |shown: &Shown<'a>| text.ms(shown.row.inclusive_ns));
    columns.number("Percent", "%", true, |shown| text.fixed(shown.row.percent, 1));
    columns.number("Exclusive", "Exclusive ms", true, |shown| text.ms(shown.row.exclusive_ns));
    columns.number("Samples", "Samples", args.details, |shown| text.int(shown.row.samples));
    columns.word("Method", "Method", true, |shown| format!("{}{}", shown.branch, name(shown.row)));
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

fn name(row: &TreeRow) -> String {
    match (&row.module, &row.method) {
        _ if row.folded > 0 => format!("[{} more]", row.folded),
        (_, None) => "(no stack)".to_owned(),
        (Some(module), Some(method)) if method.starts_with('+') => format!("{module}{method}"),
        (Some(module), Some(method)) => format!("{module}!{method}"),
        (None, Some(method)) => method.trim_start_matches('+').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i64, parent: Option<i64>) -> TreeRow {
        TreeRow { id, parent, tree: "top_down", ..TreeRow::default() }
    }

    #[test]
    fn only_siblings_have_branches() {
        let rows = [
            row(0, None),
            row(1, Some(0)),
            row(2, Some(1)),
            row(3, Some(2)),
            row(4, Some(1)),
            row(5, Some(4)),
            row(6, Some(4)),
            row(7, None),
        ];
        let shown: Vec<String> = branches(&rows).into_iter().map(|shown| shown.branch).collect();
        assert_eq!(shown, ["", "", "|- ", "|  ", "|- ", "   |- ", "   |- ", ""]);
    }

    #[test]
    fn names_are_told_as_in_stacks() {
        let named = |module: Option<&str>, method: Option<&str>, folded| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            name(&TreeRow { module: text(module), method: text(method), folded, ..TreeRow::default() })
        };
        assert_eq!(named(Some("a.dll"), Some("f"), 0), "a.dll!f");
        assert_eq!(named(Some("a.dll"), Some("+0x1f"), 0), "a.dll+0x1f");
        assert_eq!(named(None, Some("+0x7ff0"), 0), "0x7ff0");
        assert_eq!(named(None, None, 0), "(no stack)");
        assert_eq!(named(None, None, 3), "[3 more]");
    }
}
