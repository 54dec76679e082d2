//! Files whose rows differ from the rows of our questions: several of ours become one, or fields
//! become columns.

use std::collections::HashSet;

use etwkit_question::trace::TraceInfo;
use etwkit_question::{TypedRow, TypedValue};
use serde_json::Value;

use super::Answer;

type Rows<'r, 'i> = Box<dyn Iterator<Item = anyhow::Result<Answer<'r>>> + 'i>;

/// Returns the rows of a sub command in the shape of ETWAnalyzer, and the number of columns for the
/// fields of events.
pub(crate) fn shaped<'r: 'i, 'i>(
    dump: &str,
    rows: impl Iterator<Item = anyhow::Result<Answer<'r>>> + 'i,
) -> anyhow::Result<(Rows<'r, 'i>, usize)> {
    let not_released = |row: &anyhow::Result<Answer<'r>>| match row {
        Ok((_, values, _)) => {
            values.get("outstanding_bytes").and_then(TypedValue::whole) != Some(0)
        }
        Err(_) => true,
    };
    Ok(match dump {
        // Files of ETWAnalyzer have no allocations that were released, but sums of all processes.
        "virtual-alloc" => (
            Box::new(rows.filter(move |row| {
                let is_sum = row
                    .as_ref()
                    .is_ok_and(|(_, values, _)| values.get("kind").is_none());
                is_sum || not_released(row)
            })),
            0,
        ),
        // Rows of one snapshot are adjacent, and so are rows of one trace.
        "power" => (
            turned(rows, ("setting_guid", "value"), Some("snapshot"))?,
            0,
        ),
        "stats" => (turned(rows, ("name", "value"), None)?, 0),
        "tracelog" => {
            // The titles have a column for each field of the event with the most of them, so all
            // have to be known before the first line is written.
            let all: Vec<Answer<'r>> = rows.collect::<anyhow::Result<_>>()?;
            let most = all
                .iter()
                .map(|(_, values, _)| fields(values).len())
                .fold(0, usize::max);
            (Box::new(all.into_iter().map(Ok)), most)
        }
        _ => (Box::new(rows), 0),
    })
}

/// Merges adjacent rows into one, with a column for each of them: its name and its value are in
/// these columns.
fn turned<'r: 'i, 'i>(
    rows: impl Iterator<Item = anyhow::Result<Answer<'r>>>,
    (name, value): (&str, &str),
    group: Option<&str>,
) -> anyhow::Result<Rows<'r, 'i>> {
    let mut all: Vec<Answer<'r>> = Vec::new();
    let mut before = None;
    for row in rows {
        let (trace, mut values, times) = row?;
        // Two traces can have the same name: only the address distinguishes them.
        let key = (
            std::ptr::from_ref(trace),
            group.and_then(|group| values.get(group)).cloned(),
        );
        if before.as_ref() != Some(&key) {
            all.push((trace, TypedRow::default(), times));
            before = Some(key);
        }
        let Some((_, one, _)) = all.last_mut() else {
            continue;
        };
        if let (Some(TypedValue::Text(name)), Some(value)) = (values.take(name), values.take(value))
        {
            // Several values of one name, such as networks, are lines of one cell.
            let value = match (one.get(&name).and_then(TypedValue::text), value.text()) {
                (Some(known), Some(value)) if group.is_none() => {
                    TypedValue::Text(format!("{known}\n{value}"))
                }
                _ => value,
            };
            one.insert(name, value);
        }
    }
    Ok(Box::new(all.into_iter().map(Ok)))
}

/// Returns the values of the fields of an event: fields of structures in their place, lists after
/// all others.
pub(crate) fn fields(values: &TypedRow) -> Vec<String> {
    let text = values
        .get("fields")
        .and_then(TypedValue::text)
        .unwrap_or("{}");
    // The column itself is JSON, and fields that are no JSON are no fields.
    let all: Value = serde_json::from_str(text).unwrap_or_default();
    let mut flat = Vec::new();
    flatten(&all, &mut flat);
    let (lists, single): (Vec<&Value>, Vec<&Value>) =
        flat.into_iter().partition(|value| value.is_array());
    let lists = lists.into_iter().filter_map(Value::as_array).map(|list| {
        let items: Vec<String> = list.iter().map(plain).collect();
        format!("[{}]", items.join("; "))
    });
    single.into_iter().map(plain).chain(lists).collect()
}

// The JSON parser limits the depth of structures, and so the recursion.
fn flatten<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|field| flatten(field, into)),
        other => into.push(other),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Stacks and connections that were already written.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<(*const TraceInfo, i64)>);

impl Seen {
    /// Returns `true` if the stack or the connection of a row was not written before.
    pub(crate) fn is_first(&mut self, dump: &str, trace: &TraceInfo, values: &TypedRow) -> bool {
        let name = if dump == "tcp" {
            "connection_id"
        } else {
            "stack_id"
        };
        let id = values.get(name).and_then(TypedValue::whole);
        id.is_none_or(|id| self.0.insert((std::ptr::from_ref(trace), id)))
    }
}

#[cfg(test)]
mod tests {
    use etwkit_sql::time_format::{TimeFormat, TimeWriter};
    use serde_json::json;

    use super::*;

    fn typed(row: &Value) -> TypedRow {
        TypedRow::of(row).unwrap()
    }

    fn shape(dump: &str, rows: &[Value]) -> (Vec<Value>, usize) {
        let trace = TraceInfo::default();
        let times = TimeWriter::new(TimeFormat::Seconds, 3, trace.clock());
        let rows = rows.iter().map(|row| Ok((&trace, typed(row), times)));
        let (rows, fields) = shaped(dump, rows).unwrap();
        (
            rows.map(|row| Value::from(row.unwrap().1)).collect(),
            fields,
        )
    }

    #[test]
    fn settings_of_a_moment_are_one_row() {
        let row = |snapshot: i64, guid: &str, value: &str| json!({"snapshot": snapshot, "setting_guid": guid, "value": value});
        let (rows, _) = shape(
            "power",
            &[row(0, "a", "1"), row(0, "b", "2"), row(1, "a", "3")],
        );
        assert_eq!(rows, [json!({"a": "1", "b": "2"}), json!({"a": "3"})]);
        let (rows, _) = shape("stats", &[json!({"name": "OSName", "value": "x"})]);
        assert_eq!(rows, [json!({"OSName": "x"})]);
        let network = |value: &str| json!({"name": "Network", "value": value});
        assert_eq!(
            shape("stats", &[network("a"), network("b")]).0,
            [json!({"Network": "a\nb"})]
        );
    }

    #[test]
    fn fields_become_columns() {
        let fields_of = |text: &str| json!({"fields": text});
        let (rows, most) = shape(
            "tracelog",
            &[
                fields_of(r#"{"list":[1,"b"],"z":"text","s":{"a":5}}"#),
                fields_of("{}"),
            ],
        );
        assert_eq!((rows.len(), most), (2, 3));
        assert_eq!(fields(&typed(&rows[0])), ["text", "5", "[1; b]"]);
    }

    #[test]
    fn allocations_that_were_given_back_are_left_out() {
        let rows = [
            json!({"kind": "commit", "outstanding_bytes": 0}),
            json!({"kind": "commit", "outstanding_bytes": 1}),
            json!({"commits": 1, "outstanding_bytes": 0}),
        ];
        assert_eq!(shape("virtual-alloc", &rows).0, rows[1..]);
    }

    #[test]
    fn stacks_are_seen_once() {
        let (trace, other) = (TraceInfo::default(), TraceInfo::default());
        let mut seen = Seen::default();
        let row = |id: Value| typed(&json!({"stack_id": id, "connection_id": 1}));
        let mut first =
            |dump: &str, trace: &TraceInfo, id: Value| seen.is_first(dump, trace, &row(id));
        assert!(first("exception", &trace, json!(5)));
        assert!(!first("exception", &trace, json!(5)));
        assert!(first("exception", &other, json!(5)));
        assert!(first("exception", &trace, Value::Null));
        assert!(first("tcp", &trace, json!(5)) && !first("tcp", &trace, json!(6)));
    }
}
