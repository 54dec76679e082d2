//! JSON schemas of requests and answers.

use std::sync::Arc;

use etwkit_sql::arrow::array::{ArrayRef, Int64Array, RecordBatch, new_null_array};
use etwkit_sql::arrow::datatypes::DataType;
use serde_json::{Map, Value, json};

use super::value::Value as Cell;
use super::{AnyQuestion, Better, Column, Opt, OptionKind, Total, View};
use crate::FromRows;
use crate::range::Unit;
use crate::rows::Field;

/// Returns the schema of requests to a question.
#[must_use]
pub fn request_schema(question: &dyn AnyQuestion) -> Value {
    let options = question.options();
    let properties: Map<String, Value> = options
        .iter()
        .map(|option| (option.name.to_owned(), property(option)))
        .collect();
    let required: Vec<&str> = options
        .iter()
        .filter(|option| option.is_required)
        .map(|option| option.name)
        .collect();
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
        OptionKind::Flag => json!({"type": "boolean"}),
        OptionKind::Text => json!({"type": "string"}),
        OptionKind::Words(words) => json!({"type": "string", "enum": words}),
        OptionKind::Several(words) => json!({"type": "string", "words": words, "separator": ","}),
        OptionKind::Range(unit) => {
            json!({"type": "string", "pattern": "[0-9]", "unit": unit_name(*unit)})
        }
        OptionKind::Whole(least, i64::MAX) => json!({"type": "integer", "minimum": least}),
        OptionKind::Whole(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        OptionKind::Number => json!({"type": "number"}),
        OptionKind::Files | OptionKind::List => {
            json!({"type": "array", "items": {"type": "string"}})
        }
        OptionKind::Two => {
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2})
        }
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), option.sentence.into());
        schema.extend(
            option
                .default
                .as_ref()
                .map(|default| ("default".to_owned(), value(option, default))),
        );
    }
    schema
}

/// Converts a default, which is kept as text, to JSON.
fn value(option: &Opt, text: &str) -> Value {
    match option.kind {
        OptionKind::Whole(..) | OptionKind::Number => {
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        }
        _ => text.into(),
    }
}

/// Returns the default unit of numbers of a range.
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

/// Returns the schema word for an aggregation; empty if values do not add up.
const fn total_word(total: Total) -> &'static str {
    match total {
        Total::None => "",
        Total::Sum => "sum",
        Total::Max => "max",
    }
}

/// Returns the schema word for the good direction; empty if there is none.
const fn better_word(better: Better) -> &'static str {
    match better {
        Better::Neither => "",
        Better::Less => "less",
        Better::More => "more",
    }
}

/// The number of the first field in the row that [`View::describe`] looks at.
// Large, so that the value of a column (the sum of two fields, a field in another unit) is not
// mistaken for the number of a field.
const FIRST: i64 = 1_000_000;

/// Creates a row in which each number is different, counted from [`FIRST`] in the order of the
/// fields, and all other values are missing.
fn numbered<F: FromRows>(fields: &[Field]) -> Option<F> {
    let columns = (FIRST..).zip(fields).map(|(number, field)| {
        let column: ArrayRef = match field.kind {
            "integer" | "number" => Arc::new(Int64Array::from(vec![number])),
            _ => new_null_array(&DataType::Utf8, 1),
        };
        (field.name, column, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).ok()?;
    F::read(&batch).ok()?.into_iter().next()
}

impl<Q, R> View<Q, R> {
    /// Sets the aggregation and the good direction of fields of JSON and CSV, from the columns that
    /// show them. The field of a column is found with a row that has a different number in each
    /// field, so that declarations need not name it; columns that compute a value set nothing.
    pub fn describe<F: FromRows>(&self, request: &Q, shown: fn(F) -> R, fields: &mut [Field]) {
        let own = F::fields();
        let Some(row) = numbered(&own).map(shown) else {
            return;
        };
        let says = |column: &&Column<Q, R>| {
            (column.total, column.better) != (Total::None, Better::Neither)
        };
        for column in self.columns.iter().filter(says) {
            let number = match (column.value)(request, &row) {
                Cell::Number(number) => number,
                Cell::Float(number) => number as i64,
                _ => continue,
            };
            let at = usize::try_from(number.saturating_sub(FIRST)).ok();
            let Some(name) = at.and_then(|at| own.get(at)).map(|field| field.name) else {
                continue;
            };
            for field in fields.iter_mut().filter(|field| field.name == name) {
                field.total = if field.total == Total::None {
                    column.total
                } else {
                    field.total
                };
                field.better = if field.better == Better::Neither {
                    column.better
                } else {
                    field.better
                };
            }
        }
    }
}

/// Returns the schema of a row of an answer. Each row of JSON lines also names its trace. A number
/// has its aggregation over rows (`total`) and its good direction (`better`), if a column for
/// people has them.
#[must_use]
pub fn row_schema(fields: &[Field]) -> Value {
    let column = |field: &Field| {
        let kind = if field.is_optional {
            json!([field.kind, "null"])
        } else {
            json!(field.kind)
        };
        let always = [("type", kind), ("description", field.sentence.into())];
        let said = [
            ("total", total_word(field.total)),
            ("better", better_word(field.better)),
        ];
        let said = said.into_iter().filter(|(_, word)| !word.is_empty());
        let said = said.map(|(key, word)| (key, Value::from(word)));
        let schema: Map<String, Value> = always
            .into_iter()
            .chain(said)
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        (field.name.to_owned(), Value::from(schema))
    };
    let trace = (
        "trace".to_owned(),
        json!({"type": "string", "description": "File name of the trace."}),
    );
    let properties: Map<String, Value> = std::iter::once(trace)
        .chain(fields.iter().map(column))
        .collect();
    json!({"type": "object", "properties": properties})
}
