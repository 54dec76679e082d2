//! Folders of paths, to a depth.

/// Depth from which on whole paths are used.
pub const WHOLE_PATH: u32 = 100;

/// Returns SQL for the folder of the path in `column`, at most `level` folders below its drive: 0
/// is the drive, [`WHOLE_PATH`] the path itself. Devices (`\Device\HarddiskVolume3`) and shares
/// (`\\server\share`) count as drives.
#[must_use]
pub fn folder_sql(column: &str, level: u32) -> String {
    if level >= WHOLE_PATH {
        return column.to_owned();
    }
    let drive = r"(?:\\Device\\[^\\]*|\\\\[^\\]+\\[^\\]*|[^\\]*)";
    // Without the file name first, or a file in a folder above the level would count as a folder.
    let folder = format!(r"regexp_replace({column}, '\\[^\\]*$', '')");
    format!(r"regexp_replace({folder}, '^({drive}(?:\\[^\\]*){{0,{level}}}).*$', '\1')")
}

/// Returns the path with its parts in reverse order, so that a cut line still shows the file name:
/// `c.txt\b\a\C:`.
#[must_use]
pub fn reversed(path: &str) -> String {
    path.rsplit('\\').collect::<Vec<_>>().join("\\")
}

#[cfg(test)]
mod tests {
    #[test]
    fn reversed_paths_begin_with_the_file() {
        assert_eq!(super::reversed(r"C:\a\b.txt"), r"b.txt\a\C:");
    }
}
