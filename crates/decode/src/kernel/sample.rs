//! Samples of the profile interrupt and its interval (group 15).

use etwkit_etl::bytes::{pointer_at, u8_at, u16_at, u32_at};

/// Types of these events.
pub mod opcode {
    types! {
        PERFINFO {
            /// A mark that a user set.
            MARK = 34, "Mark";
            /// A sample.
            SAMPLE = 46, "SampleProf";
            /// The interval changes.
            INTERVAL_SET = 72, "SampleIntervalSet";
            /// The interval when the session starts.
            INTERVAL_START = 73, "SampleIntervalCollectionStart";
            /// The interval when the session stops.
            INTERVAL_END = 74, "SampleIntervalCollectionEnd";
        }
    }
}

/// Types that report the interval of samples, of the timer and of counters.
pub const INTERVALS: &[u8] = &[
    opcode::INTERVAL_SET,
    opcode::INTERVAL_START,
    opcode::INTERVAL_END,
];

/// True if a type reports an interval.
#[must_use]
pub const fn is_interval(op: u8) -> bool {
    matches!(
        op,
        opcode::INTERVAL_SET | opcode::INTERVAL_START | opcode::INTERVAL_END
    )
}

/// `SampledProfile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Address that was about to run.
    pub ip: u64,
    /// Thread; 0 is idle.
    pub tid: u32,
    /// Number of intervals that the sample covers, usually 1.
    pub count: u16,
    /// Bit 0 in a DPC, bit 1 in an interrupt, bits 3 to 7 priority.
    pub flags: u8,
}

impl Sample {
    /// Reads a payload.
    #[inline]
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        Some(Self {
            ip: pointer_at(payload, 0, pointer_size)?,
            tid: u32_at(payload, pointer_size)?,
            count: u16_at(payload, pointer_size + 4)?,
            // Version 1 ends before the flags.
            flags: u8_at(payload, pointer_size + 6).unwrap_or_default(),
        })
    }

    /// True if a DPC or interrupt ran instead of the thread.
    #[inline]
    #[must_use]
    pub const fn is_dpc_isr(&self) -> bool {
        self.flags & 3 != 0
    }

    /// Priority of the thread; reported from version 2 on.
    #[inline]
    #[must_use]
    pub const fn priority(&self) -> u8 {
        self.flags >> 3
    }

    /// True if the processor was idle.
    #[inline]
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.tid == 0 && !self.is_dpc_isr()
    }
}

/// `SampledProfileInterval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The counted event; 0 is time.
    pub source: u32,
    /// Interval in force: for time in units of 100 ns, otherwise in counts.
    pub new: u32,
    /// Interval before, if it is known.
    pub old: Option<u32>,
}

impl Interval {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        // Zero stands for an interval that is not known.
        let old = u32_at(payload, 8).filter(|old| *old > 0);
        Some(Self {
            source: u32_at(payload, 0)?,
            new: u32_at(payload, 4)?,
            old,
        })
    }
}
