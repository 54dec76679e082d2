//! Execution of blocking requests: each has a thread of its own while it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use etwkit_engine::{Asking, Resources};
use etwkit_sql::Cancel;
use tokio::sync::{Semaphore, oneshot};

/// Stack size of the threads, in bytes: folding stacks and planning recurse.
const STACK_BYTES: usize = 16 << 20;

/// Largest number of requests that are queued or running.
const LINE: usize = 64;

/// Reason for the absence of an answer, independent of the question.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The queue is full.
    #[error("too many questions at once")]
    Busy,
    /// The server is ending.
    #[error("the server ends")]
    Ending,
    /// It exceeded its time limit.
    #[error("the answer took more than {} s", .0.as_secs())]
    Late(Duration),
    /// The computation of the answer panicked.
    #[error("the answer failed: this is a defect of etwkit")]
    Failed,
    /// The system cannot start a thread.
    #[error("cannot start a thread")]
    Thread(#[from] std::io::Error),
}

/// Answers requests on worker threads, a limited number at a time.
#[derive(Debug)]
pub struct WorkerPool {
    line: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    question_bytes: usize,
    given_up: Arc<AtomicU64>,
}

/// Cancels a request when its caller no longer waits for it.
struct GiveUp(Option<Arc<AtomicU64>>, Cancel);

impl Drop for GiveUp {
    fn drop(&mut self) {
        if let Some(given_up) = &self.0 {
            given_up.fetch_add(1, Ordering::Relaxed);
            self.1.ask();
        }
    }
}

impl WorkerPool {
    /// Creates a pool with this many bytes per request for sorting, grouping and joining.
    #[must_use]
    pub fn new(question_bytes: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            line: Arc::new(Semaphore::new(LINE)),
            // At least 4, so that a request that waits for the disk does not block others on a
            // small machine; at most 16, since each may use its share of memory.
            turns: Arc::new(Semaphore::new(processors.clamp(4, 16))),
            question_bytes,
            given_up: Arc::default(),
        }
    }

    /// Returns the number of canceled requests: their client disconnected, or they exceeded the
    /// time limit.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Runs `work` on a worker thread. The request is canceled after the time limit, or when the
    /// returned future is dropped because the client has disconnected.
    ///
    /// # Errors
    /// There are too many requests at once, or this one takes too long.
    pub async fn answer<T: Send + 'static>(
        &self,
        asking: Asking,
        most: Duration,
        work: impl FnOnce(&Asking) -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        // Requests above this limit are not queued: their clients are told to retry later.
        let place = self
            .line
            .clone()
            .try_acquire_owned()
            .map_err(|_| Unanswered::Busy)?;
        let turn = self
            .turns
            .clone()
            .acquire_owned()
            .await
            .map_err(|_| Unanswered::Ending)?;
        let resources = Resources {
            memory_bytes: Some(self.question_bytes),
            threads: None,
        };
        let asking = Asking {
            resources,
            ..asking
        };
        let mut give_up = GiveUp(Some(self.given_up.clone()), asking.cancel.clone());
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("answer".to_owned())
            .stack_size(STACK_BYTES);
        thread.spawn(move || {
            // A canceled computation runs until it notices, and occupies its place until then.
            let _held = (place, turn);
            let begun = Instant::now();
            let answer = work(&asking);
            // If the client has disconnected, there is no receiver.
            let _ = sender.send((answer, begun.elapsed()));
        })?;
        // The time limit starts with the turn, so waiting in the queue does not count.
        let answer = tokio::time::timeout(most, receiver).await;
        let answer = answer.map_err(|_| Unanswered::Late(most))?;
        // On a busy machine an answer can arrive before this task notices that its time is over.
        if answer.as_ref().is_ok_and(|(_, took)| *took > most) {
            return Err(Unanswered::Late(most));
        }
        // From here on the answer is complete or its computation has failed: there is nothing left
        // to cancel.
        give_up.0 = None;
        let (answer, _) = answer.map_err(|_| Unanswered::Failed)?;
        Ok(answer)
    }
}
