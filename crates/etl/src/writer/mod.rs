//! Writing event traces: the inverse of [`crate::session`].
//!
//! Records go into one open buffer for each processor; a full buffer goes to the sink. Memory holds
//! the open buffers and the cache of stack keys, independent of the length of the trace. The header
//! buffer is written first, with the counts of a session that was never closed, and again at the
//! end: the sink must be able to seek back. The trace starts at the position of the sink when the
//! writer is created, so a second session can be appended to a first one.
//!
//! A rundown needs no help: it is records of the rundown types, written last.
//!
//! ```
//! use std::io::Cursor;
//! use etwkit_etl::writer::{KernelContext, KernelEvent, SessionOptions, StackOwner, StackPart, TraceWriter};
//!
//! # fn main() -> etwkit_etl::writer::Result<()> {
//! let options = SessionOptions { t0: 1000, compressed: true, ..SessionOptions::default() };
//! let mut trace = TraceWriter::new(Cursor::new(Vec::new()), &options)?;
//! let context = KernelContext::ids(8, 4);
//! let (group, opcode, version) = (3, 1, 4);
//! let event = KernelEvent { timestamp: 1500, context, group, opcode, version, ..KernelEvent::default() };
//! trace.write(0, event)?;
//! let owner = StackOwner { timestamp: 1500, process_id: 4, thread_id: 8 };
//! trace.write_stack_key(0, 1501, owner, StackPart::Kernel, &[0xFFFF_8000_0000_1234])?;
//! let file = trace.finish(133_000_000_000_000_000)?.into_inner();
//! # let session = etwkit_etl::Session::open(vec![Box::new(file)]).unwrap();
//! # assert_eq!(session.files()[0].buffers().len(), 2);
//! # Ok(())
//! # }
//! ```

mod buffers;
mod encode;
mod error;
mod merge;
mod options;
mod record;
mod stack;

pub use error::{Result, WriteError};
pub use merge::MergeRecord;
pub use options::{SessionOptions, Style};
pub use record::{
    ClassicEvent, Instance, KernelContext, KernelEvent, ManifestEvent, MessageEvent, MessageSource,
    Record, StoredEvent, Width,
};
pub use stack::{StackCounts, StackOwner, StackPart};

use std::io::{Seek, SeekFrom, Write};

use crate::bytes::align8;
use crate::wire::buffer::{HEADER_LEN, buffer_type, flag};
use crate::wire::trace_header::TraceHeader;
use buffers::{BufferSink, OpenBuffer, set_header};
use stack::StackKeys;

/// `State` of the header buffer of a compressed file: the format of its buffers.
const COMPRESSION_FORMAT_LZ77: u32 = 3;

/// Version of the header event.
const HEADER_EVENT_VERSION: u8 = 2;

/// Writes one trace.
pub struct TraceWriter<W> {
    sink: BufferSink<W>,
    /// Position of the start of the trace in the sink.
    start: u64,
    header: TraceHeader,
    t0: i64,
    width: Width,
    processor_index: bool,
    buffer_size: usize,
    header_buffer_size: usize,
    /// Records of the header buffer after the header event.
    header_records: Vec<u8>,
    /// Open buffers, indexed by processor.
    open: Vec<OpenBuffer>,
    /// Raw time of the latest record.
    last_time: i64,
    stacks: StackKeys,
    scratch: Vec<u8>,
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Starts a trace and writes its header buffer.
    ///
    /// # Errors
    /// [`WriteError::Options`] if the options are invalid, [`WriteError::RecordLargerThanBuffer`]
    /// if the header event does not fit into its buffer, [`WriteError::Io`] if the sink fails.
    pub fn new(mut sink: W, options: &SessionOptions) -> Result<Self> {
        options.check()?;
        // The trace may be written behind something else in the same sink.
        let start = sink.stream_position()?;
        let mut writer = Self {
            sink: BufferSink::new(sink, options),
            start,
            header: options.trace_header(),
            t0: options.t0,
            width: options.width(),
            processor_index: options.processor_index,
            buffer_size: options.header.buffer_size as usize,
            header_buffer_size: options.header_buffer_size() as usize,
            header_records: Vec::new(),
            open: Vec::new(),
            last_time: options.t0,
            stacks: StackKeys::new(options.stack_keys as usize, options.width()),
            scratch: Vec::new(),
        };
        // Written now with zeros for what is known only at the end, so that a crash leaves a
        // readable file.
        let buffer = writer.header_buffer()?;
        writer.sink.sink.write_all(&buffer)?;
        Ok(writer)
    }

    /// The current trace header.
    #[must_use]
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// Adds a record to the header buffer, after the header event: group masks, partition and so
    /// on. They are written to the file when the trace is finished.
    ///
    /// # Errors
    /// [`WriteError::RecordLargerThanBuffer`] if the header buffer is full, otherwise the errors of
    /// [`TraceWriter::write`].
    pub fn write_header_record<'a>(&mut self, record: impl Into<Record<'a>>) -> Result<()> {
        let record = record.into();
        let len = record.stored_len()?;
        let used = self.header_event_len()? + self.header_records.len();
        let room = (self.header_buffer_size - HEADER_LEN).saturating_sub(used);
        // Checked here, since nothing can be added when the trace is finished.
        fits(len, room)?;
        record.encode(len, &mut self.header_records);
        Ok(())
    }

    /// Writes a record to the current buffer of a processor.
    ///
    /// # Errors
    /// [`WriteError::RecordTooLong`], [`WriteError::RecordLargerThanBuffer`] and
    /// [`WriteError::TooManyCounters`] if the format has no room for the record,
    /// [`WriteError::Processor`] if it has none for the processor. Nothing is written then.
    /// [`WriteError::Io`] if the sink fails.
    pub fn write<'a>(&mut self, cpu: u16, record: impl Into<Record<'a>>) -> Result<()> {
        let record = record.into();
        let len = record.stored_len()?;
        // A record that fits into no buffer is an error and not a cut.
        fits(len, self.buffer_size - HEADER_LEN)?;
        // An event never crosses buffers, so an event that does not fit ends the buffer early.
        if self.open_buffer(cpu)?.bytes.len() + align8(usize::from(len)) > self.buffer_size {
            self.flush(cpu)?;
        }
        let buffer_size = self.buffer_size;
        let buffer = self.open_buffer(cpu)?;
        if buffer.bytes.is_empty() {
            // Memory for a processor is taken with its first event: most traces use fewer than they
            // could.
            buffer.bytes.reserve(buffer_size);
            buffer.bytes.resize(HEADER_LEN, 0);
        }
        record.encode(len, &mut buffer.bytes);
        if let Some(time) = record.timestamp() {
            // Buffers are stamped with the time of their flush, which cannot be before any event
            // written earlier.
            self.last_time = self.last_time.max(time);
        }
        Ok(())
    }

    /// Ends the current buffer of a processor, if it holds a record.
    ///
    /// # Errors
    /// [`WriteError::Io`] if the sink fails.
    pub fn flush(&mut self, cpu: u16) -> Result<()> {
        match self.open.get_mut(usize::from(cpu)) {
            Some(buffer) if !buffer.is_empty() => {
                Ok(self.sink.flush(cpu, buffer, self.last_time)?)
            }
            _ => Ok(()),
        }
    }

    /// Counts lost events and marks the current buffer of the processor.
    ///
    /// # Errors
    /// [`WriteError::Processor`] if the format has no room for the processor.
    pub fn lose_events(&mut self, cpu: u16, count: u32) -> Result<()> {
        self.open_buffer(cpu)?.flags |= flag::EVENTS_LOST;
        self.header.events_lost = self.header.events_lost.saturating_add(count);
        Ok(())
    }

    /// Counts a lost buffer: its number is missing, the current buffer of the processor is marked.
    ///
    /// # Errors
    /// [`WriteError::Processor`] if the format has no room for the processor.
    pub fn lose_buffer(&mut self, cpu: u16) -> Result<()> {
        self.open_buffer(cpu)?.flags |= flag::BUFFER_LOST;
        self.header.buffers_lost = self.header.buffers_lost.saturating_add(1);
        // The number is skipped, as it is when Windows loses a buffer.
        self.sink.sequence_number += 1;
        Ok(())
    }

    /// Sets loss flags ([`flag::EVENTS_LOST`], [`flag::BUFFER_LOST`]) on the current buffer of a
    /// processor. The losses themselves are counted elsewhere.
    ///
    /// # Errors
    /// [`WriteError::Processor`] if the format has no room for the processor.
    pub fn mark_losses(&mut self, cpu: u16, flags: u16) -> Result<()> {
        self.open_buffer(cpu)?.flags |= flags & (flag::EVENTS_LOST | flag::BUFFER_LOST);
        Ok(())
    }

    /// Defines the remaining stack keys, flushes all buffers, completes the header and returns the
    /// sink, which is then positioned after the trace. `end_time` is the FILETIME of the stop.
    ///
    /// # Errors
    /// [`WriteError::Io`] if the sink fails.
    pub fn finish(mut self, end_time: i64) -> Result<W> {
        // Before the flush, because the definitions go into the open buffers.
        self.rundown_stack_keys()?;
        for (buffer, cpu) in self.open.iter_mut().zip(0u16..) {
            if !buffer.is_empty() {
                buffer.flags |= flag::FLUSH_MARKER;
                self.sink.flush(cpu, buffer, self.last_time)?;
            }
        }
        self.header.end_time = end_time;
        self.header.buffers_written = self.sink.written;
        let buffer = self.header_buffer()?;
        let mut sink = self.sink.sink;
        // The header event contains the number of buffers and the stop time, which are known only
        // now.
        let end = sink.stream_position()?;
        sink.seek(SeekFrom::Start(self.start))?;
        sink.write_all(&buffer)?;
        sink.seek(SeekFrom::Start(end))?;
        sink.flush()?;
        Ok(sink)
    }

    /// Returns the sink as a crash would leave it: open buffers are lost, and the header is the
    /// header of a session that was never closed.
    pub fn abandon(self) -> W {
        self.sink.sink
    }

    fn open_buffer(&mut self, cpu: u16) -> Result<&mut OpenBuffer> {
        // The old layout has one byte for the processor.
        if !self.processor_index && cpu > 0xFF {
            return Err(WriteError::Processor { cpu });
        }
        let index = usize::from(cpu);
        if self.open.len() <= index {
            self.open.resize_with(index + 1, OpenBuffer::default);
        }
        self.open
            .get_mut(index)
            .ok_or(WriteError::Processor { cpu })
    }

    fn header_event_len(&self) -> Result<usize> {
        let payload = self.header.to_bytes(self.width.pointer_size());
        Ok(align8(usize::from(
            Record::from(self.header_event(&payload)).stored_len()?,
        )))
    }

    const fn header_event<'a>(&self, payload: &'a [u8]) -> KernelEvent<'a> {
        KernelEvent {
            width: self.width,
            context: KernelContext::ids(0, 0),
            timestamp: self.t0,
            group: 0,
            opcode: 0,
            version: HEADER_EVENT_VERSION,
            pebs_index: None,
            pmc_values: &[],
            payload,
        }
    }

    fn header_buffer(&self) -> Result<Vec<u8>> {
        let payload = self.header.to_bytes(self.width.pointer_size());
        let event = Record::from(self.header_event(&payload));
        let len = event.stored_len()?;
        fits(len, self.header_buffer_size - HEADER_LEN)?;
        let mut buffer = vec![0; HEADER_LEN];
        event.encode(len, &mut buffer);
        buffer.extend_from_slice(&self.header_records);
        // Of buffer 0, which is not counted as one of events.
        let mut header = self.sink.header(0, buffer.len());
        header.buffer_size = self.header_buffer_size as u32;
        header.buffer_flag |= flag::FLUSH_MARKER;
        header.buffer_type = buffer_type::HEADER;
        header.state = if self.sink.is_compressed() {
            COMPRESSION_FORMAT_LZ77
        } else {
            0
        };
        // Filled with set bits, which readers take for the end of the records.
        buffer.resize(self.header_buffer_size, 0xFF);
        set_header(&mut buffer, &header);
        Ok(buffer)
    }
}

fn fits(len: u16, room: usize) -> Result<()> {
    let len = align8(usize::from(len));
    if len > room {
        Err(WriteError::RecordLargerThanBuffer { len, room })
    } else {
        Ok(())
    }
}
