//! `-dump process`, `-dump version` and `-dump stats`.

use crate::line::Line;
use crate::switch::{Native, Switch, To, Words, pair};

const SORTS: Words = &[
    ("default", ""),
    ("time", "time"),
    // The guide for agents of ETWAnalyzer uses this one.
    ("starttime", "time"),
    ("stoptime", "stop-time"),
    ("session", "session"),
    ("tree", "tree"),
];

/// Words of the sums. The other words, which any sub command takes, mean sums of each file, which
/// are always shown.
const TOTALS: Words = &[
    ("none", "none"),
    ("total", "total"),
    ("process", ""),
    ("file", ""),
    ("method", ""),
];

pub(crate) const PROCESS: &[Switch] = &[
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", SORTS),
    },
    Switch {
        names: &["parent"],
        to: To::Text("--parent"),
    },
    // Until 2023 the switch had the second name.
    Switch {
        names: &["minmaxduration", "minmax"],
        to: To::Range("--duration"),
    },
    Switch {
        names: &["minmaxstart"],
        to: To::Range("--start"),
    },
    Switch {
        names: &["crash"],
        to: To::Flag("--crash"),
    },
    Switch {
        names: &["showuser"],
        to: To::Flag("--show-user"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
    Switch {
        names: &["showfileonline", "sfo"],
        to: To::Flag("--show-file-on-line"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", TOTALS),
    },
    Switch {
        names: &["merge"],
        to: To::Flag("--merge"),
    },
    // It shows more only together with `-merge`, so it implies it.
    Switch {
        names: &["showallprocesses"],
        to: To::Special(all_processes),
    },
];

pub(crate) const VERSION: &[Switch] = &[
    Switch {
        names: &["dll"],
        to: To::Text("--dll"),
    },
    Switch {
        names: &["versionfilter"],
        to: To::Text("--version"),
    },
    Switch {
        names: &["missingpdb"],
        to: To::Special(missing_pdb),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", TOTALS),
    },
    Switch {
        names: &["modulefilter"],
        to: To::Text("--marked"),
    },
];

pub(crate) const STATS: &[Switch] = &[
    Switch {
        names: &["properties"],
        to: To::Special(properties),
    },
    Switch {
        names: &["oneline"],
        to: To::Flag("--one-line"),
    },
];

fn all_processes(_: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    native.extend(["--merge", "--all-processes"].map(Into::into));
    Ok(())
}

fn missing_pdb(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    pair(
        native,
        "--missing-pdb",
        &line.value().unwrap_or_else(|| "*".to_owned()),
    );
    Ok(())
}

/// Translates names of properties, some of which have a unit here; a part that starts with `!`
/// makes all of them exclude.
fn properties(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    const OURS: [(&str, &str); 4] = [
        ("extractstarttime", "ExtractStartTimeS"),
        ("extractendtime", "ExtractEndTimeS"),
        ("boottosessionstart", "BootToSessionStartS"),
        ("disk", "Disk*;Volume*"),
    ];
    let names = line.required("properties")?;
    let parts: Vec<&str> = names
        .split([',', ';', ' '])
        .filter(|part| !part.is_empty())
        .collect();
    let excludes = parts.iter().any(|part| part.starts_with('!'));
    let mut ours = Vec::new();
    for part in parts {
        let name = part.trim_start_matches('!');
        let found = OURS
            .iter()
            .find(|(of, _)| name.eq_ignore_ascii_case(of))
            .map_or(name, |(_, ours)| *ours);
        ours.extend(
            found
                .split(';')
                .map(|name| format!("{}{name}", if excludes { "!" } else { "" })),
        );
    }
    pair(native, "--properties", &ours.join(";"));
    Ok(())
}
