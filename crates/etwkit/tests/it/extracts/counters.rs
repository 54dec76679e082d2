//! Performance counters of the made traces, processors of the real ones.

use std::collections::BTreeMap;

use etwkit_testkit::samples;
use serde_json::{Map, Value};

use super::support::{Extract, has_all, made_with};
use crate::support::{Exit, run};

/// Counters by owner, as the truth has them without what is computed from them.
type Counters = BTreeMap<String, BTreeMap<String, i64>>;

fn truth_of(section: &Value) -> Counters {
    let of = |(owner, counters): (&String, &Value)| {
        let whole = counters
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "cpi");
        (
            owner.clone(),
            whole
                .map(|(name, value)| (name.clone(), value.as_i64().unwrap()))
                .collect(),
        )
    };
    section.as_object().unwrap().iter().map(of).collect()
}

#[test]
fn counters_of_every_process_and_thread_are_the_truth() {
    let mut threads = 0;
    for (trace, truth) in made_with("pmc") {
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            let (mut by_thread, mut by_process, mut idle) =
                (Counters::new(), Counters::new(), Map::new());
            for row in extract.ask(
                "select p.process_key, t.tid, p.counter, p.value from pmc_thread p join thread t on t.thread_key = p.thread_key",
            ) {
                let (process, tid) = (extract.process(&row[0]), row[1].to_string());
                let (counter, value) = (row[2].as_str().unwrap().to_owned(), row[3].as_i64().unwrap());
                if tid == "0" {
                    idle.insert(counter, value.into());
                    continue;
                }
                *by_process.entry(process.clone()).or_default().entry(counter.clone()).or_default() += value;
                by_thread.entry(format!("{process}/{tid}")).or_default().insert(counter, value);
            }
            threads += by_thread.len();
            let truth = &truth["pmc"];
            assert_eq!(by_thread, truth_of(&truth["by_thread"]), "{trace} {detail}");
            assert_eq!(
                by_process,
                truth_of(&truth["by_process"]),
                "{trace} {detail}"
            );
            assert_eq!(Value::Object(idle), truth["idle"], "{trace} {detail}");
            check_dump(&trace, &extract, truth);
        }
    }
    assert!(threads > 60 || !has_all(), "{threads}");
}

/// `dump pmc` has the same sums, and cycles for each instruction.
fn check_dump(trace: &str, extract: &Extract, truth: &Value) {
    let answer = run(&["dump", "pmc", "--json", &extract.path]);
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, ""),
        "{trace}"
    );
    let mut processes = 0;
    for line in answer.out.lines().skip(1) {
        let row: Value = serde_json::from_str(line).unwrap();
        let want = &truth["by_process"][extract.process(&row["process_key"])];
        assert_eq!(row["instructions"], want["InstructionRetired"], "{trace}");
        assert_eq!(row["cycles"], want["TotalCycles"], "{trace}");
        let (ours, cpi) = (row["cpi"].as_f64().unwrap(), want["cpi"].as_f64().unwrap());
        assert!(
            (ours - cpi).abs() < 1e-12,
            "{trace}: {ours}, the truth is {cpi}"
        );
        processes += 1;
    }
    assert_eq!(
        processes,
        truth["by_process"].as_object().unwrap().len(),
        "{trace}"
    );
}

#[test]
fn a_part_of_a_trace_has_the_counters_of_the_slices_that_end_in_it() {
    for (trace, _) in made_with("pmc") {
        let sums = |extract: &Extract, condition: &str| {
            extract.ask(&format!(
                "select process_key, sum(value_0), sum(value_1), count(*) from pmc where {condition} group by 1 order by 1"
            ))
        };
        let whole = Extract::of(&[&trace], &["--detail", "full"]);
        let (early, late) = (
            Extract::of(&[&trace], &["--range", "0..0.1"]),
            Extract::of(&[&trace], &["--range", "0.1..10"]),
        );
        let condition = "ts_ns <= 100000000";
        assert_eq!(sums(&early, "true"), sums(&whole, condition), "{trace}");
        assert_eq!(
            sums(&late, "true"),
            sums(&whole, &format!("not ({condition})")),
            "{trace}"
        );
    }
}

#[test]
fn processors_of_real_recordings_are_those_of_the_truth() {
    let mut compared = 0;
    for sample in samples() {
        let Some(processors) = sample.truth["sysconfig"]["processors"].as_object() else {
            continue;
        };
        let traces: Vec<&str> = sample
            .files
            .iter()
            .map(|path| path.to_str().unwrap())
            .collect();
        let extract = Extract::of(&traces, &[]);
        for row in extract
            .ask("select cpu, nominal_mhz, name, vendor, identifier from cpu_core where name is not null")
        {
            let want = &processors[&row[0].to_string()];
            for (value, key) in row[1..].iter().zip(["mhz", "name", "vendor", "identifier"]) {
                assert_eq!(value, &want[key], "{} {} {key}", sample.name, row[0]);
            }
            compared += 1;
        }
        let count = &extract.ask("select count(*) from cpu_core where name is not null")[0][0];
        assert_eq!(
            count.as_u64(),
            Some(processors.len() as u64),
            "{}",
            sample.name
        );
    }
    assert!(compared >= 20 || !has_all(), "{compared}");
}

/// A Core i5-13600KF has six fast cores with two threads each, and eight efficient ones with one.
#[test]
fn the_threads_of_a_hybrid_processor_that_share_a_core_are_known() {
    let Some(sample) = samples()
        .into_iter()
        .find(|sample| sample.name == "TraceLoggingTester")
    else {
        return;
    };
    let traces: Vec<&str> = sample
        .files
        .iter()
        .map(|path| path.to_str().unwrap())
        .collect();
    let extract = Extract::of(&traces, &[]);
    let shared = extract
        .ask("select is_hyper_threaded, min(cpu), max(cpu), count(*) from cpu_core group by 1 order by 1");
    let want = [
        [Value::from(false), 12.into(), 19.into(), 8.into()],
        [true.into(), 0.into(), 11.into(), 12.into()],
    ];
    assert_eq!(shared, want.map(Vec::from));
}

#[test]
fn what_was_not_recorded_is_named_with_how_to_record_it() {
    let Some((trace, _)) = made_with("pmc").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    let answer = run(&["dump", "lbr", &extract.path]);
    assert_eq!(answer.exit, Exit::Nothing);
    assert!(answer.out.contains("LastBranch"), "{}", answer.out);
    let answer = run(&["dump", "cores", &extract.path]);
    assert_eq!(answer.exit, Exit::Answered);
    assert!(
        answer
            .out
            .contains("Microsoft-Windows-Kernel-Processor-Power"),
        "{}",
        answer.out
    );
    let answer = run(&["dump", "cores", "--csv", "x.csv", &extract.path]);
    assert!(
        answer.exit == Exit::Error && answer.err.contains("--table"),
        "{}",
        answer.err
    );
}
