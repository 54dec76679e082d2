//! Conversion of entries that left the line into rows of tables, with their stacks. Runs on a
//! thread of its own, and hands the rows on to one that fills columns.

use std::sync::mpsc::Receiver;
use std::thread;

use etwkit_base::ordered::joined;
use rustc_hash::FxHashMap;

use super::columns::{ColumnSender, fill};
use super::identity::key;
use super::line::{Entry, Seq};
use super::row_sender::{Branches, Left, Message};
use super::stacks::{Stacks, Viewpoint};
use super::waiting::{Pending, RowStacks, complete};
use crate::sink::{Sink, SinkError};
use crate::table::Lbr;
use crate::tracker::process::ProcessKey;

/// Creates rows.
pub(crate) struct Rows<'d> {
    stacks: Stacks<'d>,
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
            starts: FxHashMap::default(),
            branches: FxHashMap::default(),
        }
    }

    /// Takes all messages and passes rows on. If the sender ends without [`Message::End`],
    /// remaining rows are dropped: the import has failed. Returns [`Stacks::not_listed`].
    pub(crate) fn run(
        self,
        messages: Receiver<Message>,
        sink: &mut (dyn Sink + Send),
    ) -> Result<u64, SinkError> {
        let (sender, resolved) = ColumnSender::new();
        thread::scope(|scope| {
            let columns = thread::Builder::new().name("columns".to_owned());
            let columns = columns.spawn_scoped(scope, || fill(resolved, sink))?;
            let not_listed = self.resolve(messages, sender);
            // If filling columns failed, resolving stopped because of that, and its own error only
            // reports that the receiver is gone.
            joined(columns)?;
            not_listed
        })
    }

    /// Takes all messages, and sends rows with their stacks.
    fn resolve(
        mut self,
        messages: Receiver<Message>,
        mut columns: ColumnSender,
    ) -> Result<u64, SinkError> {
        // The loop ends when both senders are gone, after a failure as well.
        for message in messages {
            match message {
                Message::Chunk(chunk) => self.stacks.add(chunk),
                Message::Left(rows) => {
                    // In the order of arrival, since starts have to come before the rows that take
                    // their stacks.
                    for left in rows {
                        self.left(left, &mut columns)?;
                    }
                    columns.flush()?;
                    // After each message: stacks must not be written long before the rows that name
                    // them.
                    self.stacks.flush(&mut columns)?;
                }
                Message::Batch(table, rows) => columns.write(table, rows)?,
                Message::End => {
                    // Branches are sums and are written last.
                    self.write_branches(&mut columns)?;
                    columns.end()?;
                    self.stacks.finish(&mut columns)?;
                }
            }
        }
        Ok(self.stacks.not_listed())
    }

    #[inline]
    fn left(&mut self, left: Left, columns: &mut ColumnSender) -> Result<(), SinkError> {
        match left {
            Left::Row(seq, entry) => self.row(seq, entry, columns),
            Left::Forget(seq) => {
                // Otherwise the map would grow with every start whose end was lost.
                self.starts.remove(&seq);
                Ok(())
            }
            Left::Branches(branches) => self.branches(&branches, columns),
        }
    }

    fn branches(&mut self, of: &Branches, columns: &mut ColumnSender) -> Result<(), SinkError> {
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
            self.write_branches(columns)
        }
    }

    fn write_branches(&mut self, columns: &mut ColumnSender) -> Result<(), SinkError> {
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
                columns.push(complete(row))
            })
    }

    fn row(
        &mut self,
        seq: Seq,
        entry: Entry<Pending>,
        columns: &mut ColumnSender,
    ) -> Result<(), SinkError> {
        let Self { stacks, starts, .. } = self;
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
            Pending::Row(mut row) => {
                row.resolve(&mut found);
                return columns.push(row);
            }
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
