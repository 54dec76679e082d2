//! Cabinets: `.cab`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use cab::{Cabinet, CompressionType};

use super::{Archive, Entry, Member, base_name, choose, damaged};
use crate::quiet;
use crate::spool::{Packed, Spool};
use crate::{Error, Result};

type Cab = Cabinet<BufReader<File>>;

const WHOLE: &str = "a cabinet with its directory at the start";

/// Unpacks the traces of a cabinet.
pub(super) fn unpack(archive: &Archive, spool: &mut Spool) -> Result<Vec<Member>> {
    let mut cab = open(archive)?;
    let contents = Contents::of(&cab, archive);
    let chosen = choose(contents.entries, archive, spool)?;
    let mut members = Vec::with_capacity(chosen.len());
    let mut seen = HashSet::new();
    let mut cost = 0u64;
    for entry in &chosen {
        // The library finds a member by its name, and so only the first of several.
        if !seen.insert(&entry.path) {
            return Err(Error::Doubled {
                archive: archive.name.clone(),
                member: entry.path.clone(),
            });
        }
        let place = contents.places.get(entry.index);
        if let Some(CompressionType::Quantum(..)) = place.map(|place| place.method) {
            return Err(Error::Method {
                archive: archive.name.clone(),
                method: "Quantum".to_owned(),
            });
        }
        // Each trace costs all members before it in its folder, since a folder is one packed
        // stream.
        cost = cost.saturating_add(place.map_or(0, |place| place.end));
    }
    // The members of a folder are packed together, so that those before a trace are unpacked too, for
    // each trace again.
    spool.fits(&Packed {
        archive: &archive.name,
        member: "the folders of its traces",
        size: cost,
        packed: archive.size,
    })?;
    for entry in &chosen {
        // The unpackers of cabinets panic over some damaged blocks.
        let unpacked = quiet::catch(|| {
            let mut reader = cab
                .read_file(&entry.path)
                .map_err(|e| member_error(archive, entry, e))?;
            spool.unpack(&entry.packed(archive), &mut reader)
        });
        let file = unpacked
            .unwrap_or_else(|said| Err(member_error(archive, entry, io::Error::other(said))))?;
        members.push(entry.member(file));
    }
    Ok(members)
}

/// Paths of its members.
pub(super) fn names(archive: &Archive) -> Result<Vec<String>> {
    let entries = Contents::of(&open(archive)?, archive).entries;
    Ok(entries.into_iter().map(|entry| entry.path).collect())
}

/// The directory of a cabinet.
struct Contents {
    entries: Vec<Entry>,
    /// The place of each entry, by its index.
    places: Vec<Place>,
}

/// The place of a member.
struct Place {
    method: CompressionType,
    /// Bytes from the start of its folder to its end.
    end: u64,
}

impl Contents {
    fn of(cab: &Cab, archive: &Archive) -> Self {
        let mut entries = Vec::new();
        let mut places = Vec::new();
        for folder in cab.folder_entries() {
            let mut end = 0u64;
            for file in folder.file_entries() {
                let size = file.uncompressed_size().into();
                // Saturating, so that sizes of a damaged directory cannot wrap around to a small
                // sum.
                end = end.saturating_add(size);
                entries.push(Entry {
                    index: places.len(),
                    path: file.name().to_owned(),
                    raw_path: Vec::new(),
                    size,
                    // Members are packed together, as in a 7z archive.
                    packed: archive.size,
                    encrypted: false,
                });
                places.push(Place {
                    method: folder.compression_type(),
                    end,
                });
            }
        }
        Self { entries, places }
    }
}

fn open(archive: &Archive) -> Result<Cab> {
    let file = archive.file.try_clone();
    let file = file.map_err(|e| damaged(archive, "a readable file", e))?;
    let opened = quiet::catch(|| {
        let mut file = BufReader::new(file);
        file.seek(SeekFrom::Start(0))?;
        Cabinet::new(file)
    });
    opened
        .unwrap_or_else(|said| Err(io::Error::other(said)))
        .map_err(|e| {
            // A set of cabinets is whole and not damaged, so that it gets a message of its own.
            if is_part_of_set(archive) {
                let method = "a cabinet that is continued in another file".to_owned();
                let archive = archive.name.clone();
                return Error::Method { archive, method };
            }
            damaged(archive, WHOLE, e)
        })
}

/// True if the header names a cabinet before or behind this one.
fn is_part_of_set(archive: &Archive) -> bool {
    /// Offset of the flags, and those for a previous and for a next cabinet.
    const FLAGS: usize = 30;
    const NEIGHBOURS: u8 = 1 | 2;
    let mut head = [0; FLAGS + 1];
    let mut file = &archive.file;
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.read_exact(&mut head));
    read.is_ok() && head.last().is_some_and(|flags| flags & NEIGHBOURS != 0)
}

fn member_error(archive: &Archive, entry: &Entry, source: io::Error) -> Error {
    Error::DamagedArchive {
        archive: archive.name.clone(),
        member: Some(base_name(&entry.path).to_owned()),
        // Positions inside of a packed folder mean nothing to the user.
        position: 0,
        expected: "the blocks of the member".to_owned(),
        source: source.into(),
    }
}
