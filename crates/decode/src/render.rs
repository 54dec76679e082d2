//! Values as JSON and text.

use etwkit_etl::bytes::{Cursor, guid_at, utf16_text};
use etwkit_etl::clock::{Clock, utc_text};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::Plan;
use crate::element::{self, Context};
use crate::schema::{Count, Field, MAX_DEPTH, Out, Type};

/// Limits above which values are cut.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of characters of a text.
    pub text: usize,
    /// Bytes of a binary.
    pub binary: usize,
    /// Maximum number of elements of a list.
    pub list: usize,
}

impl Limits {
    /// The limits of the JSON output of `etwkit info`.
    pub const INFO: Self = Self {
        text: 512,
        binary: 256,
        list: 64,
    };
    /// No limits.
    pub const NONE: Self = Self {
        text: usize::MAX,
        binary: usize::MAX,
        list: usize::MAX,
    };
}

/// Settings for rendering values.
#[derive(Debug, Clone, Copy)]
pub struct Renderer<'c> {
    /// Converts raw ticks to nanoseconds of the trace; without a clock they stay ticks.
    pub clock: Option<&'c Clock>,
    /// Limits above which values are cut.
    pub limits: Limits,
}

impl Renderer<'_> {
    /// All fields of a payload as an object, in the order of the schema (a repeated name gets
    /// `#2`). The flag is true if the payload was long enough for all of them.
    ///
    /// Values with a name are shown by it, bits by the names of the set ones. Other numbers stay
    /// numbers (NaN and infinities become text). Addresses and hexadecimal types become lower-case
    /// hexadecimal text, FILETIMEs UTC text, binaries hexadecimal digits. Ticks of 0 mean no time.
    #[must_use]
    pub fn object(&self, plan: &Plan, payload: &[u8]) -> (Map<String, Value>, bool) {
        let mut cursor = Cursor::new(payload);
        let mut context = Context::new(plan.pointer_size(), plan.schema().slots);
        self.fields(&plan.schema().fields, &mut cursor, &mut context, 0)
    }

    fn fields(
        &self,
        fields: &[Field],
        cursor: &mut Cursor<'_>,
        context: &mut Context,
        depth: usize,
    ) -> (Map<String, Value>, bool) {
        let mut object = Map::new();
        // Counters of repeated names; most objects have none and pay nothing.
        let mut next = FxHashMap::default();
        for field in fields {
            let Some(value) = self.field(field, cursor, context, depth) else {
                return (object, false);
            };
            object.insert(free_name(&object, &field.name, &mut next), value);
        }
        (object, true)
    }

    fn field(
        &self,
        field: &Field,
        cursor: &mut Cursor<'_>,
        context: &mut Context,
        depth: usize,
    ) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        context.step()?;
        // An array of one element and a single value have the same bytes, but only the first is a
        // list.
        let count = context.count(field, cursor)?;
        // A list is shown as one even with a single element, as its description says.
        if field.count == Count::One {
            return self.element(field, cursor, context, depth);
        }
        if field.out == Out::String {
            return self.text_of_characters(field, count, cursor);
        }
        let mut list = Vec::new();
        for _ in 0..count {
            let before = cursor.position();
            // An array that takes all the rest ends before an incomplete element, as when fields
            // are only located. With any other count an incomplete element is damage.
            if count == usize::MAX
                && cursor.rest().len() < field.ty.fixed_size(context.pointer_size).unwrap_or(1)
            {
                break;
            }
            context.step()?;
            let value = self.element(field, cursor, context, depth)?;
            // Elements beyond the limit are read and not kept: the fields after the list start at
            // its real end.
            if list.len() < self.limits.list {
                list.push(value);
            }
            if cursor.position() == before {
                break; // elements without bytes: one is enough
            }
        }
        Some(Value::Array(list))
    }

    /// An array of characters is one text.
    fn text_of_characters(
        &self,
        field: &Field,
        count: usize,
        cursor: &mut Cursor<'_>,
    ) -> Option<Value> {
        let wide = matches!(field.ty, Type::Int16 | Type::UInt16 | Type::UnicodeChar);
        let bytes = cursor.take(count.checked_mul(if wide { 2 } else { 1 })?)?;
        Some(if wide {
            self.text(&utf16_text(bytes))
        } else {
            self.text(&String::from_utf8_lossy(bytes))
        })
    }

    fn element(
        &self,
        field: &Field,
        cursor: &mut Cursor<'_>,
        context: &mut Context,
        depth: usize,
    ) -> Option<Value> {
        if field.ty == Type::Struct {
            // An incomplete struct is not shown: its missing members would look as if they were
            // empty.
            let (object, complete) = self.fields(&field.members, cursor, context, depth + 1);
            return complete.then_some(Value::Object(object));
        }
        // The value is remembered as bytes, before a value map can turn it into a name.
        let bytes = element::take(field, cursor, context)?;
        context.remember(field, bytes);
        Some(self.scalar(field, bytes))
    }

    fn text(&self, text: &str) -> Value {
        // Texts end at their first NUL, also those with a length of their own.
        let text = text.split_once('\0').map_or(text, |(text, _)| text);
        match text.char_indices().nth(self.limits.text) {
            Some((cut, _)) => Value::from(text.split_at(cut).0),
            None => Value::from(text),
        }
    }

    fn scalar(&self, field: &Field, bytes: &[u8]) -> Value {
        match (field.out, field.ty) {
            // Any bit set is true, since providers use values other than 1.
            (Out::Boolean, _) => return Value::Bool(bytes.iter().any(|b| *b != 0)),
            (Out::String, Type::Int8 | Type::UInt8) => {
                return Value::from(bytes.iter().map(|b| char::from(*b)).collect::<String>());
            }
            (Out::String, _) if bytes.len() == 2 => return Value::from(utf16_text(bytes)),
            _ => {}
        }
        // Names of values come before their types.
        if let Some(name) = name_of(field, bytes) {
            return Value::from(name);
        }
        match field.ty {
            Type::Null => Value::Null,
            Type::UnicodeString
            | Type::CountedUnicode
            | Type::ReversedCountedUnicode
            | Type::RestUnicode
            | Type::UnicodeChar => self.text(&utf16_text(bytes)),
            Type::AnsiString
            | Type::CountedAnsi
            | Type::ReversedCountedAnsi
            | Type::RestAnsi
            | Type::AnsiChar => self.text(&String::from_utf8_lossy(bytes)),
            Type::Binary | Type::CountedBinary | Type::HexDump => self.binary(bytes),
            Type::Sid | Type::TokenSid => sid_text(bytes).map_or(Value::Null, Value::from),
            _ => self.fixed(field.ty, bytes),
        }
    }

    fn fixed(&self, ty: Type, bytes: &[u8]) -> Value {
        let unsigned = widen(bytes, false);
        match ty {
            // Sign-extended first, as a value of one byte may be negative.
            Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => {
                Value::from(widen(bytes, true).cast_signed())
            }
            Type::Float => float_value(f32::from_bits(unsigned as u32).into()),
            Type::Double => float_value(f64::from_bits(unsigned)),
            Type::Bool32 => Value::Bool(unsigned != 0),
            Type::Guid => {
                guid_at(bytes, 0).map_or(Value::Null, |guid| Value::from(guid.to_string()))
            }
            Type::Pointer | Type::HexInt32 | Type::HexInt64 => {
                Value::from(format!("{unsigned:#x}"))
            }
            Type::FileTime => utc_text(unsigned.cast_signed()).map_or(Value::Null, Value::from),
            Type::SystemTime => systemtime_text(bytes).map_or(Value::Null, Value::from),
            Type::Ticks => match self.clock {
                // An event that has not happened yet; a trace that starts at tick 0 has real zeros.
                Some(clock) if unsigned == 0 && clock.t0 != 0 => Value::Null,
                Some(clock) => Value::from(clock.nanoseconds(unsigned.cast_signed())),
                None => Value::from(unsigned.cast_signed()),
            },
            Type::Ipv4 => bytes.first_chunk::<4>().map_or(Value::Null, |a| {
                Value::from(std::net::Ipv4Addr::from(*a).to_string())
            }),
            Type::Ipv6 => bytes.first_chunk::<16>().map_or(Value::Null, |a| {
                Value::from(std::net::Ipv6Addr::from(*a).to_string())
            }),
            Type::Port => Value::from((unsigned as u16).swap_bytes()),
            _ => Value::from(unsigned),
        }
    }

    fn binary(&self, bytes: &[u8]) -> Value {
        Value::from(hex_digits(bytes.get(..self.limits.binary).unwrap_or(bytes)))
    }
}

/// The name that a map has for an integer.
fn name_of(field: &Field, bytes: &[u8]) -> Option<String> {
    let map = field.map.as_ref()?;
    let is_integer = matches!(
        field.ty,
        Type::Int8
            | Type::UInt8
            | Type::Int16
            | Type::UInt16
            | Type::Int32
            | Type::UInt32
            | Type::Int64
            | Type::UInt64
            | Type::HexInt32
            | Type::HexInt64
            | Type::Bool32
            | Type::Pointer
    );
    if is_integer {
        // Maps have unsigned values, whatever the field is.
        map.name(widen(bytes, false))
    } else {
        None
    }
}

/// Up to 8 little-endian bytes as a number, sign-extended if `signed` is set.
fn widen(bytes: &[u8], signed: bool) -> u64 {
    let negative = signed && bytes.last().is_some_and(|b| b & 0x80 != 0);
    let mut word = [if negative { 0xFF } else { 0 }; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

fn float_value(value: f64) -> Value {
    // JSON has no number for these; null would look like a missing value.
    if value.is_nan() {
        Value::from("nan")
    } else if value.is_infinite() {
        Value::from(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        Value::from(value)
    }
}

/// The name of a field, or the name with a number appended if the object already contains it.
/// `next` has the next number to try for each repeated name.
fn free_name<'f>(
    object: &Map<String, Value>,
    name: &'f str,
    next: &mut FxHashMap<&'f str, usize>,
) -> String {
    if !object.contains_key(name) {
        return name.to_owned();
    }
    // Counting from 2 each time would take the square of the number of fields, and a malicious file
    // has arrays of structs with a thousand fields of one name.
    let number = next.entry(name).or_insert(2);
    loop {
        let candidate = format!("{name}#{number}");
        *number += 1;
        if !object.contains_key(&candidate) {
            return candidate;
        }
    }
}

/// Lower-case hexadecimal digits, two for each byte.
#[must_use]
pub fn hex_digits(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// A SID as `S-1-5-18`; `None` if the bytes are not a SID.
#[must_use]
pub fn sid_text(bytes: &[u8]) -> Option<String> {
    use std::fmt::Write;
    let mut cursor = Cursor::new(bytes);
    let revision = cursor.u8()?;
    let count = cursor.u8()?;
    let authority = cursor
        .array::<6>()?
        .iter()
        .fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let mut text = format!("S-{revision}-{authority}");
    for _ in 0..count {
        let _ = write!(text, "-{}", cursor.u32()?);
    }
    Some(text)
}

/// A SYSTEMTIME as `YYYY-MM-DDTHH:MM:SS.mmm`; `None` if the bytes end inside of it.
fn systemtime_text(bytes: &[u8]) -> Option<String> {
    let mut words = Cursor::new(bytes);
    let year = words.u16()?;
    let month = words.u16()?;
    let _weekday = words.u16()?;
    let day = words.u16()?;
    let hour = words.u16()?;
    let minute = words.u16()?;
    let second = words.u16()?;
    let millisecond = words.u16()?;
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Length, Schema, Source};
    use etwkit_etl::Guid;

    fn check(fields: Vec<Field>, slots: u16, payload: &[u8], expected: &str) {
        let schema = Schema {
            provider: Guid::ZERO,
            provider_name: None,
            name: "x".into(),
            source: Source::Kernel,
            fields,
            slots,
        };
        let plan = Plan::new(schema, 8);
        let (object, complete) = Renderer {
            clock: None,
            limits: Limits::INFO,
        }
        .object(&plan, payload);
        let text = Value::Object(object).to_string();
        assert_eq!(
            format!("{text}{}", if complete { "" } else { " cut" }),
            expected
        );
        let mut spans = crate::Spans::default();
        assert_eq!(plan.locate(payload, &mut spans), complete);
    }

    #[test]
    fn strings_lengths_and_lists() {
        let size = Field {
            slot: Some(0),
            ..Field::new("size", Type::UInt16)
        };
        let data = Field {
            length: Length::Slot(0),
            ..Field::new("data", Type::Binary)
        };
        let list = Field {
            count: Count::Prefixed,
            ..Field::new("data", Type::Int16)
        };
        let fields = vec![size, data, Field::new("text", Type::AnsiString), list];
        check(
            fields.clone(),
            1,
            b"\x02\0\xab\xcdhi\0\x02\0\xff\xff\x01\0",
            r##"{"size":2,"data":"abcd","text":"hi","data#2":[-1,1]}"##,
        );
        check(
            fields,
            1,
            b"\x02\0\xab\xcdhi\0\x02\0\xff\xff\x01",
            r#"{"size":2,"data":"abcd","text":"hi"} cut"#,
        );
    }

    #[test]
    fn structs_in_arrays_keep_their_members_together() {
        let pair = Field {
            count: Count::Prefixed,
            members: vec![
                Field::new("k", Type::UnicodeString),
                Field::new("v", Type::UInt8),
            ],
            ..Field::new("pairs", Type::Struct)
        };
        check(
            vec![pair],
            0,
            b"\x02\0a\0\0\0\x01b\0\0\0\x02",
            r#"{"pairs":[{"k":"a","v":1},{"k":"b","v":2}]}"#,
        );
    }

    #[test]
    fn scalars_have_their_text_forms() {
        check(
            vec![Field::new("p", Type::Pointer)],
            0,
            &[0x34, 0x12, 0, 0, 0, 0, 0, 0],
            r#"{"p":"0x1234"}"#,
        );
        check(
            vec![Field::new("f", Type::Double)],
            0,
            &f64::NEG_INFINITY.to_le_bytes(),
            r#"{"f":"-inf"}"#,
        );
        check(
            vec![Field::new("port", Type::Port), Field::new("a", Type::Ipv4)],
            0,
            &[1, 0xBB, 10, 0, 0, 1],
            r#"{"port":443,"a":"10.0.0.1"}"#,
        );
        check(
            vec![Field::new("s", Type::Sid)],
            0,
            &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0],
            r#"{"s":"S-1-5-18"}"#,
        );
    }

    #[test]
    fn values_with_a_name_are_shown_by_it() {
        let map = |bitmap, entries: &[(u64, &str)]| {
            let entries = entries
                .iter()
                .map(|(value, name)| (*value, (*name).into()))
                .collect();
            Some(std::sync::Arc::new(crate::schema::ValueMap {
                bitmap,
                entries,
            }))
        };
        let kind = Field {
            map: map(false, &[(1, "One"), (0xFFFF_FFFF, "All")]),
            ..Field::new("k", Type::Int32)
        };
        let bits = Field {
            map: map(true, &[(1, "A"), (4, "C")]),
            ..Field::new("b", Type::HexInt32)
        };
        let list = Field {
            count: Count::Fixed(2),
            ..kind.clone()
        };
        let slot = Field {
            slot: Some(0),
            map: map(false, &[(2, "Two")]),
            ..Field::new("n", Type::UInt8)
        };
        let counted = Field {
            count: Count::Slot(0),
            ..Field::new("c", Type::UInt8)
        };
        let payload = [
            1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0, 0, 13, 0, 0, 0, 2, 8, 9,
        ];
        check(
            vec![list, kind.clone(), bits],
            0,
            &payload,
            r#"{"k":["One","All"],"k#2":7,"b":"A|C|0x8"}"#,
        );
        // A value that a count refers to keeps its meaning.
        check(
            vec![slot, counted],
            1,
            &[2, 8, 9],
            r#"{"n":"Two","c":[8,9]}"#,
        );
    }

    #[test]
    fn ticks_of_zero_are_no_time() {
        let schema = Schema {
            provider: Guid::ZERO,
            provider_name: None,
            name: "x".into(),
            source: Source::Kernel,
            fields: vec![Field::new("t", Type::Ticks), Field::new("u", Type::Ticks)],
            slots: 0,
        };
        let plan = Plan::new(schema, 8);
        let of = |t0: i64| {
            let kind = etwkit_etl::clock::ClockType::Qpc;
            let clock = Clock {
                kind,
                frequency: 10_000_000,
                t0,
                start: 0,
                counter_frequency: 10_000_000,
            };
            let payload = [0i64.to_le_bytes(), (t0 + 10).to_le_bytes()].concat();
            let renderer = Renderer {
                clock: Some(&clock),
                limits: Limits::NONE,
            };
            Value::Object(renderer.object(&plan, &payload).0).to_string()
        };
        assert_eq!(of(929_670_664_718), r#"{"t":null,"u":1000}"#);
        assert_eq!(
            of(0),
            r#"{"t":0,"u":1000}"#,
            "a trace that begins at tick 0"
        );
    }

    #[test]
    fn fields_of_one_name_are_numbered() {
        let fields = ["x", "x", "x#2", "x", "y"].map(|name| Field::new(name, Type::UInt8));
        check(
            fields.into(),
            0,
            &[1, 2, 3, 4, 5],
            r##"{"x":1,"x#2":2,"x#2#2":3,"x#3":4,"y":5}"##,
        );
    }

    #[test]
    fn structs_without_bytes_cannot_cost_time() {
        let count = Field {
            slot: Some(0),
            ..Field::new("n", Type::UInt32)
        };
        let nothing = (0..200).map(|i| Field::new(format!("f{i}"), Type::Null));
        let mut members: Vec<Field> = nothing.collect();
        members.push(Field::new("one", Type::UInt8));
        let structs = Field {
            count: Count::Slot(0),
            members,
            ..Field::new("s", Type::Struct)
        };
        let payload = [&60_000u32.to_le_bytes()[..], &[0; 60_000]].concat();
        check(vec![count, structs], 1, &payload, r#"{"n":60000} cut"#);
    }

    #[test]
    fn a_count_or_length_of_all_bits_does_not_mean_the_rest() {
        let number = Field {
            slot: Some(0),
            ..Field::new("n", Type::UInt64)
        };
        let bytes = Field {
            count: Count::Slot(0),
            ..Field::new("b", Type::UInt8)
        };
        let data = Field {
            length: Length::Slot(0),
            ..Field::new("d", Type::Binary)
        };
        for field in [bytes, data] {
            check(
                vec![number.clone(), field],
                1,
                &[0xFF; 10],
                r#"{"n":18446744073709551615} cut"#,
            );
        }
    }

    #[test]
    fn a_claimed_count_of_billions_ends_with_the_payload() {
        let count = Field {
            slot: Some(0),
            ..Field::new("n", Type::UInt32)
        };
        let empty = Field {
            count: Count::Slot(0),
            ..Field::new("e", Type::Null)
        };
        check(
            vec![count.clone(), empty],
            1,
            &[0xFF; 4],
            r#"{"n":4294967295,"e":[null]}"#,
        );
        let words = Field {
            count: Count::Slot(0),
            ..Field::new("w", Type::UInt32)
        };
        check(vec![count, words], 1, &[0xFF; 8], r#"{"n":4294967295} cut"#);
    }
}
