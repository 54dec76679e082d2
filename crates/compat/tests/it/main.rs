//! Lines become plans: words in, commands of ours out. Nothing is run.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

use std::path::PathBuf;

use etwkit_compat::{LineError, Plan, Step, console, plan, shell_line};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Finds an extract for each query, and one of the current folder where a line has none.
fn find(queries: &[String], _: bool) -> anyhow::Result<Vec<PathBuf>> {
    let queries = if queries.is_empty() {
        &["here".to_owned()]
    } else {
        queries
    };
    Ok(queries
        .iter()
        .map(|query| format!("{query}.etwx").into())
        .collect())
}

fn planned(line: &str) -> Plan {
    plan(&words(line), &find).unwrap()
}

fn step(line: &str) -> Step {
    match planned(line) {
        Plan::Steps(mut steps) if steps.len() == 1 => steps.remove(0),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn lines_become_commands_of_ours() {
    for (line, expected) in [
        (
            "-dump cpu -fd x -pn cmd -topn 3",
            "dump cpu --process=cmd --top=3 --rename-rules=default --sort-by=cpu -- x.etwx",
        ),
        (
            "-fd a -fd b cpu -DUMP -MinMaxWaitMs 1,5",
            "dump cpu --wait=1.5.. --rename-rules=default --sort-by=cpu -- a.etwx b.etwx",
        ),
        ("-dump stats", "dump stats -- here.etwx"),
        (
            "-dump testrun -verbose -fd x",
            "dump test-run --recordings -- x.etwx",
        ),
        (
            "-loadsymbol -fd x -symserver MS -nocolor",
            "symbols load --symbols=MS --color=never -- x.etwx",
        ),
        ("-converttime -fd x -time 5", "dump time --time=5 -- x.etwx"),
        (
            "-dump power -topn 1 -topn 2 -fd x",
            "dump power --top=2 -- x.etwx",
        ),
    ] {
        let step = step(line);
        assert_eq!(
            shell_line(&step.args),
            format!("etwkit {expected}"),
            "{line}"
        );
        assert!(
            step.notes.is_empty()
                && !step.shows_line
                && step.etwanalyzer.csv.is_none()
                && step.decides,
            "{line}"
        );
    }
}

#[test]
fn files_of_rows_are_a_wish_beside_the_arguments() {
    let of_line = step("-dump dns -fd x -csv rows.csv -topn 3 -nocsvseparator -debug");
    assert_eq!(
        shell_line(&of_line.args),
        "etwkit dump dns --csv=rows.csv --rename-rules=default --details -- x.etwx"
    );
    assert!(of_line.etwanalyzer.csv.is_some() && of_line.shows_line);
    let of_line = step("-dump testrun -fd x -csv rows.csv");
    assert_eq!(shell_line(&of_line.args), "etwkit dump test-run -- x.etwx");
    assert_eq!(
        (of_line.etwanalyzer.csv.is_none(), &*of_line.notes),
        (true, &["-csv means nothing to -dump test-run".into()][..])
    );
}

#[test]
fn switches_of_other_sub_commands_are_reported() {
    let of_line = step("-dump mark -fd x -methods a b -tcb");
    assert_eq!(shell_line(&of_line.args), "etwkit dump mark -- x.etwx");
    assert_eq!(
        of_line.notes,
        [
            "-methods means nothing to -dump mark",
            "-tcb means nothing to -dump mark"
        ]
    );
}

#[test]
fn help_is_text() {
    for (line, title) in [
        ("", "etwkit understands the command lines of ETWAnalyzer."),
        (
            "-help",
            "etwkit understands the command lines of ETWAnalyzer.",
        ),
        (
            "-dump cpu -help",
            "Switches of -dump cpu; what they do is described by: etwkit dump cpu --help\n",
        ),
        (
            "-help convert",
            "Switches of -convert; what they do is described by: etwkit export --help\n",
        ),
    ] {
        let Plan::Text(text) = planned(line) else {
            panic!("{line} is no text")
        };
        assert!(text.starts_with(title), "{line}: {text}");
    }
    let Plan::Text(text) = planned("-dump testrun -help") else {
        panic!("no text")
    };
    assert!(
        text.contains(
            "\n  -csv                          changes nothing: there is no file of it\n"
        ),
        "{text}"
    );
}

#[test]
fn what_is_wrong_has_a_message_and_often_a_hint() {
    for (line, message, hint) in [
        (
            "-dmp cpu",
            "-dmp: there is no command of this name",
            "did you mean -dump?",
        ),
        (
            "cpu -fd x",
            "the line has no command",
            "did you mean -dump cpu?",
        ),
        (
            "-dump cup",
            "-dump cup: there is no sub command of this name; there are: cpu disk",
            "`etwkit -help` lists",
        ),
        (
            "-dump cpu -topnm 5",
            "there is no switch -topnm; there is -topnmethods",
            "",
        ),
        ("-dump cpu x", "\"x\" belongs to no switch of -dump cpu", ""),
        ("-converttime -fd x", "-converttime needs a time", ""),
        ("-converttime -time 5", "-converttime needs extracts", ""),
        (
            "-loadsymbol -fd x -pid 5",
            "there is no switch -pid of -loadsymbol",
            "",
        ),
        (
            "-extract all -fd x -pid 5",
            "there is no switch -pid of -extract",
            "-extract -help lists",
        ),
        ("-console", "this is a console already", ""),
    ] {
        let error = plan(&words(line), &find).unwrap_err();
        assert!(error.to_string().starts_with(message), "{line}: {error}");
        let found = error
            .downcast_ref::<LineError>()
            .map_or("", |wrong| &wrong.hint);
        assert!(
            found.starts_with(hint) && found.is_empty() == hint.is_empty(),
            "{line}: {found}"
        );
    }
}

#[test]
fn a_console_asks_what_is_loaded() {
    let of_line = |plan: anyhow::Result<Plan>| match plan.unwrap() {
        Plan::Steps(steps) => steps
            .iter()
            .map(|step| shell_line(&step.args))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let loaded = &|_: &[String], _: bool| Ok(vec![PathBuf::from("loaded.etwx")]);
    assert_eq!(
        of_line(console::dump(&words("stats"), loaded)),
        ["etwkit dump stats -- loaded.etwx"]
    );
    let time = console::convert_time(&words("-time 5"), loaded);
    assert_eq!(of_line(time), ["etwkit dump time --time=5 -- loaded.etwx"]);
    // Other commands are none of its own.
    assert!(console::dump(&words("stats -extract"), loaded).is_err());
}
