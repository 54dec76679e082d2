//! Work on several things at a time, whose results are taken in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Maximum number of results of each worker that wait for an earlier one.
// Enough to outlast one slow item; more would hold the answers of hundreds of extracts in memory.
const AHEAD: usize = 16;

/// Does `work` with each item, on as many threads as there are processors, and takes the results in
/// the order of the items as soon as they are there. `work` also gets the number of items that run
/// at the same time. Ends with the first error of `take`; items that were started are finished
/// first.
pub(crate) fn in_order<I: Sync, R: Send, E>(
    items: &[I],
    work: impl Fn(&I, usize) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    if workers < 2 {
        return items.iter().try_for_each(|item| take(work(item, 1)));
    }
    let (next, taken) = (AtomicUsize::new(0), Gate::default());
    thread::scope(|scope| {
        let (send, receive) = sync_channel(workers);
        for _ in 0..workers {
            let (send, next, taken, work) = (send.clone(), &next, &taken, &work);
            scope.spawn(move || {
                let _let_go = LetGo(taken);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    // The next result to be taken is never held up here, since it is not ahead of
                    // the taken ones. So the waiting results are bounded without a deadlock.
                    if !taken.wait_until(at.saturating_sub(AHEAD * workers))
                        || send.send((at, work(item, workers))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        // The loop below ends when no sender is left, and this one sends nothing.
        drop(send);
        let _let_go = LetGo(&taken);
        let (mut waiting, mut wanted) = (BTreeMap::new(), 0);
        for (at, result) in receive {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&wanted) {
                wanted += 1;
                if let Err(error) = take(result) {
                    // Workers that wait at the gate are released; they see that nothing more is
                    // taken.
                    taken.set(usize::MAX);
                    return Err(error);
                }
                taken.set(wanted);
            }
        }
        Ok(())
    })
}

/// Number of taken results, for the threads that wait for it.
#[derive(Default)]
struct Gate {
    /// The count; `usize::MAX` when no more are taken.
    count: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    /// Sets the count, which never falls: a released thread is not held up again.
    fn set(&self, count: usize) {
        let mut held = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *held = count.max(*held);
        drop(held);
        self.changed.notify_all();
    }

    /// Waits until that many were taken. Returns whether work continues.
    fn wait_until(&self, count: usize) -> bool {
        let held = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let held = self
            .changed
            .wait_while(held, |taken| *taken < count)
            .unwrap_or_else(PoisonError::into_inner);
        *held != usize::MAX
    }
}

/// Releases all threads at a gate if the thread that holds this panics: they would wait for a
/// result that never comes, and the panic would never be reported.
struct LetGo<'g>(&'g Gate);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.set(usize::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_and_hangs_nobody() {
        let items: Vec<usize> = (0..300).collect();
        let panics = |at: usize| {
            let work = |item: &usize, _| {
                assert!(*item != at, "planned");
                *item
            };
            std::panic::catch_unwind(|| in_order(&items, work, |_| Ok::<_, ()>(()))).is_err()
        };
        assert!(panics(0) && panics(150) && panics(299));
        let take = std::panic::catch_unwind(|| {
            in_order(
                &items,
                |item: &usize, _| *item,
                |item| -> Result<(), ()> { panic!("planned at {item}") },
            )
        });
        assert!(take.is_err());
    }

    #[test]
    fn results_come_in_order_whatever_takes_long() {
        let items: Vec<usize> = (0..300).collect();
        let mut taken = Vec::new();
        let slow_first = |item: &usize, _| {
            if *item == 0 {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            *item
        };
        in_order(&items, slow_first, |item| {
            taken.push(item);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(taken, items);
    }

    #[test]
    fn the_first_error_ends_it() {
        let items: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &usize, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            *item
        };
        let error = in_order(
            &items,
            work,
            |item| if item == 3 { Err(item) } else { Ok(()) },
        );
        assert_eq!(error, Err(3));
        assert!(
            begun.load(Ordering::Relaxed) < 1000,
            "what is behind an error is not begun"
        );
    }
}
