//! Windows paths on any system: `C:\temp\X.etl` as it was pasted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Prefix of the variables that name the folder of a drive, followed by its letter.
const DRIVE: &str = "ETWKIT_DRIVE_";

/// Returns the local path that a Windows path means.
///
/// `\` separates like `/`. A drive is the folder that `ETWKIT_DRIVE_<letter>` names, or else the
/// one of `ETWKIT_DRIVE_C`. If no file has that name, a file whose name differs only in case is
/// taken.
pub(crate) fn local(path: &str) -> PathBuf {
    local_in(path, &|letter| std::env::var_os(format!("{DRIVE}{letter}")))
}

fn local_in(path: &str, drive: &dyn Fn(char) -> Option<OsString>) -> PathBuf {
    if cfg!(windows) && Path::new(path).exists() {
        return PathBuf::from(path);
    }
    let mut rest = path;
    let mut folder = PathBuf::new();
    if let Some((letter, behind)) = drive_letter(path) {
        let named = drive(letter)
            .or_else(|| drive('C'))
            .filter(|folder| !folder.is_empty());
        match named {
            Some(named) => (folder, rest) = (named.into(), behind.trim_start_matches(['\\', '/'])),
            None if cfg!(windows) => return PathBuf::from(path),
            // Without a folder for the drive, `C:` is taken for a folder in the current one. It
            // does not exist there, so the error names it.
            None => {}
        }
    }
    if rest.starts_with(['\\', '/']) {
        folder.push("/");
    }
    for part in rest.split(['\\', '/']).filter(|part| !part.is_empty()) {
        folder = child(&folder, part);
    }
    if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder
    }
}

/// Returns the letter of the drive, in upper case, and the text after the colon.
pub(crate) fn drive_letter(path: &str) -> Option<(char, &str)> {
    let (letter, behind) = path.split_once(':')?;
    let mut letters = letter.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters
        .next()
        .is_none()
        .then_some((letter.to_ascii_uppercase(), behind))
}

/// Returns the file with that name; otherwise the first by name that differs only in case;
/// otherwise the path that the file would have.
fn child(folder: &Path, name: &str) -> PathBuf {
    let exact = folder.join(name);
    if matches!(name, "." | "..") || exact.exists() {
        return exact;
    }
    let listed = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let wanted = name.to_lowercase();
    let names = std::fs::read_dir(listed)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let found = names
        .filter(|found| found.to_string_lossy().to_lowercase() == wanted)
        .min();
    found.map_or(exact, |found| folder.join(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_separators_and_case_are_those_of_windows() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("Temp").join("Extract");
        std::fs::create_dir_all(&made).unwrap();
        std::fs::write(made.join("Slow.JSON"), "").unwrap();
        let c = |letter: char| (letter == 'C').then(|| folder.path().as_os_str().to_owned());
        for path in [
            r"c:\temp\extract\slow.json",
            "C:/TEMP//Extract/Slow.JSON",
            r"D:\Temp\Extract\slow.json",
        ] {
            assert_eq!(local_in(path, &c), made.join("Slow.JSON"), "{path}");
        }
        assert_eq!(
            local_in(r"C:\temp\new.etwx", &c),
            folder.path().join("Temp").join("new.etwx")
        );
        assert_eq!(
            local_in(r"..\Take_Test1", &c),
            PathBuf::from("../Take_Test1")
        );
        assert_eq!(local_in(".", &c), PathBuf::from("."));
        assert_eq!(local_in("", &c), PathBuf::from("."));
        let d = |letter: char| (letter == 'D').then(|| made.as_os_str().to_owned());
        assert_eq!(
            local_in(r"d:slow.json", &d),
            made.join("Slow.JSON"),
            "a drive of its own"
        );
        assert!(!local_in(r"e:\slow.json", &d).exists());
    }
}
