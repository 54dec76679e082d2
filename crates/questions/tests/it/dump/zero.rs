//! Times from another zero.

use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::zero::{ZeroMode, ZeroTime};
use etwkit_questions::cpu::{CpuLimits, CpuRequest};
use etwkit_questions::process::ProcessRequest;
use etwkit_sql::Session;
use etwkit_trace::table::{CpuMethod, CpuProcess, Mark, Process};

use super::super::support::rows;
use super::{S, methods_by_cpu, process};

fn session() -> Session {
    let processes = [
        Process {
            start_ns: Some(2 * S),
            stop_ns: Some(6 * S),
            command_line: Some("a -x".into()),
            ..process(1, 4, "a.exe")
        },
        Process {
            start_ns: Some(3 * S),
            ..process(2, 8, "b.exe")
        },
    ];
    let marks = [(4, "load begin"), (5, "load end")].map(|(at, text)| Mark {
        ts_ns: at * S,
        text: text.into(),
        ..Mark::default()
    });
    let cpu = [1, 2].map(|key| CpuProcess {
        process_key: Some(key),
        samples: 1,
        first_ns: 3 * S,
        last_ns: 5 * S,
        ..CpuProcess::default()
    });
    let methods =
        [(1, "main", 3, 6), (2, "OnLoad", 4, 5)].map(|(key, name, first, last)| CpuMethod {
            process_key: Some(key),
            method: name.into(),
            first_ns: first * S,
            last_ns: last * S,
            ..CpuMethod::default()
        });
    Session::from_batches(vec![
        rows(&processes),
        rows(&marks),
        rows(&cpu),
        rows(&methods),
    ])
    .unwrap()
}

fn zero(mode: ZeroMode, filter: Option<&str>, process: Option<&str>) -> ZeroTime {
    ZeroTime {
        mode: Some(mode),
        filter: filter.map(str::to_owned),
        process: process.map(str::to_owned),
    }
}

#[test]
fn times_are_counted_from_what_is_named() {
    for (zero, first, warns) in [
        (ZeroTime::default(), 3, false),
        (zero(ZeroMode::Marker, Some("load*"), None), -1, true),
        (zero(ZeroMode::Marker, Some("*end"), None), -2, false),
        (zero(ZeroMode::Marker, Some("nothing"), None), 3, true),
        (zero(ZeroMode::ProcessStart, None, Some("a")), 1, false),
        (zero(ZeroMode::ProcessEnd, Some("*-x"), None), -3, false),
        (zero(ZeroMode::ProcessStart, None, None), 1, true),
        (zero(ZeroMode::ProcessEnd, None, Some("b")), 3, true),
    ] {
        let request = CpuRequest {
            zero: zero.clone(),
            ..CpuRequest::default()
        };
        let rows = request
            .process_answer(&session())
            .unwrap_or_else(|error| panic!("{error}\n{}", request.process_sql()))
            .rows;
        let row = &rows[0];
        let moved = first - 3;
        assert_eq!(
            (row.first_ns, row.last_ns),
            (first * S, (5 + moved) * S),
            "{zero:?}"
        );
        assert_eq!(row.process_start_ns, Some((2 + moved) * S), "{zero:?}");
        assert_eq!(
            zero.warning(&session()).unwrap().is_some(),
            warns,
            "{zero:?}"
        );
    }
}

#[test]
fn limits_look_at_moved_times() {
    let zero = zero(ZeroMode::ProcessStart, None, Some("a"));
    let first = |min, max| CpuRequest {
        limits: CpuLimits {
            first: Range { min, max },
            ..CpuLimits::default()
        },
        zero: zero.clone(),
        ..CpuRequest::default()
    };
    assert_eq!(
        first(S, S).process_answer(&session()).unwrap().rows.len(),
        2
    );
    assert!(
        first(3 * S, 3 * S)
            .process_answer(&session())
            .unwrap()
            .rows
            .is_empty()
    );
    let only = ProcessQuery {
        process: Some("b".into()),
        ..ProcessQuery::default()
    };
    let request = CpuRequest {
        zero: zero.clone(),
        processes: only,
        ..methods_by_cpu()
    };
    let row = request
        .method_answer(&session())
        .unwrap()
        .processes
        .remove(0)
        .rows
        .remove(0);
    assert_eq!(
        (row.first_ns, row.last_ns, row.duration_ns),
        (Some(2 * S), Some(3 * S), Some(S))
    );
    let request = ProcessRequest {
        zero,
        start: Range { min: S, max: S },
        ..ProcessRequest::default()
    };
    let rows = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
        .rows;
    assert_eq!(
        rows.iter()
            .map(|row| (row.pid, row.start_ns))
            .collect::<Vec<_>>(),
        [(8, Some(S))]
    );
}

#[test]
fn methods_come_before_stack_tags() {
    let tags = "cpu_tag AS (SELECT * FROM (VALUES (1, 'Load', 1000, 2000), (1, 'OnLoad', 7, 8)) AS t(process_key, tag, first_ns, last_ns))";
    for (mode, filter, expected) in [
        (ZeroMode::First, "OnLoad", -S),
        (ZeroMode::Last, "OnLoad", -2 * S),
        (ZeroMode::First, "Load", 3 * S - 1000),
        (ZeroMode::Last, "nothing", 3 * S),
    ] {
        let request = CpuRequest {
            zero: zero(mode, Some(filter), None),
            ..CpuRequest::default()
        };
        let sql = format!(
            "WITH {tags} SELECT first_ns FROM ({}) LIMIT 1",
            request.process_sql()
        );
        assert_eq!(
            super::super::support::ask(&session(), &sql),
            expected.to_string(),
            "{mode:?} {filter}"
        );
    }
}
