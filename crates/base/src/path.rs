//! Parts of paths. Traces hold paths of Windows wherever they are read, so that texts are split at the
//! separators of every system; paths of this machine are those of the standard library.

use std::path::Path;

/// Separators of the paths of Windows and Unix.
const SEPARATORS: [char; 2] = ['\\', '/'];

/// Splits a path of any system after its last separator.
#[must_use]
pub fn split(path: &str) -> (&str, &str) {
    let end = path.rfind(SEPARATORS).map_or(0, |at| at + 1);
    path.split_at(end)
}

/// The last part of a path of any system; empty if the path ends with a separator.
#[must_use]
pub fn file_name(path: &str) -> &str {
    split(path).1
}

/// A name without its last ending. A dot in front begins no ending.
#[must_use]
pub fn without_ending(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// The folder of a path of any system, without its last separator; empty for a bare name.
#[must_use]
pub fn folder(path: &str) -> &str {
    path.rsplit_once(SEPARATORS)
        .map_or("", |(folder, _)| folder)
}

/// Splits a path as people type it: the folder with its separator, or the drive with its colon, and the rest.
#[must_use]
pub fn split_typed(path: &str) -> (&str, &str) {
    let end = path.rfind(['\\', '/', ':']).map_or(0, |at| at + 1);
    path.split_at(end)
}

/// The name of a file of this machine; the whole path where that has none, as `..`.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// The name of a file of this machine without its last ending; empty where the path has no name.
#[must_use]
pub fn stem_of(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The folder of a file of this machine; the current one for a bare name.
#[must_use]
pub fn parent_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_all_systems_have_a_folder_and_a_name() {
        for (path, in_folder, name) in [
            ("", "", ""),
            ("a.etl", "", "a.etl"),
            (r"C:\x\a.etl", r"C:\x", "a.etl"),
            (
                r"\Device\HarddiskVolume3\a b.dll",
                r"\Device\HarddiskVolume3",
                "a b.dll",
            ),
            ("/usr/lib/a.so", "/usr/lib", "a.so"),
            (r"C:\x/a.etl", r"C:\x", "a.etl"),
            (r"C:\x\", r"C:\x", ""),
            ("/a", "", "a"),
        ] {
            assert_eq!((folder(path), file_name(path)), (in_folder, name), "{path}");
            let (folder, name) = split(path);
            assert_eq!(format!("{folder}{name}"), path);
        }
    }

    #[test]
    fn a_name_loses_its_last_ending() {
        for (name, stem) in [
            ("a.etl", "a"),
            ("a.b.etl", "a.b"),
            ("a", "a"),
            (".hidden", ".hidden"),
            ("", ""),
        ] {
            assert_eq!(without_ending(name), stem);
            assert_eq!(stem_of(Path::new(name)), stem);
        }
    }

    #[test]
    fn typed_paths_keep_the_separator() {
        for (path, parts) in [
            ("a", ("", "a")),
            (r"x\a*", (r"x\", "a*")),
            ("x/y/", ("x/y/", "")),
            ("C:a", ("C:", "a")),
        ] {
            assert_eq!(split_typed(path), parts);
        }
    }

    #[test]
    fn files_of_this_machine_have_a_name_and_a_folder() {
        let path = Path::new("x").join("a.etl");
        assert_eq!(
            (name_of(&path), parent_of(&path)),
            ("a.etl".to_owned(), Path::new("x"))
        );
        assert_eq!(name_of(Path::new("..")), "..");
        assert_eq!(parent_of(Path::new("a")), Path::new("."));
    }
}
