//! `-dump process`, `-dump version` and `-dump stats`.

use crate::compat::line::Line;
use crate::compat::switch::{Native, Switch, To, Words, pair};

const SORTS: Words = &[
    ("default", "name"),
    ("time", "time"),
    ("stoptime", "stop-time"),
    ("session", "session"),
    ("tree", "tree"),
];

const TOTALS: Words = &[("none", "none"), ("total", "total")];

pub(super) static PROCESS: &[Switch] = &[
    Switch { names: &["sortby"], to: To::Word("--sort-by", SORTS) },
    Switch { names: &["parent"], to: To::Text("--parent") },
    // Until 2023 the second one was called so.
    Switch { names: &["minmaxduration", "minmax"], to: To::Range("--duration") },
    Switch { names: &["minmaxstart"], to: To::Range("--start") },
    Switch { names: &["crash"], to: To::Flag("--crash") },
    Switch { names: &["showuser"], to: To::Flag("--show-user") },
    Switch { names: &["details"], to: To::Flag("--details") },
    Switch { names: &["showfileonline", "sfo"], to: To::Flag("--show-file-on-line") },
    Switch { names: &["showtotal"], to: To::Word("--show-total", TOTALS) },
    Switch { names: &["merge"], to: To::Flag("--merge") },
    // It shows nothing more without the other one.
    Switch { names: &["showallprocesses"], to: To::Special(all_processes) },
];

pub(super) static VERSION: &[Switch] = &[
    Switch { names: &["dll"], to: To::Text("--dll") },
    Switch { names: &["versionfilter"], to: To::Text("--version") },
    Switch { names: &["missingpdb"], to: To::Special(missing_pdb) },
    Switch { names: &["showtotal"], to: To::Word("--show-total", TOTALS) },
    Switch {
        names: &["modulefilter"],
        to: To::Missing("no list says which modules are the main ones of a product; use -dll"),
    },
];

pub(super) static STATS: &[Switch] = &[
    Switch { names: &["properties"], to: To::Text("--properties") },
    Switch { names: &["oneline"], to: To::Flag("--one-line") },
];

fn all_processes(_: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    native.extend(["--merge", "--all-processes"].map(Into::into));
    Ok(())
}

fn missing_pdb(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    pair(native, "--missing-pdb", &line.value().unwrap_or_else(|| "*".to_owned()));
    Ok(())
}
