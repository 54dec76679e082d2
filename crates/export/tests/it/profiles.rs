//! Profiles of rows that were made by hand, in each format.

use etwkit_export::{ExportRequest, FORMATS, Written, format};
use etwkit_query::Session;
use etwkit_query::arrow::array::RecordBatch;
use etwkit_query::dump::ProcessQuery;
use etwkit_query::dump::cpu_source::CpuSource;
use etwkit_trace::table::{
    Columns, CpuProcess, CpuSample, CpuStack, Frame, Method, Module, Process, Row, Stack, Table, Thread,
};
use serde_json::{Value, json};

fn rows<R: Row>(rows: &[R]) -> (&'static Table, Vec<RecordBatch>) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// Nanoseconds that one sample stands for.
const WEIGHT: i64 = 1_000_100;

/// Two processes. Stacks 0 to 3 are `main`, `main b` (b at two places), `main b`, `main a`; 4 is code without
/// a name.
fn session() -> Session {
    let process = |key, pid, name: &str| Process {
        process_key: key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let thread =
        |key, process, tid| Thread { thread_key: key, process_key: Some(process), tid, ..Thread::default() };
    let method =
        |id, name: &str| Method { method_id: id, name: name.into(), module_id: Some(0), ..Method::default() };
    let frame = |id, method, rva| Frame {
        frame_id: id,
        module_id: Some(0),
        method_id: method,
        rva: Some(rva),
        ..Frame::default()
    };
    let stack =
        |id, parent, frame| Stack { stack_id: id, parent_id: parent, frame_id: frame, ..Stack::default() };
    let sum = |key, stack, samples| CpuStack {
        process_key: Some(key),
        stack_id: stack,
        samples,
        cpu_ns: samples * WEIGHT,
    };
    let sample = |key, thread, stack| CpuSample {
        process_key: Some(key),
        thread_key: thread,
        stack_id: stack,
        weight_ns: WEIGHT,
        ..CpuSample::default()
    };
    let total = |key, samples| CpuProcess {
        process_key: Some(key),
        samples,
        cpu_ns: samples * WEIGHT,
        ..CpuProcess::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 8, "shop.exe"), process(2, 12, "db.exe")]),
        rows(&[thread(1, 1, 80), thread(2, 1, 84), thread(3, 2, 120)]),
        rows(&[Module {
            module_id: 0,
            name: "shop.dll".into(),
            path: "C:\\shop.dll".into(),
            ..Module::default()
        }]),
        rows(&[method(0, "main"), method(1, "b"), method(2, "a")]),
        rows(&[
            frame(0, Some(0), 1),
            frame(1, Some(1), 16),
            frame(2, Some(1), 20),
            frame(3, Some(2), 32),
            frame(4, None, 64),
        ]),
        rows(&[
            stack(0, None, 0),
            stack(1, Some(0), 1),
            stack(2, Some(0), 2),
            stack(3, Some(0), 3),
            stack(4, None, 4),
        ]),
        rows(&[
            sample(1, 1, 0),
            sample(1, 1, 1),
            sample(1, 2, 2),
            sample(1, 2, 3),
            sample(2, 3, 4),
            sample(2, 3, 1),
        ]),
        rows(&[sum(1, 0, 1), sum(1, 1, 1), sum(1, 2, 1), sum(1, 3, 1), sum(2, 4, 1), sum(2, 1, 1)]),
        rows(&[total(1, 4), total(2, 2)]),
    ])
    .unwrap()
}

/// The profile, and what was reported about it.
fn written(request: &ExportRequest) -> (Value, Written) {
    let mut out = Vec::new();
    let written = request.write(format("speedscope").unwrap(), &session(), &mut out).unwrap();
    (serde_json::from_slice(&out).unwrap(), written)
}

/// Samples as `outer;inner weight`.
fn samples(file: &Value) -> Vec<String> {
    let profile = &file["profiles"][0];
    let name = |frame: &Value| {
        file["shared"]["frames"][frame.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned()
    };
    let stack = |stack: &Value| stack.as_array().unwrap().iter().map(name).collect::<Vec<_>>().join(";");
    let weights = profile["weights"].as_array().unwrap();
    let stacks = profile["samples"].as_array().unwrap();
    assert_eq!(stacks.len(), weights.len());
    stacks.iter().zip(weights).map(|(one, weight)| format!("{} {weight}", stack(one))).collect()
}

fn of(process: Option<&str>) -> ExportRequest {
    let processes = ProcessQuery { process: process.map(str::to_owned), ..ProcessQuery::default() };
    ExportRequest { name: "shop_8".into(), processes, ..ExportRequest::default() }
}

#[test]
fn equal_stacks_are_one_sample_and_stand_by_name() {
    let (file, written) = written(&of(Some("8")));
    assert_eq!(
        samples(&file),
        ["shop.dll!main 1.0001", "shop.dll!main;shop.dll!a 1.0001", "shop.dll!main;shop.dll!b 2.0002"]
    );
    assert_eq!(
        written,
        Written { stacks: 3, frames: 3, total_ns: 4 * WEIGHT, source: Some(CpuSource::Samples) }
    );
    let profile = &file["profiles"][0];
    assert_eq!(profile["endValue"], json!(4.0004));
    assert_eq!((&profile["type"], &profile["unit"]), (&json!("sampled"), &json!("milliseconds")));
    assert_eq!((&profile["name"], &profile["startValue"]), (&json!("shop_8"), &json!(0)));
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
}

#[test]
fn folded_stacks_are_lines_of_frames() {
    let text = |request: &ExportRequest| {
        let mut out = Vec::new();
        let written = request.write(format("folded").unwrap(), &session(), &mut out).unwrap();
        (String::from_utf8(out).unwrap(), written)
    };
    let (lines, told) = text(&of(Some("8")));
    assert_eq!(
        lines,
        "shop.dll!main 1000100\nshop.dll!main;shop.dll!a 1000100\nshop.dll!main;shop.dll!b 2000200\n"
    );
    assert_eq!(told, written(&of(Some("8"))).1, "both formats tell the same");
    let roots = text(&ExportRequest { process_roots: true, thread_roots: true, ..of(Some("12")) }).0;
    let of_db = "db.exe (12);Thread  120 - Process 12";
    assert_eq!(roots, format!("{of_db};shop.dll!main;shop.dll!b 1000100\n{of_db};shop.dll+0x40 1000100\n"));
    assert_eq!(text(&of(Some("nobody"))).0, "");
}

#[test]
fn formats_are_found_by_name() {
    for one in FORMATS {
        assert_eq!(format(one.name()).unwrap().sentence(), one.sentence());
        assert!(!one.sentence().ends_with('.'), "{}", one.name());
    }
    assert!(format("nosuch").is_none());
}

#[test]
fn stacks_begin_with_process_and_thread() {
    let request = ExportRequest { process_roots: true, thread_roots: true, ..of(None) };
    assert_eq!(
        samples(&written(&request).0),
        [
            "shop.exe (8);Thread  80 - Process 8;shop.dll!main 1.0001",
            "shop.exe (8);Thread  80 - Process 8;shop.dll!main;shop.dll!b 1.0001",
            "shop.exe (8);Thread  84 - Process 8;shop.dll!main;shop.dll!a 1.0001",
            "shop.exe (8);Thread  84 - Process 8;shop.dll!main;shop.dll!b 1.0001",
            "db.exe (12);Thread  120 - Process 12;shop.dll!main;shop.dll!b 1.0001",
            "db.exe (12);Thread  120 - Process 12;shop.dll+0x40 1.0001",
        ]
    );
    let merged = written(&of(None)).0;
    assert_eq!(
        samples(&merged),
        [
            "shop.dll!main 1.0001",
            "shop.dll!main;shop.dll!a 1.0001",
            "shop.dll!main;shop.dll!b 3.0003",
            "shop.dll+0x40 1.0001"
        ],
        "without roots everything is one tree"
    );
}

#[test]
fn nothing_is_a_profile_without_samples() {
    let (file, written) = written(&of(Some("nobody")));
    assert_eq!((samples(&file), written), (Vec::new(), Written::default()));
    assert_eq!(file["shared"]["frames"], json!([]));
}

#[test]
fn without_cpu_there_is_nothing_to_export() {
    let session = Session::from_batches(Vec::new()).unwrap();
    let error = of(None).write(FORMATS[0], &session, &mut Vec::new()).unwrap_err();
    assert!(error.is_nothing() && error.hint().is_some(), "{error}");
}
