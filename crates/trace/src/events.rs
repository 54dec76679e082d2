//! Events that a trace itself describes, with their fields and first values: the section `events`
//! of the machine-readable output.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::{Decoder, Field, Length, Plan, Schema, Source, Type};
use etwkit_etl::clock::Clock;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::{Guid, RawEvent};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Number of events of a kind that are shown with their values.
const FIRST: usize = 3;
/// Maximum number of event kinds listed; a trace with more is malicious.
const MAX_KINDS: usize = 100_000;
/// Maximum number of layouts listed for one name.
const MAX_LAYOUTS: usize = 1000;

/// Counts the events that a trace itself describes and keeps the first ones of each kind.
///
/// It needs all events in order of time, and a decoder that has already observed all of them.
#[derive(Debug, Default)]
pub struct EventsSummary {
    /// Position of the kind by address of the plan and opcode; `None` for events that are omitted.
    /// The plans are kept alive, so that an address cannot be reused for another one.
    seen: FxHashMap<(usize, u8), (Arc<Plan>, Option<usize>)>,
    keys: BTreeMap<String, usize>,
    /// Keys by first key and fields, for events that describe themselves.
    layouts: FxHashMap<(String, String), String>,
    /// Number of layouts with the same first key.
    counts: FxHashMap<String, usize>,
    kinds: Vec<Kind>,
    left_out: u64,
}

/// One kind of event.
#[derive(Debug)]
struct Kind {
    /// Fields as stored in the payload: ports and addresses are not decoded.
    plain: Schema,
    provider_name: Option<Arc<str>>,
    descriptor: Descriptor,
    count: u64,
    first: Vec<Value>,
}

impl EventsSummary {
    /// Creates an empty summary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event. Events without a description in the trace are ignored.
    pub fn event(&mut self, event: &RawEvent<'_>, decoder: &Decoder, clock: &Clock) {
        let Some(plan) = decoder.own_plan(event) else {
            return;
        };
        let self_described = plan.schema().source == Source::TraceLogging;
        // Events that describe themselves are keyed by name and fields; the opcode is not part of
        // the key.
        let opcode = if self_described { 0 } else { event.opcode() };
        let seen = (Arc::as_ptr(plan) as usize, opcode);
        let index = match self.seen.get(&seen) {
            Some((_, index)) => *index,
            None => {
                let index = self.kind(event, plan, decoder);
                self.seen.insert(seen, (Arc::clone(plan), index));
                index
            }
        };
        match index.and_then(|index| self.kinds.get_mut(index)) {
            Some(kind) => kind.add(event, clock),
            None => self.left_out += 1,
        }
    }

    /// Events of kinds that are not listed because there are too many kinds.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The object of the section: one entry for each kind, in the order of their keys.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let kinds = self.keys.iter().filter_map(|(key, index)| {
            let kind = self.kinds.get(*index)?;
            Some((key.clone(), kind.to_json()))
        });
        Value::Object(kinds.collect())
    }

    /// Position of the kind of an event whose plan is new; `None` if there are too many kinds.
    fn kind(&mut self, event: &RawEvent<'_>, plan: &Arc<Plan>, decoder: &Decoder) -> Option<usize> {
        let descriptor = event.descriptor();
        let schema = plan.schema();
        let plain = Schema {
            fields: schema.fields.iter().map(plain).collect(),
            ..schema.clone()
        };
        let key = self.key(event.provider(), descriptor, &plain)?;
        if let Some(index) = self.keys.get(&key) {
            return Some(*index);
        }
        if self.kinds.len() >= MAX_KINDS {
            return None;
        }
        let provider_name = schema
            .provider_name
            .clone()
            .or_else(|| decoder.own_provider_name(event.provider()));
        self.keys.insert(key, self.kinds.len());
        self.kinds.push(Kind {
            plain,
            provider_name,
            descriptor,
            count: 0,
            first: Vec::new(),
        });
        Some(self.kinds.len() - 1)
    }

    /// The key of a kind. Events that describe themselves are distinguished by their fields: the
    /// second layout of a name is `name#2`. `None` if a name has too many layouts.
    fn key(&mut self, provider: Guid, descriptor: Descriptor, schema: &Schema) -> Option<String> {
        if schema.source != Source::TraceLogging {
            let Descriptor {
                id,
                version,
                opcode,
                ..
            } = descriptor;
            return Some(format!("{provider}/{id}/{version}/{opcode}"));
        }
        let layout = (
            format!("{provider}/{}", schema.name),
            fields_json(&schema.fields).to_string(),
        );
        if let Some(key) = self.layouts.get(&layout) {
            return Some(key.clone());
        }
        let count = self.counts.entry(layout.0.clone()).or_default();
        while *count < MAX_LAYOUTS {
            *count += 1;
            let key = if *count == 1 {
                layout.0.clone()
            } else {
                format!("{}#{count}", layout.0)
            };
            // Another event may itself be named `name#2`.
            if !self.keys.contains_key(&key) {
                self.layouts.insert(layout, key.clone());
                return Some(key);
            }
        }
        None
    }
}

impl Kind {
    fn add(&mut self, event: &RawEvent<'_>, clock: &Clock) {
        self.count += 1;
        if self.first.len() >= FIRST {
            return;
        }
        let plan = Plan::new(self.plain.clone(), event.pointer_size());
        let renderer = Renderer {
            clock: None,
            limits: Limits::INFO,
        };
        let (values, complete) = renderer.object(&plan, event.payload());
        self.first.push(json!({
            "time_s": clock.seconds(event.timestamp),
            // Events of providers always have both IDs in the header, so the defaults never show.
            "pid": event.process_id().unwrap_or(u32::MAX),
            "tid": event.thread_id().unwrap_or(u32::MAX),
            "values": complete.then_some(Value::Object(values)),
        }));
    }

    fn to_json(&self) -> Value {
        json!({
            "provider": self.provider_name.as_deref(),
            "name": *self.plain.name,
            "source": self.plain.source.name(),
            "id": self.descriptor.id,
            "version": self.descriptor.version,
            "opcode": self.descriptor.opcode,
            "level": self.descriptor.level,
            "keyword": format!("{:#x}", self.descriptor.keyword),
            "count": self.count,
            "fields": fields_json(&self.plain.fields),
            "first": self.first,
        })
    }
}

fn fields_json(fields: &[Field]) -> Value {
    let list = fields.iter().map(|field| {
        if field.ty == Type::Struct {
            json!({"name": *field.name, "type": field.type_name(), "fields": fields_json(&field.members)})
        } else {
            json!({"name": *field.name, "type": field.type_name()})
        }
    });
    list.collect()
}

/// A field as stored in the payload. The section shows numbers and bytes, regardless of output
/// types and value names in a manifest.
fn plain(field: &Field) -> Field {
    let (ty, length) = match field.ty {
        Type::Port => (Type::UInt16, field.length),
        Type::Ipv4 => (Type::UInt32, field.length),
        Type::Ipv6 => (Type::Binary, Length::Fixed(16)),
        ty => (ty, field.length),
    };
    let members = field.members.iter().map(plain).collect();
    Field {
        ty,
        length,
        members,
        map: None,
        ..field.clone()
    }
}
