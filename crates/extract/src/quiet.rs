//! Panics that are caught and become errors are not printed as well.
//!
//! The Parquet decoder and the query engine panic over some damaged numbers. The caller that
//! catches the panic reports the fault and the file; the lines that the standard library prints
//! before would only frighten. Panics of other threads are printed as always.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, Once};

use etwkit_base::lock::lock;
use etwkit_base::path::file_name;

thread_local! {
    /// Number of callers up the stack of this thread that catch panics.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// The message of the last panic.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The message of the last panic on a thread that is [all quiet](thread).
static OF_THREADS: Mutex<Option<String>> = Mutex::new(None);

/// Runs something that may panic.
///
/// # Errors
/// The message of the panic.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install();
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get().saturating_sub(1));
    // The hook keeps the words of each panic.
    done.map_err(|_| {
        SAID.take()
            .unwrap_or_else(|| "it left no message".to_owned())
    })
}

/// Suppresses the output of all further panics of this thread, because all of them are caught: for
/// threads of an engine that does so.
pub fn thread() {
    install();
    CATCHING.set(CATCHING.get() + 1);
}

/// Takes the message of the last panic of a quiet thread.
#[must_use]
pub fn last_of_threads() -> Option<String> {
    lock(&OF_THREADS).take()
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A thread that is ending has no thread-local variables any more.
            if CATCHING
                .try_with(Cell::get)
                .map_or(true, |depth| depth == 0)
            {
                before(panic);
                return;
            }
            let said = text(panic);
            // Engines pass work to threads of their own, on which nothing catches panics. The
            // message of such a thread is kept here for the caller that waits for its answer.
            *lock(&OF_THREADS) = Some(said.clone());
            let _ = SAID.try_with(|last| last.replace(Some(said)));
        }));
    });
}

fn text(panic: &PanicHookInfo<'_>) -> String {
    let said = panic.payload_as_str().unwrap_or("a panic without a text");
    match panic.location() {
        Some(place) => format!("{said} ({}:{})", file_name(place.file()), place.line()),
        None => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_said_becomes_an_error() {
        assert_eq!(catch(|| 5), Ok(5));
        let numbers: Vec<i32> = Vec::new();
        let said = catch(|| numbers[3]).unwrap_err();
        assert!(
            said.starts_with("index out of bounds: the len is 0 but the index is 3 (quiet.rs:"),
            "{said}"
        );
        assert_eq!(CATCHING.get(), 0);
    }
}
