//! Screenshots next to a trace, in the form in which ETWController saves them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::UNIX_EPOCH;

use etwkit_base::path::{file_name, name_of, without_ending};
use etwkit_trace::import::screenshots::Picture;

use crate::Input;

/// Maximum number of folder entries checked, and of screenshots recorded.
const MAX_ENTRIES: usize = 100_000;
const MAX_PICTURES: usize = 20_000;
/// FILETIME of 1970-01-01.
const UNIX_FILETIME: i64 = 116_444_736_000_000_000;

/// Screenshots next to a trace.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    pub(crate) all: Vec<Picture>,
    /// True if the folder has more of them.
    pub(crate) cut: bool,
}

impl Pictures {
    /// Reads the folders of the files of a trace. A folder that cannot be read counts as empty.
    pub(crate) fn beside(input: &Input) -> Self {
        let mut found = Self::default();
        let mut seen = BTreeSet::new();
        for part in input.parts() {
            let Some(folder) = part.path.parent() else {
                continue;
            };
            for name in names(&part.path, &part.name) {
                let path = folder.join(&name);
                if seen.insert(path.clone()) {
                    found.read(&path, &name);
                }
            }
        }
        // Folders are listed in any order; rows must not depend on it.
        found
            .all
            .sort_by(|a, b| (&a.folder, &a.name).cmp(&(&b.folder, &b.name)));
        found.all.truncate(MAX_PICTURES);
        found
    }

    fn read(&mut self, path: &Path, folder: &str) {
        let Ok(entries) = std::fs::read_dir(path) else {
            return;
        };
        for (count, entry) in entries.enumerate() {
            if count >= MAX_ENTRIES || self.all.len() >= MAX_PICTURES {
                self.cut = true;
                return;
            }
            let Ok(entry) = entry else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed.
            let Some(facts) = entry.metadata().ok().filter(std::fs::Metadata::is_file) else {
                continue;
            };
            if !is_picture(&name) {
                continue;
            }
            let since = facts
                .modified()
                .ok()
                .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified = since.and_then(|since| {
                i64::try_from(since.as_nanos() / 100)
                    .ok()?
                    .checked_add(UNIX_FILETIME)
            });
            self.all.push(Picture {
                folder: folder.to_owned(),
                name,
                bytes: facts.len(),
                modified,
            });
        }
    }
}

/// Names that a folder of pictures can have: of the file that was named, and of the trace in an
/// archive.
fn names(path: &Path, trace: &str) -> BTreeSet<String> {
    let file = name_of(path);
    let trace = file_name(trace).to_owned();
    let stem = |name: &str| without_ending(name).to_owned();
    [stem(&file), stem(&trace), file, trace]
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| format!("{name}.Screenshots"))
        .collect()
}

fn is_picture(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("screenshot_")
        && [".jpg", ".jpeg", ".png"]
            .iter()
            .any(|end| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_after_the_trace() {
        let names: Vec<String> = names(Path::new("a/slow.7z"), "slow.etl")
            .into_iter()
            .collect();
        assert_eq!(
            names,
            [
                "slow.7z.Screenshots",
                "slow.Screenshots",
                "slow.etl.Screenshots"
            ]
        );
    }

    #[test]
    fn only_pictures_of_the_screen_are_noted() {
        assert!(is_picture("Screenshot_1.jpg") && is_picture("screenshot_Forced_01.02.03.004.PNG"));
        assert!(
            !is_picture("Report.html")
                && !is_picture("holiday.jpg")
                && !is_picture("Screenshot_1.exe")
        );
    }
}
