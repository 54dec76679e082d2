//! The end of an element of a payload.

use etwkit_etl::bytes::Cursor;

use crate::schema::{Count, Field, Length, MAX_DEPTH, Type};

/// The state of a walk over fields.
#[derive(Debug, Clone)]
pub struct Context {
    /// 4 or 8.
    pub pointer_size: usize,
    /// Integer values that later lengths and counts refer to.
    pub slots: Vec<u64>,
    /// Number of fields and elements that may still be visited. A payload has at most 64 KiB. Only
    /// a malicious one, with arrays of structs whose members have no bytes, needs more steps.
    steps_left: u32,
}

/// More than any payload of 64 KiB with elements of a byte each needs.
const MAX_STEPS: u32 = 1 << 18;

impl Context {
    /// A context for a schema with `slots` slots.
    #[must_use]
    pub fn new(pointer_size: usize, slots: u16) -> Self {
        Self::with_slots(pointer_size, vec![0; usize::from(slots)])
    }

    /// A context that uses this list for the slots, so that one list serves many events.
    #[must_use]
    pub const fn with_slots(pointer_size: usize, slots: Vec<u64>) -> Self {
        Self {
            pointer_size,
            slots,
            steps_left: MAX_STEPS,
        }
    }

    /// Counts a field or element; `None` when there were too many.
    pub fn step(&mut self) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        Some(())
    }

    fn slot(&self, slot: u16) -> u64 {
        // A field that was not read, or that the manifest places later, has no bytes yet.
        self.slots
            .get(usize::from(slot))
            .copied()
            .unwrap_or_default()
    }

    /// Stores the value of a field that others refer to.
    pub fn remember(&mut self, field: &Field, element: &[u8]) {
        let Some(slot) = field.slot else { return };
        // The field may have 1, 2, 4 or 8 bytes; shorter ones are zero-extended. Counts are never
        // negative, so no sign has to be kept.
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(element) {
            *to = *from;
        }
        if let Some(place) = self.slots.get_mut(usize::from(slot)) {
            *place = u64::from_le_bytes(word);
        }
    }

    /// Number of elements of the field. Reads the count before them if there is one; `None` if that
    /// is missing. `usize::MAX` means all that fit into the payload.
    pub fn count(&self, field: &Field, cursor: &mut Cursor<'_>) -> Option<usize> {
        Some(match field.count {
            Count::One => 1,
            Count::Fixed(n) => n as usize,
            // At most one less than the number that means all the rest: a count from the payload
            // never means that, even if all of its 64 bits are set.
            Count::Slot(slot) => usize::try_from(self.slot(slot))
                .unwrap_or(usize::MAX)
                .min(usize::MAX - 1),
            Count::Prefixed => usize::from(cursor.u16()?),
            Count::Rest => usize::MAX,
        })
    }
}

/// The bytes of the next element, without terminators and counts; `None` if it is not complete.
///
/// A string without terminator ends with the payload. For structs see [`skip`].
pub fn take<'a>(field: &Field, cursor: &mut Cursor<'a>, context: &Context) -> Option<&'a [u8]> {
    if let Some(size) = field.ty.fixed_size(context.pointer_size) {
        return cursor.take(size);
    }
    let given = match field.length {
        Length::Natural => None,
        Length::Fixed(n) => Some(n as usize),
        // As with counts, no length from the payload means all the rest.
        Length::Slot(slot) => Some(
            usize::try_from(context.slot(slot))
                .ok()?
                .min(usize::MAX - 1),
        ),
        Length::Rest => Some(usize::MAX),
    };
    match (field.ty, given) {
        (Type::UnicodeString | Type::AnsiString | Type::Binary, Some(usize::MAX))
        | (Type::RestUnicode | Type::RestAnsi, _) => cursor.take(cursor.rest().len()),
        (Type::UnicodeString, Some(chars)) => cursor.take(chars.checked_mul(2)?),
        (Type::AnsiString | Type::Binary, Some(bytes)) => cursor.take(bytes),
        // A string that starts after the last byte is missing, not empty.
        (Type::UnicodeString, None) => (!cursor.is_empty()).then(|| cursor.utf16()),
        (Type::AnsiString, None) => (!cursor.is_empty()).then(|| cursor.ansi()),
        (Type::CountedUnicode | Type::CountedAnsi | Type::CountedBinary, _) => {
            let len = cursor.u16()?;
            cursor.take(usize::from(len))
        }
        (Type::ReversedCountedUnicode | Type::ReversedCountedAnsi, _) => {
            let len = cursor.u16()?.swap_bytes();
            cursor.take(usize::from(len))
        }
        (Type::HexDump, _) => {
            let len = cursor.u32()?;
            cursor.take(len as usize)
        }
        (Type::Sid, _) => sid(cursor),
        (Type::TokenSid, _) => token_sid(cursor, context.pointer_size),
        _ => Some(&[]),
    }
}

/// A SID: revision, number of sub-authorities, authority, sub-authorities.
fn sid<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let count = *cursor.rest().get(1)?;
    // At most 1,028 bytes, because the count is one byte; Windows itself allows 15 sub-authorities.
    cursor.take(8 + 4 * usize::from(count))
}

/// The SID of a kernel event; empty if a zero word replaces it.
fn token_sid<'a>(cursor: &mut Cursor<'a>, pointer_size: usize) -> Option<&'a [u8]> {
    // The kernel writes one word of zeros instead of the whole structure if a process has no user.
    if cursor.rest().first_chunk::<4>()? == &[0; 4] {
        return cursor.take(4).map(|_| &[][..]);
    }
    cursor.take(2 * pointer_size)?;
    sid(cursor)
}

/// Skips a whole field, including structs and arrays; `None` if it is not complete.
pub fn skip(
    field: &Field,
    cursor: &mut Cursor<'_>,
    context: &mut Context,
    depth: usize,
) -> Option<()> {
    // Structs may nest endlessly in a malicious description.
    if depth > MAX_DEPTH {
        return None;
    }
    context.step()?;
    let count = context.count(field, cursor)?;
    // An array of a fixed element size is one step, regardless of the count that a file claims.
    if field.count != Count::One
        && let Some(size) = field.ty.fixed_size(context.pointer_size)
    {
        if count == usize::MAX {
            // Bytes after the last whole element stay unread: they belong to no element.
            let rest = cursor.rest().len();
            return cursor
                .take(if size == 0 { 0 } else { rest - rest % size })
                .map(|_| ());
        }
        return cursor.take(count.checked_mul(size)?).map(|_| ());
    }
    for _ in 0..count {
        let before = cursor.position();
        // All the rest ends with the payload.
        if count == usize::MAX && cursor.is_empty() {
            break;
        }
        if field.ty == Type::Struct {
            for member in &field.members {
                skip(member, cursor, context, depth + 1)?;
            }
        } else {
            context.step()?;
            let element = take(field, cursor, context)?;
            // The value may be the count of a later field.
            context.remember(field, element);
        }
        // Without this check, a claimed count of billions of empty elements would loop for a long
        // time.
        if cursor.position() == before && field.count != Count::One {
            break;
        }
    }
    Some(())
}
