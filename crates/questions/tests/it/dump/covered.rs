//! Shares are of the part of a trace that an answer covers: recorded, extracted and asked for.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_questions::cpu::CpuRequest;
use etwkit_questions::cpu::question::CpuBucket;
use etwkit_questions::disk::DiskRequest;
use etwkit_questions::dpc::{DpcRequest, DpcRow};
use etwkit_questions::overview::{Overview, OverviewRequest};
use etwkit_questions::timer::{TimerRequest, TimerRow};
use etwkit_sql::Session;
use etwkit_trace::table::{
    CpuProcess, CpuSample, DiskFile, DiskIo, DpcIsr, TimerResolution, Trace,
};

use super::super::support::rows;
use super::{MS, S, process, trace};

/// A trace of ten seconds with four processors. At 2.4 s, a DPC and a read from a disk take 100 ms, and a
/// program uses 400 ms of CPU.
fn session(trace: Trace) -> Session {
    let (start_ns, end_ns) = (2400 * MS, 2500 * MS);
    let dpc = DpcIsr {
        kind: "dpc",
        start_ns,
        end_ns,
        duration_ns: 100 * MS,
        ..DpcIsr::default()
    };
    let read = DiskIo {
        kind: "read",
        init_ns: start_ns,
        complete_ns: end_ns,
        io_ns: 100 * MS,
        service_ns: Some(100 * MS),
        process_key: Some(1),
        ..DiskIo::default()
    };
    let reads = DiskFile {
        reads: 1,
        read_service_ns: 100 * MS,
        read_io_ns: 100 * MS,
        process_key: Some(1),
        ..DiskFile::default()
    };
    let sample = CpuSample {
        process_key: Some(1),
        ts_ns: end_ns,
        weight_ns: 400 * MS,
        ..CpuSample::default()
    };
    let cpu = CpuProcess {
        process_key: Some(1),
        samples: 1,
        cpu_ns: 400 * MS,
        ..CpuProcess::default()
    };
    Session::from_batches(vec![
        rows(&[trace]),
        rows(&[process(1, 8, "app.exe")]),
        rows(&[dpc]),
        rows(&[read]),
        rows(&[reads]),
        rows(&[sample]),
        rows(&[cpu]),
    ])
    .unwrap()
}

fn extracted(from_s: i64, to_s: i64) -> Trace {
    Trace {
        range_start_ns: Some(from_s * S),
        range_end_ns: Some(to_s * S),
        ..trace()
    }
}

fn kernel_in(from_s: i64, to_s: i64, trace: Trace) -> Trace {
    Trace {
        kernel_start_ns: Some(from_s * S),
        kernel_end_ns: Some(to_s * S),
        ..trace
    }
}

/// Shares of a processor, of a disk, and of all processors: in one part, and in the overview.
fn shares(session: &Session, time: Range) -> [f64; 4] {
    let dpc = DpcRequest {
        time,
        ..DpcRequest::default()
    };
    let disk = DiskRequest {
        time,
        ..DiskRequest::default()
    };
    let parts = CpuRequest {
        over_time: Some(1),
        time,
        ..CpuRequest::default()
    };
    let overview = OverviewRequest {
        time,
        ..OverviewRequest::default()
    };
    let dpcs: Vec<DpcRow> = dpc.form().ask(session).unwrap();
    let files = disk.ask(session).unwrap();
    let buckets: Vec<CpuBucket> = parts.form().ask(session).unwrap();
    let all = Overview::ask(session, &overview).unwrap();
    [
        dpcs[0].cpu_percent,
        files.groups[0].rows[0].active_percent,
        buckets[0].machine_percent,
        all.cpu.1.unwrap(),
    ]
}

/// 100 ms of the seconds that are covered.
#[test]
fn shares_are_of_what_was_recorded_extracted_and_asked_for() {
    let part = |from_s: i64, to_s: i64| Range {
        min: from_s * S,
        max: to_s * S,
    };
    let late = Range {
        min: 2 * S,
        max: i64::MAX,
    };
    let all = Range::default();
    for (name, trace, asked, seconds) in [
        ("the whole trace", trace(), all, 10.0),
        ("a range", trace(), part(2, 4), 2.0),
        ("a range beyond the end", trace(), part(2, 50), 8.0),
        ("from a time on", trace(), late, 8.0),
        ("an extracted part", extracted(1, 3), all, 2.0),
        ("a range in it", extracted(1, 6), part(2, 9), 4.0),
        (
            "a kernel logger that began late",
            kernel_in(2, 10, trace()),
            all,
            8.0,
        ),
        (
            "a kernel logger that ended early",
            kernel_in(0, 4, trace()),
            part(1, 9),
            3.0,
        ),
        (
            "both shorter than the trace",
            kernel_in(2, 9, extracted(1, 3)),
            all,
            1.0,
        ),
    ] {
        let expected = 100.0 * 0.1 / seconds;
        for share in shares(&session(trace), asked) {
            assert!(
                (share - expected).abs() < 1e-6,
                "{name}: {share}, not {expected}"
            );
        }
    }
}

/// CPU over time has parts of the extracted part alone: outside of it nothing is known.
#[test]
fn parts_over_time_are_of_what_is_covered() {
    let question = CpuRequest {
        over_time: Some(2),
        ..CpuRequest::default()
    };
    let starts = |trace| -> Vec<(i64, i64)> {
        let buckets: Vec<CpuBucket> = question.form().ask(&session(trace)).unwrap();
        let ends = |bucket: &CpuBucket| (bucket.start_ns / MS, bucket.end_ns / MS);
        buckets.iter().map(ends).collect()
    };
    assert_eq!(starts(trace()), [(0, 5000), (5000, 10_000)]);
    assert_eq!(starts(extracted(2, 3)), [(2000, 2500), (2500, 3000)]);
    assert_eq!(
        starts(kernel_in(2, 6, trace())),
        [(2000, 4000), (4000, 6000)]
    );
}

/// A request that held all the time, and one that was made at 2 s and stayed.
#[test]
fn requests_for_a_timer_hold_within_the_extracted_part() {
    let asked = |resolution_ns, start_ns| TimerResolution {
        kind: "process",
        process_key: Some(1),
        resolution_ns,
        start_ns,
        ..TimerResolution::default()
    };
    let held = |trace: Trace| -> Vec<(i64, Option<f64>)> {
        let session = Session::from_batches(vec![
            rows(&[trace]),
            rows(&[process(1, 8, "app.exe")]),
            rows(&[asked(500, None), asked(1000, Some(2 * S))]),
        ])
        .unwrap();
        let found: Vec<TimerRow> = TimerRequest::default().form().ask(&session).unwrap();
        let row = |row: &TimerRow| (row.duration_ns / S, row.share_percent);
        found.iter().map(row).collect()
    };
    assert_eq!(held(trace()), [(8, Some(80.0)), (10, Some(100.0))]);
    assert_eq!(held(extracted(1, 3)), [(1, Some(50.0)), (2, Some(100.0))]);
}
