//! Files of rules in XML: a tree of elements, and positions of errors in the file.

use std::borrow::Cow;
use std::cell::Cell;

use etwkit_trace::xml::{Node, Nodes, Text};
pub use etwkit_trace::xml::{Warning, Warnings, clipped};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Limits of a file. Known files have some hundred elements, ten levels deep.
const MAX_BYTES: usize = 16 << 20;
const MAX_DEPTH: usize = 64;
const MAX_ELEMENTS: usize = 20_000;

/// Elements that are read of a file in which not all have to be followed. Generated ones have some
/// ten thousand.
const MAX_READ: usize = 200_000;

/// Bytes of a name or value that is read.
const MAX_VALUE: usize = 64 << 10;

/// A problem in a file, and its position. Names and values of the file appear in it unchanged and
/// have to be escaped for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: expected {expected}, found {found}")]
pub struct FileError {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// The expected text.
    pub expected: String,
    /// The actual text.
    pub found: String,
    hint: &'static str,
}

impl FileError {
    /// Creates an error at the first character of a line of a file that is not XML.
    #[must_use]
    pub fn at_line(
        file: &str,
        line: usize,
        expected: &str,
        found: &str,
        hint: &'static str,
    ) -> Self {
        Self::at_place((file, line, 1), expected, found, hint)
    }

    /// Creates an error at a line and a character of a file.
    #[must_use]
    pub fn at_place(
        (file, line, column): (&str, usize, usize),
        expected: &str,
        found: &str,
        hint: &'static str,
    ) -> Self {
        let expected = expected.to_owned();
        let found = found.to_owned();
        Self {
            file: file.to_owned(),
            line,
            column,
            expected,
            found,
            hint,
        }
    }

    /// Returns advice for the user: the expected form of the file.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        self.hint
    }
}

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    /// Name without a prefix.
    pub name: String,
    /// Names without namespace prefixes, and values.
    pub attributes: Vec<(String, String)>,
    /// Elements in it.
    pub children: Vec<Element>,
    /// Text between its tags.
    pub content: String,
    /// Names of attributes that are left out since their values are too long.
    pub too_long: Vec<String>,
    /// Byte offset of its start.
    pub at: usize,
}

/// The file of elements, for errors.
#[derive(Debug)]
pub struct Source<'s> {
    /// The file, as the caller named it.
    file: &'s str,
    /// Its content.
    text: Cow<'s, str>,
    /// The expected form of the file.
    hint: &'static str,
    /// The place of the last error.
    last: Cell<Place>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Byte offset.
    at: usize,
    /// Line, from 1.
    line: usize,
    /// Character in the line, from 1.
    column: usize,
}

impl Place {
    const START: Self = Self {
        at: 0,
        line: 1,
        column: 1,
    };
}

type Result<T> = std::result::Result<T, FileError>;

impl<'s> Source<'s> {
    /// Reads the tree of a file, and its source for errors.
    ///
    /// # Errors
    /// It is not text, too large, or not XML.
    pub fn read(file: &'s str, bytes: &'s [u8], hint: &'static str) -> Result<(Self, Element)> {
        let expected = "text in UTF-8 or UTF-16, at most 16 MiB";
        let none = || Source {
            file,
            text: Cow::Borrowed(""),
            hint,
            last: Cell::new(Place::START),
        };
        let no_text = || none().error(0, expected, format!("{} bytes", bytes.len()));
        let source = Self {
            file,
            text: text_of(bytes).ok_or_else(no_text)?,
            hint,
            last: Cell::new(Place::START),
        };
        let document = source.parse()?;
        Ok((source, document))
    }

    /// Reads as much of a file as can be read: faults of the syntax, and what is beyond the limits,
    /// are warnings.
    ///
    /// # Errors
    /// It is not text, or too large.
    pub fn read_all(
        file: &'s str,
        bytes: &'s [u8],
        hint: &'static str,
    ) -> Result<(Self, Element, Warnings)> {
        let text = (bytes.len() <= MAX_BYTES).then(|| Text::decode(bytes));
        let Some(Text { text, doubts }) = text.flatten() else {
            let text = Cow::Borrowed("");
            let source = Source {
                file,
                text,
                hint,
                last: Cell::new(Place::START),
            };
            let expected = "text in UTF-8 or UTF-16, at most 16 MiB";
            return Err(source.error(0, expected, format!("{} bytes", bytes.len())));
        };
        let source = Self {
            file,
            text,
            hint,
            last: Cell::new(Place::START),
        };
        let mut warnings = Warnings::default();
        for doubt in doubts {
            source.warn(&mut warnings, 0, doubt);
        }
        let document = source.parse_all(&mut warnings);
        Ok((source, document, warnings))
    }

    /// Adds a warning about a byte of the file.
    pub fn warn(&self, warnings: &mut Warnings, at: usize, text: impl Into<String>) {
        warnings.add(self.file, &self.text, at, || text.into());
    }

    /// Parses the tree of the file as far as it goes.
    fn parse_all(&self, warnings: &mut Warnings) -> Element {
        let mut nodes = Nodes::new(self.file, &self.text);
        let mut open = vec![Element::default()];
        // Elements in each other that are left out.
        let mut skipped = 0_usize;
        let mut elements = 0_usize;
        while let Some(node) = nodes.next(warnings) {
            match node {
                Node::Close if skipped > 0 => skipped -= 1,
                Node::Close => close(&mut open),
                Node::Open(_) if skipped > 0 => skipped += 1,
                Node::Open(start) => {
                    elements += 1;
                    if elements > MAX_READ || open.len() > MAX_DEPTH {
                        let limits = format!("{MAX_READ} elements, and {MAX_DEPTH} in each other");
                        self.warn(
                            warnings,
                            start.at,
                            format!("left out: at most {limits}, are read"),
                        );
                        skipped = 1;
                        continue;
                    }
                    let mut attributes = Vec::with_capacity(start.all.len());
                    let mut too_long = Vec::new();
                    for (name, value) in start.all {
                        if name.len() + value.len() > MAX_VALUE {
                            let found = name.len() + value.len();
                            let text = format!(
                                "{} of {found} bytes is left out: at most {MAX_VALUE} are read",
                                clipped(name)
                            );
                            self.warn(warnings, start.at, text);
                            too_long.push(clipped(name).into_owned());
                            continue;
                        }
                        attributes.push((name.to_owned(), value.into_owned()));
                    }
                    open.push(Element {
                        name: start.name.to_owned(),
                        attributes,
                        too_long,
                        at: start.at,
                        ..Element::default()
                    });
                }
                Node::Text(text) if skipped == 0 => {
                    let room = open
                        .last()
                        .map_or(0, |last| MAX_VALUE.saturating_sub(last.content.len()));
                    let (kept, _) = text.split_at(text.floor_char_boundary(room));
                    add(&mut open, kept);
                }
                Node::Text(_) => {}
            }
        }
        // Each element that was opened was closed.
        open.swap_remove(0)
    }

    /// Creates an error at a byte of the file.
    pub fn error(&self, at: usize, expected: &str, found: impl Into<String>) -> FileError {
        let Place { line, column, .. } = self.place(at);
        FileError {
            file: self.file.to_owned(),
            line,
            column,
            expected: expected.to_owned(),
            found: found.into(),
            hint: self.hint,
        }
    }

    /// Finds a byte of the file. A strange file has an error in each of its elements, so counting
    /// goes on from the last one.
    fn place(&self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let mut place = self.last.get();
        if at < place.at {
            place = Place::START;
        }
        let between = self.text.get(place.at..at).unwrap_or("");
        match between.rfind('\n') {
            Some(end) => {
                place.line += between.matches('\n').count();
                place.column = between.split_at(end).1.chars().count();
            }
            None => place.column += between.chars().count(),
        }
        place.at = at;
        self.last.set(place);
        place
    }

    /// Returns the only element in another one.
    ///
    /// # Errors
    /// There is none with that name.
    pub fn inner<'e>(&self, element: &'e Element, name: &str) -> Result<&'e Element> {
        let missing = || {
            let found = element
                .children
                .first()
                .map_or("the end".to_owned(), |c| format!("<{}>", c.name));
            self.error(element.at, &format!("<{name}>"), found)
        };
        element
            .children
            .iter()
            .find(|child| child.name.eq_ignore_ascii_case(name))
            .ok_or_else(missing)
    }

    /// Returns an error unless an element has only these attributes and children. An unknown one is
    /// never ignored.
    ///
    /// # Errors
    /// It has another one.
    pub fn check(&self, element: &Element, attributes: &[&str], children: &[&str]) -> Result<()> {
        let list = |names: &[&str]| {
            if names.is_empty() {
                "nothing".to_owned()
            } else {
                names.join(", ")
            }
        };
        let unknown = |(name, _): &&(String, String)| {
            !attributes.iter().any(|a| a.eq_ignore_ascii_case(name))
        };
        if let Some((name, _)) = element.attributes.iter().find(unknown) {
            let expected = format!("as attribute of <{}>: {}", element.name, list(attributes));
            return Err(self.error(element.at, &expected, name.clone()));
        }
        if let Some(child) = element
            .children
            .iter()
            .find(|child| !children.contains(&child.name.as_str()))
        {
            let expected = format!("in <{}>: {}", element.name, list(children));
            return Err(self.error(child.at, &expected, format!("<{}>", child.name)));
        }
        Ok(())
    }

    /// Returns a required attribute.
    ///
    /// # Errors
    /// It is not.
    pub fn required<'e>(&self, element: &'e Element, name: &str) -> Result<&'e str> {
        let missing = || {
            self.error(
                element.at,
                &format!("an attribute {name}"),
                format!("<{}> without one", element.name),
            )
        };
        element.attribute(name).ok_or_else(missing)
    }

    /// Parses the tree of the file.
    fn parse(&self) -> Result<Element> {
        let mut reader = Reader::from_str(&self.text);
        // The first element is the document itself, so that the root has a parent.
        let mut open = vec![Element::default()];
        let mut elements = 0;
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                self.error(
                    reader.error_position() as usize,
                    "well-formed XML",
                    error.to_string(),
                )
            })?;
            match event {
                Event::Start(ref start) | Event::Empty(ref start) => {
                    elements += 1;
                    if elements > MAX_ELEMENTS || open.len() > MAX_DEPTH {
                        let expected =
                            format!("at most {MAX_ELEMENTS} elements, {MAX_DEPTH} in each other");
                        return Err(self.error(at, &expected, "one more"));
                    }
                    open.push(self.element(start, at)?);
                    if matches!(event, Event::Empty(_)) {
                        close(&mut open);
                    }
                }
                Event::End(_) => close(&mut open),
                Event::Text(text) => add(&mut open, &text.xml_content(XmlVersion::Implicit1_0)),
                Event::CData(text) => add(&mut open, &text.xml_content(XmlVersion::Implicit1_0)),
                Event::GeneralRef(entity) => {
                    let known =
                        || quick_xml::escape::resolve_xml_entity(&entity).map(str::to_owned);
                    let character = entity.resolve_char_ref().ok().flatten().map(String::from);
                    let text = character.or_else(known);
                    let unknown =
                        || self.error(at, "an entity that XML has", format!("&{};", &*entity));
                    add(&mut open, &text.ok_or_else(unknown)?);
                }
                // Entities that expand to others would let a short file fill the memory.
                Event::DocType(_) => {
                    return Err(self.error(
                        at,
                        "no document type: nothing is expanded",
                        "<!DOCTYPE",
                    ));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        match open.as_mut_slice() {
            [document] => Ok(std::mem::take(document)),
            [.., last] => Err(self.error(self.text.len(), &format!("</{}>", last.name), "the end")),
            [] => Err(self.error(self.text.len(), "an element", "the end")),
        }
    }

    fn element(&self, start: &BytesStart<'_>, at: usize) -> Result<Element> {
        let mut element = Element {
            name: start.local_name().as_ref().to_owned(),
            at,
            ..Element::default()
        };
        for attribute in start.attributes() {
            let attribute = attribute
                .map_err(|error| self.error(at, "attributes like Name=\"…\"", error.to_string()))?;
            let name: &str = attribute.key.as_ref();
            // Editors add these to files that were written from a schema; they are not part of the
            // rules.
            if name.starts_with("xmlns") || name.starts_with("xsi:") {
                continue;
            }
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| {
                    self.error(at, "a value with known entities", error.to_string())
                })?;
            element
                .attributes
                .push((name.to_owned(), value.into_owned()));
        }
        Ok(element)
    }
}

/// Moves the innermost open element into its parent.
fn close(open: &mut Vec<Element>) {
    // The first one is the document, which no tag closes.
    if open.len() < 2 {
        return;
    }
    if let (Some(element), Some(around)) = (open.pop(), open.last_mut()) {
        around.children.push(element);
    }
}

/// Adds text to the innermost open element.
fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.content.push_str(text);
    }
}

impl Element {
    /// Returns the value of an attribute. Existing files spell some names in several ways.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns its children of that name, in any case.
    pub fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Element> {
        self.children
            .iter()
            .filter(move |child| child.name.eq_ignore_ascii_case(name))
    }

    /// Spells the names of it and of what is in it as `names` do: files have them in any case.
    pub fn spell(&mut self, names: &[&str]) {
        if let Some(known) = names
            .iter()
            .find(|known| known.eq_ignore_ascii_case(&self.name))
        {
            (*known).clone_into(&mut self.name);
        }
        self.children
            .iter_mut()
            .for_each(|child| child.spell(names));
    }
}

/// Decodes the text of a file from UTF-8 or, with a byte order mark, UTF-16; `None` if it is
/// neither, or too large.
fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        Some(Cow::Owned(String::from_utf16_lossy(&units)))
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] | rest => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
    }
}
