//! Fields of events as text.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::DataType;
use serde_json::{Map, Value};

use super::{Function, arguments};

pub(super) static FUNCTIONS: &[Function] = &[Function {
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
}];

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
    use super::text;

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
}
