//! The texts of a payload, field by field, replaced in place.

use etwkit_decode::Plan;
use etwkit_decode::element::{self, Context};
use etwkit_decode::schema::{Count, Field, Length, MAX_DEPTH, Out, Type};
use etwkit_etl::bytes::Cursor;

use super::words::Words;

/// The treatment of some bytes of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Wide,
    Narrow,
    Sid,
    Address,
    /// Bytes of unknown meaning, which are cleared.
    Clear,
}

/// The room of a text whose substitute may have another length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// As many bytes as it had.
    Same,
    /// Any number of bytes: a NUL or the end of the payload ends it.
    Free,
    /// Any number of bytes, which the two bytes before it state.
    Counted {
        /// Most significant byte first.
        reversed: bool,
    },
    /// Any number of characters, which another field states.
    Stated {
        /// Position of that field.
        at: usize,
        /// Bytes of that field.
        len: usize,
    },
}

/// Some bytes of a payload, and their treatment.
#[derive(Debug)]
pub(super) struct Place<'p> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) deed: Deed,
    pub(super) room: Room,
    /// Name of the field.
    pub(super) field: &'p str,
}

/// The places of a payload that have to be replaced, in order. Returns `None` if it does not match
/// the plan. If `may_end_early`, the payload may stop within a field: its bytes are cleared.
pub(super) fn places<'p>(
    plan: &'p Plan,
    payload: &[u8],
    may_end_early: bool,
) -> Option<Vec<Place<'p>>> {
    let schema = plan.schema();
    let mut walk = Walk {
        places: Vec::new(),
        context: Context::new(plan.pointer_size(), schema.slots),
        uses: vec![0; usize::from(schema.slots)],
        stated: vec![None; usize::from(schema.slots)],
    };
    walk.count_uses(&schema.fields, 0);
    let mut cursor = Cursor::new(payload);
    let mut understood = 0;
    for field in &schema.fields {
        let places = walk.places.len();
        if walk.field(field, &mut cursor, 0).is_none() {
            if !may_end_early {
                return None;
            }
            walk.places.truncate(places);
            break;
        }
        understood = cursor.position();
    }
    // Newer versions of an event may have anything after the known fields.
    walk.places.push(Place {
        start: understood,
        end: payload.len(),
        deed: Deed::Clear,
        room: Room::Same,
        field: "",
    });
    Some(walk.places)
}

/// Replaces all texts of a payload, in place. Returns `None` if it does not match the plan.
pub(super) fn redact(plan: &Plan, payload: &mut [u8], words: &mut Words) -> Option<()> {
    for Place {
        start, end, deed, ..
    } in places(plan, payload, false)?
    {
        // Nothing is changed before all fields are located: lengths and counts in the payload must
        // not be replaced while they are still needed.
        let bytes = payload.get_mut(start..end)?;
        match deed {
            Deed::Wide => words.wide(bytes),
            Deed::Narrow => words.narrow(bytes),
            Deed::Sid => words.sid(bytes),
            Deed::Address => words.address(bytes),
            Deed::Clear => bytes.fill(0),
        }
    }
    Some(())
}

/// True if every event of a plan stays unchanged: it has only numbers, and no bytes after them.
pub(super) fn is_plain(plan: &Plan, payload: &[u8]) -> bool {
    let is_number = |field: &Field| {
        field.count == Count::One
            && deed(field).is_none()
            && field.ty.fixed_size(plan.pointer_size()).is_some()
    };
    plan.is_fixed()
        && plan.fixed_len() == payload.len()
        && plan.schema().fields.iter().all(is_number)
}

struct Walk<'p> {
    places: Vec<Place<'p>>,
    context: Context,
    /// Fields that refer to each slot.
    uses: Vec<u32>,
    /// Position and length of the field of each slot.
    stated: Vec<Option<(usize, usize)>>,
}

impl<'p> Walk<'p> {
    fn count_uses(&mut self, fields: &[Field], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for field in fields {
            let length = match field.length {
                Length::Slot(slot) => Some(slot),
                _ => None,
            };
            let count = match field.count {
                Count::Slot(slot) => Some(slot),
                _ => None,
            };
            for slot in length.into_iter().chain(count) {
                if let Some(uses) = self.uses.get_mut(usize::from(slot)) {
                    *uses += 1;
                }
            }
            self.count_uses(&field.members, depth + 1);
        }
    }

    fn field(&mut self, field: &'p Field, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.context.step()?;
        let count = self.context.count(field, cursor)?;
        if field.count != Count::One && field.ty != Type::Struct {
            return self.array(field, count, cursor);
        }
        for _ in 0..count {
            let before = cursor.position();
            if count == usize::MAX && cursor.is_empty() {
                break;
            }
            self.element(field, cursor, depth)?;
            // Without this check, a claimed count of billions of empty elements would loop for a
            // long time.
            if cursor.position() == before && field.count != Count::One {
                break;
            }
        }
        Some(())
    }

    fn element(&mut self, field: &'p Field, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        if field.ty == Type::Struct {
            return field
                .members
                .iter()
                .try_for_each(|member| self.field(member, cursor, depth + 1));
        }
        self.context.step()?;
        let before = cursor.position();
        let bytes = element::take(field, cursor, &self.context)?;
        self.context.remember(field, bytes);
        if let Some(stated) = field
            .slot
            .and_then(|slot| self.stated.get_mut(usize::from(slot)))
        {
            *stated = Some((before, bytes.len()));
        }
        let start = before + front(field.ty, self.context.pointer_size, bytes.len());
        let room = self.room(field);
        self.places.extend(deed(field).map(|deed| Place {
            start,
            end: start + bytes.len(),
            deed,
            room,
            field: &field.name,
        }));
        Some(())
    }

    /// The room of a text that is no element of an array of numbers.
    fn room(&self, field: &Field) -> Room {
        match (field.ty, field.length) {
            (Type::CountedUnicode | Type::CountedAnsi, _) => Room::Counted { reversed: false },
            (Type::ReversedCountedUnicode | Type::ReversedCountedAnsi, _) => {
                Room::Counted { reversed: true }
            }
            (Type::RestUnicode | Type::RestAnsi, _)
            | (Type::UnicodeString | Type::AnsiString, Length::Natural | Length::Rest) => {
                Room::Free
            }
            (Type::UnicodeString | Type::AnsiString, Length::Slot(slot)) => {
                let slot = usize::from(slot);
                let stated = self.stated.get(slot).copied().flatten();
                let is_only = self.uses.get(slot) == Some(&1) && field.count == Count::One;
                match stated.filter(|_| is_only) {
                    Some((at, len)) => Room::Stated { at, len },
                    None => Room::Same,
                }
            }
            _ => Room::Same,
        }
    }

    /// An array. An array of small numbers may be a text, or bytes of any meaning.
    fn array(&mut self, field: &'p Field, count: usize, cursor: &mut Cursor<'_>) -> Option<()> {
        let Some(size) = field.ty.fixed_size(self.context.pointer_size) else {
            for _ in 0..count {
                let before = cursor.position();
                if count == usize::MAX && cursor.is_empty() {
                    break;
                }
                self.element(field, cursor, 0)?;
                if cursor.position() == before {
                    break;
                }
            }
            return Some(());
        };
        let rest = cursor.rest().len();
        let len = if count == usize::MAX {
            rest - rest % size.max(1)
        } else {
            count.checked_mul(size)?
        };
        let start = cursor.position();
        cursor.take(len)?;
        let deed = match (field.ty, field.out) {
            (Type::UnicodeChar, _) | (Type::Int16 | Type::UInt16, Out::String) => Some(Deed::Wide),
            (Type::AnsiChar, _) | (Type::Int8 | Type::UInt8, Out::String) => Some(Deed::Narrow),
            (Type::Int8 | Type::UInt8 | Type::Int16 | Type::UInt16, _) => Some(Deed::Clear),
            _ => deed(field),
        };
        let place = |start, end, deed| Place {
            start,
            end,
            deed,
            room: Room::Same,
            field: &field.name,
        };
        match deed {
            Some(deed @ (Deed::Address | Deed::Sid)) if size > 0 => {
                self.places.extend(
                    (start..start + len)
                        .step_by(size)
                        .map(|at| place(at, at + size, deed)),
                );
            }
            deed => self
                .places
                .extend(deed.map(|deed| place(start, start + len, deed))),
        }
        Some(())
    }
}

/// Number of bytes before the content of an element.
const fn front(ty: Type, pointer_size: usize, len: usize) -> usize {
    match ty {
        Type::CountedUnicode
        | Type::CountedAnsi
        | Type::CountedBinary
        | Type::ReversedCountedUnicode
        | Type::ReversedCountedAnsi => 2,
        Type::HexDump => 4,
        Type::TokenSid if len > 0 => 2 * pointer_size,
        _ => 0,
    }
}

/// Fields of numbers or bytes that identify a computer.
const IDENTITIES: [&str; 4] = ["PhysicalAddr", "PhysicalAddress", "MacAddress", "MachineId"];

/// The treatment of an element of a field; `None` for numbers, which stay.
fn deed(field: &Field) -> Option<Deed> {
    if IDENTITIES.contains(&&*field.name) {
        return Some(Deed::Clear);
    }
    Some(match field.ty {
        Type::UnicodeString
        | Type::CountedUnicode
        | Type::ReversedCountedUnicode
        | Type::RestUnicode => Deed::Wide,
        Type::AnsiString | Type::CountedAnsi | Type::ReversedCountedAnsi | Type::RestAnsi => {
            Deed::Narrow
        }
        Type::Sid | Type::TokenSid => Deed::Sid,
        Type::Ipv4 | Type::Ipv6 => Deed::Address,
        // A text may come letter by letter.
        Type::UnicodeChar | Type::AnsiChar => Deed::Clear,
        Type::Binary | Type::CountedBinary | Type::HexDump => Deed::Clear,
        _ => return None,
    })
}
