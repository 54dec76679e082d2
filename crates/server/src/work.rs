//! Questions block: each has a thread of its own while it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use etwkit_engine::{Asking, Resources};
use etwkit_query::Cancel;
use tokio::sync::{Semaphore, oneshot};

/// Folding stacks and planning recurse.
const STACK_BYTES: usize = 16 << 20;

/// Questions that wait for their turn or are answered.
const LINE: usize = 64;

/// Why there is no answer, whatever was asked.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// So many ask already that nobody can say when it is answered.
    #[error("too many questions at once")]
    Busy,
    /// Nothing is answered any more.
    #[error("the server ends")]
    Ending,
    /// It took longer than it may.
    #[error("the answer took more than {} s", .0.as_secs())]
    Late(Duration),
    /// What answers it broke off.
    #[error("the answer failed: this is a defect of etwkit")]
    Failed,
    /// The system starts no thread.
    #[error("cannot start a thread")]
    Thread(#[from] std::io::Error),
}

/// Answers questions on threads of their own, so many at a time.
#[derive(Debug)]
pub struct Desk {
    line: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    question_bytes: usize,
    given_up: Arc<AtomicU64>,
}

/// Gives a question up when whoever waits for it is gone.
struct GiveUp(Option<Arc<AtomicU64>>, Cancel);

impl Drop for GiveUp {
    fn drop(&mut self) {
        if let Some(given_up) = &self.0 {
            given_up.fetch_add(1, Ordering::Relaxed);
            self.1.ask();
        }
    }
}

impl Desk {
    /// One whose questions may take so many bytes each for sorting, grouping and joining.
    #[must_use]
    pub fn new(question_bytes: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            line: Arc::new(Semaphore::new(LINE)),
            // At least a few, so that a question that waits for the disk does not hold up others on a small
            // machine; at most so many, since each may take its share of memory.
            turns: Arc::new(Semaphore::new(processors.clamp(4, 16))),
            question_bytes,
            given_up: Arc::default(),
        }
    }

    /// How many questions were given up, since whoever asked went away or would have waited too long.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Answers on a thread of its own. The question is given up when what is returned is dropped, which it is
    /// when the client has gone, and after the longest time that it may take.
    ///
    /// # Errors
    /// Too many ask at once, or it takes too long.
    pub async fn answer<T: Send + 'static>(
        &self,
        asking: Asking,
        most: Duration,
        work: impl FnOnce(&Asking) -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        // Those above this wait in no line: whoever asks so much gets the answer to ask later.
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
            // What was given up computes until it notices, and counts as long.
            let _held = (place, turn);
            let answer = work(&asking);
            // Nobody waits for it any more if the client has gone.
            let _ = sender.send(answer);
        })?;
        // The time begins with the turn, so that waiting in the line costs a question nothing of it.
        let answer = tokio::time::timeout(most, receiver).await;
        let answer = answer.map_err(|_| Unanswered::Late(most))?;
        // From here on the answer is there, or what made it broke off: nothing is left to be given up.
        give_up.0 = None;
        answer.map_err(|_| Unanswered::Failed)
    }
}
