//! Values of members: texts, numbers, flags.

use super::{Reader, SHOWN, found, shortened};
use crate::json7z::error::{END, Result};

/// Maximum bytes of a text. The longest ones are stacks and messages of some KiB; an archive of a
/// few bytes can unpack to gigabytes.
const MAX_TEXT: usize = 16 << 20;

impl Reader {
    /// A text.
    pub(crate) fn text(&mut self) -> Result<Option<String>> {
        if self.is_null()? {
            return Ok(None);
        }
        if self.significant()? != Some(b'"') {
            return Err(self.wrong("a text"));
        }
        self.quoted().map(Some)
    }

    /// A text of the form that is expected; null is an error.
    pub(crate) fn text_of(&mut self, expected: &str) -> Result<String> {
        match self.text()? {
            Some(text) => Ok(text),
            None => Err(self.unexpected(expected, "null")),
        }
    }

    /// A text that is not empty.
    pub(crate) fn filled_text(&mut self) -> Result<Option<String>> {
        Ok(self.text()?.filter(|text| !text.is_empty()))
    }

    /// A list of texts that other members refer to by number. Null becomes an empty text, so that
    /// the numbers of the others stay right.
    pub(crate) fn texts(&mut self) -> Result<Vec<String>> {
        self.all(|reader| Ok(Some(reader.text()?.unwrap_or_default())))
    }

    /// A whole number, clamped to 64 bits.
    pub(crate) fn int(&mut self) -> Result<Option<i64>> {
        Ok(self
            .number("a whole number", whole)?
            .map(|number| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
    }

    /// A whole number, clamped to 32 bits.
    pub(crate) fn int32(&mut self) -> Result<Option<i32>> {
        Ok(self
            .int()?
            .map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32))
    }

    /// A whole number of 64 bits as bit pattern: addresses are written unsigned.
    pub(crate) fn bits(&mut self) -> Result<Option<i64>> {
        // Numbers with and without a sign are both taken: the bits are the same.
        let of = |text: &str| {
            whole(text).filter(|number| (i64::MIN.into()..=u64::MAX.into()).contains(number))
        };
        Ok(self
            .number("a whole number of 64 bits", of)?
            .map(|number| number as i64))
    }

    /// A number; not a number (`"NaN"`) counts as missing.
    pub(crate) fn float(&mut self) -> Result<Option<f64>> {
        if self.significant()? == Some(b'"') {
            let text = self.quoted()?;
            return match text.as_str() {
                // .NET writes numbers that JSON does not have as texts.
                "NaN" | "Infinity" | "-Infinity" => Ok(None),
                _ => Err(self.unexpected("a number", format!("the text {:?}", shortened(&text)))),
            };
        }
        self.number("a number", |text| {
            text.parse().ok().filter(|number: &f64| number.is_finite())
        })
    }

    fn number<T>(
        &mut self,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        if self.is_null()? {
            return Ok(None);
        }
        if !matches!(self.significant()?, Some(b'-' | b'0'..=b'9')) {
            return Err(self.wrong(expected));
        }
        let mut text = String::new();
        while let Some(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = self.peek()? {
            // No meaningful number is that long.
            if text.len() < SHOWN {
                text.push(char::from(byte));
            }
            self.next()?;
        }
        match parse(&text) {
            Some(number) => Ok(Some(number)),
            None => Err(self.unexpected(expected, format!("the number {text}"))),
        }
    }

    /// True or false.
    pub(crate) fn flag(&mut self) -> Result<Option<bool>> {
        match self.significant()? {
            Some(b't') => self.word("true").map(|()| Some(true)),
            Some(b'f') => self.word("false").map(|()| Some(false)),
            Some(b'n') => self.word("null").map(|()| None),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// True if the next value is a text. The value is not taken.
    pub(crate) fn is_text(&mut self) -> Result<bool> {
        Ok(self.significant()? == Some(b'"'))
    }

    /// A text, number or flag as text; null and empty texts are missing, lists and objects are
    /// skipped.
    pub(crate) fn simple(&mut self) -> Result<Option<String>> {
        match self.significant()? {
            Some(b'"' | b'n') => self.filled_text(),
            Some(b't' | b'f') => Ok(self.flag()?.map(|flag| flag.to_string())),
            Some(b'{' | b'[') => self.skip().map(|()| None),
            _ => self.number("a number", plain),
        }
    }

    /// Reads a text whose quote is next.
    pub(crate) fn quoted(&mut self) -> Result<String> {
        self.next()?;
        let mut bytes = Vec::new();
        loop {
            self.peek()?;
            // Everything up to the next significant byte is taken at once, without checking each
            // byte.
            let plain = self.plain_bytes();
            bytes.extend_from_slice(plain);
            let taken = plain.len();
            self.at += taken;
            if bytes.len() > MAX_TEXT {
                return Err(self.unexpected(
                    format!("a text of {MAX_TEXT} bytes at most"),
                    "a longer one",
                ));
            }
            // This is the end of the buffer, not the end of the text; reading fills the buffer
            // again.
            if self.at == self.filled && taken > 0 {
                continue;
            }
            match self.next()? {
                Some(b'"') => break,
                Some(b'\\') => self.escaped(&mut bytes)?,
                // JSON does not allow unescaped line ends and tabs in a text, but other readers
                // accept them.
                Some(byte) => bytes.push(byte),
                None => return Err(self.unexpected("the end of a text", END)),
            }
        }
        String::from_utf8(bytes).map_err(|_| self.unexpected("a text in UTF-8", "other bytes"))
    }

    /// The bytes in the buffer before the next significant one of a text; none at its end.
    fn plain_bytes(&self) -> &[u8] {
        let is_significant = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let rest = self.buffer.get(self.at..self.filled);
        rest.and_then(|rest| rest.split(is_significant).next())
            .unwrap_or_default()
    }

    fn escaped(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let plain = match self.next()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.unicode(bytes),
            other => return Err(self.unexpected("a letter after \\", found(other))),
        };
        bytes.push(plain);
        Ok(())
    }

    /// One or two units of UTF-16; halves of pairs become U+FFFD.
    fn unicode(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let mut unit = self.hex()?;
        loop {
            let is_high = (0xD800..0xDC00).contains(&unit);
            if !is_high || self.peek()? != Some(b'\\') {
                // Half of a surrogate pair is not a character. It is replaced, so that the rest of
                // the text can still be read.
                push(bytes, char::from_u32(unit));
                return Ok(());
            }
            self.next()?;
            if self.peek()? != Some(b'u') {
                push(bytes, None);
                return self.escaped(bytes);
            }
            self.next()?;
            let low = self.hex()?;
            if (0xDC00..0xE000).contains(&low) {
                push(
                    bytes,
                    char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)),
                );
                return Ok(());
            }
            push(bytes, None);
            unit = low;
        }
    }

    fn hex(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.peek()?;
            match byte.and_then(|byte| char::from(byte).to_digit(16)) {
                Some(digit) => unit = unit << 4 | digit,
                None => return Err(self.unexpected("four hexadecimal digits", found(byte))),
            }
            self.next()?;
        }
        Ok(unit)
    }
}

/// A whole number, possibly written with a fraction of 0 or an exponent.
fn whole(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0 && number.abs() < 2f64.powi(64)).then_some(number as i128)
    })
}

/// A number as text. Whole numbers keep all their digits; a float has only 15.
fn plain(text: &str) -> Option<String> {
    let float = || text.parse().ok().filter(|number: &f64| number.is_finite());
    whole(text)
        .map(|number| number.to_string())
        .or_else(|| float().map(|number| number.to_string()))
}

fn push(bytes: &mut Vec<u8>, character: Option<char>) {
    let mut buffer = [0; 4];
    bytes.extend_from_slice(
        character
            .unwrap_or('\u{FFFD}')
            .encode_utf8(&mut buffer)
            .as_bytes(),
    );
}
