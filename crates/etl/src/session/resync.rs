//! Resynchronization: finding the next buffer after a destroyed header.

use super::directory::read;
use super::load::{PREFIX_LEN, decompress_prefix};
use crate::Result;
use crate::bytes::{front, u32_at};
use crate::source::ByteSource;
use crate::wire::buffer::{BufferHeader, HEADER_LEN, MAX_BUFFER_LEN, buffer_type};
use crate::wire::trace_header::{TraceHeader, mode};

/// Maximum number of candidate buffers decompressed per file. Real damage takes a few tries.
const DECOMPRESSIONS: u32 = 1 << 18;

/// Sessions that are distinguished in one file; appended ones have IDs of their own.
const LOGGER_IDS: usize = 16;

/// Checks positions of a file for buffers.
pub(super) struct Probe<'s> {
    pub(super) source: &'s dyn ByteSource,
    /// Bytes of the file.
    pub(super) end: u64,
    /// Compression format of its buffers.
    pub(super) format: u16,
    /// Buffer size of the session, which all uncompressed buffers but the first have.
    session_size: u32,
    /// Alignment of positions at which a buffer may start: compressed ones start anywhere.
    grain: usize,
    logger_ids: Vec<u16>,
    decompressions: u32,
}

impl<'s> Probe<'s> {
    pub(super) fn new(source: &'s dyn ByteSource, header: &TraceHeader, format: u16) -> Self {
        // The size of the first buffer differs, so that the usual size comes from the header event.
        Self {
            source,
            end: source.size(),
            format,
            session_size: header.buffer_size,
            // Uncompressed buffers are aligned, which saves seven of eight tries.
            grain: if header.log_file_mode & mode::COMPRESSED == 0 {
                8
            } else {
                1
            },
            logger_ids: Vec::new(),
            decompressions: DECOMPRESSIONS,
        }
    }

    /// Learns from a valid buffer.
    pub(super) fn saw(&mut self, header: &BufferHeader) {
        // Bounded, as a malicious file may have a session for each buffer.
        if self.logger_ids.len() < LOGGER_IDS && !self.logger_ids.contains(&header.logger_id) {
            self.logger_ids.push(header.logger_id);
        }
        // The mode in the trace header is not relied on alone: a single compressed buffer proves
        // that the next one may start anywhere.
        if header.is_compressed() {
            self.grain = 1;
        }
    }

    pub(super) fn header_at(&self, position: u64) -> Result<Option<BufferHeader>> {
        let mut bytes = [0; HEADER_LEN];
        let bytes = read(self.source, position, &mut bytes)?;
        Ok(BufferHeader::parse(bytes))
    }

    /// The size of the buffer at `position`: the size in its header, unless no buffer follows there
    /// and another size leads to a buffer.
    pub(super) fn trusted_size(&mut self, position: u64, header: &BufferHeader) -> Result<u32> {
        let size = header.buffer_size;
        let claimed = position + u64::from(size);
        let usual = position + u64::from(self.session_size);
        // Nearly every buffer of a healthy file ends here, without another read.
        if claimed == usual || claimed == self.end {
            return Ok(size);
        }
        // These two kinds may have any size, so the buffer size of the session does not apply to
        // them.
        // Only what comes after them can confirm their size.
        if header.is_compressed() || header.buffer_type == buffer_type::HEADER {
            if self.continues_at(claimed)? {
                return Ok(size);
            }
        } else if self.is_buffer(claimed)? {
            return Ok(size); // an appended session with a buffer size of its own
        } else if self.session_size as usize >= HEADER_LEN
            && (usual == self.end || self.is_buffer(usual)?)
        {
            return Ok(self.session_size);
        } else if self.continues_at(claimed)? {
            return Ok(size);
        }
        // Neither size leads anywhere. If a buffer starts inside the claimed range, this one ended
        // there; otherwise its header is all there is to go by.
        // From behind the header: a buffer cannot start inside the header of another.
        let inside = self.scan(position + HEADER_LEN as u64, claimed.min(self.end))?;
        Ok(inside
            .and_then(|found| u32::try_from(found - position).ok())
            .unwrap_or(size))
    }

    /// The next position with a buffer after damage at `position`, or the end of the file; `None`
    /// if no buffer follows and nothing was lost (the rest of a preallocated file is zeros).
    pub(super) fn next_buffer(&mut self, position: u64) -> Result<Option<u64>> {
        let usual = position.saturating_add(self.session_size.into());
        // If only a header was overwritten, the next buffer is one buffer size further. That is
        // cheaper to try than a scan, and bytes in between that look like a header cannot mislead
        // it.
        if self.grain > 1 && usual > position && self.is_buffer(usual)? {
            return Ok(Some(usual));
        }
        // Tested after the cheap try: reading to the end of a large file costs more.
        if self.is_zero(position)? {
            return Ok(None);
        }
        let grain = self.grain as u64;
        let found = self.scan((position / grain + 1).saturating_mul(grain), self.end)?;
        Ok(Some(found.unwrap_or(self.end)))
    }

    /// True if all bytes from `from` to the end of the file are zero.
    pub(super) fn is_zero(&self, from: u64) -> Result<bool> {
        // Read in pieces, since the rest of a preallocated file may be gigabytes.
        let mut chunk = vec![0; 1 << 16];
        let mut at = from;
        while at < self.end {
            let bytes = read(self.source, at, &mut chunk)?;
            // The file became shorter while it was read, which a reader of a running recording has
            // to expect.
            if bytes.is_empty() {
                return Ok(true);
            }
            if !is_all_zero(bytes) {
                return Ok(false);
            }
            at += bytes.len() as u64;
        }
        Ok(true)
    }

    /// The first position in a range where a buffer starts.
    fn scan(&mut self, from: u64, to: u64) -> Result<Option<u64>> {
        let mut chunk = vec![0; 1 << 16];
        let mut base = from;
        while base + HEADER_LEN as u64 <= self.end && base < to {
            let bytes = read(self.source, base, &mut chunk)?;
            // Too few bytes for a header are left.
            let Some(last) = bytes.len().checked_sub(HEADER_LEN) else {
                break;
            };
            // A header that straddles the end of the chunk is not tried now: the next chunk starts
            // with the first position that was left out.
            let tried = last / self.grain * self.grain + self.grain;
            // Preallocated files have long runs of zeros, which are skipped as a whole.
            if !is_all_zero(bytes) {
                for at in (0..tried).step_by(self.grain) {
                    let position = base + at as u64;
                    if position >= to {
                        return Ok(None);
                    }
                    // Four bytes are tested before anything is read again.
                    if may_start_buffer(bytes, at) && self.is_buffer(position)? {
                        return Ok(Some(position));
                    }
                }
            }
            base += tried as u64;
        }
        Ok(None)
    }

    /// True if the file can continue at `position` after a buffer: with another buffer, with the
    /// unused rest of a preallocated file, or not at all.
    fn continues_at(&self, position: u64) -> Result<bool> {
        if position >= self.end {
            return Ok(position == self.end);
        }
        let mut bytes = [0; HEADER_LEN];
        let bytes = read(self.source, position, &mut bytes)?;
        Ok(is_all_zero(bytes)
            || BufferHeader::parse(bytes).is_some_and(|header| header.is_plausible()))
    }

    /// Stricter than on the regular path, because any bytes can occur here: the first record must
    /// be valid, and either the next buffer or both size and session must also match.
    fn is_buffer(&mut self, position: u64) -> Result<bool> {
        let mut head = [0; PREFIX_LEN];
        let head = read(self.source, position, &mut head)?;
        // The cheap conditions first; decompression is last.
        let Some(header) = BufferHeader::parse(head).filter(BufferHeader::is_plausible) else {
            return Ok(false);
        };
        let end = header.offset as usize;
        if end < HEADER_LEN || !header.is_compressed() && header.offset > header.buffer_size {
            return Ok(false);
        }
        // Compressed buffers have no usual size, so only the session can confirm them.
        // A session ID alone is two bytes and proves little without the size.
        let ours = self.logger_ids.contains(&header.logger_id)
            && (header.is_compressed() || header.buffer_size == self.session_size);
        let continues = self.continues_at(position + u64::from(header.buffer_size))?;
        // An empty buffer has no first record to check, so it needs both other signs.
        if end == HEADER_LEN {
            return Ok(ours && continues);
        }
        Ok((ours || continues) && self.starts_with_record(&header, head))
    }

    fn starts_with_record(&mut self, header: &BufferHeader, head: &[u8]) -> bool {
        if !header.is_compressed() {
            return starts_with_marker(head);
        }
        // Any four bytes can look like a size, and each attempt decompresses some hundred bytes:
        // without a limit, a crafted file could keep the scan busy for hours.
        self.decompressions = self.decompressions.saturating_sub(1);
        let stored = front(head, header.buffer_size as usize);
        self.decompressions > 0
            && decompress_prefix(stored, self.format, HEADER_LEN + 8)
                .is_some_and(|b| starts_with_marker(&b))
    }
}

/// The marker byte of any kind of record.
fn starts_with_marker(buffer: &[u8]) -> bool {
    matches!(buffer.get(HEADER_LEN + 3), Some(0xC0 | 0x90))
}

/// True if the four bytes at `at` can be the size of a buffer. This cheap test rejects most
/// positions.
#[inline]
fn may_start_buffer(chunk: &[u8], at: usize) -> bool {
    u32_at(chunk, at).is_some_and(|size| (HEADER_LEN as u32..=MAX_BUFFER_LEN).contains(&size))
}

fn is_all_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().all(|word| u64::from_le_bytes(*word) == 0) && rest.iter().all(|b| *b == 0)
}
