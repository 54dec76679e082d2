//! Parallel jobs with results in the order of the jobs.
//!
//! Each thread takes the next job when it has finished one. Results of the first unfinished job are
//! passed on at once. Threads that are ahead wait when they hold many results, so memory does not
//! depend on the duration of a job.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

/// Threads that do jobs.
const WORKERS: usize = 2;

/// Maximum number of results held for a job.
const HELD: usize = 16;

/// State shared by the threads.
struct State<T> {
    /// The next job that no thread has taken.
    next: usize,
    /// The first job with results that were not passed on.
    first: usize,
    results: BTreeMap<usize, VecDeque<T>>,
    finished: Vec<bool>,
    /// True if a thread panicked, or no more results are wanted.
    is_over: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Takes a job.
    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        // Jobs are started in order, so the first unfinished one always belongs to some thread, and
        // waiting for it ends.
        let job = state.next;
        state.next += 1;
        (!state.is_over && job < state.finished.len()).then_some(job)
    }

    /// Adds a result. Returns true if more are wanted.
    fn put(&self, job: usize, result: T) -> bool {
        let mut state = self.lock();
        while state
            .results
            .get(&job)
            .is_some_and(|held| held.len() >= HELD)
            && !state.is_over
        {
            state = self.wait(state);
        }
        state.results.entry(job).or_default().push_back(result);
        self.changed.notify_all();
        !state.is_over
    }

    fn finish(&self, job: usize) {
        if let Some(finished) = self.lock().finished.get_mut(job) {
            *finished = true;
        }
        self.changed.notify_all();
    }

    /// The next result in order; `None` at the end.
    fn next(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            let first = state.first;
            if let Some(result) = state.results.get_mut(&first).and_then(VecDeque::pop_front) {
                self.changed.notify_all();
                return Some(result);
            }
            match state.finished.get(first) {
                None => return None,
                Some(true) => {
                    state.results.remove(&first);
                    state.first += 1;
                }
                // A thread that panicked never finishes its job; without this its result would be
                // waited for for ever.
                Some(false) if state.is_over => return None,
                Some(false) => state = self.wait(state),
            }
        }
    }
}

/// Notifies the others when a thread ends, normally or by a panic.
struct Guard<'s, T>(&'s Shared<T>);

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Runs jobs 0 to `jobs`. `work` gets the value that `prepare` creates for each thread, the job,
/// and a function for its results, which returns false if no more are wanted. `on_result` gets the
/// results in the order of the jobs.
///
/// # Errors
/// The first of `on_result`.
pub(super) fn in_order<W, T: Send, E>(
    jobs: usize,
    prepare: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize, &mut dyn FnMut(T) -> bool) + Sync,
    mut on_result: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let state = State {
        next: 0,
        first: 0,
        results: BTreeMap::new(),
        finished: vec![false; jobs],
        is_over: false,
    };
    let shared = Shared {
        state: Mutex::new(state),
        changed: Condvar::new(),
    };
    let run = || {
        let _guard = Guard(&shared);
        let mut prepared = prepare();
        while let Some(job) = shared.take() {
            work(&mut prepared, job, &mut |result| shared.put(job, result));
            shared.finish(job);
        }
    };
    scope(|scope| {
        let start = |_| {
            Builder::new()
                .name("derive".to_owned())
                .spawn_scoped(scope, run)
                .is_ok()
        };
        if (0..WORKERS.min(jobs))
            .filter(|worker| start(*worker))
            .count()
            > 0
        {
            let done = std::iter::from_fn(|| shared.next()).try_for_each(&mut on_result);
            // Threads that wait for room would never wake up after an error, and the scope would
            // not end.
            shared.end();
            return done;
        }
        // No thread could be started: this one does everything.
        let mut prepared = prepare();
        let mut done = Ok(());
        for job in 0..jobs {
            work(&mut prepared, job, &mut |result| {
                if done.is_ok() {
                    done = on_result(result);
                }
                done.is_ok()
            });
            if done.is_err() {
                break;
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let mut seen = Vec::new();
        let work = |_: &mut (), job: usize, put: &mut dyn FnMut(usize) -> bool| {
            // The first job is the longest, so the other thread waits for it.
            (0..100 - job).for_each(|n| _ = put(job * 1000 + n));
        };
        let on_result = |result| {
            seen.push(result);
            Ok::<(), ()>(())
        };
        in_order(100, || (), work, on_result).unwrap();
        let wanted: Vec<usize> = (0..100)
            .flat_map(|job| (0..100 - job).map(move |n| job * 1000 + n))
            .collect();
        assert_eq!(seen, wanted);
        assert_eq!(in_order(0, || (), work, |_| Err(())), Ok(()));
    }

    #[test]
    fn an_error_ends_everything() {
        let endless =
            |_: &mut (), job: usize, put: &mut dyn FnMut(usize) -> bool| while put(job) {};
        let mut left = 50;
        let on_result = |_| {
            left -= 1;
            if left > 0 { Ok(()) } else { Err("enough") }
        };
        assert_eq!(in_order(3, || (), endless, on_result), Err("enough"));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_passed_on() {
        let work = |_: &mut (), job: usize, _: &mut dyn FnMut(usize) -> bool| assert_ne!(job, 1);
        let _ = in_order(2, || (), work, |_| Ok::<(), ()>(()));
    }
}
