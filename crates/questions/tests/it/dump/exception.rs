//! Exceptions of .NET programs, and marks.

use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::zero::{ZeroMode, ZeroTime};
use etwkit_question::{Error, ProcessQuery};
use etwkit_question::{NamedFile, Question};
use etwkit_questions::exception::filter::ExceptionFilters;
use etwkit_questions::exception::{ExceptionRequest, ExceptionSort};
use etwkit_questions::mark::{MarkRequest, MarkRow};
use etwkit_sql::Session;
use etwkit_trace::table::{Exception, Frame, Mark, Method, Module, Stack, Thread};

use super::super::support::rows;
use super::{MS, process};

/// Processes a.exe (4) and b.exe (8). Stack 0 is `app!Main`, stack 1 `app!Parse` below it.
fn session() -> Session {
    let thrown = |ts_ns, process_key, thread_key, name: &str, message: &str, stack_id| Exception {
        ts_ns,
        process_key: Some(process_key),
        thread_key: Some(thread_key),
        exception_type: name.into(),
        message: message.into(),
        hresult: Some(0x8007_0002_u32.cast_signed()),
        flags: if ts_ns == 5 * MS { 4 } else { 0 },
        stack_id,
    };
    let exceptions = [
        thrown(MS, 1, 1, "Sys.A", "same", Some(0)),
        thrown(2 * MS, 1, 1, "Sys.B", "same", Some(0)),
        thrown(3 * MS, 1, 2, "Sys.A", "same", Some(0)),
        thrown(4 * MS, 1, 1, "Sys.A", "same", Some(1)),
        thrown(5 * MS, 2, 3, "Sys.B", "first line\nsecond line", None),
    ];
    let mark = |ts_ns, text: &str| Mark {
        ts_ns,
        text: text.into(),
        ..Mark::default()
    };
    let thread = |thread_key, tid| Thread {
        thread_key,
        tid,
        ..Thread::default()
    };
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    let frame = |frame_id| Frame {
        frame_id,
        method_id: Some(frame_id),
        module_id: Some(0),
        ..Frame::default()
    };
    let module = Module {
        module_id: 0,
        name: "app".into(),
        ..Module::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&[thread(1, 44), thread(2, 48), thread(3, 52)]),
        rows(&exceptions),
        rows(&[
            mark(MS, "start"),
            mark(2 * MS, "work"),
            mark(3 * MS, "Start"),
            mark(7 * MS, "end"),
        ]),
        rows(&[method(0, "Main"), method(1, "Parse")]),
        rows(&[frame(0), frame(1)]),
        rows(&[module]),
        rows(&[
            Stack::default(),
            Stack {
                stack_id: 1,
                parent_id: Some(0),
                frame_id: 1,
                depth: 1,
            },
        ]),
    ])
    .unwrap()
}

fn by_stack() -> ExceptionRequest {
    ExceptionRequest {
        by_stack: true,
        ..ExceptionRequest::default()
    }
}

/// `pid type stack: count` of each row.
#[track_caller]
fn shown(request: &ExceptionRequest) -> Vec<String> {
    let answer = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let rows = answer.answer.iter().flat_map(|group| &group.rows);
    rows.map(|row| {
        let stack = row
            .stack_id
            .map_or_else(|| "-".to_owned(), |id| id.to_string());
        format!(
            "{} {} {stack}: {}",
            row.pid.unwrap_or(-1),
            row.exception_type,
            row.count
        )
    })
    .collect()
}

#[test]
fn equal_exceptions_have_the_same_type_message_and_stack() {
    let request = by_stack();
    assert_eq!(
        shown(&request),
        [
            "8 Sys.B -: 1",
            "4 Sys.B 0: 1",
            "4 Sys.A 1: 1",
            "4 Sys.A 0: 2"
        ]
    );
    let groups = request.ask(&session()).unwrap().answer;
    assert_eq!(
        groups.iter().map(|group| group.total).collect::<Vec<_>>(),
        [1, 4]
    );
    let last = groups[1].rows.last().unwrap();
    assert_eq!((last.first_ns, last.last_ns, last.threads), (MS, 3 * MS, 2));
    assert_eq!((&*last.times_ns, &*last.tids), ("1000000 3000000", "44 48"));
    assert_eq!(
        (groups[0].rows[0].rethrown, groups[0].rows[0].hresult),
        (1, Some(-0x7FF8_FFFE))
    );
}

/// Rules look at stacks, so that with rules equal exceptions are merged in Rust instead of SQL.
#[test]
fn stacks_distinguish_exceptions_only_on_request() {
    let none = ExceptionFilters::parse(
        "f.xml",
        b"<ExceptionFilters><Filters><ExceptionFilterItem><ExceptionType>none</ExceptionType>\
          </ExceptionFilterItem></Filters></ExceptionFilters>",
    );
    for filters in [NamedFile::default(), none.unwrap().into()] {
        for sort in [
            ExceptionSort::Count,
            ExceptionSort::Type,
            ExceptionSort::Process,
        ] {
            let request = ExceptionRequest {
                filters: filters.clone(),
                sort,
                ..ExceptionRequest::default()
            };
            let mut rows = shown(&request);
            if sort != ExceptionSort::Count {
                rows.sort();
                assert_eq!(
                    rows,
                    ["4 Sys.A -: 3", "4 Sys.B -: 1", "8 Sys.B -: 1"],
                    "{sort:?}"
                );
                continue;
            }
            assert_eq!(rows, ["8 Sys.B -: 1", "4 Sys.B -: 1", "4 Sys.A -: 3"]);
            let groups = request.ask(&session()).unwrap().answer;
            let last = groups[1].rows.last().unwrap();
            assert_eq!((last.first_ns, last.last_ns, last.threads), (MS, 4 * MS, 2));
            assert_eq!(
                (&*last.times_ns, &*last.tids),
                ("1000000 3000000 4000000", "44 48 44")
            );
            assert_eq!(last.sort_value, 3.0);
        }
    }
}

#[test]
fn orders() {
    let sorted = |sort| shown(&ExceptionRequest { sort, ..by_stack() });
    let by_type = [
        "8 Sys.B -: 1",
        "4 Sys.A 1: 1",
        "4 Sys.A 0: 2",
        "4 Sys.B 0: 1",
    ];
    assert_eq!(sorted(ExceptionSort::Type), by_type);
    let by_process = [
        "4 Sys.A 0: 2",
        "4 Sys.A 1: 1",
        "4 Sys.B 0: 1",
        "8 Sys.B -: 1",
    ];
    assert_eq!(sorted(ExceptionSort::Process), by_process);
    assert_eq!(sorted(ExceptionSort::Message)[1..], by_process[..3]);
    let top = Top {
        count: Some(1),
        skip: 0,
    };
    assert_eq!(
        shown(&ExceptionRequest { top, ..by_stack() }),
        ["8 Sys.B -: 1", "4 Sys.A 0: 2"]
    );
}

#[test]
fn filters() {
    let text = |text: &str| Some(text.to_owned());
    let all = by_stack();
    for (request, rows) in [
        (
            ExceptionRequest {
                exception_type: text("*.b"),
                ..all.clone()
            },
            2,
        ),
        // One line of a message is enough, a part of it is not.
        (
            ExceptionRequest {
                message: text("second line"),
                ..all.clone()
            },
            1,
        ),
        (
            ExceptionRequest {
                message: text("second"),
                ..all.clone()
            },
            0,
        ),
        (
            ExceptionRequest {
                stack: text("app!Parse"),
                ..all.clone()
            },
            1,
        ),
        (
            ExceptionRequest {
                stack: text("main"),
                ..all.clone()
            },
            3,
        ),
        (
            ExceptionRequest {
                stack: text("main;!*Parse"),
                ..all.clone()
            },
            2,
        ),
        (
            ExceptionRequest {
                stack: text("!*Parse"),
                ..all.clone()
            },
            3,
        ),
        (
            ExceptionRequest {
                time: Range::parse("3ms..4ms", Unit::Seconds).unwrap(),
                ..all.clone()
            },
            2,
        ),
        (
            ExceptionRequest {
                processes: ProcessQuery {
                    process: text("b"),
                    ..ProcessQuery::default()
                },
                ..all.clone()
            },
            1,
        ),
    ] {
        assert_eq!(shown(&request).len(), rows, "{request:?}");
    }
}

#[test]
fn rules_leave_exceptions_out() {
    let filters = |items: &str| {
        let file = format!("<ExceptionFilters><Filters>{items}</Filters></ExceptionFilters>");
        NamedFile::from(ExceptionFilters::parse("f.xml", file.as_bytes()).unwrap())
    };
    let item =
        |conditions: &str| format!("<ExceptionFilterItem>{conditions}</ExceptionFilterItem>");
    let without = |items: &str, sort| {
        let request = ExceptionRequest {
            filters: filters(items),
            sort,
            ..by_stack()
        };
        (
            shown(&request),
            request.ask(&session()).unwrap().left_out,
            request.list(&session()).unwrap(),
        )
    };
    let stack =
        item("<ExceptionType>Sys.A</ExceptionType><StackTracePart>app!Main</StackTracePart>");
    // Two of a.exe are left, of one type each; b.exe no longer comes after it.
    let parse = item("<StackTracePart>Parse</StackTracePart>");
    let same = item(
        "<ProcessName>a</ProcessName><ExceptionType>Sys.A</ExceptionType><Message>SAME</Message>",
    );
    for (items, rows, left_out) in [
        (&*stack, &["4 Sys.B 0: 1", "8 Sys.B -: 1"][..], 3),
        (
            &*parse,
            &["8 Sys.B -: 1", "4 Sys.B 0: 1", "4 Sys.A 0: 2"],
            1,
        ),
        (&*same, &["4 Sys.B 0: 1", "8 Sys.B -: 1"], 3),
        (
            &item("<Message>line</Message>"),
            &["4 Sys.B 0: 1", "4 Sys.A 1: 1", "4 Sys.A 0: 2"],
            1,
        ),
        (
            &item("<StackTracePart>app!</StackTracePart>"),
            &["8 Sys.B -: 1"],
            4,
        ),
        (
            &(parse.clone() + &item("<Message>line</Message>")),
            &["4 Sys.B 0: 1", "4 Sys.A 0: 2"],
            2,
        ),
        (&item("<ProcessName>x;a;b</ProcessName>"), &[], 5),
        (
            &item(""),
            &[
                "8 Sys.B -: 1",
                "4 Sys.B 0: 1",
                "4 Sys.A 1: 1",
                "4 Sys.A 0: 2",
            ],
            0,
        ),
    ] {
        let (shown, of_rows, listed) = without(items, ExceptionSort::Count);
        assert_eq!(
            (&shown[..], of_rows),
            (
                rows.iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .as_slice(),
                left_out
            )
        );
        assert_eq!(
            (listed.left_out, listed.answer.len()),
            (left_out, 5 - usize::try_from(left_out).unwrap())
        );
    }
    assert_eq!(
        without(&stack, ExceptionSort::Type).0,
        ["4 Sys.B 0: 1", "8 Sys.B -: 1"]
    );
    assert_eq!(
        without(&parse, ExceptionSort::Process).0,
        ["4 Sys.A 0: 2", "4 Sys.B 0: 1", "8 Sys.B -: 1"]
    );
}

#[test]
fn each_exception_is_listed_by_time_from_another_zero() {
    let zero = ZeroTime {
        mode: Some(ZeroMode::Marker),
        filter: Some("work".into()),
        process: None,
    };
    let time = Range::parse("-1ms..1ms", Unit::Seconds).unwrap();
    let request = ExceptionRequest {
        zero,
        time,
        ..ExceptionRequest::default()
    };
    let rows = request
        .list(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.list_sql()));
    let times: Vec<_> = rows
        .answer
        .iter()
        .map(|row| (row.ts_ns, row.tid, row.exception_type.as_str()))
        .collect();
    assert_eq!(
        times,
        [
            (-MS, Some(44), "Sys.A"),
            (0, Some(44), "Sys.B"),
            (MS, Some(48), "Sys.A")
        ]
    );
}

#[test]
fn without_exceptions_the_recording_is_named() {
    let session = Session::from_batches(vec![rows(&[process(1, 4, "a.exe")])]).unwrap();
    let error = ExceptionRequest::default().ask(&session).unwrap_err();
    assert!(
        matches!(error, Error::NotRecorded { .. }) && error.hint().unwrap().contains("0x8000"),
        "{error}"
    );
    assert!(
        MarkRequest::default()
            .ask::<MarkRow>(&session)
            .unwrap_err()
            .is_nothing()
    );
}

#[test]
fn marks_show_their_distance_to_the_first_zero_mark() {
    let asked = |request: &MarkRequest| -> Vec<(i64, i64, String)> {
        let rows = request.ask::<MarkRow>(&session());
        let rows = rows.unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
        rows.into_iter()
            .map(|row| (row.ts_ns, row.diff_to_zero_ns, row.text))
            .collect()
    };
    let all = MarkRequest::default();
    let [first, .., last] = &asked(&all)[..] else {
        panic!()
    };
    assert_eq!(
        (first, last),
        (&(MS, MS, "start".into()), &(7 * MS, 7 * MS, "end".into()))
    );
    let zero = ZeroTime {
        mode: Some(ZeroMode::Marker),
        filter: Some("work".into()),
        process: None,
    };
    let moved = MarkRequest {
        zero,
        text: Some("!work".into()),
        ..all.clone()
    };
    assert_eq!(
        asked(&moved),
        [
            (-MS, -MS, "start".into()),
            (MS, MS, "Start".into()),
            (5 * MS, 5 * MS, "end".into())
        ]
    );
    let near = MarkRequest {
        diff: Range::parse("-1ms..4ms", Unit::Seconds).unwrap(),
        ..moved
    };
    assert_eq!(asked(&near).len(), 2);
    let top = Top {
        count: Some(1),
        skip: 1,
    };
    assert_eq!(asked(&MarkRequest { top, ..all })[0].2, "Start");
}
