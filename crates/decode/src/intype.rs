//! Input and output types of manifests and EventInfo records (`TDH_INTYPE_*`, `TDH_OUTTYPE_*`).
//!
//! TraceLogging shares the numbers of the input types up to 21 but not the numbers of the output
//! types; see [`crate::tracelogging`].

use crate::schema::{Field, Length, Type};

/// Encoding of an input type; `None` for unknown numbers. Structs are not an input type.
#[must_use]
pub const fn from_number(number: u16) -> Option<Type> {
    Some(match number {
        0 => Type::Null,
        1 => Type::UnicodeString,
        2 => Type::AnsiString,
        3 => Type::Int8,
        4 => Type::UInt8,
        5 => Type::Int16,
        6 => Type::UInt16,
        7 => Type::Int32,
        8 => Type::UInt32,
        9 => Type::Int64,
        10 => Type::UInt64,
        11 => Type::Float,
        12 => Type::Double,
        13 => Type::Bool32,
        14 => Type::Binary,
        15 => Type::Guid,
        16 | 308 => Type::Pointer,
        17 => Type::FileTime,
        18 => Type::SystemTime,
        19 => Type::Sid,
        20 => Type::HexInt32,
        21 => Type::HexInt64,
        22 | 300 => Type::CountedUnicode,
        23 | 301 => Type::CountedAnsi,
        25 => Type::CountedBinary,
        302 => Type::ReversedCountedUnicode,
        303 => Type::ReversedCountedAnsi,
        304 => Type::RestUnicode,
        305 => Type::RestAnsi,
        306 => Type::UnicodeChar,
        307 => Type::AnsiChar,
        309 => Type::HexDump,
        310 => Type::TokenSid,
        _ => return None,
    })
}

/// Encoding of an input type as manifests spell it, with or without the prefix `win:`.
#[must_use]
pub fn from_name(name: &str) -> Option<Type> {
    Some(match local(name) {
        "UnicodeString" => Type::UnicodeString,
        "AnsiString" => Type::AnsiString,
        "Int8" => Type::Int8,
        "UInt8" => Type::UInt8,
        "Int16" => Type::Int16,
        "UInt16" => Type::UInt16,
        "Int32" => Type::Int32,
        "UInt32" => Type::UInt32,
        "Int64" => Type::Int64,
        "UInt64" => Type::UInt64,
        "Float" => Type::Float,
        "Double" => Type::Double,
        "Boolean" => Type::Bool32,
        "Binary" => Type::Binary,
        "GUID" => Type::Guid,
        "Pointer" => Type::Pointer,
        "FILETIME" => Type::FileTime,
        "SYSTEMTIME" => Type::SystemTime,
        "SID" => Type::Sid,
        "HexInt32" => Type::HexInt32,
        "HexInt64" => Type::HexInt64,
        "CountedUnicodeString" => Type::CountedUnicode,
        "CountedAnsiString" => Type::CountedAnsi,
        "CountedBinary" => Type::CountedBinary,
        _ => return None,
    })
}

/// Number of an output type by its name in manifests; 0 for types that change nothing here.
#[must_use]
pub fn out_from_name(name: &str) -> u16 {
    match local(name) {
        "Port" => 22,
        "IPv4" => 23,
        "IPv6" => 24,
        _ => 0,
    }
}

/// A name without its namespace prefix.
#[must_use]
pub fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// Applies an output type that changes the interpretation of the bytes: ports and addresses are in
/// network order.
///
/// Other output types are formats of numbers and do not change the field. An IPv6 address is a
/// binary that may come without a length.
pub fn apply_out(field: &mut Field, out: u16) {
    // Only if type and output type belong together: a `Port` on a 32-bit number is a mistake of the
    // provider, and reading two bytes there would move all fields after it.
    let ty = match (field.ty, out) {
        (Type::UInt16, 22) => Type::Port,
        (Type::UInt32, 23) => Type::Ipv4,
        (Type::Binary, 24) if matches!(field.length, Length::Natural | Length::Fixed(16)) => {
            Type::Ipv6
        }
        _ => return,
    };
    field.ty = ty;
    field.length = Length::Natural;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for (name, number) in [
            ("win:UnicodeString", 1),
            ("win:Boolean", 13),
            ("GUID", 15),
            ("win:HexInt64", 21),
        ] {
            assert_eq!(from_name(name), from_number(number), "{name}");
        }
        assert_eq!(from_name("win:Strange"), None);
        assert_eq!(
            (from_number(24), from_number(26), from_number(311)),
            (None, None, None)
        );
    }

    #[test]
    fn output_types_of_the_network_change_the_reading() {
        let mut port = Field::new("p", Type::UInt16);
        apply_out(&mut port, out_from_name("win:Port"));
        assert_eq!(port.ty, Type::Port);
        let mut six = Field::new("a", Type::Binary);
        apply_out(&mut six, 24);
        assert_eq!(six.ty, Type::Ipv6);
        let mut number = Field::new("n", Type::UInt32);
        apply_out(&mut number, 18);
        assert_eq!(number.ty, Type::UInt32);
    }
}
