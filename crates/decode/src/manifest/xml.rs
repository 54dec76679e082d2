//! The elements of an instrumentation manifest. Names are not resolved yet, because templates, maps
//! and strings come after the events that refer to them.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::schema::MAX_DEPTH;

/// The text is not XML, or not a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Byte of the text.
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

/// Attributes of an element.
type Attributes = HashMap<String, String>;

/// `data` or `struct` of a template.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) attributes: Attributes,
    /// Members, if it is a struct.
    pub(super) members: Option<Vec<Item>>,
}

/// `valueMap` or `bitMap`.
#[derive(Debug)]
pub(super) struct Map {
    pub(super) bitmap: bool,
    /// Value and reference to a string.
    pub(super) entries: Vec<(u64, String)>,
}

/// All elements that matter.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(super) providers: Vec<Provider>,
    /// Texts of the first language that has them.
    pub(super) strings: HashMap<String, String>,
    /// True if the text ends inside an element.
    pub(super) is_cut: bool,
}

/// An event, and its byte position in the text.
#[derive(Debug)]
pub(super) struct EventElement {
    pub(super) attributes: Attributes,
    pub(super) at: usize,
}

/// All elements of a provider.
#[derive(Debug, Default)]
pub(super) struct Provider {
    /// Empty in manifests whose provider is known.
    pub(super) guid: String,
    pub(super) name: Option<String>,
    pub(super) at: usize,
    pub(super) events: Vec<EventElement>,
    pub(super) templates: HashMap<String, Vec<Item>>,
    /// Name to value.
    pub(super) opcodes: HashMap<String, u64>,
    /// Mask and name.
    pub(super) keywords: Vec<(u64, String)>,
    pub(super) maps: HashMap<String, Map>,
}

/// Reads a whole manifest: one with at least one provider.
pub(crate) fn read(text: &str) -> Result<Document, Broken> {
    // The byte order mark may still be at the start; it is not part of the XML.
    let text = text.trim_start_matches('\u{FEFF}');
    let mut reader = Reader::from_str(text);
    let mut builder = Builder::default();
    let mut depth = 0_usize;
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let broken = |found: String| Broken {
            at,
            expected: "XML",
            found,
        };
        match reader.read_event().map_err(|e| broken(e.to_string()))? {
            Event::Start(element) => {
                depth += 1;
                builder.open(&element, at)?;
            }
            // `<struct/>` and `<template/>` open and close a list like elements with content.
            Event::Empty(element) => {
                builder.open(&element, at)?;
                builder.close(element.local_name().as_ref());
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                builder.close(element.local_name().as_ref());
            }
            // Entity declarations could expand a small manifest into a large one; no provider
            // writes them.
            Event::DocType(_) => {
                return Err(Broken {
                    at,
                    expected: "a manifest without <!DOCTYPE>",
                    found: "one".to_owned(),
                });
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if builder.document.providers.is_empty() {
        return Err(Broken {
            at: 0,
            expected: "an element <provider>",
            found: "none".to_owned(),
        });
    }
    // The reader does not report the end inside an element as an XML error. For a file of the user
    // it is an error; for a manifest from a trace everything before the cut is used.
    builder.document.is_cut = depth > 0;
    Ok(builder.document)
}

#[derive(Debug, Default)]
struct Builder {
    document: Document,
    template: Option<String>,
    map: Option<String>,
    /// Open lists of items: of the template, and of the structs in it.
    open: Vec<Vec<Item>>,
    /// The structs that own the open lists but the first one.
    structs: Vec<Attributes>,
}

impl Builder {
    fn open(&mut self, element: &BytesStart<'_>, at: usize) -> Result<(), Broken> {
        let attributes = attributes(element).map_err(|found| Broken {
            at,
            expected: "attributes with known entities",
            found,
        })?;
        let get = |name: &str| attributes.get(name).cloned();
        match element.local_name().as_ref() {
            "provider" => {
                let name = get("name").filter(|name| !name.is_empty());
                let guid = get("guid").unwrap_or_default();
                self.document.providers.push(Provider {
                    guid,
                    name,
                    at,
                    ..Provider::default()
                });
            }
            "string" => {
                if let (Some(id), Some(value)) = (get("id"), get("value")) {
                    self.document.strings.entry(id).or_insert(value);
                }
            }
            "template" => {
                self.template = get("tid");
                self.open = vec![Vec::new()];
                self.structs.clear();
            }
            "struct" if !self.open.is_empty() => {
                if self.open.len() > MAX_DEPTH {
                    let found = format!("more than {MAX_DEPTH} structs in each other");
                    return Err(Broken {
                        at,
                        expected: "a template",
                        found,
                    });
                }
                self.open.push(Vec::new());
                self.structs.push(attributes);
            }
            "data" => {
                if let Some(list) = self.open.last_mut() {
                    list.push(Item {
                        attributes,
                        members: None,
                    });
                }
            }
            kind => self.of_provider(kind, attributes, at),
        }
        Ok(())
    }

    /// Takes an element of a provider other than a template. Outside of a provider it has no
    /// meaning.
    fn of_provider(&mut self, kind: &str, attributes: Attributes, at: usize) {
        let Some(provider) = self.document.providers.last_mut() else {
            return;
        };
        let get = |name: &str| attributes.get(name).cloned();
        let number = |name: &str| attributes.get(name).and_then(|text| integer(text));
        match kind {
            "event" => provider.events.push(EventElement { attributes, at }),
            "opcode" => {
                if let (Some(name), Some(value)) = (get("name"), number("value")) {
                    provider.opcodes.insert(name, value);
                }
            }
            "keyword" => {
                if let (Some(name), Some(mask)) = (get("name"), number("mask")) {
                    provider.keywords.push((mask, name));
                }
            }
            "valueMap" | "bitMap" => {
                self.map = get("name");
                if let Some(name) = get("name") {
                    provider.maps.insert(
                        name,
                        Map {
                            bitmap: kind == "bitMap",
                            entries: Vec::new(),
                        },
                    );
                }
            }
            "map" => {
                let map = self
                    .map
                    .as_ref()
                    .and_then(|name| provider.maps.get_mut(name));
                if let (Some(map), Some(value), Some(message)) =
                    (map, number("value"), get("message"))
                {
                    map.entries.push((value, message));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, element: &str) {
        match element {
            "valueMap" | "bitMap" => self.map = None,
            "struct" => {
                if let Some(attributes) = self.structs.pop() {
                    let members = self.open.pop();
                    if let Some(list) = self.open.last_mut() {
                        list.push(Item {
                            attributes,
                            members,
                        });
                    }
                }
            }
            "template" => {
                let items = std::mem::take(&mut self.open).into_iter().next();
                let provider = self.document.providers.last_mut();
                if let (Some(tid), Some(items), Some(provider)) =
                    (self.template.take(), items, provider)
                {
                    provider.templates.insert(tid, items);
                }
            }
            _ => {}
        }
    }
}

/// Attributes by their name without prefix; entities are resolved, unknown ones refused.
fn attributes(element: &BytesStart<'_>) -> Result<Attributes, String> {
    let mut all = Attributes::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|e| e.to_string())?;
        all.insert(
            attribute.key.local_name().as_ref().to_owned(),
            value.into_owned(),
        );
    }
    Ok(all)
}

/// A number in decimal or, with `0x`, hexadecimal.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text
            .parse()
            .ok()
            .or_else(|| text.parse::<i64>().ok().map(i64::cast_unsigned)),
    }
}
