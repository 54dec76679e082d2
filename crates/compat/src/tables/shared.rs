//! Switches that most sub commands have.

use crate::line::Line;
use crate::switch::{NO_COLOR, Native, Switch, To, one_range, pair, zero_time};

/// Switches for the format of answers.
pub(crate) const ALL: &[Switch] = &[
    Switch {
        names: &["timefmt"],
        to: To::Text("--time-format"),
    },
    Switch {
        names: &["timedigits"],
        to: To::Text("--time-digits"),
    },
    Switch {
        names: &["column"],
        to: To::Text("--column"),
    },
    Switch {
        names: &["clip"],
        to: To::Flag("--clip"),
    },
    Switch {
        names: &["nodigitsep"],
        to: To::Flag("--no-digit-sep"),
    },
    Switch {
        names: &["showfullfilename", "sffn"],
        to: To::Flag("--show-full-file-name"),
    },
    Switch {
        names: &["topn"],
        to: To::Top("--top", None),
    },
    Switch {
        names: &["nocolor"],
        to: NO_COLOR,
    },
    Switch {
        names: &["verbose"],
        to: To::Nothing(0, "nothing is kept from the reader without it"),
    },
];

/// Switches for the choice of tests and test runs.
pub(crate) const TESTS: &[Switch] = &[
    Switch {
        names: &["testrunindex", "tri"],
        to: To::Text("--test-run-index"),
    },
    Switch {
        names: &["testruncount", "trc"],
        to: To::Text("--test-run-count"),
    },
    Switch {
        names: &["testsperrun"],
        to: To::Text("--tests-per-run"),
    },
    Switch {
        names: &["skipntests"],
        to: To::Text("--skip-tests"),
    },
    Switch {
        names: &["lastndays"],
        to: To::Number("--last-days"),
    },
    // The help of ETWAnalyzer names the second one.
    Switch {
        names: &["minmaxmstesttimes", "minmaxtesttime"],
        to: To::Special(test_times),
    },
    // ETWAnalyzer took these two until 2022.
    Switch {
        names: &["testcase", "tc"],
        to: To::Text("--test-case"),
    },
    Switch {
        names: &["machine"],
        to: To::Text("--machine"),
    },
    Switch {
        names: &["validtestsonly"],
        to: To::Flag("--valid-tests-only"),
    },
    Switch {
        names: &["notestrungrouping"],
        to: To::Flag("--no-test-run-grouping"),
    },
];

/// Translates `-MinMaxMsTestTimes 100-200 500-600`: any of these ranges; `-200` starts at 0. Two
/// words without a dash are one range, like after the other switches.
fn test_times(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let first = line.required("minmaxmstesttimes")?;
    let rest = std::iter::from_fn(|| line.value());
    let words: Vec<String> = std::iter::once(first).chain(rest).collect();
    let ranges = match &words[..] {
        [min, max] if !min.contains('-') && !max.contains('-') => {
            one_range(&format!("{min}-{max}"))
        }
        _ => words
            .iter()
            .map(|word| one_range(word))
            .collect::<Vec<_>>()
            .join(";"),
    };
    pair(native, "--test-time", &ranges);
    Ok(())
}

/// Switches for the choice of processes and the format of their names.
pub(crate) const PROCESS: &[Switch] = &[
    Switch {
        names: &["processname", "pn"],
        to: To::Text("--process"),
    },
    Switch {
        names: &["cmdline"],
        to: To::Text("--cmdline"),
    },
    Switch {
        names: &["newprocess"],
        to: To::Text("--new-process"),
    },
    Switch {
        names: &["session"],
        to: To::Text("--session"),
    },
    Switch {
        names: &["user"],
        to: To::Text("--user"),
    },
    Switch {
        names: &["processfmt"],
        to: To::Text("--process-format"),
    },
    Switch {
        names: &["nocmdline"],
        to: To::Flag("--no-cmdline"),
    },
    // Without it the usual rules are applied, see `defaults` of `compat::dump`.
    Switch {
        names: &["plainprocessnames", "ppn"],
        to: To::Flag("--rename-rules=none"),
    },
];

/// Switches for the zero point of times.
pub(crate) const ZERO: &[Switch] = &[
    Switch {
        names: &["zerotime", "zt"],
        to: To::Special(zero_time),
    },
    Switch {
        names: &["zeroprocessname", "zpn"],
        to: To::Text("--zero-process"),
    },
];
