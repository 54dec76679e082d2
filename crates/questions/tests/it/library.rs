//! The library and the reference.

use etwkit_sql::{Options, Parameter, Session, Source, library, reference};
use etwkit_trace::table::{
    ContextSwitch, CpuMethod, CpuProcess, CpuSample, CpuStack, DiskFile, EventCount, Frame, Gc,
    Module, NetIo, Process, Stack, Thread, Trace,
};

use super::support::{rows, text};

fn source() -> Source {
    let process = |process_key, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let thread = |thread_key, tid, process_key| Thread {
        thread_key,
        tid,
        process_key: Some(process_key),
        ..Thread::default()
    };
    let sample = |thread_key, cpu, weight_ns, is_idle| CpuSample {
        thread_key,
        cpu,
        weight_ns,
        is_idle,
        ..CpuSample::default()
    };
    let wait = |thread_key, last_out_ns, wait_ns, wait_reason| ContextSwitch {
        thread_key,
        // The first thread moves after its first slice.
        cpu: Some(i32::from(last_out_ns >= 30)),
        process_key: Some(1),
        last_out_ns: Some(last_out_ns),
        wait_ns,
        run_ns: wait_ns.map(|ns: i64| ns / 2),
        in_ns: wait_ns.map(|ns: i64| last_out_ns + ns),
        prev_state: Some(5),
        wait_reason: Some(wait_reason),
        is_open_wait: wait_ns.is_none(),
        ..ContextSwitch::default()
    };
    let net = |kind, size_bytes| NetIo {
        protocol: "tcp",
        kind,
        process_key: Some(1),
        size_bytes,
        ..NetIo::default()
    };
    let counted = |second, events, record_bytes| EventCount {
        second,
        events,
        record_bytes,
        ..EventCount::default()
    };
    let frame = |frame_id, module_id| Frame {
        frame_id,
        module_id,
        address: 9,
        ..Frame::default()
    };
    let stack = |stack_id, parent_id, frame_id| Stack {
        stack_id,
        parent_id,
        frame_id,
        ..Stack::default()
    };
    let cpu_stack = |stack_id, cpu_ns| CpuStack {
        process_key: Some(1),
        stack_id,
        cpu_ns,
        samples: 1,
    };
    Source::batches(
        "x",
        vec![
            rows(&[Trace {
                file_name: "x.etl".into(),
                computer: Some("PC".into()),
                lost_events: 3,
                processors: 2,
                duration_ns: 2_000_000_000,
                ..Trace::default()
            }]),
            rows(&[
                counted(0, 30, 2_000_000),
                counted(0, 10, 1_000_000),
                counted(1, 20, 1_000_000),
            ]),
            rows(&[process(0, 0, "Idle"), process(1, 42, "app.exe")]),
            rows(&[thread(0, 0, 0), thread(1, 7, 1), thread(2, 8, 1)]),
            rows(&[
                sample(0, 0, 50, true),
                sample(1, 0, 20, false),
                sample(1, 1, 5, false),
            ]),
            rows(&[
                wait(1, 0, Some(10), 6),
                wait(2, 5, Some(10), 6),
                wait(1, 30, Some(4), 15),
                wait(2, 50, None, 6),
            ]),
            rows(&[CpuProcess {
                process_key: Some(1),
                cpu_ns: 25,
                run_ns: Some(12),
                threads: 2,
                cores: "0-1".into(),
                ..CpuProcess::default()
            }]),
            rows(&[CpuMethod {
                process_key: Some(1),
                method: "Main".into(),
                cpu_ns: 25,
                exclusive_ns: Some(0),
                ..CpuMethod::default()
            }]),
            rows(&[
                Module {
                    module_id: 0,
                    name: "a.dll".into(),
                    path: "a.dll".into(),
                    ..Module::default()
                },
                Module {
                    module_id: 1,
                    name: "b.dll".into(),
                    path: "b.dll".into(),
                    ..Module::default()
                },
            ]),
            rows(&[frame(0, Some(0)), frame(1, Some(1)), frame(2, None)]),
            rows(&[
                stack(0, None, 0),
                stack(1, Some(0), 1),
                stack(2, Some(1), 0),
                stack(3, None, 2),
            ]),
            rows(&[
                cpu_stack(0, 1),
                cpu_stack(1, 10),
                cpu_stack(2, 100),
                cpu_stack(3, 1000),
            ]),
            rows(&[DiskFile {
                path: Some(r"C:\a".into()),
                process_key: Some(1),
                reads: 2,
                read_bytes: 10,
                read_service_ns: 7,
                ..DiskFile::default()
            }]),
            rows(&[
                net("send", 10),
                net("send", 5),
                net("receive", 7),
                net("connect", 0),
            ]),
            rows(&[Gc {
                process_key: Some(1),
                generation: Some(2),
                reason: Some(1),
                duration_ns: Some(8),
                suspended_ns: Some(9),
                ..Gc::default()
            }]),
        ],
    )
}

fn ask(session: &Session, name: &str, params: &[(&str, &str)]) -> String {
    let params: Vec<Parameter> = params
        .iter()
        .map(|(name, value)| Parameter::new(name, value))
        .collect();
    let answer = session.ask(library::find(name).unwrap(), &params);
    text(answer.unwrap_or_else(|error| panic!("{name}: {error} ({:?})", error.hint())))
}

#[test]
fn answers_of_the_library() {
    let session = Session::new(vec![source()], &Options::default()).unwrap();
    for (name, params, want) in [
        (
            "cpu/processes",
            &[] as &[(&str, &str)],
            "app.exe|42|25|12|-|-|-|-|-|2|0-1|0|0|-",
        ),
        ("cpu/processes", &[("process", "cmd;41")], ""),
        ("cpu/processes", &[("top", "0")], ""),
        (
            "cpu/methods",
            &[("method", "m*")],
            "app.exe|42|-|Main|25|0|-|-|-|-|-|0|0|0",
        ),
        ("cpu/methods", &[("method", "x' OR '1'='1")], ""),
        (
            "cpu/modules",
            &[],
            "-|1000|1000\na.dll|111|101\nb.dll|110|10",
        ),
        (
            "cpu/threads",
            &[],
            "app.exe|42|7|7|25|14|-|2|false|-|-\napp.exe|42|8|5|-|10|-|1|true|-|-",
        ),
        (
            "cpu/wait_reasons",
            &[],
            "app.exe|42|UserRequest|2|20|15|10|1\napp.exe|42|WrQueue|1|4|4|4|0",
        ),
        ("cpu/busy_per_processor", &[], "0|20|0|50|2\n1|5|0|0|1"),
        (
            "cpu/moves",
            &[],
            "app.exe|42|7|1|2|2|7|-|-\napp.exe|42|8|0|1|1|5|-|-",
        ),
        ("cpu/moves", &[("process", "none")], ""),
        (
            "disk/files",
            &[("path", "c:*")],
            r"C:\a|0|2|10|7|0|0|0|0|0|0",
        ),
        ("disk/processes", &[], "app.exe|42|0|2|10|7|0|0|0|0|0|0"),
        ("net/processes", &[], "app.exe|42|tcp|2|15|1|7|1|0|0"),
        (
            "dotnet/gc",
            &[("process", "app")],
            "app.exe|42|2|Induced|1|8|8|9|9",
        ),
        // 4 MB and 60 events in two seconds: 4000 MB of memory keep 2000 s of them.
        (
            "trace/rate",
            &[("disk_mb", "100")],
            "2.0|3.0|30.0|2000.0|50.0",
        ),
        (
            "trace/health",
            &[],
            "info|lost_buffers|0|-|buffers that the recorder lost\nwarning|lost_events|3|-|events that the recorder lost",
        ),
    ] {
        assert_eq!(ask(&session, name, params), want, "{name}");
    }
    assert!(
        ask(&session, "trace/machine", &[("topic", "trace")]).starts_with("trace|0|computer|PC\n")
    );
}

#[test]
fn every_question_works_with_one_and_with_several_extracts() {
    let empty = || Source::batches("empty", Vec::new());
    let one = Session::new(vec![empty()], &Options::default()).unwrap();
    let several = Session::new(vec![empty(), source()], &Options::default()).unwrap();
    for query in library::all() {
        assert_eq!(ask(&one, &query.name, &[]), "", "{}", query.name);
        let answer = ask(&several, &query.name, &[]);
        assert!(
            answer.lines().all(|line| line.starts_with("1|")),
            "{}: {answer}",
            query.name
        );
    }
    assert_eq!(
        ask(&several, "cpu/modules", &[]),
        "1|-|1000|1000\n1|a.dll|111|101\n1|b.dll|110|10"
    );
}

#[test]
fn questions_of_the_reference_are_understood() {
    let session = Session::from_batches(Vec::new()).unwrap();
    assert!(reference::QUESTIONS.len() >= 6);
    for (title, sql) in reference::QUESTIONS {
        assert_eq!(
            text(
                session
                    .sql(sql)
                    .unwrap_or_else(|error| panic!("{title}: {error}"))
            ),
            "",
            "{title}"
        );
    }
}
