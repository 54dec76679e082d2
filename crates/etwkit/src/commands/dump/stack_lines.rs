//! Rows with one stack each: as a field for machines, as lines below a row for people.

use etwkit_analysis::StackText;
use etwkit_query::dump::trace::TraceInfo;
use serde::Serialize;

use super::output::{Answered, Lines};
use crate::printer::TableLine;
use etwkit_query::dump::cut::Cut;

/// A row with its stack as text.
#[derive(Serialize)]
pub(super) struct WithStack<'a, R: Serialize> {
    #[serde(flatten)]
    pub(super) row: &'a R,
    /// All frames, innermost first, with ` < ` between.
    stack: Option<String>,
}

impl<'a, R: Serialize> WithStack<'a, R> {
    pub(super) fn new(row: &'a R, stacks: Option<&StackText>, stack_id: Option<i64>) -> Self {
        let text = stacks.zip(stack_id).map(|(stacks, id)| stacks.all(id).join(" < "));
        Self { row, stack: text.filter(|text| !text.is_empty()) }
    }
}

/// The rows of all extracts with the texts of their stacks.
pub(super) fn with_stacks<'a, A, R: Serialize + 'a, I: IntoIterator<Item = &'a R>>(
    answers: &'a [Answered<(A, Option<StackText>)>],
    rows: impl Fn(&'a A) -> I,
    stack_id: fn(&R) -> Option<i64>,
) -> Vec<(&'a TraceInfo, WithStack<'a, R>)> {
    let mut all = Vec::new();
    for Answered { info, answer: (answer, stacks) } in answers {
        let of_row = |row| (info, WithStack::new(row, stacks.as_ref(), stack_id(row)));
        all.extend(rows(answer).into_iter().map(of_row));
    }
    all
}

/// Prints the frames of a stack below a row, or only a part of them.
pub(super) fn frames(
    stacks: &StackText,
    stack_id: Option<i64>,
    cut: Cut,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let all = stack_id.map(|id| stacks.all(id)).unwrap_or_default();
    if all.is_empty() {
        return lines.line("        (no stack)");
    }
    let (from, to) = cut.bounds(all.len());
    for frame in all.iter().take(to).skip(from) {
        lines.line(&format!("        {frame}"))?;
    }
    let left_out = all.len().saturating_sub(to.saturating_sub(from));
    if left_out == 0 {
        return Ok(());
    }
    lines.line(&format!("        ({left_out} of {} frames left out: --cut-stack 0.. shows all)", all.len()))
}

/// Prints a table, below each row what belongs to it.
pub(super) fn with_below<R>(
    table: &[TableLine],
    rows: impl IntoIterator<Item = R>,
    lines: &mut Lines<'_, '_>,
    mut below: impl FnMut(R, &mut Lines<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut table = table.iter();
    table.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for (line, row) in table.zip(rows) {
        lines.line(line)?;
        below(row, lines)?;
    }
    Ok(())
}
