//! The identity of a symbol file: its name, GUID and age, as the `RSDS` record of the image
//! contains them.

use std::fmt;

use etwkit_base::path::file_name;
use etwkit_etl::Guid;

use crate::{Error, Result};

/// Age under which symbol stores keep portable PDB files, which have no age.
pub const PORTABLE_AGE: u32 = u32::MAX;

/// The identity of the symbol file of a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    name: String,
    guid: Guid,
    age: u32,
}

impl Identity {
    /// Creates an identity from the values in a trace. Only the last component of `path` is used;
    /// both separators count. `None` if that component is not a plain file name on every system, or
    /// if the GUID is zero.
    #[must_use]
    pub fn new(path: &str, guid: Guid, age: u32) -> Option<Self> {
        let name = file_name(path);
        (guid != Guid::ZERO && is_plain_name(name)).then(|| Self {
            name: name.to_owned(),
            guid,
            age,
        })
    }

    /// Creates an identity from a name and the key of a symbol store, such as
    /// `497B72F6390A44FC878E5A2D63B6CC4B2`. `None` for other texts.
    #[must_use]
    pub fn with_key(path: &str, key: &str) -> Option<Self> {
        let (guid, age) = parse_key(key)?;
        Self::new(path, guid, age)
    }

    /// Name of the symbol file, without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// GUID of the build.
    #[must_use]
    pub const fn guid(&self) -> Guid {
        self.guid
    }

    /// The age: the number of times the symbol file was written for this build, as far as the image
    /// knows.
    #[must_use]
    pub const fn age(&self) -> u32 {
        self.age
    }

    /// Folder of a symbol store: GUID and age as upper-case hexadecimal digits without separators.
    #[must_use]
    pub fn key(&self) -> String {
        key(self.guid, self.age)
    }

    /// Checks that a file with this GUID and age is the right one.
    ///
    /// # Errors
    /// [`Error::OtherBuild`] if it is not.
    pub(crate) fn check(&self, guid: Guid, age: u32) -> Result<()> {
        if guid == self.guid && age == self.age {
            return Ok(());
        }
        Err(Error::OtherBuild {
            found: key(guid, age),
            wanted: self.key(),
        })
    }

    /// Checks the identity of a file whose format has no age.
    pub(crate) fn check_guid(&self, guid: Guid) -> Result<()> {
        self.check(guid, self.age)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.key())
    }
}

/// GUID and age as symbol stores write them.
pub(crate) fn key(guid: Guid, age: u32) -> String {
    let digits = guid.to_string().replace('-', "").to_ascii_uppercase();
    format!("{digits}{age:X}")
}

/// The inverse of [`key`].
pub(crate) fn parse_key(key: &str) -> Option<(Guid, u32)> {
    let (digits, age) = key.split_at_checked(32)?;
    let dash = |at| [8, 12, 16, 20].contains(&at).then_some('-');
    let dashed: String = digits
        .char_indices()
        .flat_map(|(at, digit)| dash(at).into_iter().chain([digit]))
        .collect();
    Some((dashed.parse().ok()?, u32::from_str_radix(age, 16).ok()?))
}

/// True if every system accepts the text as a plain file name: it is not a Windows device and has
/// no separators or control characters.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    let stem = name.split('.').next().unwrap_or("").trim_end();
    // Windows treats `COM1.pdb` as the device, whatever the extension. Superscript digits count as
    // digits there, so any fourth character is refused.
    let is_port = stem.get(..3).is_some_and(|port| {
        (port.eq_ignore_ascii_case("COM") || port.eq_ignore_ascii_case("LPT"))
            && stem.chars().count() == 4
    });
    let is_device = is_port
        || DEVICES
            .iter()
            .any(|device| device.eq_ignore_ascii_case(stem));
    let is_plain = |c: char| !c.is_control() && !r#"<>:"/\|?*"#.contains(c);
    (1..=200).contains(&name.len())
        && !is_device
        && !stem.is_empty()
        && !name.ends_with(['.', ' '])
        && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUID: Guid = Guid::literal("497b72f6-390a-44fc-878e-5a2d63b6cc4b");

    #[test]
    fn the_key_has_no_leading_zeros_in_its_age() {
        let identity = Identity::new("C:\\src\\wntdll.pdb", GUID, 0x1f).unwrap();
        assert_eq!(identity.name(), "wntdll.pdb");
        assert_eq!(identity.key(), "497B72F6390A44FC878E5A2D63B6CC4B1F");
        assert_eq!(
            Identity::with_key("wntdll.pdb", &identity.key().to_lowercase()),
            Some(identity)
        );
        assert_eq!(
            Identity::with_key("a.pdb", "497B72F6390A44FC878E5A2D63B6CC4B"),
            None,
            "no age"
        );
        assert_eq!(
            key(GUID, PORTABLE_AGE),
            "497B72F6390A44FC878E5A2D63B6CC4BFFFFFFFF"
        );
    }

    #[test]
    fn names_that_are_no_plain_files_are_refused() {
        for path in [
            "",
            "..",
            ".",
            "a/..",
            "x\\",
            "nul",
            "Com1.pdb",
            "a:b.pdb",
            "a\u{1b}[0m.pdb",
            ".pdb",
            "a.pdb.",
        ] {
            assert_eq!(Identity::new(path, GUID, 1), None, "{path:?}");
        }
        assert_eq!(Identity::new("a.pdb", Guid::ZERO, 1), None);
        assert_eq!(
            Identity::new("../../ü b.pdb", GUID, 1).unwrap().name(),
            "ü b.pdb"
        );
    }
}
