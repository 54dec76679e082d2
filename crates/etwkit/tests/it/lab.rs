//! `etwkit lab`: the program itself, since some workloads start it again.

use std::process::{Command, Output};

use serde_json::Value;

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .arg("lab")
        .args(args)
        .output()
        .unwrap()
}

/// The values of a workload by name.
fn measured(args: &[&str]) -> Value {
    let output = lab(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (lines.len(), &lines[0]["command"]),
        (2, &Value::from("lab")),
        "{text}"
    );
    let values = lines[1]["measured"]["values"].as_array().unwrap().clone();
    values
        .into_iter()
        .map(|value| {
            (
                value["name"].as_str().unwrap().to_owned(),
                value["value"].clone(),
            )
        })
        .collect()
}

#[test]
fn processes_are_all_there_at_once_and_then_all_gone() {
    let output = lab(&["process-create", "--children", "3", "--grandchildren", "4"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("\nTesting with 15 descendant processes.\nLock: "),
        "{text}"
    );
    assert!(
        text.contains(" every 10 ms") && text.contains("\nProcess creation took "),
        "{text}"
    );
    assert!(
        text.contains(" ms.\n\nProcess termination starts now.\nProcess destruction took "),
        "{text}"
    );
    assert_eq!(text.matches("\nLock blocked for ").count(), 2, "{text}");
    assert_eq!(
        text.matches("\nAverage block time was ").count(),
        2,
        "{text}"
    );
    let advice = String::from_utf8(output.stderr).unwrap();
    assert!(
        advice.contains("etwkit run process-create --record cswitch --record usercrit"),
        "{advice}"
    );
    let values = measured(&["process-create", "--children", "2", "--grandchildren", "1"]);
    for phase in ["create", "destroy"] {
        let of = |what: &str| values[format!("{phase}_{what}_s")].as_f64().unwrap();
        let [total, most, median] = ["blocked_total", "blocked_max", "blocked_median"].map(of);
        assert!(
            median <= most && most <= total && values[format!("{phase}_s")].is_f64(),
            "{values}"
        );
    }
}

#[test]
fn what_windows_alone_can_do_is_a_plan_elsewhere() {
    if cfg!(windows) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let plans = [
        (
            vec!["process-create", "--load", "user32"],
            "  1. It starts 40 processes, each of which starts 24",
        ),
        (
            vec!["delay-load", out, "--processes", "50"],
            "  1. It starts 50 processes, which wait until all",
        ),
        (
            vec!["cfg-start", out, "--functions", "10"],
            "starts each of them and shows how the time grows",
        ),
    ];
    for (args, wanted) in plans {
        let output = lab(&args);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(wanted), "{text}");
        std::fs::remove_dir_all(out).ok();
    }
}

#[test]
fn a_click_keeps_a_window_from_answering() {
    let values = measured(&["hang", "--seconds", "1", "--clicks", "2"]);
    assert!(values["longest_s"].as_f64().unwrap() >= 1.0, "{values}");
    assert!(
        values["hangs"].as_f64().unwrap() >= 2.0 && values["clicks"] == 2.0,
        "{values}"
    );
}

#[test]
fn threads_that_wait_in_a_loop_take_what_sleeping_ones_do_not() {
    let used = |wait| {
        let values = measured(&["spin", "--threads", "1", "--seconds", "1", "--wait", wait]);
        // The first piece, one each 200 ms, and the end.
        assert!(
            (4.0..=8.0).contains(&values["pieces"].as_f64().unwrap()),
            "{values}"
        );
        values["cpu_s"].as_f64()
    };
    let (spin, block) = (used("spin"), used("block"));
    if let Some((spin, block)) = spin.zip(block) {
        assert!(spin > 10.0 * block, "{spin} s, {block} s");
    }
    let load = measured(&["cpu-load", "--threads", "2", "--seconds", "1"]);
    assert!(
        load["wall_s"].as_f64().unwrap() >= 1.0 && load["threads"] == 2.0,
        "{load}"
    );
}

#[test]
fn what_clicks_leave_open_is_what_the_system_counts() {
    let values = measured(&[
        "leak",
        "--clicks",
        "20",
        "--handles",
        "3",
        "--memory",
        "16",
        "--pause",
        "0",
    ]);
    assert_eq!(
        (&values["handles_kept"], &values["bytes_kept"]),
        (&60.0.into(), &(20.0 * 16384.0).into())
    );
    if let Some((before, after)) = values["handles_before"]
        .as_f64()
        .zip(values["handles_after"].as_f64())
    {
        assert_eq!(after - before, 60.0, "{values}");
    }
}

#[test]
fn the_first_thread_of_a_chain_waits_for_the_sleep_of_the_last() {
    let values = measured(&[
        "wait-chain",
        "--depth",
        "6",
        "--sleep",
        "20",
        "--repeat",
        "3",
    ]);
    assert_eq!(values["slept_s"], 0.06);
    assert!(values["waited_s"].as_f64().unwrap() >= 0.06, "{values}");
}

#[test]
fn files_of_somebody_else_are_an_error_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "all of it").unwrap();
    let output = lab(&["write-files", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("thesis.txt, which is not of this workload"),
        "{stderr}"
    );
    assert!(stderr.contains("hint: name an empty folder"), "{stderr}");
}

#[test]
fn workloads_of_files_measure_and_clean_up() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let cached = measured(&["write-cache", out, "--size", "2", "--piece", "500"]);
    assert!(
        cached["never_rate"].as_f64().unwrap() > 0.0 && cached["each_s"].as_f64().unwrap() > 0.0,
        "{cached}"
    );
    let churned = measured(&["file-churn", out, "--churn", "50", "--files", "20"]);
    assert!(
        churned["longest_s"].as_f64() >= churned["median_s"].as_f64(),
        "{churned}"
    );
    if cfg!(not(target_os = "macos")) {
        let read = measured(&["cold-read", out, "--size", "2"]);
        assert!(read["cold_s"].as_f64().unwrap() > 0.0, "{read}");
    }
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 0);
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, "all of it").unwrap();
    let copied = measured(&["copy-file", from.to_str().unwrap(), to.to_str().unwrap()]);
    assert_eq!(
        (&copied["bytes"], std::fs::read_to_string(&to).unwrap()),
        (&Value::from(9.0), "all of it".to_owned())
    );
}

#[test]
fn calls_of_the_system_are_counted() {
    let values = measured(&["syscall-storm", "--threads", "1", "--seconds", "1"]);
    assert!(
        values["calls"].as_f64().unwrap() >= 100.0 && values["wall_s"].as_f64().unwrap() >= 1.0,
        "{values}"
    );
    if cfg!(target_os = "linux") && Command::new("strace").arg("-V").output().is_ok() {
        let values = measured(&[
            "syscall-storm",
            "--threads",
            "1",
            "--seconds",
            "1",
            "--traced",
        ]);
        let [plain, traced, times] =
            ["call_ns", "traced_call_ns", "times"].map(|name| values[name].as_f64().unwrap());
        // How many times depends on who else wants the processors.
        assert!(
            traced > 0.0 && (traced / plain / times - 1.0).abs() < 1e-6,
            "{values}"
        );
    }
}

#[test]
fn a_load_may_have_another_priority() {
    let load = measured(&[
        "cpu-load",
        "--threads",
        "1",
        "--seconds",
        "1",
        "--priority",
        "idle",
    ]);
    assert!(
        load["wall_s"].as_f64().unwrap() >= 1.0 && load["threads"] == 1.0,
        "{load}"
    );
    if cfg!(not(windows)) {
        let output = lab(&["cpu-load", "--seconds", "1", "--priority", "high"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("hint: idle and below-normal are for everybody"),
            "{stderr}"
        );
    }
}
