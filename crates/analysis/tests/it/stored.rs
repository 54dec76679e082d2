//! A diagnosis that was stored is the one that was made, and is used only where it is.

use std::sync::{Arc, LazyLock};

use etwkit_analysis::diagnose::{
    DiagnoseRequest, Diagnosis, FindingRow, TrendRequest, TrendRow, diagnosis_tables, rules,
    rules_version,
};
use etwkit_question::Question;
use etwkit_sql::rename::RenameRules;
use etwkit_sql::{Options, Session, Source};
use etwkit_trace::table::{Process, Row, RuleOutcome, Trace};

use super::support::{Machine, TableRows, off, rows};

const MS: i64 = 1_000_000;

/// The rule that finds the cause in the machine.
const RULE: &str = "lock-convoy";

/// The diagnosis of the machine. Evaluating all rules takes a while, so it is made once.
static MADE: LazyLock<Diagnosis> =
    LazyLock::new(|| diagnose(machine().tables(), &DiagnoseRequest::default()));

/// The diagnosis of the machine as tables.
static STORED: LazyLock<Vec<TableRows>> = LazyLock::new(|| stored(&machine()));

/// Two processes queue at the same place of a library.
fn machine() -> Machine {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 60_000 * MS);
    let lock = machine.stack(&["ntdll.dll!RtlAcquireSRWLockExclusive", "a.exe!Log"]);
    for (thread, after) in [(1, 0), (2, 20_000)] {
        for number in 0_i64..20 {
            let from = (after + number * 400) * MS;
            let wait = off(thread, from).readied(from + 12 * MS, 3 - thread);
            machine.add(wait.ran(from + 12 * MS, from + 13 * MS).in_stack(lock));
        }
    }
    machine
}

fn stored(machine: &Machine) -> Vec<TableRows> {
    let tables = diagnosis_tables(&machine.session()).unwrap();
    tables
        .into_iter()
        .map(|(table, rows)| (table, vec![rows]))
        .collect()
}

/// The tables of a machine that name things, which show no waits.
fn names(machine: &Machine) -> Vec<TableRows> {
    let kept = [Trace::TABLE.name, Process::TABLE.name];
    let mut tables = machine.tables();
    tables.retain(|(table, _)| kept.contains(&table.name));
    tables
}

/// These tables, and the diagnosis of the machine.
fn with_stored(tables: Vec<TableRows>) -> Vec<TableRows> {
    [tables, STORED.clone()].concat()
}

fn diagnose(tables: Vec<TableRows>, request: &DiagnoseRequest) -> Diagnosis {
    let session = Session::from_batches(tables).unwrap();
    request.ask(&session).unwrap()
}

/// The finding about the lock.
fn convoy(diagnosis: &Diagnosis) -> Option<&FindingRow> {
    diagnosis.findings.iter().find(|one| one.rule == RULE)
}

#[test]
fn a_stored_diagnosis_is_the_one_that_was_made() {
    let found = convoy(&MADE).unwrap();
    assert!(found.stack.is_some() && found.chain.is_some() && found.cost_ns.is_some());
    // Without the rows that it was made of, it can only be the stored one.
    for tables in [names(&machine()), machine().tables()] {
        let read = diagnose(with_stored(tables), &DiagnoseRequest::default());
        assert_eq!(read.findings, MADE.findings);
        assert_eq!(read.rules, MADE.rules);
    }
    // Options for readers choose among its findings.
    let one = DiagnoseRequest {
        top: Some(1),
        fail_on: Some(RULE.to_owned()),
        ..DiagnoseRequest::default()
    };
    let read = diagnose(with_stored(names(&machine())), &one);
    assert_eq!((read.findings.len(), read.fails), (1, Some(true)));
}

#[test]
fn rules_of_another_version_are_evaluated_again() {
    let outcome = |rule: &str| RuleOutcome {
        rule: rule.to_owned(),
        state: "nothing".to_owned(),
        rule_version: "0123456789abcdef".to_owned(),
        ..RuleOutcome::default()
    };
    let old: Vec<RuleOutcome> = rules().iter().map(|rule| outcome(&rule.name)).collect();
    let tables = [machine().tables(), vec![rows(&old)]].concat();
    let read = diagnose(tables, &DiagnoseRequest::default());
    assert_eq!(read.findings, MADE.findings);
    assert_eq!(read.rules, MADE.rules);
}

#[test]
fn one_rule_alone_is_evaluated_where_the_rows_are() {
    let one = DiagnoseRequest {
        rule: Some(RULE.to_owned()),
        ..DiagnoseRequest::default()
    };
    // These tables have no waits, and nothing was left out of them.
    let read = diagnose(with_stored(names(&machine())), &one);
    assert!(read.findings.is_empty(), "{:?}", read.findings);
}

#[test]
fn other_names_of_processes_are_in_no_stored_sentence() {
    let options = Options {
        process_names: Some(Arc::new(RenameRules::supplied())),
        ..Options::default()
    };
    let tables = with_stored(names(&machine()));
    let session = Session::new(vec![Source::batches("memory", tables)], &options).unwrap();
    let read = DiagnoseRequest::default().ask(&session).unwrap();
    assert!(convoy(&read).is_none(), "{:?}", read.findings);
}

#[test]
fn the_version_of_all_rules_is_a_hash() {
    let version = rules_version();
    assert_eq!(version.len(), 16);
    assert!(version.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

/// Two runs without the lock, two with it, and one that was extracted without a diagnosis.
#[test]
fn a_trend_counts_the_runs_of_each_rule() {
    let healthy = Machine::new(&["a.exe", "b.exe"], 60_000 * MS);
    let healthy = [names(&healthy), stored(&healthy)].concat();
    let sick = with_stored(names(&machine()));
    let runs = [
        healthy.clone(),
        healthy,
        sick.clone(),
        sick,
        names(&machine()),
    ];
    let sources = runs.map(|tables| Source::batches("run", tables));
    let session = Session::new(sources.into(), &Options::default()).unwrap();
    let answer = TrendRequest::default().answer(&session).unwrap();
    let rows: Vec<&TrendRow> = answer.rows_of::<TrendRequest, TrendRow>().collect();
    let row = rows.iter().find(|row| row.rule == RULE).unwrap();
    assert_eq!((row.runs, row.versions, row.culprits), (2, 1, 1));
    // Rows in memory have no start, so the order of the extracts decides.
    assert_eq!(row.late_percent, Some(100.0));
    assert_ne!(row.early_percent, Some(100.0));
    let found = convoy(&MADE).unwrap();
    assert_eq!(row.median_cost_ns, found.cost_ns);
    assert_eq!(row.culprit.as_ref(), Some(&found.culprit));
}

#[test]
fn a_trend_of_a_mistyped_rule_is_an_error() {
    let mistyped = TrendRequest {
        rule: Some("lock-convoi".to_owned()),
    };
    let error = mistyped.check().unwrap_err().to_string();
    assert!(error.contains("did you mean lock-convoy?"), "{error}");
}
