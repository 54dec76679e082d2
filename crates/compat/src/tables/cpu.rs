//! `-dump cpu`, `-dump pmc` and `-dump lbr`.

use crate::line::Line;
use crate::switch::{Native, Switch, To, Words, cut_method, first_last, pair};

/// Sort orders. An order that a list does not have changes nothing there, like in ETWAnalyzer.
const SORTS: Words = &[
    ("cpu", "cpu"),
    ("wait", "wait"),
    ("ready", "ready"),
    ("cpuwait", "cpu-wait"),
    ("cpuwaitready", "cpu-wait-ready"),
    ("readyavg", "ready-avg"),
    ("cswitchcount", "switches"),
    ("stackdepth", "stack-depth"),
    ("first", "first"),
    ("last", "last"),
    ("priority", "priority"),
    ("starttime", "start-time"),
    // Files are always in the order of their time.
    ("testtime", "cpu"),
    ("default", ""),
];

const TOTALS: Words = &[
    ("none", "none"),
    ("total", "total"),
    ("process", "process"),
    ("file", "file"),
    ("method", "method"),
];

const NO_ARGS: &str = "names of methods have no arguments";

pub(crate) const CPU: &[Switch] = &[
    Switch {
        names: &["methods"],
        to: To::Special(methods),
    },
    Switch {
        names: &["stacktags"],
        to: To::Text("--stack-tags"),
    },
    Switch {
        names: &["topnmethods"],
        to: To::Top("--top-methods", Some("--skip-methods")),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", SORTS),
    },
    Switch {
        names: &["minmaxcpums"],
        to: To::Range("--cpu"),
    },
    Switch {
        names: &["minmaxwaitms"],
        to: To::Range("--wait"),
    },
    Switch {
        names: &["minmaxreadyms"],
        to: To::Range("--ready"),
    },
    Switch {
        names: &["minmaxreadyavgus"],
        to: To::Range("--ready-avg"),
    },
    Switch {
        names: &["minmaxcswitchcount"],
        to: To::Range("--switches"),
    },
    Switch {
        names: &["minmaxfirst"],
        to: To::Range("--first"),
    },
    Switch {
        names: &["minmaxlast"],
        to: To::Range("--last"),
    },
    Switch {
        names: &["minmaxduration"],
        to: To::Range("--duration"),
    },
    Switch {
        names: &["firstlastduration", "fld"],
        to: To::Special(first_last),
    },
    Switch {
        names: &["cutmethod"],
        to: To::Special(cut_method),
    },
    Switch {
        names: &["includedll", "id"],
        to: To::Flag("--include-dll"),
    },
    Switch {
        names: &["includeargs", "ia"],
        to: To::Nothing(0, NO_ARGS),
    },
    Switch {
        names: &["threadcount"],
        to: To::Flag("--thread-count"),
    },
    Switch {
        names: &["showonmethod"],
        to: To::Flag("--show-on-method"),
    },
    Switch {
        names: &["showmoduleinfo", "smi"],
        to: To::Maybe("--show-module"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", TOTALS),
    },
    Switch {
        names: &["merge"],
        to: To::Flag("--merge"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
    Switch {
        names: &["normalize"],
        to: To::Flag("--normalize"),
    },
    Switch {
        names: &["nofrequency"],
        to: To::Flag("--no-frequency"),
    },
    Switch {
        names: &["nopriority"],
        to: To::Flag("--no-priority"),
    },
    Switch {
        names: &["noready"],
        to: To::Flag("--no-ready"),
    },
    Switch {
        names: &["nocoreusage"],
        to: To::Flag("--no-core-usage"),
    },
    Switch {
        names: &["showcorenumber"],
        to: To::Flag("--show-core-number"),
    },
];

pub(crate) const PMC: &[Switch] = &[Switch {
    names: &["nocounters"],
    to: To::Flag("--no-counters"),
}];

pub(crate) const LBR: &[Switch] = &[
    Switch {
        names: &["methods"],
        to: To::Special(methods),
    },
    Switch {
        names: &["topnmethods"],
        to: To::Top("--top-methods", Some("--skip-methods")),
    },
    Switch {
        names: &["cutmethod"],
        to: To::Special(cut_method),
    },
    Switch {
        names: &["showcaller"],
        to: To::Flag("--show-caller"),
    },
    Switch {
        names: &["scalingfactor"],
        to: To::Number("--scaling-factor"),
    },
    Switch {
        names: &["minmaxcount"],
        to: To::Range("--count"),
    },
    Switch {
        names: &["includedll", "id"],
        to: To::Flag("--include-dll"),
    },
    Switch {
        names: &["includeargs", "ia"],
        to: To::Nothing(0, NO_ARGS),
    },
];

/// Translates filters on methods. In ETWAnalyzer `*.dll`, `*.sys` and both mean code without a
/// name, which is written `name.dll+0x1a2b`.
fn methods(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let names = line.required("methods")?;
    let is_alias =
        |part: &str| part.eq_ignore_ascii_case("*.dll") || part.eq_ignore_ascii_case("*.sys");
    let names = if names.split(';').all(is_alias) {
        names
            .split(';')
            .map(|part| format!("{part}+*"))
            .collect::<Vec<_>>()
            .join(";")
    } else {
        // .NET methods are `Type.Method` in both; `::` is accepted with the same meaning.
        names
    };
    pair(native, "--methods", &names);
    Ok(())
}
