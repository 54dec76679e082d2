//! Conversion of entries that left the line into rows of tables, with their stacks. Runs on a
//! thread of its own.

use std::sync::mpsc::Receiver;

use rustc_hash::FxHashMap;

use super::identity::key;
use super::line::{Entry, Seq};
use super::row_sender::{Branches, Left, Message};
use super::stacks::{Stacks, Viewpoint};
use super::tables::Tables;
use super::waiting::{Pending, RowStacks};
use crate::sink::{Sink, SinkError};
use crate::table::Lbr;
use crate::tracker::process::ProcessKey;

/// Creates rows.
pub(crate) struct Rows<'d> {
    stacks: Stacks<'d>,
    tables: Tables,
    /// Stacks of starts, until the rows that take them arrive.
    starts: FxHashMap<Seq, i32>,
    /// Number of records of each branch, by process and the frames of both ends.
    branches: FxHashMap<(Option<ProcessKey>, u32, u32), i64>,
}

/// Maximum number of distinct branches. When it is reached, their rows are written, and a repeated
/// branch gets another row.
const MAX_BRANCHES: usize = 1 << 20;

impl<'d> Rows<'d> {
    pub(crate) fn new(stacks: Stacks<'d>) -> Self {
        Self {
            stacks,
            tables: Tables::default(),
            starts: FxHashMap::default(),
            branches: FxHashMap::default(),
        }
    }

    /// Takes all messages and passes rows on. If the sender ends without [`Message::End`],
    /// remaining rows are dropped: the import has failed. Returns [`Stacks::not_listed`].
    pub(crate) fn run(
        mut self,
        messages: Receiver<Message>,
        sink: &mut dyn Sink,
    ) -> Result<u64, SinkError> {
        // The loop ends when both senders are gone, after a failure as well.
        for message in messages {
            match message {
                Message::Chunk(chunk) => self.stacks.add(chunk),
                Message::Left(rows) => {
                    // In the order of arrival, since starts have to come before the rows that take
                    // their stacks.
                    for left in rows {
                        self.left(left, sink)?;
                    }
                    // After each message: stacks must not be written long before the rows that name
                    // them.
                    self.stacks.flush(sink)?;
                }
                Message::Batch(table, rows) => sink.write(table, rows)?,
                Message::End => {
                    // Branches are sums and are written last.
                    self.write_branches(sink)?;
                    self.tables.flush(sink)?;
                    self.stacks.finish(sink)?;
                }
            }
        }
        Ok(self.stacks.not_listed())
    }

    #[inline]
    fn left(&mut self, left: Left, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match left {
            Left::Row(seq, entry) => self.row(seq, entry, sink),
            Left::Forget(seq) => {
                // Otherwise the map would grow with every start whose end was lost.
                self.starts.remove(&seq);
                Ok(())
            }
            Left::Branches(branches) => self.branches(&branches, sink),
        }
    }

    fn branches(&mut self, of: &Branches, sink: &mut dyn Sink) -> Result<(), SinkError> {
        // Looked up at the time of the record, as code may be unloaded later.
        let place = Viewpoint {
            process: of.process,
            time: of.time,
        };
        for (from, to) in &of.branches {
            let ends = (
                self.stacks.frame(place, *from),
                self.stacks.frame(place, *to),
            );
            *self
                .branches
                .entry((of.process, ends.0, ends.1))
                .or_default() += 1;
        }
        if self.branches.len() < MAX_BRANCHES {
            Ok(())
        } else {
            // Written early and not dropped: two rows of one branch add up to the same sum.
            self.write_branches(sink)
        }
    }

    fn write_branches(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut rows: Vec<_> = self.branches.drain().collect();
        // A hash map has no order, and the same input has to give the same output.
        rows.sort_unstable_by_key(|(ends, _)| *ends);
        rows.into_iter()
            .try_for_each(|((process, from, to), count)| {
                let from_frame_id = from as i32;
                let to_frame_id = to as i32;
                let row = Lbr {
                    process_key: key(process),
                    from_frame_id,
                    to_frame_id,
                    count,
                };
                self.tables.push(&row, sink)
            })
    }

    fn row(
        &mut self,
        seq: Seq,
        entry: Entry<Pending>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Self {
            stacks,
            starts,
            tables,
            ..
        } = self;
        // Chunks before this row are no longer needed.
        stacks.advance(seq);
        let place = Viewpoint {
            process: entry.process,
            time: entry.time,
        };
        let mut found = RowStacks {
            stacks,
            starts,
            place,
            kernel: entry.kernel,
            user: entry.user,
        };
        match entry.row {
            Pending::Row(row) => return row.leave(&mut found, tables, sink),
            Pending::Start => {
                // Only starts with a stack are kept.
                if let Some(stack) = found.own() {
                    found.starts.insert(seq, stack);
                }
            }
            Pending::Forgotten => {}
        }
        Ok(())
    }
}
