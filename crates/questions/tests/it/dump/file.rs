//! File I/O.

use etwkit_question::range::Range;
use etwkit_question::{Heading, Question, Value};
use etwkit_questions::file::single::FileOperation;
use etwkit_questions::file::{FileAnswer, FileRequest, FileSort};
use etwkit_sql::Session;
use etwkit_trace::table::{FileFile, FileIo, Thread};

use super::super::support::rows;
use super::{MS, process, trace};

fn of(path: Option<&str>, process_key: i32, kind: &'static str, count: i64, ms: i64) -> FileFile {
    FileFile {
        path: path.map(Into::into),
        process_key: Some(process_key),
        kind: kind.into(),
        count,
        duration_ns: ms * MS,
        ..FileFile::default()
    }
}

fn session() -> Session {
    let a = Some(r"C:\x\a.txt");
    let b = Some(r"C:\x\b.txt");
    let files = [
        FileFile {
            size_bytes: 1000,
            max_position_bytes: 5000,
            ..of(a, 1, "read", 2, 10)
        },
        FileFile {
            size_bytes: 300,
            max_position_bytes: 900,
            ..of(a, 1, "write", 1, 20)
        },
        FileFile {
            failures: 1,
            failure_statuses: "0xc0000034".into(),
            ..of(a, 1, "create", 3, 4)
        },
        FileFile {
            failures: 2,
            failure_statuses: "0x80000006,0xc0000034".into(),
            ..of(a, 1, "close", 1, 1)
        },
        of(a, 1, "cleanup", 1, 2),
        of(a, 1, "set_info", 1, 0),
        of(a, 1, "delete", 1, 0),
        of(a, 1, "rename", 2, 0),
        of(a, 1, "query_info", 5, 7),
        FileFile {
            size_bytes: 2000,
            max_position_bytes: 2000,
            ..of(b, 2, "read", 1, 1)
        },
        FileFile {
            size_bytes: 9999,
            ..of(None, 2, "read", 1, 1)
        },
    ];
    let processes = [process(1, 4, "System"), process(2, 8, "cmd.exe")];
    Session::from_batches(vec![rows(&files), rows(&processes), rows(&[trace()])]).unwrap()
}

#[track_caller]
fn ask(session: &Session, request: &FileRequest) -> FileAnswer {
    request
        .ask(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
}

fn whole() -> FileRequest {
    FileRequest {
        level: 100,
        ..FileRequest::default()
    }
}

#[track_caller]
fn names(request: &FileRequest) -> Vec<String> {
    let answer = ask(&session(), request);
    answer
        .groups
        .into_iter()
        .flat_map(|group| group.rows)
        .map(|row| row.path.unwrap_or_default())
        .collect()
}

#[test]
fn every_kind_of_operation_has_its_columns() {
    let answer = ask(&session(), &whole());
    let row = &answer.groups[0].rows[0];
    assert_eq!(row.path.as_deref(), Some(r"C:\x\a.txt"));
    assert_eq!(
        (
            row.reads,
            row.read_bytes,
            row.read_ns,
            row.read_max_position_bytes
        ),
        (2, 1000, 10 * MS, 5000)
    );
    assert_eq!(
        (
            row.writes,
            row.write_bytes,
            row.write_ns,
            row.write_max_position_bytes
        ),
        (1, 300, 20 * MS, 900)
    );
    assert_eq!(
        (
            row.opens,
            row.open_ns,
            row.closes,
            row.cleanups,
            row.close_ns
        ),
        (3, 4 * MS, 1, 1, 3 * MS)
    );
    assert_eq!((row.set_infos, row.deletes, row.renames), (1, 1, 2));
    assert_eq!((row.others, row.other_ns, row.failures), (5, 7 * MS, 3));
    // Both kinds of operations failed with the second one.
    assert_eq!(row.failure_statuses, "0x80000006,0xc0000034");
    assert_eq!(
        (row.total_count, row.total_bytes, row.total_ns),
        (17, 1300, 37 * MS)
    );
    assert_eq!(
        (
            answer.total.read_bytes,
            answer.total.files,
            answer.total.open_close_ns
        ),
        (3000, 2, 7 * MS)
    );
}

#[test]
fn a_file_of_several_processes_is_not_counted_for_each() {
    let path = Some(r"C:\x\a.txt");
    let total = |per_process| {
        let session = Session::from_batches(vec![
            rows(&[of(path, 1, "read", 1, 1), of(path, 2, "read", 1, 1)]),
            rows(&[process(1, 4, "System"), process(2, 8, "cmd.exe")]),
            rows(&[trace()]),
        ]);
        let request = FileRequest {
            per_process,
            show_total: Some("file".into()),
            ..FileRequest::default()
        };
        let answer = request.answer(&session.unwrap()).unwrap();
        format!("{:?}", answer.parts[0].table.total())
    };
    let (all, of_each) = (total(false), total(true));
    assert!(all.contains("Number(1)), Words(\" file\")"), "{all}");
    assert!(!of_each.contains(" file"), "{of_each}");
}

#[test]
fn files_without_a_name_are_shown_on_request() {
    assert_eq!(names(&whole()), [r"C:\x\a.txt", r"C:\x\b.txt"]);
    assert_eq!(
        names(&FileRequest {
            all_files: true,
            ..whole()
        }),
        [r"C:\x\a.txt", r"C:\x\b.txt", ""]
    );
}

#[test]
fn orders_filters_and_one_operation() {
    for (sort, last) in [
        (FileSort::TotalSize, r"C:\x\b.txt"),
        (FileSort::Count, r"C:\x\a.txt"),
        (FileSort::ReadSize, r"C:\x\b.txt"),
        (FileSort::TotalTime, r"C:\x\a.txt"),
        (FileSort::Length, r"C:\x\a.txt"),
        (FileSort::OpenCloseTime, r"C:\x\a.txt"),
    ] {
        assert_eq!(names(&FileRequest { sort, ..whole() })[1], last, "{sort:?}");
    }
    let opened = ask(
        &session(),
        &FileRequest {
            operation: Some("create"),
            ..whole()
        },
    );
    let row = &opened.groups[0].rows[0];
    assert_eq!(
        (
            opened.groups[0].rows.len(),
            row.opens,
            row.reads,
            row.total_count
        ),
        (1, 3, 0, 3)
    );
    let slow = FileRequest {
        total_time: Range {
            min: 30 * MS,
            max: 30 * MS,
        },
        ..whole()
    };
    assert_eq!(names(&slow), [r"C:\x\a.txt"]);
    let many = FileRequest {
        total_count: Range {
            min: 2,
            max: i64::MAX,
        },
        ..whole()
    };
    assert_eq!(names(&many), [r"C:\x\a.txt"]);
}

#[test]
fn positions_have_a_maximum_instead_of_a_sum() {
    let answer = ask(
        &session(),
        &FileRequest {
            sort: FileSort::Length,
            ..whole()
        },
    );
    assert_eq!(answer.total.sort_value as i64, 5000);
    let answer = ask(
        &session(),
        &FileRequest {
            per_process: true,
            ..whole()
        },
    );
    let sums: Vec<_> = answer
        .groups
        .iter()
        .map(|g| (g.rows[0].pid, g.total.sort_value as i64))
        .collect();
    assert_eq!(sums, [(Some(4), 1300), (Some(8), 2000)]);
}

#[test]
fn a_range_clips_durations() {
    let io = |start: Option<i64>, end: Option<i64>| FileIo {
        kind: "read",
        start_ns: start.map(|ms| ms * MS),
        end_ns: end.map(|ms| ms * MS),
        path: Some(r"C:\a".into()),
        size_bytes: Some(10),
        result_bytes: Some(5),
        offset_bytes: Some(100),
        status: Some(-1_073_741_772),
        process_key: Some(1),
        ..FileIo::default()
    };
    // Starts before the range, ends after it, has no end, has no start, is after the range.
    let operations = [
        io(Some(0), Some(12)),
        io(Some(18), Some(30)),
        io(Some(15), None),
        io(None, Some(15)),
        io(Some(25), Some(26)),
    ];
    let session = Session::from_batches(vec![
        rows(&operations),
        rows(&[process(1, 4, "System")]),
        rows(&[trace()]),
    ])
    .unwrap();
    let request = FileRequest {
        time: Range {
            min: 10 * MS,
            max: 20 * MS,
        },
        ..whole()
    };
    let row = ask(&session, &request).groups[0].rows[0].clone();
    // The one without start counts where it ended, without duration.
    assert_eq!(
        (row.reads, row.read_bytes, row.read_ns, row.failures),
        (4, 40, 4 * MS, 4)
    );
    assert_eq!(row.read_max_position_bytes, 105);
    assert_eq!(row.failure_statuses, "0xc0000034");
}

#[test]
fn what_is_missing_is_named() {
    let request = FileRequest {
        time: Range { min: 0, max: 1 },
        ..whole()
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
        whole()
            .ask(&nothing)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("FILE_IO+FILE_IO_INIT")
    );
}

/// Operations of two processes, in microseconds: one fails, one has no start, one has no end.
fn operations() -> Session {
    let of = |kind: &'static str, process_key: i32, start: Option<i64>, end: Option<i64>| FileIo {
        kind,
        process_key: Some(process_key),
        thread_key: Some(process_key),
        start_ns: start.map(|us| us * 1000),
        end_ns: end.map(|us| us * 1000),
        duration_ns: start.zip(end).map(|(start, end)| (end - start) * 1000),
        path: Some(r"C:\x\a.txt".into()),
        status: end.map(|_| 0),
        ..FileIo::default()
    };
    let all = [
        FileIo {
            status: Some(-1_073_741_772),
            ..of("create", 1, Some(10), Some(25))
        },
        FileIo {
            offset_bytes: Some(4096),
            size_bytes: Some(512),
            result_bytes: Some(100),
            ..of("read", 2, Some(20), Some(60))
        },
        of("set_info", 1, None, Some(70)),
        of("dir_notify", 2, Some(80), None),
        FileIo {
            path: None,
            ..of("read", 2, Some(90), Some(91))
        },
    ];
    let thread = |thread_key: i32| Thread {
        thread_key,
        tid: thread_key * 100,
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&all),
        rows(&[process(1, 4, "System"), process(2, 8, "cmd.exe")]),
        rows(&[thread(1), thread(2)]),
        rows(&[trace()]),
    ])
    .unwrap()
}

#[track_caller]
fn singles(request: &FileRequest) -> Vec<String> {
    let request = FileRequest {
        single: true,
        ..request.clone()
    };
    let found = Question::ask::<FileOperation>(&request, &operations());
    let rows = found.unwrap_or_else(|error| panic!("{error}\n{}", request.operations_sql()));
    let text = |row: &FileOperation| {
        let duration = row.duration_ns.map_or(-1, |ns| ns / 1000);
        format!(
            "{} {duration} {} {} {} {}",
            row.ts_ns / 1000,
            row.operation,
            row.status_name.as_deref().unwrap_or("-"),
            row.process.as_deref().unwrap_or("-"),
            row.tid.unwrap_or_default()
        )
    };
    rows.iter().map(text).collect()
}

#[test]
fn single_operations_are_listed_by_time_or_by_duration() {
    let all = [
        "10 15 open OBJECT_NAME_NOT_FOUND System 100",
        "20 40 read SUCCESS cmd.exe 200",
        "70 -1 set-info SUCCESS System 100",
        "80 -1 dir-notify - cmd.exe 200",
    ];
    assert_eq!(singles(&FileRequest::default()), all);
    let longest = singles(&FileRequest {
        sort: FileSort::TotalTime,
        ..FileRequest::default()
    });
    assert_eq!(longest, [all[2], all[3], all[0], all[1]]);
    let unnamed = singles(&FileRequest {
        all_files: true,
        ..FileRequest::default()
    });
    assert_eq!(unnamed.len(), 5);
}

#[test]
fn single_operations_are_chosen_by_status_kind_file_and_range() {
    let failed = FileRequest {
        status: Some("failed".into()),
        ..FileRequest::default()
    };
    assert_eq!(
        singles(&failed),
        ["10 15 open OBJECT_NAME_NOT_FOUND System 100"]
    );
    let kind = FileRequest {
        operation: Some("set-info"),
        ..FileRequest::default()
    };
    assert_eq!(singles(&kind), ["70 -1 set-info SUCCESS System 100"]);
    let file = FileRequest {
        file: Some("*b.txt".into()),
        ..FileRequest::default()
    };
    assert!(singles(&file).is_empty());
    // From 22 to 65 µs: the open ends in it, the read spans most of it, the others are later.
    let range = FileRequest {
        time: Range {
            min: 22_000,
            max: 65_000,
        },
        ..FileRequest::default()
    };
    assert_eq!(
        singles(&range),
        [
            "10 15 open OBJECT_NAME_NOT_FOUND System 100",
            "20 40 read SUCCESS cmd.exe 200"
        ]
    );
}

/// A read asks for 512 bytes and gets 100.
#[test]
fn titles_say_that_bytes_are_requested_ones() {
    let everything = Range {
        min: 0,
        max: 20 * MS,
    };
    for (single, name, title, bytes) in [
        (true, "Size", "Requested size", 512_i64),
        (false, "ReadSize", "Requested read kB", 512),
        (false, "WriteSize", "Requested write kB", 0),
    ] {
        let request = FileRequest {
            single,
            operation: Some("read"),
            time: everything,
            ..whole()
        };
        let answer = request.form().answer(&request, &operations()).unwrap();
        let table = &answer.parts[0].table;
        let columns = table.columns();
        let at = columns.iter().position(|column| column.name == name);
        let at = at.unwrap_or_else(|| panic!("there is no column {name}"));
        assert_eq!(columns[at].title, Heading::Words(title.to_owned()));
        assert_eq!(table.value(0, at), Value::from(bytes), "{name}");
    }
}
