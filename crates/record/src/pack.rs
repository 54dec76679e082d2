//! A recording as an archive.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::Result;
use zip::write::SimpleFileOptions;

/// Packs a recording and the folder of its symbol files. The originals are removed when the archive
/// is complete.
pub(crate) fn pack(file: &Path, zipped: &Path) -> Result<()> {
    let symbols = file.with_added_extension("NGENPDB");
    let written = File::create_new(zipped)
        .map_err(anyhow::Error::new)
        .and_then(|out| {
            let mut archive = zip::ZipWriter::new(out);
            let folder = file.parent().unwrap_or(Path::new(""));
            // A list in place of recursion: folders of symbol files can be arbitrarily deep.
            let mut left = vec![file.to_owned(), symbols.clone()];
            while let Some(path) = left.pop() {
                if path.is_dir() {
                    for entry in fs::read_dir(&path)? {
                        left.push(entry?.path());
                    }
                } else if path.exists() {
                    let name = path
                        .strip_prefix(folder)?
                        .to_string_lossy()
                        .replace('\\', "/");
                    // Recordings can be larger than 4 GB, which needs the large form of an entry.
                    archive.start_file(name, SimpleFileOptions::default().large_file(true))?;
                    io::copy(&mut File::open(&path)?, &mut archive)?;
                }
            }
            Ok(archive.finish()?.sync_all()?)
        });
    if let Err(error) = written {
        let _ = fs::remove_file(zipped);
        return Err(error);
    }
    // After `sync_all`: the originals are removed only when the archive is on the disk.
    fs::remove_file(file)?;
    if symbols.is_dir() {
        fs::remove_dir_all(&symbols)?;
    }
    Ok(())
}
