//! The directory of a file: the offset and start time of each buffer.
//!
//! Only the 72 bytes of each header and the first record are read, so a file of any size is indexed
//! at the speed of its page cache.

use super::appended::have_one_clock;
use super::load::{Loaded, PREFIX_LEN, decompress_prefix};
use super::resync::Probe;
use super::{HEAD_LEN, trace_header};
use crate::bytes::{front, i64_at, tail};
use crate::clock::Clock;
use crate::damage::{Damage, DamageAt, DamageKind};
use crate::source::ByteSource;
use crate::wire::buffer::{BufferHeader, HEADER_LEN, buffer_type, flag};
use crate::wire::event::HeaderKind;
use crate::wire::trace_header::{TraceHeader, mode};
use crate::{Error, Result};

/// One buffer of a file.
#[derive(Debug, Clone, Copy)]
pub struct BufferEntry {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes of the buffer in the file: fewer than its header states if the file ends inside the
    /// buffer.
    pub len: u32,
    /// Its header.
    pub header: BufferHeader,
    /// Raw time of the earliest event that is expected; `i64::MAX` if there is none.
    pub first_time: i64,
}

impl BufferEntry {
    /// True if the file ends inside the buffer.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.len < self.header.buffer_size
    }
}

/// The results of the scan over all buffer headers.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub(super) buffers: Vec<BufferEntry>,
    pub(super) damage: Damage,
    /// Bytes that were skipped, without ends that are too short for a buffer.
    pub(super) skipped: u64,
}

/// Bytes of the first record that its time stamp needs.
const PEEK_LEN: usize = HEADER_LEN + 24;

impl Directory {
    pub(super) fn read(
        // The scan reads headers alone, a few bytes for each buffer, so that opening does not read
        // the file.
        source: &dyn ByteSource,
        file: usize,
        (header, t0): (&TraceHeader, i64),
        format: u16,
    ) -> Result<Self> {
        let mut scan = Scan {
            file,
            clock: Clock::new(header, t0),
            unordered: unordered_buffers(header.log_file_mode),
            probe: Probe::new(source, header, format),
            found: Self::default(),
        };
        scan.run()?;
        Ok(scan.found)
    }
}

/// True if the events inside a buffer may be out of order, so that its first event may not be its
/// earliest.
const fn unordered_buffers(log_file_mode: u32) -> bool {
    log_file_mode
        & (mode::NO_PER_PROCESSOR_BUFFERING | mode::PRIVATE_LOGGER | mode::PRIVATE_IN_PROC)
        != 0
}

struct Scan<'s> {
    file: usize,
    /// The clock of the session that starts the file.
    clock: Clock,
    unordered: bool,
    probe: Probe<'s>,
    found: Directory,
}

impl Scan<'_> {
    fn run(&mut self) -> Result<()> {
        let mut position = 0;
        let end = self.probe.end;
        // A position with fewer bytes than a header cannot start a buffer.
        while position + HEADER_LEN as u64 <= end {
            if let Some(mut header) = self
                .probe
                .header_at(position)?
                .filter(BufferHeader::is_plausible)
            {
                // The size leads to the next buffer. A wrong size would lose every buffer up to the
                // place where the scan resynchronizes.
                let size = self.probe.trusted_size(position, &header)?;
                if size != header.buffer_size {
                    // Counted as damage without lost bytes: with the right size all of the buffer
                    // is read.
                    self.damage(DamageKind::BufferSize, position, 0);
                    header.buffer_size = size;
                }
                // The file may end inside the buffer. Its first part is still read.
                let len = u64::from(size).min(end - position);
                self.add(position, len as u32, header)?;
                position += len;
            } else {
                let Some(next) = self.probe.next_buffer(position)? else {
                    return Ok(());
                };
                self.skip(position, next);
                position = next;
            }
        }
        // Fewer bytes than a header are left. Zeros are the rest of a preallocated file. Anything
        // else is the start of a buffer that was cut.
        if !self.probe.is_zero(position)? {
            self.skip(position, end);
        }
        Ok(())
    }

    /// Skips bytes that are not a buffer. If they are fewer than a header, no buffer is missing
    /// there.
    fn skip(&mut self, from: u64, to: u64) {
        let bytes = to - from;
        // Counted even if they are few, because a file has no gaps between its buffers.
        self.damage(DamageKind::SkippedBytes, from, bytes);
        if bytes > HEADER_LEN as u64 {
            self.found.skipped += bytes;
        }
    }

    fn damage(&mut self, kind: DamageKind, offset: u64, bytes: u64) {
        self.found.damage.add_loss(
            DamageAt {
                kind,
                file: self.file,
                offset,
                bytes,
            },
            offset,
        );
    }

    fn add(&mut self, offset: u64, len: u32, header: BufferHeader) -> Result<()> {
        // Session IDs are learned before the next header is judged, so that a scan after damage can
        // recognize buffers of this session.
        self.probe.saw(&header);
        let mut entry = BufferEntry {
            offset,
            len,
            header,
            // Kept by buffers that hold no records: they come after all others and are never
            // opened.
            first_time: i64::MAX,
        };
        if entry.is_truncated() {
            // The filler at the end of an uncompressed buffer is not a loss, so only the bytes that
            // its header declares valid count. A compressed buffer has no filler: all of its bytes
            // in the file are data.
            let valid = if header.is_compressed() {
                header.buffer_size
            } else {
                header.offset.min(header.buffer_size)
            };
            self.damage(
                DamageKind::TruncatedBuffer,
                offset,
                u64::from(valid.saturating_sub(len)),
            );
        }
        if header.holds_records() {
            entry.first_time = self.first_time(&entry)?;
        }
        let is_appended = header.buffer_type == buffer_type::HEADER && offset > 0;
        if is_appended && self.has_other_clock(&entry)? {
            // No bytes are lost, but the times are wrong.
            self.damage(DamageKind::OtherClock, offset, 0);
        }
        self.found.buffers.push(entry);
        Ok(())
    }

    /// Returns `true` if the buffer starts a session that was appended, and whose times the clock of
    /// the first one does not give.
    fn has_other_clock(&self, entry: &BufferEntry) -> Result<bool> {
        // At most the bytes of the buffer, so that a file of many small ones is not read many times.
        let mut head = vec![0; HEAD_LEN.min(entry.len as usize)];
        let head = read(self.probe.source, entry.offset, &mut head)?;
        // Without a trace header, nothing states another clock.
        let other = trace_header(head).ok().filter(|(header, t0)| {
            let later = Clock::new(header, *t0);
            !have_one_clock(&self.clock, &later)
        });
        Ok(other.is_some())
    }

    fn first_time(&self, entry: &BufferEntry) -> Result<i64> {
        // If each buffer belongs to one processor, its first event is its earliest, and one glance
        // is enough.
        if !self.unordered
            && let Some(time) = self.time_of_first_record(entry)?
        {
            return Ok(time);
        }
        // The first record has no readable time: cut the whole buffer.
        // Costly, and only for buffers that start with a message or with damage.
        let loaded = Loaded::read(self.probe.source, entry, self.probe.format)?;
        let mut first = i64::MAX;
        loaded.cut(|cut| first = first.min(cut.timestamp), |_| ());
        Ok(first)
    }

    /// Reads only the start of the buffer.
    fn time_of_first_record(&self, entry: &BufferEntry) -> Result<Option<i64>> {
        let Probe { source, format, .. } = self.probe;
        let len = entry.len as usize;
        // Only the stored bytes of this buffer: the next one must not be read as its continuation.
        if !entry.header.is_compressed() {
            let mut head = [0; PEEK_LEN];
            let head = read(source, entry.offset, &mut head)?;
            return Ok(peek_time(front(head, len)));
        }
        let mut head = [0; PREFIX_LEN];
        let head = read(source, entry.offset, &mut head)?;
        let unpacked = decompress_prefix(front(head, len), format, PEEK_LEN);
        Ok(unpacked.and_then(|bytes| peek_time(&bytes)))
    }
}

/// Time of the first record, if it is an event whose header contains a time.
fn peek_time(buffer: &[u8]) -> Option<i64> {
    let record = buffer.get(HEADER_LEN..)?;
    // WPP messages have another marker and may have no time at all. For them, and for skipped
    // Without the marker the bytes are no record with a time at a known place.
    // records, the caller cuts the whole buffer.
    let kind = HeaderKind::from_byte(*record.get(2)?).filter(|_| record.get(3) == Some(&0xC0))?;
    i64_at(record, kind.time_stamp_at()?)
}

/// Fills `buf` from `offset`; returns its part that the file has.
pub(super) fn read<'b>(
    source: &dyn ByteSource,
    offset: u64,
    buf: &'b mut [u8],
) -> Result<&'b [u8]> {
    let len = buf.len();
    let got = source.read_at(offset, buf).map_err(|source| Error::Io {
        offset,
        len,
        source,
    })?;
    Ok(front(buf, got))
}

/// Counts of a file's buffers that describe its health.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Buffers found.
    pub total: u64,
    /// Number of compressed buffers among them.
    pub compressed: u64,
    /// Buffers during which events were lost.
    pub events_lost: u64,
    /// Buffers with a lost buffer in front.
    pub buffer_lost: u64,
    /// Buffers that the file should have by its trace header; `None` if the header does not state
    /// it.
    pub expected: Option<u64>,
    /// Number of buffers that are not in the file: fewer were found than its trace header states,
    /// or sequence numbers are missing. Merged files have new sequence numbers, so only their
    /// header counts.
    pub missing: u64,
    /// True if buffers are missing at the end: the file was cut. Buffers whose numbers are missing
    /// between others are not missing at the end, unless buffers with such small numbers came as
    /// late.
    pub is_cut: bool,
}

impl BufferCounts {
    pub(super) fn of(buffers: &[BufferEntry], skipped: u64, header: &TraceHeader) -> Self {
        let with = |bit: u16| {
            buffers
                .iter()
                .filter(|b| b.header.buffer_flag & bit != 0)
                .count() as u64
        };
        let total = buffers.len() as u64;
        let expected = expected_buffers(header);
        let absent = expected.map_or(0, |expected| expected.saturating_sub(total));
        let holes = Holes::of(buffers);
        let between = if are_own_numbers(header, total, || holes) {
            holes.between
        } else {
            0
        };
        // A merge numbers the buffers anew, without holes.
        let of_numbers = if header.log_file_mode & mode::RELOG == 0 {
            holes.all
        } else {
            0
        };
        Self {
            total,
            compressed: with(flag::COMPRESSED),
            events_lost: with(flag::EVENTS_LOST),
            buffer_lost: with(flag::BUFFER_LOST),
            expected,
            missing: absent.max(of_numbers),
            // Buffers skipped or missing in the middle are not missing at the end.
            is_cut: absent > buffers_in(skipped, buffers).max(between)
                || buffers.last().is_some_and(BufferEntry::is_truncated),
        }
    }
}

/// Number of buffers in the skipped bytes, assuming the average size of the others.
fn buffers_in(skipped: u64, buffers: &[BufferEntry]) -> u64 {
    // The header buffer may have another size.
    // The header buffer counts for itself and would distort the mean.
    let others = tail(buffers, 1);
    let bytes = others
        .iter()
        .map(|b| u64::from(b.header.buffer_size))
        .fold(0, u64::saturating_add);
    // Rounded up, since each stretch of skipped bytes lost at least one buffer.
    skipped.div_ceil((bytes / others.len().max(1) as u64).max(HEADER_LEN as u64))
}

/// Number of buffers that a file should have by its trace header. The number is written when the
/// session is closed; until then it is 0 or too small.
fn expected_buffers(header: &TraceHeader) -> Option<u64> {
    let has = |bit: u32| header.log_file_mode & bit != 0;
    let written = u64::from(header.buffers_written);
    if header.end_time == 0 || written == 0 {
        return None;
    }
    // A merge or relog step writes a file of its own, whichever mode the recording had.
    if has(mode::RELOG) {
        return Some(written);
    }
    if has(mode::BUFFERING) {
        // The file contains the buffers in memory when it was saved; the header may count all
        // buffers since the start.
        return None;
    }
    if has(mode::CIRCULAR) {
        let unit = if has(mode::SIZE_IN_KB) {
            1 << 10
        } else {
            1 << 20
        };
        let room = u64::from(header.max_file_size) * unit;
        if room == 0 || has(mode::COMPRESSED) || header.buffer_size == 0 {
            return None;
        }
        // Buffers that were overwritten were counted when they were written. The exact wrap
        // position differs by one buffer between versions of Windows.
        let room = room / u64::from(header.buffer_size);
        return Some(if written > room {
            room.saturating_sub(1)
        } else {
            written
        });
    }
    Some(written)
}

/// Returns `true` if the sequence numbers show where buffers are missing.
pub(super) fn has_own_numbers(buffers: &[BufferEntry], header: &TraceHeader) -> bool {
    are_own_numbers(header, buffers.len() as u64, || Holes::of(buffers))
}

/// Returns the number of buffers that are missing between others by their sequence numbers.
pub(super) fn missing_between(buffers: &[BufferEntry], header: &TraceHeader) -> u64 {
    let holes = Holes::of(buffers);
    if are_own_numbers(header, buffers.len() as u64, || holes) {
        holes.between
    } else {
        0
    }
}

/// The same as [`has_own_numbers`], of this number of buffers. The holes are counted only for merged
/// files, because that sorts all numbers.
fn are_own_numbers(header: &TraceHeader, there: u64, holes: impl FnOnce() -> Holes) -> bool {
    let has = |bit: u32| header.log_file_mode & bit != 0;
    // An appended session starts to count anew.
    if has(mode::APPEND) {
        return false;
    }
    if !has(mode::RELOG) {
        return true;
    }
    // A merge numbers the buffers anew, without holes. Those that were lost after it leave holes, as
    // many as its header counts more than there are. A file that was cut lacks the buffers that were
    // written last, and these leave holes if their numbers are small.
    let holes = holes();
    holes.all > 0
        && holes.all == holes.between
        && expected_buffers(header) == Some(there.saturating_add(holes.all))
}

/// A jump in the sequence numbers of buffers from which on the number counts as damaged, not as
/// that number of lost buffers.
pub const IMPLAUSIBLE_JUMP: u64 = 1 << 20;

/// Sequence numbers that no buffer has although others have larger ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Holes {
    all: u64,
    /// Those that cannot be of the last buffers of the file.
    between: u64,
}

impl Holes {
    fn of(buffers: &[BufferEntry]) -> Self {
        // The header buffer has number 0; in a circular file that wrapped the next ones were
        // overwritten.
        let mut numbers: Vec<i64> = buffers
            .iter()
            .skip(1)
            .map(|b| b.header.sequence_number)
            .collect();
        let delay = largest_delay(&numbers);
        numbers.sort_unstable();
        numbers.dedup();
        let Some(last) = numbers.last().copied() else {
            return Self::default();
        };
        // A buffer with a smaller number would have come later than any that is there.
        let least_late = last.saturating_sub_unsigned(delay);
        let mut holes = Self::default();
        for pair in numbers.windows(2) {
            let [before, after] = pair else { continue };
            let missing = after.abs_diff(*before) - 1;
            if missing < IMPLAUSIBLE_JUMP {
                let early = least_late.saturating_sub(*before).saturating_sub(1);
                holes.all += missing;
                holes.between += missing.min(early.max(0).unsigned_abs());
            }
        }
        holes
    }
}

/// Returns by how much a number at most is smaller than one before it: a buffer is numbered when a
/// processor begins to fill it, and a processor that does little writes it late.
fn largest_delay(numbers: &[i64]) -> u64 {
    let mut highest = i64::MIN;
    let mut delay = 0;
    for number in numbers.iter().copied() {
        if number < highest {
            let late = highest.abs_diff(number);
            delay = delay.max(if late < IMPLAUSIBLE_JUMP { late } else { 0 });
        }
        highest = highest.max(number);
    }
    delay
}
