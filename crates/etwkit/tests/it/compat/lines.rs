//! The published lines, unchanged; only `%f%` is what the shell would make of it.

use super::{check, drive, run, run_in, words, written};

/// Name of a line, the line, and the folder it runs in.
pub(super) const LINES: &[(&str, &str, &str)] = &[
    (
        "power-diff",
        "ETWAnalyzer -dump power -fd win10 -diff",
        "power",
    ),
    (
        "dns-top",
        "EtwAnalyzer -dump DNS -topn 5 -fd SlowBrowsing_Skyrmion.json   ",
        "browsing",
    ),
    (
        "dns-details",
        "EtwAnalyzer -dump DNS -topn 5 -details -fd SlowBrowsing_Skyrmion.json  ",
        "browsing",
    ),
    (
        "many-slow-calls-version",
        r"Etwanalyzer -fd c:\temp\extract\ManySlowCalls_MAGNON.03-07-2023.23-21-41.json  -dump version -dll *coreclr* -versionfilter *7.0* ",
        "temp",
    ),
    (
        "cpu-total",
        "EtwAnalyzer -dump CPU -pn LoadStress -ShowTotal Total -fd *_Normal* -MinMaxCPUMs 115s   ",
        "perf",
    ),
    (
        "cpu-drivers",
        "EtwAnalyzer -fd c:\\temp\\Extract\\ManySlowCalls_MAGNON.03-07-2023.23-21-41.json -Dump CPU -TopN 5 -ShowTotal File -ProcessName !*idle* -SortBy CPU -TopNMethods 2 -MinMaxCPUms 100000 -Methods *.dll;*.sys -ShowModuleInfo    ",
        "temp",
    ),
    (
        "cpu-cmdline",
        "EtwAnalyzer -dump cpu -cmdline \"*firstcall* cross*#datacontract*\";*firstcall*ngen*#datacontract* -ProcessFmt s",
        "serializers",
    ),
    (
        "cpu-module",
        "EtwAnalyzer -dump CPU -ProcessName SerializerTests.exe -ShowModuleInfo -TopN 1 -NoCmdLine",
        "serializers",
    ),
    (
        "cpu-dns-methods",
        "EtwAnalyzer -dump cpu -pn firefox -fd WebBrowsingRouterOn_SKYRMION.10-06-2022.19-46-16 -methods *dns* -fld s s",
        "perf",
    ),
    (
        "cpu-system-tags",
        "EtwAnalyzer -dump CPU -ProcessName System -StackTags * -TopNMethods 2",
        "writer",
    ),
    (
        "cpu-checkpoint-total",
        "EtwAnalyzer -dump CPU -ProcessName System -StackTags *checkpoint* -ShowTotal method",
        "writer",
    ),
    (
        "cpu-checkpoint-methods",
        "EtwAnalyzer -dump CPU -ProcessName System -StackTags *checkpoint* -methods *checkpoint*",
        "writer",
    ),
    (
        "cpu-serial-tags",
        "EtwAnalyzer -dump CPU -ProcessName FileWriter -stacktags * -Filedir *serial*",
        "writer",
    ),
    (
        "cpu-serial-methods",
        "EtwAnalyzer -dump CPU -ProcessName FileWriter -fd *serial* -methods *StreamWriter.WriteLine*;*OSFileStreamStrategy*ctor*;*StreamWriter.WriteLine*;*DefaultInterpolatedStringHandler*AppendFormatted*;*TlsOverPerCoreLockedStacksArrayPool*Rent;*DefaultInterpolatedStringHandler.ToStringAndClear;*StreamWriter.Dispose;*filewriter* -fld",
        "writer",
    ),
    (
        "cpu-hard-faults",
        "Etwanalyzer -dump CPU -pn Filewriter -methods MiIssueHardFault",
        "writer",
    ),
    (
        "pmc",
        "ETWAnalyzer -dump PMC -pn FileWriter",
        "writer/Take_Test1",
    ),
    (
        "cpu-top",
        r"ETWAnalyzer -dump CPU -filedir c:\temp\Extract\SlowSystem.json -topN 10",
        "temp",
    ),
    (
        "cpu-virus",
        r"ETWAnalyzer -dump cpu -fd c:\temp\Extract\SlowSystem.json -stacktags *virus* -MinMaxWaitMs 10",
        "temp",
    ),
    (
        "cpu-virus-methods",
        r"ETWAnalyzer -dump cpu -fd c:\temp\Extract\SlowSystem.json  -stacktags *virus* -MinMaxWaitMs 1300-2000 -methods *createprocess*;*createfile* -processName explorer;cmd",
        "temp",
    ),
    (
        "cpu-virus-first",
        r"ETWAnalyzer -dump cpu -fd c:\temp\Extract\SlowSystem.json  -stacktags *virus* -MinMaxWaitMs 1300-2000 -methods *createprocess*;*createfile* -processName explorer;cmd -FirstLastDuration local",
        "temp",
    ),
    (
        "cpu-sys-frames",
        r"ETWAnalyzer -dump cpu -fd c:\temp\Extract\SlowSystem.json -methods *.sys* -processName explorer;cmd -ShowModuleInfo",
        "temp",
    ),
];

/// A line by its name, and the folder it runs in.
pub(super) fn line(id: &str) -> (&'static str, &'static str) {
    let (_, line, folder) = LINES.iter().find(|(name, ..)| *name == id).unwrap();
    (line, folder)
}

#[test]
fn published_lines_are_understood() {
    for (id, line, folder) in LINES {
        let printed = check(id, line, folder);
        // 1: the trace has no such process or method, which is an answer, too.
        assert!(matches!(printed.exit, 0 | 1), "{line}\n{}", printed.text);
    }
}

/// Lines about a cause that the published texts found, and what each of them has to name.
const FOUND: &[(&str, &[&str])] = &[
    (
        "dns-top",
        &[
            "graph.oculus.com",
            "login.microsoftonline.com",
            "loadus.exelator.com",
            "cdn.adrtx.net",
        ],
    ),
    (
        "dns-details",
        &[
            "TimedOut: 192.169.0.1",
            "OVRServer_x64.exe(6624)",
            "backgroundTaskHost.exe(6692)",
        ],
    ),
    (
        "many-slow-calls-version",
        &["PhoneExperienceHost.exe", "coreclr.dll", "7.0.222.60605"],
    ),
    (
        "cpu-drivers",
        &["ReportServer.exe", "tedrdrv.sys+0x", "Palo Alto Networks"],
    ),
    ("cpu-dns-methods", &["firefox.exe(13612)", "DnsQueryExW"]),
    (
        "cpu-virus-methods",
        &[
            "cmd.exe",
            "explorer.exe",
            "Microsoft Defender",
            "CreateProcessW",
            "CreateFileW",
        ],
    ),
    (
        "cpu-virus-first",
        &["cmd.exe", "explorer.exe", "10:30:02.5", "10:30:06.2"],
    ),
    (
        "cpu-sys-frames",
        &["WdFilter.sys+0x", "cmd.exe", "explorer.exe"],
    ),
];

#[test]
fn published_lines_find_what_they_are_about() {
    for (id, expected) in FOUND {
        let (line, folder) = line(id);
        let printed = run(line, folder);
        assert_eq!(printed.exit, 0, "{}", printed.text);
        for text in *expected {
            assert!(printed.out.contains(text), "no {text} in\n{}", printed.text);
        }
    }
}

#[test]
fn a_trace_gets_its_names_from_the_symbols_beside_it() {
    let drive = tempfile::tempdir().unwrap();
    std::fs::create_dir(drive.path().join("temp")).unwrap();
    let trace = drive.path().join("temp/SlowSystem.etl");
    let written = crate::support::run(&[
        "synth",
        "write",
        "slow-system",
        "--out",
        trace.to_str().unwrap(),
    ]);
    assert_eq!(
        written.exit,
        crate::support::Exit::Answered,
        "{}",
        written.err
    );
    let place = drive.path().to_str().unwrap();
    let there = |line: &str| run_in(line, "", &[("LC_ALL", "C"), ("ETWKIT_DRIVE_C", place)]);
    let printed = there(r"ETWAnalyzer -extract all -filedir c:\temp\SlowSystem.etl -symserver MS");
    assert_eq!(printed.exit, 0, "{}", printed.text);
    assert!(
        printed.out.contains("Extracted 1/1 - Failed 0 files."),
        "{}",
        printed.text
    );
    let methods = there(
        r"ETWAnalyzer -dump cpu -fd c:\temp\Extract\SlowSystem.json -pn MsMpEng -methods *CEmulator*",
    );
    assert_eq!(methods.exit, 0, "{}", methods.text);
    assert!(methods.out.contains("CEmulator::Run"), "{}", methods.text);
}

#[test]
fn extractions_say_what_the_old_ones_said() {
    let lines = [
        (
            r"etwanalyzer -extract all -fd test.etl ",
            "temp",
            &["temp/Extract/test.etwx"][..],
        ),
        (
            r" ETWAnalyzer -Extract All -FileDir D:\Source\git\SerializerTests\SerializerTestResults\_0_14_06 -SymServer MS ",
            "temp",
            &[
                "Source/git/SerializerTests/SerializerTestResults/_0_14_06/Extract/First.etwx",
                "Source/git/SerializerTests/SerializerTestResults/_0_14_06/Extract/Second.etwx",
            ],
        ),
        (
            r"EtwAnalyzer -extract all -fd c:\temp\SlowBrowsing_Skyrmion.etl -symserver ms ",
            "",
            &["temp/Extract/SlowBrowsing_Skyrmion.etwx"],
        ),
        (
            r"ETWAnalyzer -extract all -fd c:\temp\*Create*.etl -symserver MS -nooverwrite",
            "",
            &[
                "temp/Extract/FileCreateSerial.etwx",
                "temp/Extract/FileCreateParallel.etwx",
            ],
        ),
    ];
    for (line, folder, targets) in lines {
        let printed = run(line, folder);
        let count = targets.len();
        let lines: Vec<&str> = printed.out.lines().collect();
        assert_eq!(printed.exit, 0, "{}", printed.text);
        assert_eq!(
            lines[0],
            format!("{count} - files found to extract."),
            "{}",
            printed.text
        );
        for target in targets {
            assert!(
                drive().join(target).join("manifest.json").is_file(),
                "{target}"
            );
            let line = format!("Success Extraction of C:/{target}");
            assert!(
                lines
                    .iter()
                    .any(|l| **l == line || l.ends_with(&target.replace("temp/", ""))),
                "{}",
                printed.text
            );
        }
        assert!(
            printed
                .out
                .contains(&format!("Extracted {count}/{count} - Failed 0 files.")),
            "{}",
            printed.text
        );
        let last = lines.last().unwrap();
        assert!(
            last.starts_with(&format!("Extracted: {count} files in 00 00:0")),
            "{last}"
        );
        assert!(last.ends_with(", Failed Files 0"), "{last}");
    }
    let again = run(
        r"ETWAnalyzer -extract all -fd c:\temp\*Create*.etl -symserver MS -nooverwrite",
        "",
    );
    assert_eq!(
        again.out.matches("because extract already exists").count(),
        2,
        "{}",
        again.text
    );
}

#[test]
fn files_of_rows_have_the_columns_of_the_old_ones() {
    let line =
        "ETWAnalyzer.exe -dump process -cmdline *firstcall#* -timefmt s -csv FirstCall_Process.csv";
    let printed = run(line, "serializers");
    assert_eq!(printed.exit, 0, "{}", printed.text);
    let path = drive().join("serializers/FirstCall_Process.csv");
    let text = written(&path);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sep = ;"));
    let titles: Vec<&str> = lines.next().unwrap().split(';').collect();
    assert_eq!(
        titles[..4],
        ["CSVOptions", "TestCase", "TestDate", "ProcessName"]
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(';').collect()).collect();
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| row.len() == titles.len()));
    let cell = |row: &Vec<&str>, title: &str| {
        row[titles.iter().position(|t| *t == title).unwrap()].to_owned()
    };
    assert_eq!(cell(&rows[0], "CSVOptions"), words(line)[1..].join(" "));
    assert_eq!(cell(&rows[1], "CSVOptions"), "");
    let processes = super::rows::truth(super::rows::TESTS)["processes"].clone();
    for row in &rows {
        let pid = cell(row, "ProcessName(pid)")
            .replace("SerializerTests.exe(", "")
            .replace(')', "");
        let s = |name: &str| format!("{:.3}", processes[&pid][name].as_f64().unwrap() / 1e9);
        assert_eq!(
            (cell(row, "Start Time"), cell(row, "End Time")),
            (s("start_ns"), s("stop_ns"))
        );
        assert_eq!(
            (cell(row, "Return Code"), cell(row, "NewProcess")),
            ("0".into(), "1".into())
        );
    }
}

#[test]
fn times_are_converted_and_symbols_loaded() {
    let seconds = "ETWAnalyzer -converttime -fd SlowSystem -time \"2024-05-06 10:30:02.5\"";
    let printed = run(seconds, "options");
    assert_eq!(printed.exit, 0, "{}", printed.text);
    assert!(
        printed
            .out
            .starts_with("2.500000 s  2024-05-06 10:30:02.500000 local"),
        "{}",
        printed.text
    );
    let printed = run("ETWAnalyzer -converttime -fd * -time 1,5s -sffn", "options");
    assert_eq!(
        (printed.exit, printed.out.lines().count()),
        (0, 2),
        "{}",
        printed.text
    );
    assert!(
        printed
            .out
            .lines()
            .all(|line| line.starts_with("1.500000 s  ") && line.ends_with(".etwx")),
        "{}",
        printed.text
    );
    let never = run(
        "ETWAnalyzer -converttime -fd * -time \"1999-01-01 00:00:00\"",
        "options",
    );
    assert_eq!(
        (never.exit, never.out.as_str()),
        (1, "No recording ran at 1999-01-01 00:00:00\n")
    );
    let wrong = run("ETWAnalyzer -converttime -fd * -time noon", "options");
    assert!(
        wrong.exit == 2 && wrong.text.contains("\"noon\" is not a time"),
        "{}",
        wrong.text
    );

    let loaded = run(
        "ETWAnalyzer -loadsymbol -fd c:\\cores\\Hybrid.json -symserver MS",
        "options",
    );
    assert!(matches!(loaded.exit, 0 | 1), "{}", loaded.text);
    let missing = run("ETWAnalyzer -loadsymbol -symserver MS", "options");
    assert!(
        missing.exit == 2 && missing.text.contains("-loadsymbol needs extracts"),
        "{}",
        missing.text
    );
}
