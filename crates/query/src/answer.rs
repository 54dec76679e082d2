//! The answer to a question: rows, while they come.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::{FutureExt, StreamExt};
use std::panic::AssertUnwindSafe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::{Cancel, Error, Result, error, runtime};

/// Batches that wait for the reader before the engine pauses.
const BUFFERED_BATCHES: usize = 2;

/// Rows of an answer, by batch, in their order. Computing them goes on while they are read, a few batches ahead, and ends
/// when the answer is dropped.
///
/// Reading blocks: inside an asynchronous program do it on a thread for blocking work.
#[derive(Debug)]
pub struct Answer {
    schema: SchemaRef,
    batches: mpsc::Receiver<Result<RecordBatch>>,
    cancel: Cancel,
    work: JoinHandle<()>,
}

impl Answer {
    /// Starts reading the stream.
    pub(crate) fn start(mut stream: SendableRecordBatchStream, cancel: Cancel) -> Result<Self> {
        let schema = stream.schema();
        let (sender, batches) = mpsc::channel(BUFFERED_BATCHES);
        let given_up = cancel.clone();
        let work = runtime::spawn(async move {
            loop {
                let next = given_up.or(async {
                    // A panic of the engine is an error of this answer, not its silent end.
                    match AssertUnwindSafe(stream.next()).catch_unwind().await {
                        Ok(batch) => batch.transpose().map_err(|e| error::from_execution(&e)),
                        Err(_) => Err(Error::Stopped),
                    }
                });
                let Some(next) = next.await.transpose() else { break };
                let is_last = next.is_err();
                // The reader may have gone.
                if sender.send(next).await.is_err() || is_last {
                    break;
                }
            }
        })?;
        Ok(Self { schema, batches, cancel, work })
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// All rows at once.
    ///
    /// # Errors
    /// The first error of the answer.
    pub fn collect(self) -> Result<Vec<RecordBatch>> {
        Iterator::collect(self)
    }
}

/// An error is the last item.
impl Iterator for Answer {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // Batches that were computed before the question was given up are not wanted any more.
        match self.batches.blocking_recv() {
            Some(Ok(_)) if self.cancel.is_asked() => {
                self.batches.close();
                while self.batches.try_recv().is_ok() {}
                Some(Err(Error::Cancelled))
            }
            next => next,
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.work.abort();
    }
}
