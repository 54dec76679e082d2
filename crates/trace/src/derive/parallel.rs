//! Two things at a time.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs `other` on a thread of its own while this one runs `own`.
pub(super) fn both<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (A, B) {
    let job = Mutex::new(Some(other));
    let run = || {
        let other = job.lock().unwrap_or_else(PoisonError::into_inner).take();
        other.map(|other| other())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("derive".to_owned())
            .spawn_scoped(scope, run);
        let own = own();
        // A panic continues here, as if the work had been done on this thread.
        let done = thread.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // If no thread could be started, this one runs both.
        match done.ok().flatten().or_else(run) {
            Some(other) => (other, own),
            None => unreachable!("the job is taken by exactly one of two"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done() {
        let (texts, sum) = both(|| vec!["a"; 2], || (0..10).sum::<i32>());
        assert_eq!((texts, sum), (vec!["a"; 2], 45));
    }
}
