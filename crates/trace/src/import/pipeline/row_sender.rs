//! The channel from the thread that reads events to the thread that creates rows: entries that left
//! the line, in order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow_array::RecordBatch;

use super::arena::Chunk;
use super::line::{Entry, Line, Seq, Texts};
use super::waiting::Pending;
use crate::sink::{Sink, SinkError};
use crate::table::Table;
use crate::tracker::process::ProcessKey;

/// Maximum rows in a message.
const ROWS: usize = 1024;

/// Maximum bytes of the texts in a message.
const TEXT: usize = 1 << 20;

/// Capacity of the queue in messages. With this bound the reader waits for a slow receiver, instead
/// of filling the memory.
const MESSAGES: usize = 32;

/// A message to the thread that creates rows.
#[derive(Debug)]
pub(crate) enum Message {
    /// Addresses of stacks, before the rows that need them.
    Chunk(Chunk),
    /// Rows that left the line.
    Left(Vec<Left>),
    /// Rows of tables that never have a stack.
    Batch(&'static Table, RecordBatch),
    /// Everything was sent.
    End,
}

/// An entry that left the line.
#[derive(Debug)]
pub(crate) enum Left {
    /// A row with its number.
    Row(Seq, Entry<Pending>),
    /// No row will need the stack of this start any more.
    Forget(Seq),
    /// Branches, which have no place in the line.
    Branches(Branches),
}

/// Branches that a processor remembered.
#[derive(Debug)]
pub(crate) struct Branches {
    /// Raw time for looking up addresses.
    pub(crate) time: i64,
    /// Process in which they are.
    pub(crate) process: Option<ProcessKey>,
    /// Source and target of each branch.
    pub(crate) branches: Box<[(u64, u64)]>,
}

/// The other thread has ended; it has the reason.
#[derive(Debug, thiserror::Error)]
#[error("the rows were not taken")]
pub(crate) struct Gone;

/// Sends rows.
#[derive(Debug)]
pub(crate) struct RowSender {
    sender: SyncSender<Message>,
    rows: Vec<Left>,
    /// Bytes of their texts.
    text_bytes: usize,
    /// True if one of the rows has a stack in the current chunk.
    needs_chunk: bool,
}

impl RowSender {
    /// Both ends of the way.
    pub(crate) fn new() -> (Self, Batches, Receiver<Message>) {
        let (sender, receiver) = sync_channel(MESSAGES);
        // Both senders share one channel, so that batches and rows keep their order.
        let batches = Batches(sender.clone());
        (
            Self {
                sender,
                rows: Vec::with_capacity(ROWS),
                text_bytes: 0,
                needs_chunk: false,
            },
            batches,
            receiver,
        )
    }

    /// Takes a row that left the line.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        seq: Seq,
        entry: Entry<Pending>,
        line: &mut Line<Pending>,
    ) -> Result<(), SinkError> {
        // Nobody will ask for its stack.
        if matches!(entry.row, Pending::Forgotten) {
            return Ok(());
        }
        self.needs_chunk |= line.arena.holds(entry.kernel) || line.arena.holds(entry.user);
        self.text_bytes += entry.row.text_bytes();
        self.rows.push(Left::Row(seq, entry));
        // By texts as well: a thousand command lines may be megabytes.
        let is_full = self.rows.len() >= ROWS || self.text_bytes >= TEXT;
        if is_full { self.flush(line) } else { Ok(()) }
    }

    /// Drops the stack kept for start event `seq`; no later row refers to it.
    pub(crate) fn forget(&mut self, seq: Seq) {
        // Sent with the rows and in their order. A message of its own would cost a lock for each.
        self.rows.push(Left::Forget(seq));
    }

    /// Takes branches.
    pub(crate) fn branches(
        &mut self,
        branches: Branches,
        line: &mut Line<Pending>,
    ) -> Result<(), SinkError> {
        self.rows.push(Left::Branches(branches));
        if self.rows.len() < ROWS {
            Ok(())
        } else {
            self.flush(line)
        }
    }

    /// Sends the entries collected so far.
    pub(crate) fn flush(&mut self, line: &mut Line<Pending>) -> Result<(), SinkError> {
        // The other thread reads messages in order, so the addresses have to be sent before the
        // rows that point into them.
        if self.needs_chunk {
            self.give_chunk(line)?;
        }
        self.text_bytes = 0;
        // A new vector of full size: growing it again for each message would copy rows.
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
        Ok(self.sender.send(Message::Left(rows)).map_err(|_| Gone)?)
    }

    /// Sends the chunk that is filled.
    pub(crate) fn give_chunk(&mut self, line: &mut Line<Pending>) -> Result<(), SinkError> {
        self.needs_chunk = false;
        // Rows up to this one may point into the chunk.
        let next = line.next();
        Ok(self
            .sender
            .send(Message::Chunk(line.arena.give(next)))
            .map_err(|_| Gone)?)
    }
}

/// Sends batches of rows that never have a stack.
#[derive(Debug)]
pub(crate) struct Batches(SyncSender<Message>);

impl Batches {
    /// Sends the end mark: without this message the receiver treats the end as a failure.
    pub(crate) fn end(&self) -> Result<(), SinkError> {
        Ok(self.0.send(Message::End).map_err(|_| Gone)?)
    }
}

impl Sink for Batches {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        Ok(self.0.send(Message::Batch(table, rows)).map_err(|_| Gone)?)
    }
}
