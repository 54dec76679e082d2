//! Garbage collections and compiled methods of .NET.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_questions::gc::{GcBy, GcEvent, GcRequest, GcRow, GcSort};
use etwkit_questions::jit::{JitBy, JitEvent, JitRequest, JitRow, JitSort};
use etwkit_sql::Session;
use etwkit_trace::table::{Gc, Jit};

use super::super::support::rows;
use super::{MS, process};

fn collection(process_key: i32, number: i32, generation: i32, gc_type: i32, ms: [i64; 3]) -> Gc {
    let [start, duration, suspended] = ms.map(|ms| ms * MS);
    Gc {
        process_key: Some(process_key),
        number,
        generation: Some(generation),
        reason: Some(1 + generation),
        gc_type: Some(gc_type),
        start_ns: Some(start),
        end_ns: Some(start + duration),
        duration_ns: Some(duration),
        suspended_ns: (suspended > 0).then_some(suspended),
        gen0_bytes: Some(100),
        gen1_bytes: Some(200),
        gen2_bytes: Some(300),
        large_bytes: Some(400 * i64::from(number)),
        promoted_bytes: Some(50),
        ..Gc::default()
    }
}

fn collections() -> Session {
    let all = [
        collection(1, 1, 0, 0, [10, 4, 5]),
        collection(1, 2, 2, 1, [20, 400, 3]),
        collection(1, 3, 0, 0, [30, 2, 2]),
        // Suspensions were not recorded for this one.
        collection(2, 1, 1, 0, [40, 6, 0]),
    ];
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&all),
    ])
    .unwrap()
}

/// Formats process, generation, count, in the background, paused time, longest, duration in ms,
/// largest heap, survived.
fn gc(request: &GcRequest) -> Vec<String> {
    let rows: Vec<GcRow> = request
        .form()
        .ask(&collections())
        .unwrap_or_else(|e| panic!("{e}\n{}", request.sql()));
    let ms = |ns: Option<i64>| ns.map_or("-".to_owned(), |ns| (ns / MS).to_string());
    let row = |row: &GcRow| {
        let of = row
            .generation
            .map_or_else(String::new, |generation| format!(" gen {generation}"));
        let times = [row.suspended_ns, row.max_suspended_ns, row.duration_ns]
            .map(ms)
            .join(" ");
        let bytes = [row.max_heap_bytes, row.promoted_bytes].map(|bytes| bytes.unwrap_or(-1));
        format!(
            "{}{of}: {} {} {times} {bytes:?}",
            row.pid.unwrap(),
            row.count,
            row.background
        )
    };
    rows.iter().map(row).collect()
}

/// The example of `docs/numbers/gc.md`.
#[test]
fn times_in_which_threads_stood_still_add_up_and_heaps_do_not() {
    assert_eq!(
        gc(&GcRequest::default()),
        ["8: 1 0 - - 6 [1000, 50]", "4: 3 1 10 5 406 [1800, 150]"]
    );
    let by = GcRequest {
        by: GcBy::Generation,
        sort: GcSort::Count,
        ..GcRequest::default()
    };
    assert_eq!(
        gc(&by),
        [
            "8 gen 1: 1 0 - - 6 [1000, 50]",
            "4 gen 2: 1 1 3 3 400 [1400, 50]",
            "4 gen 0: 2 0 7 5 6 [1800, 100]"
        ]
    );
    let long = GcRequest {
        suspended: Range {
            min: 3 * MS,
            max: i64::MAX,
        },
        ..GcRequest::default()
    };
    assert_eq!(gc(&long), ["4: 2 1 8 5 404 [1400, 100]"]);
}

/// Each part of the heap counts once; that of pinned objects came with .NET 5.
#[test]
fn the_size_of_the_heap_is_that_of_all_its_parts() {
    let known = Gc {
        gen0_bytes: Some(1),
        gen1_bytes: Some(10),
        gen2_bytes: Some(100),
        large_bytes: Some(1_000),
        pinned_bytes: Some(10_000),
        ..collection(1, 1, 0, 0, [10, 4, 5])
    };
    let older = Gc {
        pinned_bytes: None,
        ..known.clone()
    };
    let unknown = Gc {
        gen2_bytes: None,
        ..known.clone()
    };
    let summed = GcRequest::default();
    let single = GcRequest {
        details: true,
        ..GcRequest::default()
    };
    for (collection, bytes) in [(known, Some(11_111)), (older, Some(1_111)), (unknown, None)] {
        let session =
            Session::from_batches(vec![rows(&[process(1, 4, "a.exe")]), rows(&[collection])])
                .unwrap();
        let sums: Vec<GcRow> = summed.form().ask(&session).unwrap();
        let events: Vec<GcEvent> = single.form().ask(&session).unwrap();
        assert_eq!(
            (sums[0].max_heap_bytes, events[0].heap_bytes),
            (bytes, bytes)
        );
    }
}

#[test]
fn single_collections_say_why() {
    let asked = GcRequest {
        details: true,
        sort: GcSort::Time,
        generation: Some(0),
        ..GcRequest::default()
    };
    let all: Vec<GcEvent> = asked.form().ask(&collections()).unwrap();
    let row = |row: &GcEvent| {
        (
            row.number,
            row.start_ns.unwrap() / MS,
            row.reason.clone().unwrap(),
        )
    };
    assert_eq!(
        all.iter().map(row).collect::<Vec<_>>(),
        [(1, 10, "Induced".into()), (3, 30, "Induced".into())]
    );
}

fn compiled() -> Session {
    let method = |method: &str, tier, start: Option<i64>, end: i64, size_bytes| Jit {
        ts_ns: end * MS,
        process_key: Some(1),
        method: method.into(),
        start_ns: start.map(|start| start * MS),
        duration_ns: start.map(|start| (end - start) * MS),
        il_size_bytes: start.map(|_| 10),
        size_bytes,
        tier,
        ..Jit::default()
    };
    let all = [
        method("App.Program.Main", Some("tier0"), Some(10), 14, 100),
        method("App.Program..ctor", Some("tier0"), Some(20), 21, 40),
        method("App.Work.Loop", Some("tier1"), Some(30), 50, 300),
        method("App.Work.Loop", None, None, 60, 7),
    ];
    Session::from_batches(vec![rows(&[process(1, 4, "a.exe")]), rows(&all)]).unwrap()
}

fn jit(request: &JitRequest) -> Vec<String> {
    let rows: Vec<JitRow> = request
        .form()
        .ask(&compiled())
        .unwrap_or_else(|e| panic!("{e}\n{}", request.sql()));
    let row = |row: &JitRow| {
        let of = row
            .type_name
            .clone()
            .or_else(|| row.tier.clone())
            .unwrap_or_default();
        let ms = [row.duration_ns, row.max_duration_ns].map(|ns| ns.map_or(-1, |ns| ns / MS));
        format!(
            "{of}: {} {} {ms:?} {} {:?}",
            row.count, row.timed, row.size_bytes, row.il_size_bytes
        )
    };
    rows.iter().map(row).collect()
}

#[test]
fn methods_are_counted_as_often_as_they_are_compiled() {
    assert_eq!(jit(&JitRequest::default()), [": 4 3 [25, 20] 447 Some(30)"]);
    let by = |by| JitRequest {
        by,
        ..JitRequest::default()
    };
    assert_eq!(
        jit(&by(JitBy::Tier)),
        [
            ": 1 0 [-1, -1] 7 None",
            "tier0: 2 2 [5, 4] 140 Some(20)",
            "tier1: 1 1 [20, 20] 300 Some(10)"
        ]
    );
    assert_eq!(
        jit(&by(JitBy::Type)),
        [
            "App.Program: 2 2 [5, 4] 140 Some(20)",
            "App.Work: 2 1 [20, 20] 307 Some(10)"
        ]
    );
    let long = JitRequest {
        duration: Range {
            min: 4 * MS,
            max: i64::MAX,
        },
        ..JitRequest::default()
    };
    assert_eq!(jit(&long), [": 2 2 [24, 20] 400 Some(20)"]);
}

#[test]
fn single_compilations_are_filtered_by_method_and_tier() {
    let asked = JitRequest {
        details: true,
        sort: JitSort::Time,
        ..JitRequest::default()
    };
    let names = |asked: &JitRequest| -> Vec<(i64, String)> {
        let all: Vec<JitEvent> = asked.form().ask(&compiled()).unwrap();
        all.into_iter()
            .map(|row| (row.ts_ns / MS, row.method))
            .collect()
    };
    let work = JitRequest {
        method: Some("*.Work.*".into()),
        ..asked.clone()
    };
    assert_eq!(
        names(&work),
        [(50, "App.Work.Loop".into()), (60, "App.Work.Loop".into())]
    );
    let first = JitRequest {
        tier: Some("tier0".into()),
        method: Some("!*ctor".into()),
        ..asked
    };
    assert_eq!(names(&first), [(14, "App.Program.Main".into())]);
}
