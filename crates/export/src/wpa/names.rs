//! Names of files: `<prefix><graph>_<preset>.csv`, with blanks as `_`.
//!
//! Names of presets come out of profiles, which are untrusted: no part of them becomes a path, a
//! device name, or invisible text.

use std::collections::BTreeMap;

use anyhow::Result;
use etwkit_terminal::errors::advised;

/// Largest number of characters after the prefix.
const MAX_CHARACTERS: usize = 120;

/// Characters that are kept.
const KEPT: &str = "-_.,()[]{}+&%#=@!'";

/// Names that were given.
#[derive(Debug)]
pub(crate) struct Names {
    prefix: String,
    given: BTreeMap<String, usize>,
}

impl Names {
    /// Creates names with this prefix.
    ///
    /// # Errors
    /// The prefix would be a part of a path.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let is_path = |c: char| "/\\:*?\"<>|".contains(c) || c.is_control();
        if prefix.contains(is_path) {
            let text =
                format!("the prefix {prefix:?} has a character that names of files cannot have");
            return Err(advised(
                text,
                "name the folder with --out (wpaexporter: -outputfolder)",
            ));
        }
        Ok(Self {
            prefix: prefix.to_owned(),
            given: BTreeMap::new(),
        })
    }

    /// Returns the name of a preset's file. A repeated name gets `_(1)`, and so on; names that
    /// differ only in case are the same on Windows.
    pub(crate) fn file(&mut self, graph: &str, preset: &str) -> String {
        // Cut before the number is added, so that names that differ only after the cut stay
        // distinct.
        let stem: String = format!("{graph}_{preset}")
            .chars()
            .take(MAX_CHARACTERS)
            .map(plain)
            .collect();
        let stem = stem.trim_end_matches(['.', '_']);
        loop {
            let times = self.given.entry(stem.to_lowercase()).or_default();
            *times += 1;
            let name = match *times {
                1 => stem.to_owned(),
                again => format!("{stem}_({})", again - 1),
            };
            // A preset may have the name of another one with a number.
            if name == stem || !self.given.contains_key(&name.to_lowercase()) {
                self.given.entry(name.to_lowercase()).or_insert(1);
                return format!("{}{name}.csv", self.prefix);
            }
        }
    }
}

fn plain(c: char) -> char {
    if c.is_alphanumeric() || KEPT.contains(c) {
        c
    } else {
        '_'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_wpaexporter() {
        let mut names = Names::new("disc_").unwrap();
        let graph = "CPU Usage (Sampled)";
        let by = |names: &mut Names, preset| names.file(graph, preset);
        assert_eq!(
            by(&mut names, "DPC and ISR Usage by Module, Stack"),
            "disc_CPU_Usage_(Sampled)_DPC_and_ISR_Usage_by_Module,_Stack.csv"
        );
        let first = by(&mut names, "Utilization By Process");
        assert_eq!(first, "disc_CPU_Usage_(Sampled)_Utilization_By_Process.csv");
        let second = by(&mut names, "Utilization By Process");
        assert_eq!(
            second,
            "disc_CPU_Usage_(Sampled)_Utilization_By_Process_(1).csv"
        );
        assert_eq!(
            names.file("File I/O", "Count by Type"),
            "disc_File_I_O_Count_by_Type.csv"
        );
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::new("").unwrap();
        let given =
            ["x", "X", "x_(1)", "x", "x"].map(|preset| names.file("A", preset).to_lowercase());
        let mut different = given.to_vec();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), given.len(), "{given:?}");
    }

    #[test]
    fn nothing_of_a_profile_becomes_a_path() {
        let mut names = Names::new("").unwrap();
        for preset in [
            "../../x",
            "..\\x",
            "C:\\x",
            "\u{202e}fdp",
            "a\0b",
            "a\nb",
            "nul:",
            "x\u{200b}",
        ] {
            let name = names.file("Marks", preset);
            assert!(name.starts_with("Marks_"), "{name}");
            assert!(
                name.chars()
                    .all(|c| c.is_alphanumeric() || KEPT.contains(c)),
                "{name:?}"
            );
        }
        assert!(names.file("Marks", &"x".repeat(10_000)).len() < 150);
        assert_eq!(names.file("Marks", " . ."), "Marks.csv");
        assert!(Names::new("../x").is_err());
        assert!(Names::new("a\\b").is_err());
    }
}
