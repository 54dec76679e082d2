//! Rows that were made by hand.

use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::table::{
    Columns, CpuProcess, CpuSample, CpuStack, Frame, Method, Module, Process, Row, Stack, Table,
    Thread, Trace,
};

type TableRows = (&'static Table, Vec<RecordBatch>);

pub(crate) fn rows<R: Row>(rows: &[R]) -> TableRows {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// Nanoseconds that one sample represents.
pub(crate) const WEIGHT: i64 = 1_000_100;

/// Two processes. Stacks 0 to 3 are `main`, `main b` (b at two places), `main b`, `main a`; 4 is
/// code without a name.
pub(crate) fn session() -> Session {
    named(&NAMES)
}

const NAMES: [&str; 5] = ["shop.exe", "shop.dll", "main", "b", "a"];

/// Returns [`session`] with these names: of the first process, of the module and of its
/// methods.
pub(crate) fn named(names: &[&str; 5]) -> Session {
    Session::from_batches(tables(names)).unwrap()
}

/// Returns [`session`] with a recording that starts at this FILETIME and has this length.
pub(crate) fn recorded(start_filetime: i64, duration_ns: i64) -> Session {
    let mut tables = tables(&NAMES);
    tables.push(rows(&[Trace {
        start_filetime,
        duration_ns,
        ..Trace::default()
    }]));
    Session::from_batches(tables).unwrap()
}

fn tables([program, dll, main, b, a]: &[&str; 5]) -> Vec<TableRows> {
    let process = |key, pid, name: &str| Process {
        process_key: key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let thread = |key, process, tid| Thread {
        thread_key: key,
        process_key: Some(process),
        tid,
        ..Thread::default()
    };
    let method = |id, name: &str| Method {
        method_id: id,
        name: name.into(),
        module_id: Some(0),
        ..Method::default()
    };
    let frame = |id, method, rva| Frame {
        frame_id: id,
        module_id: Some(0),
        method_id: method,
        rva: Some(rva),
        ..Frame::default()
    };
    let stack = |id, parent, frame| Stack {
        stack_id: id,
        parent_id: parent,
        frame_id: frame,
        ..Stack::default()
    };
    let sum = |key, stack, samples| CpuStack {
        process_key: Some(key),
        stack_id: stack,
        samples,
        cpu_ns: samples * WEIGHT,
    };
    let sample = |key, thread, stack| CpuSample {
        process_key: Some(key),
        thread_key: thread,
        stack_id: stack,
        weight_ns: WEIGHT,
        ..CpuSample::default()
    };
    let total = |key, samples| CpuProcess {
        process_key: Some(key),
        samples,
        cpu_ns: samples * WEIGHT,
        ..CpuProcess::default()
    };
    vec![
        rows(&[process(1, 8, program), process(2, 12, "db.exe")]),
        rows(&[thread(1, 1, 80), thread(2, 1, 84), thread(3, 2, 120)]),
        rows(&[Module {
            module_id: 0,
            name: (*dll).into(),
            path: format!("C:\\{dll}"),
            pdb_guid: Some("b5d2ea6f-6d5a-4ab2-9e5a-6a6d8f0e3c21".into()),
            pdb_age: Some(2),
            ..Module::default()
        }]),
        rows(&[method(0, main), method(1, b), method(2, a)]),
        rows(&[
            frame(0, Some(0), 1),
            frame(1, Some(1), 16),
            frame(2, Some(1), 20),
            frame(3, Some(2), 32),
            frame(4, None, 64),
        ]),
        rows(&[
            stack(0, None, 0),
            stack(1, Some(0), 1),
            stack(2, Some(0), 2),
            stack(3, Some(0), 3),
            stack(4, None, 4),
        ]),
        rows(&[
            sample(1, 1, 0),
            sample(1, 1, 1),
            sample(1, 2, 2),
            sample(1, 2, 3),
            sample(2, 3, 4),
            sample(2, 3, 1),
        ]),
        rows(&[
            sum(1, 0, 1),
            sum(1, 1, 1),
            sum(1, 2, 1),
            sum(1, 3, 1),
            sum(2, 4, 1),
            sum(2, 1, 1),
        ]),
        rows(&[total(1, 4), total(2, 2)]),
    ]
}
