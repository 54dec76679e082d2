//! What the published lines print of FileWriter, LoadStress and SerializerTests is what the simulation of
//! these programs knows.

use serde_json::Value;

use super::lines::line;
use super::{Printed, drive, run};

/// Extracts of these programs; milliseconds in a name are what the program would have reported of its run.
pub(super) const SERIAL: &str = "writer/CreateSerial_1337msANNAS-PC.20240506-083000";
pub(super) const PARALLEL: &str = "writer/CreateParallel_205msANNAS-PC.20240506-083100";
pub(super) const TAKE_1: &str = "writer/Take_Test1/CreateSerial_1337msANNAS-PC.20240506-083000";
pub(super) const TAKE_2: &str = "writer/Take_Test2/CreateSerial_612msANNAS-PC.20240506-084000";
pub(super) const TESTS: &str = "serializers/SerializerTests";

/// What is true of the trace behind an extract.
pub(super) fn truth(name: &str) -> Value {
    let path = drive().join(format!("sources/{name}.truth.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What a published line prints.
fn printed(id: &str) -> Printed {
    let (line, folder) = line(id);
    let printed = run(line, folder);
    assert_eq!(printed.exit, 0, "{}", printed.text);
    printed
}

/// Cells of the rows behind the name of a trace: two blanks and more part them.
fn rows(printed: &Printed, trace: &str) -> Vec<Vec<String>> {
    let name = trace.rsplit('/').next().unwrap();
    let lines = printed
        .out
        .lines()
        .skip_while(|line| !line.ends_with(&format!("{name}.etl")))
        .skip(1);
    let cells = |line: &str| {
        line.split("  ")
            .map(|cell| cell.trim().to_owned())
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    lines
        .take_while(|line| !line.is_empty())
        .map(cells)
        .collect()
}

fn number(text: &str) -> f64 {
    text.trim()
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

/// A time that is printed in whole milliseconds.
#[track_caller]
fn same_ms(cell: &str, ns: i64) {
    assert!(
        (number(cell) - ns as f64 / 1e6).abs() <= 0.5,
        "{cell} ms, {ns} ns"
    );
}

/// CPU of a function in a process by its samples, and its waits: `image!name` ends so.
fn of_function(truth: &Value, pid: &str, name: &str) -> (i64, i64) {
    let interval_ns = truth["samples"]["profile_interval_100ns"].as_i64().unwrap() * 100;
    let find = |table: &str, value: &str| {
        let functions = truth[table][pid].as_object().unwrap();
        let end = format!("!{name}");
        functions
            .iter()
            .find(|(function, _)| function.ends_with(&end))
            .map_or(0, |(_, f)| f[value].as_i64().unwrap())
    };
    (
        find("functions", "inclusive") * interval_ns,
        find("function_waits", "wait_ns"),
    )
}

fn pids(truth: &Value, name: &str) -> Vec<String> {
    let processes = truth["processes"].as_object().unwrap().iter();
    processes
        .filter(|(_, process)| process["name"] == name)
        .map(|(pid, _)| pid.clone())
        .collect()
}

/// CPU of a process by its samples.
fn cpu_ns(truth: &Value, pid: &str) -> i64 {
    let samples = truth["samples"]["by_process"][pid].as_i64().unwrap();
    samples * truth["samples"]["profile_interval_100ns"].as_i64().unwrap() * 100
}

/// Checks rows of methods (CPU, wait, …, name) and returns how many there are.
fn check_methods(rows: &[Vec<String>], truth: &Value, pid: &str) -> usize {
    let methods = rows
        .iter()
        .filter(|row| row.len() >= 4 && row[0] != "CPU ms");
    let methods: Vec<_> = methods
        .filter(|row| !row.last().unwrap().contains('\\'))
        .collect();
    for row in &methods {
        let (cpu, wait) = of_function(truth, pid, row.last().unwrap());
        same_ms(&row[0], cpu);
        same_ms(&row[1], wait);
    }
    methods.len()
}

/// CPU and wait of a row with that name.
fn named<'r>(rows: &'r [Vec<String>], name: &str) -> (&'r str, &'r str) {
    let row = rows
        .iter()
        .find(|row| row.last().unwrap() == name)
        .unwrap_or_else(|| panic!("{name}: {rows:?}"));
    (&row[0], &row[1])
}

#[test]
fn methods_of_the_writer_are_those_of_the_simulation() {
    for (id, trace, methods) in [
        ("cpu-serial-methods", SERIAL, 9),
        ("cpu-hard-faults", SERIAL, 1),
        ("cpu-hard-faults", PARALLEL, 1),
    ] {
        let truth = truth(trace);
        let pid = &pids(&truth, "FileWriter.exe")[0];
        let rows = rows(&printed(id), trace);
        assert_eq!(check_methods(&rows, &truth, pid), methods, "{id}: {rows:?}");
    }
    // How long the files took, as the name of the test has it, is between the first and the last look at the
    // method.
    let truth = truth(SERIAL);
    let call = &truth["calls"][0];
    let took_ns = call["end_ns"].as_i64().unwrap() - call["start_ns"].as_i64().unwrap();
    let rows = rows(&printed("cpu-serial-methods"), SERIAL);
    let row = rows
        .iter()
        .find(|row| row.last().unwrap().ends_with(".CreateFiles"))
        .unwrap();
    assert!(
        (0.0..5.0).contains(&(took_ns as f64 / 1e6 - 1000.0 * number(&row[3]))),
        "{row:?} of {took_ns} ns"
    );
}

#[test]
fn names_of_tests_say_how_long_they_took() {
    for name in [SERIAL, PARALLEL, TAKE_1, TAKE_2] {
        let truth = truth(name);
        let call = &truth["calls"][0];
        let took_ns = call["end_ns"].as_i64().unwrap() - call["start_ns"].as_i64().unwrap();
        let ms = name.rsplit('_').next().unwrap().split("ms").next().unwrap();
        assert_eq!(call["name"], "CreateFiles");
        same_ms(ms, took_ns);
    }
}

#[test]
fn tags_of_the_writer_are_those_of_the_simulation() {
    let truth = truth(SERIAL);
    let pid = &pids(&truth, "FileWriter.exe")[0];
    let rows = rows(&printed("cpu-serial-tags"), SERIAL);
    let (_, scan) = of_function(&truth, pid, "MpScanFile");
    same_ms(named(&rows, r"Antivirus\Microsoft Defender").1, scan);
    let (_, sleep) = of_function(&truth, pid, "SleepEx");
    same_ms(named(&rows, r"Waits\Sleep").1, sleep);
    let (_, faults) = of_function(&truth, pid, "MiIssueHardFault");
    same_ms(named(&rows, r"Memory\Hard Page Fault").1, faults);
    let tags = rows
        .iter()
        .filter(|row| row.len() == 4 && row[0] != "CPU ms");
    let sum: f64 = tags.map(|row| number(&row[0])).sum();
    same_ms(&sum.to_string(), cpu_ns(&truth, pid));
}

#[test]
fn checkpoints_are_those_of_the_simulation() {
    let truth = truth(SERIAL);
    let (cpu, wait) = of_function(&truth, "4", "NtfsCheckpointVolume");
    assert!(cpu > 500_000_000 && wait > 0);
    for id in [
        "cpu-system-tags",
        "cpu-checkpoint-total",
        "cpu-checkpoint-methods",
    ] {
        let of_serial = rows(&printed(id), SERIAL);
        let tag = named(&of_serial, r"File System\NTFS Checkpoint Volume");
        same_ms(tag.0, cpu);
        same_ms(tag.1, wait);
        if id == "cpu-checkpoint-methods" {
            assert_eq!(check_methods(&of_serial, &truth, "4"), 2);
        }
        let of_parallel = rows(&printed(id), PARALLEL);
        assert!(
            of_parallel
                .iter()
                .flatten()
                .all(|cell| !cell.contains("Checkpoint")),
            "{of_parallel:?}"
        );
    }
    let total = printed("cpu-checkpoint-total");
    let total = total
        .out
        .lines()
        .find(|line| line.starts_with("All extracts: "))
        .unwrap();
    let sums: Vec<&str> = total
        .split(" ms")
        .map(|part| part.rsplit(['U', 't', 'y', 'l']).next().unwrap())
        .collect();
    same_ms(sums[0], cpu);
    same_ms(sums[1], wait);
    assert!(
        (number(sums[3]) - number(sums[0]) - number(sums[1]) - number(sums[2])).abs() <= 1.0,
        "{total}"
    );
}

#[test]
fn counters_of_the_writer_are_those_of_the_simulation() {
    let truth = truth(TAKE_1);
    let pid = &pids(&truth, "FileWriter.exe")[0];
    let counters = &truth["counters"][pid];
    let printed = printed("pmc");
    let rows = rows(&printed, TAKE_1);
    let titles = &rows[0];
    let cell = |title: &str| &rows[1][titles.iter().position(|t| t == title).unwrap()];
    for (title, name) in [
        ("Instructions", "instructions"),
        ("Cycles", "cycles"),
        ("CacheMisses", "llc_misses"),
        ("LLCReferences", "llc_references"),
    ] {
        assert_eq!(
            number(cell(title)),
            counters[name].as_f64().unwrap(),
            "{title}\n{}",
            printed.text
        );
    }
    assert_eq!(cell("CPI"), "1.20");
}

#[test]
fn the_load_is_that_of_the_simulation() {
    let (full, crowded) = (
        truth("perf/Test_NormalPrio"),
        truth("perf/Test_NormalPrio8Cores"),
    );
    let pid = |truth: &Value| pids(truth, "LoadStress.exe")[0].clone();
    let printed = printed("cpu-total");
    let line = |name: &str| {
        printed
            .out
            .lines()
            .find(|line| line.ends_with(name))
            .unwrap()
    };
    let cpu = line("Test_NormalPrio.etl")
        .split("CPU ")
        .nth(1)
        .unwrap()
        .split(" ms")
        .next()
        .unwrap();
    same_ms(cpu, cpu_ns(&full, &pid(&full)));
    assert!(number(cpu) > 115_000.0);
    // Twelve threads on eight processors get less CPU than they ask for.
    assert!(cpu_ns(&crowded, &pid(&crowded)) < 115_000_000_000);
    assert!(
        line("Test_NormalPrio8Cores.etl").contains("CPU 0 ms"),
        "{}",
        printed.text
    );
}

#[test]
fn test_programs_are_those_of_the_simulation() {
    let truth = truth(TESTS);
    let of_line = |text: &str| {
        let all = pids(&truth, "SerializerTests.exe").into_iter();
        let line = |pid: &String| {
            truth["processes"][pid]["command_line"]
                .as_str()
                .unwrap()
                .contains(text)
        };
        all.filter(line).collect::<Vec<_>>()
    };
    assert_eq!(
        (
            of_line("#DataContract").len(),
            of_line("#Protobuf_net").len()
        ),
        (6, 3)
    );
    let chosen = rows(&printed("cpu-cmdline"), TESTS);
    let chosen = &chosen[1..];
    assert_eq!(chosen.len(), 6);
    for pid in of_line("#DataContract") {
        let row = chosen
            .iter()
            .find(|row| row.last().unwrap().contains(&format!("({pid})")))
            .unwrap();
        same_ms(&row[0], cpu_ns(&truth, &pid));
        let s = |name: &str| truth["processes"][&pid][name].as_f64().unwrap() / 1e9;
        let times = format!("+{:.3} -{:.3} ", s("start_ns"), s("stop_ns"));
        assert!(row.last().unwrap().contains(&times), "{row:?}: {times}");
    }
    let largest = pids(&truth, "SerializerTests.exe")
        .into_iter()
        .max_by_key(|pid| cpu_ns(&truth, pid))
        .unwrap();
    let module = rows(&printed("cpu-module"), TESTS);
    assert_eq!(module.len(), 2);
    assert!(
        module[1]
            .iter()
            .any(|cell| cell.starts_with(&format!("SerializerTests.exe({largest})"))),
        "{module:?}"
    );
    assert!(
        module[1]
            .last()
            .unwrap()
            .ends_with(r"net7.0\SerializerTests.exe, 1.0.0.0, protobuf, protobuf")
    );
}
