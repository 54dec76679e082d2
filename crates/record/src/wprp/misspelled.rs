//! Names of providers and stacks that are nearly those of well-known ones.

use etwkit_trace::known_providers;

/// The start that most names of providers of Windows have in common.
const COMMON: &str = "Microsoft-Windows-";

/// Letters of the rest of a name for each letter that may be wrong, and the most wrong letters.
const LETTERS_PER_SLIP: usize = 5;
const MOST_SLIPS: usize = 2;

/// A provider that is recorded more often than any other, and whose events are known by more than their names.
const DOTNET: &str = "Microsoft-Windows-DotNETRuntime";

/// Returns the well-known provider that a name probably means; `None` if it is one itself, or like none.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let rest = lower.strip_prefix(&COMMON.to_lowercase()).unwrap_or(&lower);
    let all = known_providers().chain([DOTNET]);
    with_slips(&lower, allowed_slips(rest), all)
}

/// Returns the one of these names that a name probably means; `None` if it is one itself, or like none.
pub(super) fn nearest(name: &str, all: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let lower = name.to_lowercase();
    with_slips(&lower, allowed_slips(&lower), all)
}

/// Returns the number of letters of a name that may be wrong.
fn allowed_slips(name: &str) -> usize {
    (name.chars().count() / LETTERS_PER_SLIP).min(MOST_SLIPS)
}

/// Returns the name with the fewest slips, if it has some and not more than allowed.
fn with_slips(
    lower: &str,
    allowed: usize,
    all: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let is_as_long = |known: &&str| known.len().abs_diff(lower.len()) <= allowed;
    let (slips, known) = all
        .filter(is_as_long)
        .map(|known| (slips(lower, &known.to_lowercase()), known))
        .min()?;
    (slips > 0 && slips <= allowed).then_some(known)
}

/// Returns the number of letters that are added, missing or wrong in one of two texts.
fn slips(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // Row of the table of Levenshtein: slips between what was read of `one` and each start of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (read, letter) in (1..).zip(one.chars()) {
        let mut before = read - 1;
        let mut left = read;
        let mut next = vec![read];
        for (above, known) in row.iter().skip(1).zip(&other) {
            let changed = before + usize::from(letter != *known);
            left = changed.min(above + 1).min(left + 1);
            before = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().map_or(usize::MAX, |slips| *slips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(slips("process", "process"), 0);
        assert_eq!(slips("proces", "process"), 1);
        assert_eq!(slips("porcess", "process"), 2);
        assert_eq!(slips("", "ab"), 2);
    }

    #[test]
    fn a_name_that_is_nearly_a_known_one_means_it() {
        let process = Some("Microsoft-Windows-Kernel-Process");
        assert_eq!(meant("Microsoft-Windows-Kernel-Proces"), process);
        assert_eq!(meant("microsoft-windows-kernel-process"), None);
        assert_eq!(meant("Microsoft-Windows-DotNETRuntim"), Some(DOTNET));
        // Names of three letters are all alike.
        assert_eq!(meant("Microsoft-Windows-ABC"), None);
        assert_eq!(meant("MyCompany-MyProduct"), None);
    }
}
