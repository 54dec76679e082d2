//! `dump timer` on requests that are written here.

use etwkit_extract::{Writer, WriterOptions};
use etwkit_trace::table::{Process, TimerResolution, Trace};

use crate::dump_small::{batch, finish};
use crate::support::{json_lines, run};

const MS: i64 = 1_000_000;

#[test]
fn requests_for_the_timer_hold_until_the_next_one_or_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timer.etwx");
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    batch(
        &mut writer,
        &[Trace {
            duration_ns: 1000 * MS,
            ..Trace::default()
        }],
    );
    let name = Some("shop.exe".into());
    batch(
        &mut writer,
        &[Process {
            process_key: 1,
            pid: 4711,
            name,
            ..Process::default()
        }],
    );
    let asked =
        |kind: &'static str, start: Option<i64>, end: Option<i64>, tick_us: i64| TimerResolution {
            kind,
            process_key: (kind == "process").then_some(1),
            resolution_ns: tick_us * 1000,
            start_ns: start.map(|ms| ms * MS),
            end_ns: end.map(|ms| ms * MS),
            ..TimerResolution::default()
        };
    batch(
        &mut writer,
        &[
            asked("process", Some(100), Some(300), 1000),
            asked("process", Some(500), None, 1000),
            asked("kernel", None, Some(250), 500),
        ],
    );
    finish(writer);
    let path = path.to_str().unwrap();
    let rows = |more: &[&str]| -> Vec<(String, i64, i64, f64)> {
        json_lines(&run(&[&["dump", "timer", "--json"], more, &[path]].concat()).out)
            .iter()
            .map(|row| {
                let number = |name: &str| row[name].as_i64().unwrap();
                let kind = row["kind"].as_str().unwrap().to_owned();
                let share = row["share_percent"].as_f64().unwrap();
                (kind, number("count"), number("duration_ns") / MS, share)
            })
            .collect()
    };
    let process = |count, held, share| ("process".to_owned(), count, held, share);
    // 200 ms, and from 500 ms to the end at 1,000 ms; what was there when recording began counts from 0.
    let kernel = ("kernel".to_owned(), 1, 250, 25.0);
    assert_eq!(rows(&[]), [process(2, 700, 70.0), kernel.clone()]);
    assert_eq!(
        rows(&["--details", "--kind", "process"]),
        [process(1, 500, 50.0), process(1, 200, 20.0)]
    );
    assert_eq!(rows(&["--range", "0.3..0.4"]), [process(1, 200, 20.0)]);
    assert_eq!(rows(&["--tick", "..600"]), [kernel]);
    let text = run(&["dump", "timer", path]).out;
    let of_kernel = text.lines().find(|line| line.contains("kernel"));
    assert!(
        of_kernel.is_some_and(|line| line.contains("(none)")),
        "{text}"
    );
}
