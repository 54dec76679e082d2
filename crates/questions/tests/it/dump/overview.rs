//! A trace on one screen.

use etwkit_question::range::Range;
use etwkit_question::{AnswerPart, Question};
use etwkit_questions::overview::{Overview, OverviewRequest};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::table::{
    AlpcProcess, ContextSwitch, CpuMethod, CpuProcess, CpuSample, DpcIsr, EventCount, Gc,
    GenericEvent, HardFaultFile, HeapProcess, Jit, MiniFilterDriver, NetIo, PageFaultProcess,
    PoolTag, Process, Table,
};

use super::super::support::rows;
use super::{MS, S, process, trace};

fn method(module: Option<&str>, path: Option<&str>, method: &str, exclusive_ns: i64) -> CpuMethod {
    CpuMethod {
        process_key: Some(1),
        module: module.map(str::to_owned),
        module_path: path.map(str::to_owned),
        method: method.into(),
        exclusive_ns: Some(exclusive_ns),
        ..CpuMethod::default()
    }
}

/// Files of one name in several folders are several modules, ignoring the case of a path; code
/// without a file is .NET's if it has a name.
#[test]
fn modules_are_distinguished_by_their_paths() {
    let clr = Some("clr.dll");
    let methods = [
        method(clr, Some("C:\\v4\\clr.dll"), "a", 300),
        method(clr, Some("c:\\V4\\CLR.dll"), "b", 15),
        method(clr, Some("C:\\v2\\clr.dll"), "a", 24),
        method(None, None, "Program.Main", 4000),
        method(None, None, "Program.Work", 494),
        method(None, None, "0x7ff8", 7),
        method(None, None, "+0x10", 1),
        method(Some("idle.dll"), Some("C:\\idle.dll"), "c", 0),
    ];
    let session =
        Session::from_batches(vec![rows(&[process(1, 8, "app.exe")]), rows(&methods)]).unwrap();
    let modules = Overview::ask(&session, &OverviewRequest::default())
        .unwrap()
        .modules;
    // The largest is the last.
    let found: Vec<_> = modules
        .iter()
        .rev()
        .map(|m| (&*m.kind, m.module_path.as_deref(), m.exclusive_ns))
        .collect();
    assert_eq!(
        found,
        [
            ("dotnet", None, 4494),
            ("module", Some("C:\\v4\\clr.dll"), 315),
            ("module", Some("C:\\v2\\clr.dll"), 24),
            ("unknown", None, 8),
        ]
    );
}

/// All words and numbers below the tables of an overview, and in their cells.
fn words(tables: Vec<(&'static Table, Vec<RecordBatch>)>) -> String {
    words_of(&OverviewRequest::default(), tables)
}

fn words_of(request: &OverviewRequest, tables: Vec<(&'static Table, Vec<RecordBatch>)>) -> String {
    let session = Session::from_batches(tables).unwrap();
    let answer = request.answer(&session).unwrap();
    let part = |part: &AnswerPart| {
        let columns = part.table.columns().len();
        let cells = (0..part.table.len())
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(row, column)| format!("{:?}", part.table.value(row, column)));
        let foot = part.foot.iter().map(|line| format!("{line:?}"));
        cells.chain(foot).collect::<Vec<_>>()
    };
    answer.parts.iter().flat_map(part).collect()
}

/// Four processors have 40 s of time in ten seconds.
#[test]
fn more_cpu_than_all_processors_have_is_explained() {
    let sampled = |seconds| CpuProcess {
        process_key: Some(1),
        samples: 1,
        cpu_ns: seconds * S,
        ..CpuProcess::default()
    };
    let is_explained = |seconds| {
        words(vec![
            rows(&[trace()]),
            rows(&[process(1, 8, "app.exe")]),
            rows(&[sampled(seconds)]),
        ])
        .contains("samples probably came faster")
    };
    assert_eq!((is_explained(42), is_explained(80)), (false, true));
}

/// DPCs and interrupts on idle processors are in the lists of modules and methods.
#[test]
fn cpu_of_the_idle_process_is_named() {
    let sampled = |process_key, ms| CpuProcess {
        process_key: Some(process_key),
        samples: 1,
        cpu_ns: ms * MS,
        ..CpuProcess::default()
    };
    let found = |idle_ms| {
        words(vec![
            rows(&[trace()]),
            rows(&[process(0, 0, "Idle"), process(1, 8, "app.exe")]),
            rows(&[sampled(0, idle_ms), sampled(1, 9)]),
        ])
    };
    let named = "of DPCs and interrupts on idle processors";
    assert!(found(7).contains(named), "{}", found(7));
    assert!(!found(0).contains(named), "{}", found(0));
}

#[test]
fn cpu_of_the_idle_process_is_that_of_the_range() {
    let sample = |ms: i64, is_idle| CpuSample {
        ts_ns: ms * MS,
        process_key: Some(0),
        weight_ns: MS,
        is_idle,
        ..CpuSample::default()
    };
    let samples = [sample(1, false), sample(5, false), sample(6, true)];
    let session = Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[process(0, 0, "Idle")]),
        rows(&samples),
    ]);
    let request = OverviewRequest {
        time: Range {
            min: 4 * MS,
            max: 9 * MS,
        },
        ..OverviewRequest::default()
    };
    let overview = Overview::ask(&session.unwrap(), &request).unwrap();
    assert_eq!(overview.idle_ns, MS);
}

#[test]
fn the_part_of_the_trace_is_in_seconds() {
    for (min, max, expected) in [
        (2 * S, 4 * S, "2 s to 4 s: CPU"),
        (S / 2, i64::MAX, "0.5 s to the end: CPU"),
        (i64::MIN, 4 * S, "up to 4 s: CPU"),
    ] {
        let request = OverviewRequest {
            time: Range { min, max },
            ..OverviewRequest::default()
        };
        let found = words_of(&request, vec![rows(&[trace()])]);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn idle_is_one_of_the_processes() {
    let processes = [process(0, 0, "Idle"), process(1, 8, "app.exe")];
    let session = Session::from_batches(vec![rows(&[trace()]), rows(&processes)]).unwrap();
    let overview = Overview::ask(&session, &OverviewRequest::default()).unwrap();
    let counts = overview.contents.unwrap().counts;
    let counts: Vec<_> = counts.iter().map(|row| (&*row.what, row.count)).collect();
    assert_eq!(counts, [("processes", 2)]);
}

#[test]
fn one_provider_is_singular() {
    let of = |guid: &str| GenericEvent {
        provider_guid: guid.into(),
        ..GenericEvent::default()
    };
    let one = words(vec![rows(&[trace()]), rows(&[of("a"), of("a")])]);
    assert!(
        one.contains("\" provider\"") && !one.contains("\" providers\""),
        "{one}"
    );
    let two = words(vec![rows(&[trace()]), rows(&[of("a"), of("b")])]);
    assert!(two.contains("\" providers\""), "{two}");
}

/// Dumps are suggested where the trace has rows for them, and by those alone.
#[test]
fn an_overview_suggests_what_has_rows() {
    let dumps = |tables| {
        let session = Session::from_batches(tables).unwrap();
        Overview::ask(&session, &OverviewRequest::default())
            .unwrap()
            .dumps
    };
    assert_eq!(dumps(Vec::new()), [""; 0]);
    let ready = CpuProcess {
        process_key: Some(1),
        ready_sum_ns: Some(5),
        ..CpuProcess::default()
    };
    let started = Process {
        start_ns: Some(7),
        ..process(1, 8, "app.exe")
    };
    let all = vec![
        rows(&[started]),
        rows(std::slice::from_ref(&ready)),
        rows(&[ContextSwitch::default()]),
        rows(&[HardFaultFile::default()]),
        rows(&[MiniFilterDriver::default()]),
        rows(&[PageFaultProcess::default()]),
        rows(&[DpcIsr::default()]),
        rows(&[AlpcProcess::default()]),
        rows(&[NetIo::default()]),
        rows(&[Gc::default()]),
        rows(&[Jit::default()]),
        rows(&[
            GenericEvent {
                provider: Some("EventTrace".into()),
                ..GenericEvent::default()
            },
            GenericEvent::default(),
        ]),
        rows(&[HeapProcess::default()]),
        rows(&[PoolTag::default()]),
        rows(&[EventCount::default()]),
    ];
    assert_eq!(
        dumps(all),
        [
            "hard-fault",
            "mini-filter",
            "page-fault",
            "dpc",
            "ready",
            "start",
            "alpc",
            "net",
            "gc",
            "jit",
            "events",
            "heap",
            "pool",
            "trace-stats"
        ]
    );
    // Sums alone do not say who ran instead; a process that ran all the time cost nothing to start.
    assert_eq!(
        dumps(vec![rows(&[process(1, 8, "app.exe")]), rows(&[ready])]),
        [""; 0]
    );
}
