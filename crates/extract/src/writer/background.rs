//! Encoding and compression of rows on a thread of its own, while the next ones are created.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use arrow_array::RecordBatch;
use etwkit_trace::table::Table;

use super::Folders;
use crate::store_error::{StoreError, StoreResult};

/// Batches on their way. One is about a megabyte.
const BATCHES: usize = 16;

type Batch = (&'static Table, RecordBatch);

/// The tables of an extract, and the thread that encodes their rows once it is running.
#[derive(Debug)]
pub(super) struct Background {
    /// `None` while the thread has them.
    folders: Option<Folders>,
    sender: Option<SyncSender<Batch>>,
    thread: Option<JoinHandle<(Folders, StoreResult<()>)>>,
}

impl Background {
    pub(super) fn new(folders: Folders) -> Self {
        Self {
            folders: Some(folders),
            sender: None,
            thread: None,
        }
    }

    /// Takes rows. An error can be one of rows that were taken before.
    pub(super) fn write(&mut self, table: &'static Table, rows: RecordBatch) -> StoreResult<()> {
        self.start()?;
        // The channel is full if the encoder is slower; waiting is what keeps the memory bounded.
        let sent = self
            .sender
            .as_ref()
            .map(|sender| sender.send((table, rows)));
        // The thread ends early only because of an error, which it returns when it is joined.
        if matches!(sent, Some(Ok(()))) {
            Ok(())
        } else {
            self.stop().map(|_| ())
        }
    }

    fn start(&mut self) -> StoreResult<()> {
        let Some(folders) = self.folders.take() else {
            return Ok(());
        };
        // Started with the first rows: an extract that fails early needs no thread.
        let target = folders.tables.folder.clone();
        // The channel is bounded, so that the producer of rows waits for the encoder and rows do
        // not pile up.
        let (sender, receiver) = sync_channel(BATCHES);
        let thread = Builder::new()
            .name("encode".to_owned())
            .spawn(move || encode(folders, &receiver));
        self.thread = Some(thread.map_err(StoreError::io("start a thread to write", &target))?);
        self.sender = Some(sender);
        Ok(())
    }

    /// Waits until all rows are encoded, and returns the tables for further use.
    pub(super) fn stop(&mut self) -> StoreResult<&mut Folders> {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let (folders, done) = thread
                // The message of a panic is kept.
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.folders = Some(folders);
            done?;
        }
        // There is none only if a thread could not be started, which was an error before.
        self.folders.as_mut().ok_or_else(|| StoreError::Incomplete {
            path: std::path::PathBuf::new(),
        })
    }

    /// Like [`Background::stop`], but final.
    pub(super) fn into_folders(mut self) -> StoreResult<Folders> {
        self.stop()?;
        let missing = || StoreError::Incomplete {
            path: std::path::PathBuf::new(),
        };
        self.folders.take().ok_or_else(missing)
    }
}

impl Drop for Background {
    /// Waits, because the folder is removed next and the thread still writes to it.
    fn drop(&mut self) {
        // The end of the channel ends the thread.
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // The caller that drops it is not interested in errors of the rows.
            drop(thread.join());
        }
    }
}

/// Encodes batches until the other end is closed, or writing fails.
fn encode(mut folders: Folders, batches: &Receiver<Batch>) -> (Folders, StoreResult<()>) {
    let done = batches
        .iter()
        .try_for_each(|(table, rows)| folders.write(table, &rows));
    (folders, done)
}
