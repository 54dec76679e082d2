//! The truth of a trace is equal to the findings of this workspace's readers.

use etwkit_synth::Options;
use etwkit_synth::truth::Transfers;
use etwkit_testkit::Comparison;
use etwkit_trace::summary::Summary;
use serde_json::{Map, Value, json};

use super::kit::{office, open, seeded, written};

fn transfers(t: &Transfers) -> Value {
    json!({
        "reads": t.reads,
        "read_bytes": t.read_bytes,
        "writes": t.writes,
        "write_bytes": t.write_bytes,
        "flushes": t.flushes,
        "elapsed_us": t.elapsed_ns as f64 / 1e3,
        "service_us": t.service_ns as f64 / 1e3,
    })
}

fn table<'t, K: ToString + 't>(rows: impl IntoIterator<Item = (&'t K, &'t Transfers)>) -> Value {
    rows.into_iter()
        .map(|(key, t)| (key.to_string(), transfers(t)))
        .collect::<Map<_, _>>()
        .into()
}

const fn arguments(seed: u64, compressed: bool) -> Options {
    Options {
        scale: 1,
        seed,
        compressed,
        cpus: None,
    }
}

const ALL: [(&str, Options); 17] = [
    ("office", arguments(1, false)),
    ("office", arguments(2, true)),
    ("git-bash", arguments(1, true)),
    ("wait-chain", arguments(2, false)),
    ("priority-inversion", arguments(3, true)),
    ("starvation", arguments(4, false)),
    ("pe-cores", arguments(5, true)),
    ("file-filters", arguments(1, false)),
    ("memory", arguments(2, true)),
    ("services", arguments(3, false)),
    ("process-starts", arguments(4, true)),
    ("timers", arguments(5, false)),
    ("system-calls", arguments(6, true)),
    ("name-lookup", arguments(7, false)),
    ("desktop", arguments(8, true)),
    ("tracing", arguments(9, false)),
    ("collections", arguments(10, true)),
];

#[test]
fn summaries_equal_the_truth() {
    for (scenario, options) in ALL {
        let (trace, truth) = written(scenario, &options);
        let session = open(trace);
        let summary = Summary::read(&session).unwrap();
        let compare = |section: &str, truth: &Value| {
            Comparison::of(section, truth, &summary.sections[section]).assert_equal();
        };
        // Integers are compared exactly in both directions.
        let counts = serde_json::to_value(&truth.counts).unwrap();
        compare("counts", &counts);
        for key in ["by_header", "by_cpu", "kernel", "provider"] {
            assert_eq!(summary.sections["counts"][key], counts[key], "{key}");
        }
        let mut samples = serde_json::to_value(&truth.samples).unwrap();
        samples["stacks"]
            .as_object_mut()
            .unwrap()
            .remove("distinct");
        compare("cpu", &samples);
        for key in [
            "by_process",
            "by_thread",
            "by_core",
            "busy_by_core",
            "exclusive_by_module",
        ] {
            assert_eq!(summary.sections["cpu"][key], samples[key], "{key}");
        }
        assert_eq!(
            summary.sections["cpu"]["stacks"]["key_references_unresolved"],
            0
        );
        compare(
            "disk",
            &json!({
                "total": transfers(&truth.disk.total),
                "by_process": table(&truth.disk.by_process),
                "by_disk": table(&truth.disk.by_disk),
                "by_file": table(&truth.disk.by_file),
            }),
        );
        let seconds = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e9);
        for (pid, process) in &truth.processes {
            let line = Some(process.command_line.as_str()).filter(|line| !line.is_empty());
            let expected = json!({
                "name": process.name,
                "parent_pid": process.parent_pid,
                "command_line": line,
                "start_s": seconds(process.start_ns),
                "stop_s": seconds(process.stop_ns),
                "threads": process.threads.len(),
            });
            let ours = &summary.sections["processes"][pid.to_string()];
            Comparison::of("process", &expected, ours).assert_equal();
            if *pid == 4 {
                assert_eq!(ours["image_count"], 1);
            } else if scenario == "office" {
                assert_eq!(ours["image_count"], 3);
            } else {
                assert!(ours["image_count"].as_u64() >= Some(4), "{pid}");
            }
        }
        assert_eq!(
            summary.sections["processes"].as_object().unwrap().len(),
            truth.processes.len()
        );
        assert_eq!(
            summary.sections["totals"]["images_with_pdb"],
            summary.sections["totals"]["images"]
        );
        assert_eq!(summary.sections["totals"]["layout_fallbacks"], 0);
        let marks = truth
            .marks
            .iter()
            .map(|m| json!({ "time_s": m.time_ns as f64 / 1e9, "text": m.text }));
        compare(
            "sysconfig",
            &json!({
                "marks": marks.collect::<Vec<_>>(),
                "volumes": { r"\Device\HarddiskVolume3\": r"C:\", r"\SystemRoot\": r"C:\Windows\" },
                "cpu": { "mhz": 3000, "count": truth.header.cpu_count, "memory_mb": 16384, "computer_name": "ANNAS-PC", "domain_name": "ACME" },
                "kernel_base": if scenario == "office" { "0xfffff8021a400000" } else { "0xfffff8061a400000" },
            }),
        );
        compare(
            "header",
            &json!({
                "duration_s": truth.header.duration_ns as f64 / 1e9,
                "cpu_count": truth.header.cpu_count,
                "perf_freq": truth.header.perf_freq,
                "log_file_mode": if options.compressed { "0x4010001" } else { "0x10001" },
            }),
        );
    }
}

#[test]
fn a_process_starts_and_one_ends() {
    let (_, truth) = office(&seeded(1, false));
    let viewer = &truth.processes[&7016];
    assert!(
        viewer
            .start_ns
            .is_some_and(|ns| (300_000_000..400_000_000).contains(&ns)),
        "{viewer:?}"
    );
    assert!(viewer.times.run_ns > 0 && viewer.stop_ns.is_none());
    let updater = &truth.processes[&6644];
    assert!(
        updater.stop_ns.is_some_and(|ns| ns > 550_000_000) && updater.start_ns.is_none(),
        "{updater:?}"
    );
    assert!(truth.threads["5208/5388"].times.run_ns > 0);
}
