//! Stacks of a selection as one tree. Rows are added up by stack in SQL, and the tree is folded
//! from these sums. The stacks of one thread over time are a chart.

mod below;
mod callees;
mod callers;
mod chart;
mod names;
mod prune;
mod sql;
mod tree;

use std::collections::BTreeMap;

use etwkit_sql::Session;
use etwkit_sql::arrow::array::AsArray;
use etwkit_sql::arrow::datatypes::{Int32Type, Int64Type};
use etwkit_sql::frames::TraceFrames;

use crate::api::Call;
use crate::cells::{asked, batches, key, text};
use crate::problem::{Problem, Result};
use crate::select::select;
use crate::tables;
use crate::tags;
use crate::wire::{Direction, FlameAnswer, FlameRequest, Source, Weight};
pub(crate) use chart::chart;
use names::Names;
pub(crate) use names::{first as first_frames, representative};
use tree::{Kinds, Tree};

/// Largest number of nodes in an answer.
const MOST_NODES: u32 = 20_000;

/// Label for rows without a known process.
const NO_PROCESS: &str = "unknown process";

/// The rows of one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leaf {
    stack: i32,
    weight: i64,
    count: u64,
}

/// Stacks below one process and tag.
#[derive(Debug, Default)]
struct Group {
    leaves: Vec<Leaf>,
    without_stack: i64,
    without_stack_count: u64,
}

/// Groups by process and tag. A level that is not shown has the key `None`.
type Groups = BTreeMap<(Option<Option<i32>>, Option<String>), Group>;

pub(crate) fn flame(call: &Call<'_>, request: &FlameRequest) -> Result<FlameAnswer> {
    if request.max_nodes == 0 || request.max_nodes > MOST_NODES {
        return Err(Problem::bad(format!("expected 1 to {MOST_NODES} nodes")));
    }
    if !(0.0..=1.0).contains(&request.least_share) {
        return Err(Problem::bad("expected a share from 0 to 1"));
    }
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let (name, column, only, unit) = measured(request.weight);
    if session.has_rows(name) != Some(true) {
        return Err(Problem::not_recorded(format!(
            "the extract has no rows of {name}"
        )));
    }
    let table = tables::table(name)?;
    let mut selected = select(&session, table, &request.selection)?;
    selected.and(only);
    // Only the part of a stretch inside the range counts, so that sums agree with the timeline.
    let weight = selected.times.clipped(column, selected.range);
    let sql = format!(
        "SELECT stack_id, process_key, sum(weight) AS weight, count(*) AS rows \
         FROM (SELECT t.stack_id, t.process_key, {weight} AS weight FROM {name} t{}) \
         GROUP BY stack_id, process_key",
        selected.sql()
    );
    let frames = session.frames()?;
    let frames = frames
        .trace(0)
        .ok_or_else(|| Problem::internal("the extract has no stacks"))?;
    let (groups, rows_read) = groups(&session, &sql, frames, request)?;
    // Queried only if names of processes are shown: a trace may have hundreds of thousands of them.
    let labels = if request.by_process {
        labels(&session)?
    } else {
        BTreeMap::new()
    };
    let mut names = Names::new(frames, request.focus.as_deref());
    let built = build(groups, &labels, &mut names, request);
    let without_stack = built.without_stack;
    let pruned = prune::prune(built, request.least_share, request.max_nodes);
    let (nodes, texts) = names.used(&pruned.nodes);
    // Only the whole tree has a statement.
    let first_levels = if request.below.is_empty() {
        sql::first_levels(&session, &sql, request)
    } else {
        String::new()
    };
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, first_levels, rows_read)
    };
    Ok(FlameAnswer {
        nodes,
        names: texts,
        without_stack,
        left_out: pruned.left_out,
        unit: unit.to_owned(),
        source,
    })
}

/// Returns the table, column, row condition, and unit of a weight.
const fn measured(weight: Weight) -> (&'static str, &'static str, &'static str, &'static str) {
    match weight {
        Weight::Cpu => ("cpu_sample", "weight_ns", "NOT t.is_idle", "ns"),
        Weight::Wait => ("context_switch", "wait_ns", "t.wait_ns > 0", "ns"),
        Weight::Ready => ("context_switch", "ready_ns", "t.ready_ns > 0", "ns"),
        Weight::DiskBytes => ("disk_io", "size_bytes", "t.size_bytes > 0", "bytes"),
    }
}

/// Returns rows by stack, in the requested groups, and the number of rows.
fn groups(
    session: &Session,
    sql: &str,
    frames: &TraceFrames,
    request: &FlameRequest,
) -> Result<(Groups, u64)> {
    let tagged = request.by_tag.then(|| tags::tagged(session, frames));
    let mut groups = Groups::new();
    let mut rows = 0_u64;
    for batch in batches(session, sql)? {
        let [stacks, processes, weights, counts] = batch.columns() else {
            return Err(Problem::lacking("a column of stacks and weights"));
        };
        let stacks = stacks.as_primitive::<Int32Type>().iter();
        let processes = processes.as_primitive::<Int32Type>().iter();
        let weights = weights.as_primitive::<Int64Type>();
        let counts = counts.as_primitive::<Int64Type>();
        for (((stack, process), weight), count) in stacks.zip(processes).zip(weights).zip(counts) {
            // Rows are counted even if none has a weight: then their sum is null.
            let weight = weight.unwrap_or(0);
            let count = count.map_or(0, |count| count.max(0).cast_unsigned());
            rows = rows.saturating_add(count);
            let tag = tagged
                .as_ref()
                .map(|tagged| tags::tag_of(tagged, stack.unwrap_or(-1)).to_owned());
            let group = groups
                .entry((request.by_process.then_some(process), tag))
                .or_default();
            match stack {
                Some(stack) => group.leaves.push(Leaf {
                    stack,
                    weight,
                    count,
                }),
                None => {
                    group.without_stack = group.without_stack.saturating_add(weight);
                    group.without_stack_count = group.without_stack_count.saturating_add(count);
                }
            }
        }
    }
    // Equal requests get equal answers, independent of the order of groups.
    groups
        .values_mut()
        .for_each(|group| group.leaves.sort_by_key(|leaf| leaf.stack));
    Ok((groups, rows))
}

/// Returns the labels of processes by key.
fn labels(session: &Session) -> Result<BTreeMap<i32, String>> {
    let sql = format!(
        "SELECT p.process_key, {} FROM process p",
        tables::process_label("p")
    );
    let rows = asked(session, &sql, 1_000_000)?.rows;
    let label = |row: &Vec<crate::wire::Cell>| {
        Some((
            row.first().and_then(key)?,
            row.get(1).and_then(text)?.to_owned(),
        ))
    };
    Ok(rows.iter().filter_map(label).collect())
}

/// Returns the label of a group's process; `None` if groups are not by process.
fn label(process: Option<Option<i32>>, labels: &BTreeMap<i32, String>) -> Option<&str> {
    let label = process?
        .and_then(|key| labels.get(&key))
        .map_or(NO_PROCESS, String::as_str);
    Some(label)
}

/// Builds the whole tree, or the part of it at `request.below`.
fn build(
    mut groups: Groups,
    labels: &BTreeMap<i32, String>,
    names: &mut Names<'_>,
    request: &FlameRequest,
) -> Tree {
    let root = match &request.focus {
        Some(focus) => names.text(focus, Kinds::METHOD),
        None => names.text("all", Kinds::ROOT),
    };
    let mut tree = Tree::new(root);
    let mut processes: Vec<_> = groups.keys().map(|(process, _)| *process).collect();
    processes.dedup();
    // A level with one process would repeat the root.
    let has_processes = processes.len() > 1;
    below::keep(&mut groups, labels, names, request, has_processes);
    for ((process, tag), group) in groups {
        let mut at = tree.root();
        if let Some(label) = label(process, labels).filter(|_| has_processes) {
            at = tree.child(at, names.text(label, Kinds::PROCESS));
        }
        if let Some(tag) = tag {
            at = tree.child(at, names.text(&tag, Kinds::TAG));
        }
        // Rows without a stack contain no focus.
        if request.focus.is_none() {
            tree.add(at, group.without_stack, group.without_stack_count);
            tree.without_stack = tree.without_stack.saturating_add(group.without_stack);
        }
        match request.direction {
            Direction::TopDown => callees::fold(&mut tree, at, &group.leaves, names),
            Direction::BottomUp => {
                let least = (request.least_share, request.max_nodes);
                callers::fold(&mut tree, at, &group.leaves, names, least);
            }
        }
    }
    tree.sum_up();
    tree
}

#[cfg(test)]
mod tests;
