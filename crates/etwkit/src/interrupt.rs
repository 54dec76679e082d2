//! Ctrl-C: the process ends with status 130. Work that has something to clean up is asked to stop first.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::Exit;

static ASKED: AtomicBool = AtomicBool::new(false);
static WORKERS: AtomicUsize = AtomicUsize::new(0);

/// Takes over Ctrl-C; for the program, not for those who call [`run`](crate::run). A second Ctrl-C ends the process in any case.
pub fn install() {
    // Where the system has no such signal there is nothing to take over.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) || WORKERS.load(Ordering::SeqCst) == 0 {
            end();
        }
    });
}

#[expect(clippy::exit, reason = "a signal ends the process, wherever it is")]
fn end() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}

/// Work that is asked to stop, while this lives.
#[derive(Debug)]
pub(crate) struct Stoppable(());

impl Stoppable {
    pub(crate) fn begin() -> Self {
        WORKERS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Whether it should stop.
    pub(crate) fn is_asked_to_stop(&self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        WORKERS.fetch_sub(1, Ordering::SeqCst);
    }
}
