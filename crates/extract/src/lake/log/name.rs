//! The names of the files of a log.

pub(crate) use crate::run_log::FOLDER;

/// Name of the file that names the newest checkpoint.
pub(crate) const LAST_CHECKPOINT: &str = "_last_checkpoint";

/// End of the name of a commit.
const COMMIT: &str = ".json";

/// End of the name of a checkpoint in one file. Those in several files, or with an id in the name, are
/// not read.
const CHECKPOINT: &str = ".checkpoint.parquet";

/// Digits of a version in a name.
const DIGITS: usize = 20;

/// Returns the name of a commit in the lake.
pub(super) fn commit(table: &str, version: u64) -> String {
    format!("{table}/{FOLDER}/{version:0DIGITS$}{COMMIT}")
}

/// Returns the name of a checkpoint in the lake.
pub(super) fn checkpoint(table: &str, version: u64) -> String {
    format!("{table}/{FOLDER}/{version:0DIGITS$}{CHECKPOINT}")
}

/// The version in the name of a commit; `None` for other files.
pub(super) fn commit_version(name: &str) -> Option<u64> {
    version_of(name.strip_suffix(COMMIT)?)
}

/// The version in the name of a checkpoint; `None` for other files.
pub(super) fn checkpoint_version(name: &str) -> Option<u64> {
    version_of(name.strip_suffix(CHECKPOINT)?)
}

/// The version in the digits of a name; `None` for other texts. Delta counts in 63 bits, so each
/// version has a next one.
fn version_of(digits: &str) -> Option<u64> {
    let is_number = digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
    let version: i64 = is_number.then(|| digits.parse().ok()).flatten()?;
    u64::try_from(version).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_twenty_digits_and_a_next_one() {
        assert_eq!(version_of("00000000000000000012"), Some(12));
        assert_eq!(commit_version("00000000000000000012.json"), Some(12));
        for other in [
            "12",
            "+0000000000000000012",
            "18446744073709551615",
            "99999999999999999999",
        ] {
            assert_eq!(version_of(other), None, "{other}");
        }
        assert_eq!(commit_version("00000000000000000012.crc"), None);
    }

    #[test]
    fn names_have_the_version_that_they_are_made_of() {
        let name = checkpoint("mark", 12);
        assert_eq!(
            name,
            "mark/_delta_log/00000000000000000012.checkpoint.parquet"
        );
        let (_, file) = name.rsplit_once('/').unwrap();
        assert_eq!(
            (checkpoint_version(file), commit_version(file)),
            (Some(12), None)
        );
    }
}
