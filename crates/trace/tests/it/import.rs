//! Whole traces, written by the writer, as rows of tables.

use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_etl::{Guid, Session};
use etwkit_trace::import::{ImportError, Options, Range, import};
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{
    DiskIo, EventCount, Exception, Frame, GenericEvent, MemoryMachine, MemorySample, Method,
    Module, Row, Table, Thread, ThreadAffinity,
};

type Batches = Vec<(&'static Table, RecordBatch)>;

/// Two reads from one disk; ticks are microseconds.
fn trace() -> Session {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let start = options.t0;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    for (start_us, end_us, irp) in [(0i64, 10i64, 1u64), (4, 15, 2)] {
        let mut payload = Vec::new();
        for word in [0u32, 0, 512, 0] {
            payload.extend(word.to_le_bytes());
        }
        for long in [0u64, 7, irp, (end_us - start_us) as u64] {
            payload.extend(long.to_le_bytes());
        }
        payload.extend(12u32.to_le_bytes());
        let timestamp = start + end_us;
        let event = KernelEvent {
            timestamp,
            group: 1,
            opcode: 10,
            version: 3,
            payload: &payload,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    Session::open(vec![Box::new(bytes)]).unwrap()
}

fn column(batches: &Batches, table: &Table, name: &str) -> Vec<i64> {
    let batches = batches.iter().filter(|(of, _)| of.name == table.name);
    let values = |(_, batch): &(_, RecordBatch)| {
        let array = batch.column_by_name(name).unwrap().clone();
        array.as_primitive::<Int64Type>().values().to_vec()
    };
    batches.flat_map(values).collect()
}

fn run(session: &Session, options: &Options) -> Result<Batches, ImportError> {
    let mut sink = Batches::new();
    import(session, options, &mut sink, &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(sink)
}

#[test]
fn service_begins_when_the_access_before_is_done() {
    let rows = run(&trace(), &Options::default()).unwrap();
    let us = |name: &str| {
        column(&rows, DiskIo::TABLE, name)
            .iter()
            .map(|ns| ns / 1000)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (us("init_ns"), us("complete_ns")),
        (vec![0, 4], vec![10, 15])
    );
    assert_eq!(
        (us("io_ns"), us("service_ns"), us("queue_ns")),
        (vec![10, 11], vec![10, 5], vec![0, 6])
    );
}

#[test]
fn an_operation_belongs_to_a_range_if_it_began_in_it() {
    let range = Range {
        start_ns: 1000,
        end_ns: 5000,
    };
    let rows = run(
        &trace(),
        &Options {
            range,
            ..Options::default()
        },
    )
    .unwrap();
    assert_eq!(column(&rows, DiskIo::TABLE, "io_ns"), [11_000]);
    // The previous access still occupied the disk.
    assert_eq!(column(&rows, DiskIo::TABLE, "service_ns"), [5000]);
}

/// A disk without room for one of the tables.
struct Full(&'static Table);

impl Sink for Full {
    fn write(&mut self, table: &'static Table, _: RecordBatch) -> Result<(), SinkError> {
        if table.name == self.0.name {
            Err("no room".into())
        } else {
            Ok(())
        }
    }
}

/// Rows pass several threads, each of which only knows that the next one is gone.
#[test]
fn the_error_of_a_sink_is_that_of_the_import() {
    // The first table comes from the last thread, the second one from the first.
    for table in [DiskIo::TABLE, EventCount::TABLE] {
        let mut sink = Full(table);
        let done = import(&trace(), &Options::default(), &mut sink, &mut |_| {
            ControlFlow::Continue(())
        });
        let Err(ImportError::Sink(error)) = done else {
            panic!("{}", table.name)
        };
        assert_eq!(error.to_string(), "no room", "{}", table.name);
    }
}

/// Samples of memory in the documented layouts.
#[test]
fn memory_of_the_machine_and_of_processes_in_bytes() {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let longs =
        |numbers: &[u64]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let machine = longs(&(0..26).collect::<Vec<u64>>());
    let entry = |pid: u32, pages: u64| {
        let numbers: Vec<u64> = (0..8).map(|n| pages + n).collect();
        [pid.to_le_bytes().to_vec(), longs(&numbers)].concat()
    };
    let processes = [
        2u32.to_le_bytes().to_vec(),
        entry(4, 10),
        entry(u32::MAX, 20),
    ]
    .concat();
    for (us, opcode, payload) in [(5, 112, &machine), (6, 125, &processes), (7, 125, &machine)] {
        let event = KernelEvent {
            timestamp: options.t0 + us,
            group: 2,
            opcode,
            version: 2,
            payload,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    let rows = run(
        &Session::open(vec![Box::new(bytes)]).unwrap(),
        &Options::default(),
    )
    .unwrap();
    let pages = |table, name| -> Vec<i64> {
        column(&rows, table, name)
            .iter()
            .map(|n| n / 4096)
            .collect()
    };
    assert_eq!(column(&rows, MemorySample::TABLE, "ts_ns"), [6000, 6000]);
    for (name, expected) in [
        ("working_set_bytes", [10, 20]),
        ("commit_bytes", [11, 21]),
        ("virtual_bytes", [12, 22]),
        ("private_working_set_bytes", [13, 23]),
        ("store_bytes", [14, 24]),
        ("stored_bytes", [15, 25]),
        ("commit_debt_bytes", [16, 26]),
        ("shared_commit_bytes", [17, 27]),
    ] {
        assert_eq!(pages(MemorySample::TABLE, name), expected, "{name}");
    }
    for (name, expected) in [
        ("zero_bytes", 0),
        ("standby_bytes", (5..13).sum()),
        ("commit_bytes", 25),
    ] {
        assert_eq!(pages(MemoryMachine::TABLE, name), [expected], "{name}");
    }
    // A payload that does not match the layout stays a generic event without one.
    assert_eq!(column(&rows, GenericEvent::TABLE, "ts_ns"), [7000]);
}

/// The .NET runtime logs the stack of an event as a second event on the same thread.
#[test]
fn stacks_of_the_runtime_belong_to_the_event_in_front_of_them() {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let text = |text: &str| -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let exception = |name: &str| [text(name), text("message"), vec![0; 16]].concat();
    let stack = |address: u64| [&[0; 4][..], &1u32.to_le_bytes(), &address.to_le_bytes()].concat();
    let tick = vec![0; 40];
    let events = [
        (10, 7, 80, exception("A")),
        (11, 8, 80, exception("B")),
        (12, 7, 82, stack(0x1000)),
        // Another event of the thread, which has no table, and its stack.
        (20, 7, 10, tick),
        (21, 7, 82, stack(0x2000)),
        // A stack without a preceding event.
        (30, 9, 82, stack(0x3000)),
        (40, 9, 80, exception("C")),
    ];
    for (us, thread_id, id, payload) in &events {
        let event = ManifestEvent {
            timestamp: options.t0 + us,
            provider: etwkit_decode::clr::RUNTIME,
            descriptor: Descriptor {
                id: *id,
                version: 1,
                ..Descriptor::default()
            },
            thread_id: *thread_id,
            process_id: 4,
            payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    let rows = run(
        &Session::open(vec![Box::new(bytes)]).unwrap(),
        &Options::default(),
    )
    .unwrap();
    let with_stack = |table: &Table| -> Vec<bool> {
        let batches = rows.iter().filter(|(of, _)| of.name == table.name);
        batches
            .flat_map(|(_, batch)| {
                let stacks = batch.column_by_name("stack_id").unwrap();
                (0..batch.num_rows())
                    .map(|row| stacks.is_valid(row))
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    assert_eq!(with_stack(Exception::TABLE), [true, false, false]);
    assert_eq!(
        column(&rows, GenericEvent::TABLE, "ts_ns"),
        [20_000, 30_000]
    );
    assert_eq!(with_stack(GenericEvent::TABLE), [true, false]);
    let addresses = column(&rows, Frame::TABLE, "address");
    assert_eq!(addresses, [0x1000, 0x2000]);
}

/// Events that cannot be decoded still have names, and the texts in their bytes replace their
/// fields.
#[test]
fn events_without_a_layout_have_their_built_in_name_and_the_text_in_their_bytes() {
    const DEFENDER: Guid = Guid::literal("0a002690-3839-4e3a-b3b6-96d8df868d99");
    let options = SessionOptions::default();
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let path: Vec<u8> = r"C:\a\setup.exe"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let payload = [&[7, 0, 0, 0][..], &path, &[0, 0]].concat();
    for (id, payload) in [(5, &*payload), (9999, &payload), (6, &[1, 2, 3])] {
        let event = ManifestEvent {
            timestamp: options.t0 + 1,
            provider: DEFENDER,
            descriptor: Descriptor {
                id,
                ..Descriptor::default()
            },
            payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    let session = Session::open(vec![Box::new(bytes)]).unwrap();
    let rows = |keep_payload: bool| -> Vec<String> {
        let rows = run(
            &session,
            &Options {
                keep_payload,
                ..Options::default()
            },
        )
        .unwrap();
        let (_, batch) = rows
            .iter()
            .find(|(of, _)| of.name == GenericEvent::TABLE.name)
            .unwrap();
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .unwrap()
                .as_string::<i32>()
                .clone()
        };
        let columns = ["provider", "name", "described_by", "fields"].map(column);
        let text = |row: usize| {
            let texts = columns
                .iter()
                .map(|c| if c.is_valid(row) { c.value(row) } else { "-" });
            texts.collect::<Vec<_>>().join(" ")
        };
        (0..batch.num_rows()).map(text).collect()
    };
    let stream = "Microsoft-Antimalware-Engine Streamscanrequest";
    assert_eq!(
        rows(true),
        [
            format!(r#"{stream}/Start names {{"text":["C:\\a\\setup.exe"]}}"#),
            r#"Microsoft-Antimalware-Engine - - {"text":["C:\\a\\setup.exe"]}"#.to_owned(),
            format!("{stream}/Stop names -"),
        ]
    );
    // Without the bytes, their texts are not kept either.
    assert_eq!(rows(false)[0], format!("{stream}/Start names -"));
}

/// Code compiled at run time is in no image; the rundown names its module.
#[test]
fn compiled_code_belongs_to_the_assembly_that_the_runtime_names() {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let text = |text: &str| -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let longs =
        |numbers: &[u64]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let ints =
        |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let method = |id: u64, module: u64, start: u64, name: &str| {
        let head = [longs(&[id, module, start]), ints(&[0x100, 0, 8])].concat();
        [head, text("Shop.Cart"), text(name), text("void ()")].concat()
    };
    let module = |id: u64, path: &str| {
        let pdb = [vec![0; 2], vec![7; 16], ints(&[1]), text("App.pdb")].concat();
        [longs(&[id, 0]), ints(&[8, 0]), text(path), text(""), pdb].concat()
    };
    let of_domain = |id: u64, path: &str| {
        [
            longs(&[id, 0, 0]),
            ints(&[8, 0]),
            text(path),
            text(""),
            vec![0; 2],
        ]
        .concat()
    };
    let exception = [text("A"), text("message"), vec![0; 16]].concat();
    let stack = [&[0; 4][..], &2u32.to_le_bytes(), &longs(&[0x1010, 0x2010])].concat();
    let (runtime, rundown) = (etwkit_decode::clr::RUNTIME, etwkit_decode::clr::RUNDOWN);
    let events = [
        (1, runtime, 143, method(1, 0x50, 0x1000, "Add")),
        (2, runtime, 143, method(2, 0x60, 0x2000, "Pay")),
        (3, runtime, 143, method(3, 0x70, 0x3000, "Lost")),
        (10, runtime, 80, exception),
        (11, runtime, 82, stack),
        (20, rundown, 154, module(0x50, r"C:\app\App.dll")),
        (21, rundown, 152, of_domain(0x60, "Made at run time")),
    ];
    for (us, provider, id, payload) in &events {
        let event = ManifestEvent {
            timestamp: options.t0 + us,
            provider: *provider,
            descriptor: Descriptor {
                id: *id,
                version: 2,
                ..Descriptor::default()
            },
            thread_id: 7,
            process_id: 4,
            payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    let rows = run(
        &Session::open(vec![Box::new(bytes)]).unwrap(),
        &Options::default(),
    )
    .unwrap();
    let texts = |table: &Table, name: &str| -> Vec<String> {
        let of_table = rows.iter().filter(|(of, _)| of.name == table.name);
        of_table
            .flat_map(|(_, batch)| {
                let texts = batch.column_by_name(name).unwrap().as_string::<i32>();
                texts
                    .iter()
                    .map(|text| text.unwrap_or("-").to_owned())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let ids = |table: &Table, name: &str| -> Vec<Option<i32>> {
        let of_table = rows.iter().filter(|(of, _)| of.name == table.name);
        of_table
            .flat_map(|(_, batch)| {
                batch
                    .column_by_name(name)
                    .unwrap()
                    .as_primitive::<Int32Type>()
                    .iter()
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    assert_eq!(
        texts(Module::TABLE, "path"),
        [r"C:\app\App.dll", "Made at run time"]
    );
    assert_eq!(texts(Module::TABLE, "pdb_name"), ["App.pdb", "-"]);
    assert_eq!(
        texts(Method::TABLE, "name"),
        ["Shop.Cart.Add", "Shop.Cart.Pay", "Shop.Cart.Lost"]
    );
    assert_eq!(ids(Method::TABLE, "module_id"), [Some(0), Some(1), None]);
    assert_eq!(
        ids(Frame::TABLE, "module_id"),
        [Some(1), Some(0)],
        "of the callers first"
    );
}

#[test]
fn threads_have_names_and_processors_that_change() {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let start = options.t0;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let mut thread = [4_u32.to_le_bytes(), 44_u32.to_le_bytes()].concat();
    [1_u64, 2, 3, 4, 0b1011, 0x7ff6_1234, 7]
        .iter()
        .for_each(|pointer| thread.extend(pointer.to_le_bytes()));
    thread.extend([0, 0, 0, 0, 9, 5, 2, 0]);
    thread.extend("render\0".encode_utf16().flat_map(u16::to_le_bytes));
    let change = [
        &0b100_u64.to_le_bytes()[..],
        &44_u32.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &[0; 2],
    ]
    .concat();
    for (after, opcode, version, payload) in [(0, 3, 3, &thread), (5, 53, 2, &change)] {
        let timestamp = start + after;
        let event = KernelEvent {
            timestamp,
            group: 5,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let bytes = writer
        .finish(options.header.start_time + 1000)
        .unwrap()
        .into_inner();
    let rows = run(
        &Session::open(vec![Box::new(bytes)]).unwrap(),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(column(&rows, Thread::TABLE, "affinity"), [0b1011]);
    assert_eq!(column(&rows, Thread::TABLE, "start_address"), [0x7ff6_1234]);
    let text = |batch: &RecordBatch, name: &str| {
        batch
            .column_by_name(name)
            .unwrap()
            .as_string::<i32>()
            .value(0)
            .to_owned()
    };
    let of = |table: &Table| {
        rows.iter()
            .find(|(of, _)| of.name == table.name)
            .unwrap()
            .1
            .clone()
    };
    let int = |batch: &RecordBatch, name: &str| {
        batch
            .column_by_name(name)
            .unwrap()
            .as_primitive::<Int32Type>()
            .value(0)
    };
    let threads = of(Thread::TABLE);
    assert_eq!(
        (text(&threads, "name"), int(&threads, "base_priority")),
        ("render".to_owned(), 9)
    );
    let changes = of(ThreadAffinity::TABLE);
    assert_eq!(
        (
            int(&changes, "thread_key"),
            int(&changes, "processor_group")
        ),
        (int(&threads, "thread_key"), 1)
    );
    assert_eq!(column(&rows, ThreadAffinity::TABLE, "ts_ns"), [5000]);
    assert_eq!(column(&rows, ThreadAffinity::TABLE, "affinity"), [0b100]);
}
