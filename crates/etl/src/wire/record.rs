//! Cutting a buffer into records.

use super::buffer::HEADER_LEN;
use super::event::{HeaderKind, MARKER_EVENT, MARKER_MESSAGE, RawEvent};
use super::message::MessageParts;
use crate::bytes::{align8, i64_at, u16_at, u32_at};

/// A legacy packet with a 32-bit time.
const MARKER_ULONG_TIME: u8 = 0xB0;
/// Filler at the end of a buffer.
const FILLER: u32 = u32::MAX;

/// A record found in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Raw clock ticks.
    pub timestamp: i64,
    /// Offset in the buffer.
    pub position: u32,
    /// Bytes, header included, without padding.
    pub len: u16,
    /// Kind of the header.
    pub kind: HeaderKind,
}

impl Cut {
    const fn message(timestamp: i64, position: usize, len: u16) -> Self {
        Self {
            timestamp,
            position: position as u32,
            len,
            kind: HeaderKind::Message,
        }
    }

    /// The event, from the bytes of its buffer: the processor of the buffer, and its file and
    /// number.
    #[inline]
    #[must_use]
    pub fn event(self, buffer: &[u8], cpu: u16, (file, number): (u16, u32)) -> RawEvent<'_> {
        let start = self.position as usize;
        RawEvent {
            kind: self.kind,
            timestamp: self.timestamp,
            cpu,
            file,
            buffer: number,
            position: self.position,
            // A cut belongs to the buffer that it was found in, so the range always exists. A
            // branch for an error would cost time with each event.
            record: buffer
                .get(start..start + usize::from(self.len))
                .unwrap_or_default(),
        }
    }
}

/// The event at the beginning of these bytes, if it has one of the common structured headers.
#[inline]
fn structured(bytes: &[u8], position: usize) -> Option<Cut> {
    // Read as one word, since each record starts with these four bytes.
    let [_, _, kind, marker] = u32_at(bytes, 0)?.to_le_bytes();
    if marker != MARKER_EVENT {
        return None;
    }
    let kind = HeaderKind::from_byte(kind)?;
    let time_at = kind.time_stamp_at()?;
    // Kernel headers start with the version word and have the size after the marker; all others
    // start with the size.
    // All records are shorter than 64 KiB.
    let len = u16_at(bytes, if kind.is_kernel() { 4 } else { 0 })?;
    // The check of the minimum length ensures that a `RawEvent` is at least as long as its header,
    // and that the loop advances.
    if usize::from(len) < kind.header_len() || usize::from(len) > bytes.len() {
        return None;
    }
    let timestamp = i64_at(bytes, time_at)?;
    Some(Cut {
        timestamp,
        position: position as u32,
        len,
        kind,
    })
}

/// The content of a position without one of the common event headers.
enum Rare {
    /// A message of WPP.
    Message {
        timestamp: i64,
        len: u16,
    },
    Skip(usize),
    End,
    Broken,
}

/// Handles everything but the common structured headers. `previous` stamps WPP messages without a
/// time of their own; `has_end` is true if the data ends before the buffer does.
#[cold]
fn rare(bytes: &[u8], previous: i64, has_end: bool) -> Rare {
    // Buffers are filled up with bits that are set.
    let Some(word) = u32_at(bytes, 0).filter(|word| *word != FILLER) else {
        return Rare::End;
    };
    let [_, _, kind, marker] = word.to_le_bytes();
    // The size is in the low half of the first word.
    let first = usize::from(word as u16);
    match marker {
        MARKER_MESSAGE => message(bytes, previous),
        MARKER_EVENT if kind == HeaderKind::Message as u8 => message(bytes, previous),
        // A record with an impossible length.
        MARKER_EVENT
            if HeaderKind::from_byte(kind).is_some_and(|kind| kind.time_stamp_at().is_some()) =>
        {
            Rare::Broken
        }
        // Timed, error and future kinds: old ones of the kernel have the size in the second word.
        // From this kind on the size is the first word. Unknown kinds are skipped by it, so that
        // newer Windows versions are read as far as possible.
        MARKER_EVENT if kind >= 0x0A => skip(first, 8, bytes),
        MARKER_EVENT => match u16_at(bytes, 4) {
            Some(len) => skip(len.into(), 8, bytes),
            None => Rare::Broken,
        },
        MARKER_ULONG_TIME => skip(first, 16, bytes),
        // Bit 7 clear: a WNODE, whose first word is its size, which is never 0.
        marker if marker & 0x80 == 0 && word == 0 => zeros(bytes, has_end),
        marker if marker & 0x80 == 0 => skip(word as usize, 48, bytes),
        _ => Rare::Broken,
    }
}

/// Zeros where a record should start: space that was never used, or a hole in a copy of the file.
fn zeros(bytes: &[u8], has_end: bool) -> Rare {
    // Fewer bytes than the shortest record are padding.
    let is_padding = bytes.len() < 8;
    let is_unused = !has_end && bytes.iter().all(|byte| matches!(byte, 0 | 0xFF));
    if is_padding || is_unused {
        Rare::End
    } else {
        Rare::Broken
    }
}

fn skip(len: usize, least: usize, bytes: &[u8]) -> Rare {
    // At least as long as the header of its kind, so that the position moves.
    if len >= least && len <= bytes.len() {
        Rare::Skip(len)
    } else {
        Rare::Broken
    }
}

fn message(bytes: &[u8], previous: i64) -> Rare {
    let Some(len) = u16_at(bytes, 0) else {
        return Rare::Broken;
    };
    let Some(record) = bytes
        .get(..usize::from(len))
        .filter(|r| r.len() >= HeaderKind::Message.header_len())
    else {
        return Rare::Broken;
    };
    let parts = MessageParts::parse(record);
    // Flags that announce more than the record holds are damage. Reading on would give the message
    // times and IDs out of the next record.
    if parts.end > record.len() {
        return Rare::Broken;
    }
    let timestamp = parts.timestamp.unwrap_or(previous);
    Rare::Message { timestamp, len }
}

/// A problem found while cutting a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A record of `len` bytes at `position` was skipped.
    Skipped {
        /// Offset in the buffer.
        position: usize,
        /// Bytes.
        len: usize,
    },
    /// Nothing could be cut from `position` to the end of the valid data.
    Broken {
        /// Offset in the buffer.
        position: usize,
        /// Bytes.
        len: usize,
    },
}

/// Cuts a whole buffer, whose valid data ends at `end`, and emits its records one by one.
#[inline]
pub fn cut(
    buffer: &[u8],
    end: usize,
    mut event: impl FnMut(Cut),
    mut trouble: impl FnMut(Trouble),
) {
    let mut position = HEADER_LEN;
    // A message without a time takes the time of the record before it. The first record of a buffer
    // has none, and 0 keeps it before the others.
    let mut previous = 0;
    loop {
        // The valid data may end before the buffer does.
        let Some(bytes) = buffer.get(position..end) else {
            return;
        };
        // Kept apart from the rare records, so that the numbers of an event stay in registers. With
        // one type for both they go to memory and back, which was a third of the time of a pass.
        let cut = match structured(bytes, position) {
            Some(cut) => cut,
            None => match rare(bytes, previous, end < buffer.len()) {
                Rare::Message { timestamp, len } => Cut::message(timestamp, position, len),
                Rare::Skip(len) => {
                    trouble(Trouble::Skipped { position, len });
                    position += align8(len);
                    continue;
                }
                Rare::End => return,
                Rare::Broken => {
                    return trouble(Trouble::Broken {
                        position,
                        len: end.saturating_sub(position),
                    });
                }
            },
        };
        // A message after this event takes its time.
        previous = cut.timestamp;
        // Records start at multiples of eight.
        position += align8(usize::from(cut.len));
        event(cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perfinfo(len: u16, timestamp: i64) -> Vec<u8> {
        let mut record = vec![2, 0, 0x11, 0xC0];
        record.extend(len.to_le_bytes());
        record.extend([46, 15]);
        record.extend(timestamp.to_le_bytes());
        record.resize(align8(usize::from(len)), 0);
        record
    }

    fn cut_all(records: &[Vec<u8>]) -> (Vec<i64>, Vec<Trouble>) {
        let mut buffer = vec![0; HEADER_LEN];
        buffer.extend(records.concat());
        let (mut times, mut troubles) = (Vec::new(), Vec::new());
        cut(
            &buffer,
            buffer.len(),
            |cut| times.push(cut.timestamp),
            |trouble| troubles.push(trouble),
        );
        (times, troubles)
    }

    #[test]
    fn records_are_padded_to_eight_bytes() {
        assert_eq!(
            cut_all(&[perfinfo(17, 5), perfinfo(16, 6), vec![0xFF; 8]]),
            (vec![5, 6], vec![])
        );
    }

    #[test]
    fn a_length_shorter_than_the_header_or_behind_the_end_stops_the_buffer() {
        for len in [15, 200] {
            let (times, troubles) = cut_all(&[perfinfo(16, 5), perfinfo(len, 6)[..16].to_vec()]);
            assert_eq!(times, [5]);
            assert_eq!(
                troubles,
                [Trouble::Broken {
                    position: 0x48 + 16,
                    len: 16
                }]
            );
        }
    }

    #[test]
    fn a_message_without_time_takes_that_of_its_predecessor() {
        let message = vec![16, 0, 0, 0x90, 7, 0, 0x20, 0, 1, 0, 0, 0, 2, 0, 0, 0];
        assert_eq!(cut_all(&[perfinfo(16, 5), message]), (vec![5, 5], vec![]));
    }

    #[test]
    fn kinds_without_an_event_are_skipped_by_their_size() {
        let mut error = vec![0x50, 0, 0x0D, 0xC0];
        error.resize(0x50, 0);
        let (times, troubles) = cut_all(&[error, perfinfo(16, 5)]);
        assert_eq!(
            (times, troubles),
            (
                vec![5],
                vec![Trouble::Skipped {
                    position: 0x48,
                    len: 0x50
                }]
            )
        );
    }
}
