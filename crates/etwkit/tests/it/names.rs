//! Rules of the user: what processes are called, and which exceptions are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use etwkit_base::shell;
use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    Columns, Exception, Frame, MemorySample, Method, Module, Process, Row, Stack, Thread, Trace,
};
use serde_json::Value;

use crate::support::{Answer, Exit, run};
use crate::together;
use crate::transcripts::compare;

const MS: i64 = 1_000_000;

fn batch<R: Row>(writer: &mut Writer, rows: &[R]) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    writer.write(R::TABLE, columns.take().unwrap()).unwrap();
}

/// An extract of a machine with services, one of which started a program that throws.
pub(crate) fn write_services(path: &Path) {
    let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
    let trace = Trace {
        file_name: "services.etl".into(),
        start_utc: "2024-05-01T10:00:00.0000000Z".into(),
        start_filetime: 133_590_312_000_000_000,
        duration_ns: 1000 * MS,
        processors: 2,
        ..Trace::default()
    };
    batch(&mut writer, &[trace]);
    let process = |(process_key, line): (i32, Option<&str>)| Process {
        process_key,
        pid: 1000 + 4 * process_key,
        name: Some("svchost.exe".into()),
        command_line: line.map(|line| format!(r"C:\Windows\System32\svchost.exe -k {line}")),
        session_id: Some(0),
        ..Process::default()
    };
    let lines = [
        Some("LocalServiceNetworkRestricted -p -s EventLog"),
        Some("netsvcs -p -s Winmgmt"),
        Some("LocalServiceNoNetworkFirewall -p"),
        Some("NetworkService -p -s Dnscache"),
        None,
    ];
    let mut processes: Vec<Process> = (1..).zip(lines).map(process).collect();
    let shop = Process {
        name: Some("shop.exe".into()),
        command_line: Some("shop.exe -s EventLog".into()),
        parent_pid: Some(1008),
        parent_process_key: Some(2),
        start_ns: Some(5 * MS),
        ..process((6, None))
    };
    processes.push(shop);
    batch(&mut writer, &processes);
    let thread = |thread_key| Thread {
        thread_key,
        process_key: Some(thread_key),
        tid: 2000 + 4 * thread_key,
        ..Thread::default()
    };
    batch(&mut writer, &[thread(2), thread(6)]);
    let sample = |key, pid, mib: i64| MemorySample {
        ts_ns: 900 * MS,
        process_key: Some(key),
        pid,
        working_set_bytes: mib << 20,
        commit_bytes: mib << 20,
        ..MemorySample::default()
    };
    batch(
        &mut writer,
        &[
            sample(1, 1004, 10),
            sample(2, 1008, 30),
            sample(6, 1024, 20),
        ],
    );
    exceptions(&mut writer);
    let clock = Clock {
        kind: "qpc".into(),
        frequency: 1,
        start_utc: String::new(),
        start_filetime: 0,
    };
    let machine = Machine {
        computer: None,
        os_version: None,
        processors: 2,
    };
    writer.set_derived(BTreeMap::new());
    writer
        .finish(Manifest::new(
            Detail::Full,
            TraceSource::default(),
            clock,
            machine,
        ))
        .unwrap();
}

fn exceptions(writer: &mut Writer) {
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    batch(
        writer,
        &[
            method(0, "Shop.Program.Main"),
            method(1, "Shop.Cart.Load"),
            method(2, "Shop.Retry.Run"),
        ],
    );
    let frame = |frame_id| Frame {
        frame_id,
        method_id: Some(frame_id),
        module_id: Some(0),
        ..Frame::default()
    };
    batch(writer, &[frame(0), frame(1), frame(2)]);
    let module = |module_id, process_key, name: &str| Module {
        module_id,
        process_key: Some(process_key),
        path: format!(r"C:\programs\{name}"),
        name: name.into(),
        company: Some("Shop Inc.".into()),
        ..Module::default()
    };
    batch(
        writer,
        &[module(0, 6, "shop.exe"), module(1, 2, "svchost.exe")],
    );
    let stack = |stack_id, parent_id, frame_id| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth: stack_id,
    };
    batch(
        writer,
        &[
            stack(0, None, 0),
            stack(1, Some(0), 1),
            stack(2, Some(1), 2),
        ],
    );
    let thrown = |ms, key, name: &str, message: &str, stack_id| Exception {
        ts_ns: ms * MS,
        process_key: Some(key),
        thread_key: Some(key),
        exception_type: name.into(),
        message: message.into(),
        stack_id,
        ..Exception::default()
    };
    batch(
        writer,
        &[
            thrown(
                10,
                6,
                "System.TimeoutException",
                "No answer from db.",
                Some(2),
            ),
            thrown(
                12,
                6,
                "System.TimeoutException",
                "No answer from db.",
                Some(2),
            ),
            thrown(
                13,
                6,
                "System.TimeoutException",
                "No answer from printer.",
                Some(1),
            ),
            thrown(
                15,
                6,
                "System.IO.FileNotFoundException",
                "Could not find 'a.xml'.",
                Some(1),
            ),
            thrown(
                20,
                2,
                "System.IO.FileNotFoundException",
                "Could not find 'b.xml'.",
                None,
            ),
        ],
    );
}

const RULES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<ProcessRenamer xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <ProcessRenamers>
    <RenameRule>
      <ExeName>SVCHOST.exe</ExeName>
      <CmdLineSubstrings>
        <string>-k n</string>
      </CmdLineSubstrings>
      <NotCmdLineSubstrings>
        <string>-s winmgmt</string>
      </NotCmdLineSubstrings>
      <NewExeName>DNS cache</NewExeName>
    </RenameRule>
  </ProcessRenamers>
</ProcessRenamer>
"#;

const FILTERS: &str = r"<ExceptionFilters>
  <Filters>
    <ExceptionFilterItem>
      <ProcessName>shop;store</ProcessName>
      <ExceptionType>System.TimeoutException</ExceptionType>
      <Message>DB;disk</Message>
      <StackTracePart>Shop.Retry</StackTracePart>
      <IsPositiveFilter>false</IsPositiveFilter>
      <IsActive>true</IsActive>
      <Reason>is tried again</Reason>
    </ExceptionFilterItem>
    <ExceptionFilterItem>
      <ExceptionType>System.IO.FileNotFoundException</ExceptionType>
      <IsActive>false</IsActive>
    </ExceptionFilterItem>
  </Filters>
</ExceptionFilters>
";

/// The folder with the extract and the files, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().unwrap();
        for name in ["services.etwx", "again.etwx"] {
            write_services(&folder.path().join(name));
        }
        for (name, text) in [
            ("names.xml", RULES),
            ("filters.xml", FILTERS),
            (
                "bad.xml",
                "<ProcessRenamer>\n  <ProcessRenamers>\n    <Rule/>\n  </ProcessRenamers>\n</ProcessRenamer>\n",
            ),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    };
    FOLDER.get_or_init(make).path()
}

/// Runs a command whose words that are files of the folder stand for them.
fn asked(args: &[String]) -> Answer {
    let there = |arg: &String| {
        let path = folder().join(arg);
        if path.exists() {
            path.to_str().unwrap().to_owned()
        } else {
            arg.clone()
        }
    };
    let args: Vec<String> = args.iter().map(there).collect();
    run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Several commands, one behind the other.
#[track_caller]
fn check(name: &str, commands: &[&str]) {
    let transcripts = commands.iter().map(|line| {
        let Answer { out, err, exit } = asked(&shell::split(line));
        let err = err
            .replace(&format!("{}/", folder().display()), "")
            .replace(&format!("{}\\", folder().display()), "");
        format!("$ etwkit {line}\n{out}{err}[exit {}]\n", exit.code())
    });
    compare(&transcripts.collect::<Vec<_>>().join("\n"), name);
}

#[test]
fn processes_have_the_names_of_rules() {
    check(
        "names-processes",
        &[
            "dump process --time-format s --no-cmdline services.etwx",
            "dump process --time-format s --rename-rules default services.etwx",
            "dump process --time-format s --rename-rules default --process 'svchost event log service;shop' --json services.etwx",
            "dump process --time-format s --no-cmdline --rename-rules names.xml --sort-by tree services.etwx",
            "dump --rename-rules default process --time-format s --no-cmdline --process svchost services.etwx",
            "dump process --time-format s --no-cmdline --rename-rules default --parent 'svchost wmi service' services.etwx",
            "dump memory --time-format s --no-cmdline --rename-rules default --process 'svchost*' services.etwx",
            "dump exception --time-format s --no-cmdline --rename-rules default --process 'svchost wmi*' --show-module services.etwx",
            "sql --rename-rules names.xml services.etwx 'SELECT pid, p.name, r.name AS recorded FROM process p JOIN process_recorded r USING (process_key, pid) ORDER BY pid'",
            "dump process --rename-rules bad.xml services.etwx",
            "dump process --rename-rules filters.xml services.etwx",
        ],
    );
}

#[test]
fn exceptions_are_left_out_by_rules() {
    check(
        "names-exceptions",
        &[
            "dump exception --time-format s --no-cmdline services.etwx",
            "dump exception --time-format s --no-cmdline --exception-filters filters.xml services.etwx",
            "dump exception --time-format s --no-cmdline --exception-filters filters.xml --sort-by time --top 1 services.etwx again.etwx",
            "dump exception --exception-filters filters.xml --message '*db*' --json services.etwx",
            "dump exception --time-format s --no-cmdline --exception-filters default --process 'svchost' services.etwx",
            "dump exception --exception-filters names.xml services.etwx",
        ],
    );
}

/// What the program prints as a process of its own, with these variables.
fn with_variables(args: &[String], variables: &[(&str, &str)]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etwkit"));
    command
        .args(args)
        .current_dir(folder())
        .env("LC_ALL", "C")
        .env("ETWKIT_OFFLINE", "1");
    for variable in ["ETWKIT_RENAME_RULES", "ETWKIT_EXCEPTION_FILTERS"] {
        command.env_remove(variable);
    }
    let answer = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        text(answer.stdout),
        text(answer.stderr),
        answer.status.code().unwrap(),
    )
}

#[cfg(unix)]
#[test]
fn a_time_zone_that_the_system_lacks_is_noted() {
    let note = |format: &str, zone: &str| {
        let line = format!("dump time --time-format {format} services.etwx");
        let (_, err, code) = with_variables(&shell::split(&line), &[("TZ", zone)]);
        assert_eq!(code, 0, "{line}: {err}");
        err.contains("does not know the time zone \"Mars/Phobos\" (TZ)")
    };
    assert!(note("here", "Mars/Phobos"));
    assert!(!note("here", "CET-1CEST"));
    assert!(!note("utc", "Mars/Phobos"));
}

#[test]
fn variables_name_what_default_stands_for() {
    let names = |line: &str, variables: &[(&str, &str)]| {
        let (out, err, code) = with_variables(&shell::split(line), variables);
        assert_eq!(code, 0, "{line}: {err}");
        let has = |name: &str| out.contains(name);
        (has("svchost WMI Service"), has("DNS cache"))
    };
    let file = [("ETWKIT_RENAME_RULES", "names.xml")];
    for (line, plain, with_file) in [
        ("dump process services.etwx", (false, false), (false, false)),
        (
            "dump process --rename-rules none services.etwx",
            (false, false),
            (false, false),
        ),
        (
            "dump process --rename-rules default services.etwx",
            (true, false),
            (false, true),
        ),
        (
            "dump process --rename-rules names.xml services.etwx",
            (false, true),
            (false, true),
        ),
        (
            "-dump process -fd services.etwx",
            (true, false),
            (false, true),
        ),
        (
            "-dump process -fd services.etwx -ppn",
            (false, false),
            (false, false),
        ),
        (
            "-dump memory -fd services.etwx",
            (true, false),
            (false, false),
        ),
        (
            "-dump memory -fd services.etwx -PlainProcessNames",
            (false, false),
            (false, false),
        ),
    ] {
        assert_eq!(
            (names(line, &[]), names(line, &file)),
            (plain, with_file),
            "{line}"
        );
    }
    // Filters look at the name that is shown.
    for (line, code) in [
        ("-dump process -fd services.etwx -pn svchost(1008)", 1),
        ("-dump process -fd services.etwx -ppn -pn svchost(1008)", 0),
        (
            "-dump process -fd services.etwx -pn 'svchost wmi service(1008)'",
            0,
        ),
        ("-dump process -fd services.etwx -pn 1008", 0),
    ] {
        assert_eq!(with_variables(&shell::split(line), &[]).2, code, "{line}");
    }
    let bad = with_variables(
        &shell::split("-dump process -fd services.etwx"),
        &[("ETWKIT_RENAME_RULES", "bad.xml")],
    );
    assert_eq!(bad.2, 2);
    assert!(
        bad.1.contains("ETWKIT_RENAME_RULES") && bad.1.contains("bad.xml:3:5: expected"),
        "{}",
        bad.1
    );
    assert!(bad.1.contains("hint: rules for names are XML"), "{}", bad.1);
}

#[test]
fn exceptions_are_left_out_on_request_alone() {
    let file = [("ETWKIT_EXCEPTION_FILTERS", "filters.xml")];
    let line = "-dump exception -fd services.etwx";
    let (all, err, _) = with_variables(&shell::split(line), &file);
    assert!(
        all.contains("Total: 5 exceptions") && err.is_empty(),
        "{all}{err}"
    );
    let (left, err, code) =
        with_variables(&shell::split(&format!("{line} -FilterExceptions")), &file);
    assert!(
        left.contains("Total: 3 exceptions") && code == 0,
        "{left}{err}"
    );
    assert_eq!(
        err,
        "note: exceptions left out by the rules of filters.xml: 2\n"
    );
    let (same, err, _) = with_variables(&shell::split(&format!("{line} -FilterExceptions")), &[]);
    assert_eq!(same, all);
    assert!(
        err.contains("no exception is left out: there are no rules, ETWKIT_EXCEPTION_FILTERS"),
        "{err}"
    );
}

/// What a name gets in front.
const MARK: &str = "renamed ";

/// A file of rules that rename every process of these extracts that has a command line.
fn rules_for_all(extracts: &[PathBuf], file: &Path) {
    let paths: Vec<&str> = extracts.iter().map(|path| path.to_str().unwrap()).collect();
    let sql =
        "SELECT DISTINCT name FROM process WHERE name IS NOT NULL AND command_line IS NOT NULL";
    let Answer { out, err, .. } = run(&[&["sql", "--format", "json"], &paths[..], &[sql]].concat());
    let mut rules = String::new();
    for line in out.lines().skip(1) {
        let name = serde_json::from_str::<Value>(line).unwrap()["name"]
            .as_str()
            .unwrap()
            .to_owned();
        rules += &format!(
            "<RenameRule><ExeName>{name}</ExeName><NewExeName>{MARK}{name}</NewExeName></RenameRule>\n"
        );
    }
    assert!(rules.lines().count() > 5, "{out}{err}");
    let text =
        format!("<ProcessRenamer><ProcessRenamers>{rules}</ProcessRenamers></ProcessRenamer>");
    std::fs::write(file, text).unwrap();
}

#[test]
fn no_dump_goes_past_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let extracts = together::extracts();
    let rules = folder.path().join("rules.xml");
    rules_for_all(&extracts, &rules);
    let with_rules = format!("--rename-rules {} ", rules.display());
    let mut renamed_rows = 0;
    for question in together::QUESTIONS {
        let (mut plain, renamed) = (
            together::answer(question, &extracts),
            together::answer(&format!("{with_rules}{question}"), &extracts),
        );
        for line in &renamed {
            let row: Value = serde_json::from_str(line).unwrap();
            if row["command_line"].is_null() {
                continue;
            }
            let column = if question.starts_with("process") {
                "name"
            } else {
                "process"
            };
            if let Some(name) = row[column].as_str() {
                assert!(name.starts_with(MARK), "{question}: {line}");
                renamed_rows += 1;
            }
        }
        let mut same: Vec<String> = renamed.iter().map(|line| line.replace(MARK, "")).collect();
        plain.sort();
        same.sort();
        assert_eq!(same, plain, "{question}");
    }
    assert!(renamed_rows > 200, "{renamed_rows}");
    // What is no dump of rows. Without a process `export` lists them, which is an error.
    let sched = extracts[0].to_str().unwrap();
    for (line, exit) in [
        (&["critical-path", "--sums", "--json"][..], Exit::Answered),
        (&["export"], Exit::Error),
        (&["dump", "overview"], Exit::Answered),
        (&["dump", "wait", "--chain", "--json"], Exit::Answered),
        (
            &["dump", "wait", "--by", "readying", "--json"],
            Exit::Answered,
        ),
        (&["dump", "process", "--merge"], Exit::Answered),
    ] {
        let answer = run(&[line, &["--rename-rules", rules.to_str().unwrap(), sched]].concat());
        assert_eq!(answer.exit, exit, "{line:?}: {}{}", answer.out, answer.err);
        assert!(answer.out.contains(MARK), "{line:?}: {}", answer.out);
    }
}
