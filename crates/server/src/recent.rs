//! Traces that were opened before: a small file in the cache folder.

use std::path::{Path, PathBuf};

use etwkit_base::path::name_of;

use crate::wire::Recent;

/// Name of the file.
const FILE: &str = "recent.json";
/// Number of traces in the list.
const KEPT: usize = 20;
/// A longer file was not written by this program.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the list, the latest first. A file that cannot be read counts as an empty list.
pub(crate) fn read(folder: &Path) -> Vec<Recent> {
    let path = folder.join(FILE);
    if std::fs::metadata(&path).map_or(true, |data| data.len() > MAX_BYTES) {
        return Vec::new();
    }
    let listed = std::fs::read(&path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    listed.unwrap_or_default()
}

/// Puts a trace at the start of the list. A list that cannot be written is ignored, since the trace
/// itself is open.
pub(crate) fn add(folder: &Path, opened: &Path) {
    let name = name_of(opened);
    // Made absolute, since the next server may be started in another folder.
    let path = std::path::absolute(opened)
        .unwrap_or_else(|_| opened.to_owned())
        .display()
        .to_string();
    let mut all = read(folder);
    all.retain(|one| one.path != path);
    all.insert(0, Recent { name, path });
    all.truncate(KEPT);
    let _ = write(folder, &all);
}

/// Writes the list under another name and renames it when it is complete: two servers may write at
/// once.
fn write(folder: &Path, all: &[Recent]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // The number of the process keeps servers from writing into the same unfinished file.
    let unfinished: PathBuf = folder.join(format!("{FILE}.{}", std::process::id()));
    std::fs::write(&unfinished, serde_json::to_vec_pretty(all)?)?;
    std::fs::rename(unfinished, folder.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_come_first_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["/a.etl", "/b.etl", "/a.etl"] {
            add(folder.path(), Path::new(name));
        }
        let names: Vec<String> = read(folder.path())
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["a.etl", "b.etl"]);
        for number in 0..30 {
            add(folder.path(), Path::new(&format!("/{number}.etl")));
        }
        assert_eq!(read(folder.path()).len(), KEPT);
        std::fs::write(folder.path().join(FILE), "no JSON").unwrap();
        assert!(read(folder.path()).is_empty());
    }
}
