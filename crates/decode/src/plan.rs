//! A schema compiled for reading many payloads.

use etwkit_etl::bytes::{Cursor, i64_at, u8_at, u16_at, u32_at, u64_at};

use crate::element::{self, Context};
use crate::schema::{Count, Field, Schema};

/// A schema for one pointer size, with the offsets of all fields at a fixed position.
#[derive(Debug, Clone)]
pub struct Plan {
    schema: Schema,
    pointer_size: usize,
    /// Start of each field, as long as all fields before it have a fixed size. The last entry is
    /// the start of the first field without a fixed size.
    fixed: Vec<u32>,
}

/// Positions of the top-level fields of one payload; reused from event to event.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    spans: Vec<(u32, u32)>,
    slots: Vec<u64>,
    end: usize,
}

impl Plan {
    /// Compiles a schema for pointers of 4 or 8 bytes.
    #[must_use]
    pub fn new(schema: Schema, pointer_size: usize) -> Self {
        // Offsets are computed once for each layout, which has the fields of fixed size first.
        let mut fixed = vec![0];
        let mut at = 0;
        for field in &schema.fields {
            // After the first field of variable size no offset is the same in all payloads.
            let Some(size) = fixed_field_size(field, pointer_size) else {
                break;
            };
            at += size;
            fixed.push(at);
        }
        Self {
            schema,
            pointer_size,
            fixed,
        }
    }

    /// Its schema.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// 4 or 8.
    #[must_use]
    pub const fn pointer_size(&self) -> usize {
        self.pointer_size
    }

    /// Position of the field of that name. For setup, not for each event.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<usize> {
        self.schema.fields.iter().position(|f| &*f.name == name)
    }

    /// Minimum length of a payload: the end of the fields of fixed size at its start.
    #[must_use]
    pub fn fixed_len(&self) -> usize {
        self.fixed.last().map_or(0, |end| *end as usize)
    }

    /// True if every field has a fixed size.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.fixed.len() == self.schema.fields.len() + 1
    }

    /// Locates the fields of a payload. Returns true if all of them are present. Present fields can
    /// be read in any case.
    pub fn locate(&self, payload: &[u8], spans: &mut Spans) -> bool {
        // Offsets of fields at fixed positions are only copied, without reading their bytes: this
        // runs for every event of a trace.
        spans.spans.clear();
        for pair in self.fixed.windows(2) {
            let &[start, end] = pair else { break };
            if end as usize > payload.len() {
                // The fields before this one are still usable.
                spans.end = start as usize;
                return false;
            }
            spans.spans.push((start, end));
        }
        spans.end = self.fixed_len();
        let located = spans.spans.len();
        if located == self.schema.fields.len() {
            return true;
        }
        self.locate_variable(payload, located, spans)
    }

    fn locate_variable(&self, payload: &[u8], located: usize, spans: &mut Spans) -> bool {
        // The list of slots is moved out and back, so that no event costs an allocation.
        let mut slots = std::mem::take(&mut spans.slots);
        slots.clear();
        slots.resize(usize::from(self.schema.slots), 0);
        // Lent and taken back.
        let mut context = Context::with_slots(self.pointer_size, slots);
        for (field, (start, end)) in self.schema.fields.iter().zip(&spans.spans) {
            // Fields of fixed size were located without being read, but their values may be lengths
            // and counts of later ones.
            if let Some(value) = payload.get(*start as usize..*end as usize) {
                context.remember(field, value);
            }
        }
        let mut cursor = Cursor::new(payload);
        let mut complete = cursor.take(spans.end).is_some();
        for field in self.schema.fields.iter().skip(located) {
            let start = cursor.position();
            if !complete || element::skip(field, &mut cursor, &mut context, 0).is_none() {
                complete = false;
                break;
            }
            // Payloads have at most 64 KiB, so nothing is lost.
            spans.spans.push((start as u32, cursor.position() as u32));
            spans.end = cursor.position();
        }
        spans.slots = context.slots;
        complete
    }
}

fn fixed_field_size(field: &Field, pointer_size: usize) -> Option<u32> {
    let count = match field.count {
        Count::One => 1,
        Count::Fixed(n) => n,
        // An array with a count in the payload has no fixed size.
        _ => return None,
    };
    let size = match (field.ty.fixed_size(pointer_size), field.length, field.ty) {
        (Some(size), ..) => size as u32,
        (None, crate::Length::Fixed(chars), crate::Type::UnicodeString) => chars.checked_mul(2)?,
        (None, crate::Length::Fixed(bytes), crate::Type::AnsiString | crate::Type::Binary) => bytes,
        _ => return None,
    };
    // No payload is longer than 64 KiB. A field that claims far more is left to the walk, which
    // ends at the payload.
    size.checked_mul(count).filter(|size| *size <= 1 << 20)
}

impl Spans {
    /// The bytes of a field: all elements with their counts and terminators. `None` if it is not
    /// there.
    #[must_use]
    pub fn bytes<'a>(&self, payload: &'a [u8], field: usize) -> Option<&'a [u8]> {
        let (start, end) = self.spans.get(field)?;
        payload.get(*start as usize..*end as usize)
    }

    /// An unsigned integer, pointer or hexadecimal field of up to 8 bytes.
    #[must_use]
    pub fn unsigned(&self, payload: &[u8], field: usize) -> Option<u64> {
        // By its size and not by its type: all of these are little-endian.
        let bytes = self.bytes(payload, field)?;
        match bytes.len() {
            1 => u8_at(bytes, 0).map(u64::from),
            2 => u16_at(bytes, 0).map(u64::from),
            4 => u32_at(bytes, 0).map(u64::from),
            8 => u64_at(bytes, 0),
            _ => None,
        }
    }

    /// A signed integer field of up to 8 bytes.
    #[must_use]
    pub fn signed(&self, payload: &[u8], field: usize) -> Option<i64> {
        let bytes = self.bytes(payload, field)?;
        match bytes.len() {
            1 => u8_at(bytes, 0).map(|v| i64::from(v.cast_signed())),
            2 => u16_at(bytes, 0).map(|v| i64::from(v.cast_signed())),
            4 => u32_at(bytes, 0).map(|v| i64::from(v.cast_signed())),
            8 => i64_at(bytes, 0),
            _ => None,
        }
    }

    /// End of the last field that is present. Newer versions may have appended more.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// Number of fields present.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// True if no field is present.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}
