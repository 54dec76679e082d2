//! The kind of session to write.

use super::error::{Result, WriteError};
use super::record::Width;
use crate::wire::buffer::{HEADER_LEN, MAX_BUFFER_LEN};
use crate::wire::trace_header::{TraceHeader, mode};

/// The kind of tool that wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// The session itself: buffers carry its ID and the raw time of their flush.
    #[default]
    Raw,
    /// A merge step: buffers carry no session ID, but the wall-clock time of their flush. The log
    /// file mode says so.
    Merged,
}

/// Options of [`super::TraceWriter`].
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The trace header. `buffer_size` (bytes, a multiple of 8), `pointer_size` (4 or 8) and the
    /// clock fields are taken from here. The writer sets the mode bits for a merged and for a
    /// compressed session; `end_time`, `buffers_written`, `events_lost` and `buffers_lost` when it
    /// is done.
    pub header: TraceHeader,
    /// Raw clock ticks of the header event: time zero of the trace.
    pub t0: i64,
    /// The kind of tool that wrote the file.
    pub style: Style,
    /// Compress buffers (format 3). They are then stored without padding.
    pub compressed: bool,
    /// ID of the session in every buffer of a raw file; 0 in a merged one.
    pub logger_id: u16,
    /// Name processors by 16 bits, as all systems since Windows 8 do.
    pub processor_index: bool,
    /// Bytes of the header buffer, a multiple of 8. `None`: the size of the other buffers, or 1024
    /// in a compressed file.
    pub header_buffer_size: Option<u32>,
    /// Stacks that are kept for [`super::TraceWriter::write_stack_key`], for each of kernel and
    /// user part.
    pub stack_keys: u32,
}

impl Default for SessionOptions {
    /// A raw 64-bit session with buffers of 64 KiB, stamped by a performance counter of 10 MHz.
    fn default() -> Self {
        let header = TraceHeader {
            buffer_size: 0x1_0000,
            version: [10, 0, 1, 5],
            build: 19045,
            cpu_count: 1,
            timer_resolution: 156_250,
            log_file_mode: 1,
            start_buffers: 1,
            pointer_size: 8,
            cpu_mhz: 3000,
            perf_freq: 10_000_000,
            clock_type: 1,
            ..TraceHeader::default()
        };
        Self {
            header,
            t0: 0,
            style: Style::Raw,
            compressed: false,
            logger_id: 1,
            processor_index: true,
            header_buffer_size: None,
            stack_keys: 512,
        }
    }
}

/// Bytes of the header buffer of a compressed file, unless the options say otherwise.
const SMALL_HEADER_BUFFER: u32 = 1024;

impl SessionOptions {
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |option, value: u32, expected| {
            Err(WriteError::Options {
                option,
                value: value.into(),
                expected,
            })
        };
        for size in [self.header.buffer_size, self.header_buffer_size()] {
            if size as usize <= HEADER_LEN || size > MAX_BUFFER_LEN || size % 8 != 0 {
                return refuse(
                    "buffer size",
                    size,
                    "a multiple of 8 bytes from 80 to 16 MiB",
                );
            }
        }
        if !matches!(self.header.pointer_size, 4 | 8) {
            return refuse("pointer size", self.header.pointer_size, "4 or 8 bytes");
        }
        if self.stack_keys == 0 || self.stack_keys > 1 << 20 {
            return refuse("number of stack keys", self.stack_keys, "1 to 1048576");
        }
        Ok(())
    }

    pub(super) fn header_buffer_size(&self) -> u32 {
        let default = if self.compressed {
            SMALL_HEADER_BUFFER
        } else {
            self.header.buffer_size
        };
        self.header_buffer_size.unwrap_or(default)
    }

    pub(super) const fn width(&self) -> Width {
        if self.header.pointer_size == 4 {
            Width::Bits32
        } else {
            Width::Bits64
        }
    }

    /// The header before the first event.
    pub(super) fn trace_header(&self) -> TraceHeader {
        let mut header = self.header.clone();
        header.log_file_mode |= match self.style {
            Style::Raw => 0,
            Style::Merged => mode::RELOG,
        };
        if self.compressed {
            header.log_file_mode |= mode::COMPRESSED;
        }
        (header.end_time, header.buffers_written) = (0, 0);
        header
    }
}
