//! Cells that combine several values: versions of modules, parts of the machine.

use etwkit_base::path;
use etwkit_question::TypedRow;

/// Returns the known versions, product, description and folder of a module, with commas between.
pub(crate) fn module(
    version: &str,
    product_version: &str,
    product: &str,
    description: &str,
    folder: &str,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(Some(version.to_owned()).filter(|version| !version.is_empty()));
    let mut named = |name: &str, value: &str| {
        if !value.is_empty() {
            parts.push(format!("{name}: {value}"));
        }
    };
    named(
        "ProductVersion",
        if product_version == version {
            ""
        } else {
            product_version
        },
    );
    named("ProductName", product);
    named("Description", description);
    named("Directory", folder);
    parts.join(", ").replace('[', "(")
}

/// Returns the values of facts for all parts of the machine of some kinds: `video.name`,
/// `video1.name`.
pub(crate) fn facts(values: &TypedRow, topics: &[&str], names: &[&str]) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (key, value) in values.columns() {
        let Some((part, name)) = key.split_once('.') else {
            continue;
        };
        let topic = part.trim_end_matches(|c: char| c.is_ascii_digit());
        // The first part of a kind has no number.
        let item = match part.strip_prefix(topic) {
            Some("") => Some(0),
            number => number.and_then(|number| number.parse().ok()),
        };
        let Some(item) = item else {
            continue;
        };
        if topics.contains(&topic) && names.contains(&name) {
            found.extend(value.text().map(|value| (item, value.to_owned())));
        }
    }
    found.sort();
    found.into_iter().map(|(_, value)| value).collect()
}

/// Returns the folder of a path, cut to `level` levels below the drive; 0 leaves all of them.
pub(crate) fn folder(path: &str, level: usize) -> &str {
    let folder = path::folder(path);
    if level == 0 {
        return folder;
    }
    folder
        .match_indices('\\')
        .nth(level)
        .map_or(folder, |(end, _)| folder.get(..end).unwrap_or(folder))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn modules_are_one_text() {
        assert_eq!(
            module("1.0", "1.0", "Shop", "A [good] one", r"C:\Shop"),
            r"1.0, ProductName: Shop, Description: A (good] one, Directory: C:\Shop"
        );
        assert_eq!(module("1.0", "2", "", "", ""), "1.0, ProductVersion: 2");
        assert_eq!(module("", "", "", "", ""), "");
    }

    #[test]
    fn parts_of_the_machine_are_found_in_their_order() {
        let values = json!({"video1.name": "b", "video.name": "a", "video.x": "y", "nic.name": "n", "OSName": "w"});
        assert_eq!(
            facts(&TypedRow::of(&values).unwrap(), &["video"], &["name"]),
            ["a", "b"]
        );
        // A number that no part can have is not the first part.
        let values = json!({"video99999999999999999999.name": "b", "video.name": "a"});
        assert_eq!(
            facts(&TypedRow::of(&values).unwrap(), &["video"], &["name"]),
            ["a"]
        );
    }

    #[test]
    fn folders_are_cut() {
        for (level, expected) in [
            (0, r"C:\a\b\c"),
            (1, r"C:\a"),
            (2, r"C:\a\b"),
            (9, r"C:\a\b\c"),
        ] {
            assert_eq!(folder(r"C:\a\b\c\x.txt", level), expected);
        }
        assert_eq!(folder("x.txt", 1), "");
    }
}
