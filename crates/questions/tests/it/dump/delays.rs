//! Delays of programs from below: minifilter drivers, page faults, ALPC messages.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_question::{Error, FromRows, ProcessQuery};
use etwkit_questions::alpc::{AlpcBy, AlpcMessage, AlpcRequest, AlpcRow, AlpcSort};
use etwkit_questions::hard_fault::{
    HardFaultBy, HardFaultEvent, HardFaultRequest, HardFaultRow, HardFaultSort,
};
use etwkit_questions::mini_filter::{
    MiniFilterBy, MiniFilterCall, MiniFilterRequest, MiniFilterRow, MiniFilterSort,
};
use etwkit_questions::page_fault::{PageFaultBy, PageFaultEvent, PageFaultRequest, PageFaultRow};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::derive::derive;
use etwkit_trace::table::{
    Alpc, AlpcProcess, Frame, HardFault, HardFaultFile, Method, MiniFilter, MiniFilterDriver,
    Module, PageFault, PageFaultProcess, Row, Stack, Table, Thread,
};

use super::super::support::rows;
use super::{MS, process, trace};

type Tables = Vec<(&'static Table, Vec<RecordBatch>)>;

/// A call of the scanner (frame 0) or the backup (frame 1) that started and ended at these
/// milliseconds.
fn call(
    frame_id: i32,
    process_key: i32,
    (phase, operation): (&'static str, &'static str),
    (start, end): (i64, Option<i64>),
    path: &str,
) -> MiniFilter {
    MiniFilter {
        phase,
        frame_id,
        process_key: Some(process_key),
        thread_key: Some(process_key),
        start_ns: Some(start * MS),
        end_ns: end.map(|end| end * MS),
        duration_ns: end.map(|end| (end - start) * MS),
        operation: Some(operation),
        path: Some(path.into()),
        ..MiniFilter::default()
    }
}

fn fault(process_key: i32, kind: &'static str, ms: i64) -> PageFault {
    PageFault {
        ts_ns: ms * MS,
        kind,
        process_key: Some(process_key),
        thread_key: Some(process_key),
        address: 0x1000 * ms,
        frame_id: 2,
        stack_id: (ms > 3).then_some(0),
    }
}

fn page_read(
    process_key: i32,
    (start, end): (i64, i64),
    size_bytes: i64,
    path: Option<&str>,
) -> HardFault {
    HardFault {
        process_key: Some(process_key),
        thread_key: process_key,
        start_ns: start * MS,
        end_ns: end * MS,
        duration_ns: (end - start) * MS,
        address: 0x7000,
        offset_bytes: 512,
        size_bytes,
        path: path.map(Into::into),
        stack_id: (end - start > 5).then_some(0),
    }
}

fn message(sender: i32, receiver: i32, send: i64, wait: Option<i64>, port: Option<&str>) -> Alpc {
    Alpc {
        message_id: 5,
        send_ns: Some(send * MS),
        sender_process_key: Some(sender),
        sender_thread_key: Some(sender),
        receive_ns: Some((send + 1) * MS),
        receiver_process_key: Some(receiver),
        receiver_thread_key: Some(receiver),
        port_name: port.map(Into::into),
        delivery_ns: Some(MS),
        reply_ns: wait.map(|wait| (send + wait) * MS),
        service_ns: wait.map(|wait| (wait - 1) * MS),
        sender_wait_ns: wait.map(|wait| wait * MS),
        status: wait.map(|_| 0),
        stack_id: wait.map(|_| 0),
        ..Alpc::default()
    }
}

fn tables() -> Tables {
    let thread = |key: i32| Thread {
        thread_key: key,
        tid: key * 10,
        process_key: Some(key),
        ..Thread::default()
    };
    let module = |module_id, name: &str| Module {
        module_id,
        name: name.into(),
        ..Module::default()
    };
    let frame = |frame_id, module, method_id| Frame {
        frame_id,
        module_id: Some(module),
        method_id,
        ..Frame::default()
    };
    let failed = MiniFilter {
        status: Some(-1_073_741_790),
        stack_id: Some(0),
        ..call(0, 2, ("pre", "create"), (40, Some(41)), r"C:\b.txt")
    };
    let all = [
        rows(&[trace()]),
        rows(&[
            process(1, 100, "editor.exe"),
            process(2, 200, "spooler.exe"),
        ]),
        rows(&[thread(1), thread(2)]),
        rows(&[
            module(0, "scan.sys"),
            module(1, "backup.sys"),
            module(2, "editor.exe"),
        ]),
        rows(&[
            frame(0, 0, Some(0)),
            frame(1, 1, None),
            Frame {
                rva: Some(0x1234),
                ..frame(2, 2, None)
            },
            frame(3, 2, Some(1)),
        ]),
        rows(&[
            Method {
                method_id: 0,
                module_id: Some(0),
                name: "PreCreate".into(),
                ..Method::default()
            },
            Method {
                method_id: 1,
                module_id: Some(2),
                name: "Load".into(),
                ..Method::default()
            },
        ]),
        rows(&[Stack {
            frame_id: 3,
            ..Stack::default()
        }]),
        rows(&[
            call(0, 1, ("pre", "create"), (10, Some(30)), r"C:\a.txt"),
            call(0, 1, ("post", "create"), (30, Some(35)), r"C:\a.txt"),
            call(1, 1, ("pre", "write"), (50, Some(52)), r"C:\a.txt"),
            failed,
            call(1, 2, ("pre", "write"), (90, None), r"C:\b.txt"),
        ]),
        rows(&[
            fault(1, "demand_zero", 1),
            fault(1, "demand_zero", 2),
            fault(1, "transition", 3),
            fault(2, "hard", 4),
            fault(2, "demand_zero", 5),
        ]),
        rows(&[
            page_read(1, (10, 20), 4096, Some(r"C:\a.dll")),
            page_read(2, (30, 34), 8192, Some(r"C:\a.dll")),
            page_read(2, (50, 51), 4096, None),
        ]),
        rows(&[
            message(1, 2, 10, Some(5), Some("spool")),
            message(1, 2, 20, Some(9), Some("spool")),
            message(1, 2, 30, None, None),
            message(2, 1, 40, None, None),
        ]),
    ];
    all.into_iter().collect()
}

const SUMS: [&Table; 4] = [
    MiniFilterDriver::TABLE,
    PageFaultProcess::TABLE,
    HardFaultFile::TABLE,
    AlpcProcess::TABLE,
];

/// The rows with sums, or the sums alone as a summary has them.
fn session(is_summary: bool) -> Session {
    let mut all = tables();
    let flat: Vec<(&'static Table, RecordBatch)> = all
        .iter()
        .flat_map(|(table, batches)| batches.iter().map(move |batch| (*table, batch.clone())))
        .collect();
    let mut sums: Vec<(&'static Table, RecordBatch)> = Vec::new();
    derive(&flat, &[], &mut sums).unwrap();
    let is_wanted = |table: &Table| SUMS.iter().any(|wanted| wanted.name == table.name);
    all.extend(
        sums.into_iter()
            .filter(|(table, _)| is_wanted(table))
            .map(|(table, rows)| (table, vec![rows])),
    );
    if is_summary {
        let gone = [
            MiniFilter::TABLE,
            PageFault::TABLE,
            HardFault::TABLE,
            Alpc::TABLE,
        ];
        all.retain(|(table, _)| gone.iter().all(|gone| gone.name != table.name));
    }
    Session::from_batches(all).unwrap()
}

#[track_caller]
fn answers<Q: Question, R: FromRows>(
    asked: &Q,
    is_summary: bool,
    text: impl Fn(&R) -> String,
) -> Vec<String> {
    let rows = asked.ask::<R>(&session(is_summary));
    rows.unwrap_or_else(|error| panic!("{error}"))
        .iter()
        .map(text)
        .collect()
}

fn ms(ns: impl Into<Option<i64>>) -> String {
    ns.into()
        .map_or_else(|| "-".into(), |ns| (ns / MS).to_string())
}

fn word(word: Option<&str>) -> &str {
    word.unwrap_or("-")
}

/// Formats count, ended calls, failures, sum, longest; and the key of the row.
fn of_filter(row: &MiniFilterRow) -> String {
    let numbers = format!("{} {} {}", row.count, row.ended, row.failures);
    let of = [
        &row.module,
        &row.phase,
        &row.operation,
        &row.path,
        &row.process,
    ];
    let names: Vec<&str> = of.into_iter().flatten().map(String::as_str).collect();
    format!(
        "{numbers} {} {} {}",
        ms(row.duration_ns),
        ms(row.max_duration_ns),
        names.join(" ")
    )
}

#[test]
fn calls_of_minifilters_are_added_up_by_driver_process_operation_and_file() {
    let by = |by| MiniFilterRequest {
        by,
        ..MiniFilterRequest::default()
    };
    let drivers = ["2 1 0 2 2 backup.sys", "3 3 1 26 20 scan.sys"];
    for is_summary in [false, true] {
        assert_eq!(
            answers(&MiniFilterRequest::default(), is_summary, of_filter),
            drivers
        );
        let processes = ["2 1 1 1 1 spooler.exe", "3 3 0 27 20 editor.exe"];
        assert_eq!(
            answers(&by(MiniFilterBy::Process), is_summary, of_filter),
            processes
        );
        let operations = [
            "2 1 0 2 2 pre write",
            "1 1 0 5 5 post create",
            "2 2 1 21 20 pre create",
        ];
        assert_eq!(
            answers(&by(MiniFilterBy::Operation), is_summary, of_filter),
            operations
        );
    }
    // Single calls give the same sums.
    let all = Range {
        min: 0,
        max: 100 * MS,
    };
    let from_calls = MiniFilterRequest {
        time: all,
        ..MiniFilterRequest::default()
    };
    assert_eq!(answers(&from_calls, false, of_filter), drivers);
    let files = [r"2 1 1 1 1 C:\b.txt", r"3 3 0 27 20 C:\a.txt"];
    assert_eq!(answers(&by(MiniFilterBy::File), false, of_filter), files);
    let asked = by(MiniFilterBy::File).ask::<MiniFilterRow>(&session(true));
    assert!(matches!(asked, Err(Error::NeedsRows { .. })));
}

#[test]
fn calls_of_minifilters_are_chosen_before_they_are_added_up() {
    let none = MiniFilterRequest::default();
    let editor = ProcessQuery {
        process: Some("editor".into()),
        ..ProcessQuery::default()
    };
    for (asked, expected) in [
        (
            MiniFilterRequest {
                driver: Some("scan*".into()),
                per_process: true,
                ..none.clone()
            },
            2,
        ),
        (
            MiniFilterRequest {
                operation: Some("!create".into()),
                ..none.clone()
            },
            1,
        ),
        (
            MiniFilterRequest {
                phase: Some("post".into()),
                ..none.clone()
            },
            1,
        ),
        (
            MiniFilterRequest {
                processes: editor,
                ..none.clone()
            },
            2,
        ),
        (
            MiniFilterRequest {
                file: Some("*b.txt".into()),
                ..none.clone()
            },
            2,
        ),
        (
            MiniFilterRequest {
                duration: Range {
                    min: 2 * MS,
                    max: 5 * MS,
                },
                ..none.clone()
            },
            2,
        ),
        (
            MiniFilterRequest {
                stack: Some("Load".into()),
                ..none.clone()
            },
            1,
        ),
    ] {
        assert_eq!(
            answers(&asked, false, of_filter).len(),
            expected,
            "{asked:?}"
        );
    }
    let single = MiniFilterRequest {
        details: true,
        stacks: true,
        sort: MiniFilterSort::Time,
        driver: Some("scan.sys".into()),
        ..none
    };
    let text = |row: &MiniFilterCall| {
        let status = word(row.status_name.as_deref());
        let stack = word(row.stack.as_deref());
        format!(
            "{} {} {} {status} {stack}",
            ms(row.start_ns),
            row.tid.unwrap(),
            word(row.routine.as_deref())
        )
    };
    let calls = answers(&single, false, text);
    assert_eq!(calls[..2], ["10 10 PreCreate - -", "30 10 PreCreate - -"]);
    assert_eq!(calls[2], "40 20 PreCreate ACCESS_DENIED editor.exe!Load");
}

#[test]
fn page_faults_are_counted_by_process_and_kind() {
    let text = |row: &PageFaultRow| {
        let of = row.kind.as_deref().or(row.process.as_deref()).unwrap();
        let times = format!("{}..{}", row.first_ns / MS, row.last_ns / MS);
        format!(
            "{} {} {} {} {times} {of}",
            row.count, row.demand_zero, row.transition, row.hard
        )
    };
    let kinds = PageFaultRequest {
        by: PageFaultBy::Kind,
        ..PageFaultRequest::default()
    };
    for is_summary in [false, true] {
        let all = answers(&PageFaultRequest::default(), is_summary, text);
        assert_eq!(all, ["2 1 0 1 4..5 spooler.exe", "3 2 1 0 1..3 editor.exe"]);
        let by_kind = answers(&kinds, is_summary, text);
        assert_eq!(
            by_kind,
            [
                "1 0 0 1 4..4 hard",
                "1 0 1 0 3..3 transition",
                "3 3 0 0 1..5 demand_zero"
            ]
        );
        let zero = PageFaultRequest {
            kind: Some("demand*".into()),
            per_process: true,
            ..kinds.clone()
        };
        assert_eq!(answers(&zero, is_summary, text).len(), 2);
    }
    let early = Range {
        min: 0,
        max: 3 * MS,
    };
    let asked = PageFaultRequest {
        time: early,
        ..PageFaultRequest::default()
    };
    assert_eq!(answers(&asked, false, text), ["3 2 1 0 1..3 editor.exe"]);
    let asked = PageFaultRequest {
        function: Some("editor.exe+0x1234".into()),
        ..asked
    };
    assert_eq!(answers(&asked, false, text).len(), 1);
    let asked = PageFaultRequest {
        stack: Some("Load".into()),
        details: true,
        ..PageFaultRequest::default()
    };
    let single = |row: &PageFaultEvent| {
        format!(
            "{} {} {} {}",
            ms(row.ts_ns),
            row.kind,
            row.address,
            row.function
        )
    };
    let expected = [
        "4 hard 0x4000 editor.exe+0x1234",
        "5 demand_zero 0x5000 editor.exe+0x1234",
    ];
    assert_eq!(answers(&asked, false, single), expected);
    assert!(matches!(
        asked.ask::<PageFaultEvent>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
}

#[test]
fn reads_of_pages_are_added_up_by_file_and_process() {
    let text = |row: &HardFaultRow| {
        let of = row.path.as_deref().or(row.process.as_deref());
        let times = format!(
            "{} {} {}",
            ms(row.duration_ns),
            ms(row.max_duration_ns),
            row.mean_duration_ns
        );
        format!("{} {} {times} {}", row.count, row.size_bytes, word(of))
    };
    let processes = HardFaultRequest {
        by: HardFaultBy::Process,
        ..HardFaultRequest::default()
    };
    for is_summary in [false, true] {
        let files = answers(&HardFaultRequest::default(), is_summary, text);
        assert_eq!(
            files,
            ["1 4096 1 1 1000000 -", r"2 12288 14 10 7000000 C:\a.dll"]
        );
        let by_process = answers(&processes, is_summary, text);
        assert_eq!(
            by_process,
            [
                "2 12288 5 4 2500000 spooler.exe",
                "1 4096 10 10 10000000 editor.exe"
            ]
        );
        let named = HardFaultRequest {
            file: Some("*.dll".into()),
            ..processes.clone()
        };
        assert_eq!(answers(&named, is_summary, text).len(), 2);
    }
    let long = HardFaultRequest {
        duration: Range {
            min: 2 * MS,
            max: 5 * MS,
        },
        ..HardFaultRequest::default()
    };
    assert_eq!(
        answers(&long, false, text),
        [r"1 8192 4 4 4000000 C:\a.dll"]
    );
    let single = |row: &HardFaultEvent| {
        let stack = word(row.stack.as_deref());
        format!(
            "{} {} {} {} {stack}",
            ms(row.start_ns),
            ms(row.duration_ns),
            row.address,
            row.tid.unwrap()
        )
    };
    let asked = HardFaultRequest {
        details: true,
        stacks: true,
        sort: HardFaultSort::Size,
        ..HardFaultRequest::default()
    };
    let expected = [
        "10 10 0x7000 10 editor.exe!Load",
        "50 1 0x7000 20 -",
        "30 4 0x7000 20 -",
    ];
    assert_eq!(answers(&asked, false, single), expected);
}

#[test]
fn messages_name_who_called_which_service() {
    let text = |row: &AlpcRow| {
        let waits = format!(
            "{} {} {}",
            row.waits,
            ms(row.sender_wait_ns),
            ms(row.max_sender_wait_ns)
        );
        let times = format!("{} {}", ms(row.delivery_ns), ms(row.service_ns));
        let (from, to) = (word(row.process.as_deref()), word(row.receiver.as_deref()));
        format!(
            "{} {} {waits} {times} {from}>{to} {}",
            row.count,
            row.replies,
            word(row.port_name.as_deref())
        )
    };
    let by = |by| AlpcRequest {
        by,
        ..AlpcRequest::default()
    };
    for is_summary in [false, true] {
        assert_eq!(
            answers(&AlpcRequest::default(), is_summary, text),
            [
                "1 0 0 0 - 1 0 editor.exe>spooler.exe -",
                "1 0 0 0 - 1 0 spooler.exe>editor.exe -",
                "2 2 2 14 9 2 12 editor.exe>spooler.exe spool",
            ]
        );
        let senders = [
            "1 0 0 0 - 1 0 spooler.exe>- -",
            "3 2 2 14 9 3 12 editor.exe>- -",
        ];
        assert_eq!(answers(&by(AlpcBy::Sender), is_summary, text), senders);
        let receivers = [
            "1 0 0 0 - 1 0 ->editor.exe -",
            "3 2 2 14 9 3 12 ->spooler.exe -",
        ];
        assert_eq!(answers(&by(AlpcBy::Receiver), is_summary, text), receivers);
        let named = AlpcRequest {
            receiver: Some("spooler".into()),
            ..AlpcRequest::default()
        };
        assert_eq!(answers(&named, is_summary, text).len(), 2);
        let port = AlpcRequest {
            port: Some("spo*".into()),
            ..AlpcRequest::default()
        };
        assert_eq!(answers(&port, is_summary, text).len(), 1);
    }
    let long = AlpcRequest {
        wait: Range {
            min: 6 * MS,
            max: 20 * MS,
        },
        ..AlpcRequest::default()
    };
    assert_eq!(
        answers(&long, false, text),
        ["1 1 1 9 9 1 8 editor.exe>spooler.exe spool"]
    );
    let single = |row: &AlpcMessage| {
        let who = format!("{}>{}", row.tid.unwrap(), row.receiver_tid.unwrap());
        format!(
            "{} {} {who} {}",
            ms(row.send_ns),
            ms(row.sender_wait_ns),
            word(row.stack.as_deref())
        )
    };
    let asked = AlpcRequest {
        details: true,
        stacks: true,
        sort: AlpcSort::Time,
        ..AlpcRequest::default()
    };
    let expected = [
        "10 5 10>20 editor.exe!Load",
        "20 9 10>20 editor.exe!Load",
        "30 - 10>20 -",
        "40 - 20>10 -",
    ];
    assert_eq!(answers(&asked, false, single), expected);
}

#[test]
fn what_was_not_recorded_says_how_to_record_it() {
    let session = Session::from_batches(vec![rows(&[trace()])]).unwrap();
    let answers = [
        MiniFilterRequest::default()
            .ask::<MiniFilterRow>(&session)
            .map(|_| ()),
        PageFaultRequest::default()
            .ask::<PageFaultRow>(&session)
            .map(|_| ()),
        HardFaultRequest::default()
            .ask::<HardFaultRow>(&session)
            .map(|_| ()),
        AlpcRequest::default().ask::<AlpcRow>(&session).map(|_| ()),
    ];
    assert!(
        answers
            .iter()
            .all(|one| matches!(one, Err(Error::NotRecorded { .. }))),
        "{answers:?}"
    );
}
