//! Garbage collections: .NET runtime events in, rows out.

use std::ops::ControlFlow;

use etwkit_decode::clr::{RUNTIME, id};
use etwkit_etl::Session;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use etwkit_trace::import::{Imported, Options, import};
use etwkit_trace::table::{Gc, Row};

use crate::counters::{Batches, bytes, read};

/// Events of a program with two threads: one that allocates and one that collects in the
/// background.
struct Program {
    writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    start: i64,
    start_time: i64,
    /// Instance of the runtime in all events.
    runtime: u64,
}

const ALLOCATES: u32 = 11;
const COLLECTS: u32 = 12;

/// Reasons to suspend.
const GC: u64 = 1;
const CODE_PITCHING: u64 = 3;
const GC_PREP: u64 = 6;

impl Program {
    fn new() -> Self {
        let mut options = SessionOptions::default();
        options.header.perf_freq = 1_000_000;
        let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            start: options.t0,
            start_time: options.header.start_time,
            runtime: 7,
        }
    }

    fn event(
        &mut self,
        us: i64,
        thread_id: u32,
        (id, version): (u16, u8),
        payload: &[(u64, usize)],
    ) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider: RUNTIME,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            process_id: 100,
            thread_id,
            payload: &bytes(payload),
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// Threads are suspended between the times.
    fn suspend(&mut self, us: i64, tid: u32, reason: u64) {
        self.event(
            us,
            tid,
            (id::GC_SUSPEND_BEGIN, 1),
            &[(reason, 4), (0, 4), (self.runtime, 2)],
        );
    }

    /// All threads are suspended, or resumed.
    fn part(&mut self, us: i64, tid: u32, id: u16) {
        self.event(us, tid, (id, 1), &[(self.runtime, 2)]);
    }

    /// The heaps: generations 0 to 2 and large objects, each with the surviving bytes.
    fn heaps(&mut self, us: i64, tid: u32, sizes: [u64; 4], pinned_heap: Option<u64>) {
        let mut fields: Vec<(u64, usize)> = sizes
            .iter()
            .flat_map(|size| [(*size, 8), (10, 8)])
            .collect();
        fields.extend([(0, 8), (0, 8), (3, 4), (0, 4), (250, 4), (self.runtime, 2)]);
        fields.extend(pinned_heap.into_iter().flat_map(|size| [(size, 8), (1, 8)]));
        let version = if pinned_heap.is_some() { 2 } else { 1 };
        self.event(us, tid, (id::GC_HEAP_STATS, version), &fields);
    }

    fn restart(&mut self, us: i64, tid: u32) {
        self.event(us, tid, (id::GC_RESTART_END, 1), &[(self.runtime, 2)]);
    }

    /// A collection of a generation starts; `kind` 1 is in the background.
    fn begin(&mut self, us: i64, tid: u32, number: u64, (generation, kind): (u64, u64)) {
        let numbers = [
            (number, 4),
            (generation, 4),
            (0, 4),
            (kind, 4),
            (self.runtime, 2),
        ];
        self.event(us, tid, (id::GC_START, 1), &numbers);
    }

    fn end(&mut self, us: i64, tid: u32, number: u64, generation: u64) {
        self.event(
            us,
            tid,
            (id::GC_END, 1),
            &[(number, 4), (generation, 4), (self.runtime, 2)],
        );
    }

    fn rows(self) -> (Batches, Imported) {
        let file = self
            .writer
            .finish(self.start_time + 100_000)
            .unwrap()
            .into_inner();
        let session = Session::open(vec![Box::new(file)]).unwrap();
        let mut sink = Batches::new();
        let progress = &mut |_| ControlFlow::Continue(());
        let imported = import(&session, &Options::default(), &mut sink, progress).unwrap();
        (sink, imported)
    }
}

const COLUMNS: [&str; 4] = ["number", "gc_type", "duration_ns", "suspended_ns"];

/// The example of `docs/numbers/gc.md`.
#[test]
fn a_background_collection_has_all_its_pauses() {
    let mut p = Program::new();
    // The first pause, on the thread that allocates.
    p.suspend(1000, ALLOCATES, GC_PREP);
    p.begin(1020, ALLOCATES, 5, (2, 1));
    p.restart(1100, ALLOCATES);
    // A collection of generation 0 during the background one.
    p.suspend(2000, ALLOCATES, GC);
    p.begin(2010, ALLOCATES, 6, (0, 2));
    p.end(2290, ALLOCATES, 6, 0);
    p.restart(2300, ALLOCATES);
    // Suspensions for other reasons: a debugger, discarded code.
    p.suspend(3000, COLLECTS, CODE_PITCHING);
    p.restart(3900, COLLECTS);
    // The last pause, on the thread that collects.
    p.suspend(4000, COLLECTS, GC_PREP);
    p.restart(4050, COLLECTS);
    p.end(5020, COLLECTS, 5, 2);
    let (rows, imported) = p.rows();
    assert_eq!(
        read(&rows, Gc::TABLE, COLUMNS),
        [[5, 1, 4000, 150].map(Some), [6, 2, 280, 300].map(Some)]
    );
    assert!(
        !imported
            .diagnostics
            .iter()
            .any(|d| d.kind == "pause_without_collection")
    );
}

/// The second example of `docs/numbers/gc.md`.
#[test]
fn a_collection_has_the_parts_of_its_pauses_and_the_heaps_behind_it() {
    let mut p = Program::new();
    p.suspend(1000, ALLOCATES, GC);
    p.part(1030, ALLOCATES, id::GC_SUSPEND_END);
    p.begin(1040, ALLOCATES, 1, (1, 0));
    p.end(1400, ALLOCATES, 1, 1);
    p.heaps(1410, ALLOCATES, [24, 500, 9000, 85_000], Some(64));
    p.part(1420, ALLOCATES, id::GC_RESTART_BEGIN);
    p.restart(1425, ALLOCATES);
    // All pauses count toward a background collection; heap sizes without an ended collection
    // belong to none.
    p.heaps(1500, ALLOCATES, [1, 1, 1, 1], None);
    for us in [2000, 3000] {
        p.suspend(us, COLLECTS, GC_PREP);
        p.part(us + 5, COLLECTS, id::GC_SUSPEND_END);
        if us == 2000 {
            p.begin(us + 6, COLLECTS, 2, (2, 1));
        }
        p.part(us + 40, COLLECTS, id::GC_RESTART_BEGIN);
        p.restart(us + 42, COLLECTS);
    }
    p.end(4000, COLLECTS, 2, 2);
    p.heaps(4001, COLLECTS, [48, 600, 8000, 80_000], None);
    let (rows, _) = p.rows();
    let pauses = read(
        &rows,
        Gc::TABLE,
        ["suspended_ns", "suspending_ns", "restarting_ns"],
    );
    assert_eq!(pauses, [[425, 30, 5], [84, 10, 4]].map(|row| row.map(Some)));
    let sizes = [
        "gen0_bytes",
        "gen1_bytes",
        "gen2_bytes",
        "large_bytes",
        "pinned_bytes",
        "promoted_bytes",
    ];
    assert_eq!(
        read(&rows, Gc::TABLE, sizes),
        [
            [24, 500, 9000, 85_000, 64, 41].map(Some),
            [
                Some(48),
                Some(600),
                Some(8000),
                Some(80_000),
                None,
                Some(40)
            ]
        ]
    );
    assert_eq!(
        read(&rows, Gc::TABLE, ["pinned_objects", "handles"]),
        [[Some(3), Some(250)]; 2]
    );
}

/// A debugger on one thread and a collection on another one suspend threads at the same time, so
/// that the end of the first suspension lies between the events of the second one.
#[test]
fn a_collection_inside_another_suspension_keeps_its_own_pause() {
    let mut p = Program::new();
    for (us, number) in [(1000, 1), (3000, 2)] {
        p.suspend(us, COLLECTS, CODE_PITCHING);
        p.suspend(us + 10, ALLOCATES, GC);
        p.part(us + 20, COLLECTS, id::GC_SUSPEND_END);
        p.part(us + 40, ALLOCATES, id::GC_SUSPEND_END);
        p.begin(us + 50, ALLOCATES, number, (0, 0));
        p.part(us + 60, COLLECTS, id::GC_RESTART_BEGIN);
        p.restart(us + 70, COLLECTS);
        p.end(us + 100, ALLOCATES, number, 0);
        p.part(us + 110, ALLOCATES, id::GC_RESTART_BEGIN);
        p.restart(us + 115, ALLOCATES);
    }
    let (rows, imported) = p.rows();
    let columns = ["number", "suspended_ns", "suspending_ns", "restarting_ns"];
    assert_eq!(
        read(&rows, Gc::TABLE, columns),
        [[1, 105, 30, 5].map(Some), [2, 105, 30, 5].map(Some)]
    );
    assert!(
        !imported
            .diagnostics
            .iter()
            .any(|d| d.kind == "pause_without_collection")
    );
}

#[test]
fn pauses_go_to_the_collection_that_is_in_progress() {
    let mut p = Program::new();
    // A blocking collection whose end was lost gets no later pause.
    p.suspend(100, ALLOCATES, GC);
    p.begin(110, ALLOCATES, 1, (1, 0));
    p.restart(150, ALLOCATES);
    // No collection in the trace is in progress.
    p.suspend(200, COLLECTS, GC_PREP);
    p.restart(230, COLLECTS);
    // A background collection that started in the same pause as one of generation 1: the pause
    // belongs to the later one.
    p.suspend(300, ALLOCATES, GC_PREP);
    p.begin(310, ALLOCATES, 2, (2, 1));
    p.begin(320, ALLOCATES, 3, (1, 0));
    p.end(350, ALLOCATES, 3, 1);
    p.restart(360, ALLOCATES);
    // Two threads suspend at the same time: each is paired with its own restart.
    p.suspend(400, COLLECTS, GC_PREP);
    p.suspend(405, ALLOCATES, CODE_PITCHING);
    p.restart(430, COLLECTS);
    p.restart(470, ALLOCATES);
    // Another runtime of the same process has no collection.
    p.runtime = 9;
    p.suspend(500, COLLECTS, GC_PREP);
    p.restart(510, COLLECTS);
    p.runtime = 7;
    p.end(600, COLLECTS, 2, 2);
    // The collection is over.
    p.suspend(700, COLLECTS, GC_PREP);
    p.restart(720, COLLECTS);
    let (rows, imported) = p.rows();
    assert_eq!(
        read(&rows, Gc::TABLE, COLUMNS),
        [
            [Some(1), Some(0), None, Some(50)],
            [Some(2), Some(1), Some(290), Some(30)],
            [Some(3), Some(0), Some(30), Some(60)],
        ]
    );
    let lost = imported
        .diagnostics
        .iter()
        .find(|d| d.kind == "pause_without_collection");
    assert_eq!(lost.map(|d| d.count), Some(3));
}
