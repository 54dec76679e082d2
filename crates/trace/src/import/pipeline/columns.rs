//! Columns of the rows that have their stacks. They are filled on a thread of their own, since one
//! row goes to dozens of places in memory.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow_array::RecordBatch;

use super::row_sender::Gone;
use super::tables::Tables;
use super::waiting::Waiting;
use crate::sink::{Sink, SinkError};
use crate::table::Table;

/// Maximum rows in a message.
const ROWS: usize = 1024;

/// Capacity of the queue in messages. Their rows may have texts, so that they are few.
const MESSAGES: usize = 8;

/// A message to the thread that fills columns.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// Rows that have their stacks.
    Rows(Vec<Box<dyn Waiting>>),
    /// Rows whose columns are filled.
    Batch(&'static Table, RecordBatch),
    /// No more rows come, only batches.
    End,
}

/// Sends rows to the thread that fills columns.
#[derive(Debug)]
pub(crate) struct ColumnSender {
    sender: SyncSender<Resolved>,
    rows: Vec<Box<dyn Waiting>>,
}

impl ColumnSender {
    /// Both ends of the way.
    pub(crate) fn new() -> (Self, Receiver<Resolved>) {
        let (sender, receiver) = sync_channel(MESSAGES);
        let rows = Vec::with_capacity(ROWS);
        (Self { sender, rows }, receiver)
    }

    /// Takes a row that has its stacks.
    #[inline]
    pub(crate) fn push(&mut self, row: Box<dyn Waiting>) -> Result<(), SinkError> {
        self.rows.push(row);
        if self.rows.len() < ROWS {
            Ok(())
        } else {
            self.flush()
        }
    }

    /// Sends the rows collected so far.
    pub(crate) fn flush(&mut self) -> Result<(), SinkError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
        self.send(Resolved::Rows(rows))
    }

    /// Sends the rest of the rows, and that they were all.
    pub(crate) fn end(&mut self) -> Result<(), SinkError> {
        self.flush()?;
        self.send(Resolved::End)
    }

    fn send(&self, message: Resolved) -> Result<(), SinkError> {
        Ok(self.sender.send(message).map_err(|_| Gone)?)
    }
}

/// Batches come after the rows that were pushed before them.
impl Sink for ColumnSender {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        self.flush()?;
        self.send(Resolved::Batch(table, rows))
    }
}

/// Fills columns and passes them on. If the sender ends without [`Resolved::End`], remaining rows
/// are dropped: the import has failed.
pub(crate) fn fill(messages: Receiver<Resolved>, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut tables = Tables::default();
    for message in messages {
        match message {
            Resolved::Rows(rows) => rows.iter().try_for_each(|row| row.put(&mut tables, sink))?,
            Resolved::Batch(table, rows) => sink.write(table, rows)?,
            Resolved::End => tables.flush(sink)?,
        }
    }
    Ok(())
}
