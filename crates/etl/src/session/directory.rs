//! The directory of a file: where its buffers lie and when each one starts.
//!
//! Only the 72 bytes of each header and the first record are read, so that a file of any size is
//! indexed at the speed of its page cache.

use super::load::{Loaded, decompress_prefix};
use crate::bytes::i64_at;
use crate::damage::{Damage, Kind, Place};
use crate::source::ByteSource;
use crate::wire::buffer::{BufferHeader, HEADER_LEN, flag};
use crate::wire::event::HeaderKind;
use crate::wire::trace_header::{TraceHeader, mode};
use crate::{Error, Result};

/// One buffer of a file.
#[derive(Debug, Clone, Copy)]
pub struct BufferEntry {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes that are there: fewer than the header says if the file ends inside the buffer.
    pub len: u32,
    /// Its header.
    pub header: BufferHeader,
    /// Raw time of the earliest event that is expected; `i64::MAX` if there is none.
    pub first_time: i64,
}

impl BufferEntry {
    /// Whether the file ends inside the buffer.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.len < self.header.buffer_size
    }
}

/// What the walk over all buffer headers found.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub(super) buffers: Vec<BufferEntry>,
    pub(super) damage: Damage,
}

/// Bytes of the first record that its time stamp needs.
const PEEK_LEN: usize = HEADER_LEN + 24;

/// A zero header at a position where a buffer should be is followed by this many tries, one session buffer
/// apart, before the rest of the file counts as never written.
const PREALLOCATED_PROBES: u64 = 1 << 20;

impl Directory {
    pub(super) fn read(
        source: &dyn ByteSource,
        file: usize,
        header: &TraceHeader,
        format: u16,
    ) -> Result<Self> {
        let mut walk = Walk {
            source,
            file,
            step: u64::from(header.buffer_size).max(HEADER_LEN as u64),
            unordered: unordered_buffers(header.log_file_mode),
            format,
            logger_id: None,
            found: Self::default(),
        };
        walk.run()?;
        Ok(walk.found)
    }
}

/// Whether the events inside a buffer may be out of order, so that its first event is not its earliest.
const fn unordered_buffers(log_file_mode: u32) -> bool {
    log_file_mode & (mode::NO_PER_PROCESSOR_BUFFERING | mode::PRIVATE_LOGGER | mode::PRIVATE_IN_PROC) != 0
}

struct Walk<'s> {
    source: &'s dyn ByteSource,
    file: usize,
    /// Buffer size of the session: where the next buffer may lie when one is destroyed.
    step: u64,
    unordered: bool,
    format: u16,
    logger_id: Option<u16>,
    found: Directory,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<()> {
        let (mut position, end) = (0, self.source.size());
        while position + HEADER_LEN as u64 <= end {
            if let Some(header) = self.header_at(position)?.filter(BufferHeader::is_plausible) {
                let len = u64::from(header.buffer_size).min(end - position);
                self.add(position, len as u32, header)?;
                position += len;
            } else {
                let Some(next) = self.resync(position, end)? else { return Ok(()) };
                self.damage(Kind::SkippedBytes, position, next - position);
                position = next;
            }
        }
        if position < end {
            self.damage(Kind::SkippedBytes, position, end - position);
        }
        Ok(())
    }

    fn damage(&mut self, kind: Kind, offset: u64, bytes: u64) {
        self.found.damage.add(Place { kind, file: self.file, offset, bytes });
    }

    fn header_at(&self, position: u64) -> Result<Option<BufferHeader>> {
        let mut bytes = [0; HEADER_LEN];
        let len = read(self.source, position, &mut bytes)?;
        Ok(bytes.get(..len).and_then(BufferHeader::parse))
    }

    fn add(&mut self, offset: u64, len: u32, header: BufferHeader) -> Result<()> {
        self.logger_id.get_or_insert(header.logger_id);
        let mut entry = BufferEntry { offset, len, header, first_time: i64::MAX };
        if entry.is_truncated() {
            let valid = if header.is_compressed() {
                header.buffer_size
            } else {
                header.offset.min(header.buffer_size)
            };
            self.damage(Kind::TruncatedBuffer, offset, u64::from(valid.saturating_sub(len)));
        }
        if header.holds_records() {
            entry.first_time = self.first_time(&entry)?;
        }
        self.found.buffers.push(entry);
        Ok(())
    }

    fn first_time(&self, entry: &BufferEntry) -> Result<i64> {
        if !self.unordered {
            let mut head = [0; 2 * PEEK_LEN];
            let len = read(self.source, entry.offset, &mut head)?.min(entry.len as usize);
            let head = head.get(..len).unwrap_or_default();
            let time = if entry.header.is_compressed() {
                decompress_prefix(head, self.format, PEEK_LEN).and_then(|bytes| peek_time(&bytes))
            } else {
                peek_time(head)
            };
            if let Some(time) = time {
                return Ok(time);
            }
        }
        // No event at the start that tells its time at a glance: cut the whole buffer.
        let loaded = Loaded::read(self.source, entry, self.format)?;
        let mut first = i64::MAX;
        loaded.cut(|cut| first = first.min(cut.timestamp), |_| ());
        Ok(first)
    }

    /// The next position with a buffer behind damage at `position`; `None` if there is none and nothing
    /// was lost (the rest of a preallocated file is zeros).
    fn resync(&self, position: u64, end: u64) -> Result<Option<u64>> {
        let unused = self.is_zero(position, (end - position).min(HEADER_LEN as u64))?;
        let mut aligned = (position / self.step + 1).saturating_mul(self.step);
        let mut probes = 0;
        while aligned.saturating_add(HEADER_LEN as u64) <= end && probes < PREALLOCATED_PROBES {
            if self.is_buffer(aligned, end)? {
                return Ok(Some(aligned));
            }
            aligned += self.step;
            probes += 1;
        }
        if unused && self.is_zero(position, end - position)? {
            return Ok(None);
        }
        self.scan(position, end).map(Some)
    }

    fn is_zero(&self, from: u64, len: u64) -> Result<bool> {
        let mut chunk = vec![0; 1 << 16];
        let (mut at, end) = (from, from.saturating_add(len));
        while at < end {
            let want = (chunk.len() as u64).min(end - at) as usize;
            let got = read(self.source, at, chunk.get_mut(..want).unwrap_or_default())?;
            if got == 0 {
                return Ok(true);
            }
            if chunk.iter().take(got).any(|b| *b != 0) {
                return Ok(false);
            }
            at += got as u64;
        }
        Ok(true)
    }

    /// Steps of 8 bytes to the next buffer, or to the end.
    fn scan(&self, position: u64, end: u64) -> Result<u64> {
        let mut chunk = vec![0; 1 << 16];
        let mut base = (position / 8 + 1) * 8;
        while base + HEADER_LEN as u64 <= end {
            let got = read(self.source, base, &mut chunk)?;
            if got < HEADER_LEN {
                break;
            }
            let tried = (got - HEADER_LEN) / 8 * 8 + 8;
            for at in (0..tried).step_by(8) {
                let Some(header) = chunk.get(at..got).and_then(BufferHeader::parse) else { break };
                if self.may_be_ours(&header) && self.is_buffer(base + at as u64, end)? {
                    return Ok(base + at as u64);
                }
            }
            base += tried as u64;
        }
        Ok(end)
    }

    fn may_be_ours(&self, header: &BufferHeader) -> bool {
        header.is_plausible()
            && header.offset as usize >= HEADER_LEN
            && self.logger_id.is_none_or(|id| id == header.logger_id)
    }

    /// Stricter than on the regular path, since any bytes can be met here: the first record must be one.
    fn is_buffer(&self, position: u64, end: u64) -> Result<bool> {
        let mut head = [0; HEADER_LEN + 64];
        let len = read(self.source, position, &mut head)?;
        let head = head.get(..len).unwrap_or_default();
        let Some(header) = BufferHeader::parse(head) else { return Ok(false) };
        if !self.may_be_ours(&header) || u64::from(header.buffer_size) > end - position {
            return Ok(false);
        }
        if header.is_compressed() {
            return Ok(decompress_prefix(head, self.format, HEADER_LEN + 8)
                .is_some_and(|bytes| starts_with_marker(&bytes)));
        }
        Ok(header.offset as usize == HEADER_LEN
            || header.offset <= header.buffer_size && starts_with_marker(head))
    }
}

fn starts_with_marker(buffer: &[u8]) -> bool {
    matches!(buffer.get(HEADER_LEN + 3), Some(0xC0 | 0x90))
}

/// Time of the first record, if it is an event whose header says so.
fn peek_time(buffer: &[u8]) -> Option<i64> {
    let record = buffer.get(HEADER_LEN..)?;
    let kind = HeaderKind::from_byte(*record.get(2)?).filter(|_| record.get(3) == Some(&0xC0))?;
    i64_at(record, kind.time_stamp_at()?)
}

pub(super) fn read(source: &dyn ByteSource, offset: u64, buf: &mut [u8]) -> Result<usize> {
    source.read_at(offset, buf).map_err(|source| Error::Io { offset, len: buf.len(), source })
}

/// Counts of a file's buffers that tell of its health.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Buffers found.
    pub total: u64,
    /// Of these, compressed.
    pub compressed: u64,
    /// Buffers during which events were lost.
    pub events_lost: u64,
    /// Buffers with a lost buffer in front.
    pub buffer_lost: u64,
    /// Missing sequence numbers. 0 for merged files, where they are rewritten.
    pub missing: u64,
}

impl BufferCounts {
    pub(super) fn of(buffers: &[BufferEntry], header: &TraceHeader) -> Self {
        let with = |bit: u16| buffers.iter().filter(|b| b.header.buffer_flag & bit != 0).count() as u64;
        Self {
            total: buffers.len() as u64,
            compressed: with(flag::COMPRESSED),
            events_lost: with(flag::EVENTS_LOST),
            buffer_lost: with(flag::BUFFER_LOST),
            missing: missing_sequence_numbers(buffers, header.log_file_mode),
        }
    }
}

fn missing_sequence_numbers(buffers: &[BufferEntry], log_file_mode: u32) -> u64 {
    if log_file_mode & mode::RELOG != 0 {
        return 0;
    }
    // The header buffer has number 0; in a circular file that wrapped the next ones were overwritten.
    let mut numbers: Vec<i64> = buffers.iter().skip(1).map(|b| b.header.sequence_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let gaps = numbers.windows(2).map(|pair| match pair {
        [a, b] => b.abs_diff(*a) - 1,
        _ => 0,
    });
    // A corrupted number must not look like millions of lost buffers.
    gaps.filter(|gap| *gap < 1 << 20).sum()
}
