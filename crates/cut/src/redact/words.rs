//! Replacement of texts: words of the same length, and the same replacement for equal words.
//!
//! A text is replaced word by word. So a path stays a path, and the parts that paths share stay the
//! same. Words are numbered in order of appearance: unlike a hash, a replacement cannot be used to
//! check a guessed name. Lengths stay, and with them the layout of every event.

use rustc_hash::FxHashMap;

/// Words that describe the kind of a file and reveal nothing about a person.
const KEPT: [&str; 6] = ["exe", "dll", "sys", "pdb", "etl", "net"];

/// Number of letters in replacement words.
const LETTERS: u64 = 26;

/// Numbers of computers and users.
const FIRST_NUMBER: u32 = 1000;

/// Everything that was replaced.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Words in lower case, as UTF-16.
    words: FxHashMap<Box<[u16]>, u64>,
    /// Words of each length so far.
    of_length: FxHashMap<usize, u64>,
    numbers: FxHashMap<u32, u32>,
    addresses: FxHashMap<Box<[u8]>, u32>,
}

impl Words {
    /// Different words, numbers of users and addresses so far.
    pub(crate) fn count(&self) -> u64 {
        (self.words.len() + self.numbers.len() + self.addresses.len()) as u64
    }

    /// Replaces UTF-16 in place. Bytes after a NUL are cleared.
    pub(crate) fn wide(&mut self, text: &mut [u8]) {
        let (pairs, rest) = text.as_chunks_mut::<2>();
        rest.fill(0);
        let mut units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        self.units(&mut units);
        for (pair, unit) in pairs.iter_mut().zip(units) {
            *pair = unit.to_le_bytes();
        }
    }

    /// Replaces 8-bit text in place. Bytes after a NUL are cleared.
    pub(crate) fn narrow(&mut self, text: &mut [u8]) {
        let mut units: Vec<u16> = text.iter().map(|byte| u16::from(*byte)).collect();
        self.units(&mut units);
        for (byte, unit) in text.iter_mut().zip(units) {
            *byte = unit.to_le_bytes()[0];
        }
    }

    /// The replacement of a text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut units: Vec<u16> = text.encode_utf16().collect();
        self.units(&mut units);
        String::from_utf16_lossy(&units)
    }

    fn units(&mut self, units: &mut [u16]) {
        let end = units
            .iter()
            .position(|unit| *unit == 0)
            .unwrap_or(units.len());
        let (text, behind) = units.split_at_mut(end);
        behind.fill(0);
        text.split_mut(|unit| !is_of_word(*unit))
            .filter(|word| !word.is_empty())
            .for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &mut [u16]) {
        let lower: Vec<u16> = word.iter().map(|unit| lower(*unit)).collect();
        if KEPT
            .iter()
            .any(|kept| kept.encode_utf16().eq(lower.iter().copied()))
        {
            return;
        }
        let len = lower.len();
        // Each length has its own counter, so that short words run out as late as possible.
        let next = self.of_length.entry(len).or_default();
        let number = *self
            .words
            .entry(lower.clone().into_boxed_slice())
            .or_insert_with(|| {
                *next += 1;
                *next - 1
            });
        self.spell(number, word);
        // A word that is replaced by itself would stay readable.
        if *word == *lower
            && let Some(last) = word.last_mut()
        {
            *last = if *last == u16::from(b'z') {
                u16::from(b'a')
            } else {
                last.saturating_add(1)
            };
        }
    }

    /// The number in letters, the last one first. If there are too many short words, several of
    /// them share one replacement.
    fn spell(&self, mut number: u64, word: &mut [u16]) {
        for unit in word.iter_mut().rev() {
            *unit = u16::from(b'a') + (number % LETTERS) as u16;
            number /= LETTERS;
        }
    }

    /// Replaces the numbers of computer and user in a SID: all numbers after the first one.
    pub(crate) fn sid(&mut self, sid: &mut [u8]) {
        const FIRST: usize = 12;
        // A SID that is shorter has no numbers of its own.
        let Some(numbers) = sid.get_mut(FIRST..) else {
            return;
        };
        for number in numbers.as_chunks_mut::<4>().0 {
            let next =
                FIRST_NUMBER.saturating_add(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
            let old = u32::from_le_bytes(*number);
            *number = self.numbers.entry(old).or_insert(next).to_le_bytes();
        }
    }

    /// Replaces a network address. Unspecified and loopback addresses stay.
    pub(crate) fn address(&mut self, address: &mut [u8]) {
        let is_local = match address {
            [127, ..] => true,
            [front @ .., 0 | 1] => front.iter().all(|byte| *byte == 0),
            _ => false,
        };
        if is_local {
            return;
        }
        let next = u32::try_from(self.addresses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let number = *self.addresses.entry((&*address).into()).or_insert(next);
        let is_v6 = address.len() > 4;
        address.fill(0);
        if let Some(first) = address.first_mut() {
            // A private network of version 4, a local one of version 6.
            *first = if is_v6 { 0xFD } else { 10 };
        }
        for (byte, digit) in address
            .iter_mut()
            .rev()
            .zip(number.to_le_bytes().into_iter().take(3))
        {
            *byte = digit;
        }
    }
}

/// Letters, digits, and everything that is not ASCII.
fn is_of_word(unit: u16) -> bool {
    u8::try_from(unit).map_or(true, |byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
}

fn lower(unit: u16) -> u16 {
    u8::try_from(unit).map_or(unit, |byte| byte.to_ascii_lowercase().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_length_and_paths_their_parts() {
        let mut names = Words::default();
        let path = names.text(r"C:\Users\Bob\Secret.exe");
        assert_eq!(path, r"a:\aaaaa\aaa\aaaaaa.exe");
        assert_eq!(
            names.text(r"c:\users\BOB\other.EXE -x 12"),
            r"a:\aaaaa\aaa\aaaab.EXE -b aa"
        );
        assert_eq!(names.text("aaaaa"), "aaaac");
        assert_eq!(names.text("Jürgen"), "aaaaab");
    }

    #[test]
    fn no_word_stands_for_itself() {
        let mut names = Words::default();
        for word in ["aaaa", "aaab", "z", "aaac"] {
            assert_ne!(names.text(word), word);
        }
    }

    #[test]
    fn what_stands_behind_a_nul_is_cleared() {
        let mut names = Words::default();
        let mut text = *b"ab\0secret";
        names.narrow(&mut text);
        assert_eq!(&text, b"aa\0\0\0\0\0\0\0");
    }

    #[test]
    fn users_and_addresses_are_numbered() {
        let mut names = Words::default();
        let numbers = [21u32, 111, 222, 333, 1001].map(u32::to_le_bytes).concat();
        let mut sid = [&[1, 5, 0, 0, 0, 0, 0, 5][..], &numbers].concat();
        names.sid(&mut sid);
        let read: Vec<u32> = sid[8..]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|n| u32::from_le_bytes(*n))
            .collect();
        assert_eq!(read, [21, 1000, 1001, 1002, 1003]);
        let mut addresses = [
            [192, 168, 0, 7],
            [127, 0, 0, 1],
            [192, 168, 0, 8],
            [192, 168, 0, 7],
            [0; 4],
        ];
        addresses
            .iter_mut()
            .for_each(|address| names.address(address));
        assert_eq!(
            addresses,
            [
                [10, 0, 0, 1],
                [127, 0, 0, 1],
                [10, 0, 0, 2],
                [10, 0, 0, 1],
                [0; 4]
            ]
        );
    }
}
