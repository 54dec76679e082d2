//! Panics that are caught and become errors are not printed as well.
//!
//! The Parquet decoder and the query engine panic over some damaged numbers. Whoever catches that says what
//! is wrong with which file; the lines that the standard library prints before would only frighten. Panics of
//! other threads are printed as always.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

use etwkit_base::path::file_name;

thread_local! {
    /// How many callers up the stack of this thread catch panics.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// The message of the last panic.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The message of the last panic on a thread that is [all quiet](thread).
static OF_THREADS: Mutex<Option<String>> = Mutex::new(None);

/// Runs something that may panic.
///
/// # Errors
/// What the panic said.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install();
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get().saturating_sub(1));
    done.map_err(|_| SAID.take().unwrap_or_default())
}

/// From now on no panic of this thread is printed, since all of them are caught: for threads of an engine
/// that does so.
pub fn thread() {
    install();
    CATCHING.set(CATCHING.get() + 1);
}

/// What the last panic of a quiet thread said, once.
#[must_use]
pub fn last_of_threads() -> Option<String> {
    OF_THREADS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A thread that ends has no such variables any more.
            if CATCHING.try_with(Cell::get).unwrap_or_default() == 0 {
                before(panic);
                return;
            }
            let said = text(panic);
            // Engines hand work to threads of their own, on which nobody catches. What such a thread said is
            // kept here for whoever waits for its answer.
            *OF_THREADS.lock().unwrap_or_else(PoisonError::into_inner) = Some(said.clone());
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
