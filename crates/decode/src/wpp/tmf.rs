//! Trace message format files.
//!
//! ```text
//! 9b93a332-c452-3e71-64f7-55130c7de2e4 component // SRC=Queue.c MJ= MN=
//! #typev Queue_c36 10 "%0item %10!d! is %11!s!" //   LEVEL=ERROR FLAGS=IO FUNC=Main
//! {
//! item->Id, ItemLong -- 10
//! item->State, ItemEnum(_STATE) -- 11
//! }
//! #enumv _STATE
//! {
//! Idle,0x0
//! Active,0x1
//! }
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_etl::Guid;

use super::{Message, Text, item};
use crate::bounds::{Budget, MAX_FIELDS};
use crate::describe::Wrong;
use crate::message::{self, Dialect, Template};
use crate::schema::{Field, Schema, Source, Type, ValueMap};

/// A description of the file format, for errors.
const HINT: &str = "`tracepdb -f PROGRAM.pdb` makes these files: a line with a GUID and `// SRC=`, then `#typev` lines";

/// Memory cost of an enumeration entry in addition to its name.
const ENTRY_COST: usize = 40;

/// Reads a file: all its messages.
///
/// # Errors
/// [`Wrong`] with the invalid line. `budget` limits the memory for messages.
pub fn read(text: &str, budget: &mut Budget) -> Result<Vec<Message>, Wrong> {
    let mut reader = Reader {
        lines: Lines::new(text),
        provider: None,
        raw: Vec::new(),
        enums: HashMap::new(),
    };
    reader.read(budget)?;
    // Enumerations may follow the messages that use them.
    let enums = |name: &str, flags: bool| {
        let [values, bits] = reader.enums.get(name)?;
        Some(Arc::clone(if flags { bits } else { values }))
    };
    let mut messages = Vec::new();
    for raw in &reader.raw {
        budget
            .take(raw.cost())
            .ok_or_else(|| raw.wrong("messages within the memory limit", "too many"))?;
        messages.push(raw.message(&enums));
    }
    if messages.is_empty() {
        return Err(Wrong::at(
            1,
            "a `#typev` line",
            "none in the whole file",
            HINT,
        ));
    }
    Ok(messages)
}

/// Lines with their numbers, without blanks at both ends.
struct Lines<'t> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'t>>>,
    number: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            lines: text.lines().enumerate().peekable(),
            number: 0,
        }
    }

    fn next(&mut self) -> Option<&'t str> {
        let (index, line) = self.lines.next()?;
        self.number = index + 1;
        Some(line.trim())
    }

    fn next_is(&mut self, start: &str) -> bool {
        self.lines
            .peek()
            .is_some_and(|(_, line)| line.trim().starts_with(start))
    }

    fn wrong(&self, expected: &str, found: &str) -> Wrong {
        Wrong::at(self.number.max(1), expected, found, HINT)
    }
}

/// The line that names a source file.
#[derive(Debug, Clone)]
struct Provider {
    guid: Guid,
    component: Arc<str>,
    source: Arc<str>,
}

/// A message whose enumerations are not resolved yet.
#[derive(Debug)]
struct Raw<'t> {
    provider: Provider,
    line: usize,
    tag: &'t str,
    number: u16,
    format: &'t str,
    comment: &'t str,
    /// Expression, type, number.
    arguments: Vec<(&'t str, &'t str, u16)>,
}

struct Reader<'t> {
    lines: Lines<'t>,
    provider: Option<Provider>,
    raw: Vec<Raw<'t>>,
    /// Names of values, and the same names for bits: only a message determines which of the two
    /// applies.
    enums: HashMap<&'t str, [Arc<ValueMap>; 2]>,
}

impl<'t> Reader<'t> {
    fn read(&mut self, budget: &mut Budget) -> Result<(), Wrong> {
        while let Some(line) = self.lines.next() {
            if line.is_empty() || line.starts_with("//") {
                continue;
            }
            if let Some(rest) = line
                .strip_prefix("#typev ")
                .or_else(|| line.strip_prefix("#type "))
            {
                let raw = self.message(rest)?;
                self.raw.push(raw);
            } else if let Some(rest) = line.strip_prefix("#enumv ") {
                self.enumeration(rest, budget)?;
            } else if line.starts_with('#') {
                let found = line.split_whitespace().next().unwrap_or(line);
                return Err(self.lines.wrong("`#typev` or `#enumv`", found));
            } else {
                self.provider = Some(self.provider(line)?);
            }
        }
        Ok(())
    }

    fn provider(&self, line: &str) -> Result<Provider, Wrong> {
        let (head, comment) = line.split_once("//").unwrap_or((line, ""));
        let mut words = head.split_whitespace();
        let guid = words.next().unwrap_or(head);
        let Ok(guid) = guid.parse() else {
            return Err(self.lines.wrong("a GUID, or `#typev`", guid));
        };
        // Both are optional and only shown.
        let component = words.next().unwrap_or_default().into();
        let source = comment.trim().strip_prefix("SRC=").unwrap_or_default();
        let source = source.split(" MJ=").next().unwrap_or("").trim().into();
        Ok(Provider {
            guid,
            component,
            source,
        })
    }

    /// `TAG NUMBER "FORMAT" // LEVEL=… FLAGS=… FUNC=…`, then arguments in braces.
    fn message(&mut self, rest: &'t str) -> Result<Raw<'t>, Wrong> {
        let Some(provider) = self.provider.clone() else {
            return Err(self.lines.wrong(
                "a line with a GUID and `// SRC=` before the first message",
                "`#typev`",
            ));
        };
        let line = self.lines.number;
        let (head, quoted) = rest
            .split_once('"')
            .ok_or_else(|| self.lines.wrong("a format in quotation marks", "none"))?;
        let mut words = head.split_whitespace();
        let wrong = || {
            self.lines
                .wrong("tag and number of the message", head.trim())
        };
        let (tag, number) = words.next().zip(words.next()).ok_or_else(wrong)?;
        let number: u16 = number.parse().map_err(|_| wrong())?;
        let (format, comment) = end_of_format(quoted).ok_or_else(|| {
            self.lines
                .wrong("a quotation mark after the format", "the end of the line")
        })?;
        let arguments = if self.lines.next_is("{") {
            self.arguments()?
        } else {
            Vec::new()
        };
        Ok(Raw {
            provider,
            line,
            tag,
            number,
            format,
            comment,
            arguments,
        })
    }

    fn arguments(&mut self) -> Result<Vec<(&'t str, &'t str, u16)>, Wrong> {
        self.lines.next();
        let mut arguments = Vec::new();
        while let Some(line) = self.lines.next() {
            if line.starts_with('}') {
                return Ok(arguments);
            }
            if line.is_empty() {
                continue;
            }
            let argument = argument(line).ok_or_else(|| {
                self.lines
                    .wrong("an argument: EXPRESSION, ItemTYPE -- NUMBER", line)
            })?;
            if arguments.len() >= MAX_FIELDS {
                return Err(self
                    .lines
                    .wrong(&format!("at most {MAX_FIELDS} arguments"), line));
            }
            arguments.push(argument);
        }
        Err(self
            .lines
            .wrong("`}` after the arguments", "the end of the file"))
    }

    /// `NAME`, then `NAME,VALUE` in braces.
    fn enumeration(&mut self, rest: &'t str, budget: &mut Budget) -> Result<(), Wrong> {
        let name = rest.split_whitespace().next().unwrap_or(rest);
        if !self.lines.next_is("{") {
            return Err(self
                .lines
                .wrong("`{` after the name of an enumeration", rest));
        }
        self.lines.next();
        let mut map = ValueMap::default();
        while let Some(line) = self.lines.next() {
            if line.starts_with('}') {
                let bits = ValueMap {
                    bitmap: true,
                    entries: map.entries.clone(),
                };
                self.enums.insert(name, [Arc::new(map), Arc::new(bits)]);
                return Ok(());
            }
            if line.is_empty() {
                continue;
            }
            // From the end: names may have commas, values have none.
            let entry = line
                .rsplit_once(',')
                .and_then(|(name, value)| Some((integer(value)?, name.trim())));
            let (value, name) = entry.ok_or_else(|| self.lines.wrong("NAME,VALUE", line))?;
            budget.take(2 * (ENTRY_COST + name.len())).ok_or_else(|| {
                self.lines
                    .wrong("enumerations within the memory limit", "too many")
            })?;
            map.entries.push((value, name.into()));
        }
        Err(self.lines.wrong(
            "`}` after the names of an enumeration",
            "the end of the file",
        ))
    }
}

/// The format up to the quotation mark that ends it, and the rest. The format may contain quotation
/// marks.
fn end_of_format(quoted: &str) -> Option<(&str, &str)> {
    let ends = |behind: &str| {
        let behind = behind.trim_start();
        behind.is_empty() || behind.starts_with("//")
    };
    // From the end: the last mark followed by nothing but a comment ends the format, whichever
    // marks are inside.
    let (at, _) = quoted
        .rmatch_indices('"')
        .find(|(at, _)| quoted.get(at + 1..).is_some_and(ends))?;
    let comment = quoted
        .get(at + 1..)?
        .trim_start()
        .trim_start_matches('/')
        .trim();
    Some((quoted.get(..at)?, comment))
}

/// `EXPRESSION, ItemTYPE -- NUMBER`; expression and type may both have commas.
fn argument(line: &str) -> Option<(&str, &str, u16)> {
    // The number is searched from the end, because C expressions contain `--` and `//`.
    let (front, number) = line.rsplit_once("--").or_else(|| line.rsplit_once("//"))?;
    let number = number.trim().parse().ok()?;
    let front = front.trim_end();
    let is_type = |word: &str| {
        let name = word.split('(').next().unwrap_or("");
        let is_word = name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
        is_word && (name.len() == word.len() || word.ends_with(')'))
    };
    // The first comma followed by a type ends the expression. Commas before it belong to calls, and
    // those after it to a list of names.
    let found = front.match_indices(',').find_map(|(at, _)| {
        let word = front.get(at + 1..)?.trim();
        (word.starts_with("Item") && is_type(word)).then_some((front.get(..at)?.trim(), word))
    });
    let (expression, word) = found?;
    Some((expression, word, number))
}

/// Decimal or, with `0x`, hexadecimal; enumerations of C may have negative values.
fn integer(text: &str) -> Option<u64> {
    let value = crate::manifest::integer(text)?;
    // Values are compared with arguments of 32 bits, and a negative one is sign-extended here but
    // not there.
    Some(value & u64::from(u32::MAX))
}

impl Raw<'_> {
    fn wrong(&self, expected: &str, found: &str) -> Wrong {
        Wrong::at(self.line, expected, found, HINT)
    }

    /// Approximate bytes of memory for the message: its fields twice, for both pointer sizes.
    fn cost(&self) -> usize {
        let names = |word: &str| ENTRY_COST * (1 + word.matches(',').count()) + word.len();
        let fields = self
            .arguments
            .iter()
            .map(|(expression, word, _)| 2 * (size_of::<Field>() + expression.len()) + names(word));
        fields.sum::<usize>()
            + message::cost(self.format)
            + self.tag.len()
            + self.comment.len()
            + 1024
    }

    fn message(&self, enums: &item::Enums<'_>) -> Message {
        let mut items = Vec::new();
        let mut fields = Vec::new();
        for (expression, word, number) in &self.arguments {
            let mut field = Field::new(*expression, Type::Null);
            items.push((*number, item::set(&mut field, word, enums)));
            fields.push(field);
        }
        let (level, flags, function) = comment(self.comment);
        let Provider {
            guid,
            component,
            source,
        } = self.provider.clone();
        let schema = Schema {
            provider: guid,
            provider_name: Some(Arc::clone(&component)).filter(|name| !name.is_empty()),
            name: if function.is_empty() {
                self.tag.into()
            } else {
                format!("{function}/{}", self.tag).into()
            },
            source: Source::Tmf,
            fields,
            slots: 0,
        };
        let text = Text {
            component,
            source,
            tag: self.tag.into(),
            level: level.into(),
            flags: flags.into(),
            function: function.into(),
            template: Template::parse(self.format, Dialect::Wpp),
            items,
        };
        Message {
            guid,
            number: self.number,
            schema,
            text,
        }
    }
}

/// Level, flags and function. Only the function may contain blanks, and it is last.
fn comment(comment: &str) -> (&str, &str, &str) {
    let (front, function) = comment.split_once("FUNC=").unwrap_or((comment, ""));
    let word = |name: &str| {
        front
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name))
            .unwrap_or_default()
    };
    (word("LEVEL="), word("FLAGS="), function.trim())
}
