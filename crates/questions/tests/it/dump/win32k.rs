//! Events of the window manager: global lock, objects, delays, focus.

use etwkit_question::Question;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{Error, ProcessQuery};
use etwkit_questions::focus::{FocusRequest, FocusRow, FocusSort, FocusStay};
use etwkit_questions::gdi_user::{
    GdiUserBy, GdiUserObjectRow, GdiUserRequest, GdiUserRow, GdiUserSort,
};
use etwkit_questions::ui_delay::{UiDelayEvent, UiDelayRequest, UiDelayRow, UiDelaySort};
use etwkit_questions::user_lock::{UserLockEvent, UserLockRequest, UserLockRow, UserLockSort};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::derive::derive;
use etwkit_trace::table::{
    FocusChange, Frame, GdiUserObject, GdiUserType, Method, Row, Stack, Table, Thread, UiDelay,
    UserLock, UserLockProcess,
};

use super::super::support::rows;
use super::{MS, S, process, trace};

type Tables = Vec<(&'static Table, Vec<RecordBatch>)>;

fn lock(
    process_key: i32,
    mode: &'static str,
    acquire: i64,
    wait: i64,
    hold: Option<i64>,
) -> UserLock {
    UserLock {
        process_key: Some(process_key),
        thread_key: Some(process_key),
        mode: Some(mode),
        acquire_ns: Some(acquire * MS),
        release_ns: hold.map(|hold| (acquire + hold) * MS),
        wait_ns: Some(wait * MS),
        hold_ns: hold.map(|hold| hold * MS),
        stack_id: (wait > 50).then_some(0),
        ..UserLock::default()
    }
}

fn object(
    process_key: i32,
    class: &'static str,
    kind: (i32, &'static str),
    create: i64,
    end: i64,
) -> GdiUserObject {
    GdiUserObject {
        process_key: Some(process_key),
        class,
        type_id: kind.0,
        type_name: Some(kind.1).filter(|name| !name.is_empty()),
        handle: 0x100 + create,
        session_id: 1,
        origin: "create",
        outcome: if end > 0 { "destroyed" } else { "open" },
        create_ns: Some(create * MS),
        destroy_ns: (end > 0).then_some(end * MS),
        lifetime_ns: (end > 0).then_some((end - create) * MS),
        create_process_key: Some(1),
        create_thread_key: Some(1),
        destroy_process_key: (end > 0).then_some(process_key),
        destroy_thread_key: (end > 0).then_some(process_key),
        create_stack_id: (class == "user").then_some(0),
        ..GdiUserObject::default()
    }
}

fn delay(process_key: i32, kind: &'static str, start: i64, end: i64, class: &str) -> UiDelay {
    UiDelay {
        ts_ns: end * MS,
        start_ns: start * MS,
        process_key: Some(process_key),
        thread_key: Some(process_key),
        kind,
        duration_ns: (end - start) * MS,
        class_name: Some(class.into()),
        stack_id: Some(0),
        ..UiDelay::default()
    }
}

fn focus(
    level: &'static str,
    process_key: i32,
    ts: Option<i64>,
    end: Option<i64>,
    duration: Option<i64>,
) -> FocusChange {
    FocusChange {
        ts_ns: ts.map(|ts| ts * S),
        end_ns: end.map(|end| end * S),
        duration_ns: duration.map(|duration| duration * S),
        level,
        session_id: Some(1),
        process_key: Some(process_key),
        thread_key: (level == "thread").then_some(process_key),
    }
}

/// The rows of the examples of docs/numbers/windows.md.
fn tables() -> Tables {
    let thread = |key: i32| Thread {
        thread_key: key,
        tid: key * 10,
        process_key: Some(key),
        ..Thread::default()
    };
    let released = UserLock {
        mode: None,
        acquire_ns: None,
        wait_ns: None,
        hold_ns: None,
        ..lock(2, "shared", 3, 0, Some(2))
    };
    let slow = UserLock {
        is_slow: true,
        ..lock(2, "exclusive", 900, 864, None)
    };
    let unknown = GdiUserObject {
        process_key: None,
        type_name: None,
        ..object(1, "gdi", (99, ""), 8, 0)
    };
    let before = GdiUserObject {
        create_ns: None,
        lifetime_ns: None,
        create_process_key: None,
        ..object(1, "user", (2, "Menu"), 1, 9)
    };
    let gone = GdiUserObject {
        outcome: "process_end",
        ..object(2, "user", (1, "Window"), 5, 0)
    };
    let reads = [
        rows(&[trace()]),
        rows(&[
            process(1, 100, "editor.exe"),
            process(2, 200, "conhost.exe"),
        ]),
        rows(&[thread(1), thread(2)]),
        rows(&[Frame {
            frame_id: 0,
            method_id: Some(0),
            ..Frame::default()
        }]),
        rows(&[Method {
            method_id: 0,
            name: "button1_Click".into(),
            ..Method::default()
        }]),
        rows(&[Stack::default()]),
        rows(&[
            released,
            lock(1, "exclusive", 10, 4, Some(20)),
            lock(1, "shared", 50, 1, Some(5)),
            lock(2, "exclusive", 60, 100, Some(3)),
            slow,
        ]),
        rows(&[
            object(1, "gdi", (5, "Bitmap"), 1, 4),
            before,
            object(1, "user", (1, "Window"), 2, 0),
            object(1, "user", (1, "Window"), 3, 0),
            object(1, "gdi", (5, "Bitmap"), 4, 10),
            object(2, "user", (1, "Window"), 6, 0),
            gone,
            unknown,
        ]),
        rows(&[
            delay(1, "input", 100, 400, "Edit"),
            delay(1, "input", 300, 600, "Edit"),
            delay(1, "message", 100, 400, "Edit"),
            delay(2, "wait_cursor", 0, 1000, ""),
        ]),
        // Ten seconds: it was at process 1 until second 2, then at 2 until 5, nowhere until 6, and
        // at 1 to the end.
        rows(&[
            focus("thread", 1, None, Some(2), Some(2)),
            focus("thread", 2, Some(2), Some(5), Some(3)),
            focus("thread", 1, Some(6), None, Some(4)),
            focus("process", 2, None, None, Some(10)),
        ]),
    ];
    reads.into_iter().collect()
}

/// The rows with sums, or the sums alone as a summary has them.
fn session(is_summary: bool) -> Session {
    let mut all = tables();
    let flat: Vec<(&'static Table, RecordBatch)> = all
        .iter()
        .flat_map(|(table, batches)| batches.iter().map(move |batch| (*table, batch.clone())))
        .collect();
    let mut sums: Vec<(&'static Table, RecordBatch)> = Vec::new();
    derive(&flat, &[], &mut sums).unwrap();
    let wanted = [UserLockProcess::TABLE.name, GdiUserType::TABLE.name];
    all.extend(
        sums.into_iter()
            .filter(|(table, _)| wanted.contains(&table.name))
            .map(|(table, rows)| (table, vec![rows])),
    );
    if is_summary {
        all.retain(|(table, _)| {
            ![UserLock::TABLE.name, GdiUserObject::TABLE.name].contains(&table.name)
        });
    }
    Session::from_batches(all).unwrap()
}

#[track_caller]
fn locks(request: &UserLockRequest, is_summary: bool) -> Vec<String> {
    let answer = request.ask(&session(is_summary));
    let answer = answer.unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let ms = |ns: Option<i64>| ns.map_or_else(|| "-".into(), |ns| (ns / MS).to_string());
    let row = |row: &UserLockRow| {
        let waits = format!("{} {}", row.wait_ns / MS, ms(row.max_wait_ns));
        let holds = format!(
            "{} {} {}",
            row.released,
            row.hold_ns / MS,
            ms(row.max_hold_ns)
        );
        let counts = format!(
            "{}={}+{} slow {}",
            row.acquisitions, row.exclusive, row.shared, row.slow
        );
        format!(
            "{} {counts} wait {waits} hold {holds} only {}",
            row.pid.unwrap(),
            row.only_released
        )
    };
    answer.iter().map(row).collect()
}

#[test]
fn waits_and_holds_of_processes_are_added_up() {
    let all = [
        "100 2=1+1 slow 0 wait 5 4 hold 2 25 20 only 0",
        "200 2=2+0 slow 1 wait 964 864 hold 1 3 3 only 1",
    ];
    assert_eq!(locks(&UserLockRequest::default(), false), all);
    assert_eq!(locks(&UserLockRequest::default(), true), all);
    // Single rows give the same sums.
    let by_thread = UserLockRequest {
        by_thread: true,
        ..UserLockRequest::default()
    };
    assert_eq!(locks(&by_thread, false), all);
    let by = |sort| {
        locks(
            &UserLockRequest {
                sort,
                ..UserLockRequest::default()
            },
            true,
        )
    };
    assert_eq!(by(UserLockSort::Hold), [all[1], all[0]]);
    assert_eq!(by(UserLockSort::MaxHold), [all[1], all[0]]);
    assert_eq!(by(UserLockSort::MaxWait), all);
}

#[test]
fn acquisitions_are_chosen_before_they_are_added_up() {
    let exclusive = UserLockRequest {
        mode: Some("exclusive".into()),
        ..UserLockRequest::default()
    };
    let rows = [
        "100 1=1+0 slow 0 wait 4 4 hold 1 20 20 only 0",
        "200 2=2+0 slow 1 wait 964 864 hold 1 3 3 only 0",
    ];
    assert_eq!(locks(&exclusive, true), rows);
    let long = UserLockRequest {
        wait: Range {
            min: 4 * MS,
            max: 100 * MS,
        },
        ..UserLockRequest::default()
    };
    let rows = [
        "100 1=1+0 slow 0 wait 4 4 hold 1 20 20 only 0",
        "200 1=1+0 slow 0 wait 100 100 hold 1 3 3 only 0",
    ];
    assert_eq!(locks(&long, false), rows);
    // A lock that was never released has no hold, which is not a hold of 0.
    let short = UserLockRequest {
        hold: Range {
            min: 0,
            max: 5 * MS,
        },
        ..UserLockRequest::default()
    };
    let rows = [
        "100 1=0+1 slow 0 wait 1 1 hold 1 5 5 only 0",
        "200 1=1+0 slow 0 wait 100 100 hold 1 3 3 only 0",
    ];
    assert_eq!(locks(&short, false), rows);
    let early = UserLockRequest {
        time: Range {
            min: 5 * MS,
            max: 50 * MS,
        },
        ..UserLockRequest::default()
    };
    assert_eq!(locks(&early, false).len(), 2);
    let clicked = UserLockRequest {
        stack: Some("button1_*".into()),
        ..UserLockRequest::default()
    };
    assert_eq!(
        locks(&clicked, false),
        ["200 2=2+0 slow 1 wait 964 864 hold 1 3 3 only 0"]
    );
    assert!(matches!(
        long.ask::<UserLockRow>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
}

#[test]
fn single_acquisitions_have_their_stacks() {
    let request = UserLockRequest {
        details: true,
        stacks: true,
        sort: UserLockSort::Time,
        ..UserLockRequest::default()
    };
    let rows = request.ask::<UserLockEvent>(&session(false)).unwrap();
    let times: Vec<_> = rows
        .iter()
        .map(|row| (row.acquire_ns.map(|ns| ns / MS), row.tid))
        .collect();
    assert_eq!(
        times,
        [
            (None, Some(20)),
            (Some(10), Some(10)),
            (Some(50), Some(10)),
            (Some(60), Some(20)),
            (Some(900), Some(20))
        ]
    );
    assert!(rows[4].is_slow && rows[4].stack.as_deref().unwrap().contains("button1_Click"));
    assert_eq!(
        (rows[0].mode.as_deref(), rows[0].stack.as_deref()),
        (None, None)
    );
    assert!(matches!(
        request.ask::<UserLockEvent>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
}

#[track_caller]
fn objects(request: &GdiUserRequest, is_summary: bool) -> Vec<String> {
    let answer = request.ask(&session(is_summary));
    let answer = answer.unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".into());
    let row = |row: &GdiUserRow| {
        let pid = row.pid.map_or_else(|| "-".into(), |pid| pid.to_string());
        let counts = format!(
            "{} {} {} {}",
            row.created, row.destroyed, row.destroyed_preexisting, row.outstanding
        );
        format!(
            "{pid} {} {} {counts} {}",
            word(&row.class),
            word(&row.type_name),
            row.lifetime_ns / MS
        )
    };
    answer.iter().map(row).collect()
}

#[test]
fn outstanding_objects_were_created_and_not_destroyed() {
    // Created, destroyed, destroyed though created before the trace, outstanding, lifetimes.
    let all = [
        "100 user Menu 0 0 1 0 0",
        "100 gdi Bitmap 2 2 0 0 9",
        "- gdi 99 1 0 0 1 0",
        "200 user Window 2 0 0 1 0",
        "100 user Window 2 0 0 2 0",
    ];
    let request = GdiUserRequest::default();
    let mut rows_of_sums = objects(&request, false);
    assert_eq!(rows_of_sums, objects(&request, true));
    assert_eq!(rows_of_sums.last().map(String::as_str), Some(all[4]));
    rows_of_sums.sort();
    let mut sorted = all.map(str::to_owned);
    sorted.sort();
    assert_eq!(rows_of_sums, sorted);
    let leaked = GdiUserRequest {
        leaked: true,
        class: Some("user".into()),
        ..request.clone()
    };
    assert_eq!(objects(&leaked, true), [all[3], all[4]]);
    let by = |by| {
        objects(
            &GdiUserRequest {
                by,
                leaked: true,
                ..GdiUserRequest::default()
            },
            true,
        )
    };
    assert_eq!(
        by(GdiUserBy::Process),
        ["- - - 1 0 0 1 0", "200 - - 2 0 0 1 0", "100 - - 4 2 1 2 9"]
    );
    assert_eq!(
        by(GdiUserBy::Type),
        ["- gdi 99 1 0 0 1 0", "- user Window 4 0 0 3 0"]
    );
    let names = GdiUserRequest {
        type_name: Some("99;Menu".into()),
        ..GdiUserRequest::default()
    };
    assert_eq!(objects(&names, true).len(), 2);
}

#[test]
fn stacks_that_created_what_is_left() {
    let request = GdiUserRequest {
        by: GdiUserBy::Stack,
        stacks: true,
        leaked: true,
        class: Some("user".into()),
        ..GdiUserRequest::default()
    };
    let rows = request.ask::<GdiUserRow>(&session(false));
    let rows = rows.unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let last = rows.last().unwrap();
    assert_eq!(
        (last.pid, last.outstanding, last.stack_id),
        (Some(100), 2, Some(0))
    );
    assert!(last.stack.as_deref().unwrap().contains("button1_Click"));
    let filtered = GdiUserRequest {
        create_stack: Some("button1_Click".into()),
        ..GdiUserRequest::default()
    };
    assert_eq!(
        objects(&filtered, false),
        [
            "100 user Menu 0 0 1 0 0",
            "200 user Window 2 0 0 1 0",
            "100 user Window 2 0 0 2 0"
        ]
    );
    assert!(matches!(
        request.ask::<GdiUserRow>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
}

#[test]
fn single_objects_and_their_lifetimes() {
    let handles = |request: &GdiUserRequest| -> Vec<String> {
        let request = GdiUserRequest {
            details: true,
            ..request.clone()
        };
        let rows = request.ask::<GdiUserObjectRow>(&session(false));
        let rows = rows.unwrap_or_else(|error| panic!("{error}\n{}", request.objects_sql()));
        rows.into_iter().map(|row| row.handle).collect()
    };
    let long = Range {
        min: 5 * MS,
        max: 9 * MS,
    };
    assert_eq!(
        handles(&GdiUserRequest {
            lifetime: long,
            ..GdiUserRequest::default()
        }),
        ["0x104"]
    );
    let by_lifetime = GdiUserRequest {
        sort: GdiUserSort::Lifetime,
        class: Some("gdi".into()),
        ..GdiUserRequest::default()
    };
    // The last ones are shown first: objects without a lifetime are first here.
    assert_eq!(handles(&by_lifetime), ["0x108", "0x101", "0x104"]);
    assert_eq!(
        handles(&GdiUserRequest {
            handle: Some("0x104".into()),
            ..GdiUserRequest::default()
        }),
        ["0x104"]
    );
    let leaked = GdiUserRequest {
        leaked: true,
        ..GdiUserRequest::default()
    };
    assert_eq!(handles(&leaked), ["0x102", "0x103", "0x106", "0x108"]);
    let time = Range {
        min: 2 * MS,
        max: 3 * MS,
    };
    assert_eq!(
        handles(&GdiUserRequest {
            time,
            ..GdiUserRequest::default()
        }),
        ["0x102", "0x103"]
    );
    let rows = GdiUserRequest {
        details: true,
        stacks: true,
        ..leaked
    };
    let rows = rows.ask::<GdiUserObjectRow>(&session(false)).unwrap();
    assert_eq!(
        (
            rows[2].pid,
            rows[2].create_process.as_deref(),
            rows[2].create_tid
        ),
        (Some(200), Some("editor.exe"), Some(10))
    );
    assert!(rows[2].create_stack.is_some() && rows[2].destroy_stack.is_none());
}

#[track_caller]
fn delays(request: &UiDelayRequest) -> Vec<String> {
    let answer = request
        .ask(&session(true))
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let row = |row: &UiDelayRow| {
        let times = format!(
            "{} {} {}",
            row.union_ns / MS,
            row.duration_ns / MS,
            row.max_duration_ns / MS
        );
        format!("{} {} {} {times}", row.pid.unwrap(), row.kind, row.count)
    };
    answer.iter().map(row).collect()
}

#[test]
fn delays_at_the_same_time_count_once() {
    let (input, message, cursor) = (
        "100 input 2 500 600 300",
        "100 message 1 300 300 300",
        "200 wait_cursor 1 1000 1000 1000",
    );
    assert_eq!(delays(&UiDelayRequest::default()), [message, input, cursor]);
    let by_count = UiDelayRequest {
        sort: UiDelaySort::Count,
        ..UiDelayRequest::default()
    };
    assert_eq!(delays(&by_count).last().map(String::as_str), Some(input));
    let kind = UiDelayRequest {
        kind: Some("message".into()),
        ..UiDelayRequest::default()
    };
    assert_eq!(delays(&kind), [message]);
    let class = UiDelayRequest {
        class: Some("ed*".into()),
        ..UiDelayRequest::default()
    };
    assert_eq!(delays(&class), [message, input]);
    let late = UiDelayRequest {
        time: Range {
            min: 450 * MS,
            max: 500 * MS,
        },
        ..UiDelayRequest::default()
    };
    assert_eq!(delays(&late), ["100 input 1 300 300 300", cursor]);
    let long = UiDelayRequest {
        duration: Range {
            min: 301 * MS,
            max: i64::MAX,
        },
        ..UiDelayRequest::default()
    };
    assert_eq!(delays(&long), [cursor]);
    let rows = UiDelayRequest {
        details: true,
        stacks: true,
        sort: UiDelaySort::Time,
        ..UiDelayRequest::default()
    };
    let rows = rows.ask::<UiDelayEvent>(&session(true)).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.start_ns / MS).collect::<Vec<_>>(),
        [0, 100, 100, 300]
    );
    assert!(rows[1].stack.is_some() && rows[1].tid == Some(10));
}

#[test]
fn the_focus_is_added_up_by_threads_where_they_were_recorded() {
    let sums = |request: &FocusRequest| -> Vec<String> {
        let rows = request
            .ask(&session(true))
            .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
        let row = |row: &FocusRow| {
            let ends = format!("{}..{}", row.first_ns / S, row.last_ns / S);
            format!(
                "{} {} {} {} {ends}",
                row.pid.unwrap(),
                row.count,
                row.duration_ns / S,
                row.max_duration_ns.unwrap() / S
            )
        };
        rows.iter().map(row).collect()
    };
    let all = ["200 1 3 3 2..5", "100 2 6 4 0..10"];
    assert_eq!(sums(&FocusRequest::default()), all);
    assert_eq!(
        sums(&FocusRequest {
            by_thread: true,
            ..FocusRequest::default()
        }),
        all
    );
    assert_eq!(
        sums(&FocusRequest {
            sort: FocusSort::Time,
            ..FocusRequest::default()
        }),
        [all[1], all[0]]
    );
    let time = Range {
        min: 5 * S + 1,
        max: 6 * S,
    };
    assert_eq!(
        sums(&FocusRequest {
            time,
            ..FocusRequest::default()
        }),
        ["100 1 4 4 6..10"]
    );
    let processes = ProcessQuery {
        process: Some("conhost".into()),
        ..ProcessQuery::default()
    };
    assert_eq!(
        sums(&FocusRequest {
            processes,
            ..FocusRequest::default()
        }),
        [all[0]]
    );
    let top = Top {
        count: Some(1),
        skip: 0,
    };
    let stays = FocusRequest {
        details: true,
        sort: FocusSort::Time,
        top,
        ..FocusRequest::default()
    };
    let stays = stays.ask::<FocusStay>(&session(true)).unwrap();
    let [stay] = &stays[..] else {
        panic!("{stays:?}")
    };
    assert_eq!(
        (stay.ts_ns, stay.end_ns, stay.duration_ns),
        (Some(6 * S), None, Some(4 * S))
    );
    assert_eq!(
        (stay.pid, stay.tid, stay.session_id, &*stay.level),
        (Some(100), Some(10), Some(1), "thread")
    );
}

#[test]
fn what_was_not_recorded_is_named() {
    let nothing = Session::from_batches(vec![]).unwrap();
    let errors = [
        (
            UserLockRequest::default()
                .ask::<UserLockRow>(&nothing)
                .unwrap_err(),
            "0x10000000",
        ),
        (
            GdiUserRequest::default()
                .ask::<GdiUserRow>(&nothing)
                .unwrap_err(),
            "0x30000000000",
        ),
        (
            UiDelayRequest::default()
                .ask::<UiDelayRow>(&nothing)
                .unwrap_err(),
            "0x42000",
        ),
        (
            FocusRequest::default()
                .ask::<FocusRow>(&nothing)
                .unwrap_err(),
            "0x2000",
        ),
    ];
    for (error, keyword) in errors {
        let hint = error.hint().unwrap();
        assert!(
            error.is_nothing()
                && hint.contains("Microsoft-Windows-Win32k")
                && hint.contains(keyword),
            "{error}"
        );
    }
}
