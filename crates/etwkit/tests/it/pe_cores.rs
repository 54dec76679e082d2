//! Performant and efficient processors from end to end: what the simulation knows of them is what the dumps
//! say.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{Answer, Exit, behind_kernel_logger, run, running_at_the_end};
use crate::transcripts::compare;

/// Processors of the machines: the usual one, and one so small that performant threads run on efficient
/// processors, too.
const MACHINES: [(&str, i64); 2] = [("8", 4), ("2", 1)];

/// A folder with a trace, extracts and the truth of each machine, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            for (cpus, _) in MACHINES {
                let path = |end: &str| {
                    folder
                        .path()
                        .join(format!("{cpus}{end}"))
                        .to_str()
                        .unwrap()
                        .to_owned()
                };
                let (trace, summary) = (path(".etl"), path("-sums.etwx"));
                for args in [
                    &[
                        "synth", "write", "pe-cores", "--cpus", cpus, "--out", &trace,
                    ][..],
                    &["extract", &trace],
                    &["extract", "--detail", "summary", "--out", &summary, &trace],
                ] {
                    let Answer { err, exit, .. } = run(args);
                    assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
                }
            }
            folder
        })
        .path()
}

fn path(name: &str) -> String {
    folder().join(name).to_str().unwrap().to_owned()
}

fn truth(cpus: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path(&format!("{cpus}.truth.json"))).unwrap())
        .unwrap()
}

/// Objects behind the first line.
#[track_caller]
fn rows(args: &[&str]) -> Vec<Value> {
    let Answer { out, err, exit } = run(args);
    // A table without rows is an answer, too.
    assert_ne!(exit, Exit::Error, "{args:?}: {err}");
    out.lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn number(row: &Value, name: &str) -> i64 {
    row[name]
        .as_i64()
        .unwrap_or_else(|| panic!("{name}: {row}"))
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().unwrap().iter()
}

/// Id of a process by its name.
fn pid(truth: &Value, name: &str) -> i64 {
    entries(&truth["processes"])
        .find(|(_, process)| process["name"] == name)
        .unwrap()
        .0
        .parse()
        .unwrap()
}

fn table<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["table"] == name).collect()
}

#[test]
fn processors_are_those_of_the_simulation() {
    for (cpus, _) in MACHINES {
        let (truth, extract) = (truth(cpus), path(&format!("{cpus}.etwx")));
        let all = rows(&["dump", "cores", "--json", &extract]);
        let cores = table(&all, "cores");
        assert_eq!(cores.len(), truth["cores"].as_object().unwrap().len());
        let frequencies = "SELECT cpu, count(*) AS times FROM cpu_frequency GROUP BY cpu";
        let frequencies = rows(&["sql", &extract, "--format", "json", frequencies]);
        let parking = "SELECT cpu, start_ns, stop_ns, kind FROM cpu_parking ORDER BY start_ns";
        let parking = rows(&["sql", &extract, "--format", "json", parking]);
        for core in cores {
            let expected = &truth["cores"][core["cpu"].to_string()];
            for name in ["efficiency_class", "nominal_mhz", "min_mhz", "max_mhz"] {
                assert_eq!(core[name], expected[name], "{name}: {core}");
            }
            let mean = core["mean_mhz"].as_f64().unwrap();
            assert!(
                (number(core, "min_mhz")..=number(core, "max_mhz"))
                    .contains(&(mean.round() as i64))
            );
            let times = frequencies
                .iter()
                .find(|row| row["cpu"] == core["cpu"])
                .unwrap();
            assert_eq!(times["times"], expected["frequency_changes"], "{core}");

            let end = &truth["header"]["duration_ns"];
            let open = |to: &Value| {
                if to.is_null() {
                    end.as_i64()
                } else {
                    to.as_i64()
                }
            };
            let parked = expected["parked"].as_array().unwrap().iter();
            let parked: Vec<(i64, i64)> = parked
                .map(|one| (number(one, "from_ns"), open(&one["to_ns"]).unwrap()))
                .collect();
            let ours: Vec<(i64, i64)> = parking
                .iter()
                .filter(|row| row["cpu"] == core["cpu"] && row["kind"] == "parked")
                .map(|row| (number(row, "start_ns"), number(row, "stop_ns")))
                .collect();
            assert_eq!(ours, parked, "{core}");
            if !parking.is_empty() {
                assert_eq!(
                    number(core, "parked_ns"),
                    parked.iter().map(|(from, to)| to - from).sum::<i64>()
                );
            }
        }
        assert_eq!(
            parking.is_empty(),
            cpus == "2",
            "only a machine with idle processors parks some"
        );
    }
}

#[test]
fn running_and_ready_times_by_kind_are_those_of_the_simulation() {
    for (cpus, _) in MACHINES {
        let truth = truth(cpus);
        let extract = path(&format!("{cpus}.etwx"));
        let ask = [
            "dump",
            "cores",
            "--json",
            "--table",
            "priorities",
            "--per-process",
            &extract,
        ];
        let mut run_ns: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        let mut ready_ns: BTreeMap<String, i64> = BTreeMap::new();
        for row in rows(&ask) {
            let (pid, class) = (row["pid"].to_string(), row["efficiency_class"].to_string());
            *run_ns
                .entry(pid.clone())
                .or_default()
                .entry(class)
                .or_default() += number(&row, "run_ns");
            *ready_ns.entry(pid).or_default() += number(&row, "ready_ns");
        }
        let mut several = 0;
        let behind_ns = behind_kernel_logger(&extract);
        for (pid, classes) in entries(&truth["run_ns_by_class"]) {
            let times = &truth["processes"][pid]["times"];
            // What ran when the trace ended is reported without the class.
            let open =
                number(times, "run_open_end_ns") - behind_ns * running_at_the_end(&truth, pid);
            let ours = &run_ns[pid];
            assert_eq!(
                ours.values().sum::<i64>(),
                entries(classes)
                    .map(|(_, ns)| ns.as_i64().unwrap())
                    .sum::<i64>()
                    + open,
                "process {pid}"
            );
            for (class, ns) in entries(classes) {
                let rest = ours[class] - ns.as_i64().unwrap();
                assert!(
                    (0..=open).contains(&rest),
                    "process {pid}, class {class}: {rest} of {open}"
                );
            }
            several += usize::from(classes.as_object().unwrap().len() > 1);
            assert_eq!(ready_ns[pid], number(times, "ready_ns"), "process {pid}");
        }
        assert_eq!(
            several > 0,
            cpus == "2",
            "{several} processes ran on several kinds"
        );
    }
}

#[test]
fn the_catalog_runs_on_efficient_processors_while_faster_ones_idle() {
    let (truth, extract) = (truth("8"), path("8.etwx"));
    let all = rows(&[
        "dump",
        "cores",
        "--json",
        "--process",
        "WingCatalog",
        "--per-process",
        &extract,
    ]);
    let classes: Vec<_> = table(&all, "processes")
        .iter()
        .map(|row| (number(row, "efficiency_class"), number(row, "core_count")))
        .collect();
    assert_eq!(classes, [(0, 4)]);
    let priorities = table(&all, "priorities");
    let sum = |name: &str| priorities.iter().map(|row| number(row, name)).sum::<i64>();
    assert!(
        priorities.iter().all(|row| row["efficiency_class"] == 0),
        "{priorities:?}"
    );
    let (run_ns, faster_ns) = (sum("run_ns"), sum("run_faster_idle_ns"));
    // At least as long as the busiest performant processor was idle, on average over the four efficient ones.
    let duration = number(&truth["header"], "duration_ns");
    let busiest = entries(&truth["cores"])
        .filter(|(_, core)| core["efficiency_class"] == 1)
        .map(|(cpu, _)| number(&truth["cpus"][cpu], "busy_ns"))
        .max();
    assert!(
        faster_ns >= run_ns - 4 * busiest.unwrap() && faster_ns <= run_ns,
        "{faster_ns} of {run_ns}"
    );
    assert!(
        faster_ns * 10 > run_ns * 9 && run_ns < 4 * (duration + 1),
        "{faster_ns} of {run_ns}"
    );
    // Its threads waited for each other: no efficient processor was idle, a performant one was.
    assert!(
        sum("ready_idle_ns") * 100 < sum("ready_ns"),
        "{priorities:?}"
    );
    assert!(
        sum("ready_any_idle_ns") * 10 > sum("ready_ns") * 9,
        "{priorities:?}"
    );
}

/// Samples of a function are CPU of its method, and these are where the process ran.
#[test]
fn methods_are_distinguished_by_kinds_in_full_and_summary_extracts() {
    for (cpus, of_a_kind) in MACHINES {
        let truth = truth(cpus);
        for extract in [
            path(&format!("{cpus}.etwx")),
            path(&format!("{cpus}-sums.etwx")),
        ] {
            let methods = ["--methods", "*EncodeFrame;*IndexImage", "--json", &extract];
            let ours = rows(&[&["dump", "cpu", "--details"], &methods[..]].concat());
            assert_eq!(ours.len(), 2);
            for row in ours {
                let function = format!(
                    "{}!{}",
                    row["process"].as_str().unwrap(),
                    row["method"].as_str().unwrap()
                );
                let samples = &truth["functions"][row["pid"].to_string()][&function];
                let interval_ns = number(&truth["samples"], "profile_interval_100ns") * 100;
                assert_eq!(
                    number(&row, "cpu_ns"),
                    number(samples, "inclusive") * interval_ns,
                    "{row}"
                );
                let of = |class: &str| row[format!("class_{class}_cpu_ns")].as_i64();
                let both = of("0").unwrap_or(0) + of("1").unwrap_or(0);
                assert_eq!(
                    (both, of("2"), of("other")),
                    (number(&row, "cpu_ns"), None, None),
                    "{row}"
                );
                let has = (of("0").is_some(), of("1").is_some());
                let is_catalog = row["pid"] == pid(&truth, "WingCatalog.exe");
                assert_eq!(has, (is_catalog || cpus == "2", !is_catalog), "{row}");
                for class in ["0", "1"].iter().filter(|class| of(class).is_some()) {
                    assert_eq!(
                        number(&row, &format!("class_{class}_enabled_cores")),
                        of_a_kind
                    );
                    assert!(
                        (1..=of_a_kind)
                            .contains(&number(&row, &format!("class_{class}_used_cores")))
                    );
                }
            }
        }
    }
}

#[test]
fn the_kinds_of_a_part_of_the_trace_are_not_reported() {
    let ask = [
        "dump",
        "cpu",
        "--range",
        "0..100",
        "--json",
        &path("2.etwx"),
    ];
    let ours = rows(&ask);
    assert!(
        ours.len() > 5 && ours.iter().all(|row| row["class_0_cpu_ns"].is_null()),
        "{ours:?}"
    );
}

#[test]
fn an_overview_says_that_the_machine_is_hybrid() {
    let Answer { out, .. } = run(&["dump", "overview", &path("2.etwx")]);
    assert!(out.contains(" processors, hybrid (class 0: "), "{out}");
}

#[test]
fn what_is_printed_of_kinds_of_cores() {
    let options = ["--time-format", "s", "--no-cmdline", "--no-ready"];
    let commands: [(&str, &[&str]); 3] = [
        (
            "dump-cpu-kinds",
            &["--details", "--normalize", "--top", "3"],
        ),
        (
            "dump-cpu-kinds-methods",
            &["--details", "--methods", "*Thread::Run;*IndexImage"],
        ),
        (
            "dump-cpu-kinds-none",
            &["--details", "--methods", "*IndexImage", "--no-frequency"],
        ),
    ];
    for (name, args) in commands {
        let Answer { out, err, exit } = run(&[
            &["dump", "cpu"],
            args,
            &options[..],
            &[path("2.etwx").as_str()],
        ]
        .concat());
        let printed = format!(
            "$ etwkit dump cpu {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        compare(&printed, name);
    }
}
