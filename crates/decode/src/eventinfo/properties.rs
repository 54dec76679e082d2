//! The properties of a `TRACE_EVENT_INFO` as fields.

use std::sync::Arc;

use etwkit_etl::bytes::{u16_at, u32_at};

use super::{HEAD_LEN, string, text};
use crate::bounds::{Budget, MAX_FIELDS};
use crate::intype;
use crate::schema::{Count, Field, Length, MAX_DEPTH, Type, ValueMap};

/// Bytes of an `EVENT_PROPERTY_INFO`.
const PROPERTY_LEN: usize = 24;

/// `PROPERTY_FLAGS`.
mod flag {
    /// The property consists of other properties.
    pub(super) const STRUCT: u32 = 0x01;
    /// The length is the index of the property that holds it.
    pub(super) const PARAM_LENGTH: u32 = 0x02;
    /// The count is the index of the property that holds it.
    pub(super) const PARAM_COUNT: u32 = 0x04;
    /// An array even if it has one element.
    pub(super) const PARAM_FIXED_COUNT: u32 = 0x20;
    /// The place of the map name holds another value.
    pub(super) const CUSTOM_SCHEMA: u32 = 0x80;
}

/// Fields and the number of slots that they refer to.
pub(super) struct Properties {
    pub(super) fields: Vec<Field>,
    pub(super) slots: u16,
}

/// Reads all top-level properties; `None` if one is broken.
pub(super) fn read(info: &[u8], map: &dyn Fn(&str) -> Option<Arc<ValueMap>>) -> Option<Properties> {
    let count = u32_at(info, 100)? as usize;
    let top = u32_at(info, 104)? as usize;
    let len = count.checked_mul(PROPERTY_LEN)?;
    let table = info.get(HEAD_LEN..HEAD_LEN.checked_add(len)?)?;
    if top > count {
        return None;
    }
    let raw: Vec<Raw> = table
        .chunks_exact(PROPERTY_LEN)
        .filter_map(Raw::read)
        .collect();
    let (slot_of, slots) = slots(&raw)?;
    // Names may be shared, but no honest record has so many that they become far larger than it.
    let budget = Budget::new(info.len().saturating_mul(8));
    let mut reader = Reader {
        info,
        raw: &raw,
        slot_of,
        map,
        budget,
        left: MAX_FIELDS,
    };
    // Only the first ones are properties of the event. The ones after them are members that structs
    // refer to by their index.
    let fields = reader.range(0, top, 0)?;
    Some(Properties { fields, slots })
}

/// One `EVENT_PROPERTY_INFO`.
#[derive(Debug, Clone, Copy)]
struct Raw {
    flags: u32,
    name: u32,
    /// Input type, or index of the first member.
    kind: u16,
    /// Output type, or number of members.
    out: u16,
    map: u32,
    count: u16,
    length: u16,
}

impl Raw {
    fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            flags: u32_at(bytes, 0)?,
            name: u32_at(bytes, 4)?,
            kind: u16_at(bytes, 8)?,
            out: u16_at(bytes, 10)?,
            map: u32_at(bytes, 12)?,
            count: u16_at(bytes, 16)?,
            length: u16_at(bytes, 18)?,
        })
    }

    const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Assigns a slot to each property that another one refers to; `None` if a reference is invalid.
fn slots(raw: &[Raw]) -> Option<(Vec<Option<u16>>, u16)> {
    // Only values that something refers to are kept while a payload is read; for most events there
    // are none.
    let mut slot_of = vec![None; raw.len()];
    let mut slots = 0;
    for property in raw {
        let length = property.has(flag::PARAM_LENGTH).then_some(property.length);
        let count = property.has(flag::PARAM_COUNT).then_some(property.count);
        for index in [length, count].into_iter().flatten() {
            let place = slot_of.get_mut(usize::from(index))?;
            if place.is_none() {
                *place = Some(slots);
                slots += 1;
            }
        }
    }
    Some((slot_of, slots))
}

struct Reader<'a> {
    info: &'a [u8],
    raw: &'a [Raw],
    slot_of: Vec<Option<u16>>,
    map: &'a dyn Fn(&str) -> Option<Arc<ValueMap>>,
    budget: Budget,
    /// Number of fields that may still follow.
    left: usize,
}

impl Reader<'_> {
    fn range(&mut self, start: usize, len: usize, depth: usize) -> Option<Vec<Field>> {
        if depth > MAX_DEPTH {
            return None;
        }
        (start..start.checked_add(len)?)
            .map(|index| self.property(index, depth))
            .collect()
    }

    fn property(&mut self, index: usize, depth: usize) -> Option<Field> {
        // Structs refer to their members by index, so a struct may contain itself, or a chain of
        // them may have more fields than the record has bytes. Counting fields ends both.
        self.left = self.left.checked_sub(1)?;
        let raw = *self.raw.get(index)?;
        let name = text(self.info, raw.name, &mut self.budget)?;
        let count = self.count(&raw)?;
        if raw.has(flag::STRUCT) {
            let members = self.range(raw.kind.into(), raw.out.into(), depth + 1)?;
            return Some(Field {
                count,
                members,
                ..Field::new(name, Type::Struct)
            });
        }
        let mut field = Field::new(name, intype::from_number(raw.kind)?);
        field.count = count;
        field.slot = self.slot(index);
        field.length = self.length(&raw, field.ty)?;
        if raw.map != 0 && !raw.has(flag::CUSTOM_SCHEMA) {
            // A map that is missing costs the names of values, not the field.
            field.map =
                string(self.info, raw.map, &mut self.budget).and_then(|name| (self.map)(&name));
        }
        intype::apply_out(&mut field, raw.out);
        Some(field)
    }

    fn slot(&self, index: usize) -> Option<u16> {
        self.slot_of.get(index).copied().flatten()
    }

    fn count(&self, raw: &Raw) -> Option<Count> {
        Some(if raw.has(flag::PARAM_COUNT) {
            Count::Slot(self.slot(raw.count.into())?)
        } else if raw.has(flag::PARAM_FIXED_COUNT) || raw.count > 1 {
            Count::Fixed(raw.count.into())
        } else {
            Count::One
        })
    }

    /// Only strings and binaries have a length of their own.
    fn length(&self, raw: &Raw, ty: Type) -> Option<Length> {
        if !matches!(ty, Type::UnicodeString | Type::AnsiString | Type::Binary) {
            return Some(Length::Natural);
        }
        Some(if raw.has(flag::PARAM_LENGTH) {
            Length::Slot(self.slot(raw.length.into())?)
        } else if raw.length != 0 {
            Length::Fixed(raw.length.into())
        } else {
            Length::Natural
        })
    }
}
