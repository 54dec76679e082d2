//! Facts about the machine that no event contains, in a file next to the recording that `etwkit
//! extract` reads: power plan, minifilters, network interfaces, security products and their
//! exclusions, disks and their caches, other recorders, and the status that wpr reported. If a
//! program is missing or fails, only its own facts are missing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::runner::Runner;
use crate::step::Step;
use crate::steps;

/// Observations of a recording, kept in a file until its facts are written.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watch {
    /// The sessions of the machine before the start of the recording.
    pub(crate) before: Vec<String>,
    /// The sessions of the machine before the end of the recording.
    pub(crate) during: Vec<String>,
    /// Status of the recording after its start, as reported by wpr, one entry per line.
    pub(crate) began: Vec<String>,
    /// Status of the recording before its end, as reported by wpr, one entry per line.
    pub(crate) ended: Vec<String>,
}

/// Suffix of the file's name, after the name of the recording.
pub(crate) const ENDING: &str = ".facts.json";

/// A fact, as described in docs/FORMAT.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fact {
    name: String,
    value: String,
    source: &'static str,
}

/// The file.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Document {
    version: u32,
    source: &'static str,
    pub(crate) facts: Vec<Fact>,
}

impl Document {
    /// Writes the file next to a recording. Next to an archive it also has the name of the
    /// recording.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, recording: &Path) -> Result<()> {
        let file = unpacked(recording).with_added_extension(ENDING.trim_start_matches('.'));
        fs::write(&file, serde_json::to_string_pretty(self)? + "\n")
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Returns the path of a recording, which may be in an archive by now.
pub(crate) fn unpacked(recording: &Path) -> PathBuf {
    let is_packed = steps::ends_with(&recording.to_string_lossy(), ".zip");
    recording.with_extension(if is_packed { "" } else { "etl" })
}

/// Runs the programs of the machine and collects their facts. `watch` has the observations of the
/// recording.
pub(crate) fn gather(runner: &mut dyn Runner, watch: &Watch) -> Document {
    let mut facts = Vec::new();
    for (step, source, read) in SOURCES {
        let step = Step {
            program: step.0,
            args: step.1.iter().map(|arg| (*arg).to_owned()).collect(),
            why: String::new(),
        };
        // The recording is complete without these facts: a program that is missing costs only its
        // own.
        let Ok(outcome) = runner.run(&step) else {
            continue;
        };
        if outcome.is_done() {
            facts.extend(read(&outcome.text).into_iter().map(|(name, value)| Fact {
                name,
                value,
                source,
            }));
        }
    }
    let after = sessions(runner);
    for (name, values, source) in [
        ("session before the recording", &watch.before, "logman"),
        ("session during the recording", &watch.during, "logman"),
        ("session after the recording", &after, "logman"),
        ("recording when it started", &watch.began, "wpr"),
        ("recording when it ended", &watch.ended, "wpr"),
    ] {
        let fact = |value: &String| Fact {
            name: name.to_owned(),
            value: value.clone(),
            source,
        };
        facts.extend(values.iter().map(fact));
    }
    Document {
        version: 1,
        source: "etwkit record",
        facts,
    }
}

/// Returns the names of the running sessions; empty if they cannot be listed.
pub(crate) fn sessions(runner: &mut dyn Runner) -> Vec<String> {
    let Ok(outcome) = runner.run(&steps::sessions()) else {
        return Vec::new();
    };
    // Columns are separated by at least two spaces, and names contain single ones. The last line is
    // a sentence without columns.
    let name = |line: &str| {
        line.split_once("  ")
            .map(|(name, _)| name.trim().to_owned())
    };
    below_rule(&outcome.text)
        .filter_map(name)
        .filter(|name| !name.is_empty())
        .collect()
}

type Facts = Vec<(String, String)>;

/// A program with its arguments, its name as a source, and the parser of its output.
type Source = (
    (&'static str, &'static [&'static str]),
    &'static str,
    fn(&str) -> Facts,
);

const SOURCES: &[Source] = &[
    (
        ("powercfg", &["/GETACTIVESCHEME"]),
        "powercfg",
        power_scheme,
    ),
    (("fltmc", &["filters"]), "fltmc", minifilters),
    (
        ("netsh", &["interface", "ipv4", "show", "interfaces"]),
        "netsh",
        interfaces,
    ),
    (
        (
            "powershell",
            &["-NoProfile", "-NonInteractive", "-Command", ASK],
        ),
        "powershell",
        pairs,
    ),
];

/// Script that prints lines `name=value`. A missing feature of the machine prints nothing.
const ASK: &str = "$ErrorActionPreference = 'SilentlyContinue'; \
    Get-CimInstance -Namespace root/SecurityCenter2 -ClassName AntiVirusProduct \
    | ForEach-Object { 'security product=' + $_.displayName }; \
    $p = Get-MpPreference; \
    $p.ExclusionPath | ForEach-Object { 'security exclusion of a path=' + $_ }; \
    $p.ExclusionProcess | ForEach-Object { 'security exclusion of a process=' + $_ }; \
    $p.ExclusionExtension | ForEach-Object { 'security exclusion of an extension=' + $_ }; \
    Get-PhysicalDisk | ForEach-Object { $a = $_ | Get-StorageAdvancedProperty; \
    'disk=' + $_.FriendlyName + ', ' + $_.MediaType + ', write cache ' + $a.IsDeviceCacheEnabled \
    + ', protected against power failure ' + $a.IsPowerProtected }; \
    Get-CimInstance Win32_VideoController \
    | ForEach-Object { 'graphics card=' + $_.Name + ', driver ' + $_.DriverVersion }";

/// Returns the lines below the first line of hyphens.
fn below_rule(text: &str) -> impl Iterator<Item = &str> {
    let is_rule = |line: &&str| line.trim_start().starts_with("---");
    text.lines()
        .skip_while(move |line| !is_rule(line))
        .skip(1)
        .filter(|line| !line.trim().is_empty())
}

/// Parses `Power Scheme GUID: 381b4222-…  (Balanced)`. The words before the GUID are in the
/// language of Windows.
fn power_scheme(text: &str) -> Facts {
    let name = text
        .rsplit_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    name.map(|(name, _)| ("power plan".to_owned(), name.to_owned()))
        .into_iter()
        .collect()
}

/// Parses name, instances, altitude and frame. The name may contain spaces.
fn minifilters(text: &str) -> Facts {
    let fact = |line: &str| {
        let (rest, _frame) = line.trim_end().rsplit_once(char::is_whitespace)?;
        let (rest, altitude) = rest.trim_end().rsplit_once(char::is_whitespace)?;
        let (name, _instances) = rest.trim_end().rsplit_once(char::is_whitespace)?;
        Some((
            "minifilter".to_owned(),
            format!("{}, altitude {altitude}", name.trim()),
        ))
    };
    below_rule(text).filter_map(fact).collect()
}

/// Parses index, metric, largest packet, state, and a name that may contain spaces.
fn interfaces(text: &str) -> Facts {
    let fact = |line: &str| {
        let mut words = line.split_whitespace();
        let (index, metric, _packet, state) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        let name = words.collect::<Vec<_>>().join(" ");
        Some((
            "network interface".to_owned(),
            format!("{name}: index {index}, metric {metric}, {state}"),
        ))
    };
    below_rule(text).filter_map(fact).collect()
}

fn pairs(text: &str) -> Facts {
    let pair = |line: &str| {
        let (name, value) = line.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty())
    };
    text.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_print_becomes_facts() {
        let filters = "\nFilter Name                     Num Instances    Altitude    Frame\n\
                       ------------------------------  -------------  ------------  -----\n\
                       bindflt                                 1       409800         0\n\
                       Acme Scan Filter                        7       328010.5       0\n";
        let interfaces_text = "\nIdx     Met         MTU          State                Name\n\
                          ---  ----------  ----------  ------------  ---------------------------\n\
                            1          75  4294967295  connected     Loopback Pseudo-Interface 1\n \
                           10          25        1500  disconnected  Wi-Fi\n";
        let scheme =
            "GUID des Energieschemas: 381b4222-f694-41f0-9685-ff5bb260df2e  (Ausbalanciert)\n";
        let lines = |facts: Facts| {
            facts
                .into_iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lines(minifilters(filters)),
            [
                "minifilter: bindflt, altitude 409800",
                "minifilter: Acme Scan Filter, altitude 328010.5"
            ]
        );
        assert_eq!(
            lines(interfaces(interfaces_text)),
            [
                "network interface: Loopback Pseudo-Interface 1: index 1, metric 75, connected",
                "network interface: Wi-Fi: index 10, metric 25, disconnected"
            ]
        );
        assert_eq!(lines(power_scheme(scheme)), ["power plan: Ausbalanciert"]);
        assert_eq!(
            lines(pairs("disk=SSD, write cache True\nsecurity product=\n")),
            ["disk: SSD, write cache True"]
        );
        for text in ["", "(", "---\n1\n", "= ="] {
            assert!(
                minifilters(text).is_empty()
                    && interfaces(text).is_empty()
                    && power_scheme(text).is_empty()
            );
        }
    }
}
