//! Processes and providers.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_cut::{Choice, Fate, Options};
use etwkit_etl::Session;
use etwkit_trace::import::Range;
use etwkit_trace::report::events::{EventFilter, Events};

use crate::support::{Tables, cut_bytes, made, opened, rows, session};

/// Sum of a column over the rows of a process, and their number.
fn of_process(tables: &Tables, table: &str, column: &str, key: i32) -> (i64, usize) {
    let of = |batch: &RecordBatch| -> Vec<i64> {
        let keys = batch.column_by_name("process_key").unwrap().clone();
        let values = batch.column_by_name(column).unwrap().clone();
        let (keys, values) = (
            keys.as_primitive::<Int32Type>(),
            values.as_primitive::<Int64Type>(),
        );
        let rows = keys
            .iter()
            .zip(values.iter())
            .filter(|(of, _)| *of == Some(key));
        rows.map(|(_, value)| value.unwrap_or_default()).collect()
    };
    let all: Vec<i64> = tables
        .get(table)
        .into_iter()
        .flatten()
        .flat_map(of)
        .collect();
    (all.iter().sum(), all.len())
}

/// Keys, IDs and names of processes.
fn processes(tables: &Tables) -> Vec<(i32, String)> {
    let of = |batch: &RecordBatch| -> Vec<(i32, String)> {
        let column = |name: &str| batch.column_by_name(name).unwrap().clone();
        let (keys, names) = (column("process_key"), column("name"));
        let names: Vec<String> = match names.as_string_opt::<i32>() {
            Some(names) => names
                .iter()
                .map(|name| name.unwrap_or_default().to_owned())
                .collect(),
            None => names
                .as_string_view()
                .iter()
                .map(|name| name.unwrap_or_default().to_owned())
                .collect(),
        };
        keys.as_primitive::<Int32Type>()
            .values()
            .iter()
            .copied()
            .zip(names)
            .collect()
    };
    tables["process"].iter().flat_map(of).collect()
}

fn chosen(whole: &Session, name: &str) -> (etwkit_cut::Cut, Session) {
    let name = name.to_owned();
    let process = Some(Box::new(move |texts: &[&str]| texts.contains(&name.as_str())) as _);
    let options = Options {
        choice: Choice {
            process,
            provider: None,
        },
        ..Options::default()
    };
    let (cut, bytes) = cut_bytes(whole, &options);
    (cut, session(bytes))
}

#[test]
fn the_numbers_of_a_chosen_process_are_those_of_the_whole() {
    for name in ["sched-5.etl"] {
        let input = made(name);
        let whole = rows(input.session(), Range::ALL).unwrap();
        let mut checked = 0;
        for (key, process) in processes(&whole) {
            let run = of_process(&whole, "context_switch", "run_ns", key);
            if run.1 < 5 || process.is_empty() || process == "Idle" {
                continue;
            }
            let (cut, part) = chosen(input.session(), &process);
            let part = rows(&part, Range::ALL).unwrap();
            for (table, column) in [
                ("context_switch", "run_ns"),
                ("context_switch", "wait_ns"),
                ("context_switch", "ready_ns"),
                ("cpu_sample", "weight_ns"),
                ("disk_io", "size_bytes"),
                ("file_io", "duration_ns"),
            ] {
                let [a, b] = [&whole, &part].map(|tables| of_process(tables, table, column, key));
                assert_eq!(a, b, "{name}, {process}: {table}.{column}");
            }
            assert!(cut.events[&Fate::Other] > 0, "{name}, {process}");
            checked += 1;
        }
        assert!(checked > 1, "{name}");
    }
}

#[test]
fn of_a_chosen_provider_all_events_are_there_and_of_others_what_describes() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let input = opened(&[root.join("dotnetperf_DynamicEvents.etl")]);
    let events = |of: &Session, provider: &str| {
        let provider = provider.to_owned();
        let wanted = Box::new(move |names: &[&str]| names.contains(&provider.as_str())) as _;
        let filter = EventFilter {
            provider: Some(etwkit_trace::report::events::ProviderFilter::Names(wanted)),
            ..EventFilter::default()
        };
        let events = Events::open(of, std::sync::Arc::default()).unwrap();
        let mut rows = Vec::new();
        events
            .list(&filter, |row| {
                rows.push(row.clone());
                ControlFlow::Continue(())
            })
            .unwrap();
        rows
    };
    let name = "Microsoft-Windows-DotNETRuntime";
    let all = events(input.session(), name);
    assert!(all.len() > 10);
    let provider = Some(Box::new(move |texts: &[&str]| texts.contains(&name)) as _);
    let options = Options {
        choice: Choice {
            process: None,
            provider,
        },
        ..Options::default()
    };
    let (cut, bytes) = cut_bytes(input.session(), &options);
    assert_eq!(events(&session(bytes), name), all);
    assert!(cut.total(false) > 0, "{cut:?}");
}
