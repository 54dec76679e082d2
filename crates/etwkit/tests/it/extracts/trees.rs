//! Call trees, and methods of parts of a trace, of made and real recordings.

use std::collections::{BTreeMap, HashMap};

use etwkit_testkit::samples;
use serde_json::Value;

use super::support::{Extract, has_all, made_with};
use crate::support::{Exit, run};

/// Objects that a dump prints behind its first line.
#[track_caller]
fn dump(extract: &Extract, args: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump", "cpu", &extract.path, "--json"], args].concat());
    assert_eq!(answer.exit, Exit::Answered, "{args:?}: {}", answer.err);
    answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn int(row: &Value, column: &str) -> i64 {
    row[column]
        .as_i64()
        .unwrap_or_else(|| panic!("{column} of {row}"))
}

/// Sums of the roots by process, after a look at each node: from the outermost frames, what is below it and
/// its own add up to it.
fn roots(what: &str, rows: &[Value]) -> BTreeMap<String, i64> {
    let mut below: HashMap<(String, i64), i64> = HashMap::new();
    let mut roots = BTreeMap::new();
    for row in rows {
        let process = row["process_key"].to_string();
        match row["parent"].as_i64() {
            Some(parent) => {
                *below.entry((process, parent)).or_default() += int(row, "inclusive_ns");
            }
            None => *roots.entry(process).or_default() += int(row, "inclusive_ns"),
        }
    }
    for row in rows {
        let children = below
            .get(&(row["process_key"].to_string(), int(row, "id")))
            .copied()
            .unwrap_or_default();
        let (inclusive, exclusive) = (int(row, "inclusive_ns"), int(row, "exclusive_ns"));
        if row["tree"] == "top_down" {
            assert_eq!(children + exclusive, inclusive, "{what}: {row}");
        } else {
            // What ran is at the roots; a stack without more callers ends before the leaves.
            let own = if row["parent"].is_null() {
                inclusive
            } else {
                0
            };
            assert!(exclusive == own && children <= inclusive, "{what}: {row}");
        }
    }
    roots
}

fn by_process(rows: &[Value], column: &str) -> BTreeMap<String, i64> {
    let all = rows
        .iter()
        .map(|row| (row["process_key"].to_string(), int(row, column)));
    all.filter(|(_, value)| *value > 0).collect()
}

/// Trees of an extract in all shapes against sums of processes.
fn check_trees(what: &str, extract: &Extract) -> usize {
    let totals = by_process(&dump(extract, &["--sort-by", "cpu"]), "cpu_ns");
    let mut nodes = 0;
    for args in [
        &["--stacks", "--min-percent", "0"][..],
        &["--bottom-up", "--min-percent", "5"],
        &["--stacks", "--max-depth", "4", "--top-children", "2"],
    ] {
        let rows = dump(extract, args);
        assert_eq!(
            roots(&format!("{what} {args:?}"), &rows),
            totals,
            "{what} {args:?}"
        );
        nodes += rows.len();
    }
    nodes
}

#[test]
fn trees_add_up_to_the_cpu_of_each_process() {
    let mut nodes = 0;
    for (trace, truth) in made_with("samples") {
        if truth["samples"]["methods"].is_null() {
            continue;
        }
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            nodes += check_trees(&format!("{trace} {detail}"), &extract);
        }
    }
    for sample in samples()
        .into_iter()
        .filter(|sample| sample.name.starts_with("net."))
    {
        let files: Vec<&str> = sample
            .files
            .iter()
            .map(|path| path.to_str().unwrap())
            .collect();
        nodes += check_trees(&sample.name, &Extract::of(&files, &[]));
    }
    assert!(nodes > 1000 || !has_all(), "{nodes}");
}

#[test]
fn what_ends_at_the_nodes_of_a_method_is_its_own_cpu() {
    for (trace, truth) in made_with("samples") {
        let Some(truth) = truth["samples"]["methods"]["rows"].as_object() else {
            continue;
        };
        let extract = Extract::of(&[&trace], &[]);
        let interval = extract.ask("select max(weight_ns) from cpu_sample")[0][0]
            .as_i64()
            .unwrap();
        // The roots of trees from the innermost frames are what ran.
        let mut own: HashMap<(String, String), i64> = HashMap::new();
        for row in dump(
            &extract,
            &["--bottom-up", "--min-percent", "0", "--max-depth", "1"],
        ) {
            if let (None, Some(method)) = (row["parent"].as_i64(), row["method"].as_str()) {
                let name = format!("{}{method}", row["module"].as_str().unwrap_or("?"));
                *own.entry((extract.process(&row["process_key"]), name))
                    .or_default() += int(&row, "inclusive_ns");
            }
        }
        let idle = extract.by_process("select process_key from process where pid = 0");
        let mut leaves: HashMap<(String, String), i64> = HashMap::new();
        for (process, list) in truth
            .iter()
            .filter(|(process, _)| !idle.contains_key(*process))
        {
            for want in list
                .as_array()
                .unwrap()
                .iter()
                .filter(|want| want[0] != "?")
            {
                let module = want[0].as_str().unwrap().rsplit('\\').next().unwrap();
                let name = format!("{module}+{}", want[1].as_str().unwrap());
                *leaves.entry((process.clone(), name)).or_default() += want[3].as_i64().unwrap();
            }
        }
        for (key, samples) in leaves.into_iter().filter(|(_, samples)| *samples > 0) {
            assert_eq!(
                own.get(&key),
                Some(&(samples * interval)),
                "{trace} {key:?}"
            );
        }
    }
}

#[test]
fn methods_of_a_range_over_everything_are_the_stored_ones() {
    let mut methods = 0;
    for (trace, truth) in made_with("sched") {
        if truth["sched"]["threads"].is_null() {
            continue;
        }
        let extract = Extract::of(&[&trace], &[]);
        if extract.ask("select count(*) from cpu_method")[0][0] == 0 {
            continue;
        }
        let of = |args: &[&str]| -> BTreeMap<String, Vec<Value>> {
            let rows = dump(&extract, &[&["--methods", "*"], args].concat());
            let key = |row: &Value| {
                format!(
                    "{} {} {}",
                    row["process_key"], row["module_path"], row["method"]
                )
            };
            let columns = [
                "cpu_ns",
                "exclusive_ns",
                "wait_ns",
                "ready_ns",
                "wait_sum_ns",
                "ready_sum_ns",
                "ready_avg_ns",
                "switches",
                "threads",
                "first_ns",
                "last_ns",
            ];
            rows.iter()
                .map(|row| (key(row), columns.map(|column| row[column].clone()).to_vec()))
                .collect()
        };
        let (stored, computed) = (of(&[]), of(&["--range", "-1..1000000"]));
        assert_eq!(stored.len(), computed.len(), "{trace}");
        for (key, row) in &stored {
            assert_eq!(Some(row), computed.get(key), "{trace} {key}");
        }
        methods += stored.len();
    }
    assert!(methods > 100 || !has_all(), "{methods}");
}

#[test]
fn methods_of_the_parts_of_a_trace_add_up_to_the_whole() {
    for (trace, truth) in made_with("sched") {
        if truth["sched"]["threads"].is_null() {
            continue;
        }
        let extract = Extract::of(&[&trace], &[]);
        if extract.ask("select count(*) from cpu_method")[0][0] == 0 {
            continue;
        }
        let end = extract.ask("select duration_ns from trace")[0][0]
            .as_f64()
            .unwrap()
            / 1e9;
        // The part in the middle does not begin or end at an event.
        let cuts = [-1.0, end * 0.331_234_567, end * 0.689_876_543, end + 1.0];
        let sums = |range: &str| -> HashMap<String, [i64; 4]> {
            let rows = run(&[
                "dump",
                "cpu",
                &extract.path,
                "--json",
                "--methods",
                "*",
                "--range",
                range,
            ])
            .out;
            let mut sums: HashMap<String, [i64; 4]> = HashMap::new();
            for row in rows
                .lines()
                .skip(1)
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
            {
                let key = format!(
                    "{} {} {}",
                    row["process_key"], row["module_path"], row["method"]
                );
                let values = ["cpu_ns", "wait_ns", "ready_ns", "switches"]
                    .map(|c| row[c].as_i64().unwrap_or_default());
                sums.insert(key, values);
            }
            sums
        };
        let whole = sums("-1..1000000");
        let mut parts: HashMap<String, [i64; 4]> = HashMap::new();
        for pair in cuts.windows(2) {
            // Both ends belong to a range: the next one begins one nanosecond later.
            let from = (pair[0] * 1e9).floor() as i64 + 1;
            let range = format!("{from}ns..{}ns", (pair[1] * 1e9).floor() as i64);
            for (key, values) in sums(&range) {
                let sum = parts.entry(key).or_default();
                sum.iter_mut()
                    .zip(values)
                    .for_each(|(sum, value)| *sum += value);
            }
        }
        for (key, whole) in &whole {
            let parts = parts.get(key).unwrap_or(&[0; 4]);
            // An interval across a cut loses the nanosecond between the parts.
            for (part, whole) in parts.iter().zip(whole) {
                assert!(
                    (whole - part).abs() <= 2,
                    "{trace} {key}: {parts:?} {whole:?}"
                );
            }
        }
        assert!(parts.len() >= whole.len(), "{trace}");
    }
}
