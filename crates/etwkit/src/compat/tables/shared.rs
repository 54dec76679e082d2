//! Switches that most sub commands have.

use crate::compat::switch::{Switch, To, zero_time};

/// How answers are written.
pub(super) static ALL: &[Switch] = &[
    Switch { names: &["timefmt"], to: To::Text("--time-format") },
    Switch { names: &["timedigits"], to: To::Text("--time-digits") },
    Switch { names: &["column"], to: To::Text("--column") },
    Switch { names: &["clip"], to: To::Flag("--clip") },
    Switch { names: &["nodigitsep"], to: To::Flag("--no-digit-sep") },
    Switch { names: &["showfullfilename", "sffn"], to: To::Flag("--show-full-file-name") },
    Switch { names: &["topn"], to: To::Top("--top", None) },
    Switch {
        names: &[
            "testrunindex",
            "tri",
            "testruncount",
            "trc",
            "testsperrun",
            "skipntests",
            "lastndays",
            "minmaxmstesttimes",
            "minmaxtesttime",
            "validtestsonly",
            "testcase",
            "tc",
            "machine",
        ],
        to: To::Missing("test runs are chosen by -dump testrun only so far; choose files by -fd"),
    },
    Switch { names: &["notestrungrouping"], to: To::Nothing(0, "nothing is put together by test runs") },
    Switch { names: &["nocolor"], to: To::Nothing(0, "there are no colours") },
    Switch { names: &["verbose"], to: To::Nothing(0, "nothing is kept from the reader without it") },
];

/// Which processes, and how they are written.
pub(super) static PROCESS: &[Switch] = &[
    Switch { names: &["processname", "pn"], to: To::Text("--process") },
    Switch { names: &["cmdline"], to: To::Text("--cmdline") },
    Switch { names: &["newprocess"], to: To::Text("--new-process") },
    Switch { names: &["session"], to: To::Text("--session") },
    Switch { names: &["user"], to: To::Text("--user") },
    Switch { names: &["processfmt"], to: To::Text("--process-format") },
    Switch { names: &["nocmdline"], to: To::Flag("--no-cmdline") },
    Switch {
        names: &["plainprocessnames", "ppn"],
        to: To::Nothing(0, "processes always have their own names"),
    },
];

/// What becomes second 0.
pub(super) static ZERO: &[Switch] = &[
    Switch { names: &["zerotime", "zt"], to: To::Special(zero_time) },
    Switch { names: &["zeroprocessname", "zpn"], to: To::Text("--zero-process") },
];
