//! Symbol files that an archive contains in addition to a trace. PerfView and WPR pack the files
//! that were generated on the recorded machine, because no symbol server has them.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_symbols::identity::is_plain_name;

use crate::archive::{OpenZip, Symbol};
use crate::open::Input;
use crate::options::Limits;
use crate::spool::Spool;
use crate::{Error, Result};

/// Maximum number of symbol files that are unpacked: a program has hundreds of modules, a whole
/// system some thousands.
const MAX_KEPT: usize = 20_000;

/// The outcome for one symbol file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSymbol {
    /// Path in the archive, as stored there.
    pub member: String,
    /// Its new path relative to the folder; `None` if it was left out.
    pub path: Option<PathBuf>,
    /// Bytes, unpacked.
    pub size: u64,
    /// The reason for which it was left out.
    pub left_out: Option<String>,
}

impl Input {
    /// Paths of the symbol files in zip archives that were opened, as the archives name them:
    /// escape them before a terminal sees them.
    pub fn symbol_files(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(|symbol| symbol.entry.path.as_str())
    }

    /// Unpacks all symbol files into `folder`, which must exist: as `name.pdb/IDENTITY/name.pdb`,
    /// as in a symbol store, if the archive has this layout, otherwise as `name.pdb`. Nothing else
    /// of the paths in the archive is used, and no existing file is replaced. Files that are
    /// damaged, too large for the limits, too many, or have the name of another one are left out;
    /// the result lists them. `go_on` is called before each file; a file at which it stops is
    /// incomplete.
    ///
    /// # Errors
    /// If the folder cannot be written to or is full.
    pub fn keep_symbols(
        &self,
        folder: &Path,
        limits: Limits,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Vec<KeptSymbol>>> {
        // The spool does not limit the number of members, because too many symbol files are left
        // out here and are not an error.
        let mut spool = Spool::of_folder(
            folder,
            Limits {
                members: usize::MAX,
                ..limits
            },
        );
        let mut open = OpenZip::default();
        let mut taken = BTreeSet::new();
        let mut kept = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            if go_on().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let member = symbol.entry.path.clone();
            let size = symbol.entry.size;
            let (path, left_out) = match store_path(&symbol.entry.path) {
                None => (None, Some("its name is not a valid file name".to_owned())),
                Some(_) if taken.len() >= MAX_KEPT => (
                    None,
                    Some(format!("there are more than {MAX_KEPT} symbol files")),
                ),
                // Names that differ only by case are one file on Windows.
                Some(path) if !taken.insert(path.to_ascii_lowercase()) => {
                    (None, Some("another one has the same name".to_owned()))
                }
                Some(path) => match keep(symbol, &folder.join(&path), &mut open, &mut spool) {
                    Ok(()) => (Some(folder.join(path)), None),
                    // A folder that cannot be written to is an error of the user's system and ends
                    // the loop. A fault of one member is reported for that member only.
                    Err(error @ Error::Keep { .. }) => return Err(error),
                    Err(error) => (None, Some(error.to_string())),
                },
            };
            kept.push(KeptSymbol {
                member,
                path,
                size,
                left_out,
            });
        }
        Ok(ControlFlow::Continue(kept))
    }
}

fn keep(symbol: &Symbol, path: &Path, open: &mut OpenZip, spool: &mut Spool) -> Result<()> {
    let failed = |source| Error::Keep {
        path: path.to_owned(),
        source,
    };
    let of_folder = |error| match error {
        Error::Spool { source, .. } => failed(source),
        Error::NoSpace { .. } => failed(io::ErrorKind::StorageFull.into()),
        error => error,
    };
    spool
        .admit(&symbol.entry.packed(&symbol.archive))
        .map_err(of_folder)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(failed)?;
    let copied = open.copy(&symbol.archive, &symbol.entry, spool, &mut file);
    if copied.is_err() {
        // Half a symbol file is worse than none.
        fs::remove_file(path).map_err(failed)?;
    }
    copied.map_err(of_folder)
}

/// Path in a symbol store for a member: the last three components of its path if they look like a
/// store, otherwise its name.
fn store_path(member: &str) -> Option<String> {
    let parts: Vec<&str> = member.split(['/', '\\']).collect();
    let (name, before) = parts.split_last()?;
    if !is_plain_name(name) {
        return None;
    }
    // Symbol stores keep a file as NAME/IDENTITY/NAME. If the archive has that layout, it is kept,
    // so that the search finds the file by its identity.
    match before {
        [.., folder, identity] if folder.eq_ignore_ascii_case(name) && is_identity(identity) => {
            Some(format!("{folder}/{identity}/{name}"))
        }
        _ => Some((*name).to_owned()),
    }
}

/// GUID and age of a symbol file, as hexadecimal digits.
fn is_identity(text: &str) -> bool {
    (33..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_reduced_to_those_of_a_store() {
        let id = "0123456789ABCDEF0123456789abcdef1";
        for (member, path) in [
            (
                format!("symbols/a.ni.pdb/{id}/a.ni.pdb"),
                Some(format!("a.ni.pdb/{id}/a.ni.pdb")),
            ),
            (
                format!("run.etl.NGENPDB\\A.pdb\\{id}\\a.pdb"),
                Some(format!("A.pdb/{id}/a.pdb")),
            ),
            (
                format!("../../a.pdb/{id}/a.pdb"),
                Some(format!("a.pdb/{id}/a.pdb")),
            ),
            (
                format!("symbols/b.pdb/{id}/a.pdb"),
                Some("a.pdb".to_owned()),
            ),
            (
                "symbols/a.pdb/../a.pdb".to_owned(),
                Some("a.pdb".to_owned()),
            ),
            ("/etc/a.pdb".to_owned(), Some("a.pdb".to_owned())),
            ("C:\\x\\ü b.pdb".to_owned(), Some("ü b.pdb".to_owned())),
            ("a.pdb".to_owned(), Some("a.pdb".to_owned())),
        ] {
            assert_eq!(store_path(&member), path, "{member}");
        }
        for member in [
            "C:a.pdb",
            "nul.pdb",
            "x/Com1.pdb",
            "LPT¹.pdb",
            "con .pdb",
            ".pdb",
            "a.pdb ",
            "a?.pdb",
            "a\0.pdb",
            "a\x1b[31m.pdb",
            "",
            "..",
            "a/",
        ] {
            assert_eq!(store_path(member), None, "{member:?}");
        }
        assert_eq!(store_path(&format!("{}.pdb", "a".repeat(300))), None);
    }
}
