//! The elements of a manifest as schemas.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use etwkit_etl::Guid;

use super::xml::{EventElement, Item, Map, Provider, integer};
use super::{BrokenEvent, Manifest, ManifestEvent};
use crate::bounds::{Budget, MAX_FIELDS, cost};
use crate::schema::{self, Count, Field, Length, MAX_DEPTH, Schema, Source, Type, ValueMap};
use crate::{intype, message};

/// Maximum memory for the schemas of one manifest. Templates and texts that events share count once
/// for each event.
const MAX_BYTES: usize = 64 << 20;

/// Opcodes that every manifest has.
const OPCODE_INFO: &str = "win:Info";
/// The reference of an event without a task or opcode.
const NONE: &str = "win:None";

/// Resolves all names; `None` if the manifest grows too large thereby.
pub(super) fn manifest(
    guid: Guid,
    provider: &Provider,
    strings: &HashMap<String, String>,
    source: Source,
) -> Option<Manifest> {
    let mut builder = Builder {
        guid,
        name: provider.name.as_deref().map(Arc::from),
        source,
        provider,
        strings,
        maps: HashMap::new(),
        budget: Budget::new(MAX_BYTES),
    };
    builder.maps = builder.maps()?;
    let mut templates = HashMap::new();
    for (tid, items) in &provider.templates {
        templates.insert(tid.as_str(), builder.template(items));
    }
    let mut manifest = Manifest {
        name: builder.name.clone(),
        ..Manifest::default()
    };
    for event in &provider.events {
        match builder.event(event, &templates)? {
            Ok(event) => manifest.events.push(event),
            Err(broken) => manifest.broken_events.push(broken),
        }
    }
    manifest.keywords.bitmap = true;
    let keywords = provider
        .keywords
        .iter()
        .map(|(mask, name)| (*mask, name.as_str().into()));
    manifest.keywords.entries = keywords.collect();
    Some(manifest)
}

/// Fields and number of slots of a template; `None` if it is broken.
type Template = Option<(Vec<Field>, u16)>;

struct Builder<'a> {
    guid: Guid,
    name: Option<Arc<str>>,
    source: Source,
    provider: &'a Provider,
    strings: &'a HashMap<String, String>,
    maps: HashMap<&'a str, Arc<ValueMap>>,
    budget: Budget,
}

impl<'a> Builder<'a> {
    fn maps(&mut self) -> Option<HashMap<&'a str, Arc<ValueMap>>> {
        let mut maps = HashMap::new();
        for (name, Map { bitmap, entries }) in &self.provider.maps {
            let mut map = ValueMap {
                bitmap: *bitmap,
                entries: Vec::with_capacity(entries.len()),
            };
            for (value, reference) in entries {
                let text = self.text(reference);
                self.budget.take(text.len() + 32)?;
                map.entries.push((*value, text.into()));
            }
            maps.insert(name.as_str(), Arc::new(map));
        }
        Some(maps)
    }

    /// A text, or the string that `$(string.id)` refers to.
    fn text<'t>(&self, reference: &'t str) -> &'t str
    where
        'a: 't,
    {
        let id = reference
            .strip_prefix("$(string.")
            .and_then(|rest| rest.strip_suffix(')'));
        let found = id.and_then(|id| self.strings.get(id));
        found.map_or(reference, String::as_str).trim_end()
    }

    /// An event, or its fault; `None` if the memory for the manifest is used up.
    fn event(
        &mut self,
        element: &EventElement,
        templates: &HashMap<&str, Template>,
    ) -> Option<Result<ManifestEvent, BrokenEvent>> {
        let broken = |expected: &'static str, found: Option<&String>| {
            let found = found.map_or_else(|| "none".to_owned(), |text| format!("{text:?}"));
            Some(Err(BrokenEvent {
                at: element.at,
                expected,
                found,
            }))
        };
        let event = &element.attributes;
        let number = |name: &str| event.get(name).map_or(Some(0), |text| integer(text));
        // A fault of an event concerns it alone. A manifest from a trace is used as far as it makes
        // sense; a manifest that the user named is refused by its caller at the first broken event.
        let id = event
            .get("value")
            .and_then(|id| integer(id))
            .and_then(|id| u16::try_from(id).ok());
        let Some(id) = id else {
            return broken("an event with a value from 0 to 65535", event.get("value"));
        };
        let Some(version) = number("version").and_then(|version| u8::try_from(version).ok()) else {
            return broken(
                "an event with a version from 0 to 255",
                event.get("version"),
            );
        };
        let empty = (Vec::new(), 0);
        let template = match event.get("template") {
            None => Some(&empty),
            Some(tid) => match templates.get(tid.as_str()) {
                None => return broken("an event with a template that is there", Some(tid)),
                Some(template) => template.as_ref(),
            },
        };
        let Some((fields, slots)) = template else {
            let expected = "a template whose types exist, and whose lengths and counts refer to fields before them";
            return broken(expected, event.get("template"));
        };
        let name = self.event_name(event, id);
        let message = event.get("message").map(|message| self.text(message));
        let text = message.map_or(0, message::cost);
        let bytes = size_of::<ManifestEvent>() + name.len() + text + cost(fields);
        self.budget.take(bytes)?;
        let schema = Schema {
            provider: self.guid,
            provider_name: self.name.clone(),
            name: name.into(),
            source: self.source,
            fields: fields.clone(),
            slots: *slots,
        };
        Some(Ok(ManifestEvent {
            id,
            version,
            schema,
            message: message.map(Into::into),
        }))
    }

    fn event_name(&self, event: &HashMap<String, String>, id: u16) -> String {
        let named = |name: &str| {
            event
                .get(name)
                .map(String::as_str)
                .filter(|n| !n.is_empty() && *n != NONE)
        };
        let Some(task) = named("task") else {
            return schema::numbered(id);
        };
        // Opcode 0 is information under any name, and is omitted from event names, as in EventInfo.
        // So an event has one name, whichever description it comes from.
        let opcode = named("opcode").filter(|opcode| {
            *opcode != OPCODE_INFO
                && self
                    .provider
                    .opcodes
                    .get(*opcode)
                    .is_none_or(|value| *value != 0)
        });
        match opcode {
            Some(opcode) => format!("{task}/{}", opcode.strip_prefix("win:").unwrap_or(opcode)),
            None => task.to_owned(),
        }
    }

    fn template(&self, items: &[Item]) -> Template {
        let mut reader = FieldReader {
            maps: &self.maps,
            slots: slots(items)?,
            seen: HashSet::new(),
            left: MAX_FIELDS,
        };
        let fields = reader.fields(items, 0)?;
        Some((fields, reader.slots.len() as u16))
    }
}

/// Slots of the fields that others refer to, by name. `None` if there are too many.
fn slots(items: &[Item]) -> Option<HashMap<&str, u16>> {
    // A length may be a number or the name of a field: text that is not a number is a name.
    let mut slots = HashMap::new();
    let mut lists = vec![items];
    while let Some(items) = lists.pop() {
        for item in items {
            for reference in ["length", "count"] {
                let name = item
                    .attributes
                    .get(reference)
                    .filter(|text| integer(text).is_none());
                if let Some(name) = name {
                    let next = u16::try_from(slots.len()).ok()?;
                    slots.entry(name.as_str()).or_insert(next);
                }
            }
            lists.extend(item.members.as_deref());
        }
    }
    Some(slots)
}

struct FieldReader<'a> {
    maps: &'a HashMap<&'a str, Arc<ValueMap>>,
    slots: HashMap<&'a str, u16>,
    /// Names so far: only they can be referred to.
    seen: HashSet<&'a str>,
    /// Number of fields that may still follow.
    left: usize,
}

impl<'a> FieldReader<'a> {
    fn fields(&mut self, items: &'a [Item], depth: usize) -> Option<Vec<Field>> {
        if depth > MAX_DEPTH {
            return None;
        }
        items.iter().map(|item| self.field(item, depth)).collect()
    }

    fn field(&mut self, item: &'a Item, depth: usize) -> Option<Field> {
        self.left = self.left.checked_sub(1)?;
        let get = |name: &str| item.attributes.get(name).map(String::as_str);
        // A field without a name still takes its bytes, so the fields after it keep their places.
        let name = get("name").unwrap_or_default();
        let count = match get("count") {
            None => Count::One,
            Some(text) => match integer(text) {
                Some(count) => Count::Fixed(u32::try_from(count).ok()?),
                None => Count::Slot(self.reference(text)?),
            },
        };
        if let Some(members) = &item.members {
            let members = self.fields(members, depth + 1)?;
            return Some(Field {
                count,
                members,
                ..Field::new(name, Type::Struct)
            });
        }
        let mut field = Field {
            count,
            ..Field::new(name, intype::from_name(get("inType")?)?)
        };
        if let Some(text) = get("length") {
            field.length = match integer(text) {
                Some(length) => Length::Fixed(u32::try_from(length).ok()?),
                None => Length::Slot(self.reference(text)?),
            };
        }
        field.slot = self.slots.get(name).copied();
        self.seen.insert(name);
        field.map = get("map")
            .and_then(|map| self.maps.get(map))
            .map(Arc::clone);
        intype::apply_out(&mut field, get("outType").map_or(0, intype::out_from_name));
        Some(field)
    }

    fn reference(&self, name: &str) -> Option<u16> {
        // A length after its text could not be used: payloads are read from front to back.
        self.seen
            .contains(name)
            .then(|| self.slots.get(name).copied())
            .flatten()
    }
}
