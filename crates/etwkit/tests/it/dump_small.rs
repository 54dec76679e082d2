//! The smaller dumps on an extract that is written here, so that every column and text is known.

use std::path::Path;
use std::sync::OnceLock;

use etwkit_extract::manifest::{Clock, Detail, Machine, Topic, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    Columns, CpuProcess, Exception, Frame, GenericEvent, Mark, MemoryMachine, MemorySample, Method,
    Module, PowerSetting, Process, Row, Stack, Thread, ThreadPool, Trace,
};

use crate::support::{Answer, Exit, run, trace};
use crate::transcripts::compare;

const MS: i64 = 1_000_000;

pub(crate) fn batch<R: Row>(writer: &mut Writer, rows: &[R]) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    writer.write(R::TABLE, columns.take().unwrap()).unwrap();
}

fn write(path: &Path) {
    let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
    let trace = Trace {
        file_name: "shop.etl".into(),
        start_utc: "2024-05-01T10:00:00.0000000Z".into(),
        start_filetime: 133_590_312_000_000_000,
        duration_ns: 1000 * MS,
        processors: 2,
        memory_bytes: Some(8 << 30),
        ..Trace::default()
    };
    batch(&mut writer, &[trace]);
    let process = |process_key, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        command_line: Some(format!("{name} --port 80")),
        ..Process::default()
    };
    batch(
        &mut writer,
        &[
            Process {
                start_ns: Some(MS),
                ..process(1, 4711, "shop.exe")
            },
            process(2, 4712, "db.exe"),
        ],
    );
    let thread = |thread_key, tid| Thread {
        thread_key,
        process_key: Some(thread_key),
        tid,
        ..Thread::default()
    };
    batch(&mut writer, &[thread(1, 44), thread(2, 48)]);
    dotnet(&mut writer);
    memory(&mut writer);
    power(&mut writer);
    batch(
        &mut writer,
        &[Mark {
            ts_ns: 5 * MS,
            text: "start".into(),
            ..Mark::default()
        }],
    );
    batch(
        &mut writer,
        &[Mark {
            ts_ns: 30 * MS,
            cpu: 1,
            process_key: Some(1),
            thread_key: Some(1),
            text: "cart\u{1b}[2J".into(),
        }],
    );
    let event = |ts_ns, key, name: &str, event_id, fields: &str| GenericEvent {
        ts_ns,
        process_key: Some(key),
        thread_key: Some(key),
        provider_guid: "a61ea624-4944-55fc-c2a8-37838829438d".into(),
        provider: Some("Shop-Events".into()),
        name: Some(name.into()),
        event_id,
        level: 4,
        described_by: Some("tracelogging"),
        fields: Some(fields.into()),
        stack_id: Some(1),
        ..GenericEvent::default()
    };
    batch(
        &mut writer,
        &[
            event(
                10 * MS,
                1,
                "CartOpened",
                1,
                r#"{"user":"bob","items":{"count":2,"names":["a","b"]},"note":""}"#,
            ),
            event(20 * MS, 2, "QueryDone", 2, r#"{"rows":7}"#),
            event(40 * MS, 1, "CartClosed", 3, "{}"),
        ],
    );
    finish(writer);
}

pub(crate) fn finish(writer: Writer) {
    finish_with_topics(writer, Vec::new());
}

fn finish_with_topics(mut writer: Writer, topics: Vec<Topic>) {
    let clock = Clock {
        kind: "qpc".into(),
        frequency: 1,
        start_utc: String::new(),
        start_filetime: 0,
    };
    let machine = Machine {
        computer: None,
        os_version: None,
        processors: 2,
    };
    writer.set_derived(std::collections::BTreeMap::new());
    let manifest = Manifest::new(Detail::Full, TraceSource::default(), clock, machine);
    writer.finish(Manifest { topics, ..manifest }).unwrap();
}

/// Context switches without events that make threads ready: no wait ends, so 0 ms of waiting and a
/// total would be numbers of nothing.
#[test]
fn waits_that_nothing_ends_are_in_no_row_or_sum_of_cpu() {
    let folder = tempfile::tempdir().unwrap();
    for (is_recorded, sums) in [
        (true, "CPU 7 ms, wait 0 ms, ready 3 ms, total 7 ms"),
        (false, "CPU 7 ms"),
    ] {
        let path = folder.path().join(format!("ready-{is_recorded}.etwx"));
        let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
        batch(
            &mut writer,
            &[Trace {
                file_name: "shop.etl".into(),
                duration_ns: 1000 * MS,
                ..Trace::default()
            }],
        );
        batch(
            &mut writer,
            &[Process {
                process_key: 1,
                pid: 4711,
                name: Some("shop.exe".into()),
                ..Process::default()
            }],
        );
        batch(
            &mut writer,
            &[CpuProcess {
                process_key: Some(1),
                samples: 7,
                cpu_ns: 7 * MS,
                run_ns: Some(7 * MS),
                wait_ns: Some(0),
                ready_ns: Some(3 * MS),
                switches: Some(4),
                ..CpuProcess::default()
            }],
        );
        let topic = Topic {
            topic: "ready threads".into(),
            recorded: is_recorded,
            events: None,
            hint: None,
        };
        finish_with_topics(writer, vec![topic]);
        let answer = run(&[
            "dump",
            "cpu",
            "--show-total",
            "total",
            path.to_str().unwrap(),
        ]);
        assert!(
            answer.out.contains(&format!("  {sums}  shop.etl")),
            "{is_recorded}: {}{}",
            answer.out,
            answer.err
        );
        let answer = run(&["dump", "cpu", "--json", path.to_str().unwrap()]);
        let row: serde_json::Value =
            serde_json::from_str(answer.out.lines().nth(1).unwrap()).unwrap();
        assert_eq!(row["run_ns"].as_i64(), Some(7 * MS), "{row}");
        assert_eq!(row["wait_ns"].as_i64(), is_recorded.then_some(0), "{row}");
        assert_eq!(
            row["ready_ns"].as_i64(),
            is_recorded.then_some(3 * MS),
            "{row}"
        );
    }
}

fn dotnet(writer: &mut Writer) {
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    batch(
        writer,
        &[method(0, "Shop.Program.Main"), method(1, "Shop.Cart.Load")],
    );
    let frame = |frame_id| Frame {
        frame_id,
        method_id: Some(frame_id),
        module_id: Some(0),
        ..Frame::default()
    };
    batch(writer, &[frame(0), frame(1)]);
    let module = Module {
        process_key: Some(1),
        path: r"C:\shop\shop.exe".into(),
        name: "shop.exe".into(),
        file_version: Some("1.2.3".into()),
        company: Some("Shop Inc.".into()),
        ..Module::default()
    };
    batch(writer, &[module]);
    batch(
        writer,
        &[
            Stack::default(),
            Stack {
                stack_id: 1,
                parent_id: Some(0),
                frame_id: 1,
                depth: 1,
            },
        ],
    );
    let thrown = |ts_ns, key, name: &str, message: &str, stack_id| Exception {
        ts_ns,
        process_key: Some(key),
        thread_key: Some(key),
        exception_type: name.into(),
        message: message.into(),
        hresult: Some(0x8007_0002_u32.cast_signed()),
        flags: 0,
        stack_id,
    };
    batch(
        writer,
        &[
            thrown(
                10 * MS,
                1,
                "System.IO.FileNotFoundException",
                "Could not find 'a.xml'.",
                Some(1),
            ),
            thrown(
                12 * MS,
                1,
                "System.IO.FileNotFoundException",
                "Could not find 'a.xml'.",
                Some(1),
            ),
            thrown(
                13 * MS,
                1,
                "System.InvalidOperationException",
                "two\nlines",
                Some(0),
            ),
            thrown(
                15 * MS,
                2,
                "System.TimeoutException",
                &"a long message ".repeat(4),
                None,
            ),
        ],
    );
    let change = |ts_ns, workers, reason| ThreadPool {
        ts_ns,
        process_key: Some(1),
        thread_key: Some(1),
        kind: "adjustment",
        worker_threads: Some(workers),
        reason: Some(reason),
        throughput: Some(12.5),
        ..ThreadPool::default()
    };
    batch(
        writer,
        &[
            change(100 * MS, 9, 6),
            change(300 * MS, 8, 3),
            change(625 * MS, 10, 6),
        ],
    );
}

fn memory(writer: &mut Writer) {
    let sample = |ts_ns, key: Option<i32>, pid, mib: i64| MemorySample {
        ts_ns,
        process_key: key,
        pid,
        working_set_bytes: mib << 19,
        private_working_set_bytes: mib << 18,
        commit_bytes: mib << 20,
        shared_commit_bytes: Some(3 << 20),
        ..MemorySample::default()
    };
    batch(
        writer,
        &[
            sample(2 * MS, Some(1), 4711, 100),
            sample(900 * MS, Some(1), 4711, 1500),
            sample(900 * MS, Some(2), 4712, 20),
            sample(900 * MS, None, -2, 4),
        ],
    );
    let machine = |ts_ns, mib: i64| MemoryMachine {
        ts_ns,
        in_use_bytes: Some(mib << 20),
        standby_bytes: 1 << 30,
        free_bytes: 1 << 20,
        commit_bytes: Some(mib << 21),
        ..MemoryMachine::default()
    };
    batch(writer, &[machine(2 * MS, 1000), machine(900 * MS, 3000)]);
}

fn power(writer: &mut Writer) {
    let setting = |ts_ns, kind, guid: &str, value: i64| PowerSetting {
        ts_ns,
        kind,
        setting_guid: guid.into(),
        value: Some(value),
        value_hex: format!("{value:02x}000000"),
        ..PowerSetting::default()
    };
    let scheme = PowerSetting {
        value: None,
        value_guid: Some("381b4222-f694-41f0-9685-ff5bb260df2e".into()),
        value_hex: "22421b3894f6f041".into(),
        ..setting(MS, "rundown", "31f9f286-5084-42fe-b720-2b0264993763", 0)
    };
    batch(
        writer,
        &[
            scheme,
            setting(MS, "rundown", "36687f9e-e3a5-4dbf-b1dc-15eb381c6863", 50),
            setting(MS, "rundown", "be337238-0d82-4146-a960-4f3749d470c7", 2),
            setting(MS, "rundown", "5d76a2ca-e8c0-402f-a133-2158492d58ad", 0),
            setting(MS, "rundown", "00000000-1111-2222-3333-444444444444", 9),
            setting(
                500 * MS,
                "change",
                "be337238-0d82-4146-a960-4f3749d470c7",
                0,
            ),
        ],
    );
}

/// The folder with the extract, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            write(&folder.path().join("shop.etwx"));
            folder
        })
        .path()
}

fn dump(args: &[&str]) -> Answer {
    let extract = folder().join("shop.etwx");
    run(&[&["dump"], args, &[extract.to_str().unwrap()]].concat())
}

/// Several commands of a dump, one behind the other.
#[track_caller]
fn check(name: &str, commands: &[&[&str]]) {
    let transcripts = commands.iter().map(|args| {
        let Answer { out, err, exit } = dump(&[*args, &["--time-format", "s"]].concat());
        format!(
            "$ etwkit dump {} shop.etwx\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        )
    });
    compare(&transcripts.collect::<Vec<_>>().join("\n"), name);
}

#[test]
fn exceptions() {
    check(
        "dump-exception",
        &[
            &["exception", "--max-message", "20"],
            &[
                "exception",
                "--show-stack",
                "--cut-stack",
                "0..1",
                "--show-time",
                "--details",
                "--type",
                "*.io.*",
            ],
            &[
                "exception",
                "--sort-by",
                "time",
                "--show-module",
                "--no-cmdline",
            ],
            &[
                "exception",
                "--sort-by",
                "type",
                "--process",
                "shop",
                "--show-module=*Shop Inc*",
                "--top",
                "1",
            ],
            &[
                "exception",
                "--stack-filter",
                "*Load",
                "--time",
                "-1ms..1ms",
                "--zero-time",
                "marker:nothing",
            ],
            &[
                "exception",
                "--stack-filter",
                "Shop.Cart.*",
                "--zero-time",
                "process-start",
                "--zero-process",
                "shop",
                "--json",
            ],
        ],
    );
}

#[test]
fn marks() {
    check(
        "dump-mark",
        &[
            &["mark", "--column", "+*"],
            &[
                "marker",
                "--zero-time",
                "marker:start",
                "--diff",
                "1ms..",
                "--json",
            ],
            &["mark", "--marker-filter", "nothing"],
        ],
    );
}

#[test]
fn self_describing_events() {
    check(
        "dump-tracelog",
        &[
            &["tracelog", "--no-cmdline"],
            &["tracelog", "--provider", "Shop*", "--sort-by", "id"],
            &["tracelog", "--provider", "shop-events:cart", "--show-stack"],
            &[
                "tracelog",
                "--by",
                "event",
                "--message",
                "*user=bob*",
                "--json",
            ],
            &["tracelog", "--provider", "nobody"],
        ],
    );
}

#[test]
fn starving_thread_pools() {
    check(
        "dump-thread-pool",
        &[
            &["thread-pool"],
            &["threadpool", "--reason", "*", "--column", "+Throughput"],
            &["thread-pool", "--process", "db"],
        ],
    );
}

#[test]
fn power_settings() {
    let extract = folder().join("shop.etwx");
    let again = extract.to_str().unwrap();
    let transcripts = [
        &["power", again][..],
        &["power", "--diff", again],
        &["power", "--details", "--diff"],
        &["power", "--all", "--json"],
    ];
    let transcripts = transcripts.iter().map(|args| {
        let Answer { out, err, exit } = dump(&[*args, &["--time-format", "s"]].concat());
        let shown = args.join(" ").replace(again, "shop.etwx");
        format!(
            "$ etwkit dump {shown} shop.etwx\n{out}{err}[exit {}]\n",
            exit.code()
        )
    });
    compare(&transcripts.collect::<Vec<_>>().join("\n"), "dump-power");
}

#[test]
fn memory_of_processes_and_of_the_machine() {
    check(
        "dump-memory",
        &[
            &["memory", "--no-cmdline"],
            &[
                "memory",
                "--details",
                "--commit",
                "10..",
                "--sort-by",
                "diff",
                "--show-module",
                "--no-digit-sep",
            ],
            &["memory", "--total-memory", "--details"],
            &["memory", "--global-diff", "0"],
        ],
    );
}

#[test]
fn csv_has_the_stack() {
    let file = folder().join("rows.csv");
    let answer = dump(&["exception", "--csv", file.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    let text = std::fs::read_to_string(file).unwrap();
    assert!(
        text.contains("shop.exe!Shop.Cart.Load < shop.exe!Shop.Program.Main"),
        "{text}"
    );
}

/// Files of rows as ETWAnalyzer writes them, of what no trace at hand has.
#[test]
fn files_of_etwanalyzer() {
    let file = folder().join("etwanalyzer.csv");
    let extract = folder().join("shop.etwx");
    let (place, target) = (folder().to_str().unwrap(), file.to_str().unwrap());
    let mut transcript = String::new();
    for args in [
        &["-dump", "tracelog", "-provider", "Shop*"][..],
        &["-dump", "threadpool"],
        &["-dump", "memory", "-tm", "-topn", "1"],
        &["-dump", "exception", "-topn", "1"],
    ] {
        let line = [
            args,
            &[
                "-timefmt",
                "s",
                "-fd",
                extract.to_str().unwrap(),
                "-csv",
                target,
            ],
        ]
        .concat();
        let answer = run(&line);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        let rows = std::fs::read_to_string(&file).unwrap();
        let text = format!("$ {}\n{rows}{}\n", args.join(" "), answer.err);
        transcript.push_str(&text.replace(place, "DIR").replace("DIR\\", "DIR/"));
    }
    compare(&transcript, "compat/csv-small");
}

/// A folder with recordings of tests; contents do not count.
fn test_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "Open_1100msCLIENT.20200717-120000.etl",
        "Open_1100msSERVER.20200717-120100.7z",
        "Close_450ms_CLIENT_SINGLE_TestStatus-Passed_20200717-121000.etl",
        "Open_1200msCLIENT.20200718-090000.etl",
        "notes.txt",
    ] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let extract = folder.path().join("Open_1200msCLIENT.20200718-090000.etwx");
    std::fs::create_dir(&extract).unwrap();
    std::fs::write(extract.join("trace.parquet"), "rows").unwrap();
    folder
}

#[test]
fn test_runs() {
    let folder = test_folder();
    let place = folder.path().to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["test-run", place, "--recordings", "--print-files"],
        &[
            "testrun",
            place,
            "--test-run-index",
            "0",
            "--test-run-count",
            "1",
            "--test-time",
            "1s..",
            "--json",
        ],
        &["test-run", place, "--last-days", "1"],
    ];
    let transcripts = commands.iter().map(|args| {
        let Answer { out, err, exit } = run(&[&["dump"], *args].concat());
        let transcript = format!(
            "$ etwkit dump {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        transcript
            .replace(&place.replace('\\', "\\\\"), "DIR")
            .replace(place, "DIR")
            .replace("DIR\\\\", "DIR/")
            .replace("DIR\\", "DIR/")
    });
    compare(&transcripts.collect::<Vec<_>>().join("\n"), "dump-test-run");
}

#[test]
fn chosen_extracts_are_copied() {
    let (from, to) = (test_folder(), tempfile::tempdir().unwrap());
    let (from, to) = (from.path().to_str().unwrap(), to.path());
    let target = to.join("copies");
    let args = [
        "dump",
        "test-run",
        from,
        "--test-run-index",
        "1",
        "--copy-files-to",
        target.to_str().unwrap(),
    ];
    assert_eq!(run(&args).exit, Exit::Answered);
    let names = || -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&target)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["Open_1200msCLIENT.20200718-090000.etwx"]);
    assert!(target.join(&names()[0]).join("trace.parquet").is_file());
    let again = run(&args);
    assert!(
        again.exit == Exit::Error && again.err.contains("--overwrite"),
        "{}",
        again.err
    );
    let replaced = run(&[&args[..], &["--overwrite", "--with-traces"]].concat());
    assert_eq!(
        (replaced.exit, names().len()),
        (Exit::Answered, 2),
        "{}",
        replaced.err
    );
    let onto_itself = run(&[
        "dump",
        "test-run",
        from,
        "--copy-files-to",
        from,
        "--overwrite",
    ]);
    assert!(
        onto_itself.err.contains("onto itself"),
        "{}",
        onto_itself.err
    );
}

#[test]
fn recordings_of_one_name_do_not_replace_each_other() {
    let (one, other, to) = (test_folder(), test_folder(), tempfile::tempdir().unwrap());
    let (one, other) = (one.path().to_str().unwrap(), other.path().to_str().unwrap());
    let to = to.path().to_str().unwrap();
    let refused = run(&[
        "dump",
        "test-run",
        one,
        other,
        "--copy-files-to",
        to,
        "--overwrite",
    ]);
    assert!(
        refused.exit == Exit::Error && refused.err.contains("would be one file"),
        "{}",
        refused.err
    );
    assert_eq!(std::fs::read_dir(to).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_of_an_extract_are_not_copied() {
    let (from, to) = (test_folder(), tempfile::tempdir().unwrap());
    let from = from.path();
    let secret = to.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let extract = from.join("Open_1200msCLIENT.20200718-090000.etwx");
    assert!(extract.is_dir());
    std::os::unix::fs::symlink(&secret, extract.join("link")).unwrap();
    std::os::unix::fs::symlink(to.path(), extract.join("folder")).unwrap();
    std::os::unix::fs::symlink(&secret, from.join("Open_1300msCLIENT.20200718-090100.etl"))
        .unwrap();
    for pipe in [
        extract.join("pipe"),
        from.join("Open_1400msCLIENT.20200718-090200.json"),
    ] {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(pipe)
                .status()
                .unwrap()
                .success()
        );
    }
    let target = to.path().join("copies");
    let copied = run(&[
        "dump",
        "test-run",
        from.to_str().unwrap(),
        "--copy-files-to",
        target.to_str().unwrap(),
        "--with-traces",
    ]);
    assert_eq!(copied.exit, Exit::Answered, "{}", copied.err);
    let noted = copied
        .err
        .matches("is a link or no regular file and was not copied")
        .count();
    assert_eq!(noted, 5, "{}", copied.err);
    let copy = target.join(extract.file_name().unwrap());
    assert!(copy.join("trace.parquet").is_file());
    for left_out in ["link", "folder", "pipe"] {
        assert!(
            copy.join(left_out).symlink_metadata().is_err(),
            "{left_out}"
        );
    }
}

#[test]
fn a_summary_has_the_stacks_of_the_rows_that_it_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |detail: &str| {
        let out = folder.path().join(format!("{detail}.etwx"));
        let out = out.to_str().unwrap();
        let extracted = run(&[
            "extract",
            &trace("dotnet-5.etl"),
            "--detail",
            detail,
            "--out",
            out,
        ]);
        assert_eq!(extracted.exit, Exit::Answered, "{}", extracted.err);
        run(&[
            "dump",
            "exception",
            "--sort-by",
            "time",
            "--show-stack",
            out,
        ])
        .out
    };
    let (full, summary) = (answer("full"), answer("summary"));
    assert!(
        full.contains("(no stack)") || full.lines().count() > 20,
        "{full}"
    );
    assert_eq!(full, summary);
}

#[test]
fn folders_and_files_have_blanks_and_umlauts() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("dir mit Leer").join("Ünï");
    std::fs::create_dir_all(&inner).unwrap();
    let path = inner.join("öffice größe.etl");
    std::fs::copy(trace("power-5.etl"), &path).unwrap();
    let answer = run(&["dump", "stats", path.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    assert!(
        answer.out.contains("SourceETLFileName") && answer.out.contains("öffice größe.etl"),
        "{}",
        answer.out
    );
}
