//! What requests and answers look like, as JSON schemas.

use serde_json::{Map, Value, json};

use super::{AnyQuestion, Kind, Opt};
use crate::dump::rows::Field;
use crate::range::Unit;

/// The schema of requests to a question.
#[must_use]
pub fn request_schema(question: &dyn AnyQuestion) -> Value {
    let options = question.options();
    let properties: Map<String, Value> =
        options.iter().map(|option| (option.name.to_owned(), property(option))).collect();
    let required: Vec<&str> =
        options.iter().filter(|option| option.is_required).map(|option| option.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": question.name(),
        "description": question.sentence(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(option: &Opt) -> Value {
    let mut schema = match &option.kind {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Text => json!({"type": "string"}),
        Kind::Words(words) => json!({"type": "string", "enum": words}),
        Kind::Several(words) => json!({"type": "string", "words": words, "separator": ","}),
        Kind::Range(unit) => json!({"type": "string", "pattern": "[0-9]", "unit": unit_name(*unit)}),
        Kind::Whole(least, i64::MAX) => json!({"type": "integer", "minimum": least}),
        Kind::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Number => json!({"type": "number"}),
        Kind::Files => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Two => json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), option.sentence.into());
        schema.extend(option.default.as_ref().map(|default| ("default".to_owned(), value(option, default))));
    }
    schema
}

/// A default, which is kept as text, as JSON has it.
fn value(option: &Opt, text: &str) -> Value {
    match option.kind {
        Kind::Whole(..) | Kind::Number => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

/// The unit of numbers of a range that have none.
const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds | Unit::Moment => "s",
        Unit::Milliseconds => "ms",
        Unit::Microseconds => "us",
        Unit::Bytes => "B",
        Unit::Mebibytes => "MiB",
        Unit::Count => "",
    }
}

/// The schema of a row of an answer. Each row of JSON lines names its trace, too.
#[must_use]
pub fn row_schema(fields: &[Field]) -> Value {
    let column = |field: &Field| {
        let kind = if field.is_optional { json!([field.kind, "null"]) } else { json!(field.kind) };
        (field.name.to_owned(), json!({"type": kind, "description": field.sentence}))
    };
    let trace = ("trace".to_owned(), json!({"type": "string", "description": "File name of the trace."}));
    let properties: Map<String, Value> = std::iter::once(trace).chain(fields.iter().map(column)).collect();
    json!({"type": "object", "properties": properties})
}
