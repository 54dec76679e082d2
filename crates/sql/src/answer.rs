//! The answer to a question: rows that are computed while they are read.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::EmptyRecordBatchStream;
use etwkit_extract::StoreError;
use futures::{FutureExt, StreamExt};
use std::panic::AssertUnwindSafe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::runtime::{Threads, stopped};
use crate::start::Start;
use crate::stop::Stop;
use crate::{Cancel, Error, Result, error};

/// Batches that wait for the reader before the engine pauses.
// Two keep reader and engine busy at the same time; more would only fill memory with rows that a
// slow reader has not requested.
const BUFFERED_BATCHES: usize = 2;

/// Rows of an answer, by batch, in their order. They are computed while they are read, a few
/// batches ahead, until the answer is dropped.
///
/// Reading blocks: inside an asynchronous program do it on a thread for blocking work.
#[derive(Debug)]
pub struct Answer {
    schema: SchemaRef,
    cancel: Cancel,
    rows: Rows,
}

/// The source of the rows of an answer.
#[derive(Debug)]
enum Rows {
    /// Rows that were computed before.
    Ready(std::vec::IntoIter<RecordBatch>),
    /// Rows that are being computed.
    Computed(Work),
}

/// Work that makes rows, which ends when this is dropped.
#[derive(Debug)]
struct Work {
    batches: mpsc::Receiver<Result<RecordBatch>>,
    task: JoinHandle<()>,
    stop: Stop,
    /// Dropped after the task was stopped, since other statements may then get the threads.
    threads: Threads,
}

impl Answer {
    /// Starts reading the stream on the threads on which it was started. If its rows are too wide,
    /// it starts again. If reading the extract fails, `damage` looks for the damaged file.
    pub(crate) fn start(
        mut start: Start,
        mut stream: SendableRecordBatchStream,
        threads: Threads,
        cancel: Cancel,
        stop: Stop,
        damage: impl Fn() -> Option<StoreError> + Send + 'static,
    ) -> Result<Self> {
        let schema = stream.schema();
        // A copy, since the stream is replaced while the schema must stay.
        let of_rows = schema.clone();
        let (sender, batches) = mpsc::channel(BUFFERED_BATCHES);
        let task = threads.spawn(async move {
            let mut is_first = true;
            loop {
                // A panic of the engine is an error of this answer, not its silent end.
                let next = AssertUnwindSafe(stream.next()).catch_unwind().await;
                let next = match next {
                    Ok(None) => break,
                    Ok(Some(Ok(batch))) => Ok(batch),
                    // Only before the first batch: afterwards the reader has rows, and would get
                    // them twice.
                    Ok(Some(Err(e))) if is_first && start.narrow(&e) => {
                        // The rows of the first run go before those of the next are made.
                        stream = nothing(&of_rows);
                        match start.rows().await {
                            Ok(again) => {
                                stream = again;
                                continue;
                            }
                            Err(e) => Err(error::from_execution(&e)),
                        }
                    }
                    Ok(Some(Err(e))) => {
                        let known = error::from_execution(&e);
                        // A file is searched only if the engine's own error does not already name
                        // one: the search reads all columns.
                        let is_named = matches!(
                            known,
                            Error::Extract(_) | Error::Memory { .. } | Error::Work { .. }
                        );
                        let found = if error::may_be_damage(&e) && !is_named {
                            damage()
                        } else {
                            None
                        };
                        Err(found.map_or(known, Error::Extract))
                    }
                    // A panic is damage or a limit of the engine: the files tell which.
                    Err(_) => Err(match stopped() {
                        Error::Stopped { said } => {
                            damage().map_or(Error::Stopped { said }, Error::Extract)
                        }
                        limit => limit,
                    }),
                };
                // From here on the reader may have rows.
                is_first = false;
                let is_last = next.is_err();
                // Sending fails when the reader has gone. After an error there are no more rows.
                if sender.send(next).await.is_err() || is_last {
                    break;
                }
            }
        })?;
        Ok(Self {
            schema,
            cancel,
            rows: Rows::Computed(Work {
                batches,
                task,
                stop,
                threads,
            }),
        })
    }

    /// Creates an answer of rows that were computed before.
    pub(crate) fn of(schema: SchemaRef, batches: Vec<RecordBatch>, cancel: Cancel) -> Self {
        Self {
            schema,
            cancel,
            rows: Rows::Ready(batches.into_iter()),
        }
    }

    /// Creates an answer of rows that another question made, to write them.
    #[must_use]
    pub fn of_rows(rows: RecordBatch) -> Self {
        Self::of(rows.schema(), vec![rows], Cancel::default())
    }

    /// Returns names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns all rows at once.
    ///
    /// # Errors
    /// The first error of the answer. There is no limit to what they take: see [`KeptBytes`].
    pub fn collect(self) -> Result<Vec<RecordBatch>> {
        Iterator::collect(self)
    }
}

/// Returns a stream without rows.
fn nothing(schema: &SchemaRef) -> SendableRecordBatchStream {
    Box::pin(EmptyRecordBatchStream::new(schema.clone()))
}

/// Counts the bytes of rows that are kept in memory. Rows from a malicious file can be made to fill
/// it.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeptBytes {
    bytes: usize,
}

impl KeptBytes {
    /// Bytes of rows that one answer may take.
    pub const MAX_BYTES: usize = 1 << 30;

    /// Returns counts the rows of a batch.
    ///
    /// # Errors
    /// With the ones before they are more than an answer may take.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        // A batch can be a slice of a larger column that others also hold: only its own part is
        // counted.
        let columns = batch.columns().iter();
        // A column whose size is unknown is not counted.
        let bytes = columns
            .filter_map(|column| column.to_data().get_slice_memory_size().ok())
            .sum();
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > Self::MAX_BYTES {
            Err(Error::TooMuch {
                limit: Self::MAX_BYTES,
            })
        } else {
            Ok(())
        }
    }
}

/// An error is the last item.
impl Iterator for Answer {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.rows {
            // Rows that are ready are also given up, so that a cancelled question always ends
            // with the error.
            Rows::Ready(_) if self.cancel.is_asked() => {
                self.rows = Rows::Ready(Vec::new().into_iter());
                // Then nothing follows the error.
                Some(Err(Error::Cancelled))
            }
            Rows::Ready(batches) => batches.next().map(Ok),
            Rows::Computed(work) => work.next(&self.cancel),
        }
    }
}

impl Work {
    fn next(&mut self, cancel: &Cancel) -> Option<Result<RecordBatch>> {
        // The engine may compute for long without a pause. Giving the question up does not wait for
        // that.
        let next = self
            .threads
            .block_on(cancel.or(async { self.batches.recv().await.transpose() }));
        // Also after an error of the engine: parallel parts of the query may still run.
        if next.is_err() {
            self.give_up();
            // Batches computed in the meantime are dropped: after an error there are no more rows.
            self.batches.close();
            while self.batches.try_recv().is_ok() {}
        }
        next.transpose()
    }

    /// Ends the work where it pauses, and in joins between two batches.
    fn give_up(&self) {
        // Aborting a task takes effect only where it pauses; the switch ends joins that do not
        // pause.
        self.stop.request();
        self.task.abort();
    }
}

impl Drop for Work {
    // A reader that stops early must not leave the engine computing for nobody.
    fn drop(&mut self) {
        self.give_up();
    }
}
