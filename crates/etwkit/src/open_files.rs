//! Limit of open files.

/// Allows as many open files as the system lets this process have: a question about many traces opens
/// more than shells allow without being asked. A system that refuses it keeps its limit.
#[cfg(unix)]
pub fn raise_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    /// Files that macOS allows where it calls the limit infinite.
    const ALWAYS_ALLOWED: u64 = 10_240;

    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    for wanted in [hard, ALWAYS_ALLOWED.min(hard)] {
        if wanted > soft && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() {
            return;
        }
    }
}

/// Windows has no limit that matters.
#[cfg(not(unix))]
pub const fn raise_limit() {}
