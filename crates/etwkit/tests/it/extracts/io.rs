//! Disk accesses, file operations and page faults.

use std::collections::HashMap;

use serde_json::Value;

use super::support::{Extract, assert_us, has_all, made_with, us};

const DISK: [&str; 8] = [
    "reads",
    "read_bytes",
    "writes",
    "write_bytes",
    "flushes",
    "io_us",
    "service_us",
    "max_io_us",
];

fn disk(by: &str, filter: &str) -> String {
    format!(
        "select {by}, count(*) filter (where kind = 'read'), coalesce(sum(size_bytes) filter (where kind = 'read'), 0),
            count(*) filter (where kind = 'write'), coalesce(sum(size_bytes) filter (where kind = 'write'), 0),
            count(*) filter (where kind = 'flush'), sum(io_ns), sum(service_ns), max(io_ns)
         from disk_io where {filter} group by 1"
    )
}

fn check_disk(what: &str, rows: &HashMap<String, Vec<Value>>, truth: &Value) {
    for (key, want) in truth.as_object().unwrap() {
        let row = rows
            .get(key)
            .unwrap_or_else(|| panic!("{what} {key} is missing"));
        for (value, column) in row.iter().zip(DISK) {
            if column.ends_with("_us") {
                assert_us(&format!("{what} {key} {column}"), us(value), &want[column]);
            } else {
                assert_eq!(value, &want[column], "{what} {key} {column}");
            }
        }
    }
}

fn by_text(rows: Vec<Vec<Value>>) -> HashMap<String, Vec<Value>> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    rows.into_iter()
        .map(|row| (text(&row[0]), row[1..].to_vec()))
        .collect()
}

#[test]
fn disk_accesses_are_those_of_the_truth() {
    for (trace, truth) in made_with("disk_io") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["disk_io"];
        check_disk(
            &trace,
            &by_text(extract.ask(&disk("disk", "true"))),
            &truth["by_disk"],
        );
        check_disk(
            &trace,
            &extract.by_process(&disk("process_key", "true")),
            &truth["by_process"],
        );
        check_disk(
            &trace,
            &by_text(extract.ask(&disk("path", "kind <> 'flush'"))),
            &truth["by_file"],
        );
        // The truth leaves flushes out here.
        let priorities =
            extract.ask("select priority, count(*) from disk_io where kind <> 'flush' group by 1");
        let priorities = by_text(priorities);
        for (priority, count) in truth["by_priority"].as_object().unwrap() {
            assert_eq!(
                &priorities[priority][0], count,
                "{trace} priority {priority}"
            );
        }
        let derived = extract.ask(
            "select sum(reads), sum(read_bytes), sum(writes), sum(write_bytes), sum(flushes),
                sum(read_io_ns + write_io_ns + flush_io_ns),
                sum(read_service_ns + write_service_ns + flush_service_ns), max(max_io_ns) from disk_file",
        );
        let total = HashMap::from([("total".to_owned(), derived[0].clone())]);
        check_disk(
            &trace,
            &total,
            &serde_json::json!({ "total": truth["total"] }),
        );
    }
}

#[test]
fn starts_of_disk_accesses_give_their_stacks() {
    for (trace, _) in made_with("disk_io") {
        let extract = Extract::of(&[&trace], &[]);
        let rows = extract.ask(
            "select count(*), count(stack_id), sum(io_ns - service_ns - queue_ns) from disk_io",
        );
        assert_eq!(rows[0][2], 0, "{trace}: queue and service are the whole");
        let starts = extract.ask("select count(*) from generic_event where name like '%Init%'");
        assert_eq!(
            starts[0][0], 0,
            "{trace}: starts are part of their accesses"
        );
    }
}

#[test]
fn file_operations_are_those_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("file_io") {
        let extract = Extract::of(&[&trace], &[]);
        let mut rows = HashMap::new();
        for row in extract.ask(
            "select process_key, coalesce(path, '?'), kind, count(end_ns), sum(duration_ns), max(duration_ns),
                coalesce(sum(result_bytes) filter (where kind in ('read', 'write')), 0), count(*) filter (where status < 0)
             from file_io group by 1, 2, 3",
        ) {
            let key = format!("{} {}", extract.process(&row[0]), row[1].as_str().unwrap());
            rows.insert((key, row[2].as_str().unwrap().replace('_', "")), row[3..].to_vec());
        }
        for (key, operations) in truth["file_io"]["by_process_and_file"].as_object().unwrap() {
            for (operation, want) in operations.as_object().unwrap() {
                let what = format!("{trace} {key} {operation}");
                let row = rows
                    .get(&(key.clone(), operation.clone()))
                    .unwrap_or_else(|| panic!("{what}"));
                assert_eq!(row[0], want["count"], "{what}");
                assert_us(&what, us(&row[1]), &want["duration_us"]);
                assert_us(&what, us(&row[2]), &want["max_us"]);
                assert_eq!(
                    (&row[3], &row[4]),
                    (&want["bytes"], &want["failed"]),
                    "{what}"
                );
                compared += 1;
            }
        }
        let statuses = by_text(extract.ask(
            "select hex(status & 4294967295), count(*) from file_io where status is not null group by 1",
        ));
        for (status, count) in truth["file_io"]["by_status"].as_object().unwrap() {
            assert_eq!(
                statuses.get(status).map(|row| &row[0]),
                Some(count),
                "{trace} {status}: {statuses:?}"
            );
        }
    }
    assert!(compared > 50 || !has_all(), "{compared}");
}

#[test]
fn page_faults_are_those_of_the_truth() {
    for (trace, truth) in made_with("hard_faults") {
        let extract = Extract::of(&[&trace], &[]);
        let sums = "count(*), sum(size_bytes), sum(duration_ns) from hard_fault group by 1";
        let by_file = by_text(extract.ask(&format!("select path, {sums}")));
        let by_process = extract.by_process(&format!("select process_key, {sums}"));
        for (rows, truth) in [
            (&by_file, &truth["hard_faults"]["by_file"]),
            (&by_process, &truth["hard_faults"]["by_process"]),
        ] {
            for (key, want) in truth.as_object().unwrap() {
                let row = &rows[key];
                assert_eq!(
                    (&row[0], &row[1]),
                    (&want["count"], &want["bytes"]),
                    "{trace} {key}"
                );
                assert_us(&format!("{trace} {key}"), us(&row[2]), &want["duration_us"]);
            }
        }
    }
}
