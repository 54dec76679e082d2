//! Fields of events as text.

use std::fmt::{Formatter, Write};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{Function, arguments};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        call: "fields_text(fields)",
        doc: "The fields of an event (column `fields` of `generic_event`) as `name=value` with blanks between: members of structures as \
          `name.member=value`, lists as `name=[1; 2]`, without fields that are empty.",
        example: "SELECT fields_text('{\"id\":7,\"at\":{\"x\":1,\"y\":2},\"list\":[\"a\",\"b\"],\"none\":\"\"}')",
        answer: "id=7 at.x=1 at.y=2 list=[a; b]",
        arguments: &[DataType::Utf8],
        returns: DataType::Utf8,
        compute: |columns| {
            let [fields] = arguments(columns)?;
            let texts = fields
                .as_string::<i32>()
                .iter()
                .map(|fields| fields.map(text));
            Ok(Arc::new(texts.collect::<StringArray>()) as ArrayRef)
        },
    },
    Function {
        call: "field_text(fields, number)",
        doc: "The field of an event with this number, counted from 1 in the order of its payload, as `fields_text` writes values: of a structure \
          its members. Null if it has fewer fields.",
        example: "SELECT field_text('{\"id\":7,\"at\":{\"x\":1,\"y\":2}}', 2)",
        answer: "x=1 y=2",
        arguments: &[DataType::Utf8, DataType::Int64],
        returns: DataType::Utf8,
        compute: |columns| {
            let [fields, numbers] = arguments(columns)?;
            let numbers = numbers.as_primitive::<Int64Type>().iter();
            let texts = fields
                .as_string::<i32>()
                .iter()
                .zip(numbers)
                .map(|(fields, number)| nth(fields?, number?));
            Ok(Arc::new(texts.collect::<StringArray>()) as ArrayRef)
        },
    },
];

/// Formats the field with this number, from 1, of a JSON object.
fn nth(fields: &str, number: i64) -> Option<String> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    let mut reader = serde_json::Deserializer::from_str(fields);
    let value = reader.deserialize_map(Nth(place)).ok()??;
    let mut text = String::new();
    if !value.is_null() {
        push_value(&mut text, &value);
    }
    Some(text)
}

/// Takes the value at a place of an object. The others are skipped, not kept: a table asks for each
/// field of an event by itself.
struct Nth(usize);

impl<'de> Visitor<'de> for Nth {
    type Value = Option<Value>;

    fn expecting(&self, text: &mut Formatter<'_>) -> std::fmt::Result {
        text.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let mut place = 0;
        // Read to the end: the reader takes an object that is left early for a damaged one.
        while fields.next_key::<IgnoredAny>()?.is_some() {
            if place == self.0 {
                found = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
            place += 1;
        }
        Ok(found)
    }
}

/// Formats a JSON object as text; other input is returned unchanged.
fn text(fields: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(fields) else {
        return fields.to_owned();
    };
    let mut text = String::new();
    push_object(&mut text, "", &fields);
    // Each field ends with a blank, which the last one does not need.
    text.truncate(text.trim_end().len());
    text
}

fn push_object(text: &mut String, prefix: &str, fields: &Map<String, Value>) {
    for (name, value) in fields {
        match value {
            Value::Object(members) => push_object(text, &format!("{prefix}{name}."), members),
            value if is_empty(value) => {}
            value => {
                let _ = write!(text, "{prefix}{name}=");
                push_value(text, value);
                text.push(' ');
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

fn push_value(text: &mut String, value: &Value) {
    match value {
        Value::String(value) => text.push_str(value),
        Value::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at > 0 { "; " } else { "" });
                push_value(text, value);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut inner = String::new();
            push_object(&mut inner, "", members);
            text.push_str(inner.trim_end());
        }
        value => {
            let _ = write!(text, "{value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{nth, text};

    #[test]
    fn fields_are_written_one_behind_the_other() {
        for (fields, expected) in [
            ("{}", ""),
            (
                r#"{"a":{"b":"Hello","c":"World!"}}"#,
                "a.b=Hello a.c=World!",
            ),
            (
                r#"{"list":[{"Key":"k","Value":1},{"Key":"l","Value":null}],"n":[]}"#,
                "list=[Key=k Value=1; Key=l]",
            ),
            (
                r#"{"big":18446744073709551412,"flag":false,"half":0.5}"#,
                "big=18446744073709551412 flag=false half=0.5",
            ),
            ("no object", "no object"),
        ] {
            assert_eq!(text(fields), expected, "{fields}");
        }
    }

    #[test]
    fn a_field_is_found_by_its_number() {
        let fields = r#"{"z":"Hello","a":{"b":1,"c":[2,3]},"none":null,"list":[4]}"#;
        let of = |number| nth(fields, number);
        assert_eq!(of(1).as_deref(), Some("Hello"));
        assert_eq!(of(2).as_deref(), Some("b=1 c=[2; 3]"));
        assert_eq!(of(3).as_deref(), Some(""));
        assert_eq!(of(4).as_deref(), Some("[4]"));
        for number in [-1, 0, 5, i64::MAX] {
            assert_eq!(of(number), None, "{number}");
        }
        assert_eq!(nth("no object", 1), None);
        assert_eq!(nth("[1]", 1), None);
    }
}
