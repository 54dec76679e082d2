//! A trace of a few hand-made rows, for timelines, and its readers.

use std::path::Path;

use etwkit_export::{ExportRequest, WrittenProfile, format};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::table::{
    Columns, ContextSwitch, CpuSample, DiskIo, FileIo, Frame, Mark, Method, Module, Process, Row,
    Stack, Table, Thread,
};
use serde_json::Value;

/// Formats that take timelines.
pub(crate) const TIMELINES: [&str; 3] = ["perfetto", "firefox", "chrome"];

pub(crate) fn rows<R: Row>(rows: &[R]) -> (&'static Table, Vec<RecordBatch>) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// Names used in the timeline.
pub(crate) struct Names<'n> {
    pub(crate) process: &'n str,
    pub(crate) thread: &'n str,
    pub(crate) path: &'n str,
    pub(crate) module: &'n str,
    pub(crate) method: &'n str,
    pub(crate) mark: &'n str,
}

pub(crate) const PLAIN: Names<'_> = Names {
    process: "shop.exe",
    thread: "checkout",
    path: r"C:\data\orders.db",
    module: "shop.dll",
    method: "Shop::Pay",
    mark: "order 17",
};

/// Thread 80 of process 8 runs on processor 0 from 100 to 300 and from 600 to 900, waits from 300
/// to 500 and is made ready by thread 120 of process 12, which runs on processor 1 from 400 to 550
/// and is preempted up to 700. Idle threads have the processors in between, but for processor 1
/// before 400. Disk and file operations of thread 80 overlap.
pub(crate) fn session(names: &Names<'_>) -> Session {
    let process = |key, pid, name: &str| Process {
        process_key: key,
        pid,
        parent_pid: Some(4),
        name: Some(name.into()),
        command_line: Some(format!("\"{name}\" --now")),
        ..Process::default()
    };
    let thread = |key, process, tid, name: Option<&str>| Thread {
        thread_key: key,
        process_key: Some(process),
        tid,
        name: name.map(str::to_owned),
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[
            process(0, 0, "Idle"),
            process(1, 8, names.process),
            process(2, 12, "db.exe"),
        ]),
        rows(&[
            thread(0, 0, 0, None),
            thread(1, 1, 80, Some(names.thread)),
            thread(2, 2, 120, None),
        ]),
        rows(&[Module {
            module_id: 0,
            name: names.module.into(),
            path: format!(r"C:\{}", names.module),
            ..Module::default()
        }]),
        rows(&[
            Method {
                method_id: 0,
                name: names.method.into(),
                module_id: Some(0),
                ..Method::default()
            },
            Method {
                method_id: 1,
                name: "main".into(),
                module_id: Some(0),
                ..Method::default()
            },
        ]),
        rows(&[
            frame(0, Some(1), 16),
            frame(1, Some(0), 32),
            frame(2, None, 64),
        ]),
        rows(&[
            stack(0, None, 0),
            stack(1, Some(0), 1),
            stack(2, Some(1), 2),
        ]),
        rows(&switches()),
        rows(&[sample(150, 1), sample(250, 2), sample(650, 1)]),
        rows(&[disk(110, 200), disk(150, 400), disk(450, 460)]),
        rows(&[FileIo {
            kind: "create",
            process_key: Some(1),
            thread_key: Some(1),
            start_ns: Some(105),
            end_ns: Some(205),
            duration_ns: Some(100),
            path: Some(names.path.into()),
            status: Some(0xc000_0034_u32.cast_signed()),
            ..FileIo::default()
        }]),
        rows(&[Mark {
            ts_ns: 500,
            text: names.mark.into(),
            process_key: Some(2),
            ..Mark::default()
        }]),
    ])
    .unwrap()
}

fn frame(id: i32, method: Option<i32>, rva: i64) -> Frame {
    Frame {
        frame_id: id,
        module_id: Some(0),
        method_id: method,
        rva: Some(rva),
        ..Frame::default()
    }
}

fn stack(id: i32, parent: Option<i32>, frame: i32) -> Stack {
    Stack {
        stack_id: id,
        parent_id: parent,
        frame_id: frame,
        ..Stack::default()
    }
}

fn sample(ts_ns: i64, stack_id: i32) -> CpuSample {
    CpuSample {
        ts_ns,
        process_key: Some(1),
        thread_key: 1,
        stack_id,
        weight_ns: 100,
        ..CpuSample::default()
    }
}

fn disk(init_ns: i64, complete_ns: i64) -> DiskIo {
    DiskIo {
        kind: "read",
        process_key: Some(1),
        thread_key: Some(1),
        init_ns,
        complete_ns,
        io_ns: complete_ns - init_ns,
        size_bytes: 4096,
        ..DiskIo::default()
    }
}

/// A slice of a thread of the process with the number of its key.
fn slice(thread: i32, cpu: i32, in_ns: i64, out_ns: i64) -> ContextSwitch {
    ContextSwitch {
        thread_key: thread,
        process_key: Some(thread),
        cpu: Some(cpu),
        in_ns: Some(in_ns),
        out_ns: Some(out_ns),
        run_ns: Some(out_ns - in_ns),
        priority: Some(8),
        ..ContextSwitch::default()
    }
}

fn switches() -> Vec<ContextSwitch> {
    const WAITING: i32 = 5;
    const READY: i32 = 1;
    const USER_REQUEST: i32 = 6;
    const QUANTUM_END: i32 = 30;
    vec![
        slice(0, 0, 0, 100),
        slice(1, 0, 100, 300),
        slice(2, 1, 400, 550),
        slice(0, 0, 300, 600),
        slice(0, 1, 550, 700),
        ContextSwitch {
            last_out_ns: Some(300),
            readied_ns: Some(500),
            wait_ns: Some(200),
            ready_ns: Some(100),
            prev_state: Some(WAITING),
            wait_reason: Some(USER_REQUEST),
            is_user_wait: Some(true),
            readying_thread_key: Some(2),
            adjust_reason: Some(1),
            ..slice(1, 0, 600, 900)
        },
        ContextSwitch {
            last_out_ns: Some(550),
            wait_ns: Some(0),
            ready_ns: Some(150),
            prev_state: Some(READY),
            wait_reason: Some(QUANTUM_END),
            ..slice(2, 1, 700, 800)
        },
        // It still waits at the end.
        ContextSwitch {
            thread_key: 1,
            process_key: Some(1),
            last_out_ns: Some(900),
            prev_state: Some(WAITING),
            wait_reason: Some(USER_REQUEST),
            is_open_wait: true,
            ..ContextSwitch::default()
        },
    ]
}

/// Writes the timelines into a folder; returns the files and the report.
pub(crate) fn written(
    request: &ExportRequest,
    session: &Session,
    folder: &Path,
) -> Vec<(String, WrittenProfile)> {
    let write = |name: &&str| {
        let path = folder.join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        let written = request
            .write(format(name).unwrap(), session, &mut file)
            .unwrap();
        (path.to_str().unwrap().to_owned(), written)
    };
    TIMELINES.iter().map(write).collect()
}

/// Returns the results of readers of the formats; `None` without them.
pub(crate) fn read(request: &ExportRequest, session: &Session, test: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let files = written(request, session, folder.path());
    assert!(
        files.iter().all(|(_, sums)| sums == &files[0].1),
        "all formats have the same sums: {files:?}"
    );
    let words = TIMELINES
        .iter()
        .zip(&files)
        .flat_map(|(name, (path, _))| [(*name).to_owned(), path.clone()]);
    super::run_reader(test, "read_timelines.py", words)
}
