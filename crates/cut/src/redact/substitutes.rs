//! The table of substitutes: each original has one, with a number in order of appearance.
//!
//! Unlike a hash, a number cannot be used to check a guessed name.

use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::addresses::Addresses;

/// Numbers of computers and users.
const FIRST_NUMBER: u32 = 1000;

/// Bytes of a SID before its numbers of computer and user: header, authority, first number.
const SID_FRONT: usize = 12;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitute {
    /// Kind of the thing: `host`, `program`.
    pub kind: &'static str,
    /// What the redacted trace has.
    pub substitute: String,
    /// The text of the original, in the first spelling with capitals, if there is one.
    pub original: String,
}

/// Things that are counted together: an original has one substitute in each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// Parts of paths, and all words without another class.
    Word,
    Host,
    /// Texts that are replaced as a whole.
    Whole(&'static str),
}

/// Everything that was replaced.
#[derive(Debug, Default)]
pub(super) struct Substitutes {
    rows: Vec<Substitute>,
    places: FxHashMap<(Class, Box<str>), usize>,
    of_kind: FxHashMap<&'static str, u64>,
    addresses: Addresses,
    numbers: FxHashMap<u32, u32>,
    sids: FxHashMap<Box<[u8]>, ()>,
}

impl Substitutes {
    pub(super) fn rows(&self) -> &[Substitute] {
        &self.rows
    }

    pub(super) fn into_rows(self) -> Vec<Substitute> {
        self.rows
    }

    /// The substitute of a word, if it has one. `lower` is the word in lower case.
    pub(super) fn given(&self, class: Class, lower: &str) -> Option<&str> {
        let place = self.places.get(&(class, lower.into()))?;
        self.rows.get(*place).map(|row| row.substitute.as_str())
    }

    /// The substitute of an original: the kind with a number, and an ending.
    pub(super) fn numbered(
        &mut self,
        class: Class,
        kind: &'static str,
        original: &str,
        ending: &str,
    ) -> String {
        let lower = original.to_lowercase();
        let place = self.places.get(&(class, lower.as_str().into()));
        if let Some(row) = place.and_then(|place| self.rows.get_mut(*place)) {
            if row.original == lower {
                original.clone_into(&mut row.original);
            }
            return row.substitute.clone();
        }
        let number = self.of_kind.entry(kind).or_default();
        *number += 1;
        let substitute = format!("{kind}-{number}{ending}");
        self.places.insert((class, lower.into()), self.rows.len());
        self.rows.push(Substitute {
            kind,
            substitute: substitute.clone(),
            original: original.to_owned(),
        });
        substitute
    }

    /// The substitute of a network address.
    pub(super) fn address(&mut self, address: IpAddr) -> IpAddr {
        let (substitute, is_new) = self.addresses.substitute(address);
        if is_new && substitute != address {
            self.rows.push(Substitute {
                kind: "address",
                substitute: substitute.to_string(),
                original: address.to_string(),
            });
        }
        substitute
    }

    /// The substitute of a GUID in a text, in digits without braces.
    pub(super) fn guid(&mut self, guid: &str) -> String {
        let number = self.numbered(Class::Whole("guid"), "guid", guid, "");
        let number: u64 = number
            .rsplit('-')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(u64::MAX);
        let substitute = format!("00000000-0000-0000-0000-{:012x}", number & 0xFFFF_FFFF_FFFF);
        let place = self
            .places
            .get(&(Class::Whole("guid"), guid.to_lowercase().into()));
        if let Some(row) = place.and_then(|place| self.rows.get_mut(*place)) {
            row.substitute.clone_from(&substitute);
        }
        substitute
    }

    /// Replaces the numbers of computer and user in a SID: all numbers after the first one. Those
    /// of Windows' own accounts stay.
    pub(super) fn sid(&mut self, sid: &mut [u8]) {
        if !is_personal(sid) {
            return;
        }
        let old: Box<[u8]> = (&*sid).into();
        // A SID that is shorter has no numbers of its own.
        if let Some(numbers) = sid.get_mut(SID_FRONT..) {
            for number in numbers.as_chunks_mut::<4>().0 {
                *number = self.number(u32::from_le_bytes(*number)).to_le_bytes();
            }
        }
        if self.sids.insert(old.clone(), ()).is_none()
            && let Some((substitute, original)) = sid_text(sid).zip(sid_text(&old))
        {
            self.rows.push(Substitute {
                kind: "sid",
                substitute,
                original,
            });
        }
    }

    /// Replaces the numbers of computer and user in the text of a SID.
    pub(super) fn sid_text(&mut self, text: &str) -> Option<String> {
        let mut bytes = sid_bytes(text)?;
        self.sid(&mut bytes);
        sid_text(&bytes)
    }

    fn number(&mut self, old: u32) -> u32 {
        let next =
            FIRST_NUMBER.saturating_add(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(old).or_insert(next)
    }
}

/// True unless all computers have that SID: of the service accounts (`S-1-5-80`), the groups of
/// Windows (`S-1-5-32`) and labels (`S-1-16`), only names of services make numbers.
fn is_personal(sid: &[u8]) -> bool {
    let number = |at: usize| {
        sid.get(at..)
            .and_then(|bytes| bytes.first_chunk::<4>())
            .map(|bytes| u32::from_le_bytes(*bytes))
    };
    let authority = sid.get(7).copied();
    // Authority 5 is Windows, 16 labels; 21 is computers and domains.
    !matches!(
        (authority, number(8)),
        (Some(16), _) | (Some(5), Some(0..=20 | 32))
    )
}

/// `S-1-5-21-…`; `None` if the bytes end before the numbers.
fn sid_text(sid: &[u8]) -> Option<String> {
    let ([revision, _, authority @ ..], numbers) = sid.split_first_chunk::<8>()?;
    let authority = authority
        .iter()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let text = numbers
        .as_chunks::<4>()
        .0
        .iter()
        .map(|number| u32::from_le_bytes(*number))
        .fold(format!("S-{revision}-{authority}"), |text, number| {
            format!("{text}-{number}")
        });
    Some(text)
}

/// The bytes of `S-1-5-21-…`.
fn sid_bytes(text: &str) -> Option<Vec<u8>> {
    let mut parts = text
        .strip_prefix("S-")
        .or(text.strip_prefix("s-"))?
        .split('-');
    let revision: u8 = parts.next()?.parse().ok()?;
    let authority: u32 = parts.next()?.parse().ok()?;
    let numbers = parts
        .map(|part| part.parse().ok())
        .collect::<Option<Vec<u32>>>()?;
    let count = u8::try_from(numbers.len())
        .ok()
        .filter(|count| *count > 0)?;
    let mut bytes = vec![revision, count, 0, 0];
    bytes.extend(authority.to_be_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_original_has_one_substitute_and_kinds_are_counted_apart() {
        let mut all = Substitutes::default();
        let mut word = |kind, text| all.numbered(Class::Word, kind, text, "");
        assert_eq!(word("program", "Foo"), "program-1");
        assert_eq!(word("folder", "foo"), "program-1");
        assert_eq!(word("folder", "Bar"), "folder-1");
        assert_eq!(word("program", "baz"), "program-2");
        assert_eq!(word("program", "BAZ"), "program-2");
        assert_eq!(all.rows().len(), 3);
        // Lists of modules are in lower case; the table has the spelling of the events.
        let originals = all.rows().iter().map(|row| row.original.as_str());
        assert_eq!(originals.collect::<Vec<_>>(), ["Foo", "Bar", "BAZ"]);
    }

    #[test]
    fn users_are_numbered_and_accounts_of_windows_stay() {
        let mut all = Substitutes::default();
        let mut text = |sid| all.sid_text(sid);
        assert_eq!(
            text("S-1-5-21-111-222-333-1001").as_deref(),
            Some("S-1-5-21-1000-1001-1002-1003")
        );
        assert_eq!(
            text("S-1-5-21-111-222-333-1002").as_deref(),
            Some("S-1-5-21-1000-1001-1002-1004")
        );
        for kept in ["S-1-5-18", "S-1-5-32-544", "S-1-16-8192"] {
            assert_eq!(text(kept).as_deref(), Some(kept));
        }
        for other in ["S-1-5", "S-1-5-x", "S-", "S-1-5-99999999999"] {
            assert_eq!(text(other), None, "{other}");
        }
    }

    #[test]
    fn bytes_too_short_for_a_sid_stay_and_have_no_row() {
        let mut all = Substitutes::default();
        let mut short = [1, 1, 0, 0];
        all.sid(&mut short);
        assert_eq!((short, all.rows().len()), ([1, 1, 0, 0], 0));
    }
}
