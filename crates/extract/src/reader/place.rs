//! The location of the files of an extract.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipArchive};

use crate::kind::FileKind;
use crate::manifest;
use crate::store_error::{StoreError, StoreResult};

/// A folder, or an archive with uncompressed members.
#[derive(Debug, Clone)]
pub(crate) enum Container {
    Folder,
    Archive(BTreeMap<String, Member>),
}

/// A file of an extract: the file to open, and the range in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    offset: u64,
    length: u64,
    compressed: bool,
}

impl Container {
    pub(super) fn of(path: &Path) -> StoreResult<Self> {
        let metadata = path.metadata().map_err(StoreError::io("open", path))?;
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        let refused = |what: &str| StoreError::NotAnExtract {
            path: path.to_owned(),
            what: what.to_owned(),
        };
        // Checked before opening: opening a pipe waits for its writer.
        if !metadata.is_file() {
            return Err(refused("a pipe or device"));
        }
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let kind = crate::open::sniff(&file);
        if kind != FileKind::Zip {
            return Err(refused(
                kind.name().unwrap_or("a file that is not a zip archive"),
            ));
        }
        members(path, file, metadata.len()).map(Self::Archive)
    }

    /// The file with that path inside the extract at `path`.
    pub(crate) fn find(&self, path: &Path, name: &str) -> StoreResult<Option<Range>> {
        match self {
            Self::Folder => {
                // Links are looked for in each part of the path.
                refuse_links(path, name)?;
                in_folder(path.join(name))
            }
            Self::Archive(members) => match members.get(name) {
                None => Ok(None),
                // A compressed member would have to be unpacked as a whole for each page.
                Some(member) if member.compressed => Err(StoreError::Compressed {
                    path: path.to_owned(),
                    member: name.to_owned(),
                }),
                Some(member) => {
                    let Member { offset, length, .. } = *member;
                    Ok(Some(Range {
                        path: path.to_owned(),
                        offset,
                        length,
                    }))
                }
            },
        }
    }

    /// All bytes of a manifest.
    pub(super) fn read(&self, path: &Path, name: &str) -> StoreResult<Option<Vec<u8>>> {
        let Some(range) = self.find(path, name)? else {
            return Ok(None);
        };
        range
            .read(manifest::MAX_BYTES)
            .map(Some)
            .map_err(StoreError::io("read", &path.join(name)))
    }

    /// Paths of all files inside the extract, sorted. Hidden files, among them those of active
    /// writers, are omitted.
    pub(crate) fn names(&self, path: &Path) -> StoreResult<Vec<String>> {
        let mut names = Vec::new();
        match self {
            Self::Folder => walk(path, "", &mut names).map_err(StoreError::io("read", path))?,
            Self::Archive(members) => names.extend(members.keys().cloned()),
        }
        // Sorted, since packing has to give the same bytes on every system.
        names.sort();
        Ok(names)
    }
}

impl Range {
    fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.length > limit {
            return Err(io::Error::other(format!("it is larger than {limit} bytes")));
        }
        let mut all = Vec::new();
        self.reader()?.read_to_end(&mut all)?;
        Ok(all)
    }

    /// Its bytes, one after the other.
    pub(crate) fn reader(&self) -> io::Result<impl Read + use<>> {
        use std::io::{Seek, SeekFrom};
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        Ok(file.take(self.length))
    }
}

/// On Windows a link may lead to a share on a remote computer, which would learn of the request:
/// links in an extract are not followed there. On other systems a link leads to a file of this
/// system, which has to be a regular one.
fn refuse_links(path: &Path, name: &str) -> StoreResult<()> {
    let mut part = path.to_owned();
    for name in name.split('/').filter(|_| cfg!(windows)) {
        part.push(name);
        if part
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
        {
            let error = io::Error::other("it is a link, which could lead to another computer");
            return Err(StoreError::io("open", &part)(error));
        }
    }
    Ok(())
}

fn in_folder(file: PathBuf) -> StoreResult<Option<Range>> {
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(Some(Range {
            path: file,
            offset: 0,
            length: metadata.len(),
        })),
        Ok(_) => Ok(None),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        // A path through a file means that there is no such file.
        {
            Ok(None)
        }
        Err(e) => Err(StoreError::io("open", &file)(e)),
    }
}

fn walk(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        // Links are not followed, so they are neither listed nor packed.
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{prefix}{name}/"), names)?;
        } else if kind.is_file() {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// The members of an archive next to or below its outermost manifest.
fn members(path: &Path, file: File, size: u64) -> StoreResult<BTreeMap<String, Member>> {
    let damaged = |expected, source: zip::result::ZipError| StoreError::Archive {
        path: path.to_owned(),
        expected,
        source: source.into(),
    };
    let mut zip = ZipArchive::new(BufReader::new(file))
        // The directory of the archive is at its end, so that nothing else of it is read.
        .map_err(|e| damaged("a zip archive with its directory at the end", e))?;
    let mut all = BTreeMap::new();
    for index in 0..zip.len() {
        let found = zip
            .by_index_raw(index)
            .map_err(|e| damaged("a readable member", e))?;
        if found.is_dir() {
            continue;
        }
        // Archives made on Windows can have backslashes in paths.
        let name = String::from_utf8_lossy(found.name_raw()).replace('\\', "/");
        // A member without a readable header starts at the end, so that the check below refuses it.
        let offset = found.data_start().unwrap_or(size);
        let length = found.compressed_size();
        // A compressed member cannot be read by position. It is only noted here, because other
        // members of the archive may be usable without it.
        let compressed = found.compression() != CompressionMethod::Stored || found.encrypted();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let cause =
                zip::result::ZipError::InvalidArchive("a member reaches past the end".into());
            return Err(damaged("members inside the archive", cause));
        }
        all.insert(
            name,
            Member {
                offset,
                length,
                compressed,
            },
        );
    }
    let is_manifest = |name: &&String| name.rsplit('/').next() == Some(manifest::FILE);
    // The archive may have been packed with folders around the extract. `derived/manifest.json` is
    // also a manifest, but deeper.
    let outermost = all
        .keys()
        .filter(is_manifest)
        // Of several manifests the one with the fewest folders before it.
        .min_by_key(|name| name.matches('/').count());
    let Some(outermost) = outermost else {
        let what = "a zip archive without manifest.json".to_owned();
        return Err(StoreError::NotAnExtract {
            path: path.to_owned(),
            what,
        });
    };
    let prefix = outermost
        .strip_suffix(manifest::FILE)
        .unwrap_or("")
        .to_owned();
    let inside = all.into_iter().filter_map(|(name, member)| {
        let name = name.strip_prefix(&prefix)?;
        Some((name.to_owned(), member))
    });
    Ok(inside.collect())
}
