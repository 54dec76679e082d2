//! Characters of bytes in a code page of Windows.

/// The character of a byte in Windows-1252.
#[must_use]
pub fn of_windows_1252(byte: u8) -> char {
    /// The bytes 0x80 to 0x9F; the five that have no character stand for themselves.
    const MIDDLE: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    let middle = byte.checked_sub(0x80);
    let middle = middle.and_then(|at| MIDDLE.get(usize::from(at)));
    middle.copied().unwrap_or_else(|| char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_without_a_character_stand_for_themselves() {
        let read: String = b"a\x80\x81\x9F\xA0\xFC"
            .iter()
            .map(|byte| of_windows_1252(*byte))
            .collect();
        assert_eq!(read, "a€\u{81}Ÿ\u{a0}ü");
    }
}
