//! Work on several threads, whose results are taken in order.
//!
//! Each worker takes the next job when it is done with one. The caller's thread takes the results in the order
//! of the jobs, those of the first unfinished job at once. Workers that are ahead wait, so that memory does not
//! depend on how long a job takes.
//!
//! A panic of a worker is resumed in the caller, with its payload, when all workers have ended; it comes before
//! an error of the caller. No work is done twice, and no result is left out without a panic or an error.

use std::collections::{BTreeMap, VecDeque};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::lock::lock;

/// Results of one job that wait at most.
const HELD: usize = 16;

/// Number of processors that this program may use.
#[must_use]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `other` on a thread of its own and `own` on this one, at the same time. If no thread can be started,
/// this one does both. A panic of `other` is resumed here.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    // A thread that cannot be started would take the job with it, so that both sides find it here.
    let job = Mutex::new(Some(other));
    let take = || lock(&job).take();
    thread::scope(|scope| {
        let thread = start(scope, || take().map(|other| other()));
        let own = own();
        let done = match thread {
            Some(thread) => joined(thread),
            None => take().map(|other| other()),
        };
        match done {
            Some(other) => (other, own),
            None => unreachable!("the job is taken by exactly one of two"),
        }
    })
}

/// Makes results on a thread of its own, and takes them on this one, in their order. `make` gets where results
/// go, which answers whether more are wanted. It is one result ahead at most: the one that it makes while the one
/// before is taken. If no thread can be started, this one does both. A panic of `make` is resumed here.
///
/// # Errors
/// The first one of `take`.
pub fn ahead<R: Send, E>(
    make: impl FnOnce(&mut dyn FnMut(R) -> bool) + Send,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    // As in `both`.
    let job = &Mutex::new(Some(make));
    let begin = || lock(job).take();
    let (sender, results) = sync_channel(0);
    thread::scope(|scope| {
        // The thread owns its end of the channel, so that results end with it.
        let thread = start(scope, move || {
            if let Some(make) = begin() {
                make(&mut |result| sender.send(result).is_ok());
            }
        });
        let Some(thread) = thread else {
            let mut done = Ok(());
            if let Some(make) = begin() {
                make(&mut |result| {
                    done = take(result);
                    done.is_ok()
                });
            }
            return done;
        };
        let done = results.iter().try_for_each(take);
        // After an error the thread would wait for somebody who takes its result.
        drop(results);
        joined(thread);
        done
    })
}

/// Workers, and how far they may be ahead of what was taken.
#[derive(Debug, Clone, Copy)]
pub struct Workers {
    /// Threads at most.
    pub threads: usize,
    /// Jobs that may be begun after the first one whose results were not all taken.
    pub jobs_ahead: usize,
}

impl Workers {
    /// Does `work` with each item, and gives each result to `take`, with its item, in the order of the items.
    /// A single worker is this thread.
    ///
    /// # Errors
    /// The first one of `take`. What was begun is finished first, nothing else is begun.
    pub fn map<I: Sync, R: Send, E>(
        self,
        items: &[I],
        work: impl Fn(&I) -> R + Sync,
        mut take: impl FnMut(&I, R) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.threads.min(items.len()) < 2 {
            return items.iter().try_for_each(|item| take(item, work(item)));
        }
        let work = |_: &mut (), job: usize, put: &mut dyn FnMut((usize, R)) -> bool| {
            if let Some(item) = items.get(job) {
                put((job, work(item)));
            }
        };
        self.stream(
            items.len(),
            || (),
            work,
            |(job, result)| match items.get(job) {
                Some(item) => take(item, result),
                None => Ok(()),
            },
        )
    }

    /// Does the jobs 0 to `jobs`, each of which may have many results. `work` gets what `prepare` made for its
    /// thread, the job, and where results go, which answers whether more are wanted. `take` gets all results
    /// in the order of the jobs, those of one job in the order in which it gave them.
    ///
    /// # Errors
    /// The first one of `take`.
    pub fn stream<S, R: Send, E>(
        self,
        jobs: usize,
        prepare: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, &mut dyn FnMut(R) -> bool) + Sync,
        mut take: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        let queue = Queue::new(jobs, self.jobs_ahead);
        let run = || {
            let _end = EndOnPanic(&queue);
            let mut prepared = prepare();
            while let Some(job) = queue.begin() {
                work(&mut prepared, job, &mut |result| queue.put(job, result));
                queue.finish(job);
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.clamp(1, jobs.max(1)))
                .map_while(|_| start(scope, run))
                .collect();
            if threads.is_empty() {
                return here(jobs, &prepare, &work, &mut take);
            }
            let _end = EndOnPanic(&queue);
            let done = std::iter::from_fn(|| queue.next()).try_for_each(&mut take);
            // Workers that wait for room would never wake up after an error.
            queue.end();
            threads.into_iter().for_each(joined);
            done
        })
    }
}

/// Does all jobs on this thread.
fn here<S, R, E>(
    jobs: usize,
    prepare: &impl Fn() -> S,
    work: &impl Fn(&mut S, usize, &mut dyn FnMut(R) -> bool),
    take: &mut impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut prepared = prepare();
    for job in 0..jobs {
        let mut done = Ok(());
        work(&mut prepared, job, &mut |result| {
            if done.is_ok() {
                done = take(result);
            }
            done.is_ok()
        });
        done?;
    }
    Ok(())
}

/// Starts a thread, unless the system has none left.
fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let thread = Builder::new().name("worker".to_owned());
    thread.spawn_scoped(scope, run).ok()
}

/// Returns the result of a thread, whose panic goes on here.
pub fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Jobs that are given out in order, and results that are handed on in order.
struct Queue<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    jobs_ahead: usize,
}

struct State<R> {
    /// The next job that nobody has.
    next: usize,
    /// The first job whose results are not all handed on.
    first: usize,
    results: BTreeMap<usize, VecDeque<R>>,
    is_finished: Vec<bool>,
    /// A thread panicked, or results are not wanted any more.
    is_over: bool,
}

impl<R> Queue<R> {
    fn new(jobs: usize, jobs_ahead: usize) -> Self {
        let state = State {
            next: 0,
            first: 0,
            results: BTreeMap::new(),
            is_finished: vec![false; jobs],
            is_over: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            jobs_ahead,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        lock(&self.state)
    }

    /// Waits until something changes.
    fn wait<'q>(&self, state: MutexGuard<'q, State<R>>) -> MutexGuard<'q, State<R>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everybody stop who waits.
    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Takes a job, when it is not too far ahead.
    fn begin(&self) -> Option<usize> {
        let mut state = self.lock();
        let job = state.next;
        if state.is_over || job >= state.is_finished.len() {
            return None;
        }
        state.next += 1;
        // Jobs are given out in order, so the first unfinished one always belongs to a worker that does not
        // wait here, and waiting for it ends.
        while job - state.first > self.jobs_ahead && !state.is_over {
            state = self.wait(state);
        }
        (!state.is_over).then_some(job)
    }

    /// Takes a result, when there is room for it. Returns whether more is wanted.
    fn put(&self, job: usize, result: R) -> bool {
        let mut state = self.lock();
        let is_full = |state: &State<R>| {
            let held = state.results.get(&job);
            held.is_some_and(|held| held.len() >= HELD)
        };
        while is_full(&state) && !state.is_over {
            state = self.wait(state);
        }
        state.results.entry(job).or_default().push_back(result);
        self.changed.notify_all();
        !state.is_over
    }

    fn finish(&self, job: usize) {
        if let Some(is_finished) = self.lock().is_finished.get_mut(job) {
            *is_finished = true;
        }
        self.changed.notify_all();
    }

    /// The next result in order; `None` if there is none any more.
    fn next(&self) -> Option<R> {
        let mut state = self.lock();
        loop {
            let first = state.first;
            let held = state.results.get_mut(&first);
            if let Some(result) = held.and_then(VecDeque::pop_front) {
                self.changed.notify_all();
                return Some(result);
            }
            match state.is_finished.get(first) {
                None => return None,
                Some(true) => {
                    state.results.remove(&first);
                    state.first += 1;
                    self.changed.notify_all();
                }
                // A worker that panicked never finishes its job.
                Some(false) if state.is_over => return None,
                Some(false) => state = self.wait(state),
            }
        }
    }
}

/// Ends a queue should its thread panic: the others would wait for a result that never comes, and the panic
/// would never be reported.
struct EndOnPanic<'q, R>(&'q Queue<R>);

impl<R> Drop for EndOnPanic<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const WORKERS: Workers = Workers {
        threads: 4,
        jobs_ahead: 8,
    };

    /// The message of a panic.
    fn message(panic: &(dyn Any + Send)) -> &str {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap()
    }

    fn panic_of<T>(work: impl FnOnce() -> T) -> String {
        let panic = catch_unwind(AssertUnwindSafe(work)).err().unwrap();
        message(&*panic).to_owned()
    }

    #[test]
    fn both_answers_come_each_in_its_place() {
        let mut begun = 0;
        let (other, own) = both(|| vec!["a"; 2], || begun += 1);
        assert_eq!((other, own, begun), (vec!["a"; 2], (), 1));
    }

    #[test]
    fn a_panic_of_either_side_goes_on_in_the_caller() {
        let begun = AtomicUsize::new(0);
        let other = || -> usize {
            begun.fetch_add(1, Ordering::Relaxed);
            panic!("planned beside")
        };
        assert_eq!(panic_of(|| both(other, || ())), "planned beside");
        assert_eq!(begun.load(Ordering::Relaxed), 1, "nothing is done again");
        assert_eq!(
            panic_of(|| both(|| (), || panic!("planned here"))),
            "planned here"
        );
    }

    #[test]
    fn what_is_made_ahead_comes_in_order_and_no_more_than_one_ahead() {
        let made = AtomicUsize::new(0);
        let make = |put: &mut dyn FnMut(usize) -> bool| {
            (0..100).for_each(|n| {
                made.fetch_add(1, Ordering::Relaxed);
                put(n);
            });
        };
        let mut taken = Vec::new();
        let take = |n| {
            taken.push(n);
            let ahead = made.load(Ordering::Relaxed) - taken.len();
            assert!(ahead <= 1, "{ahead} after {n}");
            Ok::<_, ()>(())
        };
        ahead(make, take).unwrap();
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_made_ahead_ends_with_an_error_or_a_panic() {
        let endless = |put: &mut dyn FnMut(usize) -> bool| {
            let mut numbers = 0..;
            while numbers.next().is_some_and(&mut *put) {}
        };
        let take = |n| if n == 3 { Err(n) } else { Ok(()) };
        assert_eq!(ahead(endless, take), Err(3));
        let broken = |put: &mut dyn FnMut(usize) -> bool| {
            put(0);
            panic!("planned ahead")
        };
        let take = |_| Ok::<_, ()>(());
        assert_eq!(panic_of(|| ahead(broken, take)), "planned ahead");
        let endless = |put: &mut dyn FnMut(usize) -> bool| while put(0) {};
        let take = |_: usize| -> Result<(), ()> { panic!("planned here") };
        assert_eq!(panic_of(|| ahead(endless, take)), "planned here");
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..300).collect();
        for threads in [0, 1, 2, 4, 1000] {
            let workers = Workers { threads, ..WORKERS };
            let mut taken = Vec::new();
            let slow_first = |item: &usize| {
                if *item == 0 {
                    thread::sleep(Duration::from_millis(20));
                }
                *item * 2
            };
            let take = |item: &usize, result| {
                taken.push((*item, result));
                Ok::<_, ()>(())
            };
            workers.map(&items, slow_first, take).unwrap();
            let expected: Vec<_> = items.iter().map(|item| (*item, *item * 2)).collect();
            assert_eq!(taken, expected);
        }
    }

    #[test]
    fn many_results_of_a_job_come_in_order() {
        let mut seen = Vec::new();
        let work = |_: &mut (), job: usize, put: &mut dyn FnMut(usize) -> bool| {
            // The first job is the longest, so that the other threads wait for it.
            (0..100 - job).for_each(|n| _ = put(job * 1000 + n));
        };
        let take = |result| {
            seen.push(result);
            Ok::<(), ()>(())
        };
        WORKERS.stream(100, || (), work, take).unwrap();
        let wanted: Vec<usize> = (0..100)
            .flat_map(|job| (0..100 - job).map(move |n| job * 1000 + n))
            .collect();
        assert_eq!(seen, wanted);
        assert_eq!(WORKERS.stream(0, || (), work, |_| Err(())), Ok(()));
    }

    #[test]
    fn one_thread_does_the_same_as_many() {
        let work = |_: &mut (), job: usize, put: &mut dyn FnMut(usize) -> bool| {
            (0..3).for_each(|n| _ = put(job * 10 + n));
        };
        let mut seen = Vec::new();
        let mut take = |result| {
            seen.push(result);
            if result == 11 { Err("enough") } else { Ok(()) }
        };
        assert_eq!(here(3, &|| (), &work, &mut take), Err("enough"));
        assert_eq!(seen, [0, 1, 2, 10, 11]);
    }

    #[test]
    fn the_first_error_ends_it() {
        let items: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            *item
        };
        let error = WORKERS.map(
            &items,
            work,
            |_, item| if item == 3 { Err(item) } else { Ok(()) },
        );
        assert_eq!(error, Err(3));
        let begun = begun.load(Ordering::Relaxed);
        assert!(begun <= 4 + WORKERS.jobs_ahead + WORKERS.threads, "{begun}");
    }

    #[test]
    fn an_error_ends_jobs_without_an_end() {
        let endless = |_: &mut (), _: usize, put: &mut dyn FnMut(usize) -> bool| while put(0) {};
        let mut left = 50;
        let take = |_| {
            left -= 1;
            if left > 0 { Ok(()) } else { Err("enough") }
        };
        assert_eq!(WORKERS.stream(3, || (), endless, take), Err("enough"));
    }

    #[test]
    fn a_panic_of_a_worker_goes_on_in_the_caller_and_hangs_nobody() {
        let items: Vec<usize> = (0..300).collect();
        for at in [0, 150, 299] {
            let done = AtomicUsize::new(0);
            let work = |item: &usize| {
                assert!(*item != at, "planned at {item}");
                done.fetch_add(1, Ordering::Relaxed);
                *item
            };
            let mut taken = 0;
            let take = |_: &usize, _| {
                taken += 1;
                Ok::<_, ()>(())
            };
            let panic = panic_of(|| WORKERS.map(&items, work, take));
            assert_eq!(panic, format!("planned at {at}"));
            assert!(taken <= at, "what comes after a lost result is not taken");
        }
        let prepare = || panic!("planned before");
        let work = |_: &mut (), _: usize, _: &mut dyn FnMut(()) -> bool| ();
        let panic = panic_of(|| WORKERS.stream(3, prepare, work, Ok::<_, ()>));
        assert_eq!(panic, "planned before");
    }

    #[test]
    fn a_panic_of_the_caller_hangs_nobody() {
        let items: Vec<usize> = (0..300).collect();
        let take = |_: &usize, item| -> Result<(), ()> { panic!("planned at {item}") };
        let panic = panic_of(|| WORKERS.map(&items, |item| *item, take));
        assert_eq!(panic, "planned at 0");
    }
}
