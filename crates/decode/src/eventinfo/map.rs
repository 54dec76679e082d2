//! `EVENT_MAP_INFO`: names of values.

use etwkit_etl::bytes::u32_at;

use super::string;
use crate::bounds::Budget;
use crate::schema::ValueMap;

/// `MAP_FLAGS` of maps whose entries are bits: of a manifest, of a WMI bitmap.
const BITMAP: u32 = 0x02 | 0x10;
/// A pattern map: its entries replace parts of a text.
const PATTERN: u32 = 0x04;
/// `MAP_VALUETYPE` of entries whose value is a string.
const VALUE_IS_STRING: u32 = 1;
/// Bytes before the entries.
const HEAD_LEN: usize = 16;
/// Bytes of an entry: offset of its name, value.
const ENTRY_LEN: usize = 8;

/// Reads the map after the GUID of its provider: its name and entries. `None` if it is broken or
/// not a map of numbers.
///
/// Offsets count from the start of `bytes`. Entries whose name is outside are omitted.
#[must_use]
pub fn value_map(bytes: &[u8]) -> Option<(String, ValueMap)> {
    let flags = u32_at(bytes, 4)?;
    let count = u32_at(bytes, 8)? as usize;
    // Neither kind names values of an integer, the key by which maps of fields are looked up here.
    if flags & PATTERN != 0 || u32_at(bytes, 12)? == VALUE_IS_STRING {
        return None;
    }
    // The whole table has to be present before anything is read from it: the claimed count reserves
    // no memory.
    let table = bytes.get(HEAD_LEN..HEAD_LEN.checked_add(count.checked_mul(ENTRY_LEN)?)?)?;
    // The entries may share names, but not without end.
    let mut budget = Budget::new(bytes.len().saturating_mul(4));
    let name = string(bytes, u32_at(bytes, 0)?, &mut budget)?;
    let entries = table.chunks_exact(ENTRY_LEN).filter_map(|entry| {
        let text = string(bytes, u32_at(entry, 0)?, &mut budget)?;
        Some((u64::from(u32_at(entry, 4)?), text.into()))
    });
    Some((
        name,
        ValueMap {
            bitmap: flags & BITMAP != 0,
            entries: entries.collect(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn names_lose_the_blank_at_their_end() {
        let mut bytes = words(&[32, 2, 2, 0, 36, 1, 40, 4]);
        bytes.extend([wide("M"), wide("A"), wide("B ")].concat());
        let (name, map) = value_map(&bytes).unwrap();
        assert_eq!((&*name, map.bitmap), ("M", true));
        assert_eq!(map.name(5).unwrap(), "A|B");
    }

    #[test]
    fn broken_maps() {
        assert!(value_map(&words(&[16, 1, u32::MAX, 0])).is_none(), "count");
        assert!(value_map(&words(&[99, 1, 0, 0])).is_none(), "name outside");
        assert!(value_map(&words(&[16, 4, 0, 0, 0x41])).is_none(), "pattern");
        assert!(value_map(&words(&[16, 1, 0])).is_none(), "short");
        let mut lost = words(&[24, 1, 1, 0, 999, 7]);
        lost.extend(wide("M"));
        assert!(value_map(&lost).unwrap().1.entries.is_empty());
    }

    #[test]
    fn a_long_name_shared_by_all_entries_is_kept_a_few_times() {
        let count = 1000;
        let mut bytes = words(&[16 + 8 * count, 1, count, 0]);
        for value in 0..count {
            bytes.extend(words(&[16 + 8 * count, value]));
        }
        bytes.extend(wide(&"n".repeat(20_000)));
        let kept: usize = value_map(&bytes)
            .unwrap()
            .1
            .entries
            .iter()
            .map(|(_, name)| name.len())
            .sum();
        assert!(kept < 4 * bytes.len());
    }
}
