//! Damage in a file: it is counted, shown and stored, and never stops the reader.

use std::collections::BTreeMap;
use std::fmt;

/// The kinds of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// The file ends inside a buffer.
    TruncatedBuffer,
    /// Bytes between buffers that are not a buffer.
    SkippedBytes,
    /// A compressed buffer whose content does not decompress.
    Decompression,
    /// A record header is invalid: the rest of its buffer is lost.
    RecordHeader,
    /// A record without an event, or of an unknown kind: skipped by its size.
    SkippedRecord,
    /// A buffer claims more bytes than it has or than any buffer may have.
    BufferSize,
    /// More compressed buffers overlap in time than memory allows for.
    TooManyOpenBuffers,
    /// A session with another clock was appended: its times are computed with the first clock.
    OtherClock,
    /// The system could not read a part of the file.
    Io,
    /// A packed file is broken or ends early: what was unpacked before is the trace.
    PackedEnd,
    /// Bytes after the data of a packed file.
    PackedRest,
    /// A file of an archive that is empty or not a trace, next to traces.
    UnreadableMember,
}

impl DamageKind {
    /// Stable name, as stored and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TruncatedBuffer => "truncated_buffer",
            Self::SkippedBytes => "skipped_bytes",
            Self::Decompression => "decompression",
            Self::RecordHeader => "record_header",
            Self::SkippedRecord => "skipped_record",
            Self::BufferSize => "buffer_size",
            Self::TooManyOpenBuffers => "too_many_open_buffers",
            Self::OtherClock => "other_clock",
            Self::Io => "io",
            Self::PackedEnd => "packed_end",
            Self::PackedRest => "packed_rest",
            Self::UnreadableMember => "unreadable_member",
        }
    }

    /// The effect on the numbers, in words for the reader.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::TruncatedBuffer => {
                "the file ends inside a buffer; the events after the cut are lost"
            }
            Self::SkippedBytes => "bytes outside buffers were skipped",
            Self::Decompression => {
                "a compressed buffer is broken; its events after the damage are lost"
            }
            Self::RecordHeader => "a record header is broken; the rest of its buffer is lost",
            Self::SkippedRecord => "records of a kind that carries no event were skipped",
            Self::BufferSize => {
                "a buffer claims more bytes than it has; it is read as far as it goes"
            }
            Self::TooManyOpenBuffers => {
                "too many compressed buffers overlap in time; some were left out"
            }
            Self::OtherClock => {
                "a recording with another clock was appended to the file; its times are wrong"
            }
            Self::Io => "the system could not read a part of the file",
            Self::PackedEnd => {
                "the packed file is broken or ends early; the events after that are lost"
            }
            Self::PackedRest => "bytes after the packed trace were skipped",
            Self::UnreadableMember => {
                "a file of the archive is empty or not a trace; it is left out"
            }
        }
    }
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One place of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamageAt {
    /// The kind of damage.
    pub kind: DamageKind,
    /// Index of the file in the session, from 0.
    pub file: usize,
    /// Offset in that file; inside a compressed buffer, offset of the buffer plus the offset in its
    /// decompressed content.
    pub offset: u64,
    /// Bytes lost, as far as known.
    pub bytes: u64,
}

/// Number of places and bytes with one kind of damage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Places.
    pub places: u64,
    /// Bytes lost, as far as known.
    pub bytes: u64,
}

/// All damage of a session: a count by kind, and the first places in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    counts: BTreeMap<DamageKind, Count>,
    first: Vec<DamageAt>,
    losses: Vec<(usize, u64)>,
}

/// Maximum number of places kept in full; a broken file may have millions.
const KEPT_PLACES: usize = 100;

impl Damage {
    /// Adds one place.
    pub fn add(&mut self, place: DamageAt) {
        // Counts are exact for any number of places. Only the list of places is short.
        let count = self.counts.entry(place.kind).or_default();
        count.places += 1;
        count.bytes = count.bytes.saturating_add(place.bytes);
        if self.first.len() < KEPT_PLACES {
            self.first.push(place);
        }
    }

    /// Adds a place at which events are missing: in the buffer at that offset of its file, or
    /// between buffers.
    pub fn add_loss(&mut self, place: DamageAt, buffer: u64) {
        // A place without lost bytes is unusual but complete, such as a buffer whose size had to be
        // corrected. It must not count as a gap in the events.
        if place.bytes > 0 {
            self.losses.push((place.file, buffer));
        }
        self.add(place);
    }

    /// Adds all damage of another list.
    pub fn merge(&mut self, other: &Self) {
        for (kind, more) in &other.counts {
            let count = self.counts.entry(*kind).or_default();
            count.places += more.places;
            count.bytes = count.bytes.saturating_add(more.bytes);
        }
        let room = KEPT_PLACES.saturating_sub(self.first.len());
        // In the order in which they were found, so that the list is the same in every run.
        self.first.extend(other.first.iter().take(room).cloned());
        self.losses.extend_from_slice(&other.losses);
    }

    /// True if there is no damage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts by kind.
    pub fn counts(&self) -> impl Iterator<Item = (DamageKind, Count)> + '_ {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Places of missing events, unordered: the index of the file, and the offset of the buffer
    /// that lost events, or of the bytes that are not a buffer. Each buffer has at most a few of
    /// these.
    #[must_use]
    pub fn losses(&self) -> &[(usize, u64)] {
        &self.losses
    }

    /// The first places, at most 100.
    #[must_use]
    pub fn first_places(&self) -> &[DamageAt] {
        &self.first
    }
}
