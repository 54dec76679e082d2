//! The directory of a file: where its buffers lie and when each one starts.
//!
//! Only the 72 bytes of each header and the first record are read, so that a file of any size is
//! indexed at the speed of its page cache.

use super::load::{Loaded, PREFIX_LEN, decompress_prefix};
use super::resync::Probe;
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

impl Directory {
    pub(super) fn read(
        source: &dyn ByteSource,
        file: usize,
        header: &TraceHeader,
        format: u16,
    ) -> Result<Self> {
        let mut walk = Walk {
            file,
            unordered: unordered_buffers(header.log_file_mode),
            probe: Probe::new(source, header, format),
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
    file: usize,
    unordered: bool,
    probe: Probe<'s>,
    found: Directory,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<()> {
        let (mut position, end) = (0, self.probe.end);
        while position + HEADER_LEN as u64 <= end {
            if let Some(mut header) = self.probe.header_at(position)?.filter(BufferHeader::is_plausible) {
                let size = self.probe.trusted_size(position, &header)?;
                if size != header.buffer_size {
                    self.damage(Kind::BufferSize, position, 0);
                    header.buffer_size = size;
                }
                let len = u64::from(size).min(end - position);
                self.add(position, len as u32, header)?;
                position += len;
            } else {
                let Some(next) = self.probe.next_buffer(position)? else { return Ok(()) };
                self.damage(Kind::SkippedBytes, position, next - position);
                position = next;
            }
        }
        if !self.probe.is_zero(position)? {
            self.damage(Kind::SkippedBytes, position, end - position);
        }
        Ok(())
    }

    fn damage(&mut self, kind: Kind, offset: u64, bytes: u64) {
        self.found.damage.add_loss(Place { kind, file: self.file, offset, bytes }, offset);
    }

    fn add(&mut self, offset: u64, len: u32, header: BufferHeader) -> Result<()> {
        self.probe.saw(&header);
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
        let Probe { source, format, .. } = self.probe;
        if !self.unordered {
            let mut head = [0; PREFIX_LEN];
            let wanted = if entry.header.is_compressed() { PREFIX_LEN } else { PEEK_LEN };
            let wanted = head.get_mut(..wanted).unwrap_or_default();
            let len = read(source, entry.offset, wanted)?.min(entry.len as usize);
            let head = head.get(..len).unwrap_or_default();
            let time = if entry.header.is_compressed() {
                decompress_prefix(head, format, PEEK_LEN).and_then(|bytes| peek_time(&bytes))
            } else {
                peek_time(head)
            };
            if let Some(time) = time {
                return Ok(time);
            }
        }
        // No event at the start that tells its time at a glance: cut the whole buffer.
        let loaded = Loaded::read(source, entry, format)?;
        let mut first = i64::MAX;
        loaded.cut(|cut| first = first.min(cut.timestamp), |_| ());
        Ok(first)
    }
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
