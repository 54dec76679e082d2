//! Raw clock ticks to time.

use crate::wire::trace_header::TraceHeader;

/// The clock that stamped the events (`EVENT_TRACE_PROPERTIES.Wnode.ClientContext`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockType {
    /// The performance counter. The value 0 and unknown values also mean this clock.
    Qpc,
    /// The system time in units of 100 ns (FILETIME).
    System,
    /// The cycle counter of the processor.
    Cpu,
}

impl ClockType {
    /// Converts the field of the trace header.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        match raw {
            2 => Self::System,
            3 => Self::Cpu,
            _ => Self::Qpc,
        }
    }

    /// `qpc`, `system` or `cpu`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qpc => "qpc",
            Self::System => "system",
            Self::Cpu => "cpu",
        }
    }
}

/// FILETIME ticks of one second.
pub const FILETIME_PER_SECOND: i64 = 10_000_000;

/// The clock of a session: its start and frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The kind of clock.
    pub kind: ClockType,
    /// Ticks per second, never 0.
    pub frequency: i64,
    /// Raw ticks of time zero: the trace header event (of several files: the earliest one).
    pub t0: i64,
    /// Wall time of time zero: FILETIME, UTC; 0 if it was not recorded.
    pub start: i64,
    /// Ticks of the performance counter per second, never 0. Some events contain durations in these
    /// ticks, independent of the session's clock.
    pub counter_frequency: i64,
}

impl Clock {
    /// The clock of a file: time zero is its header event, stamped `t0`.
    ///
    /// Creates the clock of a session. CPU cycles tick at `PerfFreq` if that is near the
    /// processor's speed (it is the exact value). Older systems store the frequency of the
    /// performance counter there; then the speed in MHz is used.
    #[must_use]
    pub fn new(header: &TraceHeader, t0: i64) -> Self {
        let kind = ClockType::from_raw(header.clock_type);
        // The speed in MHz is rounded, so `PerfFreq` is better if it is plausible. The few MHz of a
        // performance counter are far outside the 10 % that are allowed here.
        let mhz = i64::from(header.cpu_mhz) * 1_000_000;
        // By the clock that stamped events; the header has the frequency of the counter in any
        // case.
        let frequency = match kind {
            ClockType::System => FILETIME_PER_SECOND,
            ClockType::Cpu
                if mhz > 0 && header.perf_freq.abs_diff(mhz) > mhz.unsigned_abs() / 10 =>
            {
                mhz
            }
            ClockType::Qpc | ClockType::Cpu => header.perf_freq,
        };
        // A damaged header may contain 0 or less. Every conversion divides by this, so any positive
        // number is better. Since Windows 10 the counter usually has the rate of FILETIME.
        let frequency = if frequency > 0 {
            frequency
        } else {
            FILETIME_PER_SECOND
        };
        // A start that no calendar has was not recorded. Stamps of the system clock are FILETIMEs
        // themselves, so the first one can replace it.
        let start = match (UtcTime::from_filetime(header.start_time), kind) {
            (Some(_), _) => header.start_time,
            (None, ClockType::System) => t0,
            (None, _) => 0,
        };
        let counter_frequency = if header.perf_freq > 0 {
            header.perf_freq
        } else {
            frequency
        };
        Self {
            kind,
            frequency,
            t0,
            start,
            counter_frequency,
        }
    }

    /// Nanoseconds since time zero, rounded down; negative before it. Saturates beyond 292 years.
    #[inline]
    #[must_use]
    pub fn nanoseconds(&self, ticks: i64) -> i64 {
        let delta = i128::from(ticks) - i128::from(self.t0);
        // The common case stays in 64 bits: a division of 128 bits costs more than reading the
        // event.
        if let Ok(small) = i64::try_from(delta)
            && let Some(scaled) = small.checked_mul(1_000_000_000)
        {
            return scaled.div_euclid(self.frequency);
        }
        let ns = (delta * 1_000_000_000).div_euclid(i128::from(self.frequency));
        // The sign decides to which side it saturates, so that order is kept.
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }

    /// Seconds since time zero.
    #[must_use]
    pub fn seconds(&self, ticks: i64) -> f64 {
        self.duration_seconds(ticks.wrapping_sub(self.t0))
    }

    /// A number of ticks in seconds.
    #[must_use]
    pub fn duration_seconds(&self, ticks: i64) -> f64 {
        ticks as f64 / self.frequency as f64
    }

    /// Start time of an operation that started `counter_ticks` ticks of the performance counter
    /// before `ticks`: nanoseconds since time zero, rounded down.
    #[must_use]
    pub fn nanoseconds_before(&self, ticks: i64, counter_ticks: u64) -> i64 {
        // Subtracting ticks before converting rounds once. Converting both and subtracting would
        // round twice, and the start could fall one nanosecond before an event with the same tick.
        if self.counter_frequency == self.frequency {
            let begin = i128::from(ticks) - i128::from(counter_ticks);
            return i64::try_from(begin).map_or(i64::MIN, |begin| self.nanoseconds(begin));
        }
        let ns = i128::from(counter_ticks) * 1_000_000_000 / i128::from(self.counter_frequency);
        // In nanoseconds, as the two clocks have no tick in common.
        i64::try_from(i128::from(self.nanoseconds(ticks)) - ns).unwrap_or(i64::MIN)
    }

    /// Converts nanoseconds since time zero to ticks, rounded up: the first tick that is not before
    /// this time.
    #[must_use]
    pub fn ticks_at(&self, nanoseconds: i64) -> i64 {
        // Rounding up is the counterpart of `nanoseconds`, which rounds down: the first tick at or
        // after the start that a user typed is the first event that the range shows.
        let numerator = i128::from(nanoseconds) * i128::from(self.frequency);
        // Negative twice is rounding up, as the division rounds down.
        let ticks = -(-numerator).div_euclid(1_000_000_000) + i128::from(self.t0);
        i64::try_from(ticks).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
    }

    /// The tick nearest to a point in time given in nanoseconds since time zero.
    #[must_use]
    pub fn nearest_tick(&self, nanoseconds: i64) -> i64 {
        // `ticks_at` rounds up, so half a tick less makes it round to the nearest one.
        let half_tick = 500_000_000 / self.frequency;
        self.ticks_at(nanoseconds.saturating_sub(half_tick))
    }

    /// FILETIME (UTC) of an event; `None` if the start was not recorded, or if the time exceeds the
    /// 64 bits of a FILETIME.
    #[must_use]
    pub fn filetime(&self, ticks: i64) -> Option<i64> {
        // These ticks are FILETIMEs already. Converting via time zero would add the difference
        // between the header event's stamp and `StartTime`.
        if self.kind == ClockType::System {
            return Some(ticks);
        }
        if self.start == 0 {
            return None;
        }
        let delta = i128::from(ticks) - i128::from(self.t0);
        let offset =
            (delta * i128::from(FILETIME_PER_SECOND)).div_euclid(i128::from(self.frequency));
        i64::try_from(i128::from(self.start) + offset).ok()
    }
}

/// Days from 0000-03-01 to 1601-01-01 in the proleptic Gregorian calendar.
const DAYS_TO_1601: i64 = 584_694;

/// A date and time of day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcTime {
    /// Year, 1601 or later.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Second of the day.
    pub second_of_day: i64,
    /// Part of the second in units of 100 ns.
    pub fraction_100ns: i64,
}

impl UtcTime {
    /// Converts a FILETIME (units of 100 ns since 1601). `None` for 0, negative values and years
    /// after 9999.
    #[must_use]
    pub fn from_filetime(filetime: i64) -> Option<Self> {
        // Zero is a time that was not written.
        if filetime <= 0 {
            return None;
        }
        let seconds = filetime / FILETIME_PER_SECOND;
        // The civil date from a day count. Years start in March, so that the leap day is the last
        // day.
        let days = seconds / 86_400 + DAYS_TO_1601;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        // Leap days before this day are taken out, so that all years have 365 days: one after the
        // 1,460 other days of four years, but none at the end of a century (36,524 days), except at
        // the end of the era.
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 {
            march_month + 3
        } else {
            march_month - 9
        };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        (year <= 9999).then_some(Self {
            year,
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
            second_of_day: seconds % 86_400,
            fraction_100ns: filetime % FILETIME_PER_SECOND,
        })
    }
}

/// FILETIME as `YYYY-MM-DDTHH:MM:SS.fffffffZ`. `None` for 0 and for times that no calendar shows.
#[must_use]
pub fn utc_text(filetime: i64) -> Option<String> {
    let t = UtcTime::from_filetime(filetime)?;
    let hour = t.second_of_day / 3600;
    let minute = t.second_of_day / 60 % 60;
    let second = t.second_of_day % 60;
    Some(format!(
        "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{:07}Z",
        t.year, t.month, t.day, t.fraction_100ns
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QPC: Clock = Clock {
        kind: ClockType::Qpc,
        frequency: 3_579_545,
        t0: 1000,
        start: 132_404_548_206_236_167,
        counter_frequency: 3_579_545,
    };

    #[test]
    fn lengths_in_ticks_of_the_counter_are_converted_with_its_frequency() {
        let system = Clock {
            kind: ClockType::System,
            frequency: 10_000_000,
            ..QPC
        };
        // 35795 ticks of 3.579545 MHz are 9.9998742 ms; the event is stamped 20 ms after time zero.
        assert_eq!(
            system.nanoseconds_before(1000 + 200_000, 35_795),
            20_000_000 - 9_999_874
        );
        assert_eq!(QPC.nanoseconds_before(1000 + 35_795, 35_795), 0);
        assert_eq!(system.nanoseconds_before(1000, u64::MAX), i64::MIN);
        assert_eq!(QPC.nanoseconds_before(0, u64::MAX), i64::MIN);
    }

    #[test]
    fn nanoseconds_round_down_on_both_sides_of_zero() {
        assert_eq!(QPC.nanoseconds(1000), 0);
        assert_eq!(QPC.nanoseconds(1001), 279);
        assert_eq!(QPC.nanoseconds(999), -280);
        assert_eq!(
            QPC.nanoseconds(1000 + 3_579_545 * 86_400 * 365),
            86_400 * 365 * 1_000_000_000
        );
        assert_eq!(QPC.nanoseconds(i64::MAX), i64::MAX);
        assert_eq!(QPC.nanoseconds(i64::MIN), i64::MIN);
    }

    #[test]
    fn ticks_at_is_the_first_tick_not_before() {
        for ticks in [998, 999, 1000, 1001, 5_000_000] {
            assert_eq!(QPC.ticks_at(QPC.nanoseconds(ticks)), ticks);
        }
    }

    #[test]
    fn the_nearest_tick_is_at_most_half_a_tick_away() {
        for (ns, tick) in [
            (0, 1000),
            (139, 1000),
            (140, 1001),
            (279, 1001),
            (-139, 1000),
            (-141, 999),
        ] {
            assert_eq!(QPC.nearest_tick(ns), tick, "{ns}");
        }
    }

    #[test]
    fn a_start_that_no_calendar_has_was_not_recorded() {
        let header = |start_time, clock_type| TraceHeader {
            start_time,
            clock_type,
            perf_freq: 10_000_000,
            ..TraceHeader::default()
        };
        for start_time in [0, -1, i64::MIN, i64::MAX] {
            let clock = Clock::new(&header(start_time, 1), 500);
            assert_eq!((clock.start, clock.filetime(10_000_500)), (0, None));
            assert_eq!(clock.seconds(10_000_500), 1.0);
            // The system clock stamps events with dates.
            let system = Clock::new(&header(start_time, 2), QPC.start);
            assert_eq!(system.start, QPC.start);
        }
    }

    /// The machine booted three hours before, so its counter is high, and its clock was set between
    /// two events: the counter knows nothing of that.
    #[test]
    fn the_first_event_has_the_start_time_whatever_the_counter_has() {
        let header = TraceHeader {
            start_time: QPC.start,
            boot_time: QPC.start - 3 * 3600 * FILETIME_PER_SECOND,
            perf_freq: 10_000_000,
            clock_type: 1,
            ..TraceHeader::default()
        };
        let t0 = 3 * 3600 * 10_000_000;
        let clock = Clock::new(&header, t0);
        assert_eq!(clock.filetime(t0), Some(QPC.start));
        assert_eq!(
            clock.filetime(t0 + 20_000_000),
            Some(QPC.start + 2 * FILETIME_PER_SECOND)
        );
        let stepped = TraceHeader {
            boot_time: header.boot_time + 3600 * FILETIME_PER_SECOND,
            ..header
        };
        assert_eq!(Clock::new(&stepped, t0), clock);
    }

    #[test]
    fn filetime_becomes_utc_text() {
        assert_eq!(
            utc_text(132_404_548_206_236_167).as_deref(),
            Some("2020-07-29T00:07:00.6236167Z")
        );
        assert_eq!(
            utc_text(116_444_736_000_000_000).as_deref(),
            Some("1970-01-01T00:00:00.0000000Z")
        );
        assert_eq!(
            utc_text(126_227_807_999_999_999).as_deref(),
            Some("2000-12-31T23:59:59.9999999Z")
        );
        assert_eq!(utc_text(0), None);
        assert_eq!(utc_text(i64::MAX), None);
    }
}
