//! Extracts that tests write: from rows, a random machine, or simulated traces.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{ConvertOptions, Extract, Manifest, Writer, WriterOptions};
use etwkit_pyramid::Pyramid;
use etwkit_testkit::files::Folder;
use etwkit_trace::table::{Columns, ContextSwitch, Process, Row, Trace};

/// An extract in a temporary folder.
pub(crate) struct Made {
    pub(crate) folder: Folder,
}

impl Made {
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path("run.etwx")
    }

    pub(crate) fn extract(&self) -> Extract {
        Extract::open(&self.path()).unwrap()
    }

    pub(crate) fn pyramid(&self) -> Pyramid {
        Pyramid::open(&self.extract(), None, &mut |_| true).unwrap()
    }
}

/// Writes tables one after the other.
pub(crate) struct Tables(Writer);

impl Tables {
    pub(crate) fn write<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> &mut Self {
        let mut columns = R::Columns::default();
        rows.into_iter().for_each(|row| columns.push(&row));
        self.0.write(R::TABLE, columns.take().unwrap()).unwrap();
        self
    }
}

/// An extract of these tables. Process 0 is idle; the kernel logger ended at `end`.
pub(crate) fn extract(end: i64, processors: i32, write: impl FnOnce(&mut Tables)) -> Made {
    of_detail(Detail::Full, end, processors, write)
}

pub(crate) fn of_detail(
    detail: Detail,
    end: i64,
    processors: i32,
    write: impl FnOnce(&mut Tables),
) -> Made {
    let trace = Trace {
        duration_ns: end,
        kernel_start_ns: Some(0),
        kernel_end_ns: Some(end),
        processors,
        ..Trace::default()
    };
    of_trace(detail, trace, write)
}

/// An extract of these tables, with these properties.
pub(crate) fn of_trace(detail: Detail, trace: Trace, write: impl FnOnce(&mut Tables)) -> Made {
    let processors = trace.processors;
    let made = Made {
        folder: Folder::new(),
    };
    let mut tables = Tables(Writer::create(&made.path(), WriterOptions::default()).unwrap());
    tables.write([trace]).write([Process {
        process_key: 0,
        pid: 0,
        ..Process::default()
    }]);
    write(&mut tables);
    let machine = Machine {
        processors,
        ..Machine::default()
    };
    let source = TraceSource {
        hash: "0011223344556677".to_owned(),
        ..TraceSource::default()
    };
    tables
        .0
        .finish(Manifest::new(detail, source, Clock::default(), machine))
        .unwrap();
    made
}

/// An extract of a simulated trace.
pub(crate) fn simulated(scenario: &str) -> Made {
    let made = Made {
        folder: Folder::new(),
    };
    let trace = made.folder.path("run.etl");
    let options = etwkit_synth::Options::default();
    let scenario = etwkit_synth::find(scenario).unwrap();
    scenario
        .write(fs::File::create(&trace).unwrap(), &options)
        .unwrap();
    convert(made, trace)
}

/// An extract of a trace.
pub(crate) fn convert(made: Made, trace: PathBuf) -> Made {
    let input = etwkit_extract::open(&[trace], &etwkit_extract::Options::default()).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    etwkit_extract::convert(&input, &made.path(), ConvertOptions::default(), &mut go_on).unwrap();
    made
}

/// Pseudorandom numbers, the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 17) as i64) % limit.max(1)
    }
}

/// Slices of threads on `cores` processors, `count` in total, in order of their ends, as a writer
/// gets them; then the open ones. Some threads wait long, some for nanoseconds; some states are
/// unknown.
pub(crate) fn each_switch(
    count: usize,
    cores: i32,
    threads: i32,
    on_row: &mut dyn FnMut(ContextSwitch),
) -> i64 {
    let mut random = Random(7);
    let mut free: Vec<i64> = vec![0; cores as usize];
    let mut off: Vec<Option<i64>> = vec![None; threads as usize];
    let mut pending: BTreeMap<(i64, usize), ContextSwitch> = BTreeMap::new();
    let process_key = |thread: usize| (thread % 7 != 6).then_some(1 + thread as i32 % 5);
    let mut made = 0;
    while made < count {
        let core = (0..free.len()).min_by_key(|core| free[*core]).unwrap();
        let thread = random.below(i64::from(threads)) as usize;
        let now = free[core] + random.below(40_000);
        if off[thread].is_some_and(|out| out > now) {
            free[core] += 1_000;
            continue;
        }
        let longest = if random.below(50) == 0 {
            9_000_000
        } else {
            90_000
        };
        let out = now + 1 + random.below(longest);
        let row = ContextSwitch {
            thread_key: 10 + thread as i32,
            process_key: process_key(thread),
            cpu: Some(core as i32),
            in_ns: Some(now),
            out_ns: Some(out),
            run_ns: Some(out - now),
            stack_id: Some(made as i32),
            ..ContextSwitch::default()
        };
        pending.insert((out, made), waited(row, off[thread], now, &mut random));
        (free[core], off[thread]) = (out, Some(out));
        made += 1;
        // All later slices end after this time.
        let later = pending.split_off(&(*free.iter().min().unwrap(), 0));
        std::mem::replace(&mut pending, later)
            .into_values()
            .for_each(&mut *on_row);
    }
    pending.into_values().for_each(&mut *on_row);
    for (thread, out) in off.iter().enumerate().filter(|(_, out)| out.is_some()) {
        on_row(ContextSwitch {
            thread_key: 10 + thread as i32,
            process_key: process_key(thread),
            last_out_ns: *out,
            wait_reason: Some(15),
            is_open_wait: true,
            ..ContextSwitch::default()
        });
    }
    free.into_iter().max().unwrap() + 5_000
}

/// All of them, and the end of the recording.
pub(crate) fn switches(count: usize, cores: i32, threads: i32) -> (Vec<ContextSwitch>, i64) {
    let mut rows = Vec::new();
    let end = each_switch(count, cores, threads, &mut |row| rows.push(row));
    (rows, end)
}

/// The state of a thread before its switch-in.
fn waited(row: ContextSwitch, out: Option<i64>, now: i64, random: &mut Random) -> ContextSwitch {
    let Some(out) = out else { return row };
    let off = now - out;
    let row = ContextSwitch {
        last_out_ns: Some(out),
        ..row
    };
    match random.below(10) {
        0 => row,
        1 => ContextSwitch {
            wait_ns: Some(0),
            ready_ns: Some(off),
            prev_state: Some(1),
            ..row
        },
        _ => {
            let ready = random.below(off.min(30_000) + 1);
            ContextSwitch {
                readied_ns: Some(now - ready),
                wait_ns: Some(off - ready),
                ready_ns: Some(ready),
                prev_state: Some(5),
                wait_reason: Some(random.below(40) as i32),
                readying_thread_key: Some(10),
                ..row
            }
        }
    }
}

/// The extract of a random machine.
pub(crate) fn busy(count: usize) -> Made {
    let (rows, end) = switches(count, 4, 60);
    extract(end, 4, |tables| {
        tables.write(rows);
    })
}
