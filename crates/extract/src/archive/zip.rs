//! Zip archives: `.zip`, `.etl.zip`, `.diagsession`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use etwkit_etl::bytes::tail;
use zip::result::ZipError;
use zip::{CompressionMethod, SUPPORTED_COMPRESSION_METHODS, ZipArchive};

use super::{Archive, Entry, Member, base_name, choose, damaged, encrypted, is_symbol_file};
use crate::spool::Spool;
use crate::{Error, Result};

type Zip = ZipArchive<BufReader<File>>;

/// Unpacks the traces of a zip archive; finds its symbol files.
pub(super) fn unpack(archive: &Archive, spool: &mut Spool) -> Result<(Vec<Member>, Vec<Entry>)> {
    let mut zip = open(archive)?;
    let entries = entries(&zip, archive)?;
    let symbols = entries
        .iter()
        .filter(|entry| is_symbol_file(&entry.path))
        .cloned()
        .collect();
    let mut members = Vec::new();
    let chosen = choose(entries, archive, spool)?;
    // The library keeps only one of several members with the same path, which may be the wrong one.
    // Only for members that are unpacked, as archives of other tools often have doubles that nobody
    // wants.
    refuse_doubles(&zip, archive, &chosen)?;
    for entry in chosen {
        let mut reader = zip
            .by_index(entry.index)
            .map_err(|e| member_error(archive, &entry, e))?;
        check_method(archive, reader.compression())?;
        let file = spool.unpack(&entry.packed(archive), &mut reader)?;
        members.push(entry.member(file));
    }
    Ok((members, symbols))
}

/// Paths of its members.
pub(super) fn names(archive: &Archive) -> Result<Vec<String>> {
    Ok(entries(&open(archive)?, archive)?
        .into_iter()
        .map(|entry| entry.path)
        .collect())
}

/// An archive whose members are unpacked one by one. Its directory may be long. It is read once,
/// unless members of another archive are read in between.
#[derive(Default)]
pub(crate) struct OpenZip {
    last: Option<(Arc<Archive>, Zip)>,
}

impl OpenZip {
    /// Unpacks one member into a file; the spool has admitted it.
    pub(crate) fn copy(
        &mut self,
        archive: &Arc<Archive>,
        entry: &Entry,
        spool: &Spool,
        file: &mut File,
    ) -> Result<()> {
        let zip = match self.last.take() {
            // The directory of the last archive is kept: symbol files are asked for one after the
            // other.
            Some((of, zip)) if Arc::ptr_eq(&of, archive) => zip,
            _ => open(archive)?,
        };
        let (_, zip) = self.last.insert((Arc::clone(archive), zip));
        let mut reader = zip
            .by_index(entry.index)
            .map_err(|e| member_error(archive, entry, e))?;
        check_method(archive, reader.compression())?;
        spool.copy(&entry.packed(archive), &mut reader, file)
    }
}

/// Refuses an archive with several members of one path, if one of `chosen` has it: the library
/// keeps only the last of them.
fn refuse_doubles(zip: &Zip, archive: &Archive, chosen: &[Entry]) -> Result<()> {
    // Nearly no archive has doubles, and the directory need not be read again.
    if !zip.has_duplicate_names() {
        return Ok(());
    }
    let doubles = archive
        .file
        .try_clone()
        .and_then(|file| doubles(file, zip.central_directory_start()));
    let doubles = doubles.map_err(|e| damaged(archive, "a readable directory", e))?;
    let is_double = |entry: &&Entry| doubles.contains(entry.raw_path.as_slice());
    match chosen.iter().find(is_double) {
        None => Ok(()),
        Some(entry) => Err(Error::Doubled {
            archive: archive.name.clone(),
            member: entry.path.clone(),
        }),
    }
}

/// Paths that occur more than once in a directory.
fn doubles(file: File, start: u64) -> io::Result<HashSet<Vec<u8>>> {
    /// Size of the fixed part before the path, and the offset of the lengths of path, extra fields
    /// and comment.
    const FIXED: usize = 46;
    const LENGTHS: usize = 28;
    let mut file = BufReader::new(file);
    file.seek(SeekFrom::Start(start))?;
    let mut seen = HashSet::new();
    let mut doubles = HashSet::new();
    let mut fixed = [0; FIXED];
    // The directory is parsed by hand, because the library has already merged the members with one
    // path.
    while file.read_exact(&mut fixed).is_ok() && fixed.starts_with(b"PK\x01\x02") {
        let mut lengths = tail(&fixed, LENGTHS).chunks_exact(2);
        let mut next = || {
            lengths
                .next()
                .and_then(|l| l.try_into().ok())
                .map_or(0, u16::from_le_bytes)
        };
        let path = next();
        let extra = next();
        let comment = next();
        let mut name = vec![0; path.into()];
        file.read_exact(&mut name)?;
        file.seek_relative(i64::from(extra) + i64::from(comment))?;
        if !seen.insert(name.clone()) {
            doubles.insert(name);
        }
    }
    Ok(doubles)
}

fn open(archive: &Archive) -> Result<Zip> {
    let file = archive
        .file
        .try_clone()
        .map_err(|e| damaged(archive, "a readable file", e))?;
    ZipArchive::new(BufReader::new(file)).map_err(|e| {
        damaged(
            archive,
            "a zip archive with its directory at the end",
            plain(e),
        )
    })
}

fn entries(zip: &Zip, archive: &Archive) -> Result<Vec<Entry>> {
    let mut entries = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let found = zip.by_index_data(index);
        let found = found.map_err(|e| damaged(archive, "a readable directory", plain(e)))?;
        if found.is_dir() {
            continue;
        }
        let path = found.name().map(std::borrow::Cow::into_owned);
        entries.push(Entry {
            index,
            // Names of old archives are in any encoding.
            path: path.unwrap_or_else(|_| String::from_utf8_lossy(found.name_raw()).into_owned()),
            raw_path: found.name_raw().to_vec(),
            size: found.size(),
            packed: found.compressed_size(),
            encrypted: found.encrypted(),
        });
    }
    Ok(entries)
}

/// Refuses a method that the library does not unpack. It would report the first bytes of the member
/// as damage.
fn check_method(archive: &Archive, method: CompressionMethod) -> Result<()> {
    if SUPPORTED_COMPRESSION_METHODS.contains(&method) {
        return Ok(());
    }
    Err(Error::Method {
        archive: archive.name.clone(),
        method: format!("zip method {method}"),
    })
}

fn member_error(archive: &Archive, entry: &Entry, error: ZipError) -> Error {
    let member = base_name(&entry.path);
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            encrypted(archive, Some(member))
        }
        ZipError::CompressionMethodNotSupported(method) => Error::Method {
            archive: archive.name.clone(),
            method: format!("zip method {method}"),
        },
        ZipError::UnsupportedArchive(what) => Error::Method {
            archive: archive.name.clone(),
            method: what.to_owned(),
        },
        other => Error::DamagedArchive {
            archive: archive.name.clone(),
            member: Some(member.to_owned()),
            position: 0,
            expected: "the header of the member".to_owned(),
            source: plain(other),
        },
    }
}

/// The cause without the layer that only repeats it.
fn plain(error: ZipError) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        ZipError::Io(e) => e.into(),
        other => other.into(),
    }
}
