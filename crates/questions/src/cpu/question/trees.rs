//! Call trees: a table whose names are indented.

use std::collections::HashMap;

use serde::Serialize;

use super::{CpuViewContext, cpu_word, source_line};
use crate::cpu::{By, CpuRequest, CpuTotal, Metric};
use crate::stack::tree::{TreeGroup, TreeRow};
use etwkit_question::Format::{Fixed, Milliseconds, ProcessLine, Whole, Word};
use etwkit_question::Result;
use etwkit_question::rows::Field;
use etwkit_question::{Answer, Column, Line, ProcessCell, Ranked, Value, View};
use etwkit_sql::Session;

/// A node with the branch before its name.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    row: TreeRow,
    #[serde(skip)]
    branch: String,
    /// The heading above its tree.
    #[serde(skip)]
    heading: Line,
}

type NodeColumn = Column<CpuViewContext, Shown>;

const TREES: View<CpuViewContext, Shown> = View::new(
    &[
        NodeColumn::new("Inclusive", "Inclusive ms", Milliseconds, |_, it| {
            it.row.inclusive_ns.into()
        })
        .cost(),
        NodeColumn::new("Percent", "%", Fixed(1), |_, it| it.row.percent.into()),
        NodeColumn::new("Exclusive", "Exclusive ms", Milliseconds, |_, it| {
            it.row.exclusive_ns.into()
        })
        .cost(),
        NodeColumn::new("Samples", "Samples", Whole, |_, it| it.row.samples.into())
            .sum()
            .shown_if(|asked| asked.by.details),
        NodeColumn::new("Method", "Method", Word, |_, it| {
            format!("{}{}", it.branch, name(&it.row)).into()
        }),
    ],
    |it| it.row.inclusive_ns as f64,
)
.ranking(|_| Ranked::Groups)
.with_headings(|_, rows| rows.first().map(|it| it.heading.clone()))
.with_above(|asked, it, before| {
    let is_first = before.is_none_or(|before| before.row.tree != it.row.tree || it.row.id == 0);
    let is_shown = asked.by.butterfly.is_some() && is_first && it.row.parent.is_none();
    if is_shown {
        vec![Line::new(format!("   {}:", it.row.tree))]
    } else {
        Vec::new()
    }
});

/// Declares the aggregation of columns of JSON and CSV.
pub(super) fn describe(question: &CpuRequest, fields: &mut [Field]) {
    let shown = |row| Shown {
        row,
        branch: String::new(),
        heading: Line::default(),
    };
    TREES.describe(
        &CpuViewContext::new(question, None, CpuTotal::default()),
        shown,
        fields,
    );
}

fn heading(asked: &CpuRequest, tree: &TreeGroup) -> Line {
    let title = match asked.metric {
        Metric::Cpu => cpu_word(Some(tree.source)),
        Metric::Wait => "wait",
        Metric::Ready => "ready",
    };
    let line = if asked.is_merged {
        Line::new("  all processes")
    } else {
        let process = Value::Process(ProcessCell {
            name: tree.process.clone(),
            pid: tree.pid,
            start_ns: tree.process_start_ns,
            stop_ns: tree.process_stop_ns,
            command_line: tree.command_line.clone(),
        });
        let thread = tree
            .tid
            .map_or_else(String::new, |tid| format!("  thread {tid}"));
        Line::new("  ").value(ProcessLine, process).words(thread)
    };
    line.words(format!("  [{title} "))
        .value(Milliseconds, tree.total_ns)
        .words(" ms]")
}

/// Returns the branches before the names of nodes. An only child has no branch, so that long chains
/// stay at the left.
fn branches(rows: &[TreeRow]) -> Vec<String> {
    fn key(row: &TreeRow) -> (&str, Option<i64>) {
        (row.tree.as_str(), row.parent)
    }
    let mut left: HashMap<(&str, Option<i64>), (usize, usize)> = HashMap::new();
    for row in rows {
        let (all, rest) = left.entry(key(row)).or_default();
        (*all, *rest) = (*all + 1, *rest + 1);
    }
    let mut indents: HashMap<(&str, Option<i64>), String> = HashMap::new();
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        // The root of a tree has no parent, and no indent.
        let indent = indents
            .get(&key(row))
            .map_or_else(String::new, String::clone);
        // Rows come parents first, so the number of remaining siblings decides whether a branch
        // continues below.
        let (siblings, rest) = left.get_mut(&key(row)).map_or((1, 0), |(all, rest)| {
            *rest = rest.saturating_sub(1);
            (*all, *rest)
        });
        let (branch, below) = match (row.parent, siblings, rest) {
            (None, ..) | (_, 1, _) => (indent.clone(), indent),
            (_, _, 0) => (format!("{indent}|- "), format!("{indent}   ")),
            _ => (format!("{indent}|- "), format!("{indent}|  ")),
        };
        indents.insert((row.tree.as_str(), Some(row.id)), below);
        shown.push(branch);
    }
    shown
}

fn name(row: &TreeRow) -> String {
    match (&row.module, &row.method) {
        _ if row.folded > 0 => format!("[{} more]", row.folded),
        (Some(module), None) => module.clone(),
        (None, None) => "(no stack)".to_owned(),
        (Some(module), Some(method)) if method.starts_with('+') => format!("{module}{method}"),
        (Some(module), Some(method)) => format!("{module}!{method}"),
        (None, Some(method)) => method.trim_start_matches('+').to_owned(),
    }
}

pub(super) fn answer(question: &CpuRequest, session: &Session) -> Result<Answer> {
    let trees = question.call_trees(session)?;
    let source = trees
        .first()
        .map(|tree| tree.source)
        .filter(|_| question.metric == Metric::Cpu);
    let asked = CpuViewContext::new(question, source, CpuTotal::default());
    let shown = |tree: TreeGroup| {
        let heading = heading(question, &tree);
        let branches = branches(&tree.rows);
        let node = |(row, branch)| Shown {
            row,
            branch,
            heading: heading.clone(),
        };
        tree.rows.into_iter().zip(branches).map(node).collect()
    };
    let more = "; here CPU of the scheduling slices that started with the stack";
    let is_module = |row: &TreeRow| row.folded == 0 && row.module.is_some() && row.method.is_none();
    let has_no_names =
        question.by != By::Module && trees.iter().flat_map(|tree| &tree.rows).any(is_module);
    let by_module = has_no_names.then(|| {
        let how = "--min-percent 0 shows its addresses, `etwkit symbols load` gives names";
        Line::new(format!("Code without names is listed by module: {how}"))
    });
    Ok(
        Answer::groups(&asked, &TREES, trees.into_iter().map(shown).collect())
            .with_head(source_line(source, more).into_iter().chain(by_module)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i64, parent: Option<i64>) -> TreeRow {
        TreeRow {
            id,
            parent,
            tree: "top_down".into(),
            ..TreeRow::default()
        }
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
        assert_eq!(
            branches(&rows),
            ["", "", "|- ", "|  ", "|- ", "   |- ", "   |- ", ""]
        );
    }

    #[test]
    fn names_are_written_as_in_stacks() {
        let named = |module: Option<&str>, method: Option<&str>, folded| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            name(&TreeRow {
                module: text(module),
                method: text(method),
                folded,
                ..TreeRow::default()
            })
        };
        assert_eq!(named(Some("a.dll"), Some("f"), 0), "a.dll!f");
        assert_eq!(named(Some("a.dll"), Some("+0x1f"), 0), "a.dll+0x1f");
        assert_eq!(named(None, Some("+0x7ff0"), 0), "0x7ff0");
        assert_eq!(named(None, None, 0), "(no stack)");
        assert_eq!(named(None, None, 3), "[3 more]");
    }
}
