//! The events with which regions start and end, read from an extract.

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_base::index::{Idx, IndexVec};
use etwkit_question::{Error, ask};
use etwkit_sql::Session;
use etwkit_sql::literal::quoted;
use serde_json::{Map, Value};

use super::definition::{Endpoint, EventPattern, Manifest, Naming, Same, Test};
use crate::Result;

/// Maximum number of events that are held.
// Each holds its fields as text, so that this many already take gigabytes.
const MAX_EVENTS: usize = 10_000_000;

/// Maximum number of events that are conditions of their own: a query is a tree, and each condition
/// makes it deeper.
const MAX_CONDITIONS: usize = 100;

/// Class and type of the marks of the kernel logger, which have a separate table.
const MARKS: (&str, i64) = ("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", 34);

etwkit_question::declare! {
    /// An event as the extract has it.
    row EventRow {
        ts_ns: i64 = "Time.",
        cpu: Option<i64> = "Processor.",
        ..process = "Process.",
        thread_key: Option<i64> = "Thread.",
        tid: Option<i64> = "Its thread id.",
        provider_guid: String = "GUID of the provider.",
        provider: Option<String> = "Its name.",
        event_id: i64 = "Event id.",
        version: i64 = "Version.",
        opcode: i64 = "Opcode.",
        name: Option<String> = "Name.",
        activity_id: Option<String> = "Activity.",
        fields: Option<String> = "Decoded fields.",
    }
}

/// An event that some region needs.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) ts_ns: i64,
    pub(super) process_key: Option<i64>,
    pub(super) pid: Option<i64>,
    pub(super) process: Option<Arc<str>>,
    pub(super) thread_key: Option<i64>,
    pub(super) tid: Option<i64>,
    pub(super) provider: Arc<str>,
    pub(super) name: Option<Arc<str>>,
    pub(super) activity_id: Option<String>,
    /// Fields as JSON.
    pub(super) fields: Option<String>,
    /// Values of fields that regions compare or are named after, by the index of the field in
    /// `Events::wanted`.
    values: Vec<(usize, String)>,
}

/// All events that regions need, in order of time.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) all: IndexVec<Event>,
    /// The events that fit each pattern.
    fits: IndexVec<EventPattern, Vec<Idx<Event>>>,
    /// Fields that regions compare or are named after.
    wanted: Vec<String>,
}

impl Events {
    /// The events that fit a pattern, ascending.
    pub(super) fn of(&self, pattern: Idx<EventPattern>) -> &[Idx<Event>] {
        &self.fits[pattern]
    }

    /// A field of an event.
    pub(super) fn value(&self, event: Option<Idx<Event>>, field: &str) -> Option<&str> {
        let number = self.wanted.iter().position(|wanted| wanted == field)?;
        let values = &self.all[event?].values;
        values
            .iter()
            .find(|(of, _)| *of == number)
            .map(|(_, value)| value.as_str())
    }

    /// Reads the events of all patterns.
    pub(super) fn read(manifest: &Manifest, session: &Session) -> Result<Self> {
        let mut events = Self {
            all: IndexVec::new(),
            fits: IndexVec::filled(Vec::new(), &manifest.events),
            wanted: wanted(manifest),
        };
        // Without the map, each event would be compared with each pattern.
        // Patterns are looked up by provider and id: a file may have thousands of them, and a trace
        // millions of events.
        let mut patterns: HashMap<(&str, Option<i64>), Vec<Idx<EventPattern>>> = HashMap::new();
        for (place, pattern) in manifest.events.enumerate() {
            let key = (pattern.provider.as_str(), pattern.id.map(i64::from));
            patterns.entry(key).or_default().push(place);
        }
        let mut rows: Vec<EventRow> = ask(session, &sql(manifest))?;
        if rows.len() > MAX_EVENTS {
            return Err(Error::TooWide {
                message: format!(
                    "regions start and end with {} events, more than {MAX_EVENTS}",
                    rows.len()
                ),
                how: "ask for fewer of the regions: take the others out of the file",
            });
        }
        // Sorted here and not in SQL: the planner gives up over an ORDER BY of columns that are
        // constants in one table and compared with constants in the other.
        rows.sort_by(|a, b| order(a).cmp(&order(b)));
        let mut texts = Texts::default();
        for row in rows {
            // A pattern without an id fits events of any id, so both are looked up.
            let of_id = |id| patterns.get(&(row.provider_guid.as_str(), id));
            let places = [of_id(Some(row.event_id)), of_id(None)];
            let places: Vec<Idx<EventPattern>> =
                places.into_iter().flatten().flatten().copied().collect();
            if !places.is_empty() {
                events.take(row, &places, manifest, &mut texts);
            }
        }
        Ok(events)
    }

    fn take(
        &mut self,
        row: EventRow,
        places: &[Idx<EventPattern>],
        manifest: &Manifest,
        texts: &mut Texts,
    ) {
        let fields: Map<String, Value> = row
            .fields
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            // A pattern of a payload does not match an event without fields.
            .unwrap_or_default();
        let fitting: Vec<Idx<EventPattern>> = places
            .iter()
            .copied()
            .filter(|place| fits(&manifest.events[*place], &row, &fields))
            .collect();
        // SQL does not look at payloads, so it also returns rows that no pattern matches.
        if fitting.is_empty() {
            return;
        }
        // The place is taken before the push, so that all patterns name the same event.
        let place = self.all.next();
        for pattern in fitting {
            self.fits[pattern].push(place);
        }
        // Only values that some region needs are kept apart, so that comparisons need no JSON.
        let values = self.wanted.iter().enumerate();
        let values = values
            .filter_map(|(number, field)| Some((number, text(value(&fields, field)?)?)))
            .collect();
        self.all.push(Event {
            ts_ns: row.ts_ns,
            process_key: row.process_key,
            pid: row.pid,
            // The same few names come back in millions of events.
            process: row.process.map(|name| texts.one(name)),
            thread_key: row.thread_key,
            tid: row.tid,
            provider: texts.one(row.provider.unwrap_or(row.provider_guid)),
            name: row.name.map(|name| texts.one(name)),
            activity_id: row.activity_id,
            fields: row.fields,
            values,
        });
    }
}

/// Returns the sort key of events: the time, then columns that make the order deterministic;
/// missing values last.
fn order(row: &EventRow) -> impl Ord + '_ {
    // Without this, `None` would sort first, and rows without a processor would come before those of
    // the same time that have one.
    fn last<T: Ord>(value: Option<T>) -> (bool, Option<T>) {
        (value.is_none(), value)
    }
    let event = (row.provider_guid.as_str(), row.event_id, row.opcode);
    (
        row.ts_ns,
        last(row.cpu),
        event,
        last(row.thread_key),
        last(row.fields.as_deref()),
    )
}

/// Keeps one shared copy of each text.
#[derive(Default)]
struct Texts(HashMap<String, Arc<str>>);

impl Texts {
    fn one(&mut self, text: String) -> Arc<str> {
        Arc::clone(
            self.0
                .entry(text)
                .or_insert_with_key(|text| Arc::from(text.as_str())),
        )
    }
}

/// Returns the SQL for all events of a file of regions.
pub(super) fn sql(manifest: &Manifest) -> String {
    let condition = |pattern: &EventPattern| {
        let number =
            |column: &str, number: Option<i32>| number.map(|n| format!("e.{column} = {n}"));
        let parts = [
            Some(format!("e.provider_guid = {}", quoted(&pattern.provider))),
            number("event_id", pattern.id),
            number("version", pattern.version),
            number("opcode", pattern.opcode),
            pattern
                .name
                .as_ref()
                .map(|name| format!("e.name = {}", quoted(name))),
        ];
        format!(
            "({})",
            parts
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" AND ")
        )
    };
    let mut conditions: Vec<String> = manifest.events.iter().map(condition).collect();
    // The order of patterns in a file must not change the SQL.
    conditions.sort();
    // Patterns that differ only in their payload have the same condition.
    conditions.dedup();
    // A file whose regions only consist of others has no patterns; `WHERE` needs some condition.
    let conditions = if conditions.is_empty() {
        "FALSE".to_owned()
    } else if conditions.len() > MAX_CONDITIONS {
        any_of(manifest)
    } else {
        conditions.join("\n   OR ")
    };
    // Marks have a separate table; here they are events again.
    let marks = if manifest
        .events
        .iter()
        .any(|pattern| pattern.provider == MARKS.0)
    {
        format!(
            "\n  UNION ALL
  SELECT ts_ns, cpu, process_key, thread_key, '{}', 'PerfInfo', 0, 2, {}, 'Mark', CAST(NULL AS VARCHAR),
    concat('{{\"Message\":\"', {}, '\"}}')
  FROM mark",
            MARKS.0,
            MARKS.1,
            in_json("text")
        )
    } else {
        String::new()
    };
    format!(
        "SELECT e.*, p.pid, p.name AS process, t.tid
FROM (
  SELECT ts_ns, cpu, process_key, thread_key, provider_guid, provider, event_id, version, opcode, name, activity_id, fields
  FROM generic_event{marks}
) e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key
WHERE {conditions}"
    )
}

/// Returns one condition that all events of a file pass, and others of the same providers too:
/// those are sorted out when the rows are read.
fn any_of(manifest: &Manifest) -> String {
    let list = |mut values: Vec<String>| {
        values.sort();
        values.dedup();
        values.join(", ")
    };
    let events = &manifest.events;
    let providers = list(events.iter().map(|event| quoted(&event.provider)).collect());
    let ids: Option<Vec<String>> = events
        .iter()
        .map(|event| event.id.map(|id| id.to_string()))
        .collect();
    // One pattern without an id asks for all events of its provider, and a list of ids would leave
    // them out.
    let of_id = ids.map_or_else(String::new, |ids| {
        format!(" AND e.event_id IN ({})", list(ids))
    });
    format!("e.provider_guid IN ({providers}){of_id}")
}

/// Returns SQL that converts a column to the inside of a JSON string. JSON does not allow raw
/// control characters: one that stayed would make the text invalid, and its mark would start no
/// region. Rare control characters become U+FFFD.
fn in_json(column: &str) -> String {
    let escape =
        |text: String, (from, to): (&str, &str)| format!("replace({text}, {from}, '{to}')");
    let escapes = [
        ("'\\'", "\\\\"),
        ("'\"'", "\\\""),
        ("chr(9)", "\\t"),
        ("chr(10)", "\\n"),
        ("chr(13)", "\\r"),
    ];
    format!(
        "regexp_replace({}, '[[:cntrl:]]', '\u{fffd}', 'g')",
        escapes.into_iter().fold(column.to_owned(), escape)
    )
}

/// Fields that regions compare or are named after.
fn wanted(manifest: &Manifest) -> Vec<String> {
    let of_same = |same: &Same| {
        same.fields
            .iter()
            .flat_map(|(a, b)| [a.clone(), b.clone()])
            .collect::<Vec<_>>()
    };
    let mut all: Vec<String> = Vec::new();
    for region in &manifest.regions {
        all.extend(of_same(&region.of_events));
        all.extend(of_same(&region.of_parent));
        all.extend(region.self_nest.iter().flat_map(of_same));
        if let Some(Naming::Field { name, .. }) = &region.naming {
            all.push(name.clone());
        }
        let ends = region.ends.iter().flat_map(|(start, stop)| [start, stop]);
        all.extend(ends.filter_map(|end| match end {
            Endpoint::Duration { field, .. } => Some(field.clone()),
            _ => None,
        }));
    }
    all.sort();
    all.dedup();
    all
}

fn fits(pattern: &EventPattern, row: &EventRow, fields: &Map<String, Value>) -> bool {
    // What a pattern does not name does not matter.
    let same =
        |wanted: Option<i32>, found: i64| wanted.is_none_or(|wanted| i64::from(wanted) == found);
    pattern.provider == row.provider_guid
        && same(pattern.id, row.event_id)
        && same(pattern.version, row.version)
        && same(pattern.opcode, row.opcode)
        && pattern
            .name
            .as_ref()
            .is_none_or(|name| row.name.as_ref() == Some(name))
        && pattern.payload.iter().all(|condition| {
            let found = value(fields, &condition.field);
            // A field that is missing passes no test.
            // The negation includes it: a field that is missing is also not equal to anything.
            found.is_some_and(|found| passes(found, &condition.test)) != condition.is_not
        })
}

fn passes(found: &Value, test: &Test) -> bool {
    match test {
        Test::Equals(wanted) => is_equal(found, wanted),
        Test::Contains(part) => text(found).is_some_and(|text| text.contains(part.as_str())),
        Test::Fits(expression) => text(found).is_some_and(|text| expression.fits(&text)),
    }
}

/// Returns the value of a field; `a.b` is the member `b` of the struct `a`.
fn value<'v>(fields: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    // Flat names are by far the most frequent, and cost one look-up.
    if let Some(value) = fields.get(name) {
        return Some(value);
    }
    // The whole name goes first: a field may have a dot in its own name.
    let (outer, inner) = name.split_once('.')?;
    match fields.get(outer)? {
        Value::Object(members) => value(members, inner),
        _ => None,
    }
}

/// Returns a value as text; `None` for one that is missing.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Returns `true` if a value equals the text in a file of regions: the same text, or for numbers
/// and flags the same number.
fn is_equal(found: &Value, wanted: &str) -> bool {
    let number = |wanted: &str| integer(wanted);
    match found {
        Value::String(text) if text == wanted => true,
        // A number that decoding writes in hexadecimal digits.
        // Text without the prefix may be a name that only looks like a number.
        Value::String(text) => {
            text.starts_with("0x") && integer(text).is_some_and(|n| number(wanted) == Some(n))
        }
        Value::Bool(flag) => {
            wanted.eq_ignore_ascii_case(&flag.to_string()) || number(wanted) == Some((*flag).into())
        }
        Value::Number(n) => {
            // The text goes first, for numbers with a decimal point.
            n.to_string() == wanted || n.as_i128().is_some_and(|n| number(wanted) == Some(n))
        }
        _ => false,
    }
}

/// Returns a whole number in decimal or, after `0x`, hexadecimal digits.
pub(super) fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_as_numbers_and_texts_as_texts() {
        for (found, wanted, equal) in [
            (json!("Stop"), "Stop", true),
            (json!("Stop"), "stop", false),
            (json!("00000"), "0", false),
            (json!(8), "8", true),
            (json!(8), "0x8", true),
            (json!(8), "80", false),
            (json!("0x1f"), "31", true),
            (json!(true), "True", true),
            (json!(true), "1", true),
            (json!(false), "1", false),
            (json!(1.5), "1.5", true),
            (json!([1]), "[1]", false),
        ] {
            assert_eq!(is_equal(&found, wanted), equal, "{found} {wanted}");
        }
    }

    #[test]
    fn members_of_structs_stand_behind_a_dot() {
        let Value::Object(fields) = json!({"a": {"b": 1}, "a.c": 2}) else {
            return;
        };
        assert_eq!(value(&fields, "a.b"), Some(&json!(1)));
        assert_eq!(value(&fields, "a.c"), Some(&json!(2)));
        assert_eq!(value(&fields, "a.d"), None);
    }
}
