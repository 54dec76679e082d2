//! The typed views of the events that trackers read, compared with the tables, which decode the
//! same events by name.

mod views;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;

use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::tables::Tables;
use etwkit_etl::source::ByteSource;
use etwkit_etl::{Guid, Order, RawEvent, Session};
use etwkit_testkit::trace_files;
use serde_json::{Map, Value, json};

use views::{View, view_of};

/// True if both are the same value: tables show addresses as text; views cut padded texts and
/// leading folders, and split lists.
fn same(name: &str, table: &Value, typed: &Value) -> bool {
    match (table, typed) {
        (Value::String(table), Value::Number(typed)) => {
            table
                .strip_prefix("0x")
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                == typed.as_u64()
        }
        (Value::String(table), Value::String(typed))
            if name == "ImageName" && !typed.contains('\\') =>
        {
            table.rsplit('\\').next() == Some(typed)
        }
        (Value::String(table), Value::String(typed)) => table.trim() == typed.trim(),
        (Value::String(table), Value::Array(typed)) => table
            .split(';')
            .filter(|part| !part.is_empty())
            .eq(typed.iter().filter_map(Value::as_str)),
        (Value::Array(table), Value::Array(typed)) => {
            table.len() == typed.len()
                && table
                    .iter()
                    .zip(typed)
                    .all(|(table, typed)| same(name, table, typed))
        }
        _ => table == typed,
    }
}

/// The value of a view for a field that the version of the event lacks.
fn is_default(typed: &Value) -> bool {
    matches!(typed, Value::Null)
        || [
            json!(0),
            json!(""),
            json!([]),
            json!(Guid::ZERO.to_string()),
        ]
        .contains(typed)
}

fn differences(fields: &Map<String, Value>, view: &View) -> Vec<String> {
    let differs = |(names, typed): &(&[&'static str], Value)| {
        let found = names
            .iter()
            .find_map(|name| Some((*name, fields.get(*name)?)));
        match found {
            Some((name, table)) => {
                (!same(name, table, typed)).then(|| format!("{name} is {table}, typed {typed}"))
            }
            None => (!is_default(typed)).then(|| format!("no {names:?}, typed {typed}")),
        }
    };
    view.iter().filter_map(differs).collect()
}

#[test]
fn typed_views_agree_with_the_tables_on_every_event() {
    let files = trace_files();
    if files.is_empty() {
        return;
    }
    let (mut tables, mut compared) = (Tables::new(), BTreeMap::<String, u64>::new());
    let mut failures = Vec::new();
    for path in files {
        let bytes = Box::new(fs::read(&path).unwrap()) as Box<dyn ByteSource>;
        // Some of the files are not traces.
        let Ok(session) = Session::open(vec![bytes]) else {
            continue;
        };
        let visit = |event: &RawEvent<'_>| {
            let Some(view) = view_of(event) else {
                return ControlFlow::Continue(());
            };
            let plan = tables.plan(event.identity(), event.pointer_size(), event.payload());
            let renderer = Renderer {
                clock: None,
                limits: Limits::NONE,
            };
            let (Some(plan), Some(view)) = (plan, view) else {
                failures.push(format!(
                    "{}: {:?} is read by one only",
                    path.display(),
                    event.identity()
                ));
                return ControlFlow::Continue(());
            };
            let (fields, _) = renderer.object(&plan, event.payload());
            let found = differences(&fields, &view);
            if !found.is_empty() {
                failures.push(format!(
                    "{}: {} {found:?}",
                    path.display(),
                    plan.schema().name
                ));
            }
            *compared.entry(plan.schema().name.to_string()).or_default() += view.len() as u64;
            ControlFlow::Continue(())
        };
        session.for_each(Order::File, visit).unwrap();
    }
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} events differ:\n{}",
        failures.len(),
        shown.join("\n")
    );
    assert!(compared.len() > 60, "too few kinds of events: {compared:?}");
    eprintln!(
        "{} kinds of events, {} values agree",
        compared.len(),
        compared.values().sum::<u64>()
    );
}
