//! `-dump exception`, `-dump mark`, `-dump tracelog`, `-dump power` and `-dump testrun`.

use crate::switch::{Switch, To, Words, cut_stack};

const EXCEPTION_SORTS: Words = &[("default", ""), ("time", "time")];

pub(crate) const EXCEPTION: &[Switch] = &[
    Switch {
        names: &["type"],
        to: To::Text("--type"),
    },
    Switch {
        names: &["message"],
        to: To::Text("--message"),
    },
    Switch {
        names: &["stackfilter", "sf"],
        to: To::Text("--stack-filter"),
    },
    Switch {
        names: &["showstack", "ss"],
        to: To::Flag("--show-stack"),
    },
    Switch {
        names: &["cutstack"],
        to: To::Special(cut_stack),
    },
    Switch {
        names: &["maxmessage"],
        to: To::Text("--max-message"),
    },
    // Until 2022 this was the switch for whole messages.
    Switch {
        names: &["fullmessage", "fm"],
        to: To::Flag("--max-message=0"),
    },
    Switch {
        names: &["showtime"],
        to: To::Flag("--show-time"),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", EXCEPTION_SORTS),
    },
    Switch {
        names: &["minmaxextime"],
        to: To::Range("--time"),
    },
    Switch {
        names: &["filterexceptions"],
        to: To::Flag("--exception-filters=default"),
    },
    Switch {
        names: &["showmoduleinfo", "smi"],
        to: To::Maybe("--show-module"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
];

pub(crate) const MARK: &[Switch] = &[
    Switch {
        names: &["markerfilter"],
        to: To::Text("--marker-filter"),
    },
    Switch {
        names: &["minmaxmarkdifftime"],
        to: To::Range("--diff"),
    },
];

const TRACE_LOG_SORTS: Words = &[
    ("default", ""),
    ("count", "count"),
    ("name", "name"),
    ("id", "id"),
];

pub(crate) const TRACE_LOG: &[Switch] = &[
    Switch {
        names: &["provider"],
        to: To::Text("--provider"),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", TRACE_LOG_SORTS),
    },
    Switch {
        names: &["message"],
        to: To::Text("--message"),
    },
    Switch {
        names: &["tid"],
        to: To::Text("--tid"),
    },
    Switch {
        names: &["minmaxtime"],
        to: To::Range("--time"),
    },
    Switch {
        names: &["maxcount"],
        to: To::Text("--max-count"),
    },
];

pub(crate) const POWER: &[Switch] = &[
    Switch {
        names: &["diff"],
        to: To::Flag("--diff"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
];

pub(crate) const TEST_RUN: &[Switch] = &[
    Switch {
        names: &["printfiles"],
        to: To::Flag("--print-files"),
    },
    Switch {
        names: &["verbose"],
        to: To::Flag("--recordings"),
    },
    Switch {
        names: &["copyfilesto"],
        to: To::Text("--copy-files-to"),
    },
    Switch {
        names: &["withetl"],
        to: To::Flag("--with-traces"),
    },
    Switch {
        names: &["overwrite"],
        to: To::Flag("--overwrite"),
    },
];
