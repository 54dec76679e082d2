//! Extracts of random rows, with features that traces of a simulated machine never have: slices
//! without a start, threads without a known process, and methods with names that are patterns.

use std::path::Path;

use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    Columns, ContextSwitch, CpuSample, DiskIo, DpcIsr, EventCount, FileIo, Frame, Mark, Method,
    Module, NetIo, Process, Row, Stack, TcpConnection, TcpEvent, Thread, Trace,
};

use super::numbers::Draw;

const END: i64 = 3_000_000_000;
const THREADS: i32 = 12;
const STACKS: i32 = 80;

/// Names of methods; the first one calls all others.
const METHODS: [&str; 7] = ["main", "f", "F", "operator*", "x;y", "!it's", "what?"];

struct Tables(Writer);

impl Tables {
    fn write<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> &mut Self {
        let mut columns = R::Columns::default();
        rows.into_iter().for_each(|row| columns.push(&row));
        self.0.write(R::TABLE, columns.take().unwrap()).unwrap();
        self
    }
}

/// Writes an extract: with context switches and events of connections, or with samples and
/// transfers alone.
pub(crate) fn write(path: &Path, has_switches: bool) {
    let mut tables = Tables(Writer::create(path, WriterOptions::default()).unwrap());
    let mut draw = Draw(if has_switches { 3 } else { 4 });
    let trace = Trace {
        duration_ns: END,
        kernel_start_ns: Some(1_000),
        kernel_end_ns: Some(END - 70_000),
        // A part whose threads do more than Windows records of it, at both ends.
        range_start_ns: has_switches.then_some(5_000),
        range_end_ns: has_switches.then_some(END - 90_000),
        processors: 3,
        ..Trace::default()
    };
    let names = ["Idle", "a.exe", "b.exe", "A.exe", "a.exe"];
    let process = |(process_key, name): (i32, &'static str)| Process {
        process_key,
        pid: process_key * 4 % 16,
        name: Some(name.into()),
        ..Process::default()
    };
    let thread = |thread_key| Thread {
        thread_key,
        tid: thread_key + 100,
        process_key: of_thread(thread_key),
        ..Thread::default()
    };
    tables
        .write([trace])
        .write((0..).zip(names).map(process))
        .write((0..THREADS).map(thread));
    stacks(&mut tables, &mut draw);
    if has_switches {
        tables.write(switches(&mut draw));
    } else {
        tables.write(samples(&mut draw));
    }
    transfers(&mut tables, &mut draw, has_switches);
    let machine = Machine {
        processors: 3,
        ..Machine::default()
    };
    let hash = if has_switches {
        "00112233445566aa"
    } else {
        "00112233445566bb"
    };
    let source = TraceSource {
        hash: hash.to_owned(),
        ..TraceSource::default()
    };
    tables
        .0
        .finish(Manifest::new(
            Detail::Full,
            source,
            Clock::default(),
            machine,
        ))
        .unwrap();
}

/// Threads 0 and 1 are idle, the last one is of no known process.
fn of_thread(thread: i32) -> Option<i32> {
    (thread < THREADS - 1).then_some(if thread < 2 { 0 } else { 1 + thread % 4 })
}

fn stacks(tables: &mut Tables, draw: &mut Draw) {
    let module = |(module_id, name): (i32, &'static str)| Module {
        module_id,
        name: name.into(),
        path: name.into(),
        ..Module::default()
    };
    let method = |(method_id, name): (i32, &'static str)| Method {
        method_id,
        module_id: (method_id != 6).then_some(0),
        name: name.into(),
        ..Method::default()
    };
    let places = METHODS.len() as i32;
    // Two addresses of each method, one of which has no module of its own; then places without a
    // name.
    let frame = |frame_id: i32| Frame {
        frame_id,
        module_id: (frame_id % 2 == 0).then_some(frame_id / places),
        method_id: (frame_id < 2 * places).then_some(frame_id % places),
        rva: (frame_id % 2 == 0).then_some(i64::from(frame_id) * 16),
        address: -4096 * i64::from(frame_id),
        ..Frame::default()
    };
    let mut depths: Vec<i32> = Vec::new();
    let stack = |stack_id: i32| {
        let parent_id = (stack_id > 2).then(|| draw.below(stack_id.into()) as i32);
        let depth = parent_id.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let frame_id = if stack_id < 2 {
            0
        } else {
            draw.below(i64::from(2 * places) + 4) as i32
        };
        Stack {
            stack_id,
            parent_id,
            frame_id,
            depth,
        }
    };
    let stacks: Vec<Stack> = (0..STACKS).map(stack).collect();
    tables
        .write((0..).zip(["a.exe", "b.dll", "c.sys"]).map(module))
        .write((0..).zip(METHODS).map(method));
    tables.write((0..2 * places + 4).map(frame)).write(stacks);
}

/// Slices of each thread one after the other; of some the beginning or the wait is not known.
fn switches(draw: &mut Draw) -> Vec<ContextSwitch> {
    let mut all = Vec::new();
    for thread_key in 0..THREADS {
        let row = || ContextSwitch {
            thread_key,
            process_key: of_thread(thread_key),
            ..ContextSwitch::default()
        };
        if thread_key == 5 {
            // The thread ran from the beginning of the trace to its end.
            all.push(ContextSwitch {
                cpu: Some(2),
                run_ns: Some(END - 71_000),
                ..row()
            });
            continue;
        }
        let mut at = 1_000 + draw.below(900_000);
        all.push(ContextSwitch {
            cpu: Some(1),
            out_ns: Some(at),
            run_ns: Some(at - 1_000),
            ..row()
        });
        for slice in 0..60 {
            let (wait, ready, run) = (
                draw.below(40_000_000),
                draw.below(90_000),
                draw.below(2_000_000) + 1,
            );
            let in_ns = at + wait + ready;
            if in_ns + run > END - 100_000 {
                break;
            }
            let (wait_ns, ready_ns, readied_ns) = match slice % 7 {
                0 => (None, None, None),
                1 => (Some(0), Some(wait + ready), None),
                _ => (Some(wait), Some(ready), Some(at + wait)),
            };
            all.push(ContextSwitch {
                cpu: (slice % 11 != 3).then(|| draw.below(3) as i32),
                last_out_ns: Some(at),
                readied_ns,
                in_ns: Some(in_ns),
                out_ns: Some(in_ns + run),
                wait_ns,
                ready_ns,
                run_ns: (slice % 13 != 5).then_some(run),
                wait_reason: Some(draw.below(40) as i32),
                stack_id: (slice % 5 != 4).then(|| draw.below(STACKS.into()) as i32),
                readying_thread_key: (slice % 3 == 2).then_some(2),
                ..row()
            });
            at = in_ns + run;
        }
        let is_ready = thread_key % 3 == 0;
        all.push(ContextSwitch {
            last_out_ns: Some(at),
            wait_ns: is_ready.then_some(500),
            ready_ns: is_ready.then_some(1_500),
            readied_ns: is_ready.then_some(at + 500),
            is_open_wait: !is_ready,
            ..row()
        });
    }
    all.sort_by_key(|row| row.out_ns.unwrap_or(END));
    all
}

fn samples(draw: &mut Draw) -> Vec<CpuSample> {
    let sample = |_| {
        let thread_key = draw.below(THREADS.into()) as i32;
        CpuSample {
            ts_ns: draw.below(END),
            cpu: draw.below(3) as i32,
            process_key: of_thread(thread_key),
            thread_key,
            weight_ns: draw.below(3) * 1_000_000,
            stack_id: draw.below(STACKS.into()) as i32,
            is_idle: thread_key == 0,
            ..CpuSample::default()
        }
    };
    let mut all: Vec<CpuSample> = (0..700).map(sample).collect();
    all.sort_by_key(|sample| sample.ts_ns);
    all
}

/// Rows of transfers, marks, DPCs and counts of events.
fn transfers(tables: &mut Tables, draw: &mut Draw, has_connections: bool) {
    let mut times: Vec<i64> = (0..300).map(|_| draw.below(END)).collect();
    times.sort_unstable();
    let mut process = |_: i64| {
        (
            draw.below(6) as i32 % 5,
            draw.below(3) as usize,
            draw.below(9_000),
        )
    };
    let moved: Vec<(i64, Option<i32>, usize, i64)> = times
        .iter()
        .map(|at| {
            let (key, kind, bytes) = process(*at);
            (*at, (key > 0).then_some(key), kind, bytes)
        })
        .collect();
    tables.write(moved.iter().map(|(at, process_key, disk, bytes)| DiskIo {
        kind: "read",
        disk: *disk as i32,
        process_key: *process_key,
        init_ns: at - 2 * bytes,
        complete_ns: *at,
        service_ns: Some(*bytes),
        size_bytes: if *disk == 2 { 0 } else { *bytes },
        stack_id: (*disk == 0).then_some(*bytes as i32 % STACKS),
        ..DiskIo::default()
    }));
    tables.write(moved.iter().map(|(at, process_key, kind, bytes)| FileIo {
        kind: ["read", "write", "query_info"][*kind],
        process_key: *process_key,
        end_ns: (bytes % 50 != 0).then_some(*at),
        result_bytes: Some(*bytes),
        ..FileIo::default()
    }));
    tables.write(moved.iter().map(|(at, process_key, kind, _)| Mark {
        ts_ns: at + *kind as i64,
        process_key: *process_key,
        ..Mark::default()
    }));
    tables.write(moved.iter().map(|(at, _, kind, bytes)| DpcIsr {
        kind: ["dpc", "isr", "threaded_dpc"][*kind],
        cpu: (*bytes % 3) as i32,
        start_ns: at - bytes,
        end_ns: *at,
        duration_ns: *bytes,
        nested_ns: bytes / 3,
        ..DpcIsr::default()
    }));
    tables.write((-1..5).map(|second| EventCount {
        second,
        events: 7 + second,
        ..EventCount::default()
    }));
    let kinds = ["send", "receive", "connect"];
    if has_connections {
        let connection = |connection_id: i32| TcpConnection {
            connection_id,
            process_key: (connection_id > 0).then_some(connection_id),
            ..TcpConnection::default()
        };
        tables.write((0..5).map(connection));
        tables.write(
            moved
                .iter()
                .map(|(ts_ns, process_key, kind, bytes)| TcpEvent {
                    ts_ns: *ts_ns,
                    connection_id: process_key.unwrap_or(0),
                    kind: kinds[*kind],
                    size_bytes: Some(*bytes),
                    ..TcpEvent::default()
                }),
        );
    } else {
        tables.write(moved.iter().map(|(ts_ns, process_key, kind, bytes)| NetIo {
            ts_ns: *ts_ns,
            protocol: "tcp",
            kind: kinds[*kind],
            process_key: *process_key,
            size_bytes: *bytes,
            ..NetIo::default()
        }));
    }
}
