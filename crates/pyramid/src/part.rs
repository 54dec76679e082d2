//! The contribution of a row of a table to sums over time: stretches and moments.

/// Values of a sum; most kinds of sums use the first few of them.
pub(crate) const SLOTS: usize = 10;
/// Time running; the amount in sums of anything but threads.
pub(crate) const RUNNING: usize = 0;
/// Ready time.
pub(crate) const READY: usize = 1;
/// Time waiting, one value for each of [`WAITS`](crate::WAITS).
pub(crate) const WAITING: usize = 2;
/// Switch-ins of threads and processes.
pub(crate) const SWITCHES: usize = 9;
/// Switch-ins of processors.
pub(crate) const CORE_SWITCHES: usize = 1;

/// A sum.
pub(crate) type Values = [i64; SLOTS];

/// Times of waits by reason.
pub(crate) fn waits_by_reason(values: &Values) -> &[i64] {
    &values[WAITING..SWITCHES]
}

/// A key of unknown objects.
pub(crate) const UNKNOWN: i32 = -1;

/// A dimension: the quantity that is summed up, and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Dim {
    /// States by thread; the second key is its process.
    Thread,
    /// States by process.
    Process,
    /// Running by processor; the second key is the process that ran.
    Core,
    /// Time in DPCs and interrupts by processor.
    Dpc,
    /// Bytes of disk accesses by process.
    Disk,
    /// Service time by disk.
    DiskBusy,
    /// Bytes of reads and writes of files by process.
    File,
    /// Bytes of the network by process.
    Net,
    /// Marks.
    Mark,
}

impl Dim {
    pub(crate) const ALL: [Self; 9] = [
        Self::Thread,
        Self::Process,
        Self::Core,
        Self::Dpc,
        Self::Disk,
        Self::DiskBusy,
        Self::File,
        Self::Net,
        Self::Mark,
    ];

    /// The word in names of files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Core => "core",
            Self::Dpc => "dpc",
            Self::Disk => "disk",
            Self::DiskBusy => "disk_busy",
            Self::File => "file",
            Self::Net => "net",
            Self::Mark => "mark",
        }
    }

    /// Its number in the files of pages.
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }

    pub(crate) fn of_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|dim| dim.number() == number)
    }

    /// Number of values of its sums.
    pub(crate) const fn slots(self) -> usize {
        match self {
            Self::Thread | Self::Process => SLOTS,
            Self::Core => 2,
            _ => 1,
        }
    }
}

/// Times in files from unknown sources may be any numbers. Times farther away than this (73 years)
/// are clamped to it, so that differences and buckets of times cannot overflow.
const FARTHEST: i64 = 1 << 61;

/// Clamps a time so that sums with it cannot overflow.
pub(crate) fn bounded(time: i64) -> i64 {
    time.clamp(-FARTHEST, FARTHEST)
}

/// A stretch of time, which counts its nanoseconds. If start and end are equal, it is a moment with
/// an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Number of its row in the table.
    pub(crate) row: u64,
    pub(crate) dim: Dim,
    pub(crate) key: i32,
    pub(crate) sub: i32,
    pub(crate) slot: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) amount: i64,
}

impl Part {
    /// The amount before `time`.
    pub(crate) fn before(&self, time: i64) -> i64 {
        if self.is_moment() {
            return if self.start < time { self.amount } else { 0 };
        }
        self.end.min(time).saturating_sub(self.start).max(0)
    }

    /// The total amount.
    pub(crate) const fn whole(&self) -> i64 {
        if self.is_moment() {
            self.amount
        } else {
            self.end.saturating_sub(self.start)
        }
    }

    pub(crate) const fn is_moment(&self) -> bool {
        self.start == self.end
    }
}

/// The parts of decoded rows, and the end of each row.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) all: Vec<Part>,
    /// For each row with parts: its end, and the index after its last part.
    pub(crate) rows: Vec<(i64, usize)>,
}

impl Parts {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.rows.clear();
    }

    /// Adds a stretch that starts at `start` and has this length, unless one of them is missing or
    /// the length is 0.
    pub(crate) fn stretch(&mut self, part: Part, start: Option<i64>, length: Option<i64>) {
        if let (Some(start), Some(length)) = (start, length.filter(|length| *length > 0)) {
            let end = bounded(start.saturating_add(length));
            let start = bounded(start);
            if end > start {
                self.all.push(Part {
                    start,
                    end,
                    amount: 0,
                    ..part
                });
            }
        }
    }

    /// A moment, if its amount is anything.
    pub(crate) fn moment(&mut self, part: Part, at: i64, amount: i64) {
        let at = bounded(at);
        if amount > 0 {
            self.all.push(Part {
                start: at,
                end: at,
                amount,
                ..part
            });
        }
    }

    /// Ends a row; one without parts is none.
    pub(crate) fn end_row(&mut self) {
        // Rows without parts (of the idle process, or without times) must not advance the time up
        // to which rows have ended.
        let begin = self.rows.last().map_or(0, |(_, end)| *end);
        let of_row = self.all.iter().skip(begin);
        if let Some(end) = of_row.map(|part| part.end).max() {
            self.rows.push((end, self.all.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: i64, end: i64, amount: i64) -> Part {
        Part {
            row: 0,
            dim: Dim::Mark,
            key: 0,
            sub: 0,
            slot: 0,
            start,
            end,
            amount,
        }
    }

    /// A range has its start and does not have its end, so that ranges that touch share nothing.
    #[test]
    fn ranges_that_touch_have_each_part_once() {
        let moment = part(20, 20, 7);
        let stretch = part(15, 25, 0);
        let within = |it: &Part, from, to| it.before(to) - it.before(from);
        assert_eq!(within(&moment, 10, 20), 0, "at the end");
        assert_eq!(within(&moment, 20, 30), 7, "at the start");
        assert_eq!(within(&moment, 20, 21), 7, "of its own nanosecond");
        for whole in [moment, stretch] {
            for cut in 10..=30 {
                let halves = within(&whole, 10, cut) + within(&whole, cut, 30);
                assert_eq!(halves, whole.whole(), "{cut}");
            }
        }
    }
}
