//! Symbol stores: finding symbol files and images along a [`SearchPath`](crate::SearchPath).
//!
//! A store keeps a file as `name.pdb/KEY/name.pdb`, where the key is GUID and age; as `name.pd_` if
//! it is compressed; or elsewhere, if there is a `file.ptr`. Stores with a file `index2.txt` have
//! one more folder above, the first two letters of the name. Text symbols of Breakpad are stored
//! next to the file as `name.sym`, compressed PDB files in a folder `msfz0`, because other programs
//! that share the store may not be able to read them. Images are stored in the same way under their
//! own names, time stamps and sizes.
//!
//! Every file is checked before it is used or kept. Files that are not symbol files, and files of
//! another build, are neither used nor kept.

mod check;
mod fetch;
mod folder;
mod search;
mod sought;

use std::fmt;
use std::path::PathBuf;

pub(crate) use check::{SymbolFileKind, carried};
pub(crate) use fetch::Client;
pub use fetch::Limits;
pub(crate) use search::{FoundFile, Search};
pub(crate) use sought::Sought;

/// The reason of a place that works and does not have the file.
pub const NOT_THERE: &str = "does not have it";

/// A place that was searched, with the reason for which it did not give the symbol file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// A path or URL.
    pub place: String,
    /// The reason for which it was not used.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// A path that a file may have in a store. Paths are tried in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StorePath {
    /// Folders and file below the store.
    pub(crate) parts: Vec<String>,
    pub(crate) is_packed: bool,
    pub(crate) is_pointer: bool,
}

impl StorePath {
    pub(crate) fn path(&self) -> PathBuf {
        self.parts.iter().collect()
    }
}

/// All places of a store that is a folder. A server needs fewer: it chooses by the accepted formats
/// what to send for the plain name.
pub(crate) fn places_in_folder(sought: Sought<'_>, is_two_tier: bool) -> Vec<StorePath> {
    let mut places = sought.places(is_two_tier);
    if let (Sought::Symbols(_), Some(mut compressed)) = (sought, places.first().cloned()) {
        compressed.parts.insert(
            compressed.parts.len().saturating_sub(1),
            COMPRESSED.to_owned(),
        );
        places.insert(1, compressed);
    }
    places
}

/// Folder of compressed PDB files, inside the folder of the key.
const COMPRESSED: &str = "msfz0";
const POINTER: &str = "file.ptr";

/// `ntdll.pdb` → `ntdll.pd_`.
fn packed(name: &str) -> String {
    let mut chars = name.chars();
    chars.next_back();
    format!("{}_", chars.as_str())
}

/// `ntdll.pdb` → `ntdll.sym`.
pub(crate) fn breakpad(name: &str) -> String {
    let stem = name
        .get(..name.len().saturating_sub(4))
        .filter(|_| name.to_ascii_lowercase().ends_with(".pdb"));
    format!("{}.sym", stem.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use etwkit_etl::Guid;

    use super::*;
    use crate::Identity;
    use crate::image::ImageIdentity;

    #[test]
    fn a_store_is_asked_for_these_files() {
        let guid = Guid::literal("497b72f6-390a-44fc-878e-5a2d63b6cc4b");
        let paths = |age, is_two_tier| -> Vec<String> {
            let identity = Identity::new("Ntdll.pdb", guid, age).unwrap();
            Sought::from(&identity)
                .places(is_two_tier)
                .iter()
                .map(|place| place.parts.join("/"))
                .collect()
        };
        assert_eq!(
            paths(2, false),
            [
                "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/Ntdll.pdb",
                "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/Ntdll.pd_",
                "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/file.ptr",
                "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/Ntdll.sym",
            ]
        );
        assert_eq!(
            paths(1, true)[3],
            "Nt/Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4BFFFFFFFF/Ntdll.pdb"
        );
        let identity = Identity::new("Ntdll.pdb", guid, 2).unwrap();
        let in_folder = places_in_folder(Sought::from(&identity), false);
        assert_eq!(in_folder.len(), 5);
        assert_eq!(
            in_folder[1].parts.join("/"),
            "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/msfz0/Ntdll.pdb"
        );
        let image = ImageIdentity::new("Ntdll.dll", 0x4FFD_0109, 0x14_7000).unwrap();
        let places = places_in_folder(Sought::Image(&image), true);
        let places: Vec<String> = places.iter().map(|place| place.parts.join("/")).collect();
        assert_eq!(
            places,
            [
                "Nt/Ntdll.dll/4FFD0109147000/Ntdll.dll",
                "Nt/Ntdll.dll/4FFD0109147000/Ntdll.dl_",
                "Nt/Ntdll.dll/4FFD0109147000/file.ptr",
            ]
        );
    }
}
