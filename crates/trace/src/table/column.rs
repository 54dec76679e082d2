//! Columns: the types of values in a row, and their conversion to an Arrow array.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array};
use arrow_schema::{DataType, TimeUnit};

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// Double.
    Float64,
    /// True or false.
    Boolean,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
    /// Microseconds since 1970, UTC: the finest unit that all readers of Parquet support.
    Timestamp,
}

/// Time zone of timestamps.
const UTC: &str = "UTC";

impl ColumnKind {
    /// The Arrow type.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Text => DataType::Utf8,
            Self::Binary => DataType::Binary,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        }
    }
}

/// The declaration of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name; times end in `_ns` and sizes in `_bytes`.
    pub name: &'static str,
    /// Type.
    pub kind: ColumnKind,
    /// True if a value may be missing.
    pub nullable: bool,
    /// `ns`, `bytes`, `key` (of another table), or empty.
    pub unit: &'static str,
    /// The meaning of a value.
    pub doc: &'static str,
}

/// A type that a field of a row can have.
pub trait Value {
    /// Type of its column.
    const KIND: ColumnKind;
    /// True if it may be missing.
    const NULLABLE: bool = false;
    /// Collects values.
    type Builder: Default;
    /// Adds a value.
    fn append(&self, builder: &mut Self::Builder);
    /// Bytes of a text or of binary data; numbers, whose size never varies, have none.
    #[inline]
    fn text_bytes(&self) -> usize {
        0
    }
    /// Takes all values out.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
}

/// Numbers that cannot be missing use a plain vector: they need no null bitmap.
macro_rules! number {
    ($type:ty, $kind:ident, $array:ty, $builder:ty) => {
        impl Value for $type {
            const KIND: ColumnKind = ColumnKind::$kind;
            type Builder = Vec<$type>;
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.push(*self);
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(<$array>::from(std::mem::take(builder)))
            }
        }
        impl Value for Option<$type> {
            const KIND: ColumnKind = ColumnKind::$kind;
            const NULLABLE: bool = true;
            type Builder = $builder;
            #[inline]
            fn append(&self, builder: &mut Self::Builder) {
                builder.append_option(*self);
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    };
}

number!(i32, Int32, Int32Array, Int32Builder);
number!(i64, Int64, Int64Array, Int64Builder);
number!(f64, Float64, Float64Array, Float64Builder);

macro_rules! by_builder {
    ($($type:ty, $kind:ident, $nullable:literal, $builder:ty,
       |$self:ident, $b:ident| $append:expr $(, $bytes:expr)?;)*) => {$(
        impl Value for $type {
            const KIND: ColumnKind = ColumnKind::$kind;
            const NULLABLE: bool = $nullable;
            type Builder = $builder;
            #[inline]
            fn append(&self, $b: &mut Self::Builder) {
                let $self = self;
                $append;
            }
            $(
                #[inline]
                fn text_bytes(&self) -> usize {
                    let $self = self;
                    $bytes
                }
            )?
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    )*};
}

by_builder! {
    bool, Boolean, false, BooleanBuilder, |v, b| b.append_value(*v);
    Option<bool>, Boolean, true, BooleanBuilder, |v, b| b.append_option(*v);
    &'static str, Text, false, StringBuilder, |v, b| b.append_value(v), v.len();
    Option<&'static str>, Text, true, StringBuilder, |v, b| b.append_option(*v), v.map_or(0, str::len);
    String, Text, false, StringBuilder, |v, b| b.append_value(v), v.len();
    Option<String>, Text, true, StringBuilder, |v, b| b.append_option(v.as_deref()),
        v.as_deref().map_or(0, str::len);
    Arc<str>, Text, false, StringBuilder, |v, b| b.append_value(v), v.len();
    Option<Arc<str>>, Text, true, StringBuilder, |v, b| b.append_option(v.as_deref()),
        v.as_deref().map_or(0, str::len);
    Option<Vec<u8>>, Binary, true, BinaryBuilder, |v, b| b.append_option(v.as_deref()),
        v.as_deref().map_or(0, <[u8]>::len);
}

/// A point in time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcTime(pub i64);

/// Units of 100 ns from 1601 to 1970.
const FILETIME_OF_1970: i64 = 116_444_736_000_000_000;

impl UtcTime {
    /// Converts units of 100 ns since 1601; fractions of a microsecond are dropped.
    #[must_use]
    pub const fn of_filetime(filetime: i64) -> Self {
        Self(filetime.saturating_sub(FILETIME_OF_1970).div_euclid(10))
    }
}

/// Collects points in time.
#[derive(Debug)]
pub struct UtcBuilder(TimestampMicrosecondBuilder);

impl Default for UtcBuilder {
    fn default() -> Self {
        Self(TimestampMicrosecondBuilder::new().with_timezone(UTC))
    }
}

impl Value for Option<UtcTime> {
    const KIND: ColumnKind = ColumnKind::Timestamp;
    const NULLABLE: bool = true;
    type Builder = UtcBuilder;
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_option(self.map(|time| time.0));
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.0.finish())
    }
}
