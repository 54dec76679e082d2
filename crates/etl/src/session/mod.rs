//! One or several files, read as one session.

mod appended;
mod directory;
mod foreign;
mod load;
mod merge;
mod resync;

pub use directory::{BufferCounts, BufferEntry, IMPLAUSIBLE_JUMP};

use std::ops::ControlFlow;

use crate::bytes::{front, i64_at, u16_at};
use crate::clock::Clock;
use crate::damage::{Damage, DamageAt};
use crate::source::ByteSource;
use crate::wire::buffer::{BufferHeader, HEADER_LEN};
use crate::wire::event::HeaderKind;
use crate::wire::trace_header::TraceHeader;
use crate::{Error, RawEvent, Result};
use directory::Directory;
use foreign::hint_for;
use load::{FORMAT_HUFFMAN, FORMAT_LZ77, FORMAT_LZNT1};

/// The order in which events are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By time stamp; equal ones in the order of the files.
    Time,
    /// Order of the files: the cheapest pass.
    File,
}

/// A file of a session.
pub struct TraceFile {
    source: Box<dyn ByteSource>,
    header: TraceHeader,
    /// Time stamp of the header event.
    t0: i64,
    /// Compression format of its buffers.
    format: u16,
    buffers: Vec<BufferEntry>,
    /// Bytes that are not a buffer.
    skipped: u64,
}

impl TraceFile {
    /// Its trace header.
    #[must_use]
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// Time stamp of its header event.
    #[must_use]
    pub const fn t0(&self) -> i64 {
        self.t0
    }

    /// Its buffers in the order of the file, the header buffer first.
    #[must_use]
    pub fn buffers(&self) -> &[BufferEntry] {
        &self.buffers
    }

    /// Counts that describe its health.
    #[must_use]
    pub fn buffer_counts(&self) -> BufferCounts {
        BufferCounts::of(&self.buffers, self.skipped, &self.header)
    }

    /// True if holes between the numbers of its buffers show where buffers are missing. A merge
    /// numbers the buffers anew; there, holes count only if its header counts as many more buffers.
    #[must_use]
    pub fn has_own_numbers(&self) -> bool {
        directory::has_own_numbers(&self.buffers, &self.header)
    }

    /// Number of buffers that are missing between others by their numbers, and not at the end. 0 if
    /// its numbers show nothing.
    #[must_use]
    pub fn missing_between(&self) -> u64 {
        directory::missing_between(&self.buffers, &self.header)
    }

    /// Bytes of the file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.source.size()
    }
}

/// The result of a pass over all events.
#[derive(Debug, Clone, Default)]
pub struct Pass {
    /// Number of visited events.
    pub events: u64,
    /// Damage inside buffers; that between them is [`Session::damage`].
    pub damage: Damage,
}

/// One or several files that were recorded together.
pub struct Session {
    files: Vec<TraceFile>,
    clock: Clock,
    damage: Damage,
}

impl Session {
    /// Reads the headers of all files and the directory of their buffers.
    ///
    /// # Errors
    /// [`Error::NotATrace`] if a file does not start like an event trace, [`Error::NotOneSession`]
    /// if the files have different clocks, [`Error::Io`] if the system cannot read one.
    pub fn open(sources: Vec<Box<dyn ByteSource>>) -> Result<Self> {
        let mut damage = Damage::default();
        let mut files = Vec::with_capacity(sources.len());
        for (index, source) in sources.into_iter().enumerate() {
            files.push(open_file(source, index, &mut damage)?);
        }
        let clock = common_clock(&files)?;
        Ok(Self {
            files,
            clock,
            damage,
        })
    }

    /// Its files, in the order in which they were passed.
    #[must_use]
    pub fn files(&self) -> &[TraceFile] {
        &self.files
    }

    /// Its clock; time zero is the earliest header event.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Buffers that are not in the files, see [`BufferCounts::missing`].
    #[must_use]
    pub fn missing_buffers(&self) -> u64 {
        self.files
            .iter()
            .map(|file| file.buffer_counts().missing)
            .fold(0, u64::saturating_add)
    }

    /// True if the end of a file is missing, so that the recording continued after its last event.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.files.iter().any(|file| file.buffer_counts().is_cut)
    }

    /// The file that started first: its header describes the machine and the start. If several
    /// started together, the first in the list.
    #[must_use]
    pub fn earliest(&self) -> Option<&TraceFile> {
        self.files.iter().min_by_key(|file| file.t0)
    }

    /// The latest end of a file in raw ticks: its header event plus the length that its header
    /// states; `None` if no file states one. The flag is true if every file states its length: a
    /// file that was not closed may continue after the others.
    #[must_use]
    pub fn ends(&self) -> (Option<i64>, bool) {
        let end = |file: &TraceFile| {
            let length = file.header.length()?;
            // The length in the header counts from the header event of the same file, which is not
            // time zero for files that started later.
            let clock = Clock {
                t0: file.t0,
                ..self.clock
            };
            // Both times of the header are rounded to 100 ns. The nearest tick is closest to the
            // truth; rounding up would often give a tick after an event at the very end.
            Some(clock.nearest_tick(length.saturating_mul(100)))
        };
        let ends: Vec<Option<i64>> = self.files.iter().map(end).collect();
        (
            ends.iter().flatten().max().copied(),
            ends.iter().all(Option::is_some),
        )
    }

    /// Pointer size of the machine in bytes, as the earliest file has it: 4 or 8.
    #[must_use]
    pub fn pointer_size(&self) -> usize {
        if self
            .earliest()
            .is_some_and(|file| file.header.pointer_size == 4)
        {
            4
        } else {
            8
        }
    }

    /// Damage between buffers; that inside them is reported by each pass.
    #[must_use]
    pub const fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Adds damage that whoever fetched the files found.
    pub fn add_damage(&mut self, place: DamageAt) {
        self.damage.add(place);
    }

    /// Calls `visit` with every event. `visit` may stop the pass.
    ///
    /// # Errors
    /// [`Error::Io`] if the operating system cannot read a file. Damage is not an error, see
    /// [`Pass::damage`].
    pub fn for_each(
        &self,
        order: Order,
        visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Pass> {
        match order {
            Order::Time => merge::run(self, |_| true, visit),
            Order::File => self.in_file_order(visit),
        }
    }

    /// Shows every event to `ahead` in the order in which buffers are loaded, and passes the events
    /// for which it returns true to `visit` in order of time. If there are enough processors,
    /// `ahead` runs on a thread of its own, some buffers ahead of `visit`. [`Pass::events`] counts
    /// the events passed to `visit`.
    ///
    /// # Errors
    /// See [`Session::for_each`].
    pub fn for_each_wanted(
        &self,
        ahead: impl FnMut(&RawEvent<'_>) -> bool + Send,
        visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Pass> {
        merge::run(self, ahead, visit)
    }

    fn in_file_order(
        &self,
        mut visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Pass> {
        let mut pass = Pass::default();
        for (trace, file) in self.files.iter().zip(0u16..) {
            for (entry, buffer) in trace.buffers.iter().zip(0u32..) {
                if entry.header.holds_records()
                    && one_buffer(trace, (file, buffer), entry, &mut pass, &mut visit)?.is_break()
                {
                    return Ok(pass);
                }
            }
        }
        Ok(pass)
    }
}

fn one_buffer(
    trace: &TraceFile,
    (file, buffer): (u16, u32),
    // The pass is borrowed in parts, as the callback counts events while damage is collected.
    entry: &BufferEntry,
    pass: &mut Pass,
    visit: &mut impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    let cpu = entry.header.cpu();
    let mut flow = ControlFlow::Continue(());
    let Pass { events, damage } = pass;
    load::cut(trace, file, entry, damage, |bytes, cut| {
        // Cutting a buffer cannot be stopped halfway, so the events after a break are cut but not
        // handed out.
        if flow.is_continue() {
            *events += 1;
            flow = visit(&cut.event(bytes, cpu, (file, buffer)));
        }
    })?;
    Ok(flow)
}

/// Bytes at the start of a file that hold its trace header, names included.
pub const HEAD_LEN: usize = 8192;

fn open_file(source: Box<dyn ByteSource>, index: usize, damage: &mut Damage) -> Result<TraceFile> {
    let mut head = vec![0; HEAD_LEN];
    // A short file has fewer bytes; what is missing shows when it is parsed.
    let len = directory::read(&*source, 0, &mut head)?.len();
    head.truncate(len);
    let (header, t0) = trace_header(&head)?;
    let format = BufferHeader::parse(&head).map_or(0, |b| b.state as u16);
    // Uncompressed files have another value there that is not a format; see `load::decompress` for
    // the format that replaces it.
    let format = if matches!(format, FORMAT_LZNT1 | FORMAT_HUFFMAN) {
        format
    } else {
        FORMAT_LZ77
    };
    let found = Directory::read(&*source, index, (&header, t0), format)?;
    damage.merge(&found.damage);
    Ok(TraceFile {
        source,
        header,
        t0,
        format,
        buffers: found.buffers,
        skipped: found.skipped,
    })
}

/// Checks that a file starts like an event trace. `head` is its first [`HEAD_LEN`] bytes, or all of
/// a smaller one.
///
/// # Errors
/// [`Error::NotATrace`] with what was found instead.
pub fn check_head(head: &[u8]) -> Result<()> {
    trace_header(head).map(|_| ())
}

/// The trace header and the time stamp of its event, from the first bytes of a file.
fn trace_header(head: &[u8]) -> Result<(TraceHeader, i64)> {
    let not_a_trace = |offset, expected, found: String| Error::NotATrace {
        offset,
        expected,
        found,
        hint: hint_for(head),
    };
    let short = || {
        not_a_trace(
            head.len() as u64,
            "at least 376 bytes of an event trace",
            "the end of the file".into(),
        )
    };
    let record = head
        .get(HEADER_LEN..)
        .filter(|r| r.len() >= 32)
        .ok_or_else(short)?;
    let kind = record.get(2).copied().and_then(HeaderKind::from_byte);
    // Group 0 and type 0: the header event is always the first record of a file, and its header
    // kind gives the pointer size.
    let is_header = record.get(3) == Some(&0xC0) && record.get(6..8) == Some(&[0, 0]);
    let Some(kind @ (HeaderKind::System32 | HeaderKind::System64)) = kind.filter(|_| is_header)
    else {
        let found = record
            .iter()
            .take(8)
            .map(|b| format!("{b:02x}"))
            .collect::<Vec<_>>()
            .join(" ");
        return Err(not_a_trace(
            HEADER_LEN as u64,
            "the trace header event (xx xx 01|02 c0 xx xx 00 00)",
            found,
        ));
    };
    let size = usize::from(u16_at(record, 4).ok_or_else(short)?);
    let event = RawEvent {
        kind,
        timestamp: i64_at(record, 16).ok_or_else(short)?,
        cpu: 0,
        file: 0,
        buffer: 0,
        position: HEADER_LEN as u32,
        // A size that is too small would hide the header; the fixed part gives its own length.
        // The fixed part of the header event is 280 bytes after a record header of 32.
        record: front(record, size.max(32 + 280)),
    };
    let header = TraceHeader::parse(event.payload(), kind.pointer_size()).ok_or_else(short)?;
    Ok((header, event.timestamp))
}

fn common_clock(files: &[TraceFile]) -> Result<Clock> {
    let clocks: Vec<Clock> = files.iter().map(|f| Clock::new(&f.header, f.t0)).collect();
    let first = clocks
        .first()
        .copied()
        .ok_or_else(|| Error::NotOneSession {
            index: 1,
            reason: "there is no file".to_owned(),
        })?;
    for (clock, index) in clocks.iter().zip(1..) {
        // Stamps of different clocks cannot be put into one order. Start times may differ: the
        // files of one recording start one after the other.
        if (clock.kind, clock.frequency) != (first.kind, first.frequency) {
            let reason = format!(
                "its clock is {} with {} ticks/s, not {} with {}",
                clock.kind.name(),
                clock.frequency,
                first.kind.name(),
                first.frequency
            );
            return Err(Error::NotOneSession { index, reason });
        }
    }
    // Time zero of the session is the earliest of all files, so that no event has a negative time.
    Ok(clocks
        .into_iter()
        .min_by_key(|clock| clock.t0)
        .unwrap_or(first))
}
