//! A pull reader for JSON: the caller names the value that it expects next, and only this value is
//! kept in memory.
//!
//! A value of another type than the caller expects is an error with the path of the member, line
//! and column. Members that the caller does not know are skipped and counted.

mod values;

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use crate::json7z::error::{END, Failure, JsonError, Result, Unexpected};

/// Bytes per read.
const CHUNK: usize = 1 << 16;
/// Maximum number of distinct members that are reported by name.
const MAX_NAMED: usize = 100;
/// Nesting of a value that is skipped. ETWAnalyzer nests a dozen levels.
const MAX_DEPTH: usize = 1000;
/// Characters of a text or path that a message shows.
const SHOWN: usize = 80;

/// A step of a path.
#[derive(Debug)]
enum Step {
    Member(Rc<str>),
    Item(u64),
}

/// Reads one JSON file from its start to its end.
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
    without_value: BTreeMap<String, i64>,
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
            without_value: BTreeMap::new(),
        };
        // The UTF-8 byte order mark that some editors write.
        if reader.peek()? == Some(0xEF) {
            for _ in 0..3 {
                reader.next()?;
            }
        }
        Ok(reader)
    }

    /// Members that no section knows, by path, with the number of occurrences.
    pub(crate) fn into_unknown(self) -> BTreeMap<String, i64> {
        self.unknown
    }

    /// Members that should have a value and have none, by path, with the number of occurrences. They
    /// are forgotten here.
    pub(crate) fn take_without_value(&mut self) -> BTreeMap<String, i64> {
        std::mem::take(&mut self.without_value)
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
                    Err(source) => {
                        return Err(JsonError::Read {
                            name: self.name.clone(),
                            source,
                        }
                        .into());
                    }
                }
            }
        }
        Ok(self
            .buffer
            .get(self.at)
            .copied()
            .filter(|_| self.at < self.filled))
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

    /// Peeks at the next byte that is not white space.
    fn significant(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => _ = self.next()?,
                byte => return Ok(byte),
            }
        }
    }

    /// Takes the next byte that is not white space, if it is `wanted`.
    fn takes(&mut self, wanted: u8) -> Result<bool> {
        let is_there = self.significant()? == Some(wanted);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    // Errors.

    /// An error at the position of the reader, with the expected and the actual content.
    pub(crate) fn unexpected(
        &self,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Failure {
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

    /// An error about the next value.
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

    /// Takes the value if it is null, and returns true in that case.
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

    /// Reads an object; `each` takes the value of each member. Returns whether there was one: null
    /// is none.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<bool> {
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
            // The name is shared with the path, which messages show.
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
    pub(crate) fn all<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.list(|reader| {
            all.extend(one(reader)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        // A list of open brackets in place of recursion: a file with very many brackets must not
        // exhaust the stack of the program.
        let mut open = Vec::new();
        loop {
            match self.significant()? {
                Some(bracket @ (b'{' | b'[')) => {
                    if open.len() == MAX_DEPTH {
                        return Err(
                            self.unexpected(format!("at most {MAX_DEPTH} levels"), "one more")
                        );
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
            // After a value: either the next value, or the end of the enclosing list or object.
            loop {
                let Some(bracket) = open.last() else {
                    return Ok(());
                };
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

    /// Skips a value. Returns its number of items or members; 1 for any other value but null.
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

    /// Skips the name of the next member in an object that is skipped.
    fn name_in(&mut self, open: &[u8]) -> Result<()> {
        if open.last() != Some(&b'{') {
            return Ok(());
        }
        if self.significant()? != Some(b'"') {
            return Err(self.wrong("the name of a member"));
        }
        self.quoted()?;
        if self.takes(b':')? {
            Ok(())
        } else {
            Err(self.wrong("':'"))
        }
    }

    /// Skips the value of a member that the caller does not know, and counts it.
    pub(crate) fn unknown(&mut self) -> Result<()> {
        let path = self.path_of_kind();
        count(&mut self.unknown, path);
        self.skip()
    }

    /// Reads a value that ETWAnalyzer never writes as null. Null is 0 or an empty text, as
    /// ETWAnalyzer reads it, and the member is counted.
    pub(crate) fn given<T: Default>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<T>>,
    ) -> Result<T> {
        if let Some(value) = read(self)? {
            return Ok(value);
        }
        let path = self.path_of_kind();
        count(&mut self.without_value, path);
        Ok(T::default())
    }

    /// The path without the numbers of items.
    fn path_of_kind(&self) -> String {
        let steps = self.path.iter().enumerate().map(|(at, step)| match step {
            Step::Item(_) => "[]".to_owned(),
            Step::Member(name) if at == 0 => shortened(name),
            Step::Member(name) => format!(".{}", shortened(name)),
        });
        steps.collect()
    }

    /// Checks that nothing but blanks is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.significant()? {
            // Some programs end files with a zero byte.
            None | Some(0) => Ok(()),
            byte => Err(self.unexpected(END, found(byte))),
        }
    }
}

/// Counts a member. Names of members may be keys, and a hostile file can have any number of them:
/// those above the limit are counted together.
fn count(counts: &mut BTreeMap<String, i64>, mut path: String) {
    if counts.len() >= MAX_NAMED && !counts.contains_key(&path) {
        path = "…".to_owned();
    }
    *counts.entry(path).or_default() += 1;
}

/// The kind of a value, by its first byte.
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
    let end = text.char_indices().nth(SHOWN);
    match end.and_then(|(end, _)| text.get(..end)) {
        None => text.to_owned(),
        Some(shown) => format!("{shown}…"),
    }
}

#[cfg(test)]
mod tests;
