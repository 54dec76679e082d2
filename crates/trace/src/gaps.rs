//! Gaps in the events of a processor: lost while recording, overwritten, missing in the file, or
//! damaged.
//!
//! The activity of a thread in a gap is unknown, independent of its previous processor. Gaps are
//! given as stretches of time, so that other modules need not know how a buffer reports its losses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use etwkit_decode::kernel::{Hook, group, scheduler};
use etwkit_etl::clock::Clock;
use etwkit_etl::session::{BufferEntry, IMPLAUSIBLE_JUMP, TraceFile};
use etwkit_etl::wire::buffer::flag;
use etwkit_etl::wire::trace_header::mode;
use etwkit_etl::{RawEvent, Session};

/// A stretch of time in which events of a processor may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The processor.
    pub cpu: u16,
    /// Raw time of the last event before it; `i64::MIN` if there is none.
    pub begin: i64,
    /// Raw time of the first event after it; `i64::MAX` if there is none.
    pub end: i64,
}

/// Times of the first and the last event of the kernel logger in each buffer.
#[derive(Debug, Default)]
pub struct BufferTimes {
    files: Vec<FileTimes>,
}

#[derive(Debug, Default)]
struct FileTimes {
    /// True if the file contains context switches or disk accesses, whose times depend on the events
    /// before them.
    depends_on_gaps: bool,
    buffers: Vec<Seen>,
}

/// The contents of a buffer, as far as they were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// No event. If the buffer is damaged, it may have had some.
    Nothing,
    /// Only events of other loggers, which contain nothing about threads.
    Others,
    /// The times of the first and the last event of the kernel logger.
    Kernel(i64, i64),
}

impl BufferTimes {
    /// Takes an event, in any order. `kernel` is its hook if the kernel logger wrote it.
    #[inline]
    pub(crate) fn observe(&mut self, kernel: Option<Hook>, event: &RawEvent<'_>) {
        let file = usize::from(event.file);
        if self.files.len() <= file {
            self.files.resize_with(file + 1, FileTimes::default);
        }
        // The number of the file comes from the reader, so that the entry exists; a missing one is
        // no reason to stop.
        let Some(times) = self.files.get_mut(file) else {
            return;
        };
        let number = event.buffer as usize;
        if times.buffers.len() <= number {
            times.buffers.resize(number + 1, Seen::Nothing);
        }
        let Some(seen) = times.buffers.get_mut(number) else {
            return;
        };
        let Some(hook) = kernel else {
            // Events of other loggers do not change what is known of the kernel's.
            if *seen == Seen::Nothing {
                *seen = Seen::Others;
            }
            return;
        };
        let time = event.timestamp;
        *seen = match *seen {
            // Events come in any order, since buffers are loaded by several threads.
            Seen::Kernel(first, last) => Seen::Kernel(first.min(time), last.max(time)),
            Seen::Nothing | Seen::Others => Seen::Kernel(time, time),
        };
        times.depends_on_gaps |= hook.group == group::DISK
            || hook.group == group::THREAD && hook.opcode == scheduler::opcode::CONTEXT_SWITCH;
    }
}

/// Modes in which only the latest events are kept.
pub const KEEPS_LATEST: u32 = mode::CIRCULAR | mode::BUFFERING;

/// True if the first buffers of processors may have been overwritten, as in a circular file that
/// wrapped.
#[must_use]
pub fn lacks_its_start(file: &TraceFile) -> bool {
    let header = file.header();
    let has = |bits: u32| header.log_file_mode & bits != 0;
    // The first buffer is the header buffer. Its number is 0, also in a file that wrapped.
    let numbers = file.buffers().iter().skip(1);
    let first = numbers.map(|buffer| buffer.header.sequence_number).min();
    let lacks_first = first.is_some_and(|first| first > 1);
    // A processor that does little writes the buffer with number 1 late, and it can be there when
    // larger numbers were overwritten.
    let lacks_some = u64::from(header.buffers_written) > file.buffers().len() as u64;
    // A merge numbers and counts the buffers anew: nothing shows whether the recording wrapped.
    has(KEEPS_LATEST) && (has(mode::RELOG) || lacks_first || lacks_some)
}

/// The gaps of a session.
#[derive(Debug, Default)]
pub struct Found {
    /// The gaps of all processors in files with context switches or disk accesses, sorted by start.
    pub gaps: Vec<Gap>,
    /// Raw time from which all processors are recorded, if a ring of buffers begins at another
    /// time on each.
    pub complete_since: Option<i64>,
    /// Raw time from which all processors are recorded in a ring of buffers, also if it begins at
    /// the same time on each.
    pub ring_start: Option<i64>,
}

/// Finds the gaps of a session. `losses` are the losses from the damage.
#[must_use]
pub fn find(session: &Session, times: &BufferTimes, losses: &[(usize, u64)]) -> Found {
    let mut gaps = Vec::new();
    let mut complete_since: Option<i64> = None;
    let mut ring_start: Option<i64> = None;
    // Each file has numbers of its own, and gaps are found within files.
    for (number, (file, times)) in session.files().iter().zip(&times.files).enumerate() {
        let mut losses: Vec<u64> = losses
            .iter()
            .filter(|(of, _)| *of == number)
            .map(|(_, offset)| *offset)
            .collect();
        losses.sort_unstable();
        let lacks_its_start = lacks_its_start(file);
        let file = File::new(file, times, &losses);
        let starts = if lacks_its_start {
            file.starts_in_ring()
        } else {
            BTreeMap::new()
        };
        let start = starts.values().max().copied();
        ring_start = ring_start.max(start);
        if times.depends_on_gaps {
            // If all begin at the same time, no event is missing after the first one.
            let is_even = starts.values().min().copied() == start;
            let starts = if is_even { BTreeMap::new() } else { starts };
            file.gaps(&starts, &mut gaps);
            complete_since = complete_since.max(starts.into_values().max());
        }
    }
    // By start, as the reader watches them in order of time.
    gaps.sort_unstable_by_key(|gap| (gap.begin, gap.end, gap.cpu));
    Found {
        gaps,
        complete_since,
        ring_start,
    }
}

/// Stretches of time in which events of any processor may be missing, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// Sorted and disjoint.
    stretches: Vec<(i64, i64)>,
}

impl Unseen {
    /// The union of gaps, which are sorted by start, and of the time before a ring of buffers.
    pub(crate) fn of(gaps: &[Gap], ring_start: Option<i64>, clock: &Clock) -> Self {
        let before_ring = ring_start.map(|start| Gap {
            cpu: 0,
            begin: i64::MIN,
            end: start,
        });
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        for gap in before_ring.iter().chain(gaps) {
            let (begin, end) = (clock.nanoseconds(gap.begin), clock.nanoseconds(gap.end));
            match stretches.last_mut() {
                // Two that only touch have an event in between, which is known.
                Some(last) if begin < last.1 => last.1 = last.1.max(end),
                _ => stretches.push((begin, end)),
            }
        }
        Self { stretches }
    }

    /// True if events between two times may be missing.
    pub(crate) fn is_within(&self, from_ns: i64, to_ns: i64) -> bool {
        let next = self.stretches.partition_point(|(_, end)| *end <= from_ns);
        let next = self.stretches.get(next);
        from_ns < to_ns && next.is_some_and(|(begin, _)| *begin < to_ns)
    }
}

/// A file that is searched for gaps.
struct File<'s> {
    buffers: &'s [BufferEntry],
    times: &'s FileTimes,
    /// Offsets of buffers that lost events, in order.
    damaged: Vec<u64>,
    /// Offsets of bytes that are not a buffer, in order.
    skipped: Vec<u64>,
    /// Sequence numbers of all buffers, in order, each with the number of buffers missing before
    /// it. Empty if a merge has rewritten them.
    numbers: Vec<(i64, u64)>,
    /// True if buffers of any processor may be missing after the last one.
    lacks_its_end: bool,
}

impl<'s> File<'s> {
    fn new(file: &'s TraceFile, times: &'s FileTimes, losses: &[u64]) -> Self {
        let header = file.header();
        let buffers = file.buffers();
        let is_buffer = |offset: &u64| buffers.binary_search_by_key(offset, |b| b.offset).is_ok();
        let (damaged, skipped): (Vec<u64>, Vec<u64>) = losses.iter().copied().partition(is_buffer);
        // A last buffer that ends early lacks events, and buffers after it were perhaps never
        // written.
        let is_cut = buffers
            .last()
            .is_some_and(|last| last.is_truncated() && damaged.contains(&last.offset));
        // A circular file has written more buffers than it holds, although none is missing at its
        // end.
        let wraps = header.log_file_mode & mode::CIRCULAR != 0;
        let numbers = if file.has_own_numbers() {
            numbers(buffers)
        } else {
            Vec::new()
        };
        // Buffers missing between others are not missing at the end: numbers show them, or bytes
        // that are not a buffer, at least one in each place.
        let missing = file.missing_between();
        let end = buffers.last().map_or(0, |last| last.offset);
        // Both counts are of the same buffers, so the larger one holds and not their sum.
        let between = missing.max(skipped.partition_point(|offset| *offset < end) as u64);
        let there = (buffers.len() as u64).saturating_add(between);
        let lacks_its_end =
            // An end time of zero means that the session was not closed properly.
            is_cut || header.end_time == 0 || !wraps && u64::from(header.buffers_written) > there;
        Self {
            buffers,
            times,
            damaged,
            skipped,
            numbers,
            lacks_its_end,
        }
    }

    /// Adds the gaps of the file. `starts` are the times from which processors are recorded in a
    /// ring.
    fn gaps(&self, starts: &BTreeMap<u16, i64>, gaps: &mut Vec<Gap>) {
        // Buffers of user-mode loggers in the same file say nothing about threads.
        let mut buffers: Vec<(&BufferEntry, Seen)> = self.of_kernel_logger().collect();
        // The buffers of a processor in the order in which they were filled; without numbers that
        // is the order of the file.
        let is_numbered = !self.numbers.is_empty();
        let number = |buffer: &BufferEntry| {
            if is_numbered {
                buffer.header.sequence_number
            } else {
                0
            }
        };
        // A stable sort: without numbers the order of the file remains.
        buffers.sort_by_key(|(buffer, _)| (buffer.header.cpu(), number(buffer)));
        for chain in buffers.chunk_by(|(a, _), (b, _)| a.header.cpu() == b.header.cpu()) {
            self.of_processor(chain, starts, gaps);
        }
    }

    /// Times from which processors are recorded in a ring of buffers, of which the oldest ones were
    /// overwritten.
    fn starts_in_ring(&self) -> BTreeMap<u16, i64> {
        let mut begins: BTreeMap<u16, Vec<i64>> = BTreeMap::new();
        for (buffer, seen) in self.of_kernel_logger() {
            if let Seen::Kernel(first, _) = seen {
                begins.entry(buffer.header.cpu()).or_default().push(first);
            }
        }
        for begins in begins.values_mut() {
            begins.sort_unstable();
        }
        // An overwritten buffer was full before all others, and a buffer is full before the next one
        // of its processor has an event. So a processor that sleeps for long has no gap up to its
        // first event.
        let next = begins.values().filter_map(|begins| begins.get(1)).min();
        let latest = next.copied().unwrap_or(i64::MAX);
        begins
            .iter()
            .filter_map(|(cpu, begins)| Some((*cpu, (*begins.first()?).min(latest))))
            .collect()
    }

    /// Buffers that contain, or should contain, events of the kernel logger.
    fn of_kernel_logger(&self) -> impl Iterator<Item = (&'s BufferEntry, Seen)> {
        let seen = |number: usize| {
            self.times
                .buffers
                .get(number)
                .copied()
                .unwrap_or(Seen::Nothing)
        };
        // The first buffer is the header buffer. Its number is always 0, even if buffers after it
        // were overwritten.
        // The header buffer is written first and belongs to no processor.
        let numbered = self.buffers.iter().enumerate().skip(1);
        numbered
            .filter(|(_, buffer)| buffer.header.holds_records())
            .map(move |(number, buffer)| (buffer, seen(number)))
            .filter(|(_, seen)| *seen != Seen::Others)
    }

    /// Adds the gaps of a processor. `starts` are the times from which processors are recorded in a
    /// ring.
    fn of_processor(
        &self,
        chain: &[(&BufferEntry, Seen)],
        starts: &BTreeMap<u16, i64>,
        gaps: &mut Vec<Gap>,
    ) {
        let Some(cpu) = chain.first().map(|(buffer, _)| buffer.header.cpu()) else {
            return;
        };
        let mut start = starts.get(&cpu).copied();
        // A gap before the first buffer of a processor starts with the trace.
        let mut begin = i64::MIN;
        let mut is_open = false;
        let mut before: Option<&BufferEntry> = None;
        for (buffer, seen) in chain.iter().copied() {
            let flags = buffer.header.buffer_flag;
            // The flags are of the buffer that was current when events were lost.
            is_open |= flags & (flag::EVENTS_LOST | flag::BUFFER_LOST) != 0
                || self.lies_between(before, buffer);
            if let Seen::Kernel(first, last) = seen {
                let overwritten_until = start.take();
                let end = if is_open {
                    // With damaged time stamps a buffer may start before the end of the previous
                    // one. A gap must not end before it starts: at the earliest at its own start,
                    // whatever the damaged time says.
                    Some(first.max(begin))
                } else {
                    overwritten_until
                };
                gaps.extend(end.map(|end| Gap { cpu, begin, end }));
                // The end never goes back, so that gaps of a processor do not overlap.
                begin = begin.max(last);
                // Events that are lost while a buffer is current can be missing before or after it.
                // If a buffer was also lost, the gap before is known, and it is the one.
                is_open = flags & (flag::EVENTS_LOST | flag::BUFFER_LOST) == flag::EVENTS_LOST;
            }
            // Damage inside a buffer loses the events behind it, up to the next buffer.
            is_open |= self.damaged.binary_search(&buffer.offset).is_ok();
            before = Some(buffer);
        }
        let Some(last) = before else { return };
        // After the last buffer nothing shows an end, so the gap reaches to the end of the trace.
        if is_open || self.lacks_its_end || self.lies_behind(last) {
            gaps.push(Gap {
                cpu,
                begin,
                end: i64::MAX,
            });
        }
    }

    /// True if a buffer between two buffers of one processor is missing or was not recognized.
    fn lies_between(&self, before: Option<&BufferEntry>, buffer: &BufferEntry) -> bool {
        // Numbers belong to the session, not to a processor. A missing buffer may belong to any
        // processor, so it opens a gap on each processor whose next buffer comes after it.
        let first = self.numbers.first().map_or(0, |(number, _)| *number);
        let from = before.map_or(first, |before| before.header.sequence_number);
        let after = before.map_or(0, |before| before.offset);
        // Both signs count: a jump in the numbers, and bytes between the buffers that are none.
        self.is_number_missing(from, buffer.header.sequence_number)
            || self.is_skipped(after, buffer.offset)
    }

    fn lies_behind(&self, last: &BufferEntry) -> bool {
        let end = self.numbers.last().map_or(0, |(number, _)| *number);
        self.is_number_missing(last.header.sequence_number, end)
            || self.is_skipped(last.offset, u64::MAX)
    }

    fn is_number_missing(&self, from: i64, to: i64) -> bool {
        let missing = |number: i64| {
            // The list has sums, so that the number of missing buffers between two is a difference.
            let at = self.numbers.partition_point(|(known, _)| *known < number);
            self.numbers.get(at).map_or(0, |(_, missing)| *missing)
        };
        missing(from) < missing(to)
    }

    /// True if bytes that are not a buffer are between two positions.
    fn is_skipped(&self, from: u64, to: u64) -> bool {
        let at = self.skipped.partition_point(|offset| *offset <= from);
        self.skipped.get(at).is_some_and(|offset| *offset < to)
    }
}

/// Sequence numbers of buffers, in order, each with the number of buffers missing before it.
fn numbers(buffers: &[BufferEntry]) -> Vec<(i64, u64)> {
    // The number of the header buffer is always 0, even if buffers after it were overwritten.
    let mut numbers: Vec<i64> = buffers
        .iter()
        .skip(1)
        .map(|b| b.header.sequence_number)
        .collect();
    numbers.sort_unstable();
    // Copies of one buffer in a damaged file must not count as a jump.
    numbers.dedup();
    let Some(mut before) = numbers.first().copied() else {
        return Vec::new();
    };
    let mut missing = 0u64;
    let count = |number: i64| {
        let jump = std::mem::replace(&mut before, number).abs_diff(number);
        // A single step is no jump, and a huge one is damage of a number and not the loss of a
        // million buffers.
        missing += if (2..IMPLAUSIBLE_JUMP).contains(&jump) {
            jump - 1
        } else {
            0
        };
        (number, missing)
    };
    numbers.into_iter().map(count).collect()
}

/// An end of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Events of the processor are missing from here on.
    Begin(Gap),
    /// Events of the processor are recorded again from here on.
    End(Gap),
}

/// Reports the start and end of gaps to a reader of events in order of time.
#[derive(Debug)]
pub struct GapWatch<'g> {
    /// Gaps that have not started.
    gaps: &'g [Gap],
    /// Gaps that have started and not ended: end, processor and start, the earliest end first.
    open: BinaryHeap<Reverse<(i64, u16, i64)>>,
    /// No edge is at or before this time.
    quiet_until: i64,
}

impl<'g> GapWatch<'g> {
    /// Watches gaps that are sorted by their start.
    #[must_use]
    pub fn new(gaps: &'g [Gap]) -> Self {
        Self {
            gaps,
            open: BinaryHeap::new(),
            quiet_until: i64::MIN,
        }
    }

    /// True if events of a processor are missing at the current time.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next edge before an event of that raw time, if there is one. A gap starts after all
    /// events at its start time.
    #[inline]
    pub fn edge(&mut self, time: i64) -> Option<Edge> {
        // This is asked for each event, and nearly all are answered by this comparison.
        if time < self.quiet_until {
            None
        } else {
            self.next_edge(time)
        }
    }

    fn next_edge(&mut self, time: i64) -> Option<Edge> {
        let end = self.open.peek().map_or(i64::MAX, |Reverse((end, ..))| *end);
        let begin = self.gaps.first().map(|gap| gap.begin);
        let ends = !self.open.is_empty() && end <= time;
        // Edges are reported in order of time. If one gap ends as another starts, the end comes
        // first, so that the two never count as open together.
        if ends && begin.is_none_or(|begin| end <= begin || begin >= time) {
            let Reverse((end, cpu, begin)) = self.open.pop()?;
            return Some(Edge::End(Gap { cpu, begin, end }));
        }
        if let Some((gap, rest)) = self.gaps.split_first()
            && gap.begin < time
        {
            self.gaps = rest;
            // A heap, since gaps of several processors end in another order than they start.
            self.open.push(Reverse((gap.end, gap.cpu, gap.begin)));
            return Some(Edge::Begin(*gap));
        }
        // Most events are between edges and cost one comparison. A gap starts after the events of
        // its own tick and ends before the events of its last tick, hence the difference of one.
        self.quiet_until = end.min(begin.map_or(i64::MAX, |begin| begin.saturating_add(1)));
        None
    }
}

#[cfg(test)]
mod tests {
    use etwkit_etl::clock::ClockType;

    use super::*;

    #[test]
    fn what_gaps_of_several_processors_hide_is_their_union() {
        let clock = Clock {
            kind: ClockType::Qpc,
            frequency: 1_000_000_000,
            t0: 0,
            start: 0,
            counter_frequency: 1_000_000_000,
        };
        let gap = |cpu, begin, end| Gap { cpu, begin, end };
        let gaps = [
            gap(0, i64::MIN, 5),
            gap(1, 10, 20),
            gap(0, 12, 30),
            gap(1, 30, 40),
        ];
        let ring = Unseen::of(&gaps, Some(12), &clock);
        assert_eq!(ring.stretches, [(i64::MIN, 30), (30, 40)]);
        let unseen = Unseen::of(&gaps, None, &clock);
        assert_eq!(unseen.stretches, [(i64::MIN, 5), (10, 30), (30, 40)]);
        let of = [
            (0, 9),
            (5, 10),
            (9, 11),
            (15, 16),
            (30, 30),
            (35, 99),
            (40, 99),
        ];
        let hidden = of.map(|(from, to)| unseen.is_within(from, to));
        assert_eq!(hidden, [true, false, true, true, false, true, false]);
    }

    #[test]
    fn edges_come_in_the_order_of_time_and_a_gap_begins_behind_the_last_event_before_it() {
        let gap = |cpu, begin, end| Gap { cpu, begin, end };
        let gaps = [
            gap(0, i64::MIN, 5),
            gap(1, 10, 30),
            gap(0, 10, 10),
            gap(0, 20, i64::MAX),
        ];
        let mut watch = GapWatch::new(&gaps);
        let mut edges = |time| std::iter::from_fn(|| watch.edge(time)).collect::<Vec<_>>();
        assert_eq!(edges(4), [Edge::Begin(gaps[0])]);
        assert_eq!(edges(10), [Edge::End(gaps[0])]);
        assert_eq!(
            edges(11),
            [
                Edge::Begin(gaps[1]),
                Edge::Begin(gaps[2]),
                Edge::End(gaps[2])
            ]
        );
        assert_eq!(edges(29), [Edge::Begin(gaps[3])]);
        assert_eq!(edges(i64::MAX), [Edge::End(gaps[1]), Edge::End(gaps[3])]);
        assert_eq!(edges(i64::MAX), []);
    }
}
