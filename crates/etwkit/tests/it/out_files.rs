//! Files that commands write, what they leave alone, and many extracts as data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, Exit, run, trace};

/// A folder with extracts of small traces.
struct Extracts(TempDir);

impl Extracts {
    /// Extracts of these traces under these names, relative to the folder.
    fn of(traces: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, from) in traces {
            let target = folder.path().join(name);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            let answer = run(&["extract", &trace(from), "--out", target.to_str().unwrap()]);
            assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_trace_is_not_overwritten_by_the_rows_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["a.etl", "b.etl"] {
        fs::copy(trace("sched-5.etl"), at(name)).unwrap();
    }
    let before = fs::read(at("a.etl")).unwrap();
    // A shell turns `--csv *.etl` into this line.
    for force in [&[][..], &["--force"]] {
        let answer = run(&[
            &["dump", "process", "--csv", &at("a.etl"), &at("b.etl")],
            force,
        ]
        .concat());
        assert_eq!(answer.exit, Exit::Error);
        let said = format!(
            "error: will not overwrite {}: it is a trace\nhint: give another name",
            at("a.etl")
        );
        assert!(answer.err.starts_with(&said), "{}", answer.err);
    }
    let answer = run(&[
        "sql",
        &at("b.etl"),
        "SELECT 1",
        "--force",
        "--out",
        &at("a.etl"),
    ]);
    assert!(answer.err.contains("will not overwrite"), "{}", answer.err);
    assert_eq!(fs::read(at("a.etl")).unwrap(), before);
    assert_eq!(names(folder.path()), ["a.etl", "b.etl"]);
}

#[test]
fn a_csv_file_of_a_dump_is_made_again_and_no_other_file() {
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl")]);
    let (extract, csv) = (extracts.text("a.etwx"), extracts.text("rows.csv"));
    let dump = |more: &[&str]| run(&[&["dump", "process", "--csv", &csv, &extract], more].concat());
    for _ in 0..2 {
        assert_eq!(dump(&[]).exit, Exit::Answered);
        assert!(fs::read_to_string(&csv).unwrap().starts_with("trace,"));
    }
    fs::write(&csv, "my notes").unwrap();
    let refused = dump(&[]);
    assert_eq!(
        (refused.exit, refused.err),
        (
            Exit::Error,
            format!("error: {csv} exists\nhint: --force overwrites it\n")
        )
    );
    assert_eq!(fs::read_to_string(&csv).unwrap(), "my notes");
    assert_eq!(dump(&["--force"]).exit, Exit::Answered);
    assert!(fs::read_to_string(&csv).unwrap().starts_with("trace,"));
    assert_eq!(names(&extracts.path("")), ["a.etwx", "rows.csv"]);
}

#[test]
fn the_ending_of_a_file_says_how_rows_are_written() {
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl")]);
    let extract = extracts.text("a.etwx");
    for (name, starts) in [
        ("rows.parquet", &b"PAR1"[..]),
        ("rows.CSV", b"a,b\r\n1,x\r\n"),
        ("rows.json", b"{\"command\":\"sql\""),
        ("rows.jsonl", b"{\"command\":\"sql\""),
        ("rows.txt", b"  a  b\n  1  x\n"),
    ] {
        let out = extracts.text(name);
        let answer = run(&["sql", &extract, "SELECT 1 AS a, 'x' AS b", "--out", &out]);
        assert_eq!(
            (answer.exit, answer.err.as_str()),
            (Exit::Answered, ""),
            "{name}"
        );
        assert!(fs::read(&out).unwrap().starts_with(starts), "{name}");
    }
    let out = extracts.text("other.csv");
    run(&[
        "sql",
        &extract,
        "SELECT 1 AS a",
        "--out",
        &out,
        "--format",
        "parquet",
    ]);
    assert!(
        fs::read(&out).unwrap().starts_with(b"PAR1"),
        "what is asked for counts more"
    );
}

#[test]
fn a_pipe_gets_values_as_they_are_and_a_terminal_does_not() {
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl")]);
    let extract = extracts.text("a.etwx");
    let sql = "SELECT concat('a ', chr(10), chr(9), chr(27), '\"b\"  ') AS x, 'y  ' AS z";
    let piped = run(&["sql", &extract, sql, "--format", "csv"]);
    assert_eq!(piped.out, "x,z\r\n\"a \n\t\u{1b}\"\"b\"\"  \",y  \r\n");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let terminal = etwkit::Terminal {
        width: Some(80),
        ..etwkit::Terminal::default()
    };
    etwkit::run_on_screen(
        ["etwkit", "sql", &extract, sql, "--format", "csv"],
        &mut out,
        &mut err,
        terminal,
    );
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "x,z\n\"a \\n\\t\\u{1b}\"\"b\"\"  \",y\n"
    );
    let plan = run(&[
        "sql",
        &extract,
        "EXPLAIN SELECT count(*) FROM process WHERE pid > 4",
    ])
    .out;
    assert!(
        plan.starts_with("logical_plan\n  ") && plan.contains("\n\nphysical_plan\n  "),
        "{plan}"
    );
    assert!(!plan.contains("\\n") && plan.lines().count() > 6, "{plan}");
}

#[test]
fn an_extract_can_be_one_file() {
    let extracts = Extracts::of(&[("a.etwx.zip", "sched-5.etl"), ("b.etwx", "sched-5.etl")]);
    assert_eq!(names(&extracts.path("")), ["a.etwx.zip", "b.etwx"]);
    let packed = extracts.text("a.etwx.zip");
    assert!(fs::read(&packed).unwrap().starts_with(b"PK\x03\x04"));
    let sql = "SELECT count(*) AS rows, sum(run_ns) AS ns FROM context_switch";
    let ask = |extract: &str| run(&["sql", extract, sql, "--format", "csv"]);
    assert_eq!(ask(&packed).out, ask(&extracts.text("b.etwx")).out);
    assert_eq!(ask(&packed).err, "", "derived tables are in it");
    // Asked once more, the archive stays as it is; another file of that name is not replaced.
    let again = run(&[
        "extract",
        &trace("sched-5.etl"),
        "--no-overwrite",
        "--out",
        &packed,
    ]);
    assert_eq!(
        (again.exit, again.out),
        (Exit::Answered, format!("{packed} is up to date\n"))
    );
    let foreign = extracts.text("notes.etwx.zip");
    fs::write(&foreign, "notes").unwrap();
    let refused = run(&["extract", &trace("sched-5.etl"), "--out", &foreign]);
    assert!(
        refused.exit == Exit::Error && refused.err.contains("will not replace"),
        "{}",
        refused.err
    );
    assert_eq!(
        names(&extracts.path("")),
        ["a.etwx.zip", "b.etwx", "notes.etwx.zip"]
    );
}

#[test]
fn one_damaged_extract_is_named_and_does_not_stop_the_others() {
    let extracts = Extracts::of(&[
        ("a.etwx", "sched-5.etl"),
        ("b.etwx", "power-5.etl"),
        ("c.etwx", "dns-5.etl"),
    ]);
    let [a, b, c] = ["a.etwx", "b.etwx", "c.etwx"].map(|name| extracts.text(name));
    let table = extracts.path("b.etwx/process.parquet");
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&table, bytes).unwrap();
    let gone = extracts.text("gone.etwx");
    let count = "SELECT count(*) AS n FROM extract";
    let (sql, dump) = (
        ["sql", &a, &b, &gone, &c, count],
        ["dump", "process", "--json", &a, &b, &gone, &c],
    );
    for command in [&sql[..], &dump] {
        let on = run(&[command, &["--keep-going"]].concat());
        let stopped = run(command);
        assert_eq!(stopped.exit, Exit::Error, "{command:?}");
        if command[0] == "sql" {
            // One query over all extracts would leave something out.
            let named =
                format!("error: damaged extract: process.parquet of {b}: expected bytes 0 to ");
            assert!(stopped.err.starts_with(&named), "{}", stopped.err);
            assert!(
                stopped.err.ends_with("\nhint: extract the trace again\n"),
                "{}",
                stopped.err
            );
            assert!(!stopped.err.contains("gone.etwx"), "{}", stopped.err);
        } else {
            // A question answers for each.
            assert_eq!(
                (stopped.out.as_str(), stopped.err.as_str()),
                (on.out.as_str(), on.err.as_str())
            );
        }
        assert_eq!(on.exit, Exit::Error);
        let errors: Vec<&str> = on
            .err
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        let [damaged, missing] = errors[..] else {
            panic!("{}", on.err);
        };
        assert!(
            damaged.contains(&b) && missing.contains(&gone),
            "{errors:?}"
        );
        assert!(on.err.matches("\nhint: ").count() == 2, "{}", on.err);
        let note = "note: 2 of 4 could be read: the answer leaves out the others\n";
        assert!(on.err.contains(note), "{}", on.err);
        if command[0] == "sql" {
            assert_eq!(on.out, "  n\n  2\n");
        } else {
            assert!(
                on.out.contains("\"trace\":\"sched-5.etl\"")
                    && on.out.contains("\"trace\":\"dns-5.etl\"")
            );
        }
    }
    let none = run(&["sql", &b, count, "--keep-going"]);
    assert!(
        none.exit == Exit::Error && none.err.contains("none of the extracts can be opened"),
        "{}",
        none.err
    );
}

#[test]
fn a_trace_that_is_named_twice_counts_once_in_reports_of_all_extracts() {
    let extracts = Extracts::of(&[("b.etwx", "power-5.etl")]);
    let (first, again) = (extracts.text("b.etwx"), extracts.text("./b.etwx"));
    for question in [
        &["dump", "power"][..],
        &["dump", "time"],
        &["dump", "memory", "--global-diff", "0"],
        &["dump", "stats", "--properties", "OSBuild"],
    ] {
        let once = run(&[question, &[first.as_str()]].concat());
        let twice = run(&[question, &[first.as_str(), again.as_str()]].concat());
        assert_eq!(twice.out, once.out, "{question:?}");
        let note = format!("note: {again} is named twice and counts once");
        assert!(twice.err.contains(&note), "{question:?}: {}", twice.err);
    }
}

#[test]
fn the_same_trace_twice_is_noted() {
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl"), ("b.etwx", "power-5.etl")]);
    let (a, b, sum) = (
        extracts.text("a.etwx"),
        extracts.text("b.etwx"),
        extracts.text("sum.etwx"),
    );
    let made = run(&[
        "extract",
        &trace("sched-5.etl"),
        "--detail",
        "summary",
        "--out",
        &sum,
    ]);
    assert_eq!(made.exit, Exit::Answered);
    let other = extracts.text("./a.etwx");
    let twice = run(&["sql", &a, &b, &other, "SELECT 1"]);
    assert_eq!(twice.exit, Exit::Error);
    assert_eq!(
        twice.err,
        format!("error: named twice: {other}\nhint: name each extract once\n")
    );
    let note = format!("note: {sum} is of the same trace as {a}: what is in both counts twice");
    let noted = [
        run(&["sql", &a, &b, &sum, "SELECT 1"]),
        run(&["dump", "process", &a, &b, &sum]),
    ];
    noted
        .iter()
        .for_each(|noted| assert!(noted.err.contains(&note), "{}", noted.err));
    assert!(!run(&["sql", &a, &b, "SELECT 1"]).err.contains("same trace"));
    // Where each has an answer, a path that is given again is ignored.
    let once = run(&["dump", "process", &a, &other]);
    assert_eq!(once.out, run(&["dump", "process", &a]).out);
    assert!(
        once.err
            .contains(&format!("note: {other} is named twice and counts once")),
        "{}",
        once.err
    );
    let runs = run(&["explain", "--table", "runs", &a, &other, &sum]).out;
    assert!(
        runs.contains("Runs 0 and 1 are of the same trace; both count"),
        "{runs}"
    );
    let compared = run(&["diff", &a, &a]);
    assert_eq!(compared.exit, Exit::Answered, "{}", compared.err);
    let missing = run(&["diff", &a, "nothere.etl"]);
    assert!(
        missing.exit == Exit::Error && !missing.err.contains("--keep-going"),
        "{}",
        missing.err
    );
}

#[test]
fn regions_may_begin_and_end_with_marks_alone() {
    let extracts = Extracts::of(&[
        ("a.etwx", "dns-5.etl"),
        ("b.etwx", "dotnet-5.etl"),
        ("c.etwx", "tcp-5.etl"),
    ]);
    let mark = "<Event Provider='ce1dbfb4-137e-4da6-87b0-3f59aa102cbc' OpCode='34'/>";
    let file = format!(
        "<InstrumentationManifest><Instrumentation><Regions><RegionRoot Guid='{{R}}' Name='Root'>\
         <Region Guid='{{A}}' Name='M'><Start>{mark}</Start><Stop>{mark}</Stop></Region></RegionRoot></Regions>\
         </Instrumentation></InstrumentationManifest>"
    );
    let xml = extracts.text("regions.xml");
    fs::write(&xml, file).unwrap();
    for name in ["a.etwx", "b.etwx", "c.etwx"] {
        // Nobody set a mark there, which is an answer; the planner gave up over it.
        let answer = run(&["dump", "region", "--regions", &xml, &extracts.text(name)]);
        assert_eq!(
            (answer.exit, answer.err.as_str()),
            (Exit::Nothing, ""),
            "{name}"
        );
        assert!(answer.out.contains("none of the events"), "{}", answer.out);
    }
}

#[test]
fn a_summary_of_an_older_version_is_noted() {
    let extracts = Extracts::of(&[]);
    let sum = extracts.text("sum.etwx");
    assert_eq!(
        run(&[
            "extract",
            &trace("sched-5.etl"),
            "--detail",
            "summary",
            "--out",
            &sum
        ])
        .exit,
        Exit::Answered
    );
    assert_eq!(run(&["sql", &sum, "SELECT 1"]).err, "");
    let manifest = extracts.path("sum.etwx/derived/manifest.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    json["derived_version"] = 1.into();
    fs::write(&manifest, json.to_string()).unwrap();
    let noted = run(&["sql", &sum, "SELECT 1"]);
    assert!(
        noted
            .err
            .starts_with(&format!("note: {sum} is a summary by an older version (")),
        "{}",
        noted.err
    );
}

#[test]
fn rows_of_several_extracts_say_which_one_they_are_of() {
    let extracts = Extracts::of(&[
        ("one/boot.etwx", "sched-5.etl"),
        ("two/boot.etwx", "sched-5.etl"),
    ]);
    let paths = ["one/boot.etwx", "two/boot.etwx"].map(|name| extracts.text(name));
    let answer = run(&["dump", "process", "--json", &paths[0], &paths[1]]);
    let rows: Vec<Value> = answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for path in &paths {
        let of: Vec<&Value> = rows
            .iter()
            .filter(|row| row["extract"] == path.as_str())
            .collect();
        assert!(
            !of.is_empty() && of.iter().all(|row| row["start_utc"].is_string()),
            "{path}"
        );
        assert!(of.iter().all(|row| row.get("computer").is_some()));
    }
    let csv = extracts.text("rows.csv");
    run(&["dump", "process", "--csv", &csv, &paths[0], &paths[1]]);
    let text = fs::read_to_string(&csv).unwrap();
    assert!(
        text.starts_with("trace,extract,computer,start_utc,"),
        "{text}"
    );
    assert_eq!(text.matches(&paths[1]).count(), rows.len() / 2);
    let one = run(&["dump", "process", "--json", &paths[0]]);
    assert!(!one.out.contains("\"extract\""), "one needs none");
    let text = run(&["dump", "process", &paths[0], &paths[1]]).out;
    assert!(
        text.contains("  sched-5.etl\n") && text.contains(&paths[1]),
        "{text}"
    );
}

#[test]
fn an_extract_to_which_nothing_can_be_added_can_be_asked() {
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl")]);
    let extract = extracts.path("a.etwx");
    let whole = run(&[
        "dump",
        "cpu",
        "--json",
        extracts.path("a.etwx").to_str().unwrap(),
    ]);
    fs::remove_dir_all(extract.join("derived")).unwrap();
    let packed = extracts.path("packed.etwx.zip");
    etwkit_extract::Extract::open(&extract)
        .unwrap()
        .pack(&packed)
        .unwrap();
    let ask = || run(&["dump", "cpu", "--json", packed.to_str().unwrap()]);
    let first = ask();
    assert_eq!((first.exit, &first.out), (Exit::Answered, &whole.out));
    let said = format!(
        "note: computed the derived tables of {}, which is packed, in ",
        packed.display()
    );
    assert!(first.err.starts_with(&said), "{}", first.err);
    assert_eq!(ask().out, whole.out);
}

#[test]
fn export_prints_json_also_where_there_is_nothing() {
    let extracts = Extracts::of(&[("a.etwx", "dns-5.etl")]);
    let answer = run(&[
        "export",
        "--json",
        "--all-processes",
        &extracts.text("a.etwx"),
    ]);
    assert_eq!(answer.exit, Exit::Nothing, "{}", answer.out);
    let lines: Vec<Value> = answer
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines.len() == 2 && lines[1]["nothing"].is_string(),
        "{}",
        answer.out
    );
}

#[test]
fn the_environment_cannot_take_the_threads_away() {
    let extracts = Extracts::of(&[("a.etwx", "dns-5.etl")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_etwkit"));
    command.env("TOKIO_WORKER_THREADS", "0").args([
        "sql",
        &extracts.text("a.etwx"),
        "SELECT 1 AS a",
    ]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "  a\n  1\n");
}

#[test]
fn damage_that_the_decoder_panics_over_is_reported_once() {
    // Pages of noise, without checksums, through the whole program: what the decoder and the engine do with
    // them is an error of the file.
    let extracts = Extracts::of(&[("a.etwx", "sched-5.etl")]);
    let manifest = extracts.path("a.etwx/manifest.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    json["tables"]["context_switch"]
        .as_object_mut()
        .unwrap()
        .remove("crc32")
        .unwrap();
    fs::write(&manifest, json.to_string()).unwrap();
    let table = extracts.path("a.etwx/context_switch.parquet");
    let good = fs::read(&table).unwrap();
    let mut failed = 0;
    for step in 0..40usize {
        let mut bad = good.clone();
        let at = 40 + step * good.len() / 60;
        bad[at] ^= 1 << (step % 8);
        fs::write(&table, bad).unwrap();
        let Answer { err, exit, .. } = run(&[
            "sql",
            &extracts.text("a.etwx"),
            "SELECT * FROM context_switch",
            "--format",
            "csv",
        ]);
        failed += u32::from(exit == Exit::Error);
        if exit == Exit::Error {
            assert!(
                err.contains("context_switch.parquet of ") && err.contains("\nhint: "),
                "{step}: {err}"
            );
            assert!(!err.contains("panicked at"), "{err}");
        }
    }
    assert!(failed > 0, "{failed}");
}
