//! Descriptions of events that the merge step wrote into the trace: `TRACE_EVENT_INFO` and
//! `EVENT_MAP_INFO` of the Windows SDK (`tdh.h`), in records of the class [`CLASS`].

mod map;
mod properties;

pub use map::value_map;

use std::sync::Arc;

use etwkit_etl::Guid;
use etwkit_etl::bytes::{Cursor, guid_at, u8_at, u16_at, u32_at, utf16_text};

use crate::bounds::Budget;
use crate::schema::{self, Schema, Source, ValueMap};

/// Class of the records.
pub const CLASS: Guid = Guid::literal("bbccf6c1-6cd1-48c4-80ff-839482e37671");
/// Opcode of a record that holds a `TRACE_EVENT_INFO`.
pub const OPCODE_EVENT: u8 = 32;
/// Opcode of a record that holds the GUID of a provider and one of its `EVENT_MAP_INFO`.
pub const OPCODE_MAP: u8 = 33;

/// Bytes of the fixed part of `TRACE_EVENT_INFO`.
const HEAD_LEN: usize = 112;

/// The source of the event's description (`DECODING_SOURCE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decoding {
    /// A manifest.
    Manifest,
    /// A class of the WMI repository.
    Mof,
    /// WPP: only the program that logged the event knows its fields.
    Wpp,
    /// The event itself.
    TraceLogging,
}

/// Head of a `TRACE_EVENT_INFO`: which event it describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Provider.
    pub provider: Guid,
    /// Class of a classic event, GUID of a WPP message.
    pub class: Guid,
    /// Event ID.
    pub id: u16,
    /// Version of the layout.
    pub version: u8,
    /// Opcode.
    pub opcode: u8,
    /// The source of the event's description.
    pub decoding: Decoding,
}

/// Reads the head; `None` if the record is too short or the source is none of the four.
#[must_use]
pub fn head(info: &[u8]) -> Option<Head> {
    if info.len() < HEAD_LEN {
        return None;
    }
    let decoding = match u32_at(info, 48)? {
        0 => Decoding::Manifest,
        1 => Decoding::Mof,
        2 => Decoding::Wpp,
        3 => Decoding::TraceLogging,
        _ => return None,
    };
    Some(Head {
        provider: guid_at(info, 0)?,
        class: guid_at(info, 16)?,
        id: u16_at(info, 32)?,
        version: u8_at(info, 34)?,
        opcode: u8_at(info, 37)?,
        decoding,
    })
}

/// Name of the provider, if the record has it.
#[must_use]
pub fn provider_name(info: &[u8]) -> Option<String> {
    string(info, u32_at(info, 52)?, &mut Budget::new(info.len()))
}

/// The message of the event with its inserts `%1`, `%2` and so on, if the record has one.
#[must_use]
pub fn message(info: &[u8]) -> Option<String> {
    string(info, u32_at(info, 76)?, &mut Budget::new(info.len()))
}

/// Reads the whole record; `None` if it is broken. `map` finds the value map of that name.
///
/// Property lists that refer to themselves in a hostile file end at [`crate::bounds::MAX_FIELDS`].
/// Names shared by many properties are limited to a multiple of the record's size.
#[must_use]
pub fn schema(
    info: &[u8],
    provider_name: Option<Arc<str>>,
    map: &dyn Fn(&str) -> Option<Arc<ValueMap>>,
) -> Option<Schema> {
    let head = head(info)?;
    let name = event_name(info, head)?;
    let properties = properties::read(info, map)?;
    // Classic events carry the GUID of their class in the header, not the GUID of their provider.
    let provider = if head.decoding == Decoding::Mof {
        head.class
    } else {
        head.provider
    };
    Some(Schema {
        provider,
        provider_name,
        name: name.into(),
        source: Source::EventInfo,
        fields: properties.fields,
        slots: properties.slots,
    })
}

/// `Task/Opcode`, without the opcode if it is 0 (information); `EventID(n)` without a task.
fn event_name(info: &[u8], head: Head) -> Option<String> {
    let mut budget = Budget::new(info.len());
    let mut name_at = |at| u32_at(info, at).and_then(|offset| string(info, offset, &mut budget));
    let task = name_at(68);
    let opcode = name_at(72);
    let own = name_at(92);
    Some(match (task, own) {
        (Some(task), _) => match opcode {
            Some(opcode) if head.opcode != 0 => {
                format!("{task}/{}", opcode.strip_prefix("win:").unwrap_or(&opcode))
            }
            _ => task,
        },
        // Manifests have the activity ID in the place of the event name.
        (None, Some(own)) if head.decoding == Decoding::TraceLogging => own,
        (None, _) => schema::numbered(head.id),
    })
}

/// The string at an offset without the blanks at its end; `None` if there is none or it is empty.
fn string(bytes: &[u8], offset: u32, budget: &mut Budget) -> Option<String> {
    text(bytes, offset, budget).filter(|text| !text.is_empty())
}

/// The string at an offset without trailing blanks, empty if there is none; `None` if it is out of
/// bounds or the budget is used up.
fn text(bytes: &[u8], offset: u32, budget: &mut Budget) -> Option<String> {
    // Offset 0 means that the record has no such text: the record itself starts there.
    if offset == 0 {
        return Some(String::new());
    }
    let text = Cursor::new(bytes.get(offset as usize..)?).utf16();
    budget.take(text.len())?;
    // Names of tasks, opcodes and entries of maps have a blank at their end in these records.
    Some(utf16_text(text).trim_end().to_owned())
}

#[cfg(test)]
pub(crate) mod made;

#[cfg(test)]
mod tests {
    use super::made::{Info, Property};
    use super::*;
    use crate::schema::{Count, Length, Type};

    fn read(info: &Info) -> Option<Schema> {
        schema(&info.bytes(), None, &|_| None)
    }

    #[test]
    fn names_follow_task_and_opcode() {
        let mut info = Info {
            id: 7,
            task: "Work ",
            opcode_name: "win:Start ",
            ..Info::default()
        };
        assert_eq!(&*read(&info).unwrap().name, "Work");
        info.opcode = 1;
        assert_eq!(&*read(&info).unwrap().name, "Work/Start");
        info.task = "";
        assert_eq!(&*read(&info).unwrap().name, "EventID(7)");
        assert_eq!(
            provider_name(&info.bytes()).as_deref(),
            Some("Made-Provider")
        );
    }

    /// Writers of such records leave the length of these types 0, or state it.
    #[test]
    fn types_of_a_fixed_size_have_it_whatever_length_the_record_states() {
        let field = |kind: u16, length: u16| {
            let info = Info {
                top: 2,
                properties: vec![
                    Property {
                        length,
                        ..Property::new("first", kind)
                    },
                    Property::new("next", 8),
                ],
                ..Info::default()
            };
            read(&info).map(|schema| schema.fields)
        };
        for kind in (3..=13).chain(15..=18).chain([20, 21, 306, 307]) {
            for length in [0, 1, 4, 99] {
                let fields = field(kind, length).unwrap();
                assert!(fields[0].ty.fixed_size(8).is_some(), "{kind}");
                assert_eq!(
                    (&fields[0].length, &fields[0].count),
                    (&Length::Natural, &Count::One)
                );
                assert_eq!(fields[1].ty, Type::UInt32);
            }
        }
        // A type that nobody knows makes this kind of event unreadable, and no other one.
        assert_eq!(field(999, 4), None);
        assert!(field(8, 4).is_some());
    }

    #[test]
    fn lengths_and_counts_refer_to_other_properties() {
        let info = Info {
            top: 5,
            properties: vec![
                Property::new("size", 6),
                Property {
                    flags: 2,
                    length: 0,
                    ..Property::new("data", 14)
                },
                Property {
                    flags: 4 | 1,
                    count: 0,
                    kind: 5,
                    out: 2,
                    ..Property::new("pairs", 0)
                },
                Property {
                    flags: 0x20,
                    count: 1,
                    ..Property::new("one", 16)
                },
                Property {
                    flags: 0x10,
                    length: 8,
                    ..Property::new("name", 1)
                },
                Property::new("k", 1),
                Property {
                    count: 3,
                    ..Property::new("v", 8)
                },
            ],
            ..Info::default()
        };
        let schema = read(&info).unwrap();
        let types: Vec<_> = schema.fields.iter().map(crate::Field::type_name).collect();
        assert_eq!(
            types,
            [
                "uint16",
                "binary",
                "struct[]",
                "pointer[1]",
                "unicode_string"
            ]
        );
        assert_eq!((schema.slots, schema.fields[0].slot), (1, Some(0)));
        assert_eq!(schema.fields[1].length, Length::Slot(0));
        assert_eq!(schema.fields[2].count, Count::Slot(0));
        assert_eq!(schema.fields[2].members[1].count, Count::Fixed(3));
        assert_eq!(schema.fields[4].length, Length::Fixed(8));
    }

    #[test]
    fn types_of_the_repository_and_of_the_network() {
        let info = Info {
            decoding: 1,
            top: 4,
            properties: vec![
                Property::new("s", 300),
                Property::new("t", 310),
                Property {
                    out: 22,
                    ..Property::new("port", 6)
                },
                Property {
                    out: 24,
                    ..Property::new("six", 14)
                },
            ],
            ..Info::default()
        };
        let schema = read(&info).unwrap();
        let types: Vec<_> = schema.fields.iter().map(|f| f.ty).collect();
        assert_eq!(
            types,
            [Type::CountedUnicode, Type::TokenSid, Type::Port, Type::Ipv6]
        );
        assert_eq!(schema.provider, Guid::from_bytes([2; 16]));
    }

    #[test]
    fn maps_are_found_by_name() {
        let info = Info {
            top: 1,
            properties: vec![Property {
                map: "Colours ",
                ..Property::new("c", 8)
            }],
            ..Info::default()
        };
        let found = Arc::new(ValueMap::default());
        let schema = schema(&info.bytes(), None, &|name| {
            (name == "Colours").then(|| Arc::clone(&found))
        })
        .unwrap();
        assert!(schema.fields[0].map.is_some());
    }

    #[test]
    fn hostile_records_give_nothing() {
        let own = Property {
            flags: 1,
            kind: 0,
            out: 1,
            ..Property::new("s", 0)
        };
        assert!(
            read(&Info {
                top: 1,
                properties: vec![own],
                ..Info::default()
            })
            .is_none(),
            "contains itself"
        );
        let many = Property {
            flags: 1,
            kind: 1,
            out: 60,
            ..Property::new("s", 0)
        };
        let mut properties = vec![many.clone()];
        properties.extend((0..60).map(|_| Property {
            kind: 2,
            ..many.clone()
        }));
        assert!(
            read(&Info {
                top: 1,
                properties,
                ..Info::default()
            })
            .is_none(),
            "too many fields"
        );
        let lost = Property {
            flags: 2,
            length: 9,
            ..Property::new("d", 14)
        };
        assert!(
            read(&Info {
                top: 1,
                properties: vec![lost],
                ..Info::default()
            })
            .is_none(),
            "no such property"
        );
        let strange = Property::new("x", 24);
        assert!(
            read(&Info {
                top: 1,
                properties: vec![strange],
                ..Info::default()
            })
            .is_none(),
            "no such type"
        );
        assert!(
            read(&Info {
                top: 9,
                ..Info::default()
            })
            .is_none(),
            "fewer properties than named"
        );
        assert!(
            read(&Info {
                decoding: 7,
                ..Info::default()
            })
            .is_none()
        );
        let bytes = Info {
            top: 1,
            properties: vec![Property::new("x", 8)],
            ..Info::default()
        }
        .bytes();
        for len in 0..HEAD_LEN + 24 {
            assert!(
                schema(&bytes[..len], None, &|_| None).is_none(),
                "cut at {len}"
            );
        }
    }

    #[test]
    fn a_long_name_shared_by_all_properties_is_refused() {
        let name: String = "n".repeat(20_000);
        let mut info = Info {
            top: 900,
            shared_name: name,
            ..Info::default()
        };
        info.properties = (0..900).map(|_| Property::new("", 8)).collect();
        assert!(read(&info).is_none());
    }
}
