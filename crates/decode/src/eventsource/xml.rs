//! The elements of an instrumentation manifest, names not resolved yet: what an event refers to comes behind
//! it.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::schema::MAX_DEPTH;

/// The manifest is no XML, or no manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

impl<E: std::error::Error> From<E> for Broken {
    fn from(_: E) -> Self {
        Self
    }
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
pub(super) struct Document {
    pub(super) provider: Option<String>,
    pub(super) events: Vec<Attributes>,
    pub(super) templates: HashMap<String, Vec<Item>>,
    /// Name to value.
    pub(super) opcodes: HashMap<String, u64>,
    /// Mask and name.
    pub(super) keywords: Vec<(u64, String)>,
    pub(super) maps: HashMap<String, Map>,
    pub(super) strings: HashMap<String, String>,
}

/// Reads a whole manifest.
pub(super) fn read(text: &str) -> Result<Document, Broken> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{FEFF}'));
    let mut builder = Builder::default();
    loop {
        match reader.read_event()? {
            Event::Start(element) => builder.open(&element)?,
            Event::Empty(element) => {
                builder.open(&element)?;
                builder.close(element.local_name().as_ref());
            }
            Event::End(element) => builder.close(element.local_name().as_ref()),
            // Declarations of entities could make a small manifest a large one; no provider writes them.
            Event::DocType(_) => return Err(Broken),
            Event::Eof => break,
            _ => {}
        }
    }
    if builder.seen_provider { Ok(builder.document) } else { Err(Broken) }
}

#[derive(Debug, Default)]
struct Builder {
    document: Document,
    seen_provider: bool,
    template: Option<String>,
    map: Option<String>,
    /// Open lists of items: that of the template, and those of the structs in it.
    open: Vec<Vec<Item>>,
    /// The structs that own the open lists but the first one.
    structs: Vec<Attributes>,
}

impl Builder {
    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), Broken> {
        let attributes = attributes(element)?;
        let get = |name: &str| attributes.get(name).cloned();
        let number = |name: &str| attributes.get(name).and_then(|text| integer(text));
        let document = &mut self.document;
        match element.local_name().as_ref() {
            "provider" if !self.seen_provider => {
                self.seen_provider = true;
                document.provider = get("name").filter(|name| !name.is_empty());
            }
            "event" => document.events.push(attributes),
            "opcode" => {
                if let (Some(name), Some(value)) = (get("name"), number("value")) {
                    document.opcodes.insert(name, value);
                }
            }
            "keyword" => {
                if let (Some(name), Some(mask)) = (get("name"), number("mask")) {
                    document.keywords.push((mask, name));
                }
            }
            kind @ ("valueMap" | "bitMap") => self.map = self.open_map(get("name"), kind == "bitMap"),
            "map" => {
                let map = self.map.as_ref().and_then(|name| document.maps.get_mut(name));
                if let (Some(map), Some(value), Some(message)) = (map, number("value"), get("message")) {
                    map.entries.push((value, message));
                }
            }
            "string" => {
                if let (Some(id), Some(value)) = (get("id"), get("value")) {
                    document.strings.entry(id).or_insert(value);
                }
            }
            "template" => {
                self.template = get("tid");
                self.open = vec![Vec::new()];
                self.structs.clear();
            }
            "struct" if !self.open.is_empty() => {
                if self.open.len() > MAX_DEPTH {
                    return Err(Broken);
                }
                self.open.push(Vec::new());
                self.structs.push(attributes);
            }
            "data" => {
                if let Some(list) = self.open.last_mut() {
                    list.push(Item { attributes, members: None });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open_map(&mut self, name: Option<String>, bitmap: bool) -> Option<String> {
        let name = name?;
        self.document.maps.insert(name.clone(), Map { bitmap, entries: Vec::new() });
        Some(name)
    }

    fn close(&mut self, element: &str) {
        match element {
            "valueMap" | "bitMap" => self.map = None,
            "struct" => {
                if let Some(attributes) = self.structs.pop() {
                    let members = self.open.pop();
                    if let Some(list) = self.open.last_mut() {
                        list.push(Item { attributes, members });
                    }
                }
            }
            "template" => {
                let items = std::mem::take(&mut self.open).into_iter().next();
                if let (Some(tid), Some(items)) = (self.template.take(), items) {
                    self.document.templates.insert(tid, items);
                }
            }
            _ => {}
        }
    }
}

/// Attributes by their name without prefix; entities are resolved, unknown ones refused.
fn attributes(element: &BytesStart<'_>) -> Result<Attributes, Broken> {
    let mut all = Attributes::new();
    for attribute in element.attributes() {
        let attribute = attribute?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        all.insert(attribute.key.local_name().as_ref().to_owned(), value.into_owned());
    }
    Ok(all)
}

/// A number in decimal or, with `0x`, hexadecimal.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().or_else(|| text.parse::<i64>().ok().map(i64::cast_unsigned)),
    }
}
