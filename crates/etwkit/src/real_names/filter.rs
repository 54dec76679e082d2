//! Filters with the names of a redacted trace instead of the real ones.

use etwkit_cut::map::Originals;
use etwkit_sql::filter::Pattern;

/// Maximum number of names that a filter stands for.
pub(super) const MOST_NAMES: usize = 1000;

/// Signs between the names of a path, and between a module and a method.
const SEPARATORS: [char; 3] = ['\\', '/', '!'];

/// Returns the filter that chooses in a redacted trace what this one chooses in the original.
/// `None` if it stands for more names than are allowed.
pub(super) fn substituted(filter: &str, originals: &Originals) -> Option<String> {
    let mut all = Vec::new();
    for part in filter.split(';').map(str::trim) {
        let (sign, name) = match part.strip_prefix('!') {
            Some(name) => ("!", name.trim_start()),
            None => ("", part),
        };
        let names = names(name, originals)?;
        all.extend(names.iter().map(|name| format!("{sign}{name}")));
    }
    (all.len() <= MOST_NAMES).then(|| all.join(";"))
}

/// Returns the names that one of a filter stands for.
fn names(name: &str, originals: &Originals) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for piece in name.split_inclusive(SEPARATORS) {
        let word = piece.trim_end_matches(SEPARATORS);
        let separator = piece.strip_prefix(word).unwrap_or("");
        let words = words(word, originals);
        if all.len().saturating_mul(words.len()) > MOST_NAMES {
            return None;
        }
        let mut longer = Vec::new();
        for front in &all {
            longer.extend(words.iter().map(|word| format!("{front}{word}{separator}")));
        }
        all = longer;
    }
    Some(all)
}

/// Returns the words that one of a name stands for: the substitutes of the originals that it
/// matches, as a whole or between its points. A pattern also stands for itself, since it can match
/// names that were not replaced.
fn words(word: &str, originals: &Originals) -> Vec<String> {
    let stem = word.rsplit_once('.').map_or(word, |(stem, _ending)| stem);
    // `*.exe` matches the same names of a redacted trace, and ids of processes are not replaced.
    if is_number(word) || !stem.contains(char::is_alphanumeric) {
        return vec![word.to_owned()];
    }
    let mut all = Vec::new();
    for substitute in matching(word, originals) {
        all.push(substitute.to_owned());
        // A star also stands for the ending, which is not replaced.
        if stem == word && word.ends_with('*') {
            all.push(format!("{substitute}.*"));
        }
    }
    if stem != word {
        all.extend(dotted(word, originals));
    }
    if all.is_empty() || is_pattern(word) {
        all.insert(0, word.to_owned());
    }
    all
}

/// Returns a name with substitutes instead of words between its points: each of a class has one of
/// its own, and a file has one before its ending.
fn dotted(name: &str, originals: &Originals) -> Vec<String> {
    let mut all = vec![(String::new(), false)];
    for (number, word) in name.split('.').enumerate() {
        let point = if number == 0 { "" } else { "." };
        let substitutes = matching(word, originals);
        // An ending may also be the name of something else.
        let stays = number > 0 || substitutes.is_empty() || is_pattern(word);
        let mut longer = Vec::new();
        for (front, is_replaced) in &all {
            if stays {
                longer.push((format!("{front}{point}{word}"), *is_replaced));
            }
            let replaced = |new: &&str| (format!("{front}{point}{new}"), true);
            longer.extend(substitutes.iter().map(replaced));
            // More are an error, and need not be made.
            if longer.len() > MOST_NAMES + 1 {
                break;
            }
        }
        all = longer;
    }
    let replaced = all.into_iter().filter(|(_, is_replaced)| *is_replaced);
    replaced.map(|(name, _)| name).collect()
}

/// Returns the substitutes of the originals that a word matches.
fn matching<'o>(word: &str, originals: &'o Originals) -> Vec<&'o str> {
    if is_number(word) || !word.contains(char::is_alphanumeric) {
        return Vec::new();
    }
    let pattern = Pattern::new(word);
    let names = originals.names();
    names
        .filter(|(_, original)| pattern.matches(&original.to_lowercase()))
        .map(|(substitute, _)| substitute)
        .collect()
}

fn is_number(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_digit())
}

fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn originals(rows: &[(&str, &str, &str)]) -> Originals {
        let row = |(kind, substitute, original): &(&str, &str, &str)| {
            format!("{{\"kind\":{kind:?},\"substitute\":{substitute:?},\"original\":{original:?}}}")
        };
        let first = "{\"etwkit_substitutes\":1}".to_owned();
        let lines: Vec<String> = std::iter::once(first).chain(rows.iter().map(row)).collect();
        Originals::parse(&lines.join("\n")).unwrap()
    }

    #[test]
    fn names_of_a_filter_become_substitutes() {
        let all = originals(&[
            ("program", "program-1", "NwScanSvc"),
            ("program", "program-2", "bash"),
            ("program", "program-3", "git-bash"),
            ("driver", "driver-1", "nwshield"),
            ("description", "description-1", "nwshield.sys"),
            ("folder", "folder-1", "Northwall"),
            ("host", "host-1.example", "nas.corp"),
            ("number", "number-1", "1200"),
            ("code", "code-1", "Contoso"),
            ("code", "code-2", "Invoice"),
        ]);
        for (filter, expected) in [
            ("nwscansvc", "program-1"),
            ("NwScanSvc.exe;!bash", "program-1.exe;!program-2"),
            ("explorer.exe; 1200;*.exe;*", "explorer.exe;1200;*.exe;*"),
            // A name is a word: this one is a part of another.
            ("NwScan", "NwScan"),
            ("NwScan*", "NwScan*;program-1;program-1.*"),
            ("!*bash.exe", "!*bash.exe;!program-2.exe;!program-3.exe"),
            ("nwshield.sys!CFilter*", "driver-1.sys!CFilter*"),
            ("nwshield.sys*", "nwshield.sys*;driver-1.sys*"),
            ("nwshield.sys+0x1a2b", "driver-1.sys+0x1a2b"),
            ("C:\\Northwall\\*.dll", "C:\\folder-1\\*.dll"),
            ("nas.corp", "host-1.example"),
            (
                "Contoso.Invoice.Print",
                "code-1.Invoice.Print;code-1.code-2.Print",
            ),
            ("Contoso.*", "Contoso.*;code-1.*"),
            ("", ""),
        ] {
            let new = substituted(filter, &all);
            assert_eq!(new.as_deref(), Some(expected), "{filter}");
        }
    }

    #[test]
    fn a_pattern_stands_for_a_bounded_number_of_names() {
        let names: Vec<String> = (0..=MOST_NAMES)
            .map(|number| format!("a{number}"))
            .collect();
        let rows: Vec<(&str, &str, &str)> = names
            .iter()
            .map(|name| ("file", name.as_str(), name.as_str()))
            .collect();
        let all = originals(&rows);
        assert_eq!(substituted("a*", &all), None);
        assert_eq!(substituted("a7.txt", &all).as_deref(), Some("a7.txt"));
        assert_eq!(
            substituted("a99?.txt", &all).map(|new| new.split(';').count()),
            Some(11)
        );
    }
}
