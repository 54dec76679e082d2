//! Locks of values that stay whole when a thread panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value, also after a thread panicked with the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_locked_after_a_panic_with_its_lock() {
        let value = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let panics = || {
                let held = lock(&value);
                assert_eq!(*held, 2, "a panic with the lock");
            };
            scope.spawn(panics).join().is_err()
        });
        assert!(panicked && value.is_poisoned());
        assert_eq!(*lock(&value), 1);
    }
}
