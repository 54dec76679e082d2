//! Locks of values that stay whole when a thread panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value, also after a thread panicked with the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
