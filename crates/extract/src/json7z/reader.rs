//! JSON, read piece by piece: the caller says what it expects next, and only that is kept in memory.
//!
//! Who reads a value of another type than there is gets an error with the path of the member, line and column. Members that the caller
//! does not know are passed over and counted.

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use super::error::{END, Failure, JsonError, Result, Unexpected};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Distinct unknown members that are told by name.
const MAX_UNKNOWN: usize = 100;
/// Nesting of a value that is passed over. ETWAnalyzer nests a dozen levels.
const MAX_DEPTH: usize = 1000;
/// Characters of a text or path that a message shows.
const SHOWN: usize = 80;

/// A step of a path.
#[derive(Debug)]
enum Step {
    Member(Rc<str>),
    Item(u64),
}

/// Reads one JSON file from its begin to its end.
pub(crate) struct Reader {
    source: Box<dyn Read>,
    name: String,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset of the buffer in the file.
    base: u64,
    line: u64,
    line_start: u64,
    path: Vec<Step>,
    unknown: BTreeMap<String, i64>,
}

impl Reader {
    /// Reads from `source`; messages call it `name`.
    pub(crate) fn new(name: &str, source: Box<dyn Read>) -> Result<Self> {
        let mut reader = Self {
            source,
            name: name.to_owned(),
            buffer: vec![0; CHUNK],
            at: 0,
            filled: 0,
            base: 0,
            line: 1,
            line_start: 0,
            path: Vec::new(),
            unknown: BTreeMap::new(),
        };
        // The mark of UTF-8 that some editors put in front.
        if reader.peek()? == Some(0xEF) {
            for _ in 0..3 {
                reader.next()?;
            }
        }
        Ok(reader)
    }

    /// Members that nobody knew, by path, with how often each was met.
    pub(crate) fn into_unknown(self) -> BTreeMap<String, i64> {
        self.unknown
    }

    // Bytes.

    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.filled {
            self.base += self.filled as u64;
            (self.at, self.filled) = (0, 0);
            loop {
                match self.source.read(&mut self.buffer) {
                    Ok(read) => {
                        self.filled = read;
                        break;
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(source) => return Err(JsonError::Read { name: self.name.clone(), source }.into()),
                }
            }
        }
        Ok(self.buffer.get(self.at).copied().filter(|_| self.at < self.filled))
    }

    fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.at += 1;
            if byte == Some(b'\n') {
                self.line += 1;
                self.line_start = self.offset();
            }
        }
        Ok(byte)
    }

    const fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The next byte that is no blank, which stays there.
    fn significant(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => _ = self.next()?,
                byte => return Ok(byte),
            }
        }
    }

    /// Takes the next byte that is no blank, if it is that one.
    fn takes(&mut self, wanted: u8) -> Result<bool> {
        let is_there = self.significant()? == Some(wanted);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    // Errors.

    /// Where the reader is, with what should be there.
    pub(crate) fn unexpected(&self, expected: impl Into<String>, found: impl Into<String>) -> Failure {
        let at = Unexpected {
            name: self.name.clone(),
            path: self.path_text(),
            line: self.line,
            column: (self.offset() + 1).saturating_sub(self.line_start),
            expected: expected.into(),
            found: found.into(),
        };
        JsonError::Unexpected(Box::new(at)).into()
    }

    /// An error about the value in front of the reader.
    fn wrong(&mut self, expected: &str) -> Failure {
        match self.significant() {
            Ok(byte) => self.unexpected(expected, found(byte)),
            Err(error) => error,
        }
    }

    fn path_text(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                Step::Item(item) => text += &format!("[{item}]"),
                Step::Member(name) if text.is_empty() => text += &shortened(name),
                Step::Member(name) => {
                    text.push('.');
                    text += &shortened(name);
                }
            }
        }
        text
    }

    // Values.

    /// Whether the value is null; it is taken then.
    pub(crate) fn is_null(&mut self) -> Result<bool> {
        if self.significant()? != Some(b'n') {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    fn word(&mut self, word: &str) -> Result<()> {
        for wanted in word.bytes() {
            if self.peek()? != Some(wanted) {
                return Err(self.wrong(word));
            }
            self.next()?;
        }
        Ok(())
    }

    /// Reads an object; `each` takes the value of each member. Returns whether there was one: null is none.
    pub(crate) fn object(&mut self, mut each: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<bool> {
        if self.is_null()? {
            return Ok(false);
        }
        if !self.takes(b'{')? {
            return Err(self.wrong("an object"));
        }
        if self.takes(b'}')? {
            return Ok(true);
        }
        loop {
            if self.significant()? != Some(b'"') {
                return Err(self.wrong("the name of a member"));
            }
            let name: Rc<str> = self.quoted()?.into();
            if !self.takes(b':')? {
                return Err(self.wrong("':'"));
            }
            self.path.push(Step::Member(Rc::clone(&name)));
            each(self, &name)?;
            self.path.pop();
            if self.takes(b'}')? {
                return Ok(true);
            }
            if !self.takes(b',')? {
                return Err(self.wrong("',' or '}'"));
            }
        }
    }

    /// Reads a list; `each` takes each item. Returns whether there was one: null is none.
    pub(crate) fn list(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<bool> {
        if self.is_null()? {
            return Ok(false);
        }
        if !self.takes(b'[')? {
            return Err(self.wrong("a list"));
        }
        if self.takes(b']')? {
            return Ok(true);
        }
        for item in 0.. {
            self.path.push(Step::Item(item));
            each(self)?;
            self.path.pop();
            if self.takes(b']')? {
                break;
            }
            if !self.takes(b',')? {
                return Err(self.wrong("',' or ']'"));
            }
        }
        Ok(true)
    }

    /// A list of values of one kind; null is an empty one.
    pub(crate) fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<Option<T>>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.list(|reader| {
            all.extend(one(reader)?);
            Ok(())
        })?;
        Ok(all)
    }

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

    /// A text that is not empty.
    pub(crate) fn filled_text(&mut self) -> Result<Option<String>> {
        Ok(self.text()?.filter(|text| !text.is_empty()))
    }

    /// A whole number. What does not fit is as large as can be.
    pub(crate) fn int(&mut self) -> Result<Option<i64>> {
        Ok(self
            .number("a whole number", whole)?
            .map(|number| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
    }

    /// The same of 32 bits.
    pub(crate) fn int32(&mut self) -> Result<Option<i32>> {
        Ok(self.int()?.map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32))
    }

    /// A whole number of 64 bits as bit pattern: addresses are written without a sign.
    pub(crate) fn bits(&mut self) -> Result<Option<i64>> {
        let of =
            |text: &str| whole(text).filter(|number| (i64::MIN.into()..=u64::MAX.into()).contains(number));
        Ok(self.number("a whole number of 64 bits", of)?.map(|number| number as i64))
    }

    /// A number; not a number (`"NaN"`) counts as missing.
    pub(crate) fn float(&mut self) -> Result<Option<f64>> {
        if self.significant()? == Some(b'"') {
            let text = self.quoted()?;
            return match text.as_str() {
                "NaN" | "Infinity" | "-Infinity" => Ok(None),
                _ => Err(self.unexpected("a number", format!("the text {:?}", shortened(&text)))),
            };
        }
        self.number("a number", |text| text.parse().ok().filter(|number: &f64| number.is_finite()))
    }

    fn number<T>(&mut self, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        if self.is_null()? {
            return Ok(None);
        }
        if !matches!(self.significant()?, Some(b'-' | b'0'..=b'9')) {
            return Err(self.wrong(expected));
        }
        let mut text = String::new();
        while let Some(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = self.peek()? {
            // No number that means anything is that long.
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

    /// Whether the value is a text; it stays there.
    pub(crate) fn is_text(&mut self) -> Result<bool> {
        Ok(self.significant()? == Some(b'"'))
    }

    /// A text, number or flag as text; null and empty texts are missing, lists and objects are passed over.
    pub(crate) fn simple(&mut self) -> Result<Option<String>> {
        match self.significant()? {
            Some(b'"' | b'n') => self.filled_text(),
            Some(b't' | b'f') => Ok(self.flag()?.map(|flag| flag.to_string())),
            Some(b'{' | b'[') => self.skip().map(|()| None),
            _ => Ok(self.float()?.map(|number| number.to_string())),
        }
    }

    /// Reads a text whose quote is next.
    fn quoted(&mut self) -> Result<String> {
        self.next()?;
        let mut bytes = Vec::new();
        loop {
            self.peek()?;
            let rest = self.buffer.get(self.at..self.filled).unwrap_or_default();
            let plain =
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            bytes.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            if self.at == self.filled && plain > 0 {
                continue;
            }
            match self.next()? {
                Some(b'"') => break,
                Some(b'\\') => self.escaped(&mut bytes)?,
                // Line ends and tabs as they are: other readers take them, too.
                Some(byte) => bytes.push(byte),
                None => return Err(self.unexpected("the end of a text", END)),
            }
        }
        String::from_utf8(bytes).map_err(|_| self.unexpected("a text in UTF-8", "other bytes"))
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
            other => return Err(self.unexpected("a letter behind \\", found(other))),
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
                push(bytes, char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)));
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

    /// Passes over a value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let mut open = Vec::new();
        loop {
            match self.significant()? {
                Some(bracket @ (b'{' | b'[')) => {
                    if open.len() == MAX_DEPTH {
                        return Err(self.unexpected(format!("at most {MAX_DEPTH} levels"), "one more"));
                    }
                    self.next()?;
                    open.push(bracket);
                    let end = if bracket == b'{' { b'}' } else { b']' };
                    if !self.takes(end)? {
                        self.name_in(&open)?;
                        continue;
                    }
                    open.pop();
                }
                Some(b'"') => _ = self.quoted()?,
                Some(b't' | b'f' | b'n') => _ = self.flag()?,
                _ => _ = self.float()?,
            }
            // Behind a value: the next one, or the end of what it lies in.
            loop {
                let Some(bracket) = open.last() else { return Ok(()) };
                let end = if *bracket == b'{' { b'}' } else { b']' };
                if self.takes(end)? {
                    open.pop();
                } else if self.takes(b',')? {
                    self.name_in(&open)?;
                    break;
                } else {
                    return Err(self.wrong("',' or the end of a list or object"));
                }
            }
        }
    }

    /// Passes over a value. Returns how many items or members it had; 1 for anything else but null.
    pub(crate) fn skip_counted(&mut self) -> Result<usize> {
        let mut count = 0;
        let mut each = |reader: &mut Self| {
            count += 1;
            reader.skip()
        };
        match self.significant()? {
            Some(b'[') => _ = self.list(each)?,
            Some(b'{') => _ = self.object(|reader, _| each(reader))?,
            Some(b'n') => self.skip()?,
            _ => each(self)?,
        }
        Ok(count)
    }

    /// In an object that is passed over, the name of the next member.
    fn name_in(&mut self, open: &[u8]) -> Result<()> {
        if open.last() != Some(&b'{') {
            return Ok(());
        }
        if self.significant()? != Some(b'"') {
            return Err(self.wrong("the name of a member"));
        }
        self.quoted()?;
        if self.takes(b':')? { Ok(()) } else { Err(self.wrong("':'")) }
    }

    /// Passes over the value of a member that the caller does not know, and counts it.
    pub(crate) fn unknown(&mut self) -> Result<()> {
        let steps = self.path.iter().enumerate().map(|(at, step)| match step {
            Step::Item(_) => "[]".to_owned(),
            Step::Member(name) if at == 0 => shortened(name),
            Step::Member(name) => format!(".{}", shortened(name)),
        });
        let mut path: String = steps.collect();
        if self.unknown.len() >= MAX_UNKNOWN && !self.unknown.contains_key(&path) {
            path = "…".to_owned();
        }
        *self.unknown.entry(path).or_default() += 1;
        self.skip()
    }

    /// Nothing but blanks is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.significant()? {
            // Editors of other systems end files so.
            None | Some(0) => Ok(()),
            byte => Err(self.unexpected(END, found(byte))),
        }
    }
}

/// A whole number, also one that is written with a fraction of 0 or an exponent.
fn whole(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0 && number.abs() < 2f64.powi(64)).then_some(number as i128)
    })
}

fn push(bytes: &mut Vec<u8>, character: Option<char>) {
    let mut buffer = [0; 4];
    bytes.extend_from_slice(character.unwrap_or('\u{FFFD}').encode_utf8(&mut buffer).as_bytes());
}

/// What a value is, by its first byte.
fn found(byte: Option<u8>) -> String {
    match byte {
        None => END.to_owned(),
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "a list".to_owned(),
        Some(b'"') => "a text".to_owned(),
        Some(b'-' | b'0'..=b'9') => "a number".to_owned(),
        Some(b't' | b'f') => "true or false".to_owned(),
        Some(b'n') => "null".to_owned(),
        Some(byte) => format!("{:?}", char::from(byte)),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> Reader {
        Reader::new("x.json", Box::new(std::io::Cursor::new(text.as_bytes().to_vec()))).unwrap()
    }

    fn text(json: &str) -> String {
        reader(json).text().unwrap().unwrap()
    }

    #[test]
    fn texts_have_all_escapes() {
        for (json, expected) in [
            (r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
            (r#""\u00e4\u20AC""#, "ä€"),
            (r#""\ud83d\ude00!""#, "😀!"),
            (r#""\ud83d!""#, "\u{FFFD}!"),
            (r#""\ud83d\n""#, "\u{FFFD}\n"),
            (r#""\ud83d\u0041""#, "\u{FFFD}A"),
            (r#""\ude00""#, "\u{FFFD}"),
            ("\u{FEFF}\"ä\"", "ä"),
        ] {
            assert_eq!(text(json), expected, "{json}");
        }
    }

    #[test]
    fn texts_longer_than_the_buffer_are_whole() {
        for length in [CHUNK - 2, CHUNK - 1, CHUNK, 3 * CHUNK] {
            let long = "x".repeat(length);
            assert_eq!(text(&format!("\"{long}\\n{long}\"")), format!("{long}\n{long}"));
        }
    }

    #[test]
    fn numbers_have_their_types() {
        assert_eq!(reader("-12 ").int().unwrap(), Some(-12));
        assert_eq!(reader("3.0").int().unwrap(), Some(3));
        assert_eq!(reader("1E+3").int().unwrap(), Some(1000));
        assert_eq!(
            reader("18446677618096345104").bits().unwrap(),
            Some(18_446_677_618_096_345_104u64 as i64)
        );
        assert_eq!(reader("18446677618096345104").int().unwrap(), Some(i64::MAX));
        assert_eq!(reader("1.5E-05").float().unwrap(), Some(1.5e-5));
        assert_eq!((reader("null").int().unwrap(), reader("\"NaN\"").float().unwrap()), (None, None));
        for (json, what) in [("1.5", "the number 1.5"), ("\"1\"", "a text"), ("--", "the number --")] {
            let error = reader(json).int().unwrap_err().to_string();
            assert!(error.ends_with(&format!("expected a whole number, found {what}")), "{error}");
        }
    }

    #[test]
    fn an_error_names_the_member_and_its_place() {
        let mut reader = reader("{\n  \"CPU\": {\"Costs\": [1, 2,\n 3, \"x\"]}}");
        let read = reader.object(|reader, _| {
            reader.object(|reader, _| reader.list(|reader| reader.int().map(|_| ())).map(|_| ())).map(|_| ())
        });
        assert_eq!(
            read.unwrap_err().to_string(),
            "x.json: CPU.Costs[3] (line 3, column 5): expected a whole number, found a text"
        );
    }

    #[test]
    fn unknown_members_are_passed_over_and_counted() {
        let json =
            r#"{"list": [{"a": 1, "b": {"c": [[], {}, null, "\"]}", -1.5e3, true]}}, {"b": 2}], "z": [] }"#;
        let mut reader = reader(json);
        let mut sum = 0;
        reader
            .object(|reader, name| match name {
                "list" => reader
                    .list(|reader| {
                        let each = |reader: &mut Reader, name: &str| match name {
                            "a" => {
                                sum += reader.int()?.unwrap_or(0);
                                Ok(())
                            }
                            _ => reader.unknown(),
                        };
                        reader.object(each).map(|_| ())
                    })
                    .map(|_| ()),
                _ => reader.unknown(),
            })
            .unwrap();
        reader.end().unwrap();
        assert_eq!(sum, 1);
        assert_eq!(
            reader.into_unknown().into_iter().collect::<Vec<_>>(),
            [("list[].b".to_owned(), 2), ("z".to_owned(), 1)]
        );
    }

    #[test]
    fn broken_values_are_errors_and_do_not_hang() {
        for json in [
            "",
            "{",
            "[",
            "[1",
            "[1,",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{1:2}",
            "[1 2]",
            "\"abc",
            "\"\\x\"",
            "\"\\u12\"",
            "nul",
            "tru",
            "{\"a\":[}",
            "[1}",
            "\"\\ud83d",
            "+1",
            "}",
        ] {
            let error = reader(json).skip().unwrap_err();
            assert!(matches!(&error, Failure::Json(error) if error.hint().is_some()), "{json:?}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(reader(&deep).skip().unwrap_err().to_string().contains("1000 levels"));
        let mut invalid = Reader::new("x", Box::new(std::io::Cursor::new(b"\"\xFF\"".to_vec()))).unwrap();
        assert!(invalid.skip().unwrap_err().to_string().contains("UTF-8"));
    }
}
