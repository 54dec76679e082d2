//! Gaps in the recording: a part reports the losses that the whole trace reported.

use std::collections::BTreeMap;

use etwkit_decode::kernel::Hook;
use etwkit_etl::session::{BufferEntry, IMPLAUSIBLE_JUMP, TraceFile};
use etwkit_etl::wire::buffer::flag;
use etwkit_etl::{RawEvent, Session};
use etwkit_trace::gaps::lacks_its_start;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::needed::{Id, Needed};

/// Flags of buffers that say that something is missing.
const LOST: u16 = flag::EVENTS_LOST | flag::BUFFER_LOST;

/// A buffer of a session: its file and its number.
type Buffer = (u16, u32);

/// The buffers of a session at which events are missing, with the flags that say so.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    flags: FxHashMap<Buffer, u16>,
}

impl Losses {
    /// Finds losses by flags, by missing numbers, by what a ring has overwritten, and by damage:
    /// between buffers, and inside of buffers as found by a pass.
    pub(crate) fn of(session: &Session, found: &[(usize, u64)]) -> Self {
        let mut losses = Self::default();
        let mut damaged: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (file, offset) in session.damage().losses().iter().chain(found) {
            damaged.entry(*file).or_default().push(*offset);
        }
        for (file, number) in session.files().iter().zip(0u16..) {
            for (buffer, index) in file.buffers().iter().zip(0u32..) {
                losses.add((number, index), buffer.header.buffer_flag & LOST);
            }
            if file.has_own_numbers() {
                losses.missing_numbers(file, number);
            }
            if lacks_its_start(file) {
                losses.overwritten(file, number);
            }
            if let Some(offsets) = damaged.get_mut(&usize::from(number)) {
                offsets.sort_unstable();
                losses.damaged(file, number, offsets);
            }
        }
        losses
    }

    fn add(&mut self, buffer: Buffer, flags: u16) {
        if flags != 0 {
            *self.flags.entry(buffer).or_default() |= flags;
        }
    }

    /// Before the first buffer of each processor others were overwritten. With one processor nothing
    /// happened elsewhere in that time.
    fn overwritten(&mut self, file: &TraceFile, number: u16) {
        let mut firsts: BTreeMap<u16, (i64, u32)> = BTreeMap::new();
        // Without the header buffer, which belongs to no processor.
        for (buffer, index) in file.buffers().iter().zip(0u32..).skip(1) {
            let own = (buffer.header.sequence_number, index);
            let first = firsts.entry(buffer.header.cpu()).or_insert(own);
            *first = own.min(*first);
        }
        if firsts.len() > 1 {
            for (_, index) in firsts.into_values() {
                self.add((number, index), flag::BUFFER_LOST);
            }
        }
    }

    /// A missing buffer may have belonged to any processor.
    fn missing_numbers(&mut self, file: &TraceFile, number: u16) {
        let mut buffers: Vec<(&BufferEntry, u32)> =
            // Without the header buffer, whose number is always 0.
            file.buffers().iter().zip(0u32..).skip(1).collect();
        buffers.sort_by_key(|(buffer, _)| buffer.header.sequence_number);
        let mut missing = 0u64;
        let mut before: Option<i64> = None;
        let mut known: FxHashMap<u16, u64> = FxHashMap::default();
        for (buffer, index) in buffers {
            let own = buffer.header.sequence_number;
            let jump = before.map_or(0, |before: i64| own.abs_diff(before));
            // A jump counts once, whatever its size: all that matters is that something is missing.
            missing += u64::from((2..IMPLAUSIBLE_JUMP).contains(&jump));
            before = Some(own);
            let known_before = known.insert(buffer.header.cpu(), missing);
            // The first buffer of a processor has a gap before it if any buffer is missing so far.
            if known_before.map_or(missing > 0, |before| before < missing) {
                self.add((number, index), flag::BUFFER_LOST);
            }
        }
    }

    /// Bytes that are not a buffer may have been a buffer of any processor, so each processor may
    /// lack events up to its next buffer. A buffer with damaged records affects only its own
    /// processor, up to the next buffer. Offsets are in ascending order.
    fn damaged(&mut self, file: &TraceFile, number: u16, offsets: &[u64]) {
        let mut offsets = offsets.iter().copied().peekable();
        let mut skipped = 0u64;
        let (mut known, mut broken) = (
            FxHashMap::<u16, u64>::default(),
            FxHashSet::<u16>::default(),
        );
        for (buffer, index) in file.buffers().iter().zip(0u32..) {
            // Bytes before this buffer that are none.
            while offsets.next_if(|offset| *offset < buffer.offset).is_some() {
                skipped += 1;
            }
            let cpu = buffer.header.cpu();
            let known_before = known.insert(cpu, skipped);
            let was_skipped = known_before.map_or(skipped > 0, |before| before < skipped);
            // The header buffer has no events of its processor.
            if (broken.remove(&cpu) || was_skipped) && index > 0 {
                self.add((number, index), flag::BUFFER_LOST);
            }
            // Damage inside this buffer affects what comes after it.
            while offsets.next_if_eq(&buffer.offset).is_some() {
                broken.insert(cpu);
            }
        }
    }

    pub(crate) fn flags(&self, event: &RawEvent<'_>) -> u16 {
        self.flags
            .get(&(event.file, event.buffer))
            .map_or(0, |flags| *flags)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }
}

/// Finds the events around each gap: from the last event before it to the first event after it.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// The last event of the kernel logger of each processor of a file, and whether its buffer has
    /// losses.
    last: FxHashMap<(u16, u16), (u32, Id, bool)>,
}

impl Edges {
    pub(crate) fn event(&mut self, event: &RawEvent<'_>, losses: &Losses, needed: &mut Needed) {
        // Without losses nothing has to be kept for them.
        if losses.is_empty() || Hook::of(event).is_none() {
            return;
        }
        let id = Id::of(event);
        let is_lossy = losses.flags(event) != 0;
        let last = self.last.entry((event.file, event.cpu)).or_insert_with(|| {
            // A loss before the first event of a processor ends there.
            if is_lossy {
                needed.add(id);
            }
            (event.buffer, id, false)
        });
        // Losses are reported for a whole buffer and may be before or after it, so both of its
        // edges are kept.
        if last.0 != event.buffer && (last.2 || is_lossy) {
            needed.add(last.1);
            needed.add(id);
        }
        *last = (event.buffer, id, is_lossy);
    }
}
