//! Rows with the stack of each: one text in JSON and CSV, lines below the row in text.

use serde::{Serialize, Serializer};

use etwkit_question::Line;
use etwkit_question::Result;
use etwkit_question::cut::Cut;
use etwkit_question::rows::Field;
use etwkit_sql::Session;

/// The column of the text.
pub(crate) const STACK: Field = Field::new(
    "stack",
    "All frames of the stack, innermost first, with ` < ` between.",
    "string",
    true,
);

/// A row with the frames of its stack, innermost first; empty without a stack, or if it was not
/// read.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Stacked<R> {
    #[serde(flatten)]
    pub(crate) row: R,
    #[serde(serialize_with = "joined")]
    pub(crate) stack: Vec<String>,
}

impl<R> Stacked<R> {
    /// Creates a row whose stack was not read.
    pub(crate) const fn without(row: R) -> Self {
        Self {
            row,
            stack: Vec::new(),
        }
    }
}

fn joined<S: Serializer>(frames: &[String], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    Some(frames.join(" < "))
        .filter(|text| !text.is_empty())
        .serialize(serializer)
}

/// Returns rows with their stacks, which are read only if they are wanted: that takes time and
/// memory by the size of the extract.
pub(crate) fn with_stacks<R>(
    session: &Session,
    rows: Vec<R>,
    wanted: bool,
    stack_id: fn(&R) -> Option<i64>,
) -> Result<Vec<Stacked<R>>> {
    if !wanted || rows.is_empty() {
        return Ok(rows.into_iter().map(Stacked::without).collect());
    }
    let frames = session.frames()?;
    let stack = |row: &R| -> Option<Vec<String>> {
        let trace = frames.trace(0)?;
        let id = i32::try_from(stack_id(row)?).ok()?;
        Some(trace.stack(id).map(|frame| trace.text(frame)).collect())
    };
    let stacked = |row: R| match stack(&row) {
        Some(stack) => Stacked { row, stack },
        None => Stacked::without(row),
    };
    Ok(rows.into_iter().map(stacked).collect())
}

/// Returns the frames of a stack below a row, or only a part of them.
pub(crate) fn lines(stack: &[String], cut: Cut) -> Vec<Line> {
    if stack.is_empty() {
        return vec![Line::new("        (no stack)")];
    }
    let (from, to) = cut.bounds(stack.len());
    let shown = stack.iter().take(to).skip(from);
    let mut lines: Vec<Line> = shown
        .map(|frame| Line::new(format!("        {frame}")))
        .collect();
    let left_out = stack.len().saturating_sub(to.saturating_sub(from));
    if left_out > 0 {
        let all = stack.len();
        lines.push(Line::new(format!(
            "        ({left_out} of {all} frames left out: --cut-stack 0.. shows all)"
        )));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stand_below_a_row_or_a_part_of_them() {
        let shown = |stack: &[&str], cut: &str| {
            let stack: Vec<String> = stack.iter().map(|frame| (*frame).to_owned()).collect();
            lines(&stack, cut.parse().unwrap())
        };
        let line = |text: &str| Line::new(format!("        {text}"));
        assert_eq!(shown(&[], "0..50"), [line("(no stack)")]);
        assert_eq!(shown(&["a!f", "b!g"], "0..50"), [line("a!f"), line("b!g")]);
        let left_out = "(2 of 3 frames left out: --cut-stack 0.. shows all)";
        assert_eq!(
            shown(&["a!f", "b!g", "c!h"], "1..2"),
            [line("b!g"), line(left_out)]
        );
    }
}
