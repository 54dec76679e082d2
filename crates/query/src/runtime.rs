//! The threads on which questions are planned and answered.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{Cancel, Error, Result};

/// Planning walks expressions and plans recursively; the usual 2 MiB end at a few hundred terms.
const STACK_BYTES: usize = 16 << 20;

/// One set of threads for all sessions of the process; they sleep when nothing is asked.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let start = || {
        Builder::new_multi_thread().thread_name("query").thread_stack_size(STACK_BYTES).enable_all().build()
    };
    RUNTIME.get_or_init(start).as_ref().map_err(|error| Error::Threads(error.kind().into()))
}

/// Starts the work on the threads of the engine.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<JoinHandle<()>> {
    Ok(runtime()?.spawn(work))
}

/// Waits on this thread, which is none of the engine's, for something that its threads do.
pub(crate) fn block_on<T>(waiting: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(waiting)
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
    let done = block_on(cancel.or(async { receiver.await.unwrap_or(Err(Error::Stopped)) }));
    task.abort();
    done
}
