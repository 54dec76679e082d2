//! 7z archives.

use std::io::{BufReader, Read};

use sevenz_rust2::{ArchiveReader, Password};

use super::{Archive, Entry, MAX_DICTIONARY, Member, choose, damaged, encrypted};
use crate::spool::{Packed, Spool};
use crate::{Error, Result};

/// Packed bytes that are worth threads: starting and stopping them takes a tenth of a second.
const THREADS_FROM_BYTES: u64 = 64 << 20;

/// Paths of its members.
pub(super) fn names(archive: &Archive) -> Result<Vec<String>> {
    let file = archive
        .file
        .try_clone()
        .map_err(|e| damaged(archive, "a readable file", e))?;
    let reader = ArchiveReader::new(BufReader::new(file), Password::empty())
        .map_err(|e| open_error(archive, e))?;
    let files = reader
        .archive()
        .files
        .iter()
        .filter(|file| !file.is_directory());
    Ok(files.map(|file| file.name().to_owned()).collect())
}

/// Its members.
fn entries(archive: &Archive, content: &sevenz_rust2::Archive) -> Vec<Entry> {
    let files = content.files.iter().enumerate();
    files
        .filter(|(_, file)| !file.is_directory())
        .map(|(index, file)| Entry {
            index,
            path: file.name().to_owned(),
            raw_path: Vec::new(),
            size: file.size(),
            // Members are packed together, so the size of the whole archive is used as the packed
            // size.
            packed: archive.size,
            encrypted: false,
        })
        .collect()
}

/// Unpacks the traces of a 7z archive.
pub(super) fn unpack(archive: &Archive, spool: &mut Spool) -> Result<Vec<Member>> {
    let file = archive
        .file
        .try_clone()
        .map_err(|e| damaged(archive, "a readable file", e))?;
    let mut reader = ArchiveReader::new(BufReader::new(file), Password::empty())
        .map_err(|e| open_error(archive, e))?;
    if archive.size < THREADS_FROM_BYTES {
        reader.set_thread_count(1);
    }
    // Before anything is unpacked: the dictionary is allocated at the first byte.
    refuse_large_dictionaries(archive, reader.archive())?;
    let entries = entries(archive, reader.archive());
    // Members before a trace also have to be unpacked, though they are not kept.
    let all = entries
        .iter()
        .fold(0u64, |sum, entry| sum.saturating_add(entry.size));
    spool.fits(&Packed {
        archive: &archive.name,
        member: "the whole of it",
        size: all,
        packed: archive.size,
    })?;
    let mut wanted = choose(entries, archive, spool)?;
    let mut members = Vec::new();
    let mut failed = None;
    let walked = reader.for_each_entries(|file, from| {
        // The callback gets no index of the member that it unpacks, so the member is identified by
        // name and size.
        let found = wanted
            .iter()
            // Names may occur more than once, and the size then tells which one is meant.
            .position(|entry| entry.path == file.name() && entry.size == file.size());
        if failed.is_some() || wanted.is_empty() {
            return Ok(false);
        }
        match found
            .map(|at| wanted.swap_remove(at))
            // Taken out of the list, so that a second member of that name is another one.
            .map(|entry| one(&entry, archive, spool, from))
        {
            Some(Ok(member)) => members.push(member),
            Some(Err(e)) => failed = Some(e),
            None => {}
        }
        // Nothing more is unpacked once all wanted members are there: the rest may be gigabytes.
        Ok(failed.is_none() && !wanted.is_empty())
    });
    if let Some(error) = failed {
        return Err(error);
    }
    walked.map_err(|e| open_error(archive, e))?;
    // The directory named it and the archive does not have it.
    match wanted.first() {
        None => Ok(members),
        Some(entry) => Err(damaged(
            archive,
            &format!("the member {}", entry.path),
            "it is not there",
        )),
    }
}

/// Refuses archives that request gigabytes of memory with a few bytes.
fn refuse_large_dictionaries(archive: &Archive, content: &sevenz_rust2::Archive) -> Result<()> {
    let coders = content.blocks.iter().flat_map(|block| &block.coders);
    let largest = coders
        .filter_map(|coder| dictionary(coder.encoder_method_id(), coder.properties()))
        .max();
    match largest.filter(|bytes| *bytes > MAX_DICTIONARY) {
        None => Ok(()),
        Some(bytes) => {
            let limit = MAX_DICTIONARY >> 20;
            let method = format!(
                "a dictionary of {} MiB, and {limit} MiB is the limit",
                bytes >> 20
            );
            Err(Error::Method {
                archive: archive.name.clone(),
                method,
            })
        }
    }
}

/// Bytes of the dictionary of a method, as its properties name them.
fn dictionary(method: &[u8], properties: &[u8]) -> Option<u64> {
    const LZMA: &[u8] = &[3, 1, 1];
    const LZMA2: &[u8] = &[0x21];
    match (method, properties) {
        (LZMA2, [code, ..]) => {
            let bits = u32::from(code & 0x3F);
            // Codes stand for powers of two and one and a half times these.
            // 2 or 3, shifted; the last code is one byte below 4 GiB.
            Some(u64::from(2 | bits & 1) << (bits / 2 + 11).min(40))
        }
        (LZMA, [_, a, b, c, d, ..]) => Some(u32::from_le_bytes([*a, *b, *c, *d]).into()),
        _ => None,
    }
}

fn one(entry: &Entry, archive: &Archive, spool: &Spool, from: &mut dyn Read) -> Result<Member> {
    spool
        .unpack(&entry.packed(archive), from)
        .map(|file| entry.member(file))
}

fn open_error(archive: &Archive, error: sevenz_rust2::Error) -> Error {
    use sevenz_rust2::Error as E;
    match error {
        E::PasswordRequired | E::MaybeBadPassword(_) => encrypted(archive, None),
        E::UnsupportedCompressionMethod(method) if method.contains("AES") => {
            encrypted(archive, None)
        }
        E::UnsupportedCompressionMethod(method) => Error::Method {
            archive: archive.name.clone(),
            method,
        },
        E::Unsupported(what) => Error::Method {
            archive: archive.name.clone(),
            method: what.into_owned(),
        },
        E::Io(e, _) => damaged(archive, WHOLE, e),
        E::Other(what) => damaged(archive, WHOLE, what.into_owned()),
        E::NextHeaderCrcMismatch | E::ChecksumVerificationFailed => {
            damaged(archive, WHOLE, "a checksum does not match")
        }
        other => damaged(archive, WHOLE, format!("{other:?}")),
    }
}

const WHOLE: &str = "a 7z archive with its directory at the end";
