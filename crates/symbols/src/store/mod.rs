//! Symbol stores: finding the symbol file of an [`Identity`] along a [`SearchPath`](crate::SearchPath).
//!
//! A store keeps a file as `name.pdb/KEY/name.pdb`, where the key is GUID and age; as `name.pd_` if it is
//! compressed; or elsewhere, if there is a `file.ptr`. Stores with a file `index2.txt` have one more folder
//! in front, the first two letters of the name. Text symbols of Breakpad lie beside as `name.sym`, compressed
//! PDB files in a folder `msfz0`, since other programs that share the store may not read them.
//!
//! Whatever a store has is looked at before it is used or kept: what is no symbol file, or that of another
//! build, is neither.

mod check;
mod fetch;
mod folder;
mod search;

use std::path::PathBuf;

pub(crate) use check::Kind;
pub(crate) use fetch::Client;
pub use fetch::Limits;
pub(crate) use search::{Found, Search};

use crate::Identity;
use crate::identity::{PORTABLE_AGE, key};

/// A place that was asked, and why it did not have the symbol file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// A path or URL.
    pub place: String,
    /// What was wrong with it.
    pub reason: String,
}

/// Names that a file of this identity may have in a store, in the order in which they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Folders and file below the store.
    pub(crate) parts: Vec<String>,
    pub(crate) is_packed: bool,
    pub(crate) is_pointer: bool,
}

impl Place {
    pub(crate) fn path(&self) -> PathBuf {
        self.parts.iter().collect()
    }
}

/// All places of a store, plain or with the extra folder.
pub(crate) fn places(identity: &Identity, is_two_tier: bool) -> Vec<Place> {
    let name = identity.name();
    let mut keys = vec![identity.key()];
    // Portable symbol files have no age; the record in the image says 1.
    if identity.age() == 1 {
        keys.push(key(identity.guid(), PORTABLE_AGE));
    }
    let prefix: String = name.chars().take(2).collect();
    let place = |key: &str, file: String| {
        let is_packed = file.ends_with('_');
        let is_pointer = file == POINTER;
        let tier = is_two_tier.then(|| prefix.clone());
        Place {
            parts: tier.into_iter().chain([name.to_owned(), key.to_owned(), file]).collect(),
            is_packed,
            is_pointer,
        }
    };
    let mut places = Vec::new();
    for (nth, key) in keys.iter().enumerate() {
        places.push(place(key, name.to_owned()));
        // Portable files are small and new; nobody packs them or points to them.
        if nth == 0 {
            places.push(place(key, packed(name)));
            places.push(place(key, POINTER.to_owned()));
        }
    }
    places.extend(keys.first().map(|key| place(key, breakpad(name))));
    places
}

/// All places of a store that is a folder. Servers decide what they send for the plain name by what is
/// accepted.
pub(crate) fn places_in_folder(identity: &Identity, is_two_tier: bool) -> Vec<Place> {
    let mut places = places(identity, is_two_tier);
    if let Some(mut compressed) = places.first().cloned() {
        compressed.parts.insert(compressed.parts.len().saturating_sub(1), COMPRESSED.to_owned());
        places.insert(1, compressed);
    }
    places
}

/// Folder of compressed PDB files, below that of the key.
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
    let stem =
        name.get(..name.len().saturating_sub(4)).filter(|_| name.to_ascii_lowercase().ends_with(".pdb"));
    format!("{}.sym", stem.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use etwkit_etl::Guid;

    use super::*;

    #[test]
    fn a_store_is_asked_for_these_files() {
        let guid = Guid::literal("497b72f6-390a-44fc-878e-5a2d63b6cc4b");
        let paths = |age, is_two_tier| -> Vec<String> {
            let identity = Identity::new("Ntdll.pdb", guid, age).unwrap();
            places(&identity, is_two_tier).iter().map(|place| place.parts.join("/")).collect()
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
        assert_eq!(paths(1, true)[3], "Nt/Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4BFFFFFFFF/Ntdll.pdb");
        let identity = Identity::new("Ntdll.pdb", guid, 2).unwrap();
        let in_folder = places_in_folder(&identity, false);
        assert_eq!(in_folder.len(), 5);
        assert_eq!(
            in_folder[1].parts.join("/"),
            "Ntdll.pdb/497B72F6390A44FC878E5A2D63B6CC4B2/msfz0/Ntdll.pdb"
        );
    }
}
