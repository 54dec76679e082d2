//! The second pass: kept events go into a new trace.
//!
//! If there is one file, each of its buffers becomes one buffer, so that events keep their order
//! regardless of their times. The events of several files are merged by time.

use std::io::{Seek, Write};

use etwkit_decode::cut_mark::CutMark;
use etwkit_etl::session::TraceFile;
use etwkit_etl::wire::buffer::{HEADER_LEN, MAX_BUFFER_LEN, buffer_type};
use etwkit_etl::wire::message::{MessageParts, message_flag};
use etwkit_etl::wire::trace_header::{TraceHeader, mode};
use etwkit_etl::writer::{Record, SessionOptions, StoredEvent, Style, TraceWriter, WriteError};
use etwkit_etl::{HeaderKind, RawEvent, Session};
use etwkit_trace::gaps::KEEPS_LATEST;

use crate::losses::Losses;
use crate::part::Part;

/// Name of cut traces in their headers. Traces with this name may be replaced with `--force`.
pub const CUT_NAME: &str = "[cut by etwkit]";

/// Sizes of header buffers are multiples of this.
const HEADER_STEP: u32 = 1024;

/// Minimum buffer size in bytes, large enough for any record.
const LEAST_BUFFER: u32 = 0x1_0000 + 0x400;

/// Modes of a file that its copy does not have. What a ring has overwritten is told by flags of
/// buffers.
const GONE_MODES: u32 = mode::PREALLOCATE | mode::APPEND | KEEPS_LATEST;

/// Writes kept events.
pub(crate) struct Copy<'s, W> {
    writer: TraceWriter<W>,
    losses: &'s Losses,
    /// True if each buffer becomes one buffer.
    mirrors: bool,
    /// File whose header the trace has, by number.
    first_file: u16,
    /// Its header buffer, if the first buffer is one.
    header_buffer: Option<u32>,
    /// The buffer that is written for each processor; bit 63 shows whether it has losses.
    current: Vec<Option<(u16, u32, bool)>>,
    last_cpu: u16,
    mark: Option<(i64, CutMark)>,
}

/// The options of a new trace.
pub(crate) struct Shape {
    options: SessionOptions,
    first_file: u16,
    has_header_buffer: bool,
    end_time: i64,
}

/// Adds up the losses of all files.
fn count_losses(session: &Session, header: &mut TraceHeader) {
    let files = session.files();
    // Over all files: the copy is one.
    let of_all = |of: fn(&TraceFile) -> u64| files.iter().map(of).fold(0, u64::saturating_add);
    let lost = of_all(|file| file.header().events_lost.into());
    let missing = session.missing_buffers();
    let buffers = of_all(|file| file.header().buffers_lost.into()).saturating_add(missing);
    header.events_lost = u32::try_from(lost).unwrap_or(u32::MAX);
    header.buffers_lost = u32::try_from(buffers).unwrap_or(u32::MAX);
}

/// Returns a size that every buffer of the session fits into.
fn buffer_size(session: &Session, of_header: u32) -> u32 {
    let buffers = session.files().iter().flat_map(TraceFile::buffers);
    let largest = buffers.map(|buffer| buffer.header.offset).max();
    let least = of_header.max(LEAST_BUFFER);
    // A buffer of the size of the largest, so that each is copied as it is.
    let size = largest.map_or(least, |largest| least.max(largest));
    size.min(MAX_BUFFER_LEN).next_multiple_of(8)
}

impl Shape {
    /// The shape for a session. `records` is the number of bytes of records in its header buffer;
    /// `header` changes the fields of the new header.
    pub(crate) fn of(
        session: &Session,
        records: usize,
        header: impl FnOnce(&mut TraceHeader),
    ) -> Option<Self> {
        let files = session.files();
        let first = session.earliest()?;
        let first_file = files.iter().position(|file| file.t0() == first.t0())? as u16;
        let mut new = first.header().clone();
        new.log_file_mode &= !GONE_MODES;
        new.log_file_name = CUT_NAME.to_owned();
        count_losses(session, &mut new);
        let cores = files.iter().map(|file| file.header().cpu_count);
        new.cpu_count = cores.max().unwrap_or(new.cpu_count);
        new.buffer_size = buffer_size(session, new.buffer_size);
        // An incomplete trace must not look complete.
        let ends = files.iter().map(|file| file.header().end_time);
        let is_open = session.is_cut() || ends.clone().any(|end| end == 0);
        let end_time = if is_open { 0 } else { ends.fold(0, i64::max) };
        header(&mut new);
        new.pointer_size = if new.pointer_size == 4 { 4 } else { 8 };
        let event = HEADER_LEN + 64 + new.to_bytes(8).len();
        let room = u32::try_from(event + records).unwrap_or(MAX_BUFFER_LEN);
        let options = SessionOptions {
            header: new,
            t0: first.t0(),
            style: Style::Merged,
            compressed: true,
            header_buffer_size: Some(room.next_multiple_of(HEADER_STEP).min(MAX_BUFFER_LEN)),
            ..SessionOptions::default()
        };
        let has_header_buffer = first
            .buffers()
            .first()
            .is_some_and(|buffer| buffer.header.buffer_type == buffer_type::HEADER);
        Some(Self {
            options,
            first_file,
            has_header_buffer,
            end_time,
        })
    }

    pub(crate) const fn end_time(&self) -> i64 {
        self.end_time
    }
}

impl<'s, W: Write + Seek> Copy<'s, W> {
    pub(crate) fn new(
        sink: W,
        shape: &Shape,
        losses: &'s Losses,
        mirrors: bool,
        part: &Part,
    ) -> Result<Self, WriteError> {
        let start_ns = part.range.start_ns;
        let end_ns = part.range.end_ns;
        Ok(Self {
            writer: TraceWriter::new(sink, &shape.options)?,
            losses,
            mirrors,
            first_file: shape.first_file,
            header_buffer: shape.has_header_buffer.then_some(0),
            current: Vec::new(),
            last_cpu: 0,
            // All of a trace needs no mark.
            mark: (!part.is_all()).then(|| (part.beside(), CutMark { start_ns, end_ns })),
        })
    }

    /// Writes an event.
    pub(crate) fn event(&mut self, event: &RawEvent<'_>) -> Result<(), WriteError> {
        if event.kind != HeaderKind::Message
            || MessageParts::parse(event.record).timestamp.is_some()
        {
            return self.write(event, StoredEvent::from(event));
        }
        // A record whose time is given only by its place after another record gets that time.
        let record = with_time(event);
        // The length of a record has 16 bits. A message without room for its time is dropped,
        // because the record before it may be gone.
        if u16::try_from(record.len()).is_err() {
            return Ok(());
        }
        self.write(
            event,
            StoredEvent {
                bytes: &record,
                ..StoredEvent::from(event)
            },
        )
    }

    fn write(&mut self, event: &RawEvent<'_>, stored: StoredEvent<'_>) -> Result<(), WriteError> {
        if event.file == self.first_file
            && self.header_buffer == Some(event.buffer)
            && self.writer.write_header_record(stored).is_ok()
        {
            return Ok(());
        }
        self.turn(event)?;
        // The mark goes between events of processor 0 at its time, so that the buffer stays in
        // order.
        if event.cpu == 0
            && let Some((time, mark)) = self.mark.take_if(|(time, _)| *time <= event.timestamp)
        {
            self.write_mark(time, mark)?;
        }
        self.writer.write(event.cpu, Record::from(stored))
    }

    /// Flushes the buffer of a processor when the event comes from another buffer.
    fn turn(&mut self, event: &RawEvent<'_>) -> Result<(), WriteError> {
        let flags = self.losses.flags(event);
        let index = usize::from(event.cpu);
        if self.current.len() <= index {
            self.current.resize(index + 1, None);
        }
        let Some(current) = self.current.get_mut(index) else {
            return Ok(());
        };
        let now = (event.file, event.buffer, flags != 0);
        let before = current.replace(now);
        if before == Some(now) {
            return Ok(());
        }
        // The order of buffers in the file is preserved, so the buffer of the previous processor is
        // flushed first.
        if self.mirrors && self.last_cpu != event.cpu {
            self.writer.flush(self.last_cpu)?;
        }
        self.last_cpu = event.cpu;
        if self.mirrors || flags != 0 || before.is_some_and(|(_, _, lossy)| lossy) {
            self.writer.flush(event.cpu)?;
        }
        self.writer.mark_losses(event.cpu, flags)
    }

    fn write_mark(&mut self, time: i64, mark: CutMark) -> Result<(), WriteError> {
        mark.write(time, |event| self.writer.write(0, event))
    }

    pub(crate) fn finish(mut self, end_time: i64) -> Result<W, WriteError> {
        if self.mirrors {
            self.writer.flush(self.last_cpu)?;
        }
        if let Some((time, mark)) = self.mark.take() {
            // In a buffer of its own, because it may be earlier than the last event written.
            self.writer.flush(0)?;
            self.write_mark(time, mark)?;
        }
        self.writer.finish(end_time)
    }
}

/// The record of a message with its time.
fn with_time(event: &RawEvent<'_>) -> Vec<u8> {
    let parts = MessageParts::parse(event.record);
    let at = parts
        .end
        .saturating_sub(if parts.ids.is_some() { 8 } else { 0 });
    let mut record = event.record.to_vec();
    record.splice(at..at, event.timestamp.to_le_bytes());
    let len = (record.len() as u16).to_le_bytes();
    if let Some([a, b, _, _, _, _, flags @ ..]) = record.first_chunk_mut::<8>() {
        [*a, *b] = len;
        *flags = (u16::from_le_bytes(*flags) | message_flag::TIMESTAMP).to_le_bytes();
    }
    record
}
