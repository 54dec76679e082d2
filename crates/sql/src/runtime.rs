//! The threads on which questions are planned and answered.
//!
//! Each statement has its own threads while it is answered. A task can be stopped only where it
//! pauses, and between the batches of a join (see `stop`) much may be computed. When such a
//! statement is given up, its threads stay busy, and statements that shared them would wait as
//! long. So threads of finished statements are used again; threads of a statement that was given up
//! only when nothing computes on them any more. No set of threads is ever closed while a caller
//! waits for its results.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Mutex;

use etwkit_base::lock::lock;
use etwkit_extract::quiet;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{Cancel, Error, Result, error};

/// Stack size. Planning walks expressions and plans recursively; the usual 2 MiB overflow at a few
/// hundred terms.
const STACK_BYTES: usize = 16 << 20;

/// Maximum number of threads of one statement.
const MAX_WORKERS: usize = 256;

/// Maximum number of threads that wait for the next statement, for each processor; they sleep.
const SPARE_FOR_EACH_PROCESSOR: usize = 8;

/// Sets of threads without a statement, oldest return first. Abandoned work may still run on some
/// of them.
static SPARE: Mutex<VecDeque<Workers>> = Mutex::new(VecDeque::new());

/// A set of threads.
#[derive(Debug)]
struct Workers {
    runtime: Runtime,
    count: usize,
}

impl Workers {
    fn start(count: usize) -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let started = builder
            .thread_name("query")
            .thread_stack_size(STACK_BYTES)
            .worker_threads(count)
            // A panic of the engine becomes an error of the answer.
            .on_thread_start(quiet::thread)
            .enable_all()
            .build();
        Ok(Self {
            runtime: started.map_err(Error::Threads)?,
            count,
        })
    }

    /// Returns `true` if nothing computes on them any more.
    fn are_idle(&self) -> bool {
        self.runtime.metrics().num_alive_tasks() == 0
    }
}

/// Threads of one statement; other statements may get them when this is dropped.
#[derive(Debug)]
pub(crate) struct Threads(Option<Workers>);

impl Threads {
    /// Takes `count` threads: spare ones, or else new ones.
    pub(crate) fn take(count: usize) -> Result<Self> {
        let count = count.clamp(1, MAX_WORKERS);
        let spare = {
            let mut spare = lock(&SPARE);
            // The set that was given back last has the warmest caches.
            let at = spare
                .iter()
                .rposition(|workers| workers.count == count && workers.are_idle());
            at.and_then(|at| spare.remove(at))
        };
        Ok(Self(Some(match spare {
            Some(workers) => workers,
            None => Workers::start(count)?,
        })))
    }

    /// Returns the threads, which are present until this is dropped; the error never occurs.
    fn runtime(&self) -> Result<&Runtime> {
        self.0
            .as_ref()
            .map(|workers| &workers.runtime)
            .ok_or_else(stopped)
    }

    /// Starts work on them.
    pub(crate) fn spawn(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<JoinHandle<()>> {
        Ok(self.runtime()?.spawn(work))
    }

    /// Waits on the calling thread, which is not one of these, for their work.
    pub(crate) fn block_on<T>(&self, waiting: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime()?.block_on(waiting)
    }

    /// Runs the work on them and waits for it, or until it is given up. Running work then continues
    /// to its next pause.
    pub(crate) fn wait_for<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let task = self.spawn(async move {
            // The caller waits below until this arrives.
            let _ = sender.send(work.await);
        })?;
        let done =
            self.block_on(cancel.or(async { receiver.await.unwrap_or_else(|_| Err(stopped())) }));
        task.abort();
        done
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let Some(workers) = self.0.take() else { return };
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // A set with more threads than that is kept anyway, or a session with many partitions would
        // start threads for each statement.
        let most = processors
            .saturating_mul(SPARE_FOR_EACH_PROCESSOR)
            .max(workers.count);
        let mut spare = lock(&SPARE);
        spare.push_back(workers);
        let mut count: usize = spare.iter().map(|workers| workers.count).sum();
        while count > most {
            // No caller waits for these threads: their statement is gone. They end at their next
            // pause.
            let Some(oldest) = spare.pop_front() else {
                return;
            };
            count = count.saturating_sub(oldest.count);
            oldest.runtime.shutdown_background();
        }
    }
}

/// Returns the error for an engine that ended without an answer; its last message was not printed.
pub(crate) fn stopped() -> Error {
    error::from_panic(quiet::last_of_threads())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn threads_that_still_compute_are_given_to_nobody() {
        // Counts that no other test takes.
        const COUNT: usize = 5;
        let cancel = Cancel::default();
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let busy = Threads::take(COUNT).unwrap();
        let given_up = std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                busy.wait_for(&cancel, async move {
                    begin.send(()).unwrap();
                    // Without a pause at which it could be stopped.
                    let _ = ended.recv();
                    Ok(())
                })
            });
            begun.recv().unwrap();
            cancel.ask();
            asked.join().unwrap()
        });
        assert!(matches!(given_up, Err(Error::Cancelled)));
        let id = |threads: &Threads| threads.runtime().unwrap().handle().id();
        let stuck = id(&busy);
        drop(busy);
        let next = Threads::take(COUNT).unwrap();
        assert_ne!(id(&next), stuck, "something computes there");
        assert_eq!(
            next.wait_for(&Cancel::default(), async { Ok(7) }).unwrap(),
            7
        );
        drop(end);
        // It ends soon, and the threads are used again; parallel tests may have pushed them out.
        let spare = || {
            let all = lock(&SPARE);
            all.iter()
                .find(|workers| workers.runtime.handle().id() == stuck)
                .map(Workers::are_idle)
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while spare() == Some(false) {
            assert!(std::time::Instant::now() < deadline, "it never ends");
            std::thread::sleep(Duration::from_millis(1));
        }
        let again = Threads::take(COUNT).unwrap();
        assert!(
            id(&again) == stuck || spare().is_none(),
            "the threads are not used again"
        );
    }
}
