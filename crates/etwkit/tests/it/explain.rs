//! What goes with slow runs, from simulated recordings to the answer: three planted causes, and none.

use std::path::Path;

use etwkit_base::shell::split;
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_synth::{Options, find};
use etwkit_trace::table::{Columns as _, CpuClass, CpuCore, Process, Row, Trace};
use serde_json::{Value, json};

use crate::support::{Answer, Exit, json_lines, run};

/// What the truth calls a cause, and the words of which each of its names contains one.
const PLANTED: [(&str, [&str; 2]); 3] = [
    ("HardFaults", ["MiIssueHardFault", "hard faults"]),
    ("Scans", ["nwshield.sys!", "FltSendMessage"]),
    ("Lookup", ["dnsapi.dll!", "DNS query"]),
];

/// What the planted causes cost in a run, in ms.
type Costs = [f64; 3];

/// Summaries of so many runs of a scenario, and what the causes cost in each, in the order of their names.
fn runs(scenario: &str, count: u64, folder: &Path) -> Vec<Costs> {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (trace, symbols) = (path("run.etl"), path("run.symbols"));
    let mut costs = Vec::new();
    for seed in 1..=count {
        let seed = seed.to_string();
        let answer = run(&[
            "synth", "write", scenario, "--seed", &seed, "--force", "--out", &trace,
        ]);
        assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
        let extract = path(&format!("run{seed:0>3}.etwx"));
        let summary = [
            "extract",
            "--detail",
            "summary",
            "--symbols",
            &symbols,
            "--out",
            &extract,
            &trace,
        ];
        let answer = run(&summary);
        assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
        let truth = std::fs::read_to_string(path("run.truth.json")).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let ms = |name: &str| {
            let calls = truth["calls"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|call| call["name"] == name);
            calls
                .map(|call| call["end_ns"].as_f64().unwrap() - call["start_ns"].as_f64().unwrap())
                .sum::<f64>()
                / 1e6
        };
        costs.push(PLANTED.map(|(name, _)| ms(name)));
        std::fs::remove_file(&trace).unwrap();
    }
    costs
}

fn explain(folder: &Path, options: &[&str]) -> Answer {
    let extracts = folder.join("*.etwx");
    let all = [
        "explain",
        "--process",
        "ReportTest.exe",
        extracts.to_str().unwrap(),
    ];
    run(&[&all[..], options].concat())
}

fn of_table<'r>(rows: &'r [Value], table: &str) -> Vec<&'r Value> {
    rows.iter().filter(|row| row["table"] == table).collect()
}

#[test]
fn planted_causes_come_out_with_their_effects() {
    let folder = tempfile::tempdir().unwrap();
    let costs = runs("test-runs", 40, folder.path());
    let answer = explain(folder.path(), &["--json"]);
    let rows = json_lines(&answer.out);
    let (causes, runs) = (of_table(&rows, "causes"), of_table(&rows, "runs"));
    assert_eq!(runs.len(), 40);
    let mean = |cause: usize, half: &str| {
        let of_half = runs
            .iter()
            .zip(&costs)
            .filter(|(run, _)| run["half"] == half);
        let costs: Vec<f64> = of_half.map(|(_, costs)| costs[cause]).collect();
        costs.iter().sum::<f64>() / costs.len() as f64
    };
    assert_eq!(causes.len(), 3, "{causes:#?}");
    for (place, (name, words)) in PLANTED.iter().enumerate() {
        let planted = mean(place, "slow") - mean(place, "fast");
        let is_it = |cause: &&&Value| {
            let names = format!(
                "{} {}",
                cause["name"].as_str().unwrap(),
                cause["moves_with"].as_str().unwrap()
            );
            words.iter().any(|word| names.contains(word))
        };
        let cause = causes
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{name}: {causes:#?}"));
        let effect = cause["effect_ms"].as_f64().unwrap();
        assert!(
            (effect - planted).abs() <= 0.1 * planted,
            "{name}: {effect} instead of {planted}"
        );
    }
    // The same question has the same answer again, and each table can be written as CSV.
    assert_eq!(explain(folder.path(), &["--json"]).out, answer.out);
    let csv = folder.path().join("causes.csv");
    let answer = explain(
        folder.path(),
        &["--table", "causes", "--csv", csv.to_str().unwrap()],
    );
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    assert_eq!(std::fs::read_to_string(&csv).unwrap().lines().count(), 4);
    let text = explain(folder.path(), &[]).out;
    assert!(text.starts_with("The slow half of 40 runs took "), "{text}");
    let runs = explain(folder.path(), &["--table", "runs"]).out;
    assert!(runs.contains("Spreads from median"), "{runs}");

    // The page is made again where it was, and nothing else is overwritten.
    let page = folder.path().join("page.html");
    for _ in 0..2 {
        let answer = explain(folder.path(), &["--html", page.to_str().unwrap()]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    }
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("rgba(")
            && html.contains("<line class=trend")
            && !html.contains("<script")
            && !html.contains("http://"),
        "{html}"
    );
    let answer = explain(folder.path(), &["--html", csv.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer.err.contains("is not a page of etwkit explain"),
        "{}",
        answer.err
    );
}

#[test]
fn without_causes_it_says_so_and_few_runs_are_too_few() {
    let folder = tempfile::tempdir().unwrap();
    runs("test-runs-quiet", 10, folder.path());
    let answer = explain(folder.path(), &["--json"]);
    assert_eq!(
        of_table(&json_lines(&answer.out), "causes").len(),
        0,
        "{}",
        answer.out
    );
    let text = explain(folder.path(), &[]).out;
    assert!(text.starts_with("The runs do not differ: "), "{text}");
    let no_cause = explain(folder.path(), &["--table", "causes"]);
    assert_eq!(no_cause.exit, Exit::Nothing, "{}", no_cause.out);
    assert!(
        no_cause.err.contains("note: no rows in 10 extracts") && !no_cause.err.contains("matches"),
        "{}",
        no_cause.err
    );
    let all = folder.path().join("*.etwx");
    let broken = folder.path().join("broken.etl");
    std::fs::write(&broken, "no trace").unwrap();
    let paths = [&all, &broken].map(|path| path.to_str().unwrap());
    let one_test = ["explain", "--process", "ReportTest.exe"];
    let stopped = run(&[&one_test[..], &paths].concat());
    assert_eq!(stopped.exit, Exit::Error, "{}", stopped.out);
    assert!(
        stopped
            .err
            .contains("with --keep-going the answer leaves out"),
        "{}",
        stopped.err
    );
    let rest = run(&[&one_test[..], &["--keep-going"], &paths].concat());
    assert!(rest.out == text && rest.exit == Exit::Error, "{}", rest.out);
    assert!(
        rest.err.contains("note: 10 of 11 could be read") && rest.err.contains("broken.etl"),
        "{}",
        rest.err
    );
    let quotes = run(&["explain", "--process", "it's'*", all.to_str().unwrap()]);
    assert_ne!(quotes.exit, Exit::Error, "{}", quotes.err);
    let of_traces = run(&["explain", all.to_str().unwrap()]).out;
    assert!(
        of_traces.starts_with("The 10 recordings are equally long (")
            && of_traces.contains(
                "; ReportTest.exe starts and ends in each of them: --process ReportTest.exe compares"
            ),
        "{of_traces}"
    );
    assert!(
        !of_traces.contains(" slow ") && !of_traces.contains(" fast "),
        "{of_traces}"
    );
    let none = run(&["explain", "--process", "NoSuch.exe", all.to_str().unwrap()]);
    let said = none.out + &none.err;
    assert!(
        said.contains("NoSuch.exe") && said.contains("` lists the processes of the first"),
        "{said}"
    );
    let (_, hint) = said.split_once("`etwkit ").unwrap();
    let hint = split(hint.split('`').next().unwrap());
    let words: Vec<&str> = hint.iter().map(String::as_str).collect();
    assert_eq!(run(&words).exit, Exit::Answered, "{words:?}");
    let one = folder.path().join("run001.etwx");
    let text = run(&["explain", one.to_str().unwrap()]).out;
    assert!(
        text.starts_with("There is nothing to compare: 1 run "),
        "{text}"
    );
    let answer = run(&["explain", "--metric", "process-cpu", one.to_str().unwrap()]);
    assert!(
        answer.err.contains("--metric: process-cpu needs --process"),
        "{}",
        answer.err
    );
}

/// The traces stay so small that hundreds of them are made in a minute.
/// Recordings of one length, in which a program stays open and once compiles for long.
#[test]
fn of_equal_recordings_the_program_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |name: &str, how: &[&str]| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let synth = ["synth", "write", "jit-start", "--out", path.as_str()];
        let written = run(&[&synth[..], how].concat());
        assert_eq!(written.exit, Exit::Answered, "{}", written.err);
        path
    };
    let (slow, fast) = (trace("slow.etl", &[]), trace("fast.etl", &["--healthy"]));
    let text = run(&["explain", &slow, &fast]).out;
    let (_, named) = text.split_once("; the CPU time of ").expect(&text);
    let (program, rest) = named.split_once(" differs most, which ").expect(&text);
    let option = format!("--metric process-cpu --process {program} compares, and ");
    assert!(rest.starts_with(&option), "{text}");
    let compared = run(&[
        "explain",
        "--metric",
        "process-cpu",
        "--process",
        program,
        &slow,
        &fast,
    ]);
    assert_eq!(compared.exit, Exit::Answered, "{}", compared.err);
    assert!(compared.out.contains("took"), "{}", compared.out);
}

#[test]
fn runs_are_small() {
    let scenario = find("test-runs").unwrap();
    for seed in 1..=5 {
        let options = Options {
            seed,
            ..Options::default()
        };
        let (_, truth) = scenario
            .write(std::io::Cursor::new(Vec::new()), &options)
            .unwrap();
        assert!(
            truth.counts.total < 20_000,
            "{seed}: {}",
            truth.counts.total
        );
    }
}

/// Writes a run of `load.exe` on a machine with two kinds of cores: its duration is in its name, and its CPU
/// on the fast core and on the other one in milliseconds.
fn labelled(folder: &Path, duration_ms: u32, labels: &Value, cpu_ms: [i64; 2]) {
    let name = format!("Load_{duration_ms}msPC1.20260102-030405.etwx");
    let options = WriterOptions {
        no_empty: true,
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(&folder.join(name), options).unwrap();
    let mut traces = <Trace as Row>::Columns::default();
    traces.push(&Trace::default());
    let mut processes = <Process as Row>::Columns::default();
    processes.push(&Process {
        name: Some("load.exe".into()),
        pid: 8,
        ..Process::default()
    });
    let mut cores = <CpuCore as Row>::Columns::default();
    let mut classes = <CpuClass as Row>::Columns::default();
    for (class, ms) in [(1, cpu_ms[0]), (0, cpu_ms[1])] {
        cores.push(&CpuCore {
            cpu: class,
            efficiency_class: Some(class),
            ..CpuCore::default()
        });
        if ms > 0 {
            classes.push(&CpuClass {
                process_key: Some(0),
                efficiency_class: Some(class),
                cpu_ns: ms * 1_000_000,
                ..CpuClass::default()
            });
        }
    }
    writer.write(Trace::TABLE, traces.take().unwrap()).unwrap();
    writer
        .write(Process::TABLE, processes.take().unwrap())
        .unwrap();
    writer.write(CpuCore::TABLE, cores.take().unwrap()).unwrap();
    writer
        .write(CpuClass::TABLE, classes.take().unwrap())
        .unwrap();
    let manifest: Manifest = serde_json::from_value(json!({
        "format": "etwkit-extract", "format_version": "2.0", "etwkit_version": "0.1.0", "detail": "full",
        "source": {"files": [{"name": "a.etl", "size_bytes": 3}], "hash": format!("{duration_ms:016}")},
        "clock": {"kind": "qpc", "frequency": 1, "start_utc": "", "start_filetime": 0},
        "machine": {"computer": "PC-1", "os_version": "10.0.19041", "processors": 2},
        "labels": labels, "tables": {}
    }))
    .unwrap();
    writer.finish(manifest).unwrap();
}

#[test]
fn runs_are_compared_by_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let of = |strategy: &str, threads: &str| json!({"strategy": strategy, "threads": threads});
    labelled(folder.path(), 100, &of("spin", "4"), [30, 10]);
    labelled(folder.path(), 140, &of("spin", "12"), [10, 70]);
    labelled(folder.path(), 60, &of("sleep", "4"), [50, 0]);
    labelled(folder.path(), 80, &json!({"strategy": "sleep"}), [20, 20]);
    let all = folder.path().join("*.etwx");
    let explain =
        |options: &[&str]| run(&[&["explain", all.to_str().unwrap()][..], options].concat());

    let answer = explain(&["--group-by", "threads", "--table", "groups"]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    let table: Vec<&str> = answer
        .out
        .lines()
        .skip_while(|line| !line.contains("P-core"))
        .collect();
    assert_eq!(
        table,
        [
            "  Runs  Mean ms  Median ms  Spread ms  Min ms  Max ms  P-core ms  E-core ms  Labels",
            "     2     80.0       80.0       29.7    60.0   100.0       40.0        5.0  threads=4",
            "     1    140.0      140.0        0.0   140.0   140.0       10.0       70.0  threads=12",
            "     1     80.0       80.0        0.0    80.0    80.0       20.0       20.0  threads=(none)",
        ],
        "{}",
        answer.out
    );

    let page = folder.path().join("page.html");
    let answer = explain(&[
        "--group-by",
        "strategy; threads",
        "--html",
        page.to_str().unwrap(),
    ]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("<th>strategy \\ threads<th>4<th>12<th>(none)</tr>"),
        "{html}"
    );
    // Two of the six cells have no run: nobody slept with 12 threads, or spun without a number of them.
    assert_eq!(html.matches("<td title=\"1 run, ").count(), 4, "{html}");
    assert_eq!(html.matches("<svg class=bar").count(), 8, "{html}");
    assert!(
        html.contains(
            "<td title=\"1 run, 60 ms to 60 ms, mean 60 ms\">60 ms \
             <span class=names>median of 1 run</span>"
        ) && html.contains("<span class=names>P 10 ms, E 70 ms</span>"),
        "{html}"
    );

    let answer = explain(&["--group-by", "threads", "--html", page.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    let html = std::fs::read_to_string(&page).unwrap();
    let row = "<tr><td>4<td class=n>2<td class=n>80.0<td class=n>29.7<td class=n>60.0\
               <td class=n>100.0<td><svg class=bar";
    assert!(html.contains(row), "{html}");

    let answer = explain(&["--group-by", "color"]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer
            .err
            .contains("no run has the label color (labels: strategy, threads)"),
        "{}",
        answer.err
    );
}
