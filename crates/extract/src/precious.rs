//! Files that nothing may overwrite.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::archive::packed;
use crate::kind::{FileKind, Format};
use crate::reader::has_manifest;

/// Offset of the header of the first record of a trace, after the header of the first buffer. The
/// third byte there is 1 or 2 (32 or 64 bits), the fourth marks headers, and the last two are group
/// and type 0: the header event.
const HEADER: usize = 0x48;

/// The kind of a regular file, if it is a trace or a part of an extract: recorded data that cannot
/// be restored.
#[must_use]
pub fn precious(path: &Path) -> Option<&'static str> {
    let head = &head_of(path);
    let is_named_trace = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("etl"));
    // The name alone is also enough, because a trace whose header is damaged is still a trace. An
    // empty file has nothing to lose.
    if is_trace(head) || (is_named_trace && !head.is_empty()) {
        return Some("a trace");
    }
    match FileKind::of(head) {
        FileKind::Zip | FileKind::SevenZip | FileKind::Cab => {
            return Some("an archive, which may hold traces or an extract");
        }
        // Other packed files are no recordings: this program writes some.
        FileKind::Packed(format) if holds_trace(format, path) => return Some("a packed trace"),
        FileKind::Packed(_) | FileKind::Other(_) | FileKind::Trace => {}
    }
    // Tables, derived ones, symbol files of an extract: `derived/x.parquet`,
    // `symbols/NAME/KEY/NAME`.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The deepest file of an extract is three folders below it, and its own folder is one more.
    whole
        .ancestors()
        .skip(1)
        .take(4)
        .any(has_manifest)
        .then_some("a part of an extract")
}

/// True if a packed file holds a trace, by its first bytes.
fn holds_trace(format: Format, path: &Path) -> bool {
    let most = HEADER as u64 + 8;
    File::open(path).is_ok_and(|file| is_trace(&packed::head(format, &file, most)))
}

/// Returns `true` if a regular file starts like a trace, whatever its name.
#[must_use]
pub fn starts_like_a_trace(path: &Path) -> bool {
    is_trace(&head_of(path))
}

/// The first bytes of a file; fewer, or none, if it cannot be read.
fn head_of(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = File::open(path) {
        // An error leaves the bytes before it.
        let _ = file.take(HEADER as u64 + 8).read_to_end(&mut head);
    }
    head
}

fn is_trace(head: &[u8]) -> bool {
    matches!(head.get(HEADER..), Some([_, _, 1 | 2, 0xC0, _, _, 0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_archives_and_parts_of_extracts_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made/dns-5.etl");
        let trace = std::fs::read(made).unwrap();
        write("a.etwx/manifest.json", br#"{"format": "etwkit-extract"}"#);
        for (name, bytes, expected) in [
            ("x.csv", &trace[..], Some("a trace")),
            ("damaged.ETL", b"zzz", Some("a trace")),
            ("empty.etl", b"", None),
            (
                "x.csv",
                b"PK\x03\x04",
                Some("an archive, which may hold traces or an extract"),
            ),
            ("a.etwx/cpu.parquet", b"PAR1", Some("a part of an extract")),
            (
                "a.etwx/derived/cpu.parquet",
                b"PAR1",
                Some("a part of an extract"),
            ),
            ("rows.parquet", b"PAR1", None),
            ("rows.csv", b"trace,pid", None),
        ] {
            assert_eq!(precious(&write(name, bytes)), expected, "{name}");
        }
    }
}
