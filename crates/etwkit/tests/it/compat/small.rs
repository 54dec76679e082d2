//! Commands that are no dumps: each switch by a line whose answer differs, or by the reason that it is
//! refused for.

use super::{drive, run, written};

/// Switches of these commands that the tests below, those of `-convert` in `options.rs`, and those of the
/// console show.
pub(super) const SHOWN: &[(&str, &[&str])] = &[
    (
        "extract",
        &[
            "ACTION...",
            "-filedir",
            "-fd",
            "-dir",
            "-recursive",
            "-outdir",
            "-extractregion",
            "-dryrun",
            "-symserver",
            "-symfolder",
            "-nooverwrite",
            "-nthreads",
            "-nocolor",
            "-testrunindex",
            "-tri",
            "-testruncount",
            "-trc",
            "-testsperrun",
            "-skipntests",
            "-lastndays",
            "-minmaxmstesttimes",
            "-minmaxtesttime",
            "-testcase",
            "-tc",
            "-machine",
            "-validtestsonly",
            "-notestrungrouping",
        ],
    ),
    (
        "loadsymbol",
        &[
            "-filedir",
            "-fd",
            "-dir",
            "-recursive",
            "-symserver",
            "-symfolder",
            "-nocolor",
        ],
    ),
    (
        "converttime",
        &[
            "-filedir",
            "-fd",
            "-dir",
            "-recursive",
            "-time",
            "-showfullfilename",
            "-sffn",
            "-nocolor",
        ],
    ),
    (
        "convert",
        &[
            "-filedir",
            "-fd",
            "-dir",
            "-pid",
            "-perthread",
            "-symserver",
            "-symfolder",
            "-recursive",
            "-debug",
            "-nocolor",
        ],
    ),
    (
        "console",
        &[
            "FILE...",
            "-filedir",
            "-fd",
            "-dir",
            "-recursive",
            "-nocolor",
        ],
    ),
];

/// What `-extract -dryrun` lists of a folder with traces that nobody reads: only names matter.
fn listed(folder: &str, added: &str) -> Vec<String> {
    let printed = run(&format!("ETWAnalyzer -extract all -dryrun {added}"), folder);
    assert!(matches!(printed.exit, 0 | 1), "{}", printed.text);
    let mut lines = printed.out.lines();
    let first = lines.next().unwrap().to_owned();
    let names: Vec<String> = lines
        .map(|line| {
            line.rsplit(['/', '\\'])
                .next()
                .unwrap()
                .split('.')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        first,
        format!("{} - files found to extract.", names.len()),
        "{}",
        printed.text
    );
    names
}

#[test]
fn tests_and_test_runs_are_extracted() {
    let folder = drive().join("tests to extract/more");
    std::fs::create_dir_all(&folder).unwrap();
    for name in [
        "Open_100msCLIENT.20200717-120000.etl",
        "Open_100msSERVER.20200717-120100.etl",
        "Open_450msCLIENT.20200717-121000.etl",
        "Close_200msCLIENT.20200718-090000.7z",
        "Undated_300msCLIENT.etl",
        "NoTest.etl",
    ] {
        std::fs::write(folder.parent().unwrap().join(name), "").unwrap();
    }
    std::fs::write(folder.join("Inner.etl"), "").unwrap();
    let of = |added: &str| {
        let mut names = listed("", &format!("-fd \"tests to extract\" {added}"));
        names.sort();
        names
    };
    let all = [
        "Close_200msCLIENT",
        "NoTest",
        "Open_100msCLIENT",
        "Open_100msSERVER",
        "Open_450msCLIENT",
        "Undated_300msCLIENT",
    ];
    assert_eq!(of(""), all);
    assert_eq!(of("-recursive").len(), all.len() + 1);
    for (added, expected) in [
        (
            "-tri 0 -trc 1",
            &["Open_100msCLIENT", "Open_100msSERVER", "Open_450msCLIENT"][..],
        ),
        ("-TestRunIndex 1 -TestRunCount 1", &["Close_200msCLIENT"]),
        (
            "-validtestsonly",
            &[
                "Close_200msCLIENT",
                "Open_100msCLIENT",
                "Open_100msSERVER",
                "Open_450msCLIENT",
                "Undated_300msCLIENT",
            ],
        ),
        (
            "-validtestsonly -testsperrun 1",
            &[
                "Close_200msCLIENT",
                "Open_100msCLIENT",
                "Open_100msSERVER",
                "Undated_300msCLIENT",
            ],
        ),
        ("-skipntests 1", &["Open_450msCLIENT"]),
        ("-skipntests 1 -notestrungrouping", &["Open_450msCLIENT"]),
        ("-tri 1 -notestrungrouping", &[]),
        (
            "-minmaxmstesttimes 150-250 400-500",
            &["Close_200msCLIENT", "Open_450msCLIENT"],
        ),
        ("-minmaxtesttime 250 350", &["Undated_300msCLIENT"]),
        ("-testcase Undated", &["Undated_300msCLIENT"]),
        ("-tc Close", &["Close_200msCLIENT"]),
        ("-machine server", &["Open_100msSERVER"]),
        // What has no date in its name was written today.
        ("-lastndays 1", &["NoTest", "Undated_300msCLIENT"]),
    ] {
        assert_eq!(of(added), expected, "{added}");
    }
    let wrong = run(
        "ETWAnalyzer -extract all -fd \"tests to extract\" -dryrun -tri x",
        "",
    );
    assert!(
        wrong.exit == 2 && wrong.text.contains("--test-run-index"),
        "{}",
        wrong.text
    );
}

#[test]
fn extractions_take_their_switches() {
    let of = |added: &str| {
        run(
            &format!("ETWAnalyzer -extract {added}"),
            "options to extract",
        )
    };
    let folder = drive().join("options to extract");
    std::fs::create_dir_all(folder.join("out")).unwrap();
    std::fs::copy(
        drive().join("temp/SlowBrowsing_Skyrmion.etl"),
        folder.join("Browsing.etl"),
    )
    .unwrap();
    let region =
        of("dns -filedir Browsing.etl -outdir out -extractregion 0,5 +1 -nthreads 1 -nocolor");
    assert_eq!(region.exit, 0, "{}", region.text);
    assert!(
        folder
            .join("out/Browsing_Time_0.5-1.5.etwx/manifest.json")
            .is_file(),
        "{}",
        region.text
    );
    let whole = of("Default -dir Browsing.etl -outdir out -symserver c:\\temp");
    assert!(
        folder.join("out/Browsing.etwx/manifest.json").is_file(),
        "{}",
        whole.text
    );
    let again = of("all -fd Browsing.etl -outdir out -nooverwrite -symfolder c:\\temp");
    assert!(
        again.out.contains("because extract already exists"),
        "{}",
        again.text
    );
    for (added, expected) in [
        (
            "all -fd Browsing.etl -outdir nosuch",
            "this folder does not exist",
        ),
        (
            "everything -fd Browsing.etl",
            "there is no action of this name",
        ),
        ("all -fd Browsing.etl -nthreads x", "--jobs"),
        (
            "all -fd Browsing.etl -nosampling",
            "an extract keeps samples",
        ),
        (
            "all -fd Browsing.etl -speed",
            "-extract -help lists the switches",
        ),
    ] {
        let wrong = of(added);
        assert!(
            wrong.exit == 2 && wrong.text.contains(expected),
            "{expected}: {}",
            wrong.text
        );
    }
}

#[test]
fn small_commands_take_their_switches() {
    let of = |line: &str, folder: &str| run(&format!("ETWAnalyzer {line}"), folder);
    let time = |files: &str| of(&format!("-converttime {files} -time 1,5s"), "runs");
    let (one, all) = (time("-fd NoTest.json"), time("-filedir ."));
    assert_eq!(
        (one.out.lines().count(), all.out.lines().count()),
        (1, 5),
        "{}{}",
        one.text,
        all.text
    );
    assert_eq!(time("-dir . -recursive").exit, 0);
    let whole = of(
        "-converttime -fd NoTest -time 1 -showfullfilename -nocolor",
        "runs",
    );
    assert!(
        whole.out.trim_end().ends_with("NoTest.etwx") && !one.out.contains(".etwx"),
        "{}",
        whole.text
    );
    let none = of("-converttime -fd NoTest", "runs");
    assert!(
        none.exit == 2 && none.text.contains("-converttime needs a time"),
        "{}",
        none.text
    );

    let loaded = of(
        "-loadsymbol -filedir NoTest.json -symfolder c:\\temp -nocolor",
        "runs",
    );
    assert!(matches!(loaded.exit, 0 | 1), "{}", loaded.text);
    let several = of("-loadsymbol -dir . -recursive -symserver c:\\temp", "runs");
    assert!(
        matches!(several.exit, 0 | 1) && several.text != loaded.text,
        "{}",
        several.text
    );
    for (added, expected) in [
        ("-symserver", "-symserver needs a value"),
        ("-nooverwrite", "names are added to the extract itself"),
        ("-time 1", "there is no switch -time of -loadsymbol"),
    ] {
        let wrong = of(&format!("-loadsymbol -fd NoTest {added}"), "runs");
        assert!(
            wrong.exit == 2 && wrong.text.contains(expected),
            "{expected}: {}",
            wrong.text
        );
    }
}

#[test]
fn lines_without_a_known_command_are_errors() {
    for (line, expected) in [
        (
            "-dmp cpu",
            "error: -dmp: there is no command of this name\nhint: did you mean -dump?",
        ),
        ("-extrct all -fd x", "hint: did you mean -extract?"),
        (
            "-fd x cpu",
            "error: the line has no command\nhint: did you mean -dump cpu?",
        ),
        (
            "-fd x",
            "error: -fd: the line has no command\nhint: the commands are -extract -dump",
        ),
        ("nosuch", "error: nosuch: the line has no command"),
        (
            "-analyze -fd x",
            "error: -analyze: there is no command of this name",
        ),
    ] {
        let printed = run(&format!("ETWAnalyzer {line}"), "options");
        assert!(
            printed.exit == 2 && printed.text.contains(expected),
            "{expected}\n{}",
            printed.text
        );
        assert_eq!(printed.out, "", "{line}");
    }
    for line in ["", "-help", "-help dump", "-dump -help"] {
        let printed = run(&format!("ETWAnalyzer {line}"), "options");
        assert_eq!(printed.exit, 0, "{}", printed.text);
        for command in [
            "-extract",
            "-dump",
            "-loadsymbol",
            "-converttime",
            "-convert",
            "-console",
        ] {
            assert!(
                printed.out.contains(&format!("  {command} ")),
                "{command}: {}",
                printed.text
            );
        }
    }
    let ours = crate::support::run(&["-dmp", "cpu"]);
    assert!(ours.err.contains("did you mean -dump?"), "{}", ours.err);
}

/// Lines that were typed for Windows, in a shell that takes `\\` and `*` for itself.
#[test]
fn lines_for_windows_are_read_in_other_shells() {
    let asked = |line: &str| {
        let printed = run(&format!("ETWAnalyzer {line}"), "runs");
        assert_eq!(printed.exit, 0, "{}", printed.text);
        printed.out
    };
    let plain = asked(r"-dump stats -fd C:\runs\NoTest.json -properties SourceETLFileName");
    for line in [
        // A whole line between quotes, as one word.
        r#""-dump stats -fd C:\runs\NoTest.json -properties SourceETLFileName""#,
        r#""ETWAnalyzer -dump stats -fd C:\runs\NoTest.json -properties SourceETLFileName""#,
        // Backslashes that the shell took away.
        "-dump stats -fd C:runsNoTest.json -properties SourceETLFileName",
    ] {
        assert_eq!(asked(line), plain, "{line}");
    }
    // Files that the shell found in place of *.
    let two = asked(
        "-dump stats -fd Open_100msCLIENT.20200717-120000.etwx NoTest.etwx -oneline \
         -properties SourceETLFileName",
    );
    assert_eq!(two.matches("SourceETLFileName: ").count(), 2, "{two}");
    let stray = run(
        "ETWAnalyzer -dump stats -fd NoTest -oneline NoTest.etwx",
        "runs",
    );
    assert!(
        stray.exit == 2 && stray.text.contains("put quotes around what has * or ?"),
        "{}",
        stray.text
    );
    let missing = run("ETWAnalyzer -dump stats -fd C:runsNoSuch.json", "runs");
    assert!(
        missing.exit == 2 && missing.text.contains("put quotes around the path"),
        "{}",
        missing.text
    );
}

/// A machine with underscores, and the points of a date that nobody can read.
#[test]
fn machines_of_test_files_have_every_form() {
    let folder = drive().join("names of tests");
    std::fs::create_dir_all(&folder).unwrap();
    for name in [
        "Open_100msMY_PC.etl",
        "Open_200msPC-7.10-06-2022.19-46-16.etl",
        "Open_300msPC.20200717-120000.etl",
    ] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    for (machine, expected) in [
        ("MY_PC", "Open_100msMY_PC"),
        ("PC-7", "Open_200msPC-7"),
        ("PC", "Open_300msPC"),
    ] {
        let added = format!("-fd \"names of tests\" -machine {machine}");
        assert_eq!(listed("", &added), [expected], "{machine}");
    }
}

/// Rows of files that `-csv` writes under the names of what was asked, and not of what it became in the
/// cache.
#[test]
fn files_of_rows_name_what_was_asked() {
    let folder = drive().join("asked");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(
        drive().join("temp/SlowBrowsing_Skyrmion.etl"),
        folder.join("Case_7msPC.etl"),
    )
    .unwrap();
    let printed = run(
        "ETWAnalyzer -dump dns -fd Case_7msPC.etl -csv rows.csv",
        "asked",
    );
    assert_eq!(printed.exit, 0, "{}", printed.text);
    let text = written(&folder.join("rows.csv"));
    let row: Vec<&str> = text.lines().nth(2).unwrap().split(';').collect();
    assert!(
        row[1].ends_with("/asked") && row[2] == "Case_7msPC",
        "{row:?}"
    );
    assert_eq!((row[4], row[5]), ("Case", "7"), "{row:?}");
}
