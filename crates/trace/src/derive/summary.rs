//! The stacks that a summary keeps, renumbered: stacks with CPU samples, and stacks of its rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use rustc_hash::FxHashMap;

use super::TableSource;
use super::columns::{Get, int32, int64, text, whole_int32, whole_int64};
use crate::sink::{Sink, SinkError};
use crate::table::{Columns, CpuStack, Frame, Row, Stack, StackHash, Table};

/// Rows of `cpu_stack` and `stack_hash`, held back until their stacks have new numbers. All other
/// rows are passed on at once.
pub struct SummarySink<'s> {
    sink: &'s mut dyn Sink,
    held: Vec<RecordBatch>,
    hashes: Vec<RecordBatch>,
}

impl Sink for SummarySink<'_> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        match table.name {
            name if name == CpuStack::TABLE.name => self.held.push(rows),
            name if name == StackHash::TABLE.name => self.hashes.push(rows),
            _ => return self.sink.write(table, rows),
        }
        Ok(())
    }
}

/// New numbers of rows that are kept, by their old ones.
#[derive(Debug, Default)]
struct Renumbered(FxHashMap<i32, i32>);

impl Renumbered {
    fn add(&mut self, old: i32) -> i32 {
        let next = self.0.len() as i32;
        *self.0.entry(old).or_insert(next)
    }
}

impl<'s> SummarySink<'s> {
    /// Takes the rows of derived tables.
    #[must_use]
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            held: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Returns the rows of `stack`, `frame`, `cpu_stack` and `stack_hash` for a summary, selected
    /// from all rows of `source`, and the rows of the tables `kept`, which refer to stacks or
    /// frames ([`names_stacks`]).
    ///
    /// # Errors
    /// The errors of the source.
    pub fn finish(
        self,
        source: &dyn TableSource,
        kept: &[&'static Table],
    ) -> Result<SummaryStacks, SinkError> {
        let nodes = read_nodes(source)?;
        let (wanted, named) = self.used(source, kept, &nodes)?;
        // Callers come first, so the new number of a parent is known when its child needs it.
        let mut stacks = Renumbered::default();
        let mut frames = Renumbered::default();
        let mut rows = <Stack as Row>::Columns::default();
        for old in callers_first(&nodes, &wanted) {
            let Some(node) = nodes.get(old) else { continue };
            let parent_id = node
                .parent
                .and_then(|parent| stacks.0.get(&parent).copied());
            let stack_id = stacks.add(old as i32);
            rows.push(&Stack {
                stack_id,
                parent_id,
                frame_id: frames.add(node.frame),
                depth: node.depth,
            });
        }
        add_starts(source, kept, &mut frames)?;
        let kept = kept
            .iter()
            .map(|table| renumbered(source, table, &stacks, &frames));
        let kept = kept.collect::<Result<_, _>>()?;
        Ok(SummaryStacks {
            frame: read_frames(source, &frames)?,
            cpu_stack: renumber(&self.held, &stacks)?,
            stack_hash: hashes(&self.hashes, &named, &stacks)?,
            kept,
            stack: rows.take()?,
        })
    }

    /// Returns for each stack whether rows need it, as callers are needed too, and whether they name
    /// it themselves.
    fn used(
        &self,
        source: &dyn TableSource,
        kept: &[&'static Table],
        nodes: &[Node],
    ) -> Result<(Vec<bool>, Vec<bool>), SinkError> {
        let mut wanted = vec![false; nodes.len()];
        let mut named = vec![false; nodes.len()];
        let mut mark_rows = |batch: &RecordBatch| {
            let stacks = int32(batch, STACK_ID)?;
            for stack in (0..batch.num_rows()).filter_map(|row| stacks.get(row)) {
                mark(nodes, &mut wanted, Some(stack));
                if let Some(named) = usize::try_from(stack)
                    .ok()
                    .and_then(|stack| named.get_mut(stack))
                {
                    *named = true;
                }
            }
            Ok(())
        };
        self.held.iter().try_for_each(&mut mark_rows)?;
        for table in kept.iter().filter(|table| table.column(STACK_ID).is_some()) {
            source.scan(table, &[STACK_ID], &mut mark_rows)?;
        }
        Ok((wanted, named))
    }
}

/// Adds the frames in which threads start: no stack needs to have them.
fn add_starts(
    source: &dyn TableSource,
    kept: &[&'static Table],
    frames: &mut Renumbered,
) -> Result<(), SinkError> {
    for table in kept
        .iter()
        .filter(|table| table.column(START_FRAME_ID).is_some())
    {
        source.scan(table, &[START_FRAME_ID], &mut |batch| {
            let start = int32(batch, START_FRAME_ID)?;
            (0..batch.num_rows())
                .filter_map(|row| start.get(row))
                .for_each(|frame| _ = frames.add(frame));
            Ok(())
        })?;
    }
    Ok(())
}

/// Rows of the tables of stacks in a summary.
#[derive(Debug)]
pub struct SummaryStacks {
    /// Rows of `frame`.
    pub frame: RecordBatch,
    /// Rows of `stack`.
    pub stack: RecordBatch,
    /// Rows of `cpu_stack`.
    pub cpu_stack: RecordBatch,
    /// Rows of `stack_hash` for the stacks that kept rows have.
    pub stack_hash: RecordBatch,
    /// Rows of the other tables with stacks, in the order in which they were named.
    pub kept: Vec<Vec<RecordBatch>>,
}

/// Name of the column of stacks.
const STACK_ID: &str = "stack_id";

/// Name of the column with frames that are in no stack: start addresses of threads.
const START_FRAME_ID: &str = "start_frame_id";

/// True if rows of a table refer to stacks or frames, which have other numbers in a summary.
#[must_use]
pub fn names_stacks(table: &Table) -> bool {
    let is_tree = [Stack::TABLE, Frame::TABLE]
        .into_iter()
        .any(|tree| tree.name == table.name);
    !is_tree
        && [STACK_ID, START_FRAME_ID]
            .into_iter()
            .any(|name| table.column(name).is_some())
}

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: Option<i32>,
    frame: i32,
    depth: i32,
}

fn read_nodes(source: &dyn TableSource) -> Result<Vec<Node>, SinkError> {
    let mut nodes = Vec::new();
    source.scan(
        Stack::TABLE,
        &["parent_id", "frame_id", "depth"],
        &mut |batch| {
            let parent = int32(batch, "parent_id")?;
            let depths = whole_int32(batch, "depth")?;
            let frames = whole_int32(batch, "frame_id")?;
            for (row, (frame, depth)) in frames.iter().zip(depths).enumerate() {
                let own = nodes.len() as i32;
                nodes.push(Node {
                    // A damaged file can claim a parent that comes later; following it could loop
                    // forever.
                    parent: parent.get(row).filter(|parent| (0..own).contains(parent)),
                    frame: *frame,
                    depth: *depth,
                });
            }
            Ok(())
        },
    )?;
    Ok(nodes)
}

/// Marks a stack and its callers.
fn mark(nodes: &[Node], wanted: &mut [bool], stack: Option<i32>) {
    let mut at = stack;
    while let Some(index) = at.and_then(|stack| usize::try_from(stack).ok()) {
        match wanted.get_mut(index) {
            // All callers of a marked node are also marked, so each node is visited once in total.
            Some(wanted) if !*wanted => *wanted = true,
            _ => return,
        }
        at = nodes.get(index).and_then(|node| node.parent);
    }
}

/// The wanted nodes, each directly after its caller or after another callee of that caller.
/// Neighbors in the tree get similar numbers, which makes the file of a summary smaller.
fn callers_first(nodes: &[Node], wanted: &[bool]) -> Vec<usize> {
    // The first called one of each node, and the next one of the same caller; the last place is for
    // those without a caller.
    let mut first = vec![None; nodes.len() + 1];
    let mut next = vec![None; nodes.len()];
    let is_wanted = |(old, _): &(usize, &Node)| wanted.get(*old) == Some(&true);
    // From the last to the first, so that each list of callees ends up in ascending order.
    for (old, node) in nodes.iter().enumerate().rev().filter(is_wanted) {
        let caller = node
            .parent
            .and_then(|parent| usize::try_from(parent).ok())
            .unwrap_or(nodes.len());
        if let (Some(first), Some(next)) = (first.get_mut(caller), next.get_mut(old)) {
            *next = first.replace(old);
        }
    }
    let mut order = Vec::new();
    let mut open: Vec<usize> = first.last().copied().flatten().into_iter().collect();
    while let Some(old) = open.pop() {
        order.push(old);
        // The stack returns the last one first: the callees of a node come before its own next
        // sibling.
        open.extend(next.get(old).copied().flatten());
        open.extend(first.get(old).copied().flatten());
    }
    order
}

fn read_frames(source: &dyn TableSource, kept: &Renumbered) -> Result<RecordBatch, SinkError> {
    let mut rows: Vec<Frame> = Vec::new();
    let mut old = 0;
    let columns = [
        "module_id",
        "rva",
        "address",
        "method_id",
        "source_file",
        "line",
        "inlined",
    ];
    source.scan(Frame::TABLE, &columns, &mut |batch| {
        let file = text(batch, "source_file")?;
        let line = int32(batch, "line")?;
        let inlined = text(batch, "inlined")?;
        let module = int32(batch, "module_id")?;
        let rva = int64(batch, "rva")?;
        let addresses = whole_int64(batch, "address")?;
        let method = int32(batch, "method_id")?;
        for (row, address) in addresses.iter().enumerate() {
            if let Some(frame_id) = kept.0.get(&old).copied() {
                rows.push(Frame {
                    frame_id,
                    module_id: module.get(row),
                    rva: rva.get(row),
                    address: *address,
                    method_id: method.get(row),
                    source_file: file.get(row).map(str::to_owned),
                    line: line.get(row),
                    inlined: inlined.get(row).map(str::to_owned),
                });
            }
            old += 1;
        }
        Ok(())
    })?;
    // Rows of `frame` are found by position, so they have to come in the order of their new
    // numbers.
    rows.sort_unstable_by_key(|row| row.frame_id);
    let mut columns = <Frame as Row>::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    Ok(columns.take()?)
}

/// All rows of a table, with the new numbers of their stacks and frames.
fn renumbered(
    source: &dyn TableSource,
    table: &'static Table,
    stacks: &Renumbered,
    frames: &Renumbered,
) -> Result<Vec<RecordBatch>, SinkError> {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let mut rows = Vec::new();
    source.scan(table, &columns, &mut |batch| {
        let new = |column: &str, numbers: &Renumbered| {
            let old = int32(batch, column)?;
            let new = (0..batch.num_rows()).map(|row| numbers.0.get(&old.get(row)?).copied());
            Ok::<ArrayRef, SinkError>(Arc::new(new.collect::<Int32Array>()))
        };
        let of_name = |column: &&str| match *column {
            STACK_ID => new(STACK_ID, stacks),
            START_FRAME_ID => new(START_FRAME_ID, frames),
            other => Ok(batch
                .column_by_name(other)
                .cloned()
                .ok_or("the table lacks a column")?),
        };
        let all: Vec<ArrayRef> = columns.iter().map(of_name).collect::<Result<_, _>>()?;
        rows.push(RecordBatch::try_new(table.schema(), all)?);
        Ok(())
    })?;
    Ok(rows)
}

/// Rows with their new numbers, without stacks that only omitted rows used.
fn hashes(
    held: &[RecordBatch],
    named: &[bool],
    stacks: &Renumbered,
) -> Result<RecordBatch, SinkError> {
    let mut rows: Vec<StackHash> = Vec::new();
    for batch in held {
        let stack = int32(batch, STACK_ID)?;
        let hashes = whole_int64(batch, "stack_hash")?;
        for (row, hash) in hashes.iter().enumerate() {
            let Some(old) = stack.get(row) else { continue };
            let is_named = usize::try_from(old).is_ok_and(|old| named.get(old) == Some(&true));
            if let Some(stack_id) = stacks.0.get(&old).copied().filter(|_| is_named) {
                rows.push(StackHash {
                    stack_id,
                    stack_hash: *hash,
                });
            }
        }
    }
    rows.sort_unstable_by_key(|row| row.stack_id);
    let mut columns = <StackHash as Row>::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    Ok(columns.take()?)
}

/// Rows with their new numbers. The rows of each process are ordered by them.
fn renumber(held: &[RecordBatch], stacks: &Renumbered) -> Result<RecordBatch, SinkError> {
    let mut rows: Vec<CpuStack> = Vec::new();
    for batch in held {
        let process = int32(batch, "process_key")?;
        let stack = int32(batch, "stack_id")?;
        let samples = int64(batch, "samples")?;
        let cpu = int64(batch, "cpu_ns")?;
        for row in 0..batch.num_rows() {
            let Some(stack_id) = stack.get(row).and_then(|old| stacks.0.get(&old).copied()) else {
                continue;
            };
            rows.push(CpuStack {
                process_key: process.get(row),
                stack_id,
                samples: samples.amount(row),
                cpu_ns: cpu.amount(row),
            });
        }
    }
    for of_process in rows.chunk_by_mut(|a, b| a.process_key == b.process_key) {
        of_process.sort_unstable_by_key(|row| row.stack_id);
    }
    let mut columns = <CpuStack as Row>::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    Ok(columns.take()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Exception, Thread};

    fn stack(stack_id: i32, parent_id: Option<i32>, frame_id: i32, depth: i32) -> Stack {
        Stack {
            stack_id,
            parent_id,
            frame_id,
            depth,
        }
    }

    #[test]
    fn nodes_come_behind_their_callers_and_what_these_called() {
        let node = |parent| Node {
            parent,
            frame: 0,
            depth: 0,
        };
        // 0 calls 2, which calls 4; 1 calls 3; 0 calls 5.
        let nodes = [None, None, Some(0), Some(1), Some(2), Some(0)].map(node);
        assert_eq!(callers_first(&nodes, &[true; 6]), [0, 2, 4, 5, 1, 3]);
        assert_eq!(
            callers_first(&nodes, &[true, false, true, false, false, true]),
            [0, 2, 5]
        );
        assert!(callers_first(&[], &[]).is_empty());
    }

    #[test]
    fn stacks_of_samples_and_of_kept_rows_are_kept_with_their_callers() {
        let mut stacks = <Stack as Row>::Columns::default();
        let rows = [
            stack(0, None, 5, 0),
            stack(1, Some(0), 6, 1),
            stack(2, None, 7, 0),
            stack(3, Some(2), 5, 1),
            stack(4, Some(2), 4, 1),
        ];
        rows.iter().for_each(|row| stacks.push(row));
        let mut frames = <Frame as Row>::Columns::default();
        (0..8).for_each(|id| {
            frames.push(&Frame {
                frame_id: id,
                address: 100 + i64::from(id),
                ..Frame::default()
            });
        });
        let mut thrown = <Exception as Row>::Columns::default();
        for stack_id in [Some(4), None] {
            thrown.push(&Exception {
                ts_ns: 9,
                stack_id,
                ..Exception::default()
            });
        }
        let mut threads = <Thread as Row>::Columns::default();
        for (thread_key, start_frame_id) in [(0, None), (1, Some(3)), (2, Some(5))] {
            threads.push(&Thread {
                thread_key,
                start_frame_id,
                ..Thread::default()
            });
        }
        let source = vec![
            (Stack::TABLE, stacks.take().unwrap()),
            (Frame::TABLE, frames.take().unwrap()),
            (Exception::TABLE, thrown.take().unwrap()),
            (Thread::TABLE, threads.take().unwrap()),
        ];
        let mut cpu = <CpuStack as Row>::Columns::default();
        cpu.push(&CpuStack {
            process_key: Some(1),
            stack_id: 3,
            samples: 2,
            cpu_ns: 20,
        });
        let mut others: Vec<(&'static Table, RecordBatch)> = Vec::new();
        let mut sink = SummarySink::new(&mut others);
        sink.write(CpuStack::TABLE, cpu.take().unwrap()).unwrap();
        let mut hashes = <StackHash as Row>::Columns::default();
        for stack_id in [1, 3, 4] {
            hashes.push(&StackHash {
                stack_id,
                stack_hash: 1000 + i64::from(stack_id),
            });
        }
        sink.write(StackHash::TABLE, hashes.take().unwrap())
            .unwrap();
        let kept = sink
            .finish(&source, &[Exception::TABLE, Thread::TABLE])
            .unwrap();
        let ints = |batch: &RecordBatch, name: &str| {
            int32(batch, name).unwrap().iter().collect::<Vec<_>>()
        };
        assert_eq!(ints(&kept.stack, "stack_id"), [Some(0), Some(1), Some(2)]);
        assert_eq!(ints(&kept.stack, "parent_id"), [None, Some(0), Some(0)]);
        let hashes: Vec<_> = int64(&kept.stack_hash, "stack_hash")
            .unwrap()
            .iter()
            .collect();
        assert_eq!(
            hashes,
            [Some(1003), Some(1004)],
            "no row has the others themselves"
        );
        assert_eq!(ints(&kept.stack_hash, "stack_id"), [Some(1), Some(2)]);
        assert_eq!(ints(&kept.cpu_stack, "stack_id"), [Some(1)]);
        assert_eq!(ints(&kept.kept[0][0], "stack_id"), [Some(2), None]);
        assert_eq!(
            int64(&kept.kept[0][0], "ts_ns")
                .unwrap()
                .iter()
                .collect::<Vec<_>>(),
            [Some(9), Some(9)]
        );
        let addresses: Vec<_> = int64(&kept.frame, "address").unwrap().iter().collect();
        assert_eq!(
            (ints(&kept.stack, "frame_id"), addresses),
            (
                vec![Some(0), Some(1), Some(2)],
                vec![Some(107), Some(105), Some(104), Some(103)]
            )
        );
        // The start address of a thread need not be in any stack.
        assert_eq!(
            ints(&kept.kept[1][0], "start_frame_id"),
            [None, Some(3), Some(1)]
        );
    }
}
