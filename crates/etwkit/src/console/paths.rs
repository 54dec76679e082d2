//! Files and folders with the typed prefix.

use etwkit_base::endings;
use etwkit_base::path::split_typed;
use etwkit_base::shell;
use etwkit_compat::console::path;

use super::names::is_plain;

/// Which files are wanted; folders always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Folders,
    /// Traces, archives and extracts.
    Loadable,
    All,
}

/// Largest number of entries that are read of a folder.
const MAX_FILES: usize = 10_000;

/// Returns paths as they are typed: `/` follows a folder, and quotes surround blanks, left open
/// after a folder.
pub(super) fn beginning(word: &str, files: Files) -> Vec<String> {
    let (folder, begin) = split_typed(word);
    let begin = begin.to_lowercase();
    let entries = std::fs::read_dir(path(folder))
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_FILES);
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_extract = endings::strip(&name, ".etwx").is_some();
            let is_folder = entry.path().is_dir() && !is_extract;
            let fits = name.to_lowercase().starts_with(&begin)
                && is_plain(&name)
                // Hidden files are shown only after a typed dot.
                && (!name.starts_with('.') || begin.starts_with('.'));
            let is_wanted = is_folder
                || match files {
                    Files::Folders => false,
                    Files::Loadable => is_extract || endings::is_trace(&name),
                    Files::All => true,
                };
            (fits && is_wanted).then(|| typed(&format!("{folder}{name}"), is_folder))
        })
        .collect();
    found.sort();
    found
}

fn typed(path: &str, is_folder: bool) -> String {
    if !is_folder {
        return shell::quoted(path);
    }
    let folder = shell::quoted(&format!("{path}/"));
    match folder.strip_suffix(['\'', '"']) {
        Some(open) => open.to_owned(),
        None => folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_completed_as_they_are_typed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["slow.etl", "Slow.txt", "slow login.etl", ".slow.etl"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for name in ["slow.etwx", "slowest", "my slow"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let at = folder.path().display().to_string();
        let of = |word: &str, files| {
            let all = beginning(&format!("{at}/{word}"), files);
            all.into_iter()
                .map(|path| path.replace(&format!("{at}/"), ""))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("slo", Files::Loadable),
            ["\"slow login.etl\"", "slow.etl", "slow.etwx", "slowest/"]
        );
        assert_eq!(of("slow.t", Files::All), ["Slow.txt"]);
        assert_eq!(of("", Files::Folders), ["\"my slow/", "slowest/"]);
        assert_eq!(of(".s", Files::All), [".slow.etl"]);
        assert_eq!(
            beginning("/no/such/folder/x", Files::All),
            Vec::<String>::new()
        );
    }
}
