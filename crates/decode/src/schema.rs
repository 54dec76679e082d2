//! The structure of a payload.

use std::sync::Arc;

use etwkit_etl::Guid;

/// Encoding of one element of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// No bytes.
    Null,
    /// UTF-16, up to a NUL. With a length: exactly that many characters.
    UnicodeString,
    /// 8-bit string, up to a NUL. With a length: exactly that many bytes.
    AnsiString,
    /// Signed, 1 byte.
    Int8,
    /// Unsigned, 1 byte.
    UInt8,
    /// Signed, 2 bytes.
    Int16,
    /// Unsigned, 2 bytes.
    UInt16,
    /// Signed, 4 bytes.
    Int32,
    /// Unsigned, 4 bytes.
    UInt32,
    /// Signed, 8 bytes.
    Int64,
    /// Unsigned, 8 bytes.
    UInt64,
    /// IEEE, 4 bytes.
    Float,
    /// IEEE, 8 bytes.
    Double,
    /// 4 bytes, 0 is false.
    Bool32,
    /// Raw bytes; their number is the field's length.
    Binary,
    /// 16 bytes.
    Guid,
    /// 4 or 8 bytes, by the header of the event.
    Pointer,
    /// FILETIME, 8 bytes.
    FileTime,
    /// SYSTEMTIME, 16 bytes.
    SystemTime,
    /// SID: 8 bytes and 4 for each sub-authority.
    Sid,
    /// Unsigned, 4 bytes, shown in hexadecimal.
    HexInt32,
    /// Unsigned, 8 bytes, shown in hexadecimal.
    HexInt64,
    /// u16 number of bytes, then UTF-16.
    CountedUnicode,
    /// u16 number of bytes, then 8-bit text.
    CountedAnsi,
    /// u16 number of bytes, then raw bytes.
    CountedBinary,
    /// Big-endian u16 number of bytes, then UTF-16.
    ReversedCountedUnicode,
    /// Big-endian u16 number of bytes, then 8-bit text.
    ReversedCountedAnsi,
    /// UTF-16 to the end of the payload.
    RestUnicode,
    /// 8-bit text to the end of the payload.
    RestAnsi,
    /// One UTF-16 unit.
    UnicodeChar,
    /// One 8-bit character.
    AnsiChar,
    /// u32 number of bytes, then raw bytes.
    HexDump,
    /// `TOKEN_USER` and SID: a zero u32 alone, or two pointers and a SID.
    TokenSid,
    /// Raw ticks of the session clock, 8 bytes.
    Ticks,
    /// IPv4 address, 4 bytes in network order.
    Ipv4,
    /// IPv6 address, 16 bytes in network order.
    Ipv6,
    /// TCP or UDP port, 2 bytes in network order.
    Port,
    /// Fields of its own.
    Struct,
}

impl Type {
    /// Bytes of an element whose size depends on nothing but the pointer size.
    #[must_use]
    pub const fn fixed_size(self, pointer_size: usize) -> Option<usize> {
        Some(match self {
            Self::Null => 0,
            Self::Int8 | Self::UInt8 | Self::AnsiChar => 1,
            Self::Int16 | Self::UInt16 | Self::UnicodeChar | Self::Port => 2,
            Self::Int32
            | Self::UInt32
            | Self::Float
            | Self::Bool32
            | Self::HexInt32
            | Self::Ipv4 => 4,
            Self::Int64
            | Self::UInt64
            | Self::Double
            | Self::FileTime
            | Self::HexInt64
            | Self::Ticks => 8,
            Self::Guid | Self::SystemTime | Self::Ipv6 => 16,
            Self::Pointer => pointer_size,
            _ => return None,
        })
    }

    /// Name in the machine output of `etwkit info`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::UnicodeString | Self::RestUnicode => "unicode_string",
            Self::AnsiString | Self::RestAnsi => "ansi_string",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 | Self::UnicodeChar | Self::Port => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 | Self::Ipv4 => "uint32",
            Self::Int64 | Self::Ticks => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bool32 => "bool32",
            Self::Binary | Self::Ipv6 | Self::HexDump => "binary",
            Self::Guid => "guid",
            Self::Pointer => "pointer",
            Self::FileTime => "filetime",
            Self::SystemTime => "systemtime",
            Self::Sid | Self::TokenSid => "sid",
            Self::HexInt32 => "hexint32",
            Self::HexInt64 => "hexint64",
            Self::CountedUnicode | Self::ReversedCountedUnicode => "counted_unicode",
            Self::CountedAnsi | Self::ReversedCountedAnsi => "counted_ansi",
            Self::CountedBinary => "counted_binary",
            Self::AnsiChar => "uint8",
            Self::Struct => "struct",
        }
    }
}

/// The rendering of an element, if it differs from its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Out {
    /// According to its type.
    #[default]
    Natural,
    /// An 8- or 16-bit integer used as a boolean (TraceLogging).
    Boolean,
    /// An 8- or 16-bit integer that is a character (TraceLogging); an array of them is a text.
    String,
}

/// Length of a string or binary element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Length {
    /// According to its type.
    #[default]
    Natural,
    /// A fixed number of characters or bytes.
    Fixed(u32),
    /// The value of that slot.
    Slot(u16),
    /// The rest of the payload.
    Rest,
}

/// Number of elements of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Count {
    /// A single value and not an array.
    #[default]
    One,
    /// A fixed number.
    Fixed(u32),
    /// The value of that slot.
    Slot(u16),
    /// The u16 before the elements (TraceLogging).
    Prefixed,
    /// As many as the payload holds.
    Rest,
}

/// A value with a name of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValueMap {
    /// True if the entries are bits that combine.
    pub bitmap: bool,
    /// Value and name, as the provider orders them.
    pub entries: Vec<(u64, Box<str>)>,
}

impl ValueMap {
    /// The name of a value. For bits, the names of all that are set, with the rest in hexadecimal.
    #[must_use]
    pub fn name(&self, value: u64) -> Option<String> {
        // A whole match comes first also for bits: providers name combinations and zero (`None`),
        // which would otherwise be split or have no name.
        if let Some((_, name)) = self.entries.iter().find(|(v, _)| *v == value) {
            return Some(name.to_string());
        }
        if !self.bitmap {
            return None;
        }
        // An entry of 0 is contained in every value, so it would be named each time.
        // Bits are named in the order of the map.
        let set = self
            .entries
            .iter()
            .filter(|(bit, _)| *bit != 0 && value & bit == *bit);
        let (left, mut names) = set.fold((value, Vec::new()), |(left, mut names), (bit, name)| {
            names.push(name.to_string());
            (left & !bit, names)
        });
        if left != 0 {
            names.push(format!("{left:#x}"));
        }
        // A value without any named bit stays a number.
        (!names.is_empty()).then(|| names.join("|"))
    }
}

/// A field of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name as the provider spells it.
    pub name: Box<str>,
    /// Encoding of an element.
    pub ty: Type,
    /// The rendering.
    pub out: Out,
    /// Length of a string or binary element.
    pub length: Length,
    /// Number of elements.
    pub count: Count,
    /// Slot in which its value is kept because a later length or count refers to it.
    pub slot: Option<u16>,
    /// Names of its values.
    pub map: Option<Arc<ValueMap>>,
    /// Fields of a struct.
    pub members: Vec<Field>,
}

impl Field {
    /// A single element of natural length.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            out: Out::Natural,
            length: Length::Natural,
            count: Count::One,
            slot: None,
            map: None,
            members: Vec::new(),
        }
    }

    /// Type in the machine output of `etwkit info`: `uint32`, `uint8:boolean`, `uint16[]:string`,
    /// `guid[4]`.
    #[must_use]
    pub fn type_name(&self) -> String {
        let mut text = self.ty.name().to_owned();
        match self.count {
            Count::One => {}
            Count::Fixed(n) => text.push_str(&format!("[{n}]")),
            Count::Slot(_) | Count::Prefixed | Count::Rest => text.push_str("[]"),
        }
        // It applies to the array as a whole, so it follows the brackets.
        match self.out {
            Out::Natural => {}
            Out::Boolean => text.push_str(":boolean"),
            Out::String => text.push_str(":string"),
        }
        text
    }
}

/// The source of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// Metadata on the event itself.
    TraceLogging,
    /// Manifest that the provider wrote into the trace.
    EventSource,
    /// `TRACE_EVENT_INFO` that the merge step wrote into the trace.
    EventInfo,
    /// Manifest file that the user named.
    Manifest,
    /// Trace message format file that the user named.
    Tmf,
    /// Table of kernel events built into this crate.
    Kernel,
    /// Table of a well-known provider, built into this crate.
    Template,
}

impl Source {
    /// Name in the machine output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TraceLogging => "tracelogging",
            Self::EventSource => "eventsource",
            Self::EventInfo => "eventinfo",
            Self::Manifest => "manifest",
            Self::Tmf => "tmf",
            Self::Kernel => "kernel",
            Self::Template => "template",
        }
    }
}

/// The fields of one kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Provider or event class.
    pub provider: Guid,
    /// Name of the provider or class, if it is known.
    pub provider_name: Option<Arc<str>>,
    /// Name of the event: `Task/Opcode`, or as the provider names it.
    pub name: Box<str>,
    /// The source of the schema.
    pub source: Source,
    /// Fields in the order of the payload.
    pub fields: Vec<Field>,
    /// Number of slots that fields refer to.
    pub slots: u16,
}

/// The name of an event that has none in its description.
#[must_use]
pub fn numbered(id: u16) -> String {
    format!("EventID({id})")
}

/// Maximum nesting of structs; deeper nesting in a file is damage.
pub const MAX_DEPTH: usize = 16;
