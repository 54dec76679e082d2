//! Rows as typed values by the names of their columns, as CSV, Parquet and Arrow have them.

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde_json::{Error, Map, Value as Json};

use super::table::SORT_VALUE;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedValue {
    /// No value.
    Missing,
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
    /// A truth value.
    Truth(bool),
    /// Text.
    Text(String),
}

impl TypedValue {
    /// Returns the whole number, if it is one.
    #[must_use]
    pub const fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number, whole or not.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the truth value, if it is one.
    #[must_use]
    pub const fn truth(&self) -> Option<bool> {
        match self {
            Self::Truth(is_true) => Some(*is_true),
            _ => None,
        }
    }

    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Formats the value: numbers as in JSON, a missing value as nothing.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Text(text) => text.clone(),
            other => Json::from(other.clone()).to_string(),
        }
    }
}

impl From<i64> for TypedValue {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<String> for TypedValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<V: Into<Self>> From<Option<V>> for TypedValue {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl From<TypedValue> for Json {
    fn from(value: TypedValue) -> Self {
        match value {
            TypedValue::Missing => Self::Null,
            TypedValue::Whole(number) => number.into(),
            TypedValue::Number(number) => number.into(),
            TypedValue::Truth(is_true) => is_true.into(),
            TypedValue::Text(text) => text.into(),
        }
    }
}

/// A row: its values by the names of their columns, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypedRow(Vec<(String, TypedValue)>);

impl TypedRow {
    /// Converts a row: all its fields by name, without its sort key. The fields of columns that
    /// several kinds of rows share take the place of these columns.
    ///
    /// # Errors
    /// A field has several values.
    pub fn of(row: &impl Serialize) -> Result<Self, Error> {
        match row.serialize(CellWriter)? {
            Written::Columns(mut row) => {
                row.take(SORT_VALUE);
                Ok(row)
            }
            Written::Value(_) => Err(Error::custom("a row has columns")),
        }
    }

    /// Returns the value of a column, if it has that column.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TypedValue> {
        let mut columns = self.0.iter();
        columns.find_map(|(column, value)| (column == name).then_some(value))
    }

    /// Sets the value of a column, after all others if it is a new one.
    pub fn insert(&mut self, name: String, value: TypedValue) {
        match self.0.iter_mut().find(|(column, _)| *column == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// Removes a column, and returns its value.
    pub fn take(&mut self, name: &str) -> Option<TypedValue> {
        let at = self.0.iter().position(|(column, _)| column == name)?;
        Some(self.0.remove(at).1)
    }

    /// Returns its columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &TypedValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Extend<(String, TypedValue)> for TypedRow {
    fn extend<I: IntoIterator<Item = (String, TypedValue)>>(&mut self, columns: I) {
        for (name, value) in columns {
            self.insert(name, value);
        }
    }
}

impl IntoIterator for TypedRow {
    type Item = (String, TypedValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<TypedRow> for Json {
    fn from(row: TypedRow) -> Self {
        let columns = row.into_iter().map(|(name, value)| (name, value.into()));
        Self::Object(columns.collect::<Map<_, _>>())
    }
}

/// What a value becomes.
enum Written {
    Value(TypedValue),
    /// The value is a row, or columns that several kinds of rows share.
    Columns(TypedRow),
}

/// Writes one value.
struct CellWriter;

/// Writes the columns of a row.
#[derive(Default)]
struct ColumnWriter {
    row: TypedRow,
    /// The name of the next value.
    name: String,
}

impl ColumnWriter {
    fn add(&mut self, name: String, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        match value.serialize(CellWriter)? {
            Written::Value(value) => self.row.insert(name, value),
            Written::Columns(shared) => self.row.extend(shared),
        }
        Ok(())
    }
}

impl SerializeStruct for ColumnWriter {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.add(name.to_owned(), value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(Written::Columns(self.row))
    }
}

/// Structures with flattened fields are maps.
impl SerializeMap for ColumnWriter {
    type Ok = Written;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        match key.serialize(CellWriter)? {
            Written::Value(TypedValue::Text(name)) => self.name = name,
            _ => return Err(Error::custom("the name of a column is a text")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let name = std::mem::take(&mut self.name);
        self.add(name, value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(Written::Columns(self.row))
    }
}

/// The error of a field that no column can hold.
fn several_values() -> Error {
    Error::custom("a column has one value in each row")
}

/// Declares the methods for narrow numbers.
macro_rules! narrow {
    ($($method:ident: $type:ty),+) => {$(
        fn $method(self, number: $type) -> Result<Written, Error> {
            self.serialize_i64(number.into())
        }
    )+};
}

impl Serializer for CellWriter {
    type Ok = Written;
    type Error = Error;
    type SerializeSeq = Impossible<Written, Error>;
    type SerializeTuple = Impossible<Written, Error>;
    type SerializeTupleStruct = Impossible<Written, Error>;
    type SerializeTupleVariant = Impossible<Written, Error>;
    type SerializeMap = ColumnWriter;
    type SerializeStruct = ColumnWriter;
    type SerializeStructVariant = Impossible<Written, Error>;

    narrow! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32
    }

    fn serialize_i64(self, number: i64) -> Result<Written, Error> {
        Ok(Written::Value(TypedValue::Whole(number)))
    }

    fn serialize_u64(self, number: u64) -> Result<Written, Error> {
        self.serialize_i64(i64::try_from(number).map_err(Error::custom)?)
    }

    fn serialize_bool(self, is_true: bool) -> Result<Written, Error> {
        Ok(Written::Value(TypedValue::Truth(is_true)))
    }

    fn serialize_f32(self, number: f32) -> Result<Written, Error> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<Written, Error> {
        // JSON has no other numbers, and rows are the same in all formats.
        let value = if number.is_finite() {
            TypedValue::Number(number)
        } else {
            TypedValue::Missing
        };
        Ok(Written::Value(value))
    }

    fn serialize_char(self, character: char) -> Result<Written, Error> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<Written, Error> {
        Ok(Written::Value(TypedValue::Text(text.to_owned())))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Written, Error> {
        Err(several_values())
    }

    fn serialize_none(self) -> Result<Written, Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Written, Error> {
        Ok(Written::Value(TypedValue::Missing))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Written, Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Written, Error> {
        Err(several_values())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Err(several_values())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Err(several_values())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        Err(several_values())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(several_values())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ColumnWriter, Error> {
        Ok(ColumnWriter::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<ColumnWriter, Error> {
        Ok(ColumnWriter::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(several_values())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record;

    #[derive(Serialize)]
    struct Shared {
        count: i64,
        share: f64,
    }

    #[derive(Serialize)]
    struct Inner {
        name: Option<String>,
        pid: Option<i64>,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Level {
        InSum,
    }

    #[derive(Serialize)]
    struct Row {
        #[serde(flatten)]
        inner: Inner,
        #[serde(skip)]
        _lines: Vec<String>,
        level: Level,
        is_new: bool,
        shared: Shared,
        mean: f64,
        sort_value: f64,
    }

    fn row(mean: f64) -> Row {
        Row {
            inner: Inner {
                name: Some("a".to_owned()),
                pid: None,
            },
            _lines: Vec::new(),
            level: Level::InSum,
            is_new: true,
            shared: Shared {
                count: -7,
                share: 1e-5,
            },
            mean,
            sort_value: 1.0,
        }
    }

    #[test]
    fn a_typed_row_is_the_row_of_json() {
        for mean in [2.0, 0.1, 1e16, -1e300, f64::NAN] {
            let typed = TypedRow::of(&row(mean)).unwrap();
            let json = record(&row(mean)).unwrap();
            let texts: Vec<String> = json
                .values()
                .map(|value| match value {
                    Json::Null => String::new(),
                    Json::String(text) => text.clone(),
                    other => other.to_string(),
                })
                .collect();
            let written: Vec<String> = typed.columns().map(|(_, value)| value.written()).collect();
            assert_eq!(written, texts, "{mean}");
            let names: Vec<&str> = typed.columns().map(|(name, _)| name).collect();
            assert_eq!(names, json.keys().collect::<Vec<_>>());
            assert_eq!(Json::from(typed), Json::Object(json), "{mean}");
        }
    }

    #[test]
    fn a_column_is_set_where_it_is() {
        let mut row = TypedRow::of(&json!({"a": 1, "b": null, "c": "x"})).unwrap();
        row.insert("b".to_owned(), 2.into());
        row.insert("d".to_owned(), 3.into());
        assert_eq!(row.take("a"), Some(TypedValue::Whole(1)));
        assert_eq!(row.take("a"), None);
        assert_eq!(Json::from(row), json!({"b": 2, "c": "x", "d": 3}));
    }

    #[test]
    fn a_field_with_several_values_is_an_error() {
        assert!(TypedRow::of(&json!({"a": [1, 2]})).is_err());
        assert!(TypedRow::of(&json!({"a": u64::MAX})).is_err());
        assert!(TypedRow::of(&1).is_err());
    }
}
