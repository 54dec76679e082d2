//! Costs of products, on a machine that is small enough to be computed by hand.

use etwkit_analysis::overhead::{OverheadBy, OverheadRequest, OverheadRow};
use etwkit_question::Question;
use etwkit_question::range::{Range, Unit};
use etwkit_sql::Session;
use etwkit_trace::table::{
    ContextSwitch, CpuSample, DiskIo, DpcIsr, Frame, Method, Module, Process, Stack, Thread, Trace,
};
use etwkit_trace::tags::TagSet;

use super::support::rows;

const MS: i64 = 1_000_000;

/// File, folder, company, product, process.
const MODULES: &[(&str, &str, &str, &str, Option<i32>)] = &[
    (
        "ntoskrnl.exe",
        r"C:\Windows\System32\",
        "Microsoft Corporation",
        "Windows",
        None,
    ),
    (
        "fltmgr.sys",
        r"C:\Windows\System32\drivers\",
        "Microsoft Corporation",
        "Windows",
        None,
    ),
    (
        "guard.sys",
        r"C:\Windows\System32\drivers\",
        "North Ltd",
        "North Guard",
        None,
    ),
    (
        "ntfs.sys",
        r"C:\Windows\System32\drivers\",
        "Microsoft Corporation",
        "Windows",
        None,
    ),
    ("app.exe", r"C:\App\", "Litware", "App", Some(1)),
    (
        "guardsvc.exe",
        r"C:\North\",
        "North Ltd",
        "North Guard",
        Some(2),
    ),
    (
        "widgets.dll",
        r"C:\App\",
        "Widget Makers",
        "Widgets",
        Some(1),
    ),
    ("hook.dll", r"C:\Lamp\", "Lamp Inc", "Lamp", Some(1)),
];

/// The frame of each module has its number; this one logs an event.
const LOGS: i32 = 8;

/// Parent and frame.
const STACKS: &[(Option<i32>, i32)] = &[
    (None, 4),       // 0: the program
    (Some(0), 6),    // 1: in a library of its own
    (Some(0), 0),    // 2: in the kernel
    (Some(2), 2),    // 3: in the filter driver
    (Some(3), 0),    // 4: which waits
    (Some(3), 3),    // 5: which passed it on to the file system
    (Some(0), LOGS), // 6: the program logs an event
    (Some(6), 2),    // 7: to which the driver listens
    (None, 5),       // 8: the service
    (None, 2),       // 9: a thread of the driver
    (Some(0), 7),    // 10: in a library of somebody else
];

fn sample(ts_ms: i64, thread_key: i32, stack_id: i32) -> CpuSample {
    CpuSample {
        ts_ns: ts_ms * MS,
        thread_key,
        stack_id,
        weight_ns: MS,
        ..CpuSample::default()
    }
}

fn waited(thread_key: i32, stack_id: i32, wait_ms: i64) -> ContextSwitch {
    ContextSwitch {
        thread_key,
        stack_id: Some(stack_id),
        wait_ns: Some(wait_ms * MS),
        in_ns: Some(500 * MS),
        ..ContextSwitch::default()
    }
}

fn ready(thread_key: i32, ready_ms: i64, instead: i32, instead_ms: Option<i64>) -> ContextSwitch {
    ContextSwitch {
        thread_key,
        in_ns: Some(600 * MS),
        ready_ns: Some(ready_ms * MS),
        instead_thread_key: Some(instead),
        instead_ns: instead_ms.map(|ms| ms * MS),
        ..ContextSwitch::default()
    }
}

fn machine() -> Session {
    let text = |text: &str| Some(text.into());
    let modules: Vec<Module> = (0..)
        .zip(MODULES)
        .map(
            |(module_id, (name, folder, company, product, process_key))| Module {
                module_id,
                name: (*name).into(),
                path: format!("{folder}{name}"),
                company: text(company),
                product_name: text(product),
                process_key: *process_key,
                ..Module::default()
            },
        )
        .collect();
    let mut frames: Vec<Frame> = (0..8)
        .map(|id| Frame {
            frame_id: id,
            module_id: Some(id),
            rva: Some(16),
            ..Frame::default()
        })
        .collect();
    frames.push(Frame {
        frame_id: LOGS,
        module_id: Some(0),
        method_id: Some(0),
        ..Frame::default()
    });
    let logs = Method {
        method_id: 0,
        module_id: Some(0),
        name: "EtwpLogKernelEvent".into(),
        ..Method::default()
    };
    let stacks: Vec<Stack> = (0..)
        .zip(STACKS)
        .map(|(stack_id, (parent_id, frame_id))| Stack {
            stack_id,
            parent_id: *parent_id,
            frame_id: *frame_id,
            ..Stack::default()
        })
        .collect();
    let processes: Vec<Process> = [(0, "System"), (1, "app.exe"), (2, "guardsvc.exe")]
        .map(|(process_key, name)| Process {
            process_key,
            name: text(name),
            ..Process::default()
        })
        .into();
    // The driver has a thread of its own in the process of the system.
    let threads: Vec<Thread> = [(1, 1, Some(4)), (2, 2, None), (3, 0, Some(2))]
        .map(|(thread_key, process_key, start_frame_id)| Thread {
            thread_key,
            process_key: Some(process_key),
            start_frame_id,
            ..Thread::default()
        })
        .into();
    let mut samples = vec![sample(900, 1, 10)];
    let all = [
        (1, 1, 10),
        (1, 4, 3),
        (1, 6, 2),
        (1, 7, 1),
        (2, 8, 5),
        (3, 9, 4),
    ];
    for (thread, stack, count) in all {
        samples.extend((0..count).map(|ms| sample(ms, thread, stack)));
    }
    samples.push(CpuSample {
        is_dpc_isr: true,
        ..sample(30, 1, 3)
    });
    let switches = [
        waited(1, 4, 5),
        waited(1, 5, 7),
        waited(3, 9, 100),
        ready(1, 6, 2, None),
        ready(1, 8, 3, Some(3)),
    ];
    let dpc = DpcIsr {
        frame_id: 2,
        duration_ns: 4 * MS,
        nested_ns: MS,
        ..DpcIsr::default()
    };
    let transfer = DiskIo {
        thread_key: Some(2),
        service_ns: Some(11 * MS),
        size_bytes: 4096,
        ..DiskIo::default()
    };
    Session::from_batches(vec![
        rows(&[Trace {
            file_name: "made.etl".into(),
            duration_ns: 1000 * MS,
            ..Trace::default()
        }]),
        rows(&processes),
        rows(&threads),
        rows(&modules),
        rows(&[logs]),
        rows(&frames),
        rows(&stacks),
        rows(&samples),
        rows(&switches),
        rows(&[dpc]),
        rows(&[transfer]),
    ])
    .unwrap()
}

fn ask(request: &OverheadRequest) -> Vec<OverheadRow> {
    let answer = request.answer(&machine()).unwrap();
    answer
        .rows_of::<OverheadRequest, OverheadRow>()
        .cloned()
        .collect()
}

#[test]
fn a_product_costs_what_its_code_does_in_others_and_what_they_wait_for() {
    let rows = ask(&OverheadRequest::default());
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.product.as_str(), row.files.as_str()))
        .collect();
    // The library in the folder of the program is a part of it. Ascending by the costs to others.
    let expected = [
        ("App", "app.exe"),
        ("Lamp", "hook.dll"),
        ("Event tracing (ETW)", "ntoskrnl.exe"),
        ("North Guard", "guard.sys; guardsvc.exe"),
    ];
    assert_eq!(found, expected);
    let guard = &rows[3];
    // 5 ms of the service and 4 of the driver's thread; 3 in the program and 1 below the logging of
    // events.
    assert_eq!(
        (guard.own_cpu_ns, guard.other_cpu_ns),
        (Some(9 * MS), Some(4 * MS))
    );
    // Neither the wait in the file system nor the wait of the driver's own thread counts.
    assert_eq!(
        (guard.waits, guard.wait_ns, guard.max_wait_ns),
        (Some(1), Some(5 * MS), Some(5 * MS))
    );
    // All of the 6 ms, and the part of the 8 ms in which the driver's thread ran.
    assert_eq!(
        (guard.ready_ns, guard.dpc_isr_ns),
        (Some(9 * MS), Some(3 * MS))
    );
    assert_eq!(
        (guard.disk_ns, guard.disk_bytes),
        (Some(11 * MS), Some(4096))
    );
    assert_eq!(guard.caused_ns, (4 + 3 + 5 + 9) * MS);
    assert_eq!(guard.energy_j, Some(0.016 * 5.0));
    let (tracing, app) = (&rows[2], &rows[0]);
    assert_eq!(
        (tracing.own_cpu_ns, tracing.other_cpu_ns),
        (Some(0), Some(2 * MS))
    );
    // All of its threads, with any code or interrupts: as in `dump cpu`.
    assert_eq!(
        (app.own_cpu_ns, app.other_cpu_ns, app.caused_ns),
        (Some(18 * MS), Some(0), 0)
    );
    assert_eq!(rows[1].other_cpu_ns, Some(MS));
}

#[test]
fn rows_are_files_companies_or_some_products() {
    let files = ask(&OverheadRequest {
        by: OverheadBy::File,
        ..OverheadRequest::default()
    });
    let cost = |name: &str| {
        let row = files.iter().find(|row| row.product == name).unwrap();
        (
            row.own_cpu_ns.unwrap() / MS,
            row.other_cpu_ns.unwrap() / MS,
            row.ready_ns.unwrap() / MS,
        )
    };
    assert_eq!(
        (cost("guard.sys"), cost("guardsvc.exe")),
        ((4, 4, 3), (5, 0, 6))
    );
    let product = Some("guardsvc*;lamp*".to_owned());
    let some = ask(&OverheadRequest {
        product,
        by: OverheadBy::Company,
        ..OverheadRequest::default()
    });
    assert_eq!(
        some.iter()
            .map(|row| row.product.as_str())
            .collect::<Vec<_>>(),
        ["Lamp Inc", "North Ltd"]
    );
    let time = Range::parse("0.7..", Unit::Moment).unwrap();
    let late = ask(&OverheadRequest {
        time,
        ..OverheadRequest::default()
    });
    let costs: Vec<_> = late
        .iter()
        .map(|row| (row.product.as_str(), row.other_cpu_ns, row.wait_ns))
        .collect();
    assert_eq!(
        costs,
        [("App", Some(0), Some(0)), ("Lamp", Some(MS), Some(0))]
    );
}

/// Rules for the driver and the service of one product, and for a library of another one.
const RULES: &str = r#"<Tag Name=""><Tag Name="Scan"><Entrypoint Module="guard*" Method="*"/></Tag>
    <Tag Name="Hook"><Entrypoint Module="hook.dll" Method="*"/></Tag></Tag>"#;

#[test]
fn rows_are_stack_tags_of_the_rules_of_a_file() {
    let machine = machine();
    machine.use_tags(vec![TagSet::read("team", &[("team", RULES.as_bytes())]).unwrap()].into());
    let ask = |product: Option<&str>| {
        let product = product.map(str::to_owned);
        let request = OverheadRequest {
            by: OverheadBy::Tag,
            product,
            ..OverheadRequest::default()
        };
        let answer = request.answer(&machine).unwrap();
        answer
            .rows_of::<OverheadRequest, OverheadRow>()
            .cloned()
            .collect::<Vec<_>>()
    };
    let rows = ask(None);
    let tagged: Vec<_> = rows
        .iter()
        .map(|row| (row.product.as_str(), row.files.as_str()))
        .collect();
    assert_eq!(
        tagged,
        [("Hook", "hook.dll"), ("Scan", "guard.sys; guardsvc.exe")]
    );
    // The tag covers the whole product, so its numbers equal the numbers of the product.
    let (hook, scan) = (&rows[0], &rows[1]);
    assert_eq!((hook.own_cpu_ns, hook.other_cpu_ns), (Some(0), Some(MS)));
    assert_eq!(
        (scan.own_cpu_ns, scan.other_cpu_ns),
        (Some(9 * MS), Some(4 * MS))
    );
    assert_eq!(
        (scan.waits, scan.wait_ns, scan.dpc_isr_ns),
        (Some(1), Some(5 * MS), Some(3 * MS))
    );
    assert_eq!((scan.ready_ns, scan.disk_ns), (Some(9 * MS), Some(11 * MS)));
    assert_eq!(scan.caused_ns, (4 + 3 + 5 + 9) * MS);
    // Only tags of the built-in rules that name products are rows, unless others are requested by
    // name. The driver below the logging has no tag of its own there.
    let logging = ask(Some(r"Windows\*"));
    let named: Vec<_> = logging
        .iter()
        .map(|row| (row.product.as_str(), row.other_cpu_ns))
        .collect();
    assert_eq!(named, [(r"Windows\ETW Tracing", Some(3 * MS))]);
    assert_eq!(ask(Some("hook")).len(), 1);
}
