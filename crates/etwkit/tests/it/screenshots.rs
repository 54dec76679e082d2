//! Pictures of the screen beside a trace: events and files as ETWController leaves them.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::trace_header::TimeZone;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use etwkit_testkit::payload::wide;
use serde_json::Value;

use crate::support::{Answer, Exit, run};
use crate::transcripts::compare;

const HOOK_EVENTS: Guid = Guid::literal("f0a5da64-0fbc-4d41-b6c7-bf56a0601d7d");
/// 2024-05-06 21:59:58 UTC.
const START: i64 = 133_595_063_980_000_000;

struct Recording {
    writer: TraceWriter<File>,
    start: i64,
    start_time: i64,
}

fn numbers(numbers: &[i32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

impl Recording {
    fn new(path: &Path) -> Self {
        let mut options = SessionOptions::default();
        options.header.perf_freq = 1_000_000;
        options.header.start_time = START;
        // Two hours ahead of UTC.
        options.header.time_zone = TimeZone {
            bias: -120,
            ..TimeZone::default()
        };
        let start = options.t0;
        let writer = TraceWriter::new(File::create(path).unwrap(), &options).unwrap();
        Self {
            writer,
            start,
            start_time: START,
        }
    }

    fn event(&mut self, ms: i64, id: u16, payload: &[u8]) {
        let (version, opcode, task) = if id == 0xFFFE {
            (1, 0xFE, 0xFFFE)
        } else {
            (0, 0, 0xFFFE - id)
        };
        let event = ManifestEvent {
            timestamp: self.start + ms * 1000,
            provider: HOOK_EVENTS,
            descriptor: Descriptor {
                id,
                version,
                opcode,
                task,
                level: 4,
                ..Descriptor::default()
            },
            process_id: 100,
            thread_id: 1000,
            payload,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    fn end(self) {
        self.writer.finish(self.start_time + 100_000_000).unwrap();
    }
}

/// A file of so many bytes that was written so many seconds behind the start of the trace.
fn picture(folder: &Path, name: &str, bytes: usize, seconds: u64) {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, vec![0xFF; bytes]).unwrap();
    let filetime_s = (START / 10_000_000) as u64 - 11_644_473_600;
    let time = UNIX_EPOCH + Duration::from_secs(filetime_s + seconds);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

/// What is printed, with the names of the trace in place of its path.
fn session(folder: &Path, commands: &[&[&str]]) -> String {
    let place = folder.to_str().unwrap();
    let mut printed = String::new();
    for args in commands {
        let extract = format!("{place}/slow.etwx");
        let Answer { out, err, exit } =
            run(&[&["dump", "screenshot"], *args, &[&extract]].concat());
        printed += &format!(
            "$ etwkit dump screenshot {} slow.etwx\n{out}{err}[exit {}]\n\n",
            args.join(" "),
            exit.code()
        );
    }
    printed.replace(place, "DIR")
}

fn rows(extract: &str) -> Vec<Value> {
    let Answer { out, err, exit } = run(&["dump", "screenshot", "--json", extract]);
    assert_eq!(exit, Exit::Answered, "{err}");
    out.lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[track_caller]
fn extract(trace: &Path, more: &[&str]) {
    let Answer { err, exit, .. } = run(&[&["extract"], more, &[trace.to_str().unwrap()]].concat());
    assert_eq!(exit, Exit::Answered, "{err}");
}

#[test]
fn pictures_have_the_times_of_their_events() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("slow.etl");
    let mut recording = Recording::new(&trace);
    recording.event(
        500,
        1,
        &[numbers(&[3]), wide("Left"), numbers(&[812, -40])].concat(),
    );
    recording.event(600, 2, &numbers(&[4, 5, 6]));
    recording.event(700, 4, &[numbers(&[5]), wide("Return")].concat());
    recording.event(800, 4, &[numbers(&[7]), wide("F5")].concat());
    recording.end();
    let pictures = folder.path().join("slow.etl.Screenshots");
    for (name, bytes) in [
        ("Screenshot_3.jpg", 3000),
        ("Screenshot_3After500ms.jpg", 3100),
        ("Screenshot_5_Enter.jpg", 2000),
        ("Screenshot_7.jpg", 2500),
        // No event has this number.
        ("Screenshot_99.jpg", 1000),
        // On the wall it is two hours later, and midnight comes in between.
        ("Screenshot_Forced_00.00.01.250.jpg", 4000),
        ("Screenshot_Forced_23.59.59.000.jpg", 4100),
        ("Screenshot_Forced_99.00.00.000.jpg", 10),
        ("Report.html", 77),
        ("other.jpg", 77),
    ] {
        picture(&pictures, name, bytes, 6);
    }
    // A folder is no picture, whatever its name.
    std::fs::create_dir(pictures.join("Screenshot_8.jpg")).unwrap();
    picture(
        &folder.path().join("slow.Screenshots"),
        "Screenshot_1.jpg",
        5,
        7,
    );
    extract(&trace, &[]);
    let csv = folder.path().join("rows.csv");
    let csv = csv.to_str().unwrap();
    let printed = session(
        folder.path(),
        &[
            &["--time-format", "s"],
            &["--trigger", "click,reaction", "--column", "Time;Picture"],
            &["--range", "0..1", "--file", "*_?.jpg", "--json"],
            &["--top", "1", "--csv", csv],
            &["--show-sql"],
            &["--trigger", "other", "--range", "0..1"],
        ],
    );
    compare(&printed, "dump-screenshot");
    let written = std::fs::read_to_string(csv).unwrap();
    assert_eq!(written.lines().count(), 2, "{written}");

    let summary = folder.path().join("sums.etwx");
    extract(
        &trace,
        &["--detail", "summary", "--out", summary.to_str().unwrap()],
    );
    let full = rows(folder.path().join("slow.etwx").to_str().unwrap());
    assert_eq!(rows(summary.to_str().unwrap()), full);
    assert_eq!(full.len(), 9);
}

/// The fields are named as in the source, the numbers of the events are others.
const MANIFEST: &str = r#"<instrumentationManifest><instrumentation><events>
<provider name="HookEvents" guid="{f0a5da64-0fbc-4d41-b6c7-bf56a0601d7d}">
<tasks><task name="MouseButton" value="65523"/><task name="Screenshot" value="65522"/></tasks>
<events>
<event value="11" version="0" level="win:Informational" task="MouseButton" template="a"/>
<event value="12" version="0" level="win:Informational" task="Screenshot" template="b"/>
</events>
<templates>
<template tid="a"><data name="EventNumber" inType="win:Int32"/><data name="MouseButton" inType="win:UnicodeString"/>
<data name="x" inType="win:Int32"/><data name="y" inType="win:Int32"/></template>
<template tid="b"><data name="suffix" inType="win:UnicodeString"/><data name="path" inType="win:UnicodeString"/></template>
</templates></provider></events></instrumentation></instrumentationManifest>"#;

#[test]
fn events_with_a_manifest_are_read_by_names_and_their_pictures_can_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("slow.etl");
    let mut recording = Recording::new(&trace);
    let click = [numbers(&[3]), wide("Right"), numbers(&[1, 2])].concat();
    recording.event(100, 11, &click);
    // By its number this would be a click.
    recording.event(
        150,
        1,
        &[numbers(&[9]), wide("Middle"), numbers(&[1, 2])].concat(),
    );
    recording.event(
        200,
        12,
        &[
            wide(""),
            wide(r"C:\temp\slow.etl.Screenshots\Screenshot_3.jpg"),
        ]
        .concat(),
    );
    recording.event(
        300,
        12,
        &[wide(""), wide("C:\\temp\\Screenshot_44.jpg")].concat(),
    );
    recording.event(
        310,
        12,
        &[wide(""), wide("C:\\temp\\Screenshot_\u{1b}[2J.jpg")].concat(),
    );
    let head = [1, 1, 0, 0x5B, 1, 0, 0, 0];
    recording.event(400, 0xFFFE, &[&head[..], MANIFEST.as_bytes()].concat());
    recording.end();
    picture(
        &folder.path().join("slow.Screenshots"),
        "Screenshot_3.jpg",
        30,
        6,
    );
    extract(&trace, &[]);
    let all = rows(folder.path().join("slow.etwx").to_str().unwrap());
    let shown: Vec<_> = all
        .iter()
        .map(|row| {
            let cell = |name: &str| row[name].to_string();
            ["ts_ns", "time_from", "trigger", "input", "path"]
                .map(cell)
                .join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"100000000 "event" "click" "Right" "slow.Screenshots/Screenshot_3.jpg""#,
            r#"300000000 "event" "click" null null"#,
            r#"310000000 "event" "other" null null"#,
        ]
    );
    let text = session(folder.path(), &[&["--column", "Picture"]]);
    assert!(
        text.contains("Screenshot_44.jpg (not there)") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn a_trace_without_pictures_says_how_to_take_them() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("slow.etl");
    let mut recording = Recording::new(&trace);
    recording.event(
        500,
        1,
        &[numbers(&[3]), wide("Left"), numbers(&[812, -40])].concat(),
    );
    recording.end();
    extract(&trace, &[]);
    let text = session(folder.path(), &[&[]]);
    assert!(
        text.contains("ETWController") && text.contains("[exit 1]"),
        "{text}"
    );
}
