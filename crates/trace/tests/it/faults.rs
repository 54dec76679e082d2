//! Page faults: events of our own writer in, rows out. No real trace contains faults that were
//! served from memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use etwkit_etl::Session;
use etwkit_trace::derive::derive;
use etwkit_trace::import::{Options, Range, import};
use etwkit_trace::table::{Frame, HardFault, HardFaultFile, PageFault, PageFaultProcess, Row};
use serde_json::Value;

use crate::counters::{Batches, Recording, bytes, read, wide, words};

impl Recording {
    /// A fault of a type at an address, by the instruction at 0x400.
    fn fault(&mut self, us: i64, cpu: u16, op: u8, address: u64) {
        self.kernel(us, cpu, (2, op, 2), &bytes(&[(address, 8), (0x400, 8)]));
    }

    /// A page read since `start` from the file with the key 0x50 or 0x60.
    fn page_read(&mut self, us: i64, start: i64, key: u64, tid: u64, size: u64) {
        let start = (self.start + start) as u64;
        let fields = [
            (start, 8),
            (0x1000, 8),
            (0x7000, 8),
            (key, 8),
            (tid, 4),
            (size, 4),
        ];
        self.kernel(us, 0, (2, 32, 2), &bytes(&fields));
    }
}

/// The example of `docs/numbers/faults.md`.
fn example() -> Recording {
    let mut trace = Recording::new();
    for (pid, tid) in [(100, 8), (200, 12)] {
        trace.kernel(0, 0, (5, 3, 3), &bytes(&[(pid, 4), (tid, 4)]));
    }
    trace.kernel(
        0,
        0,
        (4, 36, 2),
        &[bytes(&[(0x50, 8)]), wide(r"\Device\X\a.dll")].concat(),
    );
    trace.switch(5, 0, 0, 8, &[]);
    trace.fault(10, 0, 11, 0x1000);
    trace.fault(11, 0, 11, 0x2000);
    trace.fault(12, 0, 10, 0x3000);
    trace.switch(20, 0, 8, 12, &[]);
    trace.fault(21, 0, 12, 0x1000);
    trace.fault(22, 0, 13, 0x2000);
    trace.fault(23, 0, 14, 0x7000);
    trace.page_read(40, 24, 0x50, 12, 4096);
    trace.page_read(50, 45, 0x50, 12, 8192);
    trace.page_read(55, 54, 0x60, 8, 4096);
    trace.fault(60, 0, 15, 0);
    trace
}

#[test]
fn a_fault_is_that_of_the_thread_that_runs() {
    let rows = example().rows(Range::ALL);
    assert_eq!(
        words(&rows, PageFault::TABLE, "kind"),
        [
            "demand_zero",
            "demand_zero",
            "transition",
            "copy_on_write",
            "guard_page",
            "hard",
            "access_violation"
        ]
    );
    let found = read(
        &rows,
        PageFault::TABLE,
        ["ts_ns", "process_key", "address", "frame_id"],
    );
    let expected = [
        [10, 1, 0x1000, 0],
        [11, 1, 0x2000, 0],
        [12, 1, 0x3000, 0],
        [21, 2, 0x1000, 0],
        [22, 2, 0x2000, 0],
        [23, 2, 0x7000, 0],
        [60, 2, 0, 0],
    ];
    assert_eq!(found, expected.map(|row| row.map(Some)));
    assert_eq!(read(&rows, Frame::TABLE, ["address"]), [[Some(0x400)]]);
}

#[test]
fn sums_are_by_process_and_kind_and_reads_by_file() {
    let rows = example().rows(Range::ALL);
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    let kinds = words(&sums, PageFaultProcess::TABLE, "kind");
    let numbers = read(
        &sums,
        PageFaultProcess::TABLE,
        ["process_key", "count", "first_ns", "last_ns"],
    );
    let found: Vec<_> = kinds.iter().map(String::as_str).zip(numbers).collect();
    let row = |kind, numbers: [i64; 4]| (kind, numbers.map(Some));
    assert_eq!(
        found,
        [
            row("demand_zero", [1, 2, 10, 11]),
            row("transition", [1, 1, 12, 12]),
            row("access_violation", [2, 1, 60, 60]),
            row("copy_on_write", [2, 1, 21, 21]),
            row("guard_page", [2, 1, 22, 22]),
            row("hard", [2, 1, 23, 23]),
        ]
    );
    assert_eq!(
        read(&rows, HardFault::TABLE, ["duration_ns"]).concat(),
        [16, 5, 1].map(Some)
    );
    let columns = [
        "process_key",
        "count",
        "size_bytes",
        "duration_ns",
        "max_duration_ns",
    ];
    let reads = read(&sums, HardFaultFile::TABLE, columns);
    assert_eq!(
        words(&sums, HardFaultFile::TABLE, "path"),
        ["-", r"\Device\X\a.dll"]
    );
    assert_eq!(
        reads,
        [[1, 1, 4096, 1, 1], [2, 2, 12_288, 21, 16]].map(|row| row.map(Some))
    );
}

#[test]
fn without_switches_nobody_knows_whose_faults_they_are() {
    let mut trace = Recording::new();
    trace.fault(10, 0, 11, 0x1000);
    trace.fault(30, 0, 11, 0x1000);
    let rows = trace.rows(Range {
        start_ns: 0,
        end_ns: 20_000,
    });
    let want = [[Some(10), None, None]];
    assert_eq!(
        read(
            &rows,
            PageFault::TABLE,
            ["ts_ns", "process_key", "thread_key"]
        ),
        want
    );
}

/// Reads of a real trace compared with an independent decoding of it.
#[test]
fn reads_of_a_real_trace_are_those_of_its_truth() {
    let Some(folder) = etwkit_testkit::traces() else {
        return etwkit_testkit::skip("reads of a real trace");
    };
    let trace = std::fs::read(folder.join("net.4.5.2.x64.etl")).unwrap();
    let truth = std::fs::read(folder.join("truth/net.4.5.2.x64.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let session = Session::open(vec![Box::new(trace)]).unwrap();
    let mut rows = Batches::new();
    import(&session, &Options::default(), &mut rows, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    let mut found: BTreeMap<String, [i64; 3]> = BTreeMap::new();
    let numbers = read(
        &sums,
        HardFaultFile::TABLE,
        ["count", "size_bytes", "duration_ns"],
    );
    for (path, numbers) in words(&sums, HardFaultFile::TABLE, "path")
        .into_iter()
        .zip(numbers)
    {
        let of_file = found.entry(path).or_default();
        of_file
            .iter_mut()
            .zip(numbers)
            .for_each(|(sum, more)| *sum += more.unwrap());
    }
    let expected = truth["faults"]["by_file"].as_object().unwrap();
    assert_eq!(found.len(), expected.len());
    for (path, file) in expected {
        let [count, bytes, us] = found[path];
        assert_eq!(
            (Some(count), Some(bytes)),
            (file["count"].as_i64(), file["bytes"].as_i64()),
            "{path}"
        );
        // Sums of a process and file are truncated to whole microseconds here.
        assert!(
            (us as f64 - file["elapsed_us"].as_f64().unwrap()).abs() < 10.0,
            "{path}"
        );
    }
}
