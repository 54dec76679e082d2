//! Numbers that no other writer has.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

/// Low bits of a generation that are random. The others are microseconds since 1970, which fit into
/// the rest until the year 2112.
const RANDOM_BITS: u32 = 11;

/// A random number.
fn random() -> u64 {
    // Each state has keys of its own, made from random numbers of the system.
    RandomState::new().hash_one(SystemTime::now())
}

/// A name for a file that no other writer takes: 16 hexadecimal digits.
pub(crate) fn name() -> String {
    format!("{:016x}", random())
}

/// A new generation: the time, and random bits. Two attempts to add one run never have the same, so
/// that rows of one that was given up do not count for the other.
pub(crate) fn generation() -> i64 {
    // The time comes first in the number, so that a later attempt has the larger one.
    let micros = since_1970(SystemTime::now()).as_micros();
    let micros = u64::try_from(micros).unwrap_or(u64::MAX);
    let random = random() >> (u64::BITS - RANDOM_BITS);
    i64::try_from((micros << RANDOM_BITS) | random).unwrap_or(i64::MAX)
}

/// The time at which rows of a generation were written.
pub(crate) fn time_of(generation: i64) -> SystemTime {
    // Only the time is read back; the random bits are cut off.
    let micros = generation.max(0).cast_unsigned() >> RANDOM_BITS;
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}

/// Milliseconds since 1970, as logs have times.
pub(crate) fn millis(time: SystemTime) -> i64 {
    i64::try_from(since_1970(time).as_millis()).unwrap_or(i64::MAX)
}

/// The time of so many milliseconds since 1970; now, if the system has no such time.
pub(crate) fn time_of_millis(millis: i64) -> SystemTime {
    let since_1970 = Duration::from_millis(millis.max(0).cast_unsigned());
    SystemTime::UNIX_EPOCH
        // A time from a log may be anything.
        .checked_add(since_1970)
        .unwrap_or_else(SystemTime::now)
}

/// Returns `true` if a time is at least that long ago.
pub(crate) fn is_older(time: SystemTime, than: Duration) -> bool {
    was_older(SystemTime::now(), time, than)
}

/// Returns `true` if a time was at least that long ago at a moment.
pub(crate) fn was_older(at: SystemTime, time: SystemTime, than: Duration) -> bool {
    let age = at.duration_since(time);
    // Clocks can be set back: a time in the future is new.
    age.map_or(than.is_zero(), |age| age >= than)
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_differ_and_have_their_time() {
        let before = SystemTime::now() - Duration::from_millis(1);
        let (a, b) = (generation(), generation());
        assert_ne!(a, b);
        assert!(a > 0 && time_of(a) >= before && is_older(time_of(a), Duration::ZERO));
        assert!(!is_older(time_of(a), Duration::from_secs(60)));
        assert_ne!(name(), name());
    }
}
