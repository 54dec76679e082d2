//! Derived tables of handwritten rows.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_trace::derive::derive;
use etwkit_trace::table::{
    Columns, ContextSwitch, CpuMethod, CpuProcess, CpuSample, CpuStack, CpuTag, DriverCategory,
    FileFile, FileIo, Frame, Method, Module, Process, ReadyPercentile, Row, Stack, Table,
};
use etwkit_trace::tags::TagSet;

type Batches = Vec<(&'static Table, RecordBatch)>;

fn rows<R: Row>(rows: &[R]) -> (&'static Table, RecordBatch) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, columns.take().unwrap())
}

fn of<'b>(batches: &'b Batches, table: &Table) -> &'b RecordBatch {
    let found: Vec<_> = batches
        .iter()
        .filter(|(of, _)| of.name == table.name)
        .collect();
    assert_eq!(found.len(), 1, "{}", table.name);
    &found[0].1
}

fn int(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    let array = batch.column_by_name(column).unwrap();
    match array.as_primitive_opt::<Int32Type>() {
        Some(small) => small.iter().map(|value| value.map(i64::from)).collect(),
        None => array.as_primitive::<Int64Type>().iter().collect(),
    }
}

const MAIN: i32 = 0;
const A: i32 = 1;
const B: i32 = 2;
const WAIT: i32 = 3;

/// Stacks: 0 main, 1 a main, 2 a a main, 3 b main, 4 wait main.
fn names() -> Batches {
    let method = |method_id: i32, name: &str| Method {
        method_id,
        name: name.to_owned(),
        ..Method::default()
    };
    let frame = |id: i32| Frame {
        frame_id: id,
        address: i64::from(id),
        method_id: Some(id),
        ..Frame::default()
    };
    let stack = |stack_id, parent_id, frame_id, depth| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth,
    };
    vec![
        rows(&[
            Process {
                process_key: 0,
                pid: 0,
                ..Process::default()
            },
            Process {
                process_key: 1,
                pid: 8,
                ..Process::default()
            },
        ]),
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

fn sample(ts_ns: i64, thread_key: i32, stack_id: i32, is_idle: bool) -> CpuSample {
    let process_key = Some(i32::from(!is_idle));
    CpuSample {
        ts_ns,
        thread_key,
        stack_id,
        is_idle,
        process_key,
        weight_ns: 5,
        priority: Some(8),
        ..CpuSample::default()
    }
}

fn slice(
    thread_key: i32,
    times: [Option<i64>; 4],
    wait_ns: i64,
    ready_ns: i64,
    stack_id: i32,
) -> ContextSwitch {
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
}

fn example() -> Batches {
    let mut tables = names();
    tables.push(rows(&[
        sample(10, 1, 2, false),
        sample(20, 2, 3, false),
        sample(30, 1, 0, true),
    ]));
    tables.push(rows(&[
        slice(1, [Some(0), Some(40), Some(50), Some(60)], 40, 10, 4),
        slice(2, [Some(20), Some(70), Some(72), Some(80)], 50, 2, 4),
        slice(2, [Some(80), None, Some(90), Some(95)], 0, 10, 3),
    ]));
    tables
}

#[test]
fn the_example_of_the_page_on_cpu() {
    let mut out = Batches::new();
    derive(&example(), &[], &mut out).unwrap();
    let methods = of(&out, CpuMethod::TABLE);
    let names = methods.column_by_name("method").unwrap().as_string::<i32>();
    let row = |name: &str| {
        let at = names.iter().position(|n| n == Some(name)).unwrap();
        let columns = [
            "cpu_ns",
            "exclusive_ns",
            "wait_ns",
            "wait_sum_ns",
            "ready_ns",
            "ready_sum_ns",
            "switches",
            "threads",
        ];
        columns.map(|column| int(methods, column)[at].unwrap())
    };
    assert_eq!(row("main"), [10, 0, 70, 90, 22, 22, 3, 2]);
    assert_eq!(row("a"), [5, 5, 0, 0, 0, 0, 0, 1]);
    assert_eq!(row("b"), [5, 5, 0, 0, 10, 10, 1, 1]);
    assert_eq!(row("wait"), [0, 0, 70, 90, 12, 12, 2, 2]);
}

#[test]
fn a_process_has_what_its_threads_have_and_idle_is_left_out() {
    let mut out = Batches::new();
    derive(&example(), &[], &mut out).unwrap();
    let processes = of(&out, CpuProcess::TABLE);
    let one = |column: &str| int(processes, column);
    assert_eq!(
        (one("process_key"), one("samples"), one("cpu_ns")),
        (vec![Some(1)], vec![Some(2)], vec![Some(10)])
    );
    assert_eq!(
        (one("run_ns"), one("wait_ns"), one("ready_ns")),
        (vec![Some(23)], vec![Some(70)], vec![Some(22)])
    );
    assert_eq!(
        (one("switches"), one("preemptions")),
        (vec![Some(3)], vec![Some(1)])
    );
    assert_eq!(
        (one("first_ns"), one("last_ns"), one("core_count")),
        (vec![Some(10)], vec![Some(95)], vec![Some(2)])
    );
    let stacks = of(&out, CpuStack::TABLE);
    assert_eq!(
        (int(stacks, "stack_id"), int(stacks, "samples")),
        (vec![Some(2), Some(3)], vec![Some(1), Some(1)])
    );
}

#[test]
fn what_dpcs_took_of_the_run_time_of_a_process_is_the_sum_of_its_slices() {
    let interrupted = |rows: &[Option<i64>]| {
        let mut tables = example();
        let times = [Some(0), Some(40), Some(50), Some(60)];
        let slices: Vec<_> = rows
            .iter()
            .map(|ns| ContextSwitch {
                dpc_isr_ns: *ns,
                ..slice(1, times, 40, 10, 4)
            })
            .collect();
        *tables.last_mut().unwrap() = self::rows(&slices);
        let mut out = Batches::new();
        derive(&tables, &[], &mut out).unwrap();
        int(of(&out, CpuProcess::TABLE), "dpc_isr_ns")
    };
    assert_eq!(interrupted(&[Some(3), None, Some(4)]), [Some(7)]);
    assert_eq!(interrupted(&[Some(0)]), [Some(0)]);
    assert_eq!(interrupted(&[None, None]), [None]);
}

#[test]
fn without_switches_waiting_is_not_known() {
    let mut tables = example();
    tables.pop();
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    let processes = of(&out, CpuProcess::TABLE);
    assert_eq!(
        (int(processes, "wait_ns"), int(processes, "run_ns")),
        (vec![None], vec![None])
    );
    assert_eq!(int(processes, "cpu_ns"), [Some(10)]);
}

#[test]
fn a_stack_whose_parent_does_not_come_before_ends_there() {
    let mut tables = names();
    tables[3] = rows(&[Stack {
        parent_id: Some(0),
        frame_id: MAIN,
        ..Stack::default()
    }]);
    tables.push(rows(&[sample(10, 1, 0, false)]));
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    assert_eq!(int(of(&out, CpuMethod::TABLE), "cpu_ns"), [Some(5)]);
}

/// The example of docs/numbers/tags.md: modules, methods, stacks and three threads.
fn tagged_example() -> Batches {
    let method = |method_id: i32, name: &str| Method {
        method_id,
        name: name.to_owned(),
        ..Method::default()
    };
    let frame = |frame_id: i32| Frame {
        frame_id,
        module_id: Some(i32::from(frame_id > 3)),
        method_id: Some(frame_id).filter(|id| *id < 6),
        ..Frame::default()
    };
    let module = |module_id: i32, name: &str| Module {
        module_id,
        name: name.to_owned(),
        ..Module::default()
    };
    let stack = |stack_id, parent_id, frame_id, depth| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth,
    };
    let slice = |thread, times, wait, ready, stack: i32| ContextSwitch {
        stack_id: Some(stack).filter(|stack| *stack >= 0),
        ..slice(thread, times, wait, ready, 0)
    };
    vec![
        rows(&[Process {
            process_key: 0,
            pid: 0,
            ..Process::default()
        }]),
        rows(&[module(0, "app.exe"), module(1, "WDFILTER.SYS")]),
        rows(&[
            method(0, "main"),
            method(1, "read"),
            method(2, "parse"),
            method(3, "wait"),
            method(4, "scan"),
            method(5, "send"),
        ]),
        rows(&(0..7).map(frame).collect::<Vec<_>>()),
        rows(&[
            stack(0, None, 0, 0),
            stack(1, Some(0), 1, 1), // read main
            stack(2, Some(1), 1, 2), // read read main
            stack(3, Some(1), 4, 2), // scan read main
            stack(4, Some(3), 3, 3), // wait scan read main
            stack(5, Some(0), 3, 1), // wait main
            stack(6, Some(2), 2, 3), // parse read read main
            stack(7, Some(1), 6, 2), // wdfilter.sys+0x0 read main
        ]),
        rows(&[
            sample(10, 1, 2, false),
            sample(12, 1, 6, false),
            sample(14, 2, 3, false),
            sample(16, 2, 7, false),
            sample(18, 1, 0, false),
            sample(30, 1, 0, true),
        ]),
        rows(&[
            slice(1, [Some(20), Some(50), Some(55), Some(60)], 30, 5, 4),
            slice(2, [Some(40), Some(70), Some(72), Some(80)], 30, 2, 4),
            slice(2, [Some(80), None, Some(90), Some(95)], 0, 10, 5),
            slice(3, [Some(60), Some(65), Some(66), Some(70)], 5, 1, -1),
        ]),
    ]
}

const EXAMPLE_TAGS: &str = r#"<Tag Name="">
  <Tag Name="Input"><Entrypoint Module="app.exe" Method="read"/>
    <Tag Name="Parse" Priority="-1"><Entrypoint Module="app.exe" Method="parse"/></Tag>
  </Tag>
  <HintTag Name="Scanner" Priority="9" HintOperator="Caller" OnlyShowModule="false"><Entrypoint Module="WdFilter*" Method="*"/></HintTag>
  <Tag Name="Waits" Priority="-5"><Entrypoint Module="*" Method="wait"/></Tag>
</Tag>"#;

#[test]
fn the_example_of_the_page_on_tags() {
    let own = TagSet::read("own", &[("own", EXAMPLE_TAGS.as_bytes())]).unwrap();
    let mut out = Batches::new();
    derive(&tagged_example(), &[own, TagSet::built_in()], &mut out).unwrap();
    let tags = of(&out, CpuTag::TABLE);
    let text = |column: &str| {
        let array = tags.column_by_name(column).unwrap().as_string::<i32>();
        array
            .iter()
            .map(|text| text.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let columns = [
        "samples",
        "cpu_ns",
        "wait_ns",
        "ready_ns",
        "wait_sum_ns",
        "ready_sum_ns",
        "switches",
        "threads",
        "first_ns",
        "last_ns",
    ];
    let columns = columns.map(|column| int(tags, column));
    let found: Vec<_> = text("tag_set")
        .into_iter()
        .zip(text("tag"))
        .enumerate()
        .map(|(row, (set, tag))| {
            (
                set,
                tag,
                columns.each_ref().map(|column| column[row].unwrap()),
            )
        })
        .collect();
    let row = |set: &str, tag: &str, values: [i64; 10]| (set.to_owned(), tag.to_owned(), values);
    assert_eq!(
        found,
        [
            row("own", "Input", [2, 10, 0, 0, 0, 0, 0, 1, 10, 12]),
            row(
                "own",
                "Scanner\\app.exe\\read",
                [2, 10, 50, 7, 60, 7, 2, 2, 14, 80]
            ),
            row("own", "Waits", [0, 0, 0, 10, 0, 10, 1, 1, 90, 95]),
            row(
                "default",
                "Antivirus\\Microsoft Defender",
                [2, 10, 50, 7, 60, 7, 2, 2, 14, 80]
            ),
            row("default", "Other", [3, 15, 5, 11, 5, 11, 2, 3, 10, 95]),
        ]
    );
    // `scan` and frames without names are called from `read`.
    assert_eq!(int(tags, "inclusive_ns"), [20, 10, 0, 10, 15].map(Some));
    let (process, default) = (of(&out, CpuProcess::TABLE), |n: usize| {
        found[3].2[n] + found[4].2[n]
    });
    let total = |column: &str| int(process, column)[0].unwrap();
    assert_eq!(
        [
            "samples",
            "cpu_ns",
            "wait_sum_ns",
            "ready_sum_ns",
            "switches"
        ]
        .map(total),
        [0, 1, 4, 5, 6].map(default)
    );
}

#[test]
fn tags_without_switches_know_no_waits() {
    let mut tables = tagged_example();
    tables.pop();
    let mut out = Batches::new();
    derive(&tables, &[TagSet::built_in()], &mut out).unwrap();
    let tags = of(&out, CpuTag::TABLE);
    assert_eq!(
        (int(tags, "wait_ns"), int(tags, "switches")),
        (vec![None; 2], vec![None; 2])
    );
    assert_eq!(int(tags, "cpu_ns"), [Some(10), Some(15)]);
}

#[test]
fn a_slice_without_a_stack_changes_no_method() {
    let mut out = Batches::new();
    derive(&tagged_example(), &[], &mut out).unwrap();
    assert!(
        out.iter()
            .all(|(table, _)| table.name != CpuTag::TABLE.name)
    );
    let main = of(&out, CpuMethod::TABLE);
    let names = main.column_by_name("method").unwrap().as_string::<i32>();
    let at = names.iter().position(|name| name == Some("main")).unwrap();
    assert_eq!(
        (int(main, "wait_sum_ns")[at], int(main, "switches")[at]),
        (Some(60), Some(3))
    );
    let stacks: Vec<_> = int(of(&out, CpuStack::TABLE), "stack_id")
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(stacks, [0, 2, 3, 6, 7]);
}

#[test]
fn modules_that_are_known_drivers_are_listed() {
    let mut out = Batches::new();
    derive(&tagged_example(), &[], &mut out).unwrap();
    let drivers = of(&out, DriverCategory::TABLE);
    let text = |column: &str| {
        drivers
            .column_by_name(column)
            .unwrap()
            .as_string::<i32>()
            .value(0)
            .to_owned()
    };
    assert_eq!(int(drivers, "module_id"), [Some(1)]);
    assert_eq!(
        ["driver", "vendor", "category"].map(text),
        ["WdFilter.sys", "Microsoft", "antivirus"]
    );
}

/// The single operations give 30 as well: a maximum over offset + result leaves out what is null.
#[test]
fn an_operation_without_a_position_does_not_start_at_the_begin_of_its_file() {
    let read = |offset_bytes, result_bytes| FileIo {
        kind: "read",
        end_ns: Some(1),
        offset_bytes,
        result_bytes,
        ..FileIo::default()
    };
    let mut source = names();
    source.push(rows(&[
        read(None, Some(500)),
        read(Some(10), Some(20)),
        read(Some(40), None),
    ]));
    let mut out = Batches::new();
    derive(&source, &[], &mut out).unwrap();
    let files = of(&out, FileFile::TABLE);
    assert_eq!(int(files, "max_position_bytes"), [Some(30)]);
    assert_eq!(int(files, "result_bytes"), [Some(520)]);
}

#[test]
fn run_time_of_a_method_is_that_of_slices_which_began_with_it() {
    let mut out = Batches::new();
    derive(&example(), &[], &mut out).unwrap();
    let methods = of(&out, CpuMethod::TABLE);
    // In the order of frames: main 10 + 8 + 5, a none, b 5, wait 10 + 8.
    assert_eq!(
        int(methods, "run_ns"),
        [Some(23), Some(0), Some(5), Some(18)]
    );
}

/// Thread 1 waits in `wait main`; the n-th time it is ready for n ns. Two of four times wake a
/// processor from deep sleep.
fn wakeups(count: i64) -> Batches {
    let slices: Vec<ContextSwitch> = (0..count)
        .map(|n| {
            let start = n * 1000;
            let times = [
                Some(start),
                Some(start + 100),
                Some(start + 100 + n),
                Some(start + 500),
            ];
            let c_state = [None, Some(1), Some(2), Some(0)][n as usize % 4];
            ContextSwitch {
                prev_c_state: c_state,
                ..slice(1, times, 100, n, 4)
            }
        })
        .collect();
    let mut tables = names();
    tables.push(rows(&slices));
    tables
}

#[test]
fn times_ready_behind_a_deep_sleep_are_counted_apart() {
    let mut out = Batches::new();
    derive(&wakeups(120), &[], &mut out).unwrap();
    let table = of(&out, ReadyPercentile::TABLE);
    let deep = table.column_by_name("is_deep_sleep").unwrap().as_boolean();
    let method = table.column_by_name("method").unwrap().as_string::<i32>();
    let found: Vec<_> = method.iter().zip(deep.iter().map(Option::unwrap)).collect();
    // The process, then its methods in the order of frames.
    let of_each = |name| [(name, true), (name, false)];
    assert_eq!(
        found,
        [of_each(None), of_each(Some("main")), of_each(Some("wait"))].concat()
    );
    // n = 1, 2, 5, 6, … 117, 118; and 0, 3, 4, 7, … 116, 119.
    assert_eq!(int(table, "count"), [Some(60); 6]);
    assert_eq!(int(table, "min_ns"), [Some(1), Some(0)].repeat(3));
    assert_eq!(int(table, "max_ns"), [Some(118), Some(119)].repeat(3));
    assert_eq!(int(table, "sum_ns"), [Some(60 * 119 / 2); 6]);
    assert_eq!(
        int(table, "longest_sum_ns"),
        [Some(118), Some(119)].repeat(3)
    );
}

#[test]
fn percentiles_of_a_method_need_more_than_fifty_values() {
    for (count, rows) in [(100, 2), (102, 6)] {
        let mut out = Batches::new();
        derive(&wakeups(count), &[], &mut out).unwrap();
        assert_eq!(of(&out, ReadyPercentile::TABLE).num_rows(), rows, "{count}");
    }
}

/// Numbers of a method, by its name.
fn of_method(out: &Batches, name: &str, columns: &[&str]) -> Option<Vec<Option<i64>>> {
    let methods = of(out, CpuMethod::TABLE);
    let names = methods.column_by_name("method").unwrap().as_string::<i32>();
    let at = names.iter().position(|n| n == Some(name))?;
    Some(
        columns
            .iter()
            .map(|column| int(methods, column)[at])
            .collect(),
    )
}

#[test]
fn what_has_no_stack_counts_for_its_process_only() {
    let mut tables = example();
    let no_stack = ContextSwitch {
        stack_id: None,
        ..slice(1, [Some(100), Some(130), Some(135), Some(140)], 30, 5, 0)
    };
    tables.push(rows(&[no_stack]));
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    let processes = of(&out, CpuProcess::TABLE);
    assert_eq!(
        (int(processes, "wait_ns"), int(processes, "switches")),
        (vec![Some(100)], vec![Some(4)])
    );
    let main = of_method(&out, "main", &["wait_ns", "switches", "last_ns"]).unwrap();
    assert_eq!(main, [Some(70), Some(3), Some(95)]);
}

#[test]
fn an_open_wait_has_no_length() {
    let mut tables = example();
    let open = ContextSwitch {
        thread_key: 1,
        process_key: Some(1),
        last_out_ns: Some(60),
        prev_state: Some(5),
        is_open_wait: true,
        ..ContextSwitch::default()
    };
    tables.push(rows(&[open]));
    let (mut with, mut without) = (Batches::new(), Batches::new());
    derive(&tables, &[], &mut with).unwrap();
    derive(&example(), &[], &mut without).unwrap();
    assert_eq!(with, without);
}

/// As the question over a range of the same rows: without a run, the times of the waits count.
#[test]
fn a_process_that_only_waits_begins_with_its_wait() {
    let off = |start, wait, ready| ContextSwitch {
        thread_key: 7,
        process_key: Some(1),
        last_out_ns: Some(start),
        wait_ns: Some(wait),
        ready_ns: Some(ready),
        prev_state: Some(5),
        ..ContextSwitch::default()
    };
    let mut tables = names();
    tables.push(rows(&[off(500, 100, 20), off(700, 40, 0)]));
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    let processes = of(&out, CpuProcess::TABLE);
    assert_eq!(
        ["first_ns", "last_ns"].map(|column| int(processes, column)),
        [vec![Some(500)], vec![Some(740)]]
    );
}

#[test]
fn depth_first_and_last_of_a_method_come_from_samples_and_slices() {
    let mut out = Batches::new();
    derive(&example(), &[], &mut out).unwrap();
    let first_last = |name| of_method(&out, name, &["first_ns", "last_ns"]).unwrap();
    // `main` is sampled first at 10 and switched out last at 95; `a` has one sample; `wait` is
    // switched in at 50.
    assert_eq!(first_last("main"), [Some(10), Some(95)]);
    assert_eq!(first_last("a"), [Some(10), Some(10)]);
    assert_eq!(first_last("wait"), [Some(50), Some(80)]);
    let methods = of(&out, CpuMethod::TABLE);
    let names = methods.column_by_name("method").unwrap().as_string::<i32>();
    let depths = methods
        .column_by_name("depth")
        .unwrap()
        .as_primitive::<arrow_array::types::Float64Type>();
    let depth = |name| depths.value(names.iter().position(|n| n == Some(name)).unwrap());
    // `main` is 2 frames from the innermost one in `a a main` and 1 in four others; `a` is
    // innermost, independent of its callers.
    assert!(
        (depth("main") - 6.0 / 5.0).abs() < 1e-9,
        "{}",
        depth("main")
    );
    assert!(depth("a").abs() < 1e-9 && depth("wait").abs() < 1e-9);
}

#[test]
fn methods_of_different_stacks_have_percentiles_of_their_own() {
    let mut tables = wakeups(240);
    // Every third time the thread returns in `b main` instead of `wait main`.
    let slices: Vec<ContextSwitch> = (0..240)
        .map(|n| {
            let start = n * 1000;
            let times = [
                Some(start),
                Some(start + 100),
                Some(start + 100 + n),
                Some(start + 500),
            ];
            slice(1, times, 100, n, if n % 3 == 0 { 3 } else { 4 })
        })
        .collect();
    tables.pop();
    tables.push(rows(&slices));
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    let table = of(&out, ReadyPercentile::TABLE);
    let method: Vec<_> = table
        .column_by_name("method")
        .unwrap()
        .as_string::<i32>()
        .iter()
        .collect();
    assert_eq!(method, [None, Some("main"), Some("b"), Some("wait")]);
    assert_eq!(
        int(table, "count"),
        [Some(240), Some(240), Some(80), Some(160)]
    );
    // b: 0, 3, … 237; wait: 1, 2, 4, 5, … 238, 239.
    assert_eq!(
        int(table, "max_ns"),
        [Some(239), Some(239), Some(237), Some(239)]
    );
    assert_eq!(
        int(table, "p50_ns"),
        [Some(119), Some(119), Some(118), Some(120)]
    );
    assert_eq!(
        int(table, "sum_ns"),
        [Some(28_680), Some(28_680), Some(9480), Some(19_200)]
    );
}

#[test]
fn cpu_that_was_sampled_in_dpcs_is_a_part_of_that_of_the_interrupted_process() {
    let mut tables = names();
    let in_dpc = CpuSample {
        is_dpc_isr: true,
        ..sample(20, 2, 3, false)
    };
    tables.push(rows(&[sample(10, 1, 2, false), in_dpc]));
    let mut out = Batches::new();
    derive(&tables, &[], &mut out).unwrap();
    let process = of(&out, CpuProcess::TABLE);
    assert_eq!(
        (int(process, "cpu_ns"), int(process, "dpc_isr_cpu_ns")),
        (vec![Some(10)], vec![Some(5)])
    );
}
