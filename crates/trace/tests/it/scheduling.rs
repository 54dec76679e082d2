//! Running, ready and waiting threads, with unknown periods; creators of threads; stacks of
//! switches and samples. Events in, rows out.

use std::io::Cursor;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use etwkit_decode::eventsource::{CHUNK_ID, CHUNK_OPCODE};
use etwkit_etl::Guid;
use etwkit_etl::Session;
use etwkit_etl::wire::buffer::HEADER_LEN;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::trace_header::mode;
use etwkit_etl::writer::{
    KernelContext, KernelEvent, ManifestEvent, SessionOptions, Style, TraceWriter,
};
use etwkit_trace::import::{Imported, Options, import};
use etwkit_trace::summary::Summary;
use etwkit_trace::table::{
    ContextSwitch, CpuSample, DiskIo, DpcIsr, Frame, PmcSample, Process, Row, Stack, Table, Thread,
};

use crate::counters::{Batches, bytes, read, wide};
use crate::identity::info;

/// States of a waiting thread, and of a preempted one.
pub(crate) const WAITS: u8 = 5;
pub(crate) const PREEMPTED: u8 = 1;

/// An address of the kernel.
const KERNEL: u64 = 0xFFFF_8000_0000_1000;

/// A trace that is being written; one tick is a microsecond.
pub(crate) struct Recording {
    writer: TraceWriter<Cursor<Vec<u8>>>,
    start: i64,
    start_time: i64,
}

impl Recording {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(crate) fn with(change: impl FnOnce(&mut SessionOptions)) -> Self {
        let mut options = SessionOptions::default();
        options.header.perf_freq = 1_000_000;
        options.header.cpu_count = 2;
        change(&mut options);
        let writer = TraceWriter::new(Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            start: options.t0,
            start_time: options.header.start_time,
        }
    }

    /// A kernel event that a thread of process 40 logged, or no thread.
    pub(crate) fn kernel(
        &mut self,
        us: i64,
        cpu: u16,
        by: Option<u32>,
        id: (u8, u8, u8),
        payload: &[u8],
    ) {
        let context = by.map_or(KernelContext::None, |tid| KernelContext::ids(tid, 40));
        self.kernel_by(us, cpu, context, id, payload);
    }

    pub(crate) fn kernel_by(
        &mut self,
        us: i64,
        cpu: u16,
        context: KernelContext,
        id: (u8, u8, u8),
        payload: &[u8],
    ) {
        let (group, opcode, version) = id;
        let timestamp = self.start + us;
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(cpu, event).unwrap();
    }

    pub(crate) fn switch(&mut self, us: i64, cpu: u16, (old, state): (u32, u8), new: u32) {
        let payload = bytes(&[
            (new.into(), 4),
            (old.into(), 4),
            (0x0808, 2),
            (0, 2),
            (6, 1),
            (1, 1),
            (state.into(), 1),
            (0, 9),
        ]);
        self.kernel(us, cpu, None, (5, 36, 4), &payload);
    }

    pub(crate) fn ready(&mut self, us: i64, cpu: u16, tid: u32) {
        self.kernel(
            us,
            cpu,
            None,
            (5, 50, 2),
            &bytes(&[(tid.into(), 4), (0, 4)]),
        );
    }

    /// An event of a provider that a thread of a process logged.
    pub(crate) fn provider(
        &mut self,
        us: i64,
        (pid, tid): (u32, u32),
        (provider, id): (Guid, u16),
        payload: &[u8],
    ) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider,
            descriptor: Descriptor {
                id,
                opcode: if id == CHUNK_ID { CHUNK_OPCODE } else { 0 },
                ..Descriptor::default()
            },
            process_id: pid,
            thread_id: tid,
            payload,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// The stack of an event at the same time of a thread.
    pub(crate) fn stack_of(&mut self, us: i64, (pid, tid): (u32, u32)) {
        let owner = [
            ((self.start + us) as u64, 8),
            (pid.into(), 4),
            (tid.into(), 4),
        ];
        let payload = bytes(&[&owner[..], &[(KERNEL, 8)]].concat());
        self.kernel(us, 0, None, (24, 32, 2), &payload);
    }

    fn mark(&mut self, us: i64, cpu: u16) {
        self.kernel(us, cpu, None, (15, 34, 2), b"mark\0");
    }

    /// Drops a buffer of processor 0 at this point.
    pub(crate) fn lose_buffer(&mut self) {
        self.writer.flush(0).unwrap();
        self.writer.lose_buffer(0).unwrap();
    }

    /// The stack of an event of a thread.
    fn stack(&mut self, us: i64, cpu: u16, of: (i64, u32), frames: &[u64]) {
        let owner = [((self.start + of.0) as u64, 8), (40, 4), (of.1.into(), 4)];
        let frames: Vec<(u64, usize)> = frames.iter().map(|frame| (*frame, 8)).collect();
        self.kernel(
            us,
            cpu,
            None,
            (24, 32, 2),
            &[bytes(&owner), bytes(&frames)].concat(),
        );
    }

    pub(crate) fn sample(&mut self, us: i64, tid: u32, ip: u64) {
        self.kernel(
            us,
            0,
            None,
            (15, 46, 2),
            &bytes(&[(ip, 8), (tid.into(), 4), (1, 2), (0, 2)]),
        );
    }

    /// A thread starts (1), ends (2), or existed before the trace (3).
    pub(crate) fn thread(&mut self, us: i64, by: Option<u32>, opcode: u8, pid: u64, tid: u64) {
        let payload = [bytes(&[(pid, 4), (tid, 4)]), vec![0; 64]].concat();
        self.kernel(us, 0, by, (5, opcode, 3), &payload);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.writer
            .finish(self.start_time + 10_000)
            .unwrap()
            .into_inner()
    }

    /// Finishes a recording of that length.
    pub(crate) fn finish_after(self, us: i64) -> Vec<u8> {
        let end = self.start_time + us * 10;
        self.writer.finish(end).unwrap().into_inner()
    }

    pub(crate) fn rows(self) -> Batches {
        rows(vec![self.finish()]).0
    }
}

pub(crate) fn rows(files: Vec<Vec<u8>>) -> (Batches, Imported) {
    let session =
        Session::open(files.into_iter().map(|file| Box::new(file) as _).collect()).unwrap();
    let mut sink = Batches::new();
    let imported = import(&session, &Options::default(), &mut sink, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    (sink, imported)
}

/// Thread, T0, T1, T2, T3, running, waiting and ready times of every row except idle.
fn slices(rows: &Batches) -> Vec<[Option<i64>; 8]> {
    let tids = read(rows, Thread::TABLE, ["thread_key", "tid"]);
    let tid = |key| {
        tids.iter()
            .find(|[known, _]| *known == key)
            .and_then(|[_, tid]| *tid)
    };
    let columns = [
        "thread_key",
        "last_out_ns",
        "readied_ns",
        "in_ns",
        "out_ns",
        "run_ns",
        "wait_ns",
        "ready_ns",
    ];
    let mut slices = read(rows, ContextSwitch::TABLE, columns);
    slices.iter_mut().for_each(|row| row[0] = tid(row[0]));
    slices.retain(|row| row[0] != Some(0));
    slices
}

pub(crate) fn truths(rows: &Batches, table: &Table, column: &str) -> Vec<Option<bool>> {
    let of = rows.iter().filter(|(of, _)| of.name == table.name);
    of.flat_map(|(_, batch)| {
        batch
            .column_by_name(column)
            .unwrap()
            .as_boolean()
            .iter()
            .collect::<Vec<_>>()
    })
    .collect()
}

/// Addresses of a stack, innermost first.
fn frames(rows: &Batches, stack: i64) -> Vec<u64> {
    let stacks = read(rows, Stack::TABLE, ["stack_id", "parent_id", "frame_id"]);
    let frames = read(rows, Frame::TABLE, ["frame_id", "address"]);
    let address =
        |frame: Option<i64>| frames.iter().find(|[id, _]| *id == frame).unwrap()[1].unwrap() as u64;
    let mut at = Some(stack);
    let mut found = Vec::new();
    while let Some(stack) = at {
        let [_, parent, frame] = stacks.iter().find(|[id, ..]| *id == Some(stack)).unwrap();
        found.push(address(*frame));
        at = *parent;
    }
    found
}

fn stack_ids(rows: &Batches, table: &Table, column: &str) -> Vec<Vec<u64>> {
    let ids = read(rows, table, [column]).concat();
    ids.into_iter()
        .map(|id| id.map(|id| frames(rows, id)).unwrap_or_default())
        .collect()
}

/// The example of `docs/numbers/schedule.md`: made ready on another processor before the switch-out
/// is logged.
#[test]
fn a_thread_that_is_made_ready_just_before_its_switch_out_keeps_who_made_it_ready() {
    let mut trace = Recording::new();
    trace.switch(5, 0, (0, 2), 4);
    trace.switch(6, 1, (0, 2), 8);
    trace.ready(19, 1, 4);
    trace.stack(19, 1, (19, 8), &[KERNEL, KERNEL + 1]);
    trace.switch(20, 0, (4, WAITS), 0);
    trace.switch(28, 0, (0, 2), 4);
    trace.switch(33, 0, (4, WAITS), 0);
    let rows = trace.rows();
    let slice = slices(&rows)[1];
    assert_eq!(slice, [4, 20, 20, 28, 33, 5, 0, 8].map(Some));
    let tids = read(&rows, Thread::TABLE, ["tid", "thread_key"]);
    let readier = read(
        &rows,
        ContextSwitch::TABLE,
        ["in_ns", "readying_thread_key"],
    );
    let readier = readier.iter().find(|[at, _]| *at == Some(28)).unwrap()[1];
    assert_eq!(
        tids.iter().find(|[_, key]| *key == readier).unwrap()[0],
        Some(8)
    );
    let stacks = stack_ids(&rows, ContextSwitch::TABLE, "readying_stack_id");
    assert!(stacks.contains(&vec![KERNEL, KERNEL + 1]), "{stacks:x?}");
}

#[test]
fn a_new_thread_has_the_time_at_which_it_was_first_made_ready_and_ran() {
    let mut trace = Recording::new();
    trace.switch(5, 0, (0, 2), 4);
    trace.thread(2, None, 3, 40, 4);
    trace.thread(10, Some(4), 1, 40, 12);
    trace.ready(12, 0, 12);
    trace.ready(14, 0, 12);
    trace.switch(20, 1, (0, 2), 12);
    trace.switch(24, 1, (12, WAITS), 0);
    trace.ready(26, 0, 12);
    trace.switch(30, 1, (0, 2), 12);
    // Never made ready in the trace, and never switched in.
    trace.thread(31, Some(4), 1, 40, 16);
    let rows = trace.rows();
    let columns = ["tid", "start_ns", "first_readied_ns", "first_in_ns"];
    let threads = read(&rows, Thread::TABLE, columns);
    assert!(threads.contains(&[12, 10, 12, 20].map(Some)), "{threads:?}");
    assert!(
        threads.contains(&[Some(4), None, None, None]),
        "{threads:?}"
    );
    assert!(
        threads.contains(&[Some(16), Some(31), None, None]),
        "{threads:?}"
    );
    // The row of the thread has its first ready time, so its first slice has no ready and no
    // waiting time.
    let first = slices(&rows)
        .into_iter()
        .find(|slice| slice[3] == Some(20))
        .unwrap();
    assert_eq!(
        first,
        [
            Some(12),
            None,
            Some(12),
            Some(20),
            Some(24),
            Some(4),
            None,
            None
        ]
    );
}

#[test]
fn threads_and_processes_know_who_created_them() {
    let mut trace = Recording::new();
    trace.thread(1, None, 3, 40, 44);
    let process = |pid: u64| {
        let fixed = bytes(&[(9, 8), (pid, 4), (4, 4), (1, 4), (259, 4), (0, 8), (0, 4)]);
        [&fixed[..], &[0; 4], b"a.exe\0", &wide("a.exe -x"), &[0; 4]].concat()
    };
    // The parent is process 4, but a thread of process 40 created it.
    trace.kernel(10, 0, Some(44), (3, 1, 4), &process(100));
    trace.thread(11, Some(44), 1, 100, 104);
    trace.thread(20, Some(104), 1, 100, 108);
    // No event describes the creator.
    trace.thread(30, Some(999), 1, 100, 112);
    trace.kernel(40, 0, None, (3, 3, 4), &process(120));
    let rows = trace.rows();
    let threads = read(
        &rows,
        Thread::TABLE,
        ["tid", "thread_key", "creator_thread_key"],
    );
    let tid = |key: Option<i64>| {
        threads
            .iter()
            .find(|[_, known, _]| *known == key)
            .and_then(|row| row[0])
    };
    let creators: Vec<_> = threads
        .iter()
        .map(|[thread, _, by]| (*thread, by.and_then(|by| tid(Some(by)))))
        .collect();
    for pair in [
        (44, None),
        (104, Some(44)),
        (108, Some(104)),
        (112, Some(999)),
    ] {
        assert!(
            creators.contains(&(Some(pair.0), pair.1)),
            "{pair:?} {creators:?}"
        );
    }
    let processes = read(
        &rows,
        Process::TABLE,
        ["pid", "parent_pid", "creator_thread_key"],
    );
    let created = |pid| *processes.iter().find(|[of, ..]| *of == Some(pid)).unwrap();
    assert_eq!((created(100)[1], tid(created(100)[2])), (Some(4), Some(44)));
    assert_eq!(created(120)[2], None);
}

#[test]
fn starts_of_the_process_provider_are_logged_by_threads_of_the_parent() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let (rows, _) = rows(vec![std::fs::read(root.join("tx_Process.etl")).unwrap()]);
    let threads = read(&rows, Thread::TABLE, ["thread_key", "process_key"]);
    let of = |thread| threads.iter().find(|[key, _]| *key == thread).unwrap()[1];
    let columns = ["start_ns", "creator_thread_key", "parent_process_key"];
    let started: Vec<_> = read(&rows, Process::TABLE, columns)
        .into_iter()
        .filter_map(|[start, creator, parent]| start.map(|_| (creator, parent)))
        .collect();
    assert!(
        started.iter().all(|(creator, _)| creator.is_some()),
        "{started:?}"
    );
    // No thread event describes the thread that started two of them. The headers of other events
    // name its process.
    let described: Vec<_> = started
        .iter()
        .filter_map(|(creator, parent)| of(*creator).map(|of| (Some(of), *parent)))
        .collect();
    assert_eq!((started.len(), described.len()), (4, 4));
    assert!(
        described.iter().all(|(of, parent)| of == parent),
        "{described:?}"
    );
}

/// The example of `docs/numbers/schedule.md`: a user-mode session that starts before the kernel
/// logger and ends after it.
#[test]
fn nobody_runs_before_the_kernel_logger_begins_or_when_it_has_ended() {
    let mut programs = Recording::new();
    for us in [0, 1000] {
        let timestamp = programs.start + us;
        let event = ManifestEvent {
            timestamp,
            process_id: 40,
            thread_id: 4,
            ..ManifestEvent::default()
        };
        programs.writer.write(0, event).unwrap();
    }
    let mut kernel = Recording::with(|options| {
        options.t0 += 100;
        options.header.start_time += 1000;
    });
    kernel.mark(10, 0);
    kernel.switch(50, 0, (4, WAITS), 8);
    kernel.switch(60, 1, (0, 2), 16);
    kernel.switch(90, 0, (8, PREEMPTED), 0);
    kernel.mark(380, 1);
    let (rows, imported) = rows(vec![programs.finish(), kernel.finish()]);
    let none = None;
    assert_eq!(
        slices(&rows),
        [
            // Since the mark.
            [Some(4), none, none, none, Some(150), Some(40), none, none],
            [
                Some(8),
                none,
                none,
                Some(150),
                Some(190),
                Some(40),
                none,
                none
            ],
            // Open, and preempted at the end.
            [Some(4), Some(150), none, none, none, none, none, none],
            [Some(8), Some(190), none, none, none, none, none, none],
            // Up to the mark.
            [Some(16), none, none, Some(160), none, Some(320), none, none],
        ]
    );
    let times = (imported.trace.kernel_start_ns, imported.trace.kernel_end_ns);
    // The kernel logger was started later, and its header states the same length.
    assert_eq!(
        (times, imported.trace.duration_ns),
        ((Some(110_000), Some(480_000)), 1_100_000)
    );
}

/// Thread 4 waits on processor 0 and 8 runs on processor 1; then a buffer is missing.
fn with_a_gap(lose: impl FnOnce(&mut Recording), compressed: bool) -> Vec<u8> {
    with_a_gap_in(
        Recording::with(|options| options.compressed = compressed),
        lose,
    )
}

fn with_a_gap_in(mut trace: Recording, lose: impl FnOnce(&mut Recording)) -> Vec<u8> {
    trace.switch(10, 0, (0, 2), 4);
    trace.switch(12, 1, (0, 2), 8);
    trace.switch(20, 0, (4, WAITS), 0);
    trace.mark(40, 1);
    trace.writer.flush(0).unwrap();
    trace.writer.flush(1).unwrap();
    lose(&mut trace);
    trace.switch(60, 1, (8, WAITS), 0);
    trace.ready(70, 1, 4);
    trace.switch(75, 0, (0, 2), 4);
    trace.switch(80, 0, (4, WAITS), 0);
    trace.finish()
}

/// Switches of processor 0 between 45 and 55, in a buffer of their own.
fn one_more_buffer(trace: &mut Recording) {
    trace.switch(45, 0, (0, 2), 4);
    trace.switch(55, 0, (4, WAITS), 0);
    trace.writer.flush(0).unwrap();
}

/// Offsets of the buffers of an uncompressed file.
fn buffers(file: &[u8]) -> Vec<usize> {
    let mut offsets = vec![0];
    while let Some(size) = file
        .get(offsets[offsets.len() - 1]..)
        .and_then(|rest| rest.first_chunk())
    {
        let next = offsets[offsets.len() - 1] + u32::from_le_bytes(*size) as usize;
        if next + HEADER_LEN > file.len() {
            break;
        }
        offsets.push(next);
    }
    offsets
}

fn gaps_of(imported: &Imported) -> i64 {
    imported
        .diagnostics
        .iter()
        .find(|d| d.kind == "gap")
        .map_or(0, |d| d.count)
}

/// The example of `docs/numbers/schedule.md`: only the numbers of the other buffers show that one
/// is missing, and no flag.
#[test]
fn nothing_is_counted_across_a_missing_buffer_without_a_flag() {
    let mut file = with_a_gap(|trace| trace.writer.lose_buffer(0).unwrap(), false);
    for offset in buffers(&file) {
        file[offset + 0x34] &= !4;
    }
    let (rows, imported) = rows(vec![file]);
    let none = None;
    assert_eq!(
        slices(&rows),
        [
            [
                Some(4),
                none,
                none,
                Some(10),
                Some(20),
                Some(10),
                none,
                none
            ],
            // Up to the last event before the gap.
            [Some(8), none, none, Some(12), none, Some(28), none, none],
            // And from the first one after it.
            [Some(8), none, none, none, Some(60), Some(0), none, none],
            // It may have run in the missing buffer.
            [Some(4), none, none, Some(75), Some(80), Some(5), none, none],
            // Thread 8 started to wait in the gap of the other processor, and may have run there
            // before 75.
            [Some(4), Some(80), none, none, none, none, none, none],
        ]
    );
    assert_eq!(gaps_of(&imported), 2);
    // Without a missing buffer everything is counted.
    let (rows, imported) = crate::scheduling::rows(vec![with_a_gap(|_| (), false)]);
    let waits: Vec<_> = slices(&rows).iter().filter_map(|slice| slice[6]).collect();
    assert_eq!((waits, gaps_of(&imported)), (vec![50], 0));
}

/// Buffers that were taken from a merged file are missing where their numbers are, and not at the end.
#[test]
fn nothing_is_counted_across_a_buffer_that_a_merged_file_lacks() {
    let waits = |taken: Option<usize>| {
        let merged = Recording::with(|options| options.style = Style::Merged);
        let mut file = with_a_gap_in(merged, one_more_buffer);
        if let Some(number) = taken {
            let offsets = buffers(&file);
            file.drain(offsets[number]..offsets[number + 1]);
        }
        let (rows, imported) = rows(vec![file]);
        let waits: Vec<_> = slices(&rows).iter().filter_map(|slice| slice[6]).collect();
        (waits, gaps_of(&imported))
    };
    assert_eq!(waits(None), (vec![15], 0));
    // Thread 4 did not wait from 20 to 70: it ran in the buffer that is missing.
    assert_eq!(waits(Some(3)), (vec![], 2));
}

/// Thread 4 waits on processor 0, runs on processor 1 and comes back. Processor 2 sleeps up to the
/// end. The first buffers of processors 0 and 1 are overwritten if `wraps`.
fn in_a_ring(wraps: bool) -> Vec<u8> {
    let mut trace = Recording::with(|options| {
        options.header.log_file_mode = mode::CIRCULAR;
        options.header.cpu_count = 3;
    });
    trace.mark(5_000, 0);
    trace.writer.flush(0).unwrap();
    trace.switch(10_000, 0, (0, 2), 4);
    trace.switch(20_000, 0, (4, WAITS), 0);
    trace.switch(30_000, 1, (0, 2), 4);
    trace.switch(40_000, 1, (4, WAITS), 0);
    trace.writer.flush(1).unwrap();
    trace.writer.flush(0).unwrap();
    trace.switch(60_000, 1, (0, 2), 8);
    trace.ready(70_000, 1, 4);
    trace.switch(75_000, 0, (0, 2), 4);
    trace.switch(80_000, 0, (4, WAITS), 0);
    trace.ready(85_000, 1, 4);
    trace.switch(90_000, 0, (0, 2), 4);
    trace.switch(95_000, 1, (8, WAITS), 0);
    trace.switch(200_000, 2, (0, 2), 16);
    let mut file = trace.finish_after(300_000);
    if wraps {
        let offsets = buffers(&file);
        file.drain(offsets[1]..offsets[3]);
    }
    file
}

#[test]
fn waits_in_a_ring_are_known_when_all_processors_are_recorded() {
    let of = |wraps: bool| {
        let file = in_a_ring(wraps);
        let told = info(vec![file.clone()]).completeness.ring_start;
        let (rows, imported) = rows(vec![file]);
        let mut notes = imported.diagnostics.iter();
        let note = notes.find(|note| note.kind == "ring_start");
        assert_eq!(note.map(|note| &note.message), told.as_ref());
        let waits: Vec<_> = slices(&rows).iter().filter_map(|slice| slice[6]).collect();
        let since = told.and_then(|told| Some(told.split_once(':')?.0.to_owned()));
        let start = imported.trace.ring_start_ns.map(|ns| ns / 1000);
        assert_eq!(start, wraps.then_some(75_000));
        (waits, since, gaps_of(&imported))
    };
    assert_eq!(of(false), (vec![30_000, 5_000], None, 0));
    // Thread 4 did not wait from 20 to 70 ms: it ran in the buffer that was overwritten. Processor 2
    // has its first event at 200 ms, but was recorded when processor 0 went on to its next buffer.
    let since = "all processors are recorded from 0.075 s on".to_owned();
    assert_eq!(of(true), (vec![5_000], Some(since), 0));
}

/// A ring of one processor has no time in which others are recorded and it is not.
#[test]
fn the_start_of_a_ring_of_one_processor_is_known() {
    let start_of = |wraps: bool| {
        let mut trace = Recording::with(|options| {
            options.header.log_file_mode = mode::CIRCULAR;
            options.header.cpu_count = 1;
        });
        for us in [5, 20, 50] {
            trace.mark(us, 0);
            trace.writer.flush(0).unwrap();
        }
        let mut file = trace.finish();
        if wraps {
            let offsets = buffers(&file);
            file.drain(offsets[1]..offsets[2]);
        }
        let told = info(vec![file.clone()]).completeness.ring_start;
        let (_, imported) = rows(vec![file]);
        (imported.trace.ring_start_ns.map(|ns| ns / 1000), told)
    };
    assert_eq!(start_of(false), (None, None));
    assert_eq!(start_of(true), (Some(20), None));
}

/// A read of the disk: its processor, its start and its completion.
fn read_done(trace: &mut Recording, cpu: u16, begin_us: i64, end_us: i64) {
    let response = (end_us - begin_us) as u64;
    let numbers = [
        (0, 4),
        (0, 4),
        (512, 4),
        (0, 4),
        (0, 8),
        (7, 8),
        (begin_us as u64, 8),
        (response, 8),
        (4, 4),
    ];
    trace.kernel(end_us, cpu, None, (1, 10, 3), &bytes(&numbers));
}

/// Service and queue times of the accesses to disks, and the service time that `info` adds up.
fn disk_times(file: Vec<u8>) -> (Vec<[Option<i64>; 2]>, i64, usize) {
    let session = Session::open(vec![Box::new(file.clone())]).unwrap();
    let disk = Summary::read(&session).unwrap().sections["disk"].clone();
    let service_us = disk["total"]["service_us"].as_f64().unwrap().round();
    let (rows, imported) = rows(vec![file]);
    let times = read(&rows, DiskIo::TABLE, ["service_ns", "queue_ns"]);
    (times, service_us as i64, imported.diagnostics.len())
}

/// The example of `docs/numbers/io.md`. There is no context switch.
#[test]
fn service_times_are_not_known_where_completions_may_be_missing() {
    let known = |service: i64, queue: i64| [Some(service), Some(queue)];
    let unknown = [None, None];
    let in_ring = |wraps: bool| {
        let mut trace = Recording::with(|options| {
            options.header.log_file_mode = mode::CIRCULAR;
        });
        trace.mark(5, 0);
        trace.writer.flush(0).unwrap();
        read_done(&mut trace, 0, 5, 20);
        read_done(&mut trace, 1, 18, 40);
        trace.writer.flush(1).unwrap();
        trace.writer.flush(0).unwrap();
        read_done(&mut trace, 0, 19, 50);
        read_done(&mut trace, 1, 30, 60);
        read_done(&mut trace, 0, 55, 75);
        let mut file = trace.finish();
        if wraps {
            let offsets = buffers(&file);
            file.drain(offsets[1]..offsets[3]);
        }
        disk_times(file)
    };
    let (times, total, notes) = in_ring(false);
    let whole = [
        known(15, 0),
        known(20, 2),
        known(10, 21),
        known(10, 20),
        known(15, 5),
    ];
    assert_eq!((times, total), (whole.to_vec(), 70));
    let (times, total, more_notes) = in_ring(true);
    let part = [unknown, unknown, known(10, 20), known(15, 5)];
    assert_eq!((times, total), (part.to_vec(), 25));
    assert!(more_notes > notes, "the ring is not told");
    let mut trace = Recording::with(|options| {
        options.header.log_file_mode = mode::CIRCULAR;
        options.header.cpu_count = 1;
    });
    trace.mark(5, 0);
    trace.writer.flush(0).unwrap();
    read_done(&mut trace, 0, 5, 20);
    trace.writer.flush(0).unwrap();
    read_done(&mut trace, 0, 19, 50);
    let mut file = trace.finish();
    let offsets = buffers(&file);
    file.drain(offsets[1]..offsets[2]);
    let (times, total, _) = disk_times(file);
    assert_eq!((times, total), (vec![unknown, known(30, 1)], 30));

    let with_lost = |is_lost: bool| {
        let mut trace = Recording::new();
        read_done(&mut trace, 1, 5, 10);
        read_done(&mut trace, 0, 6, 20);
        if is_lost {
            trace.writer.flush(1).unwrap();
            trace.lose_buffer();
        }
        read_done(&mut trace, 1, 7, 30);
        read_done(&mut trace, 0, 8, 40);
        read_done(&mut trace, 0, 35, 45);
        disk_times(trace.finish())
    };
    let (times, total, notes) = with_lost(false);
    let whole = [
        known(5, 0),
        known(10, 4),
        known(10, 13),
        known(10, 22),
        known(5, 5),
    ];
    assert_eq!((times, total), (whole.to_vec(), 40));
    // The buffer may be of either processor, and neither recorded anything from 10 to 30 for sure.
    let (times, total, more_notes) = with_lost(true);
    let part = [whole[0], unknown, unknown, unknown, whole[4]];
    assert_eq!((times, total), (part.to_vec(), 10));
    assert!(more_notes > notes, "the gap is not told");
}

#[test]
fn a_damaged_buffer_is_a_gap() {
    let whole = with_a_gap(one_more_buffer, true);
    let count = |file: Vec<u8>| {
        let (rows, imported) = rows(vec![file]);
        let waits: Vec<_> = slices(&rows).iter().filter_map(|slice| slice[6]).collect();
        (waits, gaps_of(&imported))
    };
    assert_eq!(count(whole.clone()).1, 0);
    let mut broken = whole;
    let third = buffers(&broken)[3];
    // No compressed stream starts with references to earlier data.
    broken[third + HEADER_LEN..][..8].fill(0xFF);
    assert_eq!(count(broken), (vec![], 1));
}

#[test]
fn behind_the_end_of_a_cut_file_nothing_is_known() {
    let whole = with_a_gap(one_more_buffer, false);
    let last = buffers(&whole).pop().unwrap();
    // All of the last buffer, or its end.
    for cut in [last, last + HEADER_LEN + 20] {
        let (rows, imported) = rows(vec![whole[..cut].to_vec()]);
        assert_eq!(gaps_of(&imported), 2, "{cut}");
        let open = truths(&rows, ContextSwitch::TABLE, "is_open_wait");
        assert!(!open.contains(&Some(true)), "{cut} {open:?}");
        // Thread 8 ran at least up to the last event in the file.
        let slice = slices(&rows)
            .into_iter()
            .find(|slice| slice[0] == Some(8))
            .unwrap();
        assert_eq!(
            (slice[3], slice[4], slice[5]),
            (Some(12), None, Some(28)),
            "{cut}"
        );
    }
}

/// The kernel logger was to record context switches and hard faults, and there are none.
#[test]
fn what_was_enabled_and_rarely_happens_was_recorded() {
    let mut trace = Recording::new();
    let enabled = bytes(&[(0x10 | 0x2000, 4), (0, 8), (0, 8), (0, 8), (0, 4)]);
    trace.kernel(1, 0, None, (0, 5, 2), &enabled);
    let (_, imported) = rows(vec![trace.finish()]);
    let is_recorded = |name: &str| {
        let mut topics = imported.recorded.iter();
        topics
            .find(|row| row.topic.name == name)
            .unwrap()
            .is_recorded
    };
    assert!(is_recorded("hard faults"));
    // A machine switches all the time.
    assert!(!is_recorded("context switches") && !is_recorded("page faults"));
}

#[test]
fn losses_of_other_sessions_are_no_gaps() {
    let mut programs = Recording::new();
    for us in [15, 25, 65] {
        let timestamp = programs.start + us;
        programs
            .writer
            .write(
                0,
                ManifestEvent {
                    timestamp,
                    ..ManifestEvent::default()
                },
            )
            .unwrap();
        programs.writer.lose_events(0, 3).unwrap();
        programs.writer.flush(0).unwrap();
    }
    let (rows, imported) = rows(vec![with_a_gap(|_| (), false), programs.finish()]);
    let waits: Vec<_> = slices(&rows).iter().filter_map(|slice| slice[6]).collect();
    assert_eq!((waits, gaps_of(&imported)), (vec![50], 0));
}

#[test]
fn a_key_of_the_kernel_and_one_of_user_mode_with_the_same_value_are_two() {
    let mut trace = Recording::new();
    trace.sample(10, 4, KERNEL);
    let reference =
        |trace: &Recording| bytes(&[((trace.start + 10) as u64, 8), (40, 4), (4, 4), (7, 8)]);
    let payload = reference(&trace);
    trace.kernel(11, 0, None, (24, 37, 2), &payload);
    trace.kernel(12, 0, None, (24, 38, 2), &payload);
    // The user half is defined first; a callback from the kernel has frames of both.
    trace.kernel(
        20,
        0,
        None,
        (24, 36, 2),
        &bytes(&[(7, 8), (0x1000, 8), (KERNEL + 5, 8), (0x2000, 8)]),
    );
    trace.kernel(
        21,
        0,
        None,
        (24, 36, 2),
        &bytes(&[(7, 8), (KERNEL, 8), (KERNEL + 1, 8)]),
    );
    let rows = trace.rows();
    let want = vec![KERNEL, KERNEL + 1, 0x1000, KERNEL + 5, 0x2000];
    assert_eq!(stack_ids(&rows, CpuSample::TABLE, "stack_id"), [want]);
    assert_eq!(
        truths(&rows, CpuSample::TABLE, "is_stack_incomplete"),
        [Some(false)]
    );
}

/// The example of `docs/numbers/cpu.md`.
#[test]
fn a_sample_without_the_kernel_half_of_its_stack_keeps_its_address_as_the_innermost_frame() {
    let mut trace = Recording::new();
    trace.sample(10, 4, KERNEL);
    trace.sample(20, 4, KERNEL);
    trace.sample(30, 4, 0x1000);
    trace.sample(40, 4, KERNEL);
    trace.stack(11, 0, (10, 4), &[0x1000, 0x2000]);
    trace.stack(21, 0, (20, 4), &[KERNEL, KERNEL + 1]);
    trace.stack(22, 0, (20, 4), &[0x1000, 0x2000]);
    trace.stack(31, 0, (30, 4), &[0x1000, 0x2000]);
    // A sample triggered by a counter.
    trace.kernel(
        50,
        0,
        None,
        (15, 47, 2),
        &bytes(&[(KERNEL, 8), (4, 4), (1, 2), (0, 2)]),
    );
    trace.stack(51, 0, (50, 4), &[0x1000]);
    let rows = trace.rows();
    assert_eq!(
        stack_ids(&rows, CpuSample::TABLE, "stack_id"),
        [
            vec![KERNEL, 0x1000, 0x2000],
            vec![KERNEL, KERNEL + 1, 0x1000, 0x2000],
            vec![0x1000, 0x2000],
            vec![KERNEL],
        ]
    );
    let incomplete = truths(&rows, CpuSample::TABLE, "is_stack_incomplete");
    assert_eq!(incomplete, [true, false, false, false].map(Some));
    assert_eq!(
        stack_ids(&rows, PmcSample::TABLE, "stack_id"),
        [[KERNEL, 0x1000]]
    );
    assert_eq!(
        truths(&rows, PmcSample::TABLE, "is_stack_incomplete"),
        [Some(true)]
    );
}

/// The example of `docs/numbers/cpu.md`.
#[test]
fn dpcs_and_interrupts_are_a_part_of_the_slice_that_they_interrupted() {
    let mut trace = Recording::new();
    let start = trace.start;
    let interrupt = |trace: &mut Recording, from: i64, to: i64, cpu: u16, opcode: u8| {
        trace.kernel(
            to,
            cpu,
            None,
            (15, opcode, 2),
            &bytes(&[((start + from) as u64, 8), (KERNEL, 8), (0, 4)]),
        );
    };
    // Processor 0 is recorded from here on, with a thread that is unknown before 20.
    interrupt(&mut trace, 8, 12, 0, 68);
    trace.switch(20, 0, (4, WAITS), 8);
    interrupt(&mut trace, 30, 32, 0, 67);
    interrupt(&mut trace, 29, 36, 0, 68);
    interrupt(&mut trace, 40, 41, 0, 69);
    // A threaded DPC runs on its own thread, and the slice belongs to this thread.
    interrupt(&mut trace, 42, 45, 0, 66);
    interrupt(&mut trace, 21, 45, 1, 68);
    trace.switch(50, 0, (8, WAITS), 4);
    trace.switch(60, 0, (4, WAITS), 0);
    let rows = trace.rows();
    let columns = ["in_ns", "out_ns", "run_ns", "dpc_isr_ns"];
    assert_eq!(
        read(&rows, ContextSwitch::TABLE, columns)[..3],
        [
            [None, Some(20), Some(8), Some(0)],
            [Some(20), Some(50), Some(30), Some(8)],
            [Some(50), Some(60), Some(10), Some(0)],
        ]
    );
    // The interrupt occurred during the second DPC.
    let columns = ["start_ns", "duration_ns", "nested_ns"];
    let want = [
        [8, 4, 0],
        [30, 2, 0],
        [29, 7, 2],
        [40, 1, 0],
        [42, 3, 0],
        [21, 24, 0],
    ];
    let mut all = read(&rows, DpcIsr::TABLE, columns);
    all.sort_unstable();
    let mut want = want.map(|row| row.map(Some));
    want.sort_unstable();
    assert_eq!(all, want);
    let mut trace = Recording::new();
    trace.switch(20, 0, (4, WAITS), 8);
    trace.switch(50, 0, (8, WAITS), 4);
    let unknown = read(&trace.rows(), ContextSwitch::TABLE, ["dpc_isr_ns"]).concat();
    assert!(unknown.iter().all(Option::is_none), "{unknown:?}");
}

#[test]
fn a_stack_of_a_switch_may_name_another_thread_if_it_is_the_only_one_of_its_time_and_processor() {
    let mut trace = Recording::new();
    trace.switch(10, 0, (0, 2), 4);
    trace.switch(10, 1, (0, 2), 8);
    trace.stack(10, 0, (10, 4), &[KERNEL]);
    // The stack contains the ID of the thread that was switched out.
    trace.stack(11, 1, (10, 0), &[KERNEL + 1]);
    trace.switch(20, 0, (4, WAITS), 0);
    trace.switch(30, 0, (0, 2), 4);
    // A stack of another time.
    trace.stack(31, 0, (29, 12), &[KERNEL + 2]);
    trace.switch(40, 0, (4, WAITS), 0);
    trace.switch(40, 1, (8, WAITS), 0);
    let (rows, imported) = rows(vec![trace.finish()]);
    let of = read(&rows, ContextSwitch::TABLE, ["in_ns", "cpu", "stack_id"]);
    let stack = |at, cpu| {
        let row = of
            .iter()
            .find(|[into, on, _]| (*into, *on) == (Some(at), Some(cpu)))
            .unwrap();
        row[2].map(|id| frames(&rows, id)).unwrap_or_default()
    };
    assert_eq!(
        [stack(10, 0), stack(10, 1), stack(30, 0)],
        [vec![KERNEL], vec![KERNEL + 1], vec![]]
    );
    let count = |kind: &str| {
        imported
            .diagnostics
            .iter()
            .find(|d| d.kind == kind)
            .map(|d| d.count)
    };
    let kinds = [
        "switch_stack_by_thread",
        "switch_stack_by_processor",
        "stack_without_event",
    ];
    assert_eq!(kinds.map(count), [1; 3].map(Some));
}
