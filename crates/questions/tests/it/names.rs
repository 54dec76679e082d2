//! Rules for the names of processes: all queries for names get the names of the rules.

use std::sync::Arc;

use etwkit_question::ProcessQuery;
use etwkit_questions::exception::ExceptionRequest;
use etwkit_questions::process::{ProcessRequest, ProcessSort};
use etwkit_sql::rename::RenameRules;
use etwkit_sql::{KnownQuestions, Options, Session, Source};
use etwkit_trace::table::{CpuSample, Exception, Module, Process};

use super::support::{ask, rows, text};

fn processes() -> Vec<Process> {
    let process = |(process_key, (name, line)): (i32, (Option<&str>, Option<&str>))| Process {
        process_key,
        pid: process_key * 4,
        name: name.map(Into::into),
        command_line: line.map(Into::into),
        parent_process_key: Some(process_key - 1).filter(|key| *key > 0),
        ..Process::default()
    };
    let svchost = Some("svchost.exe");
    let all = [
        (svchost, Some("svchost.exe -k netsvcs -p -s Winmgmt")),
        (
            svchost,
            Some("svchost.exe -k LocalServiceNetworkRestricted -s EventLog"),
        ),
        (svchost, None),
        (Some("cmd.exe"), Some("cmd.exe /c svchost.exe -s EventLog")),
        (None, Some("-s EventLog")),
    ];
    (1..).zip(all).map(process).collect()
}

fn source(name: &str) -> Source {
    let sample = |process_key| CpuSample {
        process_key: Some(process_key),
        weight_ns: 5,
        ..CpuSample::default()
    };
    let module = |process_key, name: &str| Module {
        process_key: Some(process_key),
        name: name.into(),
        path: format!(r"C:\Windows\{name}"),
        ..Module::default()
    };
    let modules = [
        module(1, "ntdll.dll"),
        module(1, "SvcHost.exe"),
        module(4, "cmd.exe"),
    ];
    let thrown = Exception {
        process_key: Some(1),
        exception_type: "A".into(),
        ..Exception::default()
    };
    let samples = rows(&[1, 2, 2, 4].map(sample));
    Source::batches(
        name,
        vec![rows(&processes()), samples, rows(&modules), rows(&[thrown])],
    )
}

fn options(rules: Option<RenameRules>) -> Options {
    Options {
        process_names: rules.map(Arc::new),
        ..Options::default()
    }
}

fn session(rules: Option<RenameRules>) -> Session {
    Session::new(vec![source("a")], &options(rules)).unwrap()
}

const NAMES: &str = "SELECT name FROM process ORDER BY process_key";
const RENAMED: &str = "svchost WMI Service\nsvchost Event Log Service\nsvchost.exe\ncmd.exe\n-";
const PLAIN: &str = "svchost.exe\nsvchost.exe\nsvchost.exe\ncmd.exe\n-";

#[test]
fn every_question_sees_the_new_names() {
    let (plain, renamed) = (session(None), session(Some(RenameRules::supplied())));
    assert_eq!(
        (ask(&plain, NAMES), ask(&renamed, NAMES)),
        (PLAIN.to_owned(), RENAMED.to_owned())
    );
    for (sql, answer) in [
        (
            "SELECT pid, name, command_line FROM process WHERE name = 'svchost WMI Service'",
            "4|svchost WMI Service|svchost.exe -k netsvcs -p -s Winmgmt",
        ),
        (
            "SELECT pid FROM process WHERE process_match(name, pid, 'svchost')",
            "12",
        ),
        (
            "SELECT pid FROM process WHERE process_match(name, pid, 'svchost event log service(8)')",
            "8",
        ),
        (
            "SELECT pid FROM process WHERE name LIKE 'svchost %' ORDER BY name",
            "8\n4",
        ),
        (
            "SELECT count(*), count(name), count(DISTINCT name) FROM process",
            "5|4|4",
        ),
        (
            "SELECT p.name, sum(s.weight_ns) FROM cpu_sample s JOIN process p USING (process_key) GROUP BY p.name ORDER BY 1",
            "cmd.exe|5\nsvchost Event Log Service|10\nsvchost WMI Service|5",
        ),
        (
            "SELECT p.name, q.name FROM process p JOIN process q ON q.process_key = p.parent_process_key WHERE p.pid = 12",
            "svchost.exe|svchost Event Log Service",
        ),
        (
            "SELECT name FROM process WHERE pid = 8 LIMIT 1",
            "svchost Event Log Service",
        ),
        (
            "SELECT name FROM process_recorded WHERE pid = 8",
            "svchost.exe",
        ),
        (
            "SELECT DISTINCT name FROM process ORDER BY name DESC NULLS LAST LIMIT 1",
            "svchost.exe",
        ),
    ] {
        assert_eq!(ask(&renamed, sql), answer, "{sql}");
    }
    assert_eq!(
        ask(
            &plain,
            "SELECT * FROM process EXCEPT SELECT * FROM process_recorded"
        ),
        ""
    );
    let differ = "SELECT pid FROM (SELECT * FROM process EXCEPT SELECT * FROM process_recorded) ORDER BY pid";
    assert_eq!(ask(&renamed, differ), "4\n8");
    // The same files, asked in another way.
    assert_eq!(
        ask(
            &plain
                .again(&options(Some(RenameRules::supplied())))
                .unwrap(),
            NAMES
        ),
        RENAMED
    );
    assert_eq!(ask(&renamed.again(&options(None)).unwrap(), NAMES), PLAIN);
}

#[test]
fn several_extracts_have_the_names_of_the_rules() {
    let options = options(Some(RenameRules::supplied()));
    let session = Session::new(vec![source("a"), source("b")], &options).unwrap();
    let sql = "SELECT trace_id, name FROM process WHERE pid = 8 ORDER BY 1";
    assert_eq!(
        ask(&session, sql),
        "0|svchost Event Log Service\n1|svchost Event Log Service"
    );
    let known = Arc::new(KnownQuestions::default());
    for together in [1, 3] {
        let sources = (0..together).map(|_| source("a")).collect();
        for session in known.sessions(sources, &options) {
            assert_eq!(text(session.sql(NAMES).unwrap()), RENAMED);
            let request = ProcessRequest::default();
            let names: Vec<_> = request
                .ask(&session)
                .unwrap()
                .rows
                .into_iter()
                .map(|row| row.name)
                .collect();
            let expected = [
                None,
                Some("cmd.exe"),
                Some("svchost Event Log Service"),
                Some("svchost WMI Service"),
                Some("svchost.exe"),
            ];
            assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        }
    }
    assert_eq!(
        known.asked_alone(),
        [""; 0],
        "one plan answers for all of them"
    );
}

#[test]
fn text_of_rules_is_no_sql() {
    let file = "<ProcessRenamer><ProcessRenamers><RenameRule><ExeName>cmd.exe</ExeName><CmdLineSubstrings>\
        <string>/c SVCHOST</string></CmdLineSubstrings><NewExeName>'; SELECT '%_*?</NewExeName></RenameRule></ProcessRenamers></ProcessRenamer>";
    let session = session(Some(RenameRules::parse("r.xml", file.as_bytes()).unwrap()));
    assert_eq!(
        ask(&session, "SELECT name FROM process WHERE pid = 16"),
        "'; SELECT '%_*?"
    );
}

#[test]
fn executables_and_parents_of_renamed_processes_are_found() {
    let session = session(Some(RenameRules::supplied()));
    let named = |process: &str| ProcessQuery {
        process: Some(process.into()),
        ..ProcessQuery::default()
    };
    let request = ProcessRequest {
        parent: Some("svchost wmi*".into()),
        sort: ProcessSort::Tree,
        ..ProcessRequest::default()
    };
    let rows = request.ask(&session).unwrap().rows;
    let names: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_deref(), row.parent.as_deref()))
        .collect();
    assert_eq!(
        names,
        [
            (Some("svchost WMI Service"), None),
            (
                Some("svchost Event Log Service"),
                Some("svchost WMI Service")
            )
        ]
    );
    // The module is the executable, with any name of the process.
    let thrown = ExceptionRequest {
        processes: named("svchost wmi service"),
        ..ExceptionRequest::default()
    };
    let paths: Vec<_> = thrown
        .list(&session)
        .unwrap()
        .answer
        .into_iter()
        .map(|row| row.module_path)
        .collect();
    assert_eq!(paths, [Some(r"C:\Windows\SvcHost.exe".to_owned())]);
}
