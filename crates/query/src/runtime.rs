//! The threads on which questions are planned and answered.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use etwkit_extract::quiet;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{Cancel, Error, Result};

/// Planning walks expressions and plans recursively; the usual 2 MiB end at a few hundred terms.
const STACK_BYTES: usize = 16 << 20;

/// One set of threads for all sessions of the process; they sleep when nothing is asked.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

fn handle() -> Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    let mut builder = Builder::new_multi_thread();
    // As many as there are processors, whatever the environment says: 0 of them would be a panic.
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let started = builder
        .thread_name("query")
        .thread_stack_size(STACK_BYTES)
        .worker_threads(threads)
        // A panic of the engine becomes an error of the answer.
        .on_thread_start(quiet::thread)
        .enable_all()
        .build();
    let started = started.map_err(Error::Threads)?;
    let handle = started.handle().clone();
    *runtime = Some(started);
    Ok(handle)
}

/// Leaves the threads that answer questions alone with what they do; later questions get new ones. For whoever has given up all questions that were under way:
/// a join of everything with everything computes for hours without a pause, and nothing else would be answered meanwhile. Threads end at their next pause.
///
/// Questions that are under way end without all their rows.
pub fn leave_threads() {
    let left = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(left) = left {
        left.shutdown_background();
    }
}

/// The engine has ended without an answer; what it said was not printed.
pub(crate) fn stopped() -> Error {
    Error::Stopped { said: quiet::last_of_threads() }
}

/// Starts the work on the threads of the engine.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<JoinHandle<()>> {
    Ok(handle()?.spawn(work))
}

/// Waits on this thread, which is none of the engine's, for something that its threads do.
pub(crate) fn block_on<T>(waiting: impl Future<Output = Result<T>>) -> Result<T> {
    handle()?.block_on(waiting)
}

/// Does the work on the threads of the engine and waits for it, or until it is given up. Work that computes goes on to its next pause then.
pub(crate) fn wait_for<T: Send + 'static>(
    cancel: &Cancel,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let task = spawn(async move {
        // The caller waits below until this arrives.
        let _ = sender.send(work.await);
    })?;
    let done = block_on(cancel.or(async { receiver.await.unwrap_or_else(|_| Err(stopped())) }));
    task.abort();
    done
}
