//! Elements of a file, one after the other.

use std::borrow::Cow;
use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};

use super::{Warnings, clipped};

/// Open elements among which an end is looked for that does not fit the innermost one.
const MAX_OVERLAP: usize = 64;

/// Attributes of an element that are read. Known elements have less than twenty.
const MAX_ATTRIBUTES: usize = 100;

/// The fault of a text with an `&` that has no meaning in XML.
const BARE: &str = "an & that starts no entity of XML has to be &amp;";

/// A part of a file.
#[derive(Debug)]
pub enum Node<'x> {
    /// The start of an element.
    Open(Attributes<'x>),
    /// The end of the innermost open element; each element has one.
    Close,
    /// Characters between elements.
    Text(Cow<'x, str>),
}

/// Name and attributes of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes<'x> {
    /// Name of the element, without a prefix.
    pub name: &'x str,
    /// Byte of the text where it starts.
    pub at: usize,
    /// Names without prefixes, and values; those of namespaces and schemas are left out.
    pub all: Vec<(&'x str, Cow<'x, str>)>,
}

impl<'x> Attributes<'x> {
    /// True if it is an element of that name, in any case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Takes the value of an attribute, whose name can be in any case.
    pub fn take(&mut self, name: &str) -> Option<Cow<'x, str>> {
        let is_named = |(known, _): &(&str, _)| str::eq_ignore_ascii_case(known, name);
        let at = self.all.iter().position(is_named)?;
        Some(self.all.swap_remove(at).1)
    }
}

/// The parts of a file in their order. Each element that starts ends, whatever the file says.
#[derive(Debug)]
pub struct Nodes<'x> {
    file: &'x str,
    text: &'x str,
    reader: Reader<&'x [u8]>,
    /// Names of open elements.
    open: Vec<Range<usize>>,
    /// Ends that are still to be told.
    ends: usize,
    is_over: bool,
}

impl<'x> Nodes<'x> {
    /// The parts of a text. `file` is its name in warnings.
    #[must_use]
    pub fn new(file: &'x str, text: &'x str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self {
            file,
            text,
            reader,
            open: Vec::new(),
            ends: 0,
            is_over: false,
        }
    }

    /// Number of open elements.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next part; `None` at the end of the file.
    pub fn next(&mut self, warnings: &mut Warnings) -> Option<Node<'x>> {
        loop {
            if self.ends > 0 {
                self.ends -= 1;
                self.open.pop();
                return Some(Node::Close);
            }
            if self.is_over {
                return None;
            }
            let at = self.reader.buffer_position() as usize;
            match self.reader.read_event() {
                Ok(event) => {
                    if let Some(node) = self.of(event, at, warnings) {
                        return Some(node);
                    }
                }
                Err(error) => self.fault(&error, at, warnings),
            }
        }
    }

    fn of(&mut self, event: Event<'x>, at: usize, warnings: &mut Warnings) -> Option<Node<'x>> {
        match event {
            Event::Start(start) => Some(self.start(&start, at, false, warnings)),
            Event::Empty(start) => Some(self.start(&start, at, true, warnings)),
            Event::End(end) => {
                self.end(end.name().as_ref(), at, warnings);
                None
            }
            Event::Text(text) => Some(Node::Text(text.xml_content(XmlVersion::Implicit1_0))),
            Event::CData(text) => Some(Node::Text(text.xml_content(XmlVersion::Implicit1_0))),
            Event::GeneralRef(name) => Some(Node::Text(self.entity(&name, at, warnings))),
            // Entities that a document type declares could expand a small file to any size.
            Event::DocType(_) => {
                self.warn(warnings, at, || {
                    "a document type is left out: nothing that it declares is expanded".to_owned()
                });
                None
            }
            Event::Eof => {
                self.finish(warnings);
                None
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => None,
        }
    }

    fn start(
        &mut self,
        start: &BytesStart<'x>,
        at: usize,
        is_empty: bool,
        warnings: &mut Warnings,
    ) -> Node<'x> {
        // The text is borrowed: the reader reads from memory.
        let content = at + 1;
        let length = start.name().as_ref().len();
        self.open.push(content..content + length);
        self.ends = usize::from(is_empty);
        let name = self.text.get(content..content + length).unwrap_or("");
        let name = name.rsplit(':').next().unwrap_or(name);
        let all = self.attributes(start, name, at, warnings);
        Node::Open(Attributes { name, at, all })
    }

    fn attributes(
        &self,
        start: &BytesStart<'x>,
        element: &str,
        at: usize,
        warnings: &mut Warnings,
    ) -> Vec<(&'x str, Cow<'x, str>)> {
        let mut all: Vec<(&'x str, Cow<'x, str>)> = Vec::new();
        // The attributes borrow from the text and not from the event, so that values need no copy.
        let from = at + 1 + start.name().as_ref().len();
        let raw = self.text.get(from..from + start.attributes_raw().len());
        let raw = raw.unwrap_or("");
        let mut attributes = quick_xml::events::attributes::Attributes::html(raw, 0);
        for attribute in attributes.with_checks(false) {
            let attribute = match attribute {
                Ok(attribute) => attribute,
                Err(error) => {
                    self.warn(warnings, at, || {
                        format!("<{}>: an attribute is left out: {error}", clipped(element))
                    });
                    continue;
                }
            };
            let written: &'x str = attribute.key.0;
            // Editors add these to files that were written from a schema.
            if ["xmlns", "xsi:", "xml:"]
                .iter()
                .any(|known| written.starts_with(known))
            {
                continue;
            }
            let name = written.rsplit(':').next().unwrap_or(written);
            if all
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
            {
                self.warn(warnings, at, || {
                    format!(
                        "<{}> has {} twice: the first one is used",
                        clipped(element),
                        clipped(name)
                    )
                });
                continue;
            }
            if all.len() >= MAX_ATTRIBUTES {
                self.warn(warnings, at, || {
                    format!(
                        "<{}>: only its first {MAX_ATTRIBUTES} attributes are used",
                        clipped(element)
                    )
                });
                break;
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.unwrap_or_else(|_| {
                self.warn(warnings, at, || {
                    format!(
                        "{} of <{}> is used as it is written: {BARE}",
                        clipped(name),
                        clipped(element)
                    )
                });
                attribute.value.clone()
            });
            let value = match without_typographic_quotes(&value, raw) {
                Some(bare) => {
                    self.warn(warnings, at, || {
                        format!(
                            "{} of <{}> has typographic quotes, which are left out: XML has \" \
                             and '",
                            clipped(name),
                            clipped(element)
                        )
                    });
                    Cow::Owned(bare.to_owned())
                }
                None => value,
            };
            all.push((name, value));
        }
        all
    }

    fn end(&mut self, name: &str, at: usize, warnings: &mut Warnings) {
        let name = name.trim_end();
        let is_named = |range: &Range<usize>| {
            let known = self.text.get(range.clone()).unwrap_or("");
            known.eq_ignore_ascii_case(name)
        };
        let near = self.open.iter().rev().take(MAX_OVERLAP);
        match near.clone().position(is_named) {
            Some(0) => self.ends = 1,
            Some(inner) => {
                let last = self
                    .open
                    .last()
                    .and_then(|range| self.text.get(range.clone()));
                self.warn(warnings, at, || {
                    format!(
                        "</{}> ends <{}> too",
                        clipped(name),
                        clipped(last.unwrap_or(""))
                    )
                });
                self.ends = inner + 1;
            }
            None => self.warn(warnings, at, || {
                format!(
                    "</{}> is left out: no element of this name is open",
                    clipped(name)
                )
            }),
        }
    }

    fn entity(&self, name: &str, at: usize, warnings: &mut Warnings) -> Cow<'x, str> {
        let written = format!("&{name};");
        match quick_xml::escape::unescape(&written) {
            Ok(text) => Cow::Owned(text.into_owned()),
            Err(_) => {
                self.warn(warnings, at, || {
                    format!("{} is used as it is written: {BARE}", clipped(&written))
                });
                Cow::Owned(written)
            }
        }
    }

    fn fault(&mut self, error: &Error, at: usize, warnings: &mut Warnings) {
        let place = self.reader.error_position() as usize;
        // After a fault of the syntax the reader is at the end.
        let is_stuck = self.reader.buffer_position() as usize <= at;
        let is_last = is_stuck || matches!(error, Error::Syntax(_));
        self.warn(warnings, place, || {
            if is_last {
                format!("{error}: the rest of the file is left out")
            } else {
                error.to_string()
            }
        });
        if is_last {
            self.close_all();
        }
    }

    fn finish(&mut self, warnings: &mut Warnings) {
        if let Some(last) = self.open.last() {
            let name = self.text.get(last.clone()).unwrap_or("");
            self.warn(warnings, self.text.len(), || {
                format!("the file ends inside <{}>", clipped(name))
            });
        }
        self.close_all();
    }

    const fn close_all(&mut self) {
        self.ends = self.open.len();
        self.is_over = true;
    }

    fn warn(&self, warnings: &mut Warnings, at: usize, warning: impl FnOnce() -> String) {
        warnings.add(self.file, self.text, at, warning);
    }
}

/// The value without the typographic quotes that programs for texts write in place of others, if it
/// has them in the attributes of its element, `raw`.
fn without_typographic_quotes<'v>(value: &'v str, raw: &str) -> Option<&'v str> {
    let is_quote = |character: char| ['“', '”', '„', '‟'].contains(&character);
    // A value in quotes of XML can have others in it.
    let is_bare = value.starts_with(is_quote) && raw.contains(&format!("={value}"));
    is_bare.then(|| value.trim_matches(is_quote))
}
