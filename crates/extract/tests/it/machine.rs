//! Facts about machines compared with the reference of the sample traces.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch};
use etwkit_testkit::files::Folder;
use etwkit_testkit::{Sample, samples};
use etwkit_trace::import::{Imported, Options, import};
use etwkit_trace::table::{Adapter, DotnetRuntime, MachineFact, Process, Row, Table};
use serde_json::Value;

type Batches = Vec<(&'static Table, RecordBatch)>;

fn rows(sample: &Sample) -> (Batches, Imported) {
    let input = etwkit_extract::open(&sample.files, &etwkit_extract::Options::default()).unwrap();
    let mut rows = Batches::new();
    let go_on = &mut |_| ControlFlow::Continue(());
    let imported = import(input.session(), &Options::default(), &mut rows, go_on).unwrap();
    (rows, imported)
}

/// The texts of columns, row by row; empty for missing values.
fn texts<const N: usize>(rows: &Batches, table: &Table, columns: [&str; N]) -> Vec<[String; N]> {
    let mut all = Vec::new();
    for (_, batch) in rows.iter().filter(|(of, _)| of.name == table.name) {
        let texts = columns.map(|name| {
            let column = batch.column_by_name(name).unwrap();
            let number = |row: usize| {
                column
                    .as_primitive_opt::<Int32Type>()
                    .map(|all| all.value(row).to_string())
            };
            let text = |row: usize| {
                number(row).unwrap_or_else(|| column.as_string::<i32>().value(row).to_owned())
            };
            (0..batch.num_rows())
                .map(|row| {
                    if column.is_null(row) {
                        String::new()
                    } else {
                        text(row)
                    }
                })
                .collect::<Vec<_>>()
        });
        all.extend(
            (0..batch.num_rows())
                .map(|row| std::array::from_fn(|column| texts[column][row].clone())),
        );
    }
    all
}

#[test]
fn network_interfaces_are_those_of_the_truth() {
    let mut compared = 0;
    for sample in samples() {
        let (rows, _) = rows(&sample);
        let columns = [
            "description",
            "mac",
            "addresses",
            "dns_servers",
            "ipv4_index",
        ];
        let found: BTreeSet<_> = texts(&rows, Adapter::TABLE, columns).into_iter().collect();
        let joined = |list: &Value| {
            let texts = list
                .as_array()
                .unwrap()
                .iter()
                .map(|text| text.as_str().unwrap());
            texts.collect::<Vec<_>>().join(";")
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let expected = sample.truth["sysconfig"]["nics"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let expected: BTreeSet<_> = expected
            .iter()
            .map(|nic| {
                let index = nic["ipv4_index"].as_i64().filter(|index| *index > 0);
                [
                    text(&nic["description"]),
                    text(&nic["mac"]),
                    joined(&nic["addresses"]),
                    joined(&nic["dns"]),
                    index.map(|index| index.to_string()).unwrap_or_default(),
                ]
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
        compared += expected.len();
    }
    assert!(compared > 5 || samples().is_empty());
}

#[test]
fn runtimes_are_those_of_the_truth() {
    let mut compared = 0;
    for sample in samples() {
        let Some(of_processes) = sample.truth["dotnet"]["runtimes"].as_object() else {
            continue;
        };
        let (rows, _) = rows(&sample);
        let pids: BTreeMap<String, String> = texts(&rows, Process::TABLE, ["process_key", "pid"])
            .into_iter()
            .map(|[key, pid]| (key, pid))
            .collect();
        let columns = ["process_key", "clr_instance", "flavour", "version", "path"];
        let found: BTreeSet<_> = texts(&rows, DotnetRuntime::TABLE, columns)
            .into_iter()
            .map(|[key, instance, flavour, version, path]| {
                (
                    pids.get(&key).cloned().unwrap_or_default(),
                    instance,
                    flavour,
                    version,
                    path,
                )
            })
            .collect();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let expected: BTreeSet<_> = of_processes
            .iter()
            .flat_map(|(pid, runtimes)| {
                runtimes
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(move |runtime| (pid, runtime))
            })
            .map(|(pid, runtime)| {
                let flavour = if runtime["sku"] == 1 {
                    "framework"
                } else {
                    "core"
                };
                (
                    pid.clone(),
                    runtime["clr_instance"].to_string(),
                    flavour.to_owned(),
                    text(&runtime["vm_version"]),
                    text(&runtime["runtime_dll"]),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
        compared += expected.len();
    }
    assert!(compared > 3 || samples().is_empty());
}

#[test]
fn builds_and_virtual_machines() {
    let found: BTreeMap<String, (Option<i32>, Option<bool>)> = samples()
        .iter()
        .map(|sample| {
            let trace = rows(sample).1.trace;
            (
                sample.name.clone(),
                (trace.os_revision, trace.is_virtual_machine),
            )
        })
        .collect();
    for (name, expected) in [
        ("net.4.5.2.x64", (Some(16384), Some(true))),
        ("TraceLoggingTester", (Some(4652), Some(false))),
        ("dotnetperf_DynamicEvents", (Some(2322), Some(false))),
        ("diaghub.kernel.1", (None, Some(true))),
        ("pyetwkit_sample", (Some(4890), None)),
        ("tx_Process", (None, None)),
    ] {
        assert!(
            found.is_empty() || found[name] == expected,
            "{name}: {:?}",
            found[name]
        );
    }
}

#[test]
fn facts_beside_a_trace_are_rows_and_damaged_ones_are_reported() {
    let work = Folder::new();
    let trace = work.write("slow.etl", &crate::support::made("power-5.etl"));
    work.write(
        "slow.facts.json",
        br#"{"version":1,"facts":[{"name":"gpu","value":"X1"}]}"#,
    );
    work.write("slow.etl.facts.json", b"{");
    let input = crate::support::open_one(&trace).unwrap();
    let target = work.path("slow.etwx");
    let options = etwkit_extract::ConvertOptions::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let converted = etwkit_extract::convert(&input, &target, options, go_on).unwrap();
    let note = converted
        .imported
        .diagnostics
        .iter()
        .find(|note| note.kind == "facts_unreadable")
        .unwrap();
    assert_eq!(note.position.as_deref(), Some("slow.etl.facts.json"));
    let extract = etwkit_extract::Extract::open(&target).unwrap();
    let file = extract
        .tables()
        .find(|file| file.name == MachineFact::TABLE.name)
        .unwrap();
    assert_eq!(file.rows, 1);
}
