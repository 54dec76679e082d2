//! `dump service` on services that are written here.

use etwkit_extract::{Writer, WriterOptions};
use etwkit_trace::table::{CpuProcess, Process, Service, Trace};

use crate::dump_small::{batch, finish};
use crate::support::{json_lines, run};

#[test]
fn services_have_the_cpu_of_the_process_that_they_share() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("services.etwx");
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    batch(&mut writer, &[Trace::default()]);
    let process = |key, pid, name: &str| Process {
        process_key: key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    batch(
        &mut writer,
        &[
            process(1, 800, "svchost.exe"),
            process(2, 900, "MsMpEng.exe"),
        ],
    );
    let service = |name: &str, display: &str, process: Option<i32>, pid| Service {
        name: name.into(),
        display_name: Some(display.into()),
        process_name: Some("gone.exe".into()),
        pid,
        process_key: process,
    };
    batch(
        &mut writer,
        &[
            service("Dnscache", "DNS Client", Some(1), 800),
            service("LanmanWorkstation", "Workstation", Some(1), 800),
            service("Spooler", "Print Spooler", None, 1000),
            service("WinDefend", "Defender", Some(2), 900),
        ],
    );
    let cpu = |key, samples: i64, cpu_ns, run_ns| CpuProcess {
        process_key: Some(key),
        samples,
        cpu_ns,
        run_ns: Some(run_ns),
        ..CpuProcess::default()
    };
    batch(
        &mut writer,
        &[cpu(1, 3, 3_000_000, 9_000_000), cpu(2, 0, 0, 2_000_000)],
    );
    finish(writer);
    let path = path.to_str().unwrap();
    let rows = |more: &[&str]| -> Vec<(String, i64, Option<i64>, String)> {
        let rows = json_lines(&run(&[&["dump", "service", "--json"], more, &[path]].concat()).out);
        let text = |text: &serde_json::Value| text.as_str().unwrap().to_owned();
        let row = |row: &serde_json::Value| {
            let sharing = row["services_in_process"].as_i64().unwrap();
            (
                text(&row["service"]),
                sharing,
                row["cpu_ns"].as_i64(),
                text(&row["process"]),
            )
        };
        rows.iter().map(row).collect()
    };
    let of = |name: &str, sharing, cpu, process: &str| {
        (name.to_owned(), sharing, cpu, process.to_owned())
    };
    // One process has been sampled, so that CPU is that of samples: 0 for the one without any.
    let dns = of("Dnscache", 2, Some(3_000_000), "svchost.exe");
    let workstation = of("LanmanWorkstation", 2, Some(3_000_000), "svchost.exe");
    let defender = of("WinDefend", 1, Some(0), "MsMpEng.exe");
    // Its process is not in the trace; the list of services still says what it is called.
    let spooler = of("Spooler", 1, None, "gone.exe");
    assert_eq!(
        rows(&["--service", "*dns*;*station"]),
        [dns.clone(), workstation.clone()]
    );
    assert_eq!(
        rows(&["--service", "Print*"]),
        std::slice::from_ref(&spooler)
    );
    let mut all = rows(&[]);
    assert_eq!(
        all.last().unwrap().2.or(Some(0)),
        Some(0),
        "the largest come first: {all:?}"
    );
    all.sort();
    assert_eq!(all, [dns, workstation, spooler, defender]);
    let text = run(&["dump", "service", "--process", "svchost", path]).out;
    assert!(
        text.contains("Services in it") && !text.contains("WinDefend"),
        "{text}"
    );
}
