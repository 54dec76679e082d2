//! What the window manager says, from a trace that is written here to what the dumps print.

use std::path::Path;
use std::sync::OnceLock;

use etwkit_decode::win32k::WIN32K;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind::STACK_TRACE_64;
use etwkit_etl::writer::{KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_testkit::payload::{bytes, wide};

use crate::support::{Answer, Exit, run};
use crate::transcripts::compare;

const EDITOR: u32 = 4711;
const CONSOLE: u32 = 4712;

/// Ticks of the performance counter in a millisecond.
const MS: i64 = 10_000;

/// A trace that is being written.
struct Recording {
    writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    start: i64,
}

impl Recording {
    fn kernel(&mut self, group: u8, opcode: u8, version: u8, payload: &[u8]) {
        let timestamp = self.start;
        let event = KernelEvent {
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// A process with a thread, which is ten times its number.
    fn process(&mut self, pid: u32, name: &str, line: &str) {
        let ids = [
            (0x1000 + u64::from(pid), 8),
            (pid.into(), 4),
            (4, 4),
            (1, 4),
            (0, 4),
            (0, 8),
        ];
        let head = [bytes(&ids), bytes(&[(0, 4), (0, 4)])].concat();
        let tail = [name.as_bytes(), &[0], &wide(line), &wide(""), &wide("")].concat();
        self.kernel(3, 3, 4, &[head, tail].concat());
        self.kernel(
            5,
            3,
            3,
            &bytes(&[(pid.into(), 4), (u64::from(pid) * 10, 4)]),
        );
    }

    /// An event of the thread of a process.
    fn event(&mut self, ms: i64, pid: u32, id: u16, payload: &[u8], frames: &[u64]) {
        let stack: Vec<u8> = [0]
            .iter()
            .chain(frames)
            .flat_map(|frame| frame.to_le_bytes())
            .collect();
        let extended = [(STACK_TRACE_64, &*stack)];
        let event = ManifestEvent {
            timestamp: self.start + ms * MS,
            provider: WIN32K,
            descriptor: Descriptor {
                id,
                ..Descriptor::default()
            },
            process_id: pid,
            thread_id: pid * 10,
            payload,
            extended: if frames.is_empty() { &[] } else { &extended },
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    fn acquire(&mut self, ms: i64, pid: u32, id: u16, wait_us: u64, token: u64) {
        self.event(
            ms,
            pid,
            id,
            &bytes(&[(wait_us * 10, 8), (0, 4), (token, 8)]),
            &[EDITOR_CODE + 0x1000],
        );
    }

    fn release(&mut self, ms: i64, pid: u32) {
        self.event(ms, pid, 167, &bytes(&[(0, 8), (0, 4), (0, 8)]), &[]);
    }

    fn object(&mut self, ms: i64, id: u16, handle: u64, kind: u64, frame: u64) {
        let payload = bytes(&[(handle, 8), (kind, 4), (1, 4), (EDITOR.into(), 4)]);
        self.event(
            ms,
            EDITOR,
            id,
            &payload,
            &[EDITOR_CODE + frame, EDITOR_CODE + 0x3000],
        );
    }
}

/// Where the code of the editor begins.
const EDITOR_CODE: u64 = 0x7FF7_0000_0000;

/// An editor that leaks a window with each click and once hangs, while consoles that end hold the lock.
fn recording() -> Vec<u8> {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1000 * MS;
    let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let mut r = Recording {
        writer,
        start: options.t0,
    };
    r.process(EDITOR, "editor.exe", "editor.exe notes.txt");
    r.process(CONSOLE, "conhost.exe", "conhost.exe 0x4");
    let ids = [
        (EDITOR_CODE, 8),
        (0x10_0000, 8),
        (EDITOR.into(), 4),
        (0, 4),
        (0, 4),
        (0, 4),
        (EDITOR_CODE, 8),
        (0, 8),
        (0, 8),
    ];
    r.kernel(
        20,
        3,
        3,
        &[bytes(&ids), wide("\\Device\\HarddiskVolume1\\editor.exe")].concat(),
    );
    r.event(
        10,
        EDITOR,
        2,
        &bytes(&[(u64::from(CONSOLE) * 10, 4), (u64::from(EDITOR) * 10, 4)]),
        &[],
    );
    for (ms, held) in [(20, 5), (40, 864)] {
        r.acquire(ms, CONSOLE, 163, 100, ms as u64);
        r.release(ms + held, CONSOLE);
    }
    for click in 0..3 {
        let ms = 100 + 10 * click;
        r.object(ms, 452, 0x5_0000 + click as u64, 1, 0x1234);
        r.object(ms + 1, 455, 0x6_0000, 5, 0x2000);
        r.object(ms + 5, 456, 0x6_0000, 5, 0x2100);
    }
    r.object(150, 453, 0x7_0000, 2, 0x2200);
    r.acquire(904, EDITOR, 163, 860_000, 77);
    r.acquire(905, EDITOR, 416, 860_000, 77);
    r.release(906, EDITOR);
    let delay = [
        bytes(&[(3, 4), (800, 4), (850, 4), (790, 4)]),
        wide("Edit"),
        wide("Notepad\u{1b}"),
        wide("C:\\editor.exe"),
    ]
    .concat();
    let delay = [delay, bytes(&[(0x201, 4), (1, 8)])].concat();
    r.event(910, EDITOR, 38, &delay, &[EDITOR_CODE + 0x1000]);
    r.event(911, EDITOR, 37, &bytes(&[(3, 4), (850, 4), (790, 4)]), &[]);
    r.event(
        940,
        EDITOR,
        35,
        &bytes(&[
            (u64::from(EDITOR) * 10, 4),
            (EDITOR.into(), 4),
            (1, 4),
            (102, 4),
            (500, 4),
        ]),
        &[],
    );
    r.event(
        950,
        EDITOR,
        2,
        &bytes(&[(u64::from(EDITOR) * 10, 4), (u64::from(CONSOLE) * 10, 4)]),
        &[],
    );
    r.event(1000, EDITOR, 999, &[], &[]);
    r.writer
        .finish(options.header.start_time + 1000 * MS)
        .unwrap()
        .into_inner()
}

/// A folder with the trace, an extract and one with sums, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
            std::fs::write(path("desk.etl"), recording()).unwrap();
            for args in [
                &["extract", &path("desk.etl")][..],
                &[
                    "extract",
                    "--detail",
                    "summary",
                    "--out",
                    &path("sums.etwx"),
                    &path("desk.etl"),
                ],
            ] {
                let Answer { err, exit, .. } = run(args);
                assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
            }
            folder
        })
        .path()
}

fn dump(extract: &str, args: &[&str]) -> Answer {
    run(&[
        &["dump"],
        args,
        &[
            "--time-format",
            "s",
            folder().join(extract).to_str().unwrap(),
        ],
    ]
    .concat())
}

/// Several commands of a dump, one behind the other.
#[track_caller]
fn check(name: &str, commands: &[(&str, &[&str])]) {
    let place = folder().join("").to_str().unwrap().to_owned();
    let transcripts = commands.iter().map(|(extract, args)| {
        let Answer { out, err, exit } = dump(extract, args);
        let (out, err) = (out.replace(&place, ""), err.replace(&place, ""));
        format!(
            "$ etwkit dump {} {extract}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        )
    });
    compare(&transcripts.collect::<Vec<_>>().join("\n"), name);
}

#[test]
fn the_global_lock() {
    check(
        "dump-user-lock",
        &[
            ("desk.etwx", &["user-lock"]),
            (
                "sums.etwx",
                &[
                    "user-lock",
                    "--sort-by",
                    "hold",
                    "--column",
                    "Hold;MaxHold;Process",
                    "--no-cmdline",
                ],
            ),
            (
                "desk.etwx",
                &["user-lock", "--by", "thread", "--hold", "100..", "--json"],
            ),
            (
                "desk.etwx",
                &[
                    "user-lock",
                    "--details",
                    "--show-stack",
                    "--sort-by",
                    "time",
                    "--wait",
                    "1..",
                ],
            ),
            ("sums.etwx", &["user-lock", "--details"]),
            ("desk.etwx", &["user-lock", "--process", "nobody"]),
            (
                "desk.etwx",
                &[
                    "user-lock",
                    "--mode",
                    "exclusive",
                    "--range",
                    "0..1",
                    "--show-sql",
                ],
            ),
        ],
    );
}

#[test]
fn objects() {
    check(
        "dump-gdi-user",
        &[
            ("desk.etwx", &["gdi-user"]),
            (
                "sums.etwx",
                &["gdi-user", "--by", "process", "--no-cmdline"],
            ),
            (
                "desk.etwx",
                &["gdi-user", "--leak", "--by", "stack", "--show-stack"],
            ),
            (
                "desk.etwx",
                &[
                    "gdi-user",
                    "--details",
                    "--type",
                    "Bitmap;Menu",
                    "--sort-by",
                    "lifetime",
                    "--column",
                    "+DestroyedBy",
                ],
            ),
            (
                "desk.etwx",
                &[
                    "gdi-user",
                    "--details",
                    "--destroy-stack",
                    "*+0x2100",
                    "--show-stack",
                    "--top",
                    "1",
                ],
            ),
            (
                "desk.etwx",
                &["gdi-user", "--by", "type", "--class", "user", "--json"],
            ),
            ("sums.etwx", &["gdi-user", "--handle", "0x50000"]),
            ("desk.etwx", &["gdi-user", "--leak", "--type", "Font"]),
        ],
    );
}

#[test]
fn delays() {
    check(
        "dump-ui-delay",
        &[
            ("sums.etwx", &["ui-delay"]),
            (
                "desk.etwx",
                &["ui-delay", "--details", "--show-stack", "--sort-by", "time"],
            ),
            (
                "desk.etwx",
                &["ui-delay", "--details", "--kind", "wait-cursor", "--json"],
            ),
            (
                "desk.etwx",
                &[
                    "ui-delay",
                    "--class-name",
                    "notepad*",
                    "--duration",
                    "500..",
                    "--column",
                    "+Sum",
                ],
            ),
            ("desk.etwx", &["ui-delay", "--duration", "900.."]),
        ],
    );
}

#[test]
fn the_focus() {
    check(
        "dump-focus",
        &[
            ("sums.etwx", &["focus"]),
            ("desk.etwx", &["focus", "--details", "--no-cmdline"]),
            (
                "desk.etwx",
                &["focus", "--by", "thread", "--range", "0.96..", "--json"],
            ),
            ("desk.etwx", &["focus", "--process", "!*"]),
        ],
    );
}

#[test]
fn the_overview_suggests_all_of_it() {
    let extract = folder().join("sums.etwx");
    let Answer { out, err, exit } = run(&["dump", "overview", extract.to_str().unwrap()]);
    assert_eq!(exit, Exit::Answered, "{err}");
    for what in ["user-lock", "gdi-user", "ui-delay", "focus"] {
        assert!(out.contains(&format!("etwkit dump {what} ")), "{out}");
    }
}

#[test]
fn a_trace_without_such_events_says_how_to_record_them() {
    for what in ["user-lock", "gdi-user", "ui-delay", "focus"] {
        let Answer { out, exit, .. } = run(&["dump", what, &crate::support::trace("dns-5.etl")]);
        assert_eq!(exit, Exit::Nothing, "{out}");
        assert!(
            out.contains("recorded no") && out.contains("Microsoft-Windows-Win32k"),
            "{out}"
        );
    }
}
