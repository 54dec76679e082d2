//! Files of rows: `-csv` of each sub command.

use super::{check_file, drive, run, written};

/// Sub commands, lines, and the folder they run in. Each writes `rows.csv`, or what the published line says.
const LINES: &[(&str, &str, &str)] = &[
    (
        "csv-dns",
        "ETWAnalyzer -dump dns -fd Browsing -topn 1 -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-tcp",
        "ETWAnalyzer -dump tcp -fd Connections -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-tcp-retransmits",
        "ETWAnalyzer -dump tcp -fd Connections -details -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-objectref",
        "ETWAnalyzer -dump objectref -fd Handles -ss -type Event -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-virtualalloc",
        "ETWAnalyzer -dump virtualalloc -fd Handles -csv rows.csv -nocsvseparator",
        "more",
    ),
    (
        "csv-virtualalloc-details",
        "ETWAnalyzer -dump virtualalloc -fd Handles -details -csv rows.csv",
        "more",
    ),
    (
        "csv-exception",
        "ETWAnalyzer -dump exception -fd Shop -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-mark",
        "ETWAnalyzer -dump mark -fd Marks -zt marker Phase* -timefmt s -csv rows.csv",
        "more",
    ),
    (
        "csv-power",
        "ETWAnalyzer -dump power -fd . -validtestsonly -tri 0 -trc 1 -csv rows.csv",
        "runs",
    ),
    (
        "csv-file",
        "ETWAnalyzer -dump file -fd SlowSystem -filename *.edb -timefmt s -csv rows.csv",
        "options",
    ),
    (
        "csv-pmc",
        r"ETWAnalyzer -dump PMC -pn FileWriter -fd ..\Take_Test1 -fd .  -csv PMC_Summary.csv",
        "writer/Take_Test2",
    ),
    (
        "csv-stats",
        "ETWAnalyzer -dump stats -fd . -properties OS* -csv rows.csv",
        "runs",
    ),
];

#[test]
fn files_have_the_rows_and_columns_of_the_old_ones() {
    for (id, line, folder) in LINES {
        check_file(
            id,
            line,
            folder,
            if *id == "csv-pmc" {
                "PMC_Summary.csv"
            } else {
                "rows.csv"
            },
        );
    }
}

#[test]
fn files_without_rows_have_titles() {
    let printed = run(
        "ETWAnalyzer -dump dns -fd Browsing -dnsqueryfilter nosuch -csv none.csv",
        "more",
    );
    assert_eq!(printed.exit, 1, "{}", printed.text);
    let text = written(&drive().join("more/none.csv"));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 2 && lines[0] == "sep = ;" && lines[1].starts_with("CSVOptions;Directory;"),
        "{text}"
    );
}

#[test]
fn what_has_no_file_is_noted() {
    let printed = run("ETWAnalyzer -dump testrun -fd . -csv rows.csv", "runs");
    assert_eq!(printed.exit, 0, "{}", printed.text);
    assert!(
        printed
            .text
            .contains("-csv means nothing to -dump test-run"),
        "{}",
        printed.text
    );
}
