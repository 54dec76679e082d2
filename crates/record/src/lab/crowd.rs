//! Several threads that do the same work until it is finished or the user stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::lab::Bench;

/// Polling interval for the progress of the threads and the stop flag.
const LOOK: Duration = Duration::from_millis(1);

/// Returns the number of processors that this program may use.
pub(crate) fn processors() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// Runs `work` on several threads and returns their results. A thread gets its number and a
/// function that returns true if it should stop. `look` is called repeatedly on the caller's
/// thread, since neither progress nor the stop flag can be shared.
pub(crate) fn crowd<T: Send>(
    threads: u32,
    bench: &Bench<'_>,
    look: impl Fn(),
    work: impl Fn(u32, &dyn Fn() -> bool) -> T + Sync,
) -> Vec<T> {
    let work = &work;
    let is_stopped = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let start =
            |number| scope.spawn(move || work(number, &|| is_stopped.load(Ordering::Relaxed)));
        let all: Vec<_> = (0..threads).map(start).collect();
        while all.iter().any(|thread| !thread.is_finished()) {
            is_stopped.store((bench.is_stopped)(), Ordering::Relaxed);
            look();
            std::thread::sleep(LOOK);
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| match thread.join() {
            Ok(result) => result,
            // A failure of a thread fails the workload: without its part the numbers would be
            // wrong.
            Err(panic) => std::panic::resume_unwind(panic),
        };
        all.into_iter().map(join).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_gives_something_back_and_all_end_when_asked() {
        let bench = Bench {
            is_stopped: &|| true,
            ..crate::lab::tests::bench()
        };
        let numbers = crowd(
            3,
            &bench,
            || (),
            |number, is_over| {
                while !is_over() {
                    std::thread::yield_now();
                }
                number
            },
        );
        assert_eq!(numbers, [0, 1, 2]);
    }
}
