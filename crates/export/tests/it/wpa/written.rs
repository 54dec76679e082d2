//! Graphs of an extract that is written here, so that every cell is known.

use std::collections::BTreeMap;

use etwkit_extract::manifest::{Clock, Detail, Machine, Topic, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    Columns, ContextSwitch, CpuFrequency, CpuSample, FileIo, GenericEvent, Pmc, PmcCounter,
    PmcSample, Process, Row, Service, Thread, Trace,
};

use super::support::Place;

const MS: i64 = 1_000_000;

fn batch<R: Row>(writer: &mut Writer, rows: &[R]) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    writer.write(R::TABLE, columns.take().unwrap()).unwrap();
}

/// Writes an extract of two processors for 60 s.
fn written(tables: &dyn Fn(&mut Writer)) -> Place {
    written_with(Vec::new(), tables)
}

/// Writes an extract of two processors for 60 s, whose recording had these topics.
fn written_with(topics: Vec<Topic>, tables: &dyn Fn(&mut Writer)) -> Place {
    let place = Place::of("written.etwx");
    let mut writer = Writer::create(&place.trace, WriterOptions::default()).unwrap();
    let trace = Trace {
        start_filetime: 133_590_312_000_000_000,
        time_zone_bias_minutes: Some(-120),
        duration_ns: 60_000 * MS,
        processors: 2,
        ..Trace::default()
    };
    batch(&mut writer, &[trace]);
    tables(&mut writer);
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
    let mut manifest = Manifest::new(Detail::Full, TraceSource::default(), clock, machine);
    manifest.topics = topics;
    writer.finish(manifest).unwrap();
    place
}

/// The rows of single columns, as lines with blanks and `|` between.
fn lines(place: &mut Place, graph: &str, titles: &[&str], filter: &str) -> Vec<String> {
    let columns: Vec<(&str, &str)> = titles.iter().map(|title| (*title, "")).collect();
    let table = place.graph(graph, 0, &columns, filter);
    table.rows.iter().map(|row| row.join(" | ")).collect()
}

fn process(process_key: i32, name: &str, start_ms: Option<i64>) -> Process {
    Process {
        process_key,
        pid: 100 + process_key,
        parent_pid: Some(4),
        name: Some(name.into()),
        start_ns: start_ms.map(|ms| ms * MS),
        ..Process::default()
    }
}

fn thread(thread_key: i32, process_key: i32) -> Thread {
    Thread {
        thread_key,
        tid: 1000 + thread_key,
        process_key: Some(process_key),
        name: Some(format!("thread {thread_key}")),
        ideal_cpu: Some(thread_key),
        ..Thread::default()
    }
}

#[test]
fn phases_of_a_boot_are_rows() {
    let mut place = written(&|writer| {
        batch(
            writer,
            &[
                process(1, "smss.exe", Some(2_000)),
                process(2, "winlogon.exe", Some(15_000)),
                process(3, "explorer.exe", Some(20_000)),
            ],
        );
        let sample = |second: i64| CpuSample {
            ts_ns: second * 1_000 * MS,
            process_key: Some(3),
            weight_ns: MS,
            ..CpuSample::default()
        };
        batch(writer, &(0..60).map(sample).collect::<Vec<_>>());
    });
    let titles = [
        "Phase #",
        "Phase Name",
        "Start Time",
        "End Time",
        "Duration",
    ];
    let all = [
        "1 | kernel | 0.000000000 | 2.000000000 | 2.000000000",
        "2 | session | 2.000000000 | 15.000000000 | 13.000000000",
        "3 | logon | 15.000000000 | 20.000000000 | 5.000000000",
        "4 | desktop | 20.000000000 | 20.000000000 | 0.000000000",
    ];
    assert_eq!(
        lines(&mut place, "Boot Phases", &titles, "[Phase #]:>0"),
        all
    );
    let filter = "[Phase Name]:=\"Session Init\"";
    assert_eq!(lines(&mut place, "Boot Phases", &titles, filter), all[1..2]);
}

#[test]
fn services_are_rows_and_name_their_process() {
    let mut place = written(&|writer| {
        batch(
            writer,
            &[
                process(1, "svchost.exe", Some(2_000)),
                process(2, "cmd.exe", None),
            ],
        );
        let service = |name: &str, display: &str| Service {
            name: name.into(),
            display_name: Some(display.into()),
            pid: 101,
            process_key: Some(1),
            ..Service::default()
        };
        batch(
            writer,
            &[
                service("Dnscache", "DNS Client"),
                service("Spooler", "Print Spooler"),
            ],
        );
    });
    let titles = ["Service", "Container", "Container Init At"];
    assert_eq!(
        lines(&mut place, "Services", &titles, "[Process ID]:>0"),
        [
            "Dnscache | svchost.exe (101) | 2.000000000",
            "Spooler | svchost.exe (101) | 2.000000000",
        ]
    );
    let titles = ["Process", "Hosted Services"];
    assert_eq!(
        lines(&mut place, "Processes", &titles, "[Process ID]:>0"),
        ["cmd.exe (102) | ", "svchost.exe (101) | Dnscache, Spooler"]
    );
}

#[test]
fn speeds_are_weighed_by_their_time() {
    let mut place = written(&|writer| {
        let speed =
            |cpu: i32, start_ms: i64, stop_ms: i64, mhz: i32, percent: Option<i32>| CpuFrequency {
                cpu,
                start_ns: start_ms * MS,
                stop_ns: stop_ms * MS,
                mhz,
                kind: "requested",
                performance_percent: percent,
            };
        batch(
            writer,
            &[
                speed(0, 0, 6_000, 1_000, Some(50)),
                speed(0, 6_000, 8_000, 3_000, None),
                speed(1, 0, 12_000, 2_000, None),
            ],
        );
    });
    let columns = [
        ("CPU", ""),
        ("Frequency (MHz)", "WeightedAverage"),
        ("Sum:Duration", "Sum"),
        ("% Duration", "Sum"),
    ];
    let table = place.graph("Processor Frequency", 1, &columns, "[CPU]:>=0");
    assert_eq!(table.rows[0][..3], ["0", "1500.000", "8000.000000"]);
    assert_eq!(table.rows[1][..3], ["1", "2000.000", "12000.000000"]);
    // 8 and 12 of the 120 s that both processors have.
    assert!(
        table.rows[0][3].starts_with("6.66") && table.rows[1][3].starts_with("10"),
        "{:?}",
        table.rows
    );
    // The share is compared in percent.
    let table = place.graph("Processor Frequency", 1, &columns, "[% Duration]:>5");
    assert_eq!(table.column("CPU"), ["1"]);
    let titles = ["CPU", "Performance %", "Exit Time"];
    assert_eq!(
        lines(&mut place, "Processor Performance", &titles, "[CPU]:>=0"),
        ["0 | 50 | 6.000000000"]
    );
}

#[test]
fn counters_are_found_by_their_names() {
    let mut place = written(&|writer| {
        batch(writer, &[process(1, "shop.exe", None)]);
        batch(writer, &[thread(1, 1)]);
        let counter = |position, name: &str| PmcCounter {
            position: Some(position),
            name: name.into(),
            ..PmcCounter::default()
        };
        batch(
            writer,
            &[counter(0, "InstructionRetired"), counter(1, "TotalCycles")],
        );
        batch(
            writer,
            &[Pmc {
                ts_ns: 5 * MS,
                run_ns: 2 * MS,
                cpu: 1,
                process_key: Some(1),
                thread_key: 1,
                value_0: Some(700),
                value_1: Some(900),
                ..Pmc::default()
            }],
        );
        batch(
            writer,
            &[PmcSample {
                ts_ns: 4 * MS,
                cpu: 1,
                process_key: Some(1),
                thread_key: 1,
                counter: "LLCMisses".into(),
                interval: Some(4_096),
                ..PmcSample::default()
            }],
        );
    });
    let titles = [
        "Process",
        "Thread Id",
        "Cycle Count",
        "Instruction Count",
        "Start Time",
        "Clipped Duration",
    ];
    assert_eq!(
        lines(
            &mut place,
            "Processor Counters",
            &titles,
            "[Cycle Count]:=900"
        ),
        ["shop.exe (101) | 1001 | 900 | 700 | 0.003000000 | 2000.000"]
    );
    let titles = ["Counter", "Process", "Weight", "Timestamp"];
    assert_eq!(
        lines(&mut place, "PMC Samples", &titles, "[Counter]:~=\"LLC\""),
        ["LLCMisses | shop.exe (101) | 4096 | 0.004000000"]
    );
}

/// A slice of a thread on processor 0.
fn slice(thread_key: i32, in_ms: i64, out_ms: i64, last_out_ms: Option<i64>) -> ContextSwitch {
    ContextSwitch {
        thread_key,
        process_key: Some(1),
        cpu: Some(0),
        in_ns: Some(in_ms * MS),
        out_ns: Some(out_ms * MS),
        run_ns: Some((out_ms - in_ms) * MS),
        last_out_ns: last_out_ms.map(|ms| ms * MS),
        priority: Some(8),
        ..ContextSwitch::default()
    }
}

#[test]
fn a_switch_has_the_thread_before_it_and_the_states_after_it() {
    let mut place = written(&|writer| {
        batch(writer, &[process(1, "shop.exe", None)]);
        batch(writer, &[thread(1, 1), thread(2, 1), thread(3, 1)]);
        batch(
            writer,
            &[
                ContextSwitch {
                    out_priority: Some(9),
                    ..slice(1, 1, 2, None)
                },
                slice(2, 2, 4, None),
                // Two slices of no length: which thread ran before the next one is not certain.
                slice(2, 5, 5, None),
                slice(3, 5, 5, None),
                ContextSwitch {
                    prev_state: Some(5),
                    wait_reason: Some(6),
                    is_user_wait: Some(true),
                    ..slice(1, 5, 7, Some(2))
                },
                // It waited to the end.
                ContextSwitch {
                    thread_key: 1,
                    last_out_ns: Some(7 * MS),
                    prev_state: Some(5),
                    wait_reason: Some(0),
                    is_user_wait: Some(false),
                    is_open_wait: true,
                    ..ContextSwitch::default()
                },
            ],
        );
    });
    let titles = [
        "Switch-In Time",
        "New Thread Id",
        "New Prev Out Pri",
        "New State",
        "New Wait Reason",
        "New Wait Mode",
        "Old Process",
        "Old Thread Id",
        "Old Out Pri",
        "Old State",
        "Old Wait Reason",
        "Old Switch-In Time",
    ];
    let rows = lines(&mut place, "CPU Usage (Precise)", &titles, "[Ideal Cpu]:>0");
    assert_eq!(
        rows,
        [
            "0.001000000 | 1001 |  | Waiting | UserRequest | UserMode | Unknown |  |  |  |  | ",
            "0.002000000 | 1002 |  |  |  |  | shop.exe (101) | 1001 | 9 | Waiting | UserRequest | 1000.000",
            "0.005000000 | 1001 | 9 | Waiting | Executive | KernelMode | Unknown |  |  |  |  | ",
            "0.005000000 | 1002 |  |  |  |  | Unknown |  |  |  |  | ",
            "0.005000000 | 1003 |  |  |  |  | Unknown |  |  |  |  | ",
        ]
    );
}

#[test]
fn fields_and_flags_are_written_as_they_are() {
    let mut place = written(&|writer| {
        batch(
            writer,
            &[GenericEvent {
                ts_ns: 1_500 * MS,
                name: Some("Order".into()),
                described_by: Some("tracelogging"),
                fields: Some(r#"{"Id":7,"Name":"tea","Empty":null}"#.into()),
                ..GenericEvent::default()
            }],
        );
        let file = |kind, info_class, io_flags| FileIo {
            kind,
            info_class,
            io_flags,
            ..FileIo::default()
        };
        batch(
            writer,
            &[
                file("fs_control", Some(-1), None),
                file("query_info", Some(5), None),
                file("read", None, Some(0x43)),
            ],
        );
    });
    let titles = [
        "Event Type",
        "Field 1",
        "Field 2",
        "Field 3",
        "Field 4",
        "DateTime (Local)",
    ];
    assert_eq!(
        lines(&mut place, "Generic Events", &titles, "[Field 2]:=\"tea\""),
        ["tracelogging | 7 | tea |  |  | 2024-05-01 12:00:01.500000"]
    );
    let titles = ["Event Type", "Event SubType", "Flags"];
    assert_eq!(
        lines(&mut place, "File I/O", &titles, "[Count]:=1"),
        [
            "FSCtl | 0xffffffff | ",
            "QueryInfo | 5 | ",
            "Read |  | 0x43"
        ]
    );
}

/// Of a graph of which nothing was recorded, the line says what records it.
#[test]
fn a_graph_that_was_not_recorded_says_what_records_it() {
    let mut place = Place::new("office");
    let columns = [("Process", ""), ("Count", "")];
    let text = place.not_written("Heap Allocations", &columns);
    assert_eq!(
        text,
        "not written: Heap Allocations, x: nothing of it was recorded (table heap is empty; to record it: \
         heap tracing of a process)"
    );
}

/// A topic without events that was enabled was recorded, and nothing of it happened.
#[test]
fn a_graph_of_what_did_not_happen_is_not_called_unrecorded() {
    let hard_faults = |recorded: bool| Topic {
        topic: "hard faults".to_owned(),
        recorded,
        events: Some(0),
        hint: (!recorded).then(|| "HARD_FAULTS".to_owned()),
    };
    let columns = [("Process", ""), ("Count", "")];
    for (recorded, why) in [
        (
            true,
            "it was recorded, and the extract has none of it (table hard_fault is empty)",
        ),
        (
            false,
            "nothing of it was recorded (table hard_fault is empty; to record it: HARD_FAULTS)",
        ),
    ] {
        let mut place = written_with(vec![hard_faults(recorded)], &|_| {});
        let text = place.not_written("Hard Faults", &columns);
        assert_eq!(text, format!("not written: Hard Faults, x: {why}"));
    }
}
