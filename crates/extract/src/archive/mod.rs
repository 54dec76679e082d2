//! Traces inside archives and packed files.

mod cab;
pub(crate) mod packed;
mod seven_zip;
mod zip;

pub(crate) use zip::OpenZip;

use std::fs::File;
use std::sync::Arc;

use etwkit_base::path::split_typed;

use crate::kind::FileKind;
use crate::spool::{Packed, Spool};
use crate::{Error, Result};

/// An unpacked member.
pub(crate) struct Member {
    /// Archive and path in it, which orders the members.
    pub(crate) path: String,
    /// Last part of the path: nothing of an archive's folders is shown or used.
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) file: File,
    /// The fault of a packed file that could be read nevertheless.
    pub(crate) flaw: Option<Flaw>,
}

/// The fault of a packed file whose trace can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It is damaged or ends early.
    Broken,
    /// That many bytes follow its data.
    Rest(u64),
}

/// An archive in a file.
pub(crate) struct Archive {
    pub(crate) file: File,
    pub(crate) size: u64,
    /// Name of the archive in messages.
    pub(crate) name: String,
    /// Name of its own file, without folders and outer archives.
    pub(crate) own_name: String,
    /// The kinds of members to unpack.
    pub(crate) wanted: MemberSelection,
}

/// A symbol file in an archive. It is unpacked only by
/// [`Input::keep_symbols`](crate::Input::keep_symbols).
pub(crate) struct Symbol {
    /// The archive; shared by all of its members.
    pub(crate) archive: Arc<Archive>,
    pub(crate) entry: Entry,
}

/// The members to look for in an archive, by file extension. Case is ignored, and extensions have
/// no dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberSelection {
    /// Extension of the members to unpack.
    pub ending: &'static str,
    /// Extensions of nested archives, which are opened if the archive has no such member itself.
    pub archives: &'static [&'static str],
}

impl MemberSelection {
    /// Traces.
    pub(crate) const TRACES: Self = Self {
        ending: "etl",
        archives: &[
            "zip",
            "7z",
            "diagsession",
            "cab",
            "etlgz",
            "etl.gz",
            "etl.zst",
            "etl.xz",
            "etl.bz2",
            "etl.lz4",
        ],
    };
}

/// The contents of an archive.
#[derive(Default)]
pub(crate) struct ArchiveContents {
    /// The wanted members, unpacked.
    pub(crate) members: Vec<Member>,
    /// Symbol files, which stay packed.
    pub(crate) symbols: Vec<Symbol>,
}

/// Maximum nesting of archives: PerfView zips files that are zipped already. Deeper nesting is a
/// puzzle, not a trace.
const MAX_DEPTH: usize = 1;

/// Maximum memory for the dictionary of an archive; the largest setting of 7-Zip that is not typed in
/// by hand takes 256 MiB.
const MAX_DICTIONARY: u64 = 512 << 20;

/// Maximum number of members that a message lists.
const LISTED: usize = 8;

/// Paths of the members of an archive; `None` if the file is not an archive or its directory cannot
/// be read.
pub(crate) fn names(kind: FileKind, archive: &Archive) -> Option<Vec<String>> {
    match kind {
        FileKind::SevenZip => seven_zip::names(archive).ok(),
        FileKind::Zip => zip::names(archive).ok(),
        FileKind::Cab => cab::names(archive).ok(),
        FileKind::Packed(_) | FileKind::Other(_) | FileKind::Trace => None,
    }
}

/// Unpacks all wanted members of an archive, ordered by their paths.
pub(crate) fn unpack(
    kind: FileKind,
    archive: Archive,
    spool: &mut Spool,
) -> Result<ArchiveContents> {
    unpack_at(0, kind, &Arc::new(archive), spool)
}

fn unpack_at(
    depth: usize,
    kind: FileKind,
    archive: &Arc<Archive>,
    spool: &mut Spool,
) -> Result<ArchiveContents> {
    let (mut members, mut symbols) = match kind {
        FileKind::SevenZip => (seven_zip::unpack(archive, spool)?, Vec::new()),
        FileKind::Cab => (cab::unpack(archive, spool)?, Vec::new()),
        FileKind::Packed(format) => (vec![packed::unpack(format, archive, spool)?], Vec::new()),
        _ => zip::unpack(archive, spool)?,
    };
    // By path and not in the order of the archive: the same files packed by another program are the
    // same session.
    members.sort_by(|a, b| a.path.cmp(&b.path));
    symbols.sort_by(|a, b| a.path.cmp(&b.path));
    let symbols = symbols.into_iter().map(|entry| Symbol {
        archive: Arc::clone(archive),
        entry,
    });
    let mut found = ArchiveContents {
        members: Vec::with_capacity(members.len()),
        symbols: symbols.collect(),
    };
    for member in members {
        // By its first bytes, since members are often named wrongly.
        match crate::open::sniff(&member.file) {
            nested @ (FileKind::Zip | FileKind::SevenZip | FileKind::Cab | FileKind::Packed(_))
                if depth < MAX_DEPTH =>
            {
                let name = format!("{} in {}", member.name, archive.name);
                let inner = Archive {
                    file: member.file,
                    size: member.size,
                    name,
                    own_name: member.name,
                    wanted: archive.wanted,
                };
                let inside = unpack_at(depth + 1, nested, &Arc::new(inner), spool)?;
                let outer = member.path;
                found
                    .members
                    .extend(inside.members.into_iter().map(|inner| {
                        // The path shows both archives, so that two members of one name can be told
                        // apart.
                        let path = format!("{outer}/{}", inner.path);
                        Member { path, ..inner }
                    }));
                found.symbols.extend(inside.symbols);
            }
            _ => found.members.push(member),
        }
    }
    Ok(found)
}

/// A member as the directory of its archive describes it.
#[derive(Clone)]
pub(crate) struct Entry {
    index: usize,
    pub(crate) path: String,
    /// The path as stored in the directory; several members may have the same one.
    raw_path: Vec<u8>,
    pub(crate) size: u64,
    packed: u64,
    encrypted: bool,
}

impl Entry {
    pub(crate) fn packed<'a>(&'a self, archive: &'a Archive) -> Packed<'a> {
        Packed {
            archive: &archive.name,
            member: base_name(&self.path),
            size: self.size,
            packed: self.packed,
        }
    }

    fn member(&self, file: File) -> Member {
        let name = base_name(&self.path).to_owned();
        Member {
            path: self.path.clone(),
            name,
            size: self.size,
            file,
            flaw: None,
        }
    }
}

/// Chooses the members to unpack: the traces, or without any the archives that may hold some.
fn choose(entries: Vec<Entry>, archive: &Archive, spool: &mut Spool) -> Result<Vec<Entry>> {
    let total = entries.len();
    let inside = entries
        .iter()
        .take(LISTED)
        .map(|e| base_name(&e.path).to_owned())
        .collect();
    let (traces, others): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .filter(|e| !is_of_macos(&e.path))
        .partition(|e| has_ending(&e.path, &[archive.wanted.ending]));
    // Nested archives are opened only if the archive has no trace itself: archives next to a trace
    // are other data.
    let chosen = if traces.is_empty() {
        others
            .into_iter()
            .filter(|e| has_ending(&e.path, archive.wanted.archives))
            .collect()
    } else {
        traces
    };
    if chosen.is_empty() {
        return Err(Error::NoTrace {
            archive: archive.name.clone(),
            inside,
            total,
        });
    }
    for entry in &chosen {
        if entry.encrypted {
            return Err(encrypted(archive, Some(base_name(&entry.path))));
        }
        // All are admitted before the first is unpacked, so that an archive that is too large costs
        // nothing.
        spool.admit(&entry.packed(archive))?;
    }
    Ok(chosen)
}

fn encrypted(archive: &Archive, member: Option<&str>) -> Error {
    Error::Encrypted {
        archive: archive.name.clone(),
        member: member.map(str::to_owned),
    }
}

/// The directory of an archive cannot be read.
fn damaged(
    archive: &Archive,
    expected: &str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::DamagedArchive {
        archive: archive.name.clone(),
        member: None,
        position: archive.size,
        expected: expected.to_owned(),
        source: source.into(),
    }
}

/// The last component of a member's path. Both separators count.
fn base_name(path: &str) -> &str {
    // Archives made on Windows can have backslashes in paths. A colon would name a drive or a stream there.
    let (_, name) = split_typed(path);
    if name.is_empty() { path } else { name }
}

/// True if macOS added the member to an archive: the attributes of the file named after `._`.
fn is_of_macos(path: &str) -> bool {
    base_name(path).starts_with("._")
}

/// True if an archive's member is a symbol file.
pub(crate) fn is_symbol_file(path: &str) -> bool {
    has_ending(path, &["pdb"])
}

pub(crate) fn has_ending(path: &str, endings: &[&str]) -> bool {
    let name = base_name(path);
    let has = |ending: &str| {
        let at = name.len().checked_sub(ending.len() + 1)?;
        let (_, end) = name.split_at_checked(at)?;
        let (dot, end) = end.split_at_checked(1)?;
        Some(dot == "." && end.eq_ignore_ascii_case(ending))
    };
    endings.iter().any(|ending| has(ending) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_base_name_of_a_member_is_used() {
        for path in [
            "a.etl",
            "../../a.etl",
            "/etc/a.etl",
            "C:\\x\\a.etl",
            "\\\\?\\a.etl",
            "C:a.etl",
        ] {
            assert_eq!(base_name(path), "a.etl");
        }
        assert_eq!(base_name("folder/"), "folder/");
    }

    #[test]
    fn archives_in_archives_have_the_endings_of_others() {
        let known = etwkit_base::endings::TRACES.map(|ending| ending.trim_start_matches('.'));
        let mut wanted = MemberSelection::TRACES.archives.to_vec();
        wanted.push(MemberSelection::TRACES.ending);
        wanted.sort_unstable();
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(wanted, known);
    }

    #[test]
    fn endings_ignore_case() {
        assert!(has_ending("x/A.ETL", &["etl"]) && has_ending("a.etl.zip", &["zip"]));
        assert!(has_ending("a.ETL.gz", &["etl.gz"]) && !has_ending("a.log.gz", &["etl.gz"]));
        assert!(!has_ending("etl", &["etl"]) && !has_ending("a.etl/b", &["etl"]));
    }
}
