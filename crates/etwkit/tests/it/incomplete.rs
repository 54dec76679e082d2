//! Nothing is silent: what traces lack, what was not recorded, what was left out, and why an answer is empty.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use etwkit_base::shell;
use etwkit_testkit::traces;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, Exit, json, run, trace};

/// A folder with extracts of fixtures.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let extracts: [(&str, &str, &[&str]); 4] = [
            ("sched-5.etl", "sched.etwx", &[]),
            ("sched-5.etl", "summary.etwx", &["--detail", "summary"]),
            ("power-5.etl", "power.etwx", &[]),
            ("dotnet-5.etl", "dotnet.etwx", &[]),
        ];
        for (fixture, name, options) in extracts {
            let out = folder.path().join(name);
            let trace = trace(fixture);
            let args = [
                &["extract", &trace, "--out", out.to_str().unwrap()],
                options,
            ]
            .concat();
            assert_eq!(run(&args).exit, Exit::Answered, "{fixture}");
        }
        folder
    });
    made.path()
}

fn extract(name: &str) -> String {
    folder().join(name).to_str().unwrap().to_owned()
}

fn first_line(text: &str) -> Value {
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

#[test]
fn every_trace_that_fails_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text.etl"), "this is no trace").unwrap();
    std::fs::write(path("empty.etl"), "").unwrap();
    std::fs::copy(trace("power-5.etl"), path("good.etl")).unwrap();
    let args = [
        "extract",
        &path("text.etl"),
        &path("good.etl"),
        &path("empty.etl"),
    ];
    let Answer { err, exit, .. } = run(&args);
    assert_eq!(exit, Exit::Error);
    for name in ["text.etl", "empty.etl"] {
        assert!(err.contains(&format!("error: {}: ", path(name))), "{err}");
    }
    assert_eq!(err.matches("hint: ").count(), 2, "{err}");
    assert!(
        err.ends_with("error: 2 of 3 traces could not be extracted\n"),
        "{err}"
    );
    let Answer { out, exit, .. } = run(&[&args[..], &["--json"]].concat());
    assert_eq!(exit, Exit::Error);
    let rows: Vec<Value> = out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 3, "{out}");
    for name in ["text.etl", "empty.etl"] {
        let row = rows
            .iter()
            .find(|row| row["trace"] == path(name).as_str())
            .unwrap();
        assert!(row["error"].is_string() && row["hint"].is_string(), "{row}");
    }
    // The only trace needs no name.
    let err = run(&args[..2]).err;
    assert!(
        err.starts_with("error: ") && !err.contains("could not be extracted"),
        "{err}"
    );
}

#[test]
fn symbols_without_a_place_are_one_sentence() {
    let Answer { out, exit, .. } = run(&["symbols", "load", &extract("sched.etwx")]);
    assert_eq!(exit, Exit::Nothing);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert!(
        lines[1].contains("no place to look for symbol files is named"),
        "{out}"
    );
    assert_eq!(
        lines[2],
        format!(
            "hint: etwkit symbols load --symbols MS {}",
            extract("sched.etwx")
        )
    );
}

#[test]
fn places_of_symbols_that_are_not_searched_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(trace("power-5.etl"), folder.path().join("a.etl")).unwrap();
    let errors = |line: &str| {
        let answer = Command::new(env!("CARGO_BIN_EXE_etwkit"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .env("ETWKIT_CACHE", folder.path().join("cache"))
            .env_remove("_NT_SYMBOL_PATH")
            .output()
            .unwrap();
        assert!(answer.status.success(), "{answer:?}");
        String::from_utf8(answer.stderr).unwrap()
    };
    let unset = "note: NtSymbolPath: not used: _NT_SYMBOL_PATH is not set\n";
    let missing = "note: NtSymPath: this folder does not exist\n";
    for (line, expected) in [
        ("extract a.etl --symbols NtSymbolPath", unset),
        ("-extract all -fd a.etl -symserver NtSymbolPath", unset),
        ("extract a.etl --symbols NtSymPath", missing),
        ("-extract all -fd a.etl -symserver NtSymPath", missing),
    ] {
        let err = errors(line);
        assert_eq!(err.matches(expected).count(), 1, "{line}: {err}");
    }
    let err = errors("extract a.etl --symbols .");
    assert!(!err.contains("not used"), "{err}");
}

#[test]
fn a_server_without_a_connection_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens on this port.
    let server = "http://127.0.0.1:9/symbols";
    let path = format!("srv*{}*{server}", folder.path().display());
    let extract = extract("sched.etwx");
    let Answer { out, exit, .. } = run(&["symbols", "load", "--symbols", &path, &extract]);
    assert_eq!(exit, Exit::Nothing, "{out}");
    assert_eq!(out.matches(&format!("{server}: ")).count(), 1, "{out}");
    let lines: Vec<&str> = out.lines().rev().take(3).collect();
    let [hint, sum, server_line] = lines[..] else {
        panic!("{out}")
    };
    assert!(
        server_line.contains(&format!(" modules: {server}: ")),
        "{out}"
    );
    assert!(sum.starts_with("0 of "), "{out}");
    assert!(
        hint.ends_with(&format!("etwkit symbols load --symbols FOLDER {extract}")),
        "{out}"
    );
}

#[test]
fn a_limit_of_the_library_says_how_many_rows_there_are() {
    let (one, two) = (extract("sched.etwx"), extract("summary.etwx"));
    let Answer { out, err, .. } = run(&[
        "sql",
        "--format",
        "csv",
        &one,
        "@cpu/methods",
        "--param",
        "top=3",
    ]);
    assert_eq!(out.lines().count(), 4, "{out}");
    let all: usize = err
        .split("top=")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(err.starts_with("note: 3 of ") && all > 3, "{err}");
    let whole = run(&[
        "sql",
        "--format",
        "csv",
        &one,
        "@cpu/methods",
        "--param",
        &format!("top={all}"),
    ]);
    assert_eq!(
        (whole.out.lines().count(), whole.err.as_str()),
        (all + 1, "")
    );
    let both = run(&[
        "sql",
        "--format",
        "csv",
        &one,
        &two,
        "@cpu/methods",
        "--param",
        "top=3",
    ]);
    assert!(
        both.err.contains("rows of all 2 extracts together; "),
        "{}",
        both.err
    );
}

#[test]
fn sql_says_what_was_not_recorded_and_what_is_left_out() {
    let (power, full, summary) = (
        extract("power.etwx"),
        extract("sched.etwx"),
        extract("summary.etwx"),
    );
    let Answer { out, err, exit } = run(&[
        "sql",
        "--format",
        "csv",
        &power,
        "SELECT count(*) AS n FROM disk_io",
    ]);
    assert_eq!((exit, out.as_str()), (Exit::Answered, "n\r\n0\r\n"));
    let note = "not recorded: disk I/O; disk_io is empty for that reason (DISK_IO records it)";
    assert_eq!(err, format!("note: {power}: {note}\n"));
    let switches =
        "WITH process AS (SELECT 1 AS x) SELECT count(*) AS n FROM context_switch, process";
    assert_eq!(
        run(&["sql", &full, switches]).err,
        "",
        "a name of the question is no table"
    );
    let err = run(&["sql", &full, &summary, switches]).err;
    let left_out =
        format!("note: {summary}: summaries keep no rows of context_switch and are left out\n");
    assert!(
        err.ends_with(&left_out) && err.lines().count() == 2,
        "of one trace, and left out: {err}"
    );
}

/// A topic counts the whole trace, so that it is recorded in a part without any of its events.
#[test]
fn a_part_without_events_is_not_said_to_lack_their_recording() {
    let folder = tempfile::tempdir().unwrap();
    let part_of = |name: &str| {
        let part = folder.path().join(name).with_extension("etwx");
        let part = part.to_str().unwrap().to_owned();
        let made = run(&[
            "extract",
            &trace(name),
            "--range",
            "0.000001..0.000002",
            "--out",
            &part,
        ]);
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
        part
    };
    let files = part_of("files-5.etl");
    for question in ["hard-fault", "disk", "file"] {
        let Answer { out, err, exit } = run(&["dump", question, &files]);
        assert_eq!(exit, Exit::Nothing, "{question}: {out}{err}");
        assert!(err.contains("no rows in"), "{question}: {err}");
        assert!(!out.contains("recorded"), "{question}: {out}");
    }
    // The events of .NET are of several kinds, of which each may have been recorded.
    let dotnet = part_of("dotnet-5.etl");
    for (question, what) in [
        ("exception", ".NET exceptions"),
        ("gc", "garbage collections of .NET"),
    ] {
        let Answer { out, exit, .. } = run(&["dump", question, &dotnet]);
        let says = format!("the part of the trace that was extracted has no {what}");
        assert_eq!(exit, Exit::Nothing, "{question}: {out}");
        assert!(out.contains(&says), "{question}: {out}");
    }
    // A part lists the topics of the whole trace: what is in none of it was not recorded.
    let (part, whole) = (part_of("sched-5.etl"), extract("sched.etwx"));
    for (question, what) in [
        ("gc", "garbage collections of .NET"),
        ("tcp", "TCP connections"),
    ] {
        for extract in [&part, &whole] {
            let Answer { out, exit, .. } = run(&["dump", question, extract]);
            let says = format!("the trace recorded no {what}");
            assert_eq!(exit, Exit::Nothing, "{question}: {out}");
            assert!(out.contains(&says), "{question}: {out}");
        }
    }
}

#[test]
fn topics_are_what_info_says() {
    let info = json(&["info", "--json", &trace("dotnet-5.etl")]);
    let of_info = |name: &Value| {
        let recorded = info["recorded"].as_array().unwrap();
        recorded.iter().find(|row| row["topic"] == *name).unwrap()
    };
    let sql = "SELECT topic, is_recorded, events, rows, tables, recorded_by FROM topic";
    let out = run(&["sql", "--format", "json", &extract("dotnet.etwx"), sql]).out;
    let rows: Vec<Value> = out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), info["recorded"].as_array().unwrap().len());
    for row in &rows {
        let said = of_info(&row["topic"]);
        let events = said["events"].as_i64().unwrap();
        // Hard faults that were enabled and did not happen were recorded.
        let may_be_silent = row["topic"] == "hard faults";
        let is_recorded = row["is_recorded"] == true;
        assert_eq!(row["events"], events, "{row}");
        assert_eq!(row["is_recorded"], said["is_recorded"], "{row}");
        assert!(
            is_recorded == (events > 0) || is_recorded && may_be_silent,
            "{row}"
        );
        assert_eq!(row["recorded_by"].is_null(), is_recorded, "{row}");
    }
    let dotnet = rows.iter().find(|row| row["topic"] == ".NET").unwrap();
    assert_eq!(dotnet["tables"], "exception;gc;jit;thread_pool;il_offset");
    assert!(dotnet["rows"].as_i64().unwrap() > 0, "{dotnet}");
    let both = run(&[
        "sql",
        "--format",
        "csv",
        &extract("dotnet.etwx"),
        &extract("power.etwx"),
        "SELECT trace_id, count(*) AS n FROM topic GROUP BY 1 ORDER BY 1",
    ]);
    assert_eq!(
        both.out,
        format!("trace_id,n\r\n0,{0}\r\n1,{0}\r\n", rows.len()),
        "{}",
        both.err
    );
}

#[test]
fn an_empty_answer_says_what_was_asked_and_what_there_is() {
    let extract = extract("sched.etwx");
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["cpu", "--process", "betta"],
            &[
                "matches --process betta: no process matches betta (there are ",
                "similar: beta.exe (",
            ],
        ),
        (
            &["cpu", "--process", "beta.exe -v C:\\in.txt"],
            &["a name has no arguments: --process beta.exe --cmdline \"*-v C:\\in.txt*\""],
        ),
        (
            &["cpu", "--methods", "kernl32*"],
            &["no method matches kernl32* (there are "],
        ),
        (
            &["cpu", "--stack-tags", "no-such-tag"],
            &["no stack tag matches no-such-tag (there "],
        ),
        (&["disk", "--range", "20..30"], &["recorded no"]),
        (
            &["wait", "--process", "beta", "--range", "20..30"],
            &["--range 20..30: the trace goes from 0 to 0.400 s"],
        ),
        (
            &["wait", "--thread", "99999"],
            &["no thread matches 99999 (there are "],
        ),
        (
            &["version", "--dll", "kernal32.dll"],
            &["no module matches kernal32.dll (there are "],
        ),
        (
            &["process", "--cmdline", "*nowhere*"],
            &["no command line matches *nowhere* (there are "],
        ),
        (
            &["process", "--process", "beta", "--cmdline", "*alpha*"],
            &["--process beta and --cmdline *alpha* together"],
        ),
    ];
    for (args, expected) in cases {
        let Answer { out, err, exit } = run(&[&["dump"], *args, &[&extract]].concat());
        assert_eq!(exit, Exit::Nothing, "{args:?}: {out}{err}");
        assert!(
            expected
                .iter()
                .all(|text| (out.clone() + &err).contains(text)),
            "{args:?}: {out}{err}"
        );
    }
    let Answer { out, exit, .. } = run(&["dump", "cpu", "--json", "--process", "betta", &extract]);
    assert_eq!(exit, Exit::Nothing);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert!(
        last["nothing"]
            .as_str()
            .unwrap()
            .contains("similar: beta.exe ("),
        "{last}"
    );
    // In words of ETWAnalyzer, too.
    let Answer { err, .. } = run(&["-dump", "cpu", "-pn", "betta", "-fd", &extract]);
    assert!(err.contains("similar: beta.exe ("), "{err}");
}

#[test]
fn processes_are_found_as_they_are_printed() {
    let out = run(&["dump", "process", "--json", &extract("sched.etwx")]).out;
    let rows: Vec<Value> = out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() > 3);
    for row in rows.iter().filter(|row| row["pid"] != 0) {
        let (name, pid) = (row["name"].as_str().unwrap(), &row["pid"]);
        for printed in [
            format!("{name} ({pid})"),
            format!("{name}({pid})"),
            format!("{name} ({pid}) +-"),
        ] {
            let found = run(&[
                "dump",
                "process",
                "--json",
                "--process",
                &printed,
                &extract("sched.etwx"),
            ]);
            assert_eq!(found.out.lines().count(), 2, "{printed}: {}", found.out);
        }
        let event = format!("{name} ({pid})");
        let args = [
            "events",
            "--limit",
            "1",
            "--process",
            &event,
            &trace("sched-5.etl"),
        ];
        let found = run(&args);
        assert!(
            found.out.contains(&format!(" {event} ")),
            "{event}: {}",
            found.out
        );
    }
}

#[test]
fn answers_with_methods_say_how_many_have_no_name() {
    let extract = extract("sched.etwx");
    for args in [
        &["dump", "cpu", "--methods", "*"][..],
        &["dump", "cpu", "--stacks"],
    ] {
        let err = run(&[args, &[&extract]].concat()).err;
        assert!(
            err.contains(" native addresses have no name: `etwkit symbols load --symbols MS "),
            "{err}"
        );
        let first = first_line(&run(&[args, &["--json", &extract]].concat()).out);
        let gaps = &first["incomplete"][0]["incomplete"];
        assert_eq!(
            gaps["unnamed_addresses"], gaps["native_addresses"],
            "{first}"
        );
    }
    // What shows no method is not touched by it.
    let Answer { out, err, .. } = run(&["dump", "process", "--json", &extract]);
    assert_eq!(
        (err.as_str(), &first_line(&out)["incomplete"]),
        ("", &Value::Null)
    );
}

#[test]
fn lost_events_are_reported_with_every_answer() {
    let Some(folder) = traces() else { return };
    let trace = folder.join("made/lost-6.etl").to_str().unwrap().to_owned();
    let temporary = tempfile::tempdir().unwrap();
    let extract = temporary
        .path()
        .join("lost.etwx")
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        run(&["extract", &trace, "--out", &extract]).exit,
        Exit::Answered
    );
    // The truth of this trace: two buffers with 343 events were lost, and of 80 buffers 71 are left.
    let words = "343 events lost while recording, 2 buffers lost while recording, 9 of 80 buffers are missing, \
                 the end of the file is missing: events reach to ";
    let profile = temporary.path().join("x.speedscope");
    let commands: [&[&str]; 6] = [
        &["dump", "cpu", &extract],
        &["critical-path", "--process", "alpha", &extract],
        &["sql", &extract, "SELECT 1 AS one"],
        &["sql", &extract, "@cpu/processes"],
        &[
            "export",
            "--all-processes",
            "--out",
            profile.to_str().unwrap(),
            &extract,
        ],
        &["-dump", "process", "-fd", &extract],
    ];
    for command in commands {
        let err = run(command).err;
        assert_eq!(err.matches(words).count(), 1, "{command:?}: {err}");
        assert!(
            err.contains(&format!("see `etwkit dump overview {extract}`")),
            "{command:?}: {err}"
        );
    }
    let events = run(&["events", "--limit", "1", &trace]).err;
    assert!(
        events.contains(words) && events.contains("see `etwkit info lost-6.etl`"),
        "{events}"
    );
    let first = first_line(&run(&["sql", "--format", "json", &extract, "SELECT 1 AS one"]).out);
    let gaps = &first["incomplete"][0]["incomplete"];
    assert_eq!(
        (&gaps["lost_events"], &gaps["missing_buffers"]),
        (&343.into(), &9.into()),
        "{first}"
    );
    let Answer { out, .. } = run(&["dump", "overview", &extract]);
    assert!(out.contains("9 of 80 buffers are missing"), "{out}");
}

/// Runs whatever the overview of a trace suggests.
#[track_caller]
fn check_suggestions(trace: &str) -> usize {
    let Answer { out, err, exit } = run(&["dump", "overview", trace]);
    assert_eq!(exit, Exit::Answered, "{trace}: {err}");
    let next = out.split("What to ask next\n").nth(1).unwrap();
    let lines: Vec<&str> = next
        .lines()
        .map(|line| line.trim().split("   ").next().unwrap())
        .collect();
    for line in lines.iter().filter(|line| !line.contains(" symbols load ")) {
        let line = shell::split(line.split("  ").next().unwrap());
        let args: Vec<&str> = line.iter().skip(1).map(String::as_str).collect();
        let answer = run(&args);
        assert_eq!(
            answer.exit,
            Exit::Answered,
            "{args:?} of {trace}: {}{}",
            answer.out,
            answer.err
        );
    }
    lines.len()
}

#[test]
fn an_overview_suggests_what_answers() {
    for fixture in [
        "sched-5.etl",
        "files-5.etl",
        "handles-5.etl",
        "tcp-5.etl",
        "power-5.etl",
    ] {
        assert!(check_suggestions(&trace(fixture)) > 1, "{fixture}");
    }
    assert!(check_suggestions(&extract("summary.etwx")) > 1);
}

/// Scenarios whose events dumps of their own are about.
#[test]
fn an_overview_suggests_dumps_of_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    for (name, dumps) in [
        (
            "memory",
            &[
                "hard-fault",
                "page-fault",
                "dpc",
                "ready",
                "heap",
                "pool",
                "trace-stats",
            ][..],
        ),
        ("services", &["alpc", "dpc", "ready"]),
        ("file-filters", &["mini-filter", "dpc", "ready"]),
        ("collections", &["gc", "dpc", "events"]),
        ("process-starts", &["start", "dpc", "ready"]),
    ] {
        let trace = folder.path().join(format!("{name}.etl"));
        let trace = trace.to_str().unwrap();
        assert_eq!(
            run(&["synth", "write", name, "--out", trace]).exit,
            Exit::Answered,
            "{name}"
        );
        let Answer { out, .. } = run(&["dump", "overview", trace]);
        for dump in dumps {
            assert!(
                out.contains(&format!("etwkit dump {dump} {trace}")),
                "{name}, {dump}: {out}"
            );
        }
        assert_eq!(
            out.contains("etwkit dump gc "),
            name == "collections",
            "{out}"
        );
        check_suggestions(trace);
    }
}

/// Most traces have no CPU data; what they have is shown.
#[test]
fn an_overview_without_cpu_says_what_there_is() {
    let Some(folder) = traces() else { return };
    let cases = [
        ("gcevents.etl", ".NET collections"),
        ("sawbuck_process_data_32_v3.etl", "processes"),
        ("sawbuck_image_data_64_v2.etl", "modules"),
        ("primitive-types.etl", "solar_system"),
        ("wppstr-sample.etl", "other events"),
    ];
    for (name, expected) in cases {
        let trace = folder.join(name).to_str().unwrap().to_owned();
        let Answer { out, .. } = run(&["dump", "overview", &trace]);
        assert!(out.contains(expected), "{name}: {out}");
        assert_eq!(out.matches("not recorded").count(), 1, "{name}: {out}");
        check_suggestions(&trace);
    }
}
