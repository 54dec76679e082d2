//! Stacks of kernel events: complete in one StackWalk event, or as a key that a later event
//! defines.

use std::io::{Seek, Write};

use super::error::{Result, WriteError};
use super::record::{KernelEvent, Width};
use super::{TraceWriter, fits};
use crate::wire::buffer::HEADER_LEN;
use crate::wire::event::HeaderKind;

/// Group of all stack events.
const GROUP: u8 = 0x18;
/// Version of all stack events.
const VERSION: u8 = 2;

mod opcode {
    /// A complete stack.
    pub(super) const STACK: u8 = 32;
    /// Frames of a key that is about to get another meaning.
    pub(super) const KEY_DELETE: u8 = 35;
    /// Frames of a key that lives at the end.
    pub(super) const KEY_RUNDOWN: u8 = 36;
    /// A reference to frames in the kernel.
    pub(super) const KEY_KERNEL: u8 = 37;
    /// A reference to frames in user mode.
    pub(super) const KEY_USER: u8 = 38;
}

/// The event that a stack belongs to: the one of that time and thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackOwner {
    /// Raw clock ticks of the event.
    pub timestamp: i64,
    /// Process.
    pub process_id: u32,
    /// Thread.
    pub thread_id: u32,
}

impl StackOwner {
    fn write(self, out: &mut Vec<u8>) {
        out.extend(self.timestamp.to_le_bytes());
        out.extend(self.process_id.to_le_bytes());
        out.extend(self.thread_id.to_le_bytes());
    }
}

/// The half of a stack. Readers recognize it by the addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackPart {
    /// Frames in the kernel.
    Kernel,
    /// Frames in user mode.
    User,
}

/// Number of stack events written so far, for callers that need the number of events of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StackCounts {
    /// Complete stacks.
    pub whole: u64,
    /// References to kernel parts.
    pub kernel: u64,
    /// References to user parts.
    pub user: u64,
    /// Definitions of keys that got another meaning.
    pub deleted: u64,
    /// Keys in use: finishing the trace writes one more definition for each of them, on
    /// processor 0.
    pub in_use: u64,
}

/// One key and the stack that it refers to.
#[derive(Debug)]
struct Slot {
    /// Empty if the key is not in use.
    frames: Vec<u64>,
    /// Raw time when the key got its meaning; `i64::MIN` for its first one.
    born: i64,
    /// Raw time of the latest reference.
    referenced: i64,
}

impl Slot {
    const UNUSED: Self = Self {
        frames: Vec::new(),
        born: i64::MIN,
        referenced: i64::MIN,
    };
}

/// The keys of a session. Their number is fixed: a stack whose place is taken evicts the older one,
/// so keys change their meaning as they do in real traces. A key is the address of one stack
/// object, so kernel and user parts never have the same key at one time.
#[derive(Debug)]
pub(super) struct StackKeys {
    // Kernel and user stacks have places of their own, so that a kernel stack never evicts a user
    // stack.
    slots: [Vec<Slot>; 2],
    /// Frames that were pushed out last.
    evicted: Vec<u64>,
    width: Width,
    counts: StackCounts,
}

/// The form in which to write a reference.
enum Referral {
    Key(u64),
    /// A key that until now referred to the evicted frames.
    Reused(u64),
    /// Times do not allow for a key.
    Whole,
}

impl StackKeys {
    pub(super) fn new(count: usize, width: Width) -> Self {
        let slots = || {
            std::iter::repeat_with(|| Slot::UNUSED)
                .take(count)
                .collect()
        };
        Self {
            slots: [slots(), slots()],
            evicted: Vec::new(),
            width,
            counts: StackCounts::default(),
        }
    }

    const fn key(&self, part: StackPart, slot: usize) -> u64 {
        let base: u64 = match self.width {
            Width::Bits32 => 0x8A00_0000,
            Width::Bits64 => 0xFFFF_8A00_0000_0000,
        };
        base + 0x40 * (2 * slot as u64 + part as u64)
    }

    fn refer(&mut self, now: i64, part: StackPart, frames: &[u64]) -> Referral {
        let [kernel, user] = &mut self.slots;
        let slots = if part == StackPart::Kernel {
            kernel
        } else {
            user
        };
        // The place follows from the frames alone, so that equal input gives equal output.
        let index = slot_of(frames, slots.len());
        let Some(slot) = slots.get_mut(index) else {
            return Referral::Whole;
        };
        // A reader finds the meaning of a key in the first definition at or after the time of the
        // reference. So the definition of the old meaning is stamped between its last reference and
        // the first reference with the new meaning. With writers that jump back in time, or leave
        // no tick between two events, a stack is written whole instead.
        let known = slot.frames == frames;
        let reused = !known && !slot.frames.is_empty();
        let earliest = if reused {
            slot.born.max(slot.referenced).saturating_add(1)
        } else {
            slot.born
        };
        // There is no tick left for the definition of the old meaning.
        if now <= earliest {
            return Referral::Whole;
        }
        // Times may go back; the latest reference counts.
        slot.referenced = slot.referenced.max(now);
        self.counts.in_use += u64::from(slot.frames.is_empty());
        if !known {
            self.evicted.clear();
            self.evicted.extend_from_slice(frames);
            // Swapped, so that the memory of the old frames is used for the next ones.
            std::mem::swap(&mut slot.frames, &mut self.evicted);
        }
        if reused {
            slot.born = now;
        }
        let key = self.key(part, index);
        if reused {
            Referral::Reused(key)
        } else {
            Referral::Key(key)
        }
    }
}

/// The place of a stack among `count`: the same in every run and with every compiler.
fn slot_of(frames: &[u64], count: usize) -> usize {
    let mix =
        |hash: u64, frame: &u64| (hash.rotate_left(23) ^ frame).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = frames.iter().fold(frames.len() as u64, mix);
    (hash >> 32) as usize % count.max(1)
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Writes a stack, innermost frame first, into one event that is stamped `now`.
    ///
    /// # Errors
    /// The errors of [`TraceWriter::write`].
    pub fn write_stack(
        &mut self,
        cpu: u16,
        now: i64,
        owner: StackOwner,
        frames: &[u64],
    ) -> Result<()> {
        self.write_stack_event(cpu, now, opcode::STACK, |width, out| {
            owner.write(out);
            write_pointers(frames, width, out);
        })?;
        self.stacks.counts.whole += 1;
        Ok(())
    }

    /// Number of stack events so far.
    #[must_use]
    pub const fn stack_counts(&self) -> StackCounts {
        self.stacks.counts
    }

    /// Writes a reference to one part of a stack, innermost frame first, into an event stamped
    /// `now`. The frames follow when the key is reused for another stack, or at the end. A stack
    /// without frames, or one stamped earlier than a key allows, is written whole.
    ///
    /// # Errors
    /// The errors of [`TraceWriter::write`].
    pub fn write_stack_key(
        &mut self,
        cpu: u16,
        now: i64,
        owner: StackOwner,
        part: StackPart,
        frames: &[u64],
    ) -> Result<()> {
        self.check_definition(frames)?;
        let referral = if frames.is_empty() {
            Referral::Whole
        } else {
            self.stacks.refer(now, part, frames)
        };
        let key = match referral {
            Referral::Whole => return self.write_stack(cpu, now, owner, frames),
            Referral::Key(key) => key,
            Referral::Reused(key) => {
                let evicted = std::mem::take(&mut self.stacks.evicted);
                // One tick before the reference: `refer` made sure that the old meaning was last
                // used before that.
                self.write_stack_definition(cpu, now - 1, opcode::KEY_DELETE, key, &evicted)?;
                self.stacks.evicted = evicted;
                self.stacks.counts.deleted += 1;
                key
            }
        };
        let opcode = if part == StackPart::Kernel {
            opcode::KEY_KERNEL
        } else {
            opcode::KEY_USER
        };
        self.write_stack_event(cpu, now, opcode, |width, out| {
            owner.write(out);
            write_pointers(&[key], width, out);
        })?;
        let counts = &mut self.stacks.counts;
        *(if part == StackPart::Kernel {
            &mut counts.kernel
        } else {
            &mut counts.user
        }) += 1;
        Ok(())
    }

    /// Defines all keys in use, after all records written so far. [`TraceWriter::finish`] calls it.
    /// An earlier call simulates the end of the kernel's session before the provider sessions.
    /// Stacks written later have no keys.
    ///
    /// # Errors
    /// The errors of [`TraceWriter::write`].
    pub fn rundown_stack_keys(&mut self) -> Result<()> {
        let now = self.last_time.saturating_add(1);
        let slots = std::mem::take(&mut self.stacks.slots);
        for (part, slots) in [StackPart::Kernel, StackPart::User].into_iter().zip(slots) {
            for (index, slot) in slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| !slot.frames.is_empty())
            {
                let key = self.stacks.key(part, index);
                self.write_stack_definition(0, now, opcode::KEY_RUNDOWN, key, &slot.frames)?;
            }
        }
        Ok(())
    }

    fn write_stack_definition(
        &mut self,
        cpu: u16,
        now: i64,
        opcode: u8,
        key: u64,
        frames: &[u64],
    ) -> Result<()> {
        self.write_stack_event(cpu, now, opcode, |width, out| {
            write_pointers(&[key], width, out);
            write_pointers(frames, width, out);
        })
    }

    fn write_stack_event(
        &mut self,
        cpu: u16,
        now: i64,
        opcode: u8,
        payload: impl FnOnce(Width, &mut Vec<u8>),
    ) -> Result<()> {
        let width = self.width;
        self.write_with_payload(
            |out| payload(width, out),
            |writer, payload| {
                let event = KernelEvent {
                    width,
                    timestamp: now,
                    group: GROUP,
                    opcode,
                    version: VERSION,
                    payload,
                    ..KernelEvent::default()
                };
                writer.write(cpu, event)
            },
        )
    }

    /// A key must not refer to frames whose definition cannot be written later.
    fn check_definition(&self, frames: &[u64]) -> Result<()> {
        let pointers = frames.len().saturating_add(1);
        let len = HeaderKind::Perfinfo64
            .header_len()
            .saturating_add(pointers.saturating_mul(self.width.pointer_size()));
        let len = u16::try_from(len).map_err(|_| WriteError::RecordTooLong { len })?;
        fits(len, self.buffer_size - HEADER_LEN)
    }
}

fn write_pointers(values: &[u64], width: Width, out: &mut Vec<u8>) {
    for value in values {
        out.extend(value.to_le_bytes().iter().take(width.pointer_size()));
    }
}
