//! Performance counters.

use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{Error, ProcessQuery};
use etwkit_questions::pmc::{PmcRequest, PmcRow};
use etwkit_sql::Session;
use etwkit_trace::table::{Frame, Method, Pmc, PmcCounter, PmcSample, PmcThread, Stack, Thread};

use super::super::support::rows;
use super::process;

fn sum(process_key: i32, thread_key: i32, counter: &str, value: i64) -> PmcThread {
    PmcThread {
        process_key: Some(process_key),
        thread_key,
        counter: counter.into(),
        kind: "counted",
        value,
        count: 2,
        run_ns: Some(1000),
    }
}

fn session() -> Session {
    let thread = |thread_key, tid| Thread {
        thread_key,
        tid,
        ..Thread::default()
    };
    let sums = [
        sum(0, 9, "InstructionRetired", 1),
        sum(1, 1, "InstructionRetired", 100),
        sum(1, 1, "TotalCycles", 150),
        sum(1, 1, "BranchInstructions", 40),
        sum(1, 1, "BranchMispredictions", 2),
        sum(1, 1, "IcacheMisses", 7),
        sum(1, 1, "Another", 8),
        sum(1, 2, "InstructionRetired", 300),
        sum(1, 2, "TotalCycles", 250),
        sum(2, 3, "LLCMisses", 5),
        sum(2, 3, "LLCReferences", 20),
        PmcThread {
            kind: "sampled",
            ..sum(2, 3, "TotalIssues", 1_000_000)
        },
    ];
    let processes = [
        process(0, 0, "Idle"),
        process(1, 4, "a.exe"),
        process(2, 8, "b.exe"),
    ];
    Session::from_batches(vec![
        rows(&processes),
        rows(&[thread(1, 44), thread(2, 48), thread(3, 52)]),
        rows(&sums),
    ])
    .unwrap()
}

#[track_caller]
fn ask(session: &Session, request: &PmcRequest) -> Vec<PmcRow> {
    let answer = request
        .ask(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    answer.into_iter().flat_map(|group| group.rows).collect()
}

#[test]
fn counters_have_their_columns_and_what_follows_from_them() {
    let all = ask(&session(), &PmcRequest::default());
    let [b, a] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (a.pid, a.instructions, a.cycles, a.cpi),
        (Some(4), Some(400), Some(400), Some(1.0))
    );
    assert_eq!(
        (a.branches, a.branch_mispredict_percent),
        (Some(40), Some(5.0))
    );
    // Both threads ran for 1000 ns, with any number of counters.
    assert_eq!((a.run_ns, a.instructions_per_s), (Some(2000), Some(2e8)));
    assert_eq!(
        a.other_counters.as_deref(),
        Some("Another=8 IcacheMisses=7")
    );
    assert_eq!(
        (b.cache_misses, b.llc_references, b.cache_miss_percent),
        (Some(5), Some(20), Some(25.0))
    );
    assert_eq!((b.instructions, b.cpi, &*b.kind), (None, None, "counted"));
}

#[test]
fn threads_are_listed_separately_and_cut_to_the_largest() {
    let request = PmcRequest {
        per_thread: true,
        ..PmcRequest::default()
    };
    let threads: Vec<_> = ask(&session(), &request)
        .iter()
        .map(|row| (row.tid, row.cpi))
        .collect();
    assert_eq!(
        threads,
        [
            (Some(52), None),
            (Some(44), Some(1.5)),
            (Some(48), Some(250.0 / 300.0))
        ]
    );
    let request = PmcRequest {
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..request
    };
    assert_eq!(ask(&session(), &request)[0].tid, Some(48));
    let processes = ProcessQuery {
        process: Some("b".into()),
        ..ProcessQuery::default()
    };
    let of_b = ask(
        &session(),
        &PmcRequest {
            processes,
            ..PmcRequest::default()
        },
    );
    assert_eq!(
        of_b.iter().map(|row| row.pid).collect::<Vec<_>>(),
        [Some(8)]
    );
}

/// Two slices of process 1, one with the stack `work main`, one with `main`.
fn slices(sampled: bool) -> Session {
    let counter = |position, name: &str| PmcCounter {
        position: Some(position),
        name: name.into(),
        ..PmcCounter::default()
    };
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    let frame = |frame_id| Frame {
        frame_id,
        method_id: Some(frame_id),
        ..Frame::default()
    };
    let slice = |ts_ns, stack_id, value_0, value_1| Pmc {
        ts_ns,
        run_ns: 10,
        process_key: Some(1),
        thread_key: 1,
        stack_id: Some(stack_id),
        value_0: Some(value_0),
        value_1: Some(value_1),
        ..Pmc::default()
    };
    let sample = PmcSample {
        ts_ns: 20,
        process_key: Some(1),
        thread_key: 1,
        counter: "LLCMisses".into(),
        interval: Some(1000),
        stack_id: 1,
        ..PmcSample::default()
    };
    let mut tables = vec![
        rows(&[process(1, 4, "a.exe")]),
        rows(&[
            counter(0, "InstructionRetired"),
            counter(1, "UnhaltedCoreCycles"),
        ]),
        rows(&[method(0, "main"), method(1, "work")]),
        rows(&[frame(0), frame(1)]),
        rows(&[
            Stack::default(),
            Stack {
                stack_id: 1,
                parent_id: Some(0),
                frame_id: 1,
                depth: 1,
            },
        ]),
        rows(&[sum(1, 1, "InstructionRetired", 30)]),
    ];
    tables.push(if sampled {
        rows(&[sample])
    } else {
        rows(&[slice(10, 1, 10, 40), slice(20, 0, 20, 5)])
    });
    Session::from_batches(tables).unwrap()
}

#[test]
fn a_method_has_the_counters_of_the_slices_with_it_in_their_stack() {
    let request = PmcRequest {
        methods: Some("*".into()),
        ..PmcRequest::default()
    };
    let methods: Vec<_> = ask(&slices(false), &request)
        .into_iter()
        .map(|row| (row.name.unwrap(), row.instructions, row.cycles, row.run_ns))
        .collect();
    let want = |name: &str, instructions, cycles, run| {
        (name.to_owned(), Some(instructions), Some(cycles), Some(run))
    };
    assert_eq!(
        methods,
        [want("work", 10, 40, 10), want("main", 30, 45, 20)]
    );
    let work = PmcRequest {
        methods: Some("wo*".into()),
        ..request.clone()
    };
    assert_eq!(ask(&slices(false), &work).len(), 1);
    let sampled = ask(&slices(true), &request);
    assert_eq!(
        sampled
            .iter()
            .map(|row| row.cache_misses)
            .collect::<Vec<_>>(),
        [Some(1000); 2]
    );
    assert!(
        sampled
            .iter()
            .all(|row| row.kind == "sampled" && row.run_ns.is_none())
    );
}

#[test]
fn a_slice_belongs_to_a_range_with_its_end() {
    let request = PmcRequest {
        time: Range { min: 11, max: 30 },
        ..PmcRequest::default()
    };
    let rows = ask(&slices(false), &request);
    assert_eq!(
        (rows.len(), rows[0].instructions, rows[0].cpi),
        (1, Some(20), Some(0.25))
    );
}

#[test]
fn what_is_missing_is_reported() {
    let empty = Session::from_batches(vec![rows(&[process(1, 4, "a.exe")])]).unwrap();
    let error = PmcRequest::default().ask(&empty).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotRecorded {
                what: "performance counters",
                ..
            }
        ),
        "{error}"
    );
    let error = PmcRequest {
        methods: Some("*".into()),
        ..PmcRequest::default()
    }
    .ask(&session())
    .unwrap_err();
    assert!(matches!(error, Error::NeedsRows { .. }), "{error}");
}
