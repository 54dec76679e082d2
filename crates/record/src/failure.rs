//! Known failures of recorders, and advice for each.

use etwkit_terminal::errors::advised;

use crate::runner::Outcome;
use crate::step::Step;

/// A known failure: its codes, as they are printed and returned, a part of its text, its meaning,
/// and advice.
struct KnownFailure {
    codes: &'static [u32],
    text: &'static str,
    means: &'static str,
    hint: &'static str,
}

const KNOWN: &[KnownFailure] = &[
    KnownFailure {
        codes: &[0x8007_0005, 5],
        text: "access is denied",
        means: "recording needs the rights of an administrator",
        hint: "open a terminal with \"Run as administrator\" and repeat the command there",
    },
    KnownFailure {
        codes: &[0xC558_3000],
        text: "no trace profiles running",
        means: "nothing is being recorded",
        hint: "start with `etwkit record start`; a recording with -instancename needs that name in each line",
    },
    KnownFailure {
        codes: &[0x8007_00B7, 0xB7],
        text: "already running",
        means: "a session with that name is running already",
        hint: "`etwkit record sessions` lists who records; `etwkit record cancel` ends a recording of wpr, \
               and `logman stop NAME -ets` any other one",
    },
    KnownFailure {
        codes: &[0x8007_0070, 112],
        text: "not enough space",
        means: "no space is left on the disk",
        hint: "free some, or name a file on another disk, and stop again",
    },
    KnownFailure {
        codes: &[0xC558_0701],
        text: "schema",
        means: "this version of wpr does not accept the file of profiles",
        hint: "the Windows ADK has a newer wpr.exe than the system: put its folder first in PATH",
    },
    KnownFailure {
        codes: &[0x8001_0106],
        text: "cannot change thread mode",
        means: "the wpr.exe of this Windows has a known defect",
        hint: "use the wpr.exe of the Windows ADK: put its folder first in PATH",
    },
    KnownFailure {
        codes: &[0x8007_0003, 3],
        text: "cannot find the path",
        means: "the folder of the file does not exist",
        hint: "make the folder, or name another one",
    },
];

fn known(outcome: &Outcome) -> Option<&'static KnownFailure> {
    let text = outcome.text.to_lowercase();
    let code = outcome.code.map(i32::cast_unsigned);
    // Small codes are not searched in texts: many other numbers start with `0x5`.
    let is = |known: &&KnownFailure| {
        code.is_some_and(|code| known.codes.contains(&code))
            || known.codes.iter().any(|code| *code > 0xFFFF && text.contains(&format!("0x{code:x}")))
            // Texts count as well: not every program prints or returns the number.
            || text.contains(known.text)
    };
    KNOWN.iter().find(is)
}

/// True if the recorder failed because of missing rights.
#[must_use]
pub(crate) fn is_denied(outcome: &Outcome) -> bool {
    known(outcome).is_some_and(|known| known.codes.contains(&0x8007_0005))
}

/// True if the recorder reports that nothing is being recorded.
#[must_use]
pub(crate) fn is_idle(outcome: &Outcome) -> bool {
    known(outcome).is_some_and(|known| known.codes.contains(&0xC558_3000))
}

/// Creates the error for a line that failed, with the recorder's output.
#[must_use]
pub(crate) fn error(step: &Step, outcome: &Outcome) -> anyhow::Error {
    let said = outcome.said().collect::<Vec<_>>().join(" ");
    let code = outcome.code.map_or_else(
        || "was ended".to_owned(),
        |code| format!("ended with 0x{code:x}"),
    );
    let said = if said.is_empty() {
        code
    } else {
        format!("said: {said}")
    };
    match known(outcome) {
        Some(known) => advised(
            format!("{}; {} {said}", known.means, step.program),
            known.hint,
        ),
        None => advised(
            format!("`{step}` failed; it {said}"),
            "`etwkit record status` shows whether something is being recorded",
        ),
    }
}

/// True for a line of the banner of wpr or xperf. The banner contains numbers.
pub(crate) fn is_banner(line: &str) -> bool {
    let line = line.trim_start();
    [
        "Microsoft Windows Performance",
        "Performance Analyzer Command Line",
        "Copyright",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
}
