//! DNS queries and TCP connections: every number of the truth, in the tables and as the dumps say.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::support::{Extract, has_all, made_with};
use crate::support::{Exit, run};

/// Microseconds by which a single time may differ. A sum may differ by this for each of its parts.
const SLACK_US: f64 = 0.25;

#[track_caller]
fn same_us(what: &str, ns: &Value, truth: &Value, parts: usize) {
    if truth.is_null() {
        assert!(ns.is_null(), "{what}: {ns}, the truth has none");
        return;
    }
    let (ours, truth) = (
        ns.as_f64().unwrap_or(f64::NAN) / 1000.0,
        truth.as_f64().unwrap(),
    );
    let slack = SLACK_US.max(0.001 * parts as f64);
    assert!(
        (ours - truth).abs() <= slack,
        "{what}: {ours} us, the truth is {truth} us"
    );
}

/// Objects that a dump prints with `--json`.
#[track_caller]
fn dump(args: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump"], args, &["--json"]].concat());
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, ""),
        "{args:?}"
    );
    answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn by_number(list: Vec<Vec<Value>>) -> Value {
    let counts: BTreeMap<String, Value> = list
        .into_iter()
        .map(|row| (row[0].to_string(), row[1].clone()))
        .collect();
    json!(counts)
}

#[test]
fn dns_queries_are_those_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("dns") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["dns"];
        let rows = extract.ask(
            "select q.start_ns, q.duration_ns, p.pid, t.tid, q.name, q.query_type, q.status, q.result, q.is_timed_out
             from dns_query q left join process p on p.process_key = q.process_key left join thread t on t.thread_key = q.thread_key
             where q.duration_ns is not null order by q.start_ns, q.query_type",
        );
        let want = truth["queries"]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), want.len(), "{trace}");
        for (row, want) in rows.iter().zip(want) {
            same_us(&format!("{trace} start"), &row[0], &want[0], 1);
            same_us(&format!("{trace} duration"), &row[1], &want[1], 1);
            assert_eq!(row[2..], want.as_array().unwrap()[2..], "{trace}");
            compared += 1;
        }
        let counts = extract.ask(
            "select count(*) filter (where end_ns is null), count(*) filter (where start_ns is null) from dns_query",
        );
        assert_eq!(counts[0][0], truth["starts_without_completion"], "{trace}");
        assert_eq!(counts[0][1], truth["completions_without_start"], "{trace}");
        for (column, key) in [("adapters", "adapters"), ("adapter_servers", "servers")] {
            let lists = extract.ask(&format!(
                "select distinct {column} from dns_query where {column} is not null"
            ));
            let parts = lists
                .iter()
                .flat_map(|row| row[0].as_str().unwrap().split(';'));
            let parts: BTreeSet<String> = parts.map(str::to_owned).collect();
            let text = |value: &Value| value.as_str().unwrap().replace(';', "_");
            let want: BTreeSet<String> = truth[key].as_array().unwrap().iter().map(text).collect();
            assert_eq!(parts, want, "{trace} {column}");
        }
        let timed_out =
            extract.ask("select distinct timed_out_servers from dns_query where is_timed_out");
        for servers in &timed_out {
            assert!(
                truth["timeouts_by_server"]
                    .get(servers[0].as_str().unwrap())
                    .is_some(),
                "{servers:?}"
            );
        }
        let left = extract.ask(
            "select count(*) from generic_event where provider = 'Microsoft-Windows-DNS-Client' and event_id in (3006, 3008)",
        );
        assert_eq!(left[0][0], 0, "{trace}: queries are no events of no table");
    }
    assert!(compared > 150 || !has_all(), "{compared}");
}

/// Compares a row of the dump with a group of the truth.
#[track_caller]
fn check_group(what: &str, row: &Value, want: &Value) {
    let count = want["count"].as_u64().unwrap() as usize;
    assert_eq!(row["count"], want["count"], "{what}");
    assert_eq!(row["timed_out"], want["queries_with_timeout"], "{what}");
    for (ours, truth, parts) in [
        ("union_ns", "union_us", count),
        ("total_ns", "union_us", count),
        ("sum_ns", "sum_us", count),
        ("min_ns", "min_us", 1),
        ("max_ns", "max_us", 1),
    ] {
        same_us(&format!("{what} {ours}"), &row[ours], &want[truth], parts);
    }
    let statuses = want["by_status"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|status| *status != "0");
    let mut statuses: Vec<i64> = statuses.map(|status| status.parse().unwrap()).collect();
    statuses.sort_unstable();
    let statuses: Vec<String> = statuses.iter().map(ToString::to_string).collect();
    // The answer without a start has no error in these traces.
    assert_eq!(
        row["statuses"].as_str().unwrap_or_default(),
        statuses.join(","),
        "{what}"
    );
}

fn rows_by_name(rows: &[Value]) -> HashMap<String, &Value> {
    rows.iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row))
        .collect()
}

#[test]
fn the_dump_of_dns_queries_has_the_numbers_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("dns") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["dns"];
        let rows = dump(&["dns", &extract.path]);
        let names = rows_by_name(&rows);
        for (name, want) in truth["by_name"].as_object().unwrap() {
            check_group(&format!("{trace} {name}"), names[name], want);
            compared += 1;
        }
        let more: i64 = rows.iter().map(|row| row["count"].as_i64().unwrap()).sum();
        assert_eq!(truth["total"]["count"], more, "{trace}");
        // By process and by both: the same question with a filter.
        for (key, want) in truth["by_process_and_name"].as_object().unwrap() {
            let (pid, name) = key.split_once(' ').unwrap();
            let rows = dump(&["dns", "--process", pid, "--query", name, &extract.path]);
            check_group(&format!("{trace} {key}"), rows_by_name(&rows)[name], want);
            compared += 1;
        }
        let answered = "duration_ns is not null";
        let sums = "count(*), union_duration(start_ns, end_ns), sum(duration_ns), min(duration_ns), max(duration_ns),
            count(*) filter (where is_timed_out)";
        let by_process = extract.by_process(&format!(
            "select process_key, {sums} from dns_query where {answered} group by 1"
        ));
        let total = extract.ask(&format!("select {sums} from dns_query where {answered}"));
        let processes = truth["by_process"].as_object().unwrap();
        let groups = processes.iter().map(|(key, want)| (&by_process[key], want));
        for (row, want) in groups.chain([(&total[0], &truth["total"])]) {
            let count = want["count"].as_u64().unwrap() as usize;
            assert_eq!(
                (&row[0], &row[5]),
                (&want["count"], &want["queries_with_timeout"]),
                "{trace}"
            );
            let keys = [
                ("union_us", 1, count),
                ("sum_us", 2, count),
                ("min_us", 3, 1),
                ("max_us", 4, 1),
            ];
            for (key, at, parts) in keys {
                same_us(&format!("{trace} {key}"), &row[at], &want[key], parts);
            }
            compared += 1;
        }
        let by = |column: &str| {
            by_number(extract.ask(&format!(
                "select {column}, count(*) from dns_query where {answered} group by 1"
            )))
        };
        assert_eq!(
            (&by("status"), &by("query_type")),
            (&truth["total"]["by_status"], &truth["total"]["by_type"])
        );
    }
    assert!(compared > 70 || !has_all(), "{compared}");
}

#[test]
fn every_total_of_dns_queries_is_what_its_word_says() {
    for (trace, truth) in made_with("dns") {
        let extract = Extract::of(&[&trace], &[]);
        for (word, key) in [
            ("union", "union_us"),
            ("longest", "max_us"),
            ("sum", "sum_us"),
        ] {
            let rows = dump(&["dns", "--total-by", word, &extract.path]);
            let names = rows_by_name(&rows);
            for (name, want) in truth["dns"]["by_name"].as_object().unwrap() {
                same_us(
                    &format!("{trace} {name} {word}"),
                    &names[name]["total_ns"],
                    &want[key],
                    99,
                );
            }
            let totals: Vec<i64> = rows
                .iter()
                .map(|row| row["total_ns"].as_i64().unwrap())
                .collect();
            assert!(
                totals.is_sorted_by(|a, b| a >= b),
                "{trace} {word}: the largest first"
            );
        }
    }
}

/// Columns of the truth of a connection and those of the dump.
const NUMBERS: [(&str, &str); 8] = [
    ("posted", "posts"),
    ("injected", "injects"),
    ("send_packets", "segments"),
    ("send_packet_bytes", "segment_bytes"),
    ("recv_packets", "received_packets"),
    ("recv_bytes", "received_bytes"),
    ("posted_bytes", "sent_bytes"),
    ("keep_alives", "keep_alives"),
];

const TIMES: [(&str, &str); 4] = [
    ("open_us", "open_ns"),
    ("close_us", "close_ns"),
    ("reset_us", "abort_ns"),
    ("rto_timeout_us", "retransmit_timeout_ns"),
];

#[test]
fn the_dump_of_tcp_connections_has_the_numbers_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("tcp") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["tcp"];
        let mut rows = dump(&["tcp", &extract.path]);
        rows.sort_by_key(|row| row["connection_id"].as_i64());
        let want = truth["connections"].as_array().unwrap();
        assert_eq!(rows.len(), want.len(), "{trace}");
        let again = dump(&["tcp", "--show-retransmit", &extract.path]);
        for (row, want) in rows.iter().zip(want) {
            let what = format!("{trace} {} {}", want["local"], want["remote"]);
            for key in ["local", "remote", "tcb", "pid", "template"] {
                assert_eq!(row[key], want[key], "{what} {key}");
            }
            for (key, column) in NUMBERS {
                assert_eq!(row[column], want[key], "{what} {key}");
            }
            let number = |key: &str| want[key].as_i64().unwrap();
            assert_eq!(
                row["sent_packets"],
                number("posted").max(number("send_packets")),
                "{what}"
            );
            for (key, column) in TIMES {
                same_us(&format!("{what} {key}"), &row[column], &want[key], 1);
            }
            let of_row: Vec<&Value> = again
                .iter()
                .filter(|again| again["connection_id"] == row["connection_id"])
                .collect();
            let mut delays = 0.0;
            for (key, kind) in [
                ("retransmits", "retransmit"),
                ("client_retransmits", "client"),
            ] {
                let ours: Vec<&&Value> = of_row
                    .iter()
                    .filter(|again| again["retransmission_kind"] == kind)
                    .collect();
                let want = want[key].as_array().unwrap();
                assert_eq!(ours.len(), want.len(), "{what} {key}");
                for (ours, want) in ours.iter().zip(want) {
                    same_us(
                        &format!("{what} {key}"),
                        &ours["retransmission_ns"],
                        &want["t_us"],
                        1,
                    );
                    same_us(
                        &format!("{what} {key}"),
                        &ours["retransmission_delay_ns"],
                        &want["delay_us"],
                        1,
                    );
                    assert_eq!(
                        (
                            &ours["retransmission_sequence"],
                            &ours["retransmission_size_bytes"]
                        ),
                        (&want["seq"], &want["bytes"])
                    );
                    delays += want["delay_us"].as_f64().unwrap();
                    compared += 1;
                }
            }
            assert_eq!(row["retransmits"], of_row.len(), "{what}");
            same_us(
                &format!("{what} sum of delays"),
                &row["retransmit_ns"],
                &json!(delays),
                of_row.len(),
            );
        }
        let sum = |column: &str| {
            rows.iter()
                .map(|row| row[column].as_i64().unwrap())
                .sum::<i64>()
        };
        assert_eq!(truth["posted_bytes"], sum("sent_bytes"), "{trace}");
        assert_eq!(truth["recv_bytes"], sum("received_bytes"), "{trace}");
        assert_eq!(
            truth["client_retransmit_count"],
            sum("client_retransmits"),
            "{trace}"
        );
        assert_eq!(
            truth["retransmit_count"],
            sum("retransmits") - sum("client_retransmits"),
            "{trace}"
        );
        let single = extract.ask(
            "select sum(c.n), sum(e.n) from (select sum(sends + receives + posts + injects) as n from tcp_connection) c
             cross join (select count(*) as n from tcp_event where kind in ('send', 'receive', 'post', 'inject')) e",
        );
        assert_eq!(single[0][0], single[0][1], "{trace}: single events add up");
    }
    assert!(compared > 90 || !has_all(), "{compared}");
}

#[test]
fn rows_of_several_connections_add_up() {
    for (trace, truth) in made_with("tcp") {
        let extract = Extract::of(&[&trace], &[]);
        for group in ["source-ip-port-remote-ip", "source-ip-remote-ip"] {
            let rows = dump(&["tcp", "--group-by", group, &extract.path]);
            let sum = |column: &str| {
                rows.iter()
                    .map(|row| row[column].as_i64().unwrap())
                    .sum::<i64>()
            };
            assert_eq!(truth["tcp"]["count"], sum("connections"), "{trace} {group}");
            assert_eq!(
                truth["tcp"]["recv_bytes"],
                sum("received_bytes"),
                "{trace} {group}"
            );
            assert_eq!(
                truth["tcp"]["retransmit_count"],
                sum("retransmits") - sum("client_retransmits")
            );
            // The rate of one connection does not depend on how it is asked for.
            let single = dump(&["tcp", &extract.path]);
            for row in rows.iter().filter(|row| row["connections"] == 1) {
                let same = single
                    .iter()
                    .find(|other| other["connection_id"] == row["connection_id"])
                    .unwrap();
                for rate in ["send_bytes_per_s", "receive_bytes_per_s"] {
                    let (a, b) = (row[rate].as_f64(), same[rate].as_f64());
                    let is_near = a
                        .zip(b)
                        .is_none_or(|(a, b)| (a - b).abs() <= 1e-9 * b.abs());
                    assert!(
                        a.is_some() == b.is_some() && is_near,
                        "{trace} {rate}: {a:?} {b:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_summary_has_the_same_numbers_as_a_full_extract() {
    for (section, dumps) in [
        ("dns", &[&["dns"][..], &["dns", "--details"]][..]),
        ("tcp", &[&["tcp"][..], &["tcp", "--show-retransmit"]]),
    ] {
        for (trace, _) in made_with(section) {
            let full = Extract::of(&[&trace], &[]);
            let summary = Extract::of(&[&trace], &["--detail", "summary"]);
            for args in dumps {
                let ask = |path: &str| dump(&[args, &[path][..]].concat());
                assert_eq!(ask(&full.path), ask(&summary.path), "{trace} {args:?}");
            }
            if section == "tcp" {
                let answer = run(&["dump", "tcp", "--issue", "post", &summary.path]);
                assert!(
                    answer.exit == Exit::Nothing && answer.out.contains("--detail full"),
                    "{}",
                    answer.out
                );
            }
        }
    }
}

#[test]
fn a_part_of_a_trace_has_what_began_in_it() {
    for (trace, truth) in made_with("tcp") {
        let part = Extract::of(&[&trace], &["--range", "0.5..1.5"]);
        let rows = part.ask("select sum(c.receives), sum(c.receive_bytes) from tcp_connection c");
        let events = part.ask(
            "select count(*), sum(size_bytes), min(ts_ns), max(ts_ns) from tcp_event where kind = 'receive'",
        );
        assert_eq!(rows[0][..2], events[0][..2], "{trace}");
        assert!(
            events[0][2].as_i64() >= Some(500_000_000)
                && events[0][3].as_i64() <= Some(1_500_000_000)
        );
        let again = part.ask("select count(*) from tcp_retransmit where kind = 'retransmit'");
        let in_range = truth["tcp"]["connections"].as_array().unwrap().iter();
        let in_range =
            in_range.flat_map(|connection| connection["retransmits"].as_array().unwrap());
        let in_range = in_range
            .filter(|again| (500_000.0..=1_500_000.0).contains(&again["t_us"].as_f64().unwrap()));
        assert_eq!(again[0][0], in_range.count(), "{trace}");
    }
    for (trace, truth) in made_with("dns") {
        let part = Extract::of(&[&trace], &["--range", "1..2"]);
        let count = part.ask("select count(duration_ns) from dns_query");
        let rows = truth["dns"]["queries"]["rows"].as_array().unwrap().iter();
        let in_range = rows
            .filter(|row| (1_000_000.0..=2_000_000.0).contains(&row[0].as_f64().unwrap()))
            .count();
        assert_eq!(count[0][0], in_range, "{trace}");
    }
}
