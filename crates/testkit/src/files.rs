//! Files for tests: folders that are removed after the test, the generated traces of the
//! repository, archives.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use sevenz_rust2::{ArchiveEntry, ArchiveWriter};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A folder of a test, which is removed when the test ends.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// Creates an empty folder.
    ///
    /// # Panics
    /// If it cannot be created.
    #[expect(clippy::new_without_default, reason = "it makes a folder on the disk")]
    #[must_use]
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the path of a file in it, which need not exist.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file into it and returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Returns the folder of the small traces that are part of the repository.
#[must_use]
pub fn made() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made")
}

/// Returns the bytes of one generated file.
///
/// # Panics
/// If no file has that name.
#[must_use]
pub fn made_bytes(name: &str) -> Vec<u8> {
    std::fs::read(made().join(name)).unwrap()
}

/// Returns a 7z archive of these members, each packed by itself.
///
/// # Panics
/// If it cannot be packed.
#[must_use]
pub fn seven_zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    for (name, bytes) in members {
        writer
            .push_archive_entry(ArchiveEntry::new_file(name), Some(*bytes))
            .unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a zip archive of these members.
///
/// # Panics
/// If it cannot be packed.
#[must_use]
pub fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    zipped_as(CompressionMethod::Deflated, members)
}

/// Returns a zip archive of these members, packed with one of zip's methods.
///
/// # Panics
/// If it cannot be packed.
#[must_use]
pub fn zipped_as(method: CompressionMethod, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
