//! All numbers of a trace as one table: the example of `docs/numbers/metrics.md`.

use etwkit_question::numbers::Numbers;
use etwkit_question::text::Text;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{Format, Question};
use etwkit_questions::metrics::{MetricsRequest, MetricsRow};
use etwkit_sql::Session;
use etwkit_sql::time_format::{TimeFormat, TimeWriter};
use etwkit_trace::table::{CpuMethod, CpuProcess, DiskFile, DnsQuery};

use super::super::support::rows;
use super::{MS, process, trace};

/// Two processes with one name that use CPU, read a file, and look a host up.
fn session() -> Session {
    let cpu = |process_key: i32, cpu_ms: i64, ready_ms: i64| CpuProcess {
        process_key: Some(process_key),
        cpu_ns: cpu_ms * MS,
        ready_ns: Some(ready_ms * MS),
        ..CpuProcess::default()
    };
    let method = |module: Option<&str>, method: &str, cpu_ms: i64, wait_ms: i64| CpuMethod {
        process_key: Some(1),
        module: module.map(Into::into),
        method: method.into(),
        cpu_ns: cpu_ms * MS,
        wait_ns: Some(wait_ms * MS),
        ..CpuMethod::default()
    };
    let lookup = |duration_ms: Option<i64>, is_timed_out: bool| DnsQuery {
        process_key: Some(2),
        name: "example.org".into(),
        duration_ns: duration_ms.map(|ms| ms * MS),
        is_timed_out,
        ..DnsQuery::default()
    };
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[
            process(1, 100, "worker.exe"),
            process(2, 200, "worker.exe"),
            process(3, 300, "shell.exe"),
        ]),
        rows(&[cpu(1, 30, 4), cpu(2, 12, 0), cpu(3, 50, 1)]),
        rows(&[
            method(Some("app.dll"), "Load", 20, 5),
            method(Some("app.dll"), "+0x1a", 3, 0),
            method(None, "0x7ff0", 0, 2),
        ]),
        rows(&[DiskFile {
            path: Some("C:\\a.txt".into()),
            process_key: Some(1),
            read_bytes: 4096,
            read_service_ns: 2 * MS,
            flush_service_ns: MS,
            ..DiskFile::default()
        }]),
        rows(&[lookup(Some(7), true), lookup(None, false)]),
    ])
    .unwrap()
}

fn asked(asked: &MetricsRequest) -> Vec<String> {
    let text = |row: &MetricsRow| {
        format!(
            "{} {} {} = {} {} {}",
            row.metric,
            row.process.as_deref().unwrap_or("-"),
            row.name.as_deref().unwrap_or("-"),
            row.value,
            row.unit,
            row.better.as_deref().unwrap_or("-")
        )
    };
    let rows: Vec<MetricsRow> = asked.ask(&session()).unwrap();
    // Text shows the last row first.
    rows.iter().rev().map(text).collect()
}

#[test]
fn the_largest_value_of_each_metric_comes_first() {
    assert_eq!(
        asked(&MetricsRequest::default()),
        [
            "disk.read worker.exe - = 4096 bytes lower",
            "disk.time worker.exe - = 3 ms lower",
            "dns.queries worker.exe example.org = 2 count -",
            "dns.time worker.exe example.org = 7 ms lower",
            "dns.timeouts worker.exe example.org = 1 count lower",
            "method.cpu worker.exe app.dll!Load = 20 ms lower",
            "method.wait worker.exe app.dll!Load = 5 ms lower",
            "process.cpu shell.exe - = 50 ms lower",
            "process.ready worker.exe - = 4 ms lower",
            "trace.duration - - = 10000 ms -",
            "method.cpu worker.exe app.dll+0x1a = 3 ms lower",
            "method.wait worker.exe 0x7ff0 = 2 ms lower",
            // 30 and 12 ms of the two processes.
            "process.cpu worker.exe - = 42 ms lower",
            "process.ready shell.exe - = 1 ms lower",
        ]
    );
}

#[test]
fn only_times_have_digits_after_the_mark() {
    let text = Text {
        numbers: Numbers::default(),
        is_etwanalyzer: false,
        times: TimeWriter::new(TimeFormat::Seconds, 3, TraceInfo::default().clock()),
        process_times: None,
        command_lines: true,
    };
    let answer = MetricsRequest::default().answer(&session()).unwrap();
    let table = &answer.parts[0].table;
    let formats: Vec<Format> = table.columns().iter().map(|column| column.format).collect();
    // The value, its unit and its metric; the direction between them is hidden.
    let shown =
        |row: usize| [0, 1, 3].map(|column| text.value(formats[column], &table.value(row, column)));
    let all: Vec<String> = (0..table.len()).map(|row| shown(row).join(" ")).collect();
    for expected in [
        "4,096 bytes disk.read",
        "3.000 ms disk.time",
        "2 count dns.queries",
        "10,000.000 ms trace.duration",
    ] {
        assert!(all.iter().any(|row| row == expected), "{expected}: {all:?}");
    }
}

#[test]
fn metrics_processes_and_names_choose_rows() {
    let of = |metric: Option<&str>, process: Option<&str>, name: Option<&str>| {
        asked(&MetricsRequest {
            metric: metric.map(str::to_owned),
            process: process.map(str::to_owned),
            name: name.map(str::to_owned),
            ..MetricsRequest::default()
        })
    };
    assert_eq!(
        of(Some("method.*;!*.wait"), None, Some("*Load")),
        ["method.cpu worker.exe app.dll!Load = 20 ms lower"]
    );
    assert_eq!(
        of(None, Some("shell*"), None),
        [
            "process.cpu shell.exe - = 50 ms lower",
            "process.ready shell.exe - = 1 ms lower",
        ]
    );
}

#[test]
fn a_metric_that_does_not_exist_is_an_error_with_those_that_do() {
    let wrong = MetricsRequest {
        metric: Some("cpu.*".into()),
        ..MetricsRequest::default()
    };
    let error = wrong.check().unwrap_err().to_string();
    assert!(
        error.contains("no metric matches cpu.*") && error.contains("process.cpu"),
        "{error}"
    );
    let right = MetricsRequest {
        metric: Some("process.*".into()),
        ..MetricsRequest::default()
    };
    assert!(right.check().is_ok());
}
