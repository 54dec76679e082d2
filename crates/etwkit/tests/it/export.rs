//! Profiles of whole traces: what the form asks for, and the sums of `dump cpu`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Answer, Exit, run, trace};

fn extract(trace: &str, folder: &Path) -> String {
    let extract = folder.join("x.etwx").to_str().unwrap().to_owned();
    let answer = run(&["extract", trace, "--out", &extract]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    extract
}

/// Nanoseconds of a number of milliseconds as it is written.
fn ns(ms: &str) -> i64 {
    let (whole, fraction) = ms.split_once('.').unwrap_or((ms, ""));
    whole.parse::<i64>().unwrap() * 1_000_000 + format!("{fraction:0<6}").parse::<i64>().unwrap()
}

/// Sums of a profile by its outermost frame. Everything that the form asks for is checked.
#[track_caller]
fn sums(path: &Path) -> BTreeMap<String, i64> {
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        file["$schema"],
        "https://www.speedscope.app/file-format-schema.json"
    );
    let frames = file["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().all(|frame| frame["name"].is_string()));
    let [profile] = file["profiles"].as_array().unwrap().as_slice() else {
        panic!("one profile")
    };
    assert_eq!(
        (profile["type"].as_str(), profile["unit"].as_str()),
        (Some("sampled"), Some("milliseconds"))
    );
    assert!(profile["name"].is_string() && profile["startValue"] == 0);
    let (samples, weights) = (
        profile["samples"].as_array().unwrap(),
        profile["weights"].as_array().unwrap(),
    );
    assert_eq!(samples.len(), weights.len());
    let (mut sums, mut used) = (BTreeMap::new(), vec![false; frames.len()]);
    let mut seen = std::collections::BTreeSet::new();
    for (sample, weight) in samples.iter().zip(weights) {
        let stack: Vec<usize> = sample
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| frame.as_u64().unwrap() as usize)
            .collect();
        stack.iter().for_each(|frame| used[*frame] = true);
        let root = frames[stack[0]]["name"].as_str().unwrap().to_owned();
        *sums.entry(root).or_default() += ns(&weight.to_string());
        assert!(seen.insert(stack), "a stack stands twice");
    }
    assert!(used.iter().all(|used| *used), "a frame without sample");
    assert_eq!(
        sums.values().sum::<i64>(),
        ns(&profile["endValue"].to_string())
    );
    sums
}

/// Sums of folded stacks by the outermost frame.
fn sums_of_lines(path: &str) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let (stack, ns) = line.rsplit_once(' ').unwrap();
        *sums
            .entry(stack.split(';').next().unwrap().to_owned())
            .or_default() += ns.parse::<i64>().unwrap();
    }
    sums
}

/// Sums of a flame graph by the outermost frame: those that lie lowest.
fn sums_of_picture(path: &str) -> BTreeMap<String, i64> {
    let text = std::fs::read_to_string(path).unwrap();
    let frames: Vec<(u32, String, i64)> = text
        .split("<g><title>")
        .skip(1)
        .map(|frame| {
            let (title, rest) = frame.split_once("</title>").unwrap();
            let (name, numbers) = title.split_once('\n').unwrap();
            let y = rest
                .split_once(" y=\"")
                .unwrap()
                .1
                .split_once('"')
                .unwrap()
                .0;
            (
                y.parse().unwrap(),
                name.to_owned(),
                ns(numbers.split_once(" ms").unwrap().0),
            )
        })
        .collect();
    let bottom = frames.iter().map(|(y, ..)| *y).max().unwrap();
    let mut sums = BTreeMap::new();
    for (_, name, ns) in frames.into_iter().filter(|(y, ..)| *y == bottom) {
        *sums.entry(name).or_default() += ns;
    }
    sums
}

/// Sums of a profile of pprof by process, as `go tool pprof` reads it; nothing without Go. Its first run on a
/// machine takes a minute or two, in which Go builds it.
fn sums_of_pprof(path: &str) -> Option<BTreeMap<String, i64>> {
    let has_go = Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_go {
        etwkit_testkit::skip("export::sums_of_pprof_are_those_of_dump_cpu: Go is not installed");
        return None;
    }
    let output = Command::new("go")
        .args(["tool", "pprof", "-raw", path])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let (mut sums, mut open) = (BTreeMap::new(), None);
    let (mut process, mut pid) = ("?".to_owned(), "?".to_owned());
    for line in text
        .lines()
        .skip_while(|line| !line.starts_with("cpu/"))
        .skip(1)
    {
        let label = |name: &str| {
            let value = line
                .trim_start()
                .strip_prefix(name)?
                .strip_prefix(":[")?
                .strip_suffix(']')?;
            Some(value.to_owned())
        };
        process = label("process").unwrap_or(process);
        pid = label("pid").unwrap_or(pid);
        let value: Option<i64> = line
            .split_once(": ")
            .and_then(|(values, _)| values.split_whitespace().next()?.parse().ok());
        if value.is_some() || line == "Locations" {
            if let Some(ns) = open {
                *sums.entry(format!("{process} ({pid})")).or_default() += ns;
            }
            (open, process, pid) = (value, "?".to_owned(), "?".to_owned());
        }
        if line == "Locations" {
            break;
        }
    }
    Some(sums)
}

/// CPU of processes as `dump cpu` says, those without any left out.
fn cpu(extract: &str) -> BTreeMap<String, i64> {
    let Answer { out, .. } = run(&["dump", "cpu", "--json", extract]);
    let mut sums = BTreeMap::new();
    for row in out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        let process = row["process"].as_str().unwrap_or("?");
        let pid = row["pid"]
            .as_i64()
            .map_or("?".to_owned(), |pid| pid.to_string());
        *sums.entry(format!("{process} ({pid})")).or_default() += row["cpu_ns"].as_i64().unwrap();
    }
    sums.retain(|_, ns| *ns != 0);
    sums
}

#[track_caller]
fn sums_are_those_of_dump_cpu(trace: &str) {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(trace, folder.path());
    let expected = cpu(&extract);
    assert!(expected.len() > 1, "{trace}");
    let all = run(&["export", "--all-processes", &extract]);
    assert_eq!(all.exit, Exit::Answered, "{}", all.err);
    let file = folder.path().join("x_AllProcesses.speedscope");
    assert!(
        all.out
            .starts_with(&format!("Converted File: {}", file.display())),
        "{}",
        all.out
    );
    assert_eq!(sums(&file), expected, "{trace}");
    let again = run(&["export", "--all-processes", &extract]);
    assert!(
        again.exit == Exit::Error && again.err.contains("--force"),
        "{}",
        again.err
    );
    // Stacks by thread have the same sum.
    let threads = folder.path().join("threads").to_str().unwrap().to_owned();
    let by_thread = run(&[
        "export",
        "--all-processes",
        "--per-thread",
        "--out",
        &threads,
        &extract,
    ]);
    assert_eq!(by_thread.exit, Exit::Answered, "{}", by_thread.err);
    assert_eq!(sums(Path::new(&threads)), expected, "{trace}");
    let folded = folder.path().join("all").to_str().unwrap().to_owned();
    let lines = run(&[
        "export",
        "--all-processes",
        "--format",
        "folded",
        "--out",
        &folded,
        &extract,
    ]);
    assert_eq!(lines.exit, Exit::Answered, "{}", lines.err);
    assert_eq!(sums_of_lines(&folded), expected, "{trace}");
    let written = |format: &str| {
        let file = folder.path().join(format).to_str().unwrap().to_owned();
        let answer = run(&[
            "export",
            "--all-processes",
            "--format",
            format,
            "--out",
            &file,
            &extract,
        ]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        file
    };
    let mut drawn = sums_of_picture(&written("svg"));
    // Processes that are too narrow are drawn together.
    let total = |sums: &BTreeMap<String, i64>| sums.values().sum::<i64>();
    assert_eq!(total(&drawn), total(&expected), "{trace}");
    drawn.retain(|name, _| !name.starts_with('+'));
    assert!(
        !drawn.is_empty()
            && drawn
                .iter()
                .all(|(name, ns)| expected.get(name) == Some(ns)),
        "{drawn:?}"
    );
    if let Some(sums) = sums_of_pprof(&written("pprof")) {
        assert_eq!(sums, expected, "{trace}");
    }
    let (largest, ns) = expected.iter().max_by_key(|(_, ns)| **ns).unwrap();
    let pid = largest.rsplit_once('(').unwrap().1.trim_end_matches(')');
    let one = run(&["export", "--pid", pid, "--per-thread", "--json", &extract]);
    let row: Value = serde_json::from_str(one.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&row["total_ns"], &row["processes"]),
        (&Value::from(*ns), &Value::from(1))
    );
    let roots = sums(Path::new(row["file"].as_str().unwrap()));
    assert_eq!(roots.values().sum::<i64>(), *ns);
    let of_pid = format!(" - Process {pid}");
    assert!(
        roots
            .keys()
            .all(|root| root.starts_with("Thread  ") && root.ends_with(&of_pid)),
        "{roots:?}"
    );
}

#[test]
fn extracts_of_one_name_do_not_replace_each_other() {
    let (one, other, to) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let extracts = [&one, &other].map(|folder| extract(&trace("sched-5.etl"), folder.path()));
    let to = to.path().to_str().unwrap();
    let refused = run(&[
        "export",
        "--all-processes",
        "--force",
        "--out",
        to,
        &extracts[0],
        &extracts[1],
    ]);
    assert!(
        refused.exit == Exit::Error && refused.err.contains("would be one file"),
        "{}",
        refused.err
    );
    assert_eq!(std::fs::read_dir(to).unwrap().count(), 0);
}

#[test]
fn sums_of_profiles_are_those_of_dump_cpu() {
    sums_are_those_of_dump_cpu(&trace("sched-5.etl"));
    sums_are_those_of_dump_cpu(&trace("dotnet-5.etl"));
}

#[test]
fn sums_of_a_real_trace_are_those_of_dump_cpu() {
    let Some(traces) = etwkit_testkit::traces() else {
        return;
    };
    sums_are_those_of_dump_cpu(traces.join("net.4.5.2.x64.etl").to_str().unwrap());
}

#[test]
fn a_part_of_the_trace_and_waits_have_the_sums_of_trees() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(&trace("sched-5.etl"), folder.path());
    for metric in ["cpu", "wait", "ready"] {
        let args = [
            "dump",
            "cpu",
            "--stacks",
            "--metric",
            metric,
            "--min-percent",
            "0",
            "--range",
            "0.1..0.2",
            "--process",
            "gamma",
            "--json",
            &extract,
        ];
        let Answer { out, err, .. } = run(&args);
        let rows = out
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let roots = rows.filter(|row| row["depth"] == 0);
        let expected: i64 = roots.map(|row| row["inclusive_ns"].as_i64().unwrap()).sum();
        assert!(expected > 0, "{metric}: {err}");
        let file = folder.path().join(metric);
        let answer = run(&[
            "export",
            "--process",
            "gamma",
            "--metric",
            metric,
            "--range",
            "0.1..0.2",
            "--out",
            file.to_str().unwrap(),
            &extract,
        ]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        assert_eq!(sums(&file).values().sum::<i64>(), expected, "{metric}");
    }
}

#[test]
fn without_a_process_those_that_could_be_chosen_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(&trace("sched-5.etl"), folder.path());
    let none = run(&["export", &extract]);
    assert_eq!(none.exit, Exit::Error);
    let lines: Vec<&str> = none.out.lines().collect();
    assert!(
        lines[0].starts_with("No process was chosen"),
        "{}",
        none.out
    );
    let names: Vec<&str> = lines[2..]
        .iter()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_by_key(|name| name.to_lowercase());
    assert_eq!(names, sorted);
    assert!(none.out.contains("405  1488  gamma.exe"), "{}", none.out);
    let unknown = run(&["export", "--pid", "77", &extract]);
    assert_eq!(unknown.exit, Exit::Nothing);
    assert!(
        unknown.out.starts_with("No process matches"),
        "{}",
        unknown.out
    );
    let two = run(&["export", "--pid", "77", "--all-processes", &extract]);
    assert_eq!(two.exit, Exit::Error);
    let dns = run(&["export", "--all-processes", &trace("power-5.etl")]);
    assert_eq!(dns.exit, Exit::Nothing, "{}{}", dns.out, dns.err);
    assert!(dns.out.contains("hint: record with"), "{}", dns.out);
}
