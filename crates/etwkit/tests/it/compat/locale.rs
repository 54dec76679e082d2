//! Numbers of text and of files follow the locale; times, names and what our own command lines print do not.

use super::lines::LINES;
use super::{drive, place, run, run_in, written};
use crate::transcripts::compare;

/// Sub commands and lines beyond the published ones, each with its folder.
const DUMPS: &[(&str, &str)] = &[
    (
        "-dump cpu -fd SlowSystem -details -methods * -pn bash -fld s s",
        "options",
    ),
    ("-dump cpu -fd Hybrid -details -normalize", "cores"),
    (
        "-dump disk -fd SlowSystem -dirlevel 100 -details",
        "options",
    ),
    ("-dump dns -fd Browsing -details -timefmt s", "more"),
    ("-dump exception -fd Shop -type * -showtime", "more"),
    (
        "-dump file -fd SlowSystem -dirlevel 100 -details",
        "options",
    ),
    ("-dump lbr -fd Hybrid", "cores"),
    ("-dump mark -fd Marks -zt marker Phase*", "more"),
    ("-dump memory -fd SlowSystem", "options"),
    ("-dump objectref -fd Handles -showstack", "more"),
    ("-dump pmc -fd .", "writer/Take_Test1"),
    ("-dump power -fd Win10_Balanced -details", "power"),
    (
        "-dump process -fd SlowSystem -details -timefmt s -processfmt s",
        "options",
    ),
    ("-dump stats -fd SlowSystem", "options"),
    (
        "-dump tcp -fd Connections -details -showretransmit -stats",
        "more",
    ),
    ("-dump testrun -fd . -verbose", "runs"),
    ("-dump threadpool -fd Shop", "more"),
    ("-dump tracelog -fd Shop", "more"),
    ("-dump version -fd SlowSystem -missingpdb", "options"),
    ("-dump virtualalloc -fd Handles -details -ss", "more"),
    ("-convert -fd SlowSystem", "options"),
];

fn under(locale: &str, line: &str, folder: &str) -> super::Printed {
    run_in(line, folder, &[("LC_ALL", locale)])
}

/// Where two answers differ: in the marks of numbers, which stand alone. The marks of both have one
/// character, so that all else keeps its place.
#[track_caller]
fn differences(line: &str, ours: &str, german: &str) -> usize {
    let (ours, german): (Vec<char>, Vec<char>) = (ours.chars().collect(), german.chars().collect());
    assert_eq!(ours.len(), german.len(), "{line}");
    let mut found = 0;
    for at in (0..ours.len()).filter(|at| ours[*at] != german[*at]) {
        found += 1;
        let word = |text: &[char]| {
            let is_end = |c: &&char| c.is_whitespace() || "([".contains(**c);
            let begin = text[..at].iter().rev().take_while(|c| !is_end(c)).count();
            let end = text[at..].iter().take_while(|c| !is_end(c)).count();
            text[at - begin..at + end].iter().collect::<String>()
        };
        let word = word(&german);
        let number = word
            .trim_end_matches([',', ';', ')', ']', '%', ':'])
            .trim_start_matches(['-', '+']);
        let (whole, fraction) = number.split_once(',').unwrap_or((number, "0"));
        let groups: Vec<&str> = whole.split('.').collect();
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_number = are_digits(fraction)
            && groups.iter().all(|group| are_digits(group))
            && groups[0].len() <= 3 + 20 * usize::from(groups.len() == 1)
            && groups.iter().skip(1).all(|group| group.len() == 3);
        assert!(
            is_number,
            "{line}: {word:?} is not a number that was written otherwise"
        );
        let expected = if german[at] == ',' { '.' } else { ',' };
        assert_eq!(ours[at], expected, "{line}: {word:?}");
    }
    found
}

#[test]
fn only_numbers_follow_the_locale() {
    let published = LINES.iter().map(|(_, line, folder)| (*line, *folder));
    let all = published.chain(DUMPS.iter().map(|(line, folder)| (*line, *folder)));
    let mut changed = Vec::new();
    for (line, folder) in all {
        let line = if line.starts_with('-') {
            format!("ETWAnalyzer {line}")
        } else {
            line.to_owned()
        };
        let (ours, german) = (run(&line, folder), under("de_DE.UTF-8", &line, folder));
        assert_eq!(
            ours.exit, german.exit,
            "{line}\n{}{}",
            ours.text, german.text
        );
        if differences(&line, &ours.text, &german.text) > 0 {
            changed.push(line);
        }
    }
    for dump in [
        "cpu",
        "disk",
        "dns",
        "file",
        "mark",
        "objectref",
        "pmc",
        "tcp",
        "threadpool",
        "virtualalloc",
    ] {
        let begin = format!("-dump {dump} ");
        assert!(
            changed
                .iter()
                .any(|line| line.to_lowercase().contains(&begin)),
            "no number of -dump {dump} follows the locale: {changed:?}"
        );
    }
    assert!(
        changed.iter().any(|line| line.contains("-convert")),
        "{changed:?}"
    );
}

#[test]
fn answers_in_several_locales() {
    let line = "ETWAnalyzer -dump dns -topn 2 -details -topndetails 2 -timefmt s -fd Browsing";
    let cpu = "ETWAnalyzer -dump cpu -fd SlowSystem -topn 2";
    let pmc = "ETWAnalyzer -dump pmc -fd .";
    let mut text = String::new();
    for locale in [
        "C",
        "de_DE.UTF-8",
        "en_US.UTF-8",
        "fr_FR",
        "de_CH",
        "en_IN",
        "xx_YY",
    ] {
        text += &format!("== LC_ALL={locale}\n");
        for (line, folder) in [(line, "more"), (cpu, "options"), (pmc, "writer/Take_Test1")] {
            text += &under(locale, line, folder).text;
        }
    }
    compare(&text, "compat/locales");
    let part = |locale: &str| {
        let (_, rest) = text.split_once(&format!("== LC_ALL={locale}\n")).unwrap();
        rest.split("== ").next().unwrap()
    };
    assert_eq!(
        part("C"),
        part("xx_YY"),
        "of an unknown locale nothing is known"
    );
}

#[test]
fn variables_count_in_the_order_of_posix() {
    let line = "ETWAnalyzer -dump dns -topn 1 -fd Browsing";
    let total = |variables: &[(&str, &str)]| {
        let printed = run_in(line, "more", variables);
        let row = printed
            .out
            .lines()
            .find(|line| line.starts_with("Total of the rows shown: "))
            .unwrap();
        let (_, sums) = row.split_once(": ").unwrap();
        sums.split(' ').next().unwrap().to_owned()
    };
    let (ours, german) = (total(&[]), total(&[("LANG", "de_DE.UTF-8")]));
    assert_eq!(german, ours.replace('.', ","));
    assert_ne!(german, ours);
    for (variables, expected) in [
        (&[("LANG", "C"), ("LC_NUMERIC", "de_DE")][..], &german),
        (&[("LANG", "de_DE"), ("LC_NUMERIC", "en_GB")], &ours),
        (
            &[("LC_ALL", "C"), ("LC_NUMERIC", "de_DE"), ("LANG", "de_DE")],
            &ours,
        ),
        (
            &[("LC_ALL", ""), ("LC_NUMERIC", ""), ("LANG", "de_DE")],
            &german,
        ),
        (&[("LC_TIME", "de_DE"), ("LC_MESSAGES", "de_DE")], &ours),
    ] {
        assert_eq!(total(variables), *expected, "{variables:?}");
    }
}

#[test]
fn groups_can_be_left_out() {
    let line = "ETWAnalyzer -dump cpu -fd SlowSystem -topn 2";
    let grouped = under("de_DE", line, "options").out;
    let plain = under("de_DE", &format!("{line} -nodigitsep"), "options").out;
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let is_number = |word: &str| {
        word.bytes()
            .all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
    };
    let ungrouped: Vec<String> = words(&grouped)
        .into_iter()
        .map(|word| {
            if is_number(&word) && !word.contains(':') {
                word.replace('.', "")
            } else {
                word
            }
        })
        .collect();
    assert!(
        words(&grouped)
            .iter()
            .any(|word| is_number(word) && word.contains('.')),
        "{grouped}"
    );
    let plain: Vec<String> = words(&plain);
    assert_eq!(plain, ungrouped);
}

#[test]
fn files_have_the_mark_of_the_locale_and_no_groups() {
    let lines = [
        (
            "ETWAnalyzer -dump dns -fd Browsing -timefmt s -csv locale.csv",
            "more",
            "Duration in s",
        ),
        (
            "ETWAnalyzer -dump tcp -fd Connections -timefmt s -csv locale.csv",
            "more",
            "SendRate (MB/s)",
        ),
        (
            "ETWAnalyzer -dump cpu -fd SlowSystem -csv locale.csv",
            "options",
            "Average Priority",
        ),
        (
            "ETWAnalyzer -dump mark -fd Marks -timefmt s -csv locale.csv",
            "more",
            "Time Diff To Zero in s",
        ),
        (
            "ETWAnalyzer -dump pmc -fd . -csv locale.csv",
            "writer/Take_Test1",
            "CPI",
        ),
    ];
    for (line, folder, column) in lines {
        let file = |locale: &str| {
            let path = drive().join(folder).join("locale.csv");
            let _ = std::fs::remove_file(&path);
            let printed = under(locale, line, folder);
            assert_eq!(printed.exit, 0, "{}", printed.text);
            let text = place(&written(&path));
            text.lines()
                .map(|line| line.split(';').map(str::to_owned).collect())
                .collect::<Vec<Vec<String>>>()
        };
        let (ours, german) = (file("C"), file("de_DE.UTF-8"));
        assert_eq!(
            (ours.len(), &ours[..2]),
            (german.len(), &german[..2]),
            "{line}"
        );
        let at = ours[1].iter().position(|title| title == column).unwrap();
        let mut fractions = 0;
        for (ours, german) in ours.iter().zip(&german).skip(2) {
            assert_eq!(ours.len(), german.len(), "{line}");
            for (column, (ours, german)) in ours.iter().zip(german).enumerate() {
                if ours == german {
                    continue;
                }
                assert!(
                    ours.parse::<f64>().is_ok(),
                    "{line}: {ours:?} is not a number"
                );
                assert_eq!(*german, ours.replace('.', ","), "{line}");
                fractions += usize::from(column == at);
            }
        }
        assert!(fractions > 0, "{line}: {column} has no fraction");
        // Times in seconds of the trace.
        let times = ours[1].iter().zip(&ours[2]).zip(&german[2]);
        let times: Vec<_> = times
            .filter(|((title, _), _)| title.contains("Start Time") || *title == "Mark Time")
            .collect();
        assert!(
            times.iter().all(|((_, ours), german)| ours == german),
            "{line}"
        );
    }
}

#[test]
fn numbers_are_read_the_same_in_all_locales() {
    for number in ["1,5", "1.5"] {
        let line =
            format!("ETWAnalyzer -dump cpu -fd SlowSystem -MinMaxWaitMs {number} -topn 3 -debug");
        let answers =
            ["C", "de_DE.UTF-8", "en_US.UTF-8", "fr_FR", "de_CH", "hi_IN"].map(|locale| {
                let printed = under(locale, &line, "options");
                assert!(
                    printed.text.contains(" --wait=1.5.. "),
                    "{locale}: {}",
                    printed.text
                );
                printed.out.lines().count()
            });
        assert!(
            answers
                .iter()
                .all(|answer| *answer == answers[0] && *answer > 3),
            "{answers:?}"
        );
    }
}

#[test]
fn our_own_command_lines_write_all_numbers_in_one_way() {
    for line in [
        "etwkit dump dns Browsing.etwx --details",
        "etwkit dump dns Browsing.etwx --json",
        "etwkit dump cpu ../options/SlowSystem.etwx --top 3",
        "etwkit sql Browsing.etwx \"SELECT 1234567.5 AS a\"",
    ] {
        let (ours, german) = (own("C", line), own("de_DE.UTF-8", line));
        assert_eq!(ours, german, "{line}");
    }
    let file = |locale: &str| {
        own(locale, "etwkit dump dns Browsing.etwx --csv own.csv");
        written(&drive().join("more/own.csv"))
    };
    assert_eq!(file("C"), file("de_DE.UTF-8"));
}

/// What one of our own lines prints.
#[track_caller]
fn own(locale: &str, line: &str) -> String {
    let answer = std::process::Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(&super::words(line)[1..])
        .current_dir(drive().join("more"))
        .env("LC_ALL", locale)
        .output()
        .unwrap();
    assert!(
        answer.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&answer.stderr)
    );
    String::from_utf8(answer.stdout).unwrap()
}
