//! Levels of groups: a column for each level, or the frames of stacks from the outermost inward, to
//! any depth.
//!
//! A group of frames is a path from the outermost method, and its number identifies the whole path.
//! So an outer level of frames is followed by the next frame, at any depth. If both have the same
//! number, the group has the rows whose stacks end there.

use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;
use etwkit_trace::table::Table;

use crate::cells::key;
use crate::flame::{first_frames, representative};
use crate::problem::{Problem, Result};
use crate::select::{Selected, equals};
use crate::stack;
use crate::tables::{self, NamedColumn};
use crate::wire::{Cell, PivotRow};

/// The requested level.
pub(crate) struct FrameLevel {
    pub(crate) shown: NamedColumn,
    /// The grouping key, as an expression on the table `t`.
    pub(crate) value: String,
    /// The outer frames, from earlier levels.
    outer: Option<i32>,
}

/// Restricts rows to the outer groups.
pub(crate) fn levels(
    session: &Session,
    table: &'static Table,
    (names, path): (&[String], &[Cell]),
    selected: &mut Selected,
) -> Result<FrameLevel> {
    let mut outer: Option<(&str, Way)> = None;
    for (name, value) in names.iter().zip(path) {
        let column = tables::column(table, name)?;
        // Only a level of the same frames directly before this one continues its path. Any other
        // column starts a new one.
        let before = outer
            .take()
            .filter(|(before, _)| column.is_frames() && before == name);
        // A missing stack is a group like any other value, without frames below it.
        if !column.is_frames() || *value == Cell::Missing(()) {
            selected.and(equals(&column.group(session), column.kind(), value)?);
            continue;
        }
        let way = Way::of(session, value)?;
        let is_end = before.is_some_and(|(_, before)| before.number == way.number);
        // The group "itself" has the number of the group above: one frame more distinguishes the
        // rows that end there from those that go on, since a stack that is too short keeps its
        // number.
        let frames = way.frames.saturating_add(u32::from(is_end));
        selected.and(format!("{} = {}", column.root(frames), way.number));
        outer = Some((name, way));
    }
    let name = names
        .last()
        .map(String::as_str)
        .ok_or_else(|| Problem::bad("expected a column to group by"))?;
    let shown = tables::column(table, name)?;
    if !shown.info().can_group {
        return Err(Problem::bad(format!("rows cannot be grouped by {name:?}")));
    }
    let outer = outer
        .filter(|(outer, _)| shown.is_frames() && *outer == name)
        .map(|(_, way)| way);
    // One frame more than the outer level, so that its group is split by the next frame.
    let value = outer.map_or_else(
        || shown.group(session),
        |way| shown.root(way.frames.saturating_add(1)),
    );
    Ok(FrameLevel {
        shown,
        value,
        outer: outer.map(|way| way.number),
    })
}

/// A path from the outermost method.
#[derive(Clone, Copy)]
struct Way {
    number: i32,
    frames: u32,
}

impl Way {
    fn of(session: &Session, value: &Cell) -> Result<Self> {
        let all = session.frames()?;
        let known = key(value).zip(all.trace(0)).and_then(|(number, frames)| {
            let frames = frames.rooted().depth(number)?;
            Some(Self { number, frames })
        });
        known.ok_or_else(|| Problem::bad("a value of the path is not a stack"))
    }
}

impl FrameLevel {
    /// Names groups: stacks by their innermost frames, groups of frames by their last frame.
    pub(crate) fn name(&self, session: &Session, rows: &mut [PivotRow]) -> Result<()> {
        name_stacks(session, &self.shown, self.outer, rows)
    }
}

/// Names groups of stacks, below the frames of an outer level.
pub(crate) fn name_stacks(
    session: &Session,
    shown: &NamedColumn,
    outer: Option<i32>,
    rows: &mut [PivotRow],
) -> Result<()> {
    if !shown.is_stack() && !shown.is_frames() {
        return Ok(());
    }
    let frames = session.frames()?;
    let Some(frames) = frames.trace(0) else {
        return Ok(());
    };
    let first = if shown.is_frames() {
        first_frames(frames)
    } else {
        Vec::new()
    };
    for row in rows {
        row.label = match key(&row.value) {
            None if shown.is_frames() => "(no stack)".to_owned(),
            None => continue,
            Some(stack) if shown.is_stack() => stack::short(frames, stack),
            way if way == outer => "(itself)".to_owned(),
            Some(way) => last_frame(frames, &first, way),
        };
    }
    Ok(())
}

/// Returns the label of the innermost frame of a path. As everywhere, this is the text of its
/// method's first frame.
fn last_frame(frames: &TraceFrames, first: &[i32], way: i32) -> String {
    let frame = frames.node(way).map_or(-1, |(_, frame)| frame);
    frames.text(representative(frames, first, frame))
}
