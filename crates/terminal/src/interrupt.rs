//! Ctrl-C: the process ends with status 130. Work that has to clean up is stopped first. In the
//! console only the command ends, and the console goes on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Exit;

/// Cancels a command.
type GiveUp = Box<dyn Fn() + Send>;

static ASKED: AtomicBool = AtomicBool::new(false);
static WORKERS: AtomicUsize = AtomicUsize::new(0);
/// Cancels the running command of a console, while a console is open.
static CONSOLE: Mutex<Option<GiveUp>> = Mutex::new(None);
static PRESSED: AtomicUsize = AtomicUsize::new(0);

/// Number of times that Ctrl-C has to be pressed to end the console with a command that did not
/// stop.
const ENOUGH: usize = 3;

/// Installs the Ctrl-C handler; for a program, not for users of its parts as a library. A second
/// Ctrl-C always ends the process.
pub fn install() {
    // A system without this signal needs no handler.
    let _ = ctrlc::set_handler(|| {
        let console = console();
        // The lock is held to the end, so that the canceled command is the one that ran when Ctrl-C
        // was pressed.
        if let Some(give_up) = &*console {
            ASKED.store(true, Ordering::SeqCst);
            give_up();
            if PRESSED.fetch_add(1, Ordering::SeqCst) + 1 < ENOUGH {
                return;
            }
            end();
        }
        // Without work that has to clean up, no code would ever look at the flag.
        if ASKED.swap(true, Ordering::SeqCst) || WORKERS.load(Ordering::SeqCst) == 0 {
            end();
        }
    });
}

/// Unfinished files. The kept ones have another name by then.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Registers a file to be removed when a signal ends the process, if it still has that name.
pub fn remove_at_the_end(path: &Path) {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    // A console writes many files: renamed and removed ones are forgotten.
    all.retain(|path| path.exists());
    all.push(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
}

#[expect(clippy::exit, reason = "a signal ends the process, wherever it is")]
fn end() -> ! {
    for path in UNFINISHED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(Exit::Interrupted.code().into())
}

fn console() -> MutexGuard<'static, Option<GiveUp>> {
    CONSOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registration of a console, in which Ctrl-C ends commands and not the process, until it is
/// dropped.
#[derive(Debug)]
pub struct ConsoleRegistration(());

impl ConsoleRegistration {
    /// Makes Ctrl-C end commands of a console.
    #[must_use]
    pub fn begin() -> Self {
        // No command runs yet, so there is nothing to cancel.
        *console() = Some(Box::new(|| ()));
        Self(())
    }

    /// Starts a command that `give_up` cancels. Earlier presses of Ctrl-C are forgotten.
    pub fn command(&self, give_up: impl Fn() + Send + 'static) {
        *console() = Some(Box::new(give_up));
        forget();
    }
}

/// Forgets earlier presses of Ctrl-C: they ended one part of a command, and the next part begins.
pub fn forget() {
    PRESSED.store(0, Ordering::SeqCst);
    ASKED.store(false, Ordering::SeqCst);
}

impl Drop for ConsoleRegistration {
    fn drop(&mut self) {
        *console() = None;
        forget();
    }
}

/// Registration of work that can be stopped, until it is dropped.
#[derive(Debug)]
pub struct Stoppable(());

impl Stoppable {
    /// From now on Ctrl-C requests this work to stop, and ends the process only the second time.
    #[must_use]
    pub fn begin() -> Self {
        WORKERS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// True if the work should stop.
    #[must_use]
    pub fn is_asked_to_stop(&self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        WORKERS.fetch_sub(1, Ordering::SeqCst);
    }
}
