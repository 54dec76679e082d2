//! Typed reports: the events that a filter accepts, the files that belong together, and the
//! serialized form.

use std::ops::ControlFlow;

use etwkit_etl::source::ByteSource;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelContext, KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_etl::{Guid, Session};
use etwkit_trace::import::Range;
use etwkit_trace::report::counts::{CountReport, Counting};
use etwkit_trace::report::events::{EventFilter, EventRow, Events, NameFilter, ProviderFilter};
use etwkit_trace::report::info::{Info, Misfit};
use serde_json::{Value, json};

const START: i64 = 133_000_000_000_000_000;
const SECOND: i64 = 10_000_000;

/// Values of 4 or 8 bytes, concatenated.
macro_rules! bytes {
    ($($value:expr),* $(,)?) => { [$(&$value.to_le_bytes()[..]),*].concat() };
}

/// Threads 4 (of process 8) and 5 (of process 9) take turns on a processor, with one system call in
/// between.
fn trace() -> Session {
    let mut writer =
        TraceWriter::new(std::io::Cursor::new(Vec::new()), &SessionOptions::default()).unwrap();
    let mut event = |timestamp: i64, (group, opcode, version): (u8, u8, u8), payload: &[u8]| {
        let context = KernelContext::None;
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    };
    event(10, (5, 3, 3), &bytes!(8u32, 4u32));
    event(10, (5, 3, 3), &bytes!(9u32, 5u32));
    let switch = |new: u32, old: u32| {
        [
            bytes!(new, old),
            vec![8, 8, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat()
    };
    event(100, (5, 36, 2), &switch(4, 5));
    event(150, (15, 51, 2), &bytes!(0x1234u64));
    event(200, (5, 36, 2), &switch(5, 4));
    event(300, (5, 36, 2), &switch(4, 5));
    Session::open(vec![Box::new(writer.finish(START).unwrap().into_inner())]).unwrap()
}

/// Expects the texts in a list of words.
fn one_of(words: &'static str) -> NameFilter<'static> {
    Box::new(move |texts| {
        texts
            .iter()
            .any(|text| words.split(' ').any(|word| word == *text))
    })
}

fn listed(session: &Session, filter: &EventFilter<'_>) -> Vec<EventRow> {
    let mut rows = Vec::new();
    let events = Events::open(session, std::sync::Arc::default()).unwrap();
    let listed = events
        .list(filter, |row| {
            rows.push(row.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(listed.events, rows.len() as u64);
    rows
}

fn counted(session: &Session, filter: &EventFilter<'_>, unordered: bool) -> CountReport {
    let counting = Counting {
        unordered,
        names: true,
        ..Counting::default()
    };
    CountReport::read(session, &counting, filter).unwrap()
}

/// All filters, each with the times of the events that it accepts, in units of 100 ns.
#[test]
fn what_is_counted_is_what_is_listed() {
    let name = |words| EventFilter {
        name: Some(one_of(words)),
        ..EventFilter::default()
    };
    let range = |from: i64, to: i64| Range {
        start_ns: from * 100,
        end_ns: to * 100,
    };
    let provider = |text| EventFilter {
        provider: Some(ProviderFilter::new(text, one_of(text))),
        ..EventFilter::default()
    };
    let switches = &[100, 200, 300][..];
    let cases: Vec<(&str, EventFilter<'_>, &[i64])> = vec![
        ("the whole name", name("Thread/CSwitch"), switches),
        ("what is behind the slash", name("CSwitch"), switches),
        ("what is before it", name("Thread"), &[]),
        (
            "several",
            name("CSwitch PerfInfo/SysClEnter"),
            &[100, 150, 200, 300],
        ),
        ("a provider", provider("Thread"), &[10, 10, 100, 200, 300]),
        (
            "its GUID",
            provider("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"),
            &[10, 10, 100, 200, 300],
        ),
        (
            "a range",
            EventFilter {
                range: range(150, 200),
                ..EventFilter::default()
            },
            &[150, 200],
        ),
        (
            "both",
            EventFilter {
                range: range(150, 200),
                ..name("CSwitch")
            },
            &[200],
        ),
        (
            "the first two",
            EventFilter {
                limit: Some(2),
                ..name("CSwitch")
            },
            &[100, 200],
        ),
        (
            "none",
            EventFilter {
                limit: Some(0),
                ..EventFilter::default()
            },
            &[],
        ),
        (
            "a process",
            EventFilter {
                process: Some(one_of("8")),
                ..name("SysClEnter")
            },
            &[150],
        ),
        (
            "another one",
            EventFilter {
                process: Some(one_of("9")),
                ..name("SysClEnter")
            },
            &[],
        ),
    ];
    let session = trace();
    for (what, filter, times) in cases {
        let rows = listed(&session, &filter);
        assert_eq!(
            rows.iter().map(|row| row.ts_ns / 100).collect::<Vec<_>>(),
            times,
            "{what}"
        );
        let count = counted(&session, &filter, false).counts;
        assert_eq!(count.total, times.len() as u64, "{what}");
        let of_kinds: u64 = count.kernel.iter().map(|kind| kind.events).sum();
        assert_eq!(of_kinds, count.total, "{what}");
        let has_order = filter.limit.is_some() || filter.process.is_some();
        if !has_order {
            assert_eq!(
                json!(counted(&session, &filter, true).counts),
                json!(count),
                "{what}"
            );
        }
    }
}

#[test]
fn a_count_has_names_for_people_and_keys_for_machines() {
    let session = trace();
    let all = counted(&session, &EventFilter::default(), false);
    assert_eq!(all.counts.total, 7);
    let few = EventFilter {
        name: Some(one_of("CSwitch")),
        ..EventFilter::default()
    };
    let few = counted(&session, &few, false);
    for counts in [&all.counts, &few.counts] {
        let switches = counts.kernel.iter().find(|kind| kind.opcode == 36).unwrap();
        assert_eq!(
            (switches.name.as_str(), switches.events),
            ("Thread/CSwitch", 3)
        );
    }
    assert_eq!(
        json!(few),
        json!({
            "counts": {
                "total": 3,
                "by_header": {"perfinfo64": 3},
                "by_cpu": {"0": 3},
                "kernel": {"5/36/2": 3},
                "provider": {},
            },
            "damage": {"counts": {}, "first_places": []},
        })
    );
}

#[test]
fn a_row_serialises_to_what_machines_get() {
    let session = trace();
    let filter = EventFilter {
        name: Some(one_of("CSwitch")),
        limit: Some(1),
        ..EventFilter::default()
    };
    let row = json!(listed(&session, &filter)[0]);
    let keys: Vec<&str> = row
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys.join(" "),
        "ts_ns cpu pid process tid provider event id version opcode level keyword provider_guid source \
         complete message fields counters pebs_index"
    );
    assert_eq!(
        (&row["event"], &row["keyword"], &row["ts_ns"]),
        (&json!("Thread/CSwitch"), &Value::Null, &json!(10_000))
    );
}

/// Events of HTTP.sys, which the trace does not describe: a known event, one that no table has, and
/// one of an unknown provider.
fn undescribed() -> Session {
    const HTTP: Guid = Guid::literal("dd5ef90a-6398-47a4-ad34-4dcecdef795f");
    const NOBODY: Guid = Guid::literal("00000000-0000-0000-0000-0000000000aa");
    let mut writer =
        TraceWriter::new(std::io::Cursor::new(Vec::new()), &SessionOptions::default()).unwrap();
    let url: Vec<u8> = "http://host/\u{1b}[31m"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let parse = [bytes!(0xFFFF_8000_1234_5678_u64, 4u32), url, vec![0, 0]].concat();
    for (timestamp, provider, id, payload) in [
        (10, HTTP, 2, &*parse),
        (20, HTTP, 2, &parse),
        (30, HTTP, 999, &[1]),
        (40, NOBODY, 2, &[]),
    ] {
        let descriptor = Descriptor {
            id,
            opcode: 12,
            ..Descriptor::default()
        };
        let event = ManifestEvent {
            timestamp,
            provider,
            descriptor,
            payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    Session::open(vec![Box::new(writer.finish(START).unwrap().into_inner())]).unwrap()
}

#[test]
fn an_event_without_description_has_its_built_in_name_and_the_text_in_its_bytes() {
    let session = undescribed();
    let name = |words| EventFilter {
        name: Some(one_of(words)),
        ..EventFilter::default()
    };
    let rows = listed(
        &session,
        &name("HTTPRequestTraceTask/Parse EventID(999) EventID(2)"),
    );
    let named: Vec<_> = rows
        .iter()
        .map(|row| (&*row.provider, &*row.event, row.source))
        .collect();
    let http = "Microsoft-Windows-HttpService";
    let parse = (http, "HTTPRequestTraceTask/Parse", Some("names"));
    let nobody = ("00000000-0000-0000-0000-0000000000aa", "EventID(2)", None);
    assert_eq!(named, [parse, parse, (http, "EventID(999)", None), nobody]);
    let fields: Vec<Value> = rows.iter().map(|row| json!(row.fields)).collect();
    let payload = fields[0]["payload"].as_str().unwrap();
    assert!(
        payload.starts_with("785634120080ffff04000000680074007400"),
        "{payload}"
    );
    // A byte that is not a character ends a text, and a single letter is not a text.
    assert_eq!(fields[0]["text"], json!(["http://host/"]));
    assert_eq!(
        (&fields[2], &fields[3]),
        (&json!({"payload": "01"}), &json!({}))
    );
    // Events that have names are also found by their numbers.
    for (words, expected) in [("Parse", 2), ("EventID(2)", 3), ("EventID(0)", 0)] {
        assert_eq!(listed(&session, &name(words)).len(), expected, "{words}");
    }
}

#[test]
fn counts_of_events_without_description_have_their_built_in_names() {
    let session = undescribed();
    let all = EventFilter::default();
    let few = EventFilter {
        name: Some(one_of("Parse EventID(999)")),
        ..EventFilter::default()
    };
    for (filter, expected) in [(&all, 3), (&few, 2)] {
        let counts = counted(&session, filter, false).counts;
        let named: Vec<_> = counts
            .provider
            .iter()
            .map(|kind| (&*kind.name, &*kind.event, kind.events))
            .collect();
        let http = "Microsoft-Windows-HttpService";
        let known = [(http, "HTTPRequestTraceTask/Parse", 2), (http, "", 1)];
        assert_eq!(named[expected - 2..], known);
    }
    let info = Info::read_once(&session, &["a.etl".to_owned()]).unwrap();
    let providers: Vec<_> = info
        .providers
        .iter()
        .map(|provider| (&*provider.name, provider.events))
        .collect();
    let nobody = "00000000-0000-0000-0000-0000000000aa";
    assert_eq!(
        providers,
        [("Microsoft-Windows-HttpService", 3), (nobody, 1)]
    );
}

/// Start, end and time since the boot of some files, in seconds.
type Files = &'static [(i64, i64, i64)];

/// The case, its files, and the files that do not match.
type Case = (&'static str, Files, &'static [(&'static str, Misfit)]);

/// Some files, the files that were not recorded with the first one, and the reasons.
#[test]
fn files_that_were_not_recorded_together_are_named() {
    let file = |(start, end, boot): (i64, i64, i64)| -> Box<dyn ByteSource> {
        let mut options = SessionOptions {
            t0: start * SECOND,
            ..SessionOptions::default()
        };
        options.header.start_time = START + start * SECOND;
        options.header.boot_time = START - boot * SECOND;
        let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
        let end = if end == 0 { 0 } else { START + end * SECOND };
        Box::new(writer.finish(end).unwrap().into_inner())
    };
    let cases: [Case; 8] = [
        ("one file", &[(0, 10, 999)], &[]),
        ("two loggers", &[(0, 10, 999), (3, 12, 999)], &[]),
        (
            "one file after the other",
            &[(0, 10, 999), (10, 20, 999), (21, 30, 999)],
            &[],
        ),
        (
            "boot times as the clock is set",
            &[(0, 10, 999), (0, 10, 900)],
            &[],
        ),
        (
            "another boot",
            &[(0, 10, 999), (5, 10, 9999)],
            &[("1", Misfit::Boot)],
        ),
        (
            "an hour later",
            &[(0, 10, 999), (3600, 3700, 999), (5, 10, 999)],
            &[("1", Misfit::Time)],
        ),
        (
            "an hour earlier, and later",
            &[(3600, 3700, 999), (0, 10, 999), (9999, 10000, 999)],
            &[("1", Misfit::Time), ("2", Misfit::Time)],
        ),
        (
            "a file that was not closed",
            &[(0, 0, 999), (3600, 3700, 999)],
            &[],
        ),
    ];
    for (what, files, expected) in cases {
        let session = Session::open(files.iter().copied().map(file).collect()).unwrap();
        let names: Vec<String> = (0..files.len()).map(|number| number.to_string()).collect();
        let info = Info::read_once(&session, &names).unwrap();
        let others: Vec<(&str, Misfit)> = info
            .files_of_other_sessions
            .iter()
            .map(|other| (other.file.as_str(), other.why))
            .collect();
        assert_eq!(others, expected, "{what}");
        let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            json!(info)["files_of_other_sessions"],
            json!(names),
            "{what}"
        );
    }
}

/// A session that is read once has all data that the faster pass can know, with equal values.
#[test]
fn reading_once_leaves_out_nothing_but_sections_and_cpu_use() {
    let session = trace();
    let names = ["a.etl".to_owned()];
    let (once, whole) = (
        Info::read_once(&session, &names).unwrap(),
        Info::read(&session, &names).unwrap(),
    );
    assert!(once.cpu.is_none() && once.sections.is_empty() && whole.cpu.is_some());
    assert_eq!(
        (&once.machine, &once.recording),
        (&whole.machine, &whole.recording)
    );
    let (once, whole) = (json!(once), json!(whole));
    for (key, value) in once.as_object().unwrap() {
        assert_eq!(value, &whole[key], "{key}");
    }
    let keys: Vec<&str> = whole
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert!(
        keys.join(" ").starts_with(
            "damage completeness recorded files_of_other_sessions providers header counts totals processes"
        ),
        "{keys:?}"
    );
    assert_eq!(
        whole["completeness"]["files"],
        json!([{
            "file": "a.etl",
            "buffers_expected": 2,
            "buffers_in_file": 2,
            "missing_buffers": 0,
            "is_cut": false,
            "is_closed": true,
            "events_s": [0.000_001, 0.000_03],
        }])
    );
}
