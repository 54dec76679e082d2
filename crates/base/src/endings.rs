//! Endings of the names of files that hold traces. The first bytes of a file decide how it is read;
//! its name decides whether it is looked for in a folder, and what an extract of it is called.

/// Endings of traces, of packed traces and of archives with traces, in lower case.
pub const TRACES: [&str; 11] = [
    ".etl",
    ".etlgz",
    ".etl.gz",
    ".etl.zst",
    ".etl.xz",
    ".etl.bz2",
    ".etl.lz4",
    ".zip",
    ".7z",
    ".cab",
    ".diagsession",
];

/// Endings that a packed file has after the name of the one file in it, without the dot.
pub const PACKED: [&str; 5] = ["gz", "zst", "xz", "bz2", "lz4"];

/// Endings that are removed as a whole, although [`TRACES`] has only their last part.
const OF_ARCHIVES: [&str; 3] = [".etl.zip", ".etl.7z", ".etl.cab"];

/// True if a file name has the ending of a trace, of a packed trace or of an archive.
#[must_use]
pub fn is_trace(name: &str) -> bool {
    TRACES.iter().any(|ending| strip(name, ending).is_some())
}

/// True if a file name has the ending of one trace, packed or not, and not of an archive.
#[must_use]
pub fn is_single_trace(name: &str) -> bool {
    let mut single = TRACES.iter().filter(|ending| ending.starts_with(".etl"));
    single.any(|ending| strip(name, ending).is_some())
}

/// The name of a trace or archive without all of its endings: `slow` of `slow.etl.gz`. `None` for
/// other files.
#[must_use]
pub fn stem(name: &str) -> Option<&str> {
    let fitting = OF_ARCHIVES
        .iter()
        .chain(&TRACES)
        .filter(|ending| strip(name, ending).is_some());
    strip(name, fitting.max_by_key(|ending| ending.len())?)
}

/// The name of the file in a packed file: `slow.etl` of `slow.etl.gz` and of `slow.etlgz`. It is the
/// same name if the ending is unknown.
#[must_use]
pub fn unpacked(name: &str) -> String {
    if let Some(stem) = strip(name, ".etlgz") {
        return format!("{stem}.etl");
    }
    let packed = name.rsplit_once('.').filter(|(stem, ending)| {
        !stem.is_empty()
            && PACKED
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
    });
    packed.map_or(name, |(stem, _)| stem).to_owned()
}

/// The text before an ending, whose case does not matter; `None` if that text is empty.
#[must_use]
pub fn strip<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(ending.len()).filter(|at| *at > 0)?;
    let (stem, end) = name.split_at_checked(at)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_loses_all_of_its_endings() {
        for (name, expected) in [
            ("slow.etl", Some("slow")),
            ("slow.ETL.gz", Some("slow")),
            ("slow.etlgz", Some("slow")),
            ("slow.etl.zip", Some("slow")),
            ("slow.etl.cab", Some("slow")),
            ("slow.cab", Some("slow")),
            ("a.b.diagsession", Some("a.b")),
            (".etl", None),
            (".etl.gz", None),
            ("slow.gz", None),
            ("slow.txt", None),
        ] {
            assert_eq!(stem(name), expected, "{name}");
            assert_eq!(is_trace(name), expected.is_some(), "{name}");
        }
    }

    #[test]
    fn archives_are_not_single_traces() {
        for name in ["a.etl", "a.ETLGZ", "a.etl.zst"] {
            assert!(is_single_trace(name), "{name}");
        }
        for name in ["a.zip", "a.etl.zip", "a.cab", ".etl"] {
            assert!(!is_single_trace(name), "{name}");
        }
    }

    #[test]
    fn a_packed_file_is_named_after_the_file_in_it() {
        for (name, expected) in [
            ("slow.etl.GZ", "slow.etl"),
            ("slow.etlgz", "slow.etl"),
            ("slow.zst", "slow"),
            ("slow.etl", "slow.etl"),
            (".gz", ".gz"),
            ("gz", "gz"),
        ] {
            assert_eq!(unpacked(name), expected, "{name}");
        }
    }

    /// Texts that cannot be made of the list: pages, hints and the help of arguments.
    #[test]
    fn every_text_that_lists_endings_names_all_of_them() {
        let whole = [
            ("files.md", include_str!("../../../docs/files.md")),
            ("SECURITY.md", include_str!("../../../SECURITY.md")),
            ("named.rs", include_str!("../../engine/src/named.rs")),
        ];
        // Packed traces are `.etl.gz, .zst` here.
        let short = [
            ("cut", include_str!("../../cut/src/args.rs")),
            ("etwkit", include_str!("../../etwkit/src/arguments.rs")),
            ("mcp", include_str!("../../server/src/mcp/tools.rs")),
        ];
        let last = |ending: &'static str| &ending[ending.rfind('.').unwrap()..];
        for ending in TRACES {
            for (name, text) in whole {
                assert!(text.contains(ending), "{name}: {ending}");
            }
            for (name, text) in short {
                assert!(text.contains(last(ending)), "{name}: {ending}");
            }
        }
    }
}
