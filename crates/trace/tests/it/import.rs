//! Whole traces, written by the writer, as rows of tables.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_etl::Session;
use etwkit_etl::writer::{KernelEvent, SessionOptions, TraceWriter};
use etwkit_trace::import::{ImportError, Options, Range, import};
use etwkit_trace::table::{DiskIo, Row, Table, Thread, ThreadAffinity};

type Batches = Vec<(&'static Table, RecordBatch)>;

/// Two reads of one disk; ticks are microseconds.
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
    let bytes = writer.finish(options.header.start_time + 1000).unwrap().into_inner();
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
    import(session, options, &mut sink, &mut |_| ControlFlow::Continue(()))?;
    Ok(sink)
}

#[test]
fn service_begins_when_the_access_before_is_done() {
    let rows = run(&trace(), &Options::default()).unwrap();
    let us = |name: &str| column(&rows, DiskIo::TABLE, name).iter().map(|ns| ns / 1000).collect::<Vec<_>>();
    assert_eq!((us("init_ns"), us("complete_ns")), (vec![0, 4], vec![10, 15]));
    assert_eq!((us("io_ns"), us("service_ns"), us("queue_ns")), (vec![10, 11], vec![10, 5], vec![0, 6]));
}

#[test]
fn an_operation_belongs_to_a_range_if_it_began_in_it() {
    let range = Range { start_ns: 1000, end_ns: 5000 };
    let rows = run(&trace(), &Options { range, ..Options::default() }).unwrap();
    assert_eq!(column(&rows, DiskIo::TABLE, "io_ns"), [11_000]);
    // The access before it was on the disk all the same.
    assert_eq!(column(&rows, DiskIo::TABLE, "service_ns"), [5000]);
}

/// A thread of version 3 with 64-bit pointers, and a change of its processors 5 µs later.
#[test]
fn threads_have_names_and_processors_that_change() {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    let start = options.t0;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let mut thread = [4_u32.to_le_bytes(), 44_u32.to_le_bytes()].concat();
    [1_u64, 2, 3, 4, 0b1011, 0x7ff6_1234, 7].iter().for_each(|pointer| thread.extend(pointer.to_le_bytes()));
    thread.extend([0, 0, 0, 0, 9, 5, 2, 0]);
    thread.extend("render\0".encode_utf16().flat_map(u16::to_le_bytes));
    let change =
        [&0b100_u64.to_le_bytes()[..], &44_u32.to_le_bytes(), &1_u16.to_le_bytes(), &[0; 2]].concat();
    for (after, opcode, version, payload) in [(0, 3, 3, &thread), (5, 53, 2, &change)] {
        let timestamp = start + after;
        let event = KernelEvent { timestamp, group: 5, opcode, version, payload, ..KernelEvent::default() };
        writer.write(0, event).unwrap();
    }
    let bytes = writer.finish(options.header.start_time + 1000).unwrap().into_inner();
    let rows = run(&Session::open(vec![Box::new(bytes)]).unwrap(), &Options::default()).unwrap();
    assert_eq!(column(&rows, Thread::TABLE, "affinity"), [0b1011]);
    assert_eq!(column(&rows, Thread::TABLE, "start_address"), [0x7ff6_1234]);
    let text = |batch: &RecordBatch, name: &str| {
        batch.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned()
    };
    let of = |table: &Table| rows.iter().find(|(of, _)| of.name == table.name).unwrap().1.clone();
    let int = |batch: &RecordBatch, name: &str| {
        batch.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(0)
    };
    let threads = of(Thread::TABLE);
    assert_eq!((text(&threads, "name"), int(&threads, "base_priority")), ("render".to_owned(), 9));
    let changes = of(ThreadAffinity::TABLE);
    assert_eq!(
        (int(&changes, "thread_key"), int(&changes, "processor_group")),
        (int(&threads, "thread_key"), 1)
    );
    assert_eq!(column(&rows, ThreadAffinity::TABLE, "ts_ns"), [5000]);
    assert_eq!(column(&rows, ThreadAffinity::TABLE, "affinity"), [0b100]);
}
