//! Extracts of real recordings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use etwkit_testkit::{Sample, samples};
use serde_json::{Value, json};

use super::support::Extract;
use crate::support::run;

/// Samples whose truth has a section with something in it, with their extracts.
fn with(section: &str) -> Vec<(Sample, Value, Arc<Extract>)> {
    let mut found = Vec::new();
    for sample in samples() {
        let truth = sample.truth[section].clone();
        if truth.is_object() {
            let traces: Vec<&str> = sample
                .files
                .iter()
                .map(|path| path.to_str().unwrap())
                .collect();
            let extract = Extract::of(&traces, &[]);
            found.push((sample, truth, extract));
        }
    }
    found
}

fn counts(extract: &Extract, sql: &str) -> Value {
    let rows = extract.by_process(sql);
    json!(
        rows.into_iter()
            .map(|(key, row)| (key, row[0].clone()))
            .collect::<BTreeMap<_, _>>()
    )
}

/// Counts by process and module.
fn by_module(extract: &Extract, sql: &str) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut table: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for row in extract.ask(sql) {
        let module = row[1].as_str().unwrap().to_owned();
        table
            .entry(extract.process(&row[0]))
            .or_default()
            .insert(module, row[2].clone());
    }
    table
}

#[test]
fn samples_by_process_and_module_are_those_of_the_truth() {
    for (sample, truth, extract) in with("cpu") {
        let name = &sample.name;
        let by_process = counts(
            &extract,
            "select process_key, count(*) from cpu_sample group by 1",
        );
        assert_eq!(by_process, truth["by_process"], "{name}");
        // The truth goes by addresses: code that was compiled at run time lies in no image, though it belongs
        // to the assembly that the runtime names.
        let exclusive = by_module(
            &extract,
            "select s.process_key, case when f.rva is null then '?' else coalesce(m.path, '?') end, count(*)
             from cpu_sample s join stack k on k.stack_id = s.stack_id
             join frame f on f.frame_id = k.frame_id left join module m on m.module_id = f.module_id
             where not s.is_idle group by 1, 2",
        );
        assert_eq!(json!(exclusive), truth["exclusive_by_module"], "{name}");
        let inclusive = by_module(
            &extract,
            "with modules as (select distinct k.stack_id,
                    case when f.rva is null then '?' else coalesce(m.path, '?') end as path from stack_frame k
                join frame f on f.frame_id = k.frame_id left join module m on m.module_id = f.module_id
                where k.stack_id in (select stack_id from cpu_stack))
             select c.process_key, path, sum(c.samples) from cpu_stack c join modules on modules.stack_id = c.stack_id group by 1, 2",
        );
        assert_eq!(json!(inclusive), truth["inclusive_by_module"], "{name}");
    }
}

#[test]
fn disk_accesses_and_page_faults_are_those_of_the_truth() {
    for (sample, truth, extract) in with("disk") {
        let name = &sample.name;
        let rows = extract.by_process(
            "select process_key, count(*) filter (where kind = 'read'), coalesce(sum(size_bytes) filter (where kind = 'read'), 0),
                count(*) filter (where kind = 'write'), coalesce(sum(size_bytes) filter (where kind = 'write'), 0),
                count(*) filter (where kind = 'flush') from disk_io group by 1",
        );
        let columns = ["reads", "read_bytes", "writes", "write_bytes", "flushes"];
        check_columns(name, &rows, &truth["by_process"], &columns);
        let faults = extract
            .by_process("select process_key, count(*), sum(size_bytes) from hard_fault group by 1");
        check_columns(
            name,
            &faults,
            &sample.truth["faults"]["by_process"],
            &["count", "bytes"],
        );
    }
}

fn check_columns(name: &str, rows: &HashMap<String, Vec<Value>>, truth: &Value, columns: &[&str]) {
    let truth = truth.as_object().unwrap();
    assert_eq!(rows.len(), truth.len(), "{name}");
    for (key, want) in truth {
        for (value, column) in rows[key].iter().zip(columns) {
            assert_eq!(value, &want[*column], "{name} {key} {column}");
        }
    }
}

#[test]
fn transfers_are_those_of_the_truth() {
    for (sample, truth, extract) in with("network") {
        let kernel = &truth["kernel_logger"];
        let any = |table: &Value| {
            table["by_process"]
                .as_object()
                .is_some_and(|t| !t.is_empty())
        };
        // Both report the same transfers; the extract has them once.
        let truth = if any(kernel) {
            kernel
        } else {
            &truth["kernel_network_provider"]
        };
        let mut columns = Vec::new();
        let mut names = Vec::new();
        for (column, filter) in [
            ("tcp_sends", "protocol = 'tcp' and kind = 'send'"),
            ("tcp_recvs", "protocol = 'tcp' and kind = 'receive'"),
            ("udp_sends", "protocol = 'udp' and kind = 'send'"),
            ("udp_recvs", "protocol = 'udp' and kind = 'receive'"),
            ("tcp_connects", "kind = 'connect'"),
            ("tcp_accepts", "kind = 'accept'"),
            ("tcp_disconnects", "kind = 'disconnect'"),
            ("tcp_retransmits", "kind = 'retransmit'"),
        ] {
            columns.push(format!("count(*) filter (where {filter})"));
            names.push(column);
        }
        columns.push(
            "coalesce(sum(size_bytes) filter (where protocol = 'tcp' and kind = 'send'), 0)"
                .to_owned(),
        );
        names.push("tcp_send_bytes");
        let rows = extract.by_process(&format!(
            "select process_key, {} from net_io group by 1",
            columns.join(", ")
        ));
        check_columns(&sample.name, &rows, &truth["by_process"], &names);
    }
}

#[test]
fn exceptions_and_collections_are_those_of_the_truth() {
    let mut exceptions = 0;
    for (sample, truth, extract) in with("dotnet") {
        let name = &sample.name;
        let rows = extract.ask(
            "select p.pid, t.tid, exception_type, message, hex(hresult & 4294967295), flags from exception e
             left join process p on p.process_key = e.process_key left join thread t on t.thread_key = e.thread_key order by e.ts_ns",
        );
        let want = truth["exceptions"].as_array().unwrap();
        assert_eq!(rows.len(), want.len(), "{name}");
        for (row, want) in rows.iter().zip(want) {
            let columns = ["pid", "tid", "type", "message", "hresult", "flags"]
                .map(|column| want[column].clone());
            assert_eq!(row[..], columns, "{name}");
            exceptions += 1;
        }
        let collections = extract.ask(
            "select p.pid, count(*) filter (where gc.start_ns is not null) from gc join process p on p.process_key = gc.process_key group by 1",
        );
        let ours: BTreeMap<String, Value> = collections
            .iter()
            .map(|row| (row[0].to_string(), row[1].clone()))
            .collect();
        for (pid, want) in truth["gc"].as_object().unwrap() {
            let ours = ours.get(pid).cloned().unwrap_or(json!(0));
            assert_eq!(ours, want["count"], "{name} {pid}");
        }
    }
    if etwkit_testkit::traces().is_some() {
        assert!(exceptions > 0);
    }
}

/// Rows of a dump of an extract as JSON.
#[track_caller]
fn dump(extract: &Extract, args: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump"], args, &["--json", &extract.path]].concat());
    assert_eq!(answer.other_errors(), "", "{args:?}");
    answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn dumped_exceptions_are_as_many_as_the_truth_has() {
    for (sample, truth, extract) in with("dotnet") {
        let want = truth["exceptions"].as_array().unwrap().len();
        let rows = dump(&extract, &["exception"]);
        let ours: i64 = rows.iter().filter_map(|row| row["count"].as_i64()).sum();
        assert_eq!(ours as usize, want, "{}", sample.name);
    }
}

/// What a number of a field is called, by field and number.
type NamedNumbers = BTreeMap<(String, String), Value>;

/// Values of the truth that stand in fields of the same name, members of structures included. A number that
/// the trace names is a name in extracts, always the same one, and a number in the truth.
fn check_fields(what: &str, ours: &Value, truth: &Value, names: &mut NamedNumbers) -> usize {
    let Some(members) = truth.as_object() else {
        if ours.is_string() && truth.is_number() {
            let known = names
                .entry((what.to_owned(), truth.to_string()))
                .or_insert_with(|| ours.clone());
            assert_eq!(known, ours, "{what}: {truth} has two names");
            return 0;
        }
        assert_eq!(ours, truth, "{what}");
        return 1;
    };
    members
        .iter()
        .map(|(name, value)| check_fields(&format!("{what}.{name}"), &ours[name], value, names))
        .sum()
}

#[test]
fn self_describing_events_are_those_of_the_truth() {
    let (mut values, mut names) = (0, NamedNumbers::new());
    for (sample, truth, extract) in with("events") {
        let name = &sample.name;
        let own = truth
            .as_object()
            .unwrap()
            .values()
            .filter(|kind| kind["source"] != "eventinfo");
        let own: Vec<&Value> = own.collect();
        let kinds = dump(&extract, &["tracelog", "--by", "kind"]);
        let count = |rows: &[Value]| {
            rows.iter()
                .filter_map(|row| row["count"].as_i64())
                .sum::<i64>()
        };
        let want: i64 = own.iter().filter_map(|kind| kind["count"].as_i64()).sum();
        assert_eq!(count(&kinds), want, "{name}");
        let providers = dump(&extract, &["tracelog"]);
        assert_eq!(count(&providers), want, "{name}");
        let rows = dump(&extract, &["tracelog", "--by", "event"]);
        for kind in own {
            let of: Vec<&Value> = rows
                .iter()
                .filter(|row| {
                    row["provider"] == kind["provider"]
                        && row["event"] == kind["name"]
                        && row["event_id"] == kind["id"]
                })
                .collect();
            assert!(
                of.len() as i64 >= kind["count"].as_i64().unwrap(),
                "{name} {kind}"
            );
            for first in kind["first"].as_array().unwrap() {
                let at = first["time_s"].as_f64().unwrap();
                let is = |row: &&&Value| {
                    (row["ts_ns"].as_f64().unwrap() / 1e9 - at).abs() < 2e-7
                        && row["tid"] == first["tid"]
                };
                let row = of
                    .iter()
                    .find(is)
                    .unwrap_or_else(|| panic!("{name}: no event like {first}"));
                assert_eq!(row["pid"], first["pid"], "{name}");
                if first["values"].is_object() {
                    let fields: Value =
                        serde_json::from_str(row["fields"].as_str().unwrap()).unwrap();
                    values += check_fields(name, &fields, &first["values"], &mut names);
                }
            }
        }
    }
    assert!(
        values > 100 || etwkit_testkit::traces().is_none(),
        "{values}"
    );
}

#[test]
fn no_event_of_a_real_trace_is_lost_on_the_way() {
    for (sample, truth, extract) in with("counts") {
        let rows = extract.ask("select events from trace");
        assert_eq!(rows[0][0], truth["total"], "{}", sample.name);
    }
}

#[test]
fn managed_methods_and_their_samples_are_those_of_the_truth() {
    let (mut known, mut top) = (0, 0);
    for (sample, truth, extract) in with("dotnet") {
        let (name, truth) = (&sample.name, &truth["managed_samples"]);
        let Some(methods) = truth["known_methods"].as_object() else {
            continue;
        };
        let rows = extract.ask(
            "select p.pid, count(*) from method m join process p on p.process_key = m.process_key group by 1",
        );
        let ours: BTreeMap<String, Value> = rows
            .iter()
            .map(|row| (row[0].to_string(), row[1].clone()))
            .collect();
        for (pid, count) in methods {
            assert_eq!(ours.get(pid), Some(count), "{name} methods of {pid}");
            known += 1;
        }
        let own = extract.ask(
            "select p.pid, d.name, sum(c.samples) from cpu_stack c join process p on p.process_key = c.process_key
             join stack k on k.stack_id = c.stack_id join frame f on f.frame_id = k.frame_id
             join method d on d.method_id = f.method_id group by 1, 2",
        );
        let all: i64 = own.iter().filter_map(|row| row[2].as_i64()).sum();
        assert_eq!(truth["samples"], all, "{name}");
        for want in truth["top_methods"].as_array().unwrap() {
            let text = |key: &str| want[key].as_str().unwrap();
            let full = format!("{}.{}", text("namespace"), text("name"));
            let pid: Option<i64> = text("process").parse().ok();
            let ours = own
                .iter()
                .find(|row| row[0].as_i64() == pid && row[1] == full.as_str());
            assert_eq!(
                ours.map(|row| &row[2]),
                Some(&want["samples"]),
                "{name} {full}"
            );
            top += 1;
        }
    }
    if etwkit_testkit::traces().is_some() {
        assert!(known >= 3 && top > 5, "{known} {top}");
    }
}
