//! The file that is searched: a symbol file, an image, or an assembly that carries its symbol file.

use std::path::Path;

use super::check::{self, SymbolFileKind};
use super::{POINTER, StorePath, breakpad, packed};
use crate::identity::{PORTABLE_AGE, key};
use crate::image::ImageIdentity;
use crate::{Identity, Result};

/// A file to find, by its expected identity.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sought<'a> {
    /// The symbol file of a module.
    Symbols(&'a Identity),
    /// The module itself.
    Image(&'a ImageIdentity),
    /// A .NET assembly of that name that carries the symbol file. Only plain folders have it:
    /// stores keep images by time stamp and size.
    Carrier(&'a Identity, &'a str),
}

impl<'a> From<&'a Identity> for Sought<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self::Symbols(identity)
    }
}

impl<'a> Sought<'a> {
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Symbols(identity) => identity.name(),
            Self::Image(image) => image.name(),
            Self::Carrier(_, assembly) => assembly,
        }
    }

    pub(super) fn key(self) -> String {
        match self {
            Self::Symbols(identity) | Self::Carrier(identity, _) => identity.key(),
            Self::Image(image) => image.key(),
        }
    }

    /// Checks the file and returns its kind.
    pub(super) fn check(self, path: &Path) -> Result<SymbolFileKind> {
        match self {
            Self::Symbols(identity) => check::symbols(path, identity),
            Self::Image(image) => check::image(path, image),
            Self::Carrier(identity, _) => check::carrier(path, identity),
        }
    }

    /// Names that the file may have in a folder that is not a store.
    pub(super) fn flat_names(self) -> Vec<String> {
        let name = self.name().to_owned();
        match self {
            Self::Symbols(_) => vec![name.clone(), breakpad(&name)],
            Self::Image(_) | Self::Carrier(..) => vec![name],
        }
    }

    /// All places of a store, plain or with the extra folder.
    pub(crate) fn places(self, is_two_tier: bool) -> Vec<StorePath> {
        if let Self::Carrier(..) = self {
            return Vec::new();
        }
        let name = self.name();
        let prefix: String = name.chars().take(2).collect();
        let place = |key: &str, file: String| {
            let is_packed = file.ends_with('_');
            let is_pointer = file == POINTER;
            let tier = is_two_tier.then(|| prefix.clone());
            StorePath {
                parts: tier
                    .into_iter()
                    .chain([name.to_owned(), key.to_owned(), file])
                    .collect(),
                is_packed,
                is_pointer,
            }
        };
        let key = self.key();
        let mut places = vec![
            place(&key, name.to_owned()),
            place(&key, packed(name)),
            place(&key, POINTER.to_owned()),
        ];
        if let Self::Symbols(identity) = self {
            // Portable symbol files have no age; the record in the image has 1. They are small and
            // new: they are neither packed nor referred to by pointers.
            if identity.age() == 1 {
                places.push(place(
                    &self::key(identity.guid(), PORTABLE_AGE),
                    name.to_owned(),
                ));
            }
            // Last, because a PDB contains more than text symbols.
            places.push(place(&key, breakpad(name)));
        }
        places
    }
}
