//! Sessions that were appended to a file, each with a header buffer of its own.

use crate::clock::{Clock, ClockType, FILETIME_PER_SECOND};

/// Largest difference between two clocks of one boot, in units of 100 ns: the system clock may have
/// been set in between.
const SET_CLOCK: u64 = 120 * FILETIME_PER_SECOND.unsigned_abs();

/// Returns `true` if the clock of the first session also gives the times of a later one.
pub(super) fn have_one_clock(first: &Clock, later: &Clock) -> bool {
    if (first.kind, first.frequency) != (later.kind, later.frequency) {
        return false;
    }
    // Ticks of the system clock are times by themselves.
    if later.kind == ClockType::System {
        return true;
    }
    // A counter that went back was started anew by a boot.
    if later.t0 < first.t0 {
        return false;
    }
    // Without both starts, the ticks are all there is to go by.
    if first.start == 0 || later.start == 0 {
        return true;
    }
    let start = first.filetime(later.t0);
    start.is_some_and(|start| start.abs_diff(later.start) <= SET_CLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Clock = Clock {
        kind: ClockType::Qpc,
        frequency: 1_000,
        t0: 5_000,
        start: 1_000 * FILETIME_PER_SECOND,
        counter_frequency: 1_000,
    };

    #[test]
    fn one_clock_goes_on_at_its_rate() {
        // The later session starts an hour after the first one.
        let ticks = FIRST.t0 + 3_600_000;
        let seconds = 1_000 + 3_600;
        let later = |t0, seconds, frequency| Clock {
            t0,
            start: seconds * FILETIME_PER_SECOND,
            frequency,
            ..FIRST
        };
        for (is_one, then) in [
            (true, later(ticks, seconds, 1_000)),
            (true, later(ticks, seconds + 120, 1_000)),
            (true, later(ticks, 0, 1_000)),
            (false, later(ticks, seconds + 121, 1_000)),
            (false, later(ticks, seconds, 1_001)),
            (false, later(4_999, seconds, 1_000)),
            (false, later(i64::MAX, seconds, 1_000)),
        ] {
            assert_eq!(have_one_clock(&FIRST, &then), is_one, "{then:?}");
        }
    }

    #[test]
    fn the_system_clock_needs_no_start() {
        let system = Clock {
            kind: ClockType::System,
            ..FIRST
        };
        let set_back = Clock { t0: 1, ..system };
        assert!(have_one_clock(&system, &set_back));
    }
}
