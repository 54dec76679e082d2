//! The stacks of a thread over time: frames, waits and ready times as boxes by level.
//!
//! Samples and switches are read in the order of time and never held as a whole. Rules and an
//! example are in `docs/numbers/timeline.md`.

mod boxes;
mod labels;
mod rows;
mod stacks;

use std::collections::HashMap;

use etwkit_sql::Session;

use super::names::Names;
use super::tree::Kinds;
use crate::api::Call;
use crate::cells::{asked, text};
use crate::problem::{Problem, Result};
use crate::tables::thread_label;
use crate::wire::{FlameChartAnswer, FlameChartRequest, Range, Source};
use boxes::{Boxes, Span};
use rows::Statements;
use stacks::Stacks;

/// Smallest and largest bound of the number of boxes. All levels together have fewer than the
/// smallest one if each has one box.
const BOUNDS: std::ops::RangeInclusive<u32> = 1_000..=10_000;

/// Largest number of columns of a picture.
const MOST_COLUMNS: u32 = 10_000;

/// Name of a box of different frames.
const SEVERAL: &str = "several frames";

pub(crate) fn chart(call: &Call<'_>, request: &FlameChartRequest) -> Result<FlameChartAnswer> {
    let length_ns = checked(request)?;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let statements = Statements::new(&session, request);
    let sql = statements.together().ok_or_else(|| {
        Problem::not_recorded("neither samples nor context switches were recorded")
    })?;
    let frames = session.frames()?;
    let frames = frames
        .trace(0)
        .ok_or_else(|| Problem::internal("the extract has no stacks"))?;
    let mut names = Names::new(frames, None);
    let grain_ns = length_ns / i64::from(request.columns);
    let most = usize::try_from(request.max_boxes).unwrap_or(usize::MAX);
    let several = names.text(SEVERAL, Kinds::SEVERAL);
    let boxes = Boxes::new(grain_ns.max(1), most, several);
    let mut stacks = Stacks::new(&mut names, boxes);
    let (samples, switches) = read(&session, &statements, request.range, &mut stacks)?;
    let boxes = stacks.finish();
    let mut answer = sent(request.range, &boxes, &names);
    answer.all_samples = samples;
    answer.all_switches = switches;
    answer.thread = label(&session, request.thread)?;
    answer.source = call.of_sql(&ready, sql, samples.saturating_add(switches));
    Ok(answer)
}

/// Checks a request, and returns the length of its range.
fn checked(request: &FlameChartRequest) -> Result<i64> {
    if !BOUNDS.contains(&request.max_boxes) {
        return Err(Problem::bad(format!(
            "expected {} to {} boxes",
            BOUNDS.start(),
            BOUNDS.end()
        )));
    }
    if request.columns == 0 || request.columns > MOST_COLUMNS {
        return Err(Problem::bad(format!(
            "expected 1 to {MOST_COLUMNS} columns"
        )));
    }
    let Range { from_ns, to_ns } = request.range;
    to_ns
        .checked_sub(from_ns)
        .filter(|length_ns| *length_ns > 0)
        .ok_or_else(|| Problem::bad("expected a range with a length"))
}

/// Reads samples and times off the processor in the order of time; returns their numbers.
fn read(
    session: &Session,
    statements: &Statements,
    range: Range,
    stacks: &mut Stacks<'_, '_>,
) -> Result<(u64, u64)> {
    let mut samples = statements.samples(session)?;
    let mut offs = statements.offs(session)?;
    let mut sample = samples.next().transpose()?;
    let mut off = offs.next().transpose()?;
    let mut sample_count = 0_u64;
    let mut off_count = 0_u64;
    loop {
        match (sample, off) {
            (Some(first), later) if later.is_none_or(|off| first.at_ns <= off.from_ns) => {
                stacks.sample(first);
                sample_count = sample_count.saturating_add(1);
                sample = samples.next().transpose()?;
            }
            (_, Some(first)) => {
                stacks.off(first.within(range));
                off_count = off_count.saturating_add(1);
                off = offs.next().transpose()?;
            }
            (_, None) => return Ok((sample_count, off_count)),
        }
    }
}

/// Returns the boxes as columns, with the texts that they use.
fn sent(range: Range, boxes: &Boxes, names: &Names<'_>) -> FlameChartAnswer {
    let mut places = HashMap::new();
    let mut texts = Vec::new();
    let mut kinds = Vec::new();
    let mut place = |name: u32| {
        *places.entry(name).or_insert_with(|| {
            let (text, kind) = names.named(name);
            texts.push(text.to_owned());
            kinds.push(kind);
            u32::try_from(texts.len().saturating_sub(1)).unwrap_or(u32::MAX)
        })
    };
    let all: Vec<Span> = boxes.levels.iter().flatten().copied().collect();
    let length = |level: &Vec<Span>| u32::try_from(level.len()).unwrap_or(u32::MAX);
    FlameChartAnswer {
        thread: String::new(),
        range,
        levels: boxes.levels.iter().map(length).collect(),
        from_ns: all.iter().map(|one| one.from_ns).collect(),
        to_ns: all.iter().map(|one| one.to_ns).collect(),
        names: all.iter().map(|one| place(one.name)).collect(),
        samples: all.iter().map(|one| one.samples).collect(),
        waits: all.iter().map(|one| one.waits).collect(),
        pieces: all.iter().map(|one| one.pieces).collect(),
        texts,
        kinds,
        grain_ns: boxes.grain_ns,
        all_samples: 0,
        all_switches: 0,
        left_out: boxes.left_out,
        source: Source::default(),
    }
}

/// Returns the label of a thread.
fn label(session: &Session, thread: i32) -> Result<String> {
    let sql = format!(
        "SELECT {} FROM thread t LEFT JOIN process p ON p.process_key = t.process_key \
         WHERE t.thread_key = {thread}",
        thread_label("t", "p")
    );
    let rows = asked(session, &sql, 1)?.rows;
    let label = rows
        .first()
        .and_then(|row| row.first().and_then(text).map(str::to_owned));
    Ok(label.unwrap_or_else(|| "unknown thread".to_owned()))
}

#[cfg(test)]
mod tests;
