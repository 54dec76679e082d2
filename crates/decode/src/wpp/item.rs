//! Types of arguments.

use std::sync::Arc;

use etwkit_etl::bytes::utf16_text;
use etwkit_etl::clock::utc_text;

use crate::message::printf::Argument;
use crate::render::{hex_digits, sid_text};
use crate::schema::{Field, Length, Type, ValueMap};
use crate::status;

/// The text form of an argument, if its format expects a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// Formatted like its field: numbers, texts, GUIDs, SIDs, addresses.
    Plain,
    /// A number in hexadecimal or octal, regardless of the format.
    Hexadecimal,
    UpperHexadecimal,
    Octal,
    /// A character.
    Character,
    /// `0x00000002(DPC)`: one of a list of names.
    List,
    /// `[1,3]`: names of bits.
    Set,
    /// `StateActive`, and `FlagRead | FlagExec(0x5)`.
    Enum,
    Flags,
    /// `0xc0000022(STATUS_ACCESS_DENIED)`.
    NtStatus,
    Hresult,
    NdisStatus,
    NdisOid,
    /// `5(ERROR_ACCESS_DENIED)`
    WinError,
    /// A point in time, UTC.
    Timestamp,
    /// A time span.
    TimeDelta,
    /// A time span if it is negative, otherwise a point in time.
    WaitTime,
    /// Hexadecimal digits.
    Bytes,
    /// An unknown type: only its rendering is known.
    Unknown,
}

/// Finds the names of an enumeration: names of its values, or of the bits in its values.
pub(super) type Enums<'a> = dyn Fn(&str, bool) -> Option<Arc<ValueMap>> + 'a;

/// Sets type and names of a field by the word that a TMF file has for it: `ItemLong`,
/// `ItemListByte(Low,APC,DPC)`.
pub(super) fn set(field: &mut Field, word: &str, enums: &Enums<'_>) -> Item {
    let (name, inside) = word.split_once('(').map_or((word, ""), |(name, rest)| {
        (name, rest.strip_suffix(')').unwrap_or(rest))
    });
    let (ty, item) = match name.trim() {
        "ItemChar" | "ItemCharSign" => (Type::Int8, Item::Character),
        "ItemUChar" => (Type::UInt8, Item::Character),
        "ItemShort" | "ItemCharShort" => (Type::Int16, Item::Plain),
        "ItemUShort" => (Type::UInt16, Item::Plain),
        "ItemLong" | "ItemInt" => (Type::Int32, Item::Plain),
        "ItemULong" | "ItemUInt" => (Type::UInt32, Item::Plain),
        "ItemULongX" => (Type::HexInt32, Item::Hexadecimal),
        "ItemLongLong" | "ItemQuad" => (Type::Int64, Item::Plain),
        "ItemULongLong" | "ItemUQuad" => (Type::UInt64, Item::Plain),
        "ItemLongLongX" => (Type::HexInt64, Item::Hexadecimal),
        "ItemLongLongXX" => (Type::HexInt64, Item::UpperHexadecimal),
        "ItemLongLongO" => (Type::UInt64, Item::Octal),
        "ItemFloat" => (Type::Float, Item::Plain),
        "ItemDouble" => (Type::Double, Item::Plain),
        "ItemPtr" => (Type::Pointer, Item::Plain),
        "ItemString" | "ItemRString" => (Type::AnsiString, Item::Plain),
        "ItemWString" | "ItemRWString" => (Type::UnicodeString, Item::Plain),
        "ItemPString" => (Type::CountedAnsi, Item::Plain),
        "ItemPWString" => (Type::CountedUnicode, Item::Plain),
        "ItemSid" => (Type::Sid, Item::Plain),
        "ItemGuid" | "ItemCLSID" | "ItemIID" | "ItemLIBID" => (Type::Guid, Item::Plain),
        "ItemHRESULT" => (Type::HexInt32, Item::Hresult),
        "ItemNTSTATUS" | "ItemNTerror" => (Type::HexInt32, Item::NtStatus),
        "ItemNDIS_STATUS" => (Type::HexInt32, Item::NdisStatus),
        "ItemNDIS_OID" => (Type::HexInt32, Item::NdisOid),
        "ItemWINERROR" => (Type::UInt32, Item::WinError),
        "ItemIPAddr" => (Type::Ipv4, Item::Plain),
        "ItemIPV6Addr" => (Type::Ipv6, Item::Plain),
        "ItemPort" => (Type::Port, Item::Plain),
        "ItemTimestamp" => (Type::FileTime, Item::Timestamp),
        "ItemTimeDelta" => (Type::Int64, Item::TimeDelta),
        "ItemWaitTime" => (Type::Int64, Item::WaitTime),
        "ItemHexDump" | "ItemHEXDump" => (Type::CountedBinary, Item::Bytes),
        "ItemChar4" => {
            field.length = Length::Fixed(4);
            (Type::AnsiString, Item::Plain)
        }
        "ItemMACAddr" => {
            field.length = Length::Fixed(6);
            (Type::Binary, Item::Bytes)
        }
        "ItemListByte" => (Type::UInt8, list(field, inside)),
        "ItemListShort" => (Type::UInt16, list(field, inside)),
        "ItemListLong" => (Type::UInt32, list(field, inside)),
        "ItemSetByte" => (Type::UInt8, bits(field, inside)),
        "ItemSetShort" => (Type::UInt16, bits(field, inside)),
        "ItemSetLong" => (Type::UInt32, bits(field, inside)),
        "ItemEnum" => {
            field.map = enums(inside.trim(), false);
            (Type::UInt32, Item::Enum)
        }
        "ItemFlagsEnum" => {
            field.map = enums(inside.trim(), true);
            (Type::UInt32, Item::Flags)
        }
        _ => {
            // The fields after it cannot be found either.
            field.length = Length::Rest;
            (Type::Binary, Item::Unknown)
        }
    };
    field.ty = ty;
    item
}

/// The names of the values 0, 1, 2 and so on.
fn list(field: &mut Field, names: &str) -> Item {
    let entries = names
        .split(',')
        .zip(0..)
        .map(|(name, value)| (value, name.trim().into()));
    field.map = Some(Arc::new(ValueMap {
        bitmap: false,
        entries: entries.collect(),
    }));
    Item::List
}

/// The names of bits, the lowest one first.
fn bits(field: &mut Field, names: &str) -> Item {
    let entries = names
        .split(',')
        // A value has at most 64 bits.
        .zip(0..64)
        .map(|(name, bit)| (1 << bit, name.trim().into()));
    field.map = Some(Arc::new(ValueMap {
        bitmap: true,
        entries: entries.collect(),
    }));
    Item::Set
}

impl Item {
    /// An argument for a format: as a number, if it is one, and as a text.
    pub(super) fn value(self, field: &Field, bytes: &[u8]) -> (Argument, String) {
        let number = argument(field.ty, bytes);
        let text = self.text(field, bytes, &number);
        (number, text)
    }

    fn text(self, field: &Field, bytes: &[u8], number: &Argument) -> String {
        let bits = match number {
            Argument::Integer { bits, .. } => *bits,
            _ => 0,
        };
        let code = (bits & 0xFFFF_FFFF) as u32;
        let with_name = |name: Option<&str>| match name {
            Some(name) => format!("{code:#010x}({name})"),
            None => format!("{code:#010x}"),
        };
        // Times have 8 bytes, so no sign is lost here; shorter numbers are not times.
        let ticks = bits.cast_signed();
        match self {
            Self::Plain => number.natural(),
            Self::Hexadecimal => format!("{bits:x}"),
            Self::UpperHexadecimal => format!("{bits:X}"),
            Self::Octal => format!("{bits:o}"),
            Self::Character => bytes
                .first()
                .map_or_else(String::new, |byte| char::from(*byte).to_string()),
            Self::List => with_name(
                names(field)
                    .find(|(value, _)| *value == bits)
                    .map(|(_, name)| name),
            ),
            Self::Set => format!("[{}]", of_bits(field, bits, ",")),
            Self::Enum => {
                let found = names(field).find(|(value, _)| *value == bits);
                found.map_or_else(|| format!("{bits:#x}"), |(_, name)| name.to_owned())
            }
            Self::Flags => {
                let found = of_bits(field, bits, " | ");
                if found.is_empty() {
                    format!("{bits:#x}")
                } else {
                    format!("{found}({bits:#x})")
                }
            }
            Self::NtStatus => with_name(status::nt_constant(code).as_deref()),
            Self::Hresult => with_name(status::hresult_constant(code).as_deref()),
            Self::NdisStatus => with_name(status::ndis_constant(code)),
            Self::NdisOid => with_name(status::ndis_oid_constant(code)),
            Self::WinError => match status::win32_constant(code) {
                Some(name) => format!("{code}({name})"),
                None => code.to_string(),
            },
            Self::Timestamp => point_in_time(ticks),
            Self::TimeDelta => span(ticks),
            // A wait until a point in time, or for a span, which is negative.
            Self::WaitTime if ticks <= 0 => format!("+{}", span(ticks.saturating_neg())),
            Self::WaitTime => point_in_time(ticks),
            Self::Bytes | Self::Unknown => hex_digits(bytes),
        }
    }
}

fn names(field: &Field) -> impl Iterator<Item = (u64, &str)> {
    let entries = field.map.iter().flat_map(|map| map.entries.iter());
    entries.map(|(value, name)| (*value, &**name))
}

/// Names of the bits that are set; a bit without a name in hexadecimal.
fn of_bits(field: &Field, bits: u64, between: &str) -> String {
    let mut left = bits;
    let mut found = Vec::new();
    // An entry of 0 is contained in every value, so it would be named each time.
    for (value, name) in names(field).filter(|(value, _)| *value != 0 && bits & value == *value) {
        left &= !value;
        found.push(name.to_owned());
    }
    if left != 0 && !found.is_empty() {
        found.push(format!("{left:#x}"));
    }
    if found.is_empty() && left != 0 && between == "," {
        found.push(format!("{left:#x}"));
    }
    found.join(between)
}

/// The bytes of an argument as a value for a format.
fn argument(ty: Type, bytes: &[u8]) -> Argument {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(word);
    let size = bytes.len().min(8) as u8;
    match ty {
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => Argument::Integer {
            bits,
            bytes: size,
            signed: true,
        },
        // Ports are in network byte order.
        Type::Port => Argument::unsigned((bits as u16).swap_bytes().into(), 2),
        Type::Float => Argument::Float(f32::from_bits(bits as u32).into()),
        Type::Double => Argument::Float(f64::from_bits(bits)),
        Type::UnicodeString | Type::CountedUnicode => Argument::Text(whole(&utf16_text(bytes))),
        Type::AnsiString | Type::CountedAnsi => {
            Argument::Text(whole(&String::from_utf8_lossy(bytes)))
        }
        Type::Guid => Argument::Text(
            etwkit_etl::bytes::guid_at(bytes, 0).map_or_else(String::new, |guid| guid.to_string()),
        ),
        Type::Sid => Argument::Text(sid_text(bytes).unwrap_or_else(|| hex_digits(bytes))),
        Type::Ipv4 => Argument::Text(
            bytes
                .first_chunk::<4>()
                .map_or_else(String::new, |a| std::net::Ipv4Addr::from(*a).to_string()),
        ),
        Type::Ipv6 => Argument::Text(
            bytes
                .first_chunk::<16>()
                .map_or_else(String::new, |a| std::net::Ipv6Addr::from(*a).to_string()),
        ),
        Type::Binary | Type::CountedBinary => Argument::Text(hex_digits(bytes)),
        _ => Argument::unsigned(bits, size),
    }
}

/// A text up to its NUL, which texts of a fixed length may have.
fn whole(text: &str) -> String {
    text.split('\0').next().unwrap_or("").to_owned()
}

/// `2020-01-01 00:00:00.000Z`; the number if it is not a time.
fn point_in_time(filetime: i64) -> String {
    let text = utc_text(filetime).filter(|_| filetime > 0);
    let parts = text.as_deref().and_then(|text| text.split_once('T'));
    match parts {
        Some((day, time)) => format!("{day} {}Z", time.get(..12).unwrap_or(time)),
        None => filetime.to_string(),
    }
}

/// Units of 100 ns as `5.000s`.
fn span(ticks: i64) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let milliseconds = ticks.unsigned_abs() / 10_000;
    format!("{sign}{}.{:03}s", milliseconds / 1000, milliseconds % 1000)
}
