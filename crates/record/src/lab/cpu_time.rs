//! CPU time of this process.

use std::time::Duration;

/// Returns the CPU time of this process so far; `None` on a system where it is not read.
#[cfg(unix)]
pub(crate) fn of_process() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

/// Returns the CPU time of this process so far; `None` on a system where it is not read.
#[cfg(not(unix))]
pub(crate) const fn of_process() -> Option<Duration> {
    None
}
