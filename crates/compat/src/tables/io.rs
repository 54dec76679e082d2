//! `-dump disk` and `-dump file`.

use crate::switch::{Switch, To, Words};

const DISK_SORTS: Words = &[
    ("default", ""),
    ("size", "total-size"),
    ("count", "count"),
    ("totalcount", "count"),
    ("time", "total-time"),
    ("totalsize", "total-size"),
    ("totaltime", "total-time"),
    ("readsize", "read-size"),
    ("writesize", "write-size"),
    ("readtime", "read-time"),
    ("writetime", "write-time"),
    ("flushtime", "flush-time"),
];

/// Operations of disks: reads and writes only; any other operation keeps all rows, like in
/// ETWAnalyzer.
const DISK_OPERATIONS: Words = &[
    ("all", ""),
    ("read", "read"),
    ("write", "write"),
    ("open", ""),
    ("close", ""),
    ("setsecurity", ""),
    ("delete", ""),
    ("rename", ""),
];

/// Switches for the processes and files of I/O.
pub(crate) const PLACES: &[Switch] = &[
    Switch {
        names: &["dirlevel"],
        to: To::Text("--dir-level"),
    },
    Switch {
        names: &["perprocess"],
        to: To::Flag("--per-process"),
    },
    Switch {
        names: &["topnprocesses"],
        to: To::Top("--top-processes", Some("--skip-processes")),
    },
    Switch {
        names: &["filename"],
        to: To::Text("--file"),
    },
];

/// Switches for amounts of I/O.
pub(crate) const AMOUNTS: &[Switch] = &[
    Switch {
        names: &["minmaxreadsize"],
        to: To::Range("--read-size"),
    },
    Switch {
        names: &["minmaxwritesize"],
        to: To::Range("--write-size"),
    },
    Switch {
        names: &["minmaxtotalsize"],
        to: To::Range("--total-size"),
    },
    Switch {
        names: &["minmaxreadtime"],
        to: To::Range("--read-time"),
    },
    Switch {
        names: &["minmaxwritetime"],
        to: To::Range("--write-time"),
    },
    Switch {
        names: &["minmaxtotaltime"],
        to: To::Range("--total-time"),
    },
];

/// Switches for the presentation of I/O.
pub(crate) const SHOWN: &[Switch] = &[
    Switch {
        names: &["merge"],
        to: To::Flag("--merge"),
    },
    Switch {
        names: &["reversefilename", "rfn"],
        to: To::Flag("--reverse-file-name"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
];

pub(crate) const DISK: &[Switch] = &[
    Switch {
        names: &["fileoperation"],
        to: To::MaybeWord("--operation", DISK_OPERATIONS),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", DISK_SORTS),
    },
];

const FILE_SORTS: Words = &[
    ("default", ""),
    ("size", "total-size"),
    ("totalsize", "total-size"),
    ("count", "count"),
    ("totalcount", "count"),
    ("readsize", "read-size"),
    ("writesize", "write-size"),
    ("readtime", "read-time"),
    ("writetime", "write-time"),
    ("totaltime", "total-time"),
    ("time", "total-time"),
    ("length", "length"),
    ("maxreadpos", "max-read-pos"),
    ("maxwritepos", "max-write-pos"),
    ("openclosetime", "open-close-time"),
];

const FILE_OPERATIONS: Words = &[
    ("all", "all"),
    ("read", "read"),
    ("write", "write"),
    ("open", "open"),
    ("close", "close"),
    ("setsecurity", "set-security"),
    ("delete", "delete"),
    ("rename", "rename"),
];

const FILE_TOTALS: Words = &[
    ("none", "none"),
    ("total", "total"),
    ("process", "process"),
    ("file", "file"),
    ("method", ""),
];

pub(crate) const FILE: &[Switch] = &[
    Switch {
        names: &["fileoperation"],
        to: To::MaybeWord("--operation", FILE_OPERATIONS),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", FILE_SORTS),
    },
    Switch {
        names: &["showmoduleinfo", "smi"],
        to: To::Maybe("--show-module"),
    },
];

/// Switches that only files have.
pub(crate) const FILE_SUMS: &[Switch] = &[
    Switch {
        names: &["minmaxtotalcount"],
        to: To::Range("--total-count"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", FILE_TOTALS),
    },
    Switch {
        names: &["showallfiles"],
        to: To::Flag("--all-files"),
    },
];
