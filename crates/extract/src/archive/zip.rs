//! Zip archives: `.zip`, `.etl.zip`, `.diagsession`.

use std::fs::File;
use std::io::BufReader;

use zip::ZipArchive;
use zip::result::ZipError;

use super::{Archive, Entry, Member, base_name, choose, damaged, encrypted};
use crate::spool::Spool;
use crate::symbols::is_symbol_file;
use crate::{Error, Result};

/// Unpacks the traces of a zip archive; finds its symbol files.
pub(super) fn unpack(archive: &Archive, spool: &mut Spool) -> Result<(Vec<Member>, Vec<Entry>)> {
    let mut zip = open(archive)?;
    let entries = entries(&zip, archive)?;
    let symbols = entries.iter().filter(|entry| is_symbol_file(&entry.path)).cloned().collect();
    let mut members = Vec::new();
    for entry in choose(entries, archive, spool)? {
        let mut reader = zip.by_index(entry.index).map_err(|e| member_error(archive, &entry, e))?;
        let file = spool.unpack(&entry.packed(archive), &mut reader)?;
        members.push(entry.member(file));
    }
    Ok((members, symbols))
}

/// Unpacks one member into a file.
pub(super) fn copy(archive: &Archive, entry: &Entry, spool: &Spool, file: &mut File) -> Result<()> {
    let mut zip = open(archive)?;
    let mut reader = zip.by_index(entry.index).map_err(|e| member_error(archive, entry, e))?;
    spool.copy(&entry.packed(archive), &mut reader, file)
}

fn open(archive: &Archive) -> Result<ZipArchive<BufReader<File>>> {
    let file = archive.file.try_clone().map_err(|e| damaged(archive, "a readable file", e))?;
    ZipArchive::new(BufReader::new(file))
        .map_err(|e| damaged(archive, "a zip archive with its directory at the end", plain(e)))
}

fn entries(zip: &ZipArchive<BufReader<File>>, archive: &Archive) -> Result<Vec<Entry>> {
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
            path: path.unwrap_or_else(|_| String::from_utf8_lossy(found.name_raw()).into_owned()),
            size: found.size(),
            packed: found.compressed_size(),
            encrypted: found.encrypted(),
        });
    }
    Ok(entries)
}

fn member_error(archive: &Archive, entry: &Entry, error: ZipError) -> Error {
    let member = base_name(&entry.path);
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            encrypted(archive, Some(member))
        }
        ZipError::CompressionMethodNotSupported(method) => {
            Error::Method { archive: archive.name.clone(), method: format!("zip method {method}") }
        }
        ZipError::UnsupportedArchive(what) => {
            Error::Method { archive: archive.name.clone(), method: what.to_owned() }
        }
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
