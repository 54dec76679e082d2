//! Events that describe themselves: TraceLogging, and EventSource in its self-describing format.
//!
//! Each event carries its metadata as an extended item, and the name of its provider as another
//! one. Both are the tables of `TraceLoggingProvider.h` of the Windows SDK.

use std::sync::Arc;

use etwkit_etl::Guid;
use etwkit_etl::bytes::Cursor;

use crate::bounds::MAX_FIELDS;
use crate::schema::{Count, Field, MAX_DEPTH, Out, Schema, Source, Type};

/// Bits of the byte that holds the input type.
mod in_type {
    /// The type proper.
    pub(super) const BASE: u8 = 0x1F;
    /// The kind of array.
    pub(super) const ARRAY: u8 = 0x60;
    /// The metadata holds the number of elements.
    pub(super) const FIXED: u8 = 0x20;
    /// The payload holds the number of elements.
    pub(super) const VARIABLE: u8 = 0x40;
    /// Bytes with a custom serializer.
    pub(super) const CUSTOM: u8 = 0x60;
    /// An output type follows.
    pub(super) const CHAIN: u8 = 0x80;
    /// Members follow; the output type is their number.
    pub(super) const STRUCT: u8 = 24;
}

/// Name and group of a provider (extended item 12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traits {
    /// Name of the provider.
    pub name: Box<str>,
    /// Provider group that it belongs to.
    pub group: Option<Guid>,
}

/// Reads provider traits; `None` if there is not even a name.
///
/// Traits of unknown types are skipped; everything after a broken one is ignored.
#[must_use]
pub fn traits(data: &[u8]) -> Option<Traits> {
    const GROUP: u8 = 1;
    let mut cursor = sized(data)?;
    let name = text(&mut cursor)?;
    let mut group = None;
    // A length counts its own two bytes. One below that would never move on, and ends the traits.
    while let Some(len) = cursor.u16() {
        let Some(chunk) = usize::from(len)
            .checked_sub(2)
            .and_then(|len| cursor.take(len))
        else {
            break;
        };
        // The first group counts, as there is only one.
        if let Some((&GROUP, data)) = chunk.split_first() {
            group = group.or(etwkit_etl::bytes::guid_at(data, 0));
        }
    }
    Some(Traits { name, group })
}

/// Reads event metadata; `None` if it is broken or names a type that does not exist, because
/// nothing of the payload can be trusted then.
#[must_use]
pub fn schema(provider: Guid, provider_name: Option<Arc<str>>, metadata: &[u8]) -> Option<Schema> {
    let mut cursor = sized(metadata)?;
    tags(&mut cursor)?;
    let name = text(&mut cursor)?;
    // No number gives the count of fields: they continue to the end of the block.
    let mut reader = Reader {
        cursor,
        left: MAX_FIELDS,
    };
    let mut fields = Vec::new();
    while !reader.cursor.is_empty() {
        // A broken field ends the description: what comes after it cannot be found.
        fields.push(reader.field(0)?);
    }
    Some(Schema {
        provider,
        provider_name,
        name,
        source: Source::TraceLogging,
        fields,
        slots: 0,
    })
}

/// The content of a block that starts with its own size, a u16 that counts itself.
fn sized(block: &[u8]) -> Option<Cursor<'_>> {
    let size = usize::from(Cursor::new(block).u16()?);
    Some(Cursor::new(block.get(2..size)?))
}

/// Tags: 7 bits in each byte; the highest bit means that another one follows. They have no meaning
/// of their own.
fn tags(cursor: &mut Cursor<'_>) -> Option<()> {
    while cursor.u8()? & 0x80 != 0 {}
    Some(())
}

/// UTF-8 up to its NUL, which must be present: otherwise the size of the block is wrong.
fn text(cursor: &mut Cursor<'_>) -> Option<Box<str>> {
    cursor
        .rest()
        .contains(&0)
        .then(|| String::from_utf8_lossy(cursor.ansi()).into())
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Number of fields that may still follow.
    left: usize,
}

impl Reader<'_> {
    fn field(&mut self, depth: usize) -> Option<Field> {
        // The number of fields is bounded over all levels.
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let name = text(&mut self.cursor)?;
        let kind = self.cursor.u8()?;
        let mut out = 0;
        if kind & in_type::CHAIN != 0 {
            let byte = self.cursor.u8()?;
            out = byte & 0x7F;
            // The output type may be followed by tags.
            if byte & 0x80 != 0 {
                tags(&mut self.cursor)?;
            }
        }
        // Read even if it is not needed: for types with serializers this skips their description.
        let count = self.count(kind)?;
        if kind & in_type::ARRAY == in_type::CUSTOM {
            // Nothing is known about the bytes, but their size is.
            // The payload holds a size and that many bytes of any meaning.
            return Some(Field::new(name, Type::CountedBinary));
        }
        if kind & in_type::BASE == in_type::STRUCT {
            // In place of the output type, this is the number of members, at most 127.
            let members = (0..out)
                .map(|_| self.field(depth + 1))
                .collect::<Option<_>>()?;
            return Some(Field {
                count,
                members,
                ..Field::new(name, Type::Struct)
            });
        }
        let (ty, out) = encoding(kind & in_type::BASE, out)?;
        Some(Field {
            count,
            out,
            ..Field::new(name, ty)
        })
    }

    fn count(&mut self, kind: u8) -> Option<Count> {
        Some(match kind & in_type::ARRAY {
            in_type::FIXED => Count::Fixed(self.cursor.u16()?.into()),
            in_type::VARIABLE => Count::Prefixed,
            in_type::CUSTOM => {
                let len = self.cursor.u16()?;
                self.cursor.take(len.into())?;
                Count::One
            }
            _ => Count::One,
        })
    }
}

/// Type and form of an input and an output type. Output types that only format a number change
/// nothing.
fn encoding(base: u8, out: u8) -> Option<(Type, Out)> {
    let ty = match base {
        // Unlike in manifests, a binary brings its own length.
        14 => Type::CountedBinary,
        _ => crate::intype::from_number(base.into())?,
    };
    let character = matches!(ty, Type::Int8 | Type::UInt8 | Type::Int16 | Type::UInt16);
    Some(match (ty, out) {
        (_, 2) if character => (ty, Out::String),
        (_, 3) if character => (ty, Out::Boolean),
        (Type::UInt16, 7) => (Type::Port, Out::Natural),
        (Type::UInt32, 8) => (Type::Ipv4, Out::Natural),
        _ => (ty, Out::Natural),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metadata of an event named `e` with the given description of its fields.
    fn metadata(fields: &[u8]) -> Vec<u8> {
        let mut all = vec![0, 0, 0, b'e', 0];
        all.extend(fields);
        let len = all.len() as u16;
        all[..2].copy_from_slice(&len.to_le_bytes());
        all
    }

    fn types(fields: &[u8]) -> Option<Vec<String>> {
        let schema = schema(Guid::ZERO, None, &metadata(fields))?;
        Some(
            schema
                .fields
                .iter()
                .map(|f| format!("{}:{}", f.name, f.type_name()))
                .collect(),
        )
    }

    #[test]
    fn scalars_arrays_and_output_types() {
        let fields = b"a\0\x01b\0\x84\x03c\0\x86\x02d\0\x45e\0\x27\x03\0f\0\x86\x07g\0\x0Eh\0\x17i\0\xC6\x02j\0\xA4\x03\x02\0";
        assert_eq!(
            types(fields).unwrap(),
            [
                "a:unicode_string",
                "b:uint8:boolean",
                "c:uint16:string",
                "d:int16[]",
                "e:int32[3]",
                "f:uint16",
                "g:counted_binary",
                "h:counted_ansi",
                "i:uint16[]:string",
                "j:uint8[2]:boolean"
            ]
        );
    }

    #[test]
    fn structs_take_the_fields_behind_them() {
        let schema = schema(
            Guid::ZERO,
            None,
            &metadata(b"s\0\xD8\x02a\0\x98\x01b\0\x04c\0\x08d\0\x04"),
        )
        .unwrap();
        let outer = &schema.fields[0];
        assert_eq!(
            (outer.count, outer.members.len(), schema.fields.len()),
            (Count::Prefixed, 2, 2)
        );
        assert_eq!(&*outer.members[0].members[0].name, "b");
        assert_eq!(
            (&*outer.members[1].name, &*schema.fields[1].name),
            ("c", "d")
        );
    }

    #[test]
    fn tags_and_type_information_of_serializers_are_skipped() {
        assert_eq!(
            types(b"a\0\x88\x80\x81\x82\x03b\0\x61\x02\0xyc\0\x04").unwrap(),
            ["a:uint32", "b:counted_binary", "c:uint8"]
        );
        let tagged = [9, 0, 0x81, 0x01, b'e', 0, b'a', 0, 4];
        assert_eq!(&*schema(Guid::ZERO, None, &tagged).unwrap().name, "e");
    }

    #[test]
    fn broken_metadata_gives_nothing() {
        for fields in [
            &b"a"[..],
            b"a\0",
            b"a\0\x84",
            b"a\0\x84\x83\x80",
            b"a\0\x27\x03",
            b"a\0\x61\x09\0x",
        ] {
            assert_eq!(types(fields), None, "{fields:?}");
        }
        assert_eq!(types(b"a\0\x1F"), None, "no such type");
        assert_eq!(types(b"s\0\x98\x02a\0\x04"), None, "a member is missing");
        assert_eq!(types(&b"s\0\x98\x01".repeat(40)), None, "too deep");
        assert_eq!(types(&b"\0\x04".repeat(MAX_FIELDS + 1)), None, "too many");
        assert_eq!(
            schema(Guid::ZERO, None, &[200, 0, 0, b'e', 0]),
            None,
            "size behind the end"
        );
        assert_eq!(
            schema(Guid::ZERO, None, &[1, 0, 0, b'e', 0]),
            None,
            "size below itself"
        );
        assert_eq!(schema(Guid::ZERO, None, &[]), None);
    }

    #[test]
    fn traits_name_the_provider_and_its_group() {
        let mut data = b"\x00\x00My.Provider\0\x04\0\x07x\x13\0\x01".to_vec();
        data.extend([7; 16]);
        data[0] = data.len() as u8;
        let read = traits(&data).unwrap();
        assert_eq!(
            (&*read.name, read.group),
            ("My.Provider", Some(Guid::from_bytes([7; 16])))
        );
        assert_eq!(traits(b"\x05\0ab\0").unwrap().group, None);
        assert_eq!(
            traits(b"\x07\0ab\0\0\0").unwrap().group,
            None,
            "a chunk of no size"
        );
        assert_eq!(traits(b"\x04\0ab"), None);
    }
}
