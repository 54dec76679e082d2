//! Methods, modules and threads from single events; stack tags; drivers.

use etwkit_question::FromRows;
use etwkit_question::range::Range;
use etwkit_questions::cpu::source::CpuSource;
use etwkit_questions::cpu::{By, CpuLimits, CpuRequest};
use etwkit_questions::method::MethodRow;
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::derive::derive;
use etwkit_trace::table::{
    ContextSwitch, CpuSample, Frame, Method, Module, Process, Row, Stack, Table, Thread,
};

use super::super::support::rows;
use super::{methods_by_cpu, process};

const MAIN: i32 = 0;
const A: i32 = 1;
const B: i32 = 2;
const WAIT: i32 = 3;

type Tables = Vec<(&'static Table, Vec<RecordBatch>)>;

/// Stacks: 0 main, 1 a main, 2 a a main, 3 b main, 4 wait main. `main` is in a module, `b` and
/// `wait` in another.
fn names() -> Tables {
    let method = |method_id: i32, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    let frame = |frame_id: i32| Frame {
        frame_id,
        address: i64::from(frame_id),
        method_id: Some(frame_id),
        module_id: [Some(0), None, Some(1), Some(1)][frame_id as usize],
        ..Frame::default()
    };
    let stack = |stack_id, parent_id, frame_id, depth| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth,
    };
    let module = |module_id, name: &str, company: &str| Module {
        module_id,
        process_key: Some(1),
        name: name.into(),
        path: format!("C:\\{name}"),
        company: Some(company.into()),
        ..Module::default()
    };
    let thread = |thread_key, tid| Thread {
        thread_key,
        tid,
        process_key: Some(1),
        ..Thread::default()
    };
    vec![
        rows(&[
            process(0, 0, "Idle"),
            Process {
                start_ns: Some(7),
                ..process(1, 8, "app.exe")
            },
        ]),
        rows(&[thread(1, 101), thread(2, 102)]),
        rows(&[module(0, "app.exe", "Acme"), module(1, "io.dll", "Corp")]),
        rows(&[
            method(MAIN, "main"),
            method(A, "a"),
            method(B, "b"),
            method(WAIT, "wait"),
        ]),
        rows(&[MAIN, A, B, WAIT].map(frame)),
        rows(&[
            stack(0, None, MAIN, 0),
            stack(1, Some(0), A, 1),
            stack(2, Some(1), A, 2),
            stack(3, Some(0), B, 1),
            stack(4, Some(0), WAIT, 1),
        ]),
    ]
}

fn samples() -> (&'static Table, Vec<RecordBatch>) {
    let sample = |ts_ns, thread_key, stack_id, is_idle| CpuSample {
        ts_ns,
        thread_key,
        stack_id,
        is_idle,
        process_key: Some(i32::from(!is_idle)),
        weight_ns: 5,
        ..CpuSample::default()
    };
    rows(&[
        sample(10, 1, 2, false),
        sample(20, 2, 3, false),
        sample(30, 1, 0, true),
    ])
}

/// Thread 1 waits 0–40, is ready to 50, runs to 60; thread 2 waits 20–70, is ready to 72, runs to
/// 80, is preempted to 90, runs to 95.
fn switches() -> (&'static Table, Vec<RecordBatch>) {
    let slice = |thread_key: i32, times: [Option<i64>; 4], wait_ns, ready_ns, stack_id| {
        let [last_out_ns, readied_ns, in_ns, out_ns] = times;
        ContextSwitch {
            thread_key,
            process_key: Some(1),
            cpu: Some(thread_key),
            last_out_ns,
            readied_ns,
            in_ns,
            out_ns,
            wait_ns: Some(wait_ns),
            ready_ns: Some(ready_ns),
            run_ns: out_ns.zip(in_ns).map(|(out, into)| out - into),
            prev_state: Some(if readied_ns.is_some() { 5 } else { 1 }),
            stack_id: Some(stack_id),
            ..ContextSwitch::default()
        }
    };
    rows(&[
        slice(1, [Some(0), Some(40), Some(50), Some(60)], 40, 10, 4),
        slice(2, [Some(20), Some(70), Some(72), Some(80)], 50, 2, 4),
        slice(2, [Some(80), None, Some(90), Some(95)], 0, 10, 3),
    ])
}

/// Creates a session of the tables and the tables computed from them; without single events if it
/// is a summary.
fn session(tables: Tables, is_summary: bool) -> Session {
    let batches = |tables: &Tables| {
        let all = tables
            .iter()
            .flat_map(|(table, batches)| batches.iter().map(|batch| (*table, batch.clone())));
        all.collect::<Vec<_>>()
    };
    let mut derived: Vec<(&'static Table, RecordBatch)> = Vec::new();
    derive(&batches(&tables), &[], &mut derived).unwrap();
    let events = [CpuSample::TABLE.name, ContextSwitch::TABLE.name];
    let mut all: Tables = tables
        .into_iter()
        .filter(|(table, _)| !is_summary || !events.contains(&table.name))
        .collect();
    all.extend(
        derived
            .into_iter()
            .map(|(table, batch)| (table, vec![batch])),
    );
    Session::from_batches(all).unwrap()
}

/// The example of the page on CPU.
pub(super) fn example() -> Session {
    session([names(), vec![samples(), switches()]].concat(), false)
}

/// Creates a session of the summary.
pub(super) fn summary() -> Session {
    session([names(), vec![samples(), switches()]].concat(), true)
}

/// The recording without its samples.
pub(super) fn without_samples() -> Session {
    session([names(), vec![switches()]].concat(), false)
}

#[track_caller]
fn ask(session: &Session, request: &CpuRequest) -> Vec<MethodRow> {
    let answer = request
        .method_answer(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.method_sql()));
    answer
        .processes
        .into_iter()
        .flat_map(|process| process.rows)
        .collect()
}

fn everything() -> Range {
    Range { min: -1, max: 1000 }
}

#[test]
fn a_range_over_everything_gives_the_stored_sums() {
    let session = example();
    let sorted = |request: &CpuRequest| {
        let mut rows = ask(&session, request);
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    };
    let stored = sorted(&methods_by_cpu());
    assert_eq!(
        stored
            .iter()
            .map(|row| row.name.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "main", "wait"]
    );
    assert_eq!(
        sorted(&CpuRequest {
            time: everything(),
            ..methods_by_cpu()
        }),
        stored
    );
}

/// An interrupt on a processor that had nothing else to do is CPU of the idle process.
#[test]
fn the_idle_process_is_listed_on_request() {
    let interrupt = CpuSample {
        ts_ns: 40,
        thread_key: 0,
        stack_id: 3,
        process_key: Some(0),
        weight_ns: 5,
        ..CpuSample::default()
    };
    let (table, mut batches) = samples();
    batches.extend(rows(&[interrupt]).1);
    let session = session(
        [names(), vec![(table, batches), switches()]].concat(),
        false,
    );
    let of_b = |request: &CpuRequest| {
        let rows = ask(&session, request)
            .into_iter()
            .filter(|row| row.name == "b");
        rows.map(|row| (row.process_key, row.cpu_ns))
            .collect::<Vec<_>>()
    };
    assert_eq!(of_b(&methods_by_cpu()), [(Some(1), 5)]);
    let with_idle = CpuRequest {
        idle: true,
        ..methods_by_cpu()
    };
    let mut both = of_b(&with_idle);
    both.sort();
    assert_eq!(both, [(Some(0), 5), (Some(1), 5)]);
    let clipped = CpuRequest {
        time: Range { min: 35, max: 1000 },
        ..with_idle
    };
    assert!(of_b(&clipped).contains(&(Some(0), 5)));
}

#[test]
fn methods_of_a_range_are_clipped() {
    let request = CpuRequest {
        time: Range { min: 15, max: 55 },
        ..methods_by_cpu()
    };
    let rows = ask(&example(), &request);
    let of = |name: &str| {
        let row = rows.iter().find(|row| row.name == name).unwrap();
        (
            row.cpu_ns,
            row.exclusive_ns,
            row.wait_ns,
            row.wait_sum_ns,
            row.ready_ns,
            row.switches,
            row.threads,
        )
    };
    // Only the sample at 20; waits 15–40 and 20–55: 40 together, 60 in sum; ready 40–50; one
    // switch-in, at 50.
    assert_eq!(
        of("main"),
        (5, Some(0), Some(40), Some(60), Some(10), Some(1), Some(2))
    );
    assert_eq!(
        of("wait"),
        (0, Some(0), Some(40), Some(60), Some(10), Some(1), Some(2))
    );
    assert_eq!(
        of("b"),
        (5, Some(5), Some(0), Some(0), Some(0), Some(0), Some(1))
    );
    assert!(
        rows.iter()
            .all(|row| row.name != "a" && row.ready.other_ready_count.is_none())
    );
}

#[test]
fn a_module_counts_once_for_a_stack() {
    let request = CpuRequest {
        by: By::Module,
        ..methods_by_cpu()
    };
    let rows = ask(&example(), &request);
    let of = |name: &str| {
        let row = rows.iter().find(|row| row.name == name).unwrap();
        (
            row.cpu_ns,
            row.exclusive_ns.unwrap(),
            row.wait_ns,
            row.switches,
            row.company.as_deref(),
        )
    };
    assert_eq!(of("app.exe"), (10, 0, Some(70), Some(3), Some("Acme")));
    assert_eq!(of("io.dll"), (5, 5, Some(70), Some(3), Some("Corp")));
    assert_eq!(of("(no module)"), (5, 5, Some(0), Some(0), None));
    let own: i64 = rows.iter().filter_map(|row| row.exclusive_ns).sum();
    assert_eq!(own, 10, "each sample has one innermost module");
    // A summary knows CPU by stack.
    let sums = ask(&summary(), &request);
    let of = |name: &str| {
        sums.iter()
            .find(|row| row.name == name)
            .map(|row| (row.cpu_ns, row.exclusive_ns.unwrap(), row.wait_ns))
    };
    assert_eq!(
        (of("app.exe"), of("io.dll")),
        (Some((10, 0, None)), Some((5, 5, None)))
    );
    let corp = CpuRequest {
        show_module: Some("*corp*".into()),
        ..request
    };
    assert_eq!(
        ask(&example(), &corp)
            .iter()
            .map(|row| row.name.as_str())
            .collect::<Vec<_>>(),
        ["io.dll"]
    );
}

#[test]
fn threads_add_up_to_their_process() {
    let rows = ask(
        &example(),
        &CpuRequest {
            by: By::Thread,
            ..methods_by_cpu()
        },
    );
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.tid.unwrap(),
                row.cpu_ns,
                row.wait_ns.unwrap(),
                row.ready_ns.unwrap(),
                row.switches.unwrap(),
            )
        })
        .collect();
    assert_eq!(found, [(101, 5, 40, 10, 1), (102, 5, 50, 12, 2)]);
    assert_eq!(rows[0].name, "thread 101");
    let process = CpuRequest::default().process_answer(&example()).unwrap();
    assert_eq!(
        (process.total.cpu_ns, process.total.switches),
        (10, Some(3))
    );
    let error = CpuRequest {
        by: By::Thread,
        ..methods_by_cpu()
    }
    .method_answer(&summary())
    .unwrap_err();
    assert!(error.is_nothing(), "{error}");
}

#[test]
fn without_samples_cpu_of_a_method_is_run_time_behind_its_switch_ins() {
    for time in [Range::default(), everything()] {
        let rows = ask(
            &without_samples(),
            &CpuRequest {
                time,
                ..methods_by_cpu()
            },
        );
        let mut found: Vec<(&str, i64)> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.cpu_ns))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [("b", 5), ("main", 23), ("wait", 18)]);
        assert!(
            rows.iter()
                .all(|row| row.cpu_source.as_deref() == Some("context_switches"))
        );
        let sampled = ask(
            &example(),
            &CpuRequest {
                time,
                ..methods_by_cpu()
            },
        );
        assert!(
            sampled
                .iter()
                .all(|row| row.cpu_source.as_deref() == Some("samples"))
        );
        for (session, source) in [
            (without_samples(), "context_switches"),
            (example(), "samples"),
        ] {
            let answer = CpuRequest {
                time,
                ..CpuRequest::default()
            }
            .process_answer(&session)
            .unwrap();
            assert_eq!(answer.rows[0].cpu_source, source);
            assert_eq!(answer.source().map(CpuSource::name), Some(source));
        }
    }
}

#[test]
fn percentiles_of_times_ready_stand_beside_processes() {
    let rows = CpuRequest::default()
        .process_answer(&example())
        .unwrap()
        .rows;
    let other = rows[0].ready.other().unwrap();
    // Ready times of 2, 10 and 10.
    assert_eq!(
        (other.count, other.values),
        (3, [2, 2, 6, 10, 10, 10, 10, 10])
    );
    assert_eq!(
        (
            other.sum_ns,
            other.longest_sum_ns,
            rows[0].ready.deep_sleep()
        ),
        (22, 10, None)
    );
    // A method needs more than fifty.
    assert!(
        ask(&example(), &methods_by_cpu())
            .iter()
            .all(|row| row.ready.other().is_none())
    );
}

/// The question with tables that the session does not have.
fn with(tables: &str, sql: &str) -> String {
    let rest = sql.strip_prefix("WITH ").map(|rest| format!(", {rest}"));
    format!("WITH {tables}{}", rest.unwrap_or_else(|| format!(" {sql}")))
}

const TAGS: &str = r"cpu_tag AS (SELECT * FROM (VALUES
    (1, 'default', 'IO\Wait', 2, 5, 70, 22, 90, 22, 3, 2, 0, 95),
    (1, 'default', 'Other', 1, 5, 0, 0, 0, 0, 0, 1, 10, 10)
  ) AS t(process_key, tag_set, tag, samples, cpu_ns, wait_ns, ready_ns, wait_sum_ns, ready_sum_ns, switches, threads, first_ns, last_ns))";

#[track_caller]
fn asked(tables: &str, sql: &str) -> Vec<MethodRow> {
    let sql = with(tables, sql);
    let answer = example()
        .sql(&sql)
        .unwrap_or_else(|error| panic!("{error}\n{sql}"));
    answer
        .flat_map(|batch| MethodRow::read(&batch.unwrap()).unwrap())
        .collect()
}

#[test]
fn stack_tags_alone_and_with_methods() {
    let named = |rows: &[MethodRow]| {
        rows.iter()
            .map(|row| (row.kind.clone(), row.name.clone()))
            .collect::<Vec<_>>()
    };
    let pair = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    let request = CpuRequest {
        stack_tags: Some(r"IO\*".into()),
        ..methods_by_cpu()
    };
    let rows = asked(TAGS, &request.tag_sql());
    assert_eq!(named(&rows), [pair("tag", r"IO\Wait")]);
    let row = &rows[0];
    assert_eq!(
        (row.cpu_ns, row.wait_ns, row.ready_ns, row.wait_sum_ns),
        (5, Some(70), Some(22), Some(90))
    );
    assert_eq!(
        (row.tag_set.as_deref(), row.threads, row.duration_ns),
        (Some("default"), Some(2), Some(95))
    );
    // The filter on methods leaves tags alone.
    let both = CpuRequest {
        methods: Some("wait".into()),
        stack_tags: Some("*".into()),
        ..request
    };
    let expected = [
        pair("method", "wait"),
        pair("tag", r"IO\Wait"),
        pair("tag", "Other"),
    ];
    let mut found = named(&asked(TAGS, &both.method_sql()));
    found.sort();
    assert_eq!(found, expected);
    let by_module = CpuRequest {
        by: By::Module,
        methods: None,
        ..both
    };
    assert_eq!(asked(TAGS, &by_module.method_sql()).len(), 5);
    let limited = CpuRequest {
        limits: CpuLimits {
            wait: Range {
                min: 1,
                max: i64::MAX,
            },
            ..CpuLimits::default()
        },
        ..by_module
    };
    assert_eq!(
        asked(TAGS, &limited.method_sql())
            .iter()
            .filter(|row| row.kind == "tag")
            .count(),
        1
    );
}

#[test]
fn drivers_are_named_by_vendor() {
    let drivers = "driver_category AS (SELECT * FROM (VALUES (1, 'io.dll', 'Corp', 'Anti-Virus')) AS t(module_id, driver, vendor, category))";
    let request = CpuRequest {
        show_module: Some("driver".into()),
        ..methods_by_cpu()
    };
    let rows = asked(drivers, &request.method_sql());
    let mut found: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.driver_vendor.as_deref()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("b", Some("Corp")), ("wait", Some("Corp"))]);
    assert_eq!(rows[0].driver_category.as_deref(), Some("Anti-Virus"));
}
