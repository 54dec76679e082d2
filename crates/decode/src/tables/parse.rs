//! The line format of the tables.

use std::sync::Arc;

use etwkit_etl::Guid;

use super::KnownEvent;
use crate::kernel::{group, image, process};
use crate::plan::Plan;
use crate::schema::{self, Count, Field, Length, Schema, Source, Type};

/// A class or provider: its rows as text, in the order of the file.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) name: &'static str,
    pub(super) guid: Guid,
    pub(super) group: Option<u8>,
    source: Source,
    lines: Vec<&'static str>,
}

/// A row, with its fields still as text.
#[derive(Debug, Clone, Copy)]
struct Row {
    ids: &'static str,
    version: Option<u8>,
    name: Option<&'static str>,
    /// Version whose fields come first.
    base: Option<u8>,
    fields: &'static str,
}

impl Row {
    fn parse(line: &'static str) -> Option<Self> {
        let (head, fields) = line.split_once(':')?;
        let mut words = head.splitn(3, ' ');
        let ids = words.next()?;
        let version = words.next()?;
        let name = words.next();
        let version = if version == "any" {
            None
        } else {
            Some(version.strip_prefix('v')?.parse().ok()?)
        };
        let fields = fields.trim();
        let (base, fields) = match fields.strip_prefix("+v") {
            Some(rest) => {
                let (base, fields) = rest.split_once(' ').unwrap_or((rest, ""));
                (Some(base.parse().ok()?), fields)
            }
            None => (None, fields),
        };
        Some(Self {
            ids,
            version,
            name,
            base,
            fields,
        })
    }

    fn has(&self, id: u16) -> bool {
        self.ids.split(',').any(|own| own.parse() == Ok(id))
    }
}

/// The blocks of a file.
pub(super) fn blocks(text: &'static str, source: Source) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(heading) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            let (name, rest) = heading.split_once(' ').unwrap_or((heading, ""));
            let (guid, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let group = rest
                .strip_prefix("group=")
                .and_then(|group| group.parse().ok());
            blocks.push(Block {
                name,
                guid: Guid::literal(guid),
                group,
                source,
                lines: Vec::new(),
            });
        } else if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    blocks
}

impl Block {
    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.lines
            .iter()
            .filter(|line| !line.starts_with("names "))
            .filter_map(|line| Row::parse(line))
    }

    /// Types that have names of their own.
    fn names(&self) -> impl Iterator<Item = (u16, &'static str)> + '_ {
        let items = self
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("names "))
            .flat_map(|l| l.split(' '));
        items.filter_map(|item| {
            let (id, name) = item.split_once('=')?;
            Some((id.parse().ok()?, name))
        })
    }

    fn event_name(&self, id: u16, row: Option<Row>) -> String {
        let name = row
            .and_then(|row| row.name)
            .or_else(|| self.names().find(|n| n.0 == id).map(|n| n.1));
        match (name, self.source) {
            (Some(name), Source::Template) => name.to_owned(),
            (None, Source::Template) => schema::numbered(id),
            (Some(name), _) => format!("{}/{name}", self.name),
            (None, _) => format!("{}/Opcode({id})", self.name),
        }
    }

    /// The variants of an event for one pointer size; empty if the block does not contain it.
    pub(super) fn plans(&self, id: u16, version: u16, pointer_size: usize) -> Vec<Arc<Plan>> {
        let rows: Vec<Row> = self.rows().filter(|row| row.has(id)).collect();
        let known = |row: &Row| row.version.filter(|v| u16::from(*v) <= version);
        // Rows of the version itself, otherwise of the highest one below: newer versions append
        // fields, so the known fields keep their positions. Rows for any version apply if there is
        // no other.
        let best = rows.iter().filter_map(known).max();
        let mut chosen: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|row| row.version == best)
            .collect();
        // All rows are for newer versions, whose layout an older payload need not have.
        if chosen.is_empty() && !rows.is_empty() {
            return Vec::new();
        }
        let mut layouts = Vec::new();
        if chosen.is_empty() && self.names().any(|(own, _)| own == id) {
            layouts = vec![(None, vec!["Payload:rest"]), (None, vec![])];
            // An event without payload has no field.
            layouts.reverse();
        }
        for row in chosen.drain(..) {
            layouts.extend(
                self.layouts(&rows, row)
                    .into_iter()
                    .map(|texts| (Some(row), texts)),
            );
        }
        let plan = |(row, texts): (Option<Row>, Vec<&'static str>)| {
            let (fields, slots) = Parser::parse(&texts)?;
            let schema = Schema {
                provider: self.guid,
                provider_name: Some(self.name.into()),
                name: self.event_name(id, row).into(),
                source: self.source,
                fields,
                slots,
            };
            Some(Arc::new(Plan::new(schema, pointer_size)))
        };
        layouts.into_iter().filter_map(plan).collect()
    }

    /// The version whose layouts apply to an event of that version: the highest one that is not
    /// above it, or 0 if there is none.
    pub(super) fn known_version(&self, id: u16, version: u16) -> u16 {
        let known = self
            .rows()
            .filter(|row| row.has(id))
            .filter_map(|row| row.version)
            .map(u16::from);
        known.filter(|known| *known <= version).fold(0, u16::max)
    }

    /// True if an event describes a process or image. Only these are known to occur with a header
    /// whose pointer size differs from theirs.
    pub(super) fn may_be_replayed(&self, id: u16) -> bool {
        match self.group {
            Some(group::PROCESS) => u8::try_from(id).is_ok_and(process::is_lifetime),
            Some(group::IMAGE) => u8::try_from(id).is_ok_and(image::is_lifetime),
            _ => false,
        }
    }

    /// The texts of the fields of a row: with and without an optional tail.
    fn layouts(&self, rows: &[Row], row: Row) -> Vec<Vec<&'static str>> {
        let base = row
            .base
            .and_then(|base| rows.iter().find(|r| r.version == Some(base)).copied());
        let starts = base.map_or_else(|| vec![Vec::new()], |base| self.layouts(rows, base));
        let mut layouts = Vec::new();
        for start in starts {
            let with = |text: &'static str| [start.as_slice(), &[text]].concat();
            layouts.push(with(row.fields));
            // The longest first: a payload that ends early matches the first layout that it fills.
            for (end, _) in row.fields.rmatch_indices('?') {
                let (cut, _) = row.fields.split_at(end);
                layouts.push(with(cut.rsplit_once(' ').map_or("", |(kept, _)| kept)));
            }
        }
        layouts
    }

    /// Every event in the block.
    pub(super) fn known(&self) -> Vec<KnownEvent> {
        let known = |id: u16, version: Option<u8>, row: Option<Row>| KnownEvent {
            source: self.source,
            group: self.group,
            class: self.name,
            guid: self.guid,
            id,
            version,
            name: self.event_name(id, row),
        };
        let ids = |row: &Row| {
            row.ids
                .split(',')
                .filter_map(|id| id.parse().ok())
                .collect::<Vec<u16>>()
        };
        let rows: Vec<Row> = self.rows().collect();
        let listed = rows.iter().flat_map(|row| {
            ids(row)
                .into_iter()
                .map(|id| known(id, row.version, Some(*row)))
        });
        let named = self
            .names()
            .filter(|(id, _)| !rows.iter().any(|row| row.has(*id)));
        listed
            .chain(named.map(|(id, _)| known(id, None, None)))
            .collect()
    }

    /// Number of lines, all of which must be well formed.
    #[cfg(test)]
    pub(super) fn check(&self) -> usize {
        assert_ne!(self.guid, Guid::ZERO, "{}", self.name);
        let rows: Vec<Row> = self.rows().collect();
        for line in self.lines.iter().filter(|line| !line.starts_with("names ")) {
            let row = Row::parse(line).unwrap_or_else(|| panic!("{}: {line}", self.name));
            assert!(
                row.ids.split(',').all(|id| id.parse::<u16>().is_ok()),
                "{}: {line}",
                self.name
            );
            for texts in self.layouts(&rows, row) {
                assert!(Parser::parse(&texts).is_some(), "{}: {line}", self.name);
            }
        }
        self.lines.len()
    }
}

/// Reads `Name:type`, `Name:type[count]`, `Name{…}[count]`.
struct Parser<'t> {
    rest: &'t str,
    /// Names of fields that lengths and counts refer to; the position is the slot.
    referred: Vec<&'t str>,
}

impl<'t> Parser<'t> {
    /// The fields that several texts have together, and the number of slots.
    fn parse(texts: &[&'t str]) -> Option<(Vec<Field>, u16)> {
        // Names in brackets are collected first: when a field is read, it must be known if a later
        // field refers to it.
        let mut referred: Vec<&str> = Vec::new();
        for name in texts.iter().flat_map(|text| text.split(['[', '(']).skip(1)) {
            let name = name.split_once([']', ')']).map_or(name, |(name, _)| name);
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if is_name && !referred.contains(&name) {
                referred.push(name);
            }
        }
        let slots = referred.len() as u16;
        let mut fields = Vec::new();
        for text in texts {
            let mut parser = Parser {
                rest: text,
                referred: std::mem::take(&mut referred),
            };
            fields.extend(parser.fields()?);
            if !parser.rest.is_empty() {
                return None;
            }
            referred = parser.referred;
        }
        Some((fields, slots))
    }

    fn fields(&mut self) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with('}') {
                return Some(fields);
            }
            fields.push(self.field()?);
        }
    }

    fn field(&mut self) -> Option<Field> {
        let end = self.rest.find([':', '{'])?;
        let name = self.rest.get(..end)?;
        let structure = self.rest.as_bytes().get(end) == Some(&b'{');
        self.rest = self.rest.get(end + 1..)?;
        let mut field = Field::new(name, Type::Struct);
        if structure {
            field.members = self.fields()?;
            self.rest = self.rest.strip_prefix('}')?;
        } else {
            let end = self
                .rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest;
            self.set_type(&mut field, word)?;
        }
        if let Some(count) = self.enclosed('[', ']') {
            field.count = match count {
                "*" => Count::Rest,
                count => match count.parse() {
                    Ok(n) => Count::Fixed(n),
                    Err(_) => Count::Slot(self.slot(count)?),
                },
            };
        }
        self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        field.slot = self.slot(name);
        Some(field)
    }

    fn slot(&self, name: &str) -> Option<u16> {
        self.referred
            .iter()
            .position(|r| *r == name)
            .map(|slot| slot as u16)
    }

    /// The content of brackets at the start of the rest.
    fn enclosed(&mut self, open: char, close: char) -> Option<&'t str> {
        let (inside, rest) = self.rest.strip_prefix(open)?.split_once(close)?;
        self.rest = rest;
        Some(inside)
    }

    fn set_type(&mut self, field: &mut Field, word: &str) -> Option<()> {
        field.ty = match word {
            "wch" | "ach" | "bytes" => {
                field.length = Length::Fixed(self.enclosed('[', ']')?.parse().ok()?);
                match word {
                    "wch" => Type::UnicodeString,
                    "ach" => Type::AnsiString,
                    _ => Type::Binary,
                }
            }
            "wstr" => Type::UnicodeString,
            "astr" => Type::AnsiString,
            "bin" => Type::Binary,
            "rest" => {
                field.length = Length::Rest;
                Type::Binary
            }
            word => scalar(word)?,
        };
        if let Some(length) = self.enclosed('(', ')') {
            field.length = Length::Slot(self.slot(length)?);
        }
        // A binary without a length would be empty.
        (field.ty != Type::Binary || field.length != Length::Natural).then_some(())
    }
}

fn scalar(word: &str) -> Option<Type> {
    Some(match word {
        "u8" => Type::UInt8,
        "u16" => Type::UInt16,
        "u32" => Type::UInt32,
        "u64" => Type::UInt64,
        "i8" => Type::Int8,
        "i16" => Type::Int16,
        "i32" => Type::Int32,
        "i64" => Type::Int64,
        "x32" => Type::HexInt32,
        "x64" => Type::HexInt64,
        "f32" => Type::Float,
        "f64" => Type::Double,
        "ptr" => Type::Pointer,
        "bool32" => Type::Bool32,
        "time" => Type::Ticks,
        "ft" => Type::FileTime,
        "st" => Type::SystemTime,
        "guid" => Type::Guid,
        "sid" => Type::Sid,
        "tokensid" => Type::TokenSid,
        "ip4" => Type::Ipv4,
        "ip6" => Type::Ipv6,
        "port" => Type::Port,
        _ => return None,
    })
}
