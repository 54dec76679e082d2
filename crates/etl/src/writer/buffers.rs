//! The open buffers, one for each processor, and writing of full buffers to the file.

use std::io::{self, Write};

use super::options::{SessionOptions, Style};
use crate::bytes::tail;
use crate::clock::Clock;
use crate::wire::buffer::{BufferHeader, HEADER_LEN, flag};
use crate::wire::lz77_compress::Compressor;

/// `State` of a buffer that was flushed.
const STATE_FLUSH: u32 = 3;
/// `State` of a buffer that was compressed.
const STATE_COMPRESSED: u32 = 5;
/// Filler at the end of a buffer.
const FILLER: u8 = 0xFF;

/// A buffer of one processor.
#[derive(Debug, Default)]
pub(super) struct OpenBuffer {
    /// Room for the header, then records; empty before the first one.
    pub(super) bytes: Vec<u8>,
    /// Flags of the buffer when it is flushed.
    pub(super) flags: u16,
}

impl OpenBuffer {
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.len() <= HEADER_LEN
    }
}

/// Writes buffers to the file.
#[derive(Debug)]
pub(super) struct BufferSink<W> {
    pub(super) sink: W,
    /// The header fields that are the same in all buffers.
    template: BufferHeader,
    clock: Clock,
    style: Style,
    processor_index: bool,
    compressor: Option<Compressor>,
    compressed: Vec<u8>,
    /// Buffers written, the header buffer included.
    pub(super) written: u32,
    /// Number of the next buffer.
    pub(super) sequence_number: i64,
}

impl<W: Write> BufferSink<W> {
    pub(super) fn new(sink: W, options: &SessionOptions) -> Self {
        let merged = options.style == Style::Merged;
        Self {
            sink,
            template: BufferHeader {
                buffer_size: options.header.buffer_size,
                logger_id: if merged { 0 } else { options.logger_id },
                buffer_flag: if options.processor_index {
                    flag::PROCESSOR_INDEX
                } else {
                    0
                },
                ..BufferHeader::default()
            },
            clock: Clock::new(&options.header, options.t0),
            style: options.style,
            processor_index: options.processor_index,
            compressor: options.compressed.then(Compressor::default),
            compressed: Vec::new(),
            written: 1,
            sequence_number: 1,
        }
    }

    /// The header of a buffer of the file whose records end at `end`.
    pub(super) fn header(&self, cpu: u16, end: usize) -> BufferHeader {
        BufferHeader {
            saved_offset: end as u32,
            current_offset: end as u32,
            // Old systems have the alignment of the buffer in the second byte.
            processor: if self.processor_index {
                cpu
            } else {
                cpu | 8 << 8
            },
            offset: end as u32,
            ..self.template
        }
    }

    /// Writes a buffer, at the raw time `now`, and empties it.
    pub(super) fn flush(&mut self, cpu: u16, buffer: &mut OpenBuffer, now: i64) -> io::Result<()> {
        let end = buffer.bytes.len();
        let mut header = self.header(cpu, end);
        header.state = STATE_FLUSH;
        header.buffer_flag |= buffer.flags;
        header.sequence_number = self.sequence_number;
        header.time_stamp = match self.style {
            Style::Raw => now,
            Style::Merged => self.clock.filetime(now).unwrap_or(self.clock.start),
        };
        if self.compress(buffer) {
            header.state = STATE_COMPRESSED;
            header.buffer_flag |= flag::COMPRESSED;
            header.buffer_size = (HEADER_LEN + self.compressed.len()) as u32;
            self.sink.write_all(&header.to_bytes())?;
            self.sink.write_all(&self.compressed)?;
        } else {
            buffer.bytes.resize(header.buffer_size as usize, FILLER);
            set_header(&mut buffer.bytes, &header);
            self.sink.write_all(&buffer.bytes)?;
        }
        self.written = self.written.saturating_add(1);
        self.sequence_number += 1;
        buffer.bytes.clear();
        buffer.flags = 0;
        Ok(())
    }

    pub(super) const fn is_compressed(&self) -> bool {
        self.compressor.is_some()
    }

    /// Compresses the buffer; true if there is a compressor and the result is smaller. Data that
    /// does not get smaller is stored uncompressed, so that no buffer exceeds the buffer size of
    /// the session.
    fn compress(&mut self, buffer: &OpenBuffer) -> bool {
        let Some(compressor) = &mut self.compressor else {
            return false;
        };
        self.compressed.clear();
        compressor.compress(tail(&buffer.bytes, HEADER_LEN), &mut self.compressed);
        HEADER_LEN + self.compressed.len() < self.template.buffer_size as usize
    }
}

pub(super) fn set_header(buffer: &mut [u8], header: &BufferHeader) {
    if let Some(place) = buffer.first_chunk_mut() {
        *place = header.to_bytes();
    }
}
