//! Disk I/O.

use etwkit_question::group::{Top, TopProcesses};
use etwkit_question::range::Range;
use etwkit_question::{ProcessQuery, Question};
use etwkit_questions::disk::{DiskAnswer, DiskOperation, DiskRequest, DiskSort};
use etwkit_sql::Session;
use etwkit_trace::table::{DiskFile, DiskIo};

use super::super::support::rows;
use super::{MS, process, trace};

fn of(
    path: Option<&str>,
    process_key: i32,
    reads: (i64, i64, i64),
    writes: (i64, i64, i64),
) -> DiskFile {
    DiskFile {
        path: path.map(Into::into),
        process_key: Some(process_key),
        reads: reads.0,
        read_bytes: reads.1,
        read_service_ns: reads.2 * MS,
        writes: writes.0,
        write_bytes: writes.1,
        write_service_ns: writes.2 * MS,
        ..DiskFile::default()
    }
}

fn session() -> Session {
    let files = [
        of(
            Some(r"C:\Windows\System32\a.dll"),
            1,
            (2, 3000, 10),
            (0, 0, 0),
        ),
        of(Some(r"C:\Windows\b.txt"), 1, (0, 0, 0), (1, 500, 40)),
        of(Some(r"C:\Windows\b.txt"), 2, (1, 100, 1), (0, 0, 0)),
        of(Some(r"D:\c.txt"), 2, (0, 0, 0), (3, 9000, 5)),
        of(
            Some(r"\Device\HarddiskVolume9\x\y\z"),
            2,
            (1, 1, 1),
            (0, 0, 0),
        ),
        of(Some(r"\\server\share\x\y"), 2, (1, 2, 1), (0, 0, 0)),
        DiskFile {
            flushes: 1,
            flush_service_ns: 44 * MS,
            process_key: Some(1),
            ..DiskFile::default()
        },
    ];
    let processes = [process(1, 4, "System"), process(2, 8, "cmd.exe")];
    Session::from_batches(vec![rows(&files), rows(&processes), rows(&[trace()])]).unwrap()
}

#[track_caller]
fn ask(session: &Session, request: &DiskRequest) -> DiskAnswer {
    request
        .ask(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
}

/// Returns the paths of all rows with their sort keys.
#[track_caller]
fn paths(request: &DiskRequest) -> Vec<(Option<String>, i64)> {
    let answer = ask(&session(), request);
    answer
        .groups
        .into_iter()
        .flat_map(|group| group.rows)
        .map(|row| (row.path, row.sort_value as i64))
        .collect()
}

fn named(path: &str, value: i64) -> (Option<String>, i64) {
    (Some(path.into()), value)
}

#[test]
fn folders_are_cut_at_their_level() {
    let request = |level| DiskRequest {
        level,
        ..DiskRequest::default()
    };
    let device = r"\Device\HarddiskVolume9";
    assert_eq!(
        paths(&request(0)),
        [
            (None, 0),
            named(device, 1),
            named(r"\\server\share", 2),
            named("C:", 3600),
            named("D:", 9000),
        ]
    );
    assert_eq!(
        paths(&request(1))[3..],
        [named(r"C:\Windows", 3600), named("D:", 9000)]
    );
    assert_eq!(
        paths(&request(2))[1..],
        [
            named(r"\Device\HarddiskVolume9\x\y", 1),
            named(r"\\server\share\x", 2),
            named(r"C:\Windows", 600),
            named(r"C:\Windows\System32", 3000),
            named("D:", 9000),
        ]
    );
    assert_eq!(
        paths(&request(100))[3..5],
        [
            named(r"C:\Windows\b.txt", 600),
            named(r"C:\Windows\System32\a.dll", 3000),
        ]
    );
}

#[test]
fn a_row_sums_sizes_and_service_times() {
    let answer = ask(
        &session(),
        &DiskRequest {
            level: 1,
            ..DiskRequest::default()
        },
    );
    let row = answer.groups[0]
        .rows
        .iter()
        .find(|row| row.path.as_deref() == Some(r"C:\Windows"))
        .unwrap();
    assert_eq!(
        (row.reads, row.read_bytes, row.read_service_ns),
        (Some(3), 3100, 11 * MS)
    );
    assert_eq!(
        (row.writes, row.write_bytes, row.write_service_ns),
        (Some(1), 500, 40 * MS)
    );
    assert_eq!(
        (row.total_service_ns, row.files, row.processes),
        (51 * MS, 2, 2)
    );
    // 51 ms of 10 s.
    assert!((row.active_percent - 0.51).abs() < 1e-9);
    assert_eq!(
        (answer.total.read_bytes, answer.total.write_bytes),
        (3103, 9500)
    );
    assert_eq!(
        (answer.total.flushes, answer.total.total_service_ns),
        (1, (13 + 45 + 44) * MS)
    );
}

#[test]
fn orders_and_filters() {
    let at = |request: DiskRequest| {
        paths(&DiskRequest {
            level: 100,
            ..request
        })
    };
    let last = |request| at(request).pop().unwrap();
    let sorted = |sort| DiskRequest {
        sort,
        ..DiskRequest::default()
    };
    assert_eq!(last(sorted(DiskSort::FlushTime)), (None, 44 * MS));
    assert_eq!(
        last(sorted(DiskSort::WriteTime)),
        named(r"C:\Windows\b.txt", 40 * MS)
    );
    assert_eq!(last(sorted(DiskSort::TotalTime)), (None, 44 * MS));
    assert_eq!(
        last(sorted(DiskSort::ReadSize)),
        named(r"C:\Windows\System32\a.dll", 3000)
    );
    assert_eq!(last(sorted(DiskSort::Count)), named(r"D:\c.txt", 3));
    let writes = DiskRequest {
        operation: Some(DiskOperation::Write),
        ..DiskRequest::default()
    };
    assert_eq!(
        at(writes),
        [named(r"C:\Windows\b.txt", 600), named(r"D:\c.txt", 9000)]
    );
    let large = DiskRequest {
        total_size: Range {
            min: 3000,
            max: 8999,
        },
        ..DiskRequest::default()
    };
    assert_eq!(at(large), [named(r"C:\Windows\System32\a.dll", 3000)]);
    let long = DiskRequest {
        total_time: Range {
            min: 41 * MS,
            max: 41 * MS,
        },
        ..DiskRequest::default()
    };
    assert_eq!(at(long), [named(r"C:\Windows\b.txt", 600)]);
    let by_name = DiskRequest {
        file: Some("*.txt".into()),
        ..DiskRequest::default()
    };
    assert_eq!(
        at(by_name),
        [named(r"C:\Windows\b.txt", 600), named(r"D:\c.txt", 9000)]
    );
}

#[test]
fn processes_have_rows_of_their_own() {
    let request = DiskRequest {
        per_process: true,
        level: 100,
        ..DiskRequest::default()
    };
    let answer = ask(&session(), &request);
    let sums: Vec<_> = answer
        .groups
        .iter()
        .map(|g| (g.rows[0].pid, g.rows.len(), g.total.sort_value as i64))
        .collect();
    assert_eq!(sums, [(Some(4), 3, 3500), (Some(8), 4, 9103)]);
    let one = DiskRequest {
        top_processes: TopProcesses {
            count: Some(1),
            skip: 0,
        },
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..request
    };
    let answer = ask(&session(), &one);
    assert_eq!(
        (
            answer.groups.len(),
            answer.total.write_bytes,
            answer.total.read_bytes
        ),
        (1, 9000, 0)
    );
}

/// Both processes used `b.txt`, so that rows of processes do not say how many files there are.
#[test]
fn a_file_of_several_processes_is_not_counted_for_each() {
    let total = |per_process| {
        let request = DiskRequest {
            per_process,
            ..DiskRequest::default()
        };
        let answer = request.answer(&session()).unwrap();
        format!("{:?}", answer.parts[0].table.total())
    };
    let (all, of_each) = (total(false), total(true));
    assert!(all.contains("Number(5)), Words(\" files\")"), "{all}");
    assert!(!of_each.contains("file"), "{of_each}");
}

#[test]
fn a_range_clips_times_and_keeps_bytes() {
    let io = |kind, init: i64, complete: i64, service: i64| DiskIo {
        kind,
        init_ns: init * MS,
        complete_ns: complete * MS,
        io_ns: (complete - init) * MS,
        service_ns: Some(service * MS),
        size_bytes: 4096,
        path: Some(r"C:\a.txt".into()),
        process_key: Some(1),
        ..DiskIo::default()
    };
    // Waits 10–20 in the queue and is served 20–30; 30–34; after the range.
    let operations = [
        io("read", 10, 30, 10),
        io("write", 30, 34, 4),
        io("read", 60, 70, 10),
    ];
    let session = Session::from_batches(vec![
        rows(&operations),
        rows(&[process(1, 4, "System")]),
        rows(&[trace()]),
    ])
    .unwrap();
    let request = DiskRequest {
        time: Range {
            min: 15 * MS,
            max: 25 * MS,
        },
        ..DiskRequest::default()
    };
    let row = ask(&session, &request).groups[0].rows[0].clone();
    assert_eq!(
        (
            row.reads,
            row.read_bytes,
            row.read_service_ns,
            row.read_io_ns
        ),
        (Some(1), 4096, 5 * MS, 10 * MS)
    );
    assert_eq!(
        (row.writes, row.write_service_ns, row.max_io_ns),
        (Some(0), 0, 10 * MS)
    );
    // 5 of the 10 ms of the range.
    assert!((row.active_percent - 50.0).abs() < 1e-9);
    // The queue alone is not service time.
    let request = DiskRequest {
        time: Range {
            min: 10 * MS,
            max: 20 * MS,
        },
        ..DiskRequest::default()
    };
    assert_eq!(ask(&session, &request).groups[0].rows[0].read_service_ns, 0);
}

#[test]
fn what_is_missing_is_named() {
    let request = DiskRequest {
        time: Range { min: 0, max: 1 },
        ..DiskRequest::default()
    };
    assert!(
        request
            .ask(&session())
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("--detail full")
    );
    let nothing = Session::from_batches(vec![]).unwrap();
    assert!(
        DiskRequest::default()
            .ask(&nothing)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("DISK_IO")
    );
}

#[test]
fn a_flush_whose_service_time_is_not_known_is_an_operation() {
    let flush = DiskFile {
        flushes: 1,
        process_key: Some(1),
        ..DiskFile::default()
    };
    let processes = [process(1, 4, "System")];
    let session =
        Session::from_batches(vec![rows(&[flush]), rows(&processes), rows(&[trace()])]).unwrap();
    for shared in [false, true] {
        let request = DiskRequest {
            operation: Some(DiskOperation::Flush),
            shared,
            ..DiskRequest::default()
        };
        assert_eq!(ask(&session, &request).total.flushes, 1, "{shared}");
    }
}

/// Of extracts that were made of sums: both processes share the page file, how much each did is not
/// known.
fn shared_session() -> Session {
    let page_file = |keys: &str, ms| DiskFile {
        process_key: None,
        process_keys: Some(keys.into()),
        ..of(Some(r"C:\pagefile.sys"), 0, (0, 70, ms), (0, 0, 0))
    };
    let files = [
        of(Some(r"C:\own.txt"), 1, (0, 10, 3), (0, 0, 0)),
        page_file("1 2", 20),
        of(Some(r"D:\other.txt"), 2, (0, 0, 0), (0, 5, 4)),
    ];
    let processes = [process(1, 4, "System"), process(2, 8, "cmd.exe")];
    Session::from_batches(vec![rows(&files), rows(&processes), rows(&[trace()])]).unwrap()
}

fn of_process(name: &str, shared: bool) -> DiskRequest {
    let processes = ProcessQuery {
        process: Some(name.into()),
        ..ProcessQuery::default()
    };
    DiskRequest {
        processes,
        shared,
        level: 100,
        ..DiskRequest::default()
    }
}

#[test]
fn shared_files_belong_to_none_of_their_processes_unless_that_is_asked() {
    let session = shared_session();
    let shown = |request: &DiskRequest| -> Vec<String> {
        let answer = ask(&session, request);
        let rows = answer.groups.iter().flat_map(|group| &group.rows);
        rows.map(|row| {
            let path = row.path.as_deref().unwrap_or("-");
            let names = row.process_names.as_deref().unwrap_or("-");
            format!("{path} {} ms of {names}", row.total_service_ns / MS)
        })
        .collect()
    };
    let own = of_process("System", false);
    assert_eq!(shown(&own), [r"C:\own.txt 3 ms of System(4)"]);
    assert_eq!(ask(&session, &own).total.shared_service_ns, 20 * MS);
    let shared = of_process("System", true);
    assert_eq!(
        shown(&shared),
        [
            r"C:\own.txt 3 ms of System(4)",
            r"C:\pagefile.sys 20 ms of System(4);cmd.exe(8)"
        ]
    );
    assert_eq!(ask(&session, &shared).total.shared_service_ns, 0);
    let all = DiskRequest {
        shared: true,
        sort: DiskSort::TotalTime,
        ..DiskRequest::default()
    };
    assert_eq!(
        shown(&all),
        ["D: 4 ms of cmd.exe(8)", "C: 23 ms of System(4);cmd.exe(8)"]
    );
    let written = DiskRequest {
        operation: Some(DiskOperation::Write),
        level: 100,
        ..all.clone()
    };
    assert_eq!(shown(&written), [r"D:\other.txt 4 ms of cmd.exe(8)"]);
    // Each set of processes once, so that sums equal the sums of the disk.
    let sets = DiskRequest {
        per_process: true,
        ..all
    };
    let answer = ask(&session, &sets);
    let sets: Vec<(Option<&str>, i64)> = answer
        .groups
        .iter()
        .map(|group| {
            (
                group.rows[0].process.as_deref(),
                group.total.total_service_ns / MS,
            )
        })
        .collect();
    assert_eq!(
        sets,
        [
            (Some("System(4)"), 3),
            (Some("cmd.exe(8)"), 4),
            (Some("System(4);cmd.exe(8)"), 20)
        ]
    );
    assert_eq!(answer.total.total_service_ns, 27 * MS);
}

/// If each operation has its process, both ways know the same files; a file of two processes counts
/// whole.
#[test]
fn shared_is_by_file_where_parts_are_known_too() {
    let ms = |request: &DiskRequest| ask(&session(), request).total.total_service_ns / MS;
    assert_eq!(
        (ms(&of_process("cmd", false)), ms(&of_process("cmd", true))),
        (8, 48)
    );
    let all = DiskRequest::default();
    assert_eq!(
        ms(&all),
        ms(&DiskRequest {
            shared: true,
            ..all.clone()
        })
    );
    let numbers = ask(&session(), &all);
    let drive = numbers.groups[0]
        .rows
        .iter()
        .find(|row| row.path.as_deref() == Some("C:"))
        .unwrap();
    assert_eq!(
        (drive.disks.as_deref(), drive.process_names.as_deref()),
        (Some("0"), Some("System(4);cmd.exe(8)"))
    );
}

/// The example of `docs/numbers/io.md`.
#[test]
fn priorities_distinguish_operations() {
    let did = |kind: &'static str, priority, init: i64, service: i64, size_bytes| DiskIo {
        kind,
        priority,
        size_bytes,
        process_key: Some(1),
        init_ns: init * MS,
        complete_ns: (init + service) * MS,
        io_ns: service * MS,
        service_ns: Some(service * MS),
        ..DiskIo::default()
    };
    let all = [
        did("read", 1, 10, 50, 700),
        did("read", 3, 20, 4, 9000),
        did("write", 3, 30, 2, 100),
    ];
    let session = Session::from_batches(vec![
        rows(&all),
        rows(&[process(1, 4, "System")]),
        rows(&[trace()]),
    ])
    .unwrap();
    let request = DiskRequest {
        by_priority: true,
        sort: DiskSort::TotalTime,
        ..DiskRequest::default()
    };
    let row = |row: etwkit_questions::disk::DiskRow| {
        (
            row.priority.unwrap(),
            row.path,
            row.total_bytes,
            row.total_service_ns / MS,
            row.reads,
            row.writes,
        )
    };
    let answer = ask(&session, &request)
        .groups
        .into_iter()
        .flat_map(|group| group.rows)
        .map(row);
    assert_eq!(
        answer.collect::<Vec<_>>(),
        [
            ("normal".into(), None, 9100, 6, Some(1), Some(1)),
            ("very low".into(), None, 700, 50, Some(1), Some(0))
        ]
    );
}
