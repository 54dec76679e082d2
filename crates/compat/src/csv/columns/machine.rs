//! Processes, modules, properties of the machine.

use super::Columns;
use crate::csv::cell::Cell::*;

pub(crate) const PROCESS: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("TestDate", Date),
    ("ProcessName", Is("name")),
    ("ProcessName(pid)", Process("name", "pid")),
    ("Parent ProcessId", Is("parent_pid")),
    ("Session", Is("session_id")),
    ("Return Code", ReturnCode("exit_code")),
    ("NewProcess", Has("start_ns")),
    ("Start Time", Time("start_ns")),
    ("End Time", Time("stop_ns")),
    ("LifeTime in minutes", Minutes("duration_ns")),
    ("User", Is("sid")),
    ("CommandLine", Is("command_line")),
    ("Baseline", Baseline),
    ("SourceFile", Source),
];

/// Columns before modules and symbol files.
pub(crate) const RECORDING: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Test Time in ms", TestTime),
    ("Machine", Machine),
    ("TestDate", Date),
];

pub(crate) const VERSION: Columns = &[
    ("Process", Process("process", "pid")),
    ("DllName", Is("module")),
    ("Dll Path", Is("path")),
    ("Versions", Module("path")),
];

pub(crate) const PDB: Columns = &[
    ("PdbName", Is("pdb")),
    ("PdbAge", Is("pdb_age")),
    ("PdbId", Is("pdb_guid")),
];

pub(crate) const MARKED: Columns = &[
    ("Main Version", Is("main_version")),
    ("Module", Is("part")),
    ("Module Version", Is("part_version")),
    ("ModuleBuildDate", Is("built")),
    (
        "BuildDate(MainModule - Module) in days",
        Is("days_before_main"),
    ),
];

const VIDEO: &[&str] = &["video"];

/// One row for each extract: properties by name.
pub(crate) const STATS: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("TestDate", Date),
    ("Test Time in ms", TestTime),
    ("SourceFile", Source),
    ("Machine", Machine),
    ("SourceETLFileName", Maybe("SourceETLFileName")),
    ("Baseline", Baseline),
    ("UsedExtractOptions", Maybe("UsedExtractOptions")),
    ("OSName", Maybe("OSName")),
    ("WinSatOSName", Maybe("WinSatOSName")),
    ("OSBuild", Maybe("OSBuild")),
    ("OSVersion", Maybe("OSVersion")),
    ("MemorySizeMB", Maybe("MemorySizeMB")),
    ("NumberOfProcessors", Maybe("NumberOfProcessors")),
    ("CPUProcessorGroups", Maybe("CPUProcessorGroups")),
    ("CPUSpeedMHz", Maybe("CPUSpeedMHz")),
    ("SessionStart", Maybe("SessionStart")),
    ("SessionEnd", Maybe("SessionEnd")),
    ("BootTime", Maybe("BootTime")),
    ("Model", Maybe("Model")),
    ("AdDomain", Maybe("AdDomain")),
    ("IsDomainJoined", Maybe("IsDomainJoined")),
    (
        "DisplaysHorizontalResolution",
        Facts(VIDEO, &["horizontal_resolution"]),
    ),
    (
        "DisplaysVerticalResolution",
        Facts(VIDEO, &["vertical_resolution"]),
    ),
    ("DisplayNames", Facts(VIDEO, &["display_name"])),
    ("MainModuleVersion", Maybe("MainModuleVersion")),
    ("Network", Maybe("Network")),
    (
        "DisplaysMemoryMiB",
        Facts(VIDEO, &["graphics_card_memory_size_mi_b"]),
    ),
];
