//! Stack tag files: the XML that Windows Performance Analyzer reads.
//!
//! ```xml
//! <Tag Name="">
//!   <Tag Name="Parent" Priority="2">
//!     <Entrypoint Module="ntfs.sys" Method="NtfsCommon*"/>
//!     <Tag Name="Child"> … </Tag>
//!     <HintTag Name="Servers" HintOperator="Callee" OnlyShowModule="false"> <Entrypoint …/> </HintTag>
//!   </Tag>
//! </Tag>
//! ```

use std::borrow::Cow;

use etwkit_base::index::IndexVec;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::TagFileError;
use super::pattern::{MethodPattern, Pattern};
use super::rule::{Entry, Hint, Neighbour, Rule};

/// Limits of a file. Known files have some hundred tags, three levels deep.
const MAX_BYTES: usize = 8 << 20;
const MAX_DEPTH: usize = 16;
const MAX_ELEMENTS: usize = 20_000;
const MAX_NAME: usize = 256;
const MAX_PATTERN: usize = 1024;

/// Appends the rules of a file to those read so far.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    rules: &mut IndexVec<Rule>,
    entries: &mut Vec<Entry>,
) -> Result<(), TagFileError> {
    let text = decoded(bytes).map_err(|(at, expected, found)| TagFileError {
        file: file.to_owned(),
        line: 1,
        column: 1,
        offset: at,
        expected: expected.to_owned(),
        found,
    })?;
    Parser {
        file,
        text: &text,
        at: 0,
        open: Vec::new(),
        in_entry: false,
        elements: 0,
        has_root: false,
        rules,
        entries,
    }
    .parse()
}

/// The text of a file in UTF-8 or, with a byte order mark, UTF-16.
fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, (usize, &'static str, String)> {
    if bytes.len() > MAX_BYTES {
        return Err((MAX_BYTES, "at most 8 MiB", format!("{} bytes", bytes.len())));
    }
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks().0.iter().map(|bytes| unit(*bytes));
        Cow::Owned(
            char::decode_utf16(units)
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        )
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Ok(wide(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Ok(wide(rest, u16::from_be_bytes)),
        [0xEF, 0xBB, 0xBF, rest @ ..] | rest => {
            std::str::from_utf8(rest).map(Cow::Borrowed).map_err(|e| {
                let byte = rest.get(e.valid_up_to()).copied().unwrap_or_default();
                (
                    e.valid_up_to(),
                    "text in UTF-8 or UTF-16",
                    format!("byte {byte:#04x}"),
                )
            })
        }
    }
}

/// A tag that is open.
#[derive(Debug)]
struct Open {
    /// Names of it and the tags around it, joined by `\`.
    path: String,
    priority: i32,
    hint: Option<Hint>,
    entries: Vec<(Pattern, MethodPattern)>,
}

struct Parser<'p> {
    file: &'p str,
    text: &'p str,
    /// Offset of the element that is being read.
    at: usize,
    open: Vec<Open>,
    /// True if an entry point is open that is not self-closing.
    in_entry: bool,
    elements: usize,
    has_root: bool,
    rules: &'p mut IndexVec<Rule>,
    entries: &'p mut Vec<Entry>,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<(), TagFileError> {
        let mut reader = Reader::from_str(self.text);
        loop {
            self.at = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                self.at = reader.error_position() as usize;
                self.error("well-formed XML", error.to_string())
            })?;
            match event {
                Event::Start(element) => self.start(&element, false)?,
                Event::Empty(element) => self.start(&element, true)?,
                Event::End(_) => self.end(),
                // Entities that a document type declares could expand a small file to any size.
                Event::DocType(_) => {
                    return Err(self.error(
                        "no document type: nothing is expanded",
                        "<!DOCTYPE".to_owned(),
                    ));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        // Errors from here on are at the end of the file.
        self.at = self.text.len();
        match self.open.last() {
            Some(open) => {
                Err(self.error(&format!("</Tag> for {:?}", open.path), "the end".to_owned()))
            }
            None if !self.has_root => Err(self.error("<Tag Name=\"\">", "the end".to_owned())),
            None => Ok(()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>, is_empty: bool) -> Result<(), TagFileError> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(self.error(
                &format!("at most {MAX_ELEMENTS} elements"),
                "one more".to_owned(),
            ));
        }
        if self.in_entry {
            return Err(self.error(
                "</Entrypoint>",
                format!("<{}>", element.local_name().as_ref()),
            ));
        }
        let in_hint = self.open.last().is_some_and(|open| open.hint.is_some());
        match element.local_name().as_ref() {
            "Entrypoint" if !self.open.is_empty() => return self.entry(element, is_empty),
            "Tag" if !in_hint => self.tag(element, None)?,
            "HintTag" if !in_hint && !self.open.is_empty() => {
                self.tag(element, Some(self.hint(element)?))?;
            }
            other => {
                let expected = match self.open.last() {
                    None => "<Tag Name=\"\"> around everything",
                    Some(open) if open.hint.is_some() => "<Entrypoint> in a <HintTag>",
                    Some(_) => "<Tag>, <HintTag> or <Entrypoint>",
                };
                return Err(self.error(expected, format!("<{other}>")));
            }
        }
        // No end event follows a self-closing element.
        if is_empty {
            self.end();
        }
        Ok(())
    }

    fn tag(&mut self, element: &BytesStart<'_>, hint: Option<Hint>) -> Result<(), TagFileError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(
                &format!("at most {MAX_DEPTH} tags in each other"),
                "one more".to_owned(),
            ));
        }
        if self.open.is_empty() && std::mem::replace(&mut self.has_root, true) {
            return Err(self.error("one <Tag> around everything", "a second one".to_owned()));
        }
        let name = self.required(element, "Name", MAX_NAME)?;
        let priority = match self.attribute(element, "Priority", MAX_NAME)? {
            None => 0,
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| self.error("a whole number as Priority", format!("{text:?}")))?,
        };
        let path = match self.open.last() {
            None => name,
            Some(_) if name.is_empty() => return Err(self.error("a Name", "Name=\"\"".to_owned())),
            // A root without a name does not appear in paths.
            Some(parent) if parent.path.is_empty() => name,
            Some(parent) => format!("{}\\{name}", parent.path),
        };
        self.open.push(Open {
            path,
            priority,
            hint,
            entries: Vec::new(),
        });
        Ok(())
    }

    fn hint(&self, element: &BytesStart<'_>) -> Result<Hint, TagFileError> {
        let operator = self.required(element, "HintOperator", MAX_NAME)?;
        let neighbour = match operator.as_str() {
            "Callee" => Neighbour::Callee,
            "Caller" => Neighbour::Caller,
            _ => {
                return Err(self.error("Callee or Caller as HintOperator", format!("{operator:?}")));
            }
        };
        let only_module = match self
            .attribute(element, "OnlyShowModule", MAX_NAME)?
            .as_deref()
        {
            None | Some("true" | "True" | "1") => true,
            Some("false" | "False" | "0") => false,
            Some(other) => {
                return Err(self.error("true or false as OnlyShowModule", format!("{other:?}")));
            }
        };
        Ok(Hint {
            neighbour,
            only_module,
        })
    }

    fn entry(&mut self, element: &BytesStart<'_>, is_empty: bool) -> Result<(), TagFileError> {
        // Modules are file names, which Windows compares without case; names of methods keep
        // theirs.
        let module = self.required(element, "Module", MAX_PATTERN)?;
        let method = self.required(element, "Method", MAX_PATTERN)?;
        self.in_entry = !is_empty;
        match self.open.last_mut().filter(|open| !open.path.is_empty()) {
            Some(open) => {
                open.entries.push((
                    Pattern::new(&module.to_lowercase()),
                    MethodPattern::new(&method),
                ));
            }
            None => {
                return Err(self.error(
                    "<Entrypoint> in a <Tag> with a Name",
                    "one outside".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Ends a tag. Rules are numbered as tags end, so a child comes before its parents.
    fn end(&mut self) {
        // This is the end of an entry point and not of a tag.
        if std::mem::take(&mut self.in_entry) {
            return;
        }
        // A tag without entry points matches nothing: it only names the tags inside.
        let Some(open) = self.open.pop().filter(|open| !open.entries.is_empty()) else {
            return;
        };
        let rule = self.rules.next();
        self.entries
            .extend(open.entries.into_iter().map(|(module, method)| Entry {
                module,
                method,
                rule,
            }));
        self.rules.push(Rule {
            path: open.path,
            priority: open.priority,
            hint: open.hint,
        });
    }

    fn required(
        &self,
        element: &BytesStart<'_>,
        name: &str,
        most: usize,
    ) -> Result<String, TagFileError> {
        let without = || format!("<{}> without one", element.local_name().as_ref());
        self.attribute(element, name, most)?
            .ok_or_else(|| self.error(&format!("an attribute {name}"), without()))
    }

    /// The value of an attribute. Only the predefined XML entities are supported.
    fn attribute(
        &self,
        element: &BytesStart<'_>,
        name: &str,
        most: usize,
    ) -> Result<Option<String>, TagFileError> {
        for attribute in element.attributes() {
            let attribute = attribute
                .map_err(|error| self.error("attributes like Name=\"…\"", error.to_string()))?;
            if attribute.key.as_ref() != name {
                continue;
            }
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| self.error("a value with known entities", error.to_string()))?;
            if value.len() > most {
                return Err(self.error(
                    &format!("{name} of at most {most} bytes"),
                    format!("{} bytes", value.len()),
                ));
            }
            return Ok(Some(value.into_owned()));
        }
        Ok(None)
    }

    fn error(&self, expected: &str, found: String) -> TagFileError {
        TagFileError::at(self.file, self.text, self.at, expected, found)
    }
}
