//! The texts of a payload, field by field, replaced in place.

use etwkit_decode::Plan;
use etwkit_decode::element::{self, Context};
use etwkit_decode::schema::{Count, Field, MAX_DEPTH, Out, Type};
use etwkit_etl::bytes::Cursor;

use super::names::Names;

/// The treatment of some bytes of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Wide,
    Narrow,
    Sid,
    Address,
    /// Bytes of unknown meaning, which are cleared.
    Clear,
}

/// Start and end of some bytes of a payload, and their treatment.
type RedactedBytes = (usize, usize, Deed);

/// Replaces all texts of a payload. Returns `None` if it does not match the plan.
pub(super) fn redact(plan: &Plan, payload: &mut [u8], names: &mut Names) -> Option<()> {
    let mut walk = Walk {
        places: Vec::new(),
        context: Context::new(plan.pointer_size(), plan.schema().slots),
    };
    let mut cursor = Cursor::new(payload);
    for field in &plan.schema().fields {
        walk.field(field, &mut cursor, 0)?;
    }
    // Newer versions of an event may have anything after the known fields.
    walk.places
        .push((cursor.position(), payload.len(), Deed::Clear));
    for (start, end, deed) in walk.places {
        // Nothing is changed before all fields are located: lengths and counts in the payload must
        // not be replaced while they are still needed.
        let bytes = payload.get_mut(start..end)?;
        match deed {
            Deed::Wide => names.wide(bytes),
            Deed::Narrow => names.narrow(bytes),
            Deed::Sid => names.sid(bytes),
            Deed::Address => names.address(bytes),
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

struct Walk {
    places: Vec<RedactedBytes>,
    context: Context,
}

impl Walk {
    fn field(&mut self, field: &Field, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
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

    fn element(&mut self, field: &Field, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
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
        let start = before + front(field.ty, self.context.pointer_size, bytes.len());
        self.places
            .extend(deed(field).map(|deed| (start, start + bytes.len(), deed)));
        Some(())
    }

    /// An array. An array of small numbers may be a text, or bytes of any meaning.
    fn array(&mut self, field: &Field, count: usize, cursor: &mut Cursor<'_>) -> Option<()> {
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
        match deed {
            Some(deed @ (Deed::Address | Deed::Sid)) if size > 0 => {
                self.places.extend(
                    (start..start + len)
                        .step_by(size)
                        .map(|at| (at, at + size, deed)),
                );
            }
            deed => self
                .places
                .extend(deed.map(|deed| (start, start + len, deed))),
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

/// The treatment of an element of a field; `None` for numbers, which stay.
const fn deed(field: &Field) -> Option<Deed> {
    Some(match field.ty {
        Type::UnicodeString
        | Type::CountedUnicode
        | Type::ReversedCountedUnicode
        | Type::RestUnicode
        | Type::UnicodeChar => Deed::Wide,
        Type::AnsiString
        | Type::CountedAnsi
        | Type::ReversedCountedAnsi
        | Type::RestAnsi
        | Type::AnsiChar => Deed::Narrow,
        Type::Sid | Type::TokenSid => Deed::Sid,
        Type::Ipv4 | Type::Ipv6 => Deed::Address,
        Type::Binary | Type::CountedBinary | Type::HexDump => Deed::Clear,
        _ => return None,
    })
}
