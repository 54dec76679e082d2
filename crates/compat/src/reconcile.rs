//! Combinations of switches that ETWAnalyzer accepts and our options do not: one of them counts, or
//! one changes the meaning of another.

use super::switch::{Native, has, last_place, pair, value_of, without};

/// An option that has no effect together with another one, or without it.
struct Idle {
    dump: &'static str,
    /// The option that is left out, and its original switch.
    option: &'static str,
    switch: &'static str,
    when: When,
}

enum When {
    /// If one of these is present.
    With(&'static [&'static str]),
    /// If none of these is present.
    Without(&'static [&'static str]),
}
use When::{With, Without};

const METHODS: &[&str] = &["--methods", "--top-methods", "--stack-tags"];

const IDLE: &[Idle] = &[
    Idle {
        dump: "cpu",
        option: "--merge",
        switch: "-merge",
        when: With(METHODS),
    },
    Idle {
        dump: "cpu",
        option: "--normalize",
        switch: "-normalize",
        when: With(&["--no-frequency"]),
    },
    Idle {
        dump: "cpu",
        option: "--normalize",
        switch: "-normalize",
        when: Without(&["--details"]),
    },
    Idle {
        dump: "disk",
        option: "--top-processes",
        switch: "-topnprocesses",
        when: Without(PER_PROCESS),
    },
    Idle {
        dump: "disk",
        option: "--skip-processes",
        switch: "",
        when: Without(PER_PROCESS),
    },
    Idle {
        dump: "file",
        option: "--top-processes",
        switch: "-topnprocesses",
        when: Without(PER_PROCESS),
    },
    Idle {
        dump: "file",
        option: "--skip-processes",
        switch: "",
        when: Without(PER_PROCESS),
    },
    Idle {
        dump: "tcp",
        option: "--group-by",
        switch: "-groupby",
        when: With(ISSUE),
    },
    Idle {
        dump: "tcp",
        option: "--show-retransmit",
        switch: "-showretransmit",
        when: With(ISSUE),
    },
];

const PER_PROCESS: &[&str] = &["--per-process"];
const ISSUE: &[&str] = &["--issue"];

/// Changes arguments that do not go together, so that they mean the same as the line in
/// ETWAnalyzer.
pub(crate) fn reconcile(dump: &str, native: &mut Native, notes: &mut Vec<String>) {
    for idle in IDLE.iter().filter(|idle| idle.dump == dump) {
        let is_idle = match idle.when {
            With(options) => options.iter().any(|option| has(native, option)),
            Without(options) => !options.iter().any(|option| has(native, option)),
        };
        if is_idle && has(native, idle.option) {
            without(native, &[idle.option]);
            let (beside, options) = match idle.when {
                With(options) => ("beside", options),
                Without(options) => ("without", options),
            };
            // `-topnprocesses` becomes two options, for which one note is enough.
            if !idle.switch.is_empty() {
                let options: Vec<String> = options.iter().map(|option| as_switch(option)).collect();
                notes.push(format!(
                    "{} means nothing {beside} {}",
                    idle.switch,
                    options.join(" or ")
                ));
            }
        }
    }
    only_drivers(dump, native, notes);
    match dump {
        "file" => by_count(native, notes),
        "version" => last_mode(native),
        _ => {}
    }
}

/// Returns the original switch of one of our options, as far as these tables need it.
fn as_switch(option: &str) -> String {
    match option {
        "--top-methods" => "-topnmethods".to_owned(),
        _ => format!("-{}", option.trim_start_matches('-').replace('-', "")),
    }
}

/// Translates `-ShowModuleInfo Driver`, which names the well-known driver of a method. An
/// executable is not a driver: its rows stay as they are.
fn only_drivers(dump: &str, native: &mut Native, notes: &mut Vec<String>) {
    let is_driver =
        value_of(native, "--show-module").is_some_and(|value| value.eq_ignore_ascii_case("driver"));
    let has_methods = dump == "cpu" && METHODS.iter().any(|option| has(native, option));
    if is_driver && !has_methods {
        without(native, &["--show-module"]);
        notes.push(
            "-showmoduleinfo Driver: no executable is a driver; -dump cpu -methods lists their code"
                .to_owned(),
        );
    }
}

/// Orders operations without bytes by their number, since they have no sizes.
fn by_count(native: &mut Native, notes: &mut Vec<String>) {
    const NO_BYTES: [&str; 5] = ["open", "close", "set-security", "delete", "rename"];
    const SIZES: [&str; 3] = ["total-size", "read-size", "write-size"];
    let has_none = |operation: &String| NO_BYTES.contains(&operation.as_str());
    let Some(operation) = value_of(native, "--operation").filter(has_none) else {
        return;
    };
    let sort = value_of(native, "--sort-by");
    // An explicit sort order by something other than sizes stays.
    if sort.as_deref().is_some_and(|sort| !SIZES.contains(&sort)) {
        return;
    }
    if sort.is_some() {
        notes.push(format!(
            "-sortby: {operation} moves no bytes; they are sorted by their number"
        ));
    }
    without(native, &["--sort-by"]);
    pair(native, "--sort-by", "count");
}

/// Keeps the last of `-dll`, `-versionfilter` and `-missingpdb`, each of which chooses a list.
/// `-modulefilter` filters the list that is shown without any of them.
fn last_mode(native: &mut Native) {
    if ["--dll", "--version", "--missing-pdb"]
        .iter()
        .any(|option| has(native, option))
    {
        without(native, &["--marked"]);
    }
    let of = |option| last_place(native, option);
    match (of("--missing-pdb"), of("--dll").max(of("--version"))) {
        (Some(pdbs), Some(modules)) if pdbs > modules => without(native, &["--dll", "--version"]),
        (Some(_), Some(_)) => without(native, &["--missing-pdb"]),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_left_out_and_noted() {
        for (dump, line, expected, note) in [
            (
                "cpu",
                "--merge --methods=*",
                "--methods=*",
                "-merge means nothing beside -methods or",
            ),
            ("cpu", "--merge", "--merge", ""),
            (
                "cpu",
                "--normalize",
                "",
                "-normalize means nothing without -details",
            ),
            ("cpu", "--normalize --details", "--normalize --details", ""),
            (
                "disk",
                "--top-processes=3 --skip-processes=1",
                "",
                "-topnprocesses means nothing without -perprocess",
            ),
            (
                "file",
                "--top-processes=3 --per-process",
                "--top-processes=3 --per-process",
                "",
            ),
            (
                "cpu",
                "--show-module=Driver",
                "",
                "-showmoduleinfo Driver: no executable is a driver",
            ),
            (
                "cpu",
                "--show-module=Driver --methods=*",
                "--show-module=Driver --methods=*",
                "",
            ),
            (
                "memory",
                "--show-module=driver",
                "",
                "-showmoduleinfo Driver: no executable is a driver",
            ),
            (
                "tcp",
                "--group-by=x --issue=post",
                "--issue=post",
                "-groupby means nothing beside -issue",
            ),
            (
                "file",
                "--operation=open",
                "--operation=open --sort-by=count",
                "",
            ),
            (
                "file",
                "--operation=set-security --sort-by=read-size",
                "--operation=set-security --sort-by=count",
                "-sortby: set-security moves no bytes",
            ),
            (
                "file",
                "--operation=open --sort-by=total-time",
                "--operation=open --sort-by=total-time",
                "",
            ),
            (
                "file",
                "--operation=read --sort-by=read-size",
                "--operation=read --sort-by=read-size",
                "",
            ),
            ("version", "--dll=a --missing-pdb=*", "--missing-pdb=*", ""),
            ("version", "--missing-pdb=* --version=a", "--version=a", ""),
            ("version", "--marked=a --dll=b", "--dll=b", ""),
            ("version", "--marked=a", "--marked=a", ""),
        ] {
            let mut native: Native = line.split(' ').map(Into::into).collect();
            let mut notes = Vec::new();
            reconcile(dump, &mut native, &mut notes);
            let changed: Vec<_> = native.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(changed.join(" "), expected, "{dump} {line}");
            assert_eq!(
                notes.is_empty(),
                note.is_empty(),
                "{dump} {line}: {notes:?}"
            );
            assert!(
                notes.iter().all(|found| found.starts_with(note)),
                "{notes:?}"
            );
        }
    }
}
