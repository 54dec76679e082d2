//! CPU time of this process.

use std::time::Duration;

/// What the threads of this process used so far; nothing where the system is not asked.
#[cfg(unix)]
pub(crate) fn of_process() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

/// What the threads of this process used so far; nothing where the system is not asked.
#[cfg(not(unix))]
pub(crate) const fn of_process() -> Option<Duration> {
    None
}
