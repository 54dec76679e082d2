//! Several files as one session: start and end do not depend on the order of the files.

use std::ops::ControlFlow;

use etwkit_etl::Session;
use etwkit_etl::source::ByteSource;
use etwkit_etl::writer::{KernelEvent, SessionOptions, TraceWriter};
use etwkit_testkit::traces;
use etwkit_trace::import::{Options, import};
use etwkit_trace::summary::Summary;
use etwkit_trace::table::Trace;
use serde_json::{Value, json};

use crate::counters::Batches;

const MS: i64 = 10_000;
const START: i64 = 133_000_000_000_000_000;

/// A file with a start in milliseconds after the first one and a length, or not closed; with one
/// event at its start and another one later.
fn file(start_ms: i64, length_ms: Option<i64>, event_ms: i64) -> Vec<u8> {
    let mut options = SessionOptions {
        t0: 7777 + start_ms * MS,
        ..SessionOptions::default()
    };
    options.header.start_time = START + start_ms * MS;
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    for ms in [start_ms, event_ms] {
        let event = KernelEvent {
            timestamp: 7777 + ms * MS,
            group: 99,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    match length_ms {
        Some(length) => writer
            .finish(options.header.start_time + length * MS)
            .unwrap()
            .into_inner(),
        None => {
            writer.flush(0).unwrap();
            writer.abandon().into_inner()
        }
    }
}

fn session(files: &[&Vec<u8>]) -> Session {
    let source = |file: &&Vec<u8>| -> Box<dyn ByteSource> { Box::new((*file).clone()) };
    Session::open(files.iter().map(source).collect()).unwrap()
}

fn row(session: &Session) -> Trace {
    let mut sink = Batches::new();
    import(session, &Options::default(), &mut sink, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
    .trace
}

fn header(session: &Session, keys: [&str; 5]) -> Value {
    let header = Summary::read(session).unwrap().sections["header"].clone();
    Value::Array(keys.iter().map(|key| header[*key].clone()).collect())
}

/// The example of `docs/numbers/sessions.md`.
#[test]
fn a_session_of_several_files_lasts_from_the_first_start_to_the_last_end() {
    let (a, b, c) = (
        file(0, Some(1000), 500),
        file(200, Some(900), 300),
        file(400, Some(100), 450),
    );
    let orders = [
        [&a, &b, &c],
        [&a, &c, &b],
        [&b, &a, &c],
        [&b, &c, &a],
        [&c, &a, &b],
        [&c, &b, &a],
    ];
    for order in orders {
        let session = session(&order);
        let trace = row(&session);
        assert_eq!(
            (trace.start_filetime, trace.duration_ns),
            (START, 1_100_000_000)
        );
        assert_eq!(trace.start_utc, "2022-06-18T04:26:40.0000000Z");
        let keys = [
            "start_utc",
            "duration_s",
            "session_duration_s",
            "session_end_utc",
            "last_event_s",
        ];
        assert_eq!(
            header(&session, keys),
            json!([
                "2022-06-18T04:26:40.0000000Z",
                1.0,
                1.1,
                "2022-06-18T04:26:41.1000000Z",
                0.5
            ])
        );
    }
}

#[test]
fn a_file_that_was_not_closed_ends_with_its_last_event_or_behind_it() {
    let (closed, open) = (file(0, Some(1000), 500), file(200, None, 1500));
    for order in [[&closed, &open], [&open, &closed]] {
        let session = session(&order);
        assert_eq!(row(&session).duration_ns, 1_500_000_000);
        assert_eq!(
            header(&session, ["session_end_utc"; 5]),
            json!([null, null, null, null, null])
        );
    }
    let early = file(200, None, 300);
    assert_eq!(row(&session(&[&early, &closed])).duration_ns, 1_000_000_000);
}

/// The four files of one diagnosis of Visual Studio; the file of the injected events starts 1.537 s
/// late.
#[test]
fn the_files_of_a_diagnosis_are_one_session_in_any_order() {
    let Some(folder) = traces() else { return };
    let names = [
        "diaghub",
        "diaghub.kernel.1",
        "diaghub.user_injected.1",
        "diaghub.user_paged.1",
    ];
    let files =
        names.map(|name| std::fs::read(folder.join(format!("diaghub/{name}.etl"))).unwrap());
    let [all, kernel, injected, paged] = &files;
    for order in [
        [all, kernel, injected, paged],
        [injected, paged, kernel, all],
        [paged, all, injected, kernel],
    ] {
        let trace = row(&session(&order));
        assert_eq!(trace.start_utc, "2020-09-14T22:49:57.2118091Z");
        // Its header event is 1.5374353 s after the earliest by the counter, and the file is
        // 12.175038 s long.
        assert_eq!(trace.duration_ns, 13_712_473_300);
    }
}
