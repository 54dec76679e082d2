//! Texts in the code page of the machine that recorded them. The kernel logs names of processes so,
//! and no event says which code page it was.
//!
//! Other events have the same name in UTF-16: [`may_be`] tells which of them it is. A name without
//! one is read as UTF-8 or Windows-1252, which is right on machines of western Europe. Fields that
//! are decoded without their meaning ([`crate::render`]) have U+FFFD for bytes that are not UTF-8.
//! No trace with known answers has such bytes, so that real ones confirm neither.

use std::ops::RangeInclusive;

use etwkit_base::code_page::of_windows_1252;

/// Lengths of names that the kernel cut: it keeps 15 bytes, older versions with a NUL.
const CUT: [usize; 2] = [14, 15];

/// The byte that stands for a character that the code page does not have. No file has it in its
/// name.
const LOST: u8 = b'?';

/// Least second byte of a character of two bytes. Such bytes may be letters of ASCII.
const FIRST_TRAIL: u8 = 0x40;

/// The first character behind the Latin letters, whose second byte is never one of ASCII.
const BEHIND_LATIN: char = '\u{370}';

/// The characters of Katakana that have one byte in a code page whose other characters have two.
const HALF_WIDTH: RangeInclusive<char> = '\u{FF61}'..='\u{FF9F}';

/// Reads UTF-8 or, if the bytes are not, Windows-1252.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| of_windows_1252(*byte)).collect(),
    }
}

/// True if bytes are the same name in every code page.
#[must_use]
pub fn is_certain(name: &[u8]) -> bool {
    name.is_ascii() && !name.contains(&LOST)
}

/// True if the bytes may be a name in some code page: letters of ASCII are the same in any case,
/// the others have the number of bytes that one kind of code page has for them. Bytes that the
/// kernel may have cut may be the start of the name.
#[must_use]
pub fn may_be(bytes: &[u8], name: &str) -> bool {
    let kinds: [Kind; 3] = [in_one_byte, in_two_bytes, in_utf_8];
    kinds.iter().any(|kind| may_be_of(*kind, bytes, name))
}

/// A kind of code page: the bytes behind a character that is not ASCII; `None` if they do not begin
/// with it.
type Kind = fn(&[u8], char) -> Option<&[u8]>;

fn may_be_of(kind: Kind, bytes: &[u8], name: &str) -> bool {
    let is_cut = CUT.contains(&bytes.len());
    let mut rest = bytes;
    for character in name.chars() {
        if rest.is_empty() {
            return is_cut;
        }
        let behind = if character.is_ascii() {
            behind_ascii(rest, character)
        } else {
            behind_lost(rest, character).or_else(|| kind(rest, character))
        };
        let Some(behind) = behind else {
            return false;
        };
        rest = behind;
    }
    rest.is_empty()
}

fn behind_ascii(bytes: &[u8], letter: char) -> Option<&[u8]> {
    let (first, rest) = bytes.split_first()?;
    char::from(*first)
        .eq_ignore_ascii_case(&letter)
        .then_some(rest)
}

/// The bytes behind a character that the code page lacks: a sign for each of its units in UTF-16.
fn behind_lost(bytes: &[u8], character: char) -> Option<&[u8]> {
    let (signs, rest) = bytes.split_at_checked(character.len_utf16())?;
    signs.iter().all(|sign| *sign == LOST).then_some(rest)
}

fn in_one_byte(bytes: &[u8], _: char) -> Option<&[u8]> {
    let (first, rest) = bytes.split_first()?;
    (!first.is_ascii()).then_some(rest)
}

fn in_two_bytes(bytes: &[u8], character: char) -> Option<&[u8]> {
    let rest = in_one_byte(bytes, character)?;
    if HALF_WIDTH.contains(&character) {
        return Some(rest);
    }
    let least = if character < BEHIND_LATIN {
        0x80
    } else {
        FIRST_TRAIL
    };
    match rest.split_first() {
        Some((second, rest)) => (*second >= least).then_some(rest),
        // The name was cut inside of the character.
        None => Some(rest),
    }
}

fn in_utf_8(bytes: &[u8], character: char) -> Option<&[u8]> {
    let mut buffer = [0; 4];
    let whole = character.encode_utf8(&mut buffer).as_bytes();
    // The name may have been cut inside of the character.
    if whole.starts_with(bytes) {
        return Some(&[]);
    }
    bytes.strip_prefix(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_utf_8_or_windows_1252() {
        assert_eq!(text("Büro.exe".as_bytes()), "Büro.exe");
        assert_eq!(text(b"B\xFCro\x80.exe"), "Büro€.exe");
    }

    #[test]
    fn only_ascii_is_the_same_in_every_code_page() {
        assert!(is_certain(b"") && is_certain(b"a b.exe"));
        assert!(!is_certain(b"B\xFCro.exe") && !is_certain("Büro.exe".as_bytes()));
        assert!(!is_certain(b"B?ro.exe"));
    }

    #[test]
    fn a_name_is_found_in_any_code_page() {
        let same: &[(&[u8], &str)] = &[
            // 1252, and in another case.
            (b"B\xFCroPost32.exe", "BüroPost32.exe"),
            (b"B\xFCROPOST32.EXE", "Büropost32.exe"),
            // 1251.
            (b"\xCF\xEE\xF7\xF2\xE0.exe", "Почта.exe"),
            // 932: two bytes, the second one also a letter or a separator, and half-width letters.
            (b"\x93\xFA\x96\x7B\x8C\xEA.exe", "日本語.exe"),
            (b"my\x95\x5C\x8E\xA6.exe", "my表示.exe"),
            (b"\xB1\xB2\x93\xFA.exe", "ｱｲ日.exe"),
            // 936, whose bytes are valid UTF-8 here.
            (b"\xCC\xBF.exe", "炭.exe"),
            // UTF-8.
            ("日本é.exe".as_bytes(), "日本é.exe"),
            // Characters that the code page lacks; one beyond 16 bits is two.
            (b"?????.exe", "Почта.exe"),
            (b"a??.exe", "a😀.exe"),
            // Cut after 14 and 15 bytes, and inside of a character.
            (b"\xDCbersichtsprog", "Übersichtsprogramm.exe"),
            (b"\xDCbersichtsprogr", "Übersichtsprogramm.exe"),
            (
                b"a\x93\xFA\x93\xFA\x93\xFA\x93\xFA\x93\xFA\x93\xFA\x93",
                "a日日日日日日日日.exe",
            ),
        ];
        for (bytes, name) in same {
            assert!(may_be(bytes, name), "{name}");
        }
    }

    #[test]
    fn another_name_is_not_found() {
        let others: &[(&[u8], &str)] = &[
            (b"B\xFCro.exe", ""),
            (b"B\xFCro.exe", "Buro.exe"),
            (b"B\xFCro.exe", "Büo.exe"),
            (b"B\xFCro.exe", "Büro2.exe"),
            (b"B\xFCro.exe", "Brüo.exe"),
            (b"B\xFCro.exe", "üro.exe"),
            (b"B?ro.exe", "Büo.exe"),
            // Not as long as cut names are.
            (b"B\xFCro.ex", "Büro.exe"),
            (b"\xDCbersichtspro", "Übersichtsprogramm.exe"),
            // Not all characters of a name have the same number of bytes in any code page.
            (b"\xCF\xEE\xF7\xF2\xE0.exe", "Моя.exe"),
            (b"\x93\xFA\x96.exe", "日本.exe"),
            (b"\x93\xFA\x96.exe", "日.exe"),
            (b"\x93\xFA\x96", "日本.exe"),
            // Cut, but other letters.
            (b"\xDCbersichtsbild", "Übersichtsprogramm.exe"),
        ];
        for (bytes, name) in others {
            assert!(!may_be(bytes, name), "{name}");
        }
    }
}
