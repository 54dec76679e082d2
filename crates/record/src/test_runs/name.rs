//! Names of recordings.

use chrono::NaiveDateTime;

use crate::test_runs::report::Status;

/// Returns the name of this machine in capital letters, as Windows writes it, or `MACHINE` if the
/// system has no name that is allowed in a file name.
#[must_use]
pub fn machine() -> String {
    let name = gethostname::gethostname()
        .to_string_lossy()
        .to_ascii_uppercase();
    // The domain follows the first dot.
    let name = plain(name.split('.').next().unwrap_or(&name));
    if name.is_empty() {
        "MACHINE".to_owned()
    } else {
        name
    }
}

/// Returns a text as a part of a file name: blanks, characters that file systems reject, and the
/// separators of these names (`_` and `.`) become hyphens.
pub(crate) fn plain(text: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '-' | '+' | '=' | ',' | '#');
    text.chars()
        .map(|c| if keeps(c) { c } else { '-' })
        .collect()
}

/// Returns the name of a recording without its extension, in the scheme of tests that distinguish
/// recordings by file name: `Case_1234msMACHINE.20200717-124447`. The name of a failed one contains
/// that: `Case_1234ms_MACHINE_SINGLE_TestStatus-Failed_20200717-124447`.
#[must_use]
pub fn recording_name(
    case: &str,
    duration_ms: u64,
    machine: &str,
    at: NaiveDateTime,
    status: Status,
) -> String {
    let at = at.format("%Y%m%d-%H%M%S");
    match status {
        Status::Passed => format!("{case}_{duration_ms}ms{machine}.{at}"),
        _ => format!("{case}_{duration_ms}ms_{machine}_SINGLE_TestStatus-Failed_{at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_two_known_forms() {
        let at = "2020-07-17T12:44:47".parse().unwrap();
        assert_eq!(
            recording_name("Copy+n=4", 1234, "PC1", at, Status::Passed),
            "Copy+n=4_1234msPC1.20200717-124447"
        );
        let failed = recording_name("Copy", 9, "PC1", at, Status::Failed);
        assert_eq!(
            failed,
            "Copy_9ms_PC1_SINGLE_TestStatus-Failed_20200717-124447"
        );
    }

    #[test]
    fn what_cannot_stand_in_a_name_becomes_a_hyphen() {
        assert_eq!(plain(r"C:\a b_c.d*\x1B"), "C--a-b-c-d--x1B");
        assert!(!machine().is_empty() && plain(&machine()) == machine());
    }
}
