//! Text in bytes that nothing describes.
//!
//! A payload without a description is a sequence of bytes, but it may contain readable text such as
//! a path or a name. The detection of text is a guess that prefers to miss text: short runs of
//! bytes are printable by chance.

use etwkit_etl::bytes::tail;

/// Thresholds above which a run is not a coincidence.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// Minimum number of characters.
    min: usize,
    /// Letters, digits and blanks of a hundred characters.
    words_percent: usize,
}

/// A few characters are enough: a zero byte after each of them is rarely a coincidence.
const WIDE: Kind = Kind {
    min: 4,
    words_percent: 0,
};
/// A third of all byte values are printable; half of those are punctuation.
const ASCII: Kind = Kind {
    min: 6,
    words_percent: 60,
};
/// Letters among either: a row of digits or signs is more likely a number.
const MIN_LETTERS: usize = 3;
/// Texts of one payload.
const MAX_TEXTS: usize = 16;
/// Maximum characters of one text, and so, with [`MAX_TEXTS`], of all texts.
const MAX_CHARACTERS: usize = 256;

/// A text and its position.
#[derive(Debug)]
struct TextAt {
    start: usize,
    end: usize,
    text: String,
}

/// The texts in a payload in the order of their bytes: UTF-16 (little endian, at even and odd
/// offsets) and ASCII. At most 16 texts of at most 256 characters each. If bytes are valid as both,
/// UTF-16 wins.
#[must_use]
pub fn of(payload: &[u8]) -> Vec<String> {
    // A text can start at an even or an odd offset. If both readings find text in the same bytes,
    // the one that starts first gets them, so that nothing is shown twice.
    // Both offsets, since nothing tells where a text begins.
    let mut found = wide(payload, 0);
    found.extend(wide(payload, 1));
    found.sort_by_key(|found| found.start);
    let mut end = 0;
    found.retain(|found| {
        let is_free = found.start >= end;
        end = if is_free { found.end } else { end };
        is_free
    });
    // Only between known texts, because UTF-16 of Latin letters is also ASCII with zeros.
    found.extend(ascii(payload, &found));
    found.sort_by_key(|found| found.start);
    found
        .into_iter()
        .map(|found| found.text)
        .take(MAX_TEXTS)
        .collect()
}

/// Runs of UTF-16 in units that start at `offset`.
fn wide(payload: &[u8], offset: usize) -> Vec<TextAt> {
    let (units, _) = tail(payload, offset).as_chunks::<2>();
    // Two ASCII letters are also one UTF-16 letter. Several of these pairs are more likely an ASCII
    // text.
    let is_pair = |index: Option<usize>| {
        let unit = index.and_then(|index| units.get(index));
        unit.is_some_and(|unit| unit.iter().all(u8::is_ascii_alphanumeric))
    };
    let character = |(index, unit): (usize, &[u8; 2])| {
        let character = char::from_u32(u16::from_le_bytes(*unit).into())?;
        if character.is_ascii() {
            return Some(character).filter(|character| is_ascii_text(*character));
        }
        let is_ascii = is_pair(Some(index))
            && (is_pair(index.checked_sub(1)) || is_pair(index.checked_add(1)));
        (character.is_alphanumeric() && !is_ascii).then_some(character)
    };
    let characters = units.iter().enumerate().map(character);
    runs(characters, WIDE, |index| {
        offset.saturating_add(index.saturating_mul(2))
    })
}

/// Runs of ASCII between texts that are known.
fn ascii(payload: &[u8], known: &[TextAt]) -> Vec<TextAt> {
    let mut is_known = vec![false; payload.len()];
    for found in known {
        if let Some(inside) = is_known.get_mut(found.start..found.end) {
            inside.fill(true);
        }
    }
    let character = |(byte, is_known): (&u8, bool)| {
        Some(char::from(*byte)).filter(|character| !is_known && is_ascii_text(*character))
    };
    runs(
        payload.iter().zip(is_known).map(character),
        ASCII,
        |index| index,
    )
}

fn is_ascii_text(character: char) -> bool {
    character.is_ascii_graphic() || matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// The runs of characters that are texts. `offset` returns the byte position of a character.
fn runs(
    characters: impl Iterator<Item = Option<char>>,
    kind: Kind,
    offset: impl Fn(usize) -> usize,
) -> Vec<TextAt> {
    let mut found = Vec::new();
    let mut run = Run::default();
    let mut start = 0;
    // A last position without a character ends the last run.
    for (index, character) in characters.chain([None]).enumerate() {
        match character {
            Some(character) => run.add(character),
            None => {
                // Taken, so that the next run starts empty.
                if let Some(text) = std::mem::take(&mut run).text(kind) {
                    found.push(TextAt {
                        start: offset(start),
                        end: offset(index),
                        text,
                    });
                }
                start = index.saturating_add(1);
            }
        }
    }
    found
}

/// Consecutive characters.
#[derive(Debug, Default)]
struct Run {
    /// The first ones.
    text: String,
    kept: usize,
    length: usize,
    letters: usize,
    words: usize,
    ascii: usize,
}

impl Run {
    fn add(&mut self, character: char) {
        // All characters are counted, though only the first ones are kept: the decision about a
        // long run must not depend on its start.
        self.length += 1;
        self.letters += usize::from(character.is_alphabetic());
        self.words += usize::from(character.is_alphanumeric() || character == ' ');
        self.ascii += usize::from(character.is_ascii());
        if self.kept < MAX_CHARACTERS {
            self.text.push(character);
            self.kept += 1;
        }
    }

    /// The text, unless it may be a coincidence. Any two bytes are likely to be some UTF-16 letter,
    /// so half of the characters have to be ASCII.
    fn text(self, Kind { min, words_percent }: Kind) -> Option<String> {
        let is_text = self.length >= min
            && self.letters >= MIN_LETTERS
            && 100 * self.words >= words_percent * self.length
            // Half of the characters of a Latin text are ASCII, and random pairs rarely are.
            && 2 * self.ascii >= self.length;
        let text = self.text.trim();
        (is_text && text.chars().count() >= min).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[track_caller]
    fn check(payload: &[&[u8]], expected: &[&str]) {
        assert_eq!(of(&payload.concat()), expected);
    }

    #[test]
    fn text_of_both_widths_is_found_between_numbers() {
        check(
            &[&[7, 0, 0, 0], &utf16("C:\\Übung\\a.txt"), &[0, 0, 0xFF]],
            &["C:\\Übung\\a.txt"],
        );
        let both = [
            &[1][..],
            &utf16("odd offset"),
            &[0, 0],
            b"GET /index\0",
            &[0xFE],
        ];
        check(&both, &["odd offset", "GET /index"]);
        check(
            &[&utf16("first"), &[0, 0], &utf16("second"), &[0, 0]],
            &["first", "second"],
        );
        check(&[b"two lines\r\nof it\0"], &["two lines\r\nof it"]);
        check(&[&utf16("D:\\用户\\名"), &[0, 0]], &["D:\\用户\\名"]);
        check(&[&utf16("wide"), b"narrow\0\0"], &["wide", "narrow"]);
        check(&[b"narrow", &utf16("wide")], &["narrow", "wide"]);
    }

    #[test]
    fn what_is_printable_by_chance_is_no_text() {
        check(&[b"abcde\0"], &[]);
        check(&[&utf16("abc"), &[0, 0]], &[]);
        check(
            &[b"1234567890\0", b"      \0", &utf16("12.5"), &[0, 0]],
            &[],
        );
        // Most pairs of bytes are letters of other scripts.
        check(&[&utf16("中文字符用户名称")], &[]);
        check(&[&[0x41; 3]], &[]);
        check(&[], &[]);
    }

    #[test]
    fn long_and_many_texts_are_cut() {
        let long = "abcdefgh".repeat(100);
        assert_eq!(of(long.as_bytes()), [long[..MAX_CHARACTERS].to_owned()]);
        let many = b"a name\0".repeat(100);
        assert_eq!(of(&many).len(), MAX_TEXTS);
        // All bytes of the largest payload are scanned once for each kind of text.
        assert_eq!(of(&vec![b'x'; 0xFFFF]).len(), 1);
    }
}
